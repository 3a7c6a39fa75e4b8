/* A tile of c stays in registers while k goes by: four rows of two vectors, or of one at the end. Functions that are
   chosen when the program starts are visible outside the archive, so they have others in front. */
#include "product.h"

#include "tkc/vector.h"

enum { TILE_ROWS = 4, MOST_VECTORS = 2, VECTOR_BYTES = 32 };

#define PRODUCT(NAME, T)                                                                           \
    typedef T NAME##_v __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));  \
    enum { NAME##_LANES = VECTOR_BYTES / sizeof(T) };                                              \
    static inline __attribute__((always_inline)) void NAME##_tile(                                 \
        T *restrict c, const T *restrict a, const T *restrict b, int64_t n, int64_t k, int width)  \
    {                                                                                              \
        NAME##_v s[TILE_ROWS][MOST_VECTORS];                                                       \
        for (int i = 0; i < TILE_ROWS; i++)                                                        \
            for (int j = 0; j < width; j++) s[i][j] = *(NAME##_v *)(c + i * n + j * NAME##_LANES); \
        for (int64_t l = 0; l < k; l++)                                                            \
            for (int j = 0; j < width; j++) {                                                      \
                const NAME##_v y = *(const NAME##_v *)(b + l * n + j * NAME##_LANES);              \
                for (int i = 0; i < TILE_ROWS; i++) s[i][j] += a[i * k + l] * y;                   \
            }                                                                                      \
        for (int i = 0; i < TILE_ROWS; i++)                                                        \
            for (int j = 0; j < width; j++)                                                        \
                *(NAME##_v *)(c + i * n + j * NAME##_LANES) = s[i][j];                             \
    }                                                                                              \
    static inline __attribute__((always_inline)) void NAME##_rest(                                 \
        T *restrict c, const T *restrict a, const T *restrict b, int64_t m, int64_t n, int64_t k,  \
        int64_t width)                                                                             \
    {                                                                                              \
        for (int64_t i = 0; i < m; i++)                                                            \
            for (int64_t l = 0; l < k; l++) {                                                      \
                T x = a[i * k + l];                                                                \
                for (int64_t j = 0; j < width; j++) c[i * n + j] += x * b[l * n + j];              \
            }                                                                                      \
    }                                                                                              \
    VECTOR static void NAME##_all(T *c, const T *a, const T *b, int64_t m, int64_t n, int64_t k)   \
    {                                                                                              \
        int64_t rows = m / TILE_ROWS * TILE_ROWS, columns = n / NAME##_LANES * NAME##_LANES;       \
        for (int64_t i = 0; i < rows; i += TILE_ROWS) {                                            \
            int64_t j = 0;                                                                         \
            for (; j + 2 * NAME##_LANES <= n; j += 2 * NAME##_LANES)                               \
                NAME##_tile(c + i * n + j, a + i * k, b + j, n, k, 2);                             \
            if (j < columns) NAME##_tile(c + i * n + j, a + i * k, b + j, n, k, 1);                \
        }                                                                                          \
        NAME##_rest(c + columns, a, b + columns, rows, n, k, n - columns);                         \
        NAME##_rest(c + rows * n, a + rows * k, b, m - rows, n, k, n);                             \
    }                                                                                              \
    void NAME(T *c, const T *a, const T *b, int64_t m, int64_t n, int64_t k)                       \
    {                                                                                              \
        NAME##_all(c, a, b, m, n, k);                                                              \
    }
PRODUCT(product_f32, float)
PRODUCT(product_f64, double)
PRODUCT(product_u32, uint32_t)
