/* Leaving a compilation that cannot go on: our own bug, no memory, or LLVM's fatal error.
   The API entry points open a frame; everything below may raise. Arenas make the jump leak-free. */
#ifndef TKC_BASE_UNWIND_H
#define TKC_BASE_UNWIND_H

#include <setjmp.h>

/* One frame an API entry. The thread's frames form a stack; raise jumps to the innermost. */
typedef struct UnwindFrame UnwindFrame;
struct UnwindFrame {
    jmp_buf env;
    UnwindFrame *outer;
    char message[512]; /* why, after a raise */
};

/* Use: unwind_push(&f); if (setjmp(f.env) == 0) { work } else { f.message says why };
   unwind_pop(&f); */
void unwind_push(UnwindFrame *frame);
void unwind_pop(UnwindFrame *frame);

/* Records the message in the innermost frame and jumps there. Without a frame the message is lost
   and the thread spins in abort(): every public entry point must therefore push a frame. */
_Noreturn void unwind_raise(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* An invariant of the compiler that holds for every input. `assert` is for debug builds and local
   facts. */
#define check(cond, ...) ((cond) ? (void)0 : unwind_raise(__VA_ARGS__))

#endif
