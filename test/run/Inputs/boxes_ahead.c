/* Launches a product of several matrices whose boxes come by TMA: the maps are made of the arguments. */
#include <stdint.h>
#include <stdio.h>

#define PRODUCT_IMPLEMENTATION
#include "product.h"

enum { COUNT = 3, M = 64, N = 64, K = 64 };

int cuInit(unsigned flags);
int cuCtxCreate_v2(void **context, unsigned flags, int device);
int cuMemAlloc_v2(uint64_t *out, size_t bytes);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);

int main(void)
{
    static const uint16_t halves[COUNT] = {0x3c00, 0x4000, 0x4200}; /* 1, 2, 3 */
    static uint16_t x[COUNT][M][K], y[COUNT][K][N], z[COUNT][M][N];
    uint64_t at[3];
    void *context;
    int status;
    for (int i = 0; i < COUNT * M * K; i++) x[0][0][i] = halves[i / (M * K)];
    for (int i = 0; i < COUNT * K * N; i++) y[0][0][i] = halves[0];
    if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0)) return 1;
    if (cuMemAlloc_v2(&at[0], sizeof x) || cuMemAlloc_v2(&at[1], sizeof y) || cuMemAlloc_v2(&at[2], sizeof z) ||
        cuMemcpyHtoD_v2(at[0], x, sizeof x) || cuMemcpyHtoD_v2(at[1], y, sizeof y) || cuMemcpyHtoD_v2(at[2], z, sizeof z))
        return 1;
    status = product(NULL, COUNT, 1, 1, at[0], at[1], at[2], COUNT, M, N, K);
    if (cuMemcpyDtoH_v2(z, at[2], sizeof z)) return 1;
    printf("status %d, %04x %04x %04x\n", status, z[0][M - 1][N - 1], z[1][0][0], z[2][M - 1][N - 1]);
    return 0;
}
