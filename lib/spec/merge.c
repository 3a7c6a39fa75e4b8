/* A compile-time value that is the same on both paths stays what it is; run-time values of one type
   become one leaf; numbers that differ become run-time scalars first. Tuples, lists, block pointers
   and descriptors merge part by part, so that what both paths leave alone (strides, shapes) is not
   carried at all. */
#include "spec/merge.h"

#include "base/vec.h"
#include "spec/block_ptr.h"
#include "spec/broadcast.h"
#include "spec/constant.h"

/* Stands for a leaf in a joined value. */
static const Value leaf_mark;
#define LEAF ((Value *)&leaf_mark)

static bool is_address(SpecValue v)
{
    return v.kind == SV_BLOCK_PTR || v.kind == SV_DESC;
}

bool sv_is_same_class(const SpecTuple *a, const SpecTuple *b)
{
    if (a->len != b->len || a->type_name != b->type_name || !a->names != !b->names) return false;
    for (int i = 0; i < a->len && a->names; i++) {
        if (a->names[i] != b->names[i]) return false;
    }
    return true;
}

static bool is_same_sequence(const SpecTuple *a, const SpecTuple *b)
{
    if (a == b) return true;
    if (!sv_is_same_class(a, b)) return false;
    for (int i = 0; i < a->len; i++) {
        if (!sv_is_same(a->data[i], b->data[i])) return false;
    }
    return true;
}

static bool is_same_value(const Value *a, const Value *b)
{
    uint64_t x, y;
    return a == b || (a->type == b->type && ir_const_bits(a, &x) && ir_const_bits(b, &y) && x == y);
}

static bool is_same_address(SpecValue a, SpecValue b)
{
    Value *const *x = a.block_ptr->parts, *const *y = b.block_ptr->parts;
    if (!block_ptr_is_alike(a.block_ptr, b.block_ptr)) return false;
    for (int i = 0; i < BLOCK_PTR_PARTS; i++) {
        if (x[i] != y[i] && (!x[i] || !y[i] || !is_same_value(x[i], y[i]))) return false;
    }
    return true;
}

static bool is_same_bound(const SpecValue *a, const SpecValue *b)
{
    return a == b || (a && b && sv_is_same(*a, *b));
}

static bool is_same_slice(const SpecSlice *a, const SpecSlice *b)
{
    return is_same_bound(a->lo, b->lo) && is_same_bound(a->hi, b->hi) &&
           is_same_bound(a->step, b->step);
}

bool sv_is_same(SpecValue a, SpecValue b)
{
    if (a.kind != b.kind) return false;
    switch (a.kind) {
    case SV_ERROR: case SV_ABSENT: case SV_NONE: case SV_ELLIPSIS: return true;
    case SV_BOOL: return a.b == b.b;
    case SV_INT: return a.i == b.i;
    case SV_FLOAT: return a.f == b.f && !__builtin_signbit(a.f) == !__builtin_signbit(b.f);
    case SV_STR: return a.s == b.s;
    case SV_TYPE: return a.type == b.type;
    case SV_TUPLE: case SV_LIST: case SV_RECORD: return is_same_sequence(a.tuple, b.tuple);
    case SV_FUNC:
        return a.fn == b.fn || (a.fn->def == b.fn->def && a.fn->closure == b.fn->closure &&
                                a.fn->self == b.fn->self);
    case SV_BUILTIN: return a.builtin == b.builtin;
    case SV_METHOD:
        return a.method->builtin == b.method->builtin &&
               sv_is_same(*a.method->self, *b.method->self);
    case SV_MODULE: return a.module == b.module;
    case SV_CLASS: return a.class_name == b.class_name;
    case SV_RECORD_CLASS: return a.record_class == b.record_class;
    case SV_SLICE: return is_same_slice(a.slice, b.slice);
    case SV_RANGE: return a.range == b.range;
    case SV_VALUE: return is_same_value(a.v, b.v);
    case SV_BLOCK_PTR: case SV_DESC: return is_same_address(a, b);
    case SV_COUNT: break;
    }
    return false;
}

bool sv_is_runtime(SpecValue v)
{
    uint64_t bits;
    if (v.kind == SV_VALUE) return !ir_const_bits(v.v, &bits) || type_is_block(v.v->type);
    if (is_address(v)) return true;
    if (!sv_is_sequence(v)) return false;
    for (int i = 0; i < v.tuple->len; i++) {
        if (sv_is_runtime(v.tuple->data[i])) return true;
    }
    return false;
}

/* ---- taking apart and putting together ---- */

