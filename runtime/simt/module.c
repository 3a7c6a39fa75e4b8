/* The text of a module: its directives, variables and functions. Bodies of entries are decoded here,
   statement by statement; those of other functions where they are called, each call anew, so that
   the machine knows no calls. */
#include "module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"

/* ---- words ---- */

bool dc_take_word(Decoder *dc, const char *text)
{
    if (dc->ps.word.kind != PTXW_NAME || !ptx_word_is(dc->ps.word, text)) return false;
    ptx_next(&dc->ps);
    return true;
}

/* The string that begins at the word at hand; gives its length, without the marks. */
static const char *read_string(Decoder *dc, int *len)
{
    const char *begin = dc->ps.word.text + 1, *end = NULL;
    if (ptx_at_mark(&dc->ps, '"')) end = strchr(begin, '"');
    if (!end) {
        ptx_fail(&dc->ps, "expected a string, found '%.*s'", dc->ps.word.len, dc->ps.word.text);
        return begin;
    }
    *len = (int)(end - begin);
    dc->ps.at = end + 1;
    ptx_next(&dc->ps);
    return begin;
}

/* Up to the brace that closes the one at hand. */
static void skip_braces(Decoder *dc)
{
    int depth = 0;
    do {
        if (dc->ps.word.kind == PTXW_END) ptx_fail(&dc->ps, "'}' is missing at the end");
        depth += ptx_at_mark(&dc->ps, '{') - ptx_at_mark(&dc->ps, '}');
        ptx_next(&dc->ps);
    } while (depth && !dc->ps.failed);
}

/* ---- variables ---- */

static uint64_t round_up(uint64_t x, uint64_t align)
{
    return (x + align - 1) / align * align;
}

/* Of one more variable; local and shared offsets count up. */
static uint64_t place_variable(Decoder *dc, SimtSpace space, uint64_t bytes, uint64_t align)
{
    uint32_t *counter = space == SPACE_LOCAL ? &dc->func->local_bytes : &dc->shared_bytes;
    if (space == SPACE_GLOBAL || space == SPACE_CONST) {
        uint64_t p = memory_alloc(dc->module->memory, bytes ? bytes : 1);
        dc->no_memory |= !p && !dc->ps.failed;
        if (!p) ptx_fail(&dc->ps, "no memory for a variable of %llu bytes",
                         (unsigned long long)bytes);
        else memset((void *)(uintptr_t)p, 0, bytes);
        return p;
    }
    uint64_t at = round_up(*counter, align);
    if (at + bytes > INT32_MAX) ptx_fail(&dc->ps, "a variable of %llu bytes is too large",
                                         (unsigned long long)bytes);
    else *counter = (uint32_t)(at + bytes);
    return space == SPACE_SHARED ? SIMT_SHARED_BASE + at : at;
}

SimtVar *dc_add_var(Decoder *dc, SimtVar v)
{
    SimtVar **vars = dc->func ? &dc->vars : &dc->module->vars;
    int *n = dc->func ? &dc->nvars : &dc->module->nvars;
    v.depth = dc->ps.depth;
    return dc_push(dc, *vars, *n, v) ? &(*vars)[*n - 1] : NULL;
}

static uint64_t symbol_value(Decoder *dc, PtxWord w)
{
    const bool generic = ptx_word_is(w, "generic") && ptx_take_mark(&dc->ps, '(');
    if (generic) w = ptx_next(&dc->ps);
    const SimtVar *v = dc_var(dc, w);
    if (!v || v->space == SPACE_SHARED)
        ptx_fail(&dc->ps, "'%.*s' is no value to begin with", w.len, w.text);
    uint64_t x = v ? v->address : 0;
    if (generic) ptx_expect_mark(&dc->ps, ')');
    if (ptx_take_mark(&dc->ps, '+')) x += (uint64_t)dc_integer(dc);
    return x;
}

