/* The table of operations and its search. */
#include "spec/builtin.h"

#include <string.h>

#include "spec/builtin_fns.h"

/* The namespace column of builtins.def without its prefix. */
#define TL NS_TL
#define MATH NS_MATH
#define LIBDEVICE NS_LIBDEVICE
#define METHOD NS_METHOD
#define TRITON NS_TRITON
#define PYTHON NS_PYTHON
#define EXTRA NS_EXTRA
#define TARGET NS_TARGET
#define DTYPE NS_DTYPE
#define DESC NS_DESC
#define STR NS_STR
#define PROFILE NS_PROFILE
#define INDUCTOR NS_INDUCTOR
const Builtin builtins[] = {
#define BUILTIN(name_, where_, fn_, params_)                                                       \
    {.name = name_, .where = where_, .fn = fn_, .params = params_},
#define STD(name_, where_, function, params_)                                                      \
    {.name = name_, .where = where_, .std = function, .params = params_},
#include "spec/builtins.def"
#undef BUILTIN
#undef STD
};
#undef TL
#undef MATH
#undef LIBDEVICE
#undef METHOD
#undef TRITON
#undef PYTHON
#undef EXTRA
#undef TARGET
#undef DTYPE
#undef DESC
#undef STR
#undef PROFILE
#undef INDUCTOR

enum { COUNT = sizeof builtins / sizeof *builtins };
const int builtin_count = COUNT;

const Builtin *builtin_find(unsigned where, const char *name)
{
    for (int i = 0; i < COUNT; i++) {
        if ((builtins[i].where & where) && strcmp(builtins[i].name, name) == 0) return &builtins[i];
    }
    return NULL;
}

const char *builtin_nearest(unsigned where, const char *name)
{
    const char *names[COUNT];
    int n = 0;
    for (int i = 0; i < COUNT; i++) {
        if (builtins[i].where & where) names[n++] = builtins[i].name;
    }
    return nearest_word(name, names, n);
}
