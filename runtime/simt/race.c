/* A cell for each word of four bytes keeps its last write and the reads and atomics since then that
   are not yet over; a word whose bytes differ is split into a cell a byte until it is written
   whole. A write that finds everything before it over is all that later accesses have to be held
   against, because whoever knows it knows what it knew; so it empties the cell. In the same way a
   read replaces reads that it knows. (Flanagan and Freund, FastTrack, 2009, with accesses of
   several lanes of a unit at the same time as one record.)

   Atomics are kept among the reads: they do not conflict with each other, so that the last of them
   stands for those before only where it knows them, as a read does. */
#include "race.h"

#include "tkc/grow.h"

enum { PAGE_WORDS = 256, WORD = 4, NOTHING = 0 };

typedef struct Access {
    uint32_t clock, insn, lanes;
    uint16_t unit;
    uint8_t kind; /* 0: none */
    bool async;   /* through the async proxy */
} Access;

typedef struct Cell {
    uint32_t clock, insn; /* of the last write */
    uint16_t unit;
    uint8_t lane;
    bool written : 1;    /* at all */
    bool has_write : 1;  /* that clock, insn, unit and lane tell */
    bool is_split : 1;   /* `more` is four cells */
    bool has_atomic : 1; /* since the last write */
    bool async : 1;      /* the write went through the async proxy */
    Access read;         /* a read or an atomic since then */
    uint32_t more;       /* further ones, a list of nodes */
} Cell;

typedef struct Node {
    Access access;
    uint32_t next;
} Node;

/* Things with numbers from 1 on, and a list of free ones. */
typedef struct Pool {
    char *data;
    size_t size;
    uint32_t n, free;
} Pool;

struct Race {
    Order *order;
    Pool nodes, splits;
    bool failed;
    uint32_t npages;
    Cell *pages[]; /* NULL: not touched yet */
};

/* One lane's part of an access. */
typedef struct Actor {
    Race *race;
    int unit, lane;
    OrderView *const *views; /* of the unit's lanes */
    const OrderView *view;   /* of the lane */
    Touch kind;
    uint32_t now, insn;
    bool async;
    RaceReport *out;
} Actor;

/* ---- pools ---- */

static void *pool_at(const Pool *p, uint32_t i)
{
    return p->data + p->size * i;
}

/* 0: no memory. */
static uint32_t pool_take(Race *r, Pool *p)
{
    const uint32_t i = p->free;
    if (i) memcpy(&p->free, pool_at(p, i), sizeof p->free);
    if (i) return i;
    if (grow_items(&p->data, p->n + 1, p->size)) return ++p->n;
    r->failed = true;
    return 0;
}

static void pool_give(Pool *p, uint32_t i)
{
    memcpy(pool_at(p, i), &p->free, sizeof p->free);
    p->free = i;
}

static Node *node_at(const Race *r, uint32_t i)
{
    return pool_at(&r->nodes, i);
}

static Cell *split_at(const Race *r, uint32_t i)
{
    return pool_at(&r->splits, i);
}

/* ---- problems ---- */

static bool report(const Actor *a, RaceProblem problem, uint32_t offset, const Access *earlier)
{
    if (a->out->problem) return false;
    *a->out = (RaceReport){.problem = problem, .lane = a->lane, .offset = offset};
    if (!earlier) return false;
    a->out->earlier_kind = (Touch)earlier->kind;
    a->out->earlier_unit = earlier->unit;
    a->out->earlier_lane = __builtin_ctz(earlier->lanes);
    a->out->earlier_insn = earlier->insn;
    return false;
}

typedef bool Knows(const Order *o, int unit, int lane, const OrderStamp *s);

/* The first of its lanes that is not known, or not known to be fenced, is the one to name. */
static void check_lanes(const Actor *a, Knows *knows, RaceProblem problem, const Access *e,
                        uint32_t offset)
{
    SIMT_EACH_LANE(lane, e->lanes) {
        Access one = *e;
        one.lanes = UINT32_C(1) << lane;
        const OrderStamp s = {one.clock, one.lanes, one.unit};
        if (!knows(a->race->order, a->unit, a->lane, &s)) report(a, problem, offset, &one);
    }
}

static inline void check_one(const Actor *a, const Access *e, uint32_t offset)
{
    if (order_saw(a->view, e->unit, e->clock)) return;
    const OrderStamp s = {e->clock, e->lanes, e->unit};
    if (!order_knows(a->race->order, a->unit, a->lane, &s))
        check_lanes(a, order_knows, RACE_CONFLICT, e, offset);
}

static void check_fence(const Actor *a, const Access *e, uint32_t offset)
{
    if (a->async && !e->async) check_lanes(a, order_knows_fenced, RACE_UNFENCED, e, offset);
}

static void check_write(const Actor *a, const Cell *c, uint32_t offset)
{
    const Access e = {c->clock, c->insn, UINT32_C(1) << c->lane, c->unit, TOUCH_WRITE, c->async};
    check_one(a, &e, offset);
    check_fence(a, &e, offset);
}

