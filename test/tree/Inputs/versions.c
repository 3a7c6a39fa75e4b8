/* A caller whose structs are smaller (OLD), larger (NEW) or as large as the library's. Around each lie bytes that nobody may touch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tkc/runtime.h>

#define MUST(condition) ((condition) ? (void)0 : (printf("line %d: %s\n", __LINE__, #condition), exit(1)))
#define GUARDED(Type) struct { Type it; unsigned char after[64]; }
#define GUARD(x) memset((x).after, 0xa5, sizeof (x).after)
#define INTACT(x) is_guard((x).after, sizeof (x).after)

static int is_guard(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != 0xa5)
            return 0;
    return 1;
}

static const char text[] = "import triton\nimport triton.language as tl\n"
                           "@triton.jit\n"
                           "def one(x: '*fp32', B: tl.constexpr = 8):\n"
                           "    tl.store(x + tl.arange(0, B), 1.0)\n";

static void count(const TkcDiagnostic *d, void *user)
{
    MUST(d->size >= sizeof(size_t) + sizeof d->severity && d->text);
    ++*(int *)user;
}

int main(void)
{
    int said = 0;
    TkcContext *cx = tkc_context_new();
    TkcSource *source;
    TkcArtifact *ir;
    TkcDevice *dev;
    TkcJit *jit;
    TkcPtr x;
    GUARDED(TkcOptions) o;
    GUARDED(TkcParam) p = {.it = {.size = sizeof p.it}};
    GUARDED(TkcKernelInfo) info = {.it = {.size = sizeof info.it}};
    GUARDED(TkcCacheStats) stats = {.it = {.size = sizeof stats.it}};
    GUARD(o), GUARD(p), GUARD(info), GUARD(stats);
    tkc_context_on_diagnostic(cx, count, &said);
    tkc_options_init(&o.it);
    MUST(o.it.size == sizeof o.it && INTACT(o));
    o.it.num_warps = 2;
    MUST(!tkc_source_from_text(cx, "one.tk", text, strlen(text), TKC_LANGUAGE_TK, &source));
    MUST(!tkc_compile(source, &o.it, TKC_EMIT_LAYOUT, &ir) && tkc_artifact_num_warps(ir) == 2);
    MUST(!tkc_check(source, &o.it, NULL, NULL));
    MUST(!tkc_source_param(source, NULL, 1, &p.it) && INTACT(p));
    MUST(!strcmp(p.it.name, "B") && p.it.is_constexpr && p.it.size == sizeof p.it);
    MUST(!tkc_device_open(cx, "cpu", 0, &dev) && !tkc_jit_new(dev, source, &o.it, &jit));
    MUST(!tkc_jit_param(jit, 0, &p.it) && INTACT(p) && !strcmp(p.it.name, "x"));
    MUST(!tkc_alloc(dev, 64, &x));
    TkcArg args[] = {tkc_pointer(NULL, x, 64), tkc_constexpr(NULL)};
    MUST(!tkc_launch(jit, (int64_t[]){1, 1, 1}, NULL, args, 2));
    MUST(!tkc_jit_info(jit, args, 2, &info.it) && INTACT(info) && info.it.num_warps == 2);
    tkc_jit_stats(jit, &stats.it);
    MUST(INTACT(stats) && stats.it.compiles == 1 && said == 0);
#ifdef NEW
    MUST(p.it.from_the_future == 0 && info.it.from_the_future == 0);
    o.it.from_the_future = 1; /* not served, so it is refused */
    MUST(tkc_compile(source, &o.it, TKC_EMIT_LAYOUT, &ir) == TKC_MISUSE && said == 1);
    MUST(strstr(tkc_last_error(cx), "that this version of the library does not know"));
    TkcJit *none = jit;
    MUST(tkc_jit_new(dev, source, &o.it, &none) == TKC_MISUSE && !none && said == 2);
#endif
    p.it.size = 0;
    MUST(tkc_source_param(source, NULL, 0, &p.it) == TKC_MISUSE);
    MUST(strstr(tkc_last_error(cx), "the size of the parameter is not set"));
    MUST(tkc_jit_param(jit, 0, &p.it) == TKC_MISUSE);
    info.it.size = 1 << 20;
    MUST(tkc_jit_info(jit, args, 2, &info.it) == TKC_MISUSE);
    MUST(strstr(tkc_last_error(cx), "the size of the information is not set"));
}
