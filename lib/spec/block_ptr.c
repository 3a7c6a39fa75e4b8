/* What block pointers and descriptors are made of, and where their blocks are. */
#include "spec/block_ptr.h"

#include "ir/type.h"
#include "spec/argument.h"
#include "spec/operator.h"

int block_ptr_parts(const SpecBlockPtr *p, Value **out)
{
    int n = 0;
    out[n++] = p->base;
    for (int d = 0; d < p->block.rank; d++) {
        out[n++] = p->shape[d];
        out[n++] = p->strides[d];
        if (p->offsets[d]) out[n++] = p->offsets[d];
    }
    return n;
}

SpecBlockPtr *block_ptr_with_parts(Spec *sp, const SpecBlockPtr *p, Value *const *parts)
{
    SpecBlockPtr *q = arena_copy(sp->arena, p, sizeof *p);
    int n = 0;
    q->base = parts[n++];
    for (int d = 0; d < p->block.rank; d++) {
        q->shape[d] = parts[n++];
        q->strides[d] = parts[n++];
        if (p->offsets[d]) q->offsets[d] = parts[n++];
    }
    return q;
}

bool block_ptr_is_alike(const SpecBlockPtr *a, const SpecBlockPtr *b)
{
    return a->base->type == b->base->type && shape_is_equal(&a->block, &b->block) &&
           a->padding == b->padding && !a->offsets[0] == !b->offsets[0];
}

Value *block_ptr_index(Spec *sp, SpecValue v, const char *what, Span at)
{
    Value *x =
        v.kind == SV_VALUE || v.kind == SV_INT || v.kind == SV_BOOL ? op_to_value(sp, v, at) : NULL;
    if (x && type_is_scalar(x->type) && type_is_int(x->type))
        return build_cast(&sp->b, x, DT_I64, NULL);
    if (!sv_is_error(v))
        spec_error(sp, at, "%s must hold integers, found %s", what, spec_describe(sp, v));
    return NULL;
}

bool block_ptr_indices(Spec *sp, SpecValue v, int rank, const char *what, Value **out, Span at)
{
    SpecValue *items;
    int n = op_items(sp, v, &items, at);
    if (n < 0) return false;
    if (n != rank)
        return spec_fail(sp, at, "%s has %d item%s, but the block has %d dimension%s", what, n,
                         n == 1 ? "" : "s", rank, rank == 1 ? "" : "s");
    for (int i = 0; i < n; i++) {
        out[i] = block_ptr_index(sp, items[i], what, at);
        if (!out[i]) return false;
    }
    return true;
}

Value *block_ptr_address(Spec *sp, const SpecBlockPtr *p, unsigned bounded, Value **mask)
{
    const Tile t = block_ptr_tile(p, &p->block, p->offsets);
    return tile_address(&sp->b, &t, bounded, mask);
}

Tile block_ptr_tile(const SpecBlockPtr *p, const Shape *block, Value *const *indices)
{
    return (Tile){p->base, block->rank, block->dims, p->shape, p->strides, indices};
}

bool block_ptr_takes(Spec *sp, const SpecBlockPtr *p, SpecValue v, const char *operation, Span at)
{
    const Type *elem = p->base->type->elem;
    if (v.kind != SV_VALUE || tkc_type_element(v.v->type) == elem) return true;
    spec_error(sp, at, "%s to a block of %s does not cast what it stores, found %s", operation,
               type_text(sp->arena, elem), type_text(sp->arena, v.v->type));
    spec_note(sp, at, "cast it with .to(tl.%s)", dtype_info(type_dtype(elem))->name);
    return false;
}
