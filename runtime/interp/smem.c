/* Buffers in shared memory, run one thing after the other: what a program stored is there when it
   loads, and who waits for whom is nobody's affair. A buffer is a slot of as many elements as it
   has room for; a new one is filled with garbage, so that nobody lives on what was there before. */
#include <string.h>

#include "interp.h"

enum { GARBAGE = 0xa5 };

void insn_alloc(Frame *f, const Insn *in)
{
    const Slot *s = in->results[0];
    memset(slot_data(f, s), GARBAGE, (size_t)(s->count * s->size));
}

/* Between a block and a buffer; elements of another piece stay as they are. */
static void move_block(Frame *f, const Insn *in, const Slot *block, char *buffer, bool is_store)
{
    const int32_t *offsets = in->extra;
    for (int64_t i = 0; i < block->count; i++) {
        char *here = slot_at(f, block, i), *there = buffer + (int64_t)offsets[i] * block->size;
        if (offsets[i] >= 0) memcpy(is_store ? there : here, is_store ? here : there, block->size);
    }
}

void insn_sstore(Frame *f, const Insn *in)
{
    move_block(f, in, in->args[1], slot_data(f, in->args[0]), true);
}

void insn_sload(Frame *f, const Insn *in)
{
    const Slot *out = in->results[0];
    char *to = slot_data(f, out);
    if (in->nargs > 1) slot_expand(f, in->args[1], to, out->count);
    else memset(to, 0, (size_t)(out->count * out->size));
    move_block(f, in, out, slot_data(f, in->args[0]), false);
}

char *slot_ring(Frame *f, const Insn *in, const Slot *ring, const Slot *which)
{
    const Type *one = op_arg(in->op, tkc_buffer_operand(in->op))->type;
    const int64_t i = slot_int(f, which, 0), count = tkc_smem_count(one);
    if (i >= 0 && (i + 1) * count <= ring->count)
        return (char *)slot_data(f, ring) + i * count * ring->size;
    interp_fail(f, in, "%s: the ring has %lld copies, none of number %lld",
                tkc_op_info(in->op->kind)->name, (long long)(ring->count / count), (long long)i);
    return NULL;
}

void insn_ring_load(Frame *f, const Insn *in)
{
    char *copy = slot_ring(f, in, in->args[0], in->args[1]);
    if (copy) move_block(f, in, in->results[0], copy, false);
}

/* ---- at offsets ---- */

/* The element that lane i is at; NULL where it is masked off, or the frame has failed. */
static char *element_at(Frame *f, const Insn *in, int mask, int64_t i)
{
    const Slot *buffer = in->args[0], *at = in->args[1];
    if (in->nargs > mask && !slot_int(f, in->args[mask], i)) return NULL;
    const int64_t offset = slot_int(f, at, i);
    if (offset >= 0 && offset < buffer->count)
        return (char *)slot_data(f, buffer) + offset * buffer->size;
    interp_fail(f, in, "%s: offset %lld is outside the %lld elements of the buffer",
                tkc_op_info(in->op->kind)->name, (long long)offset, (long long)buffer->count);
    return NULL;
}

void insn_sload_at(Frame *f, const Insn *in)
{
    const Slot *out = in->results[0];
    char *to = slot_data(f, out);
    for (int64_t i = 0; i < out->count && !f->failed; i++, to += out->size) {
        const char *from = element_at(f, in, 2, i);
        if (from) memcpy(to, from, out->size);
        else memset(to, 0, out->size);
    }
}

/* With a loop the element becomes what that makes of it and the operand. */
void insn_sstore_at(Frame *f, const Insn *in)
{
    const Slot *x = in->args[2];
    char old[8];
    for (int64_t i = 0; i < in->args[1]->count && !f->failed; i++) {
        char *at = element_at(f, in, 3, i);
        if (!at) continue;
        memcpy(old, at, x->size);
        if (in->loop) in->loop(at, (const void *[]){old, slot_at(f, x, i)}, 1, 3);
        else memcpy(at, slot_at(f, x, i), x->size);
    }
}

InsnFn satomic_fn(Insn *in)
{
    return interp_rmw(in) == OP_NONE || in->loop ? insn_sstore_at : NULL;
}
