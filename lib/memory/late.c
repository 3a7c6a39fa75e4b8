/* A block that changes threads by way of shared memory is stored where it is made and loaded where
   it is first used: threads wait once for all factors of a product, and their registers are free
   until then. Decoding with 8-bit keys takes 188 us so, 212 before (H200; barriers a turn 16 to 9).

   The buffer lives longer for it. Blocks wait as long as all of them, with what else is there, stay
   within a program's share of shared memory where 16 warps, of 128 registers a thread, fill a
   multiprocessor: no fewer programs run at once, as a rule. None waits behind a loop or an `if`. */
#include "memory/late.h"

#include "base/vec.h"
#include "ir/machine.h"
#include "memory/flow.h"
#include "memory/room.h"

enum { FILL_WARPS = 16 };

typedef struct Wait {
    const Op *user;
    int64_t bytes;
} Wait;

struct Late {
    Func *fn;
    Arena *scratch;
    VEC(Wait) waits;
    bool measured; /* whether `room` is known */
    int64_t room;  /* bytes that may still wait */
};

Late *late_new(Func *fn, Arena *scratch)
{
    Late *l = arena_new(scratch, Late);
    l->fn = fn;
    l->scratch = scratch;
    return l;
}

void late_reach(Late *l, const Op *op)
{
    int n = 0;
    for (int i = 0; i < l->waits.len; i++) {
        if (l->waits.data[i].user == op) l->room += l->waits.data[i].bytes;
        else l->waits.data[n++] = l->waits.data[i];
    }
    l->waits.len = n;
}

/* ---- room ---- */

typedef struct Held {
    const Func *fn;
    const Op *but;
    int64_t bytes, largest;
} Held;

static void hold(Op *op, void *user)
{
    Held *h = user;
    const int64_t bytes = op == h->but ? 0 : room_of_op(h->fn, op);
    if (op->kind == OP_ALLOC) h->bytes += memory_bytes(op);
    if (bytes > h->largest) h->largest = bytes;
}

/* Less the buffers that there are, and the most that one op will want beside them. */
int64_t late_room(Func *fn, const Op *op)
{
    Held h = {.fn = fn, .but = op};
    if (!fn->machine) return 0;
    ir_walk(fn->body, hold, &h);
    return (int64_t)fn->machine->max_smem * fn->num_warps / FILL_WARPS - h.bytes - h.largest;
}

/* ---- places ---- */

static bool is_user(const Op *op, const Value *v)
{
    for (const Use *u = v->uses; u; u = u->next) {
        const Op *user = u->user;
        while (user && user->region != op->region) user = user->region->parent;
        if (user == op) return true;
    }
    return false;
}

static Op *first_user(const Op *op)
{
    Op *at = op->next;
    while (at->next && at->kind != OP_IF && !ir_is_loop(at) && !is_user(at, op_result(op, 0)))
        at = at->next;
    return at;
}

Op *late_place(Late *l, Op *op, int64_t bytes)
{
    if (!l->measured) l->room = late_room(l->fn, NULL) + bytes; /* its own buffer is there */
    l->measured = true;
    if (bytes > l->room) return op;
    Op *user = first_user(op);
    vec_push(l->scratch, &l->waits, ((Wait){user, bytes}));
    l->room -= bytes;
    return user;
}
