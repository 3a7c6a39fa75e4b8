#ifndef TKC_LAUNCH_1_IMPLEMENTATION
#define TKC_LAUNCH_1_IMPLEMENTATION
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A number that a launch gives: the product of what is known and of parameters, integers of so many
   bytes (-1: no more), which wraps at 32 or 64 bits. */
typedef struct TkcNumber1 {
    long long value;
    int bits;
    struct {
        int param, bytes;
    } factor[3];
} TkcNumber1;

/* A tensor map that the kernel takes behind its parameters: of an array whose base is a parameter, with
   its extents, columns and rows first, elements from one to the next of all dims but the first, bytes of
   an element, and the box of rows and columns that is copied at once, with the bytes of a row of it. */
typedef struct TkcMap1 {
    int base, rank;
    TkcNumber1 extent[5], stride[4];
    int bytes, box_rows, box_columns, swizzle;
} TkcMap1;

/* One target's code. PTX is for its target and newer ones, a cubin for chips of the same
   generation; both of an `exact` target ("sm_90a") for that alone. */
typedef struct TkcImage1 {
    const char *kernel;
    int target, exact; /* 90: compute capability 9.0 */
    unsigned threads, shared;
    const unsigned char *ptx, *cubin; /* cubin NULL: there is none */
    const TkcMap1 *maps;
    int nmaps;
} TkcImage1;

/* Code in a context. Records stay; a context's number is never another's. */
typedef struct TkcLoaded1 {
    struct TkcLoaded1 *next;
    void *context, *function;
    unsigned long long number;
    const TkcImage1 *image;
} TkcLoaded1;

typedef struct TkcCode1 {
    const TkcImage1 *images;
    int count;
    TkcLoaded1 *loaded;
} TkcCode1;

/* The driver's functions, as cuda.h declares them; handles are pointers. */
typedef struct TkcDriver1 {
    int (*CtxGetCurrent)(void **context);
    int (*CtxGetDevice)(int *device);
    int (*DeviceGetAttribute)(int *value, int attribute, int device);
    int (*ThreadExchangeStreamCaptureMode)(int *mode);
    int (*ModuleLoadDataEx)(void **module, const void *image, unsigned n, int *options,
                            void **values);
    int (*ModuleUnload)(void *module);
    int (*ModuleGetFunction)(void **function, void *module, const char *name);
    int (*FuncSetAttribute)(void *function, int attribute, int value);
    int (*LaunchKernel)(void *function, unsigned x, unsigned y, unsigned z, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                        void **extra);
    int (*TensorMapEncodeTiled)(void *map, int type, unsigned rank, void *address,
                                const unsigned long long *dim, const unsigned long long *stride,
                                const unsigned *box, const unsigned *each, int interleave,
                                int swizzle, int promotion, int fill); /* NULL: as CtxGetId */
    int (*CtxGetId)(void *context, unsigned long long *number); /* NULL: before CUDA 12.0 */
} TkcDriver1;

static TkcDriver1 tkc_driver_1;
static int tkc_driver_state_1; /* 0: not looked for; 1: there; 2: not there */
static pthread_mutex_t tkc_lock_1 = PTHREAD_MUTEX_INITIALIZER;

/* In the order of TkcDriver1; the last two may be missing. */
static const char *const tkc_driver_names_1[] = {
    "cuCtxGetCurrent", "cuCtxGetDevice", "cuDeviceGetAttribute", "cuThreadExchangeStreamCaptureMode",
    "cuModuleLoadDataEx", "cuModuleUnload", "cuModuleGetFunction", "cuFuncSetAttribute",
    "cuLaunchKernel", "cuTensorMapEncodeTiled", "cuCtxGetId"};

