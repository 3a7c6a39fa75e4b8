/* tkc's runtime: devices, memory, and kernels that are compiled when first launched.

   One TkcJit is one kernel of one source on one device. A launch looks at its arguments, forms the
   key (types, constexprs, alignment and divisibility of the arguments, options), compiles on the
   first use of a key and launches from then on from memory.

   Threads: launches and memory may be asked for by any number of threads at once, of one jit too;
   other functions follow the context's rule, unless they say "Any thread.". Keys are compiled one at a time; what is compiled already is launched
   meanwhile. On the cpu device launches and changes of memory take turns. A handler is called by one
   thread at a time, the one whose call it is about, and tkc_last_error tells each thread of its own
   calls. Options of a device are set before its launches. */
#ifndef TKC_RUNTIME_H
#define TKC_RUNTIME_H

#include "tkc/tkc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- devices ---- */
typedef struct TkcDevice TkcDevice;
/* Opens a device. kind: "cuda", "cpu", "simt" (the GPU's code, executed on the host; "simt:sm_80" for a chip), or
   NULL for cuda when there is one, else cpu. TKC_NO_DEVICE with a
   diagnostic that says what is missing. */
TKC_API TkcStatus tkc_device_open(TkcContext *cx, const char *kind, int ordinal, TkcDevice **out);
/* Opens a device for work in a CUcontext the caller owns; the current context is restored after
   each call. */
TKC_API TkcStatus tkc_device_open_cuda_context(TkcContext *cx, void *cu_context, TkcDevice **out);
TKC_API void tkc_device_free(TkcDevice *dev);
/* What a device is: kind, name, and the target that its kernels are compiled for. Any thread. */
TKC_API const char *tkc_device_kind(const TkcDevice *dev);  /* "cuda", "cpu" or "simt" */
TKC_API const char *tkc_device_name(const TkcDevice *dev);  /* "NVIDIA H100 80GB HBM3" */
TKC_API const char *tkc_device_arch(const TkcDevice *dev);  /* "sm_90a"; "cpu" */

/* What a device has; 0: it does not say. A unit is a multiprocessor of a GPU, a core of the host. */
typedef struct TkcDeviceInfo {
    size_t size;
    int units;
    int shared_bytes; /* most that a program may use */
    int unit_shared_bytes, unit_registers, unit_threads, unit_programs; /* of each unit */
    int cache_bytes;  /* the one that all units share */
    int clock_khz, memory_clock_khz, memory_bus_bits;
    int64_t memory_bytes;
} TkcDeviceInfo;
TKC_API TkcStatus tkc_device_info(TkcDevice *dev, TkcDeviceInfo *out);

/* ---- memory: addresses on the device; on cpu, host addresses. Sizes in bytes. Any thread. ---- */
/* An address on a device. */
typedef uint64_t TkcPtr;
/* Memory of a device, aligned to 256, uninitialized. No bytes give an address that is not to be accessed. */
TKC_API TkcStatus tkc_alloc(TkcDevice *dev, size_t bytes, TkcPtr *out);
TKC_API TkcStatus tkc_free(TkcDevice *dev, TkcPtr ptr); /* 0 is ignored */
/* Copies from host to device; waits. */
TKC_API TkcStatus tkc_copy_in(TkcDevice *dev, TkcPtr to, const void *from, size_t bytes);
/* Copies from device to host; waits for the default stream. */
TKC_API TkcStatus tkc_copy_out(TkcDevice *dev, void *to, TkcPtr from, size_t bytes);
/* Waits for a stream: a CUstream as a pointer; NULL is the default stream. The cpu device ignores it: launches
   there are synchronous. */
TKC_API TkcStatus tkc_synchronize(TkcDevice *dev, void *stream);

/* ---- arguments. Any thread. ---- */
/* What an argument of a launch is. */
typedef enum TkcArgKind {
    TKC_ARG_POINTER,
    TKC_ARG_INT,
    TKC_ARG_FLOAT,
    TKC_ARG_CONSTEXPR,
    TKC_ARG_DESCRIPTOR
} TkcArgKind;
/* An array as a kernel sees it through a tensor descriptor: the first `rank` items of shape and
   strides count. A load outside the shape gives the padding, a store there does nothing. */
