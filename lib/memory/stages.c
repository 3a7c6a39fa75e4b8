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

/* What products read and no turn changes: a tile beside the rings. */
static int64_t bytes_that_stay(const Streams *s)
{
    int64_t bytes = 0;
    bool flipped;
    for (const Op *op = s->loop->regions[0]->first; op; op = op->next)
        for (int i = 0; i < 2 && op->kind == OP_DOT; i++)
            if ((dot_is_of_group(op) || dot_holds_much(op, i)) && dot_operand_stays(op, i))
                bytes += room_of_block(dot_base(op, i, &flipped)->type);
    return bytes;
}

static bool reads_a_ring(const Streams *s, const Op *op)
{
    for (int i = 0; i < s->all.len; i++)
        for (int k = 0; k < s->all.data[i].nreaders; k++)
            if (s->all.data[i].readers[k].convert == op) return true;
    return false;
}

static int64_t bytes_inside(const Func *fn, const Streams *s, const Op *op)
{
    int64_t bytes = reads_a_ring(s, op) ? 0 : room_of_op(fn, op);
    for (int i = 0; i < op->nregions; i++)
        for (const Op *in = op->regions[i]->first; in; in = in->next)
            bytes += bytes_inside(fn, s, in);
    return bytes;
}

/* Beside all other buffers that live at the same time, in the loop that rings are made before. */
int64_t stages_room(const Func *fn, const Streams *s, const Op *loop)
{
    enum { BARRIERS = 8 * MOST_STAGES };
    return fn->machine->max_smem - bytes_inside(fn, s, loop) - room_around(loop) -
           (streams_boxes(s) ? BARRIERS : 0);
}

/* As many as asked for; half of them are for indices, where there are such. */
static int wanted_stages(const Streams *s)
{
    const int wanted = dot_stages(s->loop);
    return s->far.len && wanted > 2 ? (wanted + 1) / 2 : wanted;
}

/* Or as there is room for, beside what stays, if two of them fit. */
int stages_of(const Func *fn, const Streams *s, const Op *loop)
{
    const int64_t room = stages_room(fn, s, loop), bytes = stages_bytes(s), wanted = wanted_stages(s),
                  most = wanted < MOST_STAGES ? wanted : MOST_STAGES,
                  beside = (room - bytes_that_stay(s)) / bytes,
                  fit = beside < 2 ? room / bytes : beside;
    return (int)(fit < most ? fit : most);
}
