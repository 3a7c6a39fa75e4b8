/* Devices by name, and the calls that only pass on. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/manifest.h"

static const DeviceOps *const kinds[] = {&device_cuda, &device_cpu, &device_simt};
enum { KINDS = sizeof kinds / sizeof *kinds };

_Static_assert(sizeof(TkcDevice) <= TKC_HANDLE_BYTES, "a handle's cell is too small");

static void init_recursive(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(mutex, &attr);
    pthread_mutexattr_destroy(&attr);
}

/* arch: "" where the kind has one of its own. */
static TkcStatus open_kind(TkcContext *cx, const DeviceOps *ops, const char *arch, int ordinal,
                           void *context, TkcDevice **out)
{
    if (ordinal != 0 && ops != &device_cuda)
        return tkc_refuse(cx, TKC_NO_DEVICE, "there is no %s device %d; there is one, number 0", ops->kind, ordinal);
    TkcDevice *dev = tkc_handle_new(TKC_HANDLE_DEVICE);
    if (!dev) return tkc_no_memory(cx);
    dev->cx = cx;
    dev->ops = ops;
    snprintf(dev->arch, sizeof dev->arch, "%s", arch);
    init_recursive(&dev->turn);
    pthread_mutex_init(&dev->printing, NULL);
    TkcStatus status = ops->open(dev, ordinal, context);
    if (status != TKC_OK) {
        pthread_mutex_destroy(&dev->turn);
        pthread_mutex_destroy(&dev->printing);
        tkc_handle_close(dev, TKC_HANDLE_DEVICE);
        tkc_handle_free(dev);
        return status;
    }
    tkc_handle_keep(cx, TKC_HANDLE_CONTEXT);
    device_open_cache(dev);
    *out = dev;
    return TKC_OK;
}

bool device_is(const TkcDevice *dev)
{
    return tkc_handle_is(dev, TKC_HANDLE_DEVICE) && tkc_handle_is(dev->cx, TKC_HANDLE_CONTEXT);
}

const DeviceOps *device_turn(TkcDevice *dev)
{
    if (dev->ops->takes_turns) pthread_mutex_lock(&dev->turn);
    return dev->ops;
}

TkcStatus device_done(TkcDevice *dev, TkcStatus status)
{
    if (dev->ops->takes_turns) pthread_mutex_unlock(&dev->turn);
    return status;
}

void device_release(TkcDevice *dev)
{
    if (!tkc_handle_drop(dev)) return;
    dev->ops->close(dev);
    device_close_cache(dev);
    pthread_mutex_destroy(&dev->turn);
    pthread_mutex_destroy(&dev->printing);
    tkc_context_drop(dev->cx);
    tkc_handle_free(dev);
}

/* cx that is none: nobody to tell. */
static TkcStatus misuse(TkcContext *cx, const char *text)
{
    if (tkc_handle_is(cx, TKC_HANDLE_CONTEXT)) tkc_report(cx, TKC_SEVERITY_ERROR, NULL, "%s", text);
    return TKC_MISUSE;
}

static _Thread_local const TkcDevice *printing; /* whose device_print this thread is in */

bool device_may_work(const TkcDevice *dev)
{
    if (!device_is(dev)) return false;
    if (printing != dev) return true;
    misuse(dev->cx, "the function of tkc_device_on_print is called in the middle of a launch, and may not use the device");
    return false;
}

void device_print(TkcDevice *dev, const char *line)
{
    const TkcDevice *outer = printing;
    pthread_mutex_lock(&dev->printing);
    printing = dev;
    if (dev->print) dev->print(line, dev->print_user);
    printing = outer;
    pthread_mutex_unlock(&dev->printing);
}

TkcStatus device_check_pointers(TkcDevice *dev, const Manifest *m, const LaunchPack *pack,
                                const char *(*find_fault)(TkcDevice *dev, uint64_t address, size_t bytes))
{
    for (int i = 0; i < m->nparams; i++) {
        const ManifestParam *p = &m->params[i];
        const uint64_t address = p->is.stars ? manifest_value(p, pack->values) : 0;
        const char *fault = address ? find_fault(dev, address, pack->bytes[i]) : NULL;
        if (fault) return tkc_refuse(dev->cx, TKC_MISUSE, "argument '%s': %s", p->name, fault);
    }
    return TKC_OK;
}

