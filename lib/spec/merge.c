/* A compile-time value that is the same on both paths stays what it is; run-time values of one type
   become one leaf; numbers that differ become run-time scalars first. Tuples, lists, block pointers
   and descriptors merge part by part, so that what both paths leave alone (strides, shapes) is not
   carried at all. */
#include "spec/merge.h"

#include "spec/broadcast.h"
#include "spec/memory.h"
#include "spec/record.h"

/* Stands for a leaf in a joined value. */
static const Value leaf_mark;
#define LEAF ((Value *)&leaf_mark)

/* ---- taking apart and putting together ---- */

typedef struct Flatten { Spec *sp; Leaves *out; Span at; bool failed; } Flatten;

static SpecValue take_leaf(void *ctx, SpecValue v)
{
    Flatten *f = ctx;
    if (sv_is_number(v)) v = strengthen(f->sp, v, f->at);
    if (v.kind == SV_VALUE) vec_push(f->sp->arena, f->out, v.v);
    f->failed |= v.kind == SV_ERROR;
    return v;
}

bool merge_flatten(Spec *sp, SpecValue v, Leaves *out, Span at)
{
    const int before = out->len;
    Flatten f = {sp, out, at, false};
    sv_map(sp->arena, v, take_leaf, &f);
    if (f.failed) out->len = before;
    return !f.failed;
}

/* Replaces the leaves; where a join marked some, only those. */
typedef struct Rebuild { bool is_joined; Value *const *data; int *next; } Rebuild;

static SpecValue put_leaf(void *ctx, SpecValue v)
{
    const Rebuild *r = ctx;
    bool is_leaf = r->is_joined ? v.kind == SV_VALUE && v.v == LEAF : sv_is_operand(v);
    return is_leaf ? sv_value(r->data[(*r->next)++]) : v;
}

SpecValue merge_rebuild(Spec *sp, SpecValue v, bool is_joined, Value *const *data, int *next)
{
    return sv_map(sp->arena, v, put_leaf, &(Rebuild){is_joined, data, next});
}

/* ---- joining ---- */

static Value *value_at(Join *j, Builder *b, SpecValue v, Span at)
{
    Builder saved = j->sp->b;
    j->sp->b = *b;
    Value *x = v.kind == SV_VALUE ? v.v : op_to_value(j->sp, v, at);
    Value *lanes = j->lanes;
    if (x && lanes && !broadcast_pair(j->sp, &x, &lanes, at)) x = NULL;
    *b = j->sp->b;
    j->sp->b = saved;
    return x;
}

static Value *zero(Join *j, Builder *b, const Type *ty)
{
    if (!type_is_pointer(ty)) return build_const(b, ty, 0);
    TypeTable *t = j->sp->ir->types;
    Value *bits = build_const(b, type_with_dtype(t, ty, DT_I64), 0);
    return build_bitcast(b, bits, tkc_type_element(ty));
}

static SpecValue add_leaf(Join *j, Value *x, Value *y)
{
    vec_push(j->sp->arena, &j->left, x);
    vec_push(j->sp->arena, &j->right, y);
    return sv_value(LEAF);
}

static bool join_values(Join *j, SpecValue a, SpecValue b, Span at, SpecValue *out)
{
    if (!sv_is_operand(a) || !sv_is_operand(b)) return false;
    Value *x = value_at(j, j->a, a, at), *y = value_at(j, j->b, b, at);
    if (!x || !y || x->type != y->type || !memory_is_alike(j->sp, x, y)) return false;
    *out = add_leaf(j, x, y);
    return true;
}

static bool join_sequences(Join *j, SpecValue a, SpecValue b, Span at, SpecValue *out)
{
    if (!sv_is_same_class(a.tuple, b.tuple)) return false;
    SpecTuple *t = tuple_copy(j->sp, a.tuple, a.tuple->len);
    for (int i = 0; i < t->len; i++) {
        const SpecValue x = a.tuple->data[i], y = b.tuple->data[i];
        if (record_is_constexpr(t, i) && !sv_is_same(x, y)) return false;
        if (!merge_join(j, x, y, at, &t->data[i])) return false;
    }
    *out = sv_tuple(a.kind, t);
    return true;
}

