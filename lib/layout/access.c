/* Memory accesses choose their layouts together. Those of one padded shape whose pointers run
   along the same dims form a group, and a group has one layout, so that no conversions arise
   between a load and the store of what was computed from it. Loads of what only matrix products
   take are groups of their own, by their width: that goes by way of shared memory anyway. So are,
   where products are summed, accesses in loops and those outside: what a loop carries has the layout
   of sums, whatever brought it (fp32, and 16 bits in each turn).

   The layout is blocked: `order` lists the dims, those first along which neighbours are nearest
   (near.h), lanes follow the order, warps too, except that dims the function reduces, scans or
   sorts along come last for them (a row that stays in a warp needs no shared memory to be summed).
   What is left to choose is how many neighbours a thread holds. Each width is tried, and what it
   costs all accesses of the group is counted (convert.h): instructions a warp issues, the 128-byte
   lines its loads and the 32-byte sectors its stores touch; and what else of that shape hangs on
   it: divided integers, scans, gathers (docs/decisions.md has the figures). So a copy of fp32 takes
   vectors of 4; a copy from fp16 to fp32 takes 4 as well, because 8 would leave gaps between the
   lanes of the wider side; and next to loads that pick every third byte a store of bytes stays
   narrow. A thread never gets more neighbours than its share of the elements: no lane is idle for
   the sake of width. Of rows that come one by one a warp has more before others have any (beside).
   A mask does not matter here: the lowering does a vector that is not wholly in by single elements.
 */
#include "layout/access.h"

#include <string.h>

#include "base/power.h"
#include "base/unwind.h"
#include "base/vec.h"
#include "ir/machine.h"
#include "layout/convert.h"
#include "layout/near.h"
#include "layout/vector.h"
#include "layout/weight.h"

enum { LINE_BYTES = 128, SECTOR_BYTES = 32 };
enum { GUESSED_STRIDE_LOG2 = 2, COUNTED = 8 };
enum { COST_ADDRESS = 4, COST_HIT = 1, COST_STEP = 2, COST_WAITING = 8, COST_AGAIN = 2 };
enum { COST_DIVISION = 20, COST_BY_NUMBER = 5 };

typedef struct Group {
    int rank;
    uint8_t dim_log2[TKC_MAX_RANK];
    int order[TKC_MAX_RANK];
    bool for_dots;
    bool in_loop; /* where the function multiplies; else false */
    int width_log2; /* of loads for dots; else 0 */
    const Layout *layout;
    int64_t stake; /* what its accesses cost more in the layout of another group */
} Group;

typedef struct Access {
    Op *op;
    int group;
    int order[TKC_MAX_RANK];
    bool prefers_order;
    int width_log2; /* elements one instruction may move along the fastest dim */
    int line_log2;  /* elements along it that share a line */
    bool is_dense;  /* along the next dim lines of it follow each other */
    bool is_alike;  /* along the next dim neighbours are as near, by uneven arithmetic of both */
    int64_t groups[TKC_MAX_RANK]; /* neighbours that are read from one place */
    int64_t span;   /* bytes within which all of it lies, as far as bounds tell */
    bool is_anywhere; /* each line is another's, in any layout */
    bool is_counted;  /* stored as far behind each other as others are taken */
    int weight;     /* how often it runs, as far as loops tell */
} Access;

typedef struct Weighed {
    const Op *op;
    int weight; /* as above */
} Weighed;

struct Accesses {
    Arena *arena;
    const Func *fn;
    const AxisFacts *facts;
    Near near;
    VEC(Access) list;
    Map of_op; /* to its place in the list */
    Map courses; /* of values */
    bool multiplies;
    bool talks; /* to other programs, by atomics, volatile accesses or assembly */
    VEC(Group) groups;
    VEC(Op *) by_stake;    /* those of the group with the greatest stake first */
    /* ops that look along a dim (reductions, scans, sorts), divisions of integers, and gathers from
       blocks */
    VEC(Weighed) others;
};

bool access_is_block(const Op *op)
{
    if (op->kind != OP_LOAD && op->kind != OP_STORE && !ir_has(op, OT_ATOMIC)) return false;
    return type_is_block(op_arg(op, 0)->type);
}

