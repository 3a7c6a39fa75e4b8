/* The function around the code: parameters, the entry block, and the walk over the ops by one
   table.

   Thread numbers and what is computed from them alone (coordinates) stand in the entry block, which
   jumps to the rest once that is complete; so they are in place wherever they turn out to be
   needed. */
#include "lower/lower.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "base/unwind.h"
#include "ir/tensor_map.h"
#include "lower/lines.h"

/* ---- ops without a family ---- */

static void lower_const(Lower *L, const Op *op)
{
    const Type *elem = tkc_type_element(op_result(op, 0)->type);
    lower_set_all(L, op_result(op, 0),
                  lower_bits(L, elem, (uint64_t)tkc_op_int(op, ATTR_VALUE, 0)));
}

static void lower_arange(Lower *L, const Op *op)
{
    const Value *result = op_result(op, 0);
    Regs out = lower_regs_new(L, lower_nregs(result->type));
    for (int r = 0; r < out.n; r++) {
        out.r[r] = lower_coord(L, result->type->layout, 0, (uint32_t)r);
        out.r[r].imm += tkc_op_int(op, ATTR_START, 0);
    }
    lower_set(L, result, out);
}

static void lower_program(Lower *L, const Op *op)
{
    const int axis = (int)tkc_op_int(op, ATTR_AXIS, 0);
    const bool is_id = op->kind == OP_PROGRAM_ID;
    lower_set_all(L, op_result(op, 0),
                  is_id ? target_program_id(L, axis) : target_num_programs(L, axis));
}

static void lower_barrier(Lower *L, const Op *op)
{
    (void)op;
    target_barrier(L);
}

static void lower_nothing(Lower *L, const Op *op)
{
    (void)L;
    (void)op;
}

Size lower_size(LLVMValueRef fn)
{
    Size s = {0};
    LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn);
    for (; bb; bb = LLVMGetNextBasicBlock(bb)) {
        for (LLVMValueRef v = LLVMGetFirstInstruction(bb); v; v = LLVMGetNextInstruction(v)) {
            s.instructions++;
            s.accesses += LLVMGetInstructionOpcode(v) == LLVMCall;
        }
    }
    return s;
}

/* ---- the walk ---- */

/* Of all others what is elementwise is arithmetic. */
static LowerOp *const table[OP_COUNT] = {
    [OP_CONST] = lower_const, [OP_ARANGE] = lower_arange,
    [OP_PROGRAM_ID] = lower_program, [OP_NUM_PROGRAMS] = lower_program,
    [OP_EXP] = lower_math, [OP_EXP2] = lower_math, [OP_LOG] = lower_math, [OP_LOG2] = lower_math,
    [OP_SIN] = lower_sines, [OP_COS] = lower_sines, [OP_TANH] = lower_math, [OP_ERF] = lower_math,
    [OP_SQRT] = lower_math, [OP_RSQRT] = lower_math,
    [OP_CAST] = lower_cast, [OP_BITCAST] = lower_bitcast, [OP_INLINE_ASM] = lower_inline_asm,
    [OP_ADDPTR] = lower_addptr, [OP_HINT] = lower_hint, [OP_ASSUME] = lower_nothing,
    [OP_SPLAT] = lower_splat, [OP_EXPAND_DIMS] = lower_shape, [OP_BROADCAST] = lower_shape,
    [OP_TRANS] = lower_shape, [OP_RESHAPE] = lower_shape, [OP_JOIN] = lower_shape,
    [OP_SPLIT] = lower_shape, [OP_CONVERT] = lower_convert,
    [OP_LOAD] = lower_load, [OP_STORE] = lower_store, [OP_ATOMIC_LOAD] = lower_load,
    [OP_ATOMIC_STORE] = lower_store, [OP_ATOMIC_RMW] = lower_atomic, [OP_ATOMIC_CAS] = lower_atomic,
    [OP_ATOMIC_POLL] = lower_poll,
    [OP_REDUCE] = lower_reduce, [OP_SCAN] = lower_scan, [OP_CARRY] = lower_carry,
    [OP_SORT] = lower_sort, [OP_DOT] = lower_dot, [OP_DOT_WAIT] = lower_dot_wait,
    [OP_ALLOC] = lower_alloc, [OP_SLOAD] = lower_sload, [OP_RING_LOAD] = lower_sload,
    [OP_SSTORE] = lower_sstore, [OP_SLOAD_AT] = lower_sload_at, [OP_SSTORE_AT] = lower_sstore_at,
    [OP_SATOMIC_AT] = lower_satomic_at, [OP_COPY_ASYNC] = lower_copy_async,
    [OP_COPY_BOX] = lower_copy_box, [OP_TMA_BEGIN] = lower_tma_begin, [OP_TMA_WAIT] = lower_tma_wait, [OP_TMA_FREE] = lower_tma_free, [OP_TMA_CLAIM] = lower_tma_wait, [OP_TMA_END] = lower_tma_end,
    [OP_STORE_BOX] = lower_store_box, [OP_STORE_COMMIT] = lower_store_commit,
    [OP_STORE_WAIT] = lower_store_wait,
    [OP_COPY_ARRIVE] = lower_copy_arrive,
    [OP_COMMIT] = lower_commit, [OP_WAIT] = lower_wait, [OP_BARRIER] = lower_barrier,
    [OP_FOR] = lower_for, [OP_WHILE] = lower_while, [OP_IF] = lower_if,
    [OP_PRINT] = lower_print, [OP_ASSERT] = lower_assert,
};

