/* dot by a warp group: 64 rows of the sum at a time, 16 of each warp, over all of K. What is read
   from shared memory is told by descriptors: where a tile begins (linear/swizzle.h), how far it is
   to the next ones, and which swizzle it has. Along k, and along rows from 64 to 64, tiles begin at
   constant distances. Of what is summed apart a part begins where the dot stands, and all others
   where it is waited for: registers have no room for two beside the sum. Source: the PTX manual on
   wgmma. */
#include "lower/dot.h"

#include "base/unwind.h"
#include "linear/shared.h"
#include "linear/swizzle.h"
#include "lower/vector.h"
#include "tkc/carry.h"

enum {
    MOST_COLUMNS = 256,
    MOST_APART = 2 * GROUP_APART_WORDS,
    UNIT_LOG2 = 4, /* bytes, of what descriptors count */
    SUM_HALF_BITS = 16
};

/* An operand in shared memory. */
typedef struct Tiles {
    const Layout *buffer;
    int own, k; /* its dims there: rows or columns, and K */
    int bytes;  /* of an element */
    bool across;
    LLVMValueRef first; /* of the descriptor of this group's first tile, the word with the address */
    uint64_t shape;     /* the rest of a descriptor */
    LLVMValueRef copy;  /* the ring's, as a number */
} Tiles;

/* What begins at once: of tiles of the sum from `tile` on, steps from `step` on. */
typedef struct Part {
    GroupMma m;
    int tile, step;
} Part;

typedef struct Product {
    Lower *L;
    const Op *op;
    const Layout *sum;
    const MmaRow *row;
    int steps, columns; /* of one instruction */
    int across;         /* columns of one row of tiles */
    int ntiles;
    int apart;         /* so many steps are summed by themselves, and then added; 0: all in one */
    uint32_t rows;     /* bits of registers' numbers that choose rows beyond the first 64 */
    Packing pair;      /* of sums in a word */
    FragmentReader *a; /* NULL: in memory */
    Tiles tiles[2];
    Regs out;
    Part begun;
} Product;

/* ---- descriptors ---- */

static int64_t byte_at(const Tiles *t, uint32_t own, uint32_t k)
{
    const uint32_t index =
        own << layout_dim_shift(t->buffer, t->own) | k << layout_dim_shift(t->buffer, t->k);
    return shared_offset(t->buffer, 0, index) * t->bytes;
}

/* What it has beside the address: distances, and the swizzle. */
static uint64_t shape_of(const Swizzle *s, bool across)
{
    enum { FAR = 16, GROUP = 32, MODE = 62, LINE_LOG2 = 8 };
    const uint64_t far = across ? (uint64_t)s->block >> UNIT_LOG2 : 1;
    return far << FAR | (uint64_t)s->group >> UNIT_LOG2 << GROUP |
           (uint64_t)(LINE_LOG2 - s->row_log2) << MODE;
}

/* What the numbers of warps beyond the group's four add. */
static LLVMValueRef group_offset(const Product *p, const Tiles *t, int operand)
{
    uint32_t lane[32] = {0}, warp[32] = {0};
    for (int i = 2; i < p->sum->nbits[DIM_WARP]; i++)
        warp[i] = (uint32_t)byte_at(
            t, (uint32_t)layout_coord(p->sum, p->sum->basis[DIM_WARP][i], operand), 0);
    const ThreadPart part = lower_thread_linear(p->L, lane, warp);
    if (!part.mask) return part.v;
    LLVMBuilderRef here = p->L->b;
    p->L->b = lower_aside(p->L);
    const Lane first = {.number = lower_i32(p->L, 0)};
    LLVMValueRef of_warp = lower_shuffle(p->L, part.v, first); /* as ptxas sees */
    p->L->b = here;
    return of_warp;
}

/* A group's first tile in the ring's first copy, as descriptors have it: the same all through the
   kernel. */
static LLVMValueRef first_of(const Product *p, const Tiles *t, int operand, const Op *ring)
{
    enum { ADDRESS_BITS = 0x3ffff };
    Lower *L = p->L;
    LLVMBuilderRef here = L->b;
    LLVMValueRef at = group_offset(p, t, operand),
                 place = lower_i32(L, tkc_op_int(op_arg(ring, 0)->def, ATTR_OFFSET, 0));
    L->b = lower_aside(L);
    at = target_shared(L, LLVMBuildAdd(L->b, place, at, ""));
    at = LLVMBuildAnd(L->b, at, lower_i32(L, ADDRESS_BITS), "");
    at = LLVMBuildLShr(L->b, at, lower_i32(L, UNIT_LOG2), "");
    at = LLVMBuildOr(L->b, at, lower_i32(L, (int64_t)(t->shape & UINT32_MAX)), "");
    L->b = here;
    return at;
}

