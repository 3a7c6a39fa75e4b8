/* Cells, pages, and the walk over the pages of an access. Threads meet at pages: each has a lock,
   held for one step of the walk. */
#include "shadow.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_BITS = 8, PAGE_BYTES = 1 << PAGE_BITS, MOST_SHIFT = 3 };

typedef struct Cell {
    Record writers[2], readers[2]; /* the two least each, of two programs, the lesser first */
    bool varies;                   /* what this launch wrote was not always the same */
} Cell;

typedef struct Page {
    Cell cell;    /* of all its bytes, without detail */
    Cell *detail; /* one for each 1 << shift bytes */
    uint32_t launch;
    uint8_t shift;
    atomic_uchar lock;
} Page;

struct Shadow {
    uint64_t origin, begin, end; /* origin: begin at the start of its page */
    uint32_t launch; /* counts launches: pages are brought up to date when touched */
    bool stored, whole;
    size_t npages;
    Page pages[];
};

Shadow *shadow_new(uint64_t begin, uint64_t end, bool written)
{
    const uint64_t origin = begin & ~(uint64_t)(PAGE_BYTES - 1);
    const size_t npages = (size_t)((end - origin + PAGE_BYTES - 1) >> PAGE_BITS);
    Shadow *s = calloc(1, sizeof *s + npages * sizeof *s->pages);
    if (!s) return NULL;
    s->origin = origin;
    s->begin = begin;
    s->end = end;
    s->whole = written;
    s->npages = npages;
    return s;
}

void shadow_free(Shadow *s)
{
    for (size_t i = 0; s && i < s->npages; i++) free(s->pages[i].detail);
    free(s);
}

void shadow_begin_launch(Shadow *s, bool stored)
{
    s->launch++;
    s->stored = stored;
}

/* ---- races ---- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Programs first, then places, then writes before reads. */
static bool is_less(const Race *a, const Race *b)
{
    int c = compare((uint64_t)record_program(a->low), (uint64_t)record_program(b->low));
    if (!c) c = compare((uint64_t)record_program(a->high), (uint64_t)record_program(b->high));
    if (!c) c = (b->low_writes && b->high_writes) - (a->low_writes && a->high_writes);
    if (!c) c = compare(a->address, b->address);
    if (!c) c = compare(a->low, b->low);
    if (!c) c = compare(a->high, b->high);
    return c < 0;
}

void race_merge(Race *into, const Race *r)
{
    if (r->low && (!into->low || is_less(r, into))) *into = *r;
}

static void note_pair(const Watch *w, Record a, bool a_writes, Record b, bool b_writes,
                      uint64_t address)
{
    int64_t pa = record_program(a), pb = record_program(b);
    if (a <= RECORD_BEFORE || b <= RECORD_BEFORE || pa == pb) return;
    if (w->ordered && w->ordered(w->user, pa, pb)) return;
    Race r = pa < pb ? (Race){a, b, a_writes, b_writes, address}
                     : (Race){b, a, b_writes, a_writes, address};
    race_merge(w->race, &r);
}

/* ---- cells ---- */

/* Among the two least of two programs. */
static void keep_least(Record *r, Record who)
{
    const int64_t program = record_program(who);
    for (int i = 0; i < 2; i++)
        if (r[i] > RECORD_BEFORE && record_program(r[i]) == program) {
            if (who < r[i]) r[i] = who;
            return;
        }
    if (r[0] <= RECORD_BEFORE || who < r[0]) {
        r[1] = r[0];
        r[0] = who;
    } else if (r[1] <= RECORD_BEFORE || who < r[1]) {
        r[1] = who;
    }
}

/* changes: it leaves something else there than this launch had. */
static void cell_write(Cell *c, const Watch *w, Record who, bool changes, uint64_t address)
{
    c->varies |= changes;
    if (c->varies) {
        note_pair(w, c->writers[0], true, c->writers[1], true, address);
        note_pair(w, c->writers[0], true, who, true, address);
        note_pair(w, c->writers[1], true, who, true, address);
    }
    note_pair(w, c->readers[0], false, who, true, address);
    note_pair(w, c->readers[1], false, who, true, address);
    keep_least(c->writers, who);
}

static void cell_read(Cell *c, const Watch *w, Record who, uint64_t address)
{
    note_pair(w, c->writers[0], true, who, false, address);
    note_pair(w, c->writers[1], true, who, false, address);
    keep_least(c->readers, who);
}

