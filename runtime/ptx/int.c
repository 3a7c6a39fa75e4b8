/* PTX on integers and bits, as the PTX ISA has it ("Integer Arithmetic", "Logic and Shift"). Where
   an instruction is one of our own ops, that is what runs. Registers hold no sign: values are
   extended on the way in and cut on the way out. */
#include "bits.h"
#include "ptx.h"
#include "tkc/edge.h"

static bool is_signed(const PtxType *t)
{
    return tkc_dtype_info(t->dtype)->kind == DK_INT;
}

static int width(const PtxType *t)
{
    return tkc_dtype_info(t->dtype)->bits;
}

/* As 64-bit numbers are extended for our ops. */
static uint64_t extend(const PtxType *t, uint64_t x)
{
    return is_signed(t) ? (uint64_t)ptx_signed(x, width(t)) : x;
}

static uint64_t op(const PtxCall *c, OpKind kind, int n, uint64_t x, uint64_t y)
{
    uint64_t args[] = {extend(c->type, x), extend(c->type, y)}, out = 0;
    tkc_evaluate(kind, c->type->dtype, c->type->dtype, NULL, n, args, &out);
    return ptx_low(out, width(c->type));
}

/* To the bits of an s32. */
static uint64_t saturate(__int128 x)
{
    return (uint32_t)(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x);
}

/* ---- sums ---- */

/* x + y + carry; the new carry where the instruction says so. */
static uint64_t sum_with_carry(const PtxCall *c, uint64_t x, uint64_t y, bool carry)
{
    unsigned __int128 sum = (unsigned __int128)x + y + carry;
    if (ptx_has(c, PTXQ_CC)) *c->carry = sum >> width(c->type) & 1;
    return ptx_low((uint64_t)sum, width(c->type));
}

/* The carry of a difference is a borrow. */
static uint64_t difference_with_borrow(const PtxCall *c, bool borrow)
{
    unsigned __int128 less = (unsigned __int128)c->a[1] + borrow;
    if (ptx_has(c, PTXQ_CC)) *c->carry = less > c->a[0];
    return ptx_low(c->a[0] - c->a[1] - borrow, width(c->type));
}

/* ---- products ---- */

static __int128 product(const PtxCall *c)
{
    if (is_signed(c->type))
        return (__int128)ptx_signed(c->a[0], width(c->type)) * ptx_signed(c->a[1], width(c->type));
    return (__int128)((unsigned __int128)c->a[0] * c->a[1]);
}

static uint64_t product_part(const PtxCall *c)
{
    __int128 p = product(c);
    if (ptx_has(c, PTXQ_HI)) p >>= width(c->type);
    return ptx_low((uint64_t)p, width(c->type));
}

/* The 48 bits of a product of 24 by 24: the upper or lower 32 of them. */
void ptx_mul24(PtxCall *c)
{
    const bool s = is_signed(c->type);
    int64_t x = s ? ptx_signed(c->a[0], 24) : (int64_t)ptx_low(c->a[0], 24);
    int64_t y = s ? ptx_signed(c->a[1], 24) : (int64_t)ptx_low(c->a[1], 24);
    int64_t p = x * y;
    if (ptx_has(c, PTXQ_HI)) p >>= 16;
    uint64_t part = ptx_low((uint64_t)p, 32), add = c->n > 2 ? c->a[2] : 0;
    if (ptx_has(c, PTXQ_SAT))
        c->d[0] = saturate((__int128)ptx_signed(part, 32) + ptx_signed(add, 32));
    else c->d[0] = ptx_low(part + add, 32);
}

void ptx_sad(PtxCall *c)
{
    bool less = op(c, OP_MIN, 2, c->a[0], c->a[1]) == c->a[0];
    uint64_t apart = less ? c->a[1] - c->a[0] : c->a[0] - c->a[1];
    c->d[0] = ptx_low(c->a[2] + apart, width(c->type));
}

/* PTX leaves division by 0 open; GPUs give all ones, of both. */
static uint64_t divide(const PtxCall *c, OpKind kind)
{
    const int bits = width(c->type);
    const bool by_zero = !ptx_low(c->a[1], bits);
    return by_zero ? ptx_low(UINT64_MAX, bits) : op(c, kind, 2, c->a[0], c->a[1]);
}

static uint64_t relu(const PtxCall *c, uint64_t x)
{
    return ptx_has(c, PTXQ_RELU) ? op(c, OP_MAX, 2, x, 0) : x;
}

