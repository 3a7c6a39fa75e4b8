/* The edge to LLVM: its fatal errors come back as raises and leave the process usable; the same
   function gives the same bytes, on any number of threads at once. */
#include "target/backend.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#include "ir/machine.h"
#include "ir/parse.h"

static const char source_text[] =
    "func @scale(%x: *fp32, %a: fp32) attributes {num_warps = 2, num_stages = 1} {\n"
    "  %v = load %x : fp32\n"
    "  %w = mul %v, %a : fp32\n"
    "  %e = exp %w : fp32\n"
    "  store %x, %e\n"
    "  return\n"
    "}\n";

/* The PTX of the source, to be freed; NULL when anything was reported. */
static char *compile(void)
{
    Arena a;
    Diags dx;
    Func **funcs;
    BackendResult r;
    char *copy = NULL;
    arena_init(&a);
    diags_init(&dx, &a);
    Ir *ir = ir_new(&a, intern_new(&a));
    Source *source = source_new(&a, "scale.ir", source_text, sizeof source_text - 1);
    if (ir_parse(ir, &dx, source, &funcs) == 1) {
        funcs[0]->machine = machine_find("sm_80");
        if (backend_compile(&r, funcs[0], (BackendWants){0}, &a, &dx)) copy = strdup(r.text);
    }
    arena_fini(&a);
    return copy;
}

static void *compile_often(void *first)
{
    UnwindFrame frame;
    volatile intptr_t differ = 0;
    unwind_push(&frame);
    if (setjmp(frame.env) == 0) {
        for (int i = 0; i < 20; i++) {
            char *again = compile();
            differ += !again || strcmp(again, first) != 0;
            free(again);
        }
    } else {
        differ = 1;
    }
    unwind_pop(&frame);
    return (void *)differ;
}

static void threads_give_the_same_bytes(void)
{
    pthread_t threads[4];
    char *first = compile();
    EXPECT(first && strstr(first, "ex2.approx.f32"));
    for (int i = 0; i < 4; i++) EXPECT(!pthread_create(&threads[i], NULL, compile_often, first));
    for (int i = 0; i < 4; i++) {
        void *differ;
        pthread_join(threads[i], &differ);
        EXPECT(!differ);
    }
    free(first);
}

/* A reduction instruction on a machine that has none: LLVM calls that fatal. */
static void select_the_impossible(void)
{
    LLVMContextRef cx = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("impossible", cx);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(cx), params[2] = {i32, i32};
    LLVMTypeRef type = LLVMFunctionType(i32, params, 1, false),
                pair = LLVMFunctionType(i32, params, 2, false);
    LLVMValueRef fn = LLVMAddFunction(module, "f", type),
                 args[2] = {LLVMGetParam(fn, 0), LLVMConstInt(i32, 0xffffffff, false)};
    unsigned id = LLVMLookupIntrinsicID("llvm.nvvm.redux.sync.add", 24);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(cx);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(cx, fn, "entry"));
    LLVMBuildRet(
        b, LLVMBuildCall2(b, pair, LLVMGetIntrinsicDeclaration(module, id, NULL, 0), args, 2, ""));
    LLVMTargetRef target;
    char *message = NULL;
    LLVMMemoryBufferRef out;
    LLVMGetTargetFromTriple("nvptx64-nvidia-cuda", &target, &message);
    LLVMTargetMachineRef tm =
        LLVMCreateTargetMachine(target, "nvptx64-nvidia-cuda", "sm_75", "", LLVMCodeGenLevelDefault,
                                LLVMRelocDefault, LLVMCodeModelDefault);
    LLVMTargetMachineEmitToMemoryBuffer(tm, module, LLVMAssemblyFile, &message, &out);
}

/* In a child, because what LLVM leaves behind is never freed. */
static void a_fatal_error_is_a_raise(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        EXPECT_RAISE(select_the_impossible(), "Cannot select");
        char *after = compile();
        EXPECT(after);
        fflush(stdout);
        _exit(expect_failures != 0);
    }
    int status = -1;
    EXPECT(child > 0 && waitpid(child, &status, 0) == child);
    EXPECT_INT(status, 0);
}

int main(void)
{
    RUN(threads_give_the_same_bytes);
    RUN(a_fatal_error_is_a_raise);
    return expect_done();
}
