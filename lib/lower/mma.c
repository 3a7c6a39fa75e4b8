/* dot by matrix instructions. The sum's registers are tiles of the instruction's accumulator, the
   operands' are what the warp's tiles are made of (linear/fragment.h); nothing moves between
   threads here. Along k: the instruction for each tile of the sum, over the words of a and b, so that
   few of these are needed at a time.

   What a word holds that is not an element: K shorter than the instruction's (lanes and registers
   without bits of k hold duplicates), and what pads K to a power of two. Both must be 0 in both
   operands, since 0 times infinity is not. Rows and columns beyond the block are duplicates or
   padding, which give sums that are duplicates or padding.

   An operand in parts: each part is what is left of the element after those before it. The
   products of the small parts are summed first, apart, because the first parts of infinite operands
   are all that matters: what they leave to the others (infinity minus infinity) counts as nothing.
 */
#include "lower/dot.h"

#include "base/unwind.h"
#include "lower/vector.h"

enum { PARTS = 3, MOST_WORDS = 8 };

/* An operand. */
typedef struct Side {
    int operand, own, k; /* its dims: rows or columns, and K */
    const Value *v;
    bool stays;                 /* no turn of the loop around changes it */
    RingReader *ring;           /* v is still there; NULL: it is in registers */
    F2Space registers;          /* vectors of the registers, none of them free */
    LLVMValueRef outside;       /* this thread's units lie outside of K; NULL: never */
    LLVMValueRef *elems[PARTS]; /* by register; NULL until wanted */
    LLVMValueRef *words[PARTS]; /* by the register of a word's first element */
} Side;

typedef struct Product {
    Lower *L;
    const Op *op;
    DotUnit unit;
    MmaShape shape;
    const Layout *sum;
    F2Space sum_registers;
    Side side[2];
    int k_log2, k_steps, run_log2;
} Product;

/* ---- what is where ---- */

static F2Space registers_of(const Layout *l)
{
    F2Space s = {0};
    for (int i = 0; i < l->nbits[DIM_REGISTER]; i++)
        check(f2_space_add(&s, l->basis[DIM_REGISTER][i]), "a register of a fragment is free");
    return s;
}

static int register_of(const F2Space *registers, uint32_t index)
{
    uint32_t reg;
    check(f2_space_solve(registers, index, &reg), "a thread lacks an element of its fragment");
    return (int)reg;
}

/* The bit of a coordinate as an index bit; 0 beyond the dim. */
static uint32_t at(const Layout *l, int dim, uint32_t coord)
{
    return coord >> l->dim_log2[dim] ? 0 : coord << layout_dim_shift(l, dim);
}

/* turn: of a loop, which the product is in; NULL: words are made where they are asked for. */
static Side side_of(Lower *L, const Op *op, const DotUnit *unit, int operand, const Region *turn)
{
    const Value *v = op_arg(op, operand);
    const Layout *l = v->type->layout;
    Side s = {.operand = operand, .v = v, .registers = registers_of(l)};
    if (v->def && lower_reads_late(v->def)) s.ring = lower_ring_open(L, v->def);
    s.stays = turn && !s.ring && ir_is_defined_outside(v, turn);
    s.own = operand == 0 ? l->rank - 2 : l->rank - 1;
    s.k = operand == 0 ? l->rank - 1 : l->rank - 2;
    uint32_t lanes = 0;
    for (int i = 0; i < 2; i++)
        if (dot_run_log2(op) + i >= l->dim_log2[s.k]) lanes |= 1u << i;
    LLVMBuilderRef here = L->b;
    const Threads threads = L->threads;
    if (s.stays) L->threads = L->around;
    L->b = lower_aside(L);
    LLVMValueRef inside = lower_thread_is_zero(L, lanes, 0);
    s.outside = inside ? LLVMBuildNot(L->b, inside, "") : NULL;
    L->b = here;
    L->threads = threads;
    for (int p = 0; p < unit->parts; p++) {
        s.elems[p] = arena_array(L->arena, LLVMValueRef, layout_registers(l));
        s.words[p] = arena_array(L->arena, LLVMValueRef, layout_registers(l));
    }
    return s;
}

/* ---- elements ---- */

static DType part_type(const Product *p, int operand)
{
    return operand == 0 ? p->unit.mma->a : p->unit.mma->b;
}