/* Sums of products of bytes (dp4a), or of halves and bytes (dp2a). */
static uint64_t piece(const PtxType *t, uint64_t x, int bits, int i)
{
    uint64_t p = ptx_low(x >> (bits * i), bits);
    return is_signed(t) ? (uint64_t)ptx_signed(p, bits) : p;
}

static uint64_t sum_of_products(const PtxCall *c, int n, int bits, int first)
{
    uint64_t sum = c->a[2];
    for (int i = 0; i < n; i++)
        sum += piece(c->type, c->a[0], bits, i) * piece(c->second, c->a[1], 8, first + i);
    return ptx_low(sum, 32);
}

/* ---- bits ---- */

/* Of a number that is extended to 64 bits, what is beyond its width is beyond those, or cut off. */
static uint64_t shifted_right(const PtxCall *c)
{
    const u32 by = (u32)c->a[1];
    return is_signed(c->type) ? right_signed64((s64)extend(c->type, c->a[0]), by)
                              : right64(c->a[0], by);
}

/* A window of 32 bits on the 64 of a[1]:a[0]. */
void ptx_shf(PtxCall *c)
{
    const uint64_t both = c->a[1] << 32 | c->a[0];
    uint64_t by = ptx_has(c, PTXQ_WRAP) ? c->a[2] & 31 : c->a[2] > 32 ? 32 : c->a[2];
    c->d[0] = ptx_low(ptx_has(c, PTXQ_L) ? both >> (32 - by) : both >> by, 32);
}

static int chosen_byte(const PtxCall *c, int i)
{
    const int at = (int)(c->a[2] & 3);
    if (ptx_has(c, PTXQ_F4E)) return at + i;
    if (ptx_has(c, PTXQ_B4E)) return (at - i) & 7;
    if (ptx_has(c, PTXQ_RC8)) return at;
    if (ptx_has(c, PTXQ_ECL)) return i > at ? i : at;
    if (ptx_has(c, PTXQ_ECR)) return i < at ? i : at;
    if (ptx_has(c, PTXQ_RC16)) return (i & 1) + 2 * (at & 1);
    return (int)(c->a[2] >> (4 * i) & 15); /* 8: the sign of the byte, in all bits */
}

void ptx_prmt(PtxCall *c)
{
    u32 which = 0;
    for (int i = 0; i < 4; i++) which |= (u32)chosen_byte(c, i) << (4 * i);
    c->d[0] = bytes_chosen((u32)c->a[0], (u32)c->a[1], which);
}

void ptx_bfind(PtxCall *c)
{
    const int bits = width(c->type);
    uint64_t x = extend(c->type, c->a[0]);
    if (is_signed(c->type) && (int64_t)x < 0) x = ~x;
    int at = x ? 63 - __builtin_clzll(x) : -1;
    if (at >= 0 && ptx_has(c, PTXQ_SHIFTAMT)) at = bits - 1 - at;
    c->d[0] = (uint32_t)at;
}

static uint64_t reversed(const PtxCall *c)
{
    const u32 low = (u32)c->a[0], high = (u32)(c->a[0] >> 32);
    return c->type->bits == 32 ? reversed32(low) : (u64)reversed32(low) << 32 | reversed32(high);
}

void ptx_bfe(PtxCall *c)
{
    const u32 pos = (u32)c->a[1], len = (u32)c->a[2], x = (u32)c->a[0];
    if (width(c->type) == 32)
        c->d[0] = is_signed(c->type) ? field_signed32(x, pos, len) : field32(x, pos, len);
    else
        c->d[0] = is_signed(c->type) ? field_signed64(c->a[0], pos, len) : field64(c->a[0], pos, len);
}

void ptx_bfi(PtxCall *c)
{
    const u32 pos = (u32)c->a[2], len = (u32)c->a[3];
    c->d[0] = c->type->bits == 32 ? with_field32((u32)c->a[0], (u32)c->a[1], pos, len)
                                  : with_field64(c->a[0], c->a[1], pos, len);
}

/* b ones from bit a on. */
void ptx_bmsk(PtxCall *c)
{
    const bool clamps = ptx_has(c, PTXQ_CLAMP);
    const int from = (int)(c->a[0] & 31), n = (int)(c->a[1] & 31);
    const bool to_the_end = from + n >= 32 || (clamps && c->a[1] >= 32);
    uint64_t above = ~UINT64_C(0) << from;
    if (clamps && c->a[0] >= 32) above = 0;
    uint64_t beyond = to_the_end ? 0 : n ? ~UINT64_C(0) << (from + n) : ~UINT64_C(0);
    c->d[0] = ptx_low(above & ~beyond, 32);
}