/* Reads conflict with what writes; atomics only with plain accesses. */
static void check_since(const Actor *a, const Access *e, uint32_t offset)
{
    if (!e->kind || e->kind == a->kind) return;
    check_one(a, e, offset);
    if (e->kind == TOUCH_ATOMIC) check_fence(a, e, offset);
}

/* The tests up front spare the common cases the calls. */
static void check(const Actor *a, const Cell *c, uint32_t offset)
{
    const bool own = c->unit == a->unit && c->lane == a->lane;
    const bool over = own || order_saw(a->view, c->unit, c->clock);
    if (c->has_write && (!over || a->async)) check_write(a, c, offset);
    if (a->kind != TOUCH_WRITE && !c->written) report(a, RACE_UNWRITTEN, offset, NULL);
    if (a->kind == TOUCH_READ && !c->has_atomic) return;
    check_since(a, &c->read, offset);
    for (uint32_t i = c->more; i; i = node_at(a->race, i)->next)
        check_since(a, &node_at(a->race, i)->access, offset);
}

/* ---- notes ---- */

static void forget_reads(Race *r, Cell *c)
{
    c->read.kind = NOTHING;
    c->has_atomic = false;
    while (c->more) {
        const uint32_t i = c->more;
        c->more = node_at(r, i)->next;
        pool_give(&r->nodes, i);
    }
}

/* Whether the new access stands for an earlier one: it knows it, and conflicts with the same kinds
   of access. To keep one that could go does no harm, so only what is quickly told is. Lanes of the
   actor itself are taken out of others. */
static bool replaces(const Actor *a, Access *e)
{
    if (e->kind != a->kind) return false;
    if (e->unit == a->unit) e->lanes &= ~(UINT32_C(1) << a->lane);
    return !e->lanes || order_saw(a->view, e->unit, e->clock);
}

static bool merges(const Actor *a, Access *e)
{
    if (e->kind != a->kind || e->unit != a->unit || e->clock != a->now) return false;
    e->lanes |= UINT32_C(1) << a->lane;
    e->insn = a->insn;
    return true;
}

static void add_node(Race *r, Cell *c, const Access *e)
{
    const uint32_t i = pool_take(r, &r->nodes);
    if (!i) return;
    *node_at(r, i) = (Node){*e, c->more};
    c->more = i;
}

static bool merges_with_any(const Actor *a, Cell *c)
{
    if (c->read.kind && merges(a, &c->read)) return true;
    for (uint32_t i = c->more; i; i = node_at(a->race, i)->next)
        if (merges(a, &node_at(a->race, i)->access)) return true;
    return false;
}

static inline Access access_of(const Actor *a)
{
    return (Access){a->now,           a->insn,          UINT32_C(1) << a->lane, (uint16_t)a->unit,
                    (uint8_t)a->kind, a->async};
}

static void note_read(const Actor *a, Cell *c)
{
    Race *r = a->race;
    const Access new = access_of(a);
    if (a->kind == TOUCH_ATOMIC) c->has_atomic = true;
    if (merges_with_any(a, c)) return;
    if (c->read.kind && replaces(a, &c->read)) c->read.kind = NOTHING;
    for (uint32_t *at = &c->more; *at;) {
        const uint32_t i = *at;
        Node *n = node_at(r, i);
        if (replaces(a, &n->access)) {
            *at = n->next;
            pool_give(&r->nodes, i);
        } else {
            at = &n->next;
        }
    }
    if (c->read.kind) add_node(r, c, &new);
    else c->read = new;
}

/* All that the cell told of before is gone; what is in `more` is the caller's to give back. */
static inline void note_write(const Actor *a, Cell *c)
{
    *c = (Cell){.clock = a->now,
                .insn = a->insn,
                .unit = (uint16_t)a->unit,
                .lane = (uint8_t)a->lane,
                .written = true,
                .has_write = true,
                .async = a->async};
}

static void note(const Actor *a, Cell *c)
{
    if (a->kind == TOUCH_ATOMIC) c->written = true;
    if (a->kind != TOUCH_WRITE) {
        note_read(a, c);
        return;
    }
    forget_reads(a->race, c);
    note_write(a, c);
}

/* ---- words ---- */

static inline Cell *word_at(Race *r, uint32_t word)
{
    Cell **page = &r->pages[word / PAGE_WORDS];
    if (!*page) *page = calloc(PAGE_WORDS, sizeof **page);
    if (!*page) r->failed = true;
    return *page ? &(*page)[word % PAGE_WORDS] : NULL;
}

static void split(Race *r, Cell *c)
{
    const uint32_t at = pool_take(r, &r->splits);
    if (!at) return;
    for (int i = 0; i < WORD; i++) {
        Cell *byte = &split_at(r, at)[i];
        *byte = *c;
        byte->more = 0;
        for (uint32_t n = c->more; n; n = node_at(r, n)->next) {
            const Access e = node_at(r, n)->access;
            add_node(r, byte, &e);
        }
    }
    forget_reads(r, c);
    *c = (Cell){.is_split = true, .more = at};
}

static void unsplit(Race *r, Cell *c)
{
    const uint32_t at = c->more;
    for (int i = 0; i < WORD; i++) forget_reads(r, &split_at(r, at)[i]);
    pool_give(&r->splits, at);
    *c = (Cell){0};
}

