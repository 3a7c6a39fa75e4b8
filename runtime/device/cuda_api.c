/* Loading libcuda.so.1, and the one place that turns its results into diagnostics. */
#include "cuda_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "simt/driver.h"
#include "tkc/edge.h"

static TkcStatus no_driver(TkcContext *cx, CudaApi *api, const char *what, const char *why)
{
    tkc_report(cx, TKC_SEVERITY_ERROR, NULL, "no GPU can be used: %s: %s", what, why);
    if (api->library) dlclose(api->library);
    api->library = NULL;
    return TKC_NO_DEVICE;
}

/* The driver's own words, or else the number. */
static const char *describe(const CudaApi *api, int result, char *buffer, size_t size)
{
    const char *text = NULL;
    api->GetErrorString(result, &text);
    if (text) return text;
    snprintf(buffer, size, "error %d, which the driver does not describe", result);
    return buffer;
}

static TkcStatus start_driver(TkcContext *cx, CudaApi *api, const char *which)
{
    char what[64], why[80];
    int result = api->Init(0);
    if (result == CU_OK) return TKC_OK;
    snprintf(what, sizeof what, "%s does not start", which);
    return no_driver(cx, api, what, describe(api, result, why, sizeof why));
}

TkcStatus cuda_api_open(TkcContext *cx, CudaApi *api)
{
    static const struct {
        const char *symbol;
        size_t offset;
        bool is_newer;
    } entries[] = {
#define CU(name, symbol, params) {#symbol, offsetof(CudaApi, name), false},
#define CU_NEWER(name, symbol, params) {#symbol, offsetof(CudaApi, name), true},
#include "cuda_api.def"
#undef CU
    };
    char text[80];
    memset(api, 0, sizeof *api);
    api->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!api->library) return no_driver(cx, api, "there is no NVIDIA driver", dlerror());
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        void *symbol = dlsym(api->library, entries[i].symbol);
        if (!symbol && !entries[i].is_newer) {
            snprintf(text, sizeof text, "it has no %s", entries[i].symbol);
            return no_driver(cx, api, "the NVIDIA driver is too old", text);
        }
        memcpy((char *)api + entries[i].offset, &symbol, sizeof symbol);
    }
    return start_driver(cx, api, "the NVIDIA driver");
}

TkcStatus cuda_api_open_simt(TkcContext *cx, CudaApi *api)
{
    *api = (CudaApi){
        .report = simt_report,
#define CU(name, symbol, params) .name = simt_##symbol,
#include "cuda_api.def"
#undef CU
    };
    return start_driver(cx, api, "the emulated driver");
}

TkcStatus cuda_check(TkcContext *cx, const CudaApi *api, int result, const char *call)
{
    if (result == CU_OK) return TKC_OK;
    char text[80];
    const char *name = NULL;
    CuContext context = NULL;
    api->GetErrorName(result, &name);
    if (api->report) api->CtxGetCurrent(&context);
    tkc_report_begin(cx);
    tkc_report(cx, TKC_SEVERITY_ERROR, NULL, "%s failed: %s%s%s%s", call,
               describe(api, result, text, sizeof text), name ? " (" : "", name ? name : "",
               name ? ")" : "");
    if (context && *api->report(context)) tkc_report_note(cx, NULL, "%s", api->report(context));
    tkc_report_end(cx);
    return TKC_ERROR;
}