static bool same_cell(const Cell *a, const Cell *b)
{
    return a->writers[0] == b->writers[0] && a->writers[1] == b->writers[1] &&
           a->readers[0] == b->readers[0] && a->readers[1] == b->readers[1] &&
           a->varies == b->varies;
}

/* ---- pages ---- */

static void lock_page(Page *p)
{
    while (atomic_exchange_explicit(&p->lock, 1, memory_order_acquire)) sched_yield();
}

static void unlock_page(Page *p)
{
    atomic_store_explicit(&p->lock, 0, memory_order_release);
}

static int cell_count(const Page *p)
{
    return PAGE_BYTES >> p->shift;
}

static void age_cell(Cell *c)
{
    *c = (Cell){.writers = {c->writers[0] ? RECORD_BEFORE : 0}};
}

/* What earlier launches did is the past; cells that are alike again become one. */
static void refresh(const Shadow *s, Page *p)
{
    if (p->launch == s->launch) return;
    p->launch = s->launch;
    age_cell(&p->cell);
    if (s->whole) p->cell.writers[0] = RECORD_BEFORE;
    if (!p->detail) return;
    bool alike = true;
    for (int i = 0; i < cell_count(p); i++) {
        age_cell(&p->detail[i]);
        alike &= p->detail[i].writers[0] == p->detail[0].writers[0];
    }
    if (!alike && !s->whole) return;
    if (!s->whole) p->cell = p->detail[0];
    free(p->detail);
    p->detail = NULL;
}

/* Cells of at most 1 << shift bytes. False: no memory. */
static bool make_detail(Page *p, int shift)
{
    if (p->detail && p->shift <= shift) return true;
    int n = PAGE_BYTES >> shift;
    Cell *cells = malloc((size_t)n * sizeof *cells);
    if (!cells) return false;
    for (int i = 0; i < n; i++)
        cells[i] = p->detail ? p->detail[(i << shift) >> p->shift] : p->cell;
    free(p->detail);
    p->detail = cells;
    p->shift = (uint8_t)shift;
    return true;
}

/* ---- the walk ---- */

typedef struct Walk {
    Shadow *s;
    const Watch *watch;
    Record who;
    Deed deed;
    int shift;                  /* of the elements */
    uint64_t begin, end; /* what is left of it */
    const char *data;    /* of a write: for `begin` and on */
    uint64_t unwritten;
} Walk;

/* Whether a write leaves there something else than this launch did before. */
static bool changes(const Walk *k, const Cell *c, uint64_t at, int bytes)
{
    return k->data && c->writers[0] > RECORD_BEFORE &&
           memcmp((const char *)(uintptr_t)at, k->data + (at - k->begin), (size_t)bytes);
}

/* False: a read of a cell that nothing wrote. */
static bool touch_cell(Walk *k, Cell *c, bool changed, uint64_t address)
{
    if (k->deed == DEED_SETTLE) *c = (Cell){.writers = {RECORD_BEFORE}};
    else if (k->deed == DEED_WRITE) cell_write(c, k->watch, k->who, changed, address);
    else if (!c->writers[0]) k->unwritten = address;
    else if (k->deed == DEED_READ && k->s->stored) cell_read(c, k->watch, k->who, address);
    return c->writers[0];
}

/* [from, to) of a page; `at` is the address of from. */
static ShadowResult touch_page(Walk *k, Page *p, int from, int to, uint64_t at)
{
    const bool alike = !p->detail && !changes(k, &p->cell, at, to - from);
    if (from == 0 && to == PAGE_BYTES && (alike || k->deed == DEED_SETTLE)) {
        if (p->detail) free(p->detail);
        p->detail = NULL;
        return touch_cell(k, &p->cell, false, at) ? SHADOW_FINE : SHADOW_UNWRITTEN;
    }
    if (alike) { /* part of a page: nothing to tell apart when nothing changes */
        Cell after = p->cell;
        if (!touch_cell(k, &after, false, at)) return SHADOW_UNWRITTEN;
        if (same_cell(&after, &p->cell)) return SHADOW_FINE;
    }
    if (!make_detail(p, k->shift)) return SHADOW_NO_MEMORY;
    const int step = 1 << p->shift;
    for (int b = from; b < to; b += step) {
        Cell *c = &p->detail[b >> p->shift];
        const uint64_t address = at + (uint64_t)(b - from);
        if (!touch_cell(k, c, changes(k, c, address, step), address)) return SHADOW_UNWRITTEN;
    }
    return SHADOW_FINE;
}

