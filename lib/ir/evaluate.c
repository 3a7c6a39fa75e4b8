/* Elementwise ops on scalars. Integers: 64-bit arithmetic, wrapped to the width at the end. Floats:
   the operands are exact as doubles, the op is done in double and its result rounded once more to
   the type. For + - * / sqrt that second rounding is harmless, because 53 bits are more than twice
   the 24 of the widest type it is done for, plus two; fma goes through a sum rounded to odd, for
   the same effect. Functions without a closed form are as good as the C library's.

   Edge values: docs/language.md. Of zeros, -0 is less than +0 for min and max. Comparisons with NaN
   are false, ne true. */
#include "ir/evaluate.h"

#include <math.h>
#include <string.h>

#include "tkc/float_bits.h"

/* ---- integers ---- */

static uint64_t divide(bool is_signed, uint64_t x, uint64_t y)
{
    if (y == 0) return 0;
    if (!is_signed) return x / y;
    return y == UINT64_MAX ? 0 - x : (uint64_t)((int64_t)x / (int64_t)y);
}

static uint64_t remainder_of(bool is_signed, uint64_t x, uint64_t y)
{
    if (y == 0) return x;
    if (!is_signed) return x % y;
    return y == UINT64_MAX ? 0 : (uint64_t)((int64_t)x % (int64_t)y);
}

static uint64_t high_product(bool is_signed, int width, uint64_t x, uint64_t y)
{
    if (is_signed) return (uint64_t)((__int128)(int64_t)x * (int64_t)y >> width);
    return (uint64_t)((unsigned __int128)x * y >> width);
}

static uint64_t shift_right(bool is_signed, int width, uint64_t x, uint64_t count)
{
    bool all = count >= (uint64_t)width;
    if (is_signed) return (uint64_t)((int64_t)x >> (all ? 63 : count));
    return all ? 0 : x >> count;
}

/* ---- comparisons: by the order of x and y, -1, 0, 1, or 2 with a NaN ---- */

static int order_of_ints(bool is_signed, uint64_t x, uint64_t y)
{
    if (x == y) return 0;
    bool less = is_signed ? (int64_t)x < (int64_t)y : x < y;
    return less ? -1 : 1;
}

static int order_of_floats(double x, double y)
{
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
}

static bool evaluate_compare(OpKind kind, int order, uint64_t *out)
{
    switch (kind) {
    case OP_EQ: *out = order == 0; return true;
    case OP_NE: *out = order != 0; return true;
    case OP_LT: *out = order == -1; return true;
    case OP_LE: *out = order <= 0; return true;
    case OP_GT: *out = order == 1; return true;
    case OP_GE: *out = order == 0 || order == 1; return true;
    default: return false;
    }
}

/* The result before it is wrapped to its type. */
static bool evaluate_int(OpKind kind, DType dt, const uint64_t *args, uint64_t *out)
{
    const DTypeInfo *info = tkc_dtype_info(dt);
    const bool is_signed = info->kind == DK_INT;
    const int width = info->bits;
    const uint64_t x = args[0], y = tkc_op_info(kind)->max_args > 1 ? args[1] : 0;
    const int order = order_of_ints(is_signed, x, y);
    const uint64_t pattern = x << (64 - width) >> (64 - width); /* without the extension */
    switch (kind) {
    case OP_ADD: *out = x + y; return true;
    case OP_SUB: *out = x - y; return true;
    case OP_MUL: *out = x * y; return true;
    case OP_DIV: *out = divide(is_signed, x, y); return true;
    case OP_REM: *out = remainder_of(is_signed, x, y); return true;
    case OP_MULHI: *out = high_product(is_signed, width, x, y); return true;
    case OP_AND: *out = x & y; return true;
    case OP_OR: *out = x | y; return true;
    case OP_XOR: *out = x ^ y; return true;
    case OP_SHL: *out = y >= (uint64_t)width ? 0 : x << y; return true;
    case OP_SHR: *out = shift_right(is_signed, width, x, y); return true;
    case OP_MIN: *out = order < 0 ? x : y; return true;
    case OP_MAX: *out = order > 0 ? x : y; return true;
    case OP_NEG: *out = 0 - x; return true;
    case OP_NOT: *out = ~x; return true;
    case OP_ABS: *out = is_signed && (int64_t)x < 0 ? 0 - x : x; return true;
    case OP_POPC: *out = (uint64_t)__builtin_popcountll(pattern); return true;
    case OP_CLZ:
        *out = (uint64_t)(pattern ? __builtin_clzll(pattern) - (64 - width) : width);
        return true;
    default: return evaluate_compare(kind, order, out);
    }
}

/* ---- floats ---- */

static double min_number(double x, double y)
{
    if (isnan(x)) return y;
    if (isnan(y)) return x;
    return x < y || (x == y && signbit(x)) ? x : y;
}

static double max_number(double x, double y)
{
    if (isnan(x)) return y;
    if (isnan(y)) return x;
    return x > y || (x == y && !signbit(x)) ? x : y;
}

static bool is_any_nan(double x, double y)
{
    return isnan(x) || isnan(y);
}

static bool evaluate_binary(OpKind kind, double x, double y, double *out)
{
    switch (kind) {
    case OP_ADD: *out = x + y; return true;
    case OP_SUB: *out = x - y; return true;
    case OP_MUL: *out = x * y; return true;
    case OP_DIV:
    case OP_DIV_RN: *out = x / y; return true;
    case OP_REM: *out = fmod(x, y); return true;
    case OP_MIN: *out = min_number(x, y); return true;
    case OP_MAX: *out = max_number(x, y); return true;
    case OP_MIN_NAN: *out = is_any_nan(x, y) ? (double)NAN : min_number(x, y); return true;
    case OP_MAX_NAN: *out = is_any_nan(x, y) ? (double)NAN : max_number(x, y); return true;
    default: return false;
    }
}

