/* What a jit holds has a bound: of more keys than that, those launched longest ago are compiled again. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "expect.h"
#include "tkc/runtime.h"

static const char text[] = "import triton\nimport triton.language as tl\n"
                           "@triton.jit\n"
                           "def fill(x: '*fp32', C: tl.constexpr):\n"
                           "    tl.store(x, C)\n";

static TkcContext *cx;
static TkcDevice *dev;
static TkcJit *jit;
static TkcPtr x;

static void launch(int key)
{
    char value[16];
    float got;
    snprintf(value, sizeof value, "%d", key);
    TkcArg args[] = {tkc_pointer(NULL, x, 4), tkc_constexpr(value)};
    EXPECT_INT(tkc_launch(jit, (int64_t[]){1, 1, 1}, NULL, args, 2), TKC_OK);
    EXPECT_INT(tkc_copy_out(dev, &got, x, 4), TKC_OK);
    EXPECT(got == (float)key);
}

static uint64_t compiles(void)
{
    TkcCacheStats s = {.size = sizeof s};
    tkc_jit_stats(jit, &s);
    return s.compiles;
}

/* Compiled since `before`. */
static void expect_new(uint64_t before, uint64_t n)
{
    EXPECT_INT(compiles() - before, n);
}

static void goes_by_use(void)
{
    uint64_t before = compiles();
    tkc_jit_set_limit(jit, 3);
    launch(1), launch(2), launch(3);
    launch(1); /* 2 is now the one used longest ago */
    launch(4);
    expect_new(before, 4);
    launch(1), launch(3), launch(4);
    expect_new(before, 4);
    launch(2); /* instead of 1 */
    expect_new(before, 5);
    launch(3), launch(4), launch(2);
    expect_new(before, 5);
    launch(1);
    expect_new(before, 6);
}

static void clears(void)
{
    tkc_jit_set_limit(jit, 100);
    for (int i = 0; i < 50; i++)
        launch(i);
    uint64_t before = compiles();
    for (int i = 0; i < 50; i++)
        launch(i);
    expect_new(before, 0);
    tkc_jit_clear(jit);
    tkc_jit_clear(jit);
    for (int i = 0; i < 50; i++)
        launch(i);
    expect_new(before, 50);
    tkc_jit_set_limit(jit, 1); /* fewer than there are */
    launch(49);
    expect_new(before, 50);
    launch(48), launch(49);
    expect_new(before, 52);
}

/* Keys without end: the default bound is one, too. */
static void many(void)
{
    tkc_jit_set_limit(jit, 0);
    tkc_jit_clear(jit);
    uint64_t before = compiles();
    for (int i = 0; i < 1100; i++)
        launch(i);
    launch(1099), launch(1099 - 1023);
    expect_new(before, 1100);
    launch(0);
    expect_new(before, 1101);
}

/* Of what a compilation took little is held: of this kernel less than a first chunk of an arena. */
static void small(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    enum { KEYS = 200, MOST_BYTES = 20 << 10 };
    tkc_jit_clear(jit);
    launch(0);
    size_t before = mallinfo2().uordblks;
    for (int i = 1; i <= KEYS; i++)
        launch(i);
    size_t each = (mallinfo2().uordblks - before) / KEYS;
    if (each > MOST_BYTES)
        printf("a key takes %zu bytes\n", each);
    EXPECT(each <= MOST_BYTES);
#endif
}

int main(void)
{
    TkcOptions o;
    TkcSource *source;
    tkc_options_init(&o);
    cx = tkc_context_new();
    EXPECT_INT(tkc_source_from_text(cx, "f.tk", text, strlen(text), TKC_LANGUAGE_TK, &source), TKC_OK);
    EXPECT_INT(tkc_device_open(cx, "cpu", 0, &dev), TKC_OK);
    EXPECT_INT(tkc_jit_new(dev, source, &o, &jit), TKC_OK);
    EXPECT_INT(tkc_alloc(dev, 4, &x), TKC_OK);
    RUN(goes_by_use);
    RUN(clears);
    RUN(many);
    RUN(small);
    tkc_jit_free(jit);
    tkc_source_free(source);
    tkc_device_free(dev);
    tkc_context_free(cx);
    return expect_done();
}