typedef struct TkcDescriptor {
    TkcPtr base;                          /* a multiple of 16 */
    size_t bytes;                         /* of memory behind it, 0 when not known */
    int rank;                             /* 1 to 5, that of the parameter's blocks */
    int64_t shape[TKC_DESCRIPTOR_RANK];   /* elements, 1 to 2^31 - 1 */
    int64_t strides[TKC_DESCRIPTOR_RANK]; /* elements from one to the next along each dimension: the
                                             last is 1, others are multiples of 16 bytes, 0 too */
} TkcDescriptor;
enum { TKC_ANY_INT = 1, TKC_ANY_INT_BUT_ONE = 2 };
/* One argument of a launch; made by tkc_pointer, tkc_int, tkc_float, tkc_constexpr, tkc_descriptor. */
typedef struct TkcArg {
    TkcArgKind kind;
    /* POINTER: "*fp32". INT, FLOAT: "i32", "i64", "fp32", … or NULL for the parameter's declared
       type, else i32 when it fits, else i64; fp32. DESCRIPTOR: element type and extents of the
       blocks, and the padding of floats that is not 0: "tensordesc<fp16[64, 128], padding=nan>".
       CONSTEXPR: unused. */
    const char *type;
    TKC_EXTENSION union {
        TkcPtr pointer;
        int64_t integer;
        double floating;
        /* As in TkcDefine. NULL: what the source gives, a default or a heuristic. */
        const char *constexpr_value;
        const TkcDescriptor *descriptor; /* borrowed, for the call */
    };
    /* POINTER: size of the memory behind it, 0 when not known; lets the cpu device check bounds.
       INT: 0, code of its own for 1 and for multiples of 16; TKC_ANY_INT, one code for all;
       TKC_ANY_INT_BUT_ONE, code of its own for 1 only. */
    size_t bytes;
} TkcArg;
/* An argument that is an address, with the size of the memory there, or 0. */
static inline TkcArg tkc_pointer(const char *type, TkcPtr p, size_t bytes)
{
    TkcArg a = {TKC_ARG_POINTER, type, {0}, bytes};
    a.pointer = p;
    return a;
}
/* An argument that is an integer. */
static inline TkcArg tkc_int(int64_t v)
{
    TkcArg a = {TKC_ARG_INT, NULL, {0}, 0};
    a.integer = v;
    return a;
}
/* An argument that is a floating-point number. */
static inline TkcArg tkc_float(double v)
{
    TkcArg a = {TKC_ARG_FLOAT, NULL, {0}, 0};
    a.floating = v;
    return a;
}
/* An argument that is known when compiling: a text as in TkcDefine. */
static inline TkcArg tkc_constexpr(const char *value)
{
    TkcArg a = {TKC_ARG_CONSTEXPR, NULL, {0}, 0};
    a.constexpr_value = value;
    return a;
}
/* An argument that is a tensor descriptor. type: NULL, or without a padding, where the parameter's
   declaration has it. */
static inline TkcArg tkc_descriptor(const char *type, const TkcDescriptor *d)
{
    TkcArg a = {TKC_ARG_DESCRIPTOR, type, {0}, 0};
    a.descriptor = d;
    return a;
}

/* ---- manifests ---- */
/* What a kernel compiled to PTX is, as text: name, target, threads, shared memory, parameters and
   which argument each is, constexprs, and the files that decided it, with hashes; docs/embedding.md.
   Lives as long as the artifact. NULL: there is none, or no memory. */
TKC_API const char *tkc_artifact_manifest(TkcArtifact *ptx);

/* ---- kernels compiled on demand ---- */
typedef struct TkcJit TkcJit;
/* A kernel on a device, to be launched. options: kernel, signature, defines, num_warps, …; copied. On cuda arch is the device's. Device and
   source are of one context. When either is freed, all calls of the jit but tkc_jit_free are
   TKC_MISUSE. */
TKC_API TkcStatus tkc_jit_new(TkcDevice *dev, TkcSource *source, const TkcOptions *options,
                              TkcJit **out);
TKC_API void tkc_jit_free(TkcJit *jit);
/* Frees the kernels compiled so far; they are compiled again when they are launched again. A launch
   under way on another thread keeps its own to its end. On cuda it waits for the GPU. Any thread. */
TKC_API void tkc_jit_clear(TkcJit *jit);
/* Most kernels a jit holds, 1024 unless set (0: that again). For one more, the one launched longest ago
   is freed as by tkc_jit_clear. Any thread. */
TKC_API void tkc_jit_set_limit(TkcJit *jit, size_t kernels);
/* Launches a kernel; compiles it on the first use of a key. One argument for each parameter that the
   options' defines leave open, constexpr ones included, in the order of the kernel's parameter list.
   Checked at every launch: a wrong count, kind or type is TKC_ERROR with a diagnostic. Grid extents
   below 1 or past the device's limits are an error. On cuda asynchronous. Any thread. */
