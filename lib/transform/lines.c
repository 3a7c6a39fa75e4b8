/* Numbers of a block that are sums of numbers along each dim are summed along each dim first:

     ((n[:, None] * C + c[None, :]) * H + h[:, None]) * W + w[:, None]

   becomes ((n * C * H + h) * W + w)[:, None] + (c * H * W)[None, :]. A thread adds once for each
   element then, what a loop does not change of it goes before that, and one line is moved to where
   it is asked for in place of one for each term. Factors may wrap where sums of them did not; the
   same bits come of it, but `cpu` tells of that and does without. */
#include "ir/build.h"
#include "ir/machine.h"
#include "transform/passes.h"

enum { MIXED = -1, MOST_ARGS = 3 };

typedef struct Sum {
    const Op *root;
    int few;  /* values that may still be looked at */
    int gone; /* ops of blocks, with the root, that nobody else asks for */
} Sum;

/* Hints speak of dims. */
static bool is_elementwise(const Op *op)
{
    return ir_has(op, OT_EW) && ir_has(op, OT_PURE) && op->nargs <= MOST_ARGS &&
           op->kind != OP_HINT;
}

/* A bit for each dim of more than one element. */
static int own_dims(const Type *ty)
{
    int dims = 0;
    for (int d = 0; d < ty->rank; d++) dims |= (ty->shape[d] > 1) << d;
    return dims;
}

static bool are_several(int dims)
{
    return dims & (dims - 1);
}

/* Made of blocks of one dim by ops that can do without the others. */
static bool is_line(Sum *s, const Value *v)
{
    const Op *op = v->def;
    if (--s->few < 0) return false;
    if (v->type->rank == 1 || ir_is_uniform(v)) return true;
    if (!op || !own_dims(v->type) || !(op->kind == OP_EXPAND_DIMS || is_elementwise(op)))
        return false;
    for (int i = 0; i < op->nargs; i++)
        if (!is_line(s, op_arg(op, i))) return false;
    return true;
}

static int joined(const Op *op, int x, int y)
{
    if (x == MIXED || y == MIXED) return MIXED;
    if (op->kind == OP_ADD || op->kind == OP_SUB || !y) return x | y;
    return op->kind == OP_MUL && !x ? y : MIXED;
}

/* The dims along which v has different numbers, where it is a sum of lines; else MIXED. */
static int dims_of(Sum *s, const Value *v, bool is_only)
{
    const Op *op = v->def;
    const int own = own_dims(v->type);
    if (ir_is_uniform(v)) return 0;
    if (!are_several(own)) return is_line(s, v) ? own : MIXED;
    if (!op || --s->few < 0) return MIXED;
    if (op->kind == OP_BROADCAST) return dims_of(s, op_arg(op, 0), false);
    if (op->kind != OP_ADD && op->kind != OP_SUB && op->kind != OP_MUL && op->kind != OP_SHL)
        return MIXED;
    is_only = op == s->root || (is_only && !v->uses->next && op->region == s->root->region);
    s->gone += is_only;
    const int x = dims_of(s, op_arg(op, 0), is_only);
    return joined(op, x, x == MIXED ? MIXED : dims_of(s, op_arg(op, 1), is_only));
}

static int dims(const Value *v)
{
    return dims_of(&(Sum){.root = v->def, .few = INT32_MAX}, v, false);
}

/* ---- lines ---- */

typedef struct Line {
    Builder *b;
    int dim;
    int32_t extent;
    bool has_rest; /* what is one number for all goes to this one */
} Line;

