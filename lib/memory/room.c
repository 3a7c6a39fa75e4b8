#include "memory/room.h"

#include "ir/dot_unit.h"
#include "layout/convert.h"
#include "memory/flow.h"
#include "memory/passes.h"

int64_t room_of_block(const Type *ty)
{
    return (int64_t)type_bytes(ty) << (ty->layout ? ty->layout->total_log2 : 0);
}

int64_t room_of_op(const Op *op)
{
    ConvertPlan plan;
    int64_t bytes = 0;
    if (op->kind == OP_DOT && !dot_unit(op).mma)
        return room_of_block(op_arg(op, 0)->type) + room_of_block(op_arg(op, 1)->type);
    if (!expand_wants(op)) return 0;
    if (op->kind == OP_CONVERT) {
        convert_plan_op(&plan, op);
        return (int64_t)type_bytes(op_result(op, 0)->type) << plan.shared.offset_log2;
    }
    if (op->kind == OP_REDUCE || op->kind == OP_SCAN) {
        for (int i = 0; i < op->nargs; i++) bytes += room_of_block(op_result(op, i)->type);
        return op->kind == OP_REDUCE ? bytes * op->region->func->num_warps : bytes;
    }
    /* what moves, or what comes of it */
    bytes = room_of_block(op_arg(op, 0)->type);
    const int64_t result = op->nresults ? room_of_block(op_result(op, 0)->type) : 0;
    return bytes > result ? bytes : result;
}

/* ---- buffers that there are ---- */

typedef struct Search {
    const Op *at;
    bool found;
} Search;

/* At it or behind it, in its region. */
static void look(const Op *end, void *user)
{
    Search *s = user;
    end = ir_op_of(end, s->at->region);
    for (const Op *op = s->at; op && end && !s->found; op = op->next) s->found = op == end;
}

int64_t room_around(const Op *at, const Op *but)
{
    int64_t bytes = 0;
    for (; at; at = at->region->parent)
        for (const Op *op = at->prev; op; op = op->prev) {
            Search s = {.at = at};
            if (op->kind != OP_ALLOC || op == but) continue;
            for (const Use *u = op_result(op, 0)->uses; u; u = u->next)
                memory_each_end(u->user, look, &s);
            if (s.found) bytes += memory_bytes(op);
        }
    return bytes;
}

int64_t room_inside(const Op *op)
{
    int64_t bytes = 0;
    for (const Op *in = op; in; in = ir_next(in, op))
        if (in->kind == OP_ALLOC) bytes += memory_bytes(in);
    return bytes;
}
