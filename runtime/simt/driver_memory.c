/* Memory of the driver: the host's, counted and bounded. Copies wait for what was given before. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

static Memory *memory(void)
{
    return driver_state()->memory;
}

/* Whether all of the bytes are in one allocation. */
static bool is_inside(CuPointer at, size_t bytes)
{
    uint64_t begin, end;
    return memory_find(memory(), at, &begin, &end) && bytes <= end - at;
}

CuResult DRIVER(cuMemAlloc_v2)(CuPointer *pointer, size_t bytes)
{
    BEGIN(cuMemAlloc_v2);
    if (!pointer || !bytes) return SIMT_INVALID_VALUE;
    code = driver_no_capture(driver_current());
    if (code != SIMT_OK) return code;
    uint64_t p = memory_alloc(memory(), bytes);
    if (!p) return SIMT_OUT_OF_MEMORY;
    driver_trace("cuMemAlloc %zu", bytes);
    *pointer = p;
    return SIMT_OK;
}

CuResult DRIVER(cuMemFree_v2)(CuPointer pointer)
{
    size_t bytes;
    BEGIN(cuMemFree_v2);
    if (!pointer) return SIMT_OK;
    code = driver_wait(driver_current());
    if (!memory_release(memory(), pointer, &bytes)) return SIMT_INVALID_VALUE;
    driver_trace("cuMemFree %zu", bytes);
    return code;
}

CuResult DRIVER(cuMemAllocHost_v2)(void **pointer, size_t bytes)
{
    BEGIN(cuMemAllocHost_v2);
    *pointer = malloc(bytes ? bytes : 1);
    return *pointer ? SIMT_OK : SIMT_OUT_OF_MEMORY;
}

CuResult DRIVER(cuMemFreeHost)(void *pointer)
{
    BEGIN(cuMemFreeHost);
    free(pointer);
    return SIMT_OK;
}

CuResult DRIVER(cuMemGetInfo_v2)(size_t *left, size_t *all)
{
    BEGIN(cuMemGetInfo_v2);
    *left = *all = (size_t)16 << 30;
    return SIMT_OK;
}

CuResult DRIVER(cuMemGetAddressRange_v2)(CuPointer *begin, size_t *bytes, CuPointer pointer)
{
    uint64_t first, end;
    BEGIN(cuMemGetAddressRange_v2);
    if (!memory_find(memory(), pointer, &first, &end)) return SIMT_NOT_FOUND;
    if (begin) *begin = first;
    if (bytes) *bytes = (size_t)(end - first);
    return SIMT_OK;
}

/* ---- copies ---- */

static int wait_for_copy(CuPointer a, size_t bytes)
{
    int code = driver_wait(driver_current());
    if (code != SIMT_OK) return code;
    return !bytes || is_inside(a, bytes) ? SIMT_OK : SIMT_INVALID_VALUE;
}

/* One side, at least, is the device's. */
static int copy(const char *call, CuPointer device, void *to, const void *from, size_t bytes)
{
    int code = wait_for_copy(device, bytes);
    if (code != SIMT_OK) return code;
    driver_trace("%s %zu", call, bytes);
    if (bytes) memmove(to, from, bytes);
    return SIMT_OK;
}

CuResult DRIVER(cuMemcpyHtoD_v2)(CuPointer to, const void *from, size_t bytes)
{
    BEGIN(cuMemcpyHtoD_v2);
    return copy("cuMemcpyHtoD", to, (void *)(uintptr_t)to, from, bytes);
}

CuResult DRIVER(cuMemcpyDtoH_v2)(void *to, CuPointer from, size_t bytes)
{
    BEGIN(cuMemcpyDtoH_v2);
    return copy("cuMemcpyDtoH", from, to, (const void *)(uintptr_t)from, bytes);
}

CuResult DRIVER(cuMemcpyDtoD_v2)(CuPointer to, CuPointer from, size_t bytes)
{
    BEGIN(cuMemcpyDtoD_v2);
    if (bytes && !is_inside(to, bytes)) return SIMT_INVALID_VALUE;
    return copy("cuMemcpyDtoD", from, (void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
}

/* n values of `size` bytes. */
static int set(CuPointer to, const void *value, size_t size, size_t n)
{
    if (n > SIZE_MAX / size || to % size) return SIMT_INVALID_VALUE;
    int code = wait_for_copy(to, n * size);
    for (size_t i = 0; code == SIMT_OK && i < n; i++)
        memcpy((char *)(uintptr_t)to + i * size, value, size);
    return code;
}

#define SET(symbol, T)                                                                             \
    CuResult DRIVER(symbol)(CuPointer to, T value, size_t n)                                       \
    {                                                                                              \
        BEGIN(symbol);                                                                             \
        return set(to, &value, sizeof value, n);                                                   \
    }
SET(cuMemsetD8_v2, unsigned char)
SET(cuMemsetD16_v2, unsigned short)
SET(cuMemsetD32_v2, unsigned)

/* ---- on a stream ---- */

CuResult DRIVER(cuMemsetD8Async)(CuPointer to, unsigned char value, size_t n, CuStream stream)
{
    (void)stream;
    driver_trace("cuMemsetD8Async %zu", n);
    return DRIVER(cuMemsetD8_v2)(to, value, n);
}

#define CU(name, symbol, params)
#define CU_AT_ONCE(name, symbol, now, params, args)                                                \
    CuResult DRIVER(symbol) params                                                                 \
    {                                                                                              \
        (void)stream;                                                                              \
        return DRIVER(now) args;                                                                   \
    }
#include "driver.def"
