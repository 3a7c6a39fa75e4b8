/* Host arrays: what -run takes as arguments, and .npy files. */
#ifndef TKC_SRC_ARRAY_H
#define TKC_SRC_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "tkc/ir.h"

#define ARRAY_MAX_RANK 8

typedef struct Array {
    DType dtype;
    int rank;
    int64_t shape[ARRAY_MAX_RANK];
    int64_t count;   /* elements */
    size_t bytes;
    void *data;      /* row-major, owned */
} Array;

/* Errors are written into why (`size` bytes) and give false; then nothing is owned. */
bool array_make(Array *a, DType dtype, int rank, const int64_t *shape, char *why, size_t size);
void array_free(Array *a);
double array_get(const Array *a, int64_t i);

/* kind:dtype[shape] with kind rand randn arange zeros ones empty; `empty` is filled with a pattern
   that shows when it was not written. */
bool array_generate(Array *a, const char *text, uint64_t seed, char *why, size_t size);
/* True when text looks like one of those. */
bool array_is_generator(const char *text);

/* A .npy file (version 1 to 3, C order, little endian). `as` other than DT_NONE takes the elements'
   bits for that type of the same width. */
bool array_load(Array *a, const char *path, DType as, char *why, size_t size);
bool array_save(const Array *a, const char *path, char *why, size_t size);

typedef struct Difference { int64_t count, where; double got, want, worst; } Difference;
/* Elements with |got - want| > atol + rtol * |want|, or a NaN on one side only. False when the
   shapes differ (count only: a flat array compares with any shape of as many elements). */
bool array_compare(const Array *got, const Array *want, double rtol, double atol, Difference *out);
/* "[4096,781]" */
void array_shape_text(const Array *a, char *text, size_t size);
/* As numpy prints it: long dimensions shortened. */
void array_print(FILE *out, const Array *a);

/* "f32", "fp32", "float32", …; DT_NONE when unknown. */
DType array_dtype(const char *name, size_t len);

#endif
