/* A load can come ahead where its block feeds a matrix product, or would go through shared memory
   in a loop where others do; where nothing in the loop waits, or
   writes to the array that is loaded from; and where its addresses and mask follow from what the
   loop counts and carries by arithmetic alone, in branches too, so that a copy of that arithmetic can
   run ahead of the loop. One copy moves 4, 8 or 16 bytes, and what is masked off becomes 0.

   An address may be made of indices that are loaded for it, if their own addresses are made without
   such. These may move through shared memory, as lines, where each copy then moves all it can
   (chosen rows of latents 1.27 times as fast; zeros of int4 weights by groups, copied element by
   element, took 3.5 times as long; H200). What no ring takes, a number for all threads or a few
   registers of each, can come a turn ahead.

   Two parameters are two arrays here, or one of which no turn reads what another wrote: between
   threads that would need a barrier, behind which nothing comes ahead. */
#include "memory/stream.h"

#include <string.h>

#include "analysis/alias.h"
#include "base/power.h"
#include "ir/dot_unit.h"
#include "ir/machine.h"
#include "layout/convert.h"
#include "layout/propagate.h"
#include "layout/remat.h"
#include "layout/vector.h"
#include "linear/swizzle.h"
#include "memory/box.h"
#include "tkc/carry.h"

static Region *body_of(const Streams *s)
{
    return s->loop->regions[0];
}

/* ---- the loop ---- */

/* Nobody learns from it what others wrote: a later load may come before it. */
static bool only_writes(const Op *op)
{
    return op->kind == OP_STORE || (op->kind == OP_ATOMIC_RMW && !op_result(op, 0)->uses);
}

/* What is read behind it may be something else, wherever that is. */
static bool is_fence(const Op *op)
{
    const bool is_said = op->kind == OP_ASSERT || op->kind == OP_ASSUME || op->kind == OP_PRINT;
    return ir_has(op, OT_WRITE) || ir_talks(op) || (ir_has(op, OT_SIDE) && !is_said);
}

/* What it and all in it write to. False: nothing can be read before it. */
static bool find_written(Streams *s, const Op *op)
{
    for (const Op *in = op; in; in = ir_next(in, op))
        if (only_writes(in) ? !alias_params(s->scratch, s->fn, op_arg(in, 0), &s->written)
                            : is_fence(in))
            return false;
    return true;
}

/* No write of the loop reaches what is loaded. */
static bool stays_as_it_is(const Streams *s, const Op *load)
{
    Bitset read = bitset_make(s->scratch, s->fn->nparams);
    if (bitset_next(&s->written, 0) < 0) return true;
    if (!alias_params(s->scratch, s->fn, op_arg(load, 0), &read)) return false;
    for (int i = bitset_next(&read, 0); i >= 0; i = bitset_next(&read, i + 1))
        if (bitset_has(&s->written, i)) return false;
    return true;
}

/* By steps up or down, and not so long that an int64 would not hold a few. One that is not known is
   one up, as the loop takes it. */
static bool counts(const Op *loop)
{
    int64_t step;
    const bool down = tkc_op_int(loop, ATTR_DOWN, 0);
    const Type *index = loop->kind == OP_FOR ? op_arg(loop, 0)->type : NULL;
    if (!index) return false;
    if (!ir_const_int(op_arg(loop, 2), &step)) return !down && type_bits(index) <= 32;
    if (type_bits(index) > 32 && (type_dtype(index) != DT_I64 || step != (int32_t)step))
        return false;
    return down ? step < 0 : step > 0;
}

/* ---- the slice ---- */

static bool take(Streams *s, Slice *slice, const Value *v);
/* Of a load; of a box, all but its pointers. */
static bool take_operands(Streams *s, Slice *slice, const Op *load, bool is_box);

static void slice_add(Slice *s, const Slice *more)
{
    bitset_union(&s->ops, &more->ops);
    bitset_union(&s->slots, &more->slots);
}

/* Of what `from` has, if that is not NULL. */
static Slice slice_copy(const Streams *s, const Slice *from)
{
    Slice copy = {bitset_make(s->scratch, (int)s->fn->nvalues),
                  bitset_make(s->scratch, carry_count(s->loop))};
    if (from) slice_add(&copy, from);
    return copy;
}

