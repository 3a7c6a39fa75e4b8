/* What a GPU of NVIDIA has, for the lowering: intrinsics where LLVM's are right, inline PTX where
   it has none or drops something.

   Global and shared memory go through inline PTX: one instruction under one predicate, whose
   outputs are tied to the values that stay when it is false. LLVM would turn a masked load into
   branches, and drops order and scope of read-modify-writes (LLVM 22). The address is a register
   plus an immediate in the text. All of it is marked as having side effects, which keeps the order
   among accesses and barriers; ptxas knows the instructions again and schedules them. */
#include "target/nvptx.h"

#include <string.h>

#include "base/unwind.h"
#include "ir/dot_unit.h"
#include "lower/lower.h"
#include "tkc/inline_asm.h"

#define ALL_LANES 0xffffffffu

/* ---- numbers of the thread and the program ---- */

/* What the call gives is in [lo, hi). */
static void in_range(Lower *L, LLVMValueRef call, uint64_t lo, uint64_t hi)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("range", 5);
    LLVMAddCallSiteAttribute(call, LLVMAttributeReturnIndex,
                             LLVMCreateConstantRangeAttribute(L->cx, kind, 32, &lo, &hi));
}

/* A special register whose value is in [lo, hi). */
static LLVMValueRef special(Lower *L, LLVMBuilderRef b, const char *name, uint64_t lo, uint64_t hi)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    check(id, "LLVM has no intrinsic '%s'", name);
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(L->module, id, NULL, 0);
    LLVMValueRef call =
        LLVMBuildCall2(b, LLVMIntrinsicGetType(L->cx, id, NULL, 0), fn, NULL, 0, "");
    in_range(L, call, lo, hi);
    return call;
}

LLVMValueRef target_thread_id(Lower *L)
{
    return special(L, L->entry, "llvm.nvvm.read.ptx.sreg.tid.x", 0,
                   (uint64_t)(L->fn->num_warps * MACHINE_LANES));
}

/* Of ctaid or nctaid. The grid's limits are the CUDA programming guide's. */
static LLVMValueRef of_grid(Lower *L, const char *what, int axis, uint64_t lo, uint64_t hi)
{
    check(axis >= 0 && axis < 3, "%s of axis %d", what, axis);
    const char *name = arena_printf(L->arena, "llvm.nvvm.read.ptx.sreg.%s.%c", what, 'x' + axis);
    return special(L, L->b, name, lo, hi);
}

LLVMValueRef target_program_id(Lower *L, int axis)
{
    return of_grid(L, "ctaid", axis, 0, axis ? 65535 : 0x7fffffff);
}

LLVMValueRef target_num_programs(Lower *L, int axis)
{
    return of_grid(L, "nctaid", axis, 1, axis ? 65536 : 0x80000000u);
}

void target_barrier(Lower *L)
{
    if (L->fn->num_warps == 1)
        lower_call(L, "llvm.nvvm.bar.warp.sync", NULL, lower_i32(L, ALL_LANES));
    else lower_call(L, "llvm.nvvm.barrier.cta.sync.aligned.all", NULL, lower_i32(L, 0));
}

/* ---- lanes ---- */

LLVMValueRef target_shuffle(Lower *L, LLVMValueRef word, Lane from)
{
    const char *name = from.apart ? "llvm.nvvm.shfl.sync.bfly.i32" : "llvm.nvvm.shfl.sync.idx.i32";
    return lower_call(L, name, NULL, lower_i32(L, ALL_LANES), word,
                      from.apart ? from.apart : from.number, lower_i32(L, 31));
}

LLVMValueRef target_warp_reduce(Lower *L, OpKind op, DType dt, LLVMValueRef word)
{
    static const struct {
        const char *on_signed, *on_unsigned;
    } names[OP_COUNT] = {
        [OP_ADD] = {"llvm.nvvm.redux.sync.add", "llvm.nvvm.redux.sync.add"},
        [OP_MIN] = {"llvm.nvvm.redux.sync.min", "llvm.nvvm.redux.sync.umin"},
        [OP_MAX] = {"llvm.nvvm.redux.sync.max", "llvm.nvvm.redux.sync.umax"},
        [OP_AND] = {"llvm.nvvm.redux.sync.and", "llvm.nvvm.redux.sync.and"},
        [OP_OR] = {"llvm.nvvm.redux.sync.or", "llvm.nvvm.redux.sync.or"},
        [OP_XOR] = {"llvm.nvvm.redux.sync.xor", "llvm.nvvm.redux.sync.xor"},
    };
    const char *name = dt == DT_U32 ? names[op].on_unsigned : names[op].on_signed;
    if (!name || !L->machine->redux || (dt != DT_I32 && dt != DT_U32)) return NULL;
    return lower_call(L, name, NULL, word, lower_i32(L, ALL_LANES));
}