static LLVMValueRef word_zero(const Product *p, int operand)
{
    Lower *L = p->L;
    return LLVMConstNull(part_type(p, operand) == DT_F64 ? L->f64 : L->i32);
}

/* fp32 as the instruction takes it, a part of it that is not the last, or what is left: of tf32 the
   instruction ignores the other bits. */
static LLVMValueRef part_of(Lower *L, DType type, LLVMValueRef x, bool is_last)
{
    enum { TF32_BITS = -0x2000 };
    if (type != DT_F32) return lower_from_f32(L, type, x);
    LLVMValueRef bits = LLVMBuildBitCast(L->b, x, L->i32, "");
    return is_last ? bits : LLVMBuildAnd(L->b, bits, lower_i32(L, TF32_BITS), "");
}

static void split(const Product *p, Side *s, int reg, LLVMValueRef x)
{
    Lower *L = p->L;
    const DType type = part_type(p, s->operand);
    for (int i = 0; i < p->unit.parts; i++) {
        LLVMValueRef part = s->elems[i][reg] = part_of(L, type, x, i == p->unit.parts - 1);
        LLVMValueRef number =
            type == DT_F32 ? LLVMBuildBitCast(L->b, part, L->f32, "") : lower_to_f32(L, type, part);
        x = LLVMBuildFSub(L->b, x, number, "");
    }
}

/* The element, 0 where it is none. */
static LLVMValueRef element(const Product *p, const Side *s, int reg)
{
    Lower *L = p->L;
    LLVMValueRef x = s->ring ? lower_ring_element(L, s->ring, reg) : lower_reg(L, s->v, reg);
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x));
    LLVMValueRef valid = lower_valid_along(L, s->v->type, s->k, (uint32_t)reg);
    if (valid) x = LLVMBuildSelect(L->b, valid, x, zero, "");
    return s->outside ? LLVMBuildSelect(L->b, s->outside, zero, x, "") : x;
}

/* Of two elements that come to one word, or one twice. */
static void find_parts(const Product *p, Side *s, int which, const int regs[2])
{
    const DType from = type_dtype(s->v->type), to = part_type(p, s->operand);
    LLVMValueRef x[2], *elems = s->elems[0];
    if (s->elems[which][regs[0]] && s->elems[which][regs[1]]) return;
    for (int i = 0; i < 2; i++) x[i] = i && regs[1] == regs[0] ? x[0] : element(p, s, regs[i]);
    if (from == DT_F32) {
        for (int i = 0; i < 2; i++)
            if (!elems[regs[i]]) split(p, s, regs[i], x[i]);
    } else {
        lower_cast_pair(p->L, from, to, false, x, x);
        for (int i = 0; i < 2; i++)
            if (!elems[regs[i]]) elems[regs[i]] = x[i];
    }
}

/* ---- words ---- */

/* The word of a unit whose first element has that index; NULL elements of it lie beyond K. */
static LLVMValueRef word(Product *p, Side *s, int which, uint32_t index)
{
    const Layout *l = s->v->type->layout;
    const int first = register_of(&s->registers, index), n = 1 << p->shape.unit_log2;
    if (s->words[which][first]) return s->words[which][first];
    LLVMValueRef elems[MOST_WORDS];
    int regs[MOST_WORDS + 1];
    for (int e = 0; e < n; e++)
        regs[e] = register_of(&s->registers, index | at(l, s->k, (uint32_t)e));
    regs[n] = regs[n - 1];
    for (int e = 0; e < n; e++) {
        const bool has = !((uint32_t)e >> l->dim_log2[s->k]);
        if (!(e & 1)) find_parts(p, s, which, regs + e);
        LLVMValueRef x = s->elems[which][regs[e]];
        elems[e] = has ? x : LLVMConstNull(LLVMTypeOf(x));
    }
    Packing packing = packing_of(p->L, LLVMTypeOf(elems[0]), n);
    pack_words(p->L, &packing, elems, &s->words[which][first]);
    return s->words[which][first];
}

/* The words of an operand of one instruction; base: the tile's row (column) and batch. What stays is
   made into words before the loop: in it ptxas would keep what they are made of, which is more. */
