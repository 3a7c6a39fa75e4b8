/* Ops whose elements change threads in ways that registers and shuffles do not reach become
   buffers, stores and loads:

   convert  one buffer, swizzled for both layouts (linear/shared.h), in pieces when it is large; what
   is not in pieces is loaded where it is first used (late.c)

   reduce   across warps: inside each warp first, which leaves one slot for each of them along the
   axis; the slots go through a buffer to threads that hold all of an element's, which reduce them

   scan     across warps: totals of segments that a warp has go to all warps: scan.c

   dot      operands that are too large for registers where there is no matrix instruction: dot.c

   atomics  what the canonical holder was given goes to all holders, for a scalar through a buffer
   of one element; so does what a volatile load gives, for others may store between two threads'

   Nothing says here who waits for whom, nor where buffers lie: sync.c and place.c find that out. */
#include "base/unwind.h"
#include "ir/rule.h"
#include "layout/convert.h"
#include "memory/expand.h"
#include "memory/flow.h"
#include "memory/late.h"
#include "memory/passes.h"

/* ---- blocks on their way ---- */

/* A block that goes from its layout to another. */
typedef struct Move {
    SharedPlan plan;
    Value *from, *buffer, *so_far;
    const Type *to;
} Move;

static Move move_begin(Builder *b, Value *from, const Layout *to, int most)
{
    Ir *ir = ir_of(b->fn);
    Move m = {.from = from, .to = type_with_layout(ir->types, from->type, to)};
    shared_plan(&m.plan, from->type->layout, to, type_bytes(from->type), most);
    m.buffer = build_buffer(b, from->type, shared_layout(ir->layouts, &m.plan, to), 0);
    return m;
}

/* All first pieces, then all second ones, so that threads wait for all moves at once. */
static void move_all(Builder *b, Move *moves, int n)
{
    uint32_t pieces = 0;
    for (int i = 0; i < n; i++) {
        if (pieces < 1u << moves[i].plan.pieces_log2) pieces = 1u << moves[i].plan.pieces_log2;
    }
    for (uint32_t k = 0; k < pieces; k++) {
        for (int i = 0; i < n; i++) {
            const Move *m = &moves[i];
            if (k >> m->plan.pieces_log2 == 0)
                build_sstore(b, m->buffer, m->from, shared_piece(&m->plan, k));
        }
        for (int i = 0; i < n; i++) {
            Move *m = &moves[i];
            if (k >> m->plan.pieces_log2 == 0)
                m->so_far = build_sload(b, m->buffer, m->to, m->so_far, shared_piece(&m->plan, k));
        }
    }
}

static Value *through_buffer(Builder *b, Value *from, const Layout *to)
{
    Move m = move_begin(b, from, to, CONVERT_SCRATCH_MAX);
    move_all(b, &m, 1);
    return m.so_far;
}

/* ---- conversions ---- */

static void expand_convert(Op *op, Late *late)
{
    Builder b = build_before(op);
    const bool by_steps = convert_is_by_steps(op);
    Move m = move_begin(&b, op_arg(op, 0), op_result(op, 0)->type->layout,
                        by_steps ? INT32_MAX : CONVERT_SCRATCH_MAX);
    if (m.plan.pieces_log2) {
        move_all(&b, &m, 1);
    } else {
        build_sstore(&b, m.buffer, m.from, 0);
        Op *user = by_steps ? op_result(op, 0)->uses->user
                            : late_place(late, op, memory_bytes(m.buffer->def));
        Builder there = build_before_at(user, op->loc);
        m.so_far = build_sload(&there, m.buffer, m.to, NULL, 0);
    }
    ir_replace(op, &m.so_far);
}

/* ---- reductions ---- */

static uint32_t warp_bits(const Op *op)
{
    return layout_warp_bits(op_arg(op, 0)->type->layout, ir_axis(op));
}

