/* From PTX to a kernel, and to a cubin. A kernel is loaded as PTX: the driver's compiler sees then that there is
   nothing else, and weighs registers against programs at once. What it makes it keeps for other processes, in a
   cache of its own. Its linker alone gives machine code out, but compiles as for a part of a program, where
   every kernel without a limit takes all registers it can use: that is for cubins where there is no ptxas. */
#include <stdio.h>
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

/* The kernel alone, of this text. */
static Step load_ptx(Cuda *c, const char *ptx, const char *kernel, Log *log, DeviceKernel *k)
{
    log_begin(log);
    Step step = {"cuModuleLoadDataEx",
                 c->api.ModuleLoadDataEx(&k->module, ptx, 2, log->options, log->values)};
    if (step.result != CU_OK) return step;
    *log->text = 0;
    step = (Step){"cuModuleGetFunction", c->api.ModuleGetFunction(&k->function, k->module, kernel)};
    if (step.result == CU_OK)
        step = (Step){"cuFuncGetAttribute",
                      c->api.FuncGetAttribute(&k->registers, CU_FUNC_REGISTERS, k->function)};
    if (step.result == CU_OK)
        step.result = c->api.FuncGetAttribute(&k->spill_bytes, CU_FUNC_LOCAL_BYTES, k->function);
    return step;
}

/* ---- one program more on a multiprocessor ---- */

enum { ROUND = 8 }; /* registers of a thread come by so many */

/* For their registers alone, of which each thread has some. */
static int programs_at_once(const TkcDeviceInfo *unit, const DeviceKernel *k)
{
    const int registers = k->registers > 0 ? (k->registers + ROUND - 1) / ROUND * ROUND : ROUND;
    return unit->unit_registers / (registers * (int)k->threads);
}

/* How many registers a thread may have so that so many programs fit: if these are not so few that it
   would hardly do. Else 0. */
static int registers_for(const TkcDeviceInfo *unit, const DeviceKernel *k, int programs)
{
    enum { RESERVED = 1024, MEASURED = 128 };
    const int threads = programs * (int)k->threads, most = unit->unit_registers / threads / ROUND * ROUND;
    if (threads > unit->unit_threads || programs * ((int)k->shared + RESERVED) > unit->unit_shared_bytes) return 0;
    return most >= MEASURED && 2 * k->registers <= 3 * most ? most : 0;
}

/* The text with a limit, malloc'ed; NULL: it has one, or there is no memory. */
static char *limit_registers(const char *ptx, int registers)
{
    char *limited = NULL;
    const char *threads = strstr(ptx, "\n.reqntid"), *end = threads ? strchr(threads + 1, '\n') : NULL;
    if (!end || strstr(ptx, "\n.maxnreg") ||
        asprintf(&limited, "%.*s\n.maxnreg %d%s", (int)(end - ptx), ptx, registers, end) < 0)
        return NULL;
    return limited;
}

/* What ptxas takes is known once it has run. A program of 8 warps that has a multiprocessor for itself
   leaves it idle whenever its warps meet: of 11 that took 137 to 180 registers, where 128 let a second
   one run, 10 were 1.01 to 1.48 times as fast so, three of them with up to 184 bytes in local memory
   (H200); with 256 bytes and more none was. A third or a later one is worth no byte there: 16 to 68
   of them took 1.1 to 1.3 times as long, and without any, of 23 kernels, 13 were 1.04 to 1.27 times as
   fast and two slower. It costs a second run of ptxas, the first time. */
static void load_for_more(TkcDevice *dev, const DeviceCode *code, DeviceKernel *k)
{
    enum { SPILL_BYTES = 192 };
    Log log;
    Cuda *c = dev->state;
    TkcDeviceInfo unit = {0};
    cuda_facts(dev, &unit);
    const int programs = programs_at_once(&unit, k), most = registers_for(&unit, k, programs + 1),
              spill_bytes = k->spill_bytes + (programs == 1 ? SPILL_BYTES : 0);
    DeviceKernel other = *k;
    char *ptx = most ? limit_registers(code->text, most) : NULL;
    other.module = NULL;
    const bool better = ptx && load_ptx(c, ptx, code->manifest->kernel, &log, &other).result == CU_OK &&
                        other.registers <= most && other.spill_bytes <= spill_bytes;
    const CuModule worse = better ? k->module : other.module;
    if (better) *k = other;
    if (worse) c->api.ModuleUnload(worse);
    free(ptx);
}

TkcStatus cuda_load_module(TkcDevice *dev, const DeviceCode *code, DeviceKernel *k)
{
    Log log;
    const Step step = load_ptx(dev->state, code->text, code->manifest->kernel, &log, k);
    if (step.result == CU_OK) load_for_more(dev, code, k);
    return tell(dev, step, &log, code->text);
}