static bool take_slot(Streams *s, Slice *slice, int slot)
{
    if (bitset_has(&slice->slots, slot)) return true;
    bitset_add(&slice->slots, slot);
    return take(s, slice, carry_passed(body_of(s), slot));
}

static bool is_arithmetic(const Op *op)
{
    return !op->nregions && op->nresults == 1 && op->kind != OP_INLINE_ASM &&
           (ir_has(op, OT_EW) || ir_has(op, OT_CONST) ||
            (ir_has(op, OT_SHAPE) && op->kind != OP_CONVERT));
}

/* In the warp; or a line, through shared memory, for copies that each move all they can. */
static bool moves(const Streams *s, const Op *op)
{
    return op->kind == OP_CONVERT &&
           (!convert_is_shared(op) || (s->moves_lines && type_is_line(op_result(op, 0)->type)));
}

/* A thread has so much from turn to turn that a few registers more would spill others. */
static bool is_full(const Op *loop)
{
    enum { MOST_WORDS = 96 };
    return ir_words_carried(loop) > MOST_WORDS;
}

static bool is_few(const Op *op, int most_words)
{
    const Type *ty = op->kind == OP_LOAD ? op_result(op, 0)->type : NULL;
    return ty && !type_is_bool(ty) && type_dtype(ty) != DT_NONE && type_words(ty) <= most_words;
}

static bool is_far(const Streams *s, const Op *load)
{
    for (int i = 0; i < s->far.len; i++)
        if (s->far.data[i] == load) return true;
    return false;
}

/* A load of indices: what it gives for a later turn comes a turn earlier. For `few`, or for other
   indices, that is not the turn they are at. */
static bool take_far(Streams *s, Slice *slice, Op *load)
{
    if (s->in_far) return false;
    if (is_far(s, load)) return true;
    if (s->far.len == STREAM_FAR || !is_few(load, REMAT_INDEX_WORDS) || load->region != body_of(s) ||
        !stays_as_it_is(s, load))
        return false;
    Slice own = slice_copy(s, NULL); /* the slice has ops that need indices */
    s->in_far = true;
    const bool taken = take_operands(s, &own, load, false);
    s->in_far = false;
    slice_add(slice, &own);
    if (taken) vec_push(s->scratch, &s->far, load);
    return taken;
}

/* What the branches compute, and what chooses between them. */
static bool take_branches(Streams *s, Slice *slice, const Op *branch)
{
    for (const Op *op = branch; op; op = ir_next(op, branch)) {
        if (!(is_arithmetic(op) || moves(s, op) || op->kind == OP_IF || op->kind == OP_YIELD))
            return false;
        for (int i = 0; i < op->nargs; i++) {
            const Value *x = op_arg(op, i);
            if (!(x->def && ir_is_part(x->def, branch)) && !take(s, slice, x)) return false;
        }
    }
    return true;
}

/* v and what it is made of. False: it needs more than arithmetic, indices and other lanes. */
static bool take(Streams *s, Slice *slice, const Value *v)
{
    if (ir_is_defined_outside(v, body_of(s))) return true;
    const Op *op = v->def;
    if (!op) return v == body_of(s)->args[0] || take_slot(s, slice, v->index - 1);
    if (op->kind == OP_LOAD) return take_far(s, slice, v->def);
    if (!(is_arithmetic(op) || moves(s, op) || op->kind == OP_IF) || op->region != body_of(s))
        return false;
    const int id = (int)op_result(op, 0)->id;
    if (bitset_has(&slice->ops, id)) return true;
    bitset_add(&slice->ops, id);
    if (op->kind == OP_IF) return take_branches(s, slice, op);
    for (int i = 0; i < op->nargs; i++)
        if (!take(s, slice, op_arg(op, i))) return false;
    return true;
}

bool slice_has(const Slice *s, const Op *op)
{
    if (!op->nresults) return false;
    const int id = (int)op_result(op, 0)->id;
    return id < s->ops.nbits && bitset_has(&s->ops, id); /* else made since then */
}