static bool crosses_warps(const Op *op)
{
    return !tkc_op_attr(op, ATTR_SLOTS) && warp_bits(op);
}

Op *expand_copy(Op *op, Arena *scratch)
{
    ValueMap map = ir_value_map(scratch, op->region->func);
    Op *copy = ir_clone(op->region->func, op, &map);
    ir_insert_before(op, copy);
    return copy;
}

/* What is left after each warp has reduced what it holds. */
static Op *reduce_in_warps(Op *op, Arena *scratch)
{
    Func *fn = op->region->func;
    Op *partial = expand_copy(op, scratch);
    ir_set_int(fn, partial, ATTR_SLOTS, warp_bits(op));
    for (int i = 0; i < op->nresults; i++)
        ir_set_type(op_result(partial, i), rule_result(ir_of(fn), partial, i));
    return partial;
}

enum { OF_A_THREAD_LOG2 = 2 }; /* slots that one access gives */

/* Of a scalar: a thread has the slots that one access gives it, lanes share the others. */
static const Layout *shared_slots(LayoutTable *t, const Layout *from, int bits)
{
    const int own = bits < OF_A_THREAD_LOG2 ? bits : OF_A_THREAD_LOG2;
    LayoutSpec s = {.rank = 1, .dim_log2 = {(uint8_t)bits}};
    check(bits - own <= from->nbits[DIM_LANE], "more warps than a warp can add up");
    s.nbits[DIM_REGISTER] = (uint8_t)own;
    s.nbits[DIM_LANE] = from->nbits[DIM_LANE];
    s.nbits[DIM_WARP] = from->nbits[DIM_WARP];
    for (int i = 0; i < own; i++) s.basis[DIM_REGISTER][i] = UINT32_C(1) << i;
    for (int i = own; i < bits; i++) s.basis[DIM_LANE][i - own] = UINT32_C(1) << i;
    return layout_make(t, &s);
}

/* The last `bits` registers, where a thread has all slots, but for those that one access gives it:
   lanes that have the same elements share them, as far as there are any. To load and join the others
   costs more than a shuffle for each bit. */
static const Layout *deal_slots(LayoutTable *t, const Layout *all, int bits)
{
    LayoutSpec s;
    layout_spec_of(all, &s);
    for (int i = 0; i < s.nbits[DIM_LANE] && bits > OF_A_THREAD_LOG2; i++) {
        if (s.basis[DIM_LANE][i]) continue;
        s.basis[DIM_LANE][i] = s.basis[DIM_REGISTER][--s.nbits[DIM_REGISTER]];
        bits--;
    }
    return layout_make(t, &s);
}

/* The layout of the results, and all slots of an element with it. */
static const Layout *with_slots(const Op *op, int bits)
{
    LayoutTable *t = ir_of(op->region->func)->layouts;
    const Layout *result = op_result(op, 0)->type->layout;
    if (!result) return shared_slots(t, op_arg(op, 0)->type->layout, bits);
    return deal_slots(t, layout_insert(t, result, ir_axis(op), bits), bits);
}

static void expand_reduce(Op *op, Arena *scratch)
{
    Op *partial = reduce_in_warps(op, scratch);
    const Layout *to = with_slots(op, __builtin_popcount(warp_bits(op)));
    Move *moves = arena_array(scratch, Move, op->nargs);
    Builder b = build_before(op);
    for (int i = 0; i < op->nargs; i++)
        moves[i] = move_begin(&b, op_result(partial, i), to, CONVERT_SCRATCH_MAX);
    move_all(&b, moves, op->nargs);
    Op *rest = expand_copy(op, scratch);
    for (int i = 0; i < op->nargs; i++) ir_set_arg(rest, i, moves[i].so_far);
    ir_replace(op, rest->results);
}

/* ---- atomics ---- */

static Value *spread_scalar(Builder *b, Value *x)
{
    Value *buffer = expand_row_major(b, x->type, 1, (const int32_t[]){1});
    build_sstore(b, buffer, x, 0);
    return build_sload(b, buffer, x->type, NULL, 0);
}

