/* Loading libcuda.so.1, and the one place that turns its results into diagnostics. */
#include "cuda_api.h"

#include <dlfcn.h>
#include <string.h>

#include "tkc/edge.h"

static TkcStatus no_driver(TkcContext *cx, CudaApi *api, const char *what, const char *why)
{
    tkc_report_begin(cx);
    tkc_report(cx, TKC_SEVERITY_ERROR, NULL, "no GPU can be used: %s", what);
    if (why)
        tkc_report_note(cx, NULL, "%s", why);
    tkc_report_end(cx);
    cuda_api_close(api);
    return TKC_NO_DEVICE;
}

TkcStatus cuda_api_open(TkcContext *cx, CudaApi *api)
{
    static const struct { const char *symbol; size_t offset; } entries[] = {
#define CU(name, symbol, params) {#symbol, offsetof(CudaApi, name)},
#include "cuda_api.def"
#undef CU
    };
    memset(api, 0, sizeof *api);
    api->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!api->library)
        return no_driver(cx, api, "there is no NVIDIA driver (libcuda.so.1)", dlerror());
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        void *symbol = dlsym(api->library, entries[i].symbol);
        if (!symbol)
            return no_driver(cx, api, "the NVIDIA driver is too old: it lacks a function",
                             entries[i].symbol);
        memcpy((char *)api + entries[i].offset, &symbol, sizeof symbol);
    }
    int result = api->Init(0);
    if (result == CU_OK)
        return TKC_OK;
    const char *text = NULL;
    api->GetErrorString(result, &text);
    return no_driver(cx, api, "the NVIDIA driver does not start", text);
}

void cuda_api_close(CudaApi *api)
{
    if (api->library)
        dlclose(api->library);
    api->library = NULL;
}

TkcStatus cuda_check(TkcContext *cx, const CudaApi *api, int result, const char *call)
{
    if (result == CU_OK)
        return TKC_OK;
    const char *name = NULL, *text = NULL;
    api->GetErrorName(result, &name);
    api->GetErrorString(result, &text);
    tkc_report(cx, TKC_SEVERITY_ERROR, NULL, "%s failed: %s (%s)", call,
               text ? text : "no description", name ? name : "unknown error");
    return TKC_ERROR;
}