/* The lock is held. */
static int tkc_open_driver_1(void)
{
    const int n = (int)(sizeof tkc_driver_names_1 / sizeof *tkc_driver_names_1);
    void *lib, *symbol;
    int i;
    if (tkc_driver_state_1 == 0) {
        lib = dlopen("libcuda.so.1", RTLD_NOW);
        tkc_driver_state_1 = lib ? 1 : 2;
        for (i = 0; lib && i < n; i++) {
            symbol = dlsym(lib, tkc_driver_names_1[i]);
            memcpy((char *)&tkc_driver_1 + (size_t)i * sizeof symbol, &symbol, sizeof symbol);
            if (!symbol && i < n - 2) tkc_driver_state_1 = 2;
        }
    }
    return tkc_driver_state_1 == 1 ? TKC_LAUNCH_OK : TKC_LAUNCH_NO_DRIVER;
}

/* The one that is nearest to the device; NULL: none is for it. */
static const TkcImage1 *tkc_choose_1(const TkcCode1 *code, int device)
{
    const TkcImage1 *best = NULL;
    int i;
    for (i = 0; i < code->count; i++) {
        const TkcImage1 *one = &code->images[i];
        if (one->exact ? one->target != device : one->target > device) continue;
        if (!best || one->target * 2 + one->exact > best->target * 2 + best->exact) best = one;
    }
    return best;
}

/* A cubin that the driver does not take, being older than the assembler, is no error: PTX is. */
static int tkc_load_module_1(const TkcImage1 *image, int device, void **module)
{
    const TkcDriver1 *d = &tkc_driver_1;
    if (image->cubin && image->target / 10 == device / 10 &&
        d->ModuleLoadDataEx(module, image->cubin, 0, NULL, NULL) == 0)
        return 0;
    return d->ModuleLoadDataEx(module, image->ptx, 0, NULL, NULL);
}

static int tkc_prepare_function_1(const TkcImage1 *image, void *module, void **function)
{
    const TkcDriver1 *d = &tkc_driver_1;
    int status = d->ModuleGetFunction(function, module, image->kernel);
    if (status == 0 && image->shared > 48 * 1024) /* MAX_DYNAMIC_SHARED_SIZE_BYTES */
        status = d->FuncSetAttribute(*function, 8, (int)image->shared);
    return status;
}

/* Loading is legal while a stream is captured, since no stream has a part in it. The lock is
   held. */
static int tkc_load_1(TkcCode1 *code, void *context, unsigned long long number, TkcLoaded1 **out)
{
    const TkcDriver1 *d = &tkc_driver_1;
    const TkcImage1 *image;
    TkcLoaded1 *loaded;
    void *module = NULL, *function = NULL;
    int device = 0, major = 0, minor = 0, mode = 2, status;
    if ((status = d->CtxGetDevice(&device)) ||
        (status = d->DeviceGetAttribute(&major, 75, device)) ||
        (status = d->DeviceGetAttribute(&minor, 76, device)))
        return status;
    image = tkc_choose_1(code, major * 10 + minor);
    if (!image) return TKC_LAUNCH_NO_CODE;
    loaded = (TkcLoaded1 *)calloc(1, sizeof *loaded);
    if (!loaded) return TKC_LAUNCH_NO_MEMORY;
    d->ThreadExchangeStreamCaptureMode(&mode);
    status = tkc_load_module_1(image, major * 10 + minor, &module);
    if (status == 0) {
        status = tkc_prepare_function_1(image, module, &function);
        if (status) d->ModuleUnload(module);
    }
    d->ThreadExchangeStreamCaptureMode(&mode);
    if (status) {
        free(loaded);
        return status;
    }
    loaded->context = context;
    loaded->number = number;
    loaded->function = function;
    loaded->image = image;
    loaded->next = code->loaded;
    *out = code->loaded = loaded;
    return TKC_LAUNCH_OK;
}

