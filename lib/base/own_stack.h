/* A stack of the library's own, for work that recurses: how deep an input may nest then does not
   depend on the thread that a host happens to call from. */
#pragma once

#include <stdbool.h>

typedef struct OwnStack OwnStack;
/* Of one caller: the stack in use, and one that is kept for the next call. All zero at first. */
typedef struct OwnStacks {
    OwnStack *current;
    void *spare;
} OwnStacks;

/* Calls work(arg) on a stack of its own and returns when it has returned. False: there is no memory
   for one, and nothing was called. What is raised (unwind.h) inside has to be caught inside. */
bool own_stack_run(OwnStacks *stacks, void (*work)(void *arg), void *arg);

/* From inside: calls fn(arg) on the stack that own_stack_run was called on, and goes on here. For
   functions of the host, some of whose languages know their stack's bounds. From outside: calls it.
   fn must return. */
void own_stack_call_out(OwnStacks *stacks, void (*fn)(void *arg), void *arg);

/* When none is in use any more. */
void own_stack_free(OwnStacks *stacks);
