/* Loops over C types, which the compiler vectorizes, and the table that finds one by op and element
   type. Built without contraction, so a product and a sum are rounded one after the other. */
#include <math.h>

#include "interp.h"
#include "math.h"
#include "vector.h"

#define RESTRICT __restrict__

/* ---- loops ---- */

#define LOOP(NAME)                                                                                 \
    VECTOR static void NAME(void *out_, const void *const *args, int64_t n, unsigned u)

/* A function of two operands of type T, result type R; EXPR of x and y. */
#define LOOP2(NAME, R, T, EXPR)                                                                    \
    LOOP(NAME)                                                                                     \
    {                                                                                              \
        R *RESTRICT out = out_;                                                                    \
        const T *RESTRICT a = args[0], *RESTRICT b = args[1];                                      \
        if (u == 0) {                                                                              \
            EACH(R, T x = a[i]; T y = b[i], EXPR)                                                  \
        } else if (u == 1) {                                                                       \
            T x = a[0];                                                                            \
            EACH(R, T y = b[i], EXPR)                                                              \
        } else if (u == 2) {                                                                       \
            T y = b[0];                                                                            \
            EACH(R, T x = a[i], EXPR)                                                              \
        } else {                                                                                   \
            T x = a[0], y = b[0];                                                                  \
            out[0] = (R)(EXPR);                                                                    \
        }                                                                                          \
    }
#define EACH(R, OPERANDS, EXPR)                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                              \
        OPERANDS;                                                                                  \
        out[i] = (R)(EXPR);                                                                        \
    }

#define LOOP1(NAME, R, T, EXPR)                                                                    \
    LOOP(NAME)                                                                                     \
    {                                                                                              \
        R *RESTRICT out = out_;                                                                    \
        const T *RESTRICT a = args[0];                                                             \
        (void)u;                                                                                   \
        EACH(R, T x = a[i], EXPR)                                                                  \
    }

#define LOOP3(NAME, T, EXPR)                                                                       \
    LOOP(NAME)                                                                                     \
    {                                                                                              \
        T *RESTRICT out = out_;                                                                    \
        const T *RESTRICT a = args[0], *RESTRICT b = args[1], *RESTRICT c = args[2];               \
        int64_t da = !(u & 1), db = !(u & 2), dc = !(u & 4);                                       \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T x = a[i * da], y = b[i * db], z = c[i * dc];                                         \
            out[i] = EXPR;                                                                         \
        }                                                                                          \
    }

/* One row a C type: X(suffix, type, unsigned type of its width, dtype) */
/* clang-format off */
#define INT_TYPES(X)                                                                               \
    X(i8, int8_t, uint8_t, I8) X(i16, int16_t, uint16_t, I16) X(i32, int32_t, uint32_t, I32)       \
    X(i64, int64_t, uint64_t, I64) X(u8, uint8_t, uint8_t, U8) X(u16, uint16_t, uint16_t, U16)     \
    X(u32, uint32_t, uint32_t, U32) X(u64, uint64_t, uint64_t, U64)
/* clang-format on */
#define FLOAT_TYPES(X) X(f32, float, uint32_t, F32) X(f64, double, uint64_t, F64)

/* Arithmetic wraps: it is done in the unsigned type. 64 bits hold any product of narrower ones
   without surprise. */