/* ---- inline PTX ---- */

static void mark(Lower *L, LLVMValueRef call, const char *attribute)
{
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             lower_attribute(L, attribute, 0));
}

/* All lanes of the warp take part. */
static void mark_convergent(Lower *L, LLVMValueRef call)
{
    mark(L, call, "convergent");
}

/* Inline PTX: one value, or a struct of them, of registers by LLVM's constraints. */
static LLVMValueRef inline_ptx(Lower *L, LLVMTypeRef result, const char *text, const char *constraints,
                              bool has_effects, int nargs, const LLVMValueRef *args)
{
    LLVMTypeRef *types = arena_array(L->arena, LLVMTypeRef, nargs);
    for (int i = 0; i < nargs; i++) types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef ty = LLVMFunctionType(result, types, (unsigned)nargs, false);
    LLVMValueRef fn = LLVMGetInlineAsm(ty, text, strlen(text), constraints, strlen(constraints),
                                       has_effects, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef call = LLVMBuildCall2(L->b, ty, fn, (LLVMValueRef *)args, (unsigned)nargs, "");
    mark(L, call, "nounwind");
    if (!has_effects) mark(L, call, "memory");
    return call;
}

LLVMValueRef target_thread_id_anew(Lower *L)
{
    LLVMValueRef number = inline_ptx(L, L->i32, "mov.u32 $0, %tid.x;", "=r", true, 0, NULL);
    in_range(L, number, 0, (uint64_t)(L->fn->num_warps * MACHINE_LANES));
    return number;
}

void nvptx_effect(Lower *L, const char *text, const char *constraints, int n,
                  const LLVMValueRef *args)
{
    inline_ptx(L, LLVMVoidTypeInContext(L->cx), text, constraints, true, n, args);
}

static char constraint_of(const Lower *L, LLVMTypeRef ty)
{
    if (ty == L->i1) return 'b';
    if (ty == L->i16 || ty == L->f16) return 'h';
    if (ty == L->f32) return 'f';
    if (ty == L->f64) return 'd';
    if (ty == L->i64 || LLVMGetTypeKind(ty) == LLVMPointerTypeKind) return 'l';
    check(ty == L->i32, "no PTX register for this type");
    return 'r';
}

/* An instruction in the making, or several. Operands are numbered: the results, all of one type, then
   what it is given. */
typedef struct Ptx {
    Lower *L;
    Buf text, constraints;
    int nresults;
    LLVMTypeRef type;
    VEC(LLVMValueRef) given;
} Ptx;

static Ptx ptx_begin(Lower *L, int nresults, LLVMTypeRef type)
{
    Ptx p = {L, buf_make(L->arena), buf_make(L->arena), nresults, type, {0}};
    for (int i = 0; i < nresults; i++)
        buf_printf(&p.constraints, "%s=%c", i ? "," : "", constraint_of(L, type));
    return p;
}

/* One operand more; gives its number. */
static int ptx_give(Ptx *p, LLVMValueRef v)
{
    const int number = p->nresults + p->given.len;
    buf_printf(&p->constraints, "%s%c", number ? "," : "", constraint_of(p->L, LLVMTypeOf(v)));
    vec_push(p->L->arena, &p->given, v);
    return number;
}

/* What result i is before. */
static void ptx_give_old(Ptx *p, int i, LLVMValueRef v)
{
    buf_printf(&p->constraints, ",%d", i);
    vec_push(p->L->arena, &p->given, v);
}

/* Before an instruction that is done where pred is true (NULL: always). */
static void ptx_guard(Ptx *p, LLVMValueRef pred)
{
    if (pred) buf_printf(&p->text, "@$%d ", ptx_give(p, pred));
}

static LLVMTypeRef result_type(Lower *L, int n, LLVMTypeRef *types)
{
    if (n == 1) return types[0];
    return n ? LLVMStructTypeInContext(L->cx, types, (unsigned)n, false)
             : LLVMVoidTypeInContext(L->cx);
}

static void take_results(Lower *L, LLVMValueRef call, int n, LLVMValueRef *out)
{
    for (int i = 0; i < n; i++)
        out[i] = n == 1 ? call : LLVMBuildExtractValue(L->b, call, (unsigned)i, "");
}

/* Gives the call; its results are in `out`. */
static LLVMValueRef ptx_end(Ptx *p, bool has_effects, LLVMValueRef *out)
{
    Lower *L = p->L;
    LLVMTypeRef *types = arena_array(L->arena, LLVMTypeRef, p->nresults);
    for (int i = 0; i < p->nresults; i++) types[i] = p->type;
    LLVMValueRef call =
        inline_ptx(L, result_type(L, p->nresults, types), buf_text(&p->text),
                  buf_text(&p->constraints), has_effects, p->given.len, p->given.data);
    take_results(L, call, p->nresults, out);
    return call;
}

/* ---- operands in its text ---- */

/* "{$4, $5}": those from `first` on. */
static const char *list(const Lower *L, int first, int n)
{
    Buf b = buf_make(L->arena);
    for (int i = 0; i < n; i++) buf_printf(&b, "%s$%d", i ? ", " : "{", first + i);
    buf_putc(&b, '}');
    return buf_text(&b);
}

/* The same; one stands alone. */
static const char *words(const Lower *L, int first, int n)
{
    return n > 1 ? list(L, first, n) : arena_printf(L->arena, "$%d", first);
}

/* "[$1+16]". A constant that is no signed number of 32 bits, as the instruction has room for, is added
   before. */
static const char *ptx_give_address(Ptx *p, LLVMValueRef ptr, int64_t offset)
{
    Lower *L = p->L;
    if (offset != (int32_t)offset) {
        LLVMValueRef by = LLVMConstInt(L->i64, (uint64_t)offset, true);
        ptr = LLVMBuildGEP2(L->b, L->i8, ptr, &by, 1, "");
        offset = 0;
    }
    const int operand = ptx_give(p, ptr);
    return offset ? arena_printf(L->arena, "[$%d+%lld]", operand, (long long)offset)
                  : arena_printf(L->arena, "[$%d]", operand);
}

/* ---- instructions by name ---- */

static const struct {
    DType result;
    const char *text, *constraints;
    int sm, ptx;
    bool has_effects;
} instrs[INSTR_COUNT] = {
#define INSTR(ID, result, ...) [INSTR_##ID] = {DT_##result, __VA_ARGS__, false},
#define EFFECT(ID, result, ...) [INSTR_##ID] = {DT_##result, __VA_ARGS__, true},
#include "lower/instr.def"
#undef INSTR
};

bool target_has(const Lower *L, Instr instr)
{
    return L->machine->sm >= instrs[instr].sm;
}

LLVMValueRef target_instr(Lower *L, Instr instr, int nargs, const LLVMValueRef *args)
{
    check(target_has(L, instr), "instruction %d is not one of %s", (int)instr, L->machine->name);
    lower_need_ptx(L, instrs[instr].ptx);
    const DType result = instrs[instr].result;
    return inline_ptx(L, result ? lower_dtype(L, result) : LLVMVoidTypeInContext(L->cx),
                      instrs[instr].text, instrs[instr].constraints, instrs[instr].has_effects,
                      nargs, args);
}

/* ---- matrices ---- */

static const char *matrix_type(DType dt, bool is_sum)
{
    switch (dt) {
    case DT_F16: return "f16";
    case DT_BF16: return "bf16";
    case DT_F32: return is_sum ? "f32" : "tf32";
    case DT_F64: return "f64";
    case DT_F8E4: return "e4m3";
    case DT_F8E5: return "e5m2";
    case DT_I8: return "s8";
    case DT_U8: return "u8";
    case DT_I32: return "s32";
    default: unwind_raise("no matrices of %s", dtype_info(dt)->name);
    }
}

/* Bits of the numbers of registers: 32 lanes share a matrix. */
static int matrix_words(int elements_log2, int per_word_log2)
{
    return 1 << (elements_log2 - per_word_log2 - 5);
}

void target_mma(Lower *L, const MmaRow *row, const LLVMValueRef *a, const LLVMValueRef *b,
                LLVMValueRef *sum)
{
    const MmaShape s = row->shape;
    const int na = matrix_words(s.m_log2 + s.k_log2, s.unit_log2),
              nb = matrix_words(s.k_log2 + s.n_log2, s.unit_log2),
              nc = matrix_words(s.m_log2 + s.n_log2, row->sum == DT_F16);
    const char *type = matrix_type(row->sum, true);
    Ptx p = ptx_begin(L, nc, LLVMTypeOf(sum[0]));
    for (int i = 0; i < na; i++) ptx_give(&p, a[i]);
    for (int i = 0; i < nb; i++) ptx_give(&p, b[i]);
    for (int i = 0; i < nc; i++) ptx_give(&p, sum[i]);
    buf_printf(&p.text, "mma.sync.aligned.m%dn%dk%d.row.col.%s.%s.%s.%s %s, %s, %s, %s;",
               1 << s.m_log2, 1 << s.n_log2, 1 << s.k_log2, type, matrix_type(row->a, false),
               matrix_type(row->b, false), type, list(L, 0, nc), list(L, nc, na),
               list(L, nc + na, nb), list(L, nc + na + nb, nc));
    lower_need_ptx(L, row->ptx);
    mark_convergent(L, ptx_end(&p, false, sum));
}

/* ---- sums in registers of their own ---- */

/* The number of the register that v stands for; -1: it is a value like others. */
static int register_of(const Lower *L, LLVMValueRef v)
{
    for (int i = 0; i < L->held.len; i++)
        if (L->held.data[i] == v) return i;
    return -1;
}

/* To pass 128 of them from turn to turn, and into each text and out again, takes LLVM 40 % of its
   time for a product. */
void target_hold_sums(Lower *L, int n, LLVMValueRef *sums)
{
    Ptx p = ptx_begin(L, 0, NULL);
    LLVMValueRef last = NULL;
    for (int i = 0; i < n; i++) {
        if (sums[i] != last) ptx_give(&p, sums[i]);
        last = sums[i];
        sums[i] = LLVMBuildFreeze(L->entry, LLVMGetPoison(LLVMTypeOf(last)), "");
        buf_printf(&p.text, "%smov.b32 %%sum%d, $%d;", i ? "\n\t" : "", L->held.len,
                   p.given.len - 1);
        vec_push(L->arena, &L->held, sums[i]);
    }
    ptx_end(&p, true, NULL);
}

/* The block that comes before all has their declaration. */
void target_release_sums(Lower *L)
{
    for (int i = 0; i < L->held.len; i++) {
        check(!LLVMGetFirstUse(L->held.data[i]), "a value is used that stands for a register");
        LLVMInstructionEraseFromParent(L->held.data[i]);
    }
    LLVMBuilderRef here = L->b;
    L->b = L->entry;
    if (L->held.len)
        nvptx_effect(L, arena_printf(L->arena, ".reg .b32 %%sum<%d>;", L->held.len), "", 0, NULL);
    L->b = here;
}

static const char *held_list(const Lower *L, int n, const LLVMValueRef *sums)
{
    Buf b = buf_make(L->arena);
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%s%%sum%d", i ? ", " : "{", register_of(L, sums[i]));
    buf_putc(&b, '}');
    return buf_text(&b);
}

static void take_held(Ptx *p, LLVMValueRef *sums)
{
    for (int i = 0; i < p->nresults; i++)
        buf_printf(&p->text, "\n\tmov.b32 $%d, %%sum%d;", i, register_of(p->L, sums[i]));
    mark_convergent(p->L, ptx_end(p, true, sums));
}

/* ---- warp groups ---- */

/* Whose results are n sums, which come in behind the other operands. */
static void end_on_sums(Ptx *p, LLVMValueRef *sums)
{
    for (int i = 0; i < p->nresults; i++) ptx_give_old(p, i, sums[i]);
    mark_convergent(p->L, ptx_end(p, true, sums));
}

/* Words of a go to registers of their own right before they are used: ptxas up to CUDA 13.2 may
   take those of a product under way for something else. */
static void put_fresh_words(Buf *text, int first, int n)
{
    buf_printf(text, ".reg .b32 a<%d>;\n\t", n);
    for (int i = 0; i < n; i++) buf_printf(text, "mov.b32 a%d, $%d;\n\t", i, first + i);
}

/* Whether there is a sum already; signs, of floats; and how operands lie, where both ways exist. */
static void put_group_end(Buf *text, const GroupMma *m, int step)
{
    const DTypeInfo *type = dtype_info(m->row->a);
    buf_puts(text, m->fresh && step % m->steps == 0 ? ", !p" : ", p");
    if (type->kind == DK_FLOAT) buf_puts(text, ", 1, 1");
    if (type->bits == 16 && !m->a_in_registers) buf_printf(text, ", %d", m->a_across);
    if (type->bits == 16) buf_printf(text, ", %d", m->b_across);
    buf_puts(text, ";\n\t");
}

/* Step `step` of all, counted tile by tile; sums that are operands are `given`, the first. */
static void put_group_step(Ptx *p, const GroupMma *m, int step, int given)
{
    Buf *text = &p->text;
    const int each = m->each, words = m->a_in_registers ? GROUP_A_WORDS : 1,
              steps = m->tiles * m->steps, a = given + step * words,
              b = given + steps * words + step, own = step / m->steps * each;
    buf_printf(text, "wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s %s", m->columns,
               1 << m->row->shape.k_log2, matrix_type(m->row->sum, true),
               matrix_type(m->row->a, false), matrix_type(m->row->b, false),
               given ? list(p->L, own, each) : held_list(p->L, each, m->sums + own));
    if (!m->a_in_registers) buf_printf(text, ", $%d", a);
    for (int i = 0; m->a_in_registers && i < words; i++)
        buf_printf(text, "%sa%d%s", i ? ", " : ", {", step * words + i, i + 1 < words ? "" : "}");
    buf_printf(text, ", $%d", b);
    put_group_end(text, m, step);
}

/* One text: nothing comes between. The fence is for registers that other instructions have
   written. */
void target_group_mma(Lower *L, const GroupMma *m)
{
    const int n = register_of(L, m->sums[0]) >= 0 ? 0 : m->tiles * m->each,
              steps = m->tiles * m->steps, words = steps * (m->a_in_registers ? GROUP_A_WORDS : 1);
    Ptx p = ptx_begin(L, n, LLVMTypeOf(m->sums[0]));
    for (int i = 0; i < words; i++) ptx_give(&p, m->a[i]);
    for (int i = 0; i < steps; i++) ptx_give(&p, m->b[i]);
    buf_puts(&p.text, "{\n\t.reg .pred p;\n\tsetp.eq.u32 p, 0, 0;\n\t");
    if (m->a_in_registers) put_fresh_words(&p.text, n, words);
    buf_puts(&p.text, "wgmma.fence.sync.aligned;\n\t");
    for (int i = 0; i < steps; i++) put_group_step(&p, m, i, n);
    buf_puts(&p.text, "wgmma.commit_group.sync.aligned;\n\t}");
    end_on_sums(&p, m->sums);
}

/* As many sums at a time as one text can have. */
void target_group_wait(Lower *L, int pending, int n, LLVMValueRef *sums)
{
    enum { MOST = 128 };
    const char *wait = arena_printf(L->arena, "wgmma.wait_group.sync.aligned %d;", pending);
    if (!n) nvptx_effect(L, wait, "", 0, NULL);
    for (int i = 0; i < n; i += MOST) {
        Ptx p = ptx_begin(L, n - i < MOST ? n - i : MOST, LLVMTypeOf(sums[i]));
        if (!i) buf_puts(&p.text, wait);
        if (register_of(L, sums[i]) >= 0) take_held(&p, sums + i);
        else end_on_sums(&p, sums + i);
    }
}

/* ---- the user's PTX ---- */

/* The lowest PTX version that has what the text names. What is not in the list is as old as the
   least version that is asked for, or ptxas says so. */
static int version_of(const char *text)
{
    static const struct {
        const char *part;
        int ptx;
    } rows[] = {
        {"e4m3x2", 81}, {"e5m2x2", 81},  {"satfinite", 81}, {"multimem", 81},
        {"f32x2", 86},  {"e2m1", 86},    {"e2m3", 86},      {"e3m2", 86},
        {"ue8m0", 86},  {"tcgen05", 86}, {".rs.", 87},
    };
    int version = 80;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].ptx > version && strstr(text, rows[i].part)) version = rows[i].ptx;
    }
    return version;
}

