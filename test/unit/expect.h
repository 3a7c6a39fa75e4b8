/* What a unit test is made of: cases that run in order, expectations that say where they failed.

       static void adds(void) { EXPECT(1 + 1 == 2); }
       int main(void) { RUN(adds); return expect_done(); }                                       */
#ifndef TKC_TEST_EXPECT_H
#define TKC_TEST_EXPECT_H

#include <stdio.h>
#include <string.h>
#include "base/unwind.h"

static int expect_failures;

#define EXPECT(cond) ((cond) ? (void)0 : expect_failed(__FILE__, __LINE__, #cond))
#define EXPECT_STR(got, wanted) expect_str(__FILE__, __LINE__, (got), (wanted))
#define EXPECT_INT(got, wanted) expect_int(__FILE__, __LINE__, #got, (long long)(got), (long long)(wanted))
/* The call must raise, with a message that contains `part`. */
#define EXPECT_RAISE(call, part) \
    do { \
        UnwindFrame frame; \
        unwind_push(&frame); \
        if (setjmp(frame.env) == 0) { \
            call; \
            expect_failed(__FILE__, __LINE__, "raises: " #call); \
        } else if (!strstr(frame.message, part)) { \
            expect_str(__FILE__, __LINE__, frame.message, part); \
        } \
        unwind_pop(&frame); \
    } while (0)
#define RUN(test_case) (printf("%s\n", #test_case), test_case())

static inline void expect_failed(const char *file, int line, const char *what)
{
    expect_failures++;
    printf("%s:%d: failed: %s\n", file, line, what);
}

static inline void expect_str(const char *file, int line, const char *got, const char *wanted)
{
    if (got && wanted && strcmp(got, wanted) == 0) return;
    if (!got && !wanted) return;
    expect_failed(file, line, "texts differ");
    printf("--- got\n%s\n--- wanted\n%s\n---\n", got ? got : "(NULL)", wanted ? wanted : "(NULL)");
}

static inline void expect_int(const char *file, int line, const char *what, long long got, long long wanted)
{
    if (got == wanted) return;
    expect_failed(file, line, what);
    printf("    got %lld, wanted %lld\n", got, wanted);
}

/* The exit status of the program. */
static inline int expect_done(void)
{
    if (expect_failures) printf("%d failed\n", expect_failures);
    else printf("all passed\n");
    return expect_failures ? 1 : 0;
}

#endif
