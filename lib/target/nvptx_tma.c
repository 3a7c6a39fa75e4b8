/* The tensor memory accelerator: one thread asks for a box of a matrix, whose tensor map is a
   parameter of the kernel behind all others (ir/tensor_map.h); an mbarrier counts the bytes that
   have come. Which lane of the first warp asks, the chip elects: of any other predicate ptxas makes a
   branch for each instruction. `acts` is of a shuffle, so ptxas sees that lanes agree, and keeps what
   a loop counts in registers that they share. */
#include "lower/lower.h"
#include "target/nvptx.h"

/* Operands of a box's text: its indices, and behind those the barrier. */
enum { ACTS, MAP, AT, COLUMN };

/* p is true in the thread that acts. */
static Buf elect(Lower *L, const BoxCopy *c)
{
    enum { TMA_PTX = 80 };
    Buf text = buf_make(L->arena);
    lower_need_ptx(L, TMA_PTX);
    buf_puts(&text, "{\n\t.reg .b32 c;\n\t.reg .pred p;");
    if (c->pass_by) buf_puts(&text, "\n\t@!$0 bra.uni over;");
    buf_puts(&text, "\n\telect.sync _|p, -1;");
    if (!c->pass_by) buf_puts(&text, "\n\tand.pred p, p, $0;");
    return text;
}

/* c is the first column of the i-th of the boxes side by side. */
static void next_column(Buf *text, const BoxCopy *c, int i)
{
    buf_printf(text, "\n\tadd.s32 c, $%d, %d;", COLUMN, i * c->columns);
}

static int barrier_of(const BoxCopy *c)
{
    return COLUMN + c->rank;
}

/* [map, {c, row, …}] */
static const char *place(Lower *L, const BoxCopy *c)
{
    Buf text = buf_make(L->arena);
    buf_printf(&text, "[$%d, {c", MAP);
    for (int d = 1; d < c->rank; d++) buf_printf(&text, ", $%d", COLUMN + d);
    buf_puts(&text, "}]");
    return buf_text(&text);
}

/* Without a barrier nobody is told. */
static void box_effect(Lower *L, Buf *text, const BoxCopy *c)
{
    LLVMValueRef args[COLUMN + TKC_DESCRIPTOR_RANK + 1] = {
        [ACTS] = c->acts,
        [MAP] = LLVMGetParam(L->kernel, (unsigned)(L->fn->nparams + c->map)),
        [AT] = target_shared(L, c->at)};
    Buf constraints = buf_make(L->arena);
    int n = COLUMN;
    for (int d = 0; d < c->rank; d++) args[n++] = c->index[d];
    if (c->barrier) args[n++] = target_shared(L, c->barrier);
    buf_puts(&constraints, "b,l");
    for (int i = AT; i < n; i++) buf_puts(&constraints, ",r");
    buf_puts(text, "\nover:\n\t}");
    nvptx_effect(L, buf_text(text), buf_text(&constraints), n, args);
}

void target_copy_box(Lower *L, const BoxCopy *c)
{
    Buf text = elect(L, c);
    buf_printf(&text, "\n\t@p mbarrier.arrive.expect_tx.shared::cta.b64 _, [$%d], %d;",
               barrier_of(c), c->boxes * c->bytes);
    for (int i = 0; i < c->boxes; i++) {
        next_column(&text, c, i);
        buf_printf(&text,
                   "\n\t@p cp.async.bulk.tensor.%dd.shared::cluster.global.tile."
                   "mbarrier::complete_tx::bytes [$%d + %d], %s, [$%d];",
                   c->rank, AT, i * c->bytes, place(L, c), barrier_of(c));
    }
    box_effect(L, &text, c);
}

void target_store_box(Lower *L, const BoxCopy *c)
{
    Buf text = elect(L, c);
    for (int i = 0; i < c->boxes; i++) {
        next_column(&text, c, i);
        buf_printf(&text,
                   "\n\t@p cp.async.bulk.tensor.%dd.global.shared::cta.tile.bulk_group %s, "
                   "[$%d + %d];",
                   c->rank, place(L, c), AT, i * c->bytes);
    }
    box_effect(L, &text, c);
}
