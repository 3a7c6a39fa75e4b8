/* Arguments against parameters: what a launch checks, and the compile that a first launch asks
   for. */
#pragma once

#include <stdatomic.h>

#include "device/device.h"
#include "entry.h"
#include "key.h"

/* A parameter that a launch gives an argument for. */
typedef struct OpenParam {
    TkcParam decl;
    ParamType type;       /* declared, as decl.type says it */
    bool is_said;         /* by the signature */
} OpenParam;

/* What most arguments must be for the launch to be of the kernel that it is a slot of. Small: between launches the driver fills the
   cache. `low` 0: it is not said here. */
typedef struct LaunchSlot {
    uint8_t kind;
    bool like_last;       /* of a pointer: its type is that of the argument before */
    uint16_t low;         /* which lowest four bits it has, by bit */
    uint16_t param, at;   /* the parameter that is the argument as it is, and its place; none: behind all */
    int32_t hint;         /* of an integer, which has no type: its `bytes` … */
    int32_t from;         /* … the least that it is … */
    uint32_t span;        /* … and from there on … */
    int32_t but;          /* … but for this */
} LaunchSlot;

/* Of any argument. */
typedef struct LaunchFit {
    uint64_t zeros; /* bits that its parameter's divisibility leaves out */
    int64_t least;  /* that the parameter can be */
    uint64_t range; /* from least on */
    uint32_t key;   /* where in the kernel's key it begins */
} LaunchFit;

/* One compiled kernel. */
typedef struct Compiled {
    Entry entry;
    LaunchSlot *slots;    /* by argument; NULL: it has too many parameters */
    LaunchFit *fits;      /* by argument */
    size_t nslots;
    int *argument;        /* by run-time parameter, of a launch */
    int *rest, nrest;     /* run-time parameters that no slot is for */
    TkcArtifact *artifact; /* that the device runs; NULL: it runs PTX */
    DeviceKernel *kernel;
    uint64_t hash;        /* of the key */
    unsigned char *key;   /* key_len bytes */
    uint32_t key_len;
    atomic_int keepers;   /* the jit, and each launch that uses it */
    uint64_t used;        /* when it was last */
    struct Compiled *next; /* of its bucket, or to be freed */
} Compiled;

enum { KERNEL_BUCKETS = 256, LAUNCH_FEW = 64 /* parameters that need no memory */ };

struct TkcJit {
    TkcDevice *dev;       /* kept, as is the source */
    TkcSource *source;
    TkcOptions options;   /* with copies of its strings, below */
    struct Owned *owned;
    int nopen;
    OpenParam *open;
    pthread_mutex_t lock; /* of all below: kernels.c */
    Compiled **buckets;   /* by hash */
    size_t nheld, most_held;
    Compiled *latest;     /* the one that was used last; or NULL */
    uint64_t clock;       /* uses so far */
    TkcCacheStats stats;
};

/* A copy of the text that lives as long as the jit; NULL: no memory. */
char *jit_own(TkcJit *jit, const char *begin, const char *end);

/* Makes jit->open, from what the source and the options' signature declare. */
TkcStatus open_params_read(TkcJit *jit);
/* NULL when a launch gives no argument of that name. */
OpenParam *open_param_find(const TkcJit *jit, const char *name, size_t len);

/* What the kernel is compiled for where nobody says a number's type. */
static inline const char *launch_number_type(const TkcArg *arg)
{
    if (arg->kind == TKC_ARG_FLOAT) return "fp32";
    return arg->integer >= INT32_MIN && arg->integer <= INT32_MAX ? "i32" : "i64";
}

/* An argument is wrong; gives TKC_ERROR. */
#define refuse_argument(jit, name, fmt, ...)                                                       \
    tkc_refuse((jit)->dev->cx, TKC_ERROR, "argument '%s': " fmt, name, ##__VA_ARGS__)

/* Checks count and kinds of the arguments, and that each fits its parameter's declared type.
   TKC_ERROR after diagnostics. */
TkcStatus launch_check(const TkcJit *jit, const TkcArg *args, size_t nargs);
/* Which argument each run-time parameter of the compiled kernel takes. */
TkcStatus launch_match(const TkcJit *jit, Compiled *c);
/* What later launches are compared with: these arguments, and their key. False: no memory. */
bool launch_slots(Compiled *c, const TkcArg *args, size_t nargs, const Key *key);
/* Whether these arguments are for the kernel. Then `out`, for LAUNCH_FEW parameters and one, has all but the rest. */
bool launch_again(const Compiled *c, const TkcArg *args, size_t nargs, const LaunchPack *out);
/* The arguments in the types the kernel was compiled for; rest: those alone that launch_again
   left. */
TkcStatus launch_pack(const TkcJit *jit, const Compiled *c, const TkcArg *args, bool rest,
                      const LaunchPack *out);
TkcStatus launch_check_grid(const TkcJit *jit, const int64_t grid[3]);

/* ---- tensor descriptors: descriptor.c ---- */

/* Whether one can be passed for the parameter, and its type and rank; once for each key. */
TkcStatus descriptor_check(const TkcJit *jit, const OpenParam *p, const TkcArg *arg);
/* The type's text to compile for. */
const char *descriptor_type(const OpenParam *p, const TkcArg *arg);
/* One of the parameters that the compiled kernel takes for a descriptor. Base, shape and strides
   are checked with the pointer, which comes first. */
TkcStatus descriptor_pack(const TkcJit *jit, const ManifestParam *p, const TkcArg *arg,
                          LaunchArg *out);
