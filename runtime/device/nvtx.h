/* Ranges for NVIDIA's profilers, where libnvToolsExt.so.1 is there; else nothing. */
#ifndef TKC_RUNTIME_NVTX_H
#define TKC_RUNTIME_NVTX_H

typedef struct Nvtx {
    void *library;
    int (*push)(const char *name);
    int (*pop)(void);
} Nvtx;
void nvtx_open(Nvtx *n);
void nvtx_begin(const Nvtx *n, const char *name);
void nvtx_end(const Nvtx *n);
void nvtx_close(Nvtx *n);

#endif