/* What is known only when a turn has come is one sum: products wait for it. */
static Tiles tiles_of(const Product *p, int operand, const Op *ring, bool flipped)
{
    Lower *L = p->L;
    const Type *ty = op_arg(ring, 0)->type;
    Swizzle s;
    check(swizzle_find(ir_of(L->fn)->layouts, ty->layout, type_bytes(ty), &s),
          "a warp group's operand that is not laid out in tiles");
    Tiles t = {.buffer = ty->layout, .bytes = type_bytes(ty)};
    t.own = operand ^ (int)flipped;
    t.k = 1 - t.own;
    t.across = s.dim == t.own;
    t.shape = shape_of(&s, t.across);
    t.copy = lower_scalar(L, op_arg(ring, 1));
    LLVMValueRef by = LLVMBuildMul(
        L->b, t.copy, lower_i32(L, (int64_t)type_smem_bytes(ty) >> UNIT_LOG2), "");
    t.first = LLVMBuildAdd(L->b, first_of(p, &t, operand, ring), by, "");
    return t;
}

/* Of an operand that stays the same while the other's copies change, ptxas would make all the
   descriptors before the loop, and with few registers spill them. A 0 that it does not see through
   binds them to the turn. */
static void bind_to_turn(Lower *L, Tiles *same, const Tiles *changing)
{
    enum { MORE_THAN_COPIES_LOG2 = 16 };
    if (!same->copy || !changing->copy || !LLVMIsConstant(same->copy) ||
        LLVMIsConstant(changing->copy))
        return;
    LLVMValueRef zero =
        LLVMBuildLShr(L->b, changing->copy, lower_i32(L, MORE_THAN_COPIES_LOG2), "");
    same->first = LLVMBuildAdd(L->b, same->first, zero, "");
}

static LLVMValueRef descriptor(const Product *p, const Tiles *t, uint32_t own, uint32_t k)
{
    Lower *L = p->L;
    LLVMValueRef by = lower_i32(L, byte_at(t, own, k) >> UNIT_LOG2),
                 word = LLVMBuildAdd(L->b, t->first, by, "");
    return LLVMBuildOr(L->b, LLVMBuildZExt(L->b, word, L->i64, ""),
                       LLVMConstInt(L->i64, t->shape & ~(uint64_t)UINT32_MAX, false), "");
}

/* ---- one instruction's share ---- */

/* A tile's first element of the sum, without its column. */
typedef struct Place {
    uint32_t base;
    int column;
} Place;

/* Tiles of one row follow each other. */
static Place place_of(const Product *p, int tile)
{
    const int beside = p->across / p->columns;
    uint32_t reg = 0, rows = p->rows;
    for (int i = tile / beside; i; i >>= 1, rows &= rows - 1)
        if (i & 1) reg |= rows & -rows;
    return (Place){layout_apply(p->sum, reg, 0, 0), tile % beside * p->columns};
}

/* Registers of the sum in the order of the instruction: four of each 8 columns. */
static int register_at(const Product *p, Place place, int i)
{
    const int column = (i >> 2 << 3) + (i & 1) + place.column, row = (i >> 1 & 1) << 3;
    return layout_find_register(p->sum, place.base |
                                            (uint32_t)column << layout_dim_shift(p->sum, 1) |
                                            (uint32_t)row << layout_dim_shift(p->sum, 0));
}

/* Operands of tile `tile` of m's, of the steps from `first` on. */
static void fill_tile(const Product *p, Place place, GroupMma *m, int tile, int first)
{
    const int k_log2 = p->row->shape.k_log2;
    const Layout *a = op_arg(p->op, 0)->type->layout;
    for (int step = first; step < first + m->steps; step++) {
        const int at = tile * m->steps + step - first;
        const uint32_t k = (uint32_t)step << k_log2;
        m->b[at] = descriptor(p, &p->tiles[1], (uint32_t)place.column, k);
        if (p->a)
            lower_fragment_words(p->a, fragment_source(p->sum, a, 0, place.base), step,
                                 m->a + at * GROUP_A_WORDS);
        else
            m->a[at] =
                descriptor(p, &p->tiles[0], (uint32_t)layout_coord(p->sum, place.base, 0), k);
    }
}

static int sums_of(const Part *part)
{
    return part->m.tiles * part->m.columns / 2;
}

static int words_of(const Part *part)
{
    return part->m.tiles * part->m.each;
}

static LLVMValueRef *sum_at(const Product *p, const Part *part, int i)
{
    const int each = p->columns / 2;
    return &p->out.r[register_at(p, place_of(p, part->tile + i / each), i % each)].v;
}

