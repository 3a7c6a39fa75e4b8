/* The rules of each op: those of ir/rule.c, which its builder has as well, and those of its regions
   and of its function's level, which only a whole function can break. Each check stops at the first
   thing that is wrong with its op. */
#include "ir/verify_op.h"

#include "ir/rule.h"
#include "tkc/carry.h"

static bool expect_type(Verifier *v, const Op *op, const char *what, const Type *found,
                        const Type *expected)
{
    if (found == expected) return true;
    return verify_fail(v, op, "%s is %s, expected %s", what, verify_text(v, found),
                       verify_text(v, expected));
}

/* ---- regions ---- */

/* The region ends in an op that passes values of these types on. */
static bool check_passed(Verifier *v, const Region *r, int n, const Type *const *types)
{
    const Op *last = r->last;
    if (!last || !ir_is_terminator(last)) return false; /* reported by the walk */
    const int skip = carry_own_ends(last);
    if (last->nargs != skip + n)
        return verify_fail(v, last, "passes on %d values, expected %d", last->nargs - skip, n);
    for (int i = 0; i < n; i++) {
        if (!expect_type(v, last, "a value passed on", op_arg(last, skip + i)->type, types[i]))
            return false;
    }
    return true;
}

static bool check_region_args(Verifier *v, const Op *op, const Region *r, int n,
                              const Type *const *types)
{
    if (r->nargs != n)
        return verify_fail(v, op, "a region has %d arguments, expected %d", r->nargs, n);
    for (int i = 0; i < n; i++)
        if (!expect_type(v, op, "a region's argument", r->args[i]->type, types[i])) return false;
    return true;
}

static bool check_inits(Verifier *v, const Op *op)
{
    const int given = op->nargs - carry_own_args(op);
    if (given != op->nresults)
        return verify_fail(v, op, "%d initial values for %d results", given, op->nresults);
    for (int i = 0; i < op->nresults; i++) {
        const Type *result = op_result(op, i)->type;
        if (!expect_type(v, op, "an initial value", carry_init(op, i)->type, result)) return false;
    }
    return true;
}

/* All members of a slot have one type; region arguments before them that of operand 0. */
static bool check_carried(Verifier *v, const Op *op)
{
    const int n = op->nresults, own = carry_own_params(op);
    const bool is_loop = op->kind != OP_IF;
    const Type **types = arena_array(&v->scratch, const Type *, own + n);
    if (own) types[0] = op_arg(op, 0)->type;
    for (int i = 0; i < n; i++) types[own + i] = op_result(op, i)->type;
    if (is_loop && !check_inits(v, op)) return false;
    for (int i = 0; i < op->nregions; i++) {
        if (!check_region_args(v, op, op->regions[i], is_loop ? own + n : 0, types) ||
            !check_passed(v, op->regions[i], n, types + own))
            return false;
    }
    return true;
}

/* A combine computes on scalars and nothing else. */
static bool check_combine_op(Verifier *v, const Op *combine, const Region *r)
{
    for (const Op *op = r->first; op; op = op->next) {
        if (!ir_may_combine(op)) {
            return verify_fail(v, op, "an op with effects in the combine of '%s'",
                               tkc_op_info(combine->kind)->name);
        }
        for (int i = 0; i < op->nresults; i++) {
            if (type_is_block(op_result(op, i)->type))
                return verify_fail(v, op, "a value in a combine is %s, expected a scalar",
                                   verify_text(v, op_result(op, i)->type));
        }
        for (int i = 0; i < op->nregions; i++)
            if (!check_combine_op(v, combine, op->regions[i])) return false;
    }
    return true;
}

/* The region combines 2n scalars to n. */
static bool check_combine(Verifier *v, const Op *op)
{
    const int n = op->kind == OP_CARRY ? op->nresults : op->nargs;
    if (!op->nresults) return verify_fail(v, op, "%d operands and no results", op->nargs);
    const Type **types = arena_array(&v->scratch, const Type *, 2 * n);
    for (int i = 0; i < n; i++) types[i] = types[n + i] = tkc_type_element(op_arg(op, i)->type);
    return check_region_args(v, op, op->regions[0], 2 * n, types) &&
           check_passed(v, op->regions[0], n, types) && check_combine_op(v, op, op->regions[0]);
}

static bool check_regions(Verifier *v, const Op *op)
{
    if (!op->nregions) return true;
    return ir_has(op, OT_PURE) ? check_combine(v, op) : check_carried(v, op);
}

/* ---- levels ---- */

/* The first result that only canonical holders have, as one of the memory level. */
static int first_canonical(const Op *op)
{
    if (ir_has(op, OT_ATOMIC)) return 0;
    return op->kind == OP_SCAN ? op->nargs : op->nresults;
}

static bool check_canonical_uses(Verifier *v, const Op *op, const Value *result)
{
    const Type *ty = result->type;
    if (type_is_block(ty) && (!ty->layout || !layout_has_free_threads(ty->layout))) return true;
    for (const Use *u = result->uses; u; u = u->next) {
        const Op *user = u->user;
        if (user->kind == OP_SSTORE ||
            (user->kind == OP_CONVERT && tkc_op_int(user, ATTR_CANONICAL, 0)))
            continue;
        return verify_fail(v, op, "'%s' takes the result, which only canonical holders have",
                           tkc_op_info(user->kind)->name);
    }
    return true;
}

/* Rings are there at both levels. */
static bool stores_to_ring(const Op *op)
{
    const Op *alloc = op->kind == OP_SSTORE ? op_arg(op, 0)->def : NULL;
    return alloc && alloc->kind == OP_ALLOC && tkc_op_attr(alloc, ATTR_COPIES);
}

static bool check_level(Verifier *v, const Op *op)
{
    if (v->fn->level == LEVEL_MEMORY && ir_has(op, OT_TEN))
        return verify_fail(v, op, "is of the tensor level, the function is of the memory level");
    for (int i = first_canonical(op); v->fn->level == LEVEL_MEMORY && i < op->nresults; i++)
        if (!check_canonical_uses(v, op, op_result(op, i))) return false;
    if (v->fn->level == LEVEL_MEMORY) return true;
    const bool only_there =
        (ir_has(op, OT_MEM) && !stores_to_ring(op)) || tkc_op_attr(op, ATTR_SLOTS) ||
        tkc_op_attr(op, ATTR_CANONICAL) || (op->kind == OP_ALLOC && !tkc_op_attr(op, ATTR_COPIES));
    return !only_there || verify_fail(v, op, "is of the memory level, the function is not");
}

bool verify_op(Verifier *v, const Op *op)
{
    const int nresults = tkc_op_info(op->kind)->nresults;
    if (nresults >= 0 && op->nresults != nresults)
        return verify_fail(v, op, "%d results, expected %d", op->nresults, nresults);
    const char *problem = rule_problem(ir_of(v->fn), &v->scratch, op);
    if (problem) return verify_fail(v, op, "%s", problem);
    return check_regions(v, op) && check_level(v, op) && verify_layouts(v, op) &&
           verify_async(v, op);
}
