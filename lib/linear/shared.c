/* The layout of a buffer that one layout writes and another reads. Elements get offsets by a basis
   [V | word | bank | segment | piece] of the element space (section 5.4 of the paper). V: vectors
   both sides hold in registers, so that an access moves 2^|V| elements; word: what fills 4 bytes
   when an access is narrower. Two lanes of one access collide when their difference has bank part 0
   and segment part not 0; so the segment is chosen to meet neither the span P of the writing lanes
   (with the word) nor the span Q of the reading ones: first what lies outside P + Q, then sums of
   one vector of P and one of Q. There is always room for it. Elements that differ in what only
   registers hold, on both sides, can take turns: these are the pieces, which make the buffer
   smaller.

   How threads get at a buffer follows from its layout and theirs alone, whoever chose them: an
   access is as wide as the lowest offset bits that one thread holds in registers. */
#include "linear/shared_matrix.h"

#include <string.h>

#include "base/power.h"
#include "base/unwind.h"

enum { WORD_BYTES = 4, BANKS = 32, ROWS_WAVES = 4 };

static void count_access(const Layout *block, const F2Space *buffer, int elem_bytes,
                         int *vector_log2, int *waves);
static bool access_at(SharedAccess *out, const Layout *block, const F2Space *buffer, int elem_bytes);

static int add_space(F2Space *s, const F2Space *all)
{
    return f2_space_add_all(s, all->dim, all->vec);
}

/* ---- choosing ---- */

/* Of what both sides hold in registers beside the threads the pieces that a buffer has to be cut
   into, lest it is more than a program can have of shared memory: these make no access wider. */
static int kept_for_pieces(int bytes)
{
    enum { MUCH = 128 << 10, LEFT = 64 << 10 };
    int kept = 0;
    for (int left = bytes; bytes > MUCH && left > LEFT; left /= 2) kept++;
    return kept;
}

/* Vectors that both sides hold in registers and no thread number moves. */
static void choose_vector(F2Space *v, const Layout *from, const Layout *to, int elem_bytes,
                          const F2Space *threads)
{
    F2Space regs_from = {0}, regs_to = {0}, both, taken = *threads;
    layout_add_vectors(&regs_from, from, DIM_REGISTER, LAYOUT_MAX_BITS);
    layout_add_vectors(&regs_to, to, DIM_REGISTER, LAYOUT_MAX_BITS);
    f2_space_intersect(&both, &regs_from, &regs_to);
    F2Space free = *threads;
    const int most = add_space(&free, &both) - kept_for_pieces(elem_bytes << from->total_log2);
    int limit = log2_floor(SHARED_ACCESS_BYTES / elem_bytes);
    if (limit > most) limit = most;
    for (int pass = 0; pass < 2; pass++) {
        const F2Space *some = pass ? &both : &regs_from;
        for (int i = 0; i < some->dim && v->dim < limit; i++) {
            if (f2_space_has(&both, some->vec[i]) && f2_space_add(&taken, some->vec[i]))
                f2_space_add(v, some->vec[i]);
        }
    }
}

/* Lanes whose accesses are served together: a warp moves at most 128 bytes at a time. */
static int phase_lane_bits(int access_bytes)
{
    return access_bytes >= 16 ? 3 : access_bytes >= 8 ? 4 : 5;
}

/* The members of `all` outside `of`, as vectors that extend it. */
static int extend(uint32_t *out, const F2Space *of, const F2Space *all)
{
    F2Space s = *of;
    int n = 0;
    for (int i = 0; i < all->dim; i++) {
        if (f2_space_add(&s, all->vec[i])) out[n++] = all->vec[i];
    }
    return n;
}

/* Elements narrower than a bank's word: the vectors that make up the rest of one, those all
   threads move in if possible. */
static void choose_word(F2Space *word, const F2Space *space, const F2Space *p, const F2Space *q,
                        int want)
{
    F2Space meet;
    f2_space_intersect(&meet, p, q);
    for (int i = 0; i < meet.dim && want > 0; i++) want -= f2_space_add(word, meet.vec[i]);
    for (int i = 0; i < space->dim && want > 0; i++) want -= f2_space_add(word, space->vec[i]);
}

