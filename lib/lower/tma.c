/* Boxes that TMA copies to a ring, and their barriers: 8 bytes for each of its numbers; and those
   that it copies from a buffer to a matrix. */
#include "base/unwind.h"
#include "ir/tensor_map.h"
#include "lower/lower.h"
#include "memory/flow.h"

static LLVMValueRef at_number(Lower *L, const Value *buffer, LLVMValueRef number)
{
    LLVMValueRef at = LLVMBuildMul(L->b, number, lower_i32(L, type_smem_bytes(buffer->type)), "");
    return LLVMBuildAdd(L->b, at, lower_i32(L, tkc_op_int(buffer->def, ATTR_OFFSET, 0)), "");
}

static LLVMValueRef one_thread(Lower *L)
{
    return lower_canonical(L, type_scalar(ir_of(L->fn)->types, DT_I32));
}

/* What an int32 does not hold is outside of any matrix, as what an int32's ends are: in whole pieces
   of 16 bytes, which TMA asks for. */
static LLVMValueRef coordinate(Lower *L, const Value *index)
{
    enum { PIECE = 16 };
    const Op *cast = ir_def(index, OP_CAST);
    if (cast && type_bits(op_arg(cast, 0)->type) == 32 &&
        type_dtype(op_arg(cast, 0)->type) == DT_I32)
        return lower_scalar(L, op_arg(cast, 0));
    LLVMValueRef x = lower_scalar(L, index),
                 least = LLVMConstInt(L->i64, (uint64_t)INT32_MIN, true),
                 most = LLVMConstInt(L->i64, INT32_MAX - INT32_MAX % PIECE, true);
    x = LLVMBuildSelect(L->b, LLVMBuildICmp(L->b, LLVMIntSLT, x, least, ""), least, x, "");
    x = LLVMBuildSelect(L->b, LLVMBuildICmp(L->b, LLVMIntSGT, x, most, ""), most, x, "");
    return LLVMBuildTrunc(L->b, x, L->i32, "");
}

/* A map has one element at least: of a matrix without any nothing is inside. */
static LLVMValueRef outside_of_none(Lower *L, const Tile *t, LLVMValueRef row)
{
    enum { FAR = -TENSOR_MAP_MOST_BOX }; /* no further: an H200 calls such an address illegal */
    LLVMValueRef one = LLVMConstInt(L->i64, 1, false);
    int64_t n;
    for (int d = 0; d < t->rank; d++) {
        if (ir_const_int(t->shape[d], &n)) continue;
        LLVMValueRef none = LLVMBuildICmp(L->b, LLVMIntSLT, lower_scalar(L, t->shape[d]), one, "");
        row = LLVMBuildSelect(L->b, none, lower_i32(L, FAR), row, "");
    }
    return row;
}

/* Of copy_box or store_box; without where it lies in shared memory. */
static BoxCopy box_of(Lower *L, const Op *op, const Tile *t)
{
    TkcTensorMap map;
    check(tensor_map_of_copy(op, &map), "a box without a tensor map");
    BoxCopy c = {.map = tensor_map_index(L->arena, L->fn, op),
                 .rank = t->rank,
                 .boxes = (int)(t->block[1] / map.box_columns),
                 .columns = (int)map.box_columns,
                 .bytes = (int)(map.box_rows * map.swizzle),
                 .acts = L->first_warp,
                 .pass_by = L->pass_by};
    for (int d = 0; d < t->rank; d++) c.index[d] = coordinate(L, t->indices[t->rank - 1 - d]);
    return c;
}

/* Other warps had better not come along. But where rings stay from tile to tile ptxas does not see any
   more that the lanes agree on what is asked for, and makes of a branch a loop that asks for each
   lane's by itself. So they come along there: of fp8 by descriptors a turn went from 254 instructions
   to 237, without spills, and from 1038 to 1133 TFLOP/s (H200); of Newton-Schulz, whose rings end
   with its loop, from 30.0 to 33.0 us. */
static bool has_ring_that_stays(const Func *fn)
{
    for (const Op *op = fn->body->first; op; op = ir_next(op, NULL)) {
        int loops = 0;
        if (op->kind != OP_COPY_BOX) continue;
        const Region *home = memory_buffer(op)->def->region;
        for (const Op *at = op; at->region != home; at = at->region->parent)
            loops += ir_is_loop(at->region->parent);
        if (loops > 1) return true;
    }
    return false;
}

