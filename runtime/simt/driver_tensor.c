/* Tensor maps, as the host makes them. What is wrong with one is said; the driver itself gives the
   code only. */
#include <stdio.h>

#include "driver.h"
#include "tensormap.h"

enum { LEAST_CHIP = 90, MAP_ALIGNMENT = 64 };

static int tell(const char *symbol, TensorVerdict verdict, const char *why)
{
    char text[160];
    if (verdict == TENSOR_VALID) return SIMT_OK;
    snprintf(text, sizeof text, "%s: %s", symbol, why);
    driver_say(text);
    return verdict == TENSOR_INVALID ? SIMT_INVALID_VALUE : SIMT_NOT_SUPPORTED;
}

static int begin(const char *symbol)
{
    const int code = driver_begin(symbol, true);
    if (code != SIMT_OK || driver_chip(driver_current()->device) >= LEAST_CHIP) return code;
    return tell(symbol, TENSOR_NOT_EMULATED, "tensor maps need sm_90");
}

CuResult DRIVER(cuTensorMapEncodeTiled)(TensorMap *map, int type, uint32_t rank, void *address,
                                        const uint64_t *dim, const uint64_t *stride,
                                        const uint32_t *box, const uint32_t *element_stride,
                                        int interleave, int swizzle, int promotion, int fill)
{
    const char *symbol = "cuTensorMapEncodeTiled", *why;
    const int code = begin(symbol);
    if (code != SIMT_OK) return code;
    if (!map || !dim || !box || !element_stride || (rank > 1 && !stride)) return SIMT_INVALID_VALUE;
    const TensorTiled from = {.type = type, .rank = rank, .address = (uintptr_t)address, .dim = dim,
                              .stride = stride, .box = box, .element_stride = element_stride,
                              .interleave = interleave, .swizzle = swizzle,
                              .promotion = promotion, .fill = fill};
    const TensorVerdict verdict = simt_tensor_map_encode(map, &from, &why);
    return tell(symbol, verdict, why);
}

CuResult DRIVER(cuTensorMapReplaceAddress)(TensorMap *map, void *address)
{
    const char *symbol = "cuTensorMapReplaceAddress", *why;
    const int code = begin(symbol);
    if (code != SIMT_OK) return code;
    if (!map || (uintptr_t)map % MAP_ALIGNMENT) return SIMT_INVALID_VALUE;
    TensorMap changed = *map;
    changed.address = (uintptr_t)address;
    const TensorVerdict verdict = simt_tensor_map_check(&changed, &why);
    if (verdict == TENSOR_VALID) *map = changed;
    return tell(symbol, verdict, why);
}