/* Puts `want` vectors into `basis` that meet neither p nor q as long as there are any. `space`
   is all there is. Lanes that differ by what is in the basis already, in the vector, meet in one word;
   a sum with that would put the others' vectors apart. */
static void choose_segment(F2Space *basis, const F2Space *space, const F2Space *p, const F2Space *q,
                           int want)
{
    F2Space meet, sum = *p;
    uint32_t outside[32], only_p[32], only_q[32];
    f2_space_intersect(&meet, p, q);
    add_space(&sum, q);
    int noutside = extend(outside, &sum, space);
    add_space(&meet, basis);
    int np = extend(only_p, &meet, p), nq = extend(only_q, &meet, q);
    for (int i = 0; i < noutside && want > 0; i++) want -= f2_space_add(basis, outside[i]);
    for (int i = 0; i < np && i < nq && want > 0; i++)
        want -= f2_space_add(basis, only_p[i] ^ only_q[i]);
    for (int i = 0; i < space->dim && want > 0; i++) want -= f2_space_add(basis, space->vec[i]);
}

/* Splits the space outside the vector into what stays (threads and some more) and the pieces. */
static void choose_pieces(SharedPlan *p, F2Space *stays, const F2Space *vector, int total,
                          int elem_bytes, int most)
{
    F2Space all = *vector;
    add_space(&all, stays);
    for (int bit = total - 1; bit >= 0; bit--) {
        uint32_t v = UINT32_C(1) << bit;
        if (!f2_space_add(&all, v)) continue;
        if (elem_bytes << (total - p->pieces_log2) > most) p->piece[p->pieces_log2++] = v;
        else f2_space_add(stays, v);
    }
}

/* Word, bank and segment: all of `stays`, in the order in which no two of the threads that are
   served together collide. `basis` has what one access moves. */
static void choose_order(F2Space *basis, const F2Space *stays, F2Space writers, F2Space readers,
                         int access_bytes)
{
    F2Space word = {0}, segment, rest;
    const int nbank = log2_floor(128 / access_bytes);
    choose_word(&word, stays, &writers, &readers,
                access_bytes < 4 ? 2 - log2_floor(access_bytes) : 0);
    add_space(&writers, &word);
    add_space(&readers, &word);
    add_space(basis, &word);
    rest = *basis;
    const int nstays = add_space(&rest, stays);
    segment = *basis;
    choose_segment(&segment, stays, &writers, &readers, nstays + word.dim - nbank);
    rest = segment;
    for (int i = 0; i < stays->dim; i++) {
        if (f2_space_add(&rest, stays->vec[i])) f2_space_add(basis, stays->vec[i]);
    }
    add_space(basis, &segment);
}

/* Lanes that are served together, and what their accesses span. */
static F2Space phase_of(const Layout *l, int access_bytes, const F2Space *access)
{
    F2Space s = {0};
    layout_add_vectors(&s, l, DIM_LANE, phase_lane_bits(access_bytes));
    add_space(&s, access);
    return s;
}

/* How many elements of a row the writers have in registers, log2. */
static int row_run(const MatrixRows *m, const Layout *from)
{
    F2Space held = {0};
    int n = 0;
    layout_add_vectors(&held, from, DIM_REGISTER, LAYOUT_MAX_BITS);
    while (n < m->element_bits && f2_space_has(&held, m->element[n])) n++;
    return n;
}

/* What the writers write together fills 128 bytes, in rows of 16. */
static bool fits_banks(const MatrixRows *m, const Layout *from, int access_bytes)
{
    enum { ROWS_OF_BANKS_LOG2 = 3 };
    F2Space s = {0};
    f2_space_add_all(&s, m->element_bits, m->element);
    layout_add_vectors(&s, from, DIM_LANE, phase_lane_bits(access_bytes));
    return s.dim - m->element_bits <= ROWS_OF_BANKS_LOG2;
}

