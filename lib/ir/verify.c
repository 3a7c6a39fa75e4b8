/* The verifier. First the structure: ids, links and use lists, so that what follows can trust them.
   Then, region by region, the rules: every value is used after its definition, in its region or an
   inner one; a region ends in one terminator, the one its op asks for; types are sound; and each
   op's own rules (verify_op.c), those of its layouts (verify_layout.c) and of what is under way
   (verify_async.c) among them. */
#include "ir/verify.h"

#include <string.h>

#include "base/power.h"
#include "base/unwind.h"
#include "ir/machine.h"
#include "ir/print.h"
#include "ir/verify_op.h"
#include "linear/shared.h"

enum { MAX_WARPS = 32, MAX_PADDED_LOG2 = LAYOUT_MAX_BITS };

bool verify_report(Verifier *v, const Op *op, const char *text)
{
    Diag *d = diag_error(v->dx, ir_span(op->loc), "%s: %s", tkc_op_info(op->kind)->name, text);
    if (d) {
        Buf line = buf_make(&v->scratch);
        ir_print_op(&line, op);
        diag_note(v->dx, d, SPAN_NONE, "in '%s' of '%s'", buf_text(&line), v->fn->name);
    }
    return v->ok = false;
}

/* ---- structure ---- */

/* Nothing is printed of a function whose structure is broken. */
static bool broken(Verifier *v, const Op *op, const char *what)
{
    diag_error(v->dx, op ? ir_span(op->loc) : ir_span(v->fn->loc), "%s in '%s': %s",
               op ? tkc_op_info(op->kind)->name : "a region", v->fn->name, what);
    return v->ok = false;
}

typedef struct Structure {
    Bitset ids;
    int64_t operands, uses; /* in all operand arrays, in all use lists */
} Structure;

static bool check_value(Verifier *v, Structure *s, const Op *op, const Value *x)
{
    if (!x->type) return broken(v, op, "a value has no type");
    if (x->id >= v->fn->nvalues) return broken(v, op, "a value's id is out of range");
    if (!bitset_add(&s->ids, (int)x->id)) return broken(v, op, "two values have one id");
    const Use *prev = NULL;
    for (const Use *u = x->uses; u; prev = u, u = u->next) {
        if (u->value != x || u->prev != prev) return broken(v, op, "a use list is broken");
        const Op *user = u->user;
        if (u < user->args || u >= user->args + user->nargs)
            return broken(v, op, "a use belongs to no operand");
        if (!user->region) return broken(v, op, "a value is used by an op outside of the function");
        s->uses++;
    }
    return true;
}

static bool check_structure(Verifier *v, Structure *s, const Region *r);

static bool check_op_structure(Verifier *v, Structure *s, const Region *r, const Op *op)
{
    if (op->kind <= OP_NONE || op->kind >= OP_COUNT) return broken(v, NULL, "an op of no kind");
    if (op->region != r) return broken(v, op, "an op names another region than its own");
    if (op->prev ? op->prev->next != op : r->first != op)
        return broken(v, op, "the list of ops is broken");
    if (op->next ? op->next->prev != op : r->last != op)
        return broken(v, op, "the list of ops is broken");
    if (op->nregions != tkc_op_info(op->kind)->nregions)
        return broken(v, op, "wrong number of regions");
    for (int i = 0; i < op->nargs; i++) {
        const Use *u = &op->args[i];
        if (!u->value || u->user != op) return broken(v, op, "an operand is not set");
        if (u->prev ? u->prev->next != u : u->value->uses != u)
            return broken(v, op, "a use list is broken");
    }
    s->operands += op->nargs;
    for (int i = 0; i < op->nresults; i++) {
        const Value *x = op->results[i];
        if (x->def != op || x->region || x->index != i)
            return broken(v, op, "a result is not its op's");
        if (!check_value(v, s, op, x)) return false;
    }
    for (int i = 0; i < op->nregions; i++) {
        if (op->regions[i]->parent != op) return broken(v, op, "a region is not its op's");
        if (!check_structure(v, s, op->regions[i])) return false;
    }
    return true;
}

static bool check_structure(Verifier *v, Structure *s, const Region *r)
{
    if (r->func != v->fn) return broken(v, r->parent, "a region belongs to another function");
    for (int i = 0; i < r->nargs; i++) {
        const Value *x = r->args[i];
        if (x->region != r || x->def || x->index != i)
            return broken(v, r->parent, "an argument is not its region's");
        if (!check_value(v, s, r->parent, x)) return false;
    }
    for (const Op *op = r->first; op; op = op->next)
        if (!check_op_structure(v, s, r, op)) return false;
    return true;
}

static bool has_sound_structure(Verifier *v)
{
    Structure s = {.ids = bitset_make(&v->scratch, (int)v->fn->nvalues)};
    if (!check_structure(v, &s, v->fn->body)) return false;
    return s.uses == s.operands ||
           broken(v, NULL, "an operand is a value that is not in the function");
}

