/* A launch with the kernel of the last one looks at less of its arguments than others do, and does the same: the same random
   launches, once one after the other, once with another kernel's between each two. */
#include <stdio.h>
#include <string.h>

#include "expect.h"
#include "tkc/runtime.h"

static const char text[] = "import triton\nimport triton.language as tl\n"
                           "@triton.jit\n"
                           "def keep(p: '*i64', q, a, b: 'i8', c: 'u8', d: 'i1', e: 'u64', f: 'fp32', g: 'i64', h, C: tl.constexpr):\n"
                           "    tl.store(p, a)\n"
                           "    tl.store(p + 1, b)\n"
                           "    tl.store(p + 2, c)\n"
                           "    tl.store(p + 3, d)\n"
                           "    tl.store(p + 4, e.to(tl.int64))\n"
                           "    tl.store(p + 5, (f * 2).to(tl.int64))\n"
                           "    tl.store(p + 6, g)\n"
                           "    tl.store(p + 7, h)\n"
                           "    tl.store(p + 8, C)\n"
                           "    tl.store(q, p.to(tl.int64))\n";

enum { ARGS = 11, WORDS = 10, BYTES = 128, ROUNDS = 3000 };

static TkcContext *cx;
static TkcDevice *dev;
static TkcJit *jit;
static TkcSource *source;
static TkcPtr memory;
static uint32_t state = 1;

