/* Our own declarations of the driver API against cuda.h: each symbol has the parameters we say,
   each number of ours is its. All of it is checked while this compiles; where there is no cuda.h,
   nothing is. */
#include <stdio.h>

#if __has_include(<cuda.h>)
#include <cuda.h>

/* The table again, with cuda.h's names for its types. */
#define CuResult CUresult
#define CuDevice CUdevice
#define CuPointer CUdeviceptr
#define CuContext CUcontext
#define CuModule CUmodule
#define CuFunction CUfunction
#define CuStream CUstream
#define CuDeviceAttribute CUdevice_attribute
#define CuFunctionAttribute CUfunction_attribute
#define CuJitOption CUjit_option
#define CuEvent CUevent
#define CuLink CUlinkState
#define CuJitInput CUjitInputType
#define CuCaptureStatus CUstreamCaptureStatus
#define CuCaptureMode CUstreamCaptureMode
#define CuTensorType CUtensorMapDataType
#define CuTensorInterleave CUtensorMapInterleave
#define CuTensorSwizzle CUtensorMapSwizzle
#define CuTensorPromotion CUtensorMapL2promotion
#define CuTensorFill CUtensorMapFloatOOBfill
#define TensorMap CUtensorMap_st
#define CU(name, symbol, params)                                                                   \
    _Static_assert(__builtin_types_compatible_p(__typeof__(symbol), CUresult params),              \
                   #symbol " has other parameters");
#include "device/cuda_api.def"
#undef CU
#undef CuResult
#undef CuDevice
#undef CuPointer
#undef CuContext
#undef CuModule
#undef CuFunction
#undef CuStream
#undef CuDeviceAttribute
#undef CuFunctionAttribute
#undef CuJitOption
#undef CuEvent
#undef CuLink
#undef CuJitInput
#undef CuCaptureStatus
#undef CuCaptureMode
#undef CuTensorType
#undef CuTensorInterleave
#undef CuTensorSwizzle
#undef CuTensorPromotion
#undef CuTensorFill
#undef TensorMap

#include "device/cuda_device.h"

#define SAME_SIZE(a, b) _Static_assert(sizeof(a) == sizeof(b), #a " has another size")
SAME_SIZE(CuResult, CUresult);
SAME_SIZE(CuDevice, CUdevice);
SAME_SIZE(CuPointer, CUdeviceptr);
SAME_SIZE(CuContext, CUcontext);
SAME_SIZE(CuModule, CUmodule);
SAME_SIZE(CuFunction, CUfunction);
SAME_SIZE(CuStream, CUstream);
SAME_SIZE(CuDeviceAttribute, CUdevice_attribute);
SAME_SIZE(CuFunctionAttribute, CUfunction_attribute);
SAME_SIZE(CuJitOption, CUjit_option);
SAME_SIZE(CuEvent, CUevent);
SAME_SIZE(CuLink, CUlinkState);
SAME_SIZE(CuJitInput, CUjitInputType);
SAME_SIZE(CuCaptureStatus, CUstreamCaptureStatus);
SAME_SIZE(CuCaptureMode, CUstreamCaptureMode);

/* What the emulated driver has beside. */
#include "simt/driver.h"

SAME_SIZE(CuTensorMap, CUtensorMap);
SAME_SIZE(CuLaunchAttribute, CUlaunchAttribute);
SAME_SIZE(CuLaunchConfig, CUlaunchConfig);
#define SAME_PLACE(type, ours, theirs_type, theirs)                                                \
    _Static_assert(offsetof(type, ours) == offsetof(theirs_type, theirs), #ours " is elsewhere")
SAME_PLACE(CuLaunchAttribute, value, CUlaunchAttribute, value);
SAME_PLACE(CuLaunchConfig, block, CUlaunchConfig, blockDimX);
SAME_PLACE(CuLaunchConfig, shared, CUlaunchConfig, sharedMemBytes);
SAME_PLACE(CuLaunchConfig, stream, CUlaunchConfig, hStream);
SAME_PLACE(CuLaunchConfig, attributes, CUlaunchConfig, attrs);
SAME_PLACE(CuLaunchConfig, count, CUlaunchConfig, numAttrs);

#define SAME_NUMBER(ours, theirs)                                                                  \
    _Static_assert((int)ours == (int)theirs, #ours " is another number")
SAME_NUMBER(CU_OK, CUDA_SUCCESS);
SAME_NUMBER(CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
SAME_NUMBER(CU_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE);
SAME_NUMBER(CU_DEVICE_MAX_SHARED_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME_NUMBER(CU_DEVICE_CC_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_NUMBER(CU_DEVICE_CC_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_NUMBER(CU_CAPTURE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME_NUMBER(CU_CAPTURE_IMPLICIT, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
SAME_NUMBER(CU_FUNC_MAX_THREADS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_NUMBER(CU_FUNC_SHARED_STATIC, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME_NUMBER(CU_FUNC_LOCAL_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME_NUMBER(CU_FUNC_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_NUMBER(CU_FUNC_MAX_DYNAMIC_SHARED, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_NUMBER(CU_TENSOR_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
SAME_NUMBER(CU_TENSOR_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT16);
SAME_NUMBER(CU_TENSOR_UINT32, CU_TENSOR_MAP_DATA_TYPE_UINT32);
SAME_NUMBER(CU_TENSOR_UINT64, CU_TENSOR_MAP_DATA_TYPE_UINT64);
SAME_NUMBER(CU_TENSOR_INTERLEAVE_NONE, CU_TENSOR_MAP_INTERLEAVE_NONE);
SAME_NUMBER(CU_TENSOR_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_32B);
SAME_NUMBER(CU_TENSOR_PROMOTION_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
SAME_NUMBER(CU_TENSOR_FILL_ZEROS, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
SAME_NUMBER(CU_JIT_INFO_LOG, CU_JIT_INFO_LOG_BUFFER);
SAME_NUMBER(CU_JIT_INFO_LOG_BYTES, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME_NUMBER(CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BUFFER);
SAME_NUMBER(CU_JIT_ERROR_LOG_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME_NUMBER(CU_JIT_FOR_TARGET, CU_JIT_TARGET);
SAME_NUMBER(CU_LINK_PTX, CU_JIT_INPUT_PTX);
SAME_NUMBER(CU_ACCELERATED + 90, CU_TARGET_COMPUTE_90A);

int main(void)
{
    printf("checked against cuda.h %d\n", CUDA_VERSION);
    return 0;
}

#else

int main(void)
{
    puts("there is no cuda.h");
    return 0;
}

#endif
