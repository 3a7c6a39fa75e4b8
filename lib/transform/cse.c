/* One of equal computations: an op without effect that repeats an earlier one is replaced by it.

   The table holds the ops that are in scope: those of a region are taken out again when it ends,
   since what is computed in one branch or in a loop is not there after it. Loads are not in it:
   memory may have changed. Entries are a stack and buckets are chains through it, so leaving a
   region pops. */
#include <string.h>

#include "base/vec.h"
#include "transform/passes.h"

typedef struct Entry {
    Op *op;
    uint32_t bucket;
    int below; /* next in the bucket, -1 at its end */
} Entry;

typedef struct Cse {
    Arena *scratch;
    VEC(Entry) entries;
    int *buckets;
    uint32_t mask;
} Cse;

static uint64_t mix(uint64_t hash, uint64_t v)
{
    hash = (hash ^ v) * 0x9e3779b97f4a7c15;
    return hash ^ (hash >> 29);
}

/* Ids, not addresses: chains then have one order in every run. */
static uint64_t hash_of(const Op *op)
{
    uint64_t h = mix((uint64_t)op->kind, op_result(op, 0)->type->id);
    for (int i = 0; i < op->nargs; i++) h = mix(h, op_arg(op, i)->id);
    for (int i = 0; i < op->nattrs; i++) {
        const Attr *a = &op->attrs[i];
        h = mix(h, (uint64_t)a->key);
        if (tkc_attr_kind(a->key) == AK_INT) h = mix(h, (uint64_t)a->i);
    }
    return h;
}

static bool is_same_attr(const Attr *a, const Attr *b)
{
    if (a->key != b->key) return false;
    switch (tkc_attr_kind(a->key)) {
    case AK_INT: return a->i == b->i;
    case AK_STR: return a->s == b->s;
    case AK_INTS:
        return a->count == b->count && memcmp(a->v, b->v, (size_t)a->count * sizeof *a->v) == 0;
    case AK_NONE: break;
    }
    return false;
}

/* Regions of one op, on the same arguments: what reductions as a rule combine by. */
static bool is_same_region(const Region *a, const Region *b)
{
    const Op *x = a->first, *y = b->first;
    if (x->next != a->last || y->next != b->last || x->kind != y->kind || x->nattrs || y->nattrs)
        return false;
    for (int i = 0; i < x->nargs; i++) {
        const int at = op_arg(x, i)->index;
        if (at >= a->nargs || op_arg(x, i) != a->args[at] || op_arg(y, i) != b->args[at])
            return false;
    }
    return op_arg(a->last, 0)->def == x && op_arg(b->last, 0)->def == y;
}

static bool is_same(const Op *a, const Op *b)
{
    if (a->kind != b->kind || a->nargs != b->nargs || a->nattrs != b->nattrs ||
        a->nresults != b->nresults)
        return false;
    for (int i = 0; i < a->nargs; i++)
        if (op_arg(a, i) != op_arg(b, i)) return false;
    for (int i = 0; i < a->nresults; i++)
        if (op_result(a, i)->type != op_result(b, i)->type) return false;
    for (int i = 0; i < a->nattrs; i++)
        if (!is_same_attr(&a->attrs[i], &b->attrs[i])) return false;
    return !a->nregions || (a->nresults == 1 && is_same_region(a->regions[0], b->regions[0]));
}

/* The earlier op in scope that is the same, or NULL after op has been entered. */
static Op *find_or_enter(Cse *c, Op *op)
{
    uint32_t bucket = (uint32_t)hash_of(op) & c->mask;
    for (int i = c->buckets[bucket]; i >= 0; i = c->entries.data[i].below)
        if (is_same(c->entries.data[i].op, op)) return c->entries.data[i].op;
    vec_push(c->scratch, &c->entries, ((Entry){op, bucket, c->buckets[bucket]}));
    c->buckets[bucket] = c->entries.len - 1;
    return NULL;
}

static void leave(Cse *c, int mark)
{
    while (c->entries.len > mark) {
        Entry e = c->entries.data[--c->entries.len];
        c->buckets[e.bucket] = e.below;
    }
}

static void cse_region(Cse *c, Region *r)
{
    int mark = c->entries.len;
    for (Op *op = r->first, *next; op; op = next) {
        next = op->next;
        for (int i = 0; i < op->nregions; i++) cse_region(c, op->regions[i]);
        if ((op->nregions && op->kind != OP_REDUCE) || op->nresults == 0 || !ir_has(op, OT_PURE))
            continue;
        Op *earlier = find_or_enter(c, op);
        if (earlier) ir_replace(op, earlier->results);
    }
    leave(c, mark);
}

/* needs: nothing (more is found after fold, which orders operands).  keeps: layouts: types must be
   equal.  changes: removes ops; operands become earlier values. */
void cse_run(Pass *p, Func *fn)
{
    uint32_t size = 64;
    while (size < fn->nvalues && size < UINT32_MAX / 4) size *= 2;
    Cse c = {
        .scratch = p->scratch, .buckets = arena_array(p->scratch, int, size), .mask = size - 1};
    memset(c.buckets, -1, size * sizeof *c.buckets);
    cse_region(&c, fn->body);
}
