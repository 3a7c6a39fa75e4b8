/* Which layouts an op's blocks may have together. The lowering moves nothing between threads but
   where an op says so (convert, reduce, what takes any layouts), so for any other op an element of
   the result must be held by the thread that holds what it is made of. Each op has one of a few
   rules; that what control flow carries has one layout on its way follows from its types. */
#include "ir/verify_op.h"

#include <string.h>

#include "base/power.h"
#include "ir/dot_unit.h"
#include "ir/rule.h"
#include "ir/shape_map.h"
#include "linear/shared.h"

/* ---- the types of an op, operands first ---- */

static int count(const Op *op)
{
    return op->nargs + op->nresults;
}

static const Type *type_at(const Op *op, int i)
{
    return i < op->nargs ? op_arg(op, i)->type : op_result(op, i - op->nargs)->type;
}

static bool is_laid_out(const Op *op)
{
    for (int i = 0; i < count(op); i++)
        if (type_is_block(type_at(op, i)) && !type_at(op, i)->layout) return false;
    return true;
}

/* ---- the rules ---- */

/* Whatever each block has; or the types say it all. */
static bool layouts_any(Verifier *v, const Op *op)
{
    (void)v, (void)op;
    return true;
}

/* All blocks have one layout. */
static bool layouts_one(Verifier *v, const Op *op)
{
    const Type *first = NULL;
    for (int i = 0; i < count(op); i++) {
        const Type *ty = type_at(op, i);
        if (!type_is_block(ty)) continue;
        if (!first) first = ty;
        if (ty->layout != first->layout)
            return verify_fail(v, op, "%s and %s are laid out differently", verify_text(v, first),
                               verify_text(v, ty));
    }
    return true;
}

/* Each thread has what it needs of the operand to hold `to`, and, of a split, its other half. The
   map between indices is linear: it is enough that it agrees on each bit of the thread's number,
   and leads from each register's vector to one of the operand's registers. */
static bool stays_in_threads(const Op *op, const Layout *from, const Layout *to)
{
    F2Space held = {0};
    layout_add_vectors(&held, from, DIM_REGISTER, from->nbits[DIM_REGISTER]);
    /* What a join's result has in its last dim is another operand, which only registers choose. */
    const uint32_t chooses = op->kind == OP_JOIN;
    for (LayoutDim d = DIM_LANE; d <= DIM_WARP; d++) {
        for (int i = 0; i < from->nbits[d]; i++) {
            if (to->basis[d][i] & chooses) return false;
            if (shape_source(op, from, to, to->basis[d][i]) != from->basis[d][i]) return false;
        }
    }
    for (int i = 0; i < to->nbits[DIM_REGISTER]; i++) {
        if (!f2_space_has(&held, shape_source(op, from, to, to->basis[DIM_REGISTER][i])))
            return false;
    }
    return op->kind != OP_SPLIT || f2_space_has(&held, 1);
}

/* The thread has the element that moves. */
static bool layouts_move(Verifier *v, const Op *op)
{
    const Type *from = op_arg(op, 0)->type, *to = op_result(op, 0)->type;
    if (!type_is_block(to)) return true;
    if (op->kind == OP_RESHAPE && !shape_reshape_is_free(from, to))
        return v->fn->level == LEVEL_TENSOR ||
               verify_fail(v, op, "elements move, which at the memory level goes by a buffer");
    return stays_in_threads(op, from->layout, to->layout) ||
           verify_fail(v, op, "%s needs elements of %s that other threads hold", verify_text(v, to),
                       verify_text(v, from));
}

/* Over lanes that hold nothing but the axis, as many as halve the results that a thread has. */
static bool may_be_dealt(Verifier *v, const Op *op, int axis)
{
    const Layout *l = op_arg(op, 0)->type->layout;
    const int64_t lanes = tkc_op_int(op, ATTR_DEALT, 0);
    if (!lanes) return true;
    return op->nargs == 1 && l->rank > 1 && ir_combine_kind(op->regions[0]) &&
           !tkc_op_attr(op, ATTR_SLOTS) && lanes <= __builtin_popcount(layout_lanes_along(l, axis)) &&
           lanes <= layout_slice(ir_of(v->fn)->layouts, l, axis)->nbits[DIM_REGISTER];
}