/* Registers that follow each other, in order: nothing is put together for one access. */
static bool follow_each_other(const Layout *l, const F2Space *vector)
{
    return vector->dim <= l->nbits[DIM_REGISTER] &&
           !memcmp(vector->vec, l->basis[DIM_REGISTER], (size_t)vector->dim * sizeof *vector->vec);
}

/* The rows by which `to` is read where that lets the writers move more at once than the vector does,
   or as much where either side would put words together for that, if it is no line, of which a writer
   has single elements; transposed, as much will always do. */
static bool choose_rows(MatrixRows *m, const Layout *from, const Layout *to, int elem_bytes,
                        const F2Space *vector)
{
    const bool follow = elem_bytes << vector->dim >= WORD_BYTES && follow_each_other(from, vector) &&
                        follow_each_other(to, vector);
    int most = -1;
    for (int transposed = 0; transposed < 2; transposed++) {
        MatrixRows rows;
        if (!matrix_rows(&rows, to, elem_bytes, transposed)) continue;
        const int run = row_run(&rows, from),
                  least = vector->dim + (!transposed && (follow || from->rank == 1));
        if (run < least || run <= most || !fits_banks(&rows, from, elem_bytes << run)) continue;
        most = run;
        *m = rows;
    }
    return most >= 0;
}

/* What threads hold, in whichever of the layouts. */
static F2Space all_threads(const Layout *from, const Layout *to)
{
    F2Space s = {0};
    layout_add_vectors(&s, from, DIM_LANE, LAYOUT_MAX_BITS);
    layout_add_vectors(&s, from, DIM_WARP, LAYOUT_MAX_BITS);
    layout_add_vectors(&s, to, DIM_LANE, LAYOUT_MAX_BITS);
    layout_add_vectors(&s, to, DIM_WARP, LAYOUT_MAX_BITS);
    return s;
}

/* Log2 of what of the vector one access of these threads moves: its first elements. */
static int reader_log2(const Layout *to, const F2Space *vector)
{
    F2Space held = {0};
    int n = 0;
    layout_add_vectors(&held, to, DIM_REGISTER, LAYOUT_MAX_BITS);
    while (n < vector->dim && f2_space_has(&held, vector->vec[n])) n++;
    return n;
}

/* The order of what `stays`, behind the vector. rows: by which `to` is read; NULL: by none. */
static void plan_order(SharedPlan *out, const Layout *from, const Layout *to, int elem_bytes,
                       const F2Space *vector, const F2Space *stays, const MatrixRows *rows)
{
    F2Space basis = *vector, none = {0};
    F2Space writers = phase_of(from, elem_bytes << out->write_log2, rows ? vector : &none);
    F2Space readers = rows ? *vector : phase_of(to, elem_bytes << reader_log2(to, vector), &none);
    if (rows) f2_space_add_all(&readers, 3, rows->row);
    choose_order(&basis, stays, writers, readers, elem_bytes << vector->dim);
    out->offset_log2 = basis.dim;
    check(basis.dim + out->pieces_log2 == from->total_log2, "a buffer's layout is not complete");
    memcpy(out->offset, basis.vec, (size_t)basis.dim * sizeof *out->offset);
    count_access(from, &basis, elem_bytes, &out->write_log2, &out->write_waves);
    if (rows) out->read_waves = ROWS_WAVES;
    else count_access(to, &basis, elem_bytes, &out->read_log2, &out->read_waves);
}

/* rows: by which `to` is read; NULL: by vectors. */
static void plan_access(SharedPlan *out, const Layout *from, const Layout *to, int elem_bytes, int most,
                        const F2Space *vector, const MatrixRows *rows)
{
    F2Space stays = all_threads(from, to), first = *vector;
    *out = (SharedPlan){.write_log2 = first.dim};
    if (rows) {
        first = (F2Space){0};
        f2_space_add_all(&first, rows->element_bits, rows->element);
        f2_space_add_all(&stays, 3, rows->row);
        out->write_log2 = row_run(rows, from);
    }
    out->read_log2 = first.dim;
    choose_pieces(out, &stays, &first, from->total_log2, elem_bytes, most);
    plan_order(out, from, to, elem_bytes, &first, &stays, rows);
}

