/* The order in which a function's blocks lie. A warp runs the group of its lanes with the lowest
   address (warp.c), so lanes that a branch parts meet again where they do on a chip, at the branch's
   immediate postdominator, when all that lies between the two comes before it. Compilers write
   blocks in other orders as well: what a branch inside a loop leads to, before the loop's header.

   Blocks go in reverse postorder of a depth-first walk in which the immediate postdominator is a
   block's first successor. A loop that several jumps close, or a branch whose other way may go on
   inside it, gets one block that all rounds end in, its latch: else lanes would begin a round before
   others have ended theirs. Where a block no longer lies before the one it ran into it ends in a
   jump. Code that nothing leads to is left out.

   Needs: targets resolved. Changes: dc->insns, targets. */
#include <stdlib.h>
#include <string.h>

#include "decode.h"

enum { NONE = -1 };

/* Edges by their block: to[start[b]] up to to[start[b + 1]]. */
typedef struct Graph {
    int *start, *to;
} Graph;

typedef struct Flow {
    Decoder *dc;
    int n;               /* blocks; with latches behind those of the text, and the exit as number n */
    int ntext;
    uint32_t *first;     /* of a block of the text, [ntext] where they end */
    int *block;          /* by instruction */
    int *header;         /* of a latch: where it jumps to */
    int *latch;          /* by header; NONE: it needs none */
    Graph next, before;
    int *number, *walked; /* of the newest walk: blocks' postorder numbers, and blocks by them */
    int nwalked, *stack;
    int *post;           /* numbers of the first walk, of the text's blocks */
    int *dom;            /* immediate postdominators */
    Owned *taken;
} Flow;

static void *take(Flow *f, size_t n, size_t size)
{
    void *p = owned_take(&f->taken, (n + 1) * size);
    if (!p) dc_no_memory(f->dc);
    return p;
}

static int *take_ints(Flow *f, int n)
{
    return take(f, (size_t)n, sizeof(int));
}

/* ---- blocks ---- */

static const SimtInsn *last_of(const Flow *f, int b)
{
    return &f->dc->insns[f->first[b + 1] - 1];
}

/* It goes on behind its last instruction. */
static bool falls(const Flow *f, int b)
{
    const SimtInsn *last = last_of(f, b);
    return flow_of(last) == FLOW_ON || last->guarded;
}

/* Where instructions lead that are not FLOW_ON. */
static const uint32_t *targets_of(const SimtInsn *in, int *n)
{
    const SimtTargets *t = in->form;
    const SimtFlow flow = flow_of(in);
    *n = flow == FLOW_TO ? 1 : flow == FLOW_TABLE ? t->n : 0;
    return flow == FLOW_TABLE ? t->at : &in->target;
}

static bool find_blocks(Flow *f)
{
    const Decoder *dc = f->dc;
    if (!(f->block = take_ints(f, (int)dc->ninsns))) return false;
    f->block[0] = 1;
    for (uint32_t i = 0; i < dc->ninsns; i++) {
        int n;
        const uint32_t *to = targets_of(&dc->insns[i], &n);
        for (int k = 0; k < n; k++) f->block[to[k]] = 1;
        if (flow_of(&dc->insns[i]) != FLOW_ON) f->block[i + 1] = 1;
    }
    for (uint32_t i = 0; i < dc->ninsns; i++) f->ntext += f->block[i];
    if (!(f->first = take(f, (size_t)f->ntext + 1, sizeof *f->first))) return false;
    int b = 0;
    for (uint32_t i = 0; i < dc->ninsns; i++) {
        if (f->block[i]) f->first[b++] = i;
        f->block[i] = b - 1;
    }
    f->first[b] = dc->ninsns;
    f->n = b;
    return true;
}

/* ---- walks ---- */

/* Numbers what `root` leads to and has no number, depth first, each behind all it leads to. */
static void walk(Flow *f, const Graph *g, int root)
{
    enum { BEGUN = -2 };
    int *stack = f->stack, depth = 0;
    stack[0] = root, stack[1] = g->start[root];
    f->number[root] = BEGUN;
    while (depth >= 0) {
        int *top = &stack[2 * depth];
        if (top[1] == g->start[top[0] + 1]) {
            f->number[top[0]] = f->nwalked;
            f->walked[f->nwalked++] = top[0];
            depth--;
            continue;
        }
        const int to = g->to[top[1]++];
        if (f->number[to] != NONE) continue;
        f->number[to] = BEGUN;
        depth++;
        stack[2 * depth] = to, stack[2 * depth + 1] = g->start[to];
    }
}

