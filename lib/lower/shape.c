/* Ops that only rename: every element of the result is an element of an operand held by the same
   thread, and the layouts say in which register. The map between element indices is linear, so it
   is enough that it agrees on registers and on each bit of the thread number. */
#include "lower/lower.h"

#include "base/unwind.h"
#include "ir/type.h"

void lower_splat(Lower *L, const Op *op)
{
    const Value *result = op_result(op, 0);
    Reg x = lower_get(L, op_arg(op, 0)).r[0];
    Regs out = lower_regs_new(L, lower_nregs(result->type));
    for (int r = 0; r < out.n; r++) out.r[r] = x;
    lower_set(L, result, out);
}

void lower_hint(Lower *L, const Op *op)
{
    lower_set(L, op_result(op, 0), lower_get(L, op_arg(op, 0)));
}

/* The index in the operand of element `index` of the result. */
static uint32_t source_index(const Op *op, const Layout *from, const Layout *to, uint32_t index)
{
    if (op->kind == OP_EXPAND_DIMS || op->kind == OP_RESHAPE) return index;
    if (op->kind == OP_JOIN) return index >> 1;
    if (op->kind == OP_SPLIT) return index << 1;
    const Attr *perm = tkc_op_attr(op, ATTR_PERM);
    uint32_t source = 0;
    for (int d = 0; d < to->rank; d++) {
        const int dim = op->kind == OP_TRANS ? (int)perm->v[d] : d;
        const uint32_t coord =
            (uint32_t)layout_coord(to, index, d) & ((1u << from->dim_log2[dim]) - 1);
        source |= coord << layout_dim_shift(from, dim);
    }
    return source;
}

/* Register of each element index that thread 0 holds: index + 1 to the canonical register + 1. */
static Map registers_by_index(Lower *L, const Layout *l)
{
    Map m;
    map_init(&m, L->arena);
    for (int r = layout_registers(l) - 1; r >= 0; r--)
        map_set(&m, layout_apply(l, (uint32_t)r, 0, 0) + UINT64_C(1), (void *)(uintptr_t)(r + 1));
    return m;
}

/* Each thread has what it needs. Layout assignment sees to it; a text of IR may not. `half`: of a
   split's operand. */
static bool stays_in_threads(Lower *L, const Op *op, const Type *result, const Map *where,
                             uint32_t half)
{
    const Layout *from = op_arg(op, 0)->type->layout, *to = result->layout;
    bool ok = true;
    for (LayoutDim d = DIM_LANE; d <= DIM_WARP; d++)
        for (int i = 0; i < from->nbits[d] && ok; i++)
            ok = source_index(op, from, to, to->basis[d][i]) == from->basis[d][i];
    for (int r = 0; r < lower_nregs(result) && ok; r++) {
        uint32_t index = source_index(op, from, to, layout_apply(to, (uint32_t)r, 0, 0)) | half;
        ok = map_get(where, index + UINT64_C(1)) != NULL;
    }
    if (!ok)
        lower_refuse(L, op, "the layouts of '%s' need elements of other threads",
                     tkc_op_info(op->kind)->name);
    return ok;
}

static Reg take(const Map *where, Regs in, uint32_t index)
{
    return in.r[(uintptr_t)map_get(where, index + UINT64_C(1)) - 1];
}

/* True when each element has one place in both padded shapes: no odd extent gets another neighbour.
 */
static bool is_free_reshape(const Type *from, const Type *to)
{
    uint32_t coord_from[TKC_MAX_RANK] = {0}, coord_to[TKC_MAX_RANK] = {0};
    const int64_t count = tkc_type_count(from);
    bool odd = false;
    for (int d = 0; d < from->rank; d++) odd |= (from->shape[d] & (from->shape[d] - 1)) != 0;
    for (int d = 0; d < to->rank; d++) odd |= (to->shape[d] & (to->shape[d] - 1)) != 0;
    for (int64_t i = 0; odd && i < count; i++) {
        const struct {
            const Type *ty;
            uint32_t *coord;
        } sides[2] = {{from, coord_from}, {to, coord_to}};
        uint32_t index[2] = {0, 0};
        for (int s = 0; s < 2; s++) {
            const Type *ty = sides[s].ty;
            for (int d = 0; d < ty->rank; d++)
                index[s] |= sides[s].coord[d] << layout_dim_shift(ty->layout, d);
            for (int d = ty->rank - 1; d >= 0 && ++sides[s].coord[d] == (uint32_t)ty->shape[d]; d--)
                sides[s].coord[d] = 0;
        }
        if (index[0] != index[1]) return false;
    }
    return true;
}

void lower_shape(Lower *L, const Op *op)
{
    const Value *x = op_arg(op, 0), *result = op_result(op, 0);
    Regs in = lower_get(L, x), out = lower_regs_new(L, lower_nregs(result->type));
    if (!type_is_block(result->type)) {
        check(tkc_type_count(x->type) == 1, "a block of several elements became a scalar");
        out.r[0] = in.r[0];
        lower_set(L, result, out);
        return;
    }
    if (op->kind == OP_RESHAPE && type_is_block(x->type) &&
        !is_free_reshape(x->type, result->type)) {
        lower_refuse(L, op,
                     "not yet supported on %s: 'reshape' that gives elements of an odd extent "
                     "other neighbours "
                     "(runs on -device cpu)",
                     L->target->device);
        return;
    }
    const Layout *from = x->type->layout, *to = result->type->layout;
    Map where = registers_by_index(L, from);
    if (!stays_in_threads(L, op, result->type, &where, 0)) return;
    for (int r = 0; r < out.n; r++)
        out.r[r] =
            take(&where, in, source_index(op, from, to, layout_apply(to, (uint32_t)r, 0, 0)));
    lower_set(L, result, out);
}

void lower_join(Lower *L, const Op *op)
{
    const Value *result = op_result(op, 0);
    const Layout *from = op_arg(op, 0)->type->layout, *to = result->type->layout;
    Map where = registers_by_index(L, from);
    if (!stays_in_threads(L, op, result->type, &where, 0)) return;
    Regs out = lower_regs_new(L, lower_nregs(result->type));
    for (int r = 0; r < out.n; r++) {
        uint32_t index = layout_apply(to, (uint32_t)r, 0, 0);
        out.r[r] = take(&where, lower_get(L, op_arg(op, (int)(index & 1))), index >> 1);
    }
    lower_set(L, result, out);
}

void lower_split(Lower *L, const Op *op)
{
    const Layout *from = op_arg(op, 0)->type->layout;
    Map where = registers_by_index(L, from);
    for (int half = 0; half < 2; half++) {
        const Value *result = op_result(op, half);
        if (!stays_in_threads(L, op, result->type, &where, (uint32_t)half)) return;
        Regs out = lower_regs_new(L, lower_nregs(result->type));
        for (int r = 0; r < out.n; r++) {
            uint32_t index = layout_apply(result->type->layout, (uint32_t)r, 0, 0);
            out.r[r] = take(&where, lower_get(L, op_arg(op, 0)), index << 1 | (uint32_t)half);
        }
        lower_set(L, result, out);
    }
}
