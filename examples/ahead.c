/* Kernels compiled when the program is built: neither tkc nor its library is there when it runs.
 *
 *     tkc vector_add.tk -sig "n=i32:16|any" -arch=sm_80,sm_90a -entry "add_256: -DBLOCK=256" \
 *         -entry "add_1024: -DBLOCK=1024" -o adders.h
 *     cc ahead.c -lcuda -ldl -lpthread -o ahead && ./ahead
 *
 * adders.h has two functions, each with the kernel's code for both targets, once for lengths that
 * are multiples of 16 and once for any; a call picks. */
#include <stdio.h>
#include <stdlib.h>

#define ADDERS_IMPLEMENTATION /* in one file of the program */
#include "adders.h"

/* What a program with the CUDA toolkit has from <cuda.h>. */
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(CUcontext *context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxSetCurrent(CUcontext context);
int cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes);
int cuMemFree_v2(CUdeviceptr pointer);
int cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);

enum { N = 98432, BYTES = N * sizeof(float) };

static void check(int status, const char *what)
{
    if (!status) return;
    fprintf(stderr, "%s: status %d\n", what, status);
    exit(1);
}

/* z = x + y for n elements; how many are right. */
static int count_right(CUdeviceptr x, CUdeviceptr y, CUdeviceptr z, float *host, int n, int block)
{
    const unsigned programs = (unsigned)((n + block - 1) / block);
    int right = 0;
    check(block == 256 ? add_256(NULL, programs, 1, 1, x, y, z, n)
                       : add_1024(NULL, programs, 1, 1, x, y, z, n),
          "add");
    check(cuMemcpyDtoH_v2(host, z, BYTES), "cuMemcpyDtoH");
    for (int i = 0; i < n; i++) right += host[i] == 3.0F * (float)(i % 1000);
    return right;
}

int main(void)
{
    static float host[N];
    CUcontext context;
    CUdeviceptr x, y, z;
    check(cuInit(0), "cuInit");
    check(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(cuMemAlloc_v2(&x, BYTES), "cuMemAlloc");
    check(cuMemAlloc_v2(&y, BYTES), "cuMemAlloc");
    check(cuMemAlloc_v2(&z, BYTES), "cuMemAlloc");
    for (int i = 0; i < N; i++) host[i] = (float)(i % 1000);
    check(cuMemcpyHtoD_v2(x, host, BYTES), "cuMemcpyHtoD");
    for (int i = 0; i < N; i++) host[i] = 2.0F * (float)(i % 1000);
    check(cuMemcpyHtoD_v2(y, host, BYTES), "cuMemcpyHtoD");
    check(add_1024_load(), "add_1024_load"); /* or at the first launch */
    printf("%d of %d are right, by blocks of 1024\n", count_right(x, y, z, host, N, 1024), N);
    printf("%d of 1000 are right, by blocks of 256\n", count_right(x, y, z, host, 1000, 256));
    printf("an address that is no multiple of 16: status %d\n",
           add_256(NULL, 1, 1, 1, x + 4, y, z, 4));
    check(cuMemFree_v2(x) | cuMemFree_v2(y) | cuMemFree_v2(z), "cuMemFree");
    check(cuDevicePrimaryCtxRelease_v2(0), "cuDevicePrimaryCtxRelease");
    return 0;
}
