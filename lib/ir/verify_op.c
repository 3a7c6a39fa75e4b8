/* The rules of each op, as small functions in two tables: one by the rule column of ops.def, one by
   op for what its row cannot say. Each stops at the first thing that is wrong with its op. */
#include "ir/verify_op.h"

#include <string.h>

#include "ir/evaluate.h"
#include "ir/tile.h"
#include "tkc/carry.h"
#include "tkc/inline_asm.h"

typedef bool (*OpCheck)(Verifier *v, const Op *op);

/* ---- questions that many rules ask ---- */

static const Type *arg_type(const Op *op, int i)
{
    return op->args[i].value->type;
}

static const Type *result_type(const Op *op, int i)
{
    return op->results[i]->type;
}

static TypeTable *types_of(const Verifier *v)
{
    return ir_of(v->fn)->types;
}

static bool expect_type(Verifier *v, const Op *op, const char *what, const Type *found,
                        const Type *expected)
{
    if (found == expected) return true;
    return verify_fail(v, op, "%s is %s, expected %s", what, verify_text(v, found),
                       verify_text(v, expected));
}

static bool expect_kind(Verifier *v, const Op *op, const char *what, const Type *found,
                        bool is_right, const char *expected)
{
    return is_right ||
           verify_fail(v, op, "%s is %s, expected %s", what, verify_text(v, found), expected);
}

/* `ty` (a block or a scalar) with other elements. */
static const Type *with_elem(const Verifier *v, const Type *ty, const Type *elem)
{
    return type_with_elem(types_of(v), ty, elem);
}

static const Type *with_dtype(const Verifier *v, const Type *ty, DType dt)
{
    return type_with_dtype(types_of(v), ty, dt);
}

static bool expect_shape(Verifier *v, const Op *op, const char *what, const Type *found, int rank,
                         const int32_t *shape)
{
    const Type *expected = tkc_type_element(found);
    if (rank) expected = type_block(types_of(v), expected, rank, shape, NULL);
    if (type_same_shape(found, expected)) return true;
    return verify_fail(v, op, "%s is %s, expected %s", what, verify_text(v, found),
                       verify_text(v, expected));
}

static bool expect_elem(Verifier *v, const Op *op, const char *what, const Type *found,
                        const Type *like)
{
    return expect_type(v, op, what, tkc_type_element(found), tkc_type_element(like));
}

static bool expect_int(Verifier *v, const Op *op, AttrKey key, int64_t least, int64_t most)
{
    const Attr *a = tkc_op_attr(op, key);
    if (!a) return verify_fail(v, op, "the attribute '%s' is missing", tkc_attr_name(key));
    if (a->i >= least && a->i <= most) return true;
    return verify_fail(v, op, "'%s' is %lld, expected %lld to %lld", tkc_attr_name(key),
                       (long long)a->i, (long long)least, (long long)most);
}

/* The attribute, when it is there, is one of the words of `allowed`, which are separated by
   blanks. */
static bool expect_word(Verifier *v, const Op *op, AttrKey key, const char *allowed,
                        bool is_required)
{
    const char *found = tkc_op_str(op, key, NULL);
    if (!found && !is_required) return true;
    if (!found) return verify_fail(v, op, "the attribute '%s' is missing", tkc_attr_name(key));
    size_t len = strlen(found);
    for (const char *s = allowed; *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        if (n == len && memcmp(s, found, n) == 0) return true;
        s += n;
    }
    return verify_fail(v, op, "'%s' is \"%s\", expected one of: %s", tkc_attr_name(key), found,
                       allowed);
}

static bool expect_scalar_bool(Verifier *v, const Op *op, const char *what, const Type *ty)
{
    return expect_kind(v, op, what, ty, type_is_scalar(ty) && type_is_bool(ty), "int1");
}

/* ---- rules of the table ---- */

static bool check_same(Verifier *v, const Op *op)
{
    for (int i = 0; i < op->nargs; i++) {
        if (!expect_type(v, op, "an operand", arg_type(op, i), result_type(op, 0))) return false;
    }
    return true;
}

static bool check_compare(Verifier *v, const Op *op)
{
    return expect_type(v, op, "operand 1", arg_type(op, 1), arg_type(op, 0)) &&
           expect_type(v, op, "the result", result_type(op, 0),
                       with_dtype(v, arg_type(op, 0), DT_I1));
}

static bool check_select(Verifier *v, const Op *op)
{
    const Type *ty = result_type(op, 0), *cond = arg_type(op, 0);
    if (type_is_block(cond) || !type_is_bool(cond)) {
        if (!expect_type(v, op, "the condition", cond, with_dtype(v, ty, DT_I1))) return false;
    }
    return expect_type(v, op, "operand 1", arg_type(op, 1), ty) &&
           expect_type(v, op, "operand 2", arg_type(op, 2), ty);
}

static bool check_cast(Verifier *v, const Op *op)
{
    const Type *from = arg_type(op, 0), *to = result_type(op, 0);
    if (!expect_type(v, op, "the result", to, with_elem(v, from, tkc_type_element(to))))
        return false;
    if (op->kind == OP_CAST) return expect_word(v, op, ATTR_ROUNDING, "rtne rtz", false);
    return type_bits(from) == type_bits(to) ||
           verify_fail(v, op, "the result has %d bits, expected %d", type_bits(to),
                       type_bits(from));
}