/* One sum, or two of 16 bits. */
static LLVMValueRef word_at(const Product *p, const Part *part, int i)
{
    LLVMValueRef sums[2], word;
    if (p->pair.count == 1) return *sum_at(p, part, i);
    for (int k = 0; k < 2; k++) sums[k] = *sum_at(p, part, 2 * i + k);
    pack_words(p->L, &p->pair, sums, &word);
    return word;
}

static void begin_part(const Product *p, Part *part)
{
    GroupMma *m = &part->m;
    for (int i = 0; i < m->tiles; i++) fill_tile(p, place_of(p, part->tile + i), m, i, part->step);
    for (int i = 0; i < words_of(part); i++) {
        LLVMValueRef word = word_at(p, part, i);
        m->sums[i] = m->fresh ? LLVMGetUndef(LLVMTypeOf(word)) : word;
    }
    target_group_mma(p->L, m);
}

/* None is taken from a word of two that is under way. */
static void take_pairs(const Product *p, const Part *part)
{
    LLVMValueRef sums[2];
    target_group_wait(p->L, 0, words_of(part), part->m.sums);
    for (int i = 0; i < words_of(part); i++) {
        unpack_words(p->L, &p->pair, &part->m.sums[i], sums);
        for (int k = 0; k < 2; k++) *sum_at(p, part, 2 * i + k) = sums[k];
    }
}

static void add_part(const Product *p, const Part *part)
{
    Lower *L = p->L;
    target_group_wait(L, 0, sums_of(part), part->m.sums);
    for (int i = 0; i < sums_of(part); i++) {
        LLVMValueRef *sum = sum_at(p, part, i);
        *sum = LLVMBuildFAdd(L->b, *sum, part->m.sums[i], "");
    }
}

/* ---- the whole ---- */

static uint32_t far_rows(const Product *p)
{
    uint32_t mask = 0;
    for (int i = fragment_tile_registers(p->row->shape, p->sum); i < p->sum->nbits[DIM_REGISTER];
         i++)
        if (layout_coord(p->sum, p->sum->basis[DIM_REGISTER][i], 0)) mask |= UINT32_C(1) << i;
    return mask;
}

static void find_operands(Product *p)
{
    for (int i = 0; i < 2; i++) {
        bool flipped;
        const Op *ring = dot_ring(p->op, i, &flipped);
        check(ring || i == 0, "a warp group's b that is not in shared memory");
        if (ring) p->tiles[i] = tiles_of(p, i, ring, flipped);
        else p->a = lower_fragment_open(p->L, p->op, i);
    }
    for (int i = 0; i < 2; i++) bind_to_turn(p->L, &p->tiles[i], &p->tiles[1 - i]);
}

static Product *product_of(Lower *L, const Op *op)
{
    Product *p = arena_new(L->arena, Product);
    const Type *ty = op_result(op, 0)->type, *a = op_arg(op, 0)->type;
    *p = (Product){.L = L, .op = op, .sum = ty->layout, .row = dot_group_row(op)};
    p->steps = 1 << (a->layout->dim_log2[1] - p->row->shape.k_log2);
    p->apart = dot_together(op) >> p->row->shape.k_log2;
    p->out = lower_regs_new(L, lower_nregs(ty));
    for (int i = 0; i < p->out.n; i++) p->out.r[i].v = lower_reg(L, op_arg(op, 2), i);
    p->rows = far_rows(p);
    p->across = 2 * p->out.n >> __builtin_popcount(p->rows);
    const int most = p->apart ? MOST_APART : MOST_COLUMNS;
    p->columns = p->across < most ? p->across : most;
    p->ntiles = 2 * p->out.n / p->columns;
    p->pair = packing_of(L, lower_type(L, ty->elem), 2 * SUM_HALF_BITS / type_bits(ty));
    find_operands(p);
    return p;
}

static Part part_of(const Product *p, int tile, int step)
{
    Arena *a = p->L->arena;
    const int left = p->steps - step, each = p->apart && p->apart < left ? p->apart : left;
    const int tiles = p->apart ? 1 : p->ntiles, steps = tiles * each;
    const GroupMma m = {.row = p->row,
                        .tiles = tiles,
                        .columns = p->columns,
                        .each = p->columns / 2 / p->pair.count,
                        .steps = each,
                        .fresh = p->apart || dot_begins_at_0(p->op),
                        .a_in_registers = p->a,
                        .a_across = p->tiles[0].across,
                        .b_across = p->tiles[1].across,
                        .a = arena_array(a, LLVMValueRef, steps * GROUP_A_WORDS),
                        .b = arena_array(a, LLVMValueRef, steps),
                        .sums = arena_array(a, LLVMValueRef, tiles * p->columns / 2)};
    return (Part){.m = m, .tile = tile, .step = step};
}

