/* The names of one function while it is specialized. */
#pragma once

#include "spec/value.h"

typedef enum BindState {
    BIND_NONE,     /* never assigned on this path */
    BIND_SET,
    BIND_MAYBE,    /* assigned on some paths only: `where` is one, reading it is an error */
    BIND_CONFLICT  /* values that cannot be merged, from `where` and `other` */
} BindState;

typedef struct Binding {
    Str name;
    BindState state;
    bool is_fresh;   /* assigned since the innermost loop began (scope_watch) */
    SpecValue value;
    Span where;      /* the assignment */
    Span other;      /* CONFLICT: the other one */
    const char *why; /* MAYBE, CONFLICT: the sentence for the message */
    const char *advice; /* CONFLICT: what to write instead, or NULL */
} Binding;

/* Bindings keep their index for good; leaving a path restores their contents. */
typedef struct Scope Scope;
struct Scope {
    Arena *arena;
    Scope *outer;        /* a lambda's or comprehension's surroundings, or NULL */
    Binding *data;
    bool *read_early;    /* per binding: read in a loop before the loop assigned it */
    int len, cap;
    Map index;           /* name -> its number */
};

typedef struct ScopeCopy { Binding *data; bool *read_early; int len; } ScopeCopy;

Scope *scope_new(Arena *a, Scope *outer);
/* In this scope alone; NULL when the name was never seen. */
Binding *scope_find(Scope *s, Str name);
/* Where a read of the name ends up: this scope or one around it. */
Binding *scope_lookup(Scope *s, Str name);
void scope_set(Scope *s, Str name, SpecValue v, Span where);
/* Makes a place for the name without assigning it. */
int scope_declare(Scope *s, Str name);

ScopeCopy scope_save(const Scope *s);
/* Bindings made since are BIND_NONE; reads stay noticed. */
void scope_restore(Scope *s, const ScopeCopy *copy);
/* Begins to notice reads that come before assignments (in a loop's body). */
void scope_watch(Scope *s);