static Value *spread_block(Builder *b, Value *x)
{
    const Layout *layout = x->type->layout;
    ConvertPlan plan;
    convert_plan(&plan, layout, layout, type_bytes(x->type), CONVERT_CANONICAL);
    if (plan.kind == CONVERT_SHARED) return through_buffer(b, x, layout);
    Op *op = build_op(b, OP_CONVERT, 1, &x, 1, &x->type);
    ir_set_int(b->fn, op, ATTR_CANONICAL, 1);
    return op_result(op, 0);
}

static bool spreads(const Op *op)
{
    const Value *result = op->nresults ? op_result(op, 0) : NULL;
    return result && result->uses &&
           (!type_is_block(result->type) || layout_has_free_threads(result->type->layout));
}

static void expand_atomic(Op *op, Arena *scratch)
{
    Value *own = op_result(expand_copy(op, scratch), 0);
    Builder b = build_before(op);
    Value *all = type_is_block(own->type) ? spread_block(&b, own) : spread_scalar(&b, own);
    ir_replace(op, &all);
}

/* ---- all of them ---- */

bool expand_wants(const Op *op)
{
    switch (op->kind) {
    case OP_CONVERT: return convert_is_shared(op);
    case OP_REDUCE: return crosses_warps(op);
    case OP_GATHER:
    case OP_HISTOGRAM:
    case OP_CAT: return true;
    case OP_SCAN: return expand_is_scan_across_warps(op);
    case OP_RESHAPE: return expand_is_moving_reshape(op);
    case OP_LOAD: return tkc_op_int(op, ATTR_VOLATILE, 0) && spreads(op);
    default: return ir_has(op, OT_ATOMIC) && spreads(op);
    }
}

typedef struct Expand {
    Arena *scratch;
    Late late;
} Expand;

static void expand_op(Op *op, void *user)
{
    Expand *x = user;
    late_reach(&x->late, op);
    if (!expand_wants(op)) return;
    switch (op->kind) {
    case OP_CONVERT: expand_convert(op, &x->late); break;
    case OP_REDUCE: expand_reduce(op, x->scratch); break;
    case OP_SCAN: expand_scan(op, x->scratch); break;
    case OP_GATHER: expand_gather(op); break;
    case OP_HISTOGRAM: expand_histogram(op); break;
    case OP_CAT: expand_cat(op); break;
    case OP_RESHAPE: expand_reshape(op); break;
    default: expand_atomic(op, x->scratch); break;
    }
}

/* What transposes a factor that is read step by step is right before the product, as the load of it
   will be: nobody stores anything between. */
static void settle_factor(Op *dot, int operand)
{
    Value *v = op_arg(dot, operand);
    while (ir_def(v, OP_TRANS)) v = op_arg(v->def, 0);
    if (!ir_def(v, OP_CONVERT) || !convert_is_by_steps(v->def)) return;
    for (Op *op = v->uses->user; op != dot; op = op_result(op, 0)->uses->user)
        ir_move_before(op, dot);
}

static void expand_products(Func *fn)
{
    for (Op *op = fn->body->first, *next; op; op = next) {
        next = ir_next(op, NULL);
        if (op->kind != OP_DOT) continue;
        for (int i = 0; i < 2; i++) settle_factor(op, i);
        expand_dot(op);
    }
}

/* needs: layouts, the tensor level.  keeps: what every op computes.  changes: the level; what goes
   through shared memory is allocs, stores and loads. */
void expand_run(Pass *p, Func *fn)
{
    Expand x = {.scratch = p->scratch, .late = {.scratch = p->scratch}};
    /* first: it takes operands from before their conversions */
    expand_products(fn);
    ir_walk(fn->body, expand_op, &x);
    expand_share(fn);
    fn->level = LEVEL_MEMORY;
}
