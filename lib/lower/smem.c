/* Buffers in shared memory. A buffer is its place, a constant; an access to a whole block is the
   XOR of what the thread's number and the register add to the offset (linear/shared.h), as wide as
   the layouts allow. Only canonical holders write. */
#include "linear/shared_matrix.h"
#include "lower/vector.h"

#include "base/unwind.h"
#include "ir/type.h"

void lower_alloc(Lower *L, const Op *op)
{
    const Attr *place = tkc_op_attr(op, ATTR_OFFSET);
    check(place, "a buffer without a place in shared memory");
    const uint32_t end = (uint32_t)place->i + type_smem_bytes(op_result(op, 0)->type);
    if (end > L->shared_bytes) L->shared_bytes = end;
}

static int64_t place_of(const Op *access)
{
    return tkc_op_int(op_arg(access, 0)->def, ATTR_OFFSET, 0);
}

/* ---- whole blocks ---- */

/* A block at its buffer. */
typedef struct Side {
    SharedAccess at;
    ThreadPart part; /* in bytes */
    int64_t place;
    uint32_t piece;
    int bytes; /* of an element */
} Side;

static Side side_of(Lower *L, const Op *op, const Type *ty, bool reads)
{
    Side s = {.place = place_of(op),
              .piece = (uint32_t)tkc_op_int(op, ATTR_PIECE, 0),
              .bytes = type_bytes(ty)};
    const Layout *buffer = op_arg(op, 0)->type->layout;
    const bool is_sound = reads ? shared_read_access(&s.at, ty->layout, buffer, s.bytes)
                                : shared_access(&s.at, ty->layout, buffer, s.bytes);
    check(is_sound, "a block that does not fit the pieces of its buffer");
    uint32_t lane[32] = {0}, warp[32] = {0};
    for (int i = 0; i < SHARED_THREAD_BITS; i++) {
        lane[i] = s.at.lane[i] * (uint32_t)s.bytes;
        warp[i] = s.at.warp[i] * (uint32_t)s.bytes;
    }
    s.part = lower_thread_linear(L, lane, warp);
    return s;
}

/* The address of the vector that begins with `reg`, in two parts. False: none does. */
static bool address_of(Lower *L, const Side *s, uint32_t reg, LLVMValueRef *address, int64_t *imm)
{
    const int64_t head = shared_head(&s->at, reg, s->piece);
    if (head < 0) return false;
    *imm = s->place;
    *address = lower_thread_address(L, s->part, (uint32_t)head * (uint32_t)s->bytes, imm);
    return true;
}

static void store_block(Lower *L, const Op *op, const Value *x)
{
    const Side s = side_of(L, op, x->type, false);
    const Regs in = lower_get(L, x);
    LLVMValueRef pred = lower_canonical(L, x->type), address, xs[VECTOR_MAX];
    for (uint32_t r = 0; r < (uint32_t)in.n; r++) {
        int64_t imm;
        if (!address_of(L, &s, r, &address, &imm)) continue;
        for (uint32_t e = 0; e < 1u << s.at.vector_log2; e++)
            xs[e] = lower_element(L, x->type, in.r[shared_vector_reg(&s.at, r, e)]);
        lower_shared_store(L, address, imm, 1 << s.at.vector_log2, xs, pred);
    }
}

void lower_sstore(Lower *L, const Op *op)
{
    const Value *x = op_arg(op, 1);
    if (type_is_block(x->type)) {
        store_block(L, op, x);
        return;
    }
    LLVMValueRef one = lower_scalar(L, x);
    lower_shared_store(L, lower_i32(L, 0), place_of(op), 1, &one, lower_canonical(L, x->type));
}

static Regs load_block(Lower *L, const Op *op, const Type *ty)
{
    const Side s = side_of(L, op, ty, true);
    Regs out = lower_regs_new(L, lower_nregs(ty));
    LLVMValueRef address, xs[VECTOR_MAX];
    for (uint32_t r = 0; r < (uint32_t)out.n; r++)
        out.r[r].v = op->nargs > 1 ? lower_reg(L, op_arg(op, 1), (int)r) : lower_bits(L, ty, 0);
    for (uint32_t r = 0; r < (uint32_t)out.n; r++) {
        int64_t imm;
        if (!address_of(L, &s, r, &address, &imm)) continue;
        const int n = 1 << s.at.vector_log2;
        if (s.at.kind == SHARED_VECTORS)
            lower_shared_load(L, address, imm, lower_type(L, ty), n, xs);
        else
            lower_shared_load_rows(L, address, imm, lower_type(L, ty), n,
                                   s.at.kind == SHARED_ROWS_TRANSPOSED, xs);
        for (int e = 0; e < n; e++) out.r[shared_vector_reg(&s.at, r, (uint32_t)e)].v = xs[e];
    }
    for (uint32_t r = 0; s.at.free_registers && r < (uint32_t)out.n; r++)
        out.r[r] = out.r[layout_find_register(ty->layout, layout_apply(ty->layout, r, 0, 0))];
    return out;
}

