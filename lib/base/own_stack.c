/* Two contexts of one thread that switch to each other: the caller's, which waits in
   own_stack_run, and the work's. The work switches back when it has ended, or to have a function
   of the host called.

   Below the stack lies a page that must not be touched: running past the end is a fault, not a
   silent overwrite. Memory is taken from the system page by page as it is used; a stack is kept from
   call to call, since most of the time a call takes would be for that, with what a usual call
   touches and no more.

   Under AddressSanitizer, which warns of such switches on standard error, the work stays on the
   caller's stack; ThreadSanitizer has to be told of each. */
#include "base/own_stack.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

/* What a main thread has by default; lib/spec bounds its recursion by less than half of it. */
enum { STACK_BYTES = 8 << 20, USUAL_BYTES = 512 << 10 };

struct OwnStack {
    ucontext_t caller, own;
    char *memory; /* the page that must not be touched, then the stack */
    size_t page;
    void (*work)(void *arg);
    void *arg;
    void (*out)(void *arg); /* asked for by the work; NULL: it has ended */
    void *out_arg;
    void *caller_fiber, *own_fiber; /* ThreadSanitizer's */
};

/* ---- switching ---- */

static void switch_in(OwnStack *s)
{
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(s->own_fiber, 0);
#endif
    swapcontext(&s->caller, &s->own);
}

static void switch_out(OwnStack *s)
{
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(s->caller_fiber, 0);
#endif
    swapcontext(&s->own, &s->caller);
}

/* A context starts with numbers of int's size: the pointer comes in two. */
static void begin(unsigned low, unsigned high)
{
    OwnStack *s = (OwnStack *)((uintptr_t)high << 32 | low);
    s->work(s->arg);
    s->out = NULL;
    switch_out(s);
}

/* ---- a stack ---- */

static char *map_memory(size_t page)
{
    char *memory = mmap(NULL, page + STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    if (!mprotect(memory, page, PROT_NONE)) return memory;
    munmap(memory, page + STACK_BYTES);
    return NULL;
}

static bool take_memory(OwnStack *s, OwnStacks *stacks)
{
    s->page = (size_t)sysconf(_SC_PAGESIZE);
    s->memory = stacks->spare ? stacks->spare : map_memory(s->page);
    stacks->spare = NULL;
    return s->memory != NULL;
}

static void give_memory(OwnStack *s, OwnStacks *stacks)
{
    if (stacks->spare) { /* a call inside a call */
        munmap(s->memory, s->page + STACK_BYTES);
        return;
    }
    madvise(s->memory + s->page, STACK_BYTES - USUAL_BYTES, MADV_DONTNEED);
    stacks->spare = s->memory;
}

static bool open_stack(OwnStack *s, OwnStacks *stacks)
{
    if (getcontext(&s->own) || !take_memory(s, stacks)) return false;
    s->own.uc_stack.ss_sp = s->memory + s->page;
    s->own.uc_stack.ss_size = STACK_BYTES;
    s->own.uc_link = NULL;
    makecontext(&s->own, (void (*)(void))begin, 2, (unsigned)(uintptr_t)s,
                (unsigned)((uintptr_t)s >> 32));
#if defined(__SANITIZE_THREAD__)
    s->caller_fiber = __tsan_get_current_fiber();
    s->own_fiber = __tsan_create_fiber(0);
#endif
    return true;
}

static void close_stack(OwnStack *s, OwnStacks *stacks)
{
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(s->own_fiber);
#endif
    give_memory(s, stacks);
}

#if defined(__SANITIZE_ADDRESS__)

bool own_stack_run(OwnStacks *stacks, void (*work)(void *arg), void *arg)
{
    (void)open_stack, (void)close_stack, (void)switch_in, (void)stacks;
    work(arg);
    return true;
}

#else

bool own_stack_run(OwnStacks *stacks, void (*work)(void *arg), void *arg)
{
    OwnStack s = {.work = work, .arg = arg}, *outer = stacks->current;
    if (!open_stack(&s, stacks)) return false;
    stacks->current = &s;
    for (switch_in(&s); s.out; switch_in(&s)) {
        stacks->current = outer;
        s.out(s.out_arg);
        stacks->current = &s;
    }
    stacks->current = outer;
    close_stack(&s, stacks);
    return true;
}

#endif

void own_stack_call_out(OwnStacks *stacks, void (*fn)(void *arg), void *arg)
{
    OwnStack *s = stacks->current;
    if (!s) {
        fn(arg);
        return;
    }
    s->out = fn;
    s->out_arg = arg;
    switch_out(s);
}

void own_stack_free(OwnStacks *stacks)
{
    if (stacks->spare) munmap(stacks->spare, (size_t)sysconf(_SC_PAGESIZE) + STACK_BYTES);
    stacks->spare = NULL;
}
