/* Subscripts: axes added to blocks (None and :), items of tuples and strings, and elements of
   pointers with declared extents.

   For x: "*fp16[M, N]", x[i, j] loads x[i][j] where 0 <= i < M and 0 <= j < N and 0 elsewhere; the
   indices broadcast together. Offsets are computed in 64 bits, so no product of an index and a
   stride wraps. */
#include "spec/memory.h"

#include "spec/broadcast.h"
#include "spec/constant.h"
#include "spec/operator.h"

/* ---- tuples and strings ---- */

static SpecValue substring(Spec *sp, Str s, int64_t from, int64_t step, int64_t n)
{
    Buf out = buf_make(sp->arena);
    for (int64_t i = 0; i < n; i++) buf_putc(&out, s[from + i * step]);
    return sv_str(intern(sp->names, buf_text(&out), out.len));
}

static SpecValue items_of(Spec *sp, SpecValue x, int64_t from, int64_t step, int64_t n)
{
    if (x.kind == SV_STR) return substring(sp, x.s, from, step, n);
    SpecValue *items = arena_array(sp->arena, SpecValue, n + 1);
    for (int64_t i = 0; i < n; i++) items[i] = x.tuple->data[from + i * step];
    return constant_sequence(sp, x.kind == SV_LIST ? SV_LIST : SV_TUPLE, (int)n, items);
}

/* A bound of a slice as Python clamps it to [low, high]. */
static bool slice_bound(Spec *sp, SpecValue v, int64_t otherwise, int64_t len, int64_t low,
                        int64_t high, int64_t *out, Span at)
{
    *out = otherwise;
    if (v.kind == SV_NONE) return true;
    if (!op_to_int(sp, v, out, at, "a bound of a slice")) return false;
    if (*out < 0) *out += len;
    *out = *out < low ? low : *out > high ? high : *out;
    return true;
}

static SpecValue slice_sequence(Spec *sp, SpecValue x, int64_t len, const SpecSlice *slice, Span at)
{
    int64_t step = 1, from, to;
    if (slice->step.kind != SV_NONE &&
        !op_to_int(sp, slice->step, &step, at, "the step of a slice"))
        return sv_error();
    if (step == INT64_MIN) step++; /* as far */
    if (step == 0) return spec_error(sp, at, "the step of a slice must not be 0");
    bool down = step < 0;
    int64_t low = down ? -1 : 0, high = down ? len - 1 : len;
    if (!slice_bound(sp, slice->lo, down ? len - 1 : 0, len, low, high, &from, at) ||
        !slice_bound(sp, slice->hi, down ? -1 : len, len, low, high, &to, at)) {
        return sv_error();
    }
    int64_t span = down ? from - to : to - from, stride = down ? -step : step;
    return items_of(sp, x, from, step, span > 0 ? (span - 1) / stride + 1 : 0);
}

static SpecValue subscript_sequence(Spec *sp, SpecValue x, SpecValue index, Span at)
{
    int64_t len = x.kind == SV_STR ? (int64_t)str_len(x.s) : x.tuple->len, i;
    if (index.kind == SV_SLICE) return slice_sequence(sp, x, len, index.slice, at);
    if (!op_to_int(sp, index, &i, at, "an index")) return sv_error();
    if (i < -len || i >= len)
        return spec_error(sp, at, "index %lld is out of range for %s with %lld items", (long long)i,
                          x.kind == SV_STR    ? "a string"
                          : x.kind == SV_LIST ? "a list"
                                              : "a tuple",
                          (long long)len);
    if (i < 0) i += len;
    return x.kind == SV_STR ? substring(sp, x.s, i, 1, 1) : x.tuple->data[i];
}

/* ---- blocks ---- */

static int index_items(SpecValue *index, const SpecValue **items)
{
    bool tuple = index->kind == SV_TUPLE;
    *items = tuple ? index->tuple->data : index;
    return tuple ? index->tuple->len : 1;
}

static bool is_whole_slice(SpecValue v)
{
    return v.kind == SV_SLICE && v.slice->lo.kind == SV_NONE && v.slice->hi.kind == SV_NONE &&
           v.slice->step.kind == SV_NONE;
}