static LowerOp *find_lower(const Op *op)
{
    LowerOp *f = table[op->kind];
    return f || !ir_has(op, OT_EW) ? f : lower_arith;
}

void lower_refuse(Lower *L, const Op *op, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *text = arena_vprintf(L->arena, fmt, ap);
    va_end(ap);
    Diag *d = diag_error(L->dx, ir_span(op->loc), "%s", text);
    ir_note_callers(L->dx, d, op->loc);
    for (int i = 0; i < op->nresults; i++)
        lower_set_all(L, op_result(op, i), lower_bits(L, op_result(op, i)->type, 0));
}

/* The product whose factor op reads for it, in the layout that it wants; else op. */
static const Op *wanted_by(const Op *op)
{
    const Op *by = op;
    while ((by->kind == OP_SLOAD || by->kind == OP_RING_LOAD) && op_result(by, 0)->uses)
        by = op_result(by, 0)->uses->user;
    return by->kind == OP_DOT ? by : op;
}

/* What a thread cannot hold of a block spills to memory, which is slow. Said of the largest. */
static void check_registers(Lower *L)
{
    const Op *op = estimate_largest(L->fn);
    const int registers = op ? estimate_registers(op) : 0, most = MACHINE_THREAD_REGISTERS;
    if (registers <= most) return;
    L->too_large = true;
    diag_warning(L->dx, DIAG_REGISTERS, ir_span(wanted_by(op)->loc),
                 "%s takes %d registers of each of the program's %d threads, which have %d: what is "
                 "not used up at once is kept in slow memory; use a smaller block or more warps",
                 type_text(L->arena, op_result(op, 0)->type), registers,
                 L->fn->num_warps * MACHINE_LANES, most);
}

/* LLVM compares what paths join pair by pair, and follows it by recursion, some 1400 bytes of stack
   each: far beyond what a thread can hold it is a mistake. */
static void check_joined(Lower *L, const Op *op)
{
    enum { most = 4096 };
    if (!op->nregions || L->too_large) return;
    int n = 0;
    for (int i = 0; i < op->nresults && n <= most; i++) n += lower_nregs(op_result(op, i)->type);
    if (n <= most) return;
    L->too_large = true;
    lower_refuse(L, op,
                 "this '%s' gives more than %d numbers to each of the program's threads, which "
                 "have %d registers",
                 tkc_op_info(op->kind)->name, most, MACHINE_THREAD_REGISTERS);
}

/* Now and then, whether the call can still afford what has been made; each look is at all of it, so
   they come ever more seldom. */
static void check_size(Lower *L, const Op *op)
{
    enum { FIRST_LOOK = 1 << 14 };
    for (int i = 0; i < op->nresults; i++) L->registers += lower_nregs(op_result(op, i)->type);
    if (L->registers < L->next_look) return;
    if (L->next_look && !estimate_fits(L->fn, lower_size(L->kernel), L->arena, L->dx))
        unwind_raise_as(UNWIND_BYTES, "the code is too large");
    limit_poll();
    L->next_look = 2 * L->registers + FIRST_LOOK;
}

static void lower_op(Lower *L, const Op *op)
{
    lines_at(L, op->loc);
    check_size(L, op);
    check_joined(L, op);
    LowerOp *f = find_lower(op);
    check(f, "no code for '%s'", tkc_op_info(op->kind)->name);
    f(L, op);
}

/* Arithmetic on scalars that needs nothing of its region but such. */
static void find_early(Op *op, void *user)
{
    Lower *L = user;
    if (!ir_has(op, OT_PURE) || !(ir_has(op, OT_EW) || op->kind == OP_CONST)) return;
    if (type_is_block(op_result(op, 0)->type)) return;
    for (int i = 0; i < op->nargs; i++) {
        const Value *arg = op_arg(op, i);
        const bool is_here = arg->def && arg->def->region == op->region;
        if (type_is_block(arg->type) || (is_here && !bitset_has(&L->early, (int)arg->id))) return;
    }
    bitset_add(&L->early, (int)op_result(op, 0)->id);
}

