/* Pointers that a loop does not change but moves by something it does are held ready for it, in 64
   bits for each register: x + row * width + i, of which the loop knows i, took 64 words a thread of
   a block of 64 by 64, and four such blocks all that a thread has. Where these are many, what
   changes moves the one pointer that they have in common, and each register is as far from there as
   its offset says, which is 32 bits wide: an addition that extends in place of one of 64 bits. A
   product, of rows and their width, is made in the loop, too: threads hold little of its factors.

   Not beside matrix products, whose copies follow pointers that are carried (pipeline). */
#include "ir/build.h"
#include "layout/passes.h"

typedef struct Offset {
    Func *fn;
    Map counted; /* pointers that a loop has ready */
    int words;   /* of these */
} Offset;

static const Value *below_broadcast(const Value *v)
{
    const Op *wide = ir_def(v, OP_BROADCAST);
    return wide ? op_arg(wide, 0) : v;
}

/* Registers of a thread that a broadcast does not repeat. */
static int distinct(const Value *v)
{
    const Layout *l = below_broadcast(v)->type->layout;
    return layout_registers(l) >> __builtin_popcount(layout_free_bits(l, DIM_REGISTER));
}

/* The op that made the pointers which `op` moves in the body of a loop: from one, by 32 bits. */
static const Op *ready_pointers(const Op *op, const Region *body)
{
    if (op->kind != OP_ADDPTR || !type_is_block(op_result(op, 0)->type)) return NULL;
    const Value *ready = op_arg(op, 0), *by = op_arg(op, 1);
    const Op *first = ir_def(below_broadcast(ready), OP_ADDPTR);
    if (!first || ir_op_of(first, body) || (by->def && !ir_op_of(by->def, body))) return NULL;
    if (!ir_def(op_arg(first, 0), OP_SPLAT) || type_bits(op_arg(first, 1)->type) > 32) return NULL;
    return distinct(by) < distinct(ready) ? first : NULL;
}

static void count(Offset *o, const Region *body)
{
    for (const Op *op = ir_contains(body, OP_DOT, false) ? NULL : body->first; op; op = op->next) {
        const Value *ready = ready_pointers(op, body) ? op_arg(op, 0) : NULL;
        if (!ready || map_get_ptr(&o->counted, ready)) continue;
        map_set_ptr(&o->counted, ready, (void *)ready);
        o->words += 2 * distinct(ready);
    }
}

static Value *laid_out(const Offset *o, Value *v, const Layout *l)
{
    if (v->type->layout != l) ir_set_type(v, type_with_layout(ir_of(o->fn)->types, v->type, l));
    return v;
}

static void move_first(Offset *o, Op *op, const Op *first)
{
    const Type *ty = op_result(op, 0)->type;
    Builder b = build_before(op);
    Value *offset = op_arg(first, 1), *scalar = op_arg(op_arg(first, 0)->def, 0);
    const Op *product = ir_def(offset, OP_MUL);
    if (product)
        offset = laid_out(o, build_binary(&b, OP_MUL, op_arg(product, 0), op_arg(product, 1)),
                          offset->type->layout);
    if (op_arg(op, 0) != op_result(first, 0))
        offset = laid_out(o, build_broadcast(&b, offset, ty->rank, ty->shape), ty->layout);
    Value *from = laid_out(o, build_splat(&b, scalar, ty->rank, ty->shape), ty->layout),
          *moved = laid_out(o, build_addptr(&b, from, op_arg(op, 1)), ty->layout);
    ir_replace_uses(op_result(op, 0), laid_out(o, build_addptr(&b, moved, offset), ty->layout));
    ir_unlink(op);
}

static Region *body_of(const Op *op)
{
    const bool loops = ir_is_loop(op);
    return loops ? op->regions[op->nregions - 1] : NULL;
}

static void move_in(Offset *o, const Op *loop)
{
    const Region *body = body_of(loop);
    const bool moves = body && !ir_contains(body, OP_DOT, false);
    for (Op *op = moves ? body->first : NULL, *next; op; op = next) {
        next = op->next;
        const Op *first = ready_pointers(op, body);
        if (first) move_first(o, op, first);
    }
}

/* needs: layouts.  keeps: what every op computes.  changes: in which order pointers move. */
void offset_run(Pass *p, Func *fn)
{
    enum { MANY = 160 }; /* words, most of what a thread has */
    Offset o = {.fn = fn};
    map_init(&o.counted, p->scratch);
    for (const Op *op = fn->body->first; op; op = ir_next(op, NULL))
        if (body_of(op)) count(&o, body_of(op));
    for (Op *op = o.words >= MANY ? fn->body->first : NULL; op; op = ir_next(op, NULL))
        move_in(&o, op);
}
