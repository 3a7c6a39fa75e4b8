/* The GPU through the driver API. Work goes to the device's primary context, or to one the caller
   owns; whatever context was current on entry is current on return. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_device.h"
#include "jit/manifest.h"
#include "simt/driver.h"

/* The driver's limit is 32764 bytes of parameters; a kernel with more of them than this is
   refused. */
enum { MAX_PARAMS = 512, MAX_MAPS = 32 };

/* ---- the current context ---- */

/* By whichever thread needs it first. */
static TkcStatus retain_primary(TkcDevice *dev, Cuda *c)
{
    CuResult result = CU_OK;
    CuContext primary;
    pthread_mutex_lock(&dev->turn);
    if (!c->context && (result = c->api.DevicePrimaryCtxRetain(&primary, c->device)) == CU_OK) {
        c->owns_primary = true;
        c->context = primary;
    }
    pthread_mutex_unlock(&dev->turn);
    return cuda_check(dev->cx, &c->api, result, "cuDevicePrimaryCtxRetain");
}

TkcStatus cuda_enter(TkcDevice *dev, Cuda *c, bool *pushed)
{
    CuContext current = NULL;
    *pushed = false;
    TkcStatus status = c->context ? TKC_OK : retain_primary(dev, c);
    if (status != TKC_OK) return status;
    if (c->api.CtxGetCurrent(&current) == CU_OK && current == c->context) return TKC_OK;
    status = CALL(c, dev, CtxPushCurrent, c->context);
    *pushed = status == TKC_OK;
    return status;
}

void cuda_leave(Cuda *c, bool pushed)
{
    CuContext popped;
    if (pushed) c->api.CtxPopCurrent(&popped);
}

bool cuda_enter_quietly(TkcDevice *dev, bool *pushed)
{
    tkc_context_mute(dev->cx, 1);
    const bool done = cuda_enter(dev, dev->state, pushed) == TKC_OK;
    tkc_context_mute(dev->cx, -1);
    return done;
}

/* ---- open and close ---- */

CALL_INSIDE(device_of_context, (TkcDevice *dev, CuDevice *out), CtxGetDevice, out)

static TkcStatus choose_device(TkcDevice *dev, Cuda *c, int ordinal, void *context)
{
    int count = 0;
    if (context) {
        c->context = context;
        return device_of_context(dev, &c->device);
    }
    TkcStatus status = CALL(c, dev, DeviceGetCount, &count);
    if (status != TKC_OK) return status;
    if (ordinal < 0 || ordinal >= count)
        return tkc_refuse(dev->cx, TKC_NO_DEVICE, "there is no GPU %d; the driver shows %d of them",
                          ordinal, count);
    return CALL(c, dev, DeviceGet, &c->device, ordinal);
}

/* The target that fits the chip: its own, with the instructions that only it has where there is
   such a one; for a chip that is newer than all we know, the newest generation's common
   instructions. */
static TkcStatus name_arch(TkcDevice *dev)
{
    int chip = dev->chip, best = 0;
    bool best_own = false;
    for (const char *p = tkc_arch_list(); *p; p += strspn(p, " ")) {
        char *end;
        int sm = (int)strtol(p + strlen("sm_"), &end, 10);
        bool own = *end == 'a';
        if (sm <= chip && (!own || sm == chip) && (sm > best || (sm == best && own)))
            best = sm, best_own = own;
        p = end + own;
    }
    if (!best)
        return tkc_refuse(
            dev->cx, TKC_NO_DEVICE,
            "no GPU can be used: %s is sm_%d; the oldest that code can be made for is %.*s",
            dev->name, chip, (int)strcspn(tkc_arch_list(), " "), tkc_arch_list());
    snprintf(dev->arch, sizeof dev->arch, "sm_%d%s", best, best_own ? "a" : "");
    return TKC_OK;
}

