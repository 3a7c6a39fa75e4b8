/* What only a chip has: inline assembly, special registers, and questions about the target. */
#include <string.h>

#include "ir/machine.h"
#include "spec/argument.h"
#include "tkc/inline_asm.h"

enum { MAX_ASM_VALUES = 64 }; /* as messages say */

static Op *assembly(Spec *sp, const char *text, const char *constraints, bool pure, int pack, int n,
                    Value *const *args, int nresults, const Type *const *types)
{
    Op *op = build_op(&sp->b, OP_INLINE_ASM, n, args, nresults, types);
    ir_set_str(sp->fn, op, ATTR_ASM, text);
    ir_set_str(sp->fn, op, ATTR_CONSTRAINTS, constraints);
    ir_set_int(sp->fn, op, ATTR_PURE, pure);
    ir_set_int(sp->fn, op, ATTR_PACK, pack);
    return op;
}

static int asm_operands(Spec *sp, const Call *c, int i, Value **out)
{
    SpecValue *items;
    int n = op_items(sp, c->args[i], &items, c->spans[i]);
    if (n > MAX_ASM_VALUES) return arg_refuse(sp, c, i, "at most 64 values"), -1;
    return arg_broadcast(sp, c, i, n, items, out) ? n : -1;
}

/* One dtype or a tuple of them, in the operands' shape; -1 after an error. */
static int asm_results(Spec *sp, const Call *c, int i, const Type *like, const Type **out)
{
    SpecValue *items;
    int n = sv_items(&c->args[i], &items);
    for (int k = 0; k < n && k < MAX_ASM_VALUES; k++) {
        if (items[k].kind != SV_TYPE || items[k].type->kind != TY_SCALAR)
            return arg_refuse(sp, c, i, "a type or a tuple of types"), -1;
        out[k] = like ? type_with_elem(sp->ir->types, like, items[k].type) : items[k].type;
    }
    return n <= MAX_ASM_VALUES ? n : -1;
}

/* The constraints fit the text, the operands and the results. */
static bool asm_is_consistent(Spec *sp, const Call *c, const Op *op)
{
    static const int argument[] = {[ASM_TEXT] = 0, [ASM_CONSTRAINTS] = 1, [ASM_PACK] = 5};
    AsmRegisters registers;
    char problem[256];
    AsmFault fault = tkc_asm_registers(op, &registers, problem, sizeof problem);
    if (fault) spec_error(sp, c->spans[argument[fault]], "%s", problem);
    return !fault;
}

SpecValue builtin_inline_asm(Spec *sp, const Call *c)
{
    const char *text = c->args[0].s;
    const bool pure = c->args[4].b;
    const int64_t pack = (int64_t)c->args[5].i;
    Value *args[MAX_ASM_VALUES];
    const Type *types[MAX_ASM_VALUES];
    if (!*text) return arg_refuse(sp, c, 0, "instructions");
    if (pack < 1 || pack > ASM_MAX_PACK) return arg_refuse(sp, c, 5, "1 to 16");
    int n = asm_operands(sp, c, 2, args);
    int nresults = n < 0 ? -1 : asm_results(sp, c, 3, n ? args[0]->type : NULL, types);
    if (nresults < 0) return sv_error();
    Op *op = assembly(sp, text, c->args[1].s, pure, (int)pack, n, args, nresults, types);
    if (!asm_is_consistent(sp, c, op)) return sv_error();
    return arg_results(sp, c->args[3].kind != SV_TYPE, nresults, op->results);
}

/* Chips before sm_90 begin no launch before the one that it depends on has ended: there is nothing to wait for, and nothing to allow. */
SpecValue builtin_gdc(Spec *sp, const Call *c)
{
    if (sp->fn->machine->sm < 90) return sv_none();
    bool wait = strcmp(c->builtin->name, "gdc_wait") == 0;
    assembly(sp, wait ? "griddepcontrol.wait;" : "griddepcontrol.launch_dependents;", "~{memory}",
             false, 1, 0, NULL, 0, NULL);
    return sv_none();
}

SpecValue builtin_special_register(Spec *sp, const Call *c)
{
    bool timer = strcmp(c->builtin->name, "globaltimer") == 0;
    const Type *t = type_scalar(sp->ir->types, timer ? DT_I64 : DT_I32);
    Op *op = assembly(sp, timer ? "mov.u64 $0, %globaltimer;" : "mov.u32 $0, %smid;",
                      timer ? "=l" : "=r", false, 1, 0, NULL, 1, &t);
    return sv_value(op_result(op, 0));
}

SpecValue builtin_num_warps(Spec *sp, const Call *c)
{
    bool threads = strcmp(c->builtin->name, "num_threads") == 0;
    return sv_int(sp->fn->num_warps * (threads ? MACHINE_LANES : 1));
}

SpecValue builtin_current_target(Spec *sp, const Call *c)
{
    (void)c;
    static const char *const names[] = {"backend", "arch", "warp_size"};
    const SpecValue values[] = {sv_str(intern_cstr(sp->names, "cuda")),
                                sv_int(sp->fn->machine->sm), sv_int(MACHINE_LANES)};
    return constant_record(sp, "GPUTarget", 3, names, values);
}

SpecValue builtin_is_cuda(Spec *sp, const Call *c)
{
    (void)sp;
    return sv_bool(strcmp(c->builtin->name, "is_cuda") == 0);
}

SpecValue builtin_capability(Spec *sp, const Call *c)
{
    const __int128 major = c->args[0].i, minor = c->args[1].i;
    return sv_bool(major < 1000 && minor < 1000 && sp->fn->machine->sm >= major * 10 + minor);
}
