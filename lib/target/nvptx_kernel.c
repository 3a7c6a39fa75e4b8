/* A kernel's head: the name it has in PTX, its parameters, and what a launch may count on. */
#include <stdio.h>
#include <string.h>

#include "ir/tensor_map.h"
#include "lower/lower.h"
#include "target/nvptx.h"

#define PTX_KERNEL_CONVENTION 71

/* ---- the name ---- */

/* Names that a kernel may have and a PTX symbol may not (PTX manual, 4.4 and 4.3.2), and functions of
   the driver. */
static bool is_reserved(const char *name)
{
    static const char *const names[] = {"_", "WARP_SZ", "vprintf", "__assertfail"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(name, names[i])) return true;
    }
    return false;
}

/* A PTX name is made of ASCII letters, digits, '_' and '$'. No name of the language has a '$', so
   that $ and two hexadecimal digits for each other byte give every kernel a name of its own; one
   that is taken gets a $ before. */
const char *target_symbol(Arena *a, const char *name)
{
    Buf out = buf_make(a);
    if (is_reserved(name)) buf_puts(&out, "$");
    for (const char *p = name; *p; p++) {
        const bool is_number = p == name && *p >= '0' && *p <= '9'; /* of IR text */
        if (char_is_word(*p) && !is_number) buf_putc(&out, *p);
        else buf_printf(&out, "$%02x", (unsigned char)*p);
    }
    return buf_text(&out);
}

/* ---- the parameters ---- */

/* As PTX lays them out: each at a multiple of its size. */
static int64_t parameter_bytes(const Func *f, int maps)
{
    int64_t at = 0;
    for (int i = 0; i < f->nparams; i++) {
        int64_t bits = type_bits(f->params[i].type), size = bits < 8 ? 1 : bits / 8;
        at = (at + size - 1) / size * size + size;
    }
    if (maps) at = (at + TENSOR_MAP_ALIGN - 1) / TENSOR_MAP_ALIGN * TENSOR_MAP_ALIGN;
    return at + maps * TENSOR_MAP_BYTES;
}

/* PTX manual, 5.1.6: the space of parameters grew with version 8.1, from sm_70 on. */
static bool fit_parameters(Lower *L, int maps)
{
    enum { SMALL = 4352, LARGE = 32764, LARGE_PTX = 81, LARGE_SM = 70 };
    const Func *f = L->fn;
    const int64_t bytes = parameter_bytes(f, maps), most = L->machine->sm >= LARGE_SM ? LARGE : SMALL;
    if (bytes > SMALL) lower_need_ptx(L, LARGE_PTX);
    if (bytes <= most) return true;
    Diag *d = diag_error(L->dx, ir_span(f->loc),
                         "kernel '%s' takes %lld bytes of parameters, and a kernel on %s has room "
                         "for %lld",
                         f->name, (long long)bytes, L->machine->name, (long long)most);
    diag_note(L->dx, d, SPAN_NONE,
              "numbers that are known now can be constexprs, others an array that is loaded");
    return false;
}

/* ---- attributes ---- */

static void set_string_attribute(Lower *L, LLVMValueRef fn, const char *name, const char *value)
{
    LLVMAttributeRef a = LLVMCreateStringAttribute(L->cx, name, (unsigned)strlen(name), value,
                                                   (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, a);
}

void target_limit_registers(Lower *L, LLVMValueRef fn, int most)
{
    if (L->fn->max_registers) return;
    set_string_attribute(L, fn, "nvvm.maxnreg", arena_printf(L->arena, "%d", most));
}

/* A tensor map is read where the launch has put it. */
static void pass_in_place(Lower *L, LLVMValueRef fn, int param)
{
    static const char byval[] = "byval", stays[] = "nvvm.grid_constant";
    const LLVMAttributeIndex at = (LLVMAttributeIndex)(param + 1);
    LLVMAddAttributeAtIndex(
        fn, at,
        LLVMCreateTypeAttribute(L->cx, LLVMGetEnumAttributeKindForName(byval, sizeof byval - 1),
                                LLVMArrayType2(L->i8, TENSOR_MAP_BYTES)));
    LLVMAddAttributeAtIndex(fn, at, lower_attribute(L, "align", TENSOR_MAP_ALIGN));
    LLVMAddAttributeAtIndex(fn, at,
                            LLVMCreateStringAttribute(L->cx, stays, sizeof stays - 1, NULL, 0));
}

bool target_kernel(Lower *L, LLVMValueRef fn)
{
    const Func *f = L->fn;
    const int maps = (int)LLVMCountParams(fn) - f->nparams;
    LLVMSetFunctionCallConv(fn, PTX_KERNEL_CONVENTION);
    set_string_attribute(L, fn, "nvvm.reqntid",
                         arena_printf(L->arena, "%d", f->num_warps * MACHINE_LANES));
    if (f->max_registers)
        set_string_attribute(L, fn, "nvvm.maxnreg", arena_printf(L->arena, "%d", f->max_registers));
    LLVMAddAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            lower_attribute(L, "nounwind", 0));
    for (int i = 0; i < f->nparams; i++) {
        int64_t d = f->params[i].divisibility, align = d & -d;
        if (type_is_pointer(f->params[i].type) && align > 1)
            LLVMAddAttributeAtIndex(
                fn, (LLVMAttributeIndex)(i + 1),
                lower_attribute(L, "align", (uint64_t)(align > 256 ? 256 : align)));
    }
    for (int i = 0; i < maps; i++) pass_in_place(L, fn, f->nparams + i);
    return fit_parameters(L, maps);
}
