/* From PTX to a module. The driver's linker gives the machine code that it makes, which a later process can
   load at once; what the driver makes of PTX while loading it, it keeps to itself. So PTX is linked, and
   where that cannot be, loaded: what is wrong with it is said then. */
#include <stdlib.h>
#include <string.h>

#include "cuda_device.h"
#include "jit/manifest.h"
#include "ptx/ptx.h"

/* ---- with the log of an error ---- */

typedef struct Log {
    char text[4096];
    CuJitOption options[3]; /* the third is the caller's */
    void *values[3];
} Log;

static void log_begin(Log *log)
{
    *log->text = 0;
    log->options[0] = CU_JIT_ERROR_LOG;
    log->values[0] = log->text;
    log->options[1] = CU_JIT_ERROR_LOG_BYTES;
    log->values[1] = (void *)(uintptr_t)sizeof log->text;
}

/* The name of a driver's call, and what it gives. */
typedef struct Step { const char *call; CuResult result; } Step;

/* What the last step comes to, with its log. */
static TkcStatus tell(TkcDevice *dev, Step step, const Log *log, const char *ptx)
{
    char place[512];
    Cuda *c = dev->state;
    if (step.result == CU_OK) return TKC_OK;
    tkc_report_begin(dev->cx);
    TkcStatus status = cuda_check(dev->cx, &c->api, step.result, step.call);
    if (*log->text)
        tkc_report_note(dev->cx, NULL, "the %s says: %s", c->api.library ? "driver" : "emulator",
                        log->text);
    if (ptx_log_place(place, sizeof place, log->text, ptx))
        tkc_report_note(dev->cx, NULL, "this is inline assembly of %s", place);
    tkc_report_end(dev->cx);
    return status;
}

/* ---- linking ---- */

/* As the driver numbers targets: sm_90 is 90, and what only that chip has is a bit. */
static int target_of(const char *arch)
{
    char *end;
    const int chip = (int)strtol(arch + strlen("sm_"), &end, 10);
    return chip | (*end == 'a' ? CU_ACCELERATED : 0);
}

/* The image belongs to the linker, which goes. */
static Step copy_image(DeviceImage *out, const void *image, size_t bytes)
{
    out->data = malloc(bytes + 1);
    if (out->data) memcpy(out->data, image, out->bytes = bytes);
    return (Step){"cuLinkComplete", out->data ? CU_OK : CU_OUT_OF_MEMORY};
}

/* *failed: the text of the step. */
static Step complete(Cuda *c, CuLink link, const char *const *ptx, size_t n, DeviceImage *out, size_t *failed)
{
    void *image = NULL;
    size_t bytes = 0;
    Step step = {"cuLinkAddData", CU_OK};
    for (size_t i = 0; i < n && step.result == CU_OK; i++) {
        *failed = i;
        step.result = c->api.LinkAddData(link, CU_LINK_PTX, (void *)ptx[i], strlen(ptx[i]) + 1, "kernel",
                                         0, NULL, NULL);
    }
    if (step.result == CU_OK) step = (Step){"cuLinkComplete", c->api.LinkComplete(link, &image, &bytes)};
    return step.result == CU_OK ? copy_image(out, image, bytes) : step;
}

/* arch NULL: for the chip of the context. */
static Step link_ptx(Cuda *c, const char *const *ptx, size_t n, const char *arch, Log *log, DeviceImage *out,
                     size_t *failed)
{
    CuLink link = NULL;
    *failed = 0;
    log_begin(log);
    log->options[2] = CU_JIT_FOR_TARGET;
    log->values[2] = (void *)(uintptr_t)(arch ? target_of(arch) : 0);
    Step step = {"cuLinkCreate", c->api.LinkCreate(arch ? 3 : 2, log->options, log->values, &link)};
    if (step.result != CU_OK) return step;
    step = complete(c, link, ptx, n, out, failed);
    c->api.LinkDestroy(link);
    return step;
}

static bool has_linker(const Cuda *c)
{
    return c->api.LinkCreate && c->api.LinkAddData && c->api.LinkComplete && c->api.LinkDestroy;
}

TkcStatus cuda_assemble(TkcDevice *dev, const char *const *ptx, size_t n, const char *arch,
                        DeviceImage *out)
{
    Log log;
    size_t failed;
    bool pushed;
    Cuda *c = dev->state;
    if (!has_linker(c))
        return tkc_refuse(dev->cx, TKC_NO_DEVICE, "the driver has no linker, which would make machine code");
    TkcStatus status = cuda_enter(dev, c, &pushed);
    if (status != TKC_OK) return status;
    const Step step = link_ptx(c, ptx, n, arch, &log, out, &failed);
    status = tell(dev, step, &log, ptx[failed]);
    cuda_leave(c, pushed);
    return status;
}

/* ---- loading ---- */

static const Step no_image = {"cuModuleLoadDataEx", CU_INVALID_IMAGE};

/* The driver does not take it, which others may still mend: unlike a lack of memory. */
static bool is_refused(Step step)
{
    return step.result != CU_OK && step.result != CU_OUT_OF_MEMORY;
}

static Step load_data(Cuda *c, const void *data, Log *log, DeviceKernel *k)
{
    log_begin(log);
    return (Step){"cuModuleLoadDataEx",
                  c->api.ModuleLoadDataEx(&k->module, data, 2, log->options, log->values)};
}

static Step load_image(Cuda *c, const void *image, size_t bytes, Log *log, DeviceKernel *k)
{
    const Step step = image ? load_data(c, image, log, k) : no_image;
    if (step.result == CU_OK) k->binary_bytes = (int)bytes;
    return step;
}

/* Instructions of one chip alone are asked for by name. */
static Step load_linked(Cuda *c, const DeviceCode *code, Log *log, DeviceImage *made, DeviceKernel *k)
{
    const char *arch = code->manifest->target;
    const bool is_own = arch[strlen(arch) - 1] == 'a';
    size_t failed;
    Step step = has_linker(c) ? link_ptx(c, &code->text, 1, is_own ? arch : NULL, log, made, &failed) : no_image;
    if (step.result == CU_OK) step = load_image(c, made->data, made->bytes, log, k);
    if (step.result == CU_OK) return step;
    free(made->data);
    *made = (DeviceImage){0};
    return step;
}

TkcStatus cuda_load_module(TkcDevice *dev, const DeviceCode *code, DeviceImage *made,
                           DeviceKernel *k)
{
    Log log;
    Cuda *c = dev->state;
    k->binary_bytes = -1;
    Step step = load_image(c, code->image, code->image_bytes, &log, k);
    if (is_refused(step)) step = load_linked(c, code, &log, made, k);
    if (is_refused(step)) step = load_data(c, code->text, &log, k);
    return tell(dev, step, &log, code->text);
}
