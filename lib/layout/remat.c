/* A value is wanted in a layout it does not have. Either a convert op moves it, or the op that
   makes it is cloned with the wanted result layout; then its operands are wanted in the layouts
   that follow, and the same question is asked for each. What arange, splat, compare and integer
   arithmetic make costs nothing or little to make again; a load is never repeated, so a chain
   that starts at a load is converted, where on the chain it is cheapest: before the cast that
   widens it, before the broadcast that repeats it.

   Costs are issue slots of a warp: registers of the result times a weight per op, against the
   plan of the conversion; in a loop, of some turns of it, so that what it is made of is rather moved
   before (the pixels of a convolution, from which each tap is a step: 1.6 times as fast, H200). A
   value with this one use is not computed twice but elsewhere, so its clone costs what its operands
   do, and what threads have more of it there. What a loop may have from shared memory moves for what
   it costs more to be read so. What is converted already is asked for where it comes from, and where
   either would do, a cast that narrows comes before the conversion, but not what was loaded so: a
   loop may have it from shared memory as it is (memory/pipeline.c).

   Warps that would meet for an index of a product's factor in a loop, or for a line that masks it,
   have all of it instead, if lanes that ask each other cost less (pages of keys and values). Of what
   is computed to be one (scales by groups) that is none: copied element by element, products of int4
   took 392 us, 115 so (H200).

   Made values are placed right behind the original, hence outside the loops it is outside of,
   and they are kept, so that a second use finds them: to it they cost nothing. */
#include "layout/remat.h"

#include "base/bitset.h"
#include "base/unwind.h"
#include "ir/build.h"
#include "ir/dot_unit.h"
#include "ir/machine.h"
#include "layout/convert.h"
#include "layout/propagate.h"
#include "layout/weight.h"

enum { MAX_DEPTH = 24, FEW = 32, CANNOT = WEIGHT_NEVER };

typedef struct Way {
    int cost;
    bool clones; /* else converts */
    const Layout *by; /* from what it is in this one; NULL: as it is */
    Value *made; /* once it was needed */
} Way;

Remat remat_make(Func *fn, Arena *scratch, const Accesses *accesses)
{
    Remat r = {.fn = fn, .scratch = scratch, .accesses = accesses};
    map_init(&r.ways, scratch);
    return r;
}

static LayoutTable *layouts_of(const Remat *r)
{
    return ir_of(r->fn)->layouts;
}

/* ---- costs ---- */

bool remat_narrows(const Op *op)
{
    if (!op || op->kind != OP_CAST) return false;
    const Value *wide = op_arg(op, 0);
    return type_bits(op_result(op, 0)->type) < type_bits(wide->type) &&
           !(wide->def && wide->def->kind == OP_LOAD);
}

/* How often what stands beside v runs, as far as loops tell. */
static int times_of(const Value *v)
{
    enum { MOST = WEIGHT_TURNS * WEIGHT_TURNS };
    int times = 1;
    const Region *r = v->def ? v->def->region : v->region;
    for (const Op *op = r->parent; op && times < MOST; op = op->region->parent)
        if (ir_is_loop(op)) times *= WEIGHT_TURNS;
    return times;
}

static Way *way_of(Remat *r, Value *v, const Layout *want, int depth);

/* In a loop of products. */
static bool is_for_products(const Value *v)
{
    const Region *body = v->def ? v->def->region : v->region;
    return body->parent && ir_is_loop(body->parent) && ir_contains(body, OP_DOT, false);
}

/* A product has it as it is, but for its type. */
static bool is_factor(const Value *v)
{
    bool is = false;
    for (const Use *u = v->uses; u && !is; u = u->next) {
        const bool moves = u->user->kind == OP_TRANS || u->user->kind == OP_CONVERT ||
                           u->user->kind == OP_CAST;
        is = u->user->kind == OP_DOT ? u != &u->user->args[2]
                                     : moves && is_factor(op_result(u->user, 0));
    }
    return is;
}

/* Addresses of a factor are made of it, or its mask. */
static bool leads_to_factor(Bitset *seen, const Value *v)
{
    bool leads = false;
    if (bitset_has(seen, (int)v->id)) return false;
    bitset_add(seen, (int)v->id);
    for (const Use *u = v->uses; u && !leads; u = u->next) {
        const Op *op = u->user;
        const bool goes_on = op->nresults == 1 && (ir_has(op, OT_EW) || ir_has(op, OT_SHAPE));
        if (op->kind == OP_LOAD) leads = is_factor(op_result(op, 0));
        else if (goes_on) leads = leads_to_factor(seen, op_result(op, 0));
    }
    return leads;
}

/* A line of numbers that says where a loop's factors are, or of what says which of them there are. */
static bool is_index(const Remat *r, const Value *v)
{
    if (!type_is_line(v->type) || !type_is_int(v->type) || !is_for_products(v)) return false;
    Bitset seen = bitset_make(r->scratch, (int)r->fn->nvalues);
    return leads_to_factor(&seen, v);
}