/* The result has the operand's layout without a dim, or with slots in its place. */
static bool layouts_slice(Verifier *v, const Op *op)
{
    const Type *from = op_arg(op, 0)->type;
    const int axis = (int)tkc_op_int(op, ATTR_AXIS, 0);
    if (!layout_reduces(from->layout, axis))
        return verify_fail(
            v, op, "%s cannot be reduced along dim %d: its layout mixes that with other dims",
            verify_text(v, from), axis);
    const uint32_t slots = (uint32_t)tkc_op_int(op, ATTR_SLOTS, 0),
                   warps = layout_warp_bits(from->layout, axis);
    if (v->fn->level == LEVEL_MEMORY && slots != warps)
        return verify_fail(v, op, "'slots' is %u, warps hold the bits %u of the axis",
                           (unsigned)slots, (unsigned)warps);
    if (!may_be_dealt(v, op, axis))
        return verify_fail(v, op, "'dealt' wants one operand, a combine that is one op, and as many "
                                  "lanes along the axis and registers beside it");
    for (int i = 0; i < op->nresults; i++) {
        const Type *to = op_result(op, i)->type, *expected = rule_result(ir_of(v->fn), op, i);
        if (to == expected) continue;
        return verify_fail(v, op,
                           "a result is %s, expected %s, the operand's layout without dim %d or "
                           "with slots there",
                           verify_text(v, to), verify_text(v, expected), axis);
    }
    return true;
}

/* Operands as the unit that multiplies has them for the result. */
static bool layouts_dot(Verifier *v, const Op *op)
{
    const Type *result = op_result(op, 0)->type;
    const int run = (int)tkc_op_int(op, ATTR_RUN, 0), most = dot_most_run_log2(op);
    if (run > most) return verify_fail(v, op, "'k_run' is %d, expected no more than %d", run, most);
    for (int i = 0; i < op->nargs; i++) {
        const Type *ty = op_arg(op, i)->type;
        const Layout *want = dot_operand_layout(ir_of(v->fn)->layouts, op, i, result->layout);
        if (!want)
            return verify_fail(v, op, "%s is no sum of the matrix instruction for these types",
                               verify_text(v, result));
        if (ty->layout != want)
            return verify_fail(v, op, "operand %d is %s, expected %s", i, verify_text(v, ty),
                               verify_text(v, type_with_layout(ir_of(v->fn)->types, ty, want)));
    }
    return true;
}

/* What a carry goes on with are the segments of a scan, in their order. */
static bool check_carried_on(Verifier *v, const Op *carry)
{
    const Op *scan = ir_def(op_arg(carry, 0), OP_SCAN);
    bool goes_on = scan && scan->nargs == carry->nresults;
    for (int i = 0; goes_on && i < carry->nresults; i++)
        goes_on = op_arg(carry, i) == op_result(scan, i);
    return goes_on || verify_fail(v, carry, "what it goes on with are no segments of a scan");
}

/* The totals of a scan, and what a carry takes of them. */
static bool check_segments(Verifier *v, const Op *op, const LayoutAxis *a)
{
    LayoutTable *t = ir_of(v->fn)->layouts;
    const Type *from = op_arg(op, 0)->type;
    const int axis = ir_axis(op);
    const uint32_t slots = (uint32_t)tkc_op_int(op, ATTR_SLOTS, 0), held = layout_axis_slots(a);
    if (v->fn->level == LEVEL_MEMORY && slots != held)
        return verify_fail(v, op,
                           "'slots' is %u, warps hold the bits %u of the axis and higher ones",
                           (unsigned)slots, (unsigned)held);
    if (!slots) return true;
    const bool is_carry = op->kind == OP_CARRY;
    const Type *total =
        is_carry ? op_arg(op, op->nargs - 1)->type : op_result(op, op->nresults - 1)->type;
    const Layout *want = is_carry ? layout_slots(t, from->layout, axis, a)
                                  : layout_keep(t, from->layout, axis, slots);
    if (total->layout != want)
        return verify_fail(v, op, "a total is %s, expected %s", verify_text(v, total),
                           verify_text(v, type_with_layout(ir_of(v->fn)->types, total, want)));
    return !is_carry || check_carried_on(v, op);
}

static bool check_kept(Verifier *v, const Op *sort)
{
    const Type *to = op_result(sort, 0)->type, *expected = rule_result(ir_of(v->fn), sort, 0);
    return to == expected || verify_fail(v, sort, "the result is %s, expected %s",
                                         verify_text(v, to), verify_text(v, expected));
}

/* A warp has all along the axis, or whole segments of it; that all blocks of a scan have one
   layout, types say. */
static bool layouts_row(Verifier *v, const Op *op)
{
    const Type *ty = op_arg(op, 0)->type;
    const int axis = ir_axis(op);
    LayoutAxis a;
    if (op->kind == OP_SORT ? layout_axis_in_warp(ty->layout, axis)
                            : layout_scans(ty->layout, axis, &a))
        return op->kind == OP_SORT ? check_kept(v, op) : check_segments(v, op, &a);
    return verify_fail(v, op,
                       "a warp does not hold %s%s along dim %d, or mixes that with other dims",
                       op->kind == OP_SORT ? "" : "segments of ", verify_text(v, ty), axis);
}