static bool take_operands(Streams *s, Slice *slice, const Op *load, bool is_box)
{
    for (int i = is_box; i < load->nargs; i++)
        if (!take(s, slice, op_arg(load, i))) return false;
    return true;
}

/* ---- loads ---- */

/* Why a load comes ahead: products wait for it; or others do so anyway, and it would go through
   shared memory, or is a line of floats; or the loop, which has no products, is said to run in
   stages. */
typedef enum Reason { FOR_PRODUCT, BESIDE_OTHERS, AS_IS_SAID } Reason;

/* An operand of a matrix product in the same loop is made of v. */
static bool feeds_product(const Streams *s, const Value *v, Bitset *seen)
{
    if (bitset_has(seen, (int)v->id)) return false;
    bitset_add(seen, (int)v->id);
    for (const Use *u = v->uses; u; u = u->next) {
        const Op *op = u->user;
        if (op->region != body_of(s)) continue;
        if (op->kind == OP_DOT && u != &op->args[2]) return true;
        const bool makes = op->kind == OP_INLINE_ASM || (ir_has(op, OT_PURE) && op->kind != OP_DOT);
        for (int i = 0; makes && i < op->nresults; i++)
            if (feeds_product(s, op_result(op, i), seen)) return true;
    }
    return false;
}

/* A copy takes the way of .cg, of fewer than 16 bytes that of .ca; a load that says either means no
   other value. */
static bool is_plain(const Op *op)
{
    const Type *ty = op->kind == OP_LOAD ? op_result(op, 0)->type : NULL;
    const char *cache = tkc_op_str(op, ATTR_CACHE, ".ca");
    return ty && type_is_block(ty) && ty->dtype != DT_NONE && !type_is_bool(ty) &&
           (!strcmp(cache, ".ca") || !strcmp(cache, ".cg"));
}

/* What is masked off is 0, as a copy makes it. */
static bool is_else_zero(const Op *op)
{
    uint64_t other = 0;
    return op->nargs < 3 || (ir_const_bits(op_arg(op, 2), &other) && !other);
}

static AxisFacts *facts_of(Streams *s)
{
    if (!s->facts) s->facts = axis_analyze(s->scratch, s->fn, AXIS_PROVED, NULL);
    return s->facts;
}

/* As wide as the load where mask and edge allow that. */
static int copy_log2(const VectorBits *v)
{
    return log2_floor(v->run < 1 << v->log2 ? v->run : 1 << v->log2);
}

static const Layout *line_of(const Streams *s, const Layout *like, int thread_log2)
{
    const int order[TKC_MAX_RANK] = {0}, thread[TKC_MAX_RANK] = {thread_log2};
    return layout_blocked(ir_of(s->fn)->layouts, 1, like->dim_log2, order, thread,
                          like->nbits[DIM_LANE], like->nbits[DIM_WARP]);
}

static bool makes_again(Remat *r, const Op *load, int operand, const Layout *in)
{
    Value *v = load->nargs > operand ? op_arg(load, operand) : NULL;
    return !v || !type_is_block(v->type) || remat_again(r, v, in);
}

/* A line that all threads have a part of, as what it meets wants it, is copied by few of them, each
   as much as one copy can move, if these make their addresses by arithmetic alone. narrow: each
   thread's own part is too little for a copy. */
static void deal_line(Streams *s, Stream *x, bool narrow)
{
    const Layout *own = x->from;
    if (own->rank > 1) return;
    Remat r = remat_make(s->fn, s->scratch, NULL);
    const VectorBits v = vector_if(facts_of(s), x->load, line_of(s, own, own->total_log2));
    const Layout *line = line_of(s, own, copy_log2(&v));
    if ((!narrow &&
         layout_registers(line) >> copy_log2(&v) >= layout_registers(own) >> x->copy_log2) ||
        !makes_again(&r, x->load, 0, line) || !makes_again(&r, x->load, 1, line))
        return;
    x->from = line;
    x->dim = 0;
    x->copy_log2 = copy_log2(&v);
}

