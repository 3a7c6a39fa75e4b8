/* Layouts are interned: equal maps are one pointer. Every operation of the algebra fills a
   LayoutSpec, changes each of its vectors by one function of index bits, and interns the
   outcome; so each is a few lines, and the few rules (which bits move where) are all there is to
   read. */
#include "linear/layout.h"

#include <string.h>

#include "base/map.h"
#include "base/unwind.h"

typedef struct LayoutNode LayoutNode;
struct LayoutNode {
    Layout layout;
    LayoutNode *next; /* same hash */
};

struct LayoutTable {
    Arena *arena;
    Map by_hash;
    uint32_t count;
};

LayoutTable *layouts_new(Arena *a)
{
    LayoutTable *t = arena_new(a, LayoutTable);
    t->arena = a;
    map_init(&t->by_hash, a);
    return t;
}

/* ---- interning ---- */

static uint64_t hash_spec(const LayoutSpec *s)
{
    uint64_t h = hash_bytes(s->dim_log2, (size_t)s->rank, (uint64_t)s->rank);
    h = hash_bytes(s->nbits, sizeof s->nbits, h);
    for (int d = 0; d < DIM_COUNT; d++)
        h = hash_bytes(s->basis[d], s->nbits[d] * sizeof(uint32_t), h);
    return h;
}

static bool equals(const Layout *l, const LayoutSpec *s)
{
    if (l->rank != s->rank || memcmp(l->dim_log2, s->dim_log2, (size_t)s->rank)) return false;
    if (memcmp(l->nbits, s->nbits, sizeof s->nbits)) return false;
    for (int d = 0; d < DIM_COUNT; d++) {
        if (s->nbits[d] && memcmp(l->basis[d], s->basis[d], s->nbits[d] * sizeof(uint32_t)))
            return false;
    }
    return true;
}

static int total_log2(int rank, const uint8_t *dim_log2)
{
    int n = 0;
    for (int i = 0; i < rank; i++) n += dim_log2[i];
    return n;
}

static void check_spec(const LayoutSpec *s)
{
    check(s->rank >= 1 && s->rank <= LAYOUT_MAX_RANK, "layout of rank %d", s->rank);
    int n = total_log2(s->rank, s->dim_log2);
    check(n <= LAYOUT_MAX_BITS, "layout of 2^%d elements", n);
    for (int d = 0; d < DIM_COUNT; d++) {
        check(s->nbits[d] <= LAYOUT_MAX_BITS, "layout with %d bits of one dim", s->nbits[d]);
        for (int i = 0; i < s->nbits[d]; i++)
            check(!(s->basis[d][i] >> n), "layout vector outside the shape");
    }
}

const Layout *layout_make(LayoutTable *t, const LayoutSpec *spec)
{
    check_spec(spec);
    uint64_t h = hash_spec(spec);
    LayoutNode *head = map_get(&t->by_hash, h);
    for (LayoutNode *n = head; n; n = n->next) {
        if (equals(&n->layout, spec)) return &n->layout;
    }
    LayoutNode *n = arena_new(t->arena, LayoutNode);
    Layout *l = &n->layout;
    l->rank = spec->rank;
    memcpy(l->dim_log2, spec->dim_log2, (size_t)spec->rank);
    l->total_log2 = (uint8_t)total_log2(spec->rank, spec->dim_log2);
    memcpy(l->nbits, spec->nbits, sizeof l->nbits);
    for (int d = 0; d < DIM_COUNT; d++)
        l->basis[d] = arena_copy(t->arena, spec->basis[d], spec->nbits[d] * sizeof(uint32_t));
    l->id = t->count++;
    n->next = head;
    map_set(&t->by_hash, h, n);
    return l;
}

void layout_spec_of(const Layout *l, LayoutSpec *out)
{
    *out = (LayoutSpec){.rank = l->rank};
    memcpy(out->dim_log2, l->dim_log2, sizeof out->dim_log2);
    memcpy(out->nbits, l->nbits, sizeof out->nbits);
    for (int d = 0; d < DIM_COUNT; d++) {
        if (l->nbits[d]) memcpy(out->basis[d], l->basis[d], l->nbits[d] * sizeof(uint32_t));
    }
}