/* The last operand and the result have one layout. */
static bool layouts_last(Verifier *v, const Op *op)
{
    const Type *last = op_arg(op, op->nargs - 1)->type, *result = op_result(op, 0)->type;
    return last->layout == result->layout ||
           verify_fail(v, op, "%s and %s are laid out differently", verify_text(v, last),
                       verify_text(v, result));
}

/* Threads have whole pieces of what a buffer holds. */
static bool layouts_piece(Verifier *v, const Op *op)
{
    const Type *buffer = op_arg(op, 0)->type,
               *ty = op->nresults ? op_result(op, 0)->type : op_arg(op, 1)->type;
    SharedAccess access;
    if (!type_is_block(ty)) return true;
    return shared_access(&access, ty->layout, buffer->layout, type_bytes(ty)) ||
           verify_fail(v, op, "threads hold elements of several pieces of %s in one register",
                       verify_text(v, ty));
}

/* What lib/layout/vector.c gives accesses. */
static bool check_vector(Verifier *v, const Op *op)
{
    enum { MOST_BYTES = 16, MOST_LOG2 = 4 };
    const Attr *attr = tkc_op_attr(op, ATTR_VECTOR);
    if (!attr) return true;
    const Type *ty = op->nargs ? op_arg(op, 0)->type : NULL;
    if (!ty || attr->count != 3 || !type_is_block(ty) || !ty->layout ||
        (op->kind != OP_LOAD && op->kind != OP_STORE && op->kind != OP_COPY_ASYNC &&
         op->kind != OP_ATOMIC_RMW))
        return verify_fail(v, op, "'vector' has a dim, elements and elements alike, of an access "
                                  "to a block that is laid out");
    const int64_t dim = attr->v[0], n = attr->v[1], alike = attr->v[2];
    const int most = MOST_BYTES / type_bytes(tkc_type_element(ty)->elem);
    uint32_t bits[MOST_LOG2];
    if (dim >= 0 && dim < ty->rank && is_power_of_two(n) && n <= most && is_power_of_two(alike) &&
        alike <= n &&
        1 << layout_steps(ty->layout, (int)dim, __builtin_ctzll((uint64_t)n), bits) == n)
        return true;
    return verify_fail(v, op, "no thread has %lld neighbours along dim %lld of %s in registers, in "
                              "at most %d bytes, of which %lld can be alike",
                       (long long)n, (long long)dim, verify_text(v, ty), (int)MOST_BYTES,
                       (long long)alike);
}

static bool check_equal(Verifier *v, const Op *op)
{
    const Attr *attr = tkc_op_attr(op, ATTR_EQUAL);
    if (!attr) return true;
    const Type *ty = op->nargs ? op_arg(op, 0)->type : NULL;
    bool fits = op->kind == OP_LOAD && type_is_block(ty) && ty->layout && attr->count == ty->rank;
    for (int i = 0; fits && i < attr->count; i++) fits = is_power_of_two(attr->v[i]);
    return fits || verify_fail(v, op, "'equal' has a power of two for each dim of a block that is "
                                      "laid out, of a load");
}

/* Neighbours that one copy moves are neighbours in the buffer, 4, 8 or 16 bytes of them. */
static bool is_run_in_buffer(const Op *op)
{
    enum { LEAST_BYTES = 4 };
    const Layout *from = op_arg(op, 0)->type->layout;
    const Type *buffer = op_arg(op, 1)->type;
    const Attr *attr = tkc_op_attr(op, ATTR_VECTOR);
    const int n = attr ? __builtin_ctzll((uint64_t)attr->v[1]) : 0, bytes = type_bytes(buffer);
    uint32_t bits[4];
    SharedAccess access;
    if (bytes << n < LEAST_BYTES || buffer->layout->nbits[DIM_OFFSET] != from->total_log2 ||
        !shared_access(&access, from, buffer->layout, bytes) || access.vector_log2 < n)
        return false;
    if (n) layout_steps(from, (int)attr->v[0], n, bits);
    return !memcmp(bits, access.vector_reg, (size_t)n * sizeof *bits);
}

/* All blocks have one layout, and a thread's run of neighbours is one in the buffer. */
static bool layouts_copy(Verifier *v, const Op *op)
{
    return layouts_one(v, op) &&
           (is_run_in_buffer(op) ||
            verify_fail(v, op, "threads have no 4, 8 or 16 bytes side by side in %s",
                        verify_text(v, op_arg(op, 1)->type)));
}

static bool (*const rules[OP_COUNT])(Verifier *v, const Op *op) = {
#define OP(ID, name, least, most, nresults, nregions, rule, layouts, ...)                          \
    [OP_##ID] = layouts_##layouts,
#include "tkc/ops.def"
#undef OP
};

bool verify_layouts(Verifier *v, const Op *op)
{
    return check_vector(v, op) && check_equal(v, op) &&
           (!is_laid_out(op) || rules[op->kind](v, op));
}
