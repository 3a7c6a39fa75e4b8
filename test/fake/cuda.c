/* A CUDA driver without a GPU, for the tests of what we ask of one: as libcuda.so.1 in a folder of
   its own, found through LD_LIBRARY_PATH. It runs no kernel. It holds memory, contexts and modules,
   and aborts, with the reason, when a call comes before what it needs, or is given what is not
   alive, not current or out of bounds. What is left when the process ends is listed.

   Environment:
     SYMBOL=CODE           the call of that name, such as cuMemAlloc_v2, gives that error
     FAKE_CUDA_TRACE=1     each call that has an effect is printed on standard error
     FAKE_CUDA_DEVICES=N   GPUs (1); FAKE_CUDA_CC=90; FAKE_CUDA_SHARED=BYTES a program may have
     FAKE_CUDA_LOG=TEXT    what the driver's compiler says in its error log

   Built with FAKE_OLD it lacks an entry point, as an old driver does. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_api.h"

/* The driver's numbers, by its documentation. */
enum {
    OUT_OF_MEMORY = 2,
    ILLEGAL_ADDRESS = 700, FIRST_LOST = 710, LAST_LOST = 719,
    MOST_PARAMS = 64
};

typedef struct Memory {
    size_t bytes;
    struct Memory *next;
    char data[];
} Memory;

struct CuContextObject {
    int retained;
};

struct CuFunctionObject {
    char name[256];
    int nparams;
    struct FakeParam { size_t bytes; bool is_pointer; } params[MOST_PARAMS];
    unsigned threads;
    int dynamic_shared; /* what may be asked for */
    CuModule module;
};

struct CuModuleObject {
    struct CuFunctionObject function;
    struct CuModuleObject *next;
};

static struct {
    bool started;
    int lost; /* the error that did it */
    struct CuContextObject primary;
    Memory *memory;
    CuModule modules;
} fake;

static _Thread_local CuContext stack[8];
static _Thread_local int depth;

/* ---- what every call does ---- */

static void demand(bool holds, const char *call, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fake driver: %s: %s\n", call, what);
    abort();
}