static bool check_addptr(Verifier *v, const Op *op)
{
    const Type *ptr = arg_type(op, 0), *offset = arg_type(op, 1);
    return expect_kind(v, op, "operand 0", ptr, type_is_pointer(ptr), "pointers") &&
           expect_kind(v, op, "operand 1", offset, type_is_int(offset), "integers") &&
           expect_type(v, op, "operand 1", offset, with_elem(v, ptr, tkc_type_element(offset))) &&
           expect_type(v, op, "the result", result_type(op, 0), ptr);
}

static const OpCheck rule_checks[] = {
    [RULE_SAME] = check_same,     [RULE_COMPARE] = check_compare, [RULE_SELECT] = check_select,
    [RULE_CAST] = check_cast,     [RULE_ADDPTR] = check_addptr,
};
_Static_assert(RULE_ADDPTR == 6, "a rule without a check");

/* ---- made from nothing ---- */

static bool check_const(Verifier *v, const Op *op)
{
    const Type *ty = result_type(op, 0);
    const Attr *a = tkc_op_attr(op, ATTR_VALUE);
    if (!a) return verify_fail(v, op, "the attribute 'value' is missing");
    if (!expect_kind(v, op, "the result", ty, ty->dtype != DT_NONE, "numbers")) return false;
    uint64_t bits = (uint64_t)a->i;
    int unused = 64 - dtype_info(ty->dtype)->bits;
    bool fits = type_is_float(ty) ? bits << unused >> unused == bits
                                  : bits_from_uint(ty->dtype, bits) == bits;
    return fits || verify_fail(v, op, "the bits 0x%llx are too wide for %s",
                               (unsigned long long)bits, verify_text(v, ty));
}

static bool check_arange(Verifier *v, const Op *op)
{
    const Type *ty = result_type(op, 0);
    if (!expect_kind(v, op, "the result", ty, ty->rank == 1 && ty->dtype == DT_I32,
                     "a 1-D block of int32")) {
        return false;
    }
    return expect_int(v, op, ATTR_START, INT32_MIN, (int64_t)INT32_MAX - ty->shape[0] + 1);
}

static bool check_grid(Verifier *v, const Op *op)
{
    return expect_type(v, op, "the result", result_type(op, 0), type_scalar(types_of(v), DT_I32)) &&
           expect_int(v, op, ATTR_AXIS, 0, 2);
}

static bool check_inline_asm(Verifier *v, const Op *op)
{
    if (!tkc_op_str(op, ATTR_ASM, NULL))
        return verify_fail(v, op, "the attribute 'asm' is missing");
    if (!tkc_op_str(op, ATTR_CONSTRAINTS, NULL))
        return verify_fail(v, op, "the attribute 'constraints' is missing");
    for (int i = 0; i < op->nargs + op->nresults; i++) {
        const Type *ty = i < op->nargs ? arg_type(op, i) : result_type(op, i - op->nargs);
        const Type *first = op->nargs ? arg_type(op, 0) : result_type(op, 0);
        if (!expect_shape(v, op, "a value", ty, first->rank, first->shape)) return false;
    }
    AsmRegisters registers;
    char problem[256];
    return !tkc_asm_registers(op, &registers, problem, sizeof problem) ||
           verify_fail(v, op, "%s", problem);
}

static bool check_hint(Verifier *v, const Op *op)
{
    static const AttrKey keys[] = {ATTR_DIVISIBILITY, ATTR_CONTIGUITY, ATTR_CONSTANCY};
    int rank = result_type(op, 0)->rank ? result_type(op, 0)->rank : 1;
    for (int k = 0; k < 3; k++) {
        const Attr *a = tkc_op_attr(op, keys[k]);
        if (a && a->count != rank) {
            return verify_fail(v, op, "'%s' has %d numbers, expected %d", tkc_attr_name(keys[k]),
                               a->count, rank);
        }
        for (int i = 0; a && i < rank; i++) {
            if (a->v[i] < 1) {
                return verify_fail(v, op, "'%s' holds %lld, expected at least 1",
                                   tkc_attr_name(keys[k]), (long long)a->v[i]);
            }
        }
    }
    return true;
}

/* ---- shape ---- */

static bool check_splat(Verifier *v, const Op *op)
{
    const Type *from = arg_type(op, 0), *to = result_type(op, 0);
    return expect_kind(v, op, "the operand", from, !type_is_block(from), "a scalar") &&
           expect_kind(v, op, "the result", to, type_is_block(to), "a block") &&
           expect_elem(v, op, "the result's element", to, from);
}