static uint32_t below(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

static const int64_t odd[] = {0, 1, 2, 15, 16, 17, 32, -1, -16, -128, -129, 127, 128, 240, 255, 256, INT32_MAX, INT32_MIN,
                              INT64_C(1) << 31, -(INT64_C(1) << 32), INT64_C(1) << 40, INT64_MIN, INT64_MAX, 7, 7, 48, 48};

static TkcArg integer(void)
{
    static const char *const types[] = {"u64", "u64", "i64", "i8", "x"};
    TkcArg a = tkc_int(odd[below(sizeof odd / sizeof *odd)]);
    if (!below(3)) a.type = types[below(5)];
    if (!below(4)) a.bytes = below(2) ? TKC_ANY_INT : TKC_ANY_INT_BUT_ONE;
    return a;
}

static TkcArg any_of(int i)
{
    static const char *const values[] = {"1", "2", "12"};
    const uint64_t at = WORDS * 8 + 8 * below(4);
    switch (i) {
    case 0: return tkc_pointer(below(4) ? NULL : "*i64", memory, BYTES);
    case 1: return tkc_pointer(below(8) ? "*i64" : "*fp32", memory + at, BYTES - at);
    case 7: return below(3) ? tkc_float(0.5 * below(9)) : integer();
    case 10: return tkc_constexpr(values[below(3)]);
    default: return below(40) ? integer() : tkc_float(3);
    }
}

/* What is stored, in order; cleared before. */
static TkcStatus launch(const TkcArg *args, int64_t out[BYTES / 8])
{
    memset(out, 0x55, BYTES);
    EXPECT_INT(tkc_copy_in(dev, memory, out, BYTES), TKC_OK);
    TkcStatus status = tkc_launch(jit, (int64_t[]){1, 1, 1}, NULL, args, ARGS);
    EXPECT_INT(tkc_copy_out(dev, out, memory, BYTES), TKC_OK);
    return status;
}

static uint64_t compiles(void)
{
    TkcCacheStats s = {.size = sizeof s};
    tkc_jit_stats(jit, &s);
    return s.compiles;
}

/* In what is stored, whether it is refused, and which kernel it is: apart, none is missing. */
static void same_as_apart(void)
{
    TkcArg args[ARGS], between[ARGS];
    int64_t now[BYTES / 8], then[BYTES / 8];
    int launched = 0, refused = 0;
    for (int i = 0; i < ARGS; i++) args[i] = i == 7 ? tkc_float(1) : i > 1 && i < 10 ? tkc_int(i == 5 ? 0 : 3) : any_of(i);
    args[1].type = "*i64";
    memcpy(between, args, sizeof args);
    between[10] = tkc_constexpr("99");
    EXPECT_INT(launch(args, now), TKC_OK);
    for (int round = 0; round < ROUNDS; round++) {
        TkcArg next[ARGS];
        memcpy(next, args, sizeof args);
        for (uint32_t n = below(3); n; n--) {
            const int i = (int)below(ARGS);
            next[i] = any_of(i);
        }
        const TkcStatus again = launch(next, now);
        EXPECT_INT(launch(between, then), TKC_OK);
        const uint64_t compiled = compiles();
        EXPECT_INT(launch(next, then), again);
        EXPECT_INT(compiles(), compiled);
        EXPECT(!memcmp(now, then, sizeof now));
        launched += again == TKC_OK, refused += again != TKC_OK;
        if (again == TKC_OK) memcpy(args, next, sizeof args);
        else EXPECT_INT(launch(args, now), TKC_OK);
    }
    EXPECT(launched > ROUNDS / 4 && refused > ROUNDS / 10);
}

/* Where 1 alone has code of its own, it does not run another number's. */
static void one_is_another(void)
{
    TkcArg args[ARGS];
    int64_t out[BYTES / 8];
    for (int i = 0; i < ARGS; i++) args[i] = i == 7 ? tkc_float(1) : i > 1 && i < 10 ? tkc_int(0) : any_of(i);
    args[1].type = "*i64";
    args[9] = tkc_int(3), args[9].bytes = TKC_ANY_INT_BUT_ONE;
    tkc_jit_clear(jit);
    const uint64_t before = compiles();
    EXPECT_INT(launch(args, out), TKC_OK);
    args[9].integer = 32;
    EXPECT_INT(launch(args, out), TKC_OK);
    EXPECT_INT(compiles() - before, 1);
    args[9].integer = 1;
    EXPECT_INT(launch(args, out), TKC_OK);
    EXPECT_INT(compiles() - before, 2);
}

/* A count that is not the kernel's is refused also where all that are given fit. */
static void too_few_or_many(void)
{
    TkcArg args[ARGS + 1];
    int64_t out[BYTES / 8];
    for (int i = 0; i <= ARGS; i++) args[i] = i == 7 ? tkc_float(1) : i > 1 && i < 10 ? tkc_int(0) : any_of(i);
    args[1].type = "*i64";
    args[ARGS] = tkc_int(0);
    EXPECT_INT(launch(args, out), TKC_OK);
    EXPECT_INT(tkc_launch(jit, (int64_t[]){1, 1, 1}, NULL, args, ARGS - 1), TKC_ERROR);
    EXPECT_INT(tkc_launch(jit, (int64_t[]){1, 1, 1}, NULL, args, ARGS + 1), TKC_ERROR);
}

/* What the options say an argument is a multiple of is asked of each launch. */
static void declared_multiple(void)
{
    TkcArg args[ARGS];
    TkcOptions options;
    TkcJit *any = jit;
    int64_t out[BYTES / 8];
    tkc_options_init(&options);
    options.signature = "h=i32:8";
    EXPECT_INT(tkc_jit_new(dev, source, &options, &jit), TKC_OK);
    for (int i = 0; i < ARGS; i++) args[i] = i == 7 ? tkc_float(1) : i > 1 && i < 10 ? tkc_int(0) : any_of(i);
    args[1].type = "*i64";
    for (int i = 0; i < 3; i++) {
        args[9] = tkc_int(8 + 16 * i), args[9].bytes = i == 2 ? TKC_ANY_INT : 0;
        EXPECT_INT(launch(args, out), TKC_OK);
        args[9].integer += 4;
        EXPECT_INT(launch(args, out), TKC_ERROR);
    }
    tkc_jit_free(jit);
    jit = any;
}

int main(void)
{
    TkcOptions options;
    cx = tkc_context_new();
    tkc_options_init(&options);
    EXPECT_INT(tkc_device_open(cx, "cpu", 0, &dev), TKC_OK);
    EXPECT_INT(tkc_source_from_text(cx, "keep.tk", text, strlen(text), TKC_LANGUAGE_TK, &source), TKC_OK);
    EXPECT_INT(tkc_jit_new(dev, source, &options, &jit), TKC_OK);
    EXPECT_INT(tkc_alloc(dev, BYTES, &memory), TKC_OK);
    RUN(same_as_apart);
    RUN(one_is_another);
    RUN(too_few_or_many);
    RUN(declared_multiple);
    tkc_jit_free(jit);
    tkc_source_free(source);
    tkc_free(dev, memory);
    tkc_device_free(dev);
    tkc_context_free(cx);
    return expect_done();
}
