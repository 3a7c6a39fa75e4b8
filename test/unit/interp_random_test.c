/* Random programs on the cpu device against the slow evaluator of random_ir.h: slots that share
   memory too early, operands taken apart wrongly, loops that mix up what they carry all show as
   wrong stores. interp_random_test [programs [first seed]]

   The evaluator's memory is a hash of the address. Here accesses are led to real memory: loads read
   windows filled with that hash, stores go to windows of their own, and the evaluator's list of
   stores is replayed to know what those must hold. */
#include "random_ir.h"

#include "interp/interp.h"

enum { WINDOW = 1024 }; /* elements */

typedef struct Windows {
    char *loads[DT_COUNT], *stores[DT_COUNT], *wanted[DT_COUNT];
} Windows;

typedef struct World {
    TkcContext *cx;
    TkcDevice *dev;
    Windows win;
} World;

static size_t window_bytes(DType dt)
{
    return WINDOW * (size_t)tkc_dtype_info(dt)->bytes;
}

static char *window_new(World *w, DType dt)
{
    TkcPtr p;
    check(tkc_alloc(w->dev, window_bytes(dt), &p) == TKC_OK, "no memory");
    return (char *)(uintptr_t)p;
}

static void world_open(World *w)
{
    w->cx = tkc_context_new();
    check(w->cx && tkc_device_open(w->cx, "cpu", 0, &w->dev) == TKC_OK, "no device");
    tkc_device_set_memory_checks(w->dev, false); /* memory is filled here, not by tkc_copy_in */
    TypeTable *types;
    Arena a;
    arena_init(&a);
    types = types_new(&a);
    for (DType dt = DT_NONE + 1; dt < DT_COUNT; dt++) {
        int size = tkc_dtype_info(dt)->bytes;
        w->win.loads[dt] = window_new(w, dt);
        w->win.stores[dt] = window_new(w, dt);
        w->win.wanted[dt] = malloc(window_bytes(dt));
        for (int64_t i = 0; i < WINDOW; i++) {
            uint64_t bits = memory_at((uint64_t)(uintptr_t)w->win.loads[dt] + (uint64_t)(i * size),
                                      type_scalar(types, dt));
            memcpy(w->win.loads[dt] + i * size, &bits, (size_t)size);
        }
    }
    arena_fini(&a);
}

static void world_close(World *w)
{
    for (DType dt = DT_NONE + 1; dt < DT_COUNT; dt++) free(w->win.wanted[dt]);
    tkc_device_free(w->dev);
    tkc_context_free(w->cx);
}

/* ---- leading accesses to the windows ---- */

typedef struct Lead {
    const World *w;
    const Run *run;
} Lead;

/* base + (pointer as a number) mod WINDOW */
static void lead_access(const World *w, Func *fn, Op *op)
{
    Builder b = build_before(op);
    TypeTable *types = ir_of(fn)->types;
    Value *ptr = op_arg(op, 0);
    const Type *pointee = tkc_type_element(ptr->type)->elem, *i64 = type_scalar(types, DT_I64);
    char *const *windows = op->kind == OP_STORE ? w->win.stores : w->win.loads;
    Value *number = build_bitcast(&b, ptr, i64);
    Value *at = build_binary(&b, OP_AND, number, build_const(&b, number->type, WINDOW - 1));
    Value *base =
        build_bitcast(&b, build_int(&b, DT_I64, (int64_t)(uintptr_t)windows[pointee->dtype]),
                      type_pointer(types, pointee));
    if (ptr->type->kind == TY_BLOCK)
        base = build_splat(&b, base, ptr->type->rank, ptr->type->shape);
    ir_set_arg(op, 0, build_addptr(&b, base, at));
}

static void lead_op(Op *op, void *user)
{
    const Lead *l = user;
    Func *fn = op->region->func;
    if (op->kind == OP_LOAD || op->kind == OP_STORE) lead_access(l->w, fn, op);
    if (op->kind != OP_PROGRAM_ID && op->kind != OP_NUM_PROGRAMS) return;
    Builder b = build_before(op);
    const int64_t *from = op->kind == OP_PROGRAM_ID ? l->run->program : l->run->programs;
    ir_replace_uses(op_result(op, 0), build_int(&b, DT_I32, from[tkc_op_int(op, ATTR_AXIS, 0)]));
}

