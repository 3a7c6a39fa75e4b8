/* Limits of a call: time, memory, and the wish of another thread that it end. */
#include "base/limit.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "base/arena.h"
#include "expect.h"
#include "tkc/tkc.h"

static void without_a_frame_nothing_is_limited(void)
{
    limit_poll();
    limit_take(SIZE_MAX);
    EXPECT(limit_bytes_left() == SIZE_MAX && isinf(limit_seconds_left()));
}

/* Chunks that are given back do not count, older ones neither. */
static void bytes_are_those_of_chunks(void)
{
    Arena old, a;
    UnwindFrame f;
    Limit limit = limit_start(0, 10 << 20, NULL);
    arena_init(&old);
    arena_init(&a);
    arena_alloc(&old, 8 << 20);
    unwind_push(&f);
    f.limit = &limit;
    if (setjmp(f.env) == 0) {
        for (int i = 0; i < 100; i++) {
            arena_alloc(&a, 6 << 20);
            arena_fini(&a);
        }
        EXPECT_INT(limit.bytes, 0);
        arena_fini(&old);
        EXPECT_INT(limit.bytes, 0);
        arena_alloc(&a, 6 << 20);
        EXPECT(limit_bytes_left() < 4 << 20);
        arena_alloc(&a, 6 << 20);
        EXPECT(!"reached");
    }
    unwind_pop(&f);
    EXPECT_INT(f.kind, UNWIND_BYTES);
    EXPECT_STR(f.message, "compiling takes more than the 10 MiB of memory that it may");
    arena_fini(&a);
}

static void frames_inside_have_the_limit(void)
{
    UnwindFrame outer, inner;
    Limit limit = limit_start(1e-9, 0, NULL);
    unwind_push(&outer);
    outer.limit = &limit;
    unwind_push(&inner);
    if (setjmp(inner.env) == 0) {
        limit_poll();
        EXPECT(!"reached");
    }
    unwind_pop(&inner);
    unwind_pop(&outer);
    EXPECT_INT(inner.kind, UNWIND_SECONDS);
    EXPECT_STR(inner.message, "compiling takes more than the 1e-09 seconds that it may");
}

static const char endless[] = "import triton\nimport triton.language as tl\n"
                              "@triton.jit\ndef k(x: '*fp32'):\n"
                              "    v = tl.load(x)\n"
                              "    for i in tl.static_range(10000):\n"
                              "        for j in tl.static_range(10000):\n"
                              "            v = v + j\n"
                              "    tl.store(x, v)\n";
static const char small[] = "import triton\nimport triton.language as tl\n"
                            "@triton.jit\ndef k(x: '*fp32'):\n    tl.store(x, 1.0)\n";

static TkcStatus compile(TkcContext *cx, const char *text, double max_seconds, int64_t max_memory)
{
    TkcSource *source;
    TkcArtifact *a = NULL;
    TkcOptions o;
    tkc_options_init(&o);
    o.max_steps = o.max_ops = o.max_length = INT64_C(1) << 40;
    o.max_seconds = max_seconds;
    o.max_memory = max_memory;
    TkcStatus status = tkc_source_from_text(cx, "k", text, strlen(text), TKC_LANGUAGE_TK, &source);
    if (status == TKC_OK) {
        status = tkc_compile(source, &o, TKC_EMIT_PTX, &a);
        tkc_source_free(source);
    }
    tkc_artifact_free(a);
    return status;
}

static void limits_of_a_compilation(void)
{
    TkcContext *cx = tkc_context_new();
    EXPECT_INT(compile(cx, endless, 0.05, -1), TKC_ERROR);
    EXPECT_STR(tkc_last_error(cx), "error: compiling takes more than the 0.05 seconds that it may\n");
    EXPECT_INT(compile(cx, endless, -1, 20 << 20), TKC_ERROR);
    EXPECT_STR(tkc_last_error(cx), "error: compiling takes more than the 20 MiB of memory that it may\n");
    EXPECT_INT(compile(cx, small, 0, 0), TKC_OK);
    EXPECT_INT(compile(cx, small, -1, -1), TKC_OK);
    tkc_context_free(cx);
}

static void *cancel_soon(void *cx)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    tkc_context_cancel(cx, true);
    return NULL;
}

static void another_thread_cancels(void)
{
    TkcContext *cx = tkc_context_new();
    pthread_t t;
    EXPECT_INT(pthread_create(&t, NULL, cancel_soon, cx), 0);
    EXPECT_INT(compile(cx, endless, -1, -1), TKC_CANCELLED);
    pthread_join(t, NULL);
    EXPECT_STR(tkc_last_error(cx), "error: compiling was cancelled\n");
    EXPECT_INT(compile(cx, small, 0, 0), TKC_CANCELLED);
    tkc_context_cancel(cx, false);
    EXPECT_INT(compile(cx, small, 0, 0), TKC_OK);
    EXPECT_STR(tkc_status_text(TKC_CANCELLED), "cancelled");
    tkc_context_cancel(NULL, true);
    tkc_context_free(cx);
}

int main(void)
{
    RUN(without_a_frame_nothing_is_limited);
    RUN(bytes_are_those_of_chunks);
    RUN(frames_inside_have_the_limit);
    RUN(limits_of_a_compilation);
    RUN(another_thread_cancels);
    return expect_done();
}
