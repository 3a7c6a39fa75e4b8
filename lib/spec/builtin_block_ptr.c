/* Making, moving and using block pointers and tensor descriptors. A descriptor is bounded in every
   dim. */
#include <string.h>

#include "ir/type.h"
#include "spec/argument.h"
#include "spec/block_ptr.h"
#include "spec/builtin_fns.h"
#include "spec/memory.h"
#include "spec/operator.h"

static bool base_pointer(Spec *sp, const BuiltinCall *c, SpecBlockPtr *p)
{
    SpecValue v = c->args[0];
    if (v.kind == SV_VALUE && v.v->type->kind == TY_POINTER && v.v->type->elem->kind == TY_SCALAR) {
        p->base = v.v;
        return true;
    }
    arg_refuse(sp, c, 0, "a pointer");
    return false;
}

/* base, shape, strides, which both kinds begin with; block shape in parameter `block`. */
static SpecBlockPtr *make(Spec *sp, const BuiltinCall *c, int block)
{
    SpecBlockPtr *p = arena_new(sp->arena, SpecBlockPtr);
    if (!base_pointer(sp, c, p)) return NULL;
    if (!arg_shape(sp, c->args[block], arg_what(sp, c, block), &p->block, c->spans[block]))
        return NULL;
    if (p->block.rank == 0) {
        arg_refuse(sp, c, block, "at least one extent");
        return NULL;
    }
    int rank = p->block.rank;
    if (!block_ptr_indices(sp, c->args[1], rank, arg_what(sp, c, 1), p->shape, c->spans[1]))
        return NULL;
    if (!block_ptr_indices(sp, c->args[2], rank, arg_what(sp, c, 2), p->strides, c->spans[2]))
        return NULL;
    return p;
}

static bool check_order(Spec *sp, const BuiltinCall *c, int i, int rank)
{
    int64_t order[TKC_MAX_RANK];
    unsigned seen = 0;
    int n = arg_ints(sp, c->args[i], arg_what(sp, c, i), order, TKC_MAX_RANK, c->spans[i]);
    if (n < 0) return false;
    for (int k = 0; k < n; k++) seen |= order[k] >= 0 && order[k] < rank ? 1u << order[k] : 0;
    if (n == rank && seen == (1u << rank) - 1) return true;
    spec_error(sp, c->spans[i], "%s must hold each of 0 to %d once", arg_what(sp, c, i), rank - 1);
    return false;
}

SpecValue builtin_make_block_ptr(Spec *sp, const BuiltinCall *c)
{
    SpecBlockPtr *p = make(sp, c, 4);
    if (!p) return sv_error();
    if (!block_ptr_indices(sp, c->args[3], p->block.rank, arg_what(sp, c, 3), p->offsets,
                           c->spans[3]))
        return sv_error();
    if (!check_order(sp, c, 5, p->block.rank)) return sv_error();
    return (SpecValue){.kind = SV_BLOCK_PTR, .block_ptr = p};
}

SpecValue builtin_advance(Spec *sp, const BuiltinCall *c)
{
    if (c->args[0].kind != SV_BLOCK_PTR) return arg_refuse(sp, c, 0, "a block pointer");
    SpecBlockPtr *p = arena_copy(sp->arena, c->args[0].block_ptr, sizeof *p);
    Value *by[TKC_MAX_RANK];
    if (!block_ptr_indices(sp, c->args[1], p->block.rank, arg_what(sp, c, 1), by, c->spans[1]))
        return sv_error();
    for (int d = 0; d < p->block.rank; d++) {
        int64_t n;
        if (ir_const_int(by[d], &n) && n == 0) continue;
        p->offsets[d] = build_binary(&sp->b, OP_ADD, p->offsets[d], by[d]);
    }
    return (SpecValue){.kind = SV_BLOCK_PTR, .block_ptr = p};
}

/* ---- descriptors ---- */

static const char *const paddings[] = {"zero", "nan", NULL};