static int warp_bits(const Accesses *x)
{
    return log2_floor(x->fn->num_warps);
}

static int value_bytes(const Op *op)
{
    return type_bytes(op_arg(op, 0)->type->elem->elem);
}

/* ---- collecting ---- */

/* How a block's elements are told from their neighbours'. */
typedef enum Course {
    COURSE_EVEN,     /* by arithmetic that keeps them as far apart as they are */
    COURSE_UNEVEN,   /* by other arithmetic: quotients, the nearer edge */
    COURSE_LOADED, /* by what memory has */
    COURSE_COUNTED, /* by all the others: as many as are before, say */
    COURSE_TABLE, /* by a loaded line or number, for all of the block */
} Course;

static Course course_of_op(const Op *op)
{
    const bool is_even = op->kind == OP_ADD || op->kind == OP_SUB || op->kind == OP_MUL ||
                         op->kind == OP_SHL || op->kind == OP_ADDPTR || op->kind == OP_CAST ||
                         op->kind == OP_HINT || ir_has(op, OT_CONST) || ir_has(op, OT_SHAPE);
    if (is_even) return COURSE_EVEN;
    return ir_has(op, OT_EW) ? COURSE_UNEVEN : op->kind == OP_LOAD ? COURSE_LOADED : COURSE_COUNTED;
}

static Course course_of(Accesses *x, const Value *v)
{
    const Op *op = v->def;
    if (!op || !type_is_block(v->type) || op->kind == OP_SPLAT || op->kind == OP_ARANGE)
        return COURSE_EVEN;
    const int known = map_number(&x->courses, v);
    if (known >= 0) return (Course)known;
    Course worst = course_of_op(op);
    for (int i = 0; worst < COURSE_LOADED && i < op->nargs; i++) {
        const Course c = course_of(x, op_arg(op, i));
        if (c > worst) worst = c;
    }
    if (op->kind == OP_BROADCAST && worst == COURSE_LOADED) worst = COURSE_TABLE;
    map_set_number(&x->courses, v, (int)worst);
    return worst;
}

/* Bytes from the first element of a block of pointers to the end of the last; INT64_MAX: unknown. */
static int64_t span_of(const Accesses *x, const Value *ptr)
{
    enum { MOST = 1 << 20 };
    const Op *op = ptr->def;
    const int64_t bytes = type_bytes(ptr->type->elem->elem);
    if (ir_def(ptr, OP_SPLAT)) return bytes;
    if (op && op->nargs == 1 && (ir_has(op, OT_SHAPE) || op->kind == OP_HINT))
        return span_of(x, op_arg(op, 0));
    if (!op || op->kind != OP_ADDPTR) return INT64_MAX;
    const AxisFact *offset = axis_of(x->facts, op_arg(op, 1));
    const int64_t base = span_of(x, op_arg(op, 0));
    const bool known = offset->lo >= -MOST && offset->hi <= MOST && base <= MOST;
    return known ? base + (offset->hi - offset->lo) * bytes : INT64_MAX;
}

/* What may be copied to a ring is copied element by element. */
static void find_groups(const Accesses *x, Access *a)
{
    enum { LEAST_COPY = 4 };
    vector_groups(x->facts, a->op, a->groups);
    if (!x->multiplies || a->weight == 1 || value_bytes(a->op) << a->width_log2 < LEAST_COPY)
        return;
    for (int d = 0; d < TKC_MAX_RANK; d++) a->groups[d] = 1;
}

/* Of a line beside products: so many neighbours are known to be one, the page of rows, say. */
static int same_log2(const Accesses *x, const AxisFact *fact)
{
    return x->multiplies && fact->rank == 1 ? log2_floor(fact->constancy[0]) : 0;
}

/* Whether lines that run along the fastest dim follow each other along the next. */
static bool is_dense(const Accesses *x, const Value *ptr, const int *order, int run)
{
    const Type *block = ptr->type;
    return block->rank > 1 && block->shape[order[0]] == INT64_C(1) << run &&
           near_step(&x->near, ptr, order[1]) == block->shape[order[0]];
}

/* Uneven arithmetic made v of numbers that differ along the dim. False, too, where that takes too many
   steps to find out. */