void lower_fetch_maps(Lower *L)
{
    enum { LANES_LOG2 = 5 };
    const int maps = (int)LLVMCountParams(L->kernel) - L->fn->nparams;
    if (!maps) return;
    L->pass_by = !has_ring_that_stays(L->fn);
    LLVMValueRef warp = LLVMBuildLShr(L->b, L->threads.number, lower_i32(L, LANES_LOG2), "");
    warp = lower_shuffle(L, warp, (Lane){.number = lower_i32(L, 0)}); /* as ptxas sees */
    L->first_warp = LLVMBuildICmp(L->b, LLVMIntEQ, warp, lower_i32(L, 0), "");
    for (int i = 0; i < maps; i++)
        lower_instr(L, INSTR_FETCH_MAP, L->first_warp,
                    LLVMGetParam(L->kernel, (unsigned)(L->fn->nparams + i)));
}

void lower_copy_box(Lower *L, const Op *op)
{
    Value *parts[TILE_PARTS];
    const Tile t = tile_of_op(op, parts);
    LLVMValueRef number = lower_scalar(L, op_arg(op, op->nargs - BOX_NUMBER));
    BoxCopy c = box_of(L, op, &t);
    c.index[1] = outside_of_none(L, &t, c.index[1]);
    c.at = at_number(L, memory_buffer(op), number);
    c.barrier = at_number(L, op_arg(op, op->nargs - BOX_BARRIERS), number);
    target_copy_box(L, &c);
}

/* It begins in the matrix, which has a row and a column then. */
void lower_store_box(Lower *L, const Op *op)
{
    Value *parts[TILE_PARTS];
    const Tile t = tile_of_op(op, parts);
    BoxCopy c = box_of(L, op, &t);
    c.at = at_number(L, memory_buffer(op), lower_i32(L, 0));
    target_store_box(L, &c);
}

void lower_store_commit(Lower *L, const Op *op)
{
    (void)op;
    lower_instr(L, INSTR_STORE_COMMIT, L->first_warp);
}

void lower_store_wait(Lower *L, const Op *op)
{
    lower_instr(L, INSTR_STORE_WAIT, L->first_warp, lower_i32(L, tkc_op_int(op, ATTR_PENDING, 0)));
    target_barrier(L);
}

/* Begins or ends them. */
static void each_barrier(Lower *L, const Op *op, Instr instr)
{
    const Op *alloc = op_arg(op, 0)->def;
    LLVMValueRef arrivals = lower_i32(L, tkc_op_int(op, ATTR_ARRIVALS, 1));
    for (int i = 0; i < tkc_op_int(alloc, ATTR_COPIES, 1); i++) {
        LLVMValueRef acts = one_thread(L), at = at_number(L, op_arg(op, 0), lower_i32(L, i)),
                     args[] = {target_shared(L, at), acts, arrivals};
        target_instr(L, instr, instr == INSTR_BARRIER_BEGIN ? 3 : 2, args);
    }
}

/* The fence is for boxes: they see the barriers, and come behind what threads did before. */
void lower_tma_begin(Lower *L, const Op *op)
{
    each_barrier(L, op, INSTR_BARRIER_BEGIN);
    lower_instr(L, INSTR_BOX_FENCE, one_thread(L));
    if (tkc_op_int(op, ATTR_FENCE, 0)) target_instr(L, INSTR_GLOBAL_FENCE, 0, NULL);
}

void lower_tma_end(Lower *L, const Op *op)
{
    each_barrier(L, op, INSTR_BARRIER_END);
}

static LLVMValueRef barrier_of(Lower *L, const Op *op)
{
    return target_shared(L, at_number(L, op_arg(op, 0), lower_scalar(L, op_arg(op, 1))));
}

/* What is claimed only the warp waits for that asks for boxes. */
void lower_tma_wait(Lower *L, const Op *op)
{
    LLVMValueRef args[] = {barrier_of(L, op), lower_scalar(L, op_arg(op, 2)), L->first_warp};
    if (op->kind == OP_TMA_CLAIM) target_instr(L, INSTR_BARRIER_CLAIM, 3, args);
    else target_instr(L, INSTR_BARRIER_WAIT, 2, args);
}

void lower_tma_free(Lower *L, const Op *op)
{
    lower_instr(L, INSTR_BARRIER_FREE, barrier_of(L, op));
}

void lower_copy_arrive(Lower *L, const Op *op)
{
    lower_instr(L, INSTR_BARRIER_COPIED, barrier_of(L, op));
}