static uint64_t initial_value(Decoder *dc)
{
    const bool minus = ptx_take_mark(&dc->ps, '-');
    PtxWord w = ptx_next(&dc->ps);
    if (w.kind == PTXW_NAME) return symbol_value(dc, w);
    if (w.kind != PTXW_INT && w.kind != PTXW_FLOAT)
        ptx_fail(&dc->ps, "expected a value, found '%.*s'", w.len, w.text);
    if (w.kind == PTXW_FLOAT && minus) w.number ^= UINT64_C(1) << (w.single ? 31 : 63);
    return w.kind == PTXW_INT && minus ? 0 - w.number : w.number;
}

/* "= 1", "= {1, 2, {3, 4}}": element after element. */
static void read_initial(Decoder *dc, const SimtVar *v, const PtxType *t)
{
    const size_t size = t->bits / 8;
    uint8_t *to = (uint8_t *)(uintptr_t)v->address, *end = to + v->bytes;
    int depth = 0;
    if (v->space != SPACE_GLOBAL && v->space != SPACE_CONST)
        ptx_fail(&dc->ps, "only .global and .const variables have values to begin with");
    do {
        if (ptx_take_mark(&dc->ps, '{')) depth++;
        else if (ptx_take_mark(&dc->ps, '}')) depth--;
        else if (!ptx_take_mark(&dc->ps, ',')) {
            uint64_t x = initial_value(dc);
            if (to + size > end) ptx_fail(&dc->ps, "too many values for '%.*s'", v->name.len, v->name.text);
            if (dc->ps.failed) return;
            memcpy(to, &x, size);
            to += size;
        }
    } while (depth && !dc->ps.failed && dc->ps.word.kind != PTXW_END);
}

/* The dimensions behind a name; *open: the first is left out. */
static uint64_t read_extents(Decoder *dc, bool *open)
{
    uint64_t n = 1;
    *open = false;
    while (!dc->ps.failed && ptx_take_mark(&dc->ps, '[')) {
        if (ptx_at_mark(&dc->ps, ']')) *open = true;
        else n *= (uint64_t)dc_integer(dc);
        if (n > INT32_MAX) ptx_fail(&dc->ps, "an array is too large");
        ptx_expect_mark(&dc->ps, ']');
    }
    return n;
}

/* What stands before a name. */
typedef struct Declared {
    const PtxType *type; /* NULL: there is none */
    uint64_t align, unit; /* 0: not said; bytes of an element */
    bool is_pointer;
} Declared;

/* ".align 16", ".v4", ".b8" in any order; of a parameter also ".ptr", behind which stands what it
   points to. */
static Declared read_declared(Decoder *dc, bool is_param)
{
    Declared d = {.type = NULL};
    uint64_t lanes = 1, pointed;
    while (!dc->ps.failed && dc->ps.word.kind == PTXW_NAME && dc->ps.word.text[0] == '.') {
        PtxWord w = ptx_next(&dc->ps);
        const PtxType *found = ptx_type_named(w.text + 1, (size_t)w.len - 1);
        const bool is_vector = ptx_word_is(w, ".v2") || ptx_word_is(w, ".v4");
        uint64_t *align = d.is_pointer ? &pointed : &d.align;
        if (ptx_word_is(w, ".align")) *align = (uint64_t)dc_integer(dc);
        else if (is_vector && !is_param) lanes = (uint64_t)(w.text[2] - '0');
        else if (is_param && ptx_word_is(w, ".ptr")) d.is_pointer = true;
        else if (found && found->bits >= 8) d.type = found;
        else if (!(is_param ? d.is_pointer : ptx_word_is(w, ".attribute")))
            ptx_fail(&dc->ps, "'%.*s' is not known here", w.len, w.text);
    }
    if (d.align & (d.align - 1)) ptx_fail(&dc->ps, "an alignment is a power of 2");
    if (d.type) d.unit = d.type->bits / 8 * lanes;
    return d;
}