static TkcStatus read_facts(TkcDevice *dev, Cuda *c)
{
    int major, minor;
    TkcStatus status;
    if ((status = CALL(c, dev, DeviceGetName, dev->name, sizeof dev->name, c->device)) ||
        (status = CALL(c, dev, DeviceGetAttribute, &major, CU_DEVICE_CC_MAJOR, c->device)) ||
        (status = CALL(c, dev, DeviceGetAttribute, &minor, CU_DEVICE_CC_MINOR, c->device)) ||
        (status = CALL(c, dev, DeviceGetAttribute, &c->max_shared, CU_DEVICE_MAX_SHARED_OPTIN, c->device)) ||
        (status = CALL(c, dev, DriverGetVersion, &dev->driver)))
        return status;
    dev->chip = major * 10 + minor;
    return name_arch(dev);
}

static void cuda_close(TkcDevice *dev)
{
    Cuda *c = dev->state;
    if (c->owns_primary) c->api.DevicePrimaryCtxRelease(c->device);
    /* The library stays loaded: the driver has threads and exit handlers of its own. */
    free(c);
    dev->state = NULL;
}

static TkcStatus open_driver(TkcDevice *dev, TkcStatus (*open)(TkcContext *, CudaApi *),
                             int ordinal, void *context)
{
    Cuda *c = calloc(1, sizeof *c);
    if (!c) return tkc_no_memory(dev->cx);
    dev->state = c;
    TkcStatus status = open(dev->cx, &c->api);
    if (status != TKC_OK) {
        free(c);
        return status;
    }
    status = choose_device(dev, c, ordinal, context);
    if (status == TKC_OK) status = read_facts(dev, c);
    if (status != TKC_OK) cuda_close(dev);
    return status == TKC_ERROR ? TKC_NO_DEVICE : status;
}

static TkcStatus cuda_open(TkcDevice *dev, int ordinal, void *context)
{
    return open_driver(dev, cuda_api_open, ordinal, context);
}

/* The chip is what dev->arch asks for, or else the newest that all of the language has been tried
   on; one is as good as another, so there is no second of a kind. */
static TkcStatus simt_open(TkcDevice *dev, int ordinal, void *context)
{
    char wanted[sizeof dev->arch];
    snprintf(wanted, sizeof wanted, "%s", *dev->arch ? dev->arch : "sm_90a");
    const int chip = !strncmp(wanted, "sm_", 3) ? atoi(wanted + 3) : 0;
    (void)ordinal;
    if (simt_ordinal_of(chip) < 0 || !tkc_has_word(tkc_arch_list(), ' ', wanted))
        return tkc_refuse(dev->cx, TKC_NO_DEVICE, "no chip '%s' can be emulated; there are %s",
                          wanted, tkc_arch_list());
    TkcStatus status = open_driver(dev, cuda_api_open_simt, simt_ordinal_of(chip), context);
    snprintf(dev->arch, sizeof dev->arch, "%s", wanted);
    return status;
}

/* ---- memory ---- */

CALL_INSIDE(cuda_alloc, (TkcDevice *dev, size_t bytes, TkcPtr *out), MemAlloc, out,
            bytes ? bytes : 1)
CALL_INSIDE(cuda_free, (TkcDevice *dev, TkcPtr ptr), MemFree, ptr)
CALL_INSIDE(cuda_copy_in, (TkcDevice *dev, TkcPtr to, const void *from, size_t bytes), MemcpyHtoD,
            to, from, bytes)
CALL_INSIDE(cuda_copy_out, (TkcDevice *dev, void *to, TkcPtr from, size_t bytes), MemcpyDtoH, to,
            from, bytes)
CALL_INSIDE(cuda_synchronize, (TkcDevice *dev, void *stream), StreamSynchronize, stream)

/* ---- kernels ---- */

