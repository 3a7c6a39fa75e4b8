/* In: a function as it is lowered. Out: a table, a row a line of the source and one more for each
   further access of a line.

   A line has what was made for it, in helpers that it calls, too. What an op costs says cost.c. Of
   a line that accesses nothing the table has the layout of its largest block. */
#include <string.h>

#include "cost.h"
#include "ir/machine.h"
#include "lower/estimate.h"
#include "memory/flow.h"

typedef enum Column { COL_ACCESS, COL_USED, COL_LAYOUT, COL_SHARED, COL_REGISTERS, COLUMNS } Column;

static const char *const titles[COLUMNS] = {"access", "used", "layout", "shared memory",
                                            "registers"};

typedef struct Row {
    const char *cell[COLUMNS];
} Row;

/* Of one line. */
typedef struct Line {
    VEC(Row) rows;
    int registers; /* of its largest block */
    const Layout *layout;
} Line;

typedef struct Explain {
    Arena *a;
    const AxisFacts *facts;
    const Source *source;
    int first, last; /* lines of the source that are shown */
    Line *lines;     /* of the whole source, from 1 on */
    VEC(const Layout *) layouts;
    int shared_bytes;
    bool is_narrow; /* some access is marked */
} Explain;

/* Where the kernel itself has what led to the op. */
static const Loc *place_in_kernel(const Op *op)
{
    const Loc *loc = op->loc;
    while (loc && loc->caller) loc = loc->caller;
    return loc;
}

static const char *layout_name(Explain *x, const Layout *l)
{
    int i = 0;
    while (i < x->layouts.len && x->layouts.data[i] != l) i++;
    if (i == x->layouts.len) vec_push(x->a, &x->layouts, l);
    return arena_printf(x->a, "#%d", i);
}

/* ---- what a line costs ---- */

static const char *name_of(const Op *op)
{
    return op->kind == OP_LOAD         ? "load"
           : op->kind == OP_COPY_ASYNC ? "copy"
           : op->kind == OP_STORE      ? "store"
                                       : "atomic";
}

static Row access_row(Explain *x, const Op *op)
{
    const AccessCost c = cost_access(x->facts, op);
    const bool is_narrow = c.vec.log2 < c.most_log2 || c.vec.run < 1 << c.vec.log2;
    x->is_narrow |= is_narrow;
    return (Row){{
        [COL_ACCESS] = arena_printf(x->a, "%s %d x %d B%s", name_of(op), c.count, c.bytes,
                                    is_narrow ? " !" : ""),
        [COL_USED] = arena_printf(x->a, "%s%d%%", c.at_least ? ">=" : "", c.used),
        [COL_LAYOUT] = layout_name(x, op_arg(op, 0)->type->layout),
    }};
}

static Row buffer_row(Explain *x, const Op *alloc)
{
    const BufferCost c = cost_buffer(alloc);
    const int turns = c.write_turns > c.read_turns ? c.write_turns : c.read_turns;
    const bool moves = c.from && c.to && type_is_block(c.from) && type_is_block(c.to);
    return (Row){{
        [COL_LAYOUT] = moves ? arena_printf(x->a, "%s > %s", layout_name(x, c.from->layout),
                                            layout_name(x, c.to->layout))
                             : NULL,
        [COL_SHARED] = arena_printf(x->a, "%d B, %d barrier%s%s", c.bytes, c.barriers,
                                    c.barriers == 1 ? "" : "s",
                                    turns > 1 ? arena_printf(x->a, ", %d turns", turns) : ""),
    }};
}

static void note_buffer(Explain *x, const Op *alloc)
{
    const int end = (int)tkc_op_int(alloc, ATTR_OFFSET, 0) + (int)memory_bytes(alloc);
    x->shared_bytes = end > x->shared_bytes ? end : x->shared_bytes;
}

static void note_block(Line *line, const Op *op)
{
    const int registers = estimate_registers(op);
    if (registers <= line->registers) return;
    line->registers = registers;
    line->layout = op_result(op, 0)->type->layout;
}

static void explain_op(Op *op, void *user)
{
    Explain *x = user;
    const Loc *loc = place_in_kernel(op);
    if (op->kind == OP_ALLOC) note_buffer(x, op);
    if (!loc || loc->source != x->source) return;
    Line *line = &x->lines[loc->line];
    int last, col;
    source_position(x->source, loc->end, &last, &col);
    x->first = loc->line < x->first ? loc->line : x->first;
    x->last = last > x->last ? last : x->last;
    if (cost_is_access(op) || op->kind == OP_ALLOC) {
        const Row row = op->kind == OP_ALLOC ? buffer_row(x, op) : access_row(x, op);
        vec_push(x->a, &line->rows, row);
    }
    note_block(line, op);
}

/* ---- the table ---- */

