/* Kernels that read much and compute little are as fast as their loads overlap. How many of them ptxas
   asks for ahead is a question of registers: unasked it holds to so few that ten programs or more
   run on a multiprocessor, though a grid has seldom as many, and the bytes on the way are the same
   or less. They are told of a limit that leaves room for 16 warps: then it unrolls their loops and
   brings loads to the front. Measured on an H200 over 634 calls: of some 80 that have such a limit 31
   run faster by 3 % to 132 %, 7 slower by 3 % to 11 %; of what computes more, or meets in its loops, more get slower, since then other warps
   are what hides latencies. */
#include "lower/lower.h"

/* Of a thread: in loops, in one turn of each; outside of them. */
typedef struct Stream {
    int bytes, loads;
    int work; /* instructions */
    bool meets;
} Stream;

static int work_of(const Op *op)
{
    if (!op->nresults || !type_is_block(op_result(op, 0)->type) || ir_has(op, OT_SHAPE) ||
        ir_has(op, OT_CONST) || type_is_pointer(op_result(op, 0)->type) || op->kind == OP_SPLAT)
        return 0;
    const int each = ir_has(op, OT_LONG) ? 16 : ir_has(op, OT_SPECIAL) ? 4 : 1;
    return each * lower_distinct_registers(op_result(op, 0)->type);
}

static void add_op(Stream *s, const Op *op)
{
    s->meets |= op->kind == OP_BARRIER || op->kind == OP_DOT;
    if (op->kind != OP_LOAD) {
        s->work += work_of(op);
        return;
    }
    const Type *ty = op_result(op, 0)->type;
    if (!type_is_block(ty)) return;
    s->bytes += lower_distinct_registers(ty) * type_bytes(ty);
    s->loads++;
}

static bool is_stream(const Stream *s, int bytes, int least, int most, int work_of_two_bytes)
{
    return !s->meets && s->bytes >= bytes && s->loads >= least && s->loads <= most &&
           2 * s->work <= work_of_two_bytes * s->bytes;
}

int stream_limit(const Lower *L)
{
    enum { WARPS = 16, ROUND = 8 };
    Stream loops = {0}, line = {0};
    bool has_loops = false;
    for (const Op *op = L->fn->body->first; op; op = ir_next(op, NULL)) {
        has_loops |= ir_is_loop(op);
        const Region *turn = ir_turn(op);
        if (!turn || !ir_is_rest(turn->parent)) add_op(turn ? &loops : &line, op);
    }
    if (has_loops ? !is_stream(&loops, 16, 1, 6, 10) : !is_stream(&line, 64, 4, 64, 3)) return 0;
    const int warps = L->fn->num_warps < WARPS ? WARPS / L->fn->num_warps * L->fn->num_warps
                                               : L->fn->num_warps;
    const int most = MACHINE_REGISTERS / (warps * MACHINE_LANES) / ROUND * ROUND;
    return most < MACHINE_THREAD_REGISTERS ? most : MACHINE_THREAD_REGISTERS;
}
