/* A dot without a matrix instruction needs whole rows of a and columns of b in each thread
   (ir/dot_unit.h). Where these are too many registers, they are read from shared memory as products
   ask for them, k by k (lower/dot.c): from the ring to which a loop has loaded them ahead, or from a
   buffer that they go to as they are loaded, transposed there or not. What a loop around does not
   change is stored before it.

   Where that would be too much code, both operands go to buffers, and a loop over k brings as much
   of the rows and columns at a time as registers have room for:

     for at in range(0, K, step): sum = dot(a[:, at : at + step], b[at : at + step, :], sum)

   In such a buffer the elements of one k are neighbours, rows of a (columns of b) side by side:
   threads that read the same k of different rows meet in no bank. Where step does not divide K, what
   lies beyond is read as 0. */
#include "ir/dot_unit.h"
#include "ir/machine.h"
#include "linear/shared.h"
#include "memory/expand.h"
#include "memory/late.h"
#include "memory/room.h"
#include "memory/tile.h"

typedef struct Product {
    Func *fn;
    Op *op;
    const Layout *sum;
    int k, step_log2;
} Product;

static TypeTable *types_of(const Product *p)
{
    return ir_of(p->fn)->types;
}

static LayoutTable *layouts_of(const Product *p)
{
    return ir_of(p->fn)->layouts;
}

/* An operand's dims. */
static int k_dim(const Type *ty, int operand)
{
    return operand == 0 ? ty->rank - 1 : ty->rank - 2;
}

static int own_dim(const Type *ty, int operand)
{
    return operand == 0 ? ty->rank - 2 : ty->rank - 1;
}

/* ---- whether, and in which steps ---- */

static int registers_of_step(const Product *p, int operand, int step_log2)
{
    const int words = type_bits(op_result(p->op, 0)->type) > 32 ? 2 : 1;
    return layout_registers(fragment_rows(layouts_of(p), operand, p->sum, step_log2)) * words;
}

/* log2 of K, padded. */
static int k_log2(const Product *p)
{
    const Layout *a = op_arg(p->op, 0)->type->layout;
    return a->dim_log2[a->rank - 1];
}

static int choose_step(const Product *p)
{
    int step = k_log2(p);
    while (step > 0 &&
           registers_of_step(p, 0, step) + registers_of_step(p, 1, step) > DOT_MOST_ROWS)
        step--;
    return step;
}

/* Other buffers of the function need room, too. */
static bool fits(const Product *p)
{
    const int64_t bytes = room_of_op(p->op);
    return p->fn->machine && bytes <= p->fn->machine->max_smem / 2;
}

/* ---- to a buffer ---- */

/* By which steps read. */
static void put_dim(LayoutSpec *s, const Layout *l, int dim)
{
    for (int i = 0; i < l->dim_log2[dim]; i++)
        s->basis[DIM_OFFSET][s->nbits[DIM_OFFSET]++] = UINT32_C(1)
                                                       << (layout_dim_shift(l, dim) + i);
}

static const Layout *layout_for_steps(const Product *p, const Type *ty, int operand)
{
    LayoutSpec s = {.rank = ty->rank};
    for (int d = 0; d < s.rank; d++) s.dim_log2[d] = ty->layout->dim_log2[d];
    put_dim(&s, ty->layout, own_dim(ty, operand));
    put_dim(&s, ty->layout, k_dim(ty, operand));
    if (s.rank == 3) put_dim(&s, ty->layout, 0);
    return layout_make(layouts_of(p), &s);
}

/* For what is written as `from` says, and read as the dot needs it. */
static const Layout *layout_for_all(const Product *p, const Type *ty, const Layout *from)
{
    SharedPlan plan;
    shared_plan(&plan, from, ty->layout, type_bytes(ty), INT32_MAX);
    return shared_layout(layouts_of(p), &plan, from);
}

/* What is stored: it, as it lies in other threads. */
static Value *source_of(const Product *p, int operand)
{
    Value *v = op_arg(p->op, operand);
    while (ir_def(v, OP_CONVERT)) v = op_arg(v->def, 0);
    return v;
}

/* Before which op: what a loop does not change before that loop, if there is room for it all the
   while. */
static Op *home_of(const Product *p, int operand)
{
    Op *home = dot_home(p->op, source_of(p, operand));
    return room_of_block(op_arg(p->op, operand)->type) <= late_room(p->fn, p->op) ? home : p->op;
}

static Value *store_operand(const Product *p, int operand, bool by_steps)
{
    const Type *ty = op_arg(p->op, operand)->type;
    Builder b = build_before(home_of(p, operand));
    Value *source = source_of(p, operand);
    const Layout *l = by_steps ? layout_for_steps(p, ty, operand)
                               : layout_for_all(p, ty, source->type->layout);
    Value *buffer = build_buffer(&b, ty, l, 0);
    build_sstore(&b, buffer, source, 0);
    return buffer;
}

/* With what it was made of by moves alone. */
static void drop_unused(Value *v)
{
    while (ir_def(v, OP_CONVERT) && ir_is_unused(v->def)) {
        Op *op = v->def;
        v = op_arg(op, 0);
        ir_unlink(op);
    }
}

/* ---- element by element ---- */

/* What a loop has loaded ahead for it alone, transposed or not, is read as products ask for it. */
static bool is_read_late(const Product *p, int operand)
{
    const Value *v = op_arg(p->op, operand);
    while (ir_def(v, OP_TRANS) && !v->uses->next) v = op_arg(v->def, 0);
    return ir_def(v, OP_RING_LOAD) && !v->uses->next;
}

