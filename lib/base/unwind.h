/* Leaving a compilation that cannot go on: our own bug, no memory, a limit, or LLVM's fatal error.
   The API entry points open a frame; everything below may raise. Arenas make the jump leak-free. */
#pragma once

#include <setjmp.h>

struct Limit; /* limit.h */

/* Why. */
typedef enum UnwindKind {
    UNWIND_BUG,
    UNWIND_LLVM,      /* LLVM's fatal error: its own frames were passed, its context is lost */
    UNWIND_NO_MEMORY, /* the system has none */
    UNWIND_SECONDS,   /* limits of the call */
    UNWIND_BYTES,
    UNWIND_CANCELLED
} UnwindKind;

/* One frame an API entry. The thread's frames form a stack; raise jumps to the innermost. */
typedef struct UnwindFrame UnwindFrame;
struct UnwindFrame {
    jmp_buf env;
    UnwindFrame *outer;
    struct Limit *limit; /* the outer frame's, unless the owner sets another; NULL: none */
    UnwindKind kind;     /* after a raise */
    char message[512];   /* why, after a raise */
};

/* Use: unwind_push(&f); if (setjmp(f.env) == 0) { work } else { f.message says why };
   unwind_pop(&f); */
void unwind_push(UnwindFrame *frame);
void unwind_pop(UnwindFrame *frame);

/* Records kind and message in the innermost frame and jumps there. Without a frame the message is
   lost and the thread spins in abort(): every public entry point must therefore push a frame. */
_Noreturn void unwind_raise_as(UnwindKind kind, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Raises what a frame inside has caught, after that is popped. */
_Noreturn void unwind_raise_again(const UnwindFrame *caught);
/* A bug. */
#define unwind_raise(...) unwind_raise_as(UNWIND_BUG, __VA_ARGS__)
/* The innermost frame's; NULL without one. */
struct Limit *unwind_limit(void);

/* An invariant of the compiler that holds for every input. `assert` is for debug builds and local
   facts. */
#define check(cond, ...) ((cond) ? (void)0 : unwind_raise(__VA_ARGS__))
