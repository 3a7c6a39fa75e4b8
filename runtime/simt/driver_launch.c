/* cuLaunchKernelEx: a launch with attributes. Those that mean nothing here, or what is so anyway, are
   taken: grids run one after the other, and programs that wait for one another get their turn. */
#include <stdio.h>

#include "driver.h"

_Static_assert(sizeof(CuLaunchAttribute) == 72 && sizeof(CuLaunchConfig) == 56, "as in cuda.h");

enum {
    ATTRIBUTE_IGNORE = 0,
    ATTRIBUTE_COOPERATIVE = 2,
    ATTRIBUTE_CLUSTER_DIMENSION = 4,
    ATTRIBUTE_STREAM_SERIALIZATION = 6
};

static int refuse(int attribute, const char *why)
{
    char text[128];
    snprintf(text, sizeof text, "cuLaunchKernelEx: attribute %d %s", attribute, why);
    driver_say(text);
    return SIMT_NOT_SUPPORTED;
}

static int check_attribute(const CuLaunchAttribute *a)
{
    const uint32_t *cluster = a->value;
    switch (a->id) {
    case ATTRIBUTE_IGNORE:
    case ATTRIBUTE_COOPERATIVE:
    case ATTRIBUTE_STREAM_SERIALIZATION: return SIMT_OK;
    case ATTRIBUTE_CLUSTER_DIMENSION:
        if (!cluster[0] || !cluster[1] || !cluster[2]) return SIMT_INVALID_VALUE;
        if (cluster[0] == 1 && cluster[1] == 1 && cluster[2] == 1) return SIMT_OK;
        return refuse(a->id, "asks for clusters of several programs, which are not emulated");
    default: return refuse(a->id, "is not emulated");
    }
}

CuResult DRIVER(cuLaunchKernelEx)(const CuLaunchConfig *config, CuFunction function, void **params,
                                  void **extra)
{
    BEGIN(cuLaunchKernelEx);
    if (!config || (config->count && !config->attributes)) return SIMT_INVALID_VALUE;
    for (unsigned i = 0; i < config->count; i++) {
        code = check_attribute(&config->attributes[i]);
        if (code != SIMT_OK) return code;
    }
    const unsigned *grid = config->grid, *block = config->block;
    return DRIVER(cuLaunchKernel)(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                  config->shared, config->stream, params, extra);
}
