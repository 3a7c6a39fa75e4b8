/* Places of buffers in shared memory. A buffer lives from its alloc to the end of the outermost op,
   in the region of the alloc, that holds a use. Buffers that live at once must not overlap. Others
   may; but a buffer that is written while threads still read one before it makes them all wait: a
   barrier costs more than a few bytes. Two buffers of which one may be accessed after the other
   without a barrier between are neighbours, and get places that do not overlap as long as the sum
   stays small, or, where the barrier would be in a loop, no fewer programs share a multiprocessor
   for it: what else is free caches memory, that of spilled registers, too. Where not all of them have
   room so, none keeps apart. Whoever stores to a buffer and loads from it waits between, so
   neighbours are few, and two or three places serve any number of buffers in a row. */
#include "base/limit.h"
#include "ir/machine.h"
#include "memory/flow.h"
#include "memory/passes.h"

enum { ROOMY = 8192 }; /* up to ROOMY bytes, memory is spent to save barriers */

typedef struct Buffer {
    Op *alloc;
    uint32_t bytes, align, at;
    int begin, end;    /* numbers of ops, in order, between which it lives */
    Bitset neighbours; /* numbers of buffers */
    Bitset in_turns;   /* those of them that would make a loop wait each turn */
} Buffer;

typedef struct Places {
    Arena *scratch;
    VEC(Buffer) buffers;
    int *order;  /* in which they get places: numbers of buffers */
    Map index;   /* alloc to its number there */
    Map numbers; /* op to its number; of one with regions, of the last in it */
    int nops;
} Places;

/* ---- lives ---- */

static void number_region(Places *p, const Region *r)
{
    for (Op *op = r->first; op; op = op->next) {
        const int begin = p->nops++;
        for (int i = 0; i < op->nregions; i++) number_region(p, op->regions[i]);
        map_set_number(&p->numbers, op, p->nops - 1);
        if (op->kind != OP_ALLOC) continue;
        map_set_number(&p->index, op, p->buffers.len);
        vec_push(p->scratch, &p->buffers,
                 ((Buffer){.alloc = op,
                           .bytes = memory_bytes(op),
                           .align = memory_align(op),
                           .begin = begin}));
    }
}

typedef struct Life {
    const Places *p;
    Buffer *buffer;
} Life;

static void live_until(const Op *end, void *user)
{
    const Life *life = user;
    const Region *home = life->buffer->alloc->region;
    const int number = map_number(&life->p->numbers, ir_op_of(end, home));
    if (number > life->buffer->end) life->buffer->end = number;
}

static void set_lives(Places *p)
{
    for (int i = 0; i < p->buffers.len; i++) {
        Buffer *b = &p->buffers.data[i];
        Life life = {p, b};
        b->end = b->begin;
        b->neighbours = bitset_make(p->scratch, p->buffers.len);
        b->in_turns = bitset_make(p->scratch, p->buffers.len);
        for (const Use *u = op_result(b->alloc, 0)->uses; u; u = u->next)
            memory_each_end(u->user, live_until, &life);
    }
}

/* ---- neighbours ---- */

static bool is_same_buffer(const Value *a, const Value *b, void *user)
{
    (void)user;
    return a == b;
}

static bool is_in_loop(const Op *op)
{
    while (op && !ir_is_loop(op)) op = op->region->parent;
    return op;
}

static void add_pair(Places *p, int a, int b, bool in_turns)
{
    Buffer *x = &p->buffers.data[a], *y = &p->buffers.data[b];
    bitset_add(&x->neighbours, b);
    bitset_add(&y->neighbours, a);
    if (!in_turns) return;
    bitset_add(&x->in_turns, b);
    bitset_add(&y->in_turns, a);
}

static void note_neighbours(MemoryFlow *f, const Op *op, const Bitset *pending, void *user)
{
    Places *p = user;
    const int own = map_number(&p->index, memory_buffer(op)->def);
    for (int i = bitset_next(pending, 0); i >= 0; i = bitset_next(pending, i + 1)) {
        const int other = map_number(&p->index, memory_buffer(f->ops.data[i])->def);
        if (other != own && memory_conflict(f->ops.data[i], op))
            add_pair(p, own, other, is_in_loop(op));
    }
}

/* ---- places ---- */

static bool live_at_once(const Buffer *a, const Buffer *b)
{
    return a->begin <= b->end && b->begin <= a->end;
}

/* The lowest place where the buffer that is the nth in order overlaps none before it that lives at the
   same time or is in `apart`. Each failed try moves past one. */
static uint32_t free_place(const Places *p, int nth, const Bitset *apart)
{
    const Buffer *b = &p->buffers.data[p->order[nth]];
    uint32_t at = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < nth; i++) {
            const Buffer *other = &p->buffers.data[p->order[i]];
            if (!bitset_has(apart, p->order[i]) && !live_at_once(b, other)) continue;
            if (at >= other->at + other->bytes || at + b->bytes <= other->at) continue;
            at = (other->at + other->bytes + b->align - 1) & ~(b->align - 1);
            moved = true;
        }
    }
    return at;
}

