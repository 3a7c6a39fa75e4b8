/* Modules and functions of the driver, and launches. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "tkc/text.h"

/* ---- modules ---- */

/* The log goes where the options say, when the load fails. */
static void write_log(const char *text, unsigned count, const CuJitOption *options, void **values)
{
    char *to = NULL;
    size_t room = 0;
    const char *given = driver_setting("SIMT_LOG");
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG) to = values[i];
        else if (options[i] == CU_JIT_ERROR_LOG_BYTES) room = (uintptr_t)values[i];
    }
    if (to && room) snprintf(to, room, "%s", given ? given : text);
}

static void trace_load(const SimtModule *m, bool is_image)
{
    for (int i = 0; i < m->nfuncs; i++)
        driver_trace("cuModuleLoadDataEx %s: %d parameters, %u threads%s", m->funcs[i]->name,
                     m->funcs[i]->nparams, m->funcs[i]->reqntid[0], is_image ? ", machine code" : "");
}

void driver_module_free(CuModule m)
{
    for (CuFunction f = m->functions, next; f; f = next) next = f->next, free(f);
    for (int i = 0; i < m->nparts; i++) simt_module_free(m->parts[i]);
    free(m->parts);
    free(m);
}

/* Of n texts, one behind the other. */
static int load_parts(CuModule m, const char *text, int n, CuDevice device, char *problem, size_t size)
{
    m->parts = calloc((size_t)n, sizeof *m->parts);
    if (!m->parts) return SIMT_OUT_OF_MEMORY;
    for (; m->nparts < n; text += strlen(text) + 1) {
        SimtModule *part = simt_module_load(text, driver_chip(device), driver_state()->memory, problem, size);
        if (!part) return errno == ENOMEM ? SIMT_OUT_OF_MEMORY : SIMT_INVALID_PTX;
        m->parts[m->nparts++] = part;
    }
    return SIMT_OK;
}

CuResult DRIVER(cuModuleLoadDataEx)(CuModule *module, const void *image, unsigned count,
                                    CuJitOption *options, void **values)
{
    char problem[512] = "";
    int code = driver_begin("cuModuleLoadDataEx", true);
    if (code != SIMT_OK) {
        write_log("", count, options, values);
        return code;
    }
    CuContext cx = driver_current();
    code = driver_no_capture(cx);
    SimtImage head; /* images lie anywhere */
    const bool is_linked = !strncmp(image, SIMT_IMAGE, strlen(SIMT_IMAGE));
    if (is_linked) memcpy(&head, image, sizeof head);
    if (code == SIMT_OK && is_linked && head.chip != driver_chip(cx->device)) code = SIMT_NO_BINARY;
    if (code != SIMT_OK) return code;
    CuModule m = calloc(1, sizeof *m);
    if (!m) return SIMT_OUT_OF_MEMORY;
    const char *text = is_linked ? (const char *)image + offsetof(SimtImage, ptx) : image;
    code = load_parts(m, text, is_linked ? head.texts : 1, cx->device, problem, sizeof problem);
    if (code != SIMT_OK) {
        driver_module_free(m);
        write_log(problem, count, options, values);
        driver_say(problem);
        return code;
    }
    m->context = cx;
    pthread_mutex_lock(&cx->lock);
    m->next = cx->modules;
    cx->modules = m;
    pthread_mutex_unlock(&cx->lock);
    for (int i = 0; i < m->nparts; i++) trace_load(m->parts[i], is_linked);
    *module = m;
    return SIMT_OK;
}

CuResult DRIVER(cuModuleLoadData)(CuModule *module, const void *image)
{
    return DRIVER(cuModuleLoadDataEx)(module, image, 0, NULL, NULL);
}

static char *read_file(const char *name)
{
    FILE *f = fopen(name, "rb");
    char *text = NULL;
    size_t cap = 0;
    if (f && getdelim(&text, &cap, 0, f) < 0 && text) *text = 0;
    if (f) fclose(f);
    return text;
}

