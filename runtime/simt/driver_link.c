/* The driver's linker: of texts of PTX. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

struct CuLinkObject {
    int chip;
    bool is_common; /* a target without the instructions that only its chip has */
    SimtImage *image;
    size_t bytes;
};

CuResult DRIVER(cuLinkCreate_v2)(unsigned count, CuJitOption *options, void **values, CuLink *link)
{
    BEGIN(cuLinkCreate_v2);
    CuLink l = calloc(1, sizeof *l);
    if (!l) return SIMT_OUT_OF_MEMORY;
    l->chip = driver_chip(driver_current()->device);
    for (unsigned i = 0; i < count; i++) {
        if (options[i] != CU_JIT_FOR_TARGET) continue;
        l->chip = (int)(uintptr_t)values[i] & ~CU_ACCELERATED;
        l->is_common = !((uintptr_t)values[i] & CU_ACCELERATED);
    }
    *link = l;
    return SIMT_OK;
}

/* ".target sm_90a": for its chip alone. */
static bool is_own(const char *ptx)
{
    const char *target = strstr(ptx, ".target sm_");
    target += target ? strlen(".target sm_") : 0;
    return target && target[strspn(target, "0123456789")] == 'a';
}

CuResult DRIVER(cuLinkAddData_v2)(CuLink link, CuJitInput type, void *data, size_t bytes,
                                  const char *name, unsigned count, CuJitOption *options, void **values)
{
    BEGIN(cuLinkAddData_v2);
    (void)name, (void)count, (void)options, (void)values;
    if (type != CU_LINK_PTX) return SIMT_NOT_SUPPORTED;
    if (!bytes || ((char *)data)[bytes - 1]) return SIMT_INVALID_VALUE;
    if (link->is_common && is_own(data)) return SIMT_INVALID_PTX;
    const size_t used = link->image ? link->bytes : sizeof *link->image;
    SimtImage *image = realloc(link->image, used + bytes);
    if (!image) return SIMT_OUT_OF_MEMORY;
    if (!link->image) *image = (SimtImage){.chip = link->chip};
    memcpy(image->magic, SIMT_IMAGE, sizeof image->magic);
    memcpy((char *)image + used, data, bytes);
    image->texts++;
    link->image = image;
    link->bytes = used + bytes;
    return SIMT_OK;
}

CuResult DRIVER(cuLinkComplete)(CuLink link, void **image, size_t *bytes)
{
    BEGIN(cuLinkComplete);
    if (!link->image) return SIMT_INVALID_VALUE;
    *image = link->image;
    *bytes = link->bytes;
    driver_trace("cuLinkComplete sm_%d", link->chip);
    return SIMT_OK;
}

CuResult DRIVER(cuLinkDestroy)(CuLink link)
{
    free(link->image);
    free(link);
    return SIMT_OK;
}