/* The first line says where the text comes from: what ptxas reports has that near. */
static const char *with_place(Lower *L, const Op *op, const char *text)
{
    if (!op->loc) return text;
    Buf b = buf_make(L->arena);
    buf_puts(&b, "// ");
    for (const char *p = op->loc->file; *p; p++) {
        if (*p == '$') buf_putc(&b, '$');
        buf_putc(&b, *p);
    }
    buf_printf(&b, ":%d:%d\n\t%s", op->loc->line, op->loc->col, text);
    return buf_text(&b);
}

/* Our constraints, of what was understood of theirs. */
static const char *constraints_of(Lower *L, const Op *op, const AsmRegisters *regs)
{
    Buf b = buf_make(L->arena);
    for (int i = 0; i < regs->noutputs + regs->ninputs; i++) {
        const AsmRegister *r = &regs->r[i];
        if (i) buf_putc(&b, ',');
        if (r->tied >= 0) buf_printf(&b, "%d", r->tied);
        else buf_printf(&b, "%s%c", i < regs->noutputs ? "=&" : "", r->letter);
    }
    if (strstr(tkc_op_str(op, ATTR_CONSTRAINTS, ""), "~{memory}"))
        buf_printf(&b, "%s~{memory}", regs->noutputs + regs->ninputs ? "," : "");
    return buf_text(&b);
}