TkcStatus tkc_device_open(TkcContext *cx, const char *kind, int ordinal, TkcDevice **out)
{
    if (out) *out = NULL;
    if (!out || !tkc_handle_is(cx, TKC_HANDLE_CONTEXT))
        return misuse(cx, "there is no place for the device: the pointer is NULL");
    if (!kind) { /* a GPU when there is one: not having one is no error */
        tkc_context_mute(cx, 1);
        TkcStatus status = open_kind(cx, &device_cuda, "", ordinal, NULL, out);
        tkc_context_mute(cx, -1);
        return status == TKC_NO_DEVICE ? open_kind(cx, &device_cpu, "", 0, NULL, out) : status;
    }
    if (!strncmp(kind, "simt:", 5))
        return open_kind(cx, &device_simt, kind + 5, ordinal, NULL, out);
    for (int i = 0; i < KINDS; i++)
        if (!strcmp(kind, kinds[i]->kind)) return open_kind(cx, kinds[i], "", ordinal, NULL, out);
    return tkc_refuse(cx, TKC_NO_DEVICE, "there is no device '%s'; there are cuda, simt and cpu",
                      kind);
}

TkcStatus tkc_device_open_cuda_context(TkcContext *cx, void *cu_context, TkcDevice **out)
{
    if (out) *out = NULL;
    if (!out || !tkc_handle_is(cx, TKC_HANDLE_CONTEXT))
        return misuse(cx, "there is no place for the device: the pointer is NULL");
    if (!cu_context) return misuse(cx, "the CUDA context is NULL");
    return open_kind(cx, &device_cuda, "", 0, cu_context, out);
}

void tkc_device_free(TkcDevice *dev)
{
    if (tkc_handle_close(dev, TKC_HANDLE_DEVICE)) device_release(dev);
}

const char *tkc_device_kind(const TkcDevice *dev)
{
    return device_is(dev) ? dev->ops->kind : NULL;
}

const char *tkc_device_name(const TkcDevice *dev)
{
    return device_is(dev) ? dev->name : NULL;
}

const char *tkc_device_arch(const TkcDevice *dev)
{
    return device_is(dev) ? dev->arch : NULL;
}

TkcStatus tkc_device_info(TkcDevice *dev, TkcDeviceInfo *out)
{
    TkcDeviceInfo ours = {.size = sizeof ours};
    if (!device_is(dev)) return TKC_MISUSE;
    dev->ops->facts(dev, &ours);
    return out && tkc_give(out, &ours, sizeof ours)
               ? TKC_OK
               : misuse(dev->cx,
                        "there is no place for what the device is: NULL, or without a size");
}

TkcStatus tkc_device_inspect(TkcDevice *dev, const TkcArtifact *ptx, TkcKernelInfo *info)
{
    DeviceKernel *kernel = NULL;
    if (!device_may_work(dev)) return TKC_MISUSE;
    if (!tkc_handle_is(ptx, TKC_HANDLE_ARTIFACT) || dev->ops->emit != TKC_EMIT_PTX)
        return misuse(dev->cx, "there is no PTX, or this device takes none");
    TkcKernelInfo told = {.size = sizeof told,
                          .num_warps = tkc_artifact_num_warps(ptx),
                          .num_stages = tkc_artifact_num_stages(ptx),
                          .shared_bytes = tkc_artifact_shared_bytes(ptx),
                          .config = -1};
    size_t len;
    Manifest m;
    char *text = manifest_write(ptx, &len);
    if (!text || !manifest_read(&m, text, len)) {
        free(text);
        return tkc_no_memory(dev->cx);
    }
    const DeviceCode code = {.manifest = &m, .text = tkc_artifact_text(ptx, NULL)};
    TkcStatus status = dev->ops->load(dev, &code, &kernel);
    if (status == TKC_OK) dev->ops->info(dev, kernel, &told);
    dev->ops->unload(dev, kernel);
    manifest_fini(&m);
    free(text);
    if (status == TKC_OK && !(info && tkc_give(info, &told, sizeof told)))
        return misuse(dev->cx, "there is no place for what the kernel costs");
    return status;
}

/* What cannot be one module; NULL: it can. */
static const char *find_mixed(const TkcArtifact *const *ptx, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!tkc_handle_is(ptx[i], TKC_HANDLE_ARTIFACT) || !tkc_artifact_manifest((TkcArtifact *)ptx[i]))
            return "there is no PTX";
        if (strcmp(tkc_artifact_arch(ptx[i]), tkc_artifact_arch(ptx[0]))) return "the targets differ";
        for (size_t k = 0; k < i; k++)
            if (!strcmp(tkc_artifact_kernel(ptx[i]), tkc_artifact_kernel(ptx[k])))
                return "two kernels have one symbol; TkcOptions.symbol gives another";
    }
    return n ? NULL : "there is no PTX";
}