static void trace(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void trace(const char *fmt, ...)
{
    va_list ap;
    if (!getenv("FAKE_CUDA_TRACE"))
        return;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

static int number_of(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

/* The error that the call is to give, or CU_OK. One that loses the context is given by every later
   call. */
static int planned(const char *symbol)
{
    int code = fake.lost ? fake.lost : number_of(symbol, CU_OK);
    if (code == ILLEGAL_ADDRESS || (code >= FIRST_LOST && code <= LAST_LOST))
        fake.lost = code;
    return code;
}

#define BEGIN(symbol)                                                                              \
    demand(fake.started, symbol, "before cuInit");                                                 \
    int code = planned(symbol);                                                                    \
    if (code != CU_OK) return code

#define BEGIN_IN_CONTEXT(symbol)                                                                   \
    demand(fake.started, symbol, "before cuInit");                                                 \
    demand(depth > 0 && fake.primary.retained > 0, symbol, "no context is current");               \
    int code = planned(symbol);                                                                    \
    if (code != CU_OK) return code

#define EXPORT __attribute__((visibility("default")))

/* Each entry point as the table declares it. */
#define CU(name, symbol, params) EXPORT CuResult symbol params;
#include "cuda_api.def"
#undef CU

static __attribute__((destructor)) void list_what_is_left(void)
{
    int nmemory = 0, nmodules = 0;
    for (Memory *m = fake.memory, *next; m; m = next, nmemory++) {
        next = m->next;
        free(m);
    }
    for (CuModule m = fake.modules, next; m; m = next, nmodules++) {
        next = m->next;
        free(m);
    }
    trace("left: %d allocations, %d modules, %d contexts, %d current", nmemory, nmodules,
          fake.primary.retained, depth);
}

/* ---- devices and contexts ---- */

CuResult cuInit(unsigned flags)
{
    demand(flags == 0, "cuInit", "flags that are not 0");
    int code = planned("cuInit");
    fake.started = code == CU_OK;
    return code;
}

CuResult cuDriverGetVersion(int *version)
{
    *version = 12080;
    return planned("cuDriverGetVersion");
}

CuResult cuDeviceGetCount(int *count)
{
    BEGIN("cuDeviceGetCount");
    *count = number_of("FAKE_CUDA_DEVICES", 1);
    return CU_OK;
}

static void demand_device(const char *call, CuDevice device)
{
    demand(device >= 0 && device < number_of("FAKE_CUDA_DEVICES", 1), call, "no such device");
}

CuResult cuDeviceGet(CuDevice *device, int ordinal)
{
    BEGIN("cuDeviceGet");
    demand_device("cuDeviceGet", ordinal);
    *device = ordinal;
    return CU_OK;
}

CuResult cuDeviceGetName(char *name, int len, CuDevice device)
{
    BEGIN("cuDeviceGetName");
    demand_device("cuDeviceGetName", device);
    snprintf(name, (size_t)len, "Fake GPU %d", device);
    return CU_OK;
}

CuResult cuDeviceGetAttribute(int *value, CuDeviceAttribute attribute, CuDevice device)
{
    BEGIN("cuDeviceGetAttribute");
    demand_device("cuDeviceGetAttribute", device);
    switch (attribute) {
    case CU_DEVICE_CC_MAJOR: *value = number_of("FAKE_CUDA_CC", 90) / 10; return CU_OK;
    case CU_DEVICE_CC_MINOR: *value = number_of("FAKE_CUDA_CC", 90) % 10; return CU_OK;
    case CU_DEVICE_MAX_SHARED_OPTIN: *value = number_of("FAKE_CUDA_SHARED", 232448); return CU_OK;
    }
    demand(false, "cuDeviceGetAttribute", "an attribute that the fake does not know");
    return CU_OK;
}

CuResult cuDevicePrimaryCtxRetain(CuContext *context, CuDevice device)
{
    BEGIN("cuDevicePrimaryCtxRetain");
    demand_device("cuDevicePrimaryCtxRetain", device);
    trace("cuDevicePrimaryCtxRetain %d", device);
    fake.primary.retained++;
    *context = &fake.primary;
    return CU_OK;
}

CuResult cuDevicePrimaryCtxRelease_v2(CuDevice device)
{
    demand_device("cuDevicePrimaryCtxRelease", device);
    demand(fake.primary.retained > 0, "cuDevicePrimaryCtxRelease", "it is not retained");
    trace("cuDevicePrimaryCtxRelease %d", device);
    fake.primary.retained--;
    return planned("cuDevicePrimaryCtxRelease_v2");
}

CuResult cuCtxGetCurrent(CuContext *context)
{
    BEGIN("cuCtxGetCurrent");
    *context = depth ? stack[depth - 1] : NULL;
    return CU_OK;
}

CuResult cuCtxPushCurrent_v2(CuContext context)
{
    BEGIN("cuCtxPushCurrent_v2");
    demand(context == &fake.primary && context->retained > 0, "cuCtxPushCurrent",
           "no live context");
    demand(depth < (int)(sizeof stack / sizeof *stack), "cuCtxPushCurrent", "pushed, never popped");
    stack[depth++] = context;
    return CU_OK;
}

CuResult cuCtxPopCurrent_v2(CuContext *context)
{
    demand(depth > 0, "cuCtxPopCurrent", "nothing was pushed");
    *context = stack[--depth];
    return CU_OK;
}

CuResult cuCtxGetDevice(CuDevice *device)
{
    BEGIN_IN_CONTEXT("cuCtxGetDevice");
    *device = 0;
    return CU_OK;
}

/* ---- memory ---- */

static Memory *memory_at(CuPointer address)
{
    for (Memory *m = fake.memory; m; m = m->next)
        if (address >= (uintptr_t)m->data && address < (uintptr_t)m->data + m->bytes)
            return m;
    return NULL;
}

/* All of them are in one allocation. */
static void demand_bytes(const char *call, CuPointer address, size_t bytes)
{
    const Memory *m = memory_at(address);
    demand(m != NULL, call, "an address in no allocation");
    demand(bytes <= (uintptr_t)m->data + m->bytes - address, call,
           "past the end of the allocation");
}

CuResult cuMemAlloc_v2(CuPointer *pointer, size_t bytes)
{
    BEGIN_IN_CONTEXT("cuMemAlloc_v2");
    demand(bytes > 0, "cuMemAlloc", "0 bytes");
    size_t room = sizeof(Memory) + bytes;
    Memory *m = room < bytes ? NULL : aligned_alloc(16, (room + 15) & ~(size_t)15);
    if (!m)
        return OUT_OF_MEMORY;
    trace("cuMemAlloc %zu", bytes);
    *m = (Memory){bytes, fake.memory};
    fake.memory = m;
    *pointer = (uintptr_t)m->data;
    return CU_OK;
}

CuResult cuMemFree_v2(CuPointer pointer)
{
    BEGIN_IN_CONTEXT("cuMemFree_v2");
    Memory *m = memory_at(pointer), **link = &fake.memory;
    demand(m && (uintptr_t)m->data == pointer, "cuMemFree", "not the address of an allocation");
    trace("cuMemFree %zu", m->bytes);
    while (*link != m)
        link = &(*link)->next;
    *link = m->next;
    free(m);
    return CU_OK;
}

CuResult cuMemcpyHtoD_v2(CuPointer to, const void *from, size_t bytes)
{
    BEGIN_IN_CONTEXT("cuMemcpyHtoD_v2");
    demand_bytes("cuMemcpyHtoD", to, bytes);
    trace("cuMemcpyHtoD %zu", bytes);
    memcpy((void *)(uintptr_t)to, from, bytes);
    return CU_OK;
}

CuResult cuMemcpyDtoH_v2(void *to, CuPointer from, size_t bytes)
{
    BEGIN_IN_CONTEXT("cuMemcpyDtoH_v2");
    demand_bytes("cuMemcpyDtoH", from, bytes);
    trace("cuMemcpyDtoH %zu", bytes);
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return CU_OK;
}

CuResult cuStreamSynchronize(CuStream stream)
{
    BEGIN_IN_CONTEXT("cuStreamSynchronize");
    demand(!stream, "cuStreamSynchronize", "a stream that nobody made");
    trace("cuStreamSynchronize");
    return CU_OK;
}

/* ---- modules: the entry of the PTX, its parameters, its number of threads ---- */

/* ".param .u64 .ptr .global .align 16 name" or ".param .align 64 .b8 name[128]", at `p`. */
static struct FakeParam read_param(const char *p, size_t len)
{
    struct FakeParam out = {0};
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)len, p);
    const char *type = strpbrk(text, "usbf") ? text + strlen(".param ") : text;
    if (!strncmp(type, ".align", 6))
        type = strchr(type + 1, '.');
    demand(type != NULL, "cuModuleLoadDataEx", "a parameter without a type");
    const char *extent = strchr(type, '[');
    out.bytes = (size_t)atoi(type + 2) / 8 * (extent ? (size_t)atoi(extent + 1) : 1);
    out.is_pointer = strstr(type, ".ptr") != NULL;
    demand(out.bytes > 0, "cuModuleLoadDataEx", "a parameter of an unknown type");
    return out;
}

static void read_entry(CuFunction f, const char *ptx)
{
    const char *p = strstr(ptx, ".visible .entry ");
    demand(p != NULL, "cuModuleLoadDataEx", "no entry in the text");
    p += strlen(".visible .entry ");
    size_t len = strcspn(p, "( \n");
    snprintf(f->name, sizeof f->name, "%.*s", (int)len, p);
    const char *end = strchr(p, ')'), *threads = strstr(p, ".reqntid ");
    while ((p = strstr(p, ".param ")) && p < end) {
        demand(f->nparams < MOST_PARAMS, "cuModuleLoadDataEx",
               "more parameters than the fake has room for");
        f->params[f->nparams++] = read_param(p, strcspn(p, ",\n"));
        p++;
    }
    f->threads = threads ? (unsigned)atoi(threads + strlen(".reqntid ")) : 0;
}

/* The log goes where the options say, when the load fails. */
static void write_log(unsigned count, const CuJitOption *options, void **values)
{
    const char *log = getenv("FAKE_CUDA_LOG");
    char *to = NULL;
    size_t room = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG)
            to = values[i];
        else if (options[i] == CU_JIT_ERROR_LOG_BYTES)
            room = (uintptr_t)values[i];
    }
    if (log && to && room)
        snprintf(to, room, "%s", log);
}