/* ---- the function's head ---- */

/* A broken rule of the function itself; gives false. */
#define fail_func(v, ...)                                                                          \
    (diag_error((v)->dx, ir_span((v)->fn->loc), "function '%s': %s", (v)->fn->name,                \
                arena_printf(&(v)->scratch, __VA_ARGS__)),                                         \
     (v)->ok = false)

static void check_dims(Verifier *v, const Param *p, const char *what, const int64_t *known,
                       const int *param, int least)
{
    for (int i = 0; i < p->rank; i++) {
        if (param[i] < -1 || param[i] >= v->fn->nparams) {
            fail_func(v, "'%s' has %s %d from parameter %d of %d", p->name, what, i, param[i],
                      v->fn->nparams);
        } else if (param[i] >= 0 && !(type_is_int(v->fn->params[param[i]].type) &&
                                      type_is_scalar(v->fn->params[param[i]].type))) {
            fail_func(v, "'%s' has %s %d from '%s', expected an integer, found %s", p->name, what,
                      i, v->fn->params[param[i]].name,
                      verify_text(v, v->fn->params[param[i]].type));
        } else if (param[i] < 0 && known[i] < least) {
            fail_func(v, "'%s' has %s %d of %lld, expected at least %d", p->name, what, i,
                      (long long)known[i], least);
        }
    }
}

static void check_param(Verifier *v, const Param *p, const Value *arg)
{
    if (arg->type != p->type) {
        fail_func(v, "'%s' is declared as %s and used as %s", p->name, verify_text(v, p->type),
                  verify_text(v, arg->type));
    }
    if (p->type->kind != TY_SCALAR && p->type->kind != TY_POINTER) {
        fail_func(v, "'%s' is %s, expected a scalar or a pointer", p->name,
                  verify_text(v, p->type));
    }
    if (p->divisibility < 1)
        fail_func(v, "'%s' has divisibility %lld", p->name, (long long)p->divisibility);
    if (p->rank && p->type->kind != TY_POINTER)
        fail_func(v, "'%s' has extents and is no pointer", p->name);
    check_dims(v, p, "extent", p->extent, p->extent_param, 0);
    check_dims(v, p, "stride", p->stride, p->stride_param, -1);
}

static bool check_head(Verifier *v)
{
    const Func *fn = v->fn;
    if (fn->num_warps < 1 || fn->num_warps > MAX_WARPS || (fn->num_warps & (fn->num_warps - 1))) {
        fail_func(v, "num_warps is %d, expected a power of two from 1 to %d", fn->num_warps,
                  MAX_WARPS);
    }
    if (fn->num_stages < 0) fail_func(v, "num_stages is %d, expected at least 0", fn->num_stages);
    if (fn->max_registers < 0)
        fail_func(v, "max_registers is %d, expected at least 0", fn->max_registers);
    if (fn->nparams != fn->body->nargs)
        return fail_func(v, "%d parameters and %d arguments", fn->nparams, fn->body->nargs);
    for (int i = 0; i < fn->nparams; i++) check_param(v, &fn->params[i], fn->body->args[i]);
    return v->ok;
}

/* ---- types ---- */

static bool check_size(Verifier *v, const Op *op, const Type *ty)
{
    uint8_t dims[TKC_MAX_RANK];
    if (layout_pad(ty->rank, ty->shape, dims) <= MAX_PADDED_LOG2) return true;
    return verify_fail(v, op, "%s has more than %d elements", verify_text(v, ty),
                       1 << MAX_PADDED_LOG2);
}

static bool has_layout_of_shape(Verifier *v, const Op *op, const Type *ty)
{
    const Layout *l = ty->layout;
    uint8_t dims[TKC_MAX_RANK];
    layout_pad(ty->rank, ty->shape, dims);
    return (l->rank == ty->rank && memcmp(l->dim_log2, dims, (size_t)ty->rank) == 0) ||
           verify_fail(v, op, "the layout of %s is of another shape", verify_text(v, ty));
}

static bool check_layout(Verifier *v, const Op *op, const Type *ty)
{
    const Layout *l = ty->layout;
    if (!has_layout_of_shape(v, op, ty)) return false;
    const int warps = log2_floor(v->fn->num_warps);
    if (l->nbits[DIM_LANE] != MACHINE_LANE_BITS || l->nbits[DIM_WARP] != warps) {
        return verify_fail(
            v, op, "the layout of %s has %d lane and %d warp bits, expected %d and %d",
            verify_text(v, ty), l->nbits[DIM_LANE], l->nbits[DIM_WARP], MACHINE_LANE_BITS, warps);
    }
    if (layout_has_offset(l))
        return verify_fail(v, op, "%s is laid out in shared memory", verify_text(v, ty));
    if (!layout_is_surjective(l))
        return verify_fail(v, op, "elements of %s have no holder", verify_text(v, ty));
    return true;
}

