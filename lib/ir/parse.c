/* The textual form, read (its grammar: print.h). One function per construct; each returns false
   after a diagnostic. A broken op is skipped with its regions, and what it would have defined is
   poison: ops that use poison are dropped without a word. Whether the IR is right is verify.c's
   affair. */
#include "ir/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/power.h"
#include "base/vec.h"
#include "ir/machine.h"
#include "ir/scan.h"

enum { MAX_NESTING = 200, MAX_ELEMENTS = 1 << 20, DEFAULT_WARPS = 4, DEFAULT_STAGES = 3 };

typedef struct Parser {
    Ir *ir;
    Diags *dx;
    Scanner scan;
    Func *fn;
    Map names;    /* of the function: interned name -> Value */
    Map layouts;  /* interned name, with its '#' -> Layout */
    Value poison;
    int depth;
    bool failed;
} Parser;

typedef VEC(Value *) Values;

/* ---- tokens ---- */

/* Reports, and gives false. */
#define wrong(p, at, ...) (diag_error((p)->dx, at, __VA_ARGS__), false)

static bool expected(Parser *p, const char *what)
{
    Span at = scan_span(&p->scan);
    unsigned char first = (unsigned char)*scan_text(&p->scan);
    int len = (int)(scan_len(&p->scan) < 40 ? scan_len(&p->scan) : 40);
    if (p->scan.token.kind == TOK_END) {
        diag_error(p->dx, at, "expected %s, found the end of the text", what);
    } else if (first < 32 || first > 126) {
        diag_error(p->dx, at, "expected %s, found the byte 0x%02x", what, first);
    } else {
        diag_error(p->dx, at, "expected %s, found '%.*s'", what, len, scan_text(&p->scan));
    }
    return false;
}

static bool accept(Parser *p, const char *text)
{
    if (!scan_is(&p->scan, text)) return false;
    scan_next(&p->scan);
    return true;
}

static bool expect(Parser *p, const char *text)
{
    if (accept(p, text)) return true;
    char quoted[32] = "'";
    strncat(quoted, text, sizeof quoted - 3);
    strcat(quoted, "'");
    return expected(p, quoted);
}

/* The token's text as an interned string, without the first `skip` characters. */
static Str word_of(Parser *p, size_t skip)
{
    return intern(p->ir->names, scan_text(&p->scan) + skip, scan_len(&p->scan) - skip);
}

/* Skips what is left of a broken op: to the end of its line, over every region that opens on the
   way. A brace that closes in the middle of the line closes the op's attributes. */
static void skip_op(Parser *p)
{
    for (int open = 0; p->scan.token.kind != TOK_END; scan_next(&p->scan)) {
        if (open == 0 && p->scan.token.starts_line) return;
        if (scan_is(&p->scan, "{")) open++;
        if (open > 0 && scan_is(&p->scan, "}")) open--;
    }
}

/* ---- types ---- */

static const Type *bad_type(Parser *p, const char *begin, const char *end)
{
    const char *text = p->scan.source->text;
    Span at = {p->scan.source, (uint32_t)(begin - text), (uint32_t)(end - text)};
    int len = (int)(end - begin < 40 ? end - begin : 40);
    diag_error(p->dx, at, "expected a type, found '%.*s'", len, begin);
    return NULL;
}

