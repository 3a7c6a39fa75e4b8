/* -explain: the kernel's lines with what they cost (TKC_EMIT_EXPLAIN), then the registers that the
   assembler gives a thread: ptxas where there is one, else the driver of a GPU of that target. */
#include <string.h>

#include "assemble.h"
#include "command.h"

static bool ask_driver(Assembler *by, const TkcArtifact *ptx, ThreadCost *out)
{
    TkcKernelInfo info = {.size = sizeof info};
    if (!by->dev) by->dev = command_gpu(by->cx);
    tkc_context_on_diagnostic(by->cx, NULL, NULL); /* one that refuses it is as good as none */
    const bool ok = by->dev && !strcmp(tkc_device_arch(by->dev), tkc_artifact_arch(ptx)) &&
                    tkc_device_inspect(by->dev, ptx, &info) == TKC_OK;
    report_listen(by->cx);
    *out = (ThreadCost){info.registers, info.spill_bytes};
    return ok;
}

static void print_registers(Options *o, TkcContext *cx, const TkcArtifact *ptx)
{
    Assembler by = assemble_find(o, cx);
    ThreadCost cost;
    const char *who = assemble_ask(&by, ptx, &cost) ? "ptxas"
                      : ask_driver(&by, ptx, &cost) ? "the driver"
                                                    : NULL;
    assemble_end(&by);
    if (who)
        printf("\n%d registers a thread, %d bytes spilled, says %s\n", cost.registers,
               cost.spill_bytes, who);
    else
        printf("\nregisters and spills are not known: there is no ptxas, and no GPU, for %s\n",
               tkc_artifact_arch(ptx));
}

int command_explain(TkcContext *cx, Options *o)
{
    TkcArtifact *ptx = NULL, *lines = NULL;
    TkcSource *source = command_source(cx, o);
    if (!source) return EXIT_REFUSED;
    command_default_arch(cx, o);
    TkcStatus status = tkc_compile(source, &o->compile, TKC_EMIT_PTX, &ptx);
    if (status == TKC_OK) {
        tkc_context_on_diagnostic(cx, NULL, NULL); /* all was said */
        status = tkc_compile(source, &o->compile, TKC_EMIT_EXPLAIN, &lines);
        report_listen(cx);
    }
    if (status == TKC_OK) {
        fputs(tkc_artifact_text(lines, NULL), stdout);
        print_registers(o, cx, ptx);
    }
    tkc_artifact_free(lines);
    tkc_artifact_free(ptx);
    tkc_source_free(source);
    return command_exit(status);
}
