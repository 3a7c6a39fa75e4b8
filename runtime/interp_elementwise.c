/* Elementwise instructions. Three ways, the first that fits:
     loops over C types, which the compiler vectorizes, for the ops and types that kernels live on;
     narrow floats through chunks of fp32 and the fp32 loop: rounded once, as ir/evaluate.c does;
     tkc_evaluate element by element for everything else: exact by definition.
   Built without contraction, so a product and a sum are rounded one after the other. */
#include <math.h>
#include <string.h>

#include "interp.h"
#include "interp_math.h"

#define RESTRICT __restrict__

/* ---- loops ---- */

/* A function of two operands of type T, result type R; EXPR of x and y. */
#define LOOP2(NAME, R, T, EXPR)                                                                        \
    static void NAME(void *out_, const void *const *args, int64_t n, unsigned u)                       \
    {                                                                                                  \
        R *RESTRICT out = out_;                                                                        \
        const T *RESTRICT a = args[0], *RESTRICT b = args[1];                                          \
        if (u == 0) {                                                                                  \
            for (int64_t i = 0; i < n; i++) { T x = a[i], y = b[i]; out[i] = (R)(EXPR); }              \
        } else if (u == 1) {                                                                           \
            T x = a[0];                                                                                \
            for (int64_t i = 0; i < n; i++) { T y = b[i]; out[i] = (R)(EXPR); }                        \
        } else if (u == 2) {                                                                           \
            T y = b[0];                                                                                \
            for (int64_t i = 0; i < n; i++) { T x = a[i]; out[i] = (R)(EXPR); }                        \
        } else {                                                                                       \
            T x = a[0], y = b[0];                                                                      \
            out[0] = (R)(EXPR);                                                                        \
        }                                                                                              \
    }

#define LOOP1(NAME, R, T, EXPR)                                                                        \
    static void NAME(void *out_, const void *const *args, int64_t n, unsigned u)                       \
    {                                                                                                  \
        R *RESTRICT out = out_;                                                                        \
        const T *RESTRICT a = args[0];                                                                 \
        (void)u;                                                                                       \
        for (int64_t i = 0; i < n; i++) { T x = a[i]; out[i] = (R)(EXPR); }                            \
    }

/* One row a C type: X(suffix, type, unsigned type of its width, dtype) */
#define INT_TYPES(X) X(i8, int8_t, uint8_t, I8) X(i16, int16_t, uint16_t, I16) X(i32, int32_t, uint32_t, I32) X(i64, int64_t, uint64_t, I64) \
    X(u8, uint8_t, uint8_t, U8) X(u16, uint16_t, uint16_t, U16) X(u32, uint32_t, uint32_t, U32) X(u64, uint64_t, uint64_t, U64)
#define FLOAT_TYPES(X) X(f32, float, uint32_t, F32) X(f64, double, uint64_t, F64)

