/* Host arrays: what -run takes as arguments, and .npy files. */
#pragma once

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
    bool *unwritten; /* of each element: nothing ever wrote it; NULL: all are written */
} Array;

/* Errors are written into why (`size` bytes) and give false; then nothing is owned. */
#define array_refuse(why, size, ...) (snprintf(why, size, __VA_ARGS__), false)
bool array_make(Array *a, DType dtype, int rank, const int64_t *shape, char *why, size_t size);
void array_free(Array *a);
double array_get(const Array *a, int64_t i);
/* Integers are extended to 64 bits by their sign. */
uint64_t array_bits(const Array *a, int64_t i);

/* Elements in runs of at most ARRAY_RUN. */
enum { ARRAY_RUN = 1024 };
void array_read(const Array *a, int64_t from, int n, double *out);
/* Numbers, rounded, and kept inside an integer's range, as the language casts. */
void array_write(Array *a, int64_t from, int n, const double *in);

/* The kinds there are; their number. */
size_t array_kinds(const char **names, size_t most);
/* kind:dtype[shape] with kind rand randn arange zeros ones empty; `empty` is filled with a pattern
   that shows when it was not written. The same seed gives the same bits on every machine. */
bool array_generate(Array *a, const char *text, uint64_t seed, char *why, size_t size);
/* True when text looks like one of those. */
bool array_is_generator(const char *text);

/* A .npy file (version 1 to 3, C order, little endian). `as` other than DT_NONE takes the elements'
   bits for that type of the same width. */
bool array_load(Array *a, const char *path, DType as, char *why, size_t size);
bool array_save(const Array *a, const char *path, char *why, size_t size);

typedef struct Tolerance { double rtol, atol; } Tolerance;
/* What comparing an array of this type allows unless told otherwise. */
Tolerance array_tolerance(DType got, DType want);
typedef struct Difference {
    int64_t count, unwritten;  /* elements that differ; those of them that nothing wrote */
    int64_t where;             /* the first that differs */
    bool is_unwritten;         /* that one */
    double got, want;          /* there */
    double worst;              /* the largest |got - want| of written elements */
    int64_t worst_at;          /* -1: all are equal */
} Difference;
/* Elements with |got - want| > atol + rtol * |want|, or a NaN on one side only, or that nothing
   wrote. A flat array compares with any shape of as many elements; false: the shapes differ. */
bool array_compare(const Array *got, const Array *want, Tolerance t, Difference *out);

/* "[4096,781]" */
void array_shape_text(const Array *a, char *text, size_t size);
/* Element i of the row-major order: "[3,17]". */
void array_index_text(const Array *a, int64_t i, char *text, size_t size);

/* Elements of an array that are an array themselves; offset and strides in elements. */
typedef struct View {
    int64_t offset;
    int rank;
    int64_t shape[ARRAY_MAX_RANK], stride[ARRAY_MAX_RANK];
} View;
/* The elements that "[0:4,::2]" selects, as in Python; "": all of them. */
bool array_view(const Array *a, const char *text, View *out, char *why, size_t size);
/* As numpy prints it; long dimensions shortened unless `whole`. What nothing wrote is "--". */
void array_print(FILE *out, const Array *a, const View *v, bool whole);

/* "f32", "fp32", "float32", …; DT_NONE when unknown. */
DType array_dtype(const char *name, size_t len);
/* numpy has no such type: bf16, fp8. */
bool array_is_foreign(DType d);
