/* A stack of the library's own, for work that recurses: how deep an input may nest then does not
   depend on the thread that a host happens to call from. */
#ifndef TKC_BASE_OWN_STACK_H
#define TKC_BASE_OWN_STACK_H

#include <stdbool.h>

typedef struct OwnStack OwnStack;

/* Calls work(arg) on a new stack and returns when it has returned; *current is that stack meanwhile,
   and what it was afterwards. False: there is no memory for one, and nothing was called. What is
   raised (unwind.h) inside has to be caught inside. */
bool own_stack_run(OwnStack **current, void (*work)(void *arg), void *arg);

/* From inside: calls fn(arg) on the stack that own_stack_run was called on, and goes on here. For
   functions of the host, some of whose languages know their stack's bounds. *current NULL: calls
   it. fn must return. */
void own_stack_call_out(OwnStack **current, void (*fn)(void *arg), void *arg);

#endif
