/* Sines and cosines: the nearest multiple of a quarter turn is taken off the angle, and polynomials do
   the rest. Large angles take a longer way, by one branch for all elements of a thread: below it
   they are one piece of code, which ptxas orders by the registers that there are. Errors of fp32,
   measured over the whole range: 2 ulp, absolute 1e-7 near zeros. fp64: turn64.c. */
#include "lower/math.h"

/* ---- of fp32 ---- */

/* x - k pi/2 with pi/2 in three parts; the products k * part are exact enough while |x| < 48000.
   Of -0 k is +0, and no part is negative: so the rest is -0. */
static Turn turn_by_parts(Lower *L, LLVMValueRef x)
{
    LLVMValueRef k = fused(L, x, constant_like(x, 0.63661977236758134), constant_like(x, 0));
    k = unary(L, "llvm.roundeven", k);
    LLVMValueRef less = LLVMBuildFNeg(L->b, k, "");
    LLVMValueRef rest = fused(L, less, constant_like(x, 1.570796251296997), x);
    rest = fused(L, less, constant_like(x, 7.549789415861596e-08), rest);
    rest = fused(L, less, constant_like(x, 5.390302529957765e-15), rest);
    return (Turn){rest, NULL, lower_instr(L, INSTR_F32_TO_S32, k)};
}

/* Any size: x = m 2^e with m of 24 bits; the bits of 2/pi that matter for m 2^e 2/pi modulo 4 are
   96 from place e - 2 on (Payne and Hanek). The 64-bit product has the quarter turns in its upper
   two bits and the fraction below. */
static Turn turn_exactly(Lower *L, LLVMValueRef x)
{
    LLVMBuilderRef b = L->b;
    LLVMValueRef bits = bits_as(L, x, L->i32), words[3], parts[2];
    LLVMValueRef m = LLVMBuildOr(b, masked(L, bits, 0x7fffff), lower_i32(L, 0x800000), "");
    m = LLVMBuildZExt(b, m, L->i64, "");
    /* e - 2, with e = exponent - 150, counted from a word of zeros before the point */
    LLVMValueRef place = minus(L, masked(L, shift_down(L, bits, 23), 255), 152 - 64);
    LLVMValueRef shift = LLVMBuildZExt(b, masked(L, place, 63), L->i64, "");
    for (uint64_t i = 0; i < 3; i++) words[i] = two_over_pi(L, shift_down(L, place, 6), i);
    for (int i = 0; i < 2; i++)
        parts[i] = lower_call(L, "llvm.fshl", L->i64, words[i], words[i + 1], shift);
    LLVMValueRef rest = LLVMBuildMul(b, shift_down(L, parts[1], 32), m, "");
    LLVMValueRef product = LLVMBuildMul(b, parts[0], m, "");
    product = LLVMBuildAdd(b, product, shift_down(L, rest, 32), "");
    LLVMValueRef quarters = shift_down(L, plus(L, product, UINT64_C(1) << 61), 62);
    LLVMValueRef fraction = LLVMBuildSub(b, product, shift_up(L, quarters, 62), "");
    LLVMValueRef angle = LLVMBuildSIToFP(b, fraction, L->f64, "");
    angle = mul(L, angle, number(L, 0x1.921fb54442d18p+0 * 0x1p-62));
    Turn t = {.rest = LLVMBuildFPTrunc(b, angle, L->f32, "")};
    t.quarters = LLVMBuildTrunc(b, quarters, L->i32, "");
    LLVMValueRef is_negative = compare_whole(L, LLVMIntSLT, bits, 0);
    t.rest = pick(L, is_negative, LLVMBuildFNeg(b, t.rest, ""), t.rest);
    t.quarters = pick(L, is_negative, LLVMBuildNeg(b, t.quarters, ""), t.quarters);
    return t;
}

static void sines(Lower *L, LLVMValueRef x, Turn t, LLVMValueRef *sine, LLVMValueRef *cosine)
{
    static const double s[] = {-0.1666666716337204, 0.008333329111337662, -0.0001983933470910415,
                               2.7183041311218403e-06};
    static const double c[] = {0.0416666679084301, -0.0013888883404433727, 2.4799519451335073e-05,
                               -2.721018006468512e-07};
    LLVMValueRef square = mul(L, t.rest, t.rest);
    LLVMValueRef flat = fused(L, square, constant_like(x, -0.5), constant_like(x, 1));
    *sine = mul(L, t.rest, fused(L, POLYNOMIAL(L, square, s), square, constant_like(x, 1)));
    *cosine = fused(L, POLYNOMIAL(L, square, c), mul(L, square, square), flat);
}

static const Angles angles = {48000, turn_by_parts, turn_exactly, sines};

/* ---- of any float ---- */

/* An angle of this region whose sine (0) or cosine (1) is known. */
typedef struct Turned {
    LLVMValueRef x, of[2];
    struct Turned *next;
} Turned;

static LLVMValueRef known(const Lower *L, LLVMValueRef x, bool is_cosine)
{
    for (const Turned *t = L->turned; t; t = t->next)
        if (t->x == x && t->of[is_cosine]) return t->of[is_cosine];
    return NULL;
}