static const char *end_of_element(const char *s)
{
    while (*s == '*') s++;
    while ((*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9')) s++;
    return s;
}

/* `16x64x`; the rank, or 0 when it is none. */
static int parse_shape(const char **s, int32_t *shape)
{
    int rank = 0;
    int64_t elements = 1;
    while (**s >= '0' && **s <= '9') {
        char *end;
        errno = 0;
        long extent = strtol(*s, &end, 10);
        if (*end != 'x' || errno || extent < 1 || extent > MAX_ELEMENTS || rank == TKC_MAX_RANK)
            return 0;
        shape[rank++] = (int32_t)extent;
        elements *= power_of_two_for(extent);
        if (elements > MAX_ELEMENTS) return 0;
        *s = end + 1;
    }
    return rank;
}

/* In full, or a name that was given to one. */
static const Layout *parse_layout(Parser *p, const char **s)
{
    const char *begin = *s, *text = p->scan.source->text, *error = NULL;
    const size_t digits = *begin == '#' ? strspn(begin + 1, "0123456789") : 0;
    const Layout *layout;
    if (digits) {
        *s = begin + 1 + digits;
        Str name = intern(p->ir->names, begin, digits + 1);
        layout = map_get_ptr(&p->layouts, name);
        error = arena_printf(p->ir->arena, "no layout is called '%s'", name);
    } else {
        layout = layout_parse(p->ir->layouts, s, &error);
    }
    if (layout) return layout;
    Span at = {p->scan.source, (uint32_t)(begin - text), (uint32_t)(*s - text)};
    diag_error(p->dx, at, "%s", error);
    return NULL;
}

/* From after `block<` or `smem<`. */
static const Type *parse_shaped(Parser *p, TypeKind kind, const char *begin, const char *s)
{
    int32_t shape[TKC_MAX_RANK];
    int rank = parse_shape(&s, shape);
    const char *end = end_of_element(s);
    const Type *elem = type_parse(p->ir->types, s, (size_t)(end - s));
    if (!rank || !elem) return bad_type(p, begin, end);
    const Layout *layout = NULL;
    s = end;
    if (*s == ',') {
        s++;
        while (*s == ' ') s++;
        layout = parse_layout(p, &s);
        if (!layout) return NULL;
    }
    if (*s != '>' || (kind == TY_SMEM && !layout)) return bad_type(p, begin, s);
    scan_from(&p->scan, (uint32_t)(s + 1 - p->scan.source->text));
    return kind == TY_SMEM ? type_smem(p->ir->types, elem, rank, shape, layout)
                           : type_block(p->ir->types, elem, rank, shape, layout);
}

static const Type *parse_type(Parser *p)
{
    const char *begin = scan_text(&p->scan);
    if (scan_is(&p->scan, "block") && begin[5] == '<')
        return parse_shaped(p, TY_BLOCK, begin, begin + 6);
    if (scan_is(&p->scan, "smem") && begin[4] == '<')
        return parse_shaped(p, TY_SMEM, begin, begin + 5);
    const char *end = end_of_element(begin);
    const Type *ty = type_parse(p->ir->types, begin, (size_t)(end - begin));
    if (!ty) return expected(p, "a type"), NULL;
    scan_from(&p->scan, (uint32_t)(end - p->scan.source->text));
    return ty;
}

/* ---- attributes ---- */

static bool parse_int(Parser *p, int64_t *value)
{
    if (accept(p, "true")) return *value = 1, true;
    if (accept(p, "false")) return *value = 0, true;
    uint64_t bits;
    if (p->scan.token.kind != TOK_NUMBER ||
        !ir_parse_number(DT_I64, scan_text(&p->scan), scan_len(&p->scan), &bits))
        return expected(p, "an integer");
    *value = (int64_t)bits;
    scan_next(&p->scan);
    return true;
}

/* An integer of a small positive range. */
static bool parse_count(Parser *p, int *count)
{
    Span at = scan_span(&p->scan);
    int64_t value;
    if (!parse_int(p, &value)) return false;
    if (value < 0 || value > 1024)
        return wrong(p, at, "expected a number from 0 to 1024, found %lld", (long long)value);
    *count = (int)value;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

/* One character of a string, 0 when its escape is none. */
static char parse_escape(const char **s)
{
    char c = *(*s)++;
    if (c != '\\') return c;
    c = *(*s)++;
    if (c == 'n') return '\n';
    if (c == '"' || c == '\\') return c;
    if (c != 'x') return 0;
    int high = hex_digit((*s)[0]), low = high < 0 ? -1 : hex_digit((*s)[1]);
    *s += low < 0 ? 0 : 2;
    return low < 0 ? 0 : (char)(high * 16 + low);
}

static bool parse_string(Parser *p, const char **text)
{
    const char *s = scan_text(&p->scan) + 1, *end = p->scan.source->text + p->scan.token.end - 1;
    if (p->scan.token.kind != TOK_STRING || scan_len(&p->scan) < 2 || *end != '"')
        return expected(p, "a string in double quotes");
    Buf out = buf_make(p->ir->arena);
    while (s < end) {
        char c = parse_escape(&s);
        if (!c) return expected(p, "a string with the escapes \\n \\\" \\\\ \\xNN");
        buf_putc(&out, c);
    }
    if (s != end) return expected(p, "a closing quote");
    *text = buf_text(&out);
    scan_next(&p->scan);
    return true;
}

enum { MAX_INTS = 64 };

static bool parse_ints(Parser *p, int *count, int64_t *values)
{
    if (!expect(p, "[")) return false;
    *count = 0;
    while (!accept(p, "]")) {
        if (*count && !expect(p, ",")) return false;
        if (*count == MAX_INTS) return expected(p, "']'");
        if (!parse_int(p, &values[(*count)++])) return false;
    }
    return true;
}

static bool suggest(Parser *p, const char *what, const char *const *known, int n)
{
    int len = (int)(scan_len(&p->scan) < 40 ? scan_len(&p->scan) : 40);
    const char *word = arena_strndup(p->ir->arena, scan_text(&p->scan), (size_t)len);
    const char *near = nearest_word(word, known, n);
    Diag *d = diag_error(p->dx, scan_span(&p->scan), "no %s is called '%s'", what, word);
    diag_suggest(p->dx, d, scan_span(&p->scan), word, near);
    return false;
}

static bool parse_key(Parser *p, AttrKey *key)
{
    if (p->scan.token.kind != TOK_WORD) return expected(p, "the name of an attribute");
    const char *names[ATTR_COUNT];
    int n = 0;
    for (int k = ATTR_NONE + 1; k < ATTR_COUNT; k++) {
        *key = (AttrKey)k;
        names[n++] = tkc_attr_name(*key);
        if (accept(p, names[n - 1])) return true;
    }
    return suggest(p, "attribute", names, n);
}

static bool parse_attr(Parser *p, Op *op)
{
    AttrKey key = ATTR_NONE;
    Span at = scan_span(&p->scan);
    if (!parse_key(p, &key)) return false;
    if (tkc_op_attr(op, key))
        return wrong(p, at, "the attribute '%s' is given twice", tkc_attr_name(key));
    int64_t ints[MAX_INTS];
    const char *text;
    int n = 0;
    if (!expect(p, "=")) return false;
    switch (tkc_attr_kind(key)) {
    case AK_NONE: return false;
    case AK_INT:
        if (!parse_int(p, &ints[0])) return false;
        ir_set_int(p->fn, op, key, ints[0]);
        return true;
    case AK_STR:
        if (!parse_string(p, &text)) return false;
        ir_set_str(p->fn, op, key, text);
        return true;
    case AK_INTS:
        if (!parse_ints(p, &n, ints)) return false;
        ir_set_ints(p->fn, op, key, n, ints);
        return true;
    }
    return false;
}

static bool parse_attrs(Parser *p, Op *op)
{
    if (p->scan.token.starts_line || !accept(p, "{")) return true;
    do {
        if (!parse_attr(p, op)) return false;
    } while (accept(p, ","));
    return expect(p, "}");
}

/* ---- values ---- */

/* Enters a name, which must be new. Names that are not numbers go to the value too. */
static bool define(Parser *p, Str name, Span at, Value *v)
{
    if (map_has(&p->names, (uint64_t)(uintptr_t)name))
        return wrong(p, at, "'%%%s' is defined twice", name);
    map_set_ptr(&p->names, name, v);
    bool is_number = *name >= '0' && *name <= '9';
    if (v != &p->poison && !is_number) v->name = name;
    return true;
}

static bool parse_operand(Parser *p, Values *args)
{
    if (p->scan.token.kind != TOK_VALUE) return expected(p, "a value such as '%x'");
    Str name = word_of(p, 1);
    Value *v = map_get_ptr(&p->names, name);
    if (!v) return wrong(p, scan_span(&p->scan), "'%%%s' is used before it is defined", name);
    vec_push(p->ir->arena, args, v);
    scan_next(&p->scan);
    return true;
}

/* Operands begin on the line of their op. */
static bool parse_operands(Parser *p, Values *args)
{
    if (p->scan.token.starts_line || p->scan.token.kind != TOK_VALUE) return true;
    do {
        if (!parse_operand(p, args)) return false;
    } while (accept(p, ","));
    return true;
}

/* ---- ops ---- */

typedef struct Names {
    VEC(Str) names;
    VEC(Span) places;
} Names;

static bool parse_result_names(Parser *p, Names *results)
{
    if (p->scan.token.kind != TOK_VALUE) return true;
    do {
        if (p->scan.token.kind != TOK_VALUE) return expected(p, "a value such as '%x'");
        vec_push(p->ir->arena, &results->names, word_of(p, 1));
        vec_push(p->ir->arena, &results->places, scan_span(&p->scan));
        scan_next(&p->scan);
    } while (accept(p, ","));
    return expect(p, "=");
}

static bool parse_op_kind(Parser *p, OpKind *kind)
{
    if (p->scan.token.kind != TOK_WORD) return expected(p, "the name of an op");
    const char *names[OP_COUNT];
    int n = 0;
    for (int k = OP_NONE + 1; k < OP_COUNT; k++) {
        *kind = (OpKind)k;
        names[n++] = tkc_op_info(*kind)->name;
        if (scan_is(&p->scan, names[n - 1])) return true;
    }
    return suggest(p, "op", names, n);
}

/* `const`'s value reads according to its type, which comes after it. */
static void skip_number(Parser *p, uint32_t *begin, uint32_t *end)
{
    *begin = p->scan.token.begin;
    *end = *begin;
    const char *text = p->scan.source->text;
    while (text[*end] && !strchr(" \t\r\n:{}", text[*end])) ++*end;
    scan_from(&p->scan, *end);
}

static bool parse_constant(Parser *p, Op *op, uint32_t begin, uint32_t end)
{
    const Type *ty = op->nresults ? op->results[0]->type : NULL;
    const char *text = p->scan.source->text + begin;
    uint64_t bits;
    if (ty && ir_parse_number(ty->dtype, text, end - begin, &bits)) {
        ir_set_int(p->fn, op, ATTR_VALUE, (int64_t)bits);
        return true;
    }
    int len = (int)(end - begin < 40 ? end - begin : 40);
    return wrong(p, (Span){p->scan.source, begin, end}, "'%.*s' is no constant of type %s", len,
                 text, ty ? type_text(p->ir->arena, ty) : "none");
}

static bool parse_region_args(Parser *p, Region *r)
{
    if (!accept(p, "(")) return true;
    while (!accept(p, ")")) {
        if (r->nargs && !expect(p, ",")) return false;
        if (p->scan.token.kind != TOK_VALUE) return expected(p, "a value such as '%x'");
        Str name = word_of(p, 1);
        Span at = scan_span(&p->scan);
        scan_next(&p->scan);
        if (!expect(p, ":")) return false;
        const Type *ty = parse_type(p);
        if (!ty || !define(p, name, at, ir_add_region_arg(r, ty, NULL))) return false;
    }
    return true;
}

static void parse_ops(Parser *p, Region *r);

static bool parse_region(Parser *p, Region *r)
{
    if (!parse_region_args(p, r)) return false;
    if (!scan_is(&p->scan, "{")) return expected(p, "'{'");
    if (p->depth == MAX_NESTING)
        return wrong(p, scan_span(&p->scan), "regions nest deeper than %d", MAX_NESTING);
    scan_next(&p->scan);
    p->depth++;
    parse_ops(p, r);
    p->depth--;
    return expect(p, "}");
}

static bool parse_regions(Parser *p, Op *op)
{
    for (int i = 0; i < op->nregions; i++) {
        if (i && !expect(p, op->kind == OP_WHILE ? "do" : "else")) return false;
        if (!parse_region(p, op->regions[i])) return false;
    }
    return true;
}

static bool parse_result_types(Parser *p, Op *op)
{
    if (p->scan.token.starts_line || !accept(p, ":")) return true;
    do {
        const Type *ty = parse_type(p);
        if (!ty) return false;
        ir_add_result(op, ty);
    } while (accept(p, ","));
    return true;
}

static bool define_results(Parser *p, Op *op, const Names *results, Span at)
{
    if (results->names.len != op->nresults)
        return wrong(p, at, "%s defines %d values, but has %d result types",
                     tkc_op_info(op->kind)->name, results->names.len, op->nresults);
    for (int i = 0; i < op->nresults; i++) {
        if (!define(p, results->names.data[i], results->places.data[i], op->results[i]))
            return false;
    }
    return true;
}

static bool has_poison(const Parser *p, const Values *args)
{
    for (int i = 0; i < args->len; i++)
        if (args->data[i] == &p->poison) return true;
    return false;
}

/* Everything after the results' names. */
static bool parse_op_body(Parser *p, Region *r, const Names *results)
{
    OpKind kind;
    Span at = scan_span(&p->scan);
    if (!parse_op_kind(p, &kind)) return false;
    scan_next(&p->scan);
    uint32_t begin = 0, end = 0;
    if (kind == OP_CONST) skip_number(p, &begin, &end);
    Values args = {0};
    if (!parse_operands(p, &args)) return false;
    if (has_poison(p, &args)) return false;
    Op *op = ir_op_new(p->fn, kind, args.len, args.data, 0, NULL,
                       ir_loc(p->ir, at, p->fn->name, NULL));
    ir_append(r, op);
    if (!parse_regions(p, op) || !parse_attrs(p, op) || !parse_result_types(p, op)) return false;
    if (kind == OP_CONST && !parse_constant(p, op, begin, end)) return false;
    if (!define_results(p, op, results, at)) return false;
    bool ends =
        p->scan.token.starts_line || p->scan.token.kind == TOK_END || scan_is(&p->scan, "}");
    return ends || expected(p, "the end of the line");
}

static void poison_results(Parser *p, const Names *results)
{
    for (int i = 0; i < results->names.len; i++) {
        if (!map_get_ptr(&p->names, results->names.data[i]))
            map_set_ptr(&p->names, results->names.data[i], &p->poison);
    }
}

static void parse_ops(Parser *p, Region *r)
{
    while (p->scan.token.kind != TOK_END && !scan_is(&p->scan, "}")) {
        Names results = {0};
        uint32_t begin = p->scan.token.begin;
        if (parse_result_names(p, &results) && parse_op_body(p, r, &results)) continue;
        p->failed = true;
        poison_results(p, &results);
        if (p->scan.token.begin == begin) scan_next(&p->scan);
        skip_op(p);
    }
}

/* ---- functions ---- */

/* Extents or strides of a parameter: numbers, or names of parameters that may come later in the
   list. */
typedef struct Dims {
    int count;
    int64_t known[TKC_MAX_RANK];
    Str name[TKC_MAX_RANK];
    Span at[TKC_MAX_RANK];
} Dims;

typedef struct ParamDims {
    Dims extent, stride;
} ParamDims;

static bool parse_dims(Parser *p, Dims *dims)
{
    if (!expect(p, "[")) return false;
    dims->count = 0;
    while (!accept(p, "]")) {
        int i = dims->count;
        if (i && !expect(p, ",")) return false;
        if (i == TKC_MAX_RANK) return expected(p, "']'");
        dims->known[i] = -1;
        dims->at[i] = scan_span(&p->scan);
        if (p->scan.token.kind == TOK_VALUE) {
            dims->name[i] = word_of(p, 1);
            scan_next(&p->scan);
        } else if (!parse_int(p, &dims->known[i])) {
            return false;
        }
        dims->count++;
    }
    return true;
}

static bool parse_param_attr(Parser *p, Param *param, ParamDims *dims)
{
    Span at = scan_span(&p->scan);
    if (accept(p, "divisibility")) {
        if (!expect(p, "=") || !parse_int(p, &param->divisibility)) return false;
        if (param->divisibility >= 1) return true;
        return wrong(p, at, "a divisibility of %lld", (long long)param->divisibility);
    }
    if (accept(p, "extent")) return expect(p, "=") && parse_dims(p, &dims->extent);
    if (accept(p, "stride")) return expect(p, "=") && parse_dims(p, &dims->stride);
    return suggest(p, "attribute of a parameter",
                   (const char *[]){"divisibility", "extent", "stride"}, 3);
}

static bool parse_param(Parser *p, ParamDims *dims)
{
    const char *text = scan_text(&p->scan);
    bool is_name = p->scan.token.kind == TOK_VALUE && !(text[1] >= '0' && text[1] <= '9');
    if (!is_name) return expected(p, "a parameter such as '%x'");
    Str name = word_of(p, 1);
    Span at = scan_span(&p->scan);
    scan_next(&p->scan);
    if (!expect(p, ":")) return false;
    const Type *ty = parse_type(p);
    if (!ty || !define(p, name, at, ir_add_param(p->fn, name, ty))) return false;
    if (!accept(p, "{")) return true;
    do {
        if (!parse_param_attr(p, &p->fn->params[p->fn->nparams - 1], dims)) return false;
    } while (accept(p, ","));
    return expect(p, "}");
}

static int find_param(const Func *fn, Str name)
{
    for (int i = 0; i < fn->nparams; i++)
        if (fn->params[i].name == name) return i;
    return -1;
}

static bool resolve_dims(Parser *p, const Dims *dims, int64_t *known, int *param)
{
    for (int i = 0; i < dims->count; i++) {
        known[i] = dims->known[i];
        param[i] = -1;
        if (!dims->name[i]) continue;
        param[i] = find_param(p->fn, dims->name[i]);
        if (param[i] >= 0) continue;
        return wrong(p, dims->at[i], "'%%%s' is no parameter", dims->name[i]);
    }
    return true;
}

static bool resolve_param(Parser *p, Param *param, const ParamDims *dims, Span at)
{
    if (dims->extent.count != dims->stride.count)
        return wrong(p, at, "'%%%s' has %d extents and %d strides", param->name, dims->extent.count,
                     dims->stride.count);
    param->rank = dims->extent.count;
    return resolve_dims(p, &dims->extent, param->extent, param->extent_param) &&
           resolve_dims(p, &dims->stride, param->stride, param->stride_param);
}

static bool parse_params(Parser *p)
{
    Span at = scan_span(&p->scan);
    VEC(ParamDims) all = {0};
    if (!expect(p, "(")) return false;
    while (!accept(p, ")")) {
        if (all.len && !expect(p, ",")) return false;
        ParamDims dims = {0};
        if (!parse_param(p, &dims)) return false;
        vec_push(p->ir->arena, &all, dims);
    }
    for (int i = 0; i < all.len; i++)
        if (!resolve_param(p, &p->fn->params[i], &all.data[i], at)) return false;
    return true;
}

static bool parse_target(Parser *p)
{
    Span at = scan_span(&p->scan);
    const char *name;
    if (!parse_string(p, &name)) return false;
    p->fn->machine = machine_find(name);
    if (p->fn->machine) return true;
    Buf list = buf_make(p->ir->arena);
    machine_list(&list);
    return diag_fail(p->dx, at, "no target is called '%s'; there are %s", name, buf_text(&list));
}

static bool parse_level(Parser *p)
{
    Span at = scan_span(&p->scan);
    const char *name;
    if (!parse_string(p, &name)) return false;
    p->fn->level = strcmp(name, "memory") ? LEVEL_TENSOR : LEVEL_MEMORY;
    if (p->fn->level == LEVEL_MEMORY || !strcmp(name, "tensor")) return true;
    return diag_fail(p->dx, at, "no level is called '%s'; there are tensor, memory", name);
}

static bool parse_flag(Parser *p, bool *flag)
{
    int64_t value;
    if (!expect(p, "=") || !parse_int(p, &value)) return false;
    *flag = value != 0;
    return true;
}

static bool parse_func_attr(Parser *p)
{
    Func *fn = p->fn;
    if (accept(p, "target")) return expect(p, "=") && parse_target(p);
    if (accept(p, "num_warps")) return expect(p, "=") && parse_count(p, &fn->num_warps);
    if (accept(p, "num_stages")) return expect(p, "=") && parse_count(p, &fn->num_stages);
    if (accept(p, "max_registers")) return expect(p, "=") && parse_count(p, &fn->max_registers);
    if (accept(p, "fp_contract")) return parse_flag(p, &fn->fp_contract);
    if (accept(p, "debug")) return parse_flag(p, &fn->debug);
    if (accept(p, "level")) return expect(p, "=") && parse_level(p);
    const char *const known[] = {"target",      "num_warps", "num_stages", "max_registers",
                                 "fp_contract", "debug",     "level"};
    return suggest(p, "attribute of a function", known, 7);
}

static bool parse_func_attrs(Parser *p)
{
    if (!accept(p, "attributes")) return true;
    if (!expect(p, "{")) return false;
    do {
        if (!parse_func_attr(p)) return false;
    } while (accept(p, ","));
    return expect(p, "}");
}

/* `#0 = #l<…>` */
static bool parse_layout_name(Parser *p)
{
    Str name = word_of(p, 0);
    scan_next(&p->scan);
    if (!expect(p, "=")) return false;
    const char *s = scan_text(&p->scan);
    const Layout *layout = parse_layout(p, &s);
    scan_from(&p->scan, (uint32_t)(s - p->scan.source->text));
    map_set_ptr(&p->layouts, name, (void *)layout);
    return layout != NULL;
}

static Func *parse_func(Parser *p)
{
    while (p->scan.token.kind == TOK_LAYOUT)
        if (!parse_layout_name(p)) return NULL;
    if (!expect(p, "func")) return NULL;
    if (p->scan.token.kind != TOK_FUNC)
        return expected(p, "the function's name, such as '@add'"), NULL;
    Span at = scan_span(&p->scan);
    p->fn = ir_func_new(p->ir, word_of(p, 1), NULL, DEFAULT_WARPS, DEFAULT_STAGES);
    p->fn->loc = ir_loc(p->ir, at, p->fn->name, NULL);
    map_init(&p->names, p->ir->arena);
    scan_next(&p->scan);
    if (!parse_params(p) || !parse_func_attrs(p) || !expect(p, "{")) return NULL;
    parse_ops(p, p->fn->body);
    return expect(p, "}") ? p->fn : NULL;
}

/* To the next line that begins with `func` or names a layout. */
static void skip_func(Parser *p)
{
    while (p->scan.token.kind != TOK_END &&
           !(p->scan.token.starts_line &&
             (scan_is(&p->scan, "func") || p->scan.token.kind == TOK_LAYOUT))) {
        scan_next(&p->scan);
    }
}

static bool is_new_name(Parser *p, Func *const *funcs, int n, const Func *fn)
{
    for (int i = 0; i < n; i++) {
        if (funcs[i]->name != fn->name) continue;
        return wrong(p, ir_span(fn->loc), "the function '@%s' is defined twice", fn->name);
    }
    return true;
}

int ir_parse(Ir *ir, Diags *dx, const Source *source, Func ***funcs)
{
    Parser p = {.ir = ir, .dx = dx, .scan = scan_start(source)};
    p.poison.type = type_error(ir->types);
    map_init(&p.layouts, ir->arena);
    VEC(Func *) found = {0};
    do {
        Func *fn = parse_func(&p);
        if (fn && is_new_name(&p, found.data, found.len, fn)) vec_push(ir->arena, &found, fn);
        else p.failed = true;
        if (!fn) skip_func(&p);
    } while (p.scan.token.kind != TOK_END);
    *funcs = found.data;
    return p.failed ? -1 : found.len;
}
