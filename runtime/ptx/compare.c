/* Comparisons of PTX: of integers by the type's signedness, of floats ordered (false with a NaN,
   `ne` too) or unordered (the names with a u: true with a NaN). */
#include "float.h"
#include "tkc/edge.h"

enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

/* In which relations of its operands a comparison holds. */
static const struct {
    PtxQualifier name;
    int in;
} comparisons[] = {
    {PTXQ_EQ, EQUAL}, {PTXQ_EQU, EQUAL | UNORDERED},
    {PTXQ_NE, LESS | GREATER}, {PTXQ_NEU, LESS | GREATER | UNORDERED},
    {PTXQ_LT, LESS}, {PTXQ_LTU, LESS | UNORDERED}, {PTXQ_LO, LESS},
    {PTXQ_LE, LESS | EQUAL}, {PTXQ_LEU, LESS | EQUAL | UNORDERED}, {PTXQ_LS, LESS | EQUAL},
    {PTXQ_GT, GREATER}, {PTXQ_GTU, GREATER | UNORDERED}, {PTXQ_HI, GREATER},
    {PTXQ_GE, GREATER | EQUAL}, {PTXQ_GEU, GREATER | EQUAL | UNORDERED}, {PTXQ_HS, GREATER | EQUAL},
    {PTXQ_NUM, LESS | EQUAL | GREATER}, {PTXQ_NAN_EITHER, UNORDERED}};

static int relation(const PtxCall *c, DType dt, uint64_t a, uint64_t b)
{
    const DTypeInfo *info = tkc_dtype_info(dt);
    if (info->kind == DK_FLOAT) {
        const bool flushes = ptx_has(c, PTXQ_FTZ);
        const double x = tkc_bits_to_double(dt, flushes ? ptx_flush(dt, a) : a),
                     y = tkc_bits_to_double(dt, flushes ? ptx_flush(dt, b) : b);
        return x < y ? LESS : x > y ? GREATER : x == y ? EQUAL : UNORDERED;
    }
    const bool is_signed = info->kind == DK_INT;
    const bool less = is_signed ? ptx_signed(a, info->bits) < ptx_signed(b, info->bits) : a < b;
    return a == b ? EQUAL : less ? LESS : GREATER;
}

static bool compare(const PtxCall *c, DType dt, uint64_t a, uint64_t b)
{
    const int is = relation(c, dt, a, b);
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (ptx_has(c, comparisons[i].name)) return is & comparisons[i].in;
    return false;
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