/* The mask ends among neighbours that one access would move: a copy can be told how many there are. */
static bool ends_among(Streams *s, const Op *load, const VectorBits *v)
{
    const Type *ty = op_arg(load, 0)->type;
    bool whole = ty->rank > 1 && load->nargs > 1;
    for (int d = 0; d < ty->rank; d++) whole &= is_power_of_two(ty->shape[d]);
    return whole && axis_is_prefix(facts_of(s), op_arg(load, 1), v->dim, 1 << v->log2);
}

static bool find_copy(Streams *s, Stream *x, Reason why)
{
    enum { LEAST_BYTES = 4 };
    const VectorBits v = vector_of(x->load);
    x->from = op_arg(x->load, 0)->type->layout;
    x->dim = v.dim;
    x->copy_log2 = copy_log2(&v);
    x->ends = why == FOR_PRODUCT && x->copy_log2 < v.log2 && ends_among(s, x->load, &v);
    if (x->ends) x->copy_log2 = v.log2;
    const int bytes = type_bytes(op_result(x->load, 0)->type);
    const bool narrow = why == AS_IS_SAID && bytes << x->copy_log2 < LEAST_BYTES;
    if (why != AS_IS_SAID || narrow) deal_line(s, x, narrow);
    return bytes << x->copy_log2 >= LEAST_BYTES;
}

/* From a conversion back to the load: the ring is read in the layout that the moves between lead
   back to, whatever conversions are among them. */
static void add_reader(const Streams *s, Stream *x, Op *convert)
{
    LayoutTable *t = ir_of(s->fn)->layouts;
    Reader r = {.convert = convert, .layout = op_result(convert, 0)->type->layout};
    Op *op = op_arg(convert, 0)->def;
    for (; op != x->load && r.nmoves < STREAM_MOVES; op = op_arg(op, 0)->def) {
        if (op->kind == OP_CONVERT) continue;
        r.moves[r.nmoves++] = op;
        if (r.layout) r.layout = propagate_operand(t, op, 0, r.layout);
    }
    if (op == x->load && r.layout && x->nreaders < STREAM_READERS) x->readers[x->nreaders++] = r;
}

/* Those of the load, by way of transpositions and of others. */
static void find_readers(const Streams *s, Stream *x, const Value *v)
{
    for (const Use *u = v->uses; u; u = u->next) {
        if (u->user->region != body_of(s)) continue;
        if (u->user->kind == OP_CONVERT) add_reader(s, x, u->user);
        if (u->user->kind == OP_TRANS || u->user->kind == OP_CONVERT)
            find_readers(s, x, op_result(u->user, 0));
    }
}

/* Whether a product that a warp group can compute reads v itself where rows of tiles lie along
   `dim`; v is the transposed of what was loaded (flipped). */
static bool feeds_group(const Streams *s, const Value *v, bool flipped, int dim)
{
    for (const Use *u = v->uses; u; u = u->next) {
        const Op *op = u->user;
        if (op->region != body_of(s)) continue;
        if (op->kind == OP_TRANS || op->kind == OP_CONVERT) {
            const bool flips = op->kind == OP_TRANS && dot_flips(op);
            if (feeds_group(s, op_result(op, 0), flipped ^ flips, dim)) return true;
        } else if (dot_is_of_group(op) && u != &op->args[2]) {
            if (dot_lies_along(op, u == &op->args[1], flipped, dim)) return true;
        }
    }
    return false;
}

/* The dim that the rows of swizzled tiles lie along; -1: nobody wants any. */
static int dim_for_group(const Streams *s, const Stream *x)
{
    for (int dim = 0; dim < 2; dim++)
        if ((dim == x->dim || !x->copy_log2) && feeds_group(s, op_result(x->load, 0), false, dim))
            return dim;
    return -1;
}

/* Where TMA can copy it: to tiles whose rows lie along the matrix's own. */
static bool find_box(Streams *s, Stream *x)
{
    const Value *pointers = op_arg(x->load, 0), *v = op_result(x->load, 0);
    Value *parts[TILE_PARTS];
    Tile t;
    if (!s->fn->machine->tma || !tile_of_pointers(pointers, parts, &t) ||
        !feeds_group(s, v, false, 1))
        return false;
    if (!box_is_one(facts_of(s), &t)) return false;
    x->in_ring = swizzle_layout(ir_of(s->fn)->layouts, v->type->layout, 1, type_bytes(v->type));
    if (x->in_ring) x->box = pointers->def;
    return x->box;
}