/* Turns of the loop around begin before those ahead of them have ended (memory/pipeline.c). */
static bool comes_ahead(const Remat *r, const Value *v)
{
    const Op *loop = v->def ? v->def->region->parent : v->region->parent;
    return r->fn->machine && r->fn->machine->cp_async && loop && loop->kind == OP_FOR &&
           dot_stages(loop) > 1;
}

bool remat_is_wide_index(const Remat *r, const Value *v, const Layout *l)
{
    return ir_def(v, OP_LOAD) && comes_ahead(r, v) && is_index(r, v) &&
           type_words(type_with_layout(ir_of(r->fn)->types, v->type, l)) > REMAT_INDEX_WORDS;
}

/* Made of ranges and constants alone, by few ops: integers, of which LLVM makes numbers. */
static bool is_numbers(const Value *v, int *few)
{
    const Op *op = v->def;
    const int most = type_is_float(v->type) ? 1 : CANNOT - 1;
    if (!op || --*few < 0 || weight_of(op) > most || op->nresults != 1) return false;
    for (int i = 0; i < op->nargs; i++)
        if (!is_numbers(op_arg(op, i), few)) return false;
    return true;
}

static bool is_loaded_in_loop(const Value *v)
{
    const Op *loop = v->def && v->def->kind == OP_LOAD ? v->def->region->parent : NULL;
    return loop && ir_is_loop(loop);
}

/* What a loop loads may come ahead, by way of shared memory (memory/pipeline.c). If warps meet for an
   index, what it leads to does not. Of masks that are made of ranges alone something may be known,
   which bytes that are taken apart one by one have lost (windows of 144 padded to 256: 296 us, 125 so;
   of masks of any kind as many calls lost by it as gained, H200). */
static int convert_cost(const Remat *r, const Value *v, const Layout *want)
{
    enum { WAITS = 2 };
    const bool ahead = comes_ahead(r, v);
    ConvertPlan plan;
    convert_plan(&plan, v->type->layout, want, type_bytes(v->type), 0);
    int cost = plan.cost;
    if (type_is_bool(v->type) && is_numbers(v, &(int){FEW}))
        cost += layout_registers(want) * COST_ISSUE;
    if (ahead && is_index(r, v)) cost *= plan.kind == CONVERT_SHARED ? WAITS : 1;
    else if (ahead && is_loaded_in_loop(v)) cost = plan.cost_ready;
    return times_of(v) * (1 + cost);
}

/* Nothing is left to need v where the one use that it leads to is had in another layout. */
static bool goes_away(const Value *v)
{
    while (v->uses && !v->uses->next) {
        const Op *user = v->uses->user;
        if (!ir_has(user, OT_EW) || user->nresults != 1) return true;
        v = op_result(user, 0);
    }
    return false;
}

/* Of v alone, without what it is made of. A load's is small where a line or a short vector of each
   thread comes from the cache; moving it takes a barrier at least. */
static int own_cost(const Remat *r, const Value *v, const Layout *want)
{
    const Op *op = v->def;
    const int times = times_of(v);
    if (op->kind == OP_LOAD) {
        if (remat_is_wide_index(r, v, want)) return CANNOT;
        const int again = r->accesses ? access_again(r->accesses, op, want) : CANNOT;
        return again < CANNOT / times ? times * again : CANNOT;
    }
    const int weight = weight_of(op), words = type_bits(v->type) > 32 ? 2 : 1;
    if (weight >= CANNOT) return CANNOT;
    const bool only_use = v->uses && !v->uses->next;
    const int here = only_use ? layout_registers(v->type->layout) : 0,
              there = layout_registers(want);
    return there > here ? times * weight * words * (there - here) : 0;
}

static const Layout *operand_layout(const Remat *r, const Op *op, int i, const Layout *want)
{
    return op->kind == OP_LOAD ? want : propagate_operand(layouts_of(r), op, i, want);
}

/* Every thread has all of the block, so that a register's place in it is a number. */
static bool is_in_each_thread(const Layout *l)
{
    for (int d = DIM_LANE; d <= DIM_WARP; d++)
        for (int i = 0; i < l->nbits[d]; i++)
            if (l->basis[d][i]) return false;
    return true;
}

static int clone_cost(Remat *r, const Value *v, const Layout *want, int depth)
{
    const Op *op = v->def;
    if (!op || op->nresults != 1 || op->nregions || depth > MAX_DEPTH) return CANNOT;
    if (is_in_each_thread(want) && is_numbers(v, &(int){FEW})) return 0;
    if (op->kind == OP_CONVERT) {
        const int spared = goes_away(v) ? convert_cost(r, op_arg(op, 0), v->type->layout) : 0;
        return way_of(r, op_arg(op, 0), want, depth + 1)->cost - spared;
    }
    int cost = own_cost(r, v, want);
    for (int i = 0; i < op->nargs && cost < CANNOT; i++) {
        Value *arg = op_arg(op, i);
        if (!type_is_block(arg->type)) continue;
        const Layout *needs = operand_layout(r, op, i, want);
        cost += needs ? way_of(r, arg, needs, depth + 1)->cost : CANNOT;
    }
    return cost < CANNOT ? cost : CANNOT;
}