CuResult DRIVER(cuModuleLoad)(CuModule *module, const char *file)
{
    BEGIN(cuModuleLoad);
    char *text = read_file(file);
    if (!text) return 301; /* CUDA_ERROR_FILE_NOT_FOUND */
    code = DRIVER(cuModuleLoadData)(module, text);
    free(text);
    return code;
}

/* Whether it is a module of the context that is current, or a function of one. */
static bool is_loaded(const void *handle)
{
    CuContext cx = driver_current();
    bool found = false;
    pthread_mutex_lock(&cx->lock);
    for (CuModule m = cx->modules; m; m = m->next) {
        found |= m == handle;
        for (CuFunction f = m->functions; f; f = f->next) found |= f == handle;
    }
    pthread_mutex_unlock(&cx->lock);
    return found;
}

CuResult DRIVER(cuModuleUnload)(CuModule module)
{
    BEGIN(cuModuleUnload);
    if (!is_loaded(module)) return SIMT_INVALID_HANDLE;
    CuContext cx = driver_current();
    driver_wait(cx);
    pthread_mutex_lock(&cx->lock);
    CuModule *link = &cx->modules;
    while (*link != module) link = &(*link)->next;
    *link = module->next;
    pthread_mutex_unlock(&cx->lock);
    driver_trace("cuModuleUnload %s", module->parts[0]->nfuncs ? module->parts[0]->funcs[0]->name : "");
    driver_module_free(module);
    return SIMT_OK;
}

CuResult DRIVER(cuModuleGetGlobal_v2)(CuPointer *pointer, size_t *bytes, CuModule module,
                                      const char *name)
{
    BEGIN(cuModuleGetGlobal_v2);
    const SimtVar *v = NULL;
    if (is_loaded(module))
        for (int i = 0; i < module->nparts && !v; i++) v = simt_module_global(module->parts[i], name);
    if (!v) return SIMT_NOT_FOUND;
    if (pointer) *pointer = v->address;
    if (bytes) *bytes = v->bytes;
    return SIMT_OK;
}

/* ---- functions ---- */

static SimtFunc *find_function(CuModule module, const char *name)
{
    for (int p = 0; p < module->nparts; p++)
        for (int i = 0; i < module->parts[p]->nfuncs; i++)
            if (!strcmp(module->parts[p]->funcs[i]->name, name)) return module->parts[p]->funcs[i];
    return NULL;
}

CuResult DRIVER(cuModuleGetFunction)(CuFunction *function, CuModule module, const char *name)
{
    BEGIN(cuModuleGetFunction);
    if (!is_loaded(module)) return SIMT_INVALID_HANDLE;
    SimtFunc *func = find_function(module, name);
    if (!func) return SIMT_NOT_FOUND;
    CuFunction f = calloc(1, sizeof *f);
    if (!f) return SIMT_OUT_OF_MEMORY;
    f->func = func;
    f->module = module;
    pthread_mutex_lock(&module->context->lock);
    f->next = module->functions;
    module->functions = f;
    pthread_mutex_unlock(&module->context->lock);
    *function = f;
    return SIMT_OK;
}

static int most_shared(void)
{
    int n = 0;
    DRIVER(cuDeviceGetAttribute)(&n, CU_DEVICE_MAX_SHARED_OPTIN, driver_current()->device);
    return n;
}

/* By the driver's documented numbers. Registers are what the text names, up to a chip's most and its own; those above its
   own are in local memory, where SIMT_SPILLS says so. */
CuResult DRIVER(cuFuncGetAttribute)(int *value, CuFunctionAttribute attribute, CuFunction function)
{
    BEGIN(cuFuncGetAttribute);
    if (!is_loaded(function)) return SIMT_INVALID_HANDLE;
    const SimtFunc *f = function->func;
    const uint32_t named = f->nregs < 255 ? f->nregs : 255,
                   registers = f->maxnreg && named > f->maxnreg ? f->maxnreg : named,
                   local = f->local_bytes + (driver_setting("SIMT_SPILLS") ? 4 * (named - registers) : 0);
    const int values[] = {1024, (int)f->shared_bytes, 0, (int)local, (int)registers, 0, 0, 0,
                          f->max_dynamic_shared ? (int)f->max_dynamic_shared : 49152};
    if (attribute < 0 || attribute >= (int)(sizeof values / sizeof *values))
        return SIMT_INVALID_VALUE;
    *value = values[attribute];
    if (attribute == 0 && f->maxntid) *value = (int)f->maxntid;
    return SIMT_OK;
}

