/* What a device is: a table of functions each kind fills. Everything above it (launching, the
   cache) is the same for all. */
#pragma once

#include <pthread.h>
#include "tkc/edge.h"
#include "tkc/runtime.h"

/* One run-time argument, checked and converted. */
typedef struct LaunchArg {
    uint64_t bits; /* the value in the parameter's type, lowest bytes first; a pointer's address */
    size_t bytes;  /* memory behind a pointer, 0: not known */
} LaunchArg;
/* All of a launch. */
typedef struct LaunchPack {
    unsigned char *values; /* each where the manifest places it */
    size_t *bytes;         /* by parameter; of pointers alone */
} LaunchPack;

typedef struct DeviceKernel DeviceKernel; /* each kind has its own */

/* What a device loads; it outlives the kernel. */
typedef struct DeviceCode {
    const struct Manifest *manifest; /* jit/manifest.h */
    const char *text;                /* PTX, or block IR's */
    const Func *func;                /* of block IR */
} DeviceCode;
/* Machine code, malloc'ed; all zero: none. */
typedef struct DeviceImage { void *data; size_t bytes; } DeviceImage;
typedef struct DeviceOps {
    const char *kind;
    bool takes_turns;   /* one launch or change of memory at a time */
    bool computes;      /* on this machine: floats are to round as they have to during a launch */
    TkcEmit emit;       /* what load wants: TKC_EMIT_PTX or TKC_EMIT_IR */
    const char *passes; /* for TkcOptions.passes; NULL: the pipeline */
    bool line_info;     /* whatever the options say: what goes wrong is told with its line */
    int64_t max_grid[3];
    TkcStatus (*open)(TkcDevice *dev, int ordinal, void *context); /* fills state, name, arch */
    void (*close)(TkcDevice *dev);
    TkcStatus (*alloc)(TkcDevice *dev, size_t bytes, TkcPtr *out);
    TkcStatus (*free)(TkcDevice *dev, TkcPtr ptr);
    TkcStatus (*copy_in)(TkcDevice *dev, TkcPtr to, const void *from, size_t bytes);
    TkcStatus (*copy_out)(TkcDevice *dev, void *to, TkcPtr from, size_t bytes);
    /* Of n elements of `size` bytes, those that nothing wrote; elements may be NULL. NULL: the
       device does not know. */
    TkcStatus (*unwritten)(TkcDevice *dev, TkcPtr at, size_t size, size_t n, bool *elements,
                           size_t *count);
    TkcStatus (*synchronize)(TkcDevice *dev, void *stream);
    TkcStatus (*load)(TkcDevice *dev, const DeviceCode *code, DeviceKernel **out);
    /* Machine code of n kernels' PTX for a target that need not be the device's. NULL: it makes none. */
    TkcStatus (*assemble)(TkcDevice *dev, const char *const *ptx, size_t n, const char *arch, DeviceImage *out);
    void (*unload)(TkcDevice *dev, DeviceKernel *kernel);
    TkcStatus (*launch)(TkcDevice *dev, DeviceKernel *kernel, const int64_t grid[3], void *stream,
                        const LaunchPack *pack);
    /* Fills registers, spill_bytes, max_threads, unit_programs, programs. */
    void (*info)(TkcDevice *dev, const DeviceKernel *kernel, TkcKernelInfo *out);
    void (*facts)(TkcDevice *dev, TkcDeviceInfo *out);
    /* Launches on the stream are recorded for a graph. NULL: there are no graphs. */
    bool (*captures)(TkcDevice *dev, void *stream);
    bool has_events;   /* in streams; else a launch is over when it returns */
} DeviceOps;

typedef struct Debugger Debugger; /* debug.h */

struct TkcDevice {
    TkcContext *cx;           /* kept */
    pthread_mutex_t turn;     /* recursive */
    pthread_mutex_t printing; /* one line at a time */
    const DeviceOps *ops;
    void *state; /* of the kind */
    char name[128];
    char arch[16]; /* before `open`, of simt: the target asked for, or "" */
    uint64_t seed;
    double timeout;
    int threads;
    bool unchecked;          /* cpu: no shadow memory */
    int driver, chip;        /* its version; 90 for compute capability 9.0 */
    struct DiskCache *cache; /* jit/disk.h; NULL: of a device without PTX */
    Debugger *debugger;      /* cpu: what to trace and where to stop; NULL: nothing */
    void (*print)(const char *line, void *user);
    void *print_user;
};

extern const DeviceOps device_cuda, device_cpu, device_simt;

/* Alive, and its context too. */
bool device_is(const TkcDevice *dev);
/* That, and this thread is not in a device_print of it, for which a launch waits; else false, and said. */
bool device_may_work(const TkcDevice *dev);
/* Gives a line of device_print to whom the caller named, one at a time. */
void device_print(TkcDevice *dev, const char *line);
/* Calls f of the device's table with the arguments behind the device, in its turn. */
#define device_call(dev, f, ...) device_done(dev, device_turn(dev)->f(dev, __VA_ARGS__))
const DeviceOps *device_turn(TkcDevice *dev);
TkcStatus device_done(TkcDevice *dev, TkcStatus status);
/* Makes and frees dev->cache. */
void device_open_cache(TkcDevice *dev);
void device_close_cache(TkcDevice *dev);
/* Of a device that was kept. */
void device_release(TkcDevice *dev);
/* Refuses the first argument of a launch whose pointer, to so many bytes, has a fault. */
TkcStatus device_check_pointers(TkcDevice *dev, const struct Manifest *m, const LaunchPack *pack,
                                const char *(*find_fault)(TkcDevice *dev, uint64_t address, size_t bytes));

/* ---- so many marks of time, numbered from 0, that launches on a stream are put between: timer.c ---- */
typedef struct Timer Timer;
TkcStatus timer_new(TkcDevice *dev, size_t marks, Timer **out);
void timer_free(TkcDevice *dev, Timer *t); /* NULL: none */
/* Caches hold nothing of the kernels' from here on. */
TkcStatus timer_flush(TkcDevice *dev, Timer *t, void *stream);
TkcStatus timer_mark(TkcDevice *dev, Timer *t, size_t i, void *stream);
/* Once the stream's work is done. */
TkcStatus timer_between(TkcDevice *dev, Timer *t, size_t from, size_t to, double *ms);