SpecValue sv_map(Arena *a, SpecValue v, LeafFn fn, void *ctx)
{
    if (is_address(v)) {
        v.block_ptr = arena_copy(a, v.block_ptr, sizeof *v.block_ptr);
        for (int i = 0; i < BLOCK_PTR_PARTS; i++) {
            Value **part = &v.block_ptr->parts[i];
            SpecValue new = *part ? fn(ctx, sv_value(*part)) : sv_none();
            if (new.kind == SV_VALUE) *part = new.v;
        }
    } else if (sv_is_sequence(v)) {
        SpecTuple *t = arena_copy(a, v.tuple, sizeof *t);
        t->data = arena_array(a, SpecValue, t->len + 1);
        for (int i = 0; i < t->len; i++) t->data[i] = sv_map(a, v.tuple->data[i], fn, ctx);
        v.tuple = t;
    } else {
        v = fn(ctx, v);
    }
    return v;
}

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
    Flatten f = {sp, out, at, false};
    sv_map(sp->arena, v, take_leaf, &f);
    return !f.failed;
}

/* Replaces the leaves; with `marked`, only those that a join marked. */
typedef struct Rebuild { bool marked; Value *const *data; int *next; } Rebuild;

static SpecValue put_leaf(void *ctx, SpecValue v)
{
    const Rebuild *r = ctx;
    bool is_leaf = r->marked ? v.kind == SV_VALUE && v.v == LEAF
                             : v.kind == SV_VALUE || sv_is_number(v);
    return is_leaf ? sv_value(r->data[(*r->next)++]) : v;
}

SpecValue merge_rebuild(Spec *sp, SpecValue v, Value *const *data, int *next)
{
    return sv_map(sp->arena, v, put_leaf, &(Rebuild){false, data, next});
}

SpecValue merge_result(Spec *sp, SpecValue joined, Value *const *data, int *next)
{
    return sv_map(sp->arena, joined, put_leaf, &(Rebuild){true, data, next});
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
    Value *bits = build_const(b, type_with_elem(t, ty, type_scalar(t, DT_I64)), 0);
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
    bool is_value_a = a.kind == SV_VALUE || sv_is_number(a),
         is_value_b = b.kind == SV_VALUE || sv_is_number(b);
    if (!is_value_a || !is_value_b) return false;
    Value *x = value_at(j, j->a, a, at), *y = value_at(j, j->b, b, at);
    if (!x || !y || x->type != y->type) return false;
    *out = add_leaf(j, x, y);
    return true;
}

static bool join_sequences(Join *j, SpecValue a, SpecValue b, Span at, SpecValue *out)
{
    if (!sv_is_same_class(a.tuple, b.tuple)) return false;
    SpecTuple *t = arena_copy(j->sp->arena, a.tuple, sizeof *t);
    t->data = arena_array(j->sp->arena, SpecValue, t->len + 1);
    for (int i = 0; i < t->len; i++) {
        if (!merge_join(j, a.tuple->data[i], b.tuple->data[i], at, &t->data[i])) return false;
    }
    *out = sv_tuple(a.kind, t);
    return true;
}

static bool join_addresses(Join *j, SpecValue a, SpecValue b, SpecValue *out)
{
    if (!block_ptr_is_alike(a.block_ptr, b.block_ptr)) return false;
    *out = a;
    out->block_ptr = arena_copy(j->sp->arena, a.block_ptr, sizeof *a.block_ptr);
    for (int i = 0; i < BLOCK_PTR_PARTS; i++) {
        Value **x = &out->block_ptr->parts[i], *y = b.block_ptr->parts[i];
        if (*x == y) continue;
        if (!*x || !y || (*x)->type != y->type) return false;
        if (!is_same_value(*x, y)) *x = add_leaf(j, *x, y).v;
    }
    return true;
}

/* Both sides are one compile-time value, or one value made before the paths parted, or equal
   constants (then made anew behind the join, so that the number stays known). */
static bool join_common(Join *j, SpecValue a, SpecValue b, SpecValue *out)
{
    if (sv_is_sequence(a) && a.kind == b.kind && a.tuple == b.tuple) return *out = a, true;
    if (is_address(a) && a.kind == b.kind && a.block_ptr == b.block_ptr) return *out = a, true;
    if (sv_is_sequence(a) || is_address(a) || !sv_is_same(a, b)) return false;
    *out = a;
    if (a.kind != SV_VALUE || a.v == b.v) return true;
    uint64_t bits;
    if (!ir_const_bits(a.v, &bits)) return false;
    out->v = build_const(&j->sp->b, a.v->type, bits);
    return true;
}

bool merge_join(Join *j, SpecValue a, SpecValue b, Span at, SpecValue *out)
{
    if (a.kind == SV_ERROR || b.kind == SV_ERROR) return *out = sv_error(), true;
    if (join_common(j, a, b, out)) return true;
    int left = j->left.len, right = j->right.len;
    bool ok = false;
    if (sv_is_sequence(a) && a.kind == b.kind) ok = join_sequences(j, a, b, at, out);
    else if (is_address(a) && a.kind == b.kind) ok = join_addresses(j, a, b, out);
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