/* A new walk, from `root`. */
static bool number_from(Flow *f, const Graph *g, int root)
{
    f->number = take_ints(f, f->n + 1);
    f->walked = take_ints(f, f->n + 1);
    f->stack = take_ints(f, 2 * (f->n + 1));
    if (!f->number || !f->walked || !f->stack) return false;
    for (int b = 0; b <= f->n; b++) f->number[b] = NONE;
    f->nwalked = 0;
    walk(f, g, root);
    return true;
}

/* ---- edges ---- */

/* From a block that comes after its header in the first walk: a round is over. */
static bool closes(const Flow *f, int b, int header)
{
    return f->post[header] >= f->post[b];
}

static int by_latch(const Flow *f, int b, int to)
{
    return f->latch && f->latch[to] != NONE && closes(f, b, to) ? f->latch[to] : to;
}

/* Where a block goes, into `to` where that is not NULL; returns how many. Its postdominator comes
   first, once that is known, so that the walk puts it last. */
static int edges_of(const Flow *f, int b, int *to)
{
    int n = 0, ntargets = 0;
#define PUT(x) (to ? (void)(to[n++] = (x)) : (void)n++)
    if (b == f->n) return 0;
    if (f->dom && f->dom[b] != NONE) PUT(f->dom[b]);
    if (b >= f->ntext) {
        PUT(f->header[b - f->ntext]);
        return n;
    }
    const SimtInsn *last = last_of(f, b);
    const SimtFlow flow = flow_of(last);
    const uint32_t *targets = targets_of(last, &ntargets);
    for (int k = 0; k < ntargets; k++) {
        const int at = f->block[targets[k]];
        PUT(flow == FLOW_TO ? by_latch(f, b, at) : at);
    }
    if (flow == FLOW_END) PUT(f->n);
    if (falls(f, b)) PUT(by_latch(f, b, b + 1));
#undef PUT
    return n;
}

static bool find_edges(Flow *f)
{
    Graph *g = &f->next;
    if (!(g->start = take_ints(f, f->n + 1))) return false;
    for (int b = 0; b <= f->n; b++) g->start[b + 1] = g->start[b] + edges_of(f, b, NULL);
    if (!(g->to = take_ints(f, g->start[f->n + 1]))) return false;
    for (int b = 0; b <= f->n; b++) edges_of(f, b, g->to + g->start[b]);
    return true;
}

static bool turn_edges(Flow *f)
{
    const Graph *next = &f->next;
    Graph *g = &f->before;
    const int n = f->n + 1, all = next->start[n];
    int *fill = take_ints(f, n);
    if (!(g->start = take_ints(f, n)) || !(g->to = take_ints(f, all)) || !fill) return false;
    for (int i = 0; i < all; i++) g->start[next->to[i] + 1]++;
    for (int b = 0; b < n; b++) g->start[b + 1] += g->start[b];
    memcpy(fill, g->start, (size_t)n * sizeof *fill);
    for (int b = 0; b < n; b++)
        for (int i = next->start[b]; i < next->start[b + 1]; i++) g->to[fill[next->to[i]]++] = b;
    return true;
}

/* ---- loops ---- */

/* A latch for each header that more than one block goes back to, or one that may go elsewhere; what
   is a loop by itself goes out of it there. */
static bool make_latches(Flow *f)
{
    if (!find_edges(f) || !number_from(f, &f->next, 0)) return false;
    f->post = f->number;
    int *closing = take_ints(f, f->n);
    if (!closing) return false;
    for (int b = 0; b < f->n; b++) {
        if (f->post[b] == NONE || flow_of(last_of(f, b)) == FLOW_TABLE) continue;
        const int from = f->next.start[b], end = f->next.start[b + 1];
        for (int i = from; i < end; i++) {
            const int to = f->next.to[i];
            if (closes(f, b, to)) closing[to] += to != b && end - from > 1 ? 2 : 1;
        }
    }
    int *latch = take_ints(f, f->n);
    if (!latch || !(f->header = take_ints(f, f->n))) return false;
    for (int b = 0; b < f->ntext; b++) {
        latch[b] = closing[b] > 1 ? f->n : NONE;
        if (closing[b] > 1) f->header[f->n++ - f->ntext] = b;
    }
    f->latch = latch;
    return true;
}

/* ---- postdominators ---- */

