/* What a kernel says through the driver: lines by vprintf, failed assertions by __assertfail, which
   the driver has for C's printf and assert (CUDA's programming guide, formatted output and
   assertion). The driver writes lines when it is asked for the launch's end; a failed assertion
   ends the launch and the context. */
#include <string.h>

#include "base/unwind.h"
#include "lower/lines.h"
#include "lower/lower.h"
#include "target/nvptx.h"

enum { MOST_PRINTED = 12 }; /* program, coordinates, the number */

static LLVMTypeRef generic_pointer(const Lower *L)
{
    return LLVMPointerTypeInContext(L->cx, 0);
}

/* A constant in global memory, seen through a generic address. */
static LLVMValueRef text(Lower *L, const char *s)
{
    LLVMValueRef chars = LLVMConstStringInContext2(L->cx, s, strlen(s), false),
                 global = LLVMAddGlobalInAddressSpace(L->module, LLVMTypeOf(chars), "text", 1);
    LLVMSetInitializer(global, chars);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    return LLVMConstAddrSpaceCast(global, generic_pointer(L));
}

static void call(Lower *L, const char *name, LLVMTypeRef result, int n, LLVMValueRef *args)
{
    LLVMTypeRef types[8];
    for (int i = 0; i < n; i++) types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, (unsigned)n, false);
    LLVMValueRef fn = LLVMGetNamedFunction(L->module, name);
    if (!fn) fn = LLVMAddFunction(L->module, name, type);
    LLVMBuildCall2(L->b, type, fn, args, (unsigned)n, "");
}

/* One for all lines of the kernel, in the thread's own memory. */
static LLVMValueRef argument_room(Lower *L)
{
    if (!L->print_room)
        L->print_room = LLVMBuildAlloca(L->entry, LLVMArrayType2(L->i64, MOST_PRINTED), "printed");
    return L->print_room;
}

void target_print(Lower *L, const char *format, int n, const LLVMValueRef *args)
{
    LLVMValueRef room = argument_room(L);
    check(n <= MOST_PRINTED, "a line of %d numbers", n);
    for (int i = 0; i < n; i++) {
        LLVMValueRef at = lower_i32(L, i);
        LLVMBuildStore(L->b, args[i], LLVMBuildGEP2(L->b, L->i64, room, &at, 1, ""));
    }
    call(L, "vprintf", L->i32, 2, (LLVMValueRef[]){text(L, format), room});
}

void target_fail(Lower *L, const char *message, const Loc *loc)
{
    const char *file = loc ? lines_file(L->arena, loc) : "?", *function = L->fn->name;
    call(L, "__assertfail", LLVMVoidTypeInContext(L->cx), 5,
         (LLVMValueRef[]){text(L, message), text(L, file), lower_i32(L, loc ? loc->line : 0),
                          text(L, function), LLVMConstInt(L->i64, 1, false)});
    lower_intrinsic(L, "llvm.trap", NULL, 0, NULL);
}