void target_assembly(Lower *L, const Op *op, const AsmRegisters *regs, const LLVMTypeRef *types,
                     const LLVMValueRef *in, LLVMValueRef *out)
{
    const int n = regs->noutputs;
    const char *text = tkc_op_str(op, ATTR_ASM, "");
    const bool has_effects = !tkc_op_int(op, ATTR_PURE, 0);
    LLVMTypeRef members[ASM_MAX_REGISTERS];
    for (int i = 0; i < n; i++) members[i] = types[i];
    lower_need_ptx(L, version_of(text));
    LLVMValueRef r = inline_ptx(L, result_type(L, n, members), with_place(L, op, text),
                               constraints_of(L, op, regs), has_effects, regs->ninputs, in);
    take_results(L, r, n, out);
}

/* ---- memory ---- */

static const char *space_name(Space space)
{
    return space == SPACE_GLOBAL ? "global" : "shared";
}

/* ".global", what the caches should do, vector and type. A cache operator and an eviction priority
   exclude each other in PTX; the priority is a hint, so it gives way. */
static const char *suffix(Lower *L, const Access *at)
{
    Buf b = buf_make(L->arena);
    if (at->sem) buf_printf(&b, ".%s.%s", at->sem, at->scope);
    else if (at->is_volatile) buf_puts(&b, ".volatile");
    buf_printf(&b, ".%s", space_name(at->space));
    const bool has_priority = *at->evict && strcmp(at->evict, "evict_normal");
    if (*at->cache && !at->is_volatile) {
        buf_puts(&b, at->cache);
    } else if (has_priority && !at->is_volatile) {
        buf_printf(&b, ".L1::%s", at->evict);
        lower_need_ptx(L, 74);
    }
    if (at->count > 1) buf_printf(&b, ".v%d", at->count);
    buf_printf(&b, ".b%d", at->bits);
    return buf_text(&b);
}