static SpecValue refuse_index(Spec *sp, SpecValue x, SpecValue index, Span at)
{
    if (sv_is_error(index)) return index;
    if (x.kind == SV_VALUE && !type_is_block(x.v->type)) {
        spec_error(sp, at, "unsupported tensor index: %s is indexed with None and ':' only, found %s", spec_describe(sp, x),
                   spec_describe(sp, index));
        return spec_note(sp, at, "it is one number: leave the index out");
    }
    spec_error(sp, at, "unsupported tensor index: a block is indexed with None and ':' only, found %s on %s",
               spec_describe(sp, index), spec_describe(sp, x));
    if (index.kind == SV_SLICE)
        spec_note(sp, at, "load each part by offsets of its own; halves of what is computed: reshape "
                          "to [2, n // 2], tl.trans, tl.split");
    else if (strstr(spec_describe(sp, index), "newaxis"))
        spec_note(sp, at, "None adds a dimension, as in x[:, None]");
    else
        spec_note(sp, at, "pick elements with tl.gather, tl.split or a masked tl.sum");
    return sv_error();
}

static SpecValue add_axis(Spec *sp, Value *v, int axis, Span at)
{
    Shape shape = shape_of(v->type);
    if (shape.rank == TKC_MAX_RANK)
        return spec_error(sp, at, "a block has at most %d dimensions, found %d", TKC_MAX_RANK,
                          shape.rank + 1);
    if (shape.rank == 0) return sv_value(build_splat(&sp->b, v, 1, (const int32_t[]){1}));
    return sv_value(build_expand_dims(&sp->b, v, axis));
}

static SpecValue subscript_block(Spec *sp, SpecValue x, SpecValue index, Span at)
{
    const SpecValue *items;
    int n = index_items(&index, &items), rank = x.v->type->rank, axis = 0, whole = 0;
    for (int i = 0; i < n; i++) whole += items[i].kind == SV_SLICE;
    if (whole > rank && rank > 0)
        return spec_error(sp, at, "%d ':' in the subscript of %s with %d dimension%s", whole,
                          spec_describe(sp, x), rank, rank == 1 ? "" : "s");
    SpecValue r = x;
    for (int i = 0; i < n && !sv_is_error(r); i++) {
        if (items[i].kind == SV_NONE) {
            r = add_axis(sp, r.v, axis++, at);
        } else if (items[i].kind == SV_ELLIPSIS) {
            axis += rank - whole;
            whole = rank;
        } else if (is_whole_slice(items[i])) {
            axis += rank > 0; /* a scalar has no axis to keep, as in Triton */
        } else {
            return refuse_index(sp, x, items[i], at);
        }
    }
    return r;
}

/* ---- declared extents ---- */

/* The parameter whose pointer v is, when it has declared extents; else NULL. */
static const Param *subscript_extents(const Spec *sp, SpecValue v)
{
    if (v.kind != SV_VALUE || v.v->def || v.v->region != sp->fn->body) return NULL;
    if (v.v->index >= sp->fn->nparams) return NULL;
    const Param *p = &sp->fn->params[v.v->index];
    return p->rank > 0 ? p : NULL;
}

/* The number, or where it is below 0 the parameter's. */
static Value *known_or_given(Spec *sp, int64_t number, int param)
{
    if (number >= 0) return build_int(&sp->b, DT_I64, number);
    return build_cast(&sp->b, sp->fn->body->args[param], DT_I64, NULL);
}

static Value *extent_of(Spec *sp, const Param *p, int d)
{
    return known_or_given(sp, p->extent[d], p->extent_param[d]);
}

/* Declared, or the product of the extents after it. */
static Value *stride_of(Spec *sp, const Param *p, int d)
{
    if (p->stride[d] >= 0 || p->stride_param[d] >= 0)
        return known_or_given(sp, p->stride[d], p->stride_param[d]);
    Value *stride = build_int(&sp->b, DT_I64, 1);
    for (int i = d + 1; i < p->rank; i++)
        stride = build_binary(&sp->b, OP_MUL, stride, extent_of(sp, p, i));
    return stride;
}

static Value *splat_like(Spec *sp, Value *scalar, const Value *like)
{
    if (!type_is_block(like->type)) return scalar;
    return build_splat(&sp->b, scalar, like->type->rank, like->type->shape);
}

/* 0 <= i < extent, in the shape of i (int64). */
static Value *inside(Spec *sp, Value *i, Value *extent)
{
    Value *zero = splat_like(sp, build_int(&sp->b, DT_I64, 0), i);
    Value *low = build_binary(&sp->b, OP_GE, i, zero);
    return build_and(&sp->b, low, build_binary(&sp->b, OP_LT, i, splat_like(sp, extent, i)));
}