static bool is_uneven_along(const Accesses *x, const Value *v, int d, int *steps)
{
    const Op *op = v->def;
    if (!op || !type_is_block(v->type) || --*steps < 0 ||
        axis_of(x->facts, v)->constancy[d] >= v->type->shape[d])
        return false;
    if (op->kind == OP_EXPAND_DIMS) d -= d > tkc_op_int(op, ATTR_AXIS, 0);
    else if (ir_has(op, OT_SHAPE) && op->kind != OP_BROADCAST) return false;
    if (course_of_op(op) == COURSE_UNEVEN) return true;
    for (int i = 0; i < op->nargs; i++)
        if (is_uneven_along(x, op_arg(op, i), d, steps)) return true;
    return false;
}

static bool is_alike(const Accesses *x, const Value *ptr, const int *order)
{
    int steps = 256;
    return ptr->type->rank > 1 && is_uneven_along(x, ptr, order[0], &steps) &&
           is_uneven_along(x, ptr, order[1], &steps) &&
           near_step(&x->near, ptr, order[0]) == near_step(&x->near, ptr, order[1]);
}

static Access access_of(Accesses *x, Op *op, int weight)
{
    const Value *ptr = op_arg(op, 0);
    const AxisFact *fact = axis_of(x->facts, ptr);
    Access a = {.op = op, .span = span_of(x, ptr), .weight = weight};
    a.prefers_order = near_order(&x->near, ptr, a.order);
    const int bytes = value_bytes(op), line = log2_floor(LINE_BYTES / bytes),
              most = vector_most_bytes(op);
    int run = log2_floor(fact->contiguity[a.order[0]]);
    const Course course = run ? COURSE_EVEN : course_of(x, ptr);
    const bool stores = op->kind == OP_STORE;
    a.is_counted = stores && course == COURSE_COUNTED && !x->multiplies;
    a.is_anywhere = course >= (stores ? COURSE_TABLE : COURSE_LOADED) && !x->multiplies;
    a.width_log2 =
        log2_floor(axis_vector_width(x->facts, ptr, a.order[0], most > bytes ? most : bytes));
    a.line_log2 = run > line || course ? line : run;
    if (a.line_log2 < line - GUESSED_STRIDE_LOG2) a.line_log2 = line - GUESSED_STRIDE_LOG2;
    const int64_t step = run ? 1 : near_step(&x->near, ptr, a.order[0]);
    const int within = step >> line ? same_log2(x, fact) : line - log2_floor(step);
    if (within < a.line_log2) a.line_log2 = within;
    a.is_dense = is_dense(x, ptr, a.order, run);
    a.is_alike = course == COURSE_UNEVEN && is_alike(x, ptr, a.order);
    find_groups(x, &a);
    return a;
}

/* Slots an element; 0: it is no division of integers. A remainder whose quotient is had, too, costs
   nothing beside that, nor do powers of two. */
static int division_slots(const Op *op)
{
    const Type *ty = op->kind == OP_DIV || op->kind == OP_REM ? op_arg(op, 0)->type : NULL;
    if (!ty || !type_is_block(ty) || !type_is_int(ty)) return 0;
    for (const Use *u = op_arg(op, 0)->uses; u && op->kind == OP_REM; u = u->next)
        if (u->user->kind == OP_DIV && op_arg(u->user, 1) == op_arg(op, 1)) return 0;
    int64_t by;
    if (!ir_const_int(op_arg(op, 1), &by)) return COST_DIVISION;
    return by > 0 && is_power_of_two(by) ? 0 : COST_BY_NUMBER;
}

static void collect(Accesses *x, const Region *r, int weight)
{
    for (Op *op = r->first; op; op = op->next) {
        bool loops = ir_is_loop(op);
        int inner = loops && weight < 1 << 12 ? weight * WEIGHT_TURNS : weight;
        x->talks |= ir_talks(op);
        if (access_is_block(op)) {
            Access a = access_of(x, op, weight);
            map_set_number(&x->of_op, op, x->list.len);
            vec_push(x->arena, &x->list, a);
        }
        if (ir_axis(op) >= 0 || op->kind == OP_GATHER || division_slots(op))
            vec_push(x->arena, &x->others, ((Weighed){op, weight}));
        for (int i = 0; i < op->nregions; i++) collect(x, op->regions[i], inner);
    }
}

