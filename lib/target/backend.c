/* The LLVM side of a compilation: one context and one target machine each, so that any number may
   run at once.

   LLVM ends the process on an error it calls fatal. Its handler is installed once and raises to the
   compilation's frame instead; the context is then abandoned, never freed, because the jump passed
   LLVM's own frames. Errors that LLVM only reports reach the context's handler and fail the
   compilation whatever emission returns.

   Passes: the lowering already shares what is equal within an op and folds constants, so little is
   left to do; the list was chosen by the time it takes and the code that ptxas makes of it. */
#include "target/backend.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "base/unwind.h"
#include "lower/lower.h"
#include "target/nvptx.h"
#include "tkc/clock.h"

#define TRIPLE "nvptx64-nvidia-cuda"
#define PASSES                                                                                     \
    "function(early-cse,aggressive-instcombine,instcombine<max-iterations=1;no-verify-fixpoint>,early-cse,simplifycfg)"

/* ---- once a process ---- */

static void on_fatal(const char *reason)
{
    unwind_raise_as(UNWIND_LLVM, "LLVM: %s", reason);
}

static void start_llvm(void)
{
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    /* Sums of a pointer and a product of 32 bits become mad.wide: ptxas then computes what is the
       same for all threads once for the warp. Two sorts of one block are a maze of minima for LLVM,
       which compares such expressions along every path through them: not farther than this.
       Nobody asserts here that a sum does not wrap: where LLVM says so it has proved it, and no
       such sum is poison for another that straight-line strength reduction derives from it. To
       ask that again for each pair took a third of the time to compile a product. */
    static const char *const args[] = {"tkc", "-nvptx-mad-wide-opt",
                                       "-scalar-evolution-max-scev-compare-depth=6",
                                       "-enable-poison-reuse-guard=false"};
    LLVMParseCommandLineOptions(sizeof args / sizeof *args, args, NULL);
    LLVMInstallFatalErrorHandler(on_fatal);
}

/* Process-wide because LLVM's registry and handler are. */
static pthread_once_t llvm_started = PTHREAD_ONCE_INIT;

/* ---- one compilation ---- */

typedef struct Backend {
    const Func *fn;
    BackendWants wants;
    BackendResult *out;
    Diags *dx;
    LLVMContextRef cx;
    LLVMBuilderRef builder;
    LLVMTargetMachineRef tm;
    LLVMModuleRef module;
    const char *features;
    Lowered lowered;
    Arena *arena;
    LLVMMemoryBufferRef text; /* PTX, until it is copied */
    Size size;                /* of what was lowered */
    const char *error;        /* the first that LLVM reported */
} Backend;

static const char *take_message(Arena *a, char *message)
{
    const char *copy = arena_printf(a, "%s", message ? message : "unknown");
    LLVMDisposeMessage(message);
    return copy;
}

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user)
{
    Backend *be = user;
    UnwindFrame frame; /* LLVM's frames are around: nothing may be raised past them */
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || be->error) return;
    be->error = "no memory";
    unwind_push(&frame);
    if (setjmp(frame.env) == 0)
        be->error = take_message(be->arena, LLVMGetDiagInfoDescription(info));
    unwind_pop(&frame);
}

static void open_context(Backend *be)
{
    be->cx = LLVMContextCreate();
    be->builder = LLVMCreateBuilderInContext(be->cx);
    LLVMContextSetDiagnosticHandler(be->cx, on_diagnostic, be);
}

static void close_backend(Backend *be)
{
    if (be->text) LLVMDisposeMemoryBuffer(be->text);
    if (be->builder) LLVMDisposeBuilder(be->builder);
    if (be->module) LLVMDisposeModule(be->module);
    if (be->tm) LLVMDisposeTargetMachine(be->tm);
    if (be->cx) LLVMContextDispose(be->cx);
}

/* "+ptx70": the lowest version that knows the machine and every instruction used. */
static const char *features(Arena *a, const Machine *m, int min_ptx)
{
    int own = atoi(m->min_ptx + strlen("+ptx"));
    return arena_printf(a, "+ptx%d", own > min_ptx ? own : min_ptx);
}

static LLVMTargetMachineRef make_machine(const Machine *m, const char *feature_text,
                                         LLVMCodeGenOptLevel level)
{
    LLVMTargetRef target;
    char *message = NULL;
    check(!LLVMGetTargetFromTriple(TRIPLE, &target, &message), "LLVM has no target " TRIPLE);
    return LLVMCreateTargetMachine(target, TRIPLE, m->name, feature_text, level, LLVMRelocDefault,
                                   LLVMCodeModelDefault);
}

static const char *data_layout(Arena *a, LLVMTargetMachineRef tm)
{
    LLVMTargetDataRef td = LLVMCreateTargetDataLayout(tm);
    const char *text = take_message(a, LLVMCopyStringRepOfTargetData(td));
    LLVMDisposeTargetData(td);
    return text;
}

static const char *module_text(Backend *be)
{
    return take_message(be->arena, LLVMPrintModuleToString(be->module));
}

static void verify(Backend *be)
{
    char *message = NULL;
    bool broken = LLVMVerifyModule(be->module, LLVMReturnStatusAction, &message);
    const char *text = take_message(be->arena, message);
    check(!broken, "the lowering made LLVM IR that does not verify: %s", text);
}

static void optimize(Backend *be)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(be->module, PASSES, be->tm, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error) {
        signs_as_bits(be->module, be->builder);
        order_instructions(be->module, be->builder, be->arena);
        return;
    }
    char *message = LLVMGetErrorMessage(error);
    be->error = arena_printf(be->arena, "%s", message);
    LLVMDisposeErrorMessage(message);
}

