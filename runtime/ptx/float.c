/* PTX on floats, as the PTX ISA has it ("Floating Point", "Half Precision", "Mixed"). Exact
   arithmetic is what the type's own is: that of fp16 and bf16 by our ops, that of fp32 and fp64 by
   the machine, under the rounding mode asked for. The approximations (.approx, .full) are computed
   in fp64 and rounded to nearest, so they are nearer to the function than a GPU's.

   With .ftz, subnormal operands and results are zeros of their sign. A NaN result of fp64 is one of
   the NaN operands, made quiet; of the other types it is the type's one NaN. */
#include "float.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>

#include "tkc/edge.h"

/* ---- bits ---- */

static uint64_t sign_of(DType dt)
{
    return UINT64_C(1) << (tkc_dtype_info(dt)->bits - 1);
}

static uint64_t exponent_of(DType dt)
{
    return ((UINT64_C(1) << tkc_dtype_info(dt)->exp_bits) - 1) << tkc_dtype_info(dt)->man_bits;
}

bool ptx_is_nan(DType dt, uint64_t x)
{
    return isnan(tkc_bits_to_double(dt, x));
}

/* All ones but the sign; fp64's is negative and quiet with nothing else set. */
uint64_t ptx_nan(DType dt)
{
    return dt == DT_F64 ? UINT64_C(0xfff8) << 48 : sign_of(dt) - 1;
}

uint64_t ptx_kept_nan(DType from, DType to, uint64_t x)
{
    const int more = tkc_dtype_info(to)->man_bits - tkc_dtype_info(from)->man_bits;
    const uint64_t man = ptx_low(x, tkc_dtype_info(from)->man_bits),
                   quiet = UINT64_C(1) << (tkc_dtype_info(to)->man_bits - 1);
    const uint64_t sign = x & sign_of(from) ? sign_of(to) : 0;
    return sign | exponent_of(to) | quiet | (more >= 0 ? man << more : man >> -more);
}

uint64_t ptx_flush(DType dt, uint64_t x)
{
    return x & exponent_of(dt) ? x : x & sign_of(dt);
}

/* What an operation gives that has a NaN as its operand. */
static uint64_t nan_result(DType dt, uint64_t x)
{
    return dt == DT_F64 ? ptx_kept_nan(dt, dt, x) : ptx_nan(dt);
}

PtxRound ptx_rounding(const PtxCall *c)
{
    if (ptx_has(c, PTXQ_RZ)) return PTX_TO_ZERO;
    if (ptx_has(c, PTXQ_RM)) return PTX_DOWN;
    return ptx_has(c, PTXQ_RP) ? PTX_UP : PTX_NEAREST;
}

/* Rounded up or down in magnitude is rounded toward zero, and then one further where that was not
   exact: the patterns of a sign are in the order of the numbers, up to the infinity. */
uint64_t ptx_round(DType dt, double v, PtxRound mode)
{
    if (isnan(v)) return ptx_nan(dt);
    if (mode == PTX_NEAREST) return tkc_bits_from_double(dt, v);
    uint64_t wide = tkc_bits_from_double(DT_F64, v), x = 0;
    tkc_evaluate(OP_CAST, DT_F64, dt, "rtz", 1, &wide, &x);
    bool away = mode == (signbit(v) ? PTX_DOWN : PTX_UP);
    return away && tkc_bits_to_double(dt, x) != v ? x + 1 : x;
}

uint64_t ptx_clamp(const PtxCall *c, DType dt, uint64_t x)
{
    const double v = tkc_bits_to_double(dt, x);
    if (ptx_has(c, PTXQ_SAT)) {
        if (!(v > 0)) return 0;
        return v > 1 ? tkc_bits_from_double(dt, 1) : x;
    }
    return ptx_has(c, PTXQ_RELU) && !isnan(v) && !(v > 0) ? 0 : x;
}

/* ---- one operation ---- */

#define ARITH(NAME, T, SUFFIX)                                                                     \
    static T NAME(OpKind op, const volatile T *x)                                                  \
    {                                                                                              \
        switch (op) {                                                                              \
        case OP_ADD: return x[0] + x[1];                                                           \
        case OP_SUB: return x[0] - x[1];                                                           \
        case OP_MUL: return x[0] * x[1];                                                           \
        case OP_FMA: return fma##SUFFIX(x[0], x[1], x[2]);                                         \
        case OP_DIV: return x[0] / x[1];                                                           \
        case OP_SQRT: return sqrt##SUFFIX(x[0]);                                                   \
        default: abort();                                                                          \
        }                                                                                          \
    }