static bool check_expand_dims(Verifier *v, const Op *op)
{
    const Type *from = arg_type(op, 0), *to = result_type(op, 0);
    if (!expect_kind(v, op, "the operand", from, type_is_block(from) && from->rank < TKC_MAX_RANK,
                     "a block of a lesser rank") ||
        !expect_int(v, op, ATTR_AXIS, 0, from->rank)) {
        return false;
    }
    int axis = (int)tkc_op_int(op, ATTR_AXIS, 0);
    int32_t shape[TKC_MAX_RANK];
    for (int i = 0; i <= from->rank; i++) shape[i] = i == axis ? 1 : from->shape[i - (i > axis)];
    return expect_elem(v, op, "the result's element", to, from) &&
           expect_shape(v, op, "the result", to, from->rank + 1, shape);
}

static bool check_broadcast(Verifier *v, const Op *op)
{
    const Type *from = arg_type(op, 0), *to = result_type(op, 0);
    int32_t shape[TKC_MAX_RANK];
    if (!expect_kind(v, op, "the result", to, from->rank > 0 && from->rank == to->rank,
                     "a block of the operand's rank")) {
        return false;
    }
    for (int i = 0; i < to->rank; i++)
        shape[i] = from->shape[i] == 1 ? to->shape[i] : from->shape[i];
    return expect_elem(v, op, "the result's element", to, from) &&
           expect_shape(v, op, "the result", to, to->rank, shape);
}

static bool check_trans(Verifier *v, const Op *op)
{
    const Type *from = arg_type(op, 0), *to = result_type(op, 0);
    const Attr *perm = tkc_op_attr(op, ATTR_PERM);
    int32_t shape[TKC_MAX_RANK];
    unsigned seen = 0;
    if (!perm || perm->count != from->rank) {
        return verify_fail(v, op, "'perm' has %d numbers, expected %d", perm ? perm->count : 0,
                           from->rank);
    }
    for (int i = 0; i < from->rank; i++) {
        if (perm->v[i] < 0 || perm->v[i] >= from->rank || (seen & 1u << perm->v[i])) {
            return verify_fail(v, op, "'perm' is no permutation of %d dims", from->rank);
        }
        seen |= 1u << perm->v[i];
        shape[i] = from->shape[perm->v[i]];
    }
    return expect_kind(v, op, "the operand", from, type_is_block(from), "a block") &&
           expect_elem(v, op, "the result's element", to, from) &&
           expect_shape(v, op, "the result", to, from->rank, shape);
}

static bool check_reshape(Verifier *v, const Op *op)
{
    const Type *from = arg_type(op, 0), *to = result_type(op, 0);
    if (!expect_kind(v, op, "the operand", from, type_is_block(from), "a block") ||
        !expect_elem(v, op, "the result's element", to, from)) {
        return false;
    }
    return tkc_type_count(from) == tkc_type_count(to) ||
           verify_fail(v, op, "the result has %lld elements, expected %lld",
                       (long long)tkc_type_count(to), (long long)tkc_type_count(from));
}

static bool check_join(Verifier *v, const Op *op)
{
    const Type *from = arg_type(op, 0), *to = result_type(op, 0);
    if (!expect_type(v, op, "operand 1", arg_type(op, 1), from) ||
        !expect_kind(v, op, "the operand", from, from->rank < TKC_MAX_RANK,
                     "a block of a lesser rank")) {
        return false;
    }
    int32_t shape[TKC_MAX_RANK];
    memcpy(shape, from->shape, sizeof shape);
    shape[from->rank] = 2;
    return expect_elem(v, op, "the result's element", to, from) &&
           expect_shape(v, op, "the result", to, from->rank + 1, shape);
}

static bool check_split(Verifier *v, const Op *op)
{
    const Type *from = arg_type(op, 0);
    bool pairs = type_is_block(from) && from->shape[from->rank - 1] == 2;
    return expect_kind(v, op, "the operand", from, pairs, "a block whose last dim is 2") &&
           expect_type(v, op, "result 1", result_type(op, 1), result_type(op, 0)) &&
           expect_elem(v, op, "the result's element", result_type(op, 0), from) &&
           expect_shape(v, op, "the result", result_type(op, 0), from->rank - 1, from->shape);
}

static bool check_cat(Verifier *v, const Op *op)
{
    const Type *x = arg_type(op, 0), *y = arg_type(op, 1), *to = result_type(op, 0);
    if (!expect_kind(v, op, "operand 0", x, type_is_block(x), "a block") ||
        !expect_kind(v, op, "operand 1", y, y->rank == x->rank, "a block of the same rank")) {
        return false;
    }
    int32_t shape[TKC_MAX_RANK];
    memcpy(shape, x->shape, sizeof shape);
    shape[0] = y->shape[0];
    if (!expect_shape(v, op, "operand 1", y, x->rank, shape)) return false;
    shape[0] = x->shape[0] + y->shape[0];
    return expect_elem(v, op, "operand 1's element", y, x) &&
           expect_elem(v, op, "the result's element", to, x) &&
           expect_shape(v, op, "the result", to, x->rank, shape);
}

static bool check_convert(Verifier *v, const Op *op)
{
    const Type *from = arg_type(op, 0), *to = result_type(op, 0);
    const Type *expected = type_with_layout(types_of(v), from, to->layout);
    return expect_kind(v, op, "the operand", from, type_is_block(from) && from->layout,
                       "a block with a layout") &&
           expect_type(v, op, "the result", to, expected);
}