/* The sine of a turn by `quarters`, and of a rest whose sine and cosine are given. */
static LLVMValueRef sine_of(Lower *L, LLVMValueRef quarters, LLVMValueRef sine, LLVMValueRef cosine)
{
    LLVMValueRef is_odd = LLVMBuildTrunc(L->b, quarters, L->i1, "");
    LLVMValueRef negative = compare_whole(L, LLVMIntNE, masked(L, quarters, 2), 0);
    LLVMValueRef y = pick(L, is_odd, cosine, sine);
    return pick(L, negative, LLVMBuildFNeg(L->b, y, ""), y);
}

/* The functions of the angle that are asked for. */
static void by_turn(Lower *L, const Angles *a, LLVMValueRef x, Turn t, const bool *asked,
                    LLVMValueRef *of)
{
    LLVMValueRef sine, cosine;
    a->sines(L, x, t, &sine, &cosine);
    for (uint64_t i = 0; i < 2; i++)
        if (asked[i]) of[i] = sine_of(L, plus(L, t.quarters, i), sine, cosine);
}

static Turn pick_turn(Lower *L, LLVMValueRef c, Turn x, Turn y)
{
    return (Turn){pick(L, c, x.rest, y.rest), x.low ? pick(L, c, x.low, y.low) : NULL,
                  pick(L, c, x.quarters, y.quarters)};
}

/* Of a large angle, or one of a thread that has such; NaN when it is not finite. */
static void by_far_turn(Lower *L, const Angles *a, LLVMValueRef x, const bool *asked,
                        LLVMValueRef *of)
{
    LLVMValueRef size = absolute(L, x), is_far = compare(L, LLVMRealOGE, size, a->limit);
    const Turn far = a->far(L, pick(L, is_far, x, constant_like(x, a->limit)));
    by_turn(L, a, x, pick_turn(L, is_far, far, a->near(L, x)), asked, of);
    LLVMValueRef finite = compare(L, LLVMRealOLT, size, __builtin_inf());
    for (int i = 0; i < 2; i++)
        if (asked[i]) of[i] = pick(L, finite, of[i], constant_like(x, __builtin_nan("")));
}

/* Of n angles; adds them to what is known. */
static void turn_all(Lower *L, const Angles *a, int n, const LLVMValueRef *x, const bool *asked)
{
    LLVMValueRef largest = absolute(L, x[0]);
    for (int i = 1; i < n; i++)
        largest = lower_call(L, "llvm.maxnum", LLVMTypeOf(x[0]), largest, absolute(L, x[i]));
    LLVMBasicBlockRef near = lower_block(L, "near"), far = lower_block(L, "far"),
                      join = lower_block(L, "turned");
    LLVMBuildCondBr(L->b, compare(L, LLVMRealOGE, largest, a->limit), far, near);
    LLVMValueRef(*of)[2][2] = (LLVMValueRef(*)[2][2])arena_array(L->arena, LLVMValueRef, n * 4);
    lower_place(L, near);
    for (int i = 0; i < n; i++) by_turn(L, a, x[i], a->near(L, x[i]), asked, of[i][0]);
    LLVMBuildBr(L->b, join);
    lower_place(L, far);
    for (int i = 0; i < n; i++) by_far_turn(L, a, x[i], asked, of[i][1]);
    LLVMBuildBr(L->b, join);
    lower_place(L, join);
    for (int i = 0; i < n; i++) {
        Turned *t = arena_array(L->arena, Turned, 1);
        *t = (Turned){.x = x[i], .next = L->turned};
        for (int k = 0; k < 2; k++) {
            if (!asked[k]) continue;
            t->of[k] = LLVMBuildPhi(L->b, LLVMTypeOf(x[i]), "");
            LLVMAddIncoming(t->of[k], (LLVMValueRef[]){of[i][0][k], of[i][1][k]},
                            (LLVMBasicBlockRef[]){near, far}, 2);
        }
        L->turned = t;
    }
}

/* Is the other function of the same angle computed in the region, too? */
static bool has_partner(const Op *op)
{
    const OpKind other = op->kind == OP_SIN ? OP_COS : OP_SIN;
    for (const Use *use = op_arg(op, 0)->uses; use; use = use->next)
        if (use->user->kind == other && use->user->region == op->region) return true;
    return false;
}

static LLVMValueRef turned_element(Lower *L, const Op *op, const LLVMValueRef *args)
{
    return known(L, args[0], op->kind == OP_COS);
}

void lower_sines(Lower *L, const Op *op)
{
    const Value *x = op_arg(op, 0);
    const bool is_cosine = op->kind == OP_COS, both = has_partner(op);
    const uint32_t equal = lower_equal_registers(L, op_result(op, 0));
    const int registers = lower_nregs(op_result(op, 0)->type);
    LLVMValueRef *angle = arena_array(L->arena, LLVMValueRef, registers);
    int n = 0;
    for (int r = 0; r < registers; r++) {
        angle[n] = lower_reg(L, x, (int)((uint32_t)r & ~equal));
        bool is_new = !known(L, angle[n], is_cosine);
        for (int i = 0; is_new && i < n; i++) is_new = angle[i] != angle[n];
        n += is_new;
    }
    const Angles *a = type_dtype(x->type) == DT_F64 ? &angles64 : &angles;
    if (n > 0) turn_all(L, a, n, angle, (bool[]){both || !is_cosine, both || is_cosine});
    lower_elementwise(L, op, turned_element);
}
