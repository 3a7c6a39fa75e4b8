/* Linear algebra over F2. A matrix is an array of columns, each a bit pattern of up to 32 rows. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define F2_MAX 64
typedef struct F2Matrix { int cols; uint32_t col[F2_MAX]; } F2Matrix;

uint32_t f2_sum(const uint32_t *vec, uint64_t x); /* XOR of the vectors at the set bits of x */
static inline uint32_t f2_apply(const F2Matrix *m, uint64_t x) { return f2_sum(m->col, x); }
int f2_rank(const F2Matrix *m);
/* Basis of the kernel into out[], returns its dimension. */
int f2_kernel(const F2Matrix *m, uint64_t *out);
/* Solves m(x) = y with free bits 0. */
bool f2_solve(const F2Matrix *m, uint32_t y, uint64_t *x);

/* A subspace that grows. Each vector put in is remembered as a combination of those accepted
   before, so any member can be written in them. A vector is free when those before it already
   span it. */
typedef struct F2Space {
    int dim;            /* vectors accepted */
    uint32_t vec[32];   /* the accepted vectors, as they were put in */
    uint32_t echelon[32];
    uint32_t combo[32]; /* echelon[i] is the XOR of vec[j] over the bits j of combo[i] */
} F2Space;

/* True when v was not yet a member. */
bool f2_space_add(F2Space *s, uint32_t v);
/* Of n vectors; returns how many were not yet members. */
int f2_space_add_all(F2Space *s, int n, const uint32_t *v);
bool f2_space_has(const F2Space *s, uint32_t v);
/* Writes v as the XOR of vec[j] over the bits j of *combo; false when v is no member. */
bool f2_space_solve(const F2Space *s, uint32_t v, uint32_t *combo);
/* The members that are in both spaces. */
void f2_space_intersect(F2Space *out, const F2Space *a, const F2Space *b);
