/* What several ops have brought to buffers of one layout is stored once: a matrix that is multiplied
   by itself, neighbours to both sides of what is gathered. The buffer that is left lives as long as
   both, where they lived at one time anyhow; or where all there are would fit at one time, and no ring
   has been given what room there is. */
#include "ir/machine.h"
#include "memory/expand.h"
#include "memory/flow.h"

/* The only store to a buffer, which fills it, if all else only reads; NULL: none such. */
static Op *filled_by(const Value *buffer)
{
    Op *store = NULL;
    if (tkc_op_attr(buffer->def, ATTR_COPIES)) return NULL;
    for (const Use *u = buffer->uses; u; u = u->next) {
        if (u->user->kind == OP_SLOAD || u->user->kind == OP_SLOAD_AT) continue;
        if (u->user->kind != OP_SSTORE || store) return NULL;
        store = u->user;
    }
    const Layout *l = buffer->type->layout;
    return store && l->nbits[DIM_OFFSET] == l->total_log2 ? store : NULL;
}

static bool is_read_behind(const Value *buffer, const Op *op)
{
    for (const Use *u = buffer->uses; u; u = u->next) {
        const Op *user = ir_op_of(u->user, op->region);
        if (user && ir_is_before(op, user)) return true;
    }
    return false;
}

static bool has_room(const Func *fn)
{
    int64_t bytes = 0;
    for (const Op *op = fn->body->first; op; op = ir_next(op, NULL)) {
        if (op->kind != OP_ALLOC) continue;
        if (tkc_op_attr(op, ATTR_COPIES)) return false;
        bytes += memory_bytes(op);
    }
    return fn->machine && bytes <= fn->machine->max_smem;
}

/* The buffer in which what is stored lies already; NULL: none. */
static Value *stored_before(const Op *store)
{
    const Value *buffer = op_arg(store, 0);
    for (const Use *u = op_arg(store, 1)->uses; u; u = u->next) {
        Op *first = u->user;
        if (first == store || first->kind != OP_SSTORE) continue;
        Value *other = op_arg(first, 0);
        if (other->type == buffer->type && filled_by(other) == first &&
            ir_is_before(first, store) &&
            (is_read_behind(other, store) || has_room(store->region->func)))
            return other;
    }
    return NULL;
}

void expand_share(Func *fn)
{
    for (Op *op = fn->body->first, *next; op; op = next) {
        next = ir_next(op, NULL);
        if (op->kind != OP_SSTORE || filled_by(op_arg(op, 0)) != op) continue;
        Value *other = stored_before(op);
        if (!other) continue;
        Op *alloc = op_arg(op, 0)->def;
        ir_unlink(op);
        ir_replace(alloc, &other);
    }
}