void target_load(Lower *L, const Access *at, LLVMValueRef *in)
{
    Ptx p = ptx_begin(L, at->count, at->word);
    const char *from = ptx_give_address(&p, at->ptr, at->offset);
    ptx_guard(&p, at->pred);
    for (int i = 0; at->pred && i < at->count; i++) ptx_give_old(&p, i, in[i]);
    buf_printf(&p.text, "ld%s %s, %s;", suffix(L, at), words(L, 0, at->count), from);
    ptx_end(&p, true, in);
}

/* What is not read becomes 0: the bytes to read are chosen here, as LLVM makes a number of two masks. */
void target_copy_async(Lower *L, const Copy *c)
{
    Ptx p = ptx_begin(L, 0, NULL);
    const char *to = ptx_give_address(&p, c->to, c->to_offset),
               *from = ptx_give_address(&p, c->from, c->from_offset);
    const char *there = c->there ? arena_printf(L->arena, ", $%d;", ptx_give(&p, c->there)) : ";";
    if (c->pred)
        buf_printf(&p.text, "{\n\t.reg .b32 n;\n\tselp.b32 n, %d, 0, $%d;\n\t", c->bytes,
                   ptx_give(&p, c->pred));
    ptx_guard(&p, c->acts);
    buf_printf(&p.text, "cp.async.%s.shared.global %s, %s, %d", c->bytes == 16 ? "cg" : "ca", to,
               from, c->bytes);
    buf_puts(&p.text, c->pred ? ", n;\n\t}" : there);
    ptx_end(&p, true, NULL);
}