/* ---- memory ---- */

static const Type *pointee(Verifier *v, const Op *op)
{
    const Type *ptr = arg_type(op, 0);
    if (!type_is_pointer(ptr)) {
        verify_fail(v, op, "operand 0 is %s, expected pointers", verify_text(v, ptr));
        return NULL;
    }
    return with_elem(v, ptr, tkc_type_element(ptr)->elem);
}

static bool check_mask(Verifier *v, const Op *op, int i, const Type *access)
{
    return op->nargs <= i ||
           expect_type(v, op, "the mask", arg_type(op, i), with_dtype(v, access, DT_I1));
}

static bool check_load(Verifier *v, const Op *op)
{
    const Type *ty = pointee(v, op);
    return ty && expect_type(v, op, "the result", result_type(op, 0), ty) &&
           check_mask(v, op, 1, ty) &&
           (op->nargs < 3 || expect_type(v, op, "`other`", arg_type(op, 2), ty)) &&
           expect_word(v, op, ATTR_CACHE, ".ca .cg .cs .cv", false) &&
           expect_word(v, op, ATTR_EVICT, "evict_first evict_last evict_normal", false);
}

static bool check_store(Verifier *v, const Op *op)
{
    const Type *ty = pointee(v, op);
    return ty && expect_type(v, op, "the value", arg_type(op, 1), ty) && check_mask(v, op, 2, ty) &&
           expect_word(v, op, ATTR_CACHE, ".wb .cg .cs .wt", false) &&
           expect_word(v, op, ATTR_EVICT, "evict_first evict_last evict_normal", false);
}

static bool check_order(Verifier *v, const Op *op, const char *orders)
{
    return expect_word(v, op, ATTR_SEM, orders, true) &&
           expect_word(v, op, ATTR_SCOPE, "cta gpu sys", true);
}

static bool check_atomic_rmw(Verifier *v, const Op *op)
{
    const Type *ty = pointee(v, op);
    return ty && expect_type(v, op, "the value", arg_type(op, 1), ty) && check_mask(v, op, 2, ty) &&
           expect_type(v, op, "the result", result_type(op, 0), ty) &&
           expect_word(v, op, ATTR_RMW, "add fadd and or xor max umax min umin xchg", true) &&
           check_order(v, op, "relaxed acquire release acq_rel");
}

static bool check_atomic_cas(Verifier *v, const Op *op)
{
    const Type *ty = pointee(v, op);
    return ty && expect_type(v, op, "the expected value", arg_type(op, 1), ty) &&
           expect_type(v, op, "the new value", arg_type(op, 2), ty) &&
           expect_type(v, op, "the result", result_type(op, 0), ty) &&
           check_order(v, op, "relaxed acquire release acq_rel");
}

static bool check_atomic_load(Verifier *v, const Op *op)
{
    const Type *ty = pointee(v, op);
    return ty && check_mask(v, op, 1, ty) &&
           expect_type(v, op, "the result", result_type(op, 0), ty) &&
           check_order(v, op, "relaxed acquire");
}

static bool check_atomic_store(Verifier *v, const Op *op)
{
    const Type *ty = pointee(v, op);
    return ty && expect_type(v, op, "the value", arg_type(op, 1), ty) && check_mask(v, op, 2, ty) &&
           check_order(v, op, "relaxed release");
}

static bool check_atomic_poll(Verifier *v, const Op *op)
{
    const Type *ty = pointee(v, op);
    TypeTable *types = ir_of(v->fn)->types;
    if (!ty || !expect_type(v, op, "the expected value", arg_type(op, 1), ty)) return false;
    if (!type_is_int(ty) || type_bits(ty) < 16)
        return verify_fail(v, op, "polls %s, expected integers of 16, 32 or 64 bits",
                           verify_text(v, ty));
    return (op->nargs < 3 || expect_type(v, op, "the time", arg_type(op, 2),
                                         type_scalar(types, DT_U64))) &&
           expect_type(v, op, "the result", result_type(op, 0), type_with_dtype(types, ty, DT_I1)) &&
           check_order(v, op, "relaxed acquire");
}

/* ---- descriptors ---- */

/* The block is of the base's elements and has no layout yet. */
static bool check_desc_block(Verifier *v, const Op *op, const Type *ty)
{
    const Type *base = arg_type(op, 0);
    const bool is_base = base->kind == TY_POINTER && base->elem->kind == TY_SCALAR;
    if (!expect_kind(v, op, "the base", base, is_base, "a pointer to numbers") ||
        !expect_kind(v, op, "the block", ty,
                     type_is_block(ty) && (!desc_is_rows(op) || ty->rank == 2),
                     desc_is_rows(op) ? "a block of rank 2" : "a block"))
        return false;
    const int nargs = 1 + 3 * ty->rank + (op->nresults == 0);
    if (op->nargs != nargs) return verify_fail(v, op, "%d operands, expected %d", op->nargs, nargs);
    return expect_type(v, op, "the block", ty,
                       type_block(types_of(v), base->elem, ty->rank, ty->shape, NULL));
}

