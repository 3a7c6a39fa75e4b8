/* Reductions into global memory. Programs run on several threads of the host, so an element is
   read, combined and exchanged only if nobody else wrote it meanwhile. */
#include <math.h>
#include <string.h>

#include "simt/tensor_reduce.h"
#include "tkc/edge.h"

typedef struct TypeInfo {
    DType dtype;
    int bytes;
    bool is_signed;
    unsigned ops;
} TypeInfo;

#define OP(NAME) (1u << TENSOR_REDUCE_##NAME)
enum {
    ORDERED = OP(MIN) | OP(MAX),
    BITWISE = OP(AND) | OP(OR) | OP(XOR),
    COUNTED = OP(INC) | OP(DEC)
};

static const TypeInfo types[TENSOR_TYPE_COUNT] = {
    [TENSOR_U32] = {DT_U32, 4, false, OP(ADD) | ORDERED | BITWISE | COUNTED},
    [TENSOR_S32] = {DT_I32, 4, true, OP(ADD) | ORDERED | BITWISE},
    [TENSOR_U64] = {DT_U64, 8, false, OP(ADD) | ORDERED | BITWISE},
    [TENSOR_S64] = {DT_I64, 8, true, ORDERED | BITWISE},
    [TENSOR_F16] = {DT_F16, 2, true, OP(ADD) | ORDERED},
    [TENSOR_BF16] = {DT_BF16, 2, true, OP(ADD) | ORDERED},
    [TENSOR_F32] = {DT_F32, 4, true, OP(ADD)},
    [TENSOR_F64] = {DT_F64, 8, true, OP(ADD)},
};

TensorReduction simt_tensor_reduction(const char *name, size_t len)
{
    static const char *const names[TENSOR_REDUCTION_COUNT] = {"",    "add", "min", "max", "inc",
                                                              "dec", "and", "or",  "xor"};
    for (int i = 1; i < TENSOR_REDUCTION_COUNT; i++)
        if (strlen(names[i]) == len && !memcmp(names[i], name, len)) return (TensorReduction)i;
    return TENSOR_REDUCE_NONE;
}

bool simt_tensor_can_reduce(TensorType type, TensorReduction op)
{
    return types[type].ops >> op & 1;
}

static uint64_t nan_of(const TypeInfo *t)
{
    return (UINT64_C(1) << (8 * t->bytes - 1)) - 1;
}

/* Of two numbers the one that is one; -0 is less than 0. */
static bool takes_second(TensorReduction op, double x, double y)
{
    if (isnan(x) || isnan(y)) return isnan(x);
    const bool less = y < x || (y == x && signbit(y) && !signbit(x));
    const bool more = y > x || (y == x && signbit(x) && !signbit(y));
    return op == TENSOR_REDUCE_MIN ? less : more;
}

static uint64_t combine_floats(const TypeInfo *t, TensorReduction op, uint64_t x, uint64_t y)
{
    const double a = tkc_bits_to_double(t->dtype, x), b = tkc_bits_to_double(t->dtype, y);
    double sum = a + b; /* rounds on to narrower types as one rounding would */
    if (op != TENSOR_REDUCE_ADD) sum = takes_second(op, a, b) ? b : a;
    return isnan(sum) ? nan_of(t) : tkc_bits_from_double(t->dtype, sum);
}

static bool is_less(const TypeInfo *t, uint64_t x, uint64_t y)
{
    if (!t->is_signed) return x < y;
    const int above = 64 - 8 * t->bytes;
    return (int64_t)(x << above) < (int64_t)(y << above);
}

/* What memory holds, x, combined with y; the caller cuts the result to the type's width. */
static uint64_t combine_integers(const TypeInfo *t, TensorReduction op, uint64_t x, uint64_t y)
{
    switch (op) {
    case TENSOR_REDUCE_ADD: return x + y;
    case TENSOR_REDUCE_MIN: return is_less(t, y, x) ? y : x;
    case TENSOR_REDUCE_MAX: return is_less(t, x, y) ? y : x;
    case TENSOR_REDUCE_INC: return x >= y ? 0 : x + 1;
    case TENSOR_REDUCE_DEC: return x == 0 || x > y ? y : x - 1;
    case TENSOR_REDUCE_AND: return x & y;
    case TENSOR_REDUCE_OR: return x | y;
    case TENSOR_REDUCE_XOR: return x ^ y;
    case TENSOR_REDUCE_NONE:
    case TENSOR_REDUCTION_COUNT: break;
    }
    return x;
}

static uint64_t combine(const TypeInfo *t, TensorReduction op, uint64_t x, uint64_t y)
{
    const bool whole = t->ops & BITWISE;
    return whole ? combine_integers(t, op, x, y) : combine_floats(t, op, x, y);
}

#define REDUCE(T)                                                                                  \
    static void reduce_##T(const TypeInfo *t, TensorReduction op, void *global,                    \
                           const void *shared)                                                     \
    {                                                                                              \
        T y, x = __atomic_load_n((T *)global, __ATOMIC_RELAXED);                                   \
        memcpy(&y, shared, sizeof y);                                                              \
        while (!__atomic_compare_exchange_n((T *)global, &x, (T)combine(t, op, x, y), true,        \
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))                   \
            ;                                                                                      \
    }
REDUCE(uint16_t)
REDUCE(uint32_t)
REDUCE(uint64_t)
#undef REDUCE

void simt_tensor_reduce(TensorType type, TensorReduction op, void *global, const void *shared,
                        uint32_t bytes)
{
    const TypeInfo *t = &types[type];
    for (uint32_t i = 0; i < bytes; i += (uint32_t)t->bytes) {
        void *to = (uint8_t *)global + i;
        const void *from = (const uint8_t *)shared + i;
        if (t->bytes == 2) reduce_uint16_t(t, op, to, from);
        else if (t->bytes == 4) reduce_uint32_t(t, op, to, from);
        else reduce_uint64_t(t, op, to, from);
    }
}
