/* Attributes of an op: a short array without an order. */
#include "base/unwind.h"
#include "ir/ir.h"

/* The place of a key, made when the op has none. */
static Attr *slot_of(Func *fn, Op *op, AttrKey key)
{
    Attr *known = (Attr *)tkc_op_attr(op, key);
    if (known) return known;
    op->attrs = ir_grown(ir_of(fn)->arena, op->attrs, op->nattrs, sizeof *op->attrs);
    return &op->attrs[op->nattrs++];
}

static void check_kind(AttrKey key, AttrKind kind)
{
    check(tkc_attr_kind(key) == kind, "the attribute '%s' holds another kind of value",
          tkc_attr_name(key));
}

void ir_set_int(Func *fn, Op *op, AttrKey key, int64_t value)
{
    check_kind(key, AK_INT);
    *slot_of(fn, op, key) = (Attr){.key = key, .i = value};
}

void ir_set_str(Func *fn, Op *op, AttrKey key, const char *text)
{
    check_kind(key, AK_STR);
    *slot_of(fn, op, key) = (Attr){.key = key, .s = intern_cstr(ir_of(fn)->names, text)};
}

void ir_set_ints(Func *fn, Op *op, AttrKey key, int n, const int64_t *values)
{
    check_kind(key, AK_INTS);
    const int64_t *copy = arena_copy(ir_of(fn)->arena, values, (size_t)n * sizeof *values);
    *slot_of(fn, op, key) = (Attr){.key = key, .count = n, .v = copy};
}

/* The others keep their order; a later ir_set may find less room than there is, which only costs a
   copy. */
void ir_remove_attr(Op *op, AttrKey key)
{
    int n = 0;
    for (int i = 0; i < op->nattrs; i++)
        if (op->attrs[i].key != key) op->attrs[n++] = op->attrs[i];
    op->nattrs = n;
}

void ir_copy_attrs(Func *fn, Op *to, const Op *from)
{
    for (int i = 0; i < from->nattrs; i++) *slot_of(fn, to, from->attrs[i].key) = from->attrs[i];
}
