/* One launch as a process of its own would do it, on `simt`: nothing is in memory from before. */
#ifndef TKC_TEST_LAUNCH_ONCE_H
#define TKC_TEST_LAUNCH_ONCE_H

#include "tkc/runtime.h"

/* Launches the kernel of the source, of (x: '*fp32', a constexpr), with this value of the constexpr, and reads what it stored.
   folder: of kernels on disk, or NULL. The statistics are the device's, which is gone then. */
static inline TkcStatus launch_once(TkcContext *cx, TkcSource *source, const char *folder, const TkcStore *store,
                                    const char *value, float *got, TkcDiskStats *stats)
{
    TkcDevice *dev = NULL;
    TkcJit *jit = NULL;
    TkcPtr x = 0;
    TkcOptions o;
    tkc_options_init(&o);
    TkcStatus status = tkc_device_open(cx, "simt", 0, &dev);
    if (status == TKC_OK) status = tkc_device_set_cache(dev, folder);
    if (status == TKC_OK) status = tkc_device_set_store(dev, store);
    if (status == TKC_OK) status = tkc_jit_new(dev, source, &o, &jit);
    if (status == TKC_OK) status = tkc_alloc(dev, 4, &x);
    const TkcArg args[] = {tkc_pointer(NULL, x, 4), tkc_constexpr(value)};
    if (status == TKC_OK) status = tkc_launch(jit, (int64_t[]){1, 1, 1}, NULL, args, 2);
    if (status == TKC_OK) status = tkc_copy_out(dev, got, x, 4);
    if (dev) tkc_device_cache_stats(dev, stats);
    tkc_jit_free(jit);
    tkc_device_free(dev);
    return status;
}

#endif
