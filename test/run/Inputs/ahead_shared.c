/* Loads a kernel that needs more than 48 KB of shared memory. */
#include <stdio.h>

#define PRODUCT_IMPLEMENTATION
#include "product.h"

int cuInit(unsigned flags);
int cuCtxCreate_v2(void **context, unsigned flags, int device);

int main(void)
{
    void *context;
    if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0)) return 1;
    printf("loaded: status %d\n", product_load());
    return 0;
}
