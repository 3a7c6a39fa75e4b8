/* A block that changes threads by way of shared memory is stored where it is made and loaded where
   it is first used: threads wait once for all factors of a product, and their registers are free
   until then. Decoding with 8-bit keys takes 188 us so, 212 before (H200; barriers a turn 16 to 9).

   The buffer lives longer for it. Blocks wait as long as all of them, with what else is there, stay
   within a program's share of shared memory where 16 warps, of 128 registers a thread, fill a
   multiprocessor: no fewer programs run at once, as a rule. A program of 8 warps whose threads have
   more of one block is alone there anyway. None waits behind a loop or an `if`. */
#include "memory/late.h"

#include "ir/machine.h"
#include "memory/flow.h"
#include "memory/room.h"

enum { FILL_WARPS = 16, FEW_WARPS = 8, MANY_WORDS = 128 };

void late_reach(Late *l, const Op *op)
{
    int n = 0;
    for (int i = 0; i < l->waits.len; i++) {
        if (l->waits.data[i].user == op) l->room += l->waits.data[i].bytes;
        else l->waits.data[n++] = l->waits.data[i];
    }
    l->waits.len = n;
}

/* Less the buffers that there are, and the most that one op will want beside them. */
int64_t late_room(const Func *fn, const Op *op)
{
    int64_t held = 0, most = 0;
    bool is_large = false;
    if (!fn->machine) return 0;
    for (const Op *in = fn->body->first; in; in = ir_next(in, NULL)) {
        const int64_t wanted = in == op ? 0 : room_of_op(in);
        is_large |= in->nresults && type_words(op_result(in, 0)->type) > MANY_WORDS;
        if (in->kind == OP_ALLOC) held += memory_bytes(in);
        if (wanted > most) most = wanted;
    }
    const bool is_alone = is_large && fn->num_warps >= FEW_WARPS;
    const int warps = is_alone || fn->num_warps > FILL_WARPS ? FILL_WARPS : fn->num_warps;
    return (int64_t)fn->machine->max_smem * warps / FILL_WARPS - held - most;
}

static Op *first_user(const Op *op)
{
    Op *at = op->next;
    while (at->next && at->kind != OP_IF && !ir_is_loop(at) && !ir_asks_for(at, op_result(op, 0)))
        at = at->next;
    return at;
}

Op *late_place(Late *l, Op *op, int64_t bytes)
{
    if (!l->measured) l->room = late_room(op->region->func, NULL) + bytes; /* it has its buffer */
    l->measured = true;
    if (bytes > l->room) return op;
    Op *user = first_user(op);
    vec_push(l->scratch, &l->waits, ((Wait){user, bytes}));
    l->room -= bytes;
    return user;
}
