// Fills 64 numbers and adds to them, by kernels of two headers.
#include <cstdio>

#include "fill-it.h"
#include "plus.h"

extern "C" {
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(unsigned long long *pointer, size_t bytes);
int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes);
}

int main()
{
    void *context;
    unsigned long long x;
    float back[64];
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) || cuMemAlloc_v2(&x, sizeof back)) return 1;
    const int filled = fill(nullptr, 1, 1, 1, x), added = plus(nullptr, 1, 1, 1, x, 0.5f);
    if (cuMemcpyDtoH_v2(back, x, sizeof back)) return 1;
    std::printf("%d %d: %g %g\n", filled, added, back[0], back[63]);
}