/* ---- shapes ---- */

int layout_pad(int rank, const int32_t *shape, uint8_t *dim_log2)
{
    int sum = 0;
    for (int i = 0; i < rank; i++) {
        dim_log2[i] = shape[i] <= 1 ? 0 : (uint8_t)(32 - __builtin_clz((uint32_t)shape[i] - 1));
        sum += dim_log2[i];
    }
    return sum;
}

int layout_shift(int rank, const uint8_t *dim_log2, int dim)
{
    int shift = 0;
    for (int i = dim + 1; i < rank; i++) shift += dim_log2[i];
    return shift;
}

int layout_dim_shift(const Layout *l, int dim)
{
    return layout_shift(l->rank, l->dim_log2, dim);
}

uint32_t layout_dim_mask(const Layout *l, int dim)
{
    return ((UINT32_C(1) << l->dim_log2[dim]) - 1) << layout_dim_shift(l, dim);
}

uint32_t layout_group_bits(const Layout *l, const int64_t *groups)
{
    uint32_t bits = 0;
    for (int d = 0; d < l->rank; d++) {
        const int64_t most = INT64_C(1) << l->dim_log2[d], n = groups[d] < most ? groups[d] : most;
        if (n > 1) bits |= (uint32_t)(n - 1) << layout_dim_shift(l, d);
    }
    return bits;
}

uint32_t layout_registers_within(const Layout *l, uint32_t bits)
{
    uint32_t threads = 0, found = 0;
    for (int i = 0; i < l->nbits[DIM_LANE]; i++) threads |= l->basis[DIM_LANE][i];
    for (int i = 0; i < l->nbits[DIM_WARP]; i++) threads |= l->basis[DIM_WARP][i];
    for (int i = 0; i < l->nbits[DIM_REGISTER]; i++)
        if (!(l->basis[DIM_REGISTER][i] & (~bits | threads))) found |= UINT32_C(1) << i;
    return found;
}

int layout_coord(const Layout *l, uint32_t index, int dim)
{
    return (int)((index & layout_dim_mask(l, dim)) >> layout_dim_shift(l, dim));
}

/* ---- makers ---- */

/* Deals the bits of a shape out to hardware dims, lowest bit of each dim first. */
typedef struct Dealer {
    LayoutSpec *spec;
    int used[LAYOUT_MAX_RANK]; /* bits of each dim given away */
} Dealer;

static void deal_one(Dealer *d, LayoutDim to, int dim)
{
    LayoutSpec *s = d->spec;
    int bit = layout_shift(s->rank, s->dim_log2, dim) + d->used[dim]++;
    s->basis[to][s->nbits[to]++] = UINT32_C(1) << bit;
}

/* Up to `bits` vectors for `to` along `order`; zero vectors when the shape has no more bits. */
static void deal(Dealer *d, LayoutDim to, const int *order, int bits)
{
    LayoutSpec *s = d->spec;
    for (int i = 0; i < s->rank; i++) {
        for (; bits > 0 && d->used[order[i]] < s->dim_log2[order[i]]; bits--)
            deal_one(d, to, order[i]);
    }
    for (; bits > 0; bits--) s->basis[to][s->nbits[to]++] = 0;
}

static void deal_registers(Dealer *d, int dim, int log2)
{
    while (d->used[dim] < log2 && d->used[dim] < d->spec->dim_log2[dim])
        deal_one(d, DIM_REGISTER, dim);
}

