/* The driver itself: devices, contexts, which is current, and what every call begins with. */
#include "driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The chips that it shows, and the bytes of shared memory that a program of each may ask for: by
   the CUDA programming guide's table of compute capabilities. */
static const struct {
    int number, shared;
} chips[] = {
    {75, 65536},  {80, 166912}, {86, 101376},  {87, 166912},
    {89, 101376}, {90, 232448}, {100, 232448}, {120, 101376},
};
enum { CHIPS = sizeof chips / sizeof *chips, STACK = 16 };

/* A driver is its process's. */
static Driver driver = {.lock = PTHREAD_MUTEX_INITIALIZER, .primary = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local struct {
    CuContext at[STACK];
    int depth;
    const SimtRun *run;
    int capture_mode; /* of the thread: 2, relaxed, lets it load while a stream is captured */
} current;

Driver *driver_state(void)
{
    return &driver;
}

/* ---- settings, of the library only ---- */

const char *driver_setting(const char *name)
{
    return IS_LIBRARY ? getenv(name) : NULL;
}

/* Only the library has somewhere to print to. */
void driver_trace(const char *fmt, ...)
{
    va_list ap;
    if (!driver_setting("SIMT_TRACE")) return;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

void driver_say(const char *text)
{
    if (IS_LIBRARY && !driver_setting("SIMT_QUIET")) fprintf(stderr, "simt: %s\n", text);
}

static int setting_number(const char *name, int otherwise)
{
    const char *text = driver_setting(name);
    return text ? atoi(text) : otherwise;
}

/* ---- chips ---- */

int simt_ordinal_of(int chip)
{
    for (int i = 0; i < CHIPS; i++)
        if (chips[i].number == chip) return i;
    return -1;
}

/* The library shows one device unless it is told otherwise, the chip of SIMT_ARCH, as sm_80, or
   sm_90. */
static int count_devices(void)
{
    return IS_LIBRARY ? setting_number("SIMT_DEVICES", 1) : CHIPS;
}

int driver_chip(CuDevice device)
{
    const char *arch = driver_setting("SIMT_ARCH");
    if (!IS_LIBRARY) return device >= 0 && device < CHIPS ? chips[device].number : 0;
    return arch ? atoi(arch + (strncmp(arch, "sm_", 3) ? 0 : 3)) : 90;
}

/* A chip that is not in the table has what the newest one has. */
static int shared_of(int chip)
{
    const int at = simt_ordinal_of(chip);
    return setting_number("SIMT_SHARED", chips[at < 0 ? CHIPS - 1 : at].shared);
}

/* ---- every call ---- */

/* The error that the environment plans for the call. */
int driver_begin(const char *symbol, bool needs_context)
{
    if (!driver.started) return SIMT_NOT_INITIALIZED;
    int planned = setting_number(symbol, SIMT_OK);
    CuContext cx = driver_current();
    const bool loses = planned == SIMT_ILLEGAL_ADDRESS ||
                       (planned >= SIMT_ASSERT && planned <= SIMT_LAUNCH_FAILED);
    if (loses && cx) {
        pthread_mutex_lock(&cx->lock);
        if (!cx->lost) cx->lost = planned;
        pthread_mutex_unlock(&cx->lock);
    }
    if (planned) return planned;
    if (needs_context && !cx) return SIMT_INVALID_CONTEXT;
    return needs_context ? cx->lost : SIMT_OK;
}

CuResult DRIVER(cuInit)(unsigned flags)
{
    if (flags) return SIMT_INVALID_VALUE;
    int code = setting_number("cuInit", SIMT_OK);
    pthread_mutex_lock(&driver.lock);
    if (code == SIMT_OK && !driver.memory) driver.memory = memory_new();
    if (code == SIMT_OK && !driver.memory) code = SIMT_OUT_OF_MEMORY;
    driver.started = code == SIMT_OK;
    pthread_mutex_unlock(&driver.lock);
    return code;
}

CuResult DRIVER(cuDriverGetVersion)(int *version)
{
    if (!version) return SIMT_INVALID_VALUE;
    *version = setting_number("SIMT_VERSION", 13000);
    return setting_number("cuDriverGetVersion", SIMT_OK);
}

/* ---- devices ---- */

CuResult DRIVER(cuDeviceGetCount)(int *count)
{
    BEGIN_WITH(cuDeviceGetCount, false);
    *count = count_devices();
    return SIMT_OK;
}

static bool is_device(CuDevice device)
{
    return device >= 0 && device < count_devices();
}

#define BEGIN_DEVICE(symbol, device)                                                               \
    BEGIN_WITH(symbol, false);                                                                     \
    if (!is_device(device)) return SIMT_INVALID_DEVICE

CuResult DRIVER(cuDeviceGet)(CuDevice *device, int ordinal)
{
    BEGIN_DEVICE(cuDeviceGet, ordinal);
    *device = ordinal;
    return SIMT_OK;
}

CuResult DRIVER(cuDeviceGetName)(char *name, int len, CuDevice device)
{
    BEGIN_DEVICE(cuDeviceGetName, device);
    snprintf(name, (size_t)len, "emulated sm_%d", driver_chip(device));
    return SIMT_OK;
}

/* What programs ask, by the driver's documented numbers. */
CuResult DRIVER(cuDeviceGetAttribute)(int *value, CuDeviceAttribute attribute, CuDevice device)
{
    BEGIN_DEVICE(cuDeviceGetAttribute, device);
    const int chip = driver_chip(device), most_shared = shared_of(chip);
    const struct {
        int attribute, value;
    } known[] = {{1, 1024},
                 {2, 1024},
                 {3, 1024},
                 {4, 64}, /* threads of a program, by dimension */
                 {5, INT32_MAX},
                 {6, 65535},
                 {7, 65535}, /* programs */
                 {8, 49152},
                 {9, 65536},
                 {10, 32},
                 {12, 65536},
                 {13, 1000000},
                 {16, setting_number("SIMT_UNITS", 1)},
                 {36, 1000000},
                 {37, 256},
                 {38, 1 << 20},
                 {39, 2048},
                 {CU_DEVICE_CC_MAJOR, chip / 10},
                 {CU_DEVICE_CC_MINOR, chip % 10},
                 {81, most_shared + 1024},
                 {82, 65536},
                 {CU_DEVICE_MAX_SHARED_OPTIN, most_shared},
                 {41, 1},
                 {83, 1},
                 {95, 1},
                 {106, 32},
                 {111, 1024},
                 {115, 1},
                 {120, chip >= 90}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].attribute == attribute) return *value = known[k].value, SIMT_OK;
    *value = 0;
    return attribute > 0 && attribute < 200 ? SIMT_OK : SIMT_INVALID_VALUE;
}

CuResult DRIVER(cuDeviceComputeCapability)(int *major, int *minor, CuDevice device)
{
    BEGIN_DEVICE(cuDeviceComputeCapability, device);
    *major = driver_chip(device) / 10;
    *minor = driver_chip(device) % 10;
    return SIMT_OK;
}

CuResult DRIVER(cuDeviceTotalMem_v2)(size_t *bytes, CuDevice device)
{
    BEGIN_DEVICE(cuDeviceTotalMem_v2, device);
    *bytes = (size_t)16 << 30;
    return SIMT_OK;
}

/* ---- contexts ---- */

static bool is_context(CuContext cx)
{
    pthread_mutex_lock(&driver.lock);
    CuContext c = driver.contexts;
    while (c && c != cx) c = c->next;
    pthread_mutex_unlock(&driver.lock);
    return c != NULL;
}

/* A context that is gone may still be on the stack of a thread: then none is current. */
CuContext driver_current(void)
{
    CuContext cx = current.depth ? current.at[current.depth - 1] : NULL;
    return cx && is_context(cx) ? cx : NULL;
}

static CuContext new_context(int device, bool owned)
{
    CuContext cx = calloc(1, sizeof *cx);
    if (!cx) return NULL;
    cx->device = device;
    cx->owned = owned;
    cx->run.seed = (uint64_t)setting_number("SIMT_SEED", 0);
    cx->run.threads = setting_number("SIMT_THREADS", 0);
    cx->run.timeout = setting_number("SIMT_TIMEOUT", 0);
    pthread_mutex_init(&cx->lock, NULL);
    pthread_cond_init(&cx->changed, NULL);
    pthread_mutex_lock(&driver.lock);
    cx->number = ++driver.numbers;
    cx->next = driver.contexts;
    driver.contexts = cx;
    pthread_mutex_unlock(&driver.lock);
    return cx;
}

static CuContext primary_of(int device)
{
    pthread_mutex_lock(&driver.lock);
    CuContext c = driver.contexts;
    while (c && (c->owned || c->device != device)) c = c->next;
    pthread_mutex_unlock(&driver.lock);
    return c;
}

void simt_configure(const SimtRun *run)
{
    current.run = run;
}

const SimtRun *driver_run(CuContext context)
{
    return current.run ? current.run : &context->run;
}

const char *simt_report(CuContext context)
{
    return context && is_context(context) ? context->report : "";
}

/* A device's primary context is made once, and goes with who keeps it last. */
CuResult DRIVER(cuDevicePrimaryCtxRetain)(CuContext *context, CuDevice device)
{
    BEGIN_DEVICE(cuDevicePrimaryCtxRetain, device);
    driver_trace("cuDevicePrimaryCtxRetain %d", device);
    pthread_mutex_lock(&driver.primary);
    CuContext cx = primary_of(device);
    if (!cx) cx = new_context(device, false);
    if (cx) cx->retained++;
    pthread_mutex_unlock(&driver.primary);
    if (!cx) return SIMT_OUT_OF_MEMORY;
    *context = cx;
    return SIMT_OK;
}

CuResult DRIVER(cuDevicePrimaryCtxRelease_v2)(CuDevice device)
{
    pthread_mutex_lock(&driver.primary);
    CuContext cx = primary_of(device);
    if (cx) driver_trace("cuDevicePrimaryCtxRelease %d", device);
    if (cx && !--cx->retained) driver_context_free(cx);
    pthread_mutex_unlock(&driver.primary);
    return cx ? setting_number("cuDevicePrimaryCtxRelease_v2", SIMT_OK) : SIMT_INVALID_CONTEXT;
}

CuResult DRIVER(cuCtxCreate_v2)(CuContext *context, unsigned flags, CuDevice device)
{
    BEGIN_DEVICE(cuCtxCreate_v2, device);
    (void)flags;
    CuContext cx = new_context(device, true);
    if (!cx) return SIMT_OUT_OF_MEMORY;
    *context = cx;
    return DRIVER(cuCtxPushCurrent_v2)(cx);
}

CuResult DRIVER(cuCtxDestroy_v2)(CuContext context)
{
    if (!is_context(context) || !context->owned) return SIMT_INVALID_CONTEXT;
    if (driver_current() == context) current.depth--;
    driver_context_free(context);
    return SIMT_OK;
}

CuResult DRIVER(cuCtxGetCurrent)(CuContext *context)
{
    int code = driver_begin("cuCtxGetCurrent", false);
    *context = driver_current();
    return code;
}

CuResult DRIVER(cuCtxSetCurrent)(CuContext context)
{
    if (context && !is_context(context)) return SIMT_INVALID_CONTEXT;
    if (!context) current.depth = 0;
    else if (current.depth) current.at[current.depth - 1] = context;
    else current.at[current.depth++] = context;
    return SIMT_OK;
}

CuResult DRIVER(cuCtxPushCurrent_v2)(CuContext context)
{
    int planned = setting_number("cuCtxPushCurrent_v2", SIMT_OK);
    if (planned) return planned;
    if (!is_context(context)) return SIMT_INVALID_CONTEXT;
    if (current.depth == STACK) return SIMT_INVALID_VALUE;
    current.at[current.depth++] = context;
    return SIMT_OK;
}

CuResult DRIVER(cuCtxPopCurrent_v2)(CuContext *context)
{
    if (!current.depth) return SIMT_INVALID_CONTEXT;
    CuContext cx = current.at[--current.depth];
    if (context) *context = cx;
    return SIMT_OK;
}

CuResult DRIVER(cuCtxGetDevice)(CuDevice *device)
{
    BEGIN(cuCtxGetDevice);
    *device = driver_current()->device;
    return SIMT_OK;
}

CuResult DRIVER(cuCtxGetId)(CuContext context, unsigned long long *number)
{
    BEGIN(cuCtxGetId);
    *number = (context ? context : driver_current())->number;
    return SIMT_OK;
}

CuResult DRIVER(cuThreadExchangeStreamCaptureMode)(CuCaptureMode *mode)
{
    const int before = current.capture_mode;
    if (*mode < 0 || *mode > CU_CAPTURE_RELAXED) return SIMT_INVALID_VALUE;
    current.capture_mode = *mode;
    *mode = before;
    return SIMT_OK;
}

int driver_no_capture(CuContext context)
{
    return context->captures && current.capture_mode != CU_CAPTURE_RELAXED
               ? SIMT_CAPTURE_UNSUPPORTED
               : SIMT_OK;
}

/* ---- errors ---- */

static const struct {
    int code;
    const char *name, *text;
} errors[] = {
#define ERROR(id, number, name, text) {number, name, text},
#include "errors.def"
#undef ERROR
};

static CuResult describe(int code, bool name, const char **text)
{
    *text = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code) *text = name ? errors[i].name : errors[i].text;
    return *text ? SIMT_OK : SIMT_INVALID_VALUE;
}

CuResult DRIVER(cuGetErrorName)(CuResult error, const char **text)
{
    return describe(error, true, text);
}

CuResult DRIVER(cuGetErrorString)(CuResult error, const char **text)
{
    return describe(error, false, text);
}

/* What is still there when the process ends, for those who look for leaks. */
#ifdef SIMT_LIBRARY
static __attribute__((destructor)) void list_what_is_left(void)
{
    int ncontexts = 0, nmodules = 0, ncurrent = current.depth;
    for (CuContext c = driver.contexts; c; c = c->next) {
        ncontexts += c->owned ? 1 : c->retained;
        for (CuModule m = c->modules; m; m = m->next) nmodules++;
    }
    driver_trace("left: %zu allocations, %d modules, %d contexts, %d current",
                 driver.memory ? memory_count(driver.memory) : 0, nmodules, ncontexts, ncurrent);
}
#endif