/* An index for which warps would meet. Addresses come ahead at least cost, and of small copies at all,
   if they need nothing of other warps: each has all of the line, if that is no dearer, and its lanes
   ask each other. NULL: it is none. */
static const Layout *for_each_warp(const Remat *r, const Value *v, const Layout *want)
{
    ConvertPlan plan;
    if (!is_index(r, v)) return NULL;
    const Layout *all = propagate_to_each_warp(layouts_of(r), want);
    convert_plan(&plan, v->type->layout, want, type_bytes(v->type), 0);
    return plan.kind == CONVERT_SHARED && all != want ? all : NULL;
}

static int cost_by(Remat *r, Value *v, const Layout *by, const Layout *want, int depth)
{
    ConvertPlan plan;
    const int all = way_of(r, v, by, depth + 1)->cost;
    convert_plan(&plan, by, want, type_bytes(v->type), 0);
    return all + times_of(v) * (1 + plan.cost);
}

static Way *way_of(Remat *r, Value *v, const Layout *want, int depth)
{
    uint64_t key = (uint64_t)v->id << 32 | want->id;
    Way *way = map_get(&r->ways, key);
    if (way) return way;
    way = arena_new(r->scratch, Way);
    map_set(&r->ways, key, way);
    if (v->type->layout == want) {
        way->made = v;
        return way;
    }
    int again = clone_cost(r, v, want, depth), moved = convert_cost(r, v, want);
    way->clones = again < moved || (again == moved && !remat_narrows(v->def));
    way->cost = way->clones ? again : moved;
    const Layout *all = for_each_warp(r, v, want);
    const int by_all = all ? cost_by(r, v, all, want, depth) : CANNOT;
    if (by_all < way->cost) *way = (Way){.cost = by_all, .by = all};
    return way;
}

/* ---- making ---- */

/* Where what is made from v goes: behind the op that defines it, or at the start of its region, which
   may be one that is being built. */
static Builder builder_behind(const Remat *r, const Value *v)
{
    Op *next = v->def ? v->def->next : v->region->first;
    Builder b = next ? build_before(next) : build_at_end(r->fn, v->def ? v->def->region : v->region);
    b.loc = v->def ? v->def->loc : r->fn->loc;
    return b;
}

static Value *clone(Remat *r, Value *v, const Layout *want)
{
    const Op *op = v->def;
    if (op->kind == OP_CONVERT) return remat_value(r, op_arg(op, 0), want);
    Value **args = arena_array(r->scratch, Value *, op->nargs);
    for (int i = 0; i < op->nargs; i++) {
        args[i] = op_arg(op, i);
        if (type_is_block(args[i]->type))
            args[i] = remat_value(r, args[i], operand_layout(r, op, i, want));
    }
    Builder b = builder_behind(r, v);
    const Type *type = type_with_layout(ir_of(r->fn)->types, v->type, want);
    Op *copy = build_op(&b, op->kind, op->nargs, args, 1, &type);
    ir_copy_attrs(r->fn, copy, op);
    op_result(copy, 0)->name = v->name;
    return op_result(copy, 0);
}

Value *remat_convert(Remat *r, Value *v, const Layout *want)
{
    Builder b = builder_behind(r, v);
    return build_convert(&b, v, want);
}

bool remat_moves(Remat *r, Value *v, const Layout *want)
{
    return v->type->layout != want && !way_of(r, v, want, 0)->clones;
}

bool remat_again(Remat *r, Value *v, const Layout *want)
{
    if (v->type->layout == want) return true;
    if (remat_moves(r, v, want)) return false;
    const Op *op = v->def;
    if (op->kind == OP_CONVERT) return remat_again(r, op_arg(op, 0), want);
    for (int i = 0; i < op->nargs; i++) {
        Value *arg = op_arg(op, i);
        if (type_is_block(arg->type) &&
            !remat_again(r, arg, propagate_operand(layouts_of(r), op, i, want)))
            return false;
    }
    return true;
}

Value *remat_value(Remat *r, Value *v, const Layout *want)
{
    check(v->type->layout, "a block without a layout is to be converted");
    Way *way = way_of(r, v, want, 0);
    if (way->made) return way->made;
    if (way->by) v = remat_value(r, v, way->by);
    way->made = way->clones ? clone(r, v, want) : remat_convert(r, v, want);
    way->cost = 0;
    return way->made;
}