static bool check_desc_number(Verifier *v, const Op *op, int i, const Type *block)
{
    const Type *ty = arg_type(op, i);
    if (!desc_is_rows(op) || i != 1 + 2 * block->rank)
        return expect_type(v, op, "a number", ty, type_scalar(types_of(v), DT_I64));
    return expect_kind(v, op, "the rows", ty, type_is_int(ty), "integers") &&
           expect_type(v, op, "the rows", ty,
                       type_block(types_of(v), tkc_type_element(ty), 1, block->shape, NULL));
}

static bool check_desc_rmw(Verifier *v, const Op *op, const Type *block)
{
    const bool is_float = type_is_float(block), is_half = is_float && type_bits(block) == 16;
    return expect_kind(v, op, "the block", block, type_bits(block) >= 32 || is_half,
                       "numbers of 32 or 64 bits, or floats of 16") &&
           expect_word(v, op, ATTR_RMW,
                       is_half    ? "add"
                       : is_float ? "add max min"
                                  : "add and or xor max min",
                       true);
}

static bool check_desc(Verifier *v, const Op *op)
{
    const Type *block = op->nresults ? result_type(op, 0) : arg_type(op, op->nargs - 1);
    if (!check_desc_block(v, op, block)) return false;
    for (int i = 1; i <= 3 * block->rank; i++)
        if (!check_desc_number(v, op, i, block)) return false;
    const bool pads = op->nresults && type_is_float(block);
    if (!pads && tkc_op_attr(op, ATTR_PADDING))
        return verify_fail(v, op, "'padding' is for floats that are loaded");
    return expect_word(v, op, ATTR_PADDING, "nan", false) &&
           (op->kind != OP_DESC_ATOMIC || check_desc_rmw(v, op, block));
}

/* ---- regions ---- */

/* The region ends in an op that passes values of these types on. */
static bool check_passed(Verifier *v, const Region *r, int n, const Type *const *types)
{
    const Op *last = r->last;
    if (!last || !ir_is_terminator(last)) return false; /* reported by the walk */
    const int skip = carry_own_ends(last);
    if (last->nargs != skip + n) {
        return verify_fail(v, last, "passes on %d values, expected %d", last->nargs - skip, n);
    }
    for (int i = 0; i < n; i++) {
        if (!expect_type(v, last, "a value passed on", arg_type(last, skip + i), types[i]))
            return false;
    }
    return true;
}

static bool check_region_args(Verifier *v, const Op *op, const Region *r, int n,
                              const Type *const *types)
{
    if (r->nargs != n)
        return verify_fail(v, op, "a region has %d arguments, expected %d", r->nargs, n);
    for (int i = 0; i < n; i++) {
        if (!expect_type(v, op, "a region's argument", r->args[i]->type, types[i])) return false;
    }
    return true;
}

static bool check_inits(Verifier *v, const Op *op)
{
    const int given = op->nargs - carry_own_args(op);
    if (given != op->nresults)
        return verify_fail(v, op, "%d initial values for %d results", given, op->nresults);
    for (int i = 0; i < op->nresults; i++) {
        if (!expect_type(v, op, "an initial value", carry_init(op, i)->type, result_type(op, i)))
            return false;
    }
    return true;
}

/* All members of a slot have one type; region arguments before them that of operand 0. */
static bool check_carried(Verifier *v, const Op *op)
{
    const int n = op->nresults, own = carry_own_params(op);
    const bool is_loop = op->kind != OP_IF;
    const Type **types = arena_array(&v->scratch, const Type *, own + n);
    if (own) types[0] = arg_type(op, 0);
    for (int i = 0; i < n; i++) types[own + i] = result_type(op, i);
    if (is_loop && !check_inits(v, op)) return false;
    for (int i = 0; i < op->nregions; i++) {
        if (!check_region_args(v, op, op->regions[i], is_loop ? own + n : 0, types) ||
            !check_passed(v, op->regions[i], n, types + own))
            return false;
    }
    return true;
}

static bool check_for(Verifier *v, const Op *op)
{
    const Type *index = arg_type(op, 0);
    return expect_kind(v, op, "the lower bound", index, type_is_scalar(index) && type_is_int(index),
                       "an integer") &&
           expect_type(v, op, "the upper bound", arg_type(op, 1), index) &&
           expect_type(v, op, "the step", arg_type(op, 2), index) && check_carried(v, op);
}

static bool check_if(Verifier *v, const Op *op)
{
    return expect_scalar_bool(v, op, "the condition", arg_type(op, 0)) && check_carried(v, op);
}

static bool check_condition(Verifier *v, const Op *op)
{
    return expect_scalar_bool(v, op, "operand 0", arg_type(op, 0));
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
            const Type *ty = result_type(op, i);
            if (!expect_kind(v, op, "a value in a combine", ty, !type_is_block(ty), "a scalar"))
                return false;
        }
        for (int i = 0; i < op->nregions; i++) {
            if (!check_combine_op(v, combine, op->regions[i])) return false;
        }
    }
    return true;
}

