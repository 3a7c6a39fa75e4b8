/* A while loop that goes up by one to a bound it does not change is a for loop: what counts turns
   knows the next one's number, so that loads can be asked for ahead, and ptxas unrolls it.

     while i < end: …; i = i + 1   becomes   for i in range(i, end): …

   A step of more than one could pass the greatest integer and go on below zero, which a for loop
   does not; so such loops stay. */
#include "ir/build.h"
#include "tkc/carry.h"
#include "transform/passes.h"

/* The condition passes everything on as it came, and does nothing else. */
static bool only_asks(const Op *loop)
{
    const Region *r = loop->regions[0];
    for (const Op *op = r->first; op != r->last; op = op->next)
        if (!ir_can_erase(op)) return false;
    for (int i = 0; i < carry_count(loop); i++)
        if (carry_passed(r, i) != carry_param(r, i)) return false;
    return true;
}

/* The slot that the region has as v; -1: none. */
static int slot_of(const Op *loop, const Region *r, const Value *v)
{
    for (int i = 0; i < carry_count(loop); i++)
        if (carry_param(r, i) == v) return i;
    return -1;
}

static bool is_one(const Value *v)
{
    int64_t n;
    return ir_const_int(v, &n) && n == 1;
}

static bool goes_up_by_one(const Op *loop, int slot)
{
    const Region *body = loop->regions[1];
    const Op *add = ir_def(carry_passed(body, slot), OP_ADD);
    const Value *i = carry_param(body, slot);
    return add && ((op_arg(add, 0) == i && is_one(op_arg(add, 1))) ||
                   (op_arg(add, 1) == i && is_one(op_arg(add, 0))));
}

/* Sets the bound; -1: nothing is counted. */
static int counted_slot(const Op *loop, Value **end)
{
    const Value *asked = op_arg(loop->regions[0]->last, 0);
    const Op *less = ir_def(asked, OP_LT), *more = ir_def(asked, OP_GT), *op = less ? less : more;
    if (!op || op->region != loop->regions[0] || !only_asks(loop)) return -1;
    const Value *i = op_arg(op, less ? 0 : 1);
    *end = op_arg(op, less ? 1 : 0);
    const int slot = slot_of(loop, loop->regions[0], i);
    const bool is_number = !type_is_block(i->type) && type_is_int(i->type) &&
                           type_kind(i->type) == DK_INT;
    if (slot < 0 || !is_number || !goes_up_by_one(loop, slot)) return -1;
    return ir_def(*end, OP_CONST) || ir_is_defined_outside(*end, loop->regions[0]) ? slot : -1;
}

static void move_body(Region *from, Region *to, int slot)
{
    for (int i = 0; i < from->nargs; i++)
        ir_replace_uses(from->args[i], i == slot ? to->args[0] : to->args[1 + i]);
    while (from->first) {
        Op *op = from->first;
        ir_detach(op);
        ir_append(to, op);
    }
}

static void count(Arena *scratch, Op *loop, int slot, Value *end)
{
    Builder b = build_before(loop);
    Value **inits = arena_array(scratch, Value *, loop->nargs);
    int64_t number;
    for (int i = 0; i < loop->nargs; i++) inits[i] = op_arg(loop, i);
    if (ir_const_int(end, &number)) end = build_const(&b, end->type, (uint64_t)number);
    Op *counted = build_for(&b, carry_init(loop, slot), end, build_const(&b, end->type, 1),
                            loop->nargs, inits);
    move_body(loop->regions[1], counted->regions[0], slot);
    ir_replace(loop, counted->results);
}

/* Inner loops first. */
static void count_region(Arena *scratch, Region *r)
{
    for (Op *op = r->first, *next; op; op = next) {
        Value *end;
        next = op->next;
        for (int i = 0; i < op->nregions; i++) count_region(scratch, op->regions[i]);
        const int slot = op->kind == OP_WHILE ? counted_slot(op, &end) : -1;
        if (slot >= 0) count(scratch, op, slot, end);
    }
}

/* needs: nothing.  keeps: what every op computes.  changes: while loops become for loops. */
void count_run(Pass *p, Func *fn)
{
    count_region(p->scratch, fn->body);
}