const Layout *layout_blocked_as(LayoutTable *t, const Blocked *b)
{
    LayoutSpec spec = {.rank = b->rank};
    Dealer d = {.spec = &spec};
    memcpy(spec.dim_log2, b->dim_log2, (size_t)b->rank);
    for (int i = 0; i < b->rank; i++) deal_registers(&d, b->order[i], b->thread_log2[b->order[i]]);
    for (int i = 0; i < b->nwoven; i++)
        if (d.used[b->woven[i]] < b->dim_log2[b->woven[i]] && spec.nbits[DIM_LANE] < b->lane_bits)
            deal_one(&d, DIM_LANE, b->woven[i]);
    deal(&d, DIM_LANE, b->order, b->lane_bits - spec.nbits[DIM_LANE]);
    deal_registers(&d, b->order[0], d.used[b->order[0]] + b->beside_log2);
    deal(&d, DIM_WARP, b->warp_order ? b->warp_order : b->order, b->warp_bits);
    for (int i = 0; i < b->rank; i++) deal_registers(&d, b->order[i], b->dim_log2[b->order[i]]);
    return layout_make(t, &spec);
}

const Layout *layout_blocked(LayoutTable *t, int rank, const uint8_t *dim_log2, const int *order,
                             const int *thread_log2, int lane_bits, int warp_bits)
{
    const Blocked b = {.rank = rank, .dim_log2 = dim_log2, .order = order, .thread_log2 = thread_log2,
                       .lane_bits = lane_bits, .warp_bits = warp_bits};
    return layout_blocked_as(t, &b);
}

/* ---- queries ---- */

int layout_registers(const Layout *l)
{
    return 1 << l->nbits[DIM_REGISTER];
}

uint32_t layout_apply(const Layout *l, uint32_t reg, uint32_t lane, uint32_t warp)
{
    return f2_sum(l->basis[DIM_REGISTER], reg) ^ f2_sum(l->basis[DIM_LANE], lane) ^
           f2_sum(l->basis[DIM_WARP], warp);
}

F2Matrix layout_matrix(const Layout *l, LayoutDim last)
{
    F2Matrix m = {0};
    for (LayoutDim d = DIM_REGISTER; d <= last; d++)
        for (int i = 0; i < l->nbits[d]; i++) m.col[m.cols++] = l->basis[d][i];
    return m;
}

uint32_t layout_free_bits(const Layout *l, LayoutDim dim)
{
    F2Space seen = {0};
    for (LayoutDim d = 0; d < dim; d++) layout_add_vectors(&seen, l, d, l->nbits[d]);
    uint32_t free_bits = 0;
    for (int i = 0; i < l->nbits[dim]; i++) {
        if (!f2_space_add(&seen, l->basis[dim][i])) free_bits |= UINT32_C(1) << i;
    }
    return free_bits;
}

bool layout_has_free_threads(const Layout *l)
{
    return layout_free_bits(l, DIM_LANE) || layout_free_bits(l, DIM_WARP);
}

bool layout_is_surjective(const Layout *l)
{
    const F2Matrix all = layout_matrix(l, DIM_WARP);
    return f2_rank(&all) == l->total_log2;
}

int layout_run_log2(const Layout *l, int dim)
{
    const int shift = layout_dim_shift(l, dim);
    int n = 0;
    while (n < l->nbits[DIM_REGISTER] && n < l->dim_log2[dim] &&
           l->basis[DIM_REGISTER][n] == UINT32_C(1) << (shift + n))
        n++;
    return n;
}

int layout_steps(const Layout *l, int dim, int most, uint32_t *bits)
{
    const int shift = layout_dim_shift(l, dim);
    int n = 0;
    for (; n < most && n < l->dim_log2[dim]; n++) {
        int bit = 0;
        while (bit < l->nbits[DIM_REGISTER] &&
               l->basis[DIM_REGISTER][bit] != UINT32_C(1) << (shift + n))
            bit++;
        if (bit == l->nbits[DIM_REGISTER]) break;
        bits[n] = UINT32_C(1) << bit;
    }
    return n;
}

bool layout_has_offset(const Layout *l)
{
    return l->nbits[DIM_OFFSET] != 0;
}

void layout_add_vectors(F2Space *s, const Layout *l, LayoutDim dim, int n)
{
    f2_space_add_all(s, n < l->nbits[dim] ? n : l->nbits[dim], l->basis[dim]);
}

int layout_find_register(const Layout *l, uint32_t index)
{
    const F2Matrix registers = layout_matrix(l, DIM_REGISTER);
    uint64_t x;
    return f2_solve(&registers, index, &x) ? (int)x : -1;
}

