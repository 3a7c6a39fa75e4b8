/* The interpreter's elementwise instructions against tkc_evaluate, which defines them: every op on
   every element type, over all pairs of edge values; one-operand ops and casts of the 8- and 16-bit
   types over all their patterns. */
#include <math.h>

#include "interp_run.h"

/* ---- values ---- */

/* The bits in memory, extended as tkc_evaluate wants them. */
static uint64_t extend(DType dt, uint64_t bits)
{
    const DTypeInfo *info = tkc_dtype_info(dt);
    int unused = 64 - 8 * info->bytes;
    return info->kind == DK_INT ? (uint64_t)((int64_t)(bits << unused) >> unused)
                                : bits << unused >> unused;
}

enum { EDGES = 48 };

static void edge_values(DType dt, uint64_t *v)
{
    static const double floats[] = {
        0,      -0.0,   1,        -1,        0.5,          -1.5,          2.5,
        3,      7,      -8,       1e-3,      1e3,          65504,         65520,
        448,    57344,  1e-7,     6e-8,      1e-40,        -3e38,         3e38,
        127.5,  255,    256,      -129,      2147483648.0, -2147483649.0, 4294967296.0,
        9.3e18, 1.9e19, INFINITY, -INFINITY, NAN};
    static const int64_t ints[] = {
        0,         1,          2,         3,        5,         7,         8,          15,
        16,        31,         32,        33,       63,        64,        65,         100,
        127,       128,        255,       256,      -1,        -2,        -3,         -7,
        -8,        -100,       -127,      -128,     INT16_MAX, INT16_MIN, UINT16_MAX, INT32_MAX,
        INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN};
    const DTypeInfo *info = tkc_dtype_info(dt);
    uint64_t seed = (uint64_t)dt;
    int n = 0;
    if (info->kind == DK_FLOAT)
        for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
            v[n++] = tkc_bits_from_double(dt, floats[i]);
    else
        for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
            v[n++] = dt == DT_I1 ? (uint64_t)ints[i] & 1 : (uint64_t)ints[i];
    for (; n < EDGES; n++) v[n] = dt == DT_I1 ? (uint64_t)n & 1 : random_next(&seed);
}

/* All pairs (or triples that differ) of edge values, or with `all` every pattern of the type. */
static int64_t make_operand(DType dt, int which, bool all, uint64_t *out)
{
    uint64_t edges[EDGES];
    int64_t n = all ? (int64_t)1 << tkc_dtype_info(dt)->bits : EDGES * EDGES;
    edge_values(dt, edges);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = which == 0 ? i / EDGES : which == 1 ? i % EDGES : (i / 7 + i) % EDGES;
        out[i] = extend(dt, all ? (uint64_t)i : edges[at]);
    }
    return n;
}

/* ---- comparing ---- */

static bool is_nan(DType dt, uint64_t bits)
{
    return tkc_dtype_info(dt)->kind == DK_FLOAT && isnan(tkc_bits_to_double(dt, bits));
}

/* Places apart, counted in numbers of the type. */
static int64_t distance(DType dt, uint64_t a, uint64_t b)
{
    int bits = tkc_dtype_info(dt)->bits;
    uint64_t sign = 1ull << (bits - 1);
    int64_t x = a & sign ? -(int64_t)(a & (sign - 1)) : (int64_t)a,
            y = b & sign ? -(int64_t)(b & (sign - 1)) : (int64_t)b;
    return llabs(x - y);
}

/* Functions computed in fp32 may be a little off. */
static int64_t tolerance(OpKind kind, DType dt)
{
    bool approximate = kind == OP_EXP || kind == OP_EXP2 || kind == OP_LOG || kind == OP_LOG2;
    return !approximate || dt == DT_F64 ? 0 : dt == DT_F32 ? 2 : 1;
}

static bool is_close(OpKind kind, DType dt, uint64_t got, uint64_t want)
{
    int64_t most = tolerance(kind, dt);
    if (got == want || (is_nan(dt, got) && is_nan(dt, want))) return true;
    return most > 0 && !is_nan(dt, got) && !is_nan(dt, want) && distance(dt, got, want) <= most;
}

/* ---- one op on a block ---- */