/* The indices as int64 values of one shape. */
static bool index_values(Spec *sp, const Param *p, SpecValue index, Value **out, Span at)
{
    const SpecValue *items;
    int n = index_items(&index, &items);
    if (n != p->rank)
        return spec_fail(sp, at, "'%s' is declared with %d extent%s and indexed with %d", p->name,
                         p->rank, p->rank == 1 ? "" : "s", n);
    Shape shape = {0};
    for (int d = 0; d < n; d++) {
        out[d] = op_to_index(sp, items[d], true, at);
        if (!out[d] && !sv_is_error(items[d]))
            spec_error(sp, at, "an index is an integer or a block of integers, found %s",
                       spec_describe(sp, items[d]));
        if (!out[d]) return false;
        Shape one = shape_of(out[d]->type), both;
        if (!broadcast_shapes(&shape, &one, &both)) {
            spec_error(sp, at, "cannot broadcast the indices: shape %s with %s",
                       shape_text(sp, &shape), shape_text(sp, &one));
            spec_note(sp, at, "for every pair of elements write x[i[:, None], j[None, :]]");
            return false;
        }
        shape = both;
    }
    for (int d = 0; d < n; d++) {
        out[d] = broadcast_value(sp, out[d], &shape, at);
        if (!out[d]) return false;
    }
    return true;
}

/* Pointers to the elements, with the mask of those inside the extents. */
static bool element_access(Spec *sp, const Param *p, SpecValue x, SpecValue index, Access *a,
                           Span at)
{
    Value *i[TKC_MAX_RANK], *offset = NULL;
    if (!index_values(sp, p, index, i, at)) return false;
    *a = (Access){0};
    for (int d = 0; d < p->rank; d++) {
        a->mask = build_and(&sp->b, a->mask, inside(sp, i[d], extent_of(sp, p, d)));
        Value *step = build_binary(&sp->b, OP_MUL, i[d], splat_like(sp, stride_of(sp, p, d), i[d]));
        offset = offset ? build_binary(&sp->b, OP_ADD, offset, step) : step;
    }
    a->pointer = build_addptr(&sp->b, splat_like(sp, x.v, offset), offset);
    return true;
}

static SpecValue refuse_pointer(Spec *sp, SpecValue x, Span at)
{
    spec_error(sp, at, "unsupported tensor index: %s has no declared extents", spec_describe(sp, x));
    return spec_note(
        sp, at,
        "declare them on the parameter, such as x: \"*fp32[M, N]\", or use tl.load(x + "
        "offsets, mask=…)");
}

SpecValue op_subscript(Spec *sp, SpecValue x, SpecValue index, Span at)
{
    spec_at(sp, at);
    if (sv_is_sequence(x) || x.kind == SV_STR) return subscript_sequence(sp, x, index, at);
    const Param *p = subscript_extents(sp, x);
    if (p) {
        Access a;
        return element_access(sp, p, x, index, &a, at) ? sv_value(memory_load(sp, &a, NULL))
                                                       : sv_error();
    }
    if (sv_is_number(x)) x = sv_value(op_to_value(sp, x, at));
    if (sv_is_error(x)) return x;
    if (x.kind != SV_VALUE) return spec_error(sp, at, "%s cannot be indexed", spec_describe(sp, x));
    const SpecValue *items;
    int n = index_items(&index, &items), axes = 0, whole = 0;
    for (int i = 0; i < n; i++) {
        axes += items[i].kind == SV_NONE;
        whole += is_whole_slice(items[i]);
    }
    bool adds_axes = axes > 0 && axes + whole == n;
    if (x.v->type->kind == TY_POINTER && !adds_axes) return refuse_pointer(sp, x, at);
    return subscript_block(sp, x, index, at);
}

void op_store_subscript(Spec *sp, SpecValue x, SpecValue index, SpecValue value, Span at)
{
    spec_at(sp, at);
    const Param *p = subscript_extents(sp, x);
    Access a;
    if (p) {
        if (element_access(sp, p, x, index, &a, at)) memory_store(sp, &a, value, at);
    } else if (x.kind == SV_VALUE && x.v->type->kind == TY_POINTER) {
        refuse_pointer(sp, x, at);
    } else {
        spec_error(sp, at, "%s does not change by assignment to an element", spec_describe(sp, x));
        if (x.kind == SV_VALUE)
            spec_note(sp, at, "make a new block with tl.where(condition, new, old)");
    }
}