/* ---- grouping ---- */

static bool same_dims(const Group *g, int rank, const uint8_t *dim_log2)
{
    return g->rank == rank && !memcmp(g->dim_log2, dim_log2, (size_t)rank);
}

static bool is_of_shape(const Group *g, const Type *block)
{
    uint8_t dims[TKC_MAX_RANK];
    layout_pad(block->rank, block->shape, dims);
    return same_dims(g, block->rank, dims);
}

/* A load, or its transposition. */
static bool is_for_dots(const Op *op)
{
    const bool moves = op->kind == OP_LOAD || op->kind == OP_TRANS;
    for (const Use *u = moves ? op_result(op, 0)->uses : NULL; u; u = u->next)
        if (!is_for_dots(u->user) && (u->user->kind != OP_DOT || u == &u->user->args[2]))
            return false;
    return moves;
}

/* Of that shape, and of that order, unless it has none. */
static int find_group(const Accesses *x, const Group *like, bool has_order)
{
    for (int i = 0; i < x->groups.len; i++) {
        const Group *g = &x->groups.data[i];
        if (!same_dims(g, like->rank, like->dim_log2) || g->for_dots != like->for_dots ||
            g->in_loop != like->in_loop || g->width_log2 != like->width_log2)
            continue;
        if (!has_order || !memcmp(g->order, like->order, (size_t)g->rank * sizeof *g->order))
            return i;
    }
    return -1;
}

static int group_for(Accesses *x, const Access *a)
{
    const Type *block = op_arg(a->op, 0)->type;
    Group g = {.rank = block->rank, .for_dots = is_for_dots(a->op)};
    layout_pad(block->rank, block->shape, g.dim_log2);
    memcpy(g.order, a->order, (size_t)block->rank * sizeof *a->order);
    g.in_loop = x->multiplies && a->weight > 1;
    if (g.for_dots) g.width_log2 = a->width_log2;
    int found = find_group(x, &g, a->prefers_order);
    if (found >= 0) return found;
    vec_push(x->arena, &x->groups, g);
    return x->groups.len - 1;
}

/* Accesses that run along some dim first; those without a preference join them. */
static void make_groups(Accesses *x)
{
    for (int preferring = 1; preferring >= 0; preferring--) {
        for (int i = 0; i < x->list.len; i++) {
            Access *a = &x->list.data[i];
            if (a->prefers_order != preferring) continue;
            a->group = group_for(x, a);
            memcpy(a->order, x->groups.data[a->group].order, sizeof a->order);
        }
    }
}

/* ---- what an access costs ---- */

/* Pieces of `bytes` (a line, a sector) the lanes of one instruction touch. */
static int touched(const Access *a, const Layout *l, int vector_log2, int bytes)
{
    const int dim = a->order[0], piece = log2_floor(bytes / value_bytes(a->op)),
              within_log2 = a->line_log2 < piece ? a->line_log2 : piece;
    const uint32_t equal = layout_group_bits(l, a->groups), mask = layout_dim_mask(l, dim),
                   near = ((UINT32_C(1) << within_log2) - 1) << layout_dim_shift(l, dim),
                   rows_log2 = a->is_alike ? within_log2
                               : a->is_dense && l->dim_log2[dim] < piece ? piece - l->dim_log2[dim]
                                                                         : 0,
                   rows = (UINT32_C(1) << rows_log2) - 1,
                   within = equal | (near << __builtin_popcount(equal & mask) & mask) |
                            (rows << layout_dim_shift(l, a->order[1]) &
                             layout_dim_mask(l, a->order[1]));
    F2Space pieces = {0}, lanes = {0};
    for (int i = 0; i < l->nbits[DIM_LANE]; i++) {
        f2_space_add(&pieces, l->basis[DIM_LANE][i] & ~within);
        f2_space_add(&lanes, l->basis[DIM_LANE][i] & ~equal);
    }
    const int full = (value_bytes(a->op) << vector_log2 << lanes.dim) / bytes;
    const int n = 1 << pieces.dim;
    const int64_t most = a->span / bytes + (a->span % bytes > 0);
    if (n > most) return (int)most;
    return n > full ? n : full;
}