typedef struct Case {
    OpKind kind;
    DType from, to;
    int nargs;
    const char *rounding;
    unsigned uniform;
    bool all;
} Case;

static const Type *block_of(World *w, const Type *elem, int64_t n)
{
    return type_block(w->ir->types, elem, 1, (int32_t[]){(int32_t)n}, NULL);
}

static DType operand_dtype(const Case *c, int i)
{
    return c->kind == OP_SELECT && i == 0 ? DT_I1 : c->from;
}

/* r = op(x, y, z), each from its array; a uniform operand is the scalar at its array's start. */
static Func *make_func(World *w, const Case *c, int64_t n)
{
    Func *fn = ir_func_new(w->ir, "f", machine_find("sm_80"), 4, 3);
    Builder b = build_at_end(fn, fn->body);
    Value *ptr[4], *x[3];
    for (int i = 0; i <= c->nargs; i++)
        ptr[i] = ir_add_param(
            fn, "p",
            type_pointer(w->ir->types,
                         type_scalar(w->ir->types, i < c->nargs ? operand_dtype(c, i) : c->to)));
    Value *at = build_arange(&b, 0, (int32_t)n);
    int32_t shape[] = {(int32_t)n};
    for (int i = 0; i < c->nargs; i++)
        x[i] = c->uniform >> i & 1
                   ? build_splat(&b, build_load(&b, ptr[i], NULL, NULL), 1, shape)
                   : build_load(&b, build_addptr(&b, build_splat(&b, ptr[i], 1, shape), at), NULL,
                                NULL);
    const Type *result = block_of(w, type_scalar(w->ir->types, c->to), n);
    Op *op = build_op(&b, c->kind, c->nargs, x, 1, &result);
    if (c->rounding) ir_set_str(fn, op, ATTR_ROUNDING, c->rounding);
    build_store(&b, build_addptr(&b, build_splat(&b, ptr[c->nargs], 1, shape), at),
                op_result(op, 0), NULL);
    build_return(&b);
    return fn;
}

static void *to_memory(World *w, DType dt, const uint64_t *bits, int64_t n)
{
    int size = tkc_dtype_info(dt)->bytes;
    char *p = device_array(w, NULL, (size_t)(n * size));
    for (int64_t i = 0; i < n; i++) memcpy(p + i * size, &bits[i], (size_t)size);
    return p;
}

static void compare(const Case *c, int64_t n, uint64_t *const *operands, const char *got)
{
    int size = tkc_dtype_info(c->to)->bytes;
    for (int64_t i = 0; i < n; i++) {
        uint64_t args[3], want = 0, bits = 0;
        for (int k = 0; k < c->nargs; k++) args[k] = operands[k][c->uniform >> k & 1 ? 0 : i];
        if (!tkc_evaluate(c->kind, c->from, c->to, c->rounding, c->nargs, args, &want)) {
            expect_failed(__FILE__, __LINE__, "can be evaluated");
            return;
        }
        memcpy(&bits, got + i * size, (size_t)size);
        bits = extend(c->to, bits);
        if (is_close(c->kind, c->to, bits, want)) continue;
        printf("%s %s -> %s, uniform %u: (%llx %llx %llx) gives %llx, expected %llx\n",
               tkc_op_info(c->kind)->name, tkc_dtype_info(c->from)->name,
               tkc_dtype_info(c->to)->name, c->uniform, (unsigned long long)args[0],
               (unsigned long long)(c->nargs > 1 ? args[1] : 0),
               (unsigned long long)(c->nargs > 2 ? args[2] : 0), (unsigned long long)bits,
               (unsigned long long)want);
        expect_failed(__FILE__, __LINE__, "equal");
        return;
    }
}

static void try_case(Case c)
{
    World w;
    world_open(&w);
    uint64_t *operands[3];
    uint64_t args[4];
    int64_t n = 0;
    for (int i = 0; i < c.nargs; i++) {
        operands[i] = arena_array(&w.arena, uint64_t, c.all ? 65536 : EDGES * EDGES);
        n = make_operand(operand_dtype(&c, i), i, c.all, operands[i]);
        args[i] = AS_ARG(to_memory(&w, operand_dtype(&c, i), operands[i], n));
    }
    char *out = device_array(&w, NULL, (size_t)(n * tkc_dtype_info(c.to)->bytes));
    args[c.nargs] = AS_ARG(out);
    if (run_func(&w, make_func(&w, &c, n), 1, args) == TKC_OK) compare(&c, n, operands, out);
    else
        printf("%s %s\n%s", tkc_op_info(c.kind)->name, tkc_dtype_info(c.from)->name,
               tkc_last_error(w.cx)),
            expect_failed(__FILE__, __LINE__, "runs");
    world_close(&w);
}