static bool is_early(const Lower *L, const Op *op)
{
    return op->nresults && bitset_has(&L->early, (int)op_result(op, 0)->id);
}

/* Only sums take it, which keep its constant apart to the end. */
static bool is_summed(const Value *v)
{
    for (const Use *use = v->uses; use; use = use->next) {
        const Op *op = use->user;
        const bool is_sum = op->kind == OP_ADD || op->kind == OP_SUB || op->kind == OP_ADDPTR,
                   is_copy = op->kind == OP_SPLAT || op->kind == OP_BROADCAST ||
                             op->kind == OP_EXPAND_DIMS;
        if (!is_sum && !(is_copy && is_summed(op_result(op, 0)))) return false;
    }
    return true;
}

static void lower_early(Lower *L, const Op *op)
{
    const Value *v = op_result(op, 0);
    lower_op(L, op);
    if (!is_summed(v)) lower_set_all(L, v, lower_scalar(L, v));
}

static bool is_first(const Bitset *first, const Op *op)
{
    bool some = false;
    for (int i = 0; i < op->nresults; i++) some |= bitset_has(first, (int)op_result(op, i)->id);
    return some;
}

static void add_results(const Op *op, Bitset *first)
{
    for (int i = 0; i < op->nresults; i++) bitset_add(first, (int)op_result(op, i)->id);
}

static void add_args(Op *op, void *first)
{
    for (int i = 0; i < op->nargs; i++) bitset_add(first, (int)op_arg(op, i)->id);
}

/* The loads up to the wall, and what their addresses and masks need. */
static Bitset find_first(const Lower *L, Wall wall)
{
    Bitset first = bitset_make(L->arena, (int)L->fn->nvalues);
    for (Op *op = wall.load; op; op = op->prev) {
        if (op->kind == OP_LOAD || !wall.is_alone) add_results(op, &first);
        if (!is_first(&first, op)) continue;
        add_args(op, &first);
        for (int i = 0; i < op->nregions; i++) ir_walk(op->regions[i], add_args, &first);
    }
    return first;
}

static void lower_first(Lower *L, const Region *r, const Op *last, const Bitset *first)
{
    for (const Op *op = r->first; op != last->next; op = op->next)
        if (!is_early(L, op) && is_first(first, op)) lower_op(L, op);
    target_instr(L, INSTR_WALL, 0, NULL);
}

/* What all threads have in common comes first: ptxas computes it once a warp when nothing of single
   threads lies between. */
const Op *lower_region(Lower *L, const Region *r)
{
    const Loc *outside = lines_at(L, NULL);
    struct Turned *known = L->turned;
    const Threads threads = L->threads;
    for (const Op *op = r->first; op && op != r->last; op = op->next)
        if (is_early(L, op)) lower_early(L, op);
    const Wall wall = stream_wall(L, r);
    const Bitset first = wall.load ? find_first(L, wall) : (Bitset){0};
    if (wall.load) lower_first(L, r, wall.load, &first);
    for (const Op *op = r->first; op && op != r->last; op = op->next)
        if (!is_early(L, op) && !(wall.load && is_first(&first, op))) lower_op(L, op);
    lines_at(L, outside);
    L->turned = known;
    L->threads = threads;
    check(r->last, "a region without an end reached the lowering");
    return r->last;
}

/* ---- the function ---- */

static void make_types(Lower *L)
{
    L->i1 = LLVMInt1TypeInContext(L->cx);
    L->i8 = LLVMInt8TypeInContext(L->cx);
    L->i16 = LLVMInt16TypeInContext(L->cx);
    L->i32 = LLVMInt32TypeInContext(L->cx);
    L->i64 = LLVMInt64TypeInContext(L->cx);
    L->f16 = LLVMHalfTypeInContext(L->cx);
    L->f32 = LLVMFloatTypeInContext(L->cx);
    L->f64 = LLVMDoubleTypeInContext(L->cx);
    L->global_ptr = LLVMPointerTypeInContext(L->cx, 1);
}

/* A scalar parameter below 32 bits is passed as its memory has it: int1 as a byte. */
static LLVMTypeRef param_type(const Lower *L, const Type *ty)
{
    LLVMTypeRef t = lower_type(L, ty);
    return t == L->i1 ? L->i8 : t;
}