/* v, which is the same along all other dims. */
static Value *as_line(const Line *l, Value *v)
{
    const Op *op = v->def;
    Value *args[MOST_ARGS];
    uint64_t bits;
    if (v->type->rank == 1) return v;
    TypeTable *types = ir_of(l->b->fn)->types;
    const Type *ty = type_block(types, tkc_type_element(v->type), 1, &l->extent, NULL);
    if (ir_const_bits(v, &bits)) return build_const(l->b, ty, bits);
    if (op->kind == OP_SPLAT) return build_splat(l->b, op_arg(op, 0), 1, &l->extent);
    if (!is_elementwise(op)) return as_line(l, op_arg(op, 0));
    for (int i = 0; i < op->nargs; i++) args[i] = as_line(l, op_arg(op, i));
    Op *again = build_op(l->b, op->kind, op->nargs, args, 1, &ty);
    ir_copy_attrs(l->b->fn, again, op);
    return op_result(again, 0);
}

/* What v adds to the line, NULL: nothing. */
static Value *part_of(const Line *l, Value *v)
{
    const Op *op = v->def;
    const int all = dims(v);
    if (!are_several(all))
        return all == 1 << l->dim || (!all && l->has_rest) ? as_line(l, v) : NULL;
    if (op->kind == OP_BROADCAST) return part_of(l, op_arg(op, 0));
    const bool is_sum = op->kind == OP_ADD || op->kind == OP_SUB;
    const int i = !is_sum && !dims(op_arg(op, 0)); /* which factor is not one number for all */
    Value *x = part_of(l, op_arg(op, i));
    if (!is_sum) return x ? build_binary(l->b, op->kind, x, as_line(l, op_arg(op, !i))) : NULL;
    Value *y = part_of(l, op_arg(op, 1));
    if (x && y) return build_binary(l->b, op->kind, x, y);
    return y && op->kind == OP_SUB ? build_unary(l->b, OP_NEG, y) : x ? x : y;
}

static Value *block_of_line(Builder *b, Value *v, int dim, bool has_rest)
{
    const Type *ty = v->type;
    const Line l = {.b = b, .dim = dim, .extent = ty->shape[dim], .has_rest = has_rest};
    Value *line = part_of(&l, v);
    for (int d = 0; d < ty->rank; d++)
        if (d != dim) line = build_expand_dims(b, line, d);
    return build_broadcast(b, line, ty->rank, ty->shape);
}

/* ---- blocks ---- */

/* Threads have several elements, and fewer ops to do for each. */
static bool is_sum_of_lines(const Func *fn, const Op *op, int *all)
{
    enum { FEW = 64 };
    const Type *ty = op->nresults == 1 ? op_result(op, 0)->type : NULL;
    if (!ty || !type_is_block(ty) || !type_is_int(ty) || ty->layout ||
        tkc_type_count(ty) <= (int64_t)fn->num_warps << MACHINE_LANE_BITS)
        return false;
    Sum s = {.root = op, .few = FEW};
    *all = dims_of(&s, op_result(op, 0), true);
    return *all > 0 && are_several(*all) && s.gone > __builtin_popcount((unsigned)*all);
}

static void add_lines(Op *op, int all)
{
    Builder b = build_before(op);
    Value *v = op_result(op, 0), *sum = NULL;
    for (int d = 0; d < v->type->rank; d++) {
        if (!(all >> d & 1)) continue;
        Value *line = block_of_line(&b, v, d, !sum);
        sum = sum ? build_binary(&b, OP_ADD, sum, line) : line;
    }
    ir_replace(op, &sum);
}

/* From the last on, so that what adds up to a sum is not looked at for itself. */
static void lines_region(const Func *fn, Region *r)
{
    for (Op *op = r->last, *before; op; op = before) {
        int all;
        before = op->prev;
        for (int i = 0; i < op->nregions; i++) lines_region(fn, op->regions[i]);
        if (op->nregions || !ir_has(op, OT_PURE)) continue;
        if (ir_is_unused(op)) ir_unlink(op);
        else if (is_sum_of_lines(fn, op, &all)) add_lines(op, all);
    }
}

/* needs: nothing.  keeps: layouts, what every op computes.  changes: sums of integers, what nobody
   uses. */
void lines_run(Pass *p, Func *fn)
{
    (void)p;
    lines_region(fn, fn->body);
}