static int vector_in(const Access *a, const Layout *l)
{
    const int run = layout_run_log2(l, a->order[0]);
    return run < a->width_log2 ? run : a->width_log2;
}

static int instructions_in(const Access *a, const Layout *l)
{
    const uint32_t equal = layout_registers_within(l, layout_group_bits(l, a->groups)) &
                           ~layout_free_bits(l, DIM_REGISTER);
    return layout_registers(l) >> (vector_in(a, l) + __builtin_popcount(equal));
}

/* A load finds in the first-level cache what its neighbours brought, for `hit` a line where it goes
   element by element, and waits for memory else; what is written goes on, sector by sector. Each
   instruction has an address of its own, in two registers. What comes back of an atomic occupies the
   way for each instruction. */
static int access_cost(const Access *a, const Layout *l, int hit)
{
    const int vector_log2 = vector_in(a, l);
    if (a->width_log2) hit = COST_WAVE;
    int moved = a->op->kind == OP_LOAD ? touched(a, l, vector_log2, LINE_BYTES) * hit
                                       : touched(a, l, vector_log2, SECTOR_BYTES) * COST_SECTOR;
    if (a->is_anywhere) moved = 0;
    if (a->is_counted) moved /= COUNTED;
    if (ir_has(a->op, OT_ATOMIC)) moved += COST_ATOMIC;
    return instructions_in(a, l) * (COST_ISSUE + COST_ADDRESS + moved);
}

/* ---- choosing ---- */

static bool is_looked_along(const Accesses *x, const Group *g, int dim)
{
    for (int i = 0; i < x->others.len; i++) {
        const Op *op = x->others.data[i].op;
        if (ir_axis(op) == dim && is_of_shape(g, op_arg(op, 0)->type)) return true;
    }
    return false;
}

/* The order, dims that ops look along moved to its end. */
static void order_warps(const Accesses *x, const Group *g, int *warp_order)
{
    int n = 0;
    for (int last = 0; last <= 1; last++) {
        for (int i = 0; i < g->rank; i++) {
            if (is_looked_along(x, g, g->order[i]) == last) warp_order[n++] = g->order[i];
        }
    }
}

/* Of the elements a thread's share. */
static int share_of_thread(const Accesses *x, const Group *g)
{
    int total = 0;
    for (int d = 0; d < g->rank; d++) total += g->dim_log2[d];
    const int share = total - MACHINE_LANE_BITS - warp_bits(x);
    return share > 0 ? share : 0;
}

/* The fastest, or the first of the others; -1: nothing scans along it, or them. */
static int scanned_dim(const Accesses *x, const Group *g, bool fastest)
{
    for (int i = 0; i < x->others.len; i++) {
        const Op *op = x->others.data[i].op;
        if (op->kind == OP_SCAN && is_of_shape(g, op_arg(op, 0)->type) &&
            (ir_axis(op) == g->order[0]) == fastest)
            return ir_axis(op);
    }
    return -1;
}

/* log2 of the neighbours along the fastest dim that a warp has in registers before other warps go
   along it: where elements come one by one, so that fewer warps have a part of each row. Not of a
   single row, of what may lie further apart, nor where that sends warps along a dim that others
   look along. Where products are summed, of what these take and of what is stored behind. What
   atomics add to has one address for all of a row's neighbours, in loops, too. */
static int beside(const Accesses *x, const Group *g, int rest)
{
    const bool behind = x->multiplies && !g->for_dots;
    bool fits = false, apart = false, adds = false;
    int rows_log2 = 0;
    for (int i = 1; i < g->rank; i++) {
        rows_log2 += g->dim_log2[g->order[i]];
        apart |= is_looked_along(x, g, g->order[i]);
    }
    for (int i = 0; i < x->list.len; i++) {
        const Access *a = &x->list.data[i];
        if (&x->groups.data[a->group] != g) continue;
        if (value_bytes(a->op) << a->line_log2 < LINE_BYTES) return 0;
        fits |= a->op->kind == (behind ? OP_STORE : OP_LOAD);
        adds |= a->op->kind == OP_ATOMIC_RMW;
    }
    if ((behind && g->in_loop && !adds) || (apart && !is_looked_along(x, g, g->order[0]))) return 0;
    return (fits || adds) && rows_log2 && rest > 0 ? rest : 0;
}