TKC_API TkcStatus tkc_launch(TkcJit *jit, const int64_t grid[3], void *stream, const TkcArg *args,
                             size_t nargs);

/* The parameters that a launch gives arguments for, in order, as the source and the options'
   signature declare them. TKC_MISUSE when there is no such one. What it points to lives as long as
   the jit. Any thread. */
TKC_API int tkc_jit_param_count(const TkcJit *jit);
TKC_API TkcStatus tkc_jit_param(const TkcJit *jit, int i, TkcParam *out);

/* What the kernel that a launch with these arguments would use costs; compiles it when needed. Any
   thread. */
typedef struct TkcKernelInfo {
    size_t size;
    int num_warps, shared_bytes;
    int registers, spill_bytes; /* cuda, once loaded; -1 on cpu */
    const char *text;           /* PTX on cuda, block IR on cpu; lives until its kernel is freed: with
                                   the jit, by tkc_jit_clear, or for newer ones */
    int num_stages;
    int config, nconfigs;       /* tkc_artifact_config */
    const TkcDefine *values;    /* tkc_artifact_value; live as long as text */
    size_t nvalues;
    int max_threads;            /* most that a program of this code could have; -1 on cpu */
    int unit_programs;          /* how many run at once on a unit, and on the whole device: a grid of */
    int programs;               /* so many fills it. -1: the driver does not say */
} TkcKernelInfo;
TKC_API TkcStatus tkc_jit_info(TkcJit *jit, const TkcArg *args, size_t nargs, TkcKernelInfo *info);
/* The same, for what it compiles: later launches with such arguments find their kernel, those into a
   stream that is captured for a CUDA graph, too, which never compile: there, a kernel that is not
   prepared is TKC_ERROR, and nothing is enqueued. info may be NULL. */
TKC_API TkcStatus tkc_jit_prepare(TkcJit *jit, const TkcArg *args, size_t nargs,
                                  TkcKernelInfo *info);

/* ---- timing ---- */
/* How launches are measured. */
typedef struct TkcBenchOptions {
    size_t size;
    double warmup_ms, run_ms;   /* how long about to launch before, and while measuring; 0: 25, 100 */
    int runs;                   /* so many, however long they take; 0: by run_ms, 3 to 2000 */
    bool keeps_cache;           /* else a GPU's L2 is emptied before each run */
    void (*before)(void *user); /* before each launch, and not measured: for what the kernel writes and
                                   reads. It may use the device; NULL: none */
    void *user;
} TkcBenchOptions;
/* Of one launch, in milliseconds; p20: a fifth of the runs took no longer. */
typedef struct TkcTimes {
    size_t size;
    int runs;
    double min, p20, median, p80, max, mean;
} TkcTimes;
/* How long a launch takes: on a GPU between events in the stream, on the others by the host's clock. Launches the
   kernel many times on the same arguments; NVTX ranges, where libnvToolsExt.so.1 is there, say which launches are
   measured. options may be NULL. */
TKC_API TkcStatus tkc_bench(TkcJit *jit, const int64_t grid[3], void *stream, const TkcArg *args,
                            size_t nargs, const TkcBenchOptions *options, TkcTimes *times);

/* What PTX (TKC_EMIT_PTX) that no jit made costs, on a device of kind cuda or simt. text is NULL. */
TKC_API TkcStatus tkc_device_inspect(TkcDevice *dev, const TkcArtifact *ptx, TkcKernelInfo *info);
/* One cubin of n kernels' PTX (TKC_EMIT_PTX, of one target, which need not be the device's; each with a symbol of its own,
   TkcOptions.symbol), by the linker of a cuda device's driver. Malloc'ed: the caller frees it. TKC_NO_DEVICE: the driver
   has no linker. */
TKC_API TkcStatus tkc_device_assemble(TkcDevice *dev, const TkcArtifact *const *ptx, size_t n, void **cubin, size_t *bytes);

/* How often a jit compiled and found kernels since it was made. compiles: different keys launched, and
   those that were freed and came back. Any thread. */
typedef struct TkcCacheStats { size_t size; uint64_t compiles, hits; } TkcCacheStats;
TKC_API void tkc_jit_stats(const TkcJit *jit, TkcCacheStats *stats);

