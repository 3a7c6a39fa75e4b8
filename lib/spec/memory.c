/* One place builds every load and store, so that casts, masks and attributes are decided once. */
#include "spec/memory.h"

#include "spec/advice.h"
#include "spec/argument.h"
#include "tkc/carry.h"

static void set_attributes(Spec *sp, Op *op, const Access *a)
{
    if (a->cache) ir_set_str(sp->fn, op, ATTR_CACHE, a->cache);
    if (a->eviction) ir_set_str(sp->fn, op, ATTR_EVICT, a->eviction);
    if (a->is_volatile) ir_set_int(sp->fn, op, ATTR_VOLATILE, 1);
}

Value *memory_load(Spec *sp, const Access *a, Value *other)
{
    Value *v = build_load(&sp->b, a->pointer, a->mask, a->mask ? other : NULL);
    set_attributes(sp, v->def, a);
    return v;
}

/* A pointer for elements that hold no address. */
static bool is_unread(SpecValue value, const Type *elem)
{
    if (value.kind != SV_VALUE || !type_is_pointer(value.v->type)) return false;
    return elem->kind == TY_SCALAR && elem->dtype != DT_I64 && elem->dtype != DT_U64 &&
           elem->dtype != DT_I1;
}

/* v, made of `value`, in the shape of the pointers' type. */
static Value *beside_pointer(Spec *sp, const Type *pointer, Value *v, SpecValue value,
                             const char *what, Span at)
{
    Shape shape = shape_of(pointer);
    if (shape.rank || !type_is_block(v->type)) return broadcast_value(sp, v, &shape, at);
    spec_error(sp, at, "%s is %s, but the pointer is a scalar %s", what, spec_describe(sp, value),
               type_text(sp->arena, pointer));
    spec_note(sp, at, "add a block of offsets to the pointer, such as tl.arange(0, N)");
    return NULL;
}

Value *memory_operand(Spec *sp, const Type *pointer, SpecValue value, const char *what, Span at)
{
    const Type *elem = tkc_type_element(pointer)->elem;
    if (is_unread(value, elem)) {
        spec_error(sp, at, "%s is %s, a pointer, and the elements are %s", what,
                   spec_describe(sp, value), type_text(sp->arena, elem));
        advise_load(sp, at);
        return NULL;
    }
    Value *v = sv_is_number(value) && elem->kind == TY_SCALAR
                   ? cast_number(sp, value, type_dtype(elem), at)
                   : op_cast(sp, op_to_value(sp, value, at), elem, false, NULL, at);
    return v ? beside_pointer(sp, pointer, v, value, what, at) : NULL;
}

Value *memory_arg(Spec *sp, const Call *c, int i, const Type *pointer)
{
    return memory_operand(sp, pointer, c->args[i], arg_what(sp, c, i), c->spans[i]);
}

/* What an op makes a pointer of; of a join one source, as both are const or neither is. */
static const Value *pointer_source(const Value *v)
{
    const Op *owner;
    int slot;
    if (tkc_carry_of_value(v, &owner, &slot))
        return owner->kind == OP_IF ? carry_passed(owner->regions[0], slot)
                                    : carry_init(owner, slot);
    for (int i = v->def ? v->def->nargs - 1 : -1; i >= 0; i--) {
        if (type_is_pointer(op_arg(v->def, i)->type)) return op_arg(v->def, i);
    }
    return NULL;
}

bool memory_is_const(const Spec *sp, const Value *pointer)
{
    const Value *v = type_is_pointer(pointer->type) ? pointer : NULL;
    while (v && (v->def || v->region != sp->fn->body)) {
        if (v->def && v->def->kind == OP_LOAD) return false;
        v = pointer_source(v);
    }
    return v && sp->fn->params[v->index].is_const;
}

bool memory_is_alike(const Spec *sp, const Value *x, const Value *y)
{
    return !type_is_pointer(x->type) || memory_is_const(sp, x) == memory_is_const(sp, y);
}

bool memory_takes_stores(Spec *sp, const Value *pointer, Span at)
{
    if (!memory_is_const(sp, pointer)) return true;
    spec_error(sp, at, "Cannot store to a constant pointer");
    spec_note(sp, SPAN_NONE, "its parameter is declared tl.const");
    return false;
}

bool memory_store(Spec *sp, const Access *a, SpecValue value, Span at)
{
    if (!memory_takes_stores(sp, a->pointer, SPAN_NONE)) return false;
    Value *v = memory_operand(sp, a->pointer->type, value, "the stored value", at);
    if (!v) return false;
    set_attributes(sp, build_store(&sp->b, a->pointer, v, a->mask), a);
    return true;
}

bool memory_mask(Spec *sp, const Call *c, int i, const Value *pointer, Value **mask)
{
    const SpecValue value = c->args[i];
    const Span at = c->spans[i];
    *mask = NULL;
    if (!arg_is_given(c, i) || (value.kind == SV_BOOL && value.b)) return true;
    Value *v = op_to_value(sp, value, at);
    if (!v) return false;
    if (!type_is_bool(v->type)) {
        spec_error(sp, at, "a mask is int1, found %s", spec_describe(sp, value));
        spec_note(sp, at, "compare, as in offsets < n");
        return false;
    }
    *mask = beside_pointer(sp, pointer->type, v, value, "the mask", at);
    return *mask != NULL;
}
