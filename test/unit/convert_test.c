/* Conversions between layouts: each plan is carried out on an array of (warp, lane, register), for many pairs of layouts, and
   every element must arrive; accesses to shared memory must not collide in a bank. */
#include "base/limit.h"
#include "base/unwind.h"
#include "layout/convert.h"
#include "linear/fragment.h"
#include "linear/shared_matrix.h"
#include "linear/swizzle.h"

#include <stdlib.h>

#include "expect.h"

enum { GARBAGE = 0xdead0000u };

static Arena arena;
static LayoutTable *table;
static uint64_t seed = 7;
static int kinds[4], by_rows[3], written_by_rows, words;

static uint32_t random_below(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

/* ---- random layouts ---- */

/* Unit vectors of `total` bits dealt at random; threads that get none are duplicates. */
static void deal_units(LayoutSpec *s, int total, int lanes, int warps)
{
    int order[20];
    for (int i = 0; i < total; i++) order[i] = i;
    for (int i = total; i > 1; i--) {
        int j = (int)random_below((uint32_t)i), t = order[i - 1];
        order[i - 1] = order[j];
        order[j] = t;
    }
    int next = 0;
    for (int i = 0; i < lanes; i++) s->basis[DIM_LANE][i] = next < total && random_below(6) ? 1u << order[next++] : 0;
    for (int i = 0; i < warps; i++) s->basis[DIM_WARP][i] = next < total && random_below(6) ? 1u << order[next++] : 0;
    s->nbits[DIM_LANE] = (uint8_t)lanes;
    s->nbits[DIM_WARP] = (uint8_t)warps;
    while (next < total) s->basis[DIM_REGISTER][s->nbits[DIM_REGISTER]++] = 1u << order[next++];
}

/* Adds vectors to one another: the map stays onto, but no vector is a unit any more. */
static void mix(LayoutSpec *s, int total)
{
    for (int n = 0; n < 8; n++) {
        int from = (int)random_below((uint32_t)total), to = (int)random_below((uint32_t)total);
        for (int d = 0; d < DIM_COUNT; d++) {
            for (int i = 0; i < s->nbits[d]; i++) {
                if (from != to && s->basis[d][i] >> from & 1) s->basis[d][i] ^= 1u << to;
            }
        }
    }
}

static const Layout *random_layout(int total, int lanes, int warps, bool mixed)
{
    LayoutSpec s = {.rank = 1, .dim_log2 = {(uint8_t)total}};
    deal_units(&s, total, lanes, warps);
    if (mixed) mix(&s, total);
    if (mixed && !random_below(4)) s.basis[DIM_REGISTER][s.nbits[DIM_REGISTER]++] = random_below(1u << total);
    return layout_make(table, &s);
}

/* The same of four neighbours for each element, in one thread. */
static const Layout *of_four(const Layout *l)
{
    LayoutSpec s = {.rank = 1, .dim_log2 = {(uint8_t)(l->total_log2 + 2)}};
    for (int d = 0; d < DIM_COUNT; d++) {
        const int first = d == DIM_REGISTER ? 2 : 0;
        s.nbits[d] = (uint8_t)(l->nbits[d] + first);
        for (int i = 0; i < first; i++) s.basis[d][i] = 1u << i;
        for (int i = 0; i < l->nbits[d]; i++) s.basis[d][first + i] = l->basis[d][i] << 2;
    }
    return layout_make(table, &s);
}

static const Layout *blocked(int total, int vector_log2, int lanes, int warps)
{
    uint8_t dims[] = {(uint8_t)total};
    return layout_blocked(table, 1, dims, (int[]){0}, (int[]){vector_log2}, lanes, warps);
}

/* ---- carrying a plan out ---- */

typedef struct Threads {
    int lanes, warps, regs;
    uint32_t *value; /* [warp][lane][register] */
} Threads;

static Threads threads_of(const Layout *l)
{
    Threads t = {1 << l->nbits[DIM_LANE], 1 << l->nbits[DIM_WARP], layout_registers(l), NULL};
    t.value = calloc((size_t)(t.lanes * t.warps * t.regs), sizeof *t.value);
    return t;
}

static uint32_t *regs_at(const Threads *t, int warp, int lane)
{
    return t->value + (warp * t->lanes + lane) * t->regs;
}

static Threads filled(const Layout *l, unsigned flags)
{
    Threads t = threads_of(l);
    uint32_t free_lane = flags & CONVERT_CANONICAL ? layout_free_bits(l, DIM_LANE) : 0;
    uint32_t free_warp = flags & CONVERT_CANONICAL ? layout_free_bits(l, DIM_WARP) : 0;
    for (int w = 0; w < t.warps; w++) {
        for (int i = 0; i < t.lanes; i++) {
            bool holds = !((uint32_t)i & free_lane) && !((uint32_t)w & free_warp);
            for (int r = 0; r < t.regs; r++)
                regs_at(&t, w, i)[r] = holds ? layout_apply(l, (uint32_t)r, (uint32_t)i, (uint32_t)w) : GARBAGE;
        }
    }
    return t;
}

/* Of words: what is below `word` in a register's number stays. */
static void run_stages(const ConvertStages *st, const Threads *t, uint32_t word)
{
    for (int k = 0; k < st->n; k++) {
        for (int w = 0; w < t->warps; w++) {
            for (int i = 0; i < t->lanes; i++) {
                uint32_t *v = regs_at(t, w, i), old[1024];
                const uint32_t lane = (uint32_t)i & st->lane_mask[k], warp = (uint32_t)w & st->warp_mask[k];
                if (__builtin_parity(lane) == __builtin_parity(warp)) continue;
                memcpy(old, v, (size_t)t->regs * sizeof *v);
                for (int r = 0; r < t->regs; r++) v[r] = old[(uint32_t)r ^ (st->vec[k] & -word)];
            }
        }
    }
}

static void run_rounds(const ConvertPlan *p, const Threads *from, const Threads *to)
{
    const uint32_t word = UINT32_C(1) << convert_word_log2(p);
    EXPECT(word == 1 || word * (uint32_t)p->elem_bytes <= 4);
    run_stages(&p->send, from, word);
    for (int w = 0; w < to->warps; w++) {
        for (int i = 0; i < to->lanes; i++) {
            for (int k = 0; k < to->regs; k++) {
                const uint32_t round = (uint32_t)k & -word, reg = convert_source_reg(p, round) + (uint32_t)k - round,
                               lane = p->moves_lanes ? convert_source_lane(p, round, (uint32_t)i, (uint32_t)w) : (uint32_t)i;
                EXPECT(lane < (uint32_t)from->lanes && reg < (uint32_t)from->regs);
                regs_at(to, w, i)[k] = regs_at(from, w, (int)lane)[reg];
            }
        }
    }
    run_stages(&p->receive, to, word);
    words += word > 1;
}

static uint32_t thread_offset(const SharedAccess *a, int lane, int warp)
{
    uint32_t offset = 0;
    for (int i = 0; i < SHARED_THREAD_BITS; i++) {
        if (lane >> i & 1) offset ^= a->lane[i];
        if (warp >> i & 1) offset ^= a->warp[i];
    }
    return offset;
}

/* How many words of one bank the lanes [first, first + n) ask for at once, at most. */
static int bank_cycles(const uint32_t *address, const bool *active, int first, int n, int bytes)
{
    int worst = 1;
    for (int bank = 0; bank < 32; bank++) {
        uint32_t seen[64];
        int count = 0;
        for (int i = first; i < first + n; i++) {
            for (uint32_t a = address[i] / 4; active[i] && a <= (address[i] + (uint32_t)bytes - 1) / 4; a++) {
                if ((int)(a % 32) != bank) continue;
                int j = 0;
                while (j < count && seen[j] != a) j++;
                if (j == count) seen[count++] = a;
            }
        }
        if (count > worst) worst = count;
    }
    return worst;
}

static void check_banks(const SharedAccess *a, int elem_bytes, const uint32_t *offset, const bool *active, int lanes)
{
    uint32_t address[256];
    int bytes = elem_bytes << a->vector_log2, group = bytes >= 16 ? 8 : bytes >= 8 ? 16 : 32;
    for (int i = 0; i < lanes; i++) address[i] = offset[i] * (uint32_t)elem_bytes;
    for (int first = 0; first < lanes; first += group)
        EXPECT_INT(bank_cycles(address, active, first, lanes < group ? lanes : group, bytes), 1);
}

/* One access of every warp with registers `head`: moves the vectors and counts collisions. */
static void run_access(const SharedAccess *a, int elem_bytes, bool writes, const Threads *t, uint32_t *memory, int head,
                       uint32_t at)
{
    uint32_t free_lane = layout_free_bits(a->block, DIM_LANE), free_warp = layout_free_bits(a->block, DIM_WARP);
    for (int w = 0; w < t->warps; w++) {
        uint32_t offset[256];
        bool active[256];
        for (int i = 0; i < t->lanes; i++) {
            active[i] = !writes || !((uint32_t)i & free_lane || (uint32_t)w & free_warp);
            offset[i] = thread_offset(a, i, w) ^ at;
            for (uint32_t e = 0; active[i] && e < 1u << a->vector_log2; e++) {
                uint32_t r = shared_vector_reg(a, (uint32_t)head, e);
                if (writes) memory[offset[i] + e] = regs_at(t, w, i)[r];
                else regs_at(t, w, i)[r] = memory[offset[i] + e];
            }
        }
        check_banks(a, elem_bytes, offset, active, t->lanes);
    }
}

/* The same of matrices: lane l gives the address of a row, row l % 8 of matrix l / 8. */
static void run_rows(const SharedAccess *a, int elem_bytes, bool writes, const Threads *t, uint32_t *memory, int head, uint32_t at)
{
    const int unit = elem_bytes == 1 ? 2 : elem_bytes == 2 ? 1 : 0, matrices = 1 << (a->vector_log2 - unit);
    const bool all[8] = {true, true, true, true, true, true, true, true};
    by_rows[a->kind]++;
    written_by_rows += writes;
    for (int w = 0; w < t->warps; w++) {
        uint32_t row[32], address[8];
        if (writes && (uint32_t)w & layout_free_bits(a->block, DIM_WARP)) continue;
        for (int i = 0; i < 32; i++) row[i] = thread_offset(a, i, w) ^ at;
        for (int m = 0; m < matrices; m++) {
            for (int i = 0; i < 8; i++) address[i] = row[8 * m + i] * (uint32_t)elem_bytes;
            EXPECT_INT(bank_cycles(address, all, 0, 8, 16), 1);
            for (int i = 0; i < 32; i++) {
                for (int e = 0; e < 1 << unit; e++) {
                    EXPECT(row[8 * m + i / 4] * (uint32_t)elem_bytes % 16 == 0);
                    const uint32_t from = a->kind == SHARED_ROWS ? row[8 * m + i / 4] + (uint32_t)((i % 4 << unit) + e)
                                                                 : row[8 * m + i % 4 * 2 + e] + (uint32_t)(i / 4);
                    uint32_t *reg = &regs_at(t, w, i)[shared_vector_reg(a, (uint32_t)head, (uint32_t)(m << unit | e))];
                    if (writes) memory[from] = *reg;
                    else *reg = memory[from];
                }
            }
        }
    }
}

static void run_piece(const Layout *block, const Layout *buffer, int elem_bytes, bool writes, const Threads *t, uint32_t *memory,
                      uint32_t piece)
{
    SharedAccess a;
    const bool can = !writes || !layout_free_bits(block, DIM_LANE);
    EXPECT((can ? shared_warp_access : shared_access)(&a, block, buffer, elem_bytes));
    for (int r = 0; r < t->regs; r++) {
        int64_t at = shared_head(&a, (uint32_t)r, piece);
        if (at >= 0 && a.kind != SHARED_VECTORS) run_rows(&a, elem_bytes, writes, t, memory, r, (uint32_t)at);
        else if (at >= 0) run_access(&a, elem_bytes, writes, t, memory, r, (uint32_t)at);
    }
}

static void run_shared(const ConvertPlan *p, const Threads *from, const Threads *to)
{
    const Layout *buffer = shared_layout(table, &p->shared, p->to);
    const uint32_t size = 1u << buffer->nbits[DIM_OFFSET];
    uint32_t *memory = malloc(sizeof *memory * size);
    EXPECT(shared_is_sound(buffer));
    for (uint32_t i = 0; i < 1u << p->shared.pieces_log2; i++) {
        const uint32_t piece = shared_piece(&p->shared, i);
        for (uint32_t k = 0; k < size; k++) memory[k] = GARBAGE;
        run_piece(p->from, buffer, p->elem_bytes, true, from, memory, piece);
        run_piece(p->to, buffer, p->elem_bytes, false, to, memory, piece);
    }
    for (int r = 0; r < to->regs; r++) { /* duplicates were not read */
        int holder = layout_find_register(p->to, layout_apply(p->to, (uint32_t)r, 0, 0));
        for (int i = 0; i < to->warps * to->lanes; i++) to->value[i * to->regs + r] = to->value[i * to->regs + holder];
    }
    free(memory);
}

static void try_pair(const Layout *a, const Layout *b, int elem_bytes, unsigned flags)
{
    ConvertPlan p;
    convert_plan(&p, a, b, elem_bytes, flags);
    kinds[p.kind]++;
    Threads from = filled(a, flags), to = threads_of(b);
    if (p.kind == CONVERT_SHARED) run_shared(&p, &from, &to);
    else run_rounds(&p, &from, &to);
    int wrong = 0;
    for (int w = 0; w < to.warps; w++) {
        for (int i = 0; i < to.lanes; i++) {
            for (int r = 0; r < to.regs; r++)
                wrong += regs_at(&to, w, i)[r] != layout_apply(b, (uint32_t)r, (uint32_t)i, (uint32_t)w);
        }
    }
    EXPECT_INT(wrong, 0);
    free(from.value);
    free(to.value);
}

/* ---- the cases ---- */

static void try_all_ways(const Layout *a, const Layout *b)
{
    int bytes = 1 << random_below(4);
    try_pair(a, b, bytes, 0);
    try_pair(a, b, bytes, CONVERT_FORCE_SHARED);
    try_pair(a, b, bytes, CONVERT_CANONICAL);
}

static void random_pairs_arrive(void)
{
    for (int n = 0; n < 600; n++) {
        int total = 1 + (int)random_below(11), warps = (int)random_below(4);
        try_all_ways(random_layout(total, 5, warps, n & 1), random_layout(total, 5, warps, n & 2));
    }
}

static void random_pairs_within_a_warp_arrive(void)
{
    for (int n = 0; n < 600; n++) {
        int total = 1 + (int)random_below(9);
        try_all_ways(random_layout(total, 5, 0, n & 1), random_layout(total, 5, 0, n & 2));
    }
}

static void words_arrive(void)
{
    for (int n = 0; n < 200; n++) {
        int total = 1 + (int)random_below(7);
        try_all_ways(of_four(random_layout(total, 5, 1, n & 1)), of_four(random_layout(total, 5, 1, n & 2)));
    }
    EXPECT(words > 20);
}

static void blocked_pairs_arrive(void)
{
    for (int total = 0; total <= 12; total++) {
        for (int from = 0; from <= 4; from++) {
            for (int to = 0; to <= 4; to++) try_all_ways(blocked(total, from, 5, 2), blocked(total, to, 5, 2));
        }
    }
}

static ConvertKind kind_of(const char *from, const char *to)
{
    ConvertPlan p;
    const char *error;
    const Layout *a = layout_parse(table, &from, &error), *b = layout_parse(table, &to, &error);
    convert_plan(&p, a, b, 4, 0);
    try_pair(a, b, 4, 0);
    return p.kind;
}

static void the_nearest_way_is_taken(void)
{
    EXPECT_INT(kind_of("#l<8; register: (1) (2); lane: (4)>", "#l<8; register: (2) (1); lane: (4)>"), CONVERT_REGISTERS);
    EXPECT_INT(kind_of("#l<16; register: (1) (2); lane: (4); warp: (8)>", "#l<16; register: (1) (4); lane: (2); warp: (8)>"), CONVERT_SHUFFLE);
    /* A warp by itself meets for little. */
    EXPECT_INT(kind_of("#l<8; register: (1) (2); lane: (4)>", "#l<8; register: (1) (4); lane: (2)>"), CONVERT_SHARED);
    EXPECT_INT(kind_of("#l<8; register: (1) (2); warp: (4)>", "#l<8; register: (1) (4); warp: (2)>"), CONVERT_SHARED);
    /* Every lane has everything: a choice among registers, nothing moves. */
    ConvertPlan p;
    const char *from = "#l<16; register: (1) (2) (4); lane: (0) (0) (0); warp: (8)>", *to = "#l<16; lane: (1) (2) (4); warp: (8)>", *error;
    const Layout *a = layout_parse(table, &from, &error), *b = layout_parse(table, &to, &error);
    convert_plan(&p, a, b, 4, 0);
    EXPECT(p.kind == CONVERT_SHUFFLE && !p.moves_lanes && p.send.n == 3);
    /* Rows to columns of a tile that fits a warp, and an atomic's result from its holders to all. */
    EXPECT_INT(kind_of("#l<4x8; lane: (0,1) (0,2) (0,4) (1,0) (2,0)>", "#l<4x8; lane: (1,0) (2,0) (0,1) (0,2) (0,4)>"), CONVERT_SHUFFLE);
    convert_plan(&p, blocked(3, 0, 5, 0), blocked(3, 0, 5, 0), 4, CONVERT_CANONICAL);
    EXPECT_INT(p.kind, CONVERT_SHUFFLE);
    convert_plan(&p, blocked(3, 0, 5, 0), blocked(3, 0, 5, 0), 4, 0);
    EXPECT_INT(p.kind, CONVERT_REGISTERS);
}

static void what_only_registers_hold_takes_turns(void)
{
    ConvertPlan p;
    convert_plan(&p, blocked(14, 1, 5, 2), blocked(14, 3, 5, 2), 4, 0);
    EXPECT_INT(p.kind, CONVERT_SHARED);
    EXPECT_INT(p.shared.pieces_log2, 1);
    EXPECT_INT(4 << p.shared.offset_log2, CONVERT_SCRATCH_MAX);
    try_pair(blocked(14, 1, 5, 2), blocked(14, 3, 5, 2), 4, 0);
}

static void transposes_are_free_of_conflicts(void)
{
    uint8_t dims[] = {6, 7};
    for (int v = 0; v <= 4; v++) {
        const Layout *rows = layout_blocked(table, 2, dims, (int[]){1, 0}, (int[]){0, v}, 5, 2);
        const Layout *cols = layout_blocked(table, 2, dims, (int[]){0, 1}, (int[]){v, 0}, 5, 2);
        for (int bytes = 1; bytes <= 8; bytes *= 2) try_pair(rows, cols, bytes, 0);
    }
}

/* Buffers as they come, most of them with collisions: how often the banks are needed is what the lanes that are served
   together ask for, counted. */
static void waves_are_counted(void)
{
    static const bool all[32] = {[0 ... 31] = true};
    int collisions = 0;
    for (int n = 0; n < 2000; n++) {
        const int total = 5 + (int)random_below(5), bytes = 1 << random_below(4);
        const Layout *l = random_layout(total, 5, (int)random_below(3), random_below(2)), *order = random_layout(total, 0, 0, random_below(2));
        LayoutSpec s = {.rank = 1, .dim_log2 = {(uint8_t)total}};
        s.nbits[DIM_OFFSET] = order->nbits[DIM_REGISTER];
        memcpy(s.basis[DIM_OFFSET], order->basis[DIM_REGISTER], (size_t)total * sizeof(uint32_t));
        SharedAccess a;
        EXPECT(shared_access(&a, l, layout_make(table, &s), bytes));
        const int moved = bytes << a.vector_log2, served = moved >= 16 ? 8 : moved >= 8 ? 16 : 32;
        uint32_t address[32];
        int waves = 0;
        for (int i = 0; i < 32; i++) address[i] = thread_offset(&a, i, 0) * (uint32_t)bytes;
        for (int first = 0; first < 32; first += served) waves += bank_cycles(address, all, first, served, moved);
        EXPECT_INT(shared_waves(&a, bytes), waves);
        collisions += waves > 32 / served;
    }
    EXPECT(collisions > 200 && collisions < 1800);
}

static void plans_end_with_the_call(void)
{
    const atomic_bool cancelled = true;
    Limit limit = limit_start(0, 0, &cancelled);
    const Layout *from = blocked(14, 1, 5, 2), *to = blocked(14, 3, 5, 2);
    ConvertPlan p;
    UnwindFrame frame;
    unwind_push(&frame);
    frame.limit = &limit;
    if (setjmp(frame.env) == 0) {
        convert_plan(&p, from, to, 4, 0);
        EXPECT(false);
    }
    unwind_pop(&frame);
    EXPECT_INT(frame.kind, UNWIND_CANCELLED);
}

/* Blocks as they are loaded, to operands of matrix instructions. */
static void operands_arrive_by_rows(void)
{
    static const struct {
        int bytes;
        MmaShape shape;
    } types[] = {{2, {4, 3, 4, 1}}, {1, {4, 3, 5, 2}}, {4, {4, 3, 3, 0}}, {2, {4, 3, 3, 1}}};
    by_rows[SHARED_ROWS] = by_rows[SHARED_ROWS_TRANSPOSED] = 0;
    for (int n = 0; n < 400; n++) {
        const int type = n % 4, operand = (int)random_below(2), warps = (int)random_below(4);
        uint8_t dims[] = {(uint8_t)(1 + random_below(6)), (uint8_t)(1 + random_below(6))};
        const int k = 1 + (int)random_below(6);
        WarpSplit split = {0, dims[0] > 4 ? dims[0] - 4 : 0, 0, false};
        if (split.m > warps) split.m = warps;
        const Layout *sum = fragment_sum(table, types[type].shape, 2, dims, split, warps);
        const Layout *to = fragment_operand(table, types[type].shape, operand, sum, k, types[type].shape.unit_log2);
        int order[] = {n & 8 ? 0 : 1, n & 8 ? 1 : 0}, thread[2] = {0, 0};
        thread[order[0]] = (int)random_below(4);
        const Layout *from = layout_blocked(table, 2, to->dim_log2, order, thread, 5, warps);
        try_pair(from, to, types[type].bytes, CONVERT_FORCE_SHARED);
    }
    EXPECT(by_rows[SHARED_ROWS] > 100);
    EXPECT(by_rows[SHARED_ROWS_TRANSPOSED] > 20);
}

/* Products' sums, rounded, in swizzled buffers. */
static void sums_are_written_by_rows(void)
{
    static const MmaShape half = {4, 3, 4, 1};
    written_by_rows = 0;
    for (int n = 0; n < 100; n++) {
        const int warps = (int)random_below(4), dim = (int)random_below(2);
        const uint8_t dims[] = {(uint8_t)(4 + random_below(3)), (uint8_t)(3 + random_below(4))};
        const WarpSplit split = {0, dims[0] - 4 < warps ? dims[0] - 4 : warps, 0, false};
        const Layout *sum = fragment_sum(table, half, 2, dims, split, warps), *buffer = swizzle_layout(table, sum, dim, 2);
        uint32_t memory[1 << 12];
        int wrong = 0;
        if (!buffer) continue;
        Threads from = filled(sum, 0);
        for (int i = 0; i < 1 << 12; i++) memory[i] = GARBAGE;
        run_piece(sum, buffer, 2, true, &from, memory, 0);
        for (uint32_t e = 0; e < 1u << sum->total_log2; e++) wrong += memory[shared_offset(buffer, 0, e)] != e;
        EXPECT_INT(wrong, 0);
        free(from.value);
    }
    EXPECT(written_by_rows > 100);
}

/* Rows of 128 bytes one behind the other begin in one bank; swizzled they do not. */
static void rows_are_read_where_they_lie_apart(void)
{
    static const MmaShape tf32 = {4, 3, 3, 0};
    const uint8_t dims[] = {5, 5};
    const Layout *sum = fragment_sum(table, tf32, 2, dims, (WarpSplit){0}, 0), *a = fragment_operand(table, tf32, 0, sum, 5, tf32.unit_log2);
    SharedAccess access;
    EXPECT(shared_warp_access(&access, a, shared_row_major(table, 2, a->dim_log2), 4));
    EXPECT_INT(access.kind, SHARED_VECTORS);
    EXPECT(shared_warp_access(&access, a, swizzle_layout(table, a, 1, 4), 4));
    EXPECT_INT(access.kind, SHARED_ROWS);
}

/* What one copy moves stays side by side, whichever lanes read elements of it. */
static void what_is_copied_at_once_stays_whole(void)
{
    for (int n = 0; n < 2000; n++) {
        const int total = 8 + (int)random_below(7), bytes_log2 = (int)random_below(3), vector_log2 = 4 - bytes_log2, warps = (int)random_below(4);
        const Layout *from = blocked(total, vector_log2, 5, warps), *to = random_layout(total, 5, warps, false);
        const uint32_t vector[] = {1, 2, 4, 8};
        SharedPlan plan;
        SharedAccess access;
        shared_plan_vectors(&plan, from, vector_log2, vector, to, 1 << bytes_log2);
        const Layout *buffer = shared_layout(table, &plan, from);
        EXPECT(shared_is_sound(buffer));
        EXPECT(shared_access(&access, from, buffer, 1 << bytes_log2));
        if (access.vector_log2 < vector_log2) EXPECT_INT(access.vector_log2, vector_log2);
    }
}

int main(void)
{
    arena_init(&arena);
    table = layouts_new(&arena);
    RUN(random_pairs_arrive);
    RUN(random_pairs_within_a_warp_arrive);
    RUN(blocked_pairs_arrive);
    RUN(words_arrive);
    RUN(the_nearest_way_is_taken);
    RUN(what_only_registers_hold_takes_turns);
    RUN(transposes_are_free_of_conflicts);
    RUN(waves_are_counted);
    RUN(plans_end_with_the_call);
    RUN(operands_arrive_by_rows);
    RUN(sums_are_written_by_rows);
    RUN(rows_are_read_where_they_lie_apart);
    RUN(what_is_copied_at_once_stays_whole);
    printf("registers %d, shuffle %d, shared %d\n", kinds[CONVERT_REGISTERS], kinds[CONVERT_SHUFFLE], kinds[CONVERT_SHARED]);
    arena_fini(&arena);
    return expect_done();
}
