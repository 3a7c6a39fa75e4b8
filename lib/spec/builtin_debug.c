/* Printing, assertions, barriers, and hints the compiler takes at their word. */
#include <string.h>

#include "spec/argument.h"
#include "spec/eval.h"

/* ---- printing ---- */

static SpecValue print(Spec *sp, const Call *c, int from, const char *prefix, bool hex)
{
    Value **values = arena_array(sp->arena, Value *, c->nrest + 1);
    for (int i = from; i < c->nrest; i++) {
        values[i] = op_to_value(sp, c->rest[i], c->at);
        if (!values[i]) return sv_error();
    }
    build_print(&sp->b, prefix, hex, c->nrest - from, values + from);
    return sv_none();
}

/* The first n values, with blanks between them. */
static const char *text_of(Spec *sp, const Call *c, int n)
{
    Buf out = buf_make(sp->arena);
    for (int i = 0; i < n; i++) {
        if (i) buf_putc(&out, ' ');
        constant_print(sp, &out, c->rest[i], false);
    }
    return buf_text(&out);
}

SpecValue builtin_device_print(Spec *sp, const Call *c)
{
    if (c->args[0].kind != SV_STR) {
        arg_refuse(sp, c, 0, "a string");
        return spec_note(sp, SPAN_NONE,
                         "what to call it comes first, as in tl.device_print(\"x\", x)");
    }
    return print(sp, c, 0, c->args[0].s, c->args[2].b);
}

/* Python's print: its leading compile-time values are the prefix. */
SpecValue builtin_print(Spec *sp, const Call *c)
{
    int from = 0;
    while (from < c->nrest && sv_is_constant(c->rest[from])) from++;
    return print(sp, c, from, text_of(sp, c, from), false);
}

/* A note of its own: neither a warning nor something to be asked for. */
SpecValue builtin_static_print(Spec *sp, const Call *c)
{
    Diag *d = diag_remark(sp->dx, DIAG_LANGUAGE, c->at, "%s", text_of(sp, c, c->nrest));
    if (d) d->severity = SEV_NOTE;
    return sv_none();
}

/* ---- assertions ---- */

SpecValue builtin_static_assert(Spec *sp, const Call *c)
{
    int truth = op_truth(sp, c->args[0], c->spans[0]);
    if (truth == -2) return sv_error();
    if (truth == -1) return arg_refuse(sp, c, 0, "known while compiling");
    if (truth) return sv_none();
    Buf message = buf_make(sp->arena);
    if (arg_is_given(c, 1)) constant_print(sp, &message, c->args[1], false);
    sp->frame->raised = true;
    return spec_error(sp, c->at, "static assertion failed%s%s", message.len ? ": " : "",
                      buf_text(&message));
}

static Value *condition(Spec *sp, const Call *c, int i)
{
    return op_cast(sp, c->args[i].v, type_scalar(sp->ir->types, DT_I1), false, NULL, c->spans[i]);
}

SpecValue builtin_device_assert(Spec *sp, const Call *c)
{
    Value *cond = condition(sp, c, 0), *mask = NULL;
    if (!cond) return sv_error();
    if (arg_is_given(c, 2)) {
        mask = condition(sp, c, 2);
        if (!mask || !broadcast_pair(sp, &cond, &mask, c->at)) return sv_error();
    }
    uint64_t bits;
    if (sp->rq->no_asserts || (ir_const_bits(cond, &bits) && bits)) return sv_none();
    build_assert(&sp->b, cond, mask, c->args[1].s);
    return sv_none();
}

/* Only debugging looks at it, as at any assertion. */
SpecValue builtin_expect_zero(Spec *sp, const Call *c)
{
    Value *x = c->args[0].v, *mask = condition(sp, c, 1);
    if (!mask) return sv_error();
    Value *is_zero = build_binary(&sp->b, OP_EQ, x, build_const(&sp->b, x->type, 0));
    if (!broadcast_pair(sp, &is_zero, &mask, c->at)) return sv_error();
    build_assert(&sp->b, is_zero, mask, "a value that was expected to be 0 is not");
    return sv_value(x);
}

SpecValue builtin_barrier(Spec *sp, const Call *c)
{
    (void)c;
    build_barrier(&sp->b);
    return sv_none();
}

/* ---- marks for a profiler ---- */

SpecValue builtin_profile(Spec *sp, const Call *c)
{
    (void)sp, (void)c;
    return sv_none();
}

/* ---- hints ---- */

SpecValue builtin_assume(Spec *sp, const Call *c)
{
    int truth = op_truth(sp, c->args[0], c->spans[0]);
    if (truth == -2) return sv_error();
    if (truth == 0) spec_warning(sp, DIAG_ASSUMPTION, c->at, "an assumption that is false");
    if (truth >= 0) return sv_none();
    Value *cond = branch_condition(sp, c->args[0], c->spans[0]);
    if (!cond) return sv_error();
    build_assume(&sp->b, cond);
    return sv_none();
}

static AttrKey hint_key(const char *name)
{
    if (strcmp(name, "multiple_of") == 0) return ATTR_DIVISIBILITY;
    return strcmp(name, "max_contiguous") == 0 ? ATTR_CONTIGUITY : ATTR_CONSTANCY;
}

/* Of a number, only that it is a multiple can be false. */
static void check_number_hint(Spec *sp, const Call *c, int64_t by)
{
    const SpecValue *x = &c->args[0];
    if (hint_key(c->builtin->name) == ATTR_DIVISIBILITY && by > 0 && x->kind == SV_INT && x->i % by)
        spec_warning(sp, DIAG_ASSUMPTION, c->at, "a hint that is false: %lld is not a multiple of %lld",
                     (long long)x->i, (long long)by);
}

SpecValue builtin_hint(Spec *sp, const Call *c)
{
    int64_t values[TKC_MAX_RANK];
    int n = arg_ints(sp, c, 1, values);
    if (n < 0) return sv_error();
    if (sv_is_number(c->args[0])) {
        check_number_hint(sp, c, values[0]);
        return c->args[0];
    }
    Value *v = arg_value(sp, c, 0);
    if (!v) return sv_error();
    int rank = v->type->rank ? v->type->rank : 1;
    if (n != rank)
        return spec_error(sp, c->spans[1], "%s needs a number for each of %d dimension%s, found %d",
                          arg_operation(sp, c), rank, rank == 1 ? "" : "s", n);
    for (int i = 0; i < n; i++) {
        if (values[i] < 1)
            return spec_error(sp, c->spans[1], "%s must be at least 1", arg_what(sp, c, 1));
    }
    return sv_value(build_hint(&sp->b, v, hint_key(c->builtin->name), n, values));
}