/* What a thread has beside a vector follows along a dim that is scanned. */
static const Layout *group_layout(const Accesses *x, const Group *g, int width_log2)
{
    int thread_log2[TKC_MAX_RANK] = {0}, warp_order[TKC_MAX_RANK];
    const int scanned = scanned_dim(x, g, false), rest = share_of_thread(x, g) - width_log2;
    thread_log2[g->order[0]] = width_log2;
    if (scanned >= 0 && rest > 0)
        thread_log2[scanned] = rest < g->dim_log2[scanned] ? rest : g->dim_log2[scanned];
    order_warps(x, g, warp_order);
    const Blocked b = {.rank = g->rank,
                       .dim_log2 = g->dim_log2,
                       .order = g->order,
                       .thread_log2 = thread_log2,
                       .warp_order = warp_order,
                       .beside_log2 = width_log2 ? 0 : beside(x, g, rest),
                       .lane_bits = MACHINE_LANE_BITS,
                       .warp_bits = warp_bits(x)};
    return layout_blocked_as(ir_of(x->fn)->layouts, &b);
}

/* As far as that lies along the fastest dim. */
static int share_log2(const Accesses *x, const Group *g)
{
    const int share = share_of_thread(x, g), along = g->dim_log2[g->order[0]];
    return share < along ? share : along;
}

/* A thread divides once for neighbours that are one number, or of which no multiple of the divisor
   lies among (lower/divide.c). */
static int64_t division_cost(const Accesses *x, const Op *op, int dim, const Layout *l)
{
    const int64_t equal = axis_of(x->facts, op_result(op, 0))->constancy[dim],
                  shared = axis_group_of_division(x->facts, op, dim);
    const int run = layout_run_log2(l, dim), all = log2_floor(equal > shared ? equal : shared);
    return division_slots(op) * (layout_registers(l) >> (run < all ? run : all));
}

static int bits_along(const Layout *l, LayoutDim kind, int axis)
{
    int n = 0;
    for (int i = 0; i < l->nbits[kind]; i++)
        n += (l->basis[kind][i] & layout_dim_mask(l, axis)) != 0;
    return n;
}

/* Warps that have parts of what is scanned meet over the parts' totals, or, where a thread would
   have too many of these, the block goes through shared memory to be scanned, and back. */
static int64_t meeting_cost(const Op *scan, const Layout *l, int axis)
{
    const int warps = bits_along(l, DIM_WARP, axis), n = layout_registers(l),
              totals = n >> bits_along(l, DIM_REGISTER, axis) << warps;
    if (!warps) return 0;
    return 2 * COST_BARRIER + n * (totals > n / 2 ? 4 * scan->nargs * COST_WAVE : COST_STEP);
}

/* A scan has a step for each bit of a lane along it, of every run of neighbours in a thread. */
static int64_t scan_cost(const Op *op, const Layout *l)
{
    uint32_t bits[LAYOUT_MAX_BITS];
    const int axis = (int)tkc_op_int(op, ATTR_AXIS, 0),
              runs = layout_registers(l) >> layout_steps(l, axis, LAYOUT_MAX_BITS, bits);
    return runs * bits_along(l, DIM_LANE, axis) *
               (op->nargs * COST_WAVE + COST_STEP + weight_of_joining(op)) +
           meeting_cost(op, l, axis);
}

/* What is gathered lies in shared memory as near each other as those that ask for it, if they are no
   more than that: in a table they ask anywhere. */
static int64_t gather_cost(const Op *op, const Layout *l)
{
    const int64_t axis = tkc_op_int(op, ATTR_AXIS, 0);
    const bool is_table = op_arg(op, 0)->type->shape[axis] < op_result(op, 0)->type->shape[axis];
    const int run = is_table ? 0 : layout_run_log2(l, (int)axis);
    return layout_registers(l) * (COST_ISSUE + (COST_WAVE << run));
}

/* Of what is no access. */
static int64_t other_cost(const Accesses *x, const Group *g, const Op *op, const Layout *l)
{
    if (!is_of_shape(g, op_result(op, 0)->type)) return 0;
    if (op->kind == OP_SCAN) return scan_cost(op, l);
    if (op->kind == OP_GATHER) return gather_cost(op, l);
    return division_slots(op) ? division_cost(x, op, g->order[0], l) : 0;
}