/* Copies keep neighbours together, which a reader may want each by itself, from the banks that all
   others want: with three dims in another order products took three times as long by a ring as by
   what threads store (H200). */
static bool is_read_dearly(const Stream *x)
{
    enum { DEAR = 3 };
    const Type *ty = op_result(x->load, 0)->type;
    for (int i = 0; i < x->nreaders; i++) {
        const Layout *to = x->readers[i].layout;
        ConvertPlan plan;
        convert_plan(&plan, ty->layout, to, type_bytes(ty), CONVERT_FORCE_SHARED);
        if (convert_read_cost(x->in_ring, to, type_bytes(ty)) > DEAR * plan.cost) return true;
    }
    return false;
}

/* False: no buffer that both sides reach has what one copy moves side by side, and is read as well. */
static bool find_ring(const Streams *s, Stream *x)
{
    const Type *ty = op_result(x->load, 0)->type;
    const Layout *from = x->from;
    uint32_t vector[LAYOUT_MAX_BITS];
    SharedPlan plan;
    SharedAccess access;
    for (int i = 0; i < x->copy_log2; i++)
        vector[i] = UINT32_C(1) << (layout_dim_shift(from, x->dim) + i);
    const int tiles = dim_for_group(s, x);
    if (tiles >= 0) x->in_ring = swizzle_layout(ir_of(s->fn)->layouts, from, tiles, type_bytes(ty));
    if (!x->in_ring) {
        shared_plan_vectors(&plan, from, x->copy_log2, vector,
                            x->nreaders ? x->readers[0].layout : ty->layout, type_bytes(ty));
        x->in_ring = shared_layout(ir_of(s->fn)->layouts, &plan, from);
    }
    return shared_access(&access, from, x->in_ring, type_bytes(ty)) &&
           access.vector_log2 >= x->copy_log2 && (tiles >= 0 || !is_read_dearly(x));
}

static bool is_wide(const Stream *x)
{
    enum { MOST_BYTES = 16 };
    return type_bytes(op_result(x->load, 0)->type) << x->copy_log2 == MOST_BYTES;
}

/* All that is done with it begins in another layout, which is in other threads. */
static bool leaves_threads(const Stream *x)
{
    const Value *v = op_result(x->load, 0);
    for (const Use *u = v->uses; u; u = u->next)
        if (!convert_is_shared(u->user)) return false;
    return v->uses && x->nreaders;
}

/* Scales and the like: to hold them from one turn to the next takes registers, and a turn is short for
   a load. Whole numbers may be indices, which addresses are made of. */
static bool is_line(const Op *load)
{
    const Type *ty = op_result(load, 0)->type;
    return ty->rank == 1 && type_is_float(ty);
}

static bool feeds(const Streams *s, const Stream *x, Reason why)
{
    Bitset seen = bitset_make(s->scratch, (int)s->fn->nvalues);
    const bool makes = feeds_product(s, op_result(x->load, 0), &seen);
    if (why != BESIDE_OTHERS) return makes || why == AS_IS_SAID;
    return !makes && (leaves_threads(x) || is_line(x->load));
}

static bool has_ring(const Streams *s, const Op *load)
{
    for (int i = 0; i < s->all.len; i++)
        if (s->all.data[i].load == load) return true;
    return false;
}

/* Nothing but addresses and masks of copies is made of v. */
static bool is_for_copies(const Streams *s, const Value *v, Bitset *seen)
{
    bool only = true;
    for (const Use *u = v->uses; u && only; u = u->next) {
        const Op *op = u->user;
        if (has_ring(s, op) || (op->nresults && bitset_has(seen, (int)op_result(op, 0)->id)))
            continue;
        only = slice_has(&s->slice, op);
        if (only) bitset_add(seen, (int)op_result(op, 0)->id);
        for (int i = 0; i < op->nresults && only; i++)
            only = is_for_copies(s, op_result(op, i), seen);
    }
    return only;
}

