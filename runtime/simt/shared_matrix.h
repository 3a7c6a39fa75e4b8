/* A matrix operand in shared memory, as wgmma's 64-bit descriptors describe it. */
#ifndef TKC_RUNTIME_SIMT_SHARED_MATRIX_H
#define TKC_RUNTIME_SIMT_SHARED_MATRIX_H

#include "simt/matrix.h"

/* Byte distances; what `leading` and `stride` separate depends on the layout: shared_matrix.c. */
typedef struct SharedMatrix {
    uint32_t start, leading, stride;
    int span;      /* of the swizzle in bytes: 32, 64, 128; 0: none */
    int phase;     /* rows of 128 bytes before the swizzle's pattern begins: the base offset */
    bool mn_major; /* neighbours along m (or n) are neighbours in memory, not those along k */
} SharedMatrix;

SharedMatrix simt_shared_matrix(uint64_t descriptor, bool mn_major);

/* Shared memory and who is told of each read; read may be NULL. */
typedef struct SharedBytes {
    const uint8_t *bytes;
    size_t size;
    void (*read)(void *user, uint32_t at, uint32_t size);
    void *user;
} SharedBytes;

/* The eight rows 8 group … 8 group + 7 of a, or columns of b, each 256 bits along k: the element of
   row r and place l along k goes to out[r * row_step + l * k_step]. False: the 16 bytes at *fault
   are not in shared memory. mn_major is for elements of 16 bits. */
bool simt_shared_matrix_load(const SharedMatrix *m, const SharedBytes *shared, MatrixType type,
                             int group, double *out, int row_step, int k_step, uint32_t *fault);

#endif