SpecValue builtin_make_descriptor(Spec *sp, const BuiltinCall *c)
{
    const char *padding;
    SpecBlockPtr *p = make(sp, c, 3);
    if (!p || !arg_choice(sp, c, 4, paddings, &padding)) return sv_error();
    int64_t last;
    if (ir_const_int(p->strides[p->block.rank - 1], &last) && last != 1) {
        return spec_error(sp, c->spans[2],
                          "the last stride of a tensor descriptor must be 1, found %lld",
                          (long long)last);
    }
    p->padding = padding && strcmp(padding, "nan") == 0 ? PAD_NAN : PAD_ZERO;
    if (p->padding == PAD_NAN && !type_is_float(p->base->type->elem)) {
        return spec_error(sp, c->spans[4], "padding_option='nan' is for floats, found %s",
                          type_text(sp->arena, p->base->type->elem));
    }
    return (SpecValue){.kind = SV_DESC, .block_ptr = p};
}

static const SpecBlockPtr *descriptor_arg(Spec *sp, const BuiltinCall *c)
{
    if (c->args[0].kind == SV_DESC) return c->args[0].block_ptr;
    arg_refuse(sp, c, 0, "a tensor descriptor");
    return NULL;
}

static bool descriptor_access(Spec *sp, const SpecBlockPtr *p, SpecValue offsets, Span at,
                              Access *a)
{
    Value *at_offsets[TKC_MAX_RANK];
    if (!block_ptr_indices(sp, offsets, p->block.rank, "the offsets", at_offsets, at)) return false;
    *a = (Access){0};
    a->pointer = block_ptr_address(sp, p, at_offsets, (1u << p->block.rank) - 1, &a->mask);
    return true;
}

static SpecValue descriptor_read(Spec *sp, const SpecBlockPtr *p, const Access *a, Span at)
{
    Value *other = NULL;
    if (p->padding == PAD_NAN && a->mask) {
        other = memory_operand(sp, a->pointer, sv_float(__builtin_nan("")), "the padding", at);
        if (!other) return sv_error();
    }
    return sv_value(memory_load(sp, a, other));
}

SpecValue builtin_descriptor_load(Spec *sp, const BuiltinCall *c)
{
    const SpecBlockPtr *p = descriptor_arg(sp, c);
    Access a;
    if (!p || !descriptor_access(sp, p, c->args[1], c->spans[1], &a)) return sv_error();
    return descriptor_read(sp, p, &a, c->at);
}

static SpecValue descriptor_write(Spec *sp, const SpecBlockPtr *p, SpecValue offsets,
                                  SpecValue value, Span at)
{
    Access a;
    if (!descriptor_access(sp, p, offsets, at, &a)) return sv_error();
    return memory_store(sp, &a, value, at) ? sv_none() : sv_error();
}

SpecValue builtin_descriptor_store(Spec *sp, const BuiltinCall *c)
{
    const SpecBlockPtr *p = descriptor_arg(sp, c);
    return p ? descriptor_write(sp, p, c->args[1], c->args[2], c->at) : sv_error();
}

/* The block's shape and type are the descriptor's own; what the call says must agree. */
SpecValue builtin_experimental_load(Spec *sp, const BuiltinCall *c)
{
    const SpecBlockPtr *p = descriptor_arg(sp, c);
    Shape shape;
    if (!p) return sv_error();
    if (arg_is_given(c, 2)) {
        if (!arg_shape(sp, c->args[2], arg_what(sp, c, 2), &shape, c->spans[2])) return sv_error();
        if (!shape_is_equal(&shape, &p->block)) {
            return spec_error(sp, c->spans[2], "the descriptor's block is %s, found %s",
                              shape_text(sp, &p->block), shape_text(sp, &shape));
        }
    }
    Access a;
    if (!descriptor_access(sp, p, c->args[1], c->spans[1], &a)) return sv_error();
    SpecValue r = descriptor_read(sp, p, &a, c->at);
    if (sv_is_error(r) || !arg_is_given(c, 3)) return r;
    const Type *t = arg_dtype(sp, c, 3);
    Value *v = t ? op_cast(sp, r.v, t, false, NULL, c->at) : NULL;
    return v ? sv_value(v) : sv_error();
}

SpecValue builtin_experimental_store(Spec *sp, const BuiltinCall *c)
{
    const SpecBlockPtr *p = descriptor_arg(sp, c);
    return p ? descriptor_write(sp, p, c->args[2], c->args[1], c->at) : sv_error();
}