static void make_params(Lower *L)
{
    const Func *fn = L->fn;
    for (int i = 0; i < fn->nparams; i++) {
        const Value *arg = fn->body->args[i];
        LLVMValueRef p = LLVMGetParam(L->kernel, (unsigned)i);
        LLVMSetValueName2(p, fn->params[i].name, strlen(fn->params[i].name));
        if (LLVMTypeOf(p) != lower_type(L, arg->type))
            p = LLVMBuildICmp(L->entry, LLVMIntNE, p, LLVMConstNull(LLVMTypeOf(p)), "");
        lower_set_all(L, arg, p);
    }
}

/* Behind the parameters there are tensor maps. */
static bool make_function(Lower *L, const char *symbol)
{
    const Func *fn = L->fn;
    TkcTensorMap *maps;
    const int all = fn->nparams + tensor_maps(L->arena, fn, &maps);
    LLVMTypeRef *types = arena_array(L->arena, LLVMTypeRef, all + 1);
    for (int i = 0; i < all; i++)
        types[i] = i < fn->nparams ? param_type(L, fn->params[i].type)
                                   : LLVMPointerTypeInContext(L->cx, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(L->cx), types, (unsigned)all, false);
    L->kernel = LLVMAddFunction(L->module, symbol, type);
    LLVMPositionBuilderAtEnd(L->entry, lower_block(L, "entry"));
    lower_place(L, lower_block(L, "body"));
    return target_kernel(L, L->kernel);
}

static void lower_body(Lower *L, const LowerJob *job, const char *symbol)
{
    if (!make_function(L, symbol)) return; /* after a diagnostic */
    if (job->line_info) lines_open(L);
    L->by_groups = ir_contains(L->fn->body, OP_DOT_WAIT, true);
    L->streams = stream_limit(L) > 0;
    L->early = bitset_make(L->arena, (int)L->fn->nvalues);
    ir_walk(L->fn->body, find_early, L);
    lower_threads(L);
    make_params(L);
    lower_fetch_maps(L);
    check_registers(L);
    lower_region(L, L->fn->body);
    target_release_sums(L);
    const int most = pressure_limit(L);
    check(most * L->fn->num_warps * MACHINE_LANES <= MACHINE_REGISTERS, "no program fits");
    if (most) target_limit_registers(L, L->kernel, most);
    LLVMBuildRetVoid(L->b);
    LLVMBuildBr(L->entry, LLVMGetNextBasicBlock(LLVMGetEntryBasicBlock(L->kernel)));
}

/* True when something was raised, which is in the frame; LLVM's objects can be disposed of. */
static bool lower_caught(Lower *L, const LowerJob *job, const char *symbol, UnwindFrame *frame)
{
    unwind_push(frame);
    volatile bool raised = setjmp(frame->env) != 0;
    if (!raised) lower_body(L, job, symbol);
    unwind_pop(frame);
    return raised;
}

static void start_module(Lower *L, const LowerJob *job)
{
    make_types(L);
    L->module = LLVMModuleCreateWithNameInContext(L->fn->name, L->cx);
    LLVMSetTarget(L->module, job->triple);
    LLVMSetDataLayout(L->module, job->data_layout);
    L->b = LLVMCreateBuilderInContext(L->cx);
    L->entry = LLVMCreateBuilderInContext(L->cx);
    L->before = LLVMCreateBuilderInContext(L->cx);
    L->aside = LLVMCreateBuilderInContext(L->cx);
}

bool lower_func(Lowered *out, const LowerJob *job, Arena *a, Diags *dx)
{
    const Func *fn = job->fn;
    Lower lower = {.fn = fn, .machine = fn->machine, .arena = a, .dx = dx, .cx = job->cx},
          *L = &lower;
    UnwindFrame frame;
    const int errors = dx->nerrors;
    const char *symbol = target_symbol(a, fn->name);
    L->facts = axis_analyze(a, fn, AXIS_PROVED, NULL);
    L->values = arena_array(a, Regs, fn->nvalues + 1);
    map_init(&L->scans, a);
    start_module(L, job);
    const bool raised = lower_caught(L, job, symbol, &frame);
    LLVMDisposeBuilder(L->b);
    LLVMDisposeBuilder(L->entry);
    LLVMDisposeBuilder(L->before);
    LLVMDisposeBuilder(L->aside);
    *out = (Lowered){L->module, L->kernel, symbol, L->shared_bytes, L->min_ptx, NULL, 0};
    out->nlocs = lines_close(L, &out->locs);
    if (!raised && dx->nerrors == errors) return true;
    if (!raised || frame.kind != UNWIND_LLVM) LLVMDisposeModule(L->module);
    if (raised) unwind_raise_again(&frame);
    return false;
}
