/* Frames nest, messages arrive (cut when too long), threads have their own stack of frames. */
#include "base/unwind.h"

#include <pthread.h>

#include "expect.h"

static void innermost_frame_catches(void)
{
    UnwindFrame outer, inner;
    volatile int reached = 0;
    unwind_push(&outer);
    if (setjmp(outer.env) == 0) {
        unwind_push(&inner);
        if (setjmp(inner.env) == 0) unwind_raise("first %d", 1);
        else reached = 1;
        unwind_pop(&inner);
        EXPECT_STR(inner.message, "first 1");
        unwind_raise("second");
    }
    unwind_pop(&outer);
    EXPECT_INT(reached, 1);
    EXPECT_STR(outer.message, "second");
}

static void long_messages_are_cut(void)
{
    UnwindFrame f;
    unwind_push(&f);
    if (setjmp(f.env) == 0) unwind_raise("%01000d", 7);
    unwind_pop(&f);
    EXPECT_INT(strlen(f.message), sizeof f.message - 1);
}

static void check_passes_or_raises(void)
{
    check(1 + 1 == 2, "never");
    EXPECT_RAISE(check(1 > 2, "value %%%d", 3), "value %3");
}

static void *raise_in_thread(void *arg)
{
    UnwindFrame *f = arg;
    unwind_push(f);
    if (setjmp(f->env) == 0) unwind_raise("in a thread");
    unwind_pop(f);
    return NULL;
}

static void threads_have_own_frames(void)
{
    UnwindFrame here, there;
    pthread_t thread;
    unwind_push(&here);
    EXPECT_INT(pthread_create(&thread, NULL, raise_in_thread, &there), 0);
    pthread_join(thread, NULL);
    unwind_pop(&here);
    EXPECT_STR(there.message, "in a thread");
    EXPECT_STR(here.message, "");
}

int main(void)
{
    RUN(innermost_frame_catches);
    RUN(long_messages_are_cut);
    RUN(check_passes_or_raises);
    RUN(threads_have_own_frames);
    return expect_done();
}
