/* Atomic loads, stores, waits and read-modify-write. */
#include <string.h>

#include "spec/argument.h"
#include "spec/memory.h"

static const Type *pointee(const Value *pointer)
{
    return tkc_type_element(pointer->type)->elem;
}

/* The pointer, `sem` and what follows it. */
static bool read_atomic(Spec *sp, const Call *c, int sem, AtomicArgs *a)
{
    SpecValue v = c->args[0];
    *a = (AtomicArgs){{v.v}, c->args[sem].s, c->args[sem + 1].s};
    return (sv_is_pointer(v) && pointee(v.v)->kind == TY_SCALAR) ||
           arg_fail(sp, c, 0, "a pointer or a block of pointers to numbers");
}

static SpecValue refuse_dtype(Spec *sp, const Call *c, const Type *elem, const char *expected)
{
    return spec_error(sp, c->at, "%s does not work on %s; it is for %s", arg_operation(sp, c),
                      type_text(sp->arena, elem), expected);
}

/* "add" of tl.atomic_add. */
static const char *rmw_of(const Call *c)
{
    return c->builtin->name + strlen("atomic_");
}

bool atomic_takes(Spec *sp, const Call *c, const Type *elem)
{
    const char *op = rmw_of(c);
    bool add = strcmp(op, "add") == 0, is_float = type_is_float(elem);
    bool order = strcmp(op, "max") == 0 || strcmp(op, "min") == 0;
    int bits = type_bits(elem);
    const bool is_short = bits < 16 || (bits == 16 && !(is_float && (add || order)));
    const char *expected = is_short ? "32- and 64-bit types; fp16 and bf16 only add, max and min"
                           : is_float && !add && !order && strcmp(op, "xchg") != 0 ? "integers"
                                              : NULL;
    if (expected) refuse_dtype(sp, c, elem, expected);
    return !expected;
}

/* Argument 1, the value, and argument 2, the mask. */
static bool read_value(Spec *sp, const Call *c, AtomicArgs *a)
{
    if (!memory_takes_stores(sp, a->args[0], c->spans[0])) return false;
    a->args[1] = memory_arg(sp, c, 1, a->args[0]->type);
    return a->args[1] && memory_mask(sp, c, 2, a->args[0], &a->args[2]);
}

SpecValue builtin_atomic(Spec *sp, const Call *c)
{
    AtomicArgs a;
    if (!read_atomic(sp, c, 3, &a) || !atomic_takes(sp, c, pointee(a.args[0])) ||
        !read_value(sp, c, &a))
        return sv_error();
    return sv_value(build_rmw(&sp->b, rmw_of(c), &a));
}

SpecValue builtin_atomic_cas(Spec *sp, const Call *c)
{
    AtomicArgs a;
    if (!read_atomic(sp, c, 3, &a)) return sv_error();
    const Type *elem = pointee(a.args[0]);
    if (type_bits(elem) < 16) return refuse_dtype(sp, c, elem, "types of 16, 32 and 64 bits");
    if (!memory_takes_stores(sp, a.args[0], c->spans[0])) return sv_error();
    for (int i = 1; i < 3; i++)
        if (!(a.args[i] = memory_arg(sp, c, i, a.args[0]->type))) return sv_error();
    return sv_value(build_atomic(&sp->b, OP_ATOMIC_CAS, NULL, &a));
}

SpecValue builtin_atomic_load(Spec *sp, const Call *c)
{
    AtomicArgs a;
    if (!read_atomic(sp, c, 2, &a) || !memory_mask(sp, c, 1, a.args[0], &a.args[1]))
        return sv_error();
    return sv_value(build_atomic(&sp->b, OP_ATOMIC_LOAD, NULL, &a));
}

SpecValue builtin_atomic_store(Spec *sp, const Call *c)
{
    AtomicArgs a;
    if (!read_atomic(sp, c, 3, &a) || !read_value(sp, c, &a)) return sv_error();
    build_atomic(&sp->b, OP_ATOMIC_STORE, NULL, &a);
    return sv_none();
}

/* NULL in *out: wait for ever. */
static bool timeout_arg(Spec *sp, const Call *c, int i, Value **out)
{
    Value *v = *out = c->args[i].v;
    if (!v) return true;
    int64_t n = 0;
    if (!type_is_scalar(v->type) || !type_is_int(v->type) || type_is_bool(v->type) ||
        (ir_const_int(v, &n) && n < 0))
        return arg_fail(sp, c, i, "a number of nanoseconds");
    *out = build_cast(&sp->b, v, DT_U64, NULL);
    return true;
}

SpecValue builtin_atomic_poll(Spec *sp, const Call *c)
{
    AtomicArgs a;
    if (!read_atomic(sp, c, 2, &a)) return sv_error();
    const Type *elem = pointee(a.args[0]);
    if (!type_is_int(elem) || type_bits(elem) < 16)
        return refuse_dtype(sp, c, elem, "integers of 16, 32 and 64 bits");
    a.args[1] = memory_arg(sp, c, 1, a.args[0]->type);
    if (!a.args[1] || !timeout_arg(sp, c, 4, &a.args[2])) return sv_error();
    return sv_value(build_atomic(&sp->b, OP_ATOMIC_POLL, NULL, &a));
}