void lower_group_dot(Lower *L, const Op *op)
{
    Product *p = product_of(L, op);
    check(!L->begun, "a product within one that is summed apart");
    p->begun = part_of(p, 0, 0);
    begin_part(p, &p->begun);
    if (p->apart) L->begun = p;
    else if (p->pair.count > 1) take_pairs(p, &p->begun);
    for (int i = 0; !p->apart && p->pair.count == 1 && i < p->out.n; i++)
        *sum_at(p, &p->begun, i) = p->begun.m.sums[i];
    lower_set(L, op_result(op, 0), p->out);
}

/* Tile by tile, of the sum that the first part has begun for. */
static void add_parts(const Product *p)
{
    add_part(p, &p->begun);
    for (int tile = 0, step = p->begun.m.steps; tile < p->ntiles; tile++, step = 0)
        while (step < p->steps) {
            Part part = part_of(p, tile, step);
            begin_part(p, &part);
            add_part(p, &part);
            step += part.m.steps;
        }
}

/* What is under way behind it is not touched before another wait. */
static void wait_for_words(Lower *L, const Op *op, Regs out)
{
    const Regs in = lower_get(L, op_arg(op, 0));
    for (int r = 0; r < out.n; r++) out.r[r] = in.r[r];
    if (type_bits(op_result(op, 0)->type) == SUM_HALF_BITS) return; /* lower_group_dot has waited */
    LLVMValueRef *words = arena_array(L->arena, LLVMValueRef, out.n);
    for (int r = 0; r < out.n; r++) words[r] = lower_reg(L, op_arg(op, 0), r);
    target_group_wait(L, (int)tkc_op_int(op, ATTR_PENDING, 0),
                      dot_is_waited_for(op) ? out.n : 0, words);
    for (int r = 0; r < out.n; r++) out.r[r].v = words[r];
}

void lower_dot_wait(Lower *L, const Op *op)
{
    const Product *p = L->begun;
    check(!p || p->op == op_arg(op, 0)->def, "another product that is summed apart");
    Regs out = p ? p->out : lower_regs_new(L, lower_nregs(op_arg(op, 0)->type));
    L->begun = NULL;
    if (p) add_parts(p);
    else wait_for_words(L, op, out);
    lower_set(L, op_result(op, 0), out);
}

/* ---- sums that are held ---- */

static bool is_read_at_once(const Value *sum)
{
    const Use *use = sum->uses;
    return use && !use->next && use->user->kind == OP_DOT_WAIT && dot_is_waited_for(use->user);
}

/* A turn that waited to the end would leave nothing to wait for behind the loop. */
static bool adds_to(const Use *use)
{
    return use->user->kind == OP_DOT_WAIT ||
           (dot_is_async(use->user) && use == &use->user->args[2]);
}

bool lower_holds_sum(const Op *loop, int slot)
{
    const Region *body = loop->regions[0];
    const Value *v = carry_param(body, slot);
    bool is_sum = false;
    if (type_bits(v->type) != 32 || !is_read_at_once(op_result(loop, slot))) return false;
    while (v->uses && !v->uses->next && v->uses->user->region == body && adds_to(v->uses)) {
        is_sum |= v->uses->user->kind == OP_DOT;
        v = op_result(v->uses->user, 0);
    }
    return is_sum && v->uses && !v->uses->next && carry_passed(body, slot) == v;
}

Regs lower_hold_sum(Lower *L, const Value *init)
{
    Regs out = lower_regs_new(L, lower_nregs(init->type));
    LLVMValueRef *words = arena_array(L->arena, LLVMValueRef, out.n);
    for (int r = 0; r < out.n; r++) words[r] = lower_reg(L, init, r);
    target_hold_sums(L, out.n, words);
    for (int r = 0; r < out.n; r++) out.r[r].v = words[r];
    return out;
}

/* ---- groups one behind the other ---- */

void lower_stagger(Lower *L, const Op *loop, LLVMValueRef count)
{
    enum { LEAST_TURNS = 4, GROUP_LANES_LOG2 = 7 };
    const int64_t cycles = tkc_op_int(loop, ATTR_STAGGER, 0);
    LLVMTypeRef type = LLVMTypeOf(count);
    if (!cycles) return;
    LLVMValueRef group = LLVMBuildLShr(L->b, target_thread_id(L),
                                       lower_i32(L, GROUP_LANES_LOG2), ""),
                 last = lower_i32(L, L->fn->num_warps / GROUP_WARPS - 1),
                 all = LLVMBuildMul(L->b, LLVMBuildSub(L->b, last, group, ""),
                                    lower_i32(L, cycles), ""),
                 is_long = LLVMBuildICmp(L->b, LLVMIntUGE, count,
                                         LLVMConstInt(type, LEAST_TURNS, false), "");
    lower_instr(L, INSTR_HOLD, LLVMBuildSelect(L->b, is_long, all, lower_i32(L, 0), ""));
}
