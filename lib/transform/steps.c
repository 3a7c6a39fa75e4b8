/* Numbers of a block that a loop moves all alike are told from how far they have moved:

     for …: k = k + splat(n)   becomes   for …: s = s + n;   and k is k0 + splat(s)

   where k0 is made of ranges and scalars. Such numbers are made again wherever and in whatever layout
   they are asked for; carried they have one layout, and the offsets of a second load in that loop would
   be moved in every turn, which keeps it from being asked for ahead. */
#include "ir/build.h"
#include "tkc/carry.h"
#include "transform/passes.h"

/* Made of ranges, constants and scalars, by few ops. */
static bool is_cheap(const Value *v, int *few)
{
    const Op *op = v->def;
    if (!type_is_block(v->type)) return true;
    if (!op || --*few < 0 || op->nresults != 1) return false;
    const bool is_little = ir_has(op, OT_EW) && ir_has(op, OT_PURE) && !ir_has(op, OT_LONG);
    if (!is_little && !ir_has(op, OT_CONST) && !ir_has(op, OT_SHAPE)) return false;
    for (int i = 0; i < op->nargs; i++)
        if (!is_cheap(op_arg(op, i), few)) return false;
    return true;
}

/* What a turn moves all elements by, as a scalar; NULL: it is another for each, or no sum. */
static Value *step_of(Op *loop, int slot)
{
    const Region *body = loop->regions[0];
    const Value *param = carry_param(body, slot), *next = carry_passed(body, slot);
    const Op *add = ir_def(next, OP_ADD);
    if (!add || add->region != body) return NULL;
    const int i = op_arg(add, 0) == param;
    Value *by = op_arg(add, i);
    if (op_arg(add, !i) != param || !by->def) return NULL;
    if (by->def->kind == OP_SPLAT) return op_arg(by->def, 0);
    int64_t n;
    if (!ir_const_int(by, &n)) return NULL;
    Builder b = build_before(loop);
    return build_int(&b, type_dtype(by->type), n);
}

/* v, a slot of what begins with `start`, is how far it has moved: who asks for it asks for both. */
static void tell_moved(Op *before, Value *v, Value *start, const Type *scalar)
{
    Builder b = build_before(before);
    const Type *block = start->type;
    ir_set_type(v, scalar);
    Value *far = build_splat(&b, v, block->rank, block->shape),
          *now = build_binary(&b, OP_ADD, start, far);
    ir_replace_uses(v, now);
    ir_set_arg(far->def, 0, v);
}

static void count_slot(Op *loop, int slot, Value *step)
{
    Region *body = loop->regions[0];
    Value *start = carry_init(loop, slot), *param = carry_param(body, slot);
    Builder before = build_before(loop), last = build_before(body->last);
    tell_moved(body->first, param, start, step->type);
    tell_moved(loop->next, op_result(loop, slot), start, step->type);
    ir_set_arg(loop, carry_own_args(loop) + slot, build_const(&before, step->type, 0));
    ir_set_arg(body->last, carry_own_ends(body->last) + slot,
               build_binary(&last, OP_ADD, param, step));
}

static void count_loop(Op *loop, void *user)
{
    enum { FEW = 24 };
    (void)user;
    if (loop->kind != OP_FOR) return;
    for (int i = 0; i < carry_count(loop); i++) {
        const Value *start = carry_init(loop, i);
        if (!type_is_block(start->type) || !type_is_int(start->type)) continue;
        Value *step = is_cheap(start, &(int){FEW}) ? step_of(loop, i) : NULL;
        if (step) count_slot(loop, i, step);
    }
}

/* needs: nothing.  keeps: what every op computes.  changes: slots of for loops that hold numbers. */
void steps_run(Pass *p, Func *fn)
{
    (void)p;
    ir_walk(fn->body, count_loop, NULL);
}