static ShadowResult walk(Walk *k)
{
    ShadowResult result = SHADOW_FINE;
    while (k->begin < k->end && result == SHADOW_FINE) {
        uint64_t offset = k->begin - k->s->origin;
        Page *p = &k->s->pages[offset >> PAGE_BITS];
        int from = (int)(offset & (PAGE_BYTES - 1)), to = PAGE_BYTES;
        if (k->end - k->begin < (uint64_t)(to - from)) to = from + (int)(k->end - k->begin);
        lock_page(p);
        refresh(k->s, p);
        result = touch_page(k, p, from, to, k->begin);
        if (k->data && result == SHADOW_FINE)
            memcpy((char *)(uintptr_t)k->begin, k->data, (size_t)(to - from));
        unlock_page(p);
        if (k->data) k->data += to - from;
        k->begin += (uint64_t)(to - from);
    }
    return result;
}

static int shift_of(uint64_t sizes)
{
    return __builtin_ctzll(sizes | 1u << MOST_SHIFT);
}

static Walk walk_of(Shadow *s, const Watch *w, Record who, Deed deed, uint64_t address, int64_t n,
                    int64_t size)
{
    return (Walk){.s = s,
                  .watch = w,
                  .who = who,
                  .deed = deed,
                  .shift = shift_of((uint64_t)size),
                  .begin = address,
                  .end = address + (uint64_t)(n * size)};
}

bool shadow_fill(Shadow *s, uint64_t begin, uint64_t end)
{
    if (s->whole) return true;
    s->whole = begin == s->begin && end == s->end;
    if (s->whole) return true; /* the next launch will find it so */
    Walk k = {.s = s, .deed = DEED_SETTLE, .shift = shift_of(begin | end), .begin = begin,
              .end = end};
    return walk(&k) == SHADOW_FINE;
}

ShadowResult shadow_touch(Shadow *s, Deed deed, const Watch *w, Record who, uint64_t address,
                          int64_t n, int64_t size, uint64_t *at)
{
    if (s->whole && (deed == DEED_PEEK || (deed == DEED_READ && !s->stored))) return SHADOW_FINE;
    Walk k = walk_of(s, w, who, deed, address, n, size);
    ShadowResult result = walk(&k);
    *at = k.unwritten;
    return result;
}

ShadowResult shadow_store(Shadow *s, const Watch *w, Record who, uint64_t address, int64_t n,
                          int64_t size, const void *data, bool same)
{
    Walk k = walk_of(s, w, who, DEED_WRITE, address, n, size);
    const uint64_t end = k.end;
    char page[PAGE_BYTES];
    ShadowResult result = SHADOW_FINE;
    k.data = data;
    if (!same || n == 1) return walk(&k);
    for (int i = 0; i < PAGE_BYTES; i++) page[i] = k.data[i & (size - 1)];
    while (k.begin < end && result == SHADOW_FINE) {
        const uint64_t next = (k.begin | (PAGE_BYTES - 1)) + 1;
        k.end = next < end ? next : end;
        k.data = page;
        result = walk(&k);
    }
    return result;
}

/* Whether all of [begin, end), inside one page, is written. */
static bool is_written(const Shadow *s, uint64_t begin, uint64_t end)
{
    const uint64_t offset = begin - s->origin;
    const Page *p = &s->pages[offset >> PAGE_BITS];
    if (!p->detail) return p->cell.writers[0];
    int from = (int)(offset & (PAGE_BYTES - 1)), to = from + (int)(end - begin);
    for (int i = from >> p->shift; i <= (to - 1) >> p->shift; i++)
        if (!p->detail[i].writers[0]) return false;
    return true;
}

size_t shadow_unwritten(const Shadow *s, uint64_t address, size_t n, size_t size, bool *elements)
{
    size_t count = 0;
    if (s->whole) return 0;
    for (size_t i = 0; i < n; i++) { /* an element that crosses pages is in two parts */
        uint64_t begin = address + i * size, end = begin + size,
                 middle = (begin | (PAGE_BYTES - 1)) + 1;
        bool is_whole = middle >= end ? is_written(s, begin, end)
                                      : is_written(s, begin, middle) && is_written(s, middle, end);
        if (elements) elements[i] = !is_whole;
        count += !is_whole;
    }
    return count;
}