/* More than 48 KB of shared memory must be asked for. */
static TkcStatus allow_shared(TkcDevice *dev, Cuda *c, const DeviceKernel *k)
{
    if ((int)k->shared > c->max_shared)
        return tkc_refuse(dev->cx, TKC_ERROR,
                          "the kernel needs %u bytes of shared memory; %s has %d for a program",
                          k->shared, dev->name, c->max_shared);
    return k->shared <= 48 * 1024 ? TKC_OK
                                  : CALL(c, dev, FuncSetAttribute, k->function,
                                         CU_FUNC_MAX_DYNAMIC_SHARED, (int)k->shared);
}

static bool name_pointers(DeviceKernel *k, const Manifest *m)
{
    k->pointers = calloc((size_t)k->nparams + 1, sizeof *k->pointers);
    for (int i = 0; k->pointers && i < k->nparams; i++)
        if (m->params[i].is.stars) k->pointers[i] = m->params[i].name;
    return k->pointers;
}

static void cuda_unload(TkcDevice *dev, DeviceKernel *k)
{
    Cuda *c = dev->state;
    bool pushed;
    if (!k) return;
    if (k->module && cuda_enter_quietly(dev, &pushed)) {
        c->api.CtxSynchronize(); /* a launch may not have ended */
        c->api.ModuleUnload(k->module);
        cuda_leave(c, pushed);
    }
    free(k->pointers);
    free(k);
}

/* Loading would end the capture of another stream, unless this thread vouches for having no part in
   it: the launch's own stream is not captured (cuda_captures). */
static TkcStatus load_inside(TkcDevice *dev, Cuda *c, const DeviceCode *code, DeviceKernel *k)
{
    CuCaptureMode mode = CU_CAPTURE_RELAXED;
    TkcStatus status = CALL(c, dev, ThreadCaptureMode, &mode);
    if (status != TKC_OK) return status;
    status = cuda_load_module(dev, code, k);
    if (status == TKC_OK) status = allow_shared(dev, c, k);
    c->api.ThreadCaptureMode(&mode);
    return status;
}

static TkcStatus cuda_load(TkcDevice *dev, const DeviceCode *code, DeviceKernel **out)
{
    Cuda *c = dev->state;
    bool pushed;
    const Manifest *m = code->manifest;
    const int n = (int)m->nparams;
    if (n > MAX_PARAMS)
        return tkc_refuse(dev->cx, TKC_ERROR,
                          "the kernel has %d run-time parameters; at most %d can be passed", n,
                          MAX_PARAMS);
    if (m->nmaps && !c->api.TensorMapEncodeTiled)
        return tkc_refuse(dev->cx, TKC_ERROR,
                          "the kernel takes tensor maps, and the driver makes none: it is older than CUDA 12.0");
    if (m->nmaps > MAX_MAPS)
        return tkc_refuse(dev->cx, TKC_ERROR,
                          "the kernel has %lld tensor maps; at most %d can be passed",
                          (long long)m->nmaps, MAX_MAPS);
    DeviceKernel *k = calloc(1, sizeof *k);
    if (!k) return tkc_no_memory(dev->cx);
    k->threads = (unsigned)m->threads;
    k->shared = (unsigned)m->shared;
    k->nparams = n;
    k->manifest = m;
    TkcStatus status = name_pointers(k, m) ? cuda_enter(dev, c, &pushed) : tkc_no_memory(dev->cx);
    if (status == TKC_OK) {
        status = load_inside(dev, c, code, k);
        cuda_leave(c, pushed);
    }
    if (status == TKC_OK) *out = k;
    else cuda_unload(dev, k);
    return status;
}

CALL_INSIDE(launch_with,
            (TkcDevice *dev, const DeviceKernel *k, const int64_t grid[3], void *stream,
             void **params, void **buffer),
            LaunchKernel, k->function, (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2],
            k->threads, 1, 1, k->shared, stream, params, buffer)

/* Tensor maps are behind the parameters. Their addresses are multiples of 64 where the chip keeps parameters, which begin at
   no such multiple there; so where they lie only the machine code says, and the driver must place them. */