/* Bytes first … last-1 of a word. */
static void access_bytes(const Actor *a, Cell *c, uint32_t word, uint32_t first, uint32_t last)
{
    Race *r = a->race;
    const bool whole = last - first == WORD;
    if (!c->is_split && !whole) split(r, c);
    if (!c->is_split) { /* without memory to split it, too */
        check(a, c, word * WORD + first);
        note(a, c);
        return;
    }
    for (uint32_t i = first; i < last; i++) check(a, &split_at(r, c->more)[i], word * WORD + i);
    if (whole && a->kind == TOUCH_WRITE) {
        unsplit(r, c);
        note(a, c);
        return;
    }
    for (uint32_t i = first; i < last; i++) note(a, &split_at(r, c->more)[i]);
}

/* The common case in a few steps: a word that nothing else holds but what is quickly told to be
   over. False: it is to be looked at closely. */
static inline bool access_word(const Actor *a, Cell *c)
{
    const bool own = c->unit == a->unit && c->lane == a->lane;
    Access *e = &c->read;
    if (c->more || c->has_atomic || a->async || a->kind == TOUCH_ATOMIC) return false;
    if (c->has_write && !own && !order_saw(a->view, c->unit, c->clock)) return false;
    if (a->kind == TOUCH_READ) {
        if (!c->written) return false;
        if (e->kind && e->unit == a->unit && e->clock == a->now) {
            e->lanes |= UINT32_C(1) << a->lane;
            return true;
        }
        if (e->kind && !order_saw(a->view, e->unit, e->clock)) return false;
        *e = access_of(a);
        return true;
    }
    if (e->kind && !order_saw(a->view, e->unit, e->clock)) return false;
    note_write(a, c);
    return true;
}

/* From a place within a word on, up to a place within a word. */
static void access_ragged(const Actor *a, uint32_t offset, uint32_t bytes)
{
    const uint32_t end = offset + bytes;
    for (uint32_t at = offset; at < end;) {
        const uint32_t word = at / WORD, next = (word + 1) * WORD, last = next < end ? next : end;
        Cell *c = word_at(a->race, word);
        if (c) access_bytes(a, c, word, at - word * WORD, last - word * WORD);
        at = last;
    }
}

static inline void act(Actor *a, int lane, uint32_t offset, uint32_t bytes)
{
    a->lane = lane;
    a->view = a->views[lane];
    if ((offset | bytes) % WORD) {
        access_ragged(a, offset, bytes);
        return;
    }
    for (uint32_t word = offset / WORD, end = word + bytes / WORD; word < end; word++) {
        Cell *c = word_at(a->race, word);
        if (c && !access_word(a, c)) access_bytes(a, c, word, 0, WORD);
    }
}

/* Whether another lane of the same access wrote the byte that the report is about. */
static bool is_together(const RaceReport *out, int unit, uint32_t lanes, const uint32_t *offsets,
                        uint32_t bytes, uint32_t insn)
{
    if (out->problem != RACE_CONFLICT || out->earlier_unit != unit || out->earlier_insn != insn ||
        out->earlier_lane >= out->lane || !(lanes >> out->earlier_lane & 1))
        return false;
    const uint32_t from = offsets[out->earlier_lane];
    return out->offset >= from && out->offset < from + bytes;
}

bool race_access(Race *r, int unit, uint32_t lanes, const uint32_t *offsets, uint32_t bytes,
                 Touch kind, uint32_t insn, RaceReport *out)
{
    Actor a = {.race = r,
               .unit = unit,
               .kind = kind,
               .now = order_touch(r->order, unit, lanes),
               .insn = insn,
               .async = order_is_async(r->order, unit),
               .views = order_views(r->order, unit),
               .out = out};
    *out = (RaceReport){0};
    SIMT_EACH_LANE(lane, lanes) act(&a, lane, offsets[lane], bytes);
    if (!out->problem) return true;
    out->together = is_together(out, unit, lanes, offsets, bytes, insn);
    return false;
}

/* ---- the whole ---- */

Race *race_new(uint32_t bytes, Order *o)
{
    const uint32_t npages = bytes / (PAGE_WORDS * WORD) + 1;
    Race *r = calloc(1, sizeof *r + npages * sizeof *r->pages);
    if (!r) return NULL;
    r->order = o;
    r->npages = npages;
    r->nodes.size = sizeof(Node);
    r->splits.size = sizeof(Cell[WORD]);
    return r;
}

void race_reset(Race *r)
{
    for (uint32_t i = 0; i < r->npages; i++)
        if (r->pages[i]) memset(r->pages[i], 0, PAGE_WORDS * sizeof **r->pages);
    r->nodes.n = r->nodes.free = r->splits.n = r->splits.free = 0;
    r->failed = false;
}

void race_free(Race *r)
{
    if (!r) return;
    for (uint32_t i = 0; i < r->npages; i++) free(r->pages[i]);
    free(r->nodes.data);
    free(r->splits.data);
    free(r);
}

bool race_failed(const Race *r)
{
    return r->failed;
}
