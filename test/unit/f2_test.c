/* Linear algebra over F2, against brute force on small matrices. */
#include "linear/f2.h"

#include "expect.h"

static uint32_t random_bits(uint64_t *state, int bits)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) & ((UINT32_C(1) << bits) - 1);
}

static F2Matrix random_matrix(uint64_t *state, int rows, int cols)
{
    F2Matrix m = {.cols = cols};
    for (int i = 0; i < cols; i++) m.col[i] = random_bits(state, rows);
    return m;
}

static void apply_is_linear(void)
{
    uint64_t seed = 1;
    for (int n = 0; n < 100; n++) {
        F2Matrix a = random_matrix(&seed, 6, 7);
        uint32_t x = random_bits(&seed, 7), y = random_bits(&seed, 7);
        EXPECT(f2_apply(&a, x ^ y) == (f2_apply(&a, x) ^ f2_apply(&a, y)));
    }
}

static int count_images(const F2Matrix *m, bool *hit)
{
    int n = 0;
    memset(hit, 0, 64);
    for (uint64_t x = 0; x < UINT64_C(1) << m->cols; x++) {
        uint32_t y = f2_apply(m, x);
        n += !hit[y];
        hit[y] = true;
    }
    return n;
}

static void solve_finds_every_image_with_free_bits_zero(void)
{
    uint64_t seed = 2;
    for (int n = 0; n < 200; n++) {
        F2Matrix m = random_matrix(&seed, 6, 1 + (int)random_bits(&seed, 3));
        bool hit[64];
        EXPECT_INT(count_images(&m, hit), 1 << f2_rank(&m));
        uint32_t free_bits = 0;
        for (int i = 0; i < m.cols; i++) {
            F2Matrix head = m, with = m;
            head.cols = i;
            with.cols = i + 1;
            if (f2_rank(&head) == f2_rank(&with)) free_bits |= 1u << i;
        }
        for (uint32_t y = 0; y < 64; y++) {
            uint64_t x;
            bool ok = f2_solve(&m, y, &x);
            EXPECT(ok == hit[y]);
            if (ok) EXPECT(f2_apply(&m, x) == y && !(x & free_bits));
        }
    }
}

static void kernel_spans_what_maps_to_zero(void)
{
    uint64_t seed = 4;
    for (int n = 0; n < 100; n++) {
        F2Matrix m = random_matrix(&seed, 4, 7);
        uint64_t kernel[F2_MAX];
        int k = f2_kernel(&m, kernel), zeros = 0;
        EXPECT_INT(k + f2_rank(&m), 7);
        F2Space s = {0};
        for (int i = 0; i < k; i++) {
            EXPECT(f2_apply(&m, kernel[i]) == 0);
            EXPECT(f2_space_add(&s, (uint32_t)kernel[i]));
        }
        for (uint32_t x = 0; x < 128; x++) zeros += f2_apply(&m, x) == 0;
        EXPECT_INT(zeros, 1 << k);
    }
}

static void spaces_intersect(void)
{
    uint64_t seed = 5;
    for (int n = 0; n < 100; n++) {
        F2Space a = {0}, b = {0}, both;
        for (int i = 0; i < 4; i++) f2_space_add(&a, random_bits(&seed, 6));
        for (int i = 0; i < 4; i++) f2_space_add(&b, random_bits(&seed, 6));
        f2_space_intersect(&both, &a, &b);
        for (uint32_t v = 0; v < 64; v++)
            EXPECT(f2_space_has(&both, v) == (f2_space_has(&a, v) && f2_space_has(&b, v)));
    }
}

int main(void)
{
    RUN(apply_is_linear);
    RUN(solve_finds_every_image_with_free_bits_zero);
    RUN(kernel_spans_what_maps_to_zero);
    RUN(spaces_intersect);
    return expect_done();
}