/* ---- the cases ---- */

static bool in_domain(const OpInfo *info, DTypeKind kind)
{
    switch (info->domain) {
    case DOM_INT: return kind != DK_FLOAT;
    case DOM_FLOAT: return kind == DK_FLOAT;
    default: return true;
    }
}

static bool has_small_type(DType dt)
{
    return tkc_dtype_info(dt)->bits <= 16 && dt != DT_I1;
}

static void arithmetic(void)
{
    for (OpKind kind = OP_NONE + 1; kind < OP_COUNT; kind++) {
        const OpInfo *info = tkc_op_info(kind);
        const int nargs = info->max_args < 0 ? info->min_args : info->max_args;
        if (!(info->traits & OT_ARITH) && kind != OP_HINT && kind != OP_SELECT) continue;
        for (DType dt = DT_NONE + 1; dt < DT_COUNT; dt++) {
            if (!in_domain(info, tkc_dtype_info(dt)->kind)) continue;
            DType to = info->traits & OT_COMPARE ? DT_I1 : dt;
            for (unsigned uniform = 0; uniform < 1u << nargs; uniform++)
                try_case((Case){kind, dt, to, nargs, NULL, uniform, false});
            if (nargs == 1 && has_small_type(dt))
                try_case((Case){kind, dt, to, 1, NULL, 0, true});
        }
    }
}

static void casts(void)
{
    for (DType from = DT_NONE + 1; from < DT_COUNT; from++)
        for (DType to = DT_NONE + 1; to < DT_COUNT; to++) {
            if (from == to) continue;
            bool narrows =
                tkc_dtype_info(from)->kind == DK_FLOAT && tkc_dtype_info(to)->kind == DK_FLOAT;
            for (unsigned uniform = 0; uniform < 2; uniform++) {
                try_case((Case){OP_CAST, from, to, 1, NULL, uniform, false});
                if (narrows) try_case((Case){OP_CAST, from, to, 1, "rtz", uniform, false});
            }
            if (has_small_type(from)) try_case((Case){OP_CAST, from, to, 1, NULL, 0, true});
            if (tkc_dtype_info(from)->bits == tkc_dtype_info(to)->bits)
                try_case((Case){OP_BITCAST, from, to, 1, NULL, 0, false});
        }
}

/* fp32 to the narrow types over a dense sample: every exponent, every pattern of the places that
   decide the rounding. */
static void narrowing(void)
{
    static const DType narrow[] = {DT_F16, DT_BF16, DT_F8E4, DT_F8E5};
    for (int t = 0; t < 4; t++)
        for (uint32_t top = 0; top < 1u << 12; top++) {
            float x[64];
            uint16_t wide[64];
            uint8_t out[128];
            for (int i = 0; i < 64; i++) {
                uint32_t low = (uint32_t)i << 14 | (i % 3 == 0   ? 0
                                                    : i % 3 == 1 ? 1
                                                                 : 0x3fff),
                         b = top << 20 | low;
                memcpy(&x[i], &b, 4);
            }
            narrow_floats[narrow[t]].down(out, x, 64);
            memcpy(wide, out, sizeof out);
            for (int i = 0; i < 64; i++) {
                uint64_t got = tkc_dtype_info(narrow[t])->bytes == 1 ? out[i] : wide[i];
                if (got != tkc_bits_from_double(narrow[t], (double)x[i])) {
                    printf("%a to %s gives %llx\n", (double)x[i], tkc_dtype_info(narrow[t])->name,
                           (unsigned long long)got);
                    expect_failed(__FILE__, __LINE__, "rounds as defined");
                    return;
                }
            }
        }
}

int main(void)
{
    RUN(arithmetic);
    RUN(casts);
    RUN(narrowing);
    return expect_done();
}