/* ---- comparing ---- */

static void replay(const World *w, const Run *run)
{
    for (DType dt = DT_NONE + 1; dt < DT_COUNT; dt++) {
        memset(w->win.stores[dt], 0, window_bytes(dt));
        memset(w->win.wanted[dt], 0, window_bytes(dt));
    }
    for (int i = 0; i < run->stores.len; i++)
        for (DType dt = DT_NONE + 1; dt < DT_COUNT; dt++) {
            uint64_t at = run->stores.data[i].address - (uint64_t)(uintptr_t)w->win.stores[dt];
            if (at < window_bytes(dt))
                memcpy(w->win.wanted[dt] + at, &run->stores.data[i].value,
                       tkc_dtype_info(dt)->bytes);
        }
}

static uint64_t element(TypeTable *types, DType dt, const char *p)
{
    uint64_t bits = 0;
    memcpy(&bits, p, tkc_dtype_info(dt)->bytes);
    return one_nan(type_scalar(types, dt), bits);
}

static bool agrees(const World *w, TypeTable *types)
{
    for (DType dt = DT_NONE + 1; dt < DT_COUNT; dt++)
        for (size_t i = 0; i < window_bytes(dt); i += tkc_dtype_info(dt)->bytes)
            if (element(types, dt, w->win.stores[dt] + i) !=
                element(types, dt, w->win.wanted[dt] + i)) {
                fprintf(stderr, "%s %zu: stored %llx, wanted %llx\n", tkc_dtype_info(dt)->name,
                        i / tkc_dtype_info(dt)->bytes,
                        (unsigned long long)element(types, dt, w->win.stores[dt] + i),
                        (unsigned long long)element(types, dt, w->win.wanted[dt] + i));
                return false;
            }
    return true;
}

static bool run_here(World *w, const Func *fn, const Run *run)
{
    LaunchArg args[8] = {0};
    for (int i = 0; i < fn->nparams; i++) args[i].bits = run->params[i];
    Interp *in = interp_prepare(w->cx, fn, NULL, &(TkcStatus){0});
    bool ok = in && interp_launch(w->dev, in, w->dev->state, (int64_t[]){1, 1, 1}, args) == TKC_OK;
    if (!ok) fprintf(stderr, "%s", tkc_last_error(w->cx));
    interp_free(in);
    return ok;
}

/* 0: right; 1: wrong; 2: it does not end, or an assumption is wrong. */
static int test_program(World *w, Arena *a, uint64_t seed)
{
    Random r = {seed * 7907};
    Func *fn = random_function(a, &r, 10 + random_below(&r, 80));
    Run run = run_make(a, fn, &r);
    Lead lead = {w, &run};
    ir_walk(fn->body, lead_op, &lead);
    run_function(&run, fn);
    if (run.stopped) return 2;
    replay(w, &run);
    if (run_here(w, fn, &run) && agrees(w, ir_of(fn)->types)) return 0;
    Buf out = buf_make(a);
    ir_print(&out, fn);
    fprintf(stderr, "seed %llu\n%s", (unsigned long long)seed, buf_text(&out));
    return 1;
}

static int test(int argc, char **argv)
{
    int programs = argc > 1 ? atoi(argv[1]) : 2000, failures = 0, counted = 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    World w;
    world_open(&w);
    for (int i = 0; i < programs && failures == 0; i++, seed++) {
        Arena arena;
        arena_init(&arena);
        int result = test_program(&w, &arena, seed);
        failures += result == 1;
        counted += result != 2;
        arena_fini(&arena);
    }
    world_close(&w);
    printf("%d programs, %d counted; %d failures\n", programs, counted, failures);
    return failures != 0 || counted < programs / 2;
}

int main(int argc, char **argv)
{
    return with_frame(test, argc, argv);
}
