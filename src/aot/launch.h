/* Launching kernels that were compiled ahead of time. It needs NVIDIA's driver at run time and a
   current context of it (cuCtxSetCurrent, or the CUDA run time after its first call), nothing when
   it is built. Every function gives a status: 0, one of these, or what the driver said (a CUresult,
   above 0). Any thread may call any function at any time.

   NAME(stream, grid, arguments) launches as many programs as the grid says: x, y and z count
   tl.program_id(0), (1) and (2). A pointer is the device's address, CUdeviceptr. Code is loaded at
   a context's first launch; NAME_load() does so before, as a launch that is captured for a graph
   wants. Loaded code goes with its context. */
#ifndef TKC_LAUNCH_1
#define TKC_LAUNCH_1
#include <stdbool.h>
#include <stdint.h>
enum {
    TKC_LAUNCH_OK = 0,
    TKC_LAUNCH_NO_DRIVER = -1,  /* there is no libcuda.so.1, or it is too old */
    TKC_LAUNCH_NO_CONTEXT = -2, /* this thread has no current context */
    TKC_LAUNCH_NO_CODE = -3,    /* none of the targets is this device's */
    TKC_LAUNCH_NO_VARIANT = -4, /* no variant takes these arguments: they are not as aligned as it
                                   was told */
    TKC_LAUNCH_NO_MEMORY = -5
};
#endif
