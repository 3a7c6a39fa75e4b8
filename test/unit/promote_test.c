/* The promotion rules against tables written out from the language's description. */
#include "spec/promote.h"

#include <math.h>

#include "expect.h"
#include "ir/type.h"

enum { N = 15 };
static const char *const names[N] = {"i1",  "i8",   "i16",  "i32", "i64",  "u8",  "u16", "u32",
                                     "u64", "f8e4", "f8e5", "f16", "bf16", "f32", "f64"};

/* Rows and columns in the order of names; "-" has no common type. */
static const char *const sums[N][N] = {
    {"i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "-", "-", "f16", "f32", "f32",
     "f64"},
    {"i8", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "-", "-", "f16", "f32", "f32",
     "f64"},
    {"i16", "i16", "i16", "i32", "i64", "i16", "u16", "u32", "u64", "-", "-", "f16", "f32", "f32",
     "f64"},
    {"i32", "i32", "i32", "i32", "i64", "i32", "i32", "u32", "u64", "-", "-", "f16", "f32", "f32",
     "f64"},
    {"i64", "i64", "i64", "i64", "i64", "i64", "i64", "i64", "u64", "-", "-", "f16", "f32", "f32",
     "f64"},
    {"u8", "u8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "-", "-", "f16", "f32", "f32",
     "f64"},
    {"u16", "u16", "u16", "i32", "i64", "u16", "u16", "u32", "u64", "-", "-", "f16", "f32", "f32",
     "f64"},
    {"u32", "u32", "u32", "u32", "i64", "u32", "u32", "u32", "u64", "-", "-", "f16", "f32", "f32",
     "f64"},
    {"u64", "u64", "u64", "u64", "u64", "u64", "u64", "u64", "u64", "-", "-", "f16", "f32", "f32",
     "f64"},
    {"-", "-", "-", "-", "-", "-", "-", "-", "-", "f8e4", "f16", "f16", "f32", "f32", "f64"},
    {"-", "-", "-", "-", "-", "-", "-", "-", "-", "f16", "f8e5", "f16", "f32", "f32", "f64"},
    {"f16", "f16", "f16", "f16", "f16", "f16", "f16", "f16", "f16", "f16", "f16", "f16", "f16",
     "f32", "f64"},
    {"f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f16", "bf16",
     "f32", "f64"},
    {"f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32",
     "f32", "f64"},
    {"f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64",
     "f64", "f64"},
};

static DType dtype(const char *name)
{
    return strcmp(name, "-") == 0 ? DT_NONE : dtype_find(name, strlen(name));
}

static void expect_dtype(const char *what, const char *x, const char *y, DType got, DType wanted)
{
    if (got == wanted) return;
    expect_failed(__FILE__, __LINE__, what);
    printf("    %s with %s gave %s, wanted %s\n", x, y, dtype_info(got)->name,
           dtype_info(wanted)->name);
}

static void every_pair(void)
{
    PromoteFault fault;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            DType got = promote_pair(dtype(names[i]), dtype(names[j]), false, &fault);
            expect_dtype("sum", names[i], names[j], got, dtype(sums[i][j]));
            EXPECT((got == DT_NONE) == (fault == PROMOTE_FP8_INT));
        }
    }
}

static bool is_f8(const char *name)
{
    return strncmp(name, "f8", 2) == 0;
}

/* Division differs for integers of mixed signs, of which int1 has none, and where the result would
   be a half, but for two fp8. */
static void every_pair_divided(void)
{
    PromoteFault fault;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            bool integers = i < 9 && j < 9,
                 mixed = integers && i && j && (names[i][0] == 'u') != (names[j][0] == 'u');
            const char *sum = sums[i][j];
            bool half = (strcmp(sum, "f16") == 0 || strcmp(sum, "bf16") == 0) &&
                        !(is_f8(names[i]) && is_f8(names[j]));
            DType got = promote_pair(dtype(names[i]), dtype(names[j]), true, &fault);
            expect_dtype("quotient", names[i], names[j], got,
                         dtype(mixed  ? "-"
                               : half ? "f32"
                                      : sum));
            EXPECT(!mixed || fault == PROMOTE_SIGNS);
        }
    }
}

