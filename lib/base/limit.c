#include "base/limit.h"

#include <math.h>
#include <stdint.h>

#include "base/unwind.h"
#include "tkc/clock.h"

Limit limit_start(double max_seconds, size_t max_bytes, const atomic_bool *cancelled)
{
    return (Limit){.max_seconds = max_seconds,
                   .max_bytes = max_bytes,
                   .cancelled = cancelled,
                   .started = clock_seconds()};
}

void limit_poll(void)
{
    const Limit *l = unwind_limit();
    if (!l) return;
    if (l->cancelled && atomic_load_explicit(l->cancelled, memory_order_relaxed))
        unwind_raise_as(UNWIND_CANCELLED, "compiling was cancelled");
    if (l->max_seconds > 0 && clock_seconds() - l->started > l->max_seconds)
        unwind_raise_as(UNWIND_SECONDS, "compiling takes more than the %g seconds that it may",
                        l->max_seconds);
}

void limit_take(size_t bytes)
{
    Limit *l = unwind_limit();
    if (!l) return;
    limit_poll(); /* a loop that goes on and on most often takes memory */
    if (l->max_bytes && (bytes > l->max_bytes || l->bytes > l->max_bytes - bytes))
        unwind_raise_as(UNWIND_BYTES, "compiling takes more than the %.0f MiB of memory that it may",
                        (double)l->max_bytes / (1 << 20));
    l->bytes += bytes;
}

/* A chunk may be older than the call. */
void limit_give_back(size_t bytes)
{
    Limit *l = unwind_limit();
    if (l) l->bytes -= bytes < l->bytes ? bytes : l->bytes;
}

double limit_seconds_left(void)
{
    const Limit *l = unwind_limit();
    return l && l->max_seconds > 0 ? l->max_seconds - (clock_seconds() - l->started) : INFINITY;
}

size_t limit_bytes_left(void)
{
    const Limit *l = unwind_limit();
    return l && l->max_bytes ? l->max_bytes - l->bytes : SIZE_MAX;
}