static bool is_scanned(const Accesses *x, const Group *g)
{
    return scanned_dim(x, g, true) >= 0;
}

/* That in which the access alone costs least. */
static const Layout *own_layout(const Accesses *x, const Access *a)
{
    const Group *g = &x->groups.data[a->group];
    const Layout *best = group_layout(x, g, 0);
    for (int w = 1; w <= a->width_log2 && w <= share_log2(x, g); w++) {
        const Layout *l = group_layout(x, g, w);
        if (access_cost(a, l, COST_HIT) <= access_cost(a, best, COST_HIT)) best = l;
    }
    return best;
}

/* Of a store to places by arithmetic, which go along, what its own layout would spare, less what
   getting there costs; within one warp that are shuffles, which is what scans spare. */
static int gain_apart(const Accesses *x, const Access *a, const Layout *l)
{
    const bool moves = warp_bits(x) && a->op->kind == OP_STORE && !a->is_anywhere && !a->is_counted;
    const Layout *own = moves ? own_layout(x, a) : l;
    if (own == l) return 0;
    ConvertPlan plan;
    convert_plan(&plan, l, own, value_bytes(a->op), 0);
    const int gain = access_cost(a, l, COST_HIT) - access_cost(a, own, COST_HIT) - plan.cost;
    return gain > 0 ? gain : 0;
}

static int64_t group_cost(const Accesses *x, int group, const Layout *l)
{
    const Group *g = &x->groups.data[group];
    const int hit = x->multiplies ? COST_WAVE : COST_HIT;
    const bool scanned = is_scanned(x, g);
    int64_t cost = 0;
    for (int i = 0; i < x->others.len; i++)
        cost += x->others.data[i].weight * other_cost(x, g, x->others.data[i].op, l);
    for (int i = 0; i < x->list.len; i++) {
        const Access *a = &x->list.data[i];
        if (a->group != group) continue;
        cost += (int64_t)a->weight * (access_cost(a, l, hit) - (scanned ? gain_apart(x, a, l) : 0));
    }
    return cost;
}

/* The widest that an access may move at once, or that shortens a scan. */
static int most_width_log2(const Accesses *x, int group)
{
    enum { SCANNED = 3 };
    const Group *g = &x->groups.data[group];
    int most = 0;
    for (int i = 0; i < x->list.len; i++) {
        const Access *a = &x->list.data[i];
        if (a->group == group && a->width_log2 > most) most = a->width_log2;
    }
    return most < SCANNED && is_scanned(x, g) ? SCANNED : most;
}

/* The widest of the cheapest. */
static void choose_width(Accesses *x, int group)
{
    Group *g = &x->groups.data[group];
    const int limit = most_width_log2(x, group), share = share_log2(x, g);
    int64_t best = INT64_MAX;
    for (int w = 0; w <= limit && w <= share; w++) {
        const Layout *l = group_layout(x, g, w);
        int64_t cost = group_cost(x, group, l);
        if (cost > best) continue;
        best = cost;
        g->layout = l;
    }
}

static void set_apart(Accesses *x, int group)
{
    for (int i = 0; i < x->list.len; i++) {
        Access *a = &x->list.data[i];
        const Group *g = &x->groups.data[group];
        if (a->group != group || !is_scanned(x, g) || !gain_apart(x, a, g->layout)) continue;
        Group own = *g;
        own.layout = own_layout(x, a);
        a->group = x->groups.len;
        vec_push(x->arena, &x->groups, own);
    }
}

/* ---- who comes first ---- */

static void set_stake(Accesses *x, int group)
{
    Group *g = &x->groups.data[group];
    int64_t least = INT64_MAX;
    for (int i = 0; i < x->groups.len; i++) {
        const Group *other = &x->groups.data[i];
        if (i == group || !same_dims(g, other->rank, other->dim_log2)) continue;
        const int64_t cost = group_cost(x, group, other->layout);
        if (cost < least) least = cost;
    }
    g->stake = least == INT64_MAX ? 0 : least - group_cost(x, group, g->layout);
}