/* ---- algebra ---- */

/* Makes every vector v the value of `move(v, data)`; the caller has set the new shape. */
static void map_vectors(LayoutSpec *s, uint32_t (*move)(uint32_t v, const void *data),
                        const void *data)
{
    for (int d = 0; d < DIM_COUNT; d++) {
        for (int i = 0; i < s->nbits[d]; i++) s->basis[d][i] = move(s->basis[d][i], data);
    }
}

static void drop_free_registers(LayoutSpec *s)
{
    F2Space seen = {0};
    int n = 0;
    for (int i = 0; i < s->nbits[DIM_REGISTER]; i++) {
        uint32_t v = s->basis[DIM_REGISTER][i];
        if (f2_space_add(&seen, v)) s->basis[DIM_REGISTER][n++] = v;
    }
    s->nbits[DIM_REGISTER] = (uint8_t)n;
}

const Layout *layout_drop_free_registers(LayoutTable *t, const Layout *l)
{
    LayoutSpec s;
    layout_spec_of(l, &s);
    drop_free_registers(&s);
    return layout_make(t, &s);
}

/* One coordinate of an old shape after another goes to its place in a new shape. */
typedef struct Move {
    const Layout *from;
    const int *dim;             /* of the old shape */
    int shift[LAYOUT_MAX_RANK]; /* in the new index */
} Move;

static uint32_t move_coords(uint32_t v, const void *data)
{
    const Move *m = data;
    uint32_t out = 0;
    for (int i = 0; i < m->from->rank; i++)
        out |= (uint32_t)layout_coord(m->from, v, m->dim[i]) << m->shift[i];
    return out;
}

const Layout *layout_trans(LayoutTable *t, const Layout *l, int rank, const int *perm)
{
    check(rank == l->rank, "permutation of %d dims for a layout of %d", rank, l->rank);
    LayoutSpec s;
    Move m = {.from = l, .dim = perm};
    layout_spec_of(l, &s);
    for (int i = 0; i < rank; i++) s.dim_log2[i] = l->dim_log2[perm[i]];
    for (int i = 0; i < rank; i++) m.shift[i] = layout_shift(rank, s.dim_log2, i);
    map_vectors(&s, move_coords, &m);
    return layout_make(t, &s);
}

const Layout *layout_expand(LayoutTable *t, const Layout *l, int axis)
{
    check(axis >= 0 && axis <= l->rank && l->rank < LAYOUT_MAX_RANK, "dim %d inserted in rank %d",
          axis, l->rank);
    uint8_t dims[LAYOUT_MAX_RANK];
    for (int i = 0; i <= l->rank; i++) dims[i] = i == axis ? 0 : l->dim_log2[i - (i > axis)];
    return layout_reshape(t, l, l->rank + 1, dims);
}

/* The dims without `axis`. */
static void remove_dim(LayoutSpec *s, int axis)
{
    s->rank--;
    memmove(s->dim_log2 + axis, s->dim_log2 + axis + 1, (size_t)(s->rank - axis));
    s->dim_log2[s->rank] = 0;
}

const Layout *layout_squeeze(LayoutTable *t, const Layout *l, int axis)
{
    check(l->rank > 1 && l->dim_log2[axis] == 0, "squeeze of dim %d", axis);
    LayoutSpec s;
    layout_spec_of(l, &s);
    remove_dim(&s, axis);
    return layout_make(t, &s);
}

const Layout *layout_project(LayoutTable *t, const Layout *l, int rank, const uint8_t *dim_log2)
{
    check(rank == l->rank, "broadcast from rank %d to %d", rank, l->rank);
    for (int i = 0; i < rank; i++) {
        check(dim_log2[i] == l->dim_log2[i] || dim_log2[i] == 0,
              "broadcast of a dim that is not 1");
        if (dim_log2[i] != l->dim_log2[i]) l = layout_keep(t, l, i, 0);
    }
    return layout_drop_free_registers(t, l);
}

