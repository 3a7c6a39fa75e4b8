/* Loads of a loop's turn, and among products, are asked for before warps meet: behind a scan, a sum
   or a change of layout that goes through shared memory, a load would begin its way only when all
   warps have come there, and ptxas moves none over barriers.

   A piece is what lies between two ops that write, wait or have regions. Of a piece the ops come in
   their order, but before one that warps meet in come the loads behind it whose addresses need no
   load of the piece, with what the addresses need, as long as words that were asked for and are not
   used up yet are few. Elsewhere there is less to gain and registers to lose: what is added behind a
   loop of products took 144 registers in place of 106, and the program 1.6 times as long (H200). */
#include "base/vec.h"
#include "memory/passes.h"

enum { MOST_WORDS = 32, FEW_WORDS = 1 }; /* of a thread, on the way; of one load, anywhere */

typedef struct Issued {
    Op *op;
    bool waits; /* for a load of the piece, or an op with regions */
    bool is_out;
    int users; /* of a load: in the piece, and not out yet */
} Issued;

typedef struct Piece {
    Map numbers; /* op to its place in ops */
    VEC(Issued) ops;
    Op *end; /* what the ops come before */
    int words, loads;
    bool multiplies, few; /* with products; only loads of few words come before others */
} Piece;

static Issued *of_piece(Piece *p, const Value *v)
{
    const int at = v->def ? map_number(&p->numbers, v->def) : -1;
    return at < 0 ? NULL : &p->ops.data[at];
}

/* May other ops of the piece change places with it? */
static bool may_move(const Op *op)
{
    return (!op->nregions || ir_has(op, OT_PURE)) && ir_can_erase(op) &&
           (ir_has(op, OT_PURE) || op->kind == OP_LOAD);
}

static int words_of(const Issued *load)
{
    return type_words(op_result(load->op, 0)->type);
}

static void put_out(Piece *p, Issued *i)
{
    if (i->is_out) return;
    i->is_out = true;
    for (int k = 0; k < i->op->nargs; k++) {
        Issued *from = of_piece(p, op_arg(i->op, k));
        if (!from) continue;
        put_out(p, from);
        if (from->op->kind == OP_LOAD && --from->users == 0) p->words -= words_of(from);
    }
    if (i->op->kind == OP_LOAD) p->words += words_of(i);
    ir_move_before(i->op, p->end);
}

/* The loads behind that may come now. */
static void put_out_loads(Piece *p, int *at)
{
    for (; *at < p->ops.len; ++*at) {
        Issued *i = &p->ops.data[*at];
        if (i->op->kind != OP_LOAD || i->waits || i->is_out) continue;
        if (p->few && words_of(i) > FEW_WORDS) continue;
        if (!p->few && p->words + words_of(i) > MOST_WORDS) return;
        put_out(p, i);
    }
}

static void order_piece(Piece *p)
{
    int load = 0;
    for (int i = 0; i < p->ops.len; i++) {
        if (expand_wants(p->ops.data[i].op)) put_out_loads(p, &load);
        put_out(p, &p->ops.data[i]);
    }
}

static void add_op(Pass *pass, Piece *p, Op *op)
{
    Issued i = {.op = op, .waits = op->nregions > 0}; /* these may use what is no operand */
    for (int k = 0; k < op->nargs; k++) {
        Issued *from = of_piece(p, op_arg(op, k));
        if (!from) continue;
        i.waits |= from->waits || from->op->kind == OP_LOAD;
        from->users++;
    }
    p->loads += op->kind == OP_LOAD;
    p->multiplies |= op->kind == OP_DOT;
    map_set_number(&p->numbers, op, p->ops.len);
    vec_push(pass->scratch, &p->ops, i);
}

static void begin_piece(Pass *pass, Piece *p)
{
    *p = (Piece){0};
    map_init(&p->numbers, pass->scratch);
}

static void issue_region(Pass *pass, Region *r)
{
    const bool in_loop = r->parent && ir_is_loop(r->parent);
    Piece p;
    begin_piece(pass, &p);
    for (Op *op = r->first; op; op = op->next) {
        if (!ir_has(op, OT_PURE))
            for (int i = 0; i < op->nregions; i++) issue_region(pass, op->regions[i]);
        if (may_move(op)) {
            add_op(pass, &p, op);
            continue;
        }
        p.end = op;
        p.few = !in_loop && !p.multiplies;
        if (p.loads) order_piece(&p);
        begin_piece(pass, &p);
    }
}

/* needs: layouts.  keeps: layouts, the order of effects.  changes: where loads and ops without effect
   are in their region. */
void issue_run(Pass *p, Func *fn)
{
    issue_region(p, fn->body);
}
