/* A CUDA driver without a GPU: the driver API over the emulator. Compiled twice: into libtkc, where
   the names begin with simt_ and device `simt` takes them as its driver; and with SIMT_LIBRARY as
   libcuda.so.1, for any program.

   Work of a context is done by a thread of its own, in the order in which it was given, whatever
   its streams: a launch returns before it has run. A fault of a kernel is given by every later call,
   until the context is gone. */
#pragma once

#include <pthread.h>

#include "device/cuda_api.h"
#include "module.h"

#ifdef SIMT_LIBRARY
#define DRIVER(symbol) symbol
#define DRIVER_EXPORT __attribute__((visibility("default")))
enum { IS_LIBRARY = true };
#else
#define DRIVER(symbol) simt_##symbol
#define DRIVER_EXPORT
enum { IS_LIBRARY = false };
#endif

typedef struct CuGraphObject *CuGraph, *CuGraphExec;
struct CuGraphNodeObject;
struct TensorMap; /* tensormap.h; a CUtensorMap */

/* CUlaunchAttribute, CUlaunchConfig. */
typedef struct CuLaunchAttribute {
    int id, unused;
    uint32_t value[16];
} CuLaunchAttribute;
typedef struct CuLaunchConfig {
    unsigned grid[3], block[3], shared;
    CuStream stream;
    const CuLaunchAttribute *attributes;
    unsigned count;
} CuLaunchConfig;

/* Each entry point. */
#define CU(name, symbol, params) DRIVER_EXPORT CuResult DRIVER(symbol) params;
#include "device/cuda_api.def"
#include "driver.def"
#undef CU

/* ---- for device `simt` ---- */
/* Ordinals are places among the chips, in the order of their numbers; -1: there is no such chip. */
int simt_ordinal_of(int chip);
void simt_configure(const SimtRun *run); /* for this thread's launches; NULL: as the context says */
/* What the kernel did that lost the context; "" when nothing did. Lives as long as the context. */
const char *simt_report(CuContext context);

/* ---- inside ---- */

/* What a stream is given to do. */
typedef struct SimtJob SimtJob;
struct SimtJob {
    int (*run)(SimtJob *job, CuContext context); /* gives the driver's code */
    SimtJob *next;
};

struct CuContextObject {
    int device, retained;
    bool owned;       /* by cuCtxCreate */
    unsigned long long number; /* no other context ever has it */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    _Atomic pid_t thread_owner; /* the process that has the thread; 0: nobody yet */
    bool stops;
    SimtJob *first, *last;
    unsigned long long given, done; /* jobs */
    _Atomic int lost;
    char report[4096];
    SimtRun run;
    CuModule modules;
    int captures, blocking_captures; /* streams; those that the default one waits for */
    CuContext next;
};

struct CuStreamObject {
    CuContext context;
    unsigned flags;
    CuGraph capture; /* what it is given goes there; NULL: it is done */
};

struct CuFunctionObject {
    SimtFunc *func;
    CuModule module;
    CuFunction next;
};

/* What the linker makes: the texts of PTX one behind the other, each with its NUL, for a chip. What is wrong with them is
   found when they are loaded. */
#define SIMT_IMAGE "\177SIMT\n\r\n"
typedef struct SimtImage {
    char magic[sizeof SIMT_IMAGE - 1];
    int chip, texts;
    char ptx[];
} SimtImage;

struct CuModuleObject {
    SimtModule **parts; /* one for each text */
    int nparts;
    CuContext context;
    CuFunction functions;
    CuModule next;
};

/* The process's driver, locked by the caller of what needs it. */
typedef struct Driver {
    pthread_mutex_t lock, primary; /* the second is of who makes or keeps a device's primary context */
    _Atomic bool started;
    Memory *memory;
    CuContext contexts;
    unsigned long long numbers; /* that contexts have had */
} Driver;
Driver *driver_state(void);

/* What every call begins with: SIMT_OK, or what it gives. `needs_context`: one must be current. */
int driver_begin(const char *symbol, bool needs_context);
#define BEGIN_WITH(symbol, needs_context)                                                          \
    int code = driver_begin(#symbol, needs_context);                                               \
    if (code != SIMT_OK) return code
#define BEGIN(symbol) BEGIN_WITH(symbol, true)
CuContext driver_current(void);
int driver_chip(CuDevice device); /* 90 of sm_90; 0: there is no such device */
const SimtRun *driver_run(CuContext context); /* of a launch of this thread */
void driver_context_free(CuContext context);
void driver_module_free(CuModule module); /* of no context any more */
/* The job belongs to the context now. */
int driver_give(CuContext context, SimtJob *job);
int driver_wait(CuContext context); /* for all that was given; what went wrong */
/* Whether the stream is captured; then the launch is its graph's. */
bool driver_records(CuStream stream, SimtJob *launch);
SimtJob *driver_copy_launch(const SimtJob *launch); /* NULL: no memory */
/* What may not be while a stream of the context is captured: SIMT_OK, or what it gives. */
int driver_no_capture(CuContext context);
void driver_trace(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void driver_say(const char *text); /* what went wrong, on standard error, where there is one */
const char *driver_setting(const char *name); /* of the environment; NULL: none, or not a library */
