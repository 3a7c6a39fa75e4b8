/* The interpreter's instructions on whole blocks against plain loops over single elements:
   reductions, scans, sorts, products, moves of elements; and control flow, atomics, what is
   printed, what is asserted. Accesses to memory: interp_memory_test.c. */
#include <math.h>

#include "interp_run.h"

/* ---- writing functions ---- */

typedef struct Writing {
    World *w;
    Buf b;
} Writing;

static Writing text_open(World *w)
{
    Writing t = {w, buf_make(&w->arena)};
    buf_puts(&t.b, "func @f(%p0: *T0, %p1: *T1, %p2: *T2) attributes {target = \"sm_80\", "
                   "num_warps = 4, num_stages = 3} {\n");
    return t;
}

static int64_t count_of(const char *shape)
{
    int64_t n = 1;
    for (const char *p = shape; *p; p += *p == 'x') n *= strtol(p, (char **)&p, 10);
    return n;
}

/* %<name> is the array of parameter k, in the shape "4x5". */
static void text_load(Writing *t, const char *name, int k, const char *dtype, const char *shape)
{
    int n = (int)count_of(shape);
    buf_printf(&t->b,
               "%%%s_i = arange {start = 0} : block<%dxint32>\n%%%s_s = splat %%p%d : "
               "block<%dx*%s>\n%%%s_p = addptr %%%s_s, %%%s_i : block<%dx*%s>\n"
               "%%%s_x = load %%%s_p : block<%dx%s>\n%%%s = reshape %%%s_x : block<%sx%s>\n",
               name, n, name, k, n, dtype, name, name, name, n, dtype, name, name, n, dtype, name,
               name, shape, dtype);
}

static void text_store(Writing *t, const char *name, int k, const char *dtype, const char *shape)
{
    int n = (int)count_of(shape);
    buf_printf(&t->b,
               "%%%s_oi = arange {start = 0} : block<%dxint32>\n%%%s_os = splat %%p%d : "
               "block<%dx*%s>\n%%%s_op = addptr %%%s_os, %%%s_oi : block<%dx*%s>\n"
               "%%%s_f = reshape %%%s : block<%dx%s>\nstore %%%s_op, %%%s_f\n",
               name, n, name, k, n, dtype, name, name, name, n, dtype, name, name, n, dtype, name,
               name);
}

static const char *text_close(Writing *t, const char *t0, const char *t1, const char *t2)
{
    buf_puts(&t->b, "return\n}\n");
    const char *types[] = {t0, t1, t2};
    Buf out = buf_make(&t->w->arena);
    for (const char *p = buf_text(&t->b); *p; p++) {
        if (p[0] == 'T' && p[1] >= '0' && p[1] <= '2') {
            buf_puts(&out, types[p[1] - '0']);
            p++;
        } else {
            buf_putc(&out, *p);
        }
    }
    return buf_text(&out);
}

/* ---- reduce and scan ---- */

