/* The cuda device under the emulated driver, or a real driver: a program's own context is used, is current on
   return exactly if it was on entry, and is not released; a kernel of too many parameters. */
#include <stdlib.h>
#include <string.h>

#include "device/cuda_api.h"
#include "expect.h"
#include "tkc/runtime.h"

static const char text[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.jit\n"
    "def fill(x: '*i32', v: 'i8', w: 'fp16', B: tl.constexpr):\n"
    "    tl.store(x + tl.arange(0, B), (v + w).to(tl.int32))\n";

static CuContext current(const CudaApi *api)
{
    CuContext now = NULL;
    EXPECT_INT(api->CtxGetCurrent(&now), CU_OK);
    return now;
}

static TkcJit *jit_of(TkcContext *cx, TkcDevice *dev, const char *source_text, TkcSource **source)
{
    TkcOptions o;
    TkcJit *jit = NULL;
    tkc_options_init(&o);
    EXPECT_INT(tkc_source_from_text(cx, "f.tk", source_text, strlen(source_text), TKC_LANGUAGE_TK,
                                    source), TKC_OK);
    EXPECT_INT(tkc_jit_new(dev, *source, &o, &jit), TKC_OK);
    return jit;
}

/* All that a device does, with `mine` current or not. */
static void work(TkcContext *cx, const CudaApi *api, CuContext mine)
{
    TkcDevice *dev = NULL;
    TkcSource *source = NULL;
    TkcPtr x = 0;
    int back[64];
    const CuContext before = current(api);
    EXPECT_INT(tkc_device_open_cuda_context(cx, mine, &dev), TKC_OK);
    TkcJit *jit = jit_of(cx, dev, text, &source);
    EXPECT(current(api) == before);
    EXPECT_INT(tkc_alloc(dev, sizeof back, &x), TKC_OK);
    EXPECT(current(api) == before);
    const TkcArg args[] = {tkc_pointer("*i32", x, sizeof back), tkc_int(3), tkc_float(0.5),
                           tkc_constexpr("64")};
    const int64_t grid[3] = {1, 1, 1};
    for (int i = 0; i < 2; i++)
        EXPECT_INT(tkc_launch(jit, grid, NULL, args, 4), TKC_OK);
    TkcKernelInfo info = {.size = sizeof info};
    EXPECT_INT(tkc_jit_prepare(jit, args, 4, &info), TKC_OK);
    EXPECT(!strncmp(info.text, "// tkc ", 7));
    EXPECT_INT(tkc_synchronize(dev, NULL), TKC_OK);
    EXPECT_INT(tkc_copy_out(dev, back, x, sizeof back), TKC_OK);
    EXPECT(current(api) == before);
    EXPECT_INT(tkc_free(dev, x), TKC_OK);
    tkc_jit_free(jit);
    tkc_source_free(source);
    tkc_device_free(dev);
    EXPECT(current(api) == before);
    EXPECT_STR(tkc_last_error(cx), "");
}

static void context_of_the_caller(void)
{
    TkcContext *cx = tkc_context_new();
    CudaApi api;
    CuContext mine, popped;
    EXPECT_INT(cuda_api_open(cx, &api), TKC_OK);
    EXPECT_INT(api.DevicePrimaryCtxRetain(&mine, 0), CU_OK);
    work(cx, &api, mine);
    EXPECT_INT(api.CtxPushCurrent(mine), CU_OK);
    work(cx, &api, mine);
    EXPECT_INT(api.CtxPopCurrent(&popped), CU_OK);
    EXPECT_INT(api.DevicePrimaryCtxRelease(0), CU_OK);
    tkc_context_free(cx);
}

/* The driver's context goes first: each call is an error, and what is freed later touches nothing. */
static void context_destroyed(void)
{
    TkcContext *cx = tkc_context_new();
    TkcDevice *dev = NULL;
    TkcSource *source = NULL;
    TkcPtr x = 0, y = 0;
    CudaApi api;
    CuContext mine;
    int back[64];
    EXPECT_INT(cuda_api_open(cx, &api), TKC_OK);
    EXPECT_INT(api.DevicePrimaryCtxRetain(&mine, 0), CU_OK);
    EXPECT_INT(tkc_device_open_cuda_context(cx, mine, &dev), TKC_OK);
    TkcJit *jit = jit_of(cx, dev, text, &source);
    EXPECT_INT(tkc_alloc(dev, sizeof back, &x), TKC_OK);
    TkcArg args[] = {tkc_pointer("*i32", x, sizeof back), tkc_int(3), tkc_float(0.5), tkc_constexpr("64")};
    const int64_t grid[3] = {1, 1, 1};
    EXPECT_INT(tkc_launch(jit, grid, NULL, args, 4), TKC_OK);
    EXPECT_INT(tkc_free(dev, x), TKC_OK);
    EXPECT_INT(api.DevicePrimaryCtxRelease(0), CU_OK);
    EXPECT_INT(tkc_launch(jit, grid, NULL, args, 4), TKC_ERROR);
    EXPECT(strstr(tkc_last_error(cx), "cuCtxPushCurrent failed: ") != NULL);
    args[3] = tkc_constexpr("32"); /* to be compiled yet */
    EXPECT_INT(tkc_launch(jit, grid, NULL, args, 4), TKC_ERROR);
    EXPECT_INT(tkc_alloc(dev, sizeof back, &y), TKC_ERROR);
    EXPECT_INT(tkc_copy_out(dev, back, x, sizeof back), TKC_ERROR);
    EXPECT_INT(tkc_synchronize(dev, NULL), TKC_ERROR);
    EXPECT_INT(tkc_free(dev, x), TKC_ERROR);
    EXPECT(current(&api) == NULL);
    tkc_jit_free(jit);
    tkc_source_free(source);
    tkc_device_free(dev);
    EXPECT(current(&api) == NULL);
    tkc_context_free(cx);
}

static void too_many_parameters(void)
{
    enum { N = 513 };
    static char source_text[N * 16 + 200];
    static TkcArg args[N];
    size_t len = (size_t)sprintf(source_text, "import triton\n@triton.jit\ndef k(");
    for (int i = 0; i < N; i++, args[i - 1] = tkc_int(2))
        len += (size_t)sprintf(source_text + len, "a%d: 'i32', ", i);
    strcpy(source_text + len, "):\n    pass\n");
    TkcContext *cx = tkc_context_new();
    TkcDevice *dev = NULL;
    TkcSource *source = NULL;
    const int64_t grid[3] = {1, 1, 1};
    EXPECT_INT(tkc_device_open(cx, "cuda", 0, &dev), TKC_OK);
    TkcJit *jit = jit_of(cx, dev, source_text, &source);
    EXPECT_INT(tkc_launch(jit, grid, NULL, args, N), TKC_ERROR);
    EXPECT_STR(tkc_last_error(cx),
               "error: the kernel has 513 run-time parameters; at most 512 can be passed\n");
    tkc_jit_free(jit);
    tkc_source_free(source);
    tkc_device_free(dev);
    tkc_context_free(cx);
}

/* Of PTX that no jit made. */
static void inspected(void)
{
    TkcContext *cx = tkc_context_new();
    TkcDevice *dev = NULL, *cpu = NULL;
    TkcSource *source = NULL;
    TkcArtifact *ptx = NULL;
    TkcOptions o;
    TkcKernelInfo info = {.size = sizeof info, .registers = -2}, none = {0};
    tkc_options_init(&o);
    EXPECT_INT(tkc_device_open(cx, "cuda", 0, &dev), TKC_OK);
    EXPECT_INT(tkc_device_open(cx, "cpu", 0, &cpu), TKC_OK);
    o.arch = tkc_device_arch(dev);
    o.num_warps = 2;
    o.defines = (const TkcDefine[]){{"B", "64"}};
    o.ndefines = 1;
    EXPECT_INT(tkc_source_from_text(cx, "f.tk", text, strlen(text), TKC_LANGUAGE_TK, &source), TKC_OK);
    EXPECT_INT(tkc_compile(source, &o, TKC_EMIT_PTX, &ptx), TKC_OK);
    EXPECT_INT(tkc_device_inspect(dev, ptx, &info), TKC_OK);
    EXPECT(info.registers > 0 && info.spill_bytes == 0 && info.num_warps == 2 && !info.text);
    EXPECT_INT(tkc_device_inspect(dev, ptx, &none), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(cx), "error: there is no place for what the kernel costs\n");
    EXPECT_INT(tkc_device_inspect(cpu, ptx, &info), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(cx), "error: there is no PTX, or this device takes none\n");
    EXPECT_INT(tkc_device_inspect(dev, NULL, &info), TKC_MISUSE);
    EXPECT_INT(tkc_device_inspect(NULL, ptx, &info), TKC_MISUSE);
    void *cubin = NULL;
    size_t bytes = 0;
    const TkcArtifact *const alone[] = {ptx, NULL};
    EXPECT_INT(tkc_device_assemble(dev, alone, 1, &cubin, &bytes), TKC_OK);
    EXPECT(cubin && bytes > strlen(tkc_artifact_text(ptx, NULL)));
    free(cubin);
    EXPECT_INT(tkc_device_assemble(dev, alone, 1, NULL, &bytes), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(cx), "error: there is no PTX, or no place for the cubin: a pointer is NULL\n");
    EXPECT_INT(tkc_device_assemble(cpu, alone, 1, &cubin, &bytes), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(cx), "error: this device makes no machine code of PTX\n");
    EXPECT_INT(tkc_device_assemble(dev, alone, 2, &cubin, &bytes), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(cx), "error: there is no PTX\n");
    EXPECT_INT(tkc_device_assemble(dev, alone, 0, &cubin, &bytes), TKC_MISUSE);
    EXPECT_INT(tkc_device_assemble(dev, NULL, 1, &cubin, &bytes), TKC_MISUSE);
    EXPECT_INT(tkc_device_assemble(NULL, alone, 1, &cubin, &bytes), TKC_MISUSE);
    tkc_artifact_free(ptx);
    tkc_source_free(source);
    tkc_device_free(cpu);
    tkc_device_free(dev);
    tkc_context_free(cx);
}

static TkcArtifact *compile_as(TkcSource *source, const char *arch, const char *block, const char *symbol)
{
    TkcOptions o;
    TkcArtifact *ptx = NULL;
    tkc_options_init(&o);
    o.arch = arch;
    o.symbol = symbol;
    o.defines = &(TkcDefine){"B", block};
    o.ndefines = 1;
    EXPECT_INT(tkc_compile(source, &o, TKC_EMIT_PTX, &ptx), TKC_OK);
    return ptx;
}

/* Two specializations of a kernel, under the caller's names, are functions of one module. */
static void one_module(void)
{
    TkcContext *cx = tkc_context_new();
    TkcDevice *dev = NULL;
    TkcSource *source = NULL;
    CudaApi api;
    CuModule module;
    CuFunction function;
    CuContext mine;
    void *cubin = NULL;
    size_t bytes = 0;
    EXPECT_INT(tkc_device_open(cx, "cuda", 0, &dev), TKC_OK);
    EXPECT_INT(tkc_source_from_text(cx, "f.tk", text, strlen(text), TKC_LANGUAGE_TK, &source), TKC_OK);
    const char *arch = tkc_device_arch(dev);
    TkcArtifact *const all[] = {compile_as(source, arch, "32", "fill_32"), compile_as(source, arch, "64", "fill_64"),
                                compile_as(source, arch, "64", NULL), compile_as(source, "sm_80", "64", "fill_80")};
    EXPECT_STR(tkc_artifact_kernel(all[0]), "fill_32");
    EXPECT_STR(tkc_artifact_kernel(all[2]), "fill");
    EXPECT_INT(tkc_device_assemble(dev, (const TkcArtifact *const *)all, 3, &cubin, &bytes), TKC_OK);
    EXPECT_INT(cuda_api_open(cx, &api), TKC_OK);
    EXPECT_INT(api.DevicePrimaryCtxRetain(&mine, 0), CU_OK);
    EXPECT_INT(api.CtxPushCurrent(mine), CU_OK);
    EXPECT_INT(api.ModuleLoadDataEx(&module, cubin, 0, NULL, NULL), CU_OK);
    for (int i = 0; i < 3; i++)
        EXPECT_INT(api.ModuleGetFunction(&function, module, tkc_artifact_kernel(all[i])), CU_OK);
    EXPECT(api.ModuleGetFunction(&function, module, "fill_80") != CU_OK);
    EXPECT_INT(api.ModuleUnload(module), CU_OK);
    EXPECT_INT(api.CtxPopCurrent(&mine), CU_OK);
    EXPECT_INT(api.DevicePrimaryCtxRelease(0), CU_OK);
    free(cubin);
    EXPECT_INT(tkc_device_assemble(dev, (const TkcArtifact *const *)all, 4, &cubin, &bytes), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(cx), "error: the targets differ\n");
    EXPECT_INT(tkc_device_assemble(dev, (const TkcArtifact *const[]){all[0], all[1], all[0]}, 3, &cubin, &bytes), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(cx), "error: two kernels have one symbol; TkcOptions.symbol gives another\n");
    for (int i = 0; i < 4; i++) tkc_artifact_free(all[i]);
    tkc_source_free(source);
    tkc_device_free(dev);
    tkc_context_free(cx);
}

int main(void)
{
    RUN(context_of_the_caller);
    RUN(inspected);
    RUN(one_module);
    RUN(context_destroyed);
    RUN(too_many_parameters);
    return expect_done();
}