void dc_variable(Decoder *dc, SimtSpace space)
{
    const Declared d = read_declared(dc, false);
    const PtxWord at = dc->ps.word;
    if (!d.type) ptx_fail(&dc->ps, "expected a type, found '%.*s'", at.len, at.text);
    if (!d.type) return;
    do {
        PtxWord name = ptx_next(&dc->ps);
        bool open;
        uint64_t bytes = read_extents(dc, &open) * d.unit;
        if (name.kind != PTXW_NAME || dc->ps.failed) {
            ptx_fail(&dc->ps, "expected a name, found '%.*s'", name.len, name.text);
            return;
        }
        SimtVar *v = dc_add_var(dc, (SimtVar){.name = name, .space = space});
        if (!v) return;
        v->bytes = (uint32_t)bytes;
        v->dynamic = open && space == SPACE_SHARED;
        v->address = v->dynamic ? 0 : place_variable(dc, space, bytes, d.align ? d.align : d.unit);
        if (ptx_take_mark(&dc->ps, '=')) read_initial(dc, v, d.type);
    } while (!dc->ps.failed && ptx_take_mark(&dc->ps, ','));
    ptx_expect_mark(&dc->ps, ';');
}

/* ---- functions ---- */

/* ".param .u64 .ptr .global .align 16 name", ".param .align 64 .b8 name[128]". */
static void read_param(Decoder *dc, SimtFunc *f)
{
    bool open;
    if (!dc_take_word(dc, ".param"))
        ptx_fail(&dc->ps, "expected '.param', found '%.*s'", dc->ps.word.len, dc->ps.word.text);
    const Declared d = read_declared(dc, true);
    PtxWord name = ptx_next(&dc->ps);
    uint64_t bytes = d.unit * read_extents(dc, &open);
    if (!bytes || name.kind != PTXW_NAME) ptx_fail(&dc->ps, "a parameter without type and name");
    if (dc->ps.failed) return;
    const uint64_t align = d.align < d.unit ? d.unit : d.align;
    const uint64_t at = round_up(f->param_bytes, align);
    const SimtVar v = {.name = name, .space = SPACE_PARAM, .address = at, .bytes = (uint32_t)bytes,
                       .align = (uint32_t)align, .is_pointer = d.is_pointer};
    if (!dc_push(dc, f->params, f->nparams, v)) return;
    f->param_bytes = (uint32_t)(at + bytes);
    if (f->param_bytes > 32764) ptx_fail(&dc->ps, "more than 32764 bytes of parameters");
}

static void read_params(Decoder *dc, SimtFunc *f)
{
    if (!ptx_take_mark(&dc->ps, '(')) return;
    while (!dc->ps.failed && !ptx_at_mark(&dc->ps, ')')) {
        if (f->nparams) dc_comma(dc);
        read_param(dc, f);
    }
    ptx_expect_mark(&dc->ps, ')');
}

static void read_three(Decoder *dc, uint32_t out[3])
{
    out[0] = (uint32_t)dc_integer(dc);
    out[1] = out[2] = 1;
    for (int i = 1; i < 3 && ptx_take_mark(&dc->ps, ','); i++) out[i] = (uint32_t)dc_integer(dc);
}

/* What stands between the parameters and the body. */
static void read_performance(Decoder *dc, SimtFunc *f)
{
    uint32_t most[3];
    while (!dc->ps.failed && dc->ps.word.kind == PTXW_NAME && dc->ps.word.text[0] == '.') {
        PtxWord w = ptx_next(&dc->ps);
        if (ptx_word_is(w, ".reqntid")) read_three(dc, f->reqntid);
        else if (ptx_word_is(w, ".reqnctapercluster")) read_three(dc, f->cluster);
        else if (ptx_word_is(w, ".maxntid")) {
            read_three(dc, most);
            f->maxntid = most[0] * most[1] * most[2];
        } else if (ptx_word_is(w, ".maxnreg")) {
            f->maxnreg = (uint32_t)dc_integer(dc);
        } else if (ptx_word_is(w, ".minnctapersm") || ptx_word_is(w, ".maxnctapersm") || ptx_word_is(w, ".maxclusterrank")) {
            dc_integer(dc);
        } else if (!ptx_word_is(w, ".noreturn") && !ptx_word_is(w, ".explicitcluster") &&
                   !ptx_word_is(w, ".blocksareclusters") && !ptx_word_is(w, ".unique"))
            ptx_fail(&dc->ps, "'%.*s' is not known here", w.len, w.text);
    }
}

