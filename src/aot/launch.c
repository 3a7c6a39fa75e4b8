#ifndef TKC_LAUNCH_1_IMPLEMENTATION
#define TKC_LAUNCH_1_IMPLEMENTATION
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* One target's code. PTX is for its target and newer ones, a cubin for chips of the same
   generation; both of an `exact` target ("sm_90a") for that alone. */
typedef struct TkcImage1 {
    const char *kernel;
    int target, exact; /* 90: compute capability 9.0 */
    unsigned threads, shared;
    const unsigned char *ptx, *cubin; /* cubin NULL: there is none */
} TkcImage1;

/* Code in a context. Records stay; a context's number is never another's. */
typedef struct TkcLoaded1 {
    struct TkcLoaded1 *next;
    void *context, *function;
    unsigned long long number;
    unsigned threads, shared;
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
    int (*CtxGetId)(void *context, unsigned long long *number); /* NULL: before CUDA 12.0 */
} TkcDriver1;

static TkcDriver1 tkc_driver_1;
static int tkc_driver_state_1; /* 0: not looked for; 1: there; 2: not there */
static pthread_mutex_t tkc_lock_1 = PTHREAD_MUTEX_INITIALIZER;

static int tkc_find_1(void *library, const char *name, void *entry)
{
    void *symbol = dlsym(library, name);
    memcpy(entry, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* The lock is held. */
static int tkc_open_driver_1(void)
{
    TkcDriver1 *d = &tkc_driver_1;
    void *lib;
    if (tkc_driver_state_1 == 0) {
        lib = dlopen("libcuda.so.1", RTLD_NOW);
        tkc_driver_state_1 =
            lib && tkc_find_1(lib, "cuCtxGetCurrent", &d->CtxGetCurrent) &&
                    tkc_find_1(lib, "cuCtxGetDevice", &d->CtxGetDevice) &&
                    tkc_find_1(lib, "cuDeviceGetAttribute", &d->DeviceGetAttribute) &&
                    tkc_find_1(lib, "cuThreadExchangeStreamCaptureMode",
                               &d->ThreadExchangeStreamCaptureMode) &&
                    tkc_find_1(lib, "cuModuleLoadDataEx", &d->ModuleLoadDataEx) &&
                    tkc_find_1(lib, "cuModuleUnload", &d->ModuleUnload) &&
                    tkc_find_1(lib, "cuModuleGetFunction", &d->ModuleGetFunction) &&
                    tkc_find_1(lib, "cuFuncSetAttribute", &d->FuncSetAttribute) &&
                    tkc_find_1(lib, "cuLaunchKernel", &d->LaunchKernel)
                ? 1
                : 2;
        if (lib) tkc_find_1(lib, "cuCtxGetId", &d->CtxGetId);
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
    loaded->threads = image->threads;
    loaded->shared = image->shared;
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

static int tkc_launch_1(TkcCode1 *code, void *stream, unsigned x, unsigned y, unsigned z,
                        void **params)
{
    TkcLoaded1 *k;
    const int status = tkc_get_1(code, &k);
    return status ? status
                  : tkc_driver_1.LaunchKernel(k->function, x, y, z, k->threads, 1, 1, k->shared,
                                              stream, params, NULL);
}

static int tkc_load_all_1(TkcCode1 *code, int count)
{
    TkcLoaded1 *k;
    int i, status = TKC_LAUNCH_OK;
    for (i = 0; i < count && status == TKC_LAUNCH_OK; i++) status = tkc_get_1(&code[i], &k);
    return status;
}
#endif
