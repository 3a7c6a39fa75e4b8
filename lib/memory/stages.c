/* How many turns a loop loads ahead: as many as are asked for and as there is room for. */
#include "memory/stages.h"

#include "ir/dot_unit.h"
#include "ir/machine.h"
#include "memory/room.h"

enum { MOST_STAGES = 16 };

int64_t stages_bytes(const Streams *s)
{
    int64_t bytes = 0;
    for (int i = 0; i < s->all.len; i++)
        bytes += room_of_block(op_result(s->all.data[i].load, 0)->type);
    return bytes;
}

/* Of a group's product, or of a large operand, what no turn changes; and b's parts (parts.c). */
static bool has_tile(const Op *dot, int operand)
{
    const bool in_group = dot_is_of_group(dot);
    return ((in_group || dot_holds_much(dot, operand)) && dot_operand_stays(dot, operand)) ||
           (in_group && operand == 1 && tkc_op_int(dot, ATTR_PARTS, 0));
}

static bool is_read_before(const Op *dot, int operand, const Value *base)
{
    const Op *op = dot->prev;
    while (op && !(op->kind == OP_DOT && dot_base(op, operand, NULL) == base)) op = op->prev;
    return op;
}

/* What products read beside the rings. */
static int64_t bytes_of_tiles(const Streams *s)
{
    int64_t bytes = 0;
    for (const Op *op = s->loop->regions[0]->first; op; op = op->next)
        for (int i = 0; i < 2 && op->kind == OP_DOT; i++) {
            const Value *base = dot_base(op, i, NULL);
            if (has_tile(op, i) && !is_read_before(op, i, base)) bytes += room_of_block(base->type);
        }
    return bytes;
}

static bool reads_a_ring(const Streams *s, const Op *op)
{
    for (int i = 0; i < s->all.len; i++)
        for (int k = 0; k < s->all.data[i].nreaders; k++)
            if (s->all.data[i].readers[k].convert == op) return true;
    return false;
}

static int64_t bytes_inside(const Streams *s, const Op *op)
{
    int64_t bytes = 0;
    for (const Op *in = op; in; in = ir_next(in, op))
        if (!reads_a_ring(s, in)) bytes += room_of_op(in);
    return bytes;
}

/* Beside all other buffers that live at the same time, in the loop that rings are made before. */
int64_t stages_room(const Streams *s, const Op *loop)
{
    enum { BARRIERS = 8 * MOST_STAGES };
    return s->fn->machine->max_smem - bytes_inside(s, loop) - room_around(loop, NULL) -
           (streams_boxes(s) ? BARRIERS : 0);
}

/* By known steps, as if they went the right way; -1: unknown, or 64 bits, which may be far apart. */
static int64_t turns_of(const Op *loop)
{
    int64_t from, to, step;
    if (type_bits(op_arg(loop, 0)->type) > 32 || !ir_const_int(op_arg(loop, 0), &from) ||
        !ir_const_int(op_arg(loop, 1), &to) || !ir_const_int(op_arg(loop, 2), &step))
        return -1;
    return (to - from + step + (step > 0 ? -1 : 1)) / step;
}

int stages_copies(const Op *loop, int stages)
{
    const int64_t turns = turns_of(loop);
    return turns > 0 && turns < stages ? (int)turns : stages;
}

/* As many as asked for, and for each turn of those that the loop is to do at once; half of them are for
   indices, where there are such. */
static int wanted_stages(const Streams *s)
{
    const int64_t ahead = dot_stages(s->loop) - 1, turns = tkc_op_int(s->loop, ATTR_UNROLL, 1);
    const int wanted = (int)(ahead * turns < MOST_STAGES ? 1 + ahead * turns : MOST_STAGES);
    return s->far.len && wanted > 2 ? (wanted + 1) / 2 : wanted;
}

static bool multiplies_by_warps(const Op *loop)
{
    const Op *op = loop->regions[0]->first;
    while (op && (op->kind != OP_DOT || dot_is_of_group(op))) op = op->next;
    return op;
}

/* Products by warps take most registers that a thread can have. As far as these leave room for more
   programs on a multiprocessor, one more hides more than a fourth turn ahead. */
static int leave_room(const Func *fn, int stages, int64_t bytes, int64_t beside)
{
    enum { LEAST = 3, OF_A_THREAD = 256 };
    const Machine *m = fn->machine;
    const int most = MACHINE_REGISTERS / (OF_A_THREAD * fn->num_warps * MACHINE_LANES);
    int best = stages;
    for (int n = stages - 1; n >= LEAST && machine_programs(m, beside + best * bytes) < most; n--)
        if (machine_programs(m, beside + n * bytes) > machine_programs(m, beside + best * bytes))
            best = n;
    return best;
}

int stages_fit(const Streams *s, const Op *loop)
{
    const int64_t room = stages_room(s, loop), bytes = stages_bytes(s),
                  beside = (room - bytes_of_tiles(s)) / bytes,
                  fit = beside < 2 ? room / bytes : beside;
    return fit < MOST_STAGES ? (int)fit : MOST_STAGES;
}

int stages_of(const Streams *s, const Op *loop)
{
    const int wanted = wanted_stages(s), fit = stages_fit(s, loop),
              stages = fit < wanted ? fit : wanted;
    const int64_t beside = s->fn->machine->max_smem - stages_room(s, loop);
    if (!multiplies_by_warps(s->loop)) return stages;
    return leave_room(s->fn, stages, stages_bytes(s), beside);
}