/* Its code is decoded when the whole text is known: what it calls may stand behind it. */
static void read_entry(Decoder *dc)
{
    SimtModule *m = dc->module;
    SimtFunc *f = dc_take(dc, sizeof *f);
    if (!f) return;
    f->module = m;
    PtxWord name = ptx_next(&dc->ps);
    f->name = dc_take(dc, (size_t)name.len + 1);
    if (!f->name) return;
    memcpy(f->name, name.text, (size_t)name.len);
    read_params(dc, f);
    read_performance(dc, f);
    if (ptx_take_mark(&dc->ps, ';')) { /* declared here, defined elsewhere in the text */
        free(f->params);
        return;
    }
    f->body = dc->ps.word.text;
    skip_braces(dc);
    if (!dc_push(dc, m->funcs, m->nfuncs, f)) free(f->params);
}

static void decode_entry(Decoder *dc, SimtFunc *f)
{
    const uint32_t shared_before = dc->shared_bytes;
    dc->ps.at = f->body;
    ptx_next(&dc->ps);
    dc_entry(dc, f);
    f->shared_bytes = dc->shared_bytes;
    dc->shared_bytes = shared_before;
}

/* A function that can be called: its text is kept. */
static void read_func(Decoder *dc)
{
    SimtCallee c = {0};
    read_params(dc, &c.results);
    c.name = ptx_next(&dc->ps);
    read_params(dc, &c.params);
    read_performance(dc, &c.params);
    if (ptx_at_mark(&dc->ps, '{')) {
        c.body = dc->ps.word.text;
        skip_braces(dc);
    } else {
        ptx_expect_mark(&dc->ps, ';');
    }
    if (dc_push(dc, dc->callees, dc->ncallees, c)) return;
    free(c.results.params);
    free(c.params.params);
}

/* ---- directives of the module ---- */

static void read_file(Decoder *dc)
{
    SimtModule *m = dc->module;
    int64_t number = dc_integer(dc);
    int len = 0;
    const char *name = read_string(dc, &len);
    if (ptx_take_mark(&dc->ps, ',')) { /* time stamp and size */
        dc_integer(dc);
        dc_comma(dc);
        dc_integer(dc);
    }
    if (dc->ps.failed || number < 0 || number > 4096) return;
    while (m->nfiles <= number)
        if (!dc_push(dc, m->files, m->nfiles, NULL)) return;
    char *copy = dc_take(dc, (size_t)len + 1);
    if (copy) memcpy(copy, name, (size_t)len);
    m->files[number] = copy;
}

/* Code for this chip: for it or an older one; what is only for one chip, for that. */
static void read_target(Decoder *dc)
{
    PtxWord w = ptx_next(&dc->ps);
    char text[16];
    snprintf(text, sizeof text, "%.*s", w.len, w.text);
    int sm = 0;
    char own = 0;
    if (sscanf(text, "sm_%d%c", &sm, &own) < 1 || sm > dc->chip || (own && sm != dc->chip))
        ptx_fail(&dc->ps, "the text is for %s; this device is sm_%d", text, dc->chip);
    dc->chip = sm;
    dc->chip_own = own == 'a';
    while (ptx_take_mark(&dc->ps, ',')) ptx_next(&dc->ps);
}

static void skip_section(Decoder *dc)
{
    ptx_next(&dc->ps);
    if (ptx_at_mark(&dc->ps, '{')) skip_braces(dc);
}

void dc_pragma(Decoder *dc)
{
    int len;
    do read_string(dc, &len);
    while (!dc->ps.failed && ptx_take_mark(&dc->ps, ','));
    ptx_expect_mark(&dc->ps, ';');
}