static int words_of(Product *p, Side *s, int which, uint32_t base, int step, LLVMValueRef *out)
{
    const Layout *l = s->v->type->layout;
    const int halves = s->operand == 0 && p->shape.m_log2 == 4 ? 2 : 1,
              units = 1 << (p->shape.k_log2 - p->shape.unit_log2 - 2);
    int n = 0;
    LLVMBuilderRef here = p->L->b;
    const Threads threads = p->L->threads;
    if (s->stays) {
        p->L->b = p->L->before;
        p->L->threads = p->L->around;
    }
    for (int u = 0; u < units; u++) {
        const uint32_t k = fragment_unit_at(p->shape, p->run_log2, (uint32_t)(step * units + u));
        for (int h = 0; h < halves; h++) {
            const bool is_beyond = k >> l->dim_log2[s->k];
            const uint32_t index = base | at(l, s->k, k) | at(l, s->own, (uint32_t)h << 3);
            out[n++] = is_beyond ? word_zero(p, s->operand) : word(p, s, which, index);
        }
    }
    p->L->b = here;
    p->L->threads = threads;
    return n;
}

/* ---- one operand alone ---- */

struct FragmentReader {
    Product p;
    int operand;
};

FragmentReader *lower_fragment_open(Lower *L, const Op *op, int operand)
{
    FragmentReader *r = arena_new(L->arena, FragmentReader);
    const DotUnit unit = dot_unit(op);
    *r = (FragmentReader){.operand = operand,
                          .p = {.L = L, .op = op, .unit = unit, .shape = unit.mma->shape}};
    r->p.run_log2 = dot_run_log2(op);
    r->p.side[operand] = side_of(L, op, &unit, operand, NULL);
    return r;
}

int lower_fragment_words(FragmentReader *r, uint32_t base, int step, LLVMValueRef *out)
{
    return words_of(&r->p, &r->p.side[r->operand], 0, base, step, out);
}

/* ---- sums ---- */

/* sum += the product of one pair of parts in that step. */
static void multiply(Product *p, const uint32_t base[2], const int parts[2], int step,
                     LLVMValueRef *sum)
{
    LLVMValueRef a[MOST_WORDS], b[MOST_WORDS];
    words_of(p, &p->side[0], parts[0], base[0], step, a);
    words_of(p, &p->side[1], parts[1], base[1], step, b);
    target_mma(p->L, p->unit.mma, a, b, sum);
}

/* Elements of the sum that a thread has of a tile; two of fp16 fill a word. */
static int sum_elements(const Product *p)
{
    return 1 << (p->shape.m_log2 + p->shape.n_log2 - 5);
}

static int sum_words(const Product *p)
{
    return sum_elements(p) >> (p->unit.mma->sum == DT_F16);
}

/* Steps whose products may be summed before they are added to the sum in full precision. */
static int steps_together(const Product *p)
{
    const int64_t most = tkc_op_int(p->op, ATTR_IMPRECISE, 0) >> p->shape.k_log2;
    const bool counts = dtype_info(part_type(p, 0))->bits == 8 && p->unit.mma->sum == DT_F32 &&
                        tkc_op_int(p->op, ATTR_IMPRECISE, 0);
    if (!counts || most >= p->k_steps) return p->k_steps;
    return most > 0 ? (int)most : 1;
}

static void add_to(Lower *L, int n, LLVMValueRef *sum, const LLVMValueRef *some)
{
    for (int i = 0; i < n; i++) sum[i] = LLVMBuildFAdd(L->b, sum[i], some[i], "");
}

static void nan_to_zero(Lower *L, int n, LLVMValueRef *sum)
{
    for (int i = 0; i < n; i++) {
        LLVMValueRef is_nan = LLVMBuildFCmp(L->b, LLVMRealUNO, sum[i], sum[i], "");
        sum[i] = LLVMBuildSelect(L->b, is_nan, LLVMConstNull(L->f32), sum[i], "");
    }
}

/* What some steps give, added to a sum: small products apart from the products of first parts. */
static void add_steps(Product *p, const uint32_t base[2], int from, int end, LLVMValueRef *sum)
{
    static const int pairs[][2] = {{1, 1}, {2, 0}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};
    enum { PAIRS = sizeof pairs / sizeof *pairs };
    const int n = sum_words(p);
    LLVMValueRef first[MOST_WORDS], small[MOST_WORDS];
    for (int i = 0; i < n; i++) first[i] = small[i] = LLVMConstNull(LLVMTypeOf(sum[i]));
    for (int step = from; step < end; step++)
        for (int i = PAIRS - p->unit.pairs; i < PAIRS; i++)
            multiply(p, base, pairs[i], step, i == PAIRS - 1 ? first : small);
    if (p->unit.pairs > 1) {
        nan_to_zero(p->L, n, small);
        add_to(p->L, n, first, small);
    }
    add_to(p->L, n, sum, first);
}