static void emit(Backend *be)
{
    BackendResult *out = be->out;
    char *message = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(be->tm, be->module, LLVMAssemblyFile, &message,
                                            &be->text)) {
        const char *copy = take_message(be->arena, message);
        if (!be->error) be->error = copy;
        return;
    }
    Buf all = buf_make(be->arena);
    ptx_head(&all, be->fn, out->symbol, out->shared_bytes);
    buf_put(&all, LLVMGetBufferStart(be->text), LLVMGetBufferSize(be->text));
    out->len = all.len;
    out->text = buf_text(&all);
}

static void remake_machine(Backend *be, const char *feature_text, LLVMCodeGenOptLevel level)
{
    LLVMDisposeTargetMachine(be->tm);
    be->features = feature_text;
    be->tm = make_machine(be->fn->machine, feature_text, level);
}

/* Instructions that straight-line strength reduction compares with each other. */
static int count_candidates(LLVMModuleRef module)
{
    int n = 0;
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn)) {
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb;
             bb = LLVMGetNextBasicBlock(bb)) {
            for (LLVMValueRef v = LLVMGetFirstInstruction(bb); v; v = LLVMGetNextInstruction(v)) {
                LLVMOpcode code = LLVMGetInstructionOpcode(v);
                n += code == LLVMAdd || code == LLVMMul || code == LLVMGetElementPtr;
            }
        }
    }
    return n;
}

/* NVPTX runs straight-line strength reduction before it selects instructions, at every level but
   the lowest, and it takes time in the square of the additions (LLVM 22: 1 s for 1450 of them, 14 s
   for 5300). A function that long is emitted at the lowest level: ptxas finds about as much. */
static void limit_effort(Backend *be)
{
    enum { MANY = 1000 };
    if (count_candidates(be->module) > MANY) remake_machine(be, be->features, LLVMCodeGenLevelNone);
}

/* The machine is made twice when an instruction turns out to need a newer PTX than the chip does;
   that is rare. */
static bool lower(Backend *be)
{
    const Func *fn = be->fn;
    be->features = features(be->arena, fn->machine, 0);
    be->tm = make_machine(fn->machine, be->features, LLVMCodeGenLevelDefault);
    const LowerJob job = {.cx = be->cx,
                          .fn = fn,
                          .triple = TRIPLE,
                          .data_layout = data_layout(be->arena, be->tm),
                          .line_info = be->wants.line_info};
    if (!lower_func(&be->lowered, &job, be->arena, be->dx)) return false;
    be->module = be->lowered.module;
    be->size = lower_size(be->lowered.kernel);
    be->out->shared_bytes = be->lowered.shared_bytes;
    be->out->symbol = be->lowered.symbol;
    const char *wanted = features(be->arena, fn->machine, be->lowered.min_ptx);
    if (strcmp(wanted, be->features)) remake_machine(be, wanted, LLVMCodeGenLevelDefault);
    return true;
}

static void emit_ptx(Backend *be)
{
    const Lowered *l = &be->lowered;
    BackendResult *out = be->out;
    limit_effort(be);
    LLVMSetTargetMachineAsmVerbosity(be->tm, l->nlocs > 0); /* the comments are looked at */
    emit(be);
    if (out->text && l->nlocs)
        out->text = inlined_at_add(be->arena, out->text, &out->len, l->nlocs, l->locs);
}

/* From here on LLVM is at work, which cannot be left: what is short is said before. */
static void run_llvm(Backend *be)
{
    BackendResult *out = be->out;
    double lowered = clock_ms();
    optimize(be);
    double optimized = clock_ms();
    limit_poll();
    if (be->wants.llvm) {
        out->text = module_text(be);
        out->len = strlen(out->text);
    } else if (!be->error) {
        emit_ptx(be);
    }
    out->optimize_ms = optimized - lowered;
    out->emit_ms = clock_ms() - optimized;
}

static void compile(Backend *be)
{
    double start = clock_ms();
    if (!estimate_fits(be->fn, estimate_size(be->fn), be->arena, be->dx) || !lower(be)) return;
    verify(be);
    limit_poll();
    be->out->lower_ms = clock_ms() - start;
    if (estimate_fits(be->fn, be->size, be->arena, be->dx)) run_llvm(be);
}

/* True when something was raised, which is in the frame. What is raised between calls of LLVM
   leaves its objects to be closed. */
static bool compile_caught(Backend *be, UnwindFrame *frame)
{
    unwind_push(frame);
    volatile bool raised = setjmp(frame->env) != 0;
    if (!raised) compile(be);
    unwind_pop(frame);
    return raised;
}

bool backend_compile(BackendResult *out, const Func *fn, BackendWants wants, Arena *a, Diags *dx)
{
    Backend be = {.fn = fn, .wants = wants, .out = out, .dx = dx, .arena = a};
    UnwindFrame frame;
    const int errors = dx->nerrors;
    *out = (BackendResult){0};
    check(!pthread_once(&llvm_started, start_llvm), "cannot initialise LLVM");
    open_context(&be);
    const bool raised = compile_caught(&be, &frame);
    if (raised && frame.kind == UNWIND_LLVM) unwind_raise_again(&frame);
    close_backend(&be);
    if (raised && dx->nerrors == errors) unwind_raise_again(&frame);
    if (be.error) diag_error_as(dx, DIAG_INTERNAL, SPAN_NONE, "internal error: LLVM: %s", be.error);
    return dx->nerrors == errors;
}