CuResult cuModuleLoadDataEx(CuModule *module, const void *image, unsigned count,
                            CuJitOption *options, void **values)
{
    demand(fake.started && depth > 0, "cuModuleLoadDataEx", "no context is current");
    int code = planned("cuModuleLoadDataEx");
    if (code != CU_OK) {
        write_log(count, options, values);
        return code;
    }
    CuModule m = calloc(1, sizeof *m);
    if (!m)
        return OUT_OF_MEMORY;
    read_entry(&m->function, image);
    m->function.module = m;
    m->function.dynamic_shared = 48 * 1024;
    m->next = fake.modules;
    fake.modules = m;
    trace("cuModuleLoadDataEx %s: %d parameters, %u threads", m->function.name, m->function.nparams,
          m->function.threads);
    *module = m;
    return CU_OK;
}

static void demand_module(const char *call, CuModule module)
{
    CuModule m = fake.modules;
    while (m && m != module)
        m = m->next;
    demand(m != NULL, call, "a module that is not loaded");
}

CuResult cuModuleUnload(CuModule module)
{
    BEGIN_IN_CONTEXT("cuModuleUnload");
    demand_module("cuModuleUnload", module);
    CuModule *link = &fake.modules;
    while (*link != module)
        link = &(*link)->next;
    *link = module->next;
    trace("cuModuleUnload %s", module->function.name);
    free(module);
    return CU_OK;
}

