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

typedef struct Meeting {
    pthread_barrier_t both;
    UnwindFrame frame;
} Meeting;

/* Raises while the other thread's frame is open, and leaves its own open while the other raises. */
static void *raise_in_thread(void *arg)
{
    Meeting *m = arg;
    unwind_push(&m->frame);
    if (setjmp(m->frame.env) == 0) {
        pthread_barrier_wait(&m->both);
        pthread_barrier_wait(&m->both);
        unwind_raise("in a thread");
    }
    unwind_pop(&m->frame);
    return NULL;
}

static void threads_have_own_frames(void)
{
    Meeting m;
    UnwindFrame here;
    pthread_t thread;
    pthread_barrier_init(&m.both, NULL, 2);
    EXPECT_INT(pthread_create(&thread, NULL, raise_in_thread, &m), 0);
    unwind_push(&here);
    if (setjmp(here.env) == 0) {
        pthread_barrier_wait(&m.both);
        unwind_raise("here");
    }
    pthread_barrier_wait(&m.both);
    pthread_join(thread, NULL);
    unwind_pop(&here);
    pthread_barrier_destroy(&m.both);
    EXPECT_STR(here.message, "here");
    EXPECT_STR(m.frame.message, "in a thread");
}

int main(void)
{
    RUN(innermost_frame_catches);
    RUN(long_messages_are_cut);
    RUN(check_passes_or_raises);
    RUN(threads_have_own_frames);
    return expect_done();
}
