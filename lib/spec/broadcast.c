/* Broadcasting: a scalar is splat; a block of lower rank gets leading extents of 1; an extent of 1
   grows. What does not combine is reported with both types and, where one more axis would do, the
   text that adds it. */
#include "spec/broadcast.h"

#include <string.h>

#include "base/power.h"
#include "base/unwind.h"

Shape shape_of(const Type *t)
{
    Shape s = {.rank = t->rank};
    memcpy(s.dims, t->shape, (size_t)t->rank * sizeof *s.dims);
    return s;
}

bool shape_is_equal(const Shape *a, const Shape *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
}

int64_t shape_count(const Shape *s)
{
    int64_t n = 1;
    for (int i = 0; i < s->rank; i++) n *= s->dims[i];
    return n;
}

const Type *shape_type(Spec *sp, const Type *elem, const Shape *s)
{
    return s->rank ? type_block(sp->ir->types, elem, s->rank, s->dims, NULL) : elem;
}

Value *shape_fill(Spec *sp, Value *v, const Shape *s)
{
    if (type_is_block(v->type)) return build_reshape(&sp->b, v, s->rank, s->dims, false);
    return s->rank ? build_splat(&sp->b, v, s->rank, s->dims) : v;
}

Value *shape_zip(Spec *sp, Value *v)
{
    Shape shape = shape_of(v->type);
    shape.dims[--shape.rank - 1] *= 2;
    return build_reshape(&sp->b, v, shape.rank, shape.dims, false);
}

const char *shape_text(Spec *sp, const Shape *s)
{
    Buf out = buf_make(sp->arena);
    buf_putc(&out, '[');
    for (int i = 0; i < s->rank; i++) buf_printf(&out, "%s%d", i ? ", " : "", (int)s->dims[i]);
    buf_putc(&out, ']');
    return buf_text(&out);
}

/* Elements of a block once each extent is padded to a power of two (DESIGN.md D5). */
enum { MAX_PADDED_COUNT = 1 << 20 };

bool shape_check(Spec *sp, const Shape *s, Span at)
{
    check(s->rank <= TKC_MAX_RANK, "a shape of %d dimensions", s->rank);
    int64_t count = 1;
    for (int i = 0; i < s->rank; i++) {
        check(s->dims[i] >= 1, "a shape of %s", shape_text(sp, s));
        count *= power_of_two_for(s->dims[i]);
        if (count > MAX_PADDED_COUNT)
            return spec_fail(
                sp, at,
                "a block of shape %s has more than %d elements (each extent counted as a "
                "power of two)",
                shape_text(sp, s), MAX_PADDED_COUNT);
    }
    return true;
}

bool broadcast_shapes(const Shape *a, const Shape *b, Shape *out)
{
    out->rank = a->rank > b->rank ? a->rank : b->rank;
    for (int i = 1; i <= out->rank; i++) {
        int32_t x = i <= a->rank ? a->dims[a->rank - i] : 1;
        int32_t y = i <= b->rank ? b->dims[b->rank - i] : 1;
        if (x != y && x != 1 && y != 1) return false;
        out->dims[out->rank - i] = x == 1 ? y : x;
    }
    return true;
}

/* v has at most the rank of `to`, and its extents fit. */
static Value *extend(Spec *sp, Value *v, const Shape *to)
{
    if (to->rank == 0) return v;
    if (v->type->rank == 0) return build_splat(&sp->b, v, to->rank, to->dims);
    while (v->type->rank < to->rank) v = build_expand_dims(&sp->b, v, 0);
    return build_broadcast(&sp->b, v, to->rank, to->dims);
}

Value *broadcast_value(Spec *sp, Value *v, const Shape *to, Span at)
{
    Shape from = shape_of(v->type), both;
    if (!broadcast_shapes(&from, to, &both) || !shape_is_equal(&both, to)) {
        spec_error(sp, at, "cannot broadcast %s to the shape %s", type_text(sp->arena, v->type),
                   shape_text(sp, to));
        if (from.rank == 1 && to->rank == 2 && from.dims[0] == to->dims[0])
            spec_note(sp, at, "it fits the rows when written as [:, None]");
        return NULL;
    }
    if (!shape_check(sp, to, at)) return NULL;
    return extend(sp, v, to);
}

/* A vector beside a matrix whose rows it fits, or two unlike vectors; what goes with pointers is for
   each of them. */
static void suggest_axis(Spec *sp, const Shape *a, const Shape *b, bool pointers, Span at)
{
    if (a->rank == 1 && b->rank == 1 && pointers) {
        spec_note(sp, at, "each pointer has one element of it");
    } else if (a->rank == 1 && b->rank == 1) {
        spec_note(sp, at,
                  "for every pair of elements write the left one as [:, None] and the right one as "
                  "[None, :]");
    } else if (a->rank == 1 && b->rank == 2 && a->dims[0] == b->dims[0]) {
        spec_note(sp, at, "the left operand fits the rows when written as [:, None]");
    } else if (b->rank == 1 && a->rank == 2 && b->dims[0] == a->dims[0]) {
        spec_note(sp, at, "the right operand fits the rows when written as [:, None]");
    }
}

/* The first dimension in which the shapes differ and neither has 1 there; equal ranks only, where a
   number says which. */
static void note_dimension(Spec *sp, const Shape *a, const Shape *b)
{
    for (int i = 0; a->rank == b->rank && a->rank > 1 && i < a->rank; i++) {
        int32_t x = a->dims[i], y = b->dims[i];
        if (x == y || x == 1 || y == 1) continue;
        spec_note(sp, SPAN_NONE, "dimension %d has %d elements on the left and %d on the right", i,
                  x, y);
        return;
    }
}

/* Where a named operand comes from. */
static void note_origin(Spec *sp, const Value *v)
{
    const Span at = ir_span(v->def ? v->def->loc : NULL);
    if (v->name && at.source) spec_note(sp, at, "'%s' gets its shape here", v->name);
}

bool broadcast_pair(Spec *sp, Value **x, Value **y, Span at)
{
    Shape a = shape_of((*x)->type), b = shape_of((*y)->type), both;
    if (!broadcast_shapes(&a, &b, &both)) {
        spec_error(sp, at, "cannot broadcast %s with %s", type_text(sp->arena, (*x)->type),
                   type_text(sp->arena, (*y)->type));
        suggest_axis(sp, &a, &b, type_is_pointer((*x)->type) && type_is_bool((*y)->type), at);
        note_dimension(sp, &a, &b);
        note_origin(sp, *x);
        note_origin(sp, *y);
        return false;
    }
    if (!shape_check(sp, &both, at)) return false;
    *x = extend(sp, *x, &both);
    *y = extend(sp, *y, &both);
    return true;
}
