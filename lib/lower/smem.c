/* Buffers in shared memory. A buffer is its place, a constant; an access to a whole block is the
   XOR of what the thread's number and the register add to the offset (linear/shared.h), as wide as
   the layouts allow. Only canonical holders write. */
#include "layout/vector.h"
#include "lower/vector.h"
#include "memory/flow.h"

#include "base/unwind.h"
#include "ir/dot_unit.h"

void lower_alloc(Lower *L, const Op *op)
{
    const Attr *place = tkc_op_attr(op, ATTR_OFFSET);
    check(place, "a buffer without a place in shared memory");
    const uint32_t end = (uint32_t)place->i + memory_bytes(op), align = memory_align(op);
    if (align > L->shared_align) L->shared_align = align;
    if (end > L->shared_bytes) L->shared_bytes = end;
}

static int64_t place_of(const Op *access)
{
    return tkc_op_int(memory_buffer(access)->def, ATTR_OFFSET, 0);
}

/* ---- whole blocks ---- */

/* A block at its buffer. */
typedef struct Side {
    SharedAccess at;
    ThreadPart part; /* in bytes */
    int64_t place;
    LLVMValueRef copy; /* of a ring: where it is, behind the place; NULL: there */
    uint32_t piece;
    int bytes; /* of an element */
} Side;

/* number: which copy of a ring; NULL: it is none. */
static Side side_of(Lower *L, const Op *op, const Layout *block, const Value *number)
{
    const Type *buffer = memory_buffer(op)->type;
    Side s = {.place = place_of(op),
              .piece = (uint32_t)tkc_op_int(op, ATTR_PIECE, 0),
              .bytes = type_bytes(buffer)};
    const bool is_sound = memory_block_access(&s.at, op, block);
    if (number)
        s.copy = LLVMBuildMul(L->b, lower_scalar(L, number),
                              lower_i32(L, (int64_t)type_smem_bytes(buffer)), "");
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
    if (s->copy) *address = LLVMBuildAdd(L->b, *address, s->copy, "");
    return true;
}

