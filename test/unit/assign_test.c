/* Random functions get layouts: afterwards the IR verifies, so every op's operands and results fit together. */
#include "layout/passes.h"

#include "expect.h"
#include "ir/build.h"
#include "ir/machine.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "memory/passes.h"

enum { MAX_POOL = 64 };

static uint64_t seed;
static int conversions, buffers, functions;

static uint32_t random_below(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

/* What a random function is made with: blocks of fp32 to choose from, and a pointer. */
typedef struct Maker {
    Func *fn;
    Builder b;
    Value *ptr, *stride, *pool[MAX_POOL];
    int n, depth;
} Maker;

static Value *pick(const Maker *m)
{
    return m->pool[random_below((uint32_t)m->n)];
}

static void put(Maker *m, Value *v)
{
    if (type_is_block(v->type) && m->n < MAX_POOL) m->pool[m->n++] = v;
}

/* Index along dim d, broadcast to the shape. */
static Value *index_along(Maker *m, int rank, const int32_t *shape, int d)
{
    Value *v = build_arange(&m->b, 0, shape[d]);
    for (int i = 0; i < rank; i++) {
        if (i != d) v = build_expand_dims(&m->b, v, i);
    }
    return build_broadcast(&m->b, v, rank, shape);
}

static Value *pointers(Maker *m, int rank, const int32_t *shape)
{
    Value *p = build_splat(&m->b, m->ptr, rank, shape);
    int fast = random_below(4) ? rank - 1 : (int)random_below((uint32_t)rank);
    for (int d = 0; d < rank; d++) {
        Value *i = index_along(m, rank, shape, d);
        if (d != fast) i = build_binary(&m->b, OP_MUL, i, build_splat(&m->b, m->stride, rank, shape));
        p = build_addptr(&m->b, p, i);
    }
    return p;
}

static void make_load(Maker *m)
{
    static const int32_t extents[] = {1, 2, 3, 8, 16, 64};
    int32_t shape[3];
    int rank = 1 + (int)random_below(3);
    for (int i = 0; i < rank; i++) shape[i] = extents[random_below(6)];
    put(m, build_load(&m->b, pointers(m, rank, shape), NULL, NULL));
}

static void make_store(Maker *m)
{
    Value *v = pick(m);
    build_store(&m->b, pointers(m, v->type->rank, v->type->shape), v, NULL);
}

static void make_binary(Maker *m)
{
    Value *x = pick(m), *y = pick(m);
    for (int i = 0; i < 20 && !type_same_shape(x->type, y->type); i++) y = pick(m);
    if (type_same_shape(x->type, y->type)) put(m, build_binary(&m->b, OP_ADD, x, y));
}

static void make_reduce(Maker *m)
{
    Value *x = pick(m);
    Op *op = build_reduce(&m->b, (int)random_below((uint32_t)x->type->rank), 1, &x);
    Builder in = build_at_end(m->fn, op->regions[0]);
    Value *sum = build_binary(&in, OP_ADD, op->regions[0]->args[0], op->regions[0]->args[1]);
    build_yield(&in, 1, &sum);
    put(m, op_result(op, 0));
}

/* To the shape of another value, through expand_dims and broadcast. */
static void make_broadcast(Maker *m)
{
    Value *x = pick(m);
    int32_t shape[TKC_MAX_RANK];
    if (x->type->rank >= 3) return;
    Value *v = build_expand_dims(&m->b, x, (int)random_below((uint32_t)x->type->rank + 1));
    for (int i = 0; i < v->type->rank; i++) shape[i] = v->type->shape[i] == 1 ? 1 << random_below(5) : v->type->shape[i];
    put(m, build_broadcast(&m->b, v, v->type->rank, shape));
}

static void make_moved(Maker *m)
{
    Value *x = pick(m), *lo, *hi;
    const Type *ty = x->type;
    int perm[] = {1, 0, 2};
    int32_t flat = (int32_t)tkc_type_count(ty);
    switch (random_below(4)) {
    case 0: if (ty->rank > 1) put(m, build_trans(&m->b, x, perm)); break;
    case 1: put(m, build_reshape(&m->b, x, 1, &flat, false)); break;
    case 2: if (ty->rank < 3) put(m, build_join(&m->b, x, x)); break;
    default:
        if (ty->rank < 2 || ty->shape[ty->rank - 1] != 2) break;
        build_split(&m->b, x, &lo, &hi);
        put(m, build_binary(&m->b, OP_ADD, lo, hi));
    }
}

static void make_ops(Maker *m, int count);

static void make_loop(Maker *m)
{
    Value *inits[] = {pick(m), pick(m)};
    if (m->depth++ > 1) return;
    Value *zero = build_int(&m->b, DT_I32, 0), *one = build_int(&m->b, DT_I32, 1);
    Op *op = build_for(&m->b, zero, m->stride, one, 2, inits);
    Builder outside = m->b;
    int n = m->n;
    m->b = build_at_end(m->fn, op->regions[0]);
    for (int i = 0; i < 2; i++) put(m, op->regions[0]->args[1 + i]);
    make_ops(m, 6);
    Value *ends[2];
    for (int i = 0; i < 2; i++) {
        ends[i] = pick(m);
        for (int tries = 0; tries < 40 && ends[i]->type != inits[i]->type; tries++) ends[i] = pick(m);
        if (ends[i]->type != inits[i]->type) ends[i] = op->regions[0]->args[1 + i];
    }
    build_yield(&m->b, 2, ends);
    m->b = outside;
    m->n = n;
    for (int i = 0; i < 2; i++) put(m, op_result(op, i));
}

static void make_branch(Maker *m)
{
    Value *x = pick(m);
    Value *cond = build_binary(&m->b, OP_LT, m->stride, build_int(&m->b, DT_I32, 7));
    Op *op = build_if(&m->b, cond, 1, &x->type);
    Builder outside = m->b;
    int n = m->n;
    for (int i = 0; i < 2; i++) {
        m->b = build_at_end(m->fn, op->regions[i]);
        if (!i) make_ops(m, 3);
        Value *end = pick(m);
        if (end->type != x->type) end = x;
        build_yield(&m->b, 1, &end);
        m->n = n;
    }
    m->b = outside;
    put(m, op_result(op, 0));
}

static void make_ops(Maker *m, int count)
{
    void (*const makers[])(Maker *) = {make_load, make_store, make_binary, make_binary, make_reduce, make_broadcast,
                                       make_broadcast, make_moved, make_loop, make_branch};
    for (int i = 0; i < count; i++) makers[random_below(10)](m);
}

static Func *make_func(Ir *ir)
{
    static const int warps[] = {1, 2, 4, 8};
    Maker m = {.fn = ir_func_new(ir, "f", machine_find("sm_90a"), warps[random_below(4)], 1)};
    m.ptr = ir_add_param(m.fn, "x", type_pointer(ir->types, type_scalar(ir->types, DT_F32)));
    m.stride = ir_add_param(m.fn, "n", type_scalar(ir->types, DT_I32));
    m.fn->params[0].divisibility = 16;
    m.fn->params[1].divisibility = 16;
    m.b = build_at_end(m.fn, m.fn->body);
    for (int i = 0; i < 3; i++) make_load(&m);
    make_ops(&m, 14);
    for (int i = 0; i < 3; i++) make_store(&m);
    build_return(&m.b);
    return m.fn;
}

/* ---- what must hold, beside what the verifier sees to ---- */

static void check_op(Op *op, void *user)
{
    (void)user;
    for (int i = 0; i < op->nresults; i++) EXPECT(!type_is_block(op_result(op, i)->type) || op_result(op, i)->type->layout);
    conversions += op->kind == OP_CONVERT;
}

static void check_expanded(Op *op, void *user)
{
    (void)user;
    EXPECT(!expand_wants(op));
    buffers += op->kind == OP_ALLOC;
}

static void random_functions_are_laid_out(void)
{
    for (functions = 0; functions < 1500; functions++) {
        Arena arena, scratch;
        Diags dx;
        arena_init(&arena);
        arena_init(&scratch);
        diags_init(&dx, &arena);
        seed = (uint64_t)functions;
        Ir *ir = ir_new(&arena, intern_new(&arena));
        Func *fn = make_func(ir);
        EXPECT(ir_verify(fn, &dx));
        Pass p = {.scratch = &scratch, .dx = &dx, .name = "layout"};
        assign_run(&p, fn);
        ir_walk(fn->body, check_op, NULL);
        expand_run(&p, fn);
        EXPECT(ir_verify(fn, &dx));
        ir_walk(fn->body, check_expanded, NULL);
        place_run(&p, fn);
        sync_run(&p, fn);
        EXPECT(ir_verify(fn, &dx));
        for (const Diag *d = dx.first; d; d = d->next) printf("    function %d: %s\n", functions, d->text);
        arena_fini(&scratch);
        arena_fini(&arena);
    }
    printf("%d functions, %d conversions, %d buffers\n", functions, conversions, buffers);
    EXPECT(conversions > 500 && buffers > 500);
}

int main(void)
{
    UnwindFrame frame;
    unwind_push(&frame);
    if (setjmp(frame.env) == 0) RUN(random_functions_are_laid_out);
    else printf("function %d: %s\n", functions, frame.message), expect_failures++;
    unwind_pop(&frame);
    return expect_done();
}
