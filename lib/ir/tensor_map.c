#include "ir/tensor_map.h"

#include <string.h>

#include "base/vec.h"
#include "linear/swizzle.h"

enum { ALIGN = 16 };

/* ---- of a tile ---- */

/* The number stays. */
static bool widens(const Op *op)
{
    const Type *from = op->kind == OP_CAST ? op_arg(op, 0)->type : NULL;
    return from && from->dtype != DT_NONE && dtype_info(from->dtype)->kind == DK_INT &&
           type_bits(from) < type_bits(op_result(op, 0)->type);
}

/* To the same place. */
static bool points_on(const Op *op)
{
    return op->kind == OP_BITCAST && type_is_pointer(op_arg(op, 0)->type) &&
           type_is_pointer(op_result(op, 0)->type);
}

/* A parameter as it is, or, of signed integers, in more bits; of pointers, to any type. */
static int param_of(const Func *fn, const Value *v)
{
    while (v->def && (widens(v->def) || v->def->kind == OP_HINT || points_on(v->def)))
        v = op_arg(v->def, 0);
    return v->region == fn->body ? v->index : -1;
}

static bool add_param(TkcNumber *out, int param)
{
    int i = 0;
    while (i < TKC_FACTORS && out->param[i] >= 0) i++;
    if (i == TKC_FACTORS || param < 0) return false;
    out->param[i] = param;
    return true;
}

/* A product of signed integers, in as many bits as the number's. */
static bool is_product(const Value *v, const TkcNumber *n)
{
    return ir_def(v, OP_MUL) && dtype_info(v->type->dtype)->kind == DK_INT &&
           type_bits(v->type) == n->bits;
}

/* divides: is multiplied by the power of two that divides the factor, as far as TMA asks. */
static bool add_factor(const Func *fn, const Value *v, TkcNumber *out, int64_t *divides)
{
    int64_t known;
    while (ir_def(v, OP_HINT)) v = op_arg(v->def, 0);
    if (is_product(v, out))
        return add_factor(fn, op_arg(v->def, 0), out, divides) &&
               add_factor(fn, op_arg(v->def, 1), out, divides);
    const int param = param_of(fn, v);
    if (ir_const_int(v, &known)) out->value = (int64_t)((uint64_t)out->value * (uint64_t)known);
    else if (add_param(out, param)) known = fn->params[param].divisibility;
    else return false;
    if (known > 1) *divides *= known & -known;
    if (*divides > ALIGN) *divides = ALIGN;
    return known > 0 || param >= 0;
}

/* A power of two that the op says its number is a multiple of, or what was known. */
static int64_t said_of(const Op *hint, int64_t known)
{
    const Attr *a = tkc_op_attr(hint, ATTR_DIVISIBILITY);
    const int64_t n = a && a->v[0] > 0 ? a->v[0] & -a->v[0] : 1;
    return n < known ? known : n > ALIGN ? ALIGN : n;
}

/* divides: a power of two that the number is known to be a multiple of, ALIGN at most. */
static bool read_number(const Func *fn, const Value *v, TkcNumber *out, int64_t *divides)
{
    int64_t said = 1;
    *divides = 1;
    for (; v->def && (widens(v->def) || v->def->kind == OP_HINT); v = op_arg(v->def, 0))
        said = said_of(v->def, said);
    *out = (TkcNumber){1, ir_def(v, OP_MUL) ? type_bits(v->type) : 64, {-1, -1, -1}};
    if (!add_factor(fn, v, out, divides)) return false;
    if (*divides < said) *divides = said;
    return true;
}

static bool is_one(const TkcNumber *n)
{
    return n->value == 1 && n->param[0] < 0;
}

static bool is_beyond(const Value *v, int64_t least, int64_t most)
{
    int64_t n;
    return ir_const_int(v, &n) && (n < least || n > most);
}