/* ---- kernels on disk ---- */
/* What is compiled for a GPU is kept in a folder, and found there by other processes: $TKC_CACHE_DIR (empty: nothing is kept),
   else $XDG_CACHE_HOME/tkc, else ~/.cache/tkc; docs/embedding.md. Another folder for this device; NULL: none. */
TKC_API TkcStatus tkc_device_set_cache(TkcDevice *dev, const char *folder);
/* Functions of the host's behind the folder, for machines that share what they compile. Names are 64 hexadecimal digits. What get
   gives is read before it is called again, verified like a file, and NULL when there is none. The store decides
   what a GPU executes. Called with the context locked. Either may be NULL. */
typedef struct TkcStore {
    size_t size;
    const void *(*get)(const char *name, size_t *bytes, void *user);
    void (*put)(const char *name, const void *entry, size_t bytes, void *user);
    void *user;
} TkcStore;
TKC_API TkcStatus tkc_device_set_store(TkcDevice *dev, const TkcStore *store); /* NULL: none */
/* Since the device was opened. Each kernel that was not in memory is one of the first eight, or store_wrong: found on disk, in the
   store, or why not; where the store gave something, why not that. */
typedef struct TkcDiskStats {
    size_t size;
    uint64_t hits, from_store;
    uint64_t absent, damaged, other_version;
    uint64_t other_key;     /* one whose name is the same by chance */
    uint64_t stale;         /* a file that it imports has changed, come or gone */
    uint64_t foreign;       /* file or folder are not the user's alone, or cannot be read */
    uint64_t stored, unwritable;
    uint64_t warned;        /* not kept, since compiling it warned: the next process is to be warned as well */
    uint64_t waits;         /* for a process that compiled the same */
    uint64_t evicted;       /* to be within $TKC_CACHE_SIZE MiB, 1024 unless set */
    uint64_t store_wrong;   /* what the store gave is damaged, of another version or of another kernel */
} TkcDiskStats;
TKC_API void tkc_device_cache_stats(TkcDevice *dev, TkcDiskStats *stats);
/* What a folder holds, used last first; NULL: that of the environment. remove: and is then gone, with what dead processes left. */
typedef struct TkcCacheEntry {
    size_t size;
    const char *name, *kernel, *target, *source; /* NULL but for the name: it is damaged */
    uint64_t bytes;
    int64_t used;           /* seconds since 1970 */
} TkcCacheEntry;
TKC_API TkcStatus tkc_cache_visit(TkcContext *cx, const char *folder, bool remove,
                                  void (*each)(const TkcCacheEntry *entry, void *user), void *user);

/* ---- choosing a configuration ---- */
/* Whether configurations are measured. */
typedef enum TkcTuneMode {
    TKC_TUNE_MEASURE, /* what the file does not know is measured */
    TKC_TUNE_FIRST,   /* nothing is: what the file does not know is the first that compiles */
    TKC_TUNE_OFF      /* the first that compiles, whatever the file says */
} TkcTuneMode;
/* Among which configurations is chosen, and how. */
typedef struct TkcTuneOptions {
    size_t size;
    const char *const *configs; /* "BLOCK=64 num_warps=4", as tkc_source_configs gives them; NULL: those */
    size_t nconfigs;
    /* NULL: as the kernel's @autotune says (tkc_source_tuning); "": none. */
    const char *key;            /* "n,m": numbers for whose values each a choice is made. Types always are */
    const char *reset_to_zero;  /* "y": arrays that are made 0 before each run */
    const char *restore_value;  /* arrays that are as they were before each run */
    const char *file;           /* of results, a line each: read first, and added to; NULL: none */
    TkcTuneMode mode;
    double warmup_ms, run_ms;   /* as in TkcBenchOptions, for each configuration */
    /* Leaves so many of the n configurations, by their numbers, the best first; NULL: all. */
    size_t (*prune)(size_t *which, size_t n, const char *const *configs, void *user);
    /* Before each is measured: "add: 3 of 12, BLOCK=64 num_warps=4; about 5 s left". NULL: nobody asks. */
    void (*progress)(const char *line, void *user);
    void *user;
} TkcTuneOptions;
/* The programs that a configuration with such values needs. */
typedef void (*TkcGridFn)(int64_t grid[3], const TkcDefine *values, size_t nvalues, void *user);
/* Chooses the fastest configuration for such arguments and gives a jit of it: launches take arguments for what neither
   options nor configurations give. Measured is on copies of the arrays, whose sizes have to be known, so that nothing
   of the caller's changes; configurations that do not compile, or that the device has no room for, are passed over. Of those
   that are within 1 % of the fastest the first is taken. *config (may be NULL) is the number of it. */