ARITH(arith_f64, double, )
ARITH(arith_f32, float, f)

/* Operands and result are volatile, so that nothing is moved out from between the changes of the
   mode. */
static uint64_t machine_arith(DType dt, OpKind op, PtxRound mode, const uint64_t *x, int n)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    volatile double r, wide[3] = {0};
    volatile float narrow[3] = {0};
    for (int i = 0; i < n; i++) {
        wide[i] = tkc_bits_to_double(dt, x[i]);
        narrow[i] = dt == DT_F32 ? (float)wide[i] : 0;
    }
    if (mode != PTX_NEAREST) fesetround(modes[mode]);
    r = dt == DT_F32 ? (double)arith_f32(op, narrow) : arith_f64(op, wide);
    if (mode != PTX_NEAREST) fesetround(FE_TONEAREST);
    return ptx_round(dt, r, PTX_NEAREST); /* exact */
}

static uint64_t half_arith(DType dt, OpKind op, const uint64_t *x, int n)
{
    uint64_t out = 0;
    tkc_evaluate(op, dt, dt, NULL, n, x, &out);
    return ptx_is_nan(dt, out) ? ptx_nan(dt) : out;
}

/* The operand that an fp64 result is where it is a NaN: the first one in this order. */
static int nan_operand(OpKind op, const uint64_t *x, int n)
{
    static const uint8_t last_first[] = {1, 0}, addend_second[] = {1, 2, 0}, in_order[] = {0, 1};
    const bool divides = op == OP_DIV || op == OP_SQRT;
    const uint8_t *order = op == OP_FMA ? addend_second : divides ? in_order : last_first;
    for (int i = 0; i < n; i++)
        if (ptx_is_nan(DT_F64, x[order[i]])) return order[i];
    return -1;
}

static uint64_t one_arith(DType dt, OpKind op, PtxRound mode, const uint64_t *x, int n)
{
    const int nan = dt == DT_F64 ? nan_operand(op, x, n) : -1;
    if (nan >= 0) return nan_result(dt, x[nan]);
    if (tkc_dtype_info(dt)->bits == 16) return half_arith(dt, op, x, n);
    return machine_arith(dt, op, mode, x, n);
}

/* Operands and result as .ftz has them. */
static void flush_args(const PtxCall *c, uint64_t *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = ptx_has(c, PTXQ_FTZ) ? ptx_flush(c->type->dtype, c->a[i]) : c->a[i];
}

static void give(PtxCall *c, uint64_t x)
{
    if (ptx_has(c, PTXQ_FTZ)) x = ptx_flush(c->type->dtype, x);
    c->d[0] = ptx_clamp(c, c->type->dtype, x);
}

static void arith(PtxCall *c, OpKind op)
{
    const DType dt = c->type->dtype;
    uint64_t x[3];
    flush_args(c, x, c->n);
    give(c, one_arith(dt, op, ptx_rounding(c), x, c->n));
}

/* All operands but the last are of the second type, which the first one holds exactly. */
static void mixed(PtxCall *c, OpKind op)
{
    for (int i = 0; i < c->n - 1; i++)
        c->a[i] = tkc_bits_from_double(c->type->dtype, tkc_bits_to_double(c->second->dtype, c->a[i]));
    arith(c, op);
}

/* The approximation has no answer for a divisor above 2^126: 0, or NaN under an infinity. */
void ptx_fdiv(PtxCall *c)
{
    uint64_t x[2];
    flush_args(c, x, 2);
    const double num = tkc_bits_to_double(c->type->dtype, x[0]),
                 den = tkc_bits_to_double(c->type->dtype, x[1]);
    bool beyond = ptx_has(c, PTXQ_APPROX) && fabs(den) > 0x1p126 && isfinite(den);
    if (!beyond || isnan(num)) arith(c, OP_DIV);
    else if (isinf(num)) give(c, ptx_nan(c->type->dtype));
    else give(c, (x[0] ^ x[1]) & sign_of(c->type->dtype));
}

