/* A load of which only the bits are taken, for numbers of another type, loads that type. Bytes that
   hold fp8, say: what a matrix product reads is then what memory has, and can come to shared memory
   by itself, ahead of its turn. */
#include "base/vec.h"
#include "ir/build.h"
#include "transform/passes.h"

typedef struct Bits {
    Arena *scratch;
    VEC(Op *) all;
} Bits;

/* NULL: other uses, or a type whose numbers do not lie as these do. */
static Op *taken(const Op *load)
{
    enum { BYTE = 8 };
    const Value *v = op_result(load, 0);
    Op *user = v->uses && !v->uses->next ? v->uses->user : NULL;
    if (!user || user->kind != OP_BITCAST || type_is_pointer(v->type)) return NULL;
    const Type *to = op_result(user, 0)->type;
    return !type_is_pointer(to) && type_bits(to) >= BYTE ? user : NULL;
}

/* What it gives points to what its operand points to, or elements from there. */
static bool only_moves(const Op *op)
{
    return op && (op->kind == OP_ADDPTR || op->kind == OP_HINT ||
                  (ir_has(op, OT_SHAPE) && op->nargs == 1 && op->nresults == 1));
}

/* Down to one base. What a loop carries stays. */
static bool has_base(const Value *p)
{
    while (only_moves(p->def)) p = op_arg(p->def, 0);
    return !type_is_block(p->type);
}

/* Where the base is, of which a loop's turns and what is around it have one. */
static Value *cast_base(Value *p, const Type *elem)
{
    Builder b = build_before(p->def ? p->def->next : p->region->first);
    return build_bitcast(&b, p, elem);
}

/* The same places, of elements of another type. */
static Value *point_to(Builder *b, Arena *scratch, Value *p, const Type *elem)
{
    if (!only_moves(p->def)) return cast_base(p, elem);
    ValueMap map = ir_value_map(scratch, b->fn);
    for (int i = 0; i < p->def->nargs; i++) {
        Value *from = op_arg(p->def, i);
        if (type_is_pointer(from->type)) ir_map(&map, from, point_to(b, scratch, from, elem));
    }
    Op *copy = ir_clone(b->fn, p->def, &map);
    ir_insert_before(b->before, copy);
    ir_set_type(op_result(copy, 0), type_with_elem(ir_of(b->fn)->types, p->type, elem));
    return op_result(copy, 0);
}

static void collect(Op *op, void *user)
{
    Bits *x = user;
    if (op->kind == OP_LOAD && taken(op) && has_base(op_arg(op, 0))) vec_push(x->scratch, &x->all, op);
}

static void load_taken(Arena *scratch, Op *load)
{
    enum { OTHER = 2 };
    Builder b = build_before(load);
    Op *cast = taken(load);
    const Type *number = tkc_type_element(op_result(cast, 0)->type);
    const Type *elem = type_pointer(ir_of(b.fn)->types, number);
    ir_set_arg(load, 0, point_to(&b, scratch, op_arg(load, 0), elem));
    if (load->nargs > OTHER) ir_set_arg(load, OTHER, build_bitcast(&b, op_arg(load, OTHER), number));
    ir_set_type(op_result(load, 0), op_result(cast, 0)->type);
    ir_replace(cast, load->results);
}

/* needs: nothing.  keeps: the order of effects.  changes: loads whose only use takes their bits. */
void bits_run(Pass *p, Func *fn)
{
    Bits x = {.scratch = p->scratch};
    ir_walk(fn->body, collect, &x);
    for (int i = 0; i < x.all.len; i++) load_taken(p->scratch, x.all.data[i]);
}