TkcStatus tkc_device_assemble(TkcDevice *dev, const TkcArtifact *const *ptx, size_t n, void **cubin, size_t *bytes)
{
    DeviceImage made = {0};
    if (!device_is(dev)) return TKC_MISUSE;
    if (!ptx || !cubin || !bytes) return misuse(dev->cx, "there is no PTX, or no place for the cubin: a pointer is NULL");
    if (!dev->ops->assemble) return misuse(dev->cx, "this device makes no machine code of PTX");
    const char *wrong = find_mixed(ptx, n);
    if (wrong) return misuse(dev->cx, wrong);
    const char **texts = calloc(n, sizeof *texts);
    if (!texts) return tkc_no_memory(dev->cx);
    for (size_t i = 0; i < n; i++) texts[i] = tkc_artifact_text(ptx[i], NULL);
    TkcStatus status = dev->ops->assemble(dev, texts, n, tkc_artifact_arch(ptx[0]), &made);
    free(texts);
    *cubin = made.data;
    *bytes = made.bytes;
    return status;
}

TkcStatus tkc_alloc(TkcDevice *dev, size_t bytes, TkcPtr *out)
{
    if (!device_may_work(dev)) return TKC_MISUSE;
    if (!out) return misuse(dev->cx, "there is no place for the address: the pointer is NULL");
    return device_call(dev, alloc, bytes, out);
}

TkcStatus tkc_free(TkcDevice *dev, TkcPtr ptr)
{
    if (!ptr) return TKC_OK;
    return device_may_work(dev) ? device_call(dev, free, ptr) : TKC_MISUSE;
}

TkcStatus tkc_copy_in(TkcDevice *dev, TkcPtr to, const void *from, size_t bytes)
{
    if (!bytes) return TKC_OK;
    if (!device_may_work(dev)) return TKC_MISUSE;
    if (!from) return misuse(dev->cx, "there is nothing to copy from: the pointer is NULL");
    return device_call(dev, copy_in, to, from, bytes);
}

TkcStatus tkc_copy_out(TkcDevice *dev, void *to, TkcPtr from, size_t bytes)
{
    if (!bytes) return TKC_OK;
    if (!device_may_work(dev)) return TKC_MISUSE;
    if (!to) return misuse(dev->cx, "there is no place to copy to: the pointer is NULL");
    return device_call(dev, copy_out, to, from, bytes);
}

TkcStatus tkc_synchronize(TkcDevice *dev, void *stream)
{
    return device_may_work(dev) ? dev->ops->synchronize(dev, stream) : TKC_MISUSE;
}

void tkc_device_set_seed(TkcDevice *dev, uint64_t seed)
{
    if (device_is(dev)) dev->seed = seed;
}

void tkc_device_set_timeout(TkcDevice *dev, double seconds)
{
    if (device_is(dev)) dev->timeout = seconds > 0 ? seconds : 0;
}

void tkc_device_set_threads(TkcDevice *dev, int threads)
{
    if (device_is(dev)) dev->threads = threads > 0 ? threads : 0;
}

void tkc_device_on_print(TkcDevice *dev, void (*fn)(const char *line, void *user), void *user)
{
    if (!device_is(dev)) return;
    dev->print = fn;
    dev->print_user = user;
}

void tkc_device_set_memory_checks(TkcDevice *dev, bool on)
{
    if (device_is(dev)) dev->unchecked = !on;
}

TkcStatus tkc_device_unwritten(TkcDevice *dev, TkcPtr address, size_t size, size_t n,
                               bool *elements, size_t *count)
{
    size_t bytes;
    if (!device_may_work(dev)) return TKC_MISUSE;
    if (!count) return misuse(dev->cx, "there is no place for the count: the pointer is NULL");
    *count = 0;
    if (!size || size > 8 || (size & (size - 1)) || __builtin_mul_overflow(size, n, &bytes))
        return misuse(dev->cx, "elements have 1, 2, 4 or 8 bytes, and do not reach past memory");
    if (elements) memset(elements, 0, n * sizeof *elements);
    return n && dev->ops->unwritten ? device_call(dev, unwritten, address, size, n, elements, count)
                                    : TKC_OK;
}