/* With .ftz, what is below the least normal number is flushed before it is rounded. */
void ptx_frcp(PtxCall *c)
{
    const double size = fabs(tkc_bits_to_double(c->type->dtype, c->a[0]));
    if (ptx_has(c, PTXQ_FTZ) && size > 0x1p126) {
        c->d[0] = c->a[0] & sign_of(c->type->dtype);
        return;
    }
    c->a[1] = c->a[0];
    c->a[0] = tkc_bits_from_double(c->type->dtype, 1);
    c->n = 2;
    arith(c, OP_DIV);
}

/* ---- functions ---- */

static void function(PtxCall *c, double (*f)(double))
{
    const DType dt = c->type->dtype;
    uint64_t x;
    flush_args(c, &x, 1);
    if (ptx_is_nan(dt, x)) give(c, nan_result(dt, x));
    else give(c, ptx_round(dt, f(tkc_bits_to_double(dt, x)), PTX_NEAREST));
}

static double reciprocal_root(double x)
{
    return 1 / sqrt(x);
}

/* ---- signs, least and greatest ---- */

/* What is cleared of a number's bits, and what is turned. */
static void change_sign(PtxCall *c, uint64_t clear, uint64_t turn)
{
    const DType dt = c->type->dtype;
    uint64_t x;
    flush_args(c, &x, 1);
    c->d[0] = ptx_is_nan(dt, x) ? nan_result(dt, x) : (x & ~clear) ^ turn;
}

/* The sign of the first on the second. */
void ptx_copysign(PtxCall *c)
{
    const uint64_t sign = sign_of(c->type->dtype);
    c->d[0] = (c->a[0] & sign) | (c->a[1] & ~sign);
}

/* Of two NaNs of fp64, the second is the result. */
static void extremum(PtxCall *c, OpKind number_wins, OpKind nan_wins)
{
    const DType dt = c->type->dtype;
    const uint64_t sign = sign_of(dt);
    uint64_t x[2], out = 0, flip = ptx_has(c, PTXQ_XORSIGN) ? (c->a[0] ^ c->a[1]) & sign : 0;
    flush_args(c, x, 2);
    for (int i = 0; i < 2; i++) x[i] = ptx_has(c, PTXQ_ABS) ? x[i] & ~sign : x[i];
    tkc_evaluate(ptx_has(c, PTXQ_NAN_WINS) ? nan_wins : number_wins, dt, dt, NULL, 2, x, &out);
    c->d[0] = ptx_is_nan(dt, out) ? nan_result(dt, x[1]) : out ^ flip;
}

void ptx_testp(PtxCall *c)
{
    const DType dt = c->type->dtype;
    const double v = tkc_bits_to_double(dt, c->a[0]);
    const bool small = !(c->a[0] & exponent_of(dt));
    if (ptx_has(c, PTXQ_FINITE)) c->d[0] = isfinite(v) != 0;
    else if (ptx_has(c, PTXQ_INFINITE)) c->d[0] = isinf(v) != 0;
    else if (ptx_has(c, PTXQ_NUMBER)) c->d[0] = !isnan(v);
    else if (ptx_has(c, PTXQ_NOTANUMBER)) c->d[0] = isnan(v) != 0;
    else if (ptx_has(c, PTXQ_NORMAL)) c->d[0] = isfinite(v) && (!small || v == 0);
    else c->d[0] = small && v != 0;
}

/* ---- the instructions ---- */

#define INSN(name, work)                                                                           \
    void ptx_##name(PtxCall *c)                                                                    \
    {                                                                                              \
        work;                                                                                      \
    }
INSN(fadd, arith(c, OP_ADD))
INSN(fsub, arith(c, OP_SUB))
INSN(fmul, arith(c, OP_MUL))
INSN(ffma, arith(c, OP_FMA))
INSN(fadd_mixed, mixed(c, OP_ADD))
INSN(fsub_mixed, mixed(c, OP_SUB))
INSN(ffma_mixed, mixed(c, OP_FMA))
INSN(fsqrt, arith(c, OP_SQRT))
INSN(frsqrt, function(c, reciprocal_root))
INSN(fsin, function(c, sin))
INSN(fcos, function(c, cos))
INSN(flg2, function(c, log2))
INSN(fex2, function(c, exp2))
INSN(ftanh, function(c, tanh))
INSN(fneg, change_sign(c, 0, sign_of(c->type->dtype)))
INSN(fabs, change_sign(c, sign_of(c->type->dtype), 0))
INSN(fmin, extremum(c, OP_MIN, OP_MIN_NAN))
INSN(fmax, extremum(c, OP_MAX, OP_MAX_NAN))