/* Among equals the first. */
static void order_by_stake(Accesses *x)
{
    int *order = arena_array(x->arena, int, x->groups.len);
    for (int i = 0; i < x->groups.len; i++) {
        int at = i;
        for (; at > 0 && x->groups.data[order[at - 1]].stake < x->groups.data[i].stake; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int i = 0; i < x->groups.len; i++) {
        for (int k = 0; k < x->list.len; k++) {
            if (x->list.data[k].group == order[i])
                vec_push(x->arena, &x->by_stake, x->list.data[k].op);
        }
    }
}

Accesses *access_choose(Arena *scratch, const Func *fn)
{
    Accesses *x = arena_new(scratch, Accesses);
    x->arena = scratch;
    x->fn = fn;
    x->facts = axis_analyze(scratch, fn, AXIS_OF_ACCESSES, NULL);
    x->near = (Near){scratch, fn, x->facts, NULL};
    map_init(&x->of_op, scratch);
    map_init(&x->courses, scratch);
    x->multiplies = ir_contains(fn->body, OP_DOT, true);
    collect(x, fn->body, 1);
    make_groups(x);
    const int ngroups = x->groups.len;
    for (int i = 0; i < ngroups; i++) choose_width(x, i);
    for (int i = 0; i < ngroups; i++) set_apart(x, i);
    for (int i = 0; i < x->groups.len; i++) set_stake(x, i);
    order_by_stake(x);
    return x;
}

Op *access_seed(const Accesses *x, int i)
{
    return i < x->by_stake.len ? x->by_stake.data[i] : NULL;
}

static const Access *find_access(const Accesses *x, const Op *op)
{
    const int at = map_number(&x->of_op, op);
    check(at >= 0, "no access was chosen for a memory op");
    return &x->list.data[at];
}

const Layout *access_layout(const Accesses *x, const Op *op)
{
    return x->groups.data[find_access(x, op)->group].layout;
}

int access_dim(const Accesses *x, const Op *op)
{
    return find_access(x, op)->order[0];
}

const Layout *access_default(const Accesses *x, const Type *block)
{
    Group g = {.rank = block->rank};
    layout_pad(block->rank, block->shape, g.dim_log2);
    for (int inside = 0; inside < 2; inside++) {
        g.in_loop = inside;
        const int found = find_group(x, &g, false);
        if (found >= 0) return x->groups.data[found].layout;
    }
    for (int i = 0; i < g.rank; i++) g.order[i] = g.rank - 1 - i;
    int share = share_log2(x, &g);
    return group_layout(x, &g, share < 2 ? share : 2);
}

/* What was loaded is needed behind a loop only. */
static bool waits_for_loop(const Op *load)
{
    bool loops = false;
    for (const Op *op = load->next; op && load->nresults; op = op->next) {
        if (ir_asks_for(op, op_result(load, 0))) return loops;
        loops |= ir_is_loop(op);
    }
    return false;
}

/* What waits for the end of a loop is in registers that others want. */
static int cost_with_registers(const Access *a, const Layout *l)
{
    const int waiting = waits_for_loop(a->op) ? COST_WAITING * layout_registers(l) : 0;
    return access_cost(a, l, COST_WAVE) + waiting;
}

bool access_accepts(const Accesses *x, const Op *op, const Layout *offered)
{
    const Access *a = find_access(x, op);
    const Group *g = &x->groups.data[a->group];
    const Layout *best = g->layout;
    if (offered == best) return true;
    if (!layout_is_surjective(offered)) return false;
    if (g->for_dots) return cost_with_registers(a, offered) <= cost_with_registers(a, best);
    ConvertPlan plan;
    bool loads = op->kind == OP_LOAD;
    convert_plan(&plan, loads ? best : offered, loads ? offered : best, value_bytes(op), 0);
    return cost_with_registers(a, offered) <= cost_with_registers(a, best) + plan.cost;
}

int access_again(const Accesses *x, const Op *load, const Layout *l)
{
    const int at = map_number(&x->of_op, load); /* none: it was made so itself */
    if (at < 0 || x->talks || !warp_bits(x)) return WEIGHT_NEVER;
    return COST_AGAIN * access_cost(&x->list.data[at], l, COST_WAVE);
}