/* n operands of one shape and axis, more behind them; the region combines 2n scalars to n. */
static bool check_combine(Verifier *v, const Op *op, int n, int nargs, int nresults)
{
    const Type *first = arg_type(op, 0);
    if (op->nargs != nargs || op->nresults != nresults)
        return verify_fail(v, op, "%d operands and %d results", op->nargs, op->nresults);
    if (!expect_kind(v, op, "an operand", first, type_is_block(first), "a block")) return false;
    if (!expect_int(v, op, ATTR_AXIS, 0, first->rank - 1)) return false;
    const Type **types = arena_array(&v->scratch, const Type *, 2 * n);
    for (int i = 0; i < n; i++) {
        types[i] = types[n + i] = tkc_type_element(arg_type(op, i));
        if (!expect_type(v, op, "an operand", arg_type(op, i), with_elem(v, first, types[i])))
            return false;
        if (!expect_elem(v, op, "the result's element", result_type(op, i), arg_type(op, i)))
            return false;
    }
    return check_region_args(v, op, op->regions[0], 2 * n, types) &&
           check_passed(v, op->regions[0], n, types) && check_combine_op(v, op, op->regions[0]);
}

static bool check_reduce(Verifier *v, const Op *op)
{
    if (!check_combine(v, op, op->nargs, op->nargs, op->nargs)) return false;
    int32_t shape[TKC_MAX_RANK];
    const int rank = ir_reduced_shape(op, shape);
    if (rank < 0) return verify_fail(v, op, "'slots' are no bits of the axis");
    for (int i = 0; i < op->nresults; i++) {
        if (!expect_shape(v, op, "a result", result_type(op, i), rank, shape)) return false;
    }
    return true;
}

/* The first n results are like the operands. */
static bool check_scanned(Verifier *v, const Op *op, int n)
{
    for (int i = 0; i < n; i++) {
        if (!expect_type(v, op, "a result", result_type(op, i), arg_type(op, i))) return false;
    }
    return true;
}

/* One element for each segment, of the types that the operands have. */
static bool check_totals(Verifier *v, const Op *op, int n, const Type *(*type_at)(const Op *, int))
{
    int32_t shape[TKC_MAX_RANK];
    const int rank = ir_reduced_shape(op, shape);
    if (rank < 0) return verify_fail(v, op, "'slots' are no bits of the axis");
    for (int i = 0; i < n; i++) {
        if (!expect_shape(v, op, "a total", type_at(op, n + i), rank, shape) ||
            !expect_elem(v, op, "a total's element", type_at(op, n + i), arg_type(op, i)))
            return false;
    }
    return true;
}

static bool check_scan(Verifier *v, const Op *op)
{
    const int n = op->nargs;
    const bool has_totals = tkc_op_attr(op, ATTR_SLOTS) != NULL;
    return check_combine(v, op, n, n, has_totals ? 2 * n : n) && check_scanned(v, op, n) &&
           (!has_totals || check_totals(v, op, n, result_type));
}

static bool check_carry(Verifier *v, const Op *op)
{
    const int n = op->nresults;
    if (!tkc_op_attr(op, ATTR_SLOTS)) return verify_fail(v, op, "it has no 'slots'");
    return check_combine(v, op, n, 2 * n, n) && check_scanned(v, op, n) &&
           check_totals(v, op, n, arg_type);
}

/* ---- across elements, without regions ---- */

static bool check_dot(Verifier *v, const Op *op)
{
    const Type *x = arg_type(op, 0), *y = arg_type(op, 1), *acc = arg_type(op, 2);
    int rank = x->rank;
    if (!expect_kind(v, op, "operand 0", x, rank == 2 || rank == 3, "a block of rank 2 or 3") ||
        !expect_kind(v, op, "operand 1", y, type_is_float(y) == type_is_float(x),
                     "elements like operand 0's")) {
        return false;
    }
    int32_t shape[TKC_MAX_RANK];
    memcpy(shape, x->shape, sizeof shape);
    shape[rank - 2] = x->shape[rank - 1];
    shape[rank - 1] = y->rank == rank ? y->shape[rank - 1] : 1;
    if (!expect_shape(v, op, "operand 1", y, rank, shape)) return false;
    shape[rank - 2] = x->shape[rank - 2];
    return expect_shape(v, op, "operand 2", acc, rank, shape) &&
           expect_type(v, op, "the result", result_type(op, 0), acc) &&
           expect_word(v, op, ATTR_PRECISION, "tf32 tf32x3 ieee bf16x3 bf16x6", false);
}

static bool check_sort(Verifier *v, const Op *op)
{
    const Type *ty = arg_type(op, 0);
    return expect_kind(v, op, "the operand", ty, type_is_block(ty), "a block") &&
           expect_type(v, op, "the result", result_type(op, 0), ty);
}

static bool check_histogram(Verifier *v, const Op *op)
{
    const Type *from = arg_type(op, 0), *to = result_type(op, 0);
    return expect_kind(v, op, "the operand", from, from->rank == 1, "a 1-D block of integers") &&
           expect_kind(v, op, "the result", to, to->rank == 1 && to->dtype == DT_I32,
                       "a 1-D block of int32") &&
           check_mask(v, op, 1, from);
}

