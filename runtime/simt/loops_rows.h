/* Makes functions and a table of the rows of loops.def, for the processor that the including file
   chose; the table is called SIMT_LOOPS there. */
#include "loops.h"

#include "lanes.h"

typedef float f32_number;
typedef double f64_number;
typedef u32 f32_lane;
typedef u64 f64_lane;
typedef u16 f16_lane, bf16_lane;

/* ---- for both passes: LOOP makes a row, HERE of what a lane has of a source ---- */

#define LOOP1(NAME, L, EVAL, QUAL, TYPES, SECOND, D, A, ...)                                       \
    LOOP(NAME, L, EVAL, QUAL, TYPES, SECOND, 0, 1, 1, D, HERE(A, x, a_, L), __VA_ARGS__)
#define LOOP2(NAME, L, EVAL, QUAL, TYPES, SECOND, D, A, B, ...)                                    \
    LOOP(NAME, L, EVAL, QUAL, TYPES, SECOND, 0, 1, 2, D, HERE(A, x, a_, L) HERE(B, y, b_, L),      \
         __VA_ARGS__)
#define LOOP3(NAME, L, EVAL, QUAL, TYPES, SECOND, D, A, B, C, ...)                                 \
    LOOP(NAME, L, EVAL, QUAL, TYPES, SECOND, 0, 1, 3, D,                                           \
         HERE(A, x, a_, L) HERE(B, y, b_, L) HERE(C, z, c_, L), __VA_ARGS__)
#define LOOP4(NAME, L, EVAL, QUAL, TYPES, SECOND, D, A, B, C, E, ...)                              \
    LOOP(NAME, L, EVAL, QUAL, TYPES, SECOND, 0, 1, 4, D,                                           \
         HERE(A, x, a_, L) HERE(B, y, b_, L) HERE(C, z, c_, L) HERE(E, w, e_, L), __VA_ARGS__)
#define PART(NAME, DEST, NDESTS, TYPES, D, A, ...)                                                 \
    LOOP(NAME, 32, unpack, 0, TYPES, "", DEST, NDESTS, 1, D, HERE(A, x, a_, 32), __VA_ARGS__)
#define MASK1(NAME, EVAL, ...) MASK(NAME, EVAL, 1, __VA_ARGS__)
#define MASK2(NAME, EVAL, ...) MASK(NAME, EVAL, 2, __VA_ARGS__)

/* ---- the functions ---- */

/* Lane by lane in place is fine: what the pragma denies is one lane's result being another's
   source. */
#define EACH(LANES) _Pragma("GCC ivdep") for (int i = 0; i < LANES; i++)
#define FUNCTION(NAME)                                                                             \
    static void loop_##NAME(void *d_, const void *a_, const void *b_, const void *c_,              \
                            const void *e_)
#define HERE(T, x, from, LANES) const T x = ((const T *)from)[i];
#define LOOP(NAME, LANES, EVAL, QUAL, TYPES, SECOND, DEST, NDESTS, N, D, SOURCES, ...)             \
    FUNCTION(NAME)                                                                                 \
    {                                                                                              \
        D *d = d_;                                                                                 \
        (void)b_, (void)c_, (void)e_;                                                              \
        EACH(LANES)                                                                                \
        {                                                                                          \
            SOURCES                                                                                \
            d[i] = (D)(__VA_ARGS__);                                                               \
        }                                                                                          \
    }
#define TEST(NAME, EVAL, QUAL, TYPES, DEST, A, ...)                                                \
    FUNCTION(NAME)                                                                                 \
    {                                                                                              \
        const A *a = a_, *b = b_;                                                                  \
        u32 mask = 0;                                                                              \
        (void)c_, (void)e_;                                                                        \
        for (int i = 0; i < 32; i++) {                                                             \
            const A x = a[i], y = b[i];                                                            \
            mask |= (u32)(__VA_ARGS__) << i;                                                       \
        }                                                                                          \
        *(u32 *)d_ = mask;                                                                         \
    }
#define PICK(NAME, TYPES, D)                                                                       \
    FUNCTION(NAME)                                                                                 \
    {                                                                                              \
        D *d = d_;                                                                                 \
        const D *a = a_, *b = b_;                                                                  \
        const u32 mask = *(const u32 *)c_;                                                         \
        (void)e_;                                                                                  \
        EACH(32)                                                                                   \
        {                                                                                          \
            const D x = a[i], y = b[i];                                                            \
            d[i] = mask & UINT32_C(1) << i ? x : y;                                                \
        }                                                                                          \
    }
#define MASK(NAME, EVAL, N, ...)                                                                   \
    FUNCTION(NAME)                                                                                 \
    {                                                                                              \
        const u32 x = *(const u32 *)a_, y = N > 1 ? *(const u32 *)b_ : 0;                          \
        (void)y, (void)c_, (void)e_;                                                               \
        *(u32 *)d_ = __VA_ARGS__;                                                                  \
    }
#include "loops.def"
#undef HERE
#undef LOOP
#undef TEST
#undef PICK
#undef MASK

/* ---- the table ---- */

#define WIDTH(T, LANES) (8 * sizeof(T) * (LANES) / 32)
#define ROW(NAME, EVAL, QUAL, TYPES, SECOND, DEST, NDESTS, N, ...)                                 \
    {ptx_##EVAL, QUAL, TYPES, SECOND, DEST, NDESTS, N, {__VA_ARGS__}, loop_##NAME},
#define HERE(T, x, from, LANES) , WIDTH(T, LANES)
#define LOOP(NAME, LANES, EVAL, QUAL, TYPES, SECOND, DEST, NDESTS, N, D, SOURCES, ...)             \
    ROW(NAME, EVAL, QUAL, TYPES, SECOND, DEST, NDESTS, N, WIDTH(D, LANES) SOURCES)
#define TEST(NAME, EVAL, QUAL, TYPES, DEST, A, ...)                                                \
    ROW(NAME, EVAL, QUAL, TYPES, "", DEST, 0, 2, 1, WIDTH(A, 32), WIDTH(A, 32))
#define PICK(NAME, TYPES, D)                                                                       \
    ROW(NAME, selp, 0, TYPES, "", 0, 1, 3, WIDTH(D, 32), WIDTH(D, 32), WIDTH(D, 32), 1)
#define MASK(NAME, EVAL, N, ...) ROW(NAME, EVAL, 0, "pred", "", 0, 1, N, 1, 1, N > 1)
const LoopRow SIMT_LOOPS[] = {
#include "loops.def"
    {0}};
