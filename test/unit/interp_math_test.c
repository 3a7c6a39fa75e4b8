/* The fp32 functions of the interpreter against the C library's in double: at most 2 ulp over a
   dense sample of all inputs, and at every input where something changes. "interp_math_test all"
   takes all 2^32. */
#include <math.h>
#include <stdlib.h>

#include "expect.h"
#include "interp/math.h"

typedef struct Function {
    const char *name;
    float (*fast)(float);
    double (*exact)(double);
} Function;

static const Function functions[] = {{"exp", math_exp, exp},
                                     {"exp2", math_exp2, exp2},
                                     {"log", math_log, log},
                                     {"log2", math_log2, log2}};

/* The size of the last place of the fp32 number nearest to v. */
static double last_place(double v)
{
    int e;
    frexp(v, &e);
    return ldexp(1, e - 24 < -149 ? -149 : e - 24);
}

/* Error in ulp; a special value must be met exactly. */
static double error_of(const Function *f, float x)
{
    float got = f->fast(x), rounded = (float)f->exact((double)x);
    double want = f->exact((double)x);
    if (isnan(rounded)) return isnan(got) ? 0 : INFINITY;
    if (isinf(rounded) || isinf(got))
        return got == rounded ? 0 : fabs(want) > 0x1.fffffcp127 ? 1 : INFINITY;
    return fabs((double)got - want) / last_place(want);
}

static void try_bits(const Function *f, uint32_t bits, double *worst, uint32_t *where)
{
    double e = error_of(f, f32_of(bits));
    if (e > *worst) {
        *worst = e;
        *where = bits;
    }
}

static void bounds(uint32_t step)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        double worst = 0;
        uint32_t where = 0, b = 0;
        do {
            try_bits(&functions[i], b, &worst, &where);
            b += step;
        } while (b >= step);
        for (uint32_t top = 0; top < 1u << 12; top++)
            for (int near = -4; near <= 4; near++)
                try_bits(&functions[i], (top << 20) + (uint32_t)near, &worst, &where);
        printf("%s: %.3f ulp at %a\n", functions[i].name, worst, (double)f32_of(where));
        EXPECT(worst <= 2);
    }
}

static void exact_values(void)
{
    EXPECT(math_exp(0) == 1 && math_exp2(0) == 1 && math_log(1) == 0 && math_log2(1) == 0);
    for (int k = -149; k <= 127; k++) {
        EXPECT(math_exp2((float)k) == ldexpf(1, k));
        EXPECT(math_log2(ldexpf(1, k)) == (float)k);
    }
    EXPECT(math_exp(-INFINITY) == 0 && math_exp(INFINITY) == INFINITY &&
           math_exp2(-INFINITY) == 0 && math_exp2(INFINITY) == INFINITY);
    EXPECT(math_log(0) == -INFINITY && math_log(-0.0f) == -INFINITY &&
           math_log(INFINITY) == INFINITY && isnan(math_log(-1)));
    EXPECT(isnan(math_exp(NAN)) && isnan(math_exp2(NAN)) && isnan(math_log(NAN)) &&
           isnan(math_log2(NAN)));
}

int main(int argc, char **argv)
{
    (void)argv;
    RUN(exact_values);
    bounds(argc > 1 ? 1 : 1009);
    return expect_done();
}