#define INT_LOOPS(S, T, U, D)                                                                      \
    LOOP2(add_##S, T, T, (U)((U)x + (U)y))                                                         \
    LOOP2(sub_##S, T, T, (U)((U)x - (U)y))                                                         \
    LOOP2(mul_##S, T, T, (U)((uint64_t)x * (uint64_t)y))                                           \
    LOOP2(and_##S, T, T, x &y)                                                                     \
    LOOP2(or_##S, T, T, x | y)                                                                     \
    LOOP2(xor_##S, T, T, x ^ y)                                                                    \
    LOOP2(min_##S, T, T, x < y ? x : y)                                                            \
    LOOP2(max_##S, T, T, x > y ? x : y)                                                            \
    LOOP1(not_##S, T, T, ~x)                                                                       \
    LOOP1(neg_##S, T, T, (U)(0 - (U)x))
INT_TYPES(INT_LOOPS)

/* Division: by 0 gives 0 and leaves all; the least number by -1 gives itself, and leaves 0. */
#define DIVIDE_LOOPS(S, T, U, D)                                                                   \
    LOOP2(div_##S, T, T, y == 0 ? 0 : y == (T)-1 && (T)-1 < (T)1 ? (T)(U)(0 - (U)x) : (T)(x / y))  \
    LOOP2(rem_##S, T, T, y == 0 ? x : y == (T)-1 && (T)-1 < (T)1 ? 0 : (T)(x % y))
INT_TYPES(DIVIDE_LOOPS)

/* The count of a shift is unsigned; from the width on everything is out. */
#define SHIFT_LOOPS(S, T, U, D)                                                                    \
    LOOP2(shl_##S, T, T, (U)y < 8 * sizeof(T) ? (U)((U)x << ((U)y & (8 * sizeof(T) - 1))) : 0)     \
    LOOP2(shr_##S, T, T,                                                                           \
          (U)y < 8 * sizeof(T) ? (T)(x >> ((U)y & (8 * sizeof(T) - 1)))                            \
          : x < (T)1 && x != 0 ? (T)-1                                                             \
                               : 0)
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

/* -0 is less than +0: of two equal numbers the bits are those of both (min) or either (max), the
   sign bit the other way round. A NaN loses, or in *_nan wins. */
#define EXTREMES(S, T)                                                                             \
    static inline T min_of_##S(T x, T y)                                                           \
    {                                                                                              \
        T r = x < y ? x : y;                                                                       \
        return x == y ? S##_of(S##_bits(x) | S##_bits(y)) : r;                                     \
    }                                                                                              \
    static inline T max_of_##S(T x, T y)                                                           \
    {                                                                                              \
        T r = x > y ? x : y;                                                                       \
        return x == y ? S##_of(S##_bits(x) & S##_bits(y)) : r;                                     \
    }
EXTREMES(f32, float)
EXTREMES(f64, double)

/* Comparisons with NaN are false, so min_of and max_of give y when either is NaN. */
#define FLOAT_LOOPS(S, T, U, D)                                                                    \
    LOOP2(add_##S, T, T, x + y)                                                                    \
    LOOP2(sub_##S, T, T, x - y)                                                                    \
    LOOP2(mul_##S, T, T, x *y)                                                                     \
    LOOP2(div_##S, T, T, x / y)                                                                    \
    LOOP1(neg_##S, T, T, -x)                                                                       \
    LOOP2(min_##S, T, T, y != y ? x : min_of_##S(x, y))                                            \
    LOOP2(max_##S, T, T, y != y ? x : max_of_##S(x, y))                                            \
    LOOP2(min_nan_##S, T, T, x != x ? x : min_of_##S(x, y))                                        \
    LOOP2(max_nan_##S, T, T, x != x ? x : max_of_##S(x, y))                                        \
    LOOP1(sin_##S, T, T, sin((double)x))                                                           \
    LOOP1(cos_##S, T, T, cos((double)x))                                                           \
    LOOP1(tanh_##S, T, T, tanh((double)x))                                                         \
    LOOP1(erf_##S, T, T, erf((double)x))                                                           \
    LOOP2(rem_##S, T, T, fmod((double)x, (double)y))
FLOAT_TYPES(FLOAT_LOOPS)

#define ROUND_LOOPS(S, T, F)                                                                       \
    LOOP1(abs_##S, T, T, fabs##F(x))                                                               \
    LOOP1(sqrt_##S, T, T, sqrt##F(x))                                                              \
    LOOP1(floor_##S, T, T, floor##F(x))                                                            \
    LOOP1(ceil_##S, T, T, ceil##F(x))                                                              \
    LOOP1(trunc_##S, T, T, trunc##F(x))                                                            \
    LOOP1(rint_##S, T, T, rint##F(x))                                                              \
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

#define COMPARE_LOOPS(S, T, U, D)                                                                  \
    LOOP2(eq_##S, uint8_t, T, x == y)                                                              \
    LOOP2(ne_##S, uint8_t, T, x != y)                                                              \
    LOOP2(lt_##S, uint8_t, T, x < y)                                                               \
    LOOP2(le_##S, uint8_t, T, x <= y)                                                              \
    LOOP2(gt_##S, uint8_t, T, x > y)                                                               \
    LOOP2(ge_##S, uint8_t, T, x >= y)
INT_TYPES(COMPARE_LOOPS)
FLOAT_TYPES(COMPARE_LOOPS)

/* ---- select: by element width; the condition is operand 0 ---- */

/* A condition is 0 or 1; bits are taken by a mask of it, since a branch in each lane costs more. */
#define BLEND(T, A, B)                                                                             \
    for (int64_t i = 0; i < n; i++) out[i] = B ^ ((A ^ B) & (T)(0 - (T)c[i]));                     \
    break
#define SELECT_LOOP(W, T)                                                                          \
    LOOP(select_##W)                                                                               \
    {                                                                                              \
        T *RESTRICT out = out_;                                                                    \
        const uint8_t *RESTRICT c = args[0];                                                       \
        const T *RESTRICT a = args[1], *RESTRICT b = args[2], x = a[0], y = b[0];                  \
        switch (u & 7) {                                                                           \
        case 0: BLEND(T, a[i], b[i]);                                                              \
        case 2: BLEND(T, x, b[i]);                                                                 \
        case 4: BLEND(T, a[i], y);                                                                 \
        case 6: BLEND(T, x, y);                                                                    \
        default: /* one condition for all */                                                       \
            for (int64_t i = 0; i < n; i++) out[i] = c[0] ? a[u & 2 ? 0 : i] : b[u & 4 ? 0 : i];   \
        }                                                                                          \
    }
SELECT_LOOP(1, uint8_t)
SELECT_LOOP(2, uint16_t)
SELECT_LOOP(4, uint32_t)
SELECT_LOOP(8, uint64_t)

/* ---- casts that change no bits beyond C's own rules ---- */

#define CAST_LOOP(NAME, R, T) LOOP1(NAME, R, T, (R)x)
#define CASTS_FROM(S, T, U, D)                                                                     \
    CAST_LOOP(cast_##S##_i8, int8_t, T)                                                            \
    CAST_LOOP(cast_##S##_i16, int16_t, T)                                                          \
    CAST_LOOP(cast_##S##_i32, int32_t, T) CAST_LOOP(cast_##S##_i64, int64_t, T)                    \
        CAST_LOOP(cast_##S##_f32, float, T) CAST_LOOP(cast_##S##_f64, double, T)                   \
            LOOP1(cast_##S##_i1, uint8_t, T, x != 0)
INT_TYPES(CASTS_FROM)
CAST_LOOP(cast_f32_f64, double, float)
CAST_LOOP(cast_f64_f32, float, double)
LOOP1(cast_f32_i1, uint8_t, float, x != 0)
LOOP1(cast_f64_i1, uint8_t, double, x != 0)

/* Float to integer: saturates, NaN gives 0. LOW is the least number, HIGH one past the greatest:
   both are powers of two, or 0. */
#define SATURATE(NAME, R, T, LOW, HIGH, LEAST, MOST)                                               \
    LOOP1(NAME, R, T, x != x ? 0 : x >= (T)HIGH ? MOST : x <= (T)LOW ? LEAST : (R)x)
#define FLOAT_CASTS(S, T, U, D)                                                                    \
    SATURATE(cast_##S##_i8, int8_t, T, -0x1p7, 0x1p7, INT8_MIN, INT8_MAX)                          \
    SATURATE(cast_##S##_i16, int16_t, T, -0x1p15, 0x1p15, INT16_MIN, INT16_MAX)                    \
    SATURATE(cast_##S##_i32, int32_t, T, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX)                    \
    SATURATE(cast_##S##_i64, int64_t, T, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX)                    \
    SATURATE(cast_##S##_u8, uint8_t, T, 0, 0x1p8, 0, UINT8_MAX)                                    \
    SATURATE(cast_##S##_u16, uint16_t, T, 0, 0x1p16, 0, UINT16_MAX)                                \
    SATURATE(cast_##S##_u32, uint32_t, T, 0, 0x1p32, 0, UINT32_MAX)                                \
    SATURATE(cast_##S##_u64, uint64_t, T, 0, 0x1p64, 0, UINT64_MAX)
FLOAT_TYPES(FLOAT_CASTS)

/* ---- finding them ---- */

typedef struct LoopRow {
    OpKind kind;
    DType from, to; /* to: of a cast; DT_NONE for all others */
    LoopFn loop;
} LoopRow;

/* clang-format off */
#define ROW(OP, D, LOOP) {OP_##OP, DT_##D, DT_NONE, LOOP},
#define TO(FROM, INTO, LOOP) {OP_CAST, DT_##FROM, DT_##INTO, LOOP},
#define INT_ROWS(S, T, U, D)                                                                       \
    ROW(ADD, D, add_##S) ROW(SUB, D, sub_##S) ROW(MUL, D, mul_##S) ROW(DIV, D, div_##S)            \
    ROW(REM, D, rem_##S) ROW(AND, D, and_##S) ROW(OR, D, or_##S) ROW(XOR, D, xor_##S)              \
    ROW(MIN, D, min_##S) ROW(MAX, D, max_##S) ROW(SHL, D, shl_##S) ROW(SHR, D, shr_##S)            \
    ROW(NOT, D, not_##S) ROW(NEG, D, neg_##S)
#define FLOAT_ROWS(S, T, U, D)                                                                     \
    ROW(ADD, D, add_##S) ROW(SUB, D, sub_##S) ROW(MUL, D, mul_##S) ROW(DIV, D, div_##S)            \
    ROW(REM, D, rem_##S) ROW(MIN, D, min_##S) ROW(MAX, D, max_##S) ROW(MIN_NAN, D, min_nan_##S)    \
    ROW(MAX_NAN, D, max_nan_##S) ROW(NEG, D, neg_##S) ROW(ABS, D, abs_##S) ROW(SQRT, D, sqrt_##S)  \
    ROW(RSQRT, D, rsqrt_##S) ROW(EXP, D, exp_##S) ROW(EXP2, D, exp2_##S) ROW(LOG, D, log_##S)      \
    ROW(LOG2, D, log2_##S) ROW(SIN, D, sin_##S) ROW(COS, D, cos_##S) ROW(TANH, D, tanh_##S)        \
    ROW(ERF, D, erf_##S) ROW(FLOOR, D, floor_##S) ROW(CEIL, D, ceil_##S) ROW(TRUNC, D, trunc_##S)  \
    ROW(RINT, D, rint_##S) ROW(FMA, D, fma_##S) ROW(DIV_RN, D, div_##S) ROW(SQRT_RN, D, sqrt_##S)
#define COMPARE_ROWS(S, T, U, D)                                                                   \
    ROW(EQ, D, eq_##S) ROW(NE, D, ne_##S) ROW(LT, D, lt_##S) ROW(LE, D, le_##S) ROW(GT, D, gt_##S) \
    ROW(GE, D, ge_##S)
/* Integers of one width have the same bits. */
#define CAST_ROWS(S, T, U, D)                                                                      \
    TO(D, I8, cast_##S##_i8) TO(D, U8, cast_##S##_i8) TO(D, I16, cast_##S##_i16)                   \
    TO(D, U16, cast_##S##_i16) TO(D, I32, cast_##S##_i32) TO(D, U32, cast_##S##_i32)               \
    TO(D, I64, cast_##S##_i64) TO(D, U64, cast_##S##_i64) TO(D, F32, cast_##S##_f32)               \
    TO(D, F64, cast_##S##_f64) TO(D, I1, cast_##S##_i1)
#define FLOAT_CAST_ROWS(S, T, U, D)                                                                \
    TO(D, I8, cast_##S##_i8) TO(D, U8, cast_##S##_u8) TO(D, I16, cast_##S##_i16)                   \
    TO(D, U16, cast_##S##_u16) TO(D, I32, cast_##S##_i32) TO(D, U32, cast_##S##_u32)               \
    TO(D, I64, cast_##S##_i64) TO(D, U64, cast_##S##_u64) TO(D, I1, cast_##S##_i1)

static const LoopRow rows[] = {
    INT_TYPES(INT_ROWS) INT_TYPES(COMPARE_ROWS) INT_TYPES(CAST_ROWS)
    FLOAT_TYPES(FLOAT_ROWS) FLOAT_TYPES(COMPARE_ROWS) FLOAT_TYPES(FLOAT_CAST_ROWS)
    TO(F32, F64, cast_f32_f64) TO(F64, F32, cast_f64_f32)
    COMPARE_ROWS(u8, , , I1) CAST_ROWS(u8, , , I1)
    ROW(AND, I1, and_u8) ROW(OR, I1, or_u8) ROW(XOR, I1, xor_u8) ROW(NOT, I1, not_i1)
    ROW(MIN, I1, and_u8) ROW(MAX, I1, or_u8)
    ROW(MULHI, I32, mulhi_i32) ROW(MULHI, U32, mulhi_u32) ROW(MULHI, I64, mulhi_i64)
    ROW(MULHI, U64, mulhi_u64)
    ROW(ABS, I8, abs_i8) ROW(ABS, I16, abs_i16) ROW(ABS, I32, abs_i32) ROW(ABS, I64, abs_i64)
    ROW(NEG, F16, neg_b16) ROW(NEG, BF16, neg_b16) ROW(NEG, F8E4, neg_b8) ROW(NEG, F8E5, neg_b8)
    ROW(ABS, F16, abs_b16) ROW(ABS, BF16, abs_b16) ROW(ABS, F8E4, abs_b8) ROW(ABS, F8E5, abs_b8)
};
/* clang-format on */

static LoopFn find_loop(OpKind kind, DType from, DType to)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == kind && rows[i].from == from && rows[i].to == to) return rows[i].loop;
    return NULL;
}

LoopFn interp_loop(OpKind kind, DType dt)
{
    return find_loop(kind, dt, DT_NONE);
}

LoopFn interp_cast_loop(DType from, DType to)
{
    return find_loop(OP_CAST, from, to);
}

LoopFn interp_select_loop(int size)
{
    return size == 1 ? select_1 : size == 2 ? select_2 : size == 4 ? select_4 : select_8;
}