/* Its turn does not ask for the indices themselves. */
static bool is_far_only(const Streams *s, const Op *load)
{
    Bitset seen = bitset_make(s->scratch, (int)s->fn->nvalues);
    return is_far(s, load) && is_for_copies(s, op_result(load, 0), &seen);
}

static void add_stream(Streams *s, Op *load, Reason why)
{
    Stream x = {.load = load};
    Slice slice = slice_copy(s, &s->slice);
    x.elsewhere = !is_else_zero(load);
    if (!is_plain(load) || !stays_as_it_is(s, load)) return;
    if (why == BESIDE_OTHERS && is_far_only(s, load)) return;
    if (!x.elsewhere) find_readers(s, &x, op_result(load, 0));
    if (!feeds(s, &x, why)) return;
    if (!find_box(s, &x) && !(find_copy(s, &x, why) && find_ring(s, &x))) return;
    const int far = s->far.len;
    s->moves_lines = why == FOR_PRODUCT && !x.box && is_wide(&x);
    const bool taken = take_operands(s, &slice, x.box ? x.box : load, x.box);
    s->moves_lines = false;
    if (!taken) {
        s->far.len = far;
        return;
    }
    s->slice = slice;
    vec_push(s->scratch, &s->all, x);
}

static void add_streams(Streams *s, Reason why)
{
    for (Op *op = body_of(s)->first; op; op = op->next) add_stream(s, op, why);
}

/* It says so itself, and copies pay: more than one turn ahead, or where turns wait for each other.
   Else loads of several turns, unrolled, are as good (sums of long rows 84 us, 111 by copies of the
   next turn, 58 and 42 of two and three turns ahead; H200). */
static bool runs_in_stages(const Op *loop)
{
    enum { ONE_AHEAD = 2 };
    const Region *body = loop->regions[0];
    const int64_t stages = tkc_op_int(loop, ATTR_STAGES, 1);
    return stages >= ONE_AHEAD && (stages > ONE_AHEAD || ir_contains(body, OP_REDUCE, false)) &&
           !ir_contains(body, OP_DOT, true) && !ir_contains(body, OP_FOR, true) &&
           !ir_contains(body, OP_WHILE, true);
}

static bool may_be_few(const Streams *s, const Op *op)
{
    enum { MOST_WORDS = 4 };
    return is_few(op, MOST_WORDS) &&
           (!type_is_block(op_result(op, 0)->type) || !is_full(s->loop)) && !has_ring(s, op) &&
           stays_as_it_is(s, op);
}

static void add_few(Streams *s, Op *load)
{
    enum { MOST_LOADS = 8 };
    Slice slice = slice_copy(s, &s->few_slice);
    if (s->few.len == MOST_LOADS || !may_be_few(s, load) || !take_operands(s, &slice, load, false))
        return;
    s->few_slice = slice;
    vec_push(s->scratch, &s->few, load);
}

void streams_find(Streams *s, Arena *scratch, Func *fn, Op *loop)
{
    *s = (Streams){.scratch = scratch, .fn = fn, .loop = loop};
    s->written = bitset_make(scratch, fn->nparams);
    if (!counts(loop) || !find_written(s, loop)) return;
    s->slice = slice_copy(s, NULL);
    add_streams(s, FOR_PRODUCT);
    if (s->all.len) add_streams(s, BESIDE_OTHERS);
    if (runs_in_stages(loop)) add_streams(s, AS_IS_SAID);
    s->few_slice = slice_copy(s, NULL);
    s->in_far = true;
    for (Op *op = body_of(s)->first; op; op = op->next) add_few(s, op);
}

int streams_boxes(const Streams *s)
{
    int n = 0;
    for (int i = 0; i < s->all.len; i++) n += s->all.data[i].box != NULL;
    return n;
}

static bool is_one_to_one(const Layout *l)
{
    return l->nbits[DIM_REGISTER] + l->nbits[DIM_LANE] + l->nbits[DIM_WARP] == l->total_log2;
}

bool streams_are_own(const Streams *s)
{
    for (int i = 0; i < s->all.len; i++) {
        const Stream *x = &s->all.data[i];
        if (x->box || x->nreaders || x->from != op_result(x->load, 0)->type->layout ||
            !is_one_to_one(x->from))
            return false;
    }
    return true;
}