static bool check_smem(Verifier *v, const Op *op, const Type *ty)
{
    if (op->kind != OP_ALLOC)
        return verify_fail(v, op, "gives %s, which only alloc does", verify_text(v, ty));
    if (!check_size(v, op, ty) || !has_layout_of_shape(v, op, ty)) return false;
    return shared_is_sound(ty->layout) ||
           verify_fail(v, op,
                       "the layout of %s is none of offsets that go to elements of their own",
                       verify_text(v, ty));
}

static bool check_type(Verifier *v, const Op *op, const Type *ty)
{
    if (ty->kind == TY_NONE || ty->kind == TY_ERROR)
        return verify_fail(v, op, "a value of no type");
    if (ty->kind == TY_SMEM) return check_smem(v, op, ty);
    if (ty->kind != TY_BLOCK) return true;
    if (!check_size(v, op, ty)) return false;
    if (!ty->layout) {
        if (!v->not_laid_out) v->not_laid_out = op;
        return true;
    }
    if (!v->laid_out) v->laid_out = op;
    return check_layout(v, op, ty);
}

/* ---- regions ---- */

static void check_region(Verifier *v, const Region *r);

static bool check_operands(Verifier *v, const Op *op)
{
    for (int i = 0; i < op->nargs; i++) {
        if (bitset_has(&v->visible, (int)op->args[i].value->id)) continue;
        return verify_fail(v, op,
                           "operand %d is not defined before, in this region or an outer one", i);
    }
    return true;
}

static bool check_types(Verifier *v, const Op *op)
{
    for (int i = 0; i < op->nresults; i++)
        if (!check_type(v, op, op->results[i]->type)) return false;
    for (int i = 0; i < op->nregions; i++) {
        for (int k = 0; k < op->regions[i]->nargs; k++)
            if (!check_type(v, op, op->regions[i]->args[k]->type)) return false;
    }
    return true;
}

/* An op that breaks a rule still defines its results: what uses them is looked at by itself. */
static void check_op(Verifier *v, const Op *op)
{
    if (check_operands(v, op) && check_types(v, op)) {
        for (int i = 0; i < op->nregions; i++) check_region(v, op->regions[i]);
        verify_op(v, op);
    }
    for (int i = 0; i < op->nresults; i++) bitset_add(&v->visible, (int)op->results[i]->id);
}

static OpKind expected_terminator(const Region *r)
{
    if (!r->parent) return OP_RETURN;
    return r->parent->kind == OP_WHILE && r == r->parent->regions[0] ? OP_CONDITION : OP_YIELD;
}

static void check_terminator(Verifier *v, const Region *r)
{
    const char *expected = tkc_op_info(expected_terminator(r))->name;
    if (!r->last) {
        if (r->parent)
            verify_fail(v, r->parent, "an empty region, expected one that ends in '%s'", expected);
        else fail_func(v, "an empty body, expected one that ends in '%s'", expected);
    } else if (r->last->kind != expected_terminator(r)) {
        verify_fail(v, r->last, "a region ends in '%s', expected '%s'",
                    tkc_op_info(r->last->kind)->name, expected);
    }
    for (const Op *op = r->first; op && op != r->last; op = op->next)
        if (ir_is_terminator(op)) verify_fail(v, op, "ops follow the end of a region");
}

static void check_region(Verifier *v, const Region *r)
{
    check_terminator(v, r);
    for (int i = 0; i < r->nargs; i++) bitset_add(&v->visible, (int)r->args[i]->id);
    for (const Op *op = r->first; op; op = op->next) check_op(v, op);
    for (int i = 0; i < r->nargs; i++) bitset_remove(&v->visible, (int)r->args[i]->id);
    for (const Op *op = r->first; op; op = op->next)
        for (int i = 0; i < op->nresults; i++) bitset_remove(&v->visible, (int)op->results[i]->id);
}

static void check_layouts_complete(Verifier *v)
{
    if (!v->laid_out || !v->not_laid_out) return;
    verify_fail(v, v->not_laid_out, "a block without a layout, while %s has one",
                tkc_op_info(v->laid_out->kind)->name);
}

static void check_func(Verifier *v)
{
    if (!has_sound_structure(v) || !check_head(v)) return;
    v->visible = bitset_make(&v->scratch, (int)v->fn->nvalues);
    check_region(v, v->fn->body);
    check_layouts_complete(v);
}

/* What is raised meanwhile goes on once the scratch memory is given back. */
bool ir_verify(const Func *fn, Diags *dx)
{
    Verifier v = {.fn = fn, .dx = dx, .ok = true};
    UnwindFrame frame;
    arena_init(&v.scratch);
    unwind_push(&frame);
    volatile bool raised = setjmp(frame.env) != 0;
    if (!raised) check_func(&v);
    unwind_pop(&frame);
    arena_fini(&v.scratch);
    if (raised) unwind_raise_again(&frame);
    return v.ok;
}