static double inverse_root(double x)
{
    return 1 / sqrt(x);
}

static double (*const unary[OP_COUNT])(double x) = {
    [OP_EXP] = exp,     [OP_EXP2] = exp2,     [OP_LOG] = log,             [OP_LOG2] = log2,
    [OP_SIN] = sin,     [OP_COS] = cos,       [OP_TANH] = tanh,           [OP_ERF] = erf,
    [OP_SQRT] = sqrt,   [OP_SQRT_RN] = sqrt,  [OP_RSQRT] = inverse_root,  [OP_FLOOR] = floor,
    [OP_CEIL] = ceil,   [OP_TRUNC] = trunc,   [OP_RINT] = rint};

static bool evaluate_float(OpKind kind, DType dt, int n, const uint64_t *args, uint64_t *out)
{
    const uint64_t sign = UINT64_C(1) << (tkc_dtype_info(dt)->bits - 1);
    if (kind == OP_NEG) return *out = args[0] ^ sign, true;
    if (kind == OP_ABS) return *out = args[0] & ~sign, true;
    double x[3], result;
    for (int i = 0; i < n; i++) x[i] = bits_to_double(dt, args[i]);
    if (n == 2 && evaluate_compare(kind, order_of_floats(x[0], x[1]), out)) return true;
    bool known = n == 2 && evaluate_binary(kind, x[0], x[1], &result);
    if (n == 1 && unary[kind]) {
        known = true;
        result = unary[kind](x[0]);
    }
    if (kind == OP_FMA) {
        known = true;
        result = dt == DT_F64 ? fma(x[0], x[1], x[2]) : fma_to_odd(x[0], x[1], x[2]);
    }
    if (known) *out = bits_from_double(dt, result);
    return known;
}

/* ---- conversions ---- */

static uint64_t int_from_float(DType result, double v)
{
    const DTypeInfo *info = tkc_dtype_info(result);
    if (info->kind == DK_BOOL) return v != 0;
    if (isnan(v)) return 0;
    const bool is_signed = info->kind == DK_INT;
    const double limit = ldexp(1, info->bits - is_signed); /* one past the greatest */
    const uint64_t greatest = UINT64_MAX >> (64 - info->bits + is_signed);
    if (v >= limit) return greatest;
    if (!is_signed) return v <= 0 ? 0 : (uint64_t)v;
    return v <= -limit ? ~greatest : (uint64_t)(int64_t)v;
}

static uint64_t cast(DType dt, DType result, const char *rounding, uint64_t bits)
{
    const DTypeKind from = tkc_dtype_info(dt)->kind, to = tkc_dtype_info(result)->kind;
    if (from == DK_FLOAT) {
        double v = bits_to_double(dt, bits);
        if (to != DK_FLOAT) return int_from_float(result, v);
        bool toward_zero = rounding && strcmp(rounding, "rtz") == 0;
        return toward_zero ? bits_from_float_rtz(result, v) : bits_from_double(result, v);
    }
    if (to == DK_BOOL) return bits != 0;
    return from == DK_INT ? bits_from_int(result, (int64_t)bits) : bits_from_uint(result, bits);
}

static uint64_t bitcast(DType dt, DType result, uint64_t bits)
{
    int unused = 64 - tkc_dtype_info(dt)->bits;
    uint64_t pattern = bits << unused >> unused;
    return tkc_dtype_info(result)->kind == DK_FLOAT ? pattern : bits_from_uint(result, pattern);
}

static bool is_complete(OpKind kind, DType dt, DType result, int n)
{
    const OpInfo *info = tkc_op_info(kind);
    return dt != DT_NONE && result != DT_NONE && n >= info->min_args &&
           (info->max_args < 0 || n <= info->max_args);
}

bool tkc_evaluate(OpKind kind, DType dt, DType result, const char *rounding, int n,
                  const uint64_t *args, uint64_t *out)
{
    if (!is_complete(kind, dt, result, n)) return false;
    switch (kind) {
    case OP_SELECT: *out = args[0] ? args[1] : args[2]; return true;
    case OP_HINT: *out = args[0]; return true;
    case OP_CAST: *out = cast(dt, result, rounding, args[0]); return true;
    case OP_BITCAST: *out = bitcast(dt, result, args[0]); return true;
    default: break;
    }
    if (tkc_dtype_info(dt)->kind == DK_FLOAT) return evaluate_float(kind, dt, n, args, out);
    if (!evaluate_int(kind, dt, args, out)) return false;
    *out = bits_from_uint(result, *out);
    return true;
}

static uint64_t convert(DType from, DType to, uint64_t bits)
{
    uint64_t out = 0;
    tkc_evaluate(OP_CAST, from, to, NULL, 1, &bits, &out);
    return out;
}

uint64_t tkc_bits_from_double(DType dt, double v)
{
    if (tkc_dtype_info(dt)->kind == DK_FLOAT) return bits_from_double(dt, v);
    return convert(DT_F64, dt, bits_from_double(DT_F64, v));
}

double tkc_bits_to_double(DType dt, uint64_t bits)
{
    return bits_to_double(DT_F64, convert(dt, DT_F64, bits));
}
