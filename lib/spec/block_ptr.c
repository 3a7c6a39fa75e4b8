/* Addresses and boundary masks of block pointers and descriptors.

   The scalar part, base + Σ offset_d * stride_d, is one pointer; the block part adds arange_d *
   stride_d along each dim. Inside means 0 <= offset_d + i < shape_d, written -offset_d <= i <
   shape_d - offset_d so that the per-element work is a comparison with a scalar. All of it in 64
   bits. */
#include "spec/block_ptr.h"

#include "ir/type.h"
#include "spec/argument.h"
#include "spec/memory.h"
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
    if (n != rank) {
        spec_error(sp, at, "%s has %d item%s, but the block has %d dimension%s", what, n,
                   n == 1 ? "" : "s", rank, rank == 1 ? "" : "s");
        return false;
    }
    for (int i = 0; i < n; i++) {
        out[i] = block_ptr_index(sp, items[i], what, at);
        if (!out[i]) return false;
    }
    return true;
}

static bool is_one(const Value *v)
{
    int64_t n;
    return ir_const_int(v, &n) && n == 1;
}

static Value *scaled(Spec *sp, Value *x, Value *stride)
{
    if (is_one(stride)) return x;
    if (type_is_block(x->type)) stride = build_splat(&sp->b, stride, x->type->rank, x->type->shape);
    return build_binary(&sp->b, OP_MUL, x, stride);
}

/* 0, 1, … along dim d of the block, 1 elsewhere: int64. */
static Value *steps_along(Spec *sp, const Shape *block, int d)
{
    Value *v = build_cast(&sp->b, build_arange(&sp->b, 0, block->dims[d]), DT_I64, NULL);
    for (int i = 0; i < block->rank; i++) {
        if (i != d) v = build_expand_dims(&sp->b, v, i);
    }
    return v;
}

static Value *compare_scalar(Spec *sp, OpKind op, Value *steps, Value *bound)
{
    return build_binary(&sp->b, op, steps,
                        build_splat(&sp->b, bound, steps->type->rank, steps->type->shape));
}

static Value *inside(Spec *sp, Value *steps, Value *offset, Value *extent)
{
    Value *low = compare_scalar(sp, OP_GE, steps, build_unary(&sp->b, OP_NEG, offset));
    Value *high = compare_scalar(sp, OP_LT, steps, build_binary(&sp->b, OP_SUB, extent, offset));
    return memory_and(sp, low, high);
}

Value *block_ptr_address(Spec *sp, const SpecBlockPtr *p, Value *const *offsets, unsigned bounded,
                         Value **mask)
{
    const Shape *block = &p->block;
    Value *start = p->base, *steps = NULL;
    *mask = NULL;
    if (!offsets) offsets = p->offsets;
    for (int d = 0; d < block->rank; d++) {
        start = build_addptr(&sp->b, start, scaled(sp, offsets[d], p->strides[d]));
        Value *along = steps_along(sp, block, d);
        if (bounded >> d & 1) {
            Value *in = inside(sp, along, offsets[d], p->shape[d]);
            *mask = memory_and(sp, *mask, build_broadcast(&sp->b, in, block->rank, block->dims));
        }
        along = build_broadcast(&sp->b, scaled(sp, along, p->strides[d]), block->rank, block->dims);
        steps = steps ? build_binary(&sp->b, OP_ADD, steps, along) : along;
    }
    if (!steps) return start;
    return build_addptr(&sp->b, build_splat(&sp->b, start, block->rank, block->dims), steps);
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
