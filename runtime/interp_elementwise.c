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

#define LOOP3(NAME, T, EXPR)                                                                           \
    static void NAME(void *out_, const void *const *args, int64_t n, unsigned u)                       \
    {                                                                                                  \
        T *RESTRICT out = out_;                                                                        \
        const T *RESTRICT a = args[0], *RESTRICT b = args[1], *RESTRICT c = args[2];                   \
        int64_t da = !(u & 1), db = !(u & 2), dc = !(u & 4);                                           \
        for (int64_t i = 0; i < n; i++) { T x = a[i * da], y = b[i * db], z = c[i * dc]; out[i] = EXPR; } \
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

/* Division: by 0 gives 0; the least number by -1 gives itself, and leaves 0. */
#define DIVIDE_LOOPS(S, T, U, D)                                                             \
    LOOP2(div_##S, T, T, y == 0 ? 0 : y == (T)-1 && (T)-1 < (T)1 ? (T)(U)(0 - (U)x) : (T)(x / y)) \
    LOOP2(rem_##S, T, T, y == 0 || (y == (T)-1 && (T)-1 < (T)1) ? 0 : (T)(x % y))
INT_TYPES(DIVIDE_LOOPS)

/* The count of a shift is unsigned; from the width on everything is out. */
#define SHIFT_LOOPS(S, T, U, D)                                                              \
    LOOP2(shl_##S, T, T, (U)y < 8 * sizeof(T) ? (U)((U)x << ((U)y & (8 * sizeof(T) - 1))) : 0)    \
    LOOP2(shr_##S, T, T, (U)y < 8 * sizeof(T) ? (T)(x >> ((U)y & (8 * sizeof(T) - 1))) : x < (T)1 && x != 0 ? (T)-1 : 0)
INT_TYPES(SHIFT_LOOPS)

LOOP2(mulhi_i32, int32_t, int32_t, (int64_t)x *y >> 32)
LOOP2(mulhi_u32, uint32_t, uint32_t, (uint64_t)x *y >> 32)
LOOP2(mulhi_i64, int64_t, int64_t, (__int128)x *y >> 64)
LOOP2(mulhi_u64, uint64_t, uint64_t, (unsigned __int128)x *y >> 64)
LOOP1(abs_i8, int8_t, int8_t, x < 0 ? -x : x)
LOOP1(abs_i16, int16_t, int16_t, x < 0 ? -x : x)
LOOP1(abs_i32, int32_t, int32_t, x < 0 ? 0 - (uint32_t)x : (uint32_t)x)
LOOP1(abs_i64, int64_t, int64_t, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
LOOP1(not_i1, uint8_t, uint8_t, !x)

/* The sign bit of a narrow float. */
LOOP1(neg_b8, uint8_t, uint8_t, x ^ 0x80)
LOOP1(abs_b8, uint8_t, uint8_t, x & 0x7f)
LOOP1(neg_b16, uint16_t, uint16_t, x ^ 0x8000)
LOOP1(abs_b16, uint16_t, uint16_t, x & 0x7fff)

/* -0 is less than +0: of two equal numbers the bits are those of both (min) or either (max), the sign bit the other way round. A NaN
   loses, or in *_nan wins. */
static inline float both_f32(float x, float y) { return math_from_bits(math_bits(x) & math_bits(y)); }
static inline float either_f32(float x, float y) { return math_from_bits(math_bits(x) | math_bits(y)); }

static inline double both_f64(double x, double y)
{
    uint64_t a, b;
    memcpy(&a, &x, 8);
    memcpy(&b, &y, 8);
    a &= b;
    memcpy(&x, &a, 8);
    return x;
}

static inline double either_f64(double x, double y)
{
    uint64_t a, b;
    memcpy(&a, &x, 8);
    memcpy(&b, &y, 8);
    a |= b;
    memcpy(&x, &a, 8);
    return x;
}

#define EXTREMES(S, T)                                                                           \
    static inline T min_of_##S(T x, T y) { T r = x < y ? x : y; return x == y ? either_##S(x, y) : r; } \
    static inline T max_of_##S(T x, T y) { T r = x > y ? x : y; return x == y ? both_##S(x, y) : r; }
EXTREMES(f32, float)
EXTREMES(f64, double)

/* Comparisons with NaN are false, so min_of and max_of give y when either is NaN. */
#define FLOAT_LOOPS(S, T, U, D)                                                   \
    LOOP2(add_##S, T, T, x + y)                                                   \
    LOOP2(sub_##S, T, T, x - y)                                                   \
    LOOP2(mul_##S, T, T, x *y)                                                    \
    LOOP2(div_##S, T, T, x / y)                                                   \
    LOOP1(neg_##S, T, T, -x)                                                      \
    LOOP2(min_##S, T, T, y != y ? x : min_of_##S(x, y))                           \
    LOOP2(max_##S, T, T, y != y ? x : max_of_##S(x, y))                           \
    LOOP2(min_nan_##S, T, T, x != x ? x : min_of_##S(x, y))                       \
    LOOP2(max_nan_##S, T, T, x != x ? x : max_of_##S(x, y))                       \
    LOOP1(sin_##S, T, T, sin((double)x))                                          \
    LOOP1(cos_##S, T, T, cos((double)x))                                          \
    LOOP1(tanh_##S, T, T, tanh((double)x))                                        \
    LOOP1(erf_##S, T, T, erf((double)x))                                          \
    LOOP2(rem_##S, T, T, fmod((double)x, (double)y))
FLOAT_TYPES(FLOAT_LOOPS)

#define ROUND_LOOPS(S, T, F)                                                      \
    LOOP1(abs_##S, T, T, fabs##F(x))                                              \
    LOOP1(sqrt_##S, T, T, sqrt##F(x))                                             \
    LOOP1(floor_##S, T, T, floor##F(x))                                           \
    LOOP1(ceil_##S, T, T, ceil##F(x))                                             \
    LOOP1(trunc_##S, T, T, trunc##F(x))                                           \
    LOOP1(rint_##S, T, T, rint##F(x))                                             \
    LOOP3(fma_##S, T, fma##F(x, y, z))
ROUND_LOOPS(f32, float, f)
ROUND_LOOPS(f64, double, )

LOOP1(rsqrt_f32, float, float, 1.0 / sqrt((double)x))
LOOP1(rsqrt_f64, double, double, 1.0 / sqrt(x))
LOOP1(exp_f32, float, float, math_exp(x))
LOOP1(exp2_f32, float, float, math_exp2(x))
LOOP1(log_f32, float, float, math_log(x))
LOOP1(log2_f32, float, float, math_log2(x))
LOOP1(exp_f64, double, double, exp(x))
LOOP1(exp2_f64, double, double, exp2(x))
LOOP1(log_f64, double, double, log(x))
LOOP1(log2_f64, double, double, log2(x))

#define COMPARE_LOOPS(S, T, U, D)                                                 \
    LOOP2(eq_##S, uint8_t, T, x == y)                                             \
    LOOP2(ne_##S, uint8_t, T, x != y)                                             \
    LOOP2(lt_##S, uint8_t, T, x < y)                                              \
    LOOP2(le_##S, uint8_t, T, x <= y)                                             \
    LOOP2(gt_##S, uint8_t, T, x > y)                                              \
    LOOP2(ge_##S, uint8_t, T, x >= y)
INT_TYPES(COMPARE_LOOPS)
FLOAT_TYPES(COMPARE_LOOPS)

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
LOOP1(cast_f64_i1, uint8_t, double, x != 0)

/* Float to integer: saturates, NaN gives 0. LOW is the least number, HIGH one past the greatest: both are powers of two, or 0. */
#define SATURATE(NAME, R, T, LOW, HIGH, LEAST, MOST) LOOP1(NAME, R, T, x != x ? 0 : x >= (T)HIGH ? MOST : x <= (T)LOW ? LEAST : (R)x)
#define FLOAT_CASTS(S, T, U, D)                                                                \
    SATURATE(cast_##S##_i8, int8_t, T, -0x1p7, 0x1p7, INT8_MIN, INT8_MAX)                      \
    SATURATE(cast_##S##_i16, int16_t, T, -0x1p15, 0x1p15, INT16_MIN, INT16_MAX)                \
    SATURATE(cast_##S##_i32, int32_t, T, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX)                \
    SATURATE(cast_##S##_i64, int64_t, T, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX)                \
    SATURATE(cast_##S##_u8, uint8_t, T, 0, 0x1p8, 0, UINT8_MAX)                                \
    SATURATE(cast_##S##_u16, uint16_t, T, 0, 0x1p16, 0, UINT16_MAX)                            \
    SATURATE(cast_##S##_u32, uint32_t, T, 0, 0x1p32, 0, UINT32_MAX)                            \
    SATURATE(cast_##S##_u64, uint64_t, T, 0, 0x1p64, 0, UINT64_MAX)
FLOAT_TYPES(FLOAT_CASTS)

typedef struct LoopRow { OpKind kind; DType from, to; LoopFn loop; } LoopRow; /* to DT_NONE: any */

static const LoopRow rows[] = {
#define INT_ROWS(S, T, U, D)                                                                                                       \
    {OP_ADD, DT_##D, 0, add_##S}, {OP_SUB, DT_##D, 0, sub_##S}, {OP_MUL, DT_##D, 0, mul_##S}, {OP_AND, DT_##D, 0, and_##S},        \
    {OP_OR, DT_##D, 0, or_##S}, {OP_XOR, DT_##D, 0, xor_##S}, {OP_MIN, DT_##D, 0, min_##S}, {OP_MAX, DT_##D, 0, max_##S},          \
    {OP_NOT, DT_##D, 0, not_##S}, {OP_NEG, DT_##D, 0, neg_##S}, {OP_DIV, DT_##D, 0, div_##S}, {OP_REM, DT_##D, 0, rem_##S},        \
    {OP_SHL, DT_##D, 0, shl_##S}, {OP_SHR, DT_##D, 0, shr_##S},
    INT_TYPES(INT_ROWS)
#define FLOAT_ROWS(S, T, U, D)                                                                                                     \
    {OP_ADD, DT_##D, 0, add_##S}, {OP_SUB, DT_##D, 0, sub_##S}, {OP_MUL, DT_##D, 0, mul_##S}, {OP_DIV, DT_##D, 0, div_##S},        \
    {OP_DIV_RN, DT_##D, 0, div_##S}, {OP_REM, DT_##D, 0, rem_##S}, {OP_NEG, DT_##D, 0, neg_##S}, {OP_ABS, DT_##D, 0, abs_##S},     \
    {OP_MIN, DT_##D, 0, min_##S}, {OP_MAX, DT_##D, 0, max_##S}, {OP_MIN_NAN, DT_##D, 0, min_nan_##S},                              \
    {OP_MAX_NAN, DT_##D, 0, max_nan_##S}, {OP_SQRT, DT_##D, 0, sqrt_##S}, {OP_SQRT_RN, DT_##D, 0, sqrt_##S},                       \
    {OP_RSQRT, DT_##D, 0, rsqrt_##S}, {OP_EXP, DT_##D, 0, exp_##S}, {OP_EXP2, DT_##D, 0, exp2_##S}, {OP_LOG, DT_##D, 0, log_##S},  \
    {OP_LOG2, DT_##D, 0, log2_##S}, {OP_SIN, DT_##D, 0, sin_##S}, {OP_COS, DT_##D, 0, cos_##S}, {OP_TANH, DT_##D, 0, tanh_##S},    \
    {OP_ERF, DT_##D, 0, erf_##S}, {OP_FLOOR, DT_##D, 0, floor_##S}, {OP_CEIL, DT_##D, 0, ceil_##S},                                \
    {OP_TRUNC, DT_##D, 0, trunc_##S}, {OP_RINT, DT_##D, 0, rint_##S}, {OP_FMA, DT_##D, 0, fma_##S},
    FLOAT_TYPES(FLOAT_ROWS)
#define COMPARE_ROWS(S, T, U, D)                                                                                                   \
    {OP_EQ, DT_##D, 0, eq_##S}, {OP_NE, DT_##D, 0, ne_##S}, {OP_LT, DT_##D, 0, lt_##S}, {OP_LE, DT_##D, 0, le_##S},                \
    {OP_GT, DT_##D, 0, gt_##S}, {OP_GE, DT_##D, 0, ge_##S},
    INT_TYPES(COMPARE_ROWS) FLOAT_TYPES(COMPARE_ROWS)
    COMPARE_ROWS(u8, , , I1)
    {OP_AND, DT_I1, 0, and_u8}, {OP_OR, DT_I1, 0, or_u8}, {OP_XOR, DT_I1, 0, xor_u8}, {OP_NOT, DT_I1, 0, not_i1},
    {OP_MIN, DT_I1, 0, and_u8}, {OP_MAX, DT_I1, 0, or_u8},
    {OP_MULHI, DT_I32, 0, mulhi_i32}, {OP_MULHI, DT_U32, 0, mulhi_u32}, {OP_MULHI, DT_I64, 0, mulhi_i64}, {OP_MULHI, DT_U64, 0, mulhi_u64},
    {OP_NEG, DT_F16, 0, neg_b16}, {OP_NEG, DT_BF16, 0, neg_b16}, {OP_NEG, DT_F8E4, 0, neg_b8}, {OP_NEG, DT_F8E5, 0, neg_b8},
    {OP_ABS, DT_F16, 0, abs_b16}, {OP_ABS, DT_BF16, 0, abs_b16}, {OP_ABS, DT_F8E4, 0, abs_b8}, {OP_ABS, DT_F8E5, 0, abs_b8},
    {OP_ABS, DT_I8, 0, abs_i8}, {OP_ABS, DT_I16, 0, abs_i16}, {OP_ABS, DT_I32, 0, abs_i32}, {OP_ABS, DT_I64, 0, abs_i64},
#define CAST_ROWS(S, T, U, D)                                                                                                      \
    {OP_CAST, DT_##D, DT_I8, cast_##S##_i8}, {OP_CAST, DT_##D, DT_U8, cast_##S##_i8}, {OP_CAST, DT_##D, DT_I16, cast_##S##_i16},   \
    {OP_CAST, DT_##D, DT_U16, cast_##S##_i16}, {OP_CAST, DT_##D, DT_I32, cast_##S##_i32}, {OP_CAST, DT_##D, DT_U32, cast_##S##_i32}, \
    {OP_CAST, DT_##D, DT_I64, cast_##S##_i64}, {OP_CAST, DT_##D, DT_U64, cast_##S##_i64}, {OP_CAST, DT_##D, DT_F32, cast_##S##_f32}, \
    {OP_CAST, DT_##D, DT_F64, cast_##S##_f64}, {OP_CAST, DT_##D, DT_I1, cast_##S##_i1},
    INT_TYPES(CAST_ROWS)
    CAST_ROWS(u8, , , I1)
#define FLOAT_CAST_ROWS(S, T, U, D)                                                                                                \
    {OP_CAST, DT_##D, DT_I8, cast_##S##_i8}, {OP_CAST, DT_##D, DT_U8, cast_##S##_u8}, {OP_CAST, DT_##D, DT_I16, cast_##S##_i16},   \
    {OP_CAST, DT_##D, DT_U16, cast_##S##_u16}, {OP_CAST, DT_##D, DT_I32, cast_##S##_i32}, {OP_CAST, DT_##D, DT_U32, cast_##S##_u32}, \
    {OP_CAST, DT_##D, DT_I64, cast_##S##_i64}, {OP_CAST, DT_##D, DT_U64, cast_##S##_u64}, {OP_CAST, DT_##D, DT_I1, cast_##S##_i1},
    FLOAT_TYPES(FLOAT_CAST_ROWS)
    {OP_CAST, DT_F32, DT_F64, cast_f32_f64}, {OP_CAST, DT_F64, DT_F32, cast_f64_f32},
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

/* Operands are narrow floats; the result is one too, or what the fp32 loop gives. */
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
        if (dtype_is_narrow(out->dtype)) {
            in->loop(r, args, m, u);
            narrow_from_f32(out->dtype, to, r, m);
        } else {
            in->loop(to, args, m, u);
        }
    }
}

/* One narrow type to another: fp32 holds every number of both. */
static void run_renarrow(Frame *f, const Insn *in)
{
    float a[CHUNK];
    const Slot *out = in->results[0];
    int64_t n = slot_len(f, in, out);
    for (int64_t at = 0; at < n; at += CHUNK) {
        int64_t m = n - at < CHUNK ? n - at : CHUNK;
        load_chunk(a, f, in->args[0], at, m);
        narrow_from_f32(out->dtype, (char *)slot_data(f, out) + at * out->size, a, m);
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
    if (from == DT_F32 && dtype_is_narrow(to))
        return run_narrow_down;
    if (dtype_is_narrow(from) && dtype_is_narrow(to))
        return run_renarrow;
    in->loop = find_loop(OP_CAST, dtype_is_narrow(from) ? DT_F32 : from, to);
    return !in->loop ? run_evaluate : dtype_is_narrow(from) ? run_narrow : run_loop;
}

/* Ops whose fp32 loop gives a narrow type's result when rounded once more; exp and log within one place. */
static bool works_in_f32(OpKind kind)
{
    switch (kind) {
    case OP_ADD: case OP_SUB: case OP_MUL: case OP_DIV: case OP_SQRT: case OP_EQ: case OP_NE: case OP_LT: case OP_LE:
    case OP_GT: case OP_GE: case OP_EXP: case OP_EXP2: case OP_LOG: case OP_LOG2: case OP_FLOOR: case OP_CEIL: case OP_TRUNC: case OP_RINT:
    case OP_MIN: case OP_MAX: case OP_MIN_NAN: case OP_MAX_NAN: case OP_SQRT_RN: case OP_DIV_RN: case OP_RSQRT:
    case OP_REM: return true;
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
