/* The stack of frames is per thread: the only mutable static data of the library, because LLVM's
   fatal error handler and a failing allocation have no context argument to find their frame by. */
#include "base/unwind.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local UnwindFrame *innermost;

void unwind_push(UnwindFrame *frame)
{
    frame->outer = innermost;
    frame->message[0] = '\0';
    innermost = frame;
}

void unwind_pop(UnwindFrame *frame)
{
    innermost = frame->outer;
}

_Noreturn void unwind_raise(const char *fmt, ...)
{
    if (!innermost) abort();
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(innermost->message, sizeof innermost->message, fmt, ap);
    va_end(ap);
    longjmp(innermost->env, 1);
}
