/* What block pointers and descriptors are made of, and where their blocks are. */
#include "spec/block_ptr.h"

#include "spec/argument.h"
#include "spec/memory.h"

static Value *index_of(Spec *sp, SpecValue v, const char *what, Span at)
{
    Value *x =
        v.kind == SV_VALUE || v.kind == SV_INT || v.kind == SV_BOOL ? op_to_value(sp, v, at) : NULL;
    if (x && type_is_scalar(x->type) && type_is_int(x->type))
        return build_cast(&sp->b, x, DT_I64, NULL);
    if (!sv_is_error(v))
        spec_error(sp, at, "%s must hold integers, found %s", what, spec_describe(sp, v));
    return NULL;
}

Value *block_ptr_index(Spec *sp, const BuiltinCall *c, int i)
{
    return index_of(sp, c->args[i], arg_what(sp, c, i), c->spans[i]);
}

bool block_ptr_indices(Spec *sp, const BuiltinCall *c, int i, int rank, const char *what, Value **out)
{
    SpecValue alone = c->args[i], *items = &alone; /* a value, as Triton takes it */
    int n = alone.kind == SV_VALUE ? 1 : op_items(sp, alone, &items, c->spans[i]);
    if (!what) what = arg_what(sp, c, i);
    if (n < 0) return false;
    if (n != rank)
        return spec_fail(sp, c->spans[i], "%s has %d item%s, but the block has %d dimension%s", what,
                         n, n == 1 ? "" : "s", rank, rank == 1 ? "" : "s");
    for (int k = 0; k < n; k++) {
        out[k] = index_of(sp, items[k], what, c->spans[i]);
        if (!out[k]) return false;
    }
    return true;
}

Tile block_ptr_tile(const SpecBlockPtr *p, const Shape *block, Value *const *indices)
{
    return (Tile){p->base, block->rank, 0, block->dims, p->shape, p->strides, indices};
}

SpecValue block_ptr_load(Spec *sp, OpKind kind, const Tile *t, bool nan)
{
    return sv_value(op_result(build_desc(&sp->b, kind, t, NULL, nan ? "nan" : NULL), 0));
}

SpecValue block_ptr_store(Spec *sp, const BuiltinCall *c, OpKind kind, const Tile *t, int i)
{
    if (!memory_takes_stores(sp, t->base, c->at)) return sv_error();
    const Type *pointers = type_block(sp->ir->types, t->base->type, t->rank, t->block, NULL);
    Value *v = memory_operand(sp, pointers, c->args[i], "the stored value", c->spans[i]);
    return v && build_desc(&sp->b, kind, t, v, NULL) ? sv_none() : sv_error();
}

bool block_ptr_takes_nan(Spec *sp, const Value *base, Span at)
{
    return type_is_float(base->type->elem) ||
           spec_fail(sp, at, "padding_option='nan' is for floats, found %s",
                     type_text(sp->arena, base->type->elem));
}

bool block_ptr_takes(Spec *sp, const BuiltinCall *c, int i)
{
    const Type *elem = c->args[0].block_ptr->base->type->elem;
    const Value *v = c->args[i].kind == SV_VALUE ? c->args[i].v : NULL;
    if (!v || tkc_type_element(v->type) == elem) return true;
    spec_error(sp, c->spans[i], "%s to a block of %s does not cast what it stores, found %s",
               arg_operation(sp, c), type_text(sp->arena, elem), type_text(sp->arena, v->type));
    spec_note(sp, c->spans[i], "cast it with .to(tl.%s)", dtype_info(type_dtype(elem))->name);
    return false;
}
