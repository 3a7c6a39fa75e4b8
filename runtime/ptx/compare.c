/* Comparisons of PTX: of integers by the type's signedness, of floats ordered (false with a NaN,
   `ne` too) or unordered (the names with a u: true with a NaN). */
#include <math.h>

#include "float.h"
#include "tkc/edge.h"

static bool compare_float(const PtxCall *c, DType dt, uint64_t a, uint64_t b)
{
    if (ptx_has(c, PTXQ_FTZ)) {
        a = ptx_flush(dt, a);
        b = ptx_flush(dt, b);
    }
    const double x = tkc_bits_to_double(dt, a), y = tkc_bits_to_double(dt, b);
    const bool ordered = !isnan(x) && !isnan(y);
    static const struct {
        PtxQualifier ordered, unordered;
    } names[] = {{PTXQ_EQ, PTXQ_EQU}, {PTXQ_NE, PTXQ_NEU}, {PTXQ_LT, PTXQ_LTU},
                 {PTXQ_LE, PTXQ_LEU}, {PTXQ_GT, PTXQ_GTU}, {PTXQ_GE, PTXQ_GEU}};
    const bool holds[] = {x == y, x != y, x < y, x <= y, x > y, x >= y};
    for (int i = 0; i < 6; i++) {
        if (ptx_has(c, names[i].ordered)) return ordered && holds[i];
        if (ptx_has(c, names[i].unordered)) return !ordered || holds[i];
    }
    return ptx_has(c, PTXQ_NUM) ? ordered : !ordered;
}

static bool compare_int(const PtxCall *c, DType dt, uint64_t a, uint64_t b)
{
    const DTypeInfo *info = tkc_dtype_info(dt);
    const bool is_signed = info->kind == DK_INT;
    const int64_t x = is_signed ? ptx_signed(a, info->bits) : 0,
                  y = is_signed ? ptx_signed(b, info->bits) : 0;
    const bool less = is_signed ? x < y : a < b;
    if (ptx_has(c, PTXQ_EQ)) return a == b;
    if (ptx_has(c, PTXQ_NE)) return a != b;
    if (ptx_has(c, PTXQ_LT) || ptx_has(c, PTXQ_LO)) return less;
    if (ptx_has(c, PTXQ_LE) || ptx_has(c, PTXQ_LS)) return less || a == b;
    if (ptx_has(c, PTXQ_GT) || ptx_has(c, PTXQ_HI)) return !less && a != b;
    return !less;
}

static bool compare(const PtxCall *c, DType dt, uint64_t a, uint64_t b)
{
    bool is_float = tkc_dtype_info(dt)->kind == DK_FLOAT;
    return is_float ? compare_float(c, dt, a, b) : compare_int(c, dt, a, b);
}

/* With the third operand, if there is one. */
static bool combine(const PtxCall *c, bool t)
{
    if (ptx_has(c, PTXQ_AND)) return t && c->a[2];
    if (ptx_has(c, PTXQ_OR)) return t || c->a[2];
    return ptx_has(c, PTXQ_XOR) ? t != (c->a[2] != 0) : t;
}

static uint64_t lane(const PtxType *t, uint64_t x, int i)
{
    const int bits = t->bits / t->lanes;
    return ptx_low(x >> (bits * i), bits);
}

/* The second predicate is of the other lane, or the opposite of the first before they are
   combined. */
void ptx_setp(PtxCall *c)
{
    const PtxType *t = c->type;
    bool first = compare(c, t->dtype, lane(t, c->a[0], 0), lane(t, c->a[1], 0)), second = !first;
    if (t->lanes > 1) second = compare(c, t->dtype, lane(t, c->a[0], 1), lane(t, c->a[1], 1));
    c->d[0] = combine(c, first);
    c->d[1] = combine(c, second);
}

/* 1.0 where the result is a float, all bits where it is an integer. */
void ptx_set(PtxCall *c)
{
    const PtxType *t = c->second;
    const bool is_float = tkc_dtype_info(c->type->dtype)->kind == DK_FLOAT;
    const int bits = c->type->bits / t->lanes;
    const uint64_t yes = is_float ? tkc_bits_from_double(c->type->dtype, 1)
                                  : ptx_low(~UINT64_C(0), bits);
    c->d[0] = 0;
    for (int i = 0; i < t->lanes; i++) {
        bool holds = combine(c, compare(c, t->dtype, lane(t, c->a[0], i), lane(t, c->a[1], i)));
        c->d[0] |= (holds ? yes : 0) << (bits * i);
    }
}
