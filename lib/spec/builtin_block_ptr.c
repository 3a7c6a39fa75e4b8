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
    return arg_fail(sp, c, 0, "a pointer");
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
    return spec_fail(sp, c->spans[i], "%s must hold each of 0 to %d once", arg_what(sp, c, i),
                     rank - 1);
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

static SpecValue descriptor_read(Spec *sp, OpKind kind, const SpecBlockPtr *p, const Shape *block,
                                 Value *const *indices)
{
    const Tile t = block_ptr_tile(p, block, indices);
    const char *padding = p->padding == PAD_NAN ? "nan" : NULL;
    return sv_value(op_result(build_desc(&sp->b, kind, &t, NULL, padding), 0));
}

/* rmw: of an atomic, else NULL. */
static bool descriptor_write(Spec *sp, OpKind kind, const Tile *t, SpecValue value, const char *rmw,
                             const char *what, Span at)
{
    const Type *pointers = type_block(sp->ir->types, t->base->type, t->rank, t->block, NULL);
    Value *v = memory_operand(sp, pointers, value, what, at);
    return v && build_desc(&sp->b, kind, t, v, rmw);
}

static SpecValue descriptor_load(Spec *sp, const SpecBlockPtr *p, SpecValue offsets, Span at)
{
    Value *indices[TKC_MAX_RANK];
    if (!block_ptr_indices(sp, offsets, p->block.rank, "the offsets", indices, at))
        return sv_error();
    return descriptor_read(sp, OP_DESC_LOAD, p, &p->block, indices);
}

SpecValue builtin_descriptor_load(Spec *sp, const BuiltinCall *c)
{
    const SpecBlockPtr *p = descriptor_arg(sp, c);
    return p ? descriptor_load(sp, p, c->args[1], c->spans[1]) : sv_error();
}

static SpecValue descriptor_store(Spec *sp, const SpecBlockPtr *p, SpecValue offsets,
                                  SpecValue value, Span at)
{
    Value *indices[TKC_MAX_RANK];
    if (!block_ptr_indices(sp, offsets, p->block.rank, "the offsets", indices, at))
        return sv_error();
    const Tile t = block_ptr_tile(p, &p->block, indices);
    return descriptor_write(sp, OP_DESC_STORE, &t, value, NULL, "the stored value", at)
               ? sv_none()
               : sv_error();
}

SpecValue builtin_descriptor_store(Spec *sp, const BuiltinCall *c)
{
    const SpecBlockPtr *p = descriptor_arg(sp, c);
    return p ? descriptor_store(sp, p, c->args[1], c->args[2], c->at) : sv_error();
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
    SpecValue r = descriptor_load(sp, p, c->args[1], c->spans[1]);
    if (sv_is_error(r) || !arg_is_given(c, 3)) return r;
    const Type *t = arg_dtype(sp, c, 3);
    Value *v = t ? op_cast(sp, r.v, t, false, NULL, c->at) : NULL;
    return v ? sv_value(v) : sv_error();
}

SpecValue builtin_experimental_store(Spec *sp, const BuiltinCall *c)
{
    const SpecBlockPtr *p = descriptor_arg(sp, c);
    return p ? descriptor_store(sp, p, c->args[2], c->args[1], c->at) : sv_error();
}

/* Rows x_offsets[i] of a 2-D descriptor whose block is one row: their block, which rows and from
   which column on. */
static bool row_arguments(Spec *sp, const BuiltinCall *c, int rows, int column, Shape *block,
                          Value *indices[2])
{
    const SpecBlockPtr *p = descriptor_arg(sp, c);
    if (!p) return false;
    if (p->block.rank != 2 || p->block.dims[0] != 1)
        return spec_fail(sp, c->at, "%s needs a descriptor with a block of one row, found %s",
                         arg_operation(sp, c), shape_text(sp, &p->block));
    Value *x = arg_block(sp, c, rows),
          *y = block_ptr_index(sp, c->args[column], arg_what(sp, c, column), c->spans[column]);
    if (!x || !y) return false;
    if (x->type->rank != 1 || !type_is_int(x->type))
        return arg_fail(sp, c, rows, "a 1-D block of integers");
    *block = (Shape){.rank = 2, .dims = {x->type->shape[0], p->block.dims[1]}};
    indices[0] = x, indices[1] = y;
    return shape_check(sp, block, c->at);
}

SpecValue builtin_descriptor_gather(Spec *sp, const BuiltinCall *c)
{
    Shape block;
    Value *indices[2];
    if (!row_arguments(sp, c, 1, 2, &block, indices)) return sv_error();
    return descriptor_read(sp, OP_DESC_GATHER, c->args[0].block_ptr, &block, indices);
}

SpecValue builtin_descriptor_scatter(Spec *sp, const BuiltinCall *c)
{
    Shape block;
    Value *indices[2];
    if (!row_arguments(sp, c, 2, 3, &block, indices)) return sv_error();
    const SpecBlockPtr *p = c->args[0].block_ptr;
    const Tile t = block_ptr_tile(p, &block, indices);
    if (!block_ptr_takes(sp, p, c->args[1], arg_operation(sp, c), c->spans[1]) ||
        !descriptor_write(sp, OP_DESC_SCATTER, &t, c->args[1], NULL, "the stored value",
                          c->spans[1]))
        return sv_error();
    return sv_none();
}

/* The same as the operation on pointers, on the descriptor's elements; no result. */
SpecValue builtin_descriptor_atomic(Spec *sp, const BuiltinCall *c)
{
    const SpecBlockPtr *p = descriptor_arg(sp, c);
    Value *indices[TKC_MAX_RANK];
    if (!p ||
        !block_ptr_indices(sp, c->args[1], p->block.rank, "the offsets", indices, c->spans[1]) ||
        !atomic_takes(sp, c, p->base->type->elem))
        return sv_error();
    const Tile t = block_ptr_tile(p, &p->block, indices);
    const char *rmw = c->builtin->name + strlen("atomic_");
    return descriptor_write(sp, OP_DESC_ATOMIC, &t, c->args[2], rmw, arg_what(sp, c, 2),
                            c->spans[2])
               ? sv_none()
               : sv_error();
}
