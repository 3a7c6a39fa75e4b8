/* What holds for values of every kind. */
#include "spec/value.h"

#include <string.h>

#include "spec/record.h"

static const struct { const char *class, *description; } kinds[] = {
#define KIND(ID, class, description) {class, description},
#include "spec/values.def"
#undef KIND
};

const char *sv_class(SpecValue v)
{
    return v.kind == SV_RECORD ? v.tuple->type_name : kinds[v.kind].class;
}

const char *sv_description(SpecValue v)
{
    return kinds[v.kind].description;
}

bool sv_is_constant(SpecValue v)
{
    if (v.kind == SV_METHOD) return sv_is_constant(*v.method->self);
    bool is_constant = v.kind != SV_VALUE && !sv_is_address(v);
    for (int i = 0; is_constant && sv_is_sequence(v) && i < v.tuple->len; i++)
        is_constant = sv_is_constant(v.tuple->data[i]);
    return is_constant;
}

bool sv_is_same_class(const SpecTuple *a, const SpecTuple *b)
{
    if (a->len != b->len || a->type_name != b->type_name || !a->names != !b->names) return false;
    for (int i = 0; i < a->len && a->names; i++)
        if (a->names[i] != b->names[i]) return false;
    return true;
}

bool sv_is_record(SpecValue v, const char *type)
{
    return v.kind == SV_RECORD && !v.tuple->record_class && strcmp(v.tuple->type_name, type) == 0;
}

int sv_find_field(const SpecTuple *t, Str name)
{
    for (int i = 0; t->names && i < t->len; i++)
        if (t->names[i] == name) return i;
    return -1;
}

bool sv_all_pairs(const SpecTuple *a, const SpecTuple *b, bool (*is)(SpecValue a, SpecValue b))
{
    bool all = a->len == b->len;
    for (int i = 0; all && i < a->len; i++) all = is(a->data[i], b->data[i]);
    return all;
}

bool sv_same_value(const Value *a, const Value *b)
{
    uint64_t x, y;
    return a == b || (a->type == b->type && ir_const_bits(a, &x) && ir_const_bits(b, &y) && x == y);
}

bool sv_is_alike(const SpecBlockPtr *a, const SpecBlockPtr *b)
{
    return a->base->type == b->base->type && a->block.rank == b->block.rank &&
           memcmp(a->block.dims, b->block.dims, (size_t)a->block.rank * sizeof *a->block.dims) == 0 &&
           a->padding == b->padding && !a->offsets[0] == !b->offsets[0];
}

static bool is_same_address(SpecValue a, SpecValue b)
{
    Value *const *x = a.block_ptr->parts, *const *y = b.block_ptr->parts;
    if (!sv_is_alike(a.block_ptr, b.block_ptr)) return false;
    for (int i = 0; i < BLOCK_PTR_PARTS; i++)
        if (x[i] != y[i] && (!x[i] || !y[i] || !sv_same_value(x[i], y[i]))) return false;
    return true;
}

bool sv_is_same(SpecValue a, SpecValue b)
{
    if (a.kind != b.kind) return false;
    switch (a.kind) {
    case SV_ERROR: case SV_ABSENT: case SV_NONE: case SV_ELLIPSIS: return true;
    case SV_BOOL: return a.b == b.b;
    case SV_INT: return a.i == b.i;
    case SV_FLOAT: return a.f == b.f && !__builtin_signbit(a.f) == !__builtin_signbit(b.f);
    case SV_TUPLE: case SV_LIST: case SV_RECORD:
        return a.tuple == b.tuple || (sv_is_same_class(a.tuple, b.tuple) &&
                                      sv_all_pairs(a.tuple, b.tuple, sv_is_same));
    case SV_FUNC:
        return a.fn == b.fn || (a.fn->def == b.fn->def && a.fn->closure == b.fn->closure &&
                                a.fn->self == b.fn->self && a.fn->defaults == b.fn->defaults);
    case SV_METHOD:
        return a.method->builtin == b.method->builtin &&
               sv_is_same(*a.method->self, *b.method->self);
    case SV_SLICE:
        return sv_is_same(a.slice->lo, b.slice->lo) && sv_is_same(a.slice->hi, b.slice->hi) &&
               sv_is_same(a.slice->step, b.slice->step);
    case SV_VALUE: return sv_same_value(a.v, b.v);
    case SV_BLOCK_PTR: case SV_DESC: return is_same_address(a, b);
    default: return a.s == b.s; /* one pointer, to whatever the kind is */
    }
}

bool sv_is_same_form(SpecValue a, SpecValue b)
{
    if (sv_is_operand(a)) return sv_is_operand(b);
    if (a.kind != b.kind) return false;
    if (sv_is_address(a)) return sv_is_alike(a.block_ptr, b.block_ptr);
    if (a.kind == SV_METHOD)
        return a.method->builtin == b.method->builtin &&
               sv_is_same_form(*a.method->self, *b.method->self);
    if (!sv_is_sequence(a)) return sv_is_same(a, b);
    bool is_same = sv_is_same_class(a.tuple, b.tuple);
    for (int i = 0; is_same && i < a.tuple->len; i++)
        is_same = (record_is_constexpr(a.tuple, i) ? sv_is_same : sv_is_same_form)(
            a.tuple->data[i], b.tuple->data[i]);
    return is_same;
}

bool sv_is_runtime(SpecValue v)
{
    uint64_t bits;
    if (v.kind == SV_VALUE) return !ir_const_bits(v.v, &bits) || type_is_block(v.v->type);
    if (sv_is_address(v)) return true;
    if (!sv_is_sequence(v)) return false;
    for (int i = 0; i < v.tuple->len; i++)
        if (sv_is_runtime(v.tuple->data[i])) return true;
    return false;
}

SpecValue sv_map(Arena *a, SpecValue v, LeafFn fn, void *ctx)
{
    if (sv_is_address(v)) {
        v.block_ptr = arena_copy(a, v.block_ptr, sizeof *v.block_ptr);
        for (int i = 0; i < BLOCK_PTR_PARTS; i++) {
            Value **part = &v.block_ptr->parts[i];
            SpecValue new = *part ? fn(ctx, sv_value(*part)) : sv_none();
            if (new.kind == SV_VALUE) *part = new.v;
        }
    } else if (sv_is_sequence(v)) {
        SpecTuple *t = arena_copy(a, v.tuple, sizeof *t);
        t->data = arena_array(a, SpecValue, t->len + 1);
        for (int i = 0; i < t->len; i++)
            t->data[i] = record_is_constexpr(t, i) ? v.tuple->data[i]
                                                   : sv_map(a, v.tuple->data[i], fn, ctx);
        v.tuple = t;
    } else if (v.kind == SV_METHOD) {
        const SpecValue self = sv_map(a, *v.method->self, fn, ctx);
        SpecMethod *m = arena_copy(a, v.method, sizeof *m);
        m->self = arena_copy(a, &self, sizeof self);
        v.method = m;
    } else {
        v = fn(ctx, v);
    }
    return v;
}