/* Arithmetic wraps: it is done in the unsigned type. 64 bits hold any product of narrower ones without surprise. */
#define INT_LOOPS(S, T, U, D)                                                     \
    LOOP2(add_##S, T, T, (U)((U)x + (U)y))                                        \
    LOOP2(sub_##S, T, T, (U)((U)x - (U)y))                                        \
    LOOP2(mul_##S, T, T, (U)((uint64_t)x * (uint64_t)y))                          \
    LOOP2(and_##S, T, T, x & y)                                                   \
    LOOP2(or_##S, T, T, x | y)                                                    \
    LOOP2(xor_##S, T, T, x ^ y)                                                   \
    LOOP2(min_##S, T, T, x < y ? x : y)                                           \
    LOOP2(max_##S, T, T, x > y ? x : y)                                           \
    LOOP1(not_##S, T, T, ~x)                                                      \
    LOOP1(neg_##S, T, T, (U)(0 - (U)x))
INT_TYPES(INT_LOOPS)

/* A NaN loses in min and max: y is taken when x is not less, except when y is NaN. */
#define FLOAT_LOOPS(S, T, U, D)                                                   \
    LOOP2(add_##S, T, T, x + y)                                                   \
    LOOP2(sub_##S, T, T, x - y)                                                   \
    LOOP2(mul_##S, T, T, x *y)                                                    \
    LOOP2(div_##S, T, T, x / y)                                                   \
    LOOP1(neg_##S, T, T, -x)
FLOAT_TYPES(FLOAT_LOOPS)

LOOP1(abs_f32, float, float, fabsf(x))
LOOP1(abs_f64, double, double, fabs(x))
LOOP1(sqrt_f32, float, float, sqrtf(x))
LOOP1(sqrt_f64, double, double, sqrt(x))
LOOP1(rsqrt_f32, float, float, 1.0f / sqrtf(x))
LOOP1(floor_f32, float, float, floorf(x))
LOOP1(ceil_f32, float, float, ceilf(x))
LOOP1(trunc_f32, float, float, truncf(x))
LOOP1(exp_f32, float, float, math_exp(x))
LOOP1(exp2_f32, float, float, math_exp2(x))
LOOP1(log_f32, float, float, math_log(x))
LOOP1(log2_f32, float, float, math_log2(x))

#define COMPARE_LOOPS(S, T, U, D)                                                 \
    LOOP2(eq_##S, uint8_t, T, x == y)                                             \
    LOOP2(ne_##S, uint8_t, T, x != y)                                             \
    LOOP2(lt_##S, uint8_t, T, x < y)                                              \
    LOOP2(le_##S, uint8_t, T, x <= y)                                             \
    LOOP2(gt_##S, uint8_t, T, x > y)                                              \
    LOOP2(ge_##S, uint8_t, T, x >= y)
INT_TYPES(COMPARE_LOOPS)
FLOAT_TYPES(COMPARE_LOOPS)

/* Shifts: the count is unsigned; past the width everything is out. */
LOOP2(shl_i32, int32_t, int32_t, (uint32_t)y < 32 ? (uint32_t)x << ((uint32_t)y & 31) : 0)
LOOP2(shl_u32, uint32_t, uint32_t, y < 32 ? x << (y & 31) : 0)
LOOP2(shr_i32, int32_t, int32_t, x >> ((uint32_t)y < 32 ? y & 31 : 31))
LOOP2(shr_u32, uint32_t, uint32_t, y < 32 ? x >> (y & 31) : 0)
LOOP2(div_i32, int32_t, int32_t, y == 0 ? 0 : (int32_t)((int64_t)x / y))
LOOP2(rem_i32, int32_t, int32_t, y == 0 ? 0 : (int32_t)((int64_t)x % y))

/* ---- select: by element width; the condition is operand 0 ---- */

#define SELECT_LOOP(W, T)                                                                                          \
    static void select_##W(void *out_, const void *const *args, int64_t n, unsigned u)                             \
    {                                                                                                              \
        T *RESTRICT out = out_;                                                                                    \
        const uint8_t *RESTRICT c = args[0];                                                                       \
        const T *RESTRICT a = args[1], *RESTRICT b = args[2];                                                      \
        switch (u & 7) {                                                                                           \
        case 0: for (int64_t i = 0; i < n; i++) out[i] = c[i] ? a[i] : b[i]; break;                                \
        case 2: for (int64_t i = 0; i < n; i++) out[i] = c[i] ? a[0] : b[i]; break;                                \
        case 4: for (int64_t i = 0; i < n; i++) out[i] = c[i] ? a[i] : b[0]; break;                                \
        case 6: for (int64_t i = 0; i < n; i++) out[i] = c[i] ? a[0] : b[0]; break;                                \
        default: /* one condition for all */                                                                       \
            for (int64_t i = 0; i < n; i++) out[i] = c[0] ? a[u & 2 ? 0 : i] : b[u & 4 ? 0 : i];                   \
        }                                                                                                          \
    }
SELECT_LOOP(1, uint8_t)
SELECT_LOOP(2, uint16_t)
SELECT_LOOP(4, uint32_t)
SELECT_LOOP(8, uint64_t)

/* ---- casts that change no bits beyond C's own rules ---- */

#define CAST_LOOP(NAME, R, T) LOOP1(NAME, R, T, (R)x)
#define CASTS_FROM(S, T, U, D)                                                    \
    CAST_LOOP(cast_##S##_i8, int8_t, T) CAST_LOOP(cast_##S##_i16, int16_t, T)     \
    CAST_LOOP(cast_##S##_i32, int32_t, T) CAST_LOOP(cast_##S##_i64, int64_t, T)   \
    CAST_LOOP(cast_##S##_f32, float, T) CAST_LOOP(cast_##S##_f64, double, T)      \
    LOOP1(cast_##S##_i1, uint8_t, T, x != 0)
INT_TYPES(CASTS_FROM)
CAST_LOOP(cast_f32_f64, double, float)
CAST_LOOP(cast_f64_f32, float, double)
LOOP1(cast_f32_i1, uint8_t, float, x != 0)
LOOP1(cast_f32_i32, int32_t, float, x != x ? 0 : x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? INT32_MIN : (int32_t)x)
LOOP1(cast_f32_u8, uint8_t, float, !(x > 0) ? 0 : x >= 255 ? 255 : (int32_t)x)
LOOP1(cast_i1_i32, int32_t, uint8_t, x)
LOOP1(cast_i1_f32, float, uint8_t, x)

typedef struct LoopRow { OpKind kind; DType from, to; LoopFn loop; } LoopRow; /* to DT_NONE: any */

static const LoopRow rows[] = {
#define INT_ROWS(S, T, U, D)                                                                                                       \
    {OP_ADD, DT_##D, 0, add_##S}, {OP_SUB, DT_##D, 0, sub_##S}, {OP_MUL, DT_##D, 0, mul_##S}, {OP_AND, DT_##D, 0, and_##S},        \
    {OP_OR, DT_##D, 0, or_##S}, {OP_XOR, DT_##D, 0, xor_##S}, {OP_MIN, DT_##D, 0, min_##S}, {OP_MAX, DT_##D, 0, max_##S},          \
    {OP_NOT, DT_##D, 0, not_##S}, {OP_NEG, DT_##D, 0, neg_##S},
    INT_TYPES(INT_ROWS)
#define FLOAT_ROWS(S, T, U, D)                                                                                                     \
    {OP_ADD, DT_##D, 0, add_##S}, {OP_SUB, DT_##D, 0, sub_##S}, {OP_MUL, DT_##D, 0, mul_##S}, {OP_DIV, DT_##D, 0, div_##S},        \
    {OP_DIV_RN, DT_##D, 0, div_##S}, {OP_NEG, DT_##D, 0, neg_##S}, {OP_ABS, DT_##D, 0, abs_##S}, {OP_SQRT, DT_##D, 0, sqrt_##S},   \
    {OP_SQRT_RN, DT_##D, 0, sqrt_##S},
    FLOAT_TYPES(FLOAT_ROWS)
#define COMPARE_ROWS(S, T, U, D)                                                                                                   \
    {OP_EQ, DT_##D, 0, eq_##S}, {OP_NE, DT_##D, 0, ne_##S}, {OP_LT, DT_##D, 0, lt_##S}, {OP_LE, DT_##D, 0, le_##S},                \
    {OP_GT, DT_##D, 0, gt_##S}, {OP_GE, DT_##D, 0, ge_##S},
    INT_TYPES(COMPARE_ROWS) FLOAT_TYPES(COMPARE_ROWS)
    {OP_AND, DT_I1, 0, and_u8}, {OP_OR, DT_I1, 0, or_u8}, {OP_XOR, DT_I1, 0, xor_u8}, {OP_EQ, DT_I1, 0, eq_u8}, {OP_NE, DT_I1, 0, ne_u8},
    {OP_RSQRT, DT_F32, 0, rsqrt_f32}, {OP_FLOOR, DT_F32, 0, floor_f32}, {OP_CEIL, DT_F32, 0, ceil_f32}, {OP_TRUNC, DT_F32, 0, trunc_f32},
    {OP_EXP, DT_F32, 0, exp_f32}, {OP_EXP2, DT_F32, 0, exp2_f32}, {OP_LOG, DT_F32, 0, log_f32}, {OP_LOG2, DT_F32, 0, log2_f32},
    {OP_SHL, DT_I32, 0, shl_i32}, {OP_SHL, DT_U32, 0, shl_u32}, {OP_SHR, DT_I32, 0, shr_i32}, {OP_SHR, DT_U32, 0, shr_u32},
    {OP_DIV, DT_I32, 0, div_i32}, {OP_REM, DT_I32, 0, rem_i32},
#define CAST_ROWS(S, T, U, D)                                                                                                      \
    {OP_CAST, DT_##D, DT_I8, cast_##S##_i8}, {OP_CAST, DT_##D, DT_U8, cast_##S##_i8}, {OP_CAST, DT_##D, DT_I16, cast_##S##_i16},   \
    {OP_CAST, DT_##D, DT_U16, cast_##S##_i16}, {OP_CAST, DT_##D, DT_I32, cast_##S##_i32}, {OP_CAST, DT_##D, DT_U32, cast_##S##_i32}, \
    {OP_CAST, DT_##D, DT_I64, cast_##S##_i64}, {OP_CAST, DT_##D, DT_U64, cast_##S##_i64}, {OP_CAST, DT_##D, DT_F32, cast_##S##_f32}, \
    {OP_CAST, DT_##D, DT_F64, cast_##S##_f64}, {OP_CAST, DT_##D, DT_I1, cast_##S##_i1},
    INT_TYPES(CAST_ROWS)
    {OP_CAST, DT_F32, DT_F64, cast_f32_f64}, {OP_CAST, DT_F64, DT_F32, cast_f64_f32}, {OP_CAST, DT_F32, DT_I1, cast_f32_i1},
    {OP_CAST, DT_F32, DT_I32, cast_f32_i32}, {OP_CAST, DT_F32, DT_U8, cast_f32_u8}, {OP_CAST, DT_I1, DT_I32, cast_i1_i32},
    {OP_CAST, DT_I1, DT_F32, cast_i1_f32},
};

static LoopFn find_loop(OpKind kind, DType from, DType to)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == kind && rows[i].from == from && (!rows[i].to || rows[i].to == to))
            return rows[i].loop;
    return NULL;
}

LoopFn interp_loop(OpKind kind, DType dt)
{
    return find_loop(kind, dt, dt);
}

/* ---- running them ---- */

static void run_loop(Frame *f, const Insn *in)
{
    const void *args[INSN_ARGS];
    unsigned u = 0;
    for (int i = 0; i < in->nargs; i++) {
        args[i] = slot_data(f, in->args[i]);
        u |= (unsigned)in->args[i]->uniform << i;
    }
    in->loop(slot_data(f, in->results[0]), args, slot_len(f, in, in->results[0]), u);
}

static void run_copy(Frame *f, const Insn *in)
{
    slot_expand(f, in->args[0], slot_data(f, in->results[0]), slot_len(f, in, in->results[0]));
}

/* ---- narrow floats: chunks of fp32 ---- */

enum { CHUNK = 256 };

static void load_chunk(float *out, const Frame *f, const Slot *s, int64_t at, int64_t n)
{
    narrow_to_f32(s->dtype, out, (const char *)slot_data(f, s) + (s->uniform ? 0 : at * s->size), s->uniform ? 1 : n);
}

/* Operands that are not narrow floats do not occur: the rule SAME or COMPARE. */
static void run_narrow(Frame *f, const Insn *in)
{
    float a[2][CHUNK], r[CHUNK];
    const void *args[2] = {a[0], a[1]};
    const Slot *out = in->results[0];
    int64_t n = slot_len(f, in, out);
    unsigned u = 0;
    for (int i = 0; i < in->nargs; i++)
        u |= (unsigned)in->args[i]->uniform << i;
    for (int64_t at = 0; at < n; at += CHUNK) {
        int64_t m = n - at < CHUNK ? n - at : CHUNK;
        char *to = (char *)slot_data(f, out) + at * out->size;
        for (int i = 0; i < in->nargs; i++)
            load_chunk(a[i], f, in->args[i], at, m);
        if (out->dtype == DT_I1) {
            in->loop(to, args, m, u);
        } else {
            in->loop(r, args, m, u);
            narrow_from_f32(out->dtype, to, r, m);
        }
    }
}

static void run_widen(Frame *f, const Insn *in)
{
    narrow_to_f32(in->args[0]->dtype, slot_data(f, in->results[0]), slot_data(f, in->args[0]), slot_len(f, in, in->results[0]));
}

static void run_narrow_down(Frame *f, const Insn *in)
{
    narrow_from_f32(in->results[0]->dtype, slot_data(f, in->results[0]), slot_data(f, in->args[0]), slot_len(f, in, in->results[0]));
}

/* ---- everything else: the definition, element by element ---- */

static uint64_t read_bits(const Slot *s, const void *data, int64_t i)
{
    uint64_t bits = 0;
    memcpy(&bits, (const char *)data + (s->uniform ? 0 : i) * s->size, s->size);
    if (s->dtype != DT_NONE && tkc_dtype_info(s->dtype)->kind == DK_INT && s->size < 8 && (bits >> (s->size * 8 - 1) & 1))
        bits |= ~0ull << (s->size * 8);
    return bits;
}

static void run_evaluate(Frame *f, const Insn *in)
{
    const Slot *out = in->results[0];
    DType dt = in->args[in->op->kind == OP_SELECT ? 1 : 0]->dtype;
    const char *rounding = tkc_op_str(in->op, ATTR_ROUNDING, NULL);
    int64_t n = slot_len(f, in, out);
    char *to = slot_data(f, out);
    for (int64_t i = 0; i < n; i++) {
        uint64_t args[INSN_ARGS], bits;
        for (int k = 0; k < in->nargs; k++)
            args[k] = read_bits(in->args[k], slot_data(f, in->args[k]), i);
        if (!tkc_evaluate(in->op->kind, dt, out->dtype, rounding, in->nargs, args, &bits)) {
            interp_fail(f, in, "'%s' is not supported on the cpu device for %s", tkc_op_info(in->op->kind)->name, tkc_dtype_info(dt)->name);
            return;
        }
        memcpy(to + i * out->size, &bits, out->size);
    }
}

/* ---- pointers: 64-bit addresses ---- */

static void run_addptr(Frame *f, const Insn *in)
{
    const Slot *ptr = in->args[0], *offset = in->args[1], *out = in->results[0];
    const uint64_t *base = slot_data(f, ptr);
    uint64_t *to = slot_data(f, out);
    int64_t n = slot_len(f, in, out), scale = in->n[0];
    const void *offs = slot_data(f, offset);
    if (offset->dtype == DT_I32 && !offset->uniform) {
        const int32_t *o = offs;
        for (int64_t i = 0; i < n; i++)
            to[i] = base[ptr->uniform ? 0 : i] + (uint64_t)((int64_t)o[i] * scale);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        to[i] = base[ptr->uniform ? 0 : i] + read_bits(offset, offs, i) * (uint64_t)scale;
}

static int64_t pointee_bytes(const Type *t)
{
    const Type *p = tkc_type_element(t)->elem;
    return p->kind == TY_POINTER ? 8 : tkc_dtype_info(p->dtype)->bytes;
}

static LoopFn select_loop(int size)
{
    return size == 1 ? select_1 : size == 2 ? select_2 : size == 4 ? select_4 : select_8;
}

static InsnFn pointer_fn(Insn *in)
{
    switch (in->op->kind) {
    case OP_EQ: in->loop = eq_u64; return run_loop;
    case OP_NE: in->loop = ne_u64; return run_loop;
    case OP_LT: in->loop = lt_u64; return run_loop;
    case OP_LE: in->loop = le_u64; return run_loop;
    case OP_GT: in->loop = gt_u64; return run_loop;
    case OP_GE: in->loop = ge_u64; return run_loop;
    default: return NULL;
    }
}

static InsnFn cast_fn(Insn *in)
{
    DType from = in->args[0]->dtype, to = in->results[0]->dtype;
    const char *rounding = tkc_op_str(in->op, ATTR_ROUNDING, NULL);
    if (rounding && strcmp(rounding, "rtne"))
        return run_evaluate;
    if (dtype_is_narrow(from) && to == DT_F32)
        return run_widen;
    if (from == DT_F32 && (to == DT_F16 || to == DT_BF16))
        return run_narrow_down;
    in->loop = find_loop(OP_CAST, from, to);
    return in->loop ? run_loop : run_evaluate;
}

/* Ops whose fp32 loop gives a narrow type's result when rounded once. */
static bool works_in_f32(OpKind kind)
{
    switch (kind) {
    case OP_ADD: case OP_SUB: case OP_MUL: case OP_DIV: case OP_NEG: case OP_ABS: case OP_SQRT: case OP_EQ: case OP_NE: case OP_LT: case OP_LE:
    case OP_GT: case OP_GE: case OP_EXP: case OP_EXP2: case OP_LOG: case OP_LOG2: case OP_FLOOR: case OP_CEIL: return true;
    default: return false;
    }
}

InsnFn interp_elementwise_fn(Insn *in)
{
    const Op *op = in->op;
    if (!(tkc_op_info(op->kind)->traits & OT_EW) || op->nresults != 1 || op->nargs > INSN_ARGS || op->kind == OP_INLINE_ASM)
        return NULL;
    DType dt = in->args[0]->dtype;
    switch (op->kind) {
    case OP_ADDPTR: in->n[0] = pointee_bytes(op_result(op, 0)->type); return run_addptr;
    case OP_BITCAST: return in->args[0]->size == in->results[0]->size ? run_copy : NULL;
    case OP_SELECT: in->loop = select_loop(in->results[0]->size); return run_loop;
    case OP_CAST: return cast_fn(in);
    default: break;
    }
    if (dt == DT_NONE)
        return pointer_fn(in);
    in->loop = find_loop(op->kind, dt, in->results[0]->dtype);
    if (in->loop)
        return run_loop;
    if (dtype_is_narrow(dt) && works_in_f32(op->kind) && (in->loop = find_loop(op->kind, DT_F32, in->results[0]->dtype)))
        return run_narrow;
    return run_evaluate;
}
