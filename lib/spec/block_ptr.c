/* Making, moving and using block pointers and tensor descriptors. A descriptor is bounded in every
   dim. */
#include <string.h>

#include "ir/machine.h"
#include "spec/argument.h"
#include "spec/block_ptr.h"
#include "spec/memory.h"

/* ---- what they are made of, and where their blocks are ---- */

/* v as an int64 scalar; NULL after an error. */
static Value *index_of(Spec *sp, SpecValue v, const char *what, Span at)
{
    Value *x = op_to_index(sp, v, false, at);
    if (!x && !sv_is_error(v))
        spec_error(sp, at, "%s must hold integers, found %s", what, spec_describe(sp, v));
    return x;
}

/* Argument i as so many of them as the block has dims; what: how messages call them, or NULL. False
   after an error. */
static bool read_indices(Spec *sp, const Call *c, int i, int rank, const char *what, Value **out)
{
    SpecValue alone = c->args[i], *items = &alone; /* a number, as Triton takes it */
    int n = alone.kind == SV_VALUE || alone.kind == SV_INT ? 1 : op_items(sp, alone, &items, c->spans[i]);
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

SpecValue block_ptr_store(Spec *sp, const Call *c, OpKind kind, const Tile *t, int i)
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

bool block_ptr_takes(Spec *sp, const Call *c, int i)
{
    const Type *elem = c->args[0].block_ptr->base->type->elem;
    const Value *v = c->args[i].kind == SV_VALUE ? c->args[i].v : NULL;
    if (!v || tkc_type_element(v->type) == elem) return true;
    spec_error(sp, c->spans[i], "%s to a block of %s does not cast what it stores, found %s",
               arg_operation(sp, c), type_text(sp->arena, elem), type_text(sp->arena, v->type));
    spec_note(sp, c->spans[i], "cast it with .to(tl.%s)", dtype_info(type_dtype(elem))->name);
    return false;
}

/* ---- block pointers ---- */

/* base, shape, strides, which both kinds begin with; block shape in parameter `block`. */
static SpecBlockPtr *make(Spec *sp, const Call *c, int block)
{
    SpecBlockPtr *p = arena_new(sp->arena, SpecBlockPtr);
    const Type *t = c->args[0].kind == SV_VALUE ? c->args[0].v->type : NULL;
    bool ok = (t && t->kind == TY_POINTER && t->elem->kind == TY_SCALAR) ||
              arg_fail(sp, c, 0, "a pointer");
    ok = ok && arg_shape(sp, c, block, &p->block) &&
         (p->block.rank || arg_fail(sp, c, block, "at least one extent")) &&
         read_indices(sp, c, 1, p->block.rank, NULL, p->shape) &&
         read_indices(sp, c, 2, p->block.rank, NULL, p->strides);
    p->base = c->args[0].v;
    return ok ? p : NULL;
}

static bool check_order(Spec *sp, const Call *c, int i, int rank)
{
    int64_t order[TKC_MAX_RANK];
    unsigned seen = 0;
    int n = arg_ints(sp, c, i, order);
    if (n < 0) return false;
    for (int k = 0; k < n; k++) seen |= order[k] >= 0 && order[k] < rank ? 1u << order[k] : 0;
    return (n == rank && seen == (1u << rank) - 1) ||
           spec_fail(sp, c->spans[i], "%s must hold each of 0 to %d once", arg_what(sp, c, i),
                     rank - 1);
}

SpecValue builtin_make_block_ptr(Spec *sp, const Call *c)
{
    SpecBlockPtr *p = make(sp, c, 4);
    if (!p || !read_indices(sp, c, 3, p->block.rank, NULL, p->offsets) ||
        !check_order(sp, c, 5, p->block.rank))
        return sv_error();
    return (SpecValue){.kind = SV_BLOCK_PTR, .block_ptr = p};
}

SpecValue builtin_advance(Spec *sp, const Call *c)
{
    if (c->args[0].kind != SV_BLOCK_PTR) return arg_refuse(sp, c, 0, "a block pointer");
    SpecBlockPtr *p = arena_copy(sp->arena, c->args[0].block_ptr, sizeof *p);
    Value *by[TKC_MAX_RANK];
    if (!read_indices(sp, c, 1, p->block.rank, NULL, by)) return sv_error();
    for (int d = 0; d < p->block.rank; d++) {
        int64_t n;
        if (!ir_const_int(by[d], &n) || n != 0)
            p->offsets[d] = build_binary(&sp->b, OP_ADD, p->offsets[d], by[d]);
    }
    return (SpecValue){.kind = SV_BLOCK_PTR, .block_ptr = p};
}

/* ---- descriptors ---- */

/* Of a parameter, by its type. */
static bool is_multiple(const Func *fn, const Value *v, int64_t of)
{
    while (v->def && v->def->kind == OP_CAST) v = op_arg(v->def, 0);
    return v->region == fn->body && fn->params[v->index].divisibility % of == 0;
}

/* otherwise: what a run tells of where it is no multiple */
static Value *vouch(Spec *sp, Value *v, int64_t multiple, const char *otherwise)
{
    Value *r = build_hint(&sp->b, v, ATTR_DIVISIBILITY, 1, &multiple);
    if (r != v) ir_set_str(sp->fn, r->def, ATTR_MESSAGE, otherwise); /* else it is a constant */
    return r;
}

/* As tensor maps are, which a chip with TMA has for descriptors: base and rows begin at multiples of 16
   bytes, as Triton wants it of all. Where the launch makes one of a parameter, it checks that; how a
   parameter itself is aligned its type says. */
static void assume_aligned(Spec *sp, SpecBlockPtr *p)
{
    enum { ALIGNMENT = 16 };
    const int64_t each = ALIGNMENT / type_bytes(p->base->type->elem);
    if (!sp->fn->machine || !sp->fn->machine->tma) return;
    if (p->base->def)
        p->base = vouch(sp, p->base, ALIGNMENT, "a descriptor does not begin at a multiple of 16 bytes");
    for (int d = 0; d < p->block.rank - 1; d++)
        if (!is_multiple(sp->fn, p->strides[d], each))
            p->strides[d] =
                vouch(sp, p->strides[d], each, "rows of a descriptor are no multiple of 16 bytes apart");
}

SpecValue builtin_make_descriptor(Spec *sp, const Call *c)
{
    SpecBlockPtr *p = make(sp, c, 3);
    int64_t last;
    if (!p) return sv_error();
    if (ir_const_int(p->strides[p->block.rank - 1], &last) && last != 1)
        return spec_error(sp, c->spans[2],
                          "the last stride of a tensor descriptor must be 1, found %lld",
                          (long long)last);
    p->padding = *c->args[4].s == 'n' ? PAD_NAN : PAD_ZERO;
    if (p->padding == PAD_NAN && !block_ptr_takes_nan(sp, p->base, c->spans[4])) return sv_error();
    assume_aligned(sp, p);
    return (SpecValue){.kind = SV_DESC, .block_ptr = p};
}

/* What a call loads or stores of its descriptor. */
typedef struct Place {
    Value *indices[TKC_MAX_RANK];
    Shape block;
    Tile tile;
} Place;

/* The block at the offsets that are argument i. */
static bool block_at(Spec *sp, const Call *c, int i, Place *out)
{
    const SpecBlockPtr *p = c->args[0].block_ptr;
    if (!read_indices(sp, c, i, p->block.rank, "the list of offsets", out->indices)) return false;
    out->tile = block_ptr_tile(p, &p->block, out->indices);
    return true;
}

/* Rows x_offsets[i] of a 2-D descriptor whose block is one row, from some column on: argument i and
   the one behind it. */
static bool rows_at(Spec *sp, const Call *c, int i, Place *out)
{
    const SpecBlockPtr *p = c->args[0].block_ptr;
    if (p->block.rank != 2 || p->block.dims[0] != 1)
        return spec_fail(sp, c->at, "%s needs a descriptor with a block of one row, found %s",
                         arg_operation(sp, c), shape_text(sp, &p->block));
    Value *x = c->args[i].v,
          *y = index_of(sp, c->args[i + 1], arg_what(sp, c, i + 1), c->spans[i + 1]);
    if (!y) return false;
    if (x->type->rank != 1 || !type_is_int(x->type))
        return arg_fail(sp, c, i, "a 1-D block of integers");
    out->block = (Shape){.rank = 2, .dims = {x->type->shape[0], p->block.dims[1]}};
    out->indices[0] = x, out->indices[1] = y;
    out->tile = block_ptr_tile(p, &out->block, out->indices);
    return shape_check(sp, &out->block, c->at);
}

SpecValue builtin_descriptor_load(Spec *sp, const Call *c)
{
    const OpKind op = c->builtin->op;
    Place p;
    if (!(op == OP_DESC_GATHER ? rows_at : block_at)(sp, c, 1, &p)) return sv_error();
    return block_ptr_load(sp, op, &p.tile, c->args[0].block_ptr->padding == PAD_NAN);
}

/* The operation of old has its value first. */
SpecValue builtin_descriptor_store(Spec *sp, const Call *c)
{
    const int value = c->builtin->name[0] == '_' ? 1 : 2;
    Place p;
    if (!block_at(sp, c, 3 - value, &p)) return sv_error();
    return block_ptr_store(sp, c, OP_DESC_STORE, &p.tile, value);
}

SpecValue builtin_descriptor_scatter(Spec *sp, const Call *c)
{
    Place p;
    if (!rows_at(sp, c, 2, &p) || !block_ptr_takes(sp, c, 1)) return sv_error();
    return block_ptr_store(sp, c, OP_DESC_SCATTER, &p.tile, 1);
}

/* The block's shape and type are the descriptor's own; what the call says must agree. */
SpecValue builtin_experimental_load(Spec *sp, const Call *c)
{
    const SpecBlockPtr *p = c->args[0].block_ptr;
    Shape shape;
    if (arg_is_given(c, 2)) {
        if (!arg_shape(sp, c, 2, &shape)) return sv_error();
        if (!shape_is_equal(&shape, &p->block))
            return spec_error(sp, c->spans[2], "the descriptor's block is %s, found %s",
                              shape_text(sp, &p->block), shape_text(sp, &shape));
    }
    SpecValue r = builtin_descriptor_load(sp, c);
    if (sv_is_error(r) || !arg_is_given(c, 3)) return r;
    return sv_value(op_cast(sp, r.v, c->args[3].type, false, NULL, c->at));
}

/* The same as the operation on pointers, on the descriptor's elements; no result. */
SpecValue builtin_descriptor_atomic(Spec *sp, const Call *c)
{
    Place p;
    const Tile *t = &p.tile;
    if (!block_at(sp, c, 1, &p) || !atomic_takes(sp, c, t->base->type->elem) ||
        !memory_takes_stores(sp, t->base, c->at))
        return sv_error();
    Value *v =
        memory_arg(sp, c, 2, type_block(sp->ir->types, t->base->type, t->rank, t->block, NULL));
    if (!v) return sv_error();
    build_desc(&sp->b, OP_DESC_ATOMIC, t, v, c->builtin->name + strlen("atomic_"));
    return sv_none();
}
