/* A user's program: compiles a kernel from a string and prints its PTX. */
#include <stdio.h>
#include <string.h>
#include <tkc/tkc.h>

static const char kernel[] = "import triton.language as tl\n"
                             "@triton.jit\n"
                             "def fill(x: \"*fp32:16\", B: tl.constexpr):\n"
                             "    tl.store(x + tl.arange(0, B), 1.0)\n";

int main(void)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *source = NULL;
    TkcArtifact *ptx = NULL;
    TkcOptions options;
    TkcDefine block = {"B", "512"};
    tkc_options_init(&options);
    options.defines = &block;
    options.ndefines = 1;
    options.arch = "sm_80";
    if (tkc_source_from_text(cx, "fill.tk", kernel, strlen(kernel), TKC_LANGUAGE_TK, &source) == TKC_OK &&
        tkc_compile(source, &options, TKC_EMIT_PTX, &ptx) == TKC_OK)
        puts(tkc_artifact_text(ptx, NULL));
    else
        fputs(tkc_last_error(cx), stderr);
    tkc_artifact_free(ptx);
    tkc_source_free(source);
    tkc_context_free(cx);
    return ptx ? 0 : 1;
}
