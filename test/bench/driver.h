/* The driver's calls, for programs that call it beside tkc or without it. */
#ifndef TKC_TEST_DRIVER_H
#define TKC_TEST_DRIVER_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda_api.h"

#define CU(name, symbol, params) static CuResult (*driver_##name) params;
#include "device/cuda_api.def"
#undef CU

static inline void driver_open(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "there is no driver: %s\n", dlerror());
        exit(1);
    }
#define CU(name, symbol, params)                                                                   \
    {                                                                                              \
        void *at = dlsym(library, #symbol);                                                        \
        memcpy((void *)&driver_##name, &at, sizeof at);                                            \
    }
#include "device/cuda_api.def"
#undef CU
}

static inline void driver_must(CuResult result, const char *call)
{
    if (result == CU_OK) return;
    fprintf(stderr, "%s gives %d\n", call, result);
    exit(1);
}
#define DRIVER_MUST(call, ...) driver_must(driver_##call(__VA_ARGS__), "cu" #call)

#endif