void lower_sload(Lower *L, const Op *op)
{
    const Value *result = op_result(op, 0);
    if (type_is_block(result->type)) {
        lower_set(L, result, load_block(L, op, result->type));
        return;
    }
    LLVMValueRef one;
    lower_shared_load(L, lower_i32(L, 0), place_of(op), lower_type(L, result->type), 1, &one);
    lower_set_scalar(L, result, one);
}

/* ---- single elements ---- */

/* Where the register's element is real and the mask, an operand that may be left out, allows it:
   NULL always. `ty`: of a block in the layout of the access. */
static LLVMValueRef may_access(Lower *L, const Op *op, const Type *ty, int mask, uint32_t reg)
{
    LLVMValueRef pred = lower_valid(L, ty, reg);
    if (op->nargs <= mask) return pred;
    return lower_and(L, pred, lower_reg(L, op_arg(op, mask), (int)reg));
}

static LLVMValueRef byte_of(Lower *L, const Op *op, int bytes, uint32_t reg)
{
    LLVMValueRef offset = lower_reg(L, op_arg(op, 1), (int)reg);
    return LLVMBuildMul(L->b, offset, lower_i32(L, bytes), "");
}

void lower_sload_at(Lower *L, const Op *op)
{
    const Value *result = op_result(op, 0);
    const Type *ty = result->type;
    LLVMTypeRef elem = lower_type(L, ty);
    Regs out = lower_regs_new(L, lower_nregs(ty));
    for (uint32_t r = 0; r < (uint32_t)out.n; r++) {
        LLVMValueRef pred = may_access(L, op, ty, 2, r), zero = lower_bits(L, ty, 0), x = zero;
        if (!lower_is_false(pred)) {
            LLVMValueRef at = byte_of(L, op, type_bytes(ty), r);
            if (pred) at = LLVMBuildSelect(L->b, pred, at, lower_i32(L, 0), "");
            lower_shared_load(L, at, place_of(op), elem, 1, &x);
            if (pred) x = LLVMBuildSelect(L->b, pred, x, zero, "");
        }
        out.r[r].v = x;
    }
    lower_set(L, result, out);
}

/* Canonical holders only. */
static LLVMValueRef may_change(Lower *L, const Op *op, const Type *ty, uint32_t reg)
{
    if (reg & lower_free_registers(ty)) return LLVMConstInt(L->i1, 0, false);
    return lower_and(L, may_access(L, op, ty, 3, reg), lower_canonical(L, ty));
}

void lower_sstore_at(Lower *L, const Op *op)
{
    const Value *x = op_arg(op, 2);
    for (uint32_t r = 0; r < (uint32_t)lower_nregs(x->type); r++) {
        LLVMValueRef pred = may_change(L, op, x->type, r), one = lower_reg(L, x, (int)r);
        if (lower_is_false(pred)) continue;
        lower_shared_store(L, byte_of(L, op, type_bytes(x->type), r), place_of(op), 1, &one, pred);
    }
}

void lower_satomic_at(Lower *L, const Op *op)
{
    const Value *x = op_arg(op, 2);
    const char *rmw = tkc_op_str(op, ATTR_RMW, "add");
    check(L->target->has_atomic(L, rmw, type_dtype(x->type)), "no such atomic in shared memory");
    for (uint32_t r = 0; r < (uint32_t)lower_nregs(x->type); r++) {
        LLVMValueRef pred = may_change(L, op, x->type, r);
        if (lower_is_false(pred)) continue;
        const Atomic a = {.space = SPACE_SHARED,
                          .ptr = L->target->shared(L, byte_of(L, op, type_bytes(x->type), r)),
                          .offset = place_of(op),
                          .pred = pred,
                          .dtype = type_dtype(x->type),
                          .rmw = rmw,
                          .sem = "relaxed",
                          .scope = "cta",
                          .value = lower_reg(L, x, (int)r),
                          .word = lower_type(L, x->type)};
        L->target->atomic(L, &a);
    }
}