#ifndef SIMT_OLD
CuResult DRIVER(cuFuncSetAttribute)(CuFunction function, CuFunctionAttribute attribute, int value)
{
    BEGIN(cuFuncSetAttribute);
    if (!is_loaded(function)) return SIMT_INVALID_HANDLE;
    if (attribute != CU_FUNC_MAX_DYNAMIC_SHARED) return SIMT_OK; /* a preference */
    if (value < 0 || value + (int)function->func->shared_bytes > most_shared())
        return SIMT_INVALID_VALUE;
    driver_trace("cuFuncSetAttribute %d bytes of shared memory", value);
    function->func->max_dynamic_shared = (uint32_t)value;
    return SIMT_OK;
}
#endif

/* Of one multiprocessor, by the numbers of cuDeviceGetAttribute. */
CuResult DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor)(int *programs, CuFunction function,
                                                             int threads, size_t shared)
{
    BEGIN(cuOccupancyMaxActiveBlocksPerMultiprocessor);
    enum { PROGRAMS = 32, THREADS = 2048, REGISTERS = 65536, RESERVED = 1024 };
    if (!is_loaded(function)) return SIMT_INVALID_HANDLE;
    if (threads < 1) return SIMT_INVALID_VALUE;
    int registers = 0;
    DRIVER(cuFuncGetAttribute)(&registers, CU_FUNC_REGISTERS, function);
    const size_t used = shared + function->func->shared_bytes + RESERVED;
    const int limits[] = {THREADS / threads, REGISTERS / (threads * (registers ? registers : 1)),
                          (int)(((size_t)most_shared() + RESERVED) / used)};
    *programs = PROGRAMS;
    for (int i = 0; i < 3; i++)
        if (limits[i] < *programs) *programs = limits[i];
    return SIMT_OK;
}

/* ---- launching ---- */

typedef struct LaunchJob {
    SimtJob job;
    SimtLaunch launch;
    uint8_t params[];
} LaunchJob;

static size_t launch_bytes(const SimtFunc *f)
{
    return sizeof(LaunchJob) + f->param_bytes + 16;
}

static void print_to_stdout(const char *text, size_t len, void *user)
{
    (void)user;
    if (!IS_LIBRARY) return;
    fwrite(text, 1, len, stdout);
    fflush(stdout);
}

static int run_launch(SimtJob *job, CuContext cx)
{
    SimtLaunch *l = &((LaunchJob *)job)->launch;
    l->report = cx->report;
    l->report_size = sizeof cx->report;
    int code = simt_launch_run(l);
    if (code != SIMT_OK) driver_say(cx->report);
    return code;
}

/* Pointers as the bytes from there to the end of their allocation. */
static void trace_arguments(const SimtFunc *f, const uint8_t *params)
{
    char text[1024] = "";
    Text t = {text, sizeof text, 0};
    for (int i = 0; i < f->nparams && t.len + 32 < t.size; i++) {
        const SimtVar *p = &f->params[i];
        uint64_t bits = 0, begin, end;
        memcpy(&bits, params + p->address, p->bytes < 8 ? p->bytes : 8);
        bool points = p->is_pointer && memory_find(driver_state()->memory, bits, &begin, &end);
        text_put(&t, points ? " *%llu" : " %llu", (unsigned long long)(points ? end - bits : bits));
    }
    driver_trace("cuLaunchKernel %s:%s", f->name, t.len ? text : " no arguments");
}