void target_load_rows(Lower *L, LLVMValueRef ptr, int64_t offset, int count, bool transposed,
                      LLVMValueRef *words)
{
    Ptx p = ptx_begin(L, count, L->i32);
    const char *from = ptx_give_address(&p, ptr, offset);
    lower_need_ptx(L, 65);
    buf_printf(&p.text, "ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s, %s;", count,
               transposed ? ".trans" : "", list(L, 0, count), from);
    mark_convergent(L, ptx_end(&p, true, words));
}

void target_store_rows(Lower *L, LLVMValueRef ptr, int64_t offset, int count, bool transposed,
                       const LLVMValueRef *in, LLVMValueRef pred)
{
    Ptx p = ptx_begin(L, 0, NULL);
    const char *to = ptx_give_address(&p, ptr, offset);
    for (int i = 0; i < count; i++) ptx_give(&p, in[i]);
    ptx_guard(&p, pred);
    lower_need_ptx(L, 78);
    buf_printf(&p.text, "stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s, %s;", count,
               transposed ? ".trans" : "", to, list(L, 1, count));
    mark_convergent(L, ptx_end(&p, true, NULL));
}

void target_store(Lower *L, const Access *at, const LLVMValueRef *in)
{
    Ptx p = ptx_begin(L, 0, NULL);
    const char *to = ptx_give_address(&p, at->ptr, at->offset);
    for (int i = 0; i < at->count; i++) ptx_give(&p, in[i]);
    ptx_guard(&p, at->pred);
    buf_printf(&p.text, "st%s %s, %s;", suffix(L, at), to, words(L, 1, at->count));
    ptx_end(&p, true, NULL);
}

