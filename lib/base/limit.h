/* What one call of the API may take, in time and memory, and whether somebody wants it to end.
   It belongs to the thread's frame (unwind.h): arenas and loops deep inside have no other way to
   it, as with memory that runs out. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>

typedef struct Limit {
    double max_seconds;           /* 0: any */
    size_t max_bytes;             /* of arenas, and what LLVM is expected to take; 0: any */
    const atomic_bool *cancelled; /* another thread's wish; NULL: nobody has one */
    double started;               /* on the monotonic clock, in seconds */
    size_t bytes;                 /* of the arenas' chunks, made since then and still there */
} Limit;

/* Starts the clock. */
Limit limit_start(double max_seconds, size_t max_bytes, const atomic_bool *cancelled);

/* Below, the thread's innermost frame says whose limits count; without any, nothing happens. */

/* Raises UNWIND_SECONDS or UNWIND_CANCELLED when that is so. It looks at the clock: a loop calls it
   every some thousand rounds. */
void limit_poll(void);
/* A chunk of memory is about to be made: polls, and raises UNWIND_BYTES when it is too much. */
void limit_take(size_t bytes);
void limit_give_back(size_t bytes);
/* What is left of them; infinite, SIZE_MAX without a limit. */
double limit_seconds_left(void);
size_t limit_bytes_left(void);