static bool check_gather(Verifier *v, const Op *op)
{
    const Type *src = arg_type(op, 0), *index = arg_type(op, 1);
    if (!expect_kind(v, op, "the source", src, type_is_block(src), "a block") ||
        !expect_kind(v, op, "the index", index, type_is_int(index) && index->rank == src->rank,
                     "integers in the source's rank") ||
        !expect_int(v, op, ATTR_AXIS, 0, src->rank - 1)) {
        return false;
    }
    int axis = (int)tkc_op_int(op, ATTR_AXIS, 0);
    int32_t shape[TKC_MAX_RANK];
    memcpy(shape, src->shape, sizeof shape);
    shape[axis] = index->shape[axis];
    return expect_shape(v, op, "the index", index, src->rank, shape) &&
           expect_elem(v, op, "the result's element", result_type(op, 0), src) &&
           expect_shape(v, op, "the result", result_type(op, 0), index->rank, index->shape);
}

/* ---- effects for people ---- */

static bool check_print(Verifier *v, const Op *op)
{
    return tkc_op_str(op, ATTR_FORMAT, NULL) ||
           verify_fail(v, op, "the attribute 'format' is missing");
}

static bool check_assert(Verifier *v, const Op *op)
{
    const Type *cond = arg_type(op, 0);
    if (!tkc_op_str(op, ATTR_MESSAGE, NULL))
        return verify_fail(v, op, "the attribute 'message' is missing");
    return expect_type(v, op, "the condition", cond, with_dtype(v, cond, DT_I1)) &&
           check_mask(v, op, 1, cond);
}

static bool check_assume(Verifier *v, const Op *op)
{
    return expect_scalar_bool(v, op, "the operand", arg_type(op, 0));
}

/* ---- buffers in shared memory ---- */

static bool check_alloc(Verifier *v, const Op *op)
{
    const Type *ty = result_type(op, 0);
    const Attr *offset = tkc_op_attr(op, ATTR_OFFSET);
    return expect_kind(v, op, "the result", ty, type_is_smem(ty), "a buffer") &&
           (!offset || expect_int(v, op, ATTR_OFFSET, 0, INT32_MAX));
}

/* A block in the buffer's shape, or, of one element, a scalar. */
static bool check_content(Verifier *v, const Op *op, const char *what, const Type *ty)
{
    const Type *buffer = arg_type(op, 0);
    if (tkc_op_attr(op, ATTR_PIECE) &&
        !expect_int(v, op, ATTR_PIECE, 0, (INT64_C(1) << buffer->layout->total_log2) - 1))
        return false;
    const bool is_one = tkc_type_count(buffer) == 1 && !type_is_block(ty);
    return expect_elem(v, op, what, ty, buffer) &&
           (is_one || expect_shape(v, op, what, ty, buffer->rank, buffer->shape));
}

static bool check_sstore(Verifier *v, const Op *op)
{
    return check_content(v, op, "the block", arg_type(op, 1));
}

static bool check_sload(Verifier *v, const Op *op)
{
    const Type *to = result_type(op, 0);
    return check_content(v, op, "the result", to) &&
           (op->nargs < 2 || expect_type(v, op, "the block so far", arg_type(op, 1), to));
}

/* Operand `at` holds the offsets of elements that are like `ty`. */
static bool check_offsets(Verifier *v, const Op *op, int mask, const Type *ty)
{
    return expect_kind(v, op, "a block", ty, type_is_block(ty), "a block") &&
           expect_elem(v, op, "an element", ty, arg_type(op, 0)) &&
           expect_type(v, op, "the offsets", arg_type(op, 1), with_dtype(v, ty, DT_I32)) &&
           check_mask(v, op, mask, ty);
}

static bool check_sload_at(Verifier *v, const Op *op)
{
    return check_offsets(v, op, 2, result_type(op, 0));
}

static bool check_sstore_at(Verifier *v, const Op *op)
{
    return check_offsets(v, op, 3, arg_type(op, 2));
}

static bool check_satomic_at(Verifier *v, const Op *op)
{
    return check_offsets(v, op, 3, arg_type(op, 2)) &&
           expect_word(v, op, ATTR_RMW, "add fadd and or xor max umax min umin xchg", true);
}

/* ---- levels ---- */

/* Buffers are what ops of the memory level begin with, and nothing else is done with them. */
static bool check_buffers(Verifier *v, const Op *op)
{
    for (int i = 0; i < op->nargs; i++) {
        const Type *ty = arg_type(op, i);
        const bool wants = ir_has(op, OT_MEM) && i == 0;
        if (type_is_smem(ty) == wants) continue;
        return verify_fail(v, op, "operand %d is %s, expected %s", i, verify_text(v, ty),
                           wants ? "a buffer" : "none");
    }
    return true;
}

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