LLVMValueRef target_shared(Lower *L, LLVMValueRef offset)
{
    enum { LEAST = 16 };
    LLVMValueRef all = LLVMGetNamedGlobal(L->module, "shared");
    if (!all) {
        all = LLVMAddGlobalInAddressSpace(L->module, LLVMArrayType2(L->i8, 0), "shared", 3);
    }
    LLVMSetAlignment(all, L->shared_align > LEAST ? L->shared_align : LEAST);
    return LLVMBuildAdd(L->b, LLVMConstPtrToInt(all, L->i32), offset, "");
}

/* ---- atomics ---- */

/* PTX's operation and type for each of ours, by the width of the element; NULL: there is none. */
typedef struct AtomicRow {
    const char *rmw;
    DTypeKind kind; /* DK_NONE: any */
    const char *name;
    const char *type[65]; /* by bits */
} AtomicRow;

static const AtomicRow atomic_rows[] = {
    {"add", DK_NONE, "add", {[32] = "u32", [64] = "u64"}},
    {"fadd", DK_FLOAT, "add", {[16] = "f16", [32] = "f32", [64] = "f64"}},
    {"and", DK_NONE, "and", {[32] = "b32", [64] = "b64"}},
    {"or", DK_NONE, "or", {[32] = "b32", [64] = "b64"}},
    {"xor", DK_NONE, "xor", {[32] = "b32", [64] = "b64"}},
    {"max", DK_NONE, "max", {[32] = "s32", [64] = "s64"}},
    {"umax", DK_NONE, "max", {[32] = "u32", [64] = "u64"}},
    {"fmax", DK_FLOAT, "max", {[16] = "f16"}},
    {"min", DK_NONE, "min", {[32] = "s32", [64] = "s64"}},
    {"umin", DK_NONE, "min", {[32] = "u32", [64] = "u64"}},
    {"fmin", DK_FLOAT, "min", {[16] = "f16"}},
    {"xchg", DK_NONE, "exch", {[32] = "b32", [64] = "b64"}},
    {"cas", DK_NONE, "cas", {[16] = "b16", [32] = "b32", [64] = "b64"}},
};

static const AtomicRow *atomic_row(const char *rmw)
{
    for (size_t i = 0; i < sizeof atomic_rows / sizeof *atomic_rows; i++) {
        if (!strcmp(atomic_rows[i].rmw, rmw)) return &atomic_rows[i];
    }
    return NULL;
}

/* fp16 and bf16 have no instruction for these (sums of bf16 have one on sm_90): a compare and swap,
   again until nobody came between. */
static bool is_looped(const Lower *L, const AtomicRow *row, DType dt)
{
    enum { BF16_ADD = 90 };
    if (row->kind != DK_FLOAT) return false;
    return strcmp(row->name, "add") != 0 || (dt == DT_BF16 && L->machine->sm < BF16_ADD);
}

bool target_has_atomic(const Lower *L, const char *rmw, DType dt)
{
    const AtomicRow *row = atomic_row(rmw);
    const DTypeInfo *info = dtype_info(dt);
    if (!row || !dt || !row->type[info->bits]) return false;
    if (row->kind == DK_FLOAT && info->kind != DK_FLOAT) return false;
    return !is_looped(L, row, dt) || L->machine->sm >= 80;
}

/* "add.noftz.v4.f16", "add.noftz.f16x2", and what PTX that takes. */
static const char *atomic_op(Lower *L, const Atomic *a)
{
    enum { BF16_PTX = 78, VECTOR_PTX = 81 };
    const AtomicRow *row = atomic_row(a->rmw);
    const bool is_16 = dtype_info(a->dtype)->bits == 16 && row->kind == DK_FLOAT,
               is_bf16 = is_16 && a->dtype == DT_BF16;
    if (is_bf16) lower_need_ptx(L, BF16_PTX);
    if (a->count > 1) lower_need_ptx(L, VECTOR_PTX);
    return arena_printf(L->arena, "%s%s%s.%s%s", row->name, is_16 ? ".noftz" : "",
                        a->count > 1 ? arena_printf(L->arena, ".v%d", a->count) : "",
                        is_bf16 ? "bf16" : row->type[dtype_info(a->dtype)->bits], a->pair ? "x2" : "");
}

/* The result of a loop is written before all operands are read. */
static Ptx loop_begin(Lower *L, LLVMTypeRef type)
{
    Ptx p = ptx_begin(L, 0, type);
    buf_printf(&p.constraints, "=&%c", constraint_of(L, type));
    p.nresults = 1;
    return p;
}