TKC_API TkcStatus tkc_tune(TkcDevice *dev, TkcSource *source, const TkcOptions *options,
                           const TkcTuneOptions *tune, TkcGridFn grid, void *user, void *stream,
                           const TkcArg *args, size_t nargs, TkcJit **out, int *config);

/* ---- options of the cpu and simt devices: set before launches ---- */
/* The seed of the interleaving of kernels with atomics; on simt, of everything. */
TKC_API void tkc_device_set_seed(TkcDevice *dev, uint64_t seed);
/* The limit in seconds: a launch that takes longer fails; 0: none. */
TKC_API void tkc_device_set_timeout(TkcDevice *dev, double seconds);
/* How many cores a launch uses. 0: all. */
TKC_API void tkc_device_set_threads(TkcDevice *dev, int threads);
/* Whether these are errors of a launch: reads of memory that nothing has written (tkc_alloc'ed memory is unwritten until tkc_copy_in or a
   store), programs of one launch that touch one element without being in order, and signed numbers
   of 32 bits or less that wrap on their way to an address. On unless set; bounds and alignment are
   checked in any case. Memory allocated, or launched with, while off counts as written; a copy in while
   off writes it, but does not count. */
TKC_API void tkc_device_set_memory_checks(TkcDevice *dev, bool on);
/* Which of n elements of `size` bytes (1, 2, 4 or 8) from address on nothing has written: neither
   tkc_copy_in nor a store, as those checks see it. elements (n flags) may be NULL; *count is the
   number of them, 0 where the device does not know: on cuda, with the checks off. Any thread. */
TKC_API TkcStatus tkc_device_unwritten(TkcDevice *dev, TkcPtr address, size_t size, size_t n,
                                       bool *elements, size_t *count);
/* Where device_print writes, one call a line, from any thread but one at a time; NULL: the text is
   dropped. A GPU's driver writes to standard output itself. The function is called in the middle of a
   launch: it may neither use the device (TKC_MISUSE) nor free anything of it. */
TKC_API void tkc_device_on_print(TkcDevice *dev, void (*fn)(const char *line, void *user),
                                 void *user);

/* ---- debugging, on the cpu device: set before the jits are made ----
   Kernels then run unoptimized, one program after the other. A COND is an expression over numbers of
   the kernel by their names, pid0 pid1 pid2, grid0 grid1 grid2, and x[3], x[0, i]: or and not, == !=
   < <= > >=, + - * / // %. One over names that have no value yet does not hold. Names and lines the
   kernel does not have are errors of the first launch. */
/* Traces a name, "NAME" or "NAME:COND": the value is printed (tkc_device_on_print) whenever NAME is assigned. */
TKC_API TkcStatus tkc_device_trace(TkcDevice *dev, const char *what);
/* Breaks at a line, "LINE" or "LINE:COND": on_stop is called before the line is executed. */
TKC_API TkcStatus tkc_device_break(TkcDevice *dev, const char *where);

/* What becomes of a program that has stopped. */
typedef enum TkcStopAction {
    TKC_STOP_CONTINUE, /* to the next break */
    TKC_STOP_NEXT,     /* to the next line of this function, or of its caller */
    TKC_STOP_STEP,     /* to the next line, in a helper too */
    TKC_STOP_QUIT      /* the launch fails */
} TkcStopAction;
typedef struct TkcStop TkcStop;
/* Who is asked when a program stops. The stop is valid during the call, on the thread of the launch. */
TKC_API void tkc_device_on_stop(TkcDevice *dev, TkcStopAction (*fn)(TkcStop *stop, void *user),
                                void *user);
/* The number of the program along an axis. */
TKC_API int64_t tkc_stop_program(const TkcStop *stop, int axis);
/* Where the program is. Level 0 is where the program stopped, 1 the call that is in, … false: there is no such level. */
TKC_API bool tkc_stop_place(const TkcStop *stop, int level, const char **file, int *line,
                            const char **function);
/* The names with a value now, 0, 1, …; NULL past the last. */
TKC_API const char *tkc_stop_name(const TkcStop *stop, int i);
/* The value of a name (blocks shortened) or an expression, as text; valid until the next call.
   False: the text says what is wrong. */
TKC_API bool tkc_stop_evaluate(TkcStop *stop, const char *expression, const char **text);

#ifdef __cplusplus
}
#endif
#endif