static bool check_level(Verifier *v, const Op *op)
{
    if (v->fn->level == LEVEL_MEMORY && ir_has(op, OT_TEN))
        return verify_fail(v, op, "is of the tensor level, the function is of the memory level");
    for (int i = first_canonical(op); v->fn->level == LEVEL_MEMORY && i < op->nresults; i++) {
        if (!check_canonical_uses(v, op, op_result(op, i))) return false;
    }
    if (v->fn->level == LEVEL_MEMORY) return true;
    const bool only_there = ir_has(op, OT_MEM) || tkc_op_attr(op, ATTR_SLOTS) ||
                            tkc_op_attr(op, ATTR_CANONICAL);
    return !only_there || verify_fail(v, op, "is of the memory level, the function is not");
}

static const OpCheck op_checks[OP_COUNT] = {
    [OP_CONST] = check_const,
    [OP_ARANGE] = check_arange,
    [OP_PROGRAM_ID] = check_grid,
    [OP_NUM_PROGRAMS] = check_grid,
    [OP_HINT] = check_hint,
    [OP_INLINE_ASM] = check_inline_asm,
    [OP_SPLAT] = check_splat,
    [OP_EXPAND_DIMS] = check_expand_dims,
    [OP_BROADCAST] = check_broadcast,
    [OP_TRANS] = check_trans,
    [OP_RESHAPE] = check_reshape,
    [OP_JOIN] = check_join,
    [OP_SPLIT] = check_split,
    [OP_CAT] = check_cat,
    [OP_CONVERT] = check_convert,
    [OP_LOAD] = check_load,
    [OP_STORE] = check_store,
    [OP_ATOMIC_RMW] = check_atomic_rmw,
    [OP_ATOMIC_CAS] = check_atomic_cas,
    [OP_ATOMIC_LOAD] = check_atomic_load,
    [OP_ATOMIC_STORE] = check_atomic_store,
    [OP_ATOMIC_POLL] = check_atomic_poll,
    [OP_DESC_LOAD] = check_desc,
    [OP_DESC_STORE] = check_desc,
    [OP_DESC_GATHER] = check_desc,
    [OP_DESC_SCATTER] = check_desc,
    [OP_DESC_ATOMIC] = check_desc,
    [OP_REDUCE] = check_reduce,
    [OP_SCAN] = check_scan,
    [OP_CARRY] = check_carry,
    [OP_DOT] = check_dot,
    [OP_SORT] = check_sort,
    [OP_HISTOGRAM] = check_histogram,
    [OP_GATHER] = check_gather,
    [OP_FOR] = check_for,
    [OP_WHILE] = check_carried,
    [OP_IF] = check_if,
    [OP_CONDITION] = check_condition,
    [OP_PRINT] = check_print,
    [OP_ASSERT] = check_assert,
    [OP_ASSUME] = check_assume,
    [OP_ALLOC] = check_alloc,
    [OP_SSTORE] = check_sstore,
    [OP_SLOAD] = check_sload,
    [OP_SLOAD_AT] = check_sload_at,
    [OP_SSTORE_AT] = check_sstore_at,
    [OP_SATOMIC_AT] = check_satomic_at,
};

/* ---- what holds for every op ---- */

static bool check_counts(Verifier *v, const Op *op)
{
    const OpInfo *info = tkc_op_info(op->kind);
    if (op->nargs < info->min_args) {
        return verify_fail(v, op, "%d operands, expected at least %d", op->nargs, info->min_args);
    }
    if (info->max_args >= 0 && op->nargs > info->max_args) {
        return verify_fail(v, op, "%d operands, expected at most %d", op->nargs, info->max_args);
    }
    if (info->nresults >= 0 && op->nresults != info->nresults) {
        return verify_fail(v, op, "%d results, expected %d", op->nresults, info->nresults);
    }
    return true;
}

static const char *const domain_text[] = {
    [DOM_ANY] = "any type", [DOM_NUM] = "numbers", [DOM_INT] = "integers",
    [DOM_FLOAT] = "floats", [DOM_PTR] = "pointers",
};

static bool is_in_domain(OpDomain domain, const Type *ty)
{
    switch (domain) {
    case DOM_ANY: return true;
    case DOM_NUM: return !type_is_pointer(ty);
    case DOM_INT: return type_is_int(ty);
    case DOM_FLOAT: return type_is_float(ty);
    case DOM_PTR: return type_is_pointer(ty);
    }
    return false;
}

static bool check_domain(Verifier *v, const Op *op)
{
    OpDomain domain = tkc_op_info(op->kind)->domain;
    for (int i = 0; i < op->nargs + op->nresults; i++) {
        const Type *ty = i < op->nargs ? arg_type(op, i) : result_type(op, i - op->nargs);
        const char *what = i < op->nargs ? "an operand" : "the result";
        if (!expect_kind(v, op, what, ty, is_in_domain(domain, ty), domain_text[domain]))
            return false;
    }
    return true;
}

bool verify_op(Verifier *v, const Op *op)
{
    if (!check_counts(v, op) || !check_domain(v, op) || !check_buffers(v, op)) return false;
    OpCheck rule = rule_checks[tkc_op_info(op->kind)->rule];
    if (rule && !rule(v, op)) return false;
    OpCheck own = op_checks[op->kind];
    return (!own || own(v, op)) && check_level(v, op) && verify_layouts(v, op);
}