/* What comes in place of $0. sm_80 adds bf16 as a product with 1 and a sum, rounded once. */
static void put_loop_step(Buf *text, const Atomic *a)
{
    const char *name = atomic_row(a->rmw)->name;
    if (!strcmp(name, "add"))
        buf_puts(text, "mov.b16 one, 0x3F80;\n\tagain: fma.rn.bf16 n, $0, one, $2");
    else buf_printf(text, "again: %s.%s n, $0, $2", name, a->dtype == DT_BF16 ? "bf16" : "f16");
}

static void atomic_loop(Lower *L, const Atomic *a, LLVMValueRef *words)
{
    const char *space = space_name(a->space);
    Ptx p = loop_begin(L, a->word);
    const char *at = ptx_give_address(&p, a->ptr, a->offset);
    ptx_give(&p, words[0]);
    buf_puts(&p.text, "{\n\t.reg .pred p;\n\t.reg .b16 n, r, one;\n\tmov.b16 $0, 0;\n\t");
    if (a->pred) buf_printf(&p.text, "@!$%d bra done;\n\t", ptx_give(&p, a->pred));
    buf_printf(&p.text, "ld.relaxed.%s.%s.b16 $0, %s;\n\t", a->scope, space, at);
    put_loop_step(&p.text, a);
    buf_printf(&p.text, ";\n\tatom.%s.%s.%s.cas.b16 r, %s", space, a->sem, a->scope, at);
    buf_puts(&p.text, ", $0, n;\n\tsetp.ne.u16 p, r, $0;\n\tmov.b16 $0, r;\n\t"
                      "@p bra again;\n\tdone:\n\t}");
    ptx_end(&p, true, words);
}

/* Of a cas the scope is behind the order: ptxas takes the words either way, and this is how programs
   that read Triton's PTX expect them. */
void target_atomic(Lower *L, const Atomic *a, LLVMValueRef *in)
{
    const bool is_cas = !strcmp(a->rmw, "cas");
    if (is_looped(L, atomic_row(a->rmw), a->dtype)) {
        atomic_loop(L, a, in);
        return;
    }
    Ptx p = ptx_begin(L, a->count, a->word);
    const char *at = ptx_give_address(&p, a->ptr, a->offset);
    for (int i = 0; i < a->count; i++) ptx_give(&p, in[i]);
    if (a->value2) ptx_give(&p, a->value2);
    ptx_guard(&p, a->pred);
    for (int i = 0; a->pred && i < a->count; i++) ptx_give_old(&p, i, LLVMConstNull(a->word));
    buf_printf(&p.text, "atom.%s.%s.%s.%s %s, %s, %s", space_name(a->space),
               is_cas ? a->sem : a->scope, is_cas ? a->scope : a->sem, atomic_op(L, a),
               words(L, 0, a->count), at, words(L, a->count + 1, a->count));
    if (a->value2) buf_printf(&p.text, ", $%d", a->count + 2);
    buf_putc(&p.text, ';');
    ptx_end(&p, true, in);
}

/* ---- waiting ---- */

LLVMValueRef target_poll(Lower *L, const Poll *a)
{
    const unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(a->expected));
    LLVMValueRef found;
    Ptx p = loop_begin(L, L->i32);
    const char *at = ptx_give_address(&p, a->ptr, a->offset);
    ptx_give(&p, a->expected);
    if (a->timeout) {
        ptx_give(&p, a->start);
        ptx_give(&p, a->timeout);
    }
    buf_printf(&p.text,
               "{\n\t.reg .pred p;\n\t.reg .b%u v;\n\t.reg .b64 t;\n\tmov.u32 $0, 0;\n\t", bits);
    if (a->pred) buf_printf(&p.text, "@!$%d bra done;\n\t", ptx_give(&p, a->pred));
    buf_printf(&p.text,
               "again: ld.%s.%s.global.b%u v, %s;\n\tsetp.eq.b%u p, v, $2;\n\t"
               "@p mov.u32 $0, 1;\n\t@p bra done;\n\t",
               a->sem, a->scope, bits, at, bits);
    if (a->timeout)
        buf_puts(&p.text, "mov.u64 t, %globaltimer;\n\tsub.u64 t, t, $3;\n\t"
                          "setp.lo.u64 p, t, $4;\n\t@p ");
    buf_puts(&p.text, "bra again;\n\tdone:\n\t}");
    ptx_end(&p, true, &found);
    return LLVMBuildICmp(L->b, LLVMIntNE, found, lower_i32(L, 0), "");
}
