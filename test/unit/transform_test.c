/* No pass changes what a program stores: random programs are run before and after each pass alone,
   and after all. transform_test [programs [first seed]] */
#include "random_ir.h"
#include "transform/passes.h"

static const PassInfo passes[] = {
#define PASS(name, run, needs, gives, breaks, help) {name, run, needs, gives, breaks, help},
#include "transform/passes.def"
#undef PASS
};
enum { NPASSES = sizeof passes / sizeof *passes };

static void print_function(const char *title, const Func *fn)
{
    Buf out = buf_make(ir_of(fn)->arena);
    ir_print(&out, fn);
    fprintf(stderr, "%s\n%s", title, buf_text(&out));
}

static bool is_same_output(const Run *a, const Run *b)
{
    if (a->stores.len != b->stores.len) return false;
    for (int i = 0; i < a->stores.len; i++) {
        if (memcmp(&a->stores.data[i], &b->stores.data[i], sizeof *a->stores.data) != 0)
            return false;
    }
    return true;
}

static bool is_valid(Arena *a, const Func *fn)
{
    Diags dx;
    diags_init(&dx, a);
    bool ok = ir_verify(fn, &dx);
    if (!ok && dx.first) fprintf(stderr, "%s\n", dx.first->text);
    return ok;
}

/* The same inputs through both. A pass may leave more ops than it found until dce. */
static bool agree(Arena *a, const Func *before, const Func *after, Random inputs)
{
    for (int i = 0; i < 3; i++) {
        Random same = inputs;
        Run x = run_make(a, before, &inputs), y = run_make(a, after, &same);
        y.most_steps *= 4;
        run_function(&x, before);
        run_function(&y, after);
        if (!x.stopped && (y.stopped || !is_same_output(&x, &y))) return false;
    }
    return true;
}

static void run_pass(Arena *a, const PassInfo *info, Func *fn)
{
    Diags dx;
    diags_init(&dx, a);
    Pass pass = {.scratch = a, .dx = &dx, .name = info->name};
    info->run(&pass, fn);
}

static int test_program(Arena *a, uint64_t seed, long *ops_before, long *ops_after)
{
    Random r = {seed * 104729};
    Func *fn = random_function(a, &r, 10 + random_below(&r, 60)), *all = ir_func_clone(fn);
    if (!is_valid(a, fn)) return print_function("invalid from the start:", fn), 1;
    for (int i = 0; i <= NPASSES; i++) {
        Func *changed = i < NPASSES ? ir_func_clone(fn) : all;
        for (int j = 0; i == NPASSES && j < NPASSES; j++) run_pass(a, &passes[j], changed);
        for (int j = 0; i == NPASSES && j < NPASSES; j++) run_pass(a, &passes[j], changed);
        if (i < NPASSES) run_pass(a, &passes[i], changed);
        if (is_valid(a, changed) && agree(a, fn, changed, r)) continue;
        fprintf(stderr, "seed %llu: %s changes the program\n", (unsigned long long)seed,
                i < NPASSES ? passes[i].name : "all together");
        print_function("before:", fn);
        print_function("after:", changed);
        return 1;
    }
    *ops_before += tkc_region_ops(fn->body);
    *ops_after += tkc_region_ops(all->body);
    return 0;
}

static int test(int argc, char **argv)
{
    int programs = argc > 1 ? atoi(argv[1]) : 1000, failures = 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    long ops_before = 0, ops_after = 0;
    for (int i = 0; i < programs && failures == 0; i++, seed++) {
        Arena arena;
        arena_init(&arena);
        failures += test_program(&arena, seed, &ops_before, &ops_after);
        arena_fini(&arena);
    }
    printf("%d programs, %ld ops became %ld; %d failures\n", programs, ops_before, ops_after,
           failures);
    return failures != 0;
}

int main(int argc, char **argv)
{
    return with_frame(test, argc, argv);
}