CuResult cuModuleGetFunction(CuFunction *function, CuModule module, const char *name)
{
    BEGIN_IN_CONTEXT("cuModuleGetFunction");
    demand_module("cuModuleGetFunction", module);
    demand(!strcmp(name, module->function.name), "cuModuleGetFunction", "no function of that name");
    *function = &module->function;
    return CU_OK;
}

CuResult cuFuncGetAttribute(int *value, CuFunctionAttribute attribute, CuFunction function)
{
    BEGIN_IN_CONTEXT("cuFuncGetAttribute");
    demand_module("cuFuncGetAttribute", function->module);
    *value = attribute == CU_FUNC_REGISTERS ? 24 : 0;
    return CU_OK;
}

#ifndef FAKE_OLD
CuResult cuFuncSetAttribute(CuFunction function, CuFunctionAttribute attribute, int value)
{
    BEGIN_IN_CONTEXT("cuFuncSetAttribute");
    demand_module("cuFuncSetAttribute", function->module);
    demand(attribute == CU_FUNC_MAX_DYNAMIC_SHARED, "cuFuncSetAttribute", "an unknown attribute");
    trace("cuFuncSetAttribute %d bytes of shared memory", value);
    function->dynamic_shared = value;
    return CU_OK;
}
#endif

/* ---- launching ---- */

/* Pointers as the bytes from there to the end of their allocation. */
static void trace_arguments(CuFunction f, void **params)
{
    char text[1024];
    size_t n = 0;
    for (int i = 0; i < f->nparams && n < sizeof text; i++) {
        uint64_t bits = 0;
        size_t bytes = f->params[i].bytes;
        demand(params[i] != NULL, "cuLaunchKernel", "an argument is missing");
        memcpy(&bits, params[i], bytes < sizeof bits ? bytes : sizeof bits);
        if (f->params[i].is_pointer && bits) {
            const Memory *m = memory_at(bits);
            demand(m != NULL, "cuLaunchKernel", "a pointer into no allocation");
            size_t left = (size_t)((uintptr_t)m->data + m->bytes - bits);
            n += (size_t)snprintf(text + n, sizeof text - n, " *%zu", left);
        } else {
            n += (size_t)snprintf(text + n, sizeof text - n, " %llu", (unsigned long long)bits);
        }
    }
    trace("cuLaunchKernel %s:%s", f->name, n ? text : " no arguments");
}

CuResult cuLaunchKernel(CuFunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CuStream stream, void **params,
                        void **extra)
{
    BEGIN_IN_CONTEXT("cuLaunchKernel");
    demand_module("cuLaunchKernel", f->module);
    demand(gx >= 1 && gx <= 2147483647 && gy >= 1 && gy <= 65535 && gz >= 1 && gz <= 65535,
           "cuLaunchKernel", "a grid that no GPU takes");
    demand(bx == f->threads && by == 1 && bz == 1, "cuLaunchKernel", "other threads than .reqntid");
    demand((int)shared <= f->dynamic_shared, "cuLaunchKernel",
           "shared memory that was not asked for");
    demand(!extra && !stream, "cuLaunchKernel", "a stream that nobody made");
    trace("cuLaunchKernel %u x %u x %u programs, %u threads, %u bytes of shared memory", gx, gy, gz,
          bx, shared);
    trace_arguments(f, params);
    return CU_OK;
}

/* ---- errors ---- */

static const struct { int code; const char *name, *text; } errors[] = {
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
};

static CuResult describe(CuResult error, bool name, const char **text)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].code == error) {
            *text = name ? errors[i].name : errors[i].text;
            return CU_OK;
        }
    }
    *text = NULL;
    return 1; /* CUDA_ERROR_INVALID_VALUE */
}

CuResult cuGetErrorName(CuResult error, const char **text)
{
    return describe(error, true, text);
}

CuResult cuGetErrorString(CuResult error, const char **text)
{
    return describe(error, false, text);
}
