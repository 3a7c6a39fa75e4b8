/* Growing arrays in an arena. VEC(T) declares the type; the macros need only the three fields. */
#pragma once

#include "base/arena.h"

#define VEC(T) struct { T *data; int len, cap; }

/* Makes room for one more and returns nothing; `v` is a pointer to a VEC. */
#define vec_push(a, v, item)                                                                       \
    ((v)->len == (v)->cap                                                                          \
         ? ((v)->data = vec_grow((a), (v)->data, (v)->len, &(v)->cap, sizeof *(v)->data))          \
         : (v)->data,                                                                              \
     (v)->data[(v)->len++] = (item))

/* Implementation of vec_push: a copy with at least one free slot. */
void *vec_grow(Arena *a, void *data, int len, int *cap, size_t elem_size);