/* Of the map's dim d, which is that dim of the tile from the last one on. Gives what it lacks, or NULL. */
static const char *read_dim(const Func *fn, const Tile *t, int d, TkcTensorMap *out)
{
    const int of_tile = t->rank - 1 - d;
    const Value *extent = t->shape[of_tile], *step = t->strides[of_tile];
    TkcNumber stride;
    int64_t any, multiple;
    if (is_beyond(extent, 1, TKC_MAP_EXTENTS)) return "an extent is less than 1 or more than 2^31 - 16";
    if (!read_number(fn, extent, &out->extent[d], &any)) return "an extent is computed in the kernel";
    if (is_beyond(step, 0, (TKC_MAP_STRIDES - 1) / out->bytes))
        return "a stride is less than 0 or 2^40 bytes";
    if (!read_number(fn, step, &stride, &multiple)) return "a stride is computed in the kernel";
    if (d == 0) return is_one(&stride) ? NULL : "the last stride is not known to be 1";
    out->stride[d - 1] = stride;
    return multiple * out->bytes % ALIGN ? "a stride is not known to be a multiple of 16 bytes" : NULL;
}

const char *tensor_map_of_tile(const Func *fn, const Tile *t, TkcTensorMap *out)
{
    static const TkcNumber one = {1, 64, {-1, -1, -1}};
    const char *lack = NULL;
    *out = (TkcTensorMap){.base = param_of(fn, t->base),
                          .rank = t->rank,
                          .bytes = type_bits(t->base->type->elem) / 8};
    if (t->rank - t->outer != 2 || t->rank > TKC_DESCRIPTOR_RANK || !out->bytes)
        return "the block is no matrix";
    if (out->base < 0) return "the base is computed in the kernel";
    if (fn->params[out->base].divisibility % ALIGN)
        return "the base is not known to be a multiple of 16 bytes";
    for (int d = 0; !lack && d < t->rank; d++) lack = read_dim(fn, t, d, out);
    for (int d = t->rank; d < TKC_DESCRIPTOR_RANK; d++) out->extent[d] = out->stride[d - 1] = one;
    return lack;
}

/* ---- of a copy ---- */

bool tensor_map_of_copy(const Op *copy, TkcTensorMap *out)
{
    const Func *fn = copy->region->func;
    const Type *ring = op_arg(copy, tkc_buffer_operand(copy))->type;
    Value *parts[TILE_PARTS];
    const Tile t = tile_of_op(copy, parts);
    Swizzle s;
    if (tensor_map_of_tile(fn, &t, out) || t.block[0] > TENSOR_MAP_MOST_BOX ||
        !swizzle_find(ir_of(fn)->layouts, ring->layout, type_bytes(ring), &s) || s.dim != 1)
        return false;
    out->swizzle = 1 << s.row_log2;
    out->box_rows = t.block[0];
    out->box_columns = out->swizzle / out->bytes;
    return true;
}

/* ---- of a function ---- */

typedef struct Maps {
    Arena *scratch;
    const Op *wanted;
    int index; /* of that one's */
    VEC(TkcTensorMap) all;
} Maps;

static void add_map(Op *op, void *user)
{
    Maps *m = user;
    int i = 0;
    TkcTensorMap map;
    if (!tkc_is_box(op) || !tensor_map_of_copy(op, &map)) return;
    while (i < m->all.len && memcmp(&m->all.data[i], &map, sizeof map)) i++;
    if (i == m->all.len) vec_push(m->scratch, &m->all, map);
    if (op == m->wanted) m->index = i;
}

int tensor_map_index(Arena *scratch, const Func *fn, const Op *copy)
{
    Maps m = {.scratch = scratch, .wanted = copy};
    ir_walk(fn->body, add_map, &m);
    return m.index;
}

int tensor_maps(Arena *scratch, const Func *fn, TkcTensorMap **out)
{
    Maps m = {.scratch = scratch};
    ir_walk(fn->body, add_map, &m);
    *out = m.all.data;
    return m.all.len;
}