/* The lock is held. */
static int tkc_find_loaded_1(TkcCode1 *code, TkcLoaded1 **out)
{
    const TkcDriver1 *d = &tkc_driver_1;
    void *context = NULL;
    unsigned long long number = 0;
    int status = tkc_open_driver_1();
    if (status) return status;
    if ((status = d->CtxGetCurrent(&context))) return status;
    if (!context) return TKC_LAUNCH_NO_CONTEXT;
    if (d->CtxGetId && (status = d->CtxGetId(context, &number))) return status;
    for (*out = code->loaded; *out; *out = (*out)->next)
        if ((*out)->context == context && (*out)->number == number) return TKC_LAUNCH_OK;
    return tkc_load_1(code, context, number, out);
}

static int tkc_get_1(TkcCode1 *code, TkcLoaded1 **out)
{
    int status;
    pthread_mutex_lock(&tkc_lock_1);
    status = tkc_find_loaded_1(code, out);
    pthread_mutex_unlock(&tkc_lock_1);
    return status;
}

static long long tkc_number_1(const TkcNumber1 *n, void **params)
{
    unsigned long long x = (unsigned long long)n->value;
    int i;
    for (i = 0; i < 3 && n->factor[i].param >= 0; i++) {
        const void *at = params[n->factor[i].param];
        const int bytes = n->factor[i].bytes;
        x *= (unsigned long long)(bytes == 1   ? *(const int8_t *)at
                                  : bytes == 2 ? *(const int16_t *)at
                                  : bytes == 4 ? *(const int32_t *)at
                                               : *(const int64_t *)at);
    }
    return n->bits == 32 ? (int32_t)x : (long long)x;
}

static int tkc_map_1(const TkcMap1 *m, void **params, void *map)
{
    unsigned long long dim[5], step[5];
    const unsigned box[5] = {(unsigned)m->box_columns, (unsigned)m->box_rows, 1, 1, 1}, each[5] = {1, 1, 1, 1, 1};
    const int type = m->bytes == 1 ? 0 : m->bytes == 2 ? 1 : m->bytes == 4 ? 2 : 4;
    void *base = *(void **)params[m->base];
    int d, is_empty = 0; /* the kernel reads nothing of it */
    if (!tkc_driver_1.TensorMapEncodeTiled) return TKC_LAUNCH_NO_DRIVER;
    for (d = 0; d < m->rank; d++) {
        const long long extent = tkc_number_1(&m->extent[d], params);
        dim[d] = (unsigned long long)(extent < 1 ? 1 : extent);
        is_empty |= extent < 1;
    }
    for (d = 0; d < m->rank - 1; d++)
        step[d] = (unsigned long long)(is_empty ? 16 : tkc_number_1(&m->stride[d], params) * m->bytes);
    return tkc_driver_1.TensorMapEncodeTiled(map, type, (unsigned)m->rank, base ? base : (void *)16, dim, step, box,
                                             each, 0, 1 + (m->swizzle > 32) + (m->swizzle > 64), 2, 0);
}

/* There is room for maps behind the nparams parameters, 128 bytes each at a multiple of 64 in `room`. */
static int tkc_launch_1(TkcCode1 *code, void *stream, unsigned x, unsigned y, unsigned z,
                        void **params, int nparams, unsigned char *room)
{
    TkcLoaded1 *k;
    int i, status = tkc_get_1(code, &k);
    if (status) return status;
    if (room) room += (64 - (uintptr_t)room % 64) % 64;
    for (i = 0; i < k->image->nmaps && !status; i++) {
        params[nparams + i] = room + 128 * i;
        status = tkc_map_1(&k->image->maps[i], params, params[nparams + i]);
    }
    return status ? status
                  : tkc_driver_1.LaunchKernel(k->function, x, y, z, k->image->threads, 1, 1,
                                              k->image->shared, stream, params, NULL);
}

static int tkc_load_all_1(TkcCode1 *code, int count)
{
    TkcLoaded1 *k;
    int i, status = TKC_LAUNCH_OK;
    for (i = 0; i < count && status == TKC_LAUNCH_OK; i++) status = tkc_get_1(&code[i], &k);
    return status;
}
#endif