/* Whether a warp can: the rows are in different banks. */
static bool reads_rows(const SharedPlan *p, const Layout *to, int elem_bytes)
{
    F2Space buffer = {0};
    SharedAccess a;
    f2_space_add_all(&buffer, p->offset_log2, p->offset);
    return access_at(&a, to, &buffer, elem_bytes) && shared_by_rows(&a, elem_bytes);
}

void shared_plan(SharedPlan *out, const Layout *from, const Layout *to, int elem_bytes, int most)
{
    const F2Space threads = all_threads(from, to);
    F2Space vector = {0};
    MatrixRows rows;
    choose_vector(&vector, from, to, elem_bytes, &threads);
    const bool by_rows = choose_rows(&rows, from, to, elem_bytes, &vector),
               is_wider = by_rows && row_run(&rows, from) > vector.dim;
    plan_access(out, from, to, elem_bytes, most, &vector, by_rows ? &rows : NULL);
    if (by_rows && !is_wider && !reads_rows(out, to, elem_bytes))
        plan_access(out, from, to, elem_bytes, most, &vector, NULL);
}

/* The rows of a matrix begin with the vector, and writers fit their banks. */
static bool find_rows(MatrixRows *rows, const Layout *from, const Layout *to, int elem_bytes, int n,
                      const uint32_t *vector)
{
    for (int transposed = 0; transposed < 2; transposed++) {
        if (matrix_rows(rows, to, elem_bytes, transposed) && n <= rows->element_bits &&
            !memcmp(vector, rows->element, (size_t)n * sizeof *vector) &&
            fits_banks(rows, from, elem_bytes << n))
            return true;
    }
    return false;
}

void shared_plan_vectors(SharedPlan *out, const Layout *from, int n, const uint32_t *vector,
                         const Layout *to, int elem_bytes)
{
    F2Space stays = all_threads(from, to), first = {0};
    MatrixRows rows;
    *out = (SharedPlan){.write_log2 = n, .read_log2 = n};
    const bool by_rows = find_rows(&rows, from, to, elem_bytes, n, vector);
    if (by_rows) out->read_log2 = rows.element_bits;
    f2_space_add_all(&first, out->read_log2, by_rows ? rows.element : vector);
    choose_pieces(out, &stays, &first, from->total_log2, elem_bytes, INT32_MAX);
    plan_order(out, from, to, elem_bytes, &first, &stays, by_rows ? &rows : NULL);
}

uint32_t shared_piece(const SharedPlan *p, uint32_t i)
{
    return f2_sum(p->piece, i);
}

const Layout *shared_layout(LayoutTable *t, const SharedPlan *p, const Layout *like)
{
    LayoutSpec s = {.rank = like->rank};
    memcpy(s.dim_log2, like->dim_log2, sizeof s.dim_log2);
    s.nbits[DIM_OFFSET] = (uint8_t)p->offset_log2;
    memcpy(s.basis[DIM_OFFSET], p->offset, (size_t)p->offset_log2 * sizeof *p->offset);
    return layout_make(t, &s);
}

const Layout *shared_row_major(LayoutTable *t, int rank, const uint8_t *dim_log2)
{
    LayoutSpec s = {.rank = rank};
    memcpy(s.dim_log2, dim_log2, (size_t)rank);
    for (int i = 0; i < rank; i++) s.nbits[DIM_OFFSET] += dim_log2[i];
    for (int i = 0; i < s.nbits[DIM_OFFSET]; i++) s.basis[DIM_OFFSET][i] = UINT32_C(1) << i;
    return layout_make(t, &s);
}

/* ---- questions ---- */

static F2Space buffer_space(const Layout *buffer)
{
    F2Space s = {0};
    layout_add_vectors(&s, buffer, DIM_OFFSET, LAYOUT_MAX_BITS);
    return s;
}

