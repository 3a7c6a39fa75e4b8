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

/* ---- walls ----

   Where much is computed ptxas asks for the next load when it has computed with the one before, to
   keep few registers: each waits for memory. It moves nothing over what may end the program
   (instr.def, WALL), so that behind the last load of a region everything before is on its way. What
   multiplies matrices is left alone (one program less: attention to few keys 101 us, then 161), and
   so are turns that are told of a limit, meet or carry much, and small ones: ptxas writes them out
   and brings their loads together (57 of which one is told: 0.96 of their speed). Few loads come
   before what is computed between them; many do not, whose places and masks would be held. The
   figures are in docs/measured.md. */

/* What is loaded for the next turn. */
static bool comes_ahead(const Op *load)
{
    for (const Use *use = op_result(load, 0)->uses; use; use = use->next)
        if (use->user == load->region->last) return true;
    return false;
}

/* What a region does first, up to what is no load and has an effect. NULL: none, or nobody waits
   for it. */
static Op *last_load(const Region *r, Stream *s)
{
    Op *last = NULL;
    for (Op *op = r->first; op; op = op->next) {
        const bool loads = op->kind == OP_LOAD;
        if (!loads && !ir_has(op, OT_PURE)) break;
        if (loads && comes_ahead(op)) return NULL;
        add_op(s, op);
        if (loads && type_is_block(op_result(op, 0)->type)) last = op;
    }
    return last;
}

static bool has_loop(const Region *r)
{
    return ir_contains(r, OP_FOR, true) || ir_contains(r, OP_WHILE, true);
}

static bool is_plain_turn(const Lower *L, const Region *r)
{
    enum { MOST_STATE = 36 }; /* words of a thread */
    return ir_is_loop(r->parent) && !L->streams && L->fn->num_warps > 1 &&
           !ir_contains(r, OP_BARRIER, true) && ir_words_carried(r->parent) <= MOST_STATE;
}

/* That a thread has room for, beside what is computed. */
static int most_bytes(const Lower *L)
{
    enum { WORDS = 96 };
    const int half = MACHINE_REGISTERS / (L->fn->num_warps * MACHINE_LANES) / 2;
    return (int)sizeof(int32_t) * (half < WORDS ? half : WORDS);
}

Wall stream_wall(const Lower *L, const Region *r)
{
    enum { LINE = 192, TURN = 32, WORK = 64, FEW_LOADS = 4 }; /* bytes of a thread; instructions */
    if (r->parent && !is_plain_turn(L, r)) return (Wall){0};
    if (has_loop(r) || ir_contains(L->fn->body, OP_DOT, true)) return (Wall){0};
    Stream s = {0};
    Op *load = last_load(r, &s);
    const bool is_much = r->parent ? s.bytes >= TURN && s.work >= WORK : s.bytes >= LINE;
    if (!load || !is_much || s.bytes > most_bytes(L)) return (Wall){0};
    return (Wall){load, s.loads <= FEW_LOADS};
}
