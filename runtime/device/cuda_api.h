/* NVIDIA's driver API, loaded at run time: neither building nor starting needs it. */
#pragma once

#include <stdint.h>
#include "tkc/tkc.h"

typedef int CuDevice;
typedef uint64_t CuPointer;
typedef int CuResult, CuDeviceAttribute, CuFunctionAttribute, CuJitOption,
    CuCaptureStatus, CuCaptureMode; /* enums */
typedef int CuJitInput; /* an enum */
typedef int CuTensorType, CuTensorInterleave, CuTensorSwizzle, CuTensorPromotion, CuTensorFill;
struct TensorMap; /* CUtensorMap */
typedef struct CuContextObject *CuContext;
typedef struct CuModuleObject *CuModule;
typedef struct CuFunctionObject *CuFunction;
typedef struct CuStreamObject *CuStream;
typedef struct CuEventObject *CuEvent;
typedef struct CuLinkObject *CuLink;

/* How a launch says where its parameters lie: CU_LAUNCH_PARAM_BUFFER_POINTER and its kin. */
#define CU_LAUNCH_BUFFER ((void *)1)
#define CU_LAUNCH_BUFFER_SIZE ((void *)2)
#define CU_LAUNCH_END ((void *)0)

/* Values of the driver's enums that are used. */
enum {
    CU_CAPTURE_RELAXED = 2,
    CU_OK = 0, CU_OUT_OF_MEMORY = 2, CU_INVALID_IMAGE = 200, CU_CAPTURE_IMPLICIT = 906, /* CUDA_ERROR_STREAM_CAPTURE_IMPLICIT */
    CU_DEVICE_MAX_SHARED_OPTIN = 97,   /* CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
    CU_DEVICE_CC_MAJOR = 75, CU_DEVICE_CC_MINOR = 76,
    CU_FUNC_MAX_THREADS = 0, CU_FUNC_SHARED_STATIC = 1,         /* CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES */
    CU_FUNC_LOCAL_BYTES = 3, CU_FUNC_REGISTERS = 4,
    CU_FUNC_MAX_DYNAMIC_SHARED = 8,    /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    CU_TENSOR_UINT8 = 0, CU_TENSOR_UINT16 = 1, CU_TENSOR_UINT32 = 2, CU_TENSOR_UINT64 = 4,
    CU_TENSOR_INTERLEAVE_NONE = 0, CU_TENSOR_SWIZZLE_32B = 1, CU_TENSOR_PROMOTION_128B = 2, CU_TENSOR_FILL_ZEROS = 0,
    CU_JIT_INFO_LOG = 3, CU_JIT_INFO_LOG_BYTES = 4, CU_JIT_ERROR_LOG = 5, CU_JIT_ERROR_LOG_BYTES = 6,
    CU_JIT_FOR_TARGET = 9, CU_LINK_PTX = 1,
    CU_ACCELERATED = 0x10000           /* CU_COMPUTE_ACCELERATED_TARGET_BASE */
};

typedef struct CudaApi {
    void *library; /* NULL: the emulated driver */
    const char *(*report)(CuContext context); /* more words than the code's, or ""; NULL: none */
#define CU(name, symbol, params) CuResult (*name) params;
#include "cuda_api.def"
#undef CU
} CudaApi;

/* Loads the library, finds every symbol and initializes the driver. On failure reports to the
   context and gives TKC_NO_DEVICE. */
TkcStatus cuda_api_open(TkcContext *cx, CudaApi *api);
/* The same over the emulated driver (simt/driver.h). */
TkcStatus cuda_api_open_simt(TkcContext *cx, CudaApi *api);

/* TKC_OK when result is CU_OK; else reports the call's name and the driver's own words. */
TkcStatus cuda_check(TkcContext *cx, const CudaApi *api, int result, const char *call);