/* A line that only computes gets a row, too. */
static void complete_line(Explain *x, Line *line)
{
    if (!line->registers) return;
    if (!line->rows.len)
        vec_push(x->a, &line->rows, ((Row){{[COL_LAYOUT] = layout_name(x, line->layout)}}));
    line->rows.data[0].cell[COL_REGISTERS] = arena_printf(x->a, "%d", line->registers);
}

static void print_row(Buf *out, const Row *row, const int *width)
{
    for (int c = 0; c < COLUMNS; c++) {
        const char *text = row && row->cell[c] ? row->cell[c] : "";
        const bool is_number = c == COL_USED || c == COL_REGISTERS;
        buf_printf(out, "%*s  ", is_number ? width[c] : -width[c], text);
    }
}

static void print_line(Buf *out, const Explain *x, int number, const int *width)
{
    const Line *line = &x->lines[number];
    size_t n;
    const char *text = source_line(x->source, number, &n);
    print_row(out, line->rows.len ? &line->rows.data[0] : NULL, width);
    buf_printf(out, "%5d | %.*s\n", number, (int)n, text);
    for (int i = 1; i < line->rows.len; i++) {
        print_row(out, &line->rows.data[i], width);
        buf_puts(out, "      |\n");
    }
}

static void print_lines(Buf *out, Explain *x)
{
    int width[COLUMNS];
    Row head;
    memcpy(head.cell, titles, sizeof titles);
    for (int c = 0; c < COLUMNS; c++) width[c] = (int)strlen(titles[c]);
    for (int l = x->first; l <= x->last; l++) {
        complete_line(x, &x->lines[l]);
        for (int i = 0; i < x->lines[l].rows.len; i++)
            for (int c = 0; c < COLUMNS; c++) {
                const char *text = x->lines[l].rows.data[i].cell[c];
                const int n = text ? (int)strlen(text) : 0;
                width[c] = n > width[c] ? n : width[c];
            }
    }
    print_row(out, &head, width);
    buf_puts(out, " line |\n");
    for (int l = x->first; l <= x->last; l++) print_line(out, x, l, width);
}

/* ---- layouts ---- */

/* "lanes 4x8"; false: some vector goes along several dims. */
static bool print_part(Buf *out, const Layout *l, LayoutDim part, const char *name, int *copies)
{
    int extent[LAYOUT_MAX_RANK];
    for (int d = 0; d < l->rank; d++) extent[d] = 1;
    for (int i = 0; i < l->nbits[part]; i++) {
        const uint32_t v = l->basis[part][i];
        int dims = 0;
        for (int d = 0; d < l->rank; d++)
            if (v & layout_dim_mask(l, d)) extent[d] *= 2, dims++;
        if (dims > 1) return false;
        *copies *= dims ? 1 : 2;
    }
    buf_puts(out, name);
    for (int d = 0; d < l->rank; d++) buf_printf(out, "%s%d", d ? "x" : " ", extent[d]);
    return true;
}

/* "32x64 = thread 1x8, lanes 4x8, warps 8x1": the extents multiply. Where they do not, as it is in
 * the IR. */
static void print_layout(Buf *out, const Layout *l)
{
    const size_t begin = out->len;
    int copies = 1;
    for (int d = 0; d < l->rank; d++) buf_printf(out, "%s%d", d ? "x" : "", 1 << l->dim_log2[d]);
    buf_puts(out, " = ");
    if (!print_part(out, l, DIM_REGISTER, "thread", &copies) ||
        !print_part(out, l, DIM_LANE, ", lanes", &copies) ||
        !print_part(out, l, DIM_WARP, ", warps", &copies)) {
        out->data[out->len = begin] = 0;
        layout_print(out, l);
    } else if (copies > 1) {
        buf_printf(out, ", %d copies", copies);
    }
    buf_putc(out, '\n');
}

/* ---- the whole ---- */

void explain_print(Buf *out, Arena *scratch, const Func *fn)
{
    Explain x = {.a = scratch,
                 .facts = axis_analyze(scratch, fn, AXIS_OF_ACCESSES, NULL),
                 .source = fn->loc ? fn->loc->source : NULL};
    buf_printf(out, "%s for %s: %d warps", fn->name, fn->machine->name, fn->num_warps);
    if (!x.source) return;
    x.first = x.last = fn->loc->line;
    x.lines = arena_array(scratch, Line, x.source->nlines + 2);
    ir_walk(fn->body, explain_op, &x);
    buf_printf(out, ", %d bytes of shared memory\n\n", x.shared_bytes);
    print_lines(out, &x);
    buf_putc(out, '\n');
    for (int i = 0; i < x.layouts.len; i++) {
        buf_printf(out, "#%-3d ", i);
        print_layout(out, x.layouts.data[i]);
    }
    if (x.is_narrow) buf_puts(out, "!    could be wider; -Rvec says how\n");
}