/* What the driver refuses of a launch's shape. */
static int check_shape(const SimtFunc *f, const uint32_t grid[3], const uint32_t block[3],
                       uint32_t shared)
{
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    const uint32_t allowed = f->max_dynamic_shared ? f->max_dynamic_shared : 49152;
    if (!grid[0] || !grid[1] || !grid[2] || !threads || grid[0] > INT32_MAX || grid[1] > 65535 ||
        grid[2] > 65535 || threads > 1024 || block[2] > 64)
        return SIMT_INVALID_VALUE;
    if (f->reqntid[0] && memcmp(f->reqntid, block, sizeof f->reqntid)) return SIMT_INVALID_VALUE;
    if (f->maxntid && threads > f->maxntid) return SIMT_INVALID_VALUE;
    if (shared > allowed || shared + f->shared_bytes > (uint32_t)most_shared())
        return SIMT_INVALID_VALUE;
    if ((uint64_t)f->cluster[0] * f->cluster[1] * f->cluster[2] > 1) return SIMT_NOT_SUPPORTED;
    return SIMT_OK;
}

/* A chip's parameters begin at a multiple of this (c[0][0x210] of an H200) and no more: one that wants more lies where the
   machine code says, not where PTX would have it, and a buffer laid out by PTX gives it wrong. */
enum { PARAMS_ALIGN = 16 };

/* extra: {1, buffer, 2, &size, 0}, or NULL where params has one pointer for each parameter. */
static int pack_params(const SimtFunc *f, void **params, void **extra, uint8_t *out)
{
    if (!f->nparams) return SIMT_OK;
    if (params) {
        for (int i = 0; i < f->nparams; i++) {
            if (!params[i]) return SIMT_INVALID_VALUE;
            memcpy(out + f->params[i].address, params[i], f->params[i].bytes);
        }
        return SIMT_OK;
    }
    const uint8_t *buffer = NULL;
    size_t bytes = 0;
    for (int i = 0; extra && (uintptr_t)extra[i] && i < 8; i += 2) {
        if ((uintptr_t)extra[i] == 1) buffer = extra[i + 1];
        if ((uintptr_t)extra[i] == 2) bytes = *(const size_t *)extra[i + 1];
    }
    if (!buffer || bytes < f->param_bytes) return SIMT_INVALID_VALUE;
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i].align > PARAMS_ALIGN) return SIMT_NOT_SUPPORTED;
    memcpy(out, buffer, f->param_bytes);
    return SIMT_OK;
}

CuResult DRIVER(cuLaunchKernel)(CuFunction function, unsigned gx, unsigned gy, unsigned gz,
                                unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                CuStream stream, void **params, void **extra)
{
    BEGIN(cuLaunchKernel);
    if (!is_loaded(function)) return SIMT_INVALID_HANDLE;
    const SimtFunc *f = function->func;
    const uint32_t grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
    code = check_shape(f, grid, block, shared);
    if (code != SIMT_OK) return code;
    CuContext cx = driver_current();
    LaunchJob *job = calloc(1, launch_bytes(f));
    if (!job) return SIMT_OUT_OF_MEMORY;
    code = pack_params(f, params, extra, job->params);
    if (code != SIMT_OK) {
        free(job);
        return code;
    }
    driver_trace("cuLaunchKernel %u x %u x %u programs, %u threads, %u bytes of shared memory", gx, gy,
                 gz, bx, shared);
    trace_arguments(f, job->params);
    job->job.run = run_launch;
    job->launch = (SimtLaunch){.func = f, .shared_bytes = shared, .params = job->params,
                               .run = *driver_run(cx), .memory = driver_state()->memory};
    if (!job->launch.run.print) job->launch.run.print = print_to_stdout;
    memcpy(job->launch.grid, grid, sizeof grid);
    memcpy(job->launch.block, block, sizeof block);
    return driver_records(stream, &job->job) ? SIMT_OK : driver_give(cx, &job->job);
}

SimtJob *driver_copy_launch(const SimtJob *launch)
{
    const LaunchJob *from = (const LaunchJob *)launch;
    const size_t bytes = launch_bytes(from->launch.func);
    LaunchJob *job = malloc(bytes);
    if (!job) return NULL;
    memcpy(job, from, bytes);
    job->launch.params = job->params;
    return &job->job;
}