/* The low n bits, extended. */
void ptx_szext(PtxCall *c)
{
    const uint64_t n = c->a[1] & 31;
    if (c->a[1] >= 32 && ptx_has(c, PTXQ_CLAMP)) c->d[0] = c->a[0];
    else if (!n) c->d[0] = 0;
    else if (is_signed(c->type)) c->d[0] = ptx_low((uint64_t)ptx_signed(c->a[0], (int)n), 32);
    else c->d[0] = ptx_low(c->a[0], (int)n);
}

/* ---- moves ---- */

void ptx_pack(PtxCall *c)
{
    const int bits = c->type->bits / c->n;
    c->d[0] = 0;
    for (int i = 0; i < c->n; i++) c->d[0] |= c->a[i] << (bits * i);
}

void ptx_unpack(PtxCall *c)
{
    const int n = c->insn->ndests, bits = c->type->bits / n;
    for (int i = 0; i < n; i++) c->d[i] = ptx_low(c->a[0] >> (bits * i), bits);
}

/* The third one's sign decides; a NaN counts as below zero, -0 does not. */
void ptx_slct(PtxCall *c)
{
    bool at_least_zero = c->second->class == PTX_FLOAT
                             ? tkc_bits_to_double(DT_F32, c->a[2]) >= 0 ||
                                   (ptx_has(c, PTXQ_FTZ) && !(c->a[2] & 0x7f800000))
                             : !(c->a[2] >> 31);
    c->d[0] = at_least_zero ? c->a[0] : c->a[1];
}

/* ---- what is one expression ---- */

#define INSN(name, result)                                                                         \
    void ptx_##name(PtxCall *c)                                                                    \
    {                                                                                              \
        c->d[0] = result;                                                                          \
    }
INSN(add, op(c, OP_ADD, 2, c->a[0], c->a[1]))
INSN(sub, op(c, OP_SUB, 2, c->a[0], c->a[1]))
INSN(add_sat, saturate((__int128)ptx_signed(c->a[0], 32) + ptx_signed(c->a[1], 32)))
INSN(sub_sat, saturate((__int128)ptx_signed(c->a[0], 32) - ptx_signed(c->a[1], 32)))
INSN(add_carry, sum_with_carry(c, c->a[0], c->a[1], false))
INSN(addc, sum_with_carry(c, c->a[0], c->a[1], *c->carry))
INSN(sub_carry, difference_with_borrow(c, false))
INSN(subc, difference_with_borrow(c, *c->carry))
INSN(mul_part, ptx_low(product_part(c) + (c->n > 2 ? c->a[2] : 0), width(c->type)))
INSN(mul_wide, ptx_low((uint64_t)product(c) + (c->n > 2 ? c->a[2] : 0), 2 * width(c->type)))
INSN(mad_hi_sat, saturate((product(c) >> 32) + ptx_signed(c->a[2], 32)))
INSN(mad_carry, sum_with_carry(c, product_part(c), c->a[2], false))
INSN(madc, sum_with_carry(c, product_part(c), c->a[2], *c->carry))
INSN(div, divide(c, OP_DIV))
INSN(rem, divide(c, OP_REM))
INSN(abs, op(c, OP_ABS, 1, c->a[0], 0))
INSN(neg, op(c, OP_NEG, 1, c->a[0], 0))
INSN(min, relu(c, op(c, OP_MIN, 2, c->a[0], c->a[1])))
INSN(max, relu(c, op(c, OP_MAX, 2, c->a[0], c->a[1])))
INSN(and, c->a[0] & c->a[1])
INSN(or, c->a[0] | c->a[1])
INSN(xor, c->a[0] ^ c->a[1])
INSN(not, ptx_low(~c->a[0], c->type->bits))
INSN(cnot, c->a[0] == 0)
INSN(lop3, by_table((u32)c->a[0], (u32)c->a[1], (u32)c->a[2], (u32)c->a[3]))
INSN(shl, ptx_low(left64(c->a[0], (u32)c->a[1]), c->type->bits))
INSN(shr, ptx_low(shifted_right(c), c->type->bits))
INSN(brev, reversed(c))
INSN(dp4a, sum_of_products(c, 4, 8, 0))
INSN(dp2a, sum_of_products(c, 2, 16, ptx_has(c, PTXQ_HI) ? 2 : 0))
INSN(popc, op(c, OP_POPC, 1, c->a[0], 0))
INSN(clz, op(c, OP_CLZ, 1, c->a[0], 0))
INSN(mov, c->a[0])
INSN(selp, c->a[2] ? c->a[0] : c->a[1])