static int meet(const Flow *f, int x, int y)
{
    while (x != y) {
        while (f->number[x] < f->number[y]) x = f->dom[x];
        while (f->number[y] < f->number[x]) y = f->dom[y];
    }
    return x;
}

/* What leaves no way to the exit is taken to have one. */
static bool number_backwards(Flow *f, int *escapes)
{
    if (!number_from(f, &f->before, f->n)) return false;
    for (int b = f->ntext - 1; b >= 0; b--) {
        if (f->number[b] != NONE || f->post[b] == NONE) continue;
        walk(f, &f->before, b);
        escapes[b] = true;
    }
    f->number[f->n] = f->nwalked;
    return true;
}

static int new_dominator(const Flow *f, int b, bool escapes)
{
    int found = escapes ? f->n : NONE;
    for (int i = f->next.start[b]; i < f->next.start[b + 1]; i++) {
        const int to = f->next.to[i];
        if (f->dom[to] != NONE) found = found == NONE ? to : meet(f, to, found);
    }
    return found;
}

static bool find_dominators(Flow *f)
{
    int *escapes = take_ints(f, f->n), *dom = take_ints(f, f->n);
    if (!escapes || !dom || !find_edges(f) || !turn_edges(f) || !number_backwards(f, escapes))
        return false;
    for (int b = 0; b < f->n; b++) dom[b] = NONE;
    dom[f->n] = f->n;
    f->dom = dom;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = f->nwalked - 1; i >= 0; i--) {
            const int b = f->walked[i], found = b == f->n ? b : new_dominator(f, b, escapes[b]);
            changed |= found != dom[b];
            dom[b] = found;
        }
    }
    return true;
}

/* ---- the new order ---- */

/* Of the blocks that are walked, the exit aside, the i-th. */
static int placed(const Flow *f, int i)
{
    return i < f->nwalked ? f->walked[f->nwalked - 1 - i] : NONE;
}

/* The block's instructions, and a jump where it does not lie before the next one. Targets are
   blocks. */
static void copy_block(const Flow *f, int b, int after, SimtInsn *to, uint32_t *n)
{
    const SimtInsn *insns = f->dc->insns;
    if (b >= f->ntext) {
        const int header = f->header[b - f->ntext];
        to[(*n)++] = flow_jump(&insns[f->first[header]], (uint32_t)header);
        return;
    }
    for (uint32_t i = f->first[b]; i < f->first[b + 1]; i++) {
        SimtInsn *in = &to[(*n)++];
        *in = insns[i];
        if (flow_of(in) == FLOW_TO) in->target = (uint32_t)by_latch(f, b, f->block[in->target]);
    }
    const int next = falls(f, b) ? by_latch(f, b, b + 1) : after;
    if (next != after) to[(*n)++] = flow_jump(last_of(f, b), (uint32_t)next);
}

static bool rewrite(Flow *f)
{
    Decoder *dc = f->dc;
    const size_t most = (size_t)dc->ninsns + (size_t)f->n;
    SimtInsn *insns = calloc(most, sizeof *insns);
    uint32_t *at = take(f, (size_t)f->n, sizeof *at), n = 0;
    if (!insns || !at) {
        free(insns);
        if (at) dc_no_memory(dc);
        return false;
    }
    int i = 0;
    for (int b = 0, after; b != NONE; b = after) {
        after = placed(f, ++i);
        if (after == f->n) after = placed(f, ++i);
        at[b] = n;
        copy_block(f, b, after, insns, &n);
    }
    for (uint32_t k = 0; k < n; k++)
        if (flow_of(&insns[k]) == FLOW_TO) insns[k].target = at[insns[k].target];
    for (int t = 0; t < dc->ntargets; t++)
        for (int k = 0; k < dc->targets[t]->n; k++)
            dc->targets[t]->at[k] = at[f->block[dc->targets[t]->at[k]]];
    free(dc->insns);
    dc->insns = insns;
    dc->ninsns = n;
    return true;
}

static bool is_in_order(const Flow *f)
{
    for (int i = 0, b = 0; b < f->n; i++) {
        if (placed(f, i) == f->n) continue;
        if (placed(f, i) != b++) return false;
    }
    return f->n == f->ntext;
}

void dc_converge(Decoder *dc)
{
    Flow f = {.dc = dc};
    if (find_blocks(&f) && make_latches(&f) && find_dominators(&f) && find_edges(&f) &&
        number_from(&f, &f.next, 0) && !is_in_order(&f))
        rewrite(&f);
    owned_free(f.taken);
}