bool shared_is_sound(const Layout *buffer)
{
    for (int d = 0; d < DIM_COUNT; d++) {
        if (d != DIM_OFFSET && buffer->nbits[d]) return false;
    }
    return buffer_space(buffer).dim == buffer->nbits[DIM_OFFSET];
}

int64_t shared_offset(const Layout *buffer, uint32_t piece, uint32_t index)
{
    const F2Space s = buffer_space(buffer);
    uint32_t offset;
    return f2_space_solve(&s, index ^ piece, &offset) ? (int64_t)offset : -1;
}

/* ---- threads at a buffer ---- */

static bool thread_offsets(const SharedAccess *a, LayoutDim dim, uint32_t *offset, uint32_t *seen)
{
    const Layout *l = a->block;
    for (int i = 0; i < l->nbits[dim]; i++) {
        if (!f2_space_solve(&a->buffer, l->basis[dim][i], &offset[i])) return false;
        *seen |= offset[i];
    }
    return true;
}

static bool access_at(SharedAccess *out, const Layout *block, const F2Space *buffer, int elem_bytes)
{
    *out = (SharedAccess){
        .block = block, .buffer = *buffer, .free_registers = layout_free_bits(block, DIM_REGISTER)};
    uint32_t threads = 0;
    if (!thread_offsets(out, DIM_LANE, out->lane, &threads) ||
        !thread_offsets(out, DIM_WARP, out->warp, &threads))
        return false;
    const int limit = log2_floor(SHARED_ACCESS_BYTES / elem_bytes);
    while (out->vector_log2 < limit && out->vector_log2 < out->buffer.dim &&
           !(threads >> out->vector_log2 & 1)) {
        int reg = layout_find_register(block, out->buffer.vec[out->vector_log2]);
        if (reg < 0) break;
        out->vector_reg[out->vector_log2++] = (uint32_t)reg;
    }
    return true;
}

bool shared_access(SharedAccess *out, const Layout *block, const Layout *buffer, int elem_bytes)
{
    const F2Space space = buffer_space(buffer);
    return access_at(out, block, &space, elem_bytes);
}

/* Lanes that are served together collide where they differ in the word but not in the bank. */
int shared_waves(const SharedAccess *a, int elem_bytes)
{
    const int access_bytes = elem_bytes << a->vector_log2, lanes = a->block->nbits[DIM_LANE],
              most = phase_lane_bits(access_bytes), served = most < lanes ? most : lanes;
    if (a->kind != SHARED_VECTORS) return access_bytes / WORD_BYTES;
    F2Space words = {0}, banks = {0};
    for (int i = 0; i < a->vector_log2 + served; i++) {
        const uint32_t offset = i < a->vector_log2 ? 1u << i : a->lane[i - a->vector_log2],
                       word = offset * (uint32_t)elem_bytes / WORD_BYTES;
        f2_space_add(&words, word);
        f2_space_add(&banks, word % BANKS);
    }
    return 1 << (lanes - served + words.dim - banks.dim);
}

static void count_access(const Layout *block, const F2Space *buffer, int elem_bytes,
                         int *vector_log2, int *waves)
{
    SharedAccess a;
    check(access_at(&a, block, buffer, elem_bytes), "a block that does not fit its own buffer");
    *vector_log2 = a.vector_log2;
    *waves = shared_waves(&a, elem_bytes);
}

int64_t shared_head(const SharedAccess *a, uint32_t reg, uint32_t piece)
{
    uint32_t offset;
    const uint32_t inside = (UINT32_C(1) << a->vector_log2) - 1;
    if (reg & a->free_registers) return -1;
    if (!f2_space_solve(&a->buffer, layout_apply(a->block, reg, 0, 0) ^ piece, &offset)) return -1;
    return (a->kind == SHARED_VECTORS ? offset : reg) & inside ? -1 : (int64_t)offset;
}

uint32_t shared_vector_reg(const SharedAccess *a, uint32_t head, uint32_t e)
{
    check(e >> a->vector_log2 == 0, "no element %u in a vector", (unsigned)e);
    return head ^ f2_sum(a->vector_reg, e);
}