const Layout *layout_slice(LayoutTable *t, const Layout *l, int axis)
{
    return layout_squeeze(t, layout_keep(t, l, axis, 0), axis);
}

typedef struct Keep {
    const Layout *from;
    int dim;
    uint32_t kept;
} Keep;

static uint32_t keep_bits(uint32_t v, const void *data)
{
    const Keep *k = data;
    return layout_keep_bits(k->from, k->dim, k->kept, v);
}

const Layout *layout_keep(LayoutTable *t, const Layout *l, int dim, uint32_t kept)
{
    LayoutSpec s;
    layout_spec_of(l, &s);
    s.dim_log2[dim] = (uint8_t)__builtin_popcount(kept);
    map_vectors(&s, keep_bits, &(Keep){l, dim, kept});
    drop_free_registers(&s);
    return layout_make(t, &s);
}

/* The coordinates of the old shape, around those of the new dim. */
static uint32_t around(uint32_t v, const void *data)
{
    const Move *m = data;
    const uint32_t low = (UINT32_C(1) << m->shift[0]) - 1;
    return (v & low) | (v & ~low) << m->shift[1];
}

const Layout *layout_insert(LayoutTable *t, const Layout *l, int axis, int bits)
{
    const Layout *with = layout_expand(t, l, axis);
    const Move m = {.shift = {layout_dim_shift(with, axis), bits}};
    LayoutSpec s;
    layout_spec_of(with, &s);
    check(l->total_log2 + bits <= LAYOUT_MAX_BITS, "a dim makes the block too large");
    s.dim_log2[axis] = (uint8_t)bits;
    map_vectors(&s, around, &m);
    for (int i = 0; i < bits; i++)
        s.basis[DIM_REGISTER][s.nbits[DIM_REGISTER]++] = UINT32_C(1) << (m.shift[0] + i);
    return layout_make(t, &s);
}

const Layout *layout_reshape(LayoutTable *t, const Layout *l, int rank, const uint8_t *dim_log2)
{
    check(total_log2(rank, dim_log2) == l->total_log2, "reshape changes the number of elements");
    LayoutSpec s;
    layout_spec_of(l, &s);
    memset(s.dim_log2, 0, sizeof s.dim_log2);
    memcpy(s.dim_log2, dim_log2, (size_t)rank);
    s.rank = rank;
    return layout_make(t, &s);
}

static uint32_t shift_down(uint32_t v, const void *data)
{
    (void)data;
    return v >> 1;
}

const Layout *layout_join(LayoutTable *t, const Layout *l)
{
    LayoutSpec s;
    layout_spec_of(layout_insert(t, l, l->rank, 1), &s);
    memmove(s.basis[DIM_REGISTER] + 1, s.basis[DIM_REGISTER],
            l->nbits[DIM_REGISTER] * sizeof(uint32_t));
    s.basis[DIM_REGISTER][0] = 1;
    return layout_make(t, &s);
}

/* The register bit that alone holds index bit 0, or -1. */
static int register_of_last_bit(const Layout *l)
{
    int found = -1;
    for (int d = 0; d < DIM_COUNT; d++) {
        for (int i = 0; i < l->nbits[d]; i++) {
            if (!(l->basis[d][i] & 1)) continue;
            if (d != DIM_REGISTER || found >= 0 || l->basis[d][i] != 1) return -1;
            found = i;
        }
    }
    return found;
}

const Layout *layout_split(LayoutTable *t, const Layout *l)
{
    check(l->rank > 1 && l->dim_log2[l->rank - 1] == 1, "split of a last dim that is not 2");
    int bit = register_of_last_bit(l);
    if (bit < 0) return NULL;
    LayoutSpec s;
    layout_spec_of(l, &s);
    s.nbits[DIM_REGISTER]--;
    memmove(s.basis[DIM_REGISTER] + bit, s.basis[DIM_REGISTER] + bit + 1,
            (size_t)(s.nbits[DIM_REGISTER] - bit) * sizeof(uint32_t));
    map_vectors(&s, shift_down, NULL);
    remove_dim(&s, s.rank - 1);
    return layout_make(t, &s);
}