/* ---- writes anywhere ---- */

bool streams_are_written(const Streams *s)
{
    Streams all = *s; /* with what the function writes */
    bool anywhere = false;
    all.written = bitset_make(s->scratch, s->fn->nparams);
    for (const Op *op = s->fn->body->first; op; op = ir_next(op, NULL))
        anywhere |= only_writes(op)
                        ? !alias_params(s->scratch, s->fn, op_arg(op, 0), &all.written)
                        : ir_talks(op);
    for (int i = 0; i < s->all.len; i++)
        anywhere |= s->all.data[i].box && !stays_as_it_is(&all, s->all.data[i].load);
    return anywhere;
}

/* ---- the loop around ---- */

static bool take_around(const Streams *s, Slice *slice, const Value *v)
{
    const Region *around = s->loop->region;
    const Op *op = v->def;
    if (ir_is_defined_outside(v, around) || !ir_is_defined_outside(v, body_of(s))) return true;
    if (!op) return v == around->args[0];
    if (!is_arithmetic(op) || op->region != around) return false;
    if (bitset_has(&slice->ops, (int)v->id)) return true;
    bitset_add(&slice->ops, (int)v->id);
    for (int i = 0; i < op->nargs; i++)
        if (!take_around(s, slice, op_arg(op, i))) return false;
    return true;
}

/* What the slice, the boxes and the loop's bounds need. */
static bool take_start(const Streams *s, Slice *slice)
{
    bool taken = true;
    for (int i = 0; i < 3; i++) taken = taken && take_around(s, slice, op_arg(s->loop, i));
    for (int k = bitset_next(&s->slice.slots, 0); k >= 0; k = bitset_next(&s->slice.slots, k + 1))
        taken = taken && take_around(s, slice, carry_init(s->loop, k));
    for (const Op *op = body_of(s)->first; op; op = op->next)
        for (const Op *in = slice_has(&s->slice, op) ? op : NULL; in; in = ir_next(in, op))
            for (int i = 0; i < in->nargs; i++)
                taken = taken && take_around(s, slice, op_arg(in, i));
    for (int i = 0; i < s->all.len; i++) {
        const Op *box = s->all.data[i].box, *from = box ? box : s->all.data[i].load;
        for (int k = box ? 1 : 0; k < from->nargs; k++)
            taken = taken && take_around(s, slice, op_arg(from, k));
    }
    return taken;
}

/* Its turns are dealt out to the programs. */
static bool is_dealt(const Op *loop)
{
    return ir_def(op_arg(loop, 0), OP_PROGRAM_ID) || ir_def(op_arg(loop, 2), OP_NUM_PROGRAMS);
}

/* Its turns multiply, and threads have registers for more addresses: those of warp groups' products
   have no operands to hold. */
static bool has_room_beside(const Streams *s)
{
    const bool full = is_full(s->loop);
    bool multiplies = false;
    for (const Op *op = body_of(s)->first; op; op = op->next) {
        if (op->kind != OP_DOT) continue;
        if (full && !dot_is_of_group(op)) return false;
        multiplies = true;
    }
    return multiplies;
}

/* All by TMA; or all by threads that meet. */
static bool comes_one_way(const Streams *s)
{
    const int boxes = streams_boxes(s);
    return boxes ? boxes == s->all.len : !streams_are_own(s) && has_room_beside(s);
}

Op *streams_around(Streams *s, Slice *slice)
{
    Op *around = s->loop->region->parent;
    if (!around || around->kind != OP_FOR || tkc_op_int(around, ATTR_DOWN, 0) ||
        type_bits(op_arg(around, 0)->type) > 32 || !is_dealt(around) ||
        s->far.len || !comes_one_way(s) || !find_written(s, around))
        return NULL;
    for (int i = 0; i < s->all.len; i++)
        if (!stays_as_it_is(s, s->all.data[i].load)) return NULL;
    *slice = (Slice){.ops = bitset_make(s->scratch, (int)s->fn->nvalues)};
    return take_start(s, slice) ? around : NULL;
}
