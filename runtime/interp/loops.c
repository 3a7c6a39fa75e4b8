/* Loops over C types, which the compiler vectorizes, and the table that finds one by op and element
   type, both of the rows of loops.def. Built without contraction, so a product and a sum are rounded
   one after the other. */
#include <math.h>

#include "interp.h"
#include "math.h"
#include "tkc/vector.h"

#define RESTRICT __restrict__

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

/* ---- the functions ---- */

#define FUNCTION(NAME)                                                                             \
    VECTOR static void NAME(void *out_, const void *const *args, int64_t n, unsigned u)
#define EACH(R, OPERANDS, EXPR)                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                              \
        OPERANDS;                                                                                  \
        out[i] = (R)(EXPR);                                                                        \
    }
#define LOOP(NAME, R, T, EXPR)                                                                     \
    FUNCTION(NAME)                                                                                 \
    {                                                                                              \
        R *RESTRICT out = out_;                                                                    \
        const T *RESTRICT a = args[0];                                                             \
        (void)u;                                                                                   \
        EACH(R, T x = a[i], EXPR)                                                                  \
    }
#define LOOP1(OP, D, R, T, EXPR) LOOP(loop_##OP##_##D, R, T, EXPR)
#define CAST(FROM, TO, R, T, EXPR) LOOP(cast_##FROM##_##TO, R, T, EXPR)
#define CAST_AS(FROM, TO, AS)
#define LOOP2(OP, D, R, T, EXPR)                                                                   \
    FUNCTION(loop_##OP##_##D)                                                                      \
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
#define LOOP3(OP, D, R, T, EXPR)                                                                   \
    FUNCTION(loop_##OP##_##D)                                                                      \
    {                                                                                              \
        R *RESTRICT out = out_;                                                                    \
        const T *RESTRICT a = args[0], *RESTRICT b = args[1], *RESTRICT c = args[2];               \
        int64_t da = !(u & 1), db = !(u & 2), dc = !(u & 4);                                       \
        EACH(R, T x = a[i * da]; T y = b[i * db]; T z = c[i * dc], EXPR)                           \
    }
#include "loops.def"
#undef LOOP1
#undef LOOP2
#undef LOOP3
#undef CAST
#undef CAST_AS

/* ---- select: by element width; the condition is operand 0 ---- */

/* A condition is 0 or 1; bits are taken by a mask of it, since a branch in each lane costs more. */
#define BLEND(T, A, B)                                                                             \
    for (int64_t i = 0; i < n; i++) out[i] = B ^ ((A ^ B) & (T)(0 - (T)c[i]));                     \
    break
#define SELECT_LOOP(W, T)                                                                          \
    FUNCTION(select_##W)                                                                               \
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

/* ---- finding them ---- */

typedef struct LoopRow {
    OpKind kind;
    DType from, to; /* to: of a cast; DT_NONE for all others */
    LoopFn loop;
} LoopRow;

#define LOOP1(OP, D, R, T, EXPR) {OP_##OP, DT_##D, DT_NONE, loop_##OP##_##D},
#define LOOP2 LOOP1
#define LOOP3 LOOP1
#define CAST(FROM, TO, R, T, EXPR) {OP_CAST, DT_##FROM, DT_##TO, cast_##FROM##_##TO},
#define CAST_AS(FROM, TO, AS) {OP_CAST, DT_##FROM, DT_##TO, cast_##FROM##_##AS},
static const LoopRow rows[] = {
#include "loops.def"
};

LoopFn interp_loop(OpKind kind, DType from, DType to)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == kind && rows[i].from == from && rows[i].to == to) return rows[i].loop;
    return NULL;
}

LoopFn interp_select_loop(int size)
{
    return size == 1 ? select_1 : size == 2 ? select_2 : size == 4 ? select_4 : select_8;
}