static void store_block(Lower *L, const Op *op, const Value *x)
{
    const Side s = side_of(L, op, x->type->layout, NULL);
    const Regs in = lower_get(L, x);
    LLVMValueRef pred = lower_canonical(L, x->type), address, xs[VECTOR_MAX];
    for (uint32_t r = 0; r < (uint32_t)in.n; r++) {
        int64_t imm;
        if (!address_of(L, &s, r, &address, &imm)) continue;
        for (uint32_t e = 0; e < 1u << s.at.vector_log2; e++)
            xs[e] = lower_element(L, x->type, in.r[shared_vector_reg(&s.at, r, e)]);
        if (s.at.kind == SHARED_VECTORS)
            lower_shared_store(L, address, imm, 1 << s.at.vector_log2, xs, pred);
        else
            lower_shared_store_rows(L, address, imm, 1 << s.at.vector_log2,
                                    s.at.kind == SHARED_ROWS_TRANSPOSED, xs, pred);
    }
    if (L->machine->tma && tkc_op_attr(memory_buffer(op)->def, ATTR_COPIES))
        target_instr(L, INSTR_GROUP_FENCE, 0, NULL);
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

/* The vector that begins with `head`. */
static bool load_vector(Lower *L, const Side *s, const Type *ty, uint32_t head, Regs out)
{
    LLVMValueRef address, xs[VECTOR_MAX];
    const int n = 1 << s->at.vector_log2;
    int64_t imm;
    if (!address_of(L, s, head, &address, &imm)) return false;
    if (s->at.kind == SHARED_VECTORS) lower_shared_load(L, address, imm, lower_type(L, ty), n, xs);
    else
        lower_shared_load_rows(L, address, imm, lower_type(L, ty), n,
                               s->at.kind == SHARED_ROWS_TRANSPOSED, xs);
    for (int e = 0; e < n; e++) out.r[shared_vector_reg(&s->at, head, (uint32_t)e)].v = xs[e];
    return true;
}

static const Value *ring_number(const Op *op)
{
    return op->kind == OP_RING_LOAD ? op_arg(op, 1) : NULL;
}

static Regs load_block(Lower *L, const Op *op, const Type *ty)
{
    const Value *so_far = op->nargs > 1 && !ring_number(op) ? op_arg(op, 1) : NULL;
    const Side s = side_of(L, op, ty->layout, ring_number(op));
    Regs out = lower_regs_new(L, lower_nregs(ty));
    for (uint32_t r = 0; r < (uint32_t)out.n; r++)
        out.r[r].v = so_far ? lower_reg(L, so_far, (int)r) : lower_bits(L, ty, 0);
    for (uint32_t r = 0; r < (uint32_t)out.n; r++) load_vector(L, &s, ty, r, out);
    for (uint32_t r = 0; s.at.free_registers && r < (uint32_t)out.n; r++)
        out.r[r] = out.r[layout_find_register(ty->layout, layout_apply(ty->layout, r, 0, 0))];
    return out;
}

/* ---- piece by piece, as a matrix product asks ---- */

struct RingReader {
    Side side;
    const Type *ty;
    Regs out; /* NULL: not read yet */
};

/* The op that has what it reads transposed, or itself. */
static const Op *untransposed(const Op *op)
{
    while (op->kind == OP_TRANS && op_arg(op, 0)->def) op = op_arg(op, 0)->def;
    return op;
}

/* Nobody stores anything else to what it reads before the product has read it. What a ring has stays
   for the turn, unless threads copy to where they themselves have read. */
static bool is_there_until(const Op *op, const Op *product)
{
    const bool stays = op->kind == OP_RING_LOAD && !tkc_op_int(op, ATTR_OWN, 0);
    for (const Op *at = op; at != product; at = at->next) {
        if (at->kind == OP_WAIT) return false;
        if (!stays && (at->kind == OP_BARRIER || at->nregions || memory_access(at) > ACCESS_READ))
            return false;
    }
    return true;
}

/* A product by threads asks for elements of whatever is there; one by instructions, of a ring that it
   reads as it is, or of a buffer of what is much for a thread. */
static bool may_come_late(const Op *op, const Use *use)
{
    const Op *product = use->user;
    if (!dot_unit(product).mma) return true;
    if (op->kind == OP_RING_LOAD) return op_result(op, 0)->uses == use;
    return !dot_is_async(product) && dot_holds_much(product, (int)(use - product->args));
}

bool lower_reads_late(const Op *op)
{
    if (dot_reads_alone(op)) return true;
    const Op *from = untransposed(op);
    if (from->kind != OP_RING_LOAD && (from->kind != OP_SLOAD || from->nargs > 1)) return false;
    const Use *use = dot_factor_use(from);
    return use && !layout_free_bits(op_result(from, 0)->type->layout, DIM_REGISTER) &&
           may_come_late(from, use) && is_there_until(from, use->user);
}

RingReader *lower_ring_open(Lower *L, const Op *op)
{
    RingReader *r = arena_new(L->arena, RingReader);
    op = untransposed(op);
    r->ty = op_result(op, 0)->type;
    r->side = side_of(L, op, r->ty->layout, ring_number(op));
    r->out = lower_regs_new(L, lower_nregs(r->ty));
    return r;
}

LLVMValueRef lower_ring_element(Lower *L, RingReader *r, int reg)
{
    const SharedAccess *at = &r->side.at;
    uint32_t inside = 0;
    if (r->out.r[reg].v) return r->out.r[reg].v;
    for (int i = 0; i < at->vector_log2; i++) inside |= at->vector_reg[i];
    for (uint32_t part = inside;; part = (part - 1) & inside) {
        if (load_vector(L, &r->side, r->ty, (uint32_t)reg ^ part, r->out)) break;
        check(part, "no vector of the ring has register %d", reg);
    }
    return r->out.r[reg].v;
}

void lower_sload(Lower *L, const Op *op)
{
    const Value *result = op_result(op, 0);
    if (lower_reads_late(op)) return;
    if (type_is_block(result->type)) {
        lower_set(L, result, load_block(L, op, result->type));
        return;
    }
    LLVMValueRef one;
    lower_shared_load(L, lower_i32(L, 0), place_of(op), lower_type(L, result->type), 1, &one);
    lower_set_all(L, result, one);
}

/* ---- copies on their way ---- */

/* How many of the neighbours from register `head` on are allowed by a mask that ends among them. Of parts that are joined one, as a rule,
   is one value there: counted apart they make a quarter fewer instructions. */
static LLVMValueRef count_allowed(Lower *L, const Value *mask, const VectorBits *v, uint32_t head)
{
    const Op *both = ir_def(mask, OP_AND);
    if (both) {
        LLVMValueRef a = count_allowed(L, op_arg(both, 0), v, head),
                     b = count_allowed(L, op_arg(both, 1), v, head);
        return LLVMBuildSelect(L->b, LLVMBuildICmp(L->b, LLVMIntULT, a, b, ""), a, b, "");
    }
    LLVMValueRef sum = lower_i32(L, 0);
    for (int i = 0; i < 1 << v->log2; i++) {
        LLVMValueRef one = lower_reg(L, mask, (int)vector_register(v, head, i));
        sum = LLVMBuildAdd(L->b, sum, LLVMBuildZExt(L->b, one, L->i32, ""), "");
    }
    return sum;
}

/* A thread copies what it would load; what the mask or the shape's edge leaves out becomes 0. Only
   canonical holders do. */
void lower_copy_async(Lower *L, const Op *op)
{
    const Value *ptr = op_arg(op, 0), *mask = vector_mask(op);
    const Type *ty = ptr->type;
    Side s = side_of(L, op, ty->layout, op_arg(op, 2));
    const Regs from = lower_get(L, ptr);
    const VectorBits v = vector_of(op);
    s.at.vector_log2 = v.log2;
    Copy c = {.bytes = s.bytes << s.at.vector_log2, .acts = lower_canonical(L, ty)};
    for (uint32_t r = 0; r < (uint32_t)from.n; r++) {
        LLVMValueRef address;
        if (!address_of(L, &s, r, &address, &c.to_offset)) continue;
        c.to = target_shared(L, address);
        c.from = from.r[r].v;
        c.from_offset = from.r[r].imm;
        if (v.run < 1 << v.log2)
            c.there = LLVMBuildMul(L->b, count_allowed(L, mask, &v, r), lower_i32(L, s.bytes), "");
        else c.pred = lower_allowed(L, ty, mask, r);
        target_copy_async(L, &c);
    }
}

void lower_commit(Lower *L, const Op *op)
{
    (void)op;
    target_instr(L, INSTR_COMMIT, 0, NULL);
}

void lower_wait(Lower *L, const Op *op)
{
    lower_instr(L, INSTR_WAIT, lower_i32(L, tkc_op_int(op, ATTR_PENDING, 0)));
    if (!tkc_op_int(op, ATTR_OWN, 0)) target_barrier(L);
}

/* ---- single elements ---- */

/* Where the register's element is real and the mask, an operand that may be left out, allows it:
   NULL always. `ty`: of a block in the layout of the access. */
static LLVMValueRef may_access(Lower *L, const Op *op, const Type *ty, int mask, uint32_t reg)
{
    return lower_allowed(L, ty, op->nargs > mask ? op_arg(op, mask) : NULL, reg);
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
    check(target_has_atomic(L, rmw, type_dtype(x->type)), "no such atomic in shared memory");
    for (uint32_t r = 0; r < (uint32_t)lower_nregs(x->type); r++) {
        LLVMValueRef pred = may_change(L, op, x->type, r);
        if (lower_is_false(pred)) continue;
        const Atomic a = {.space = SPACE_SHARED,
                          .ptr = target_shared(L, byte_of(L, op, type_bytes(x->type), r)),
                          .offset = place_of(op),
                          .pred = pred,
                          .dtype = type_dtype(x->type),
                          .rmw = rmw,
                          .sem = "relaxed",
                          .scope = "cta",
                          .count = 1,
                          .word = lower_type(L, x->type)};
        LLVMValueRef word = lower_reg(L, x, (int)r);
        target_atomic(L, &a, &word);
    }
}