/* So is what could be in a buffer all the while. */
static bool could_wait(const Product *p, int operand)
{
    return is_read_late(p, operand) || home_of(p, operand) != p->op;
}

/* And what waits until the dot alone, but for a factor of several products, which is held for all if
   that is no more than a step of both may be. */
static bool could_be_stored(const Product *p, int operand)
{
    const Value *v = op_arg(p->op, operand);
    int others = 0;
    for (const Use *u = v->uses; u; u = u->next) {
        if (u->user->kind != OP_DOT || u->user->region != p->op->region) return true;
        others += u->user != p->op;
    }
    return !others || registers_of_step(p, operand, k_log2(p)) > DOT_MOST_ROWS;
}

/* It can be as it is, with what is read `late`; with very many products the code is too long. */
static bool stays_whole(const Product *p, bool (*late)(const Product *p, int operand))
{
    enum { MOST_PRODUCTS = 4096 };
    int held = 0, n = 0;
    for (int i = 0; i < 2; i++) {
        if (late(p, i)) n++;
        else held += registers_of_step(p, i, k_log2(p));
    }
    return n && held <= DOT_MOST_ROWS && layout_registers(p->sum) * p->k <= MOST_PRODUCTS;
}

/* Right before the dot, so that nobody stores anything else there before it has read it. */
static void read_late(const Product *p, bool (*late)(const Product *p, int operand))
{
    Value *buffers[2] = {0};
    for (int i = 0; i < 2; i++)
        if (!is_read_late(p, i) && late(p, i)) buffers[i] = store_operand(p, i, false);
    Builder b = build_before(p->op);
    for (int i = 0; i < 2; i++) {
        Value *v = op_arg(p->op, i);
        if (!buffers[i]) continue;
        ir_set_arg(p->op, i, build_sload(&b, buffers[i], v->type, NULL, 0));
        drop_unused(v);
    }
}

/* ---- from it ---- */

static Value *shifted(Builder *b, Value *v, int bits)
{
    return build_binary(b, OP_MUL, v, build_const(b, v->type, UINT64_C(1) << bits));
}

/* One step of an operand, from k = at on. */
static Value *load_step(const Product *p, Builder *b, Value *buffer, int operand, Value *at)
{
    const Type *whole = op_arg(p->op, operand)->type;
    const int k = k_dim(whole, operand), own = own_dim(whole, operand),
              own_log2 = whole->layout->dim_log2[own];
    int32_t shape[TKC_MAX_RANK];
    for (int d = 0; d < whole->rank; d++) shape[d] = whole->shape[d];
    shape[k] = 1 << p->step_log2;
    const Layout *l = fragment_rows(layouts_of(p), operand, p->sum, p->step_log2);
    const Type *ty =
        type_block(types_of(p), type_scalar(types_of(p), DT_I32), whole->rank, shape, l);
    Value *ks = build_binary(b, OP_ADD, expand_coordinate(b, ty, k),
                             op_result(build_op(b, OP_SPLAT, 1, &at, 1, &ty), 0));
    Value *offset =
        build_binary(b, OP_ADD, shifted(b, ks, own_log2), expand_coordinate(b, ty, own));
    if (whole->rank == 3)
        offset = build_binary(b, OP_ADD, offset,
                              shifted(b, expand_coordinate(b, ty, 0), own_log2 + k_log2(p)));
    Value *args[3] = {buffer, offset};
    const bool cuts = p->k & (shape[k] - 1);
    if (cuts) args[2] = build_binary(b, OP_LT, ks, build_const(b, ty, (uint64_t)p->k));
    const Type *result = type_like(types_of(p), ty, tkc_type_element(whole));
    return op_result(build_op(b, OP_SLOAD_AT, 2 + cuts, args, 1, &result), 0);
}

/* ---- the loop ---- */

static void fill_loop(const Product *p, Op *loop, Value *const buffers[2])
{
    Region *body = loop->regions[0];
    Builder b = build_at_end(p->fn, body);
    b.loc = p->op->loc;
    Value *x = load_step(p, &b, buffers[0], 0, body->args[0]),
          *y = load_step(p, &b, buffers[1], 1, body->args[0]);
    Value *sum = build_dot(&b, x, y, body->args[1], NULL);
    ir_copy_attrs(p->fn, sum->def, p->op);
    build_yield(&b, 1, &sum);
}

static void go_by_steps(const Product *p)
{
    Op *op = p->op;
    Value *buffers[2], *sum = op_arg(op, 2), *operands[2] = {op_arg(op, 0), op_arg(op, 1)};
    for (int i = 0; i < 2; i++) buffers[i] = store_operand(p, i, true);
    Builder b = build_before(op);
    Op *loop = build_for(&b, build_int(&b, DT_I32, 0), build_int(&b, DT_I32, p->k),
                         build_int(&b, DT_I32, 1 << p->step_log2), 1, &sum);
    fill_loop(p, loop, buffers);
    ir_replace(op, loop->results);
    for (int i = 0; i < 2; i++) drop_unused(operands[i]);
}

void expand_dot(Op *op)
{
    Product p = {.fn = op->region->func, .op = op, .sum = op_result(op, 0)->type->layout};
    const Type *a = op_arg(op, 0)->type;
    if (dot_unit(op).mma) return;
    p.k = a->shape[a->rank - 1];
    p.step_log2 = choose_step(&p);
    if (p.step_log2 == k_log2(&p) || stays_whole(&p, is_read_late) || !fits(&p)) return;
    if (stays_whole(&p, could_wait)) read_late(&p, could_wait);
    else if (stays_whole(&p, could_be_stored)) read_late(&p, could_be_stored);
    else go_by_steps(&p);
}