static TkcStatus launch_with_maps(TkcDevice *dev, const DeviceKernel *k, const int64_t grid[3],
                                  void *stream, const LaunchPack *pack)
{
    void *params[MAX_PARAMS + MAX_MAPS];
    CuTensorMap maps[MAX_MAPS];
    bool pushed;
    TkcStatus status = cuda_enter(dev, dev->state, &pushed);
    if (status != TKC_OK) return status;
    for (int i = 0; i < k->nparams; i++) params[i] = pack->values + k->manifest->params[i].at;
    for (int i = 0; i < k->manifest->nmaps; i++) params[k->nparams + i] = &maps[i];
    status = cuda_tensor_maps(dev, k, pack, maps);
    if (status == TKC_OK) status = launch_with(dev, k, grid, stream, params, NULL);
    cuda_leave(dev->state, pushed);
    return status;
}

/* In one piece, which the driver copies faster than one value after the other. */
static TkcStatus launch_with_numbers(TkcDevice *dev, const DeviceKernel *k, const int64_t grid[3], void *stream,
                                     const LaunchPack *pack)
{
    size_t bytes = k->manifest->param_bytes;
    void *buffer[] = {CU_LAUNCH_BUFFER, pack->values, CU_LAUNCH_BUFFER_SIZE, &bytes, CU_LAUNCH_END};
    return launch_with(dev, k, grid, stream, NULL, bytes ? buffer : NULL);
}

static TkcStatus cuda_launch(TkcDevice *dev, DeviceKernel *k, const int64_t grid[3], void *stream,
                             const LaunchPack *pack)
{
    return k->manifest->nmaps ? launch_with_maps(dev, k, grid, stream, pack)
                              : launch_with_numbers(dev, k, grid, stream, pack);
}

/* What device_print writes comes in lines, from several threads. */
static void print_lines(const char *text, size_t len, void *user)
{
    static const char newline = '\n';
    TkcDevice *dev = user;
    char line[4096];
    if (len && text[len - 1] == newline) len--;
    snprintf(line, sizeof line, "%.*s", (int)len, text);
    device_print(dev, line);
}

/* What the emulated GPU would only find when the kernel gets there: its memory is all known. */
static const char *find_fault(TkcDevice *dev, uint64_t address, size_t bytes)
{
    bool held;
    (void)dev;
    const char *fault = memory_fault(driver_state()->memory, address, bytes, &held);
    return held || fault ? fault : "it points to no memory of this device; tkc_alloc gives some, tkc_copy_in fills it";
}

static TkcStatus simt_launch(TkcDevice *dev, DeviceKernel *k, const int64_t grid[3], void *stream,
                             const LaunchPack *pack)
{
    const SimtRun run = {.seed = dev->seed,
                         .timeout = dev->timeout,
                         .threads = dev->threads,
                         .print = print_lines,
                         .print_user = dev,
                         .pointers = k->pointers};
    TkcStatus status = device_check_pointers(dev, k->manifest, pack, find_fault);
    if (status != TKC_OK) return status;
    simt_configure(&run);
    status = cuda_launch(dev, k, grid, stream, pack);
    simt_configure(NULL);
    return status;
}

/* The same driver calls, whoever executes them. */
#define DRIVER_OPS                                                                                 \
    .emit = TKC_EMIT_PTX, .max_grid = {2147483647, 65535, 65535}, .close = cuda_close,             \
    .alloc = cuda_alloc, .free = cuda_free, .copy_in = cuda_copy_in, .copy_out = cuda_copy_out,    \
    .synchronize = cuda_synchronize, .load = cuda_load, .assemble = cuda_assemble, .unload = cuda_unload, .info = cuda_info,  \
    .facts = cuda_facts, .captures = cuda_captures, .has_events = true

const DeviceOps device_cuda = {
    .kind = "cuda", .open = cuda_open, .launch = cuda_launch, DRIVER_OPS};
const DeviceOps device_simt = {
    .kind = "simt", .computes = true, .line_info = true, .open = simt_open, .launch = simt_launch, DRIVER_OPS};
