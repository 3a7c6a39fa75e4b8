/* The stack of frames is per thread: the only mutable static data of the library, because LLVM's
   fatal error handler and a failing allocation have no context argument to find their frame by. */
#include "base/unwind.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local UnwindFrame *innermost;

struct Limit *unwind_limit(void)
{
    return innermost ? innermost->limit : NULL;
}

void unwind_push(UnwindFrame *frame)
{
    frame->outer = innermost;
    frame->limit = unwind_limit();
    frame->message[0] = '\0';
    innermost = frame;
}

void unwind_pop(UnwindFrame *frame)
{
    innermost = frame->outer;
}

_Noreturn void unwind_raise_again(const UnwindFrame *caught)
{
    unwind_raise_as(caught->kind, "%s", caught->message);
}

_Noreturn void unwind_raise_as(UnwindKind kind, const char *fmt, ...)
{
    if (!innermost) abort();
    innermost->kind = kind;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(innermost->message, sizeof innermost->message, fmt, ap);
    va_end(ap);
    longjmp(innermost->env, 1);
}