static void constants_by_size(void)
{
    __int128 one = 1;
    EXPECT_INT(promote_dtype_of(sv_bool(true)), DT_I1);
    EXPECT_INT(promote_dtype_of(sv_int(0)), DT_I32);
    EXPECT_INT(promote_dtype_of(sv_int((one << 31) - 1)), DT_I32);
    EXPECT_INT(promote_dtype_of(sv_int(-(one << 31))), DT_I32);
    EXPECT_INT(promote_dtype_of(sv_int(one << 31)), DT_U32);
    EXPECT_INT(promote_dtype_of(sv_int((one << 32) - 1)), DT_U32);
    EXPECT_INT(promote_dtype_of(sv_int(one << 32)), DT_I64);
    EXPECT_INT(promote_dtype_of(sv_int(-(one << 31) - 1)), DT_I64);
    EXPECT_INT(promote_dtype_of(sv_int(-(one << 63))), DT_I64);
    EXPECT_INT(promote_dtype_of(sv_int(one << 63)), DT_U64);
    EXPECT_INT(promote_dtype_of(sv_int((one << 64) - 1)), DT_U64);
    EXPECT_INT(promote_dtype_of(sv_int(one << 64)), DT_NONE);
    EXPECT_INT(promote_dtype_of(sv_int(-(one << 63) - 1)), DT_NONE);
    EXPECT_INT(promote_dtype_of(sv_float(0.5)), DT_F32);
    EXPECT_INT(promote_dtype_of(sv_float(-0.0)), DT_F32);
    EXPECT_INT(promote_dtype_of(sv_float(INFINITY)), DT_F32);
    EXPECT_INT(promote_dtype_of(sv_float(NAN)), DT_F32);
    EXPECT_INT(promote_dtype_of(sv_float(0x1p-126)), DT_F32);
    EXPECT_INT(promote_dtype_of(sv_float(0x1p-127)), DT_F64);
    EXPECT_INT(promote_dtype_of(sv_float(0x1.fffffep127)), DT_F32);
    EXPECT_INT(promote_dtype_of(sv_float(1e39)), DT_F64);
}

static DType with(const char *tensor, SpecValue number, bool division, PromoteFault *fault)
{
    return promote_constant(dtype(tensor), number, division, fault);
}

/* A constant of no higher kind takes the tensor's type; of a higher kind it promotes as its own
   smallest type. */
static void constants_adopt(void)
{
    PromoteFault fault;
    for (int i = 0; i < N; i++) {
        bool is_float = i >= 9, is_bool = i == 0;
        DType own = dtype(names[i]);
        expect_dtype("with True", names[i], "True", with(names[i], sv_bool(true), false, &fault),
                     own);
        expect_dtype("with 5", names[i], "5", with(names[i], sv_int(5), false, &fault),
                     is_bool ? DT_I32 : own);
        expect_dtype("with 0.5", names[i], "0.5", with(names[i], sv_float(0.5), false, &fault),
                     is_float ? own : DT_F32);
        expect_dtype("with 1e300", names[i], "1e300",
                     with(names[i], sv_float(1e300), false, &fault), is_float ? own : DT_F64);
    }
    EXPECT_INT(with("f16", sv_int(2), true, &fault), DT_F32);
    EXPECT_INT(with("bf16", sv_float(2), true, &fault), DT_F32);
    EXPECT_INT(with("f32", sv_float(1e-50), true, &fault), DT_F32);
    EXPECT_INT(with("u8", sv_int(3), true, &fault), DT_U8);
}

static void constants_out_of_range(void)
{
    __int128 one = 1;
    static const struct {
        const char *name;
        bool is_signed;
        int bits;
    } ints[] = {
        {"i8", true, 8},  {"i16", true, 16},  {"i32", true, 32},  {"i64", true, 64},
        {"u8", false, 8}, {"u16", false, 16}, {"u32", false, 32}, {"u64", false, 64},
    };
    PromoteFault fault;
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        __int128 low = ints[i].is_signed ? -(one << (ints[i].bits - 1)) : 0;
        __int128 high = (one << (ints[i].bits - ints[i].is_signed)) - 1;
        EXPECT_INT(with(ints[i].name, sv_int(low), false, &fault), dtype(ints[i].name));
        EXPECT_INT(with(ints[i].name, sv_int(high), false, &fault), dtype(ints[i].name));
        EXPECT_INT(with(ints[i].name, sv_int(high + 1), false, &fault), DT_NONE);
        EXPECT_INT(fault, PROMOTE_RANGE);
        EXPECT_INT(with(ints[i].name, sv_int(low - 1), false, &fault), DT_NONE);
        EXPECT_INT(fault, ints[i].is_signed ? PROMOTE_RANGE : PROMOTE_NEGATIVE);
    }
    EXPECT_INT(with("i1", sv_int(one << 64), false, &fault), DT_NONE);
    EXPECT_INT(fault, PROMOTE_TOO_WIDE);
    EXPECT_INT(with("f16", sv_int(one << 100), false, &fault), DT_F16);
}

int main(void)
{
    RUN(every_pair);
    RUN(every_pair_divided);
    RUN(constants_by_size);
    RUN(constants_adopt);
    RUN(constants_out_of_range);
    return expect_done();
}
