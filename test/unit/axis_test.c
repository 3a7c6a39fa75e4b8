/* Axis facts are claims about every run; random programs are run and every claim is checked on
   every value. axis_test [programs [first seed]] */
#include "analysis/axis.h"
#include "random_ir.h"

typedef struct Claims {
    const AxisFacts *facts;
    int failures;
    int64_t checked, useful; /* values looked at; of them, those of which something is claimed */
    uint64_t seed;
} Claims;

static __int128 number_of(const Type *ty, uint64_t bits)
{
    bool is_signed = dtype_info(type_dtype(ty))->kind == DK_INT;
    return is_signed ? (__int128)(int64_t)bits : (__int128)bits;
}

static void fail(Run *run, const Value *v, const char *claim, int dim, int64_t lane)
{
    Claims *c = run->user;
    if (c->failures++ > 3) return;
    fprintf(stderr, "seed %llu: %s of dim %d is wrong at lane %lld of", (unsigned long long)c->seed,
            claim, dim, (long long)lane);
    Buf out = buf_make(run->arena);
    if (v->def) ir_print_op(&out, v->def);
    else
        buf_printf(&out, "argument %d of %s", v->index,
                   v->region->parent ? "a region" : "the function");
    fprintf(stderr, " (value %u) %s\n", v->id, buf_text(&out));
    for (int64_t i = 0; i < lane_count(v->type) && i < 32; i++) {
        fprintf(stderr, " %lld", (long long)run->lanes[v->id][i]);
    }
    fprintf(stderr, "\n");
    if (c->failures > 1) return;
    Buf text = buf_make(run->arena);
    axis_print(&text, run->fn);
    fprintf(stderr, "%s", buf_text(&text));
}

/* Neighbour number `step` along dim, and the first of the group of c that lane is in. */
static int64_t neighbour(const Type *ty, int64_t lane, int dim, int64_t position)
{
    int64_t coord[TKC_MAX_RANK] = {0};
    lane_coords(ty, lane, coord);
    coord[dim] = position;
    return lane_at(ty, coord);
}

static int64_t position(const Type *ty, int64_t lane, int dim)
{
    int64_t coord[TKC_MAX_RANK] = {0};
    lane_coords(ty, lane, coord);
    return coord[dim];
}

static void check_dim(Run *run, const Value *v, const AxisFact *f, int d)
{
    const Type *ty = v->type;
    const uint64_t *lanes = run->lanes[v->id];
    bool pointer = type_is_pointer(ty);
    uint64_t unit = pointer ? (uint64_t)type_bytes(tkc_type_element(ty)->elem) : 1;
    for (int64_t i = 0; i < lane_count(ty); i++) {
        if (!lane_is_valid(ty, i)) continue;
        int64_t at = ty->rank ? position(ty, i, d) : 0;
        int64_t c = f->contiguity[d], s = f->constancy[d];
        int64_t run_start = ty->rank ? neighbour(ty, i, d, at - at % c) : 0;
        int64_t same_start = ty->rank ? neighbour(ty, i, d, at - at % s) : 0;
        uint64_t step = (uint64_t)(at % c) * unit;
        bool runs =
            pointer ? lanes[i] == lanes[run_start] + step
                    : number_of(ty, lanes[i]) == number_of(ty, lanes[run_start]) + (int64_t)step;
        bool divides = lanes[run_start] % (uint64_t)f->divisibility[d] == 0;
        if (c > 1 && !runs) return fail(run, v, "contiguity", d, i);
        if (f->divisibility[d] > 1 && !divides) return fail(run, v, "divisibility", d, i);
        if (lanes[i] != lanes[same_start]) return fail(run, v, "constancy", d, i);
    }
}

static void check_bounds(Run *run, const Value *v, const AxisFact *f)
{
    for (int64_t i = 0; i < lane_count(v->type); i++) {
        __int128 x = number_of(v->type, run->lanes[v->id][i]);
        bool above = f->lo == INT64_MIN || x >= f->lo, below = f->hi == INT64_MAX || x <= f->hi;
        bool above_all = f->lo_all == INT64_MIN || x >= f->lo_all,
             below_all = f->hi_all == INT64_MAX || x <= f->hi_all;
        if (lane_is_valid(v->type, i) && !(above && below)) return fail(run, v, "range", 0, i);
        if (!above_all || !below_all) return fail(run, v, "range of all lanes", 0, i);
    }
}

static void check_claims(Run *run, const Value *v)
{
    Claims *c = run->user;
    const AxisFact *f = axis_of(c->facts, v);
    int dims = v->type->rank ? v->type->rank : 1;
    bool useful = false;
    for (int d = 0; d < dims; d++) {
        useful |= f->contiguity[d] > 1 || f->divisibility[d] > 1 || f->constancy[d] > 1;
        check_dim(run, v, f, d);
    }
    if (type_is_int(v->type)) check_bounds(run, v, f);
    c->checked++;
    c->useful += useful;
}

static int test(int argc, char **argv)
{
    int programs = argc > 1 ? atoi(argv[1]) : 2000, stopped = 0, runs = 0;
    Claims c = {.seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1};
    for (int i = 0; i < programs && c.failures == 0; i++, c.seed++) {
        Arena arena;
        arena_init(&arena);
        Random r = {c.seed * 7919};
        Func *fn = random_function(&arena, &r, 10 + random_below(&r, 50));
        c.facts = axis_analyze(&arena, fn, AXIS_PROVED, NULL);
        for (int j = 0; j < 4 && c.failures == 0; j++, runs++) {
            Run run = run_make(&arena, fn, &r);
            run.defined = check_claims;
            run.user = &c;
            run_function(&run, fn);
            stopped += run.stopped;
        }
        arena_fini(&arena);
    }
    printf("%d runs, %d of them stopped early; %lld values, %lld with facts; %d wrong claims\n",
           runs, stopped, (long long)c.checked, (long long)c.useful, c.failures);
    return c.failures != 0;
}

int main(int argc, char **argv)
{
    return with_frame(test, argc, argv);
}