/* A module's statement behind ".visible" and its kin. */
static void read_directive(Decoder *dc)
{
    PtxWord w = ptx_next(&dc->ps);
    if (w.kind != PTXW_NAME) ptx_fail(&dc->ps, "expected a directive, found '%.*s'", w.len, w.text);
    else if (ptx_word_is(w, ".version")) ptx_next(&dc->ps);
    else if (ptx_word_is(w, ".target")) read_target(dc);
    else if (ptx_word_is(w, ".address_size")) {
        if (dc_integer(dc) != 64) ptx_fail(&dc->ps, "addresses have 64 bits here");
    } else if (ptx_word_is(w, ".file")) read_file(dc);
    else if (ptx_word_is(w, ".section")) skip_section(dc);
    else if (ptx_word_is(w, ".pragma")) dc_pragma(dc);
    else if (ptx_word_is(w, ".global")) dc_variable(dc, SPACE_GLOBAL);
    else if (ptx_word_is(w, ".const")) dc_variable(dc, SPACE_CONST);
    else if (ptx_word_is(w, ".shared")) dc_variable(dc, SPACE_SHARED);
    else if (ptx_word_is(w, ".entry")) read_entry(dc);
    else if (ptx_word_is(w, ".func")) read_func(dc);
    else ptx_fail(&dc->ps, "'%.*s' is not known here", w.len, w.text);
}

static void read_module(Decoder *dc)
{
    ptx_next(&dc->ps);
    while (!dc->ps.failed && dc->ps.word.kind != PTXW_END) {
        while (dc_take_word(dc, ".visible") || dc_take_word(dc, ".extern") ||
               dc_take_word(dc, ".weak") || dc_take_word(dc, ".common"))
            ;
        read_directive(dc);
    }
    for (int i = 0; i < dc->module->nfuncs && !dc->ps.failed; i++)
        decode_entry(dc, dc->module->funcs[i]);
}

/* ---- the module ---- */

static void fini_decoder(Decoder *dc)
{
    void *const arrays[] = {dc->callees, dc->vars,   dc->regs,  dc->insns,
                            dc->labels,  dc->fixups, dc->outer, dc->targets};
    for (int i = 0; i < dc->ncallees; i++) {
        free(dc->callees[i].params.params);
        free(dc->callees[i].results.params);
    }
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

static SimtModule *new_module(const char *text, Memory *memory)
{
    SimtModule *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->text = strdup(text);
    m->memory = memory;
    if (m->text) return m;
    free(m);
    return NULL;
}

SimtModule *simt_module_load(const char *text, int chip, Memory *memory, char *problem, size_t size)
{
    char what[256] = "";
    SimtModule *m = new_module(text, memory);
    Decoder *dc = m ? calloc(1, sizeof *dc) : NULL;
    if (!dc) {
        snprintf(problem, size, "out of memory");
        simt_module_free(m);
        errno = ENOMEM;
        return NULL;
    }
    dc->ps = (PtxParser){.at = m->text, .problem = what, .size = sizeof what, .max_regs = 1 << 20};
    dc->module = m;
    dc->chip = chip;
    dc->line = 1;
    dc->line_at = m->text;
    read_module(dc);
    if (!dc->ps.failed && !m->nfuncs && !m->nvars) ptx_fail(&dc->ps, "there is no kernel in the text");
    const bool failed = dc->ps.failed, no_memory = dc->no_memory;
    if (failed) snprintf(problem, size, "line %d: %s", dc_line_at(dc, dc->ps.failed_at), what);
    fini_decoder(dc);
    free(dc);
    if (!failed) return m;
    simt_module_free(m);
    errno = no_memory ? ENOMEM : EINVAL;
    return NULL;
}

void simt_module_free(SimtModule *m)
{
    size_t bytes;
    if (!m) return;
    for (int i = 0; i < m->nvars; i++)
        if (m->vars[i].space == SPACE_GLOBAL || m->vars[i].space == SPACE_CONST)
            memory_release(m->memory, m->vars[i].address, &bytes);
    for (int i = 0; i < m->nfuncs; i++) {
        free(m->funcs[i]->params);
        free(m->funcs[i]->insns);
        free(m->funcs[i]->numbers);
    }
    owned_free(m->owned);
    void *const all[] = {m->funcs, m->vars, m->places, m->files, m->text, m};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

const SimtVar *simt_module_global(const SimtModule *m, const char *name)
{
    for (int i = 0; i < m->nvars; i++) {
        const SimtVar *v = &m->vars[i];
        if (v->space == SPACE_GLOBAL && ptx_word_is(v->name, name)) return v;
    }
    return NULL;
}
