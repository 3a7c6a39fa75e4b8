/* What the files of device `cuda` share. */
#pragma once

#include "cuda_api.h"
#include "device.h"

typedef struct Cuda {
    CudaApi api;
    CuDevice device;
    _Atomic(CuContext) context; /* the caller's; else the primary one, once something needs it: making it
                                   takes long */
    bool owns_primary;
    int max_shared;
} Cuda;

/* A CUtensorMap. */
typedef struct CuTensorMap {
    _Alignas(64) uint64_t words[16];
} CuTensorMap;

struct DeviceKernel {
    CuModule module;
    CuFunction function;
    unsigned threads, shared;
    int nparams, registers, spill_bytes;
    const struct Manifest *manifest;
    const char **pointers; /* by parameter, the name of one that is a pointer; else NULL */
};

#define CALL(cuda, dev, name, ...)                                                                 \
    cuda_check((dev)->cx, &(cuda)->api, (cuda)->api.name(__VA_ARGS__), "cu" #name)

/* Makes our context current; *pushed says whether leave must undo it. */
TkcStatus cuda_enter(TkcDevice *dev, Cuda *c, bool *pushed);
void cuda_leave(Cuda *c, bool pushed);
/* Enters where that can be done: a context that is broken was told of, or is when it is used. */
bool cuda_enter_quietly(TkcDevice *dev, bool *pushed);

/* A function that is one call of the driver, with our context current. */
#define CALL_INSIDE(function, params, name, ...)                                                   \
    static TkcStatus function params                                                               \
    {                                                                                              \
        bool pushed;                                                                               \
        TkcStatus status = cuda_enter(dev, dev->state, &pushed);                                   \
        if (status == TKC_OK) status = CALL((Cuda *)dev->state, dev, name, __VA_ARGS__);           \
        cuda_leave(dev->state, pushed);                                                            \
        return status;                                                                             \
    }

/* Those of a launch, each as the kernel says. Our context is current. cuda_tensor_map.c */
TkcStatus cuda_tensor_maps(TkcDevice *dev, const DeviceKernel *k, const LaunchPack *pack,
                           CuTensorMap *out);
/* The kernel of the code, in our context, which is current. cuda_module.c */
TkcStatus cuda_load_module(TkcDevice *dev, const DeviceCode *code, DeviceKernel *k);
TkcStatus cuda_assemble(TkcDevice *dev, const char *const *ptx, size_t n, const char *arch,
                        DeviceImage *out);
/* cuda_facts.c */
void cuda_facts(TkcDevice *dev, TkcDeviceInfo *out);
void cuda_info(TkcDevice *dev, const DeviceKernel *kernel, TkcKernelInfo *out);
bool cuda_captures(TkcDevice *dev, void *stream);
