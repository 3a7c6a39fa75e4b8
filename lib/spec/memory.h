/* Building loads and stores, for the operations, block pointers, descriptors and subscripts alike.
 */
#pragma once

#include "spec/builtin.h"

typedef struct Access {
    Value *pointer;
    Value *mask;       /* int1 in the pointer's shape, or NULL */
    const char *cache; /* NULL: default */
    const char *eviction;
    bool is_volatile;
} Access;

/* Whether a pointer comes from a parameter under tl.const. */
bool memory_is_const(const Spec *sp, const Value *pointer);
/* Whether two values of one type may be one: not a pointer under tl.const and one that is not. */
bool memory_is_alike(const Spec *sp, const Value *x, const Value *y);
/* It may be stored through. False after an error. */
bool memory_takes_stores(Spec *sp, const Value *pointer, Span at);
/* `other` has the pointee's type in the pointer's shape, or is NULL. */
Value *memory_load(Spec *sp, const Access *a, Value *other);
/* Casts to the pointee type, broadcasts to the pointer's shape and stores. False after an error. */
bool memory_store(Spec *sp, const Access *a, SpecValue value, Span at);
/* A value cast to the pointee type in the shape of the pointers' type. NULL after an error. */
Value *memory_operand(Spec *sp, const Type *pointer, SpecValue value, const char *what, Span at);
/* The same of argument i. */
Value *memory_arg(Spec *sp, const Call *c, int i, const Type *pointer);
/* Argument i as a mask in the pointer's shape; NULL in *mask for none (None, True). False after an error. */
bool memory_mask(Spec *sp, const Call *c, int i, const Value *pointer, Value **mask);
/* The call's read-modify-write, by its name, works on such elements. False after an error. */
bool atomic_takes(Spec *sp, const Call *c, const Type *elem);