/* A value made before the paths parted, or a constant made anew behind the join, so that the number stays known; NULL: neither. */
static Value *common_value(Join *j, Value *a, const Value *b)
{
    uint64_t bits;
    if (a == b) return a;
    return sv_same_value(a, b) && ir_const_bits(a, &bits) ? build_const(&j->sp->b, a->type, bits) : NULL;
}

static bool join_addresses(Join *j, SpecValue a, SpecValue b, SpecValue *out)
{
    if (!sv_is_alike(a.block_ptr, b.block_ptr)) return false;
    *out = a;
    out->block_ptr = arena_copy(j->sp->arena, a.block_ptr, sizeof *a.block_ptr);
    for (int i = 0; i < BLOCK_PTR_PARTS; i++) {
        Value **x = &out->block_ptr->parts[i], *y = b.block_ptr->parts[i];
        if (*x == y) continue;
        if (!*x || !y || (*x)->type != y->type || !memory_is_alike(j->sp, *x, y)) return false;
        Value *common = common_value(j, *x, y);
        *x = common ? common : add_leaf(j, *x, y).v;
    }
    return true;
}

static bool join_methods(Join *j, SpecValue a, SpecValue b, Span at, SpecValue *out)
{
    SpecMethod *m = arena_copy(j->sp->arena, a.method, sizeof *m);
    m->self = arena_copy(j->sp->arena, a.method->self, sizeof *m->self);
    *out = a;
    out->method = m;
    return m->builtin == b.method->builtin && merge_join(j, *a.method->self, *b.method->self, at, m->self);
}

/* Both sides are one compile-time value, or have a common one at run time. */
static bool join_common(Join *j, SpecValue a, SpecValue b, SpecValue *out)
{
    if (sv_is_sequence(a) && a.kind == b.kind && a.tuple == b.tuple) return *out = a, true;
    if (sv_is_address(a) && a.kind == b.kind && a.block_ptr == b.block_ptr) return *out = a, true;
    if (sv_is_sequence(a) || sv_is_address(a) || a.kind == SV_METHOD || !sv_is_same(a, b)) return false;
    *out = a;
    if (a.kind == SV_VALUE) out->v = common_value(j, a.v, b.v);
    return a.kind != SV_VALUE || out->v;
}

bool merge_join(Join *j, SpecValue a, SpecValue b, Span at, SpecValue *out)
{
    if (a.kind == SV_ERROR || b.kind == SV_ERROR) return *out = sv_error(), true;
    if (join_common(j, a, b, out)) return true;
    int left = j->left.len, right = j->right.len;
    bool ok = false;
    if (sv_is_sequence(a) && a.kind == b.kind) ok = join_sequences(j, a, b, at, out);
    else if (sv_is_address(a) && a.kind == b.kind) ok = join_addresses(j, a, b, out);
    else if (a.kind == SV_METHOD && b.kind == SV_METHOD) ok = join_methods(j, a, b, at, out);
    else ok = join_values(j, a, b, at, out);
    if (!ok) j->left.len = left, j->right.len = right;
    return ok;
}

typedef struct Fill { Join *j; bool is_left; } Fill;

static SpecValue fill_leaf(void *ctx, SpecValue v)
{
    const Fill *f = ctx;
    Join *j = f->j;
    Builder *own = f->is_left ? j->a : j->b, *other = f->is_left ? j->b : j->a;
    if (v.kind != SV_VALUE || ir_is_defined_outside(v.v, own->region)) return v;
    Value *filler = zero(j, other, v.v->type);
    return f->is_left ? add_leaf(j, v.v, filler) : add_leaf(j, filler, v.v);
}

SpecValue merge_fill(Join *j, SpecValue v, bool v_is_left)
{
    return sv_map(j->sp->arena, v, fill_leaf, &(Fill){j, v_is_left});
}