static const struct {
    const char *text;
    int outer, length, inner;
    const char *reduced;
    int axis;
} shapes[] = {
    {"1", 1, 1, 1, NULL, 0},      {"2", 1, 2, 1, NULL, 0},       {"3", 1, 3, 1, NULL, 0},
    {"781", 1, 781, 1, NULL, 0},  {"1024", 1, 1024, 1, NULL, 0}, {"5x7", 1, 5, 7, "7", 0},
    {"5x7", 5, 7, 1, "5", 1},     {"16x33", 1, 16, 33, "33", 0}, {"3x4x5", 3, 4, 5, "3x5", 1},
    {"2x3x9", 6, 9, 1, "2x3", 2}, {"1x6", 1, 6, 1, "1", 1},      {"6x1", 6, 1, 1, "6", 1},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const struct {
    const char *op;
    OpKind kind;
    bool floats, ints;
} combines[] = {
    {"add", OP_ADD, true, true},          {"mul", OP_MUL, true, true},
    {"max", OP_MAX, true, true},          {"min", OP_MIN, true, true},
    {"and", OP_AND, false, true},         {"or", OP_OR, false, true},
    {"xor", OP_XOR, false, true},         {"max_nan", OP_MAX_NAN, true, false},
    {"min_nan", OP_MIN_NAN, true, false}, {"sub", OP_SUB, false, false},
};

/* Small numbers: float sums and products of them are exact in any order. */
static uint64_t small_value(DType dt, uint64_t *seed, bool product)
{
    int64_t v =
        product ? ((int64_t)(random_next(seed) % 2) * 2 - 1) : (int64_t)(random_next(seed) % 3) - 1;
    if (dt == DT_I1) return (uint64_t)v & 1;
    return tkc_bits_from_double(dt, (double)v);
}

static char *make_array(World *w, DType dt, int64_t n, uint64_t *seed, bool product, uint64_t *bits)
{
    int size = tkc_dtype_info(dt)->bytes;
    char *p = device_array(w, NULL, (size_t)(n * size));
    for (int64_t i = 0; i < n; i++) {
        bits[i] = small_value(dt, seed, product);
        memcpy(p + i * size, &bits[i], (size_t)size);
    }
    return p;
}

static uint64_t element(DType dt, const char *p, int64_t i)
{
    const DTypeInfo *info = tkc_dtype_info(dt);
    uint64_t bits = 0;
    memcpy(&bits, p + i * info->bytes, info->bytes);
    int unused = 64 - 8 * info->bytes;
    return info->kind == DK_INT ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

static void expect_same(DType dt, uint64_t got, uint64_t want, const char *text)
{
    bool numbers = tkc_dtype_info(dt)->kind == DK_FLOAT;
    if (got == want || (numbers && tkc_bits_to_double(dt, got) == tkc_bits_to_double(dt, want)))
        return;
    printf("%sgot %llx, wanted %llx\n", text, (unsigned long long)got, (unsigned long long)want);
    expect_failed(__FILE__, __LINE__, "equal");
}

/* Region by one op, or the same made unrecognizable by a detour. */
static void combine_text(Writing *t, const char *op, const char *dtype, bool detour)
{
    buf_printf(&t->b, "(%%l: %s, %%m: %s) {\n%%c = %s %%l, %%m : %s\n", dtype, dtype, op, dtype);
    if (detour)
        buf_printf(&t->b,
                   "%%g = eq %%l, %%m : int1\n%%c2 = select %%g, %%c, %%c : %s\nyield %%c2\n}",
                   dtype);
    else buf_puts(&t->b, "yield %c\n}");
}

static void try_reduce(DType dt, int shape, int combine, bool detour)
{
    World w;
    world_open(&w);
    const char *type = tkc_dtype_info(dt)->short_name, *from = shapes[shape].text,
               *to = shapes[shape].reduced;
    int64_t n = count_of(from), outer = shapes[shape].outer, length = shapes[shape].length,
            inner = shapes[shape].inner;
    uint64_t seed = (uint64_t)(shape * 100 + combine), *x = arena_array(&w.arena, uint64_t, n);
    char *in = make_array(&w, dt, n, &seed, combines[combine].kind == OP_MUL, x),
         *out = device_array(&w, NULL, (size_t)(n * 8));
    Writing t = text_open(&w);
    text_load(&t, "x", 0, type, from);
    buf_puts(&t.b, "%r = reduce %x ");
    combine_text(&t, combines[combine].op, type, detour);
    buf_printf(&t.b, " {axis = %d} : ", shapes[shape].axis);
    if (to) {
        buf_printf(&t.b, "block<%sx%s>\n", to, type);
        text_store(&t, "r", 1, type, to);
    } else {
        buf_printf(&t.b, "%s\nstore %%p1, %%r\n", type);
    }
    const char *text = text_close(&t, type, type, type);
    run_well(&w, text, 1, (uint64_t[]){AS_ARG(in), AS_ARG(out), 0});
    for (int64_t i = 0; i < outer * inner; i++) {
        uint64_t want = 0;
        for (int64_t k = 0; k < length; k++) {
            uint64_t v = x[(i / inner * length + k) * inner + i % inner];
            if (k == 0) want = v;
            else
                tkc_evaluate(combines[combine].kind, dt, dt, NULL, 2, (uint64_t[]){want, v}, &want);
        }
        expect_same(dt, element(dt, out, i), want, text);
    }
    world_close(&w);
}

static void try_scan(DType dt, int shape, int combine, bool detour, bool reverse)
{
    World w;
    world_open(&w);
    const char *type = tkc_dtype_info(dt)->short_name, *from = shapes[shape].text;
    int64_t n = count_of(from), outer = shapes[shape].outer, length = shapes[shape].length,
            inner = shapes[shape].inner;
    uint64_t seed = (uint64_t)(shape * 100 + combine), *x = arena_array(&w.arena, uint64_t, n);
    char *in = make_array(&w, dt, n, &seed, combines[combine].kind == OP_MUL, x),
         *out = device_array(&w, NULL, (size_t)(n * 8));
    Writing t = text_open(&w);
    text_load(&t, "x", 0, type, from);
    buf_puts(&t.b, "%r = scan %x ");
    combine_text(&t, combines[combine].op, type, detour);
    buf_printf(&t.b, " {axis = %d, reverse = %d} : block<%sx%s>\n", shapes[shape].axis, reverse,
               from, type);
    text_store(&t, "r", 1, type, from);
    const char *text = text_close(&t, type, type, type);
    run_well(&w, text, 1, (uint64_t[]){AS_ARG(in), AS_ARG(out), 0});
    for (int64_t i = 0; i < outer * inner; i++) {
        uint64_t want = 0;
        for (int64_t step = 0; step < length; step++) {
            int64_t k = reverse ? length - 1 - step : step,
                    at = (i / inner * length + k) * inner + i % inner;
            if (step == 0) want = x[at];
            else
                tkc_evaluate(combines[combine].kind, dt, dt, NULL, 2, (uint64_t[]){want, x[at]},
                             &want);
            expect_same(dt, element(dt, out, at), want, text);
        }
    }
    world_close(&w);
}

static void reductions(void)
{
    for (DType dt = DT_NONE + 1; dt < DT_COUNT; dt++)
        for (int c = 0; c < 9; c++) {
            bool is_float = tkc_dtype_info(dt)->kind == DK_FLOAT;
            if (is_float ? !combines[c].floats : !combines[c].ints) continue;
            for (int s = 0; s < SHAPES; s++)
                if ((tkc_dtype_info(dt)->man_bits > 4 || !is_float || combines[c].kind != OP_ADD) ||
                    count_of(shapes[s].text) < 20) {
                    try_reduce(dt, s, c, false);
                    try_reduce(dt, s, c, true);
                }
        }
}

static void scans(void)
{
    static const DType types[] = {DT_I1, DT_I8, DT_I32, DT_U64, DT_F16, DT_F32, DT_F64};
    for (int d = 0; d < 7; d++)
        for (int c = 0; c < 4; c++)
            for (int s = 0; s < SHAPES; s++)
                for (int reverse = 0; reverse < 2; reverse++) {
                    try_scan(types[d], s, c, false, reverse);
                    try_scan(types[d], s, c, true, reverse);
                }
}

/* The place of the largest, ties to the left: two operands, selects; and the same with an `if`, on
   NaN as well. */
static void two_operands(void)
{
    for (int with_if = 0; with_if < 2; with_if++)
        for (int s = 0; s < SHAPES; s++) {
            World w;
            world_open(&w);
            int64_t n = count_of(shapes[s].text), outer = shapes[s].outer,
                    length = shapes[s].length, inner = shapes[s].inner;
            float *x = arena_array(&w.arena, float, n);
            uint64_t seed = 5;
            for (int64_t i = 0; i < n; i++) x[i] = (float)(random_next(&seed) % 8);
            float *in = device_array(&w, x, (size_t)n * 4);
            int32_t *index = device_array(&w, NULL, (size_t)n * 4),
                    *out = device_array(&w, NULL, (size_t)n * 4);
            for (int64_t i = 0; i < n; i++) index[i] = (int32_t)(i / inner % length);
            Writing t = text_open(&w);
            text_load(&t, "x", 0, "fp32", shapes[s].text);
            text_load(&t, "i", 1, "i32", shapes[s].text);
            buf_puts(&t.b, "%v, %r = reduce %x, %i (%a: fp32, %ai: i32, %c: fp32, %ci: i32) {\n%gt "
                           "= gt %a, %c : int1\n%eq = eq %a, %c : int1\n"
                           "%lt = lt %ai, %ci : int1\n%tie = and %eq, %lt : int1\n%left = or %gt, "
                           "%tie : int1\n");
            if (with_if)
                buf_puts(&t.b, "%m, %mi = if %left {\nyield %a, %ai\n} else {\nyield %c, %ci\n} : "
                               "fp32, i32\n");
            else
                buf_puts(&t.b,
                         "%m = select %left, %a, %c : fp32\n%mi = select %left, %ai, %ci : i32\n");
            buf_printf(&t.b, "yield %%m, %%mi\n} {axis = %d} : ", shapes[s].axis);
            if (shapes[s].reduced) {
                buf_printf(&t.b, "block<%sxfp32>, block<%sxi32>\n", shapes[s].reduced,
                           shapes[s].reduced);
                text_store(&t, "r", 2, "i32", shapes[s].reduced);
            } else {
                buf_puts(&t.b, "fp32, i32\nstore %p2, %r\n");
            }
            run_well(&w, text_close(&t, "fp32", "i32", "i32"), 1,
                     (uint64_t[]){AS_ARG(in), AS_ARG(index), AS_ARG(out)});
            for (int64_t i = 0; i < outer * inner; i++) {
                int64_t best = 0;
                for (int64_t k = 1; k < length; k++)
                    if (x[(i / inner * length + k) * inner + i % inner] >
                        x[(i / inner * length + best) * inner + i % inner])
                        best = k;
                EXPECT_INT(out[i], best);
            }
            world_close(&w);
        }
}

/* Sums of fp32 are far better than one after the other, and the same whatever the number of
   threads. */
static void sums_are_good(void)
{
    World w;
    world_open(&w);
    enum { N = 65536 };
    float *x = device_array(&w, NULL, N * 4), *out = device_array(&w, NULL, 4);
    double want = 0;
    for (int i = 0; i < N; i++) want += (double)(x[i] = 0.1f);
    Writing t = text_open(&w);
    text_load(&t, "x", 0, "fp32", "65536");
    buf_puts(&t.b, "%r = reduce %x ");
    combine_text(&t, "add", "fp32", false);
    buf_puts(&t.b, " {axis = 0} : fp32\nstore %p1, %r\n");
    run_well(&w, text_close(&t, "fp32", "fp32", "fp32"), 1,
             (uint64_t[]){AS_ARG(x), AS_ARG(out), 0});
    EXPECT(fabs(out[0] - want) <= 1e-6 * want);
    world_close(&w);
}

/* ---- sort, histogram ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : x < y ? -1 : x > y;
}

static void try_sort(DType dt, bool descending)
{
    enum { ROWS = 3, N = 37 };
    World w;
    world_open(&w);
    const DTypeInfo *info = tkc_dtype_info(dt);
    const char *type = info->short_name;
    char *in = device_array(&w, NULL, (size_t)(ROWS * N * info->bytes)),
         *out = device_array(&w, NULL, (size_t)(ROWS * N * info->bytes));
    double want[ROWS][N];
    uint64_t seed = 3;
    for (int i = 0; i < ROWS * N; i++) {
        uint64_t bits = dt == DT_I1 ? random_next(&seed) & 1 : random_next(&seed);
        memcpy(in + i * info->bytes, &bits, info->bytes);
        want[i / N][i % N] = tkc_bits_to_double(dt, element(dt, in, i));
    }
    Writing t = text_open(&w);
    text_load(&t, "x", 0, type, "3x37");
    buf_printf(&t.b, "%%r = sort %%x {descending = %d} : block<3x37x%s>\n", descending, type);
    text_store(&t, "r", 1, type, "3x37");
    run_well(&w, text_close(&t, type, type, type), 1, (uint64_t[]){AS_ARG(in), AS_ARG(out), 0});
    for (int r = 0; r < ROWS; r++) {
        int numbers = 0;
        qsort(want[r], N, sizeof(double), by_value);
        while (numbers < N && !isnan(want[r][numbers])) numbers++;
        for (int i = 0; i < N; i++) {
            double got = tkc_bits_to_double(dt, element(dt, out, r * N + i));
            EXPECT(i < numbers ? got == want[r][descending ? numbers - 1 - i : i] : isnan(got));
        }
    }
    world_close(&w);
}

static void sorts(void)
{
    for (DType dt = DT_NONE + 1; dt < DT_COUNT; dt++)
        for (int descending = 0; descending < 2; descending++) try_sort(dt, descending);
}

static void histograms(void)
{
    for (int masked = 0; masked < 2; masked++) {
        World w;
        world_open(&w);
        int8_t x[100], mask[100];
        int want[16] = {0};
        uint64_t seed = 1;
        for (int i = 0; i < 100; i++) {
            x[i] = (int8_t)((int)(random_next(&seed) % 20) - 2);
            mask[i] = random_next(&seed) & 1;
            if (x[i] >= 0 && x[i] < 16 && (mask[i] || !masked)) want[x[i]]++;
        }
        int32_t *out = device_array(&w, NULL, 64);
        Writing t = text_open(&w);
        text_load(&t, "x", 0, "i8", "100");
        text_load(&t, "m", 1, "i1", "100");
        buf_printf(&t.b, "%%r = histogram %%x%s : block<16xi32>\n", masked ? ", %m" : "");
        text_store(&t, "r", 2, "i32", "16");
        run_well(&w, text_close(&t, "i8", "i1", "i32"), 1,
                 (uint64_t[]){AS_ARG(device_array(&w, x, 100)), AS_ARG(device_array(&w, mask, 100)),
                              AS_ARG(out)});
        for (int i = 0; i < 16; i++) EXPECT_INT(out[i], want[i]);
        world_close(&w);
    }
}

/* ---- dot ---- */

static void try_dot(DType in, DType acc, const char *precision, int batch, int m, int n, int k)
{
    World w;
    world_open(&w);
    const char *ti = tkc_dtype_info(in)->short_name, *ta = tkc_dtype_info(acc)->short_name;
    uint64_t seed = 9, *x = arena_array(&w.arena, uint64_t, batch * m * k),
             *y = arena_array(&w.arena, uint64_t, batch * k * n);
    char *a = make_array(&w, in, batch * m * k, &seed, false, x),
         *b = make_array(&w, in, batch * k * n, &seed, false, y);
    char *out = device_array(&w, NULL, (size_t)(batch * m * n * 8));
    char sa[40], sb[40], sc[40], lead[16] = "";
    if (batch > 1) snprintf(lead, sizeof lead, "%dx", batch);
    snprintf(sa, sizeof sa, "%s%dx%d", lead, m, k);
    snprintf(sb, sizeof sb, "%s%dx%d", lead, k, n);
    snprintf(sc, sizeof sc, "%s%dx%d", lead, m, n);
    Writing t = text_open(&w);
    text_load(&t, "a", 0, ti, sa);
    text_load(&t, "b", 1, ti, sb);
    buf_printf(&t.b,
               "%%z = const %s : block<%sx%s>\n%%r = dot %%a, %%b, %%z {precision = \"%s\"} : "
               "block<%sx%s>\n",
               tkc_dtype_info(acc)->kind == DK_FLOAT ? "3.0" : "3", sc, ta, precision, sc, ta);
    text_store(&t, "r", 2, ta, sc);
    const char *text = text_close(&t, ti, ti, ta);
    run_well(&w, text, 1, (uint64_t[]){AS_ARG(a), AS_ARG(b), AS_ARG(out)});
    for (int64_t i = 0; i < (int64_t)batch * m * n; i++) {
        int64_t q = i / (m * n), r = i / n % m, c = i % n;
        double want = 3;
        for (int l = 0; l < k; l++)
            want += tkc_bits_to_double(in, x[(q * m + r) * k + l]) *
                    tkc_bits_to_double(in, y[(q * k + l) * n + c]);
        expect_same(acc, element(acc, out, i), tkc_bits_from_double(acc, want), text);
    }
    world_close(&w);
}

static void dots(void)
{
    static const struct {
        DType in, acc;
    } types[] = {{DT_F16, DT_F32}, {DT_F16, DT_F16},  {DT_BF16, DT_F32}, {DT_F32, DT_F32},
                 {DT_F64, DT_F64}, {DT_F8E4, DT_F32}, {DT_F8E5, DT_F16}, {DT_I8, DT_I32}};
    for (int i = 0; i < 8; i++) {
        try_dot(types[i].in, types[i].acc, "ieee", 1, 16, 16, 16);
        try_dot(types[i].in, types[i].acc, "tf32", 1, 3, 5, 7);
        try_dot(types[i].in, types[i].acc, "tf32x3", 4, 9, 2, 33);
    }
}

/* tf32 keeps ten bits of an operand's mantissa; ieee all of them. */
static void dot_precision(void)
{
    World w;
    world_open(&w);
    float x = 1 + 0x1p-10f + 0x1p-11f + 0x1p-20f, y = 1, out;
    float *a = device_array(&w, &x, 4), *b = device_array(&w, &y, 4),
          *c = device_array(&w, NULL, 4);
    for (int tf32 = 0; tf32 < 2; tf32++) {
        Writing t = text_open(&w);
        text_load(&t, "a", 0, "fp32", "1x1");
        text_load(&t, "b", 1, "fp32", "1x1");
        buf_printf(&t.b,
                   "%%z = const 0.0 : block<1x1xfp32>\n%%r = dot %%a, %%b, %%z {precision = "
                   "\"%s\"} : block<1x1xfp32>\n",
                   tf32 ? "tf32" : "ieee");
        text_store(&t, "r", 2, "fp32", "1x1");
        run_well(&w, text_close(&t, "fp32", "fp32", "fp32"), 1,
                 (uint64_t[]){AS_ARG(a), AS_ARG(b), AS_ARG(c)});
        memcpy(&out, c, 4);
        EXPECT(out == (tf32 ? 1 + 0x1p-10f : x));
    }
    world_close(&w);
}

/* The bf16 parts of x: each is what the ones before have left, rounded. */
static void parts_of(float x, float part[3])
{
    for (int i = 0; i < 3; i++) {
        part[i] = (float)tkc_bits_to_double(DT_BF16, tkc_bits_from_double(DT_BF16, (double)x));
        x -= part[i];
    }
}

/* Element i of a dot of parts, as docs/language.md defines it: sums of fp32, in order of k, of one
   pair of parts after the other. */
static float part_sum(const float *a, const float *b, int n, int k, int i, int products)
{
    static const int left[] = {1, 2, 0, 1, 0, 0}, right[] = {1, 0, 2, 0, 1, 0};
    float sum = 0;
    for (int p = 6 - products; p < 6; p++) {
        if (p == 5 && isnan(sum)) sum = 0;
        for (int l = 0; l < k; l++) {
            float x[3], y[3];
            parts_of(a[i / n * k + l], x);
            parts_of(b[l * n + i % n], y);
            volatile float product = x[left[p]] * y[right[p]];
            sum += product;
        }
    }
    return sum;
}

enum { PART_M = 5, PART_N = 9, PART_K = 12 };

static void dot_parts(void)
{
    World w;
    world_open(&w);
    uint64_t seed = 5;
    float x[PART_M * PART_K], y[PART_K * PART_N], z[PART_M * PART_N];
    for (int i = 0; i < PART_M * PART_K; i++) x[i] = (float)(int64_t)random_next(&seed) * 0x1p-63f;
    for (int i = 0; i < PART_K * PART_N; i++) y[i] = (float)(int64_t)random_next(&seed) * 0x1p-60f;
    for (int i = 0; i < PART_M * PART_N; i++) z[i] = (float)i;
    x[3 * PART_K + 2] = INFINITY; /* row 3 is infinite, not NaN */
    float *a = device_array(&w, x, sizeof x), *b = device_array(&w, y, sizeof y),
          *c = device_array(&w, z, sizeof z);
    for (int products = 3; products <= 6; products += 3) {
        memcpy(c, z, sizeof z);
        Writing t = text_open(&w);
        text_load(&t, "a", 0, "fp32", "5x12");
        text_load(&t, "b", 1, "fp32", "12x9");
        text_load(&t, "z", 2, "fp32", "5x9");
        buf_printf(&t.b, "%%r = dot %%a, %%b, %%z {precision = \"bf16x%d\"} : block<5x9xfp32>\n",
                   products);
        text_store(&t, "r", 2, "fp32", "5x9");
        run_well(&w, text_close(&t, "fp32", "fp32", "fp32"), 1,
                 (uint64_t[]){AS_ARG(a), AS_ARG(b), AS_ARG(c)});
        for (int i = 0; i < PART_M * PART_N; i++) {
            float want = z[i] + part_sum(x, y, PART_N, PART_K, i, products);
            EXPECT(c[i] == want && !!isinf(want) == (i / PART_N == 3));
        }
    }
    world_close(&w);
}

/* ---- moves ---- */

/* Ops that move elements; result element i is operand element `from` of it. */
static void try_move(const char *op, const char *from, const char *to, const char *dtype, int size,
                     int64_t (*source)(int64_t i))
{
    World w;
    world_open(&w);
    int64_t n = count_of(from), m = count_of(to);
    char *in = device_array(&w, NULL, (size_t)(n * size)),
         *out = device_array(&w, NULL, (size_t)(m * size));
    for (int64_t i = 0; i < n * size; i++) in[i] = (char)(i * 37 + i / 11);
    Writing t = text_open(&w);
    text_load(&t, "x", 0, dtype, from);
    buf_printf(&t.b, "%%r = %s : block<%sx%s>\n", op, to, dtype);
    text_store(&t, "r", 1, dtype, to);
    const char *text = text_close(&t, dtype, dtype, dtype);
    run_well(&w, text, 1, (uint64_t[]){AS_ARG(in), AS_ARG(out), 0});
    for (int64_t i = 0; i < m; i++)
        if (memcmp(out + i * size, in + source(i) * size, (size_t)size)) {
            printf("%selement %lld\n", text, (long long)i);
            expect_failed(__FILE__, __LINE__, "moved");
            break;
        }
    world_close(&w);
}

static int64_t rows_of_7(int64_t i)
{
    return i / 7;
}
static int64_t columns_of_5(int64_t i)
{
    return i % 5;
}
static int64_t middle(int64_t i)
{
    return i / (6 * 5) * 5 + i % 5;
}
static int64_t transposed(int64_t i)
{
    return i % 5 * 7 + i / 5;
}
static int64_t rotated(int64_t i)
{
    return (i / 3 % 2 * 3 + i % 3) * 4 + i / 6;
}
static int64_t swapped(int64_t i)
{
    return (i / 8 * 2 + i % 2) * 4 + i / 2 % 4;
}
static int64_t same(int64_t i)
{
    return i;
}
static int64_t doubled(int64_t i)
{
    return i % 35;
}
static int64_t joined(int64_t i)
{
    return i / 2;
}

static void moves(void)
{
    static const struct {
        const char *dtype;
        int size;
    } types[] = {{"u8", 1}, {"bf16", 2}, {"fp32", 4}, {"i64", 8}};
    for (int k = 0; k < 4; k++) {
        const char *dt = types[k].dtype;
        int size = types[k].size;
        try_move("broadcast %x", "5x1", "5x7", dt, size, rows_of_7);
        try_move("broadcast %x", "1x5", "7x5", dt, size, columns_of_5);
        try_move("broadcast %x", "3x1x5", "3x6x5", dt, size, middle);
        try_move("trans %x {perm = [1, 0]}", "5x7", "7x5", dt, size, transposed);
        try_move("trans %x {perm = [2, 0, 1]}", "2x3x4", "4x2x3", dt, size, rotated);
        try_move("trans %x {perm = [0, 2, 1]}", "3x2x4", "3x4x2", dt, size, swapped);
        try_move("reshape %x", "5x7", "7x5", dt, size, same);
        try_move("expand_dims %x {axis = 1}", "5x7", "5x1x7", dt, size, same);
        try_move("cat %x, %x", "35", "70", dt, size, doubled);
        try_move("join %x, %x", "35", "35x2", dt, size, joined);
    }
}

static void split_and_gather(void)
{
    World w;
    world_open(&w);
    int32_t x[24], index[12], *out = device_array(&w, NULL, sizeof x);
    for (int i = 0; i < 24; i++) x[i] = 100 + i;
    for (int i = 0; i < 12; i++) index[i] = (i * 5 + 1) % 4;
    int32_t *in = device_array(&w, x, sizeof x), *at = device_array(&w, index, sizeof index);
    Writing t = text_open(&w);
    text_load(&t, "x", 0, "i32", "12x2");
    buf_puts(&t.b, "%lo, %hi = split %x : block<12xi32>, block<12xi32>\n%r = sub %hi, %lo : "
                   "block<12xi32>\n%c = cat %lo, %r : block<24xi32>\n");
    text_store(&t, "c", 1, "i32", "24");
    run_well(&w, text_close(&t, "i32", "i32", "i32"), 1, (uint64_t[]){AS_ARG(in), AS_ARG(out), 0});
    for (int i = 0; i < 24; i++) EXPECT_INT(out[i], i < 12 ? 100 + 2 * i : 1);
    t = text_open(&w);
    text_load(&t, "x", 0, "i32", "2x4x3");
    text_load(&t, "i", 1, "i32", "2x2x3");
    buf_puts(&t.b, "%r = gather %x, %i {axis = 1} : block<2x2x3xi32>\n");
    text_store(&t, "r", 2, "i32", "2x2x3");
    const char *text = text_close(&t, "i32", "i32", "i32");
    run_well(&w, text, 1, (uint64_t[]){AS_ARG(in), AS_ARG(at), AS_ARG(out)});
    for (int i = 0; i < 12; i++) EXPECT_INT(out[i], x[(i / 6 * 4 + index[i]) * 3 + i % 3]);
    at[7] = 4;
    run_badly(&w, text, 1, (uint64_t[]){AS_ARG(in), AS_ARG(at), AS_ARG(out)},
              "gather: index 4 is outside the 4 elements of dimension 1");
    world_close(&w);
}

/* ---- control flow ---- */

#define HEAD                                                                                       \
    "func @f(%p: *i64, %n: i64) attributes {target = \"sm_80\", num_warps = 4, num_stages = 3} "   \
    "{\n"

static int64_t run_counted(const char *body, int64_t n)
{
    World w;
    world_open(&w);
    int64_t *out = device_array(&w, NULL, 8);
    char text[2000];
    snprintf(text, sizeof text, "%s%s\nstore %%p, %%r\nreturn\n}\n", HEAD, body);
    run_well(&w, text, 1, (uint64_t[]){AS_ARG(out), (uint64_t)n});
    int64_t r = *out;
    world_close(&w);
    return r;
}

static void loops(void)
{
    const char *sum = "%z = const 0 : i64\n%s = const 3 : i64\n%r = for %z, %n, %s, %z (%i: i64, "
                      "%a: i64) {\n%b = add %a, %i : i64\nyield %b\n} : i64";
    EXPECT_INT(run_counted(sum, 10), 0 + 3 + 6 + 9);
    EXPECT_INT(run_counted(sum, 9), 0 + 3 + 6);
    EXPECT_INT(run_counted(sum, 0), 0);
    EXPECT_INT(run_counted(sum, -5), 0);
    const char *down = "%z = const 0 : i64\n%s = const -2 : i64\n%r = for %n, %z, %s, %z (%i: i64, "
                       "%a: i64) {\n%b = add %a, %i : i64\nyield %b\n} {down = 1} : i64";
    EXPECT_INT(run_counted(down, 7), 7 + 5 + 3 + 1);
    EXPECT_INT(run_counted(down, 8), 8 + 6 + 4 + 2);
    EXPECT_INT(run_counted(down, 0), 0);
    const char *edge =
        "%z = const 0 : i64\n%o = const 1 : i64\n%lo = const 9223372036854775805 : i64\n%r = for "
        "%lo, %n, %o, %z (%i: i64, %a: i64) {\n%b = add %a, %o : i64\nyield %b\n} : i64";
    EXPECT_INT(run_counted(edge, INT64_MAX), 2);
    const char *collatz = "%z = const 0 : i64\n%o = const 1 : i64\n%two = const 2 : i64\n%three = "
                          "const 3 : i64\n%last, %r = while %n, %z (%x: i64, %k: i64) {\n"
                          "%c = ne %x, %o : i1\ncondition %c, %x, %k\n} do (%y: i64, %j: i64) "
                          "{\n%odd = and %y, %o : i64\n%is = ne %odd, %z : i1\n"
                          "%v = if %is {\n%t = mul %y, %three : i64\n%u = add %t, %o : i64\nyield "
                          "%u\n} else {\n%h = div %y, %two : i64\nyield %h\n} : i64\n"
                          "%j1 = add %j, %o : i64\nyield %v, %j1\n} : i64, i64";
    EXPECT_INT(run_counted(collatz, 27), 111);
    const char *swap =
        "%z = const 0 : i64\n%o = const 1 : i64\n%r, %q = for %z, %n, %o, %z, %o (%i: i64, %a: "
        "i64, %b: i64) {\n%c = add %a, %b : i64\nyield %b, %c\n} : i64, i64";
    EXPECT_INT(run_counted(swap, 30), 832040);
}

/* Values carried around a loop as blocks, exchanged each time; a block from outside is still there
   in the last round. */
static void carried_blocks(void)
{
    World w;
    world_open(&w);
    enum { N = 300 };
    int32_t *x = device_array(&w, NULL, N * 4), *out = device_array(&w, NULL, N * 4);
    for (int i = 0; i < N; i++) x[i] = i * i;
    Writing t = text_open(&w);
    text_load(&t, "x", 0, "i32", "300");
    buf_puts(
        &t.b,
        "%z = const 0 : i32\n%o = const 1 : i32\n%n = const 5 : i32\n%zb = splat %z : "
        "block<300xi32>\n"
        "%a, %b = for %z, %n, %o, %x, %zb (%i: i32, %u: block<300xi32>, %v: block<300xi32>) {\n%s "
        "= add %u, %x : block<300xi32>\n"
        "yield %v, %s\n} : block<300xi32>, block<300xi32>\n%r = sub %a, %b : block<300xi32>\n");
    text_store(&t, "r", 1, "i32", "300");
    run_well(&w, text_close(&t, "i32", "i32", "i32"), 1, (uint64_t[]){AS_ARG(x), AS_ARG(out), 0});
    for (int i = 0; i < N; i++) { /* (u, v): x 0, 0 2x, 2x x, x 3x, 3x 2x, 2x 4x */
        EXPECT_INT(out[i], 2 * x[i] - 4 * x[i]);
    }
    world_close(&w);
}

static void endless(void)
{
    World w;
    world_open(&w);
    int64_t *out = device_array(&w, NULL, 8);
    tkc_device_set_timeout(w.dev, 0.05);
    run_badly(
        &w, HEAD "while (){\n%t = const true : i1\ncondition %t\n} do () {\nyield\n}\nreturn\n}\n",
        1, (uint64_t[]){AS_ARG(out), 0}, "longer than 0.05 seconds");
    tkc_device_set_timeout(w.dev, 0);
    run_badly(&w, HEAD "%z = const 0 : i64\nfor %z, %z, %n (%i: i64) {\nyield\n}\nreturn\n}\n", 1,
              (uint64_t[]){AS_ARG(out), 0}, "the step of a loop is zero");
    world_close(&w);
}

/* ---- text ---- */

static void collect_line(const char *line, void *user)
{
    strcat(user, line);
    strcat(user, "\n");
}

static void prints(void)
{
    World w;
    world_open(&w);
    char got[1000] = "";
    tkc_device_on_print(w.dev, collect_line, got);
    int64_t *out = device_array(&w, NULL, 8);
    run_well(&w,
             HEAD "%i = arange {start = 9} : block<2xi32>\n%f = const 1.5 : fp32\nprint %i {format "
                  "= \"i\"}\nprint %f, %n {format = \" v: \", hex = 0}\n"
                  "print %n {format = \"h\", hex = 1}\nprint {format = \"here\"}\nreturn\n}\n",
             1, (uint64_t[]){AS_ARG(out), (uint64_t)-2});
    EXPECT_STR(got, "pid (0, 0, 0) idx (0) i: 9\npid (0, 0, 0) idx (1) i: 10\npid (0, 0, 0) idx () "
                    "v: (operand 0) 1.500000\n"
                    "pid (0, 0, 0) idx () v: (operand 1) -2\npid (0, 0, 0) idx () h: "
                    "0xfffffffffffffffe\npid (0, 0, 0) here\n");
    world_close(&w);
}

static void asserts(void)
{
    World w;
    world_open(&w);
    int64_t *out = device_array(&w, NULL, 8);
    const char *block = HEAD "%i = arange {start = 0} : block<20xi32>\n%k = cast %n : i32\n%b = "
                             "splat %k : block<20xi32>\n%c = lt %i, %b : block<20xi1>\n"
                             "assert %c {message = \"i is small\"}\nreturn\n}\n";
    run_well(&w, block, 3, (uint64_t[]){AS_ARG(out), 20});
    run_badly(&w, block, 3, (uint64_t[]){AS_ARG(out), 15},
              "device-side assert failed: i is small, at element (15), in program (0, 0, 0)");
    const char *scalar = HEAD "%z = program_id {axis = 0} : i32\n%k = cast %n : i32\n%c = ne %z, "
                              "%k : i1\nassert %c {message = \"\"}\nreturn\n}\n";
    run_badly(&w, scalar, 900, (uint64_t[]){AS_ARG(out), 700},
              "device-side assert failed, in program (700, 0, 0)");
    world_close(&w);
}

int main(void)
{
    RUN(reductions);
    RUN(scans);
    RUN(two_operands);
    RUN(sums_are_good);
    RUN(sorts);
    RUN(histograms);
    RUN(dots);
    RUN(dot_precision);
    RUN(dot_parts);
    RUN(moves);
    RUN(split_and_gather);
    RUN(loops);
    RUN(carried_blocks);
    RUN(endless);
    RUN(prints);
    RUN(asserts);
    return expect_done();
}