static void add_product(Product *p, const uint32_t base[2], LLVMValueRef *sum)
{
    const int together = steps_together(p);
    for (int from = 0; from < p->k_steps; from += together)
        add_steps(p, base, from, from + together < p->k_steps ? from + together : p->k_steps, sum);
}

/* The register of an accumulator's element i: the neighbour, then the row 8 further down. */
static int sum_register(const Product *p, uint32_t base, int i)
{
    const int row = p->sum->rank - 2, column = p->sum->rank - 1;
    return register_of(&p->sum_registers,
                       base | at(p->sum, column, i & 1) | at(p->sum, row, (uint32_t)(i >> 1) << 3));
}

/* ---- tiles ---- */

/* A tile of the sum; base: its first element. */
typedef struct Tile {
    uint32_t base, operand[2];
    LLVMValueRef sum[MOST_WORDS];
} Tile;

static Packing sum_packing(const Product *p)
{
    return packing_of(p->L, lower_type(p->L, op_arg(p->op, 2)->type), 2);
}

static void begin_tile(const Product *p, uint32_t base, Tile *t)
{
    const Packing pair = sum_packing(p);
    LLVMValueRef elems[MOST_WORDS];
    t->base = base;
    for (int i = 0; i < 2; i++)
        t->operand[i] = fragment_source(p->sum, p->side[i].v->type->layout, i, base);
    for (int i = 0; i < sum_elements(p); i++)
        elems[i] = lower_reg(p->L, op_arg(p->op, 2), sum_register(p, base, i));
    for (int i = 0; i < sum_elements(p); i += 2)
        pack_words(p->L, &pair, elems + i, t->sum + i / 2 * pair.words);
}

static void end_tile(const Product *p, const Tile *t, Regs out)
{
    const Packing pair = sum_packing(p);
    LLVMValueRef elems[MOST_WORDS];
    for (int i = 0; i < sum_elements(p); i += 2)
        unpack_words(p->L, &pair, t->sum + i / 2 * pair.words, elems + i);
    for (int i = 0; i < sum_elements(p); i++) out.r[sum_register(p, t->base, i)].v = elems[i];
}

static void add_products(Product *p, Tile *tiles, int n)
{
    static const int whole[2] = {0, 0};
    const bool by_steps = p->unit.parts == 1 && steps_together(p) == p->k_steps;
    for (int i = 0; i < n && !by_steps; i++) add_product(p, tiles[i].operand, tiles[i].sum);
    for (int step = 0; step < p->k_steps && by_steps; step++)
        for (int i = 0; i < n; i++) multiply(p, tiles[i].operand, whole, step, tiles[i].sum);
}

void lower_mma(Lower *L, const Op *op, DotUnit unit)
{
    const Value *result = op_result(op, 0);
    Product p = {.L = L, .op = op, .unit = unit, .shape = unit.mma->shape};
    p.run_log2 = dot_run_log2(op);
    p.sum = result->type->layout;
    p.sum_registers = registers_of(p.sum);
    for (int i = 0; i < 2; i++) p.side[i] = side_of(L, op, &unit, i, ir_turn(op));
    p.k_log2 = p.side[0].v->type->layout->dim_log2[p.side[0].k];
    p.k_steps = p.k_log2 > p.shape.k_log2 ? 1 << (p.k_log2 - p.shape.k_log2) : 1;
    Regs out = lower_regs_new(L, lower_nregs(result->type));
    const int inside = fragment_tile_registers(p.shape, p.sum), n = out.n >> inside;
    Tile *tiles = arena_array(L->arena, Tile, n);
    for (int i = 0; i < n; i++)
        begin_tile(&p, layout_apply(p.sum, (uint32_t)i << inside, 0, 0), &tiles[i]);
    add_products(&p, tiles, n);
    for (int i = 0; i < n; i++) end_tile(&p, &tiles[i], out);
    lower_set(L, result, out);
}
