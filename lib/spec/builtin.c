/* The table of operations and its search. */
#include "spec/builtin.h"

#include <string.h>

/* The namespace column of builtins.def without its prefix. */
enum {
    TL = NS_TL, MATH = NS_MATH, LIBDEVICE = NS_LIBDEVICE, METHOD = NS_METHOD, TRITON = NS_TRITON,
    PYTHON = NS_PYTHON, EXTRA = NS_EXTRA, TARGET = NS_TARGET, DTYPE = NS_DTYPE, DESC = NS_DESC,
    STR = NS_STR, PROFILE = NS_PROFILE, INDUCTOR = NS_INDUCTOR, INT = NS_INT,
    LIST = NS_LIST, DICT = NS_DICT, HOST = NS_HOST, ITERTOOLS = NS_ITERTOOLS,
    ARGUMENTS = NS_ARGUMENTS, ARRAY = NS_ARRAY
};
static const Builtin builtins[] = {
#define OPERATION(name_, where_, fn_, op_, params_)                                                \
    {.name = name_, .where = where_, .fn = fn_, .params = params_, .op = OP_##op_},
#define STD_AS(name_, where_, function) {.name = #name_, .where = where_, .std = #function},
#define STD_IS(name_, where_, function, params_, value_)                                           \
    {.name = #name_, .where = where_, .std = #function, .params = params_, .value = value_},
#include "spec/builtins.def"
};

enum { COUNT = sizeof builtins / sizeof *builtins };

const Builtin *builtin_find(unsigned where, const char *name)
{
    for (int i = 0; i < COUNT; i++)
        if ((builtins[i].where & where) && strcmp(builtins[i].name, name) == 0) return &builtins[i];
    return NULL;
}

const Builtin *builtin_expression(const char *function)
{
    for (int i = 0; i < COUNT; i++)
        if (builtins[i].value && strcmp(builtins[i].std, function) == 0) return &builtins[i];
    return NULL;
}

static const struct { unsigned where; const char *prefix; } prefixes[] = {
    {NS_TL, "tl."},
    {NS_MATH, "tl.math."},
    {NS_LIBDEVICE, "libdevice."},
    {NS_TRITON, "triton."},
    {NS_EXTRA, "tl.extra.cuda."},
    {NS_TARGET, "tl.target_info."},
    {NS_HOST, "math."},
    {NS_ITERTOOLS, "itertools."},
    {NS_METHOD | NS_DTYPE | NS_DESC | NS_STR | NS_INT | NS_LIST | NS_DICT | NS_ARGUMENTS | NS_ARRAY,
     "."},
};
enum { NPREFIXES = sizeof prefixes / sizeof *prefixes };

const char *builtin_title(Arena *a, const Builtin *b)
{
    for (int i = 0; i < NPREFIXES; i++) {
        if (b->where & prefixes[i].where)
            return arena_printf(a, "%s%s", prefixes[i].prefix, b->name);
    }
    return b->name;
}

const char *builtin_spelling(Arena *a, const char *name)
{
    for (int i = 0; i < NPREFIXES && prefixes[i].where <= NS_TRITON; i++) {
        if (builtin_find(prefixes[i].where, name))
            return arena_printf(a, "%s%s", prefixes[i].prefix, name);
    }
    return NULL;
}

const char *builtin_nearest(unsigned where, const char *name)
{
    const char *names[COUNT];
    int n = 0;
    for (int i = 0; i < COUNT; i++)
        if (builtins[i].where & where) names[n++] = builtins[i].name;
    return nearest_word(name, names, n);
}