/* Rows x_offsets[i] of a 2-D descriptor whose block is one row. */
static bool row_access(Spec *sp, const BuiltinCall *c, int rows, int column, Access *a)
{
    const SpecBlockPtr *p = descriptor_arg(sp, c);
    if (!p) return false;
    if (p->block.rank != 2 || p->block.dims[0] != 1) {
        spec_error(sp, c->at, "%s needs a descriptor with a block of one row, found %s",
                   arg_operation(sp, c), shape_text(sp, &p->block));
        return false;
    }
    Value *x = arg_block(sp, c, rows),
          *y = block_ptr_index(sp, c->args[column], arg_what(sp, c, column), c->spans[column]);
    if (!x || !y) return false;
    if (x->type->rank != 1 || !type_is_int(x->type)) {
        arg_refuse(sp, c, rows, "a 1-D block of integers");
        return false;
    }
    Shape block = {.rank = 2, .dims = {x->type->shape[0], p->block.dims[1]}};
    if (!shape_check(sp, &block, c->at)) return false;
    Value *i = build_cast(&sp->b, build_expand_dims(&sp->b, x, 1), DT_I64, NULL);
    Value *j = build_expand_dims(
        &sp->b, build_cast(&sp->b, build_arange(&sp->b, 0, block.dims[1]), DT_I64, NULL), 0);
    j = build_binary(&sp->b, OP_ADD, j, build_splat(&sp->b, y, 2, j->type->shape));
    Value *index[2] = {i, j}, *offset = NULL;
    *a = (Access){0};
    for (int d = 0; d < 2; d++) {
        int32_t *shape = (int32_t[]){index[d]->type->shape[0], index[d]->type->shape[1]};
        Value *low = build_binary(&sp->b, OP_GE, index[d], build_const(&sp->b, index[d]->type, 0));
        Value *high =
            build_binary(&sp->b, OP_LT, index[d], build_splat(&sp->b, p->shape[d], 2, shape));
        Value *in = build_broadcast(&sp->b, memory_and(sp, low, high), 2, block.dims);
        Value *step =
            build_binary(&sp->b, OP_MUL, index[d], build_splat(&sp->b, p->strides[d], 2, shape));
        step = build_broadcast(&sp->b, step, 2, block.dims);
        a->mask = memory_and(sp, a->mask, in);
        offset = offset ? build_binary(&sp->b, OP_ADD, offset, step) : step;
    }
    a->pointer = build_addptr(&sp->b, build_splat(&sp->b, p->base, 2, block.dims), offset);
    return true;
}

SpecValue builtin_descriptor_gather(Spec *sp, const BuiltinCall *c)
{
    Access a;
    if (!row_access(sp, c, 1, 2, &a)) return sv_error();
    return descriptor_read(sp, c->args[0].block_ptr, &a, c->at);
}

SpecValue builtin_descriptor_scatter(Spec *sp, const BuiltinCall *c)
{
    Access a;
    if (!row_access(sp, c, 2, 3, &a)) return sv_error();
    const SpecBlockPtr *p = c->args[0].block_ptr;
    if (!block_ptr_takes(sp, p, c->args[1], arg_operation(sp, c), c->spans[1])) return sv_error();
    return memory_store(sp, &a, c->args[1], c->spans[1]) ? sv_none() : sv_error();
}

/* The same as the operation on pointers, on the descriptor's elements; no result. */
SpecValue builtin_descriptor_atomic(Spec *sp, const BuiltinCall *c)
{
    const SpecBlockPtr *p = descriptor_arg(sp, c);
    Access a;
    if (!p || !descriptor_access(sp, p, c->args[1], c->spans[1], &a)) return sv_error();
    SpecValue args[5] = {sv_value(a.pointer), c->args[2], a.mask ? sv_value(a.mask) : sv_none(),
                         sv_str(intern_cstr(sp->names, "relaxed")), sv_none()};
    Span spans[5] = {c->spans[0], c->spans[2], c->at, c->at, c->at};
    BuiltinCall call = {.builtin = builtin_find(NS_TL, c->builtin->name),
                        .nargs = 5,
                        .args = args,
                        .spans = spans,
                        .at = c->at};
    return sv_is_error(builtin_atomic(sp, &call)) ? sv_error() : sv_none();
}