static uint32_t roomy(const Places *p)
{
    uint32_t most = ROOMY;
    for (int i = 0; i < p->buffers.len; i++)
        if (p->buffers.data[i].bytes > most) most = p->buffers.data[i].bytes;
    return most;
}

/* The bytes of a program with which as many share a multiprocessor as with `bytes`. Without rings
   caches may want the rest: decoding from pages slowed down by 0.05. */
static uint32_t as_many(const Machine *m, uint32_t bytes)
{
    const int programs = m ? machine_programs(m, bytes) : 0;
    return programs ? (uint32_t)((m->max_smem + MACHINE_RESERVED) / programs - MACHINE_RESERVED) : 0;
}

static bool has_rings(const Places *p)
{
    for (int i = 0; i < p->buffers.len; i++)
        if (tkc_op_int(p->buffers.data[i].alloc, ATTR_COPIES, 1) > 1) return true;
    return false;
}

/* Buffers keep away from neighbours up to `little`, from those in turns up to `most`. Returns the
   end of the last. */
static uint32_t place_all(Places *p, uint32_t little, uint32_t most)
{
    const Bitset none = bitset_make(p->scratch, p->buffers.len);
    uint32_t end = 0;
    for (int i = 0; i < p->buffers.len; i++) {
        Buffer *b = &p->buffers.data[p->order[i]];
        b->at = free_place(p, i, &b->neighbours);
        if (b->at + b->bytes > little) b->at = free_place(p, i, &b->in_turns);
        if (b->at + b->bytes > most) b->at = free_place(p, i, &none);
        if (b->at + b->bytes > end) end = b->at + b->bytes;
    }
    return end;
}

static int life_of(const Places *p, int buffer)
{
    return p->buffers.data[buffer].end - p->buffers.data[buffer].begin;
}

static bool comes_first(const Places *p, int a, int b, bool by_align)
{
    const uint32_t align = p->buffers.data[a].align, other = p->buffers.data[b].align;
    if (by_align && align != other) return align > other;
    return life_of(p, a) > life_of(p, b);
}

/* None keeps apart, and what is there for long comes first: it would leave holes behind others. by_align:
   what lies at multiples of the most bytes comes before that, lest lines of floats leave holes between
   tiles. */
static uint32_t place_tightly(Places *p, bool by_align)
{
    for (int i = 1; i < p->buffers.len; i++) {
        const int own = p->order[i];
        int at = i;
        for (; at && comes_first(p, own, p->order[at - 1], by_align); at--)
            p->order[at] = p->order[at - 1];
        p->order[at] = own;
    }
    return place_all(p, 0, 0);
}

/* With what is there at the same time. */
static void refuse(const Places *p, Pass *pass, const Func *fn, const Buffer *b)
{
    Diag *d = diag_error_as(
        pass->dx, DIAG_SHARED_MEMORY, ir_span(b->alloc->loc),
        "this takes %u bytes of shared memory, '%s' has %d for a program; use a smaller block",
        (unsigned)(b->at + b->bytes), fn->machine->name, fn->machine->max_smem);
    for (int i = 0; i < p->buffers.len; i++) {
        const Buffer *other = &p->buffers.data[i];
        if (other->at > b->at || !live_at_once(other, b)) continue;
        const int copies = (int)tkc_op_int(other->alloc, ATTR_COPIES, 1);
        const char *what = type_text(p->scratch, op_result(other->alloc, 0)->type);
        if (copies > 1)
            diag_note(pass->dx, d, ir_span(other->alloc->loc),
                      "%u bytes of it are %d copies of %s, from here", (unsigned)other->bytes,
                      copies, what);
        else
            diag_note(pass->dx, d, ir_span(other->alloc->loc), "%u bytes of it are %s, from here",
                      (unsigned)other->bytes, what);
    }
}

/* needs: the memory level.  keeps: everything but attributes.  changes: sets `offset` of each
   alloc. */
void place_run(Pass *pass, Func *fn)
{
    Places p = {.scratch = pass->scratch};
    map_init(&p.index, p.scratch);
    map_init(&p.numbers, p.scratch);
    number_region(&p, fn->body);
    set_lives(&p);
    p.order = arena_array(p.scratch, int, p.buffers.len);
    for (int i = 0; i < p.buffers.len; i++) p.order[i] = i;
    MemoryFlow flow = {
        .scratch = p.scratch, .overlap = is_same_buffer, .visit = note_neighbours, .user = &p};
    memory_flow(&flow, fn);
    const uint32_t little = roomy(&p), end = place_all(&p, little, little),
                   more = as_many(fn->machine, end);
    const uint32_t most = fn->machine ? (uint32_t)fn->machine->max_smem : UINT32_MAX;
    bool fits = true;
    if (end > most) {
        if (place_tightly(&p, false) > most) place_tightly(&p, true);
    } else if (has_rings(&p) && more > end && place_all(&p, little, more) > more) {
        place_all(&p, little, little);
    }
    for (int i = 0; i < p.buffers.len; i++) {
        const Buffer *b = &p.buffers.data[i];
        ir_set_int(fn, b->alloc, ATTR_OFFSET, b->at);
        if (!fits || b->at + b->bytes <= most) continue;
        refuse(&p, pass, fn, b);
        fits = false;
    }
}
