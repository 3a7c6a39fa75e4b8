/* Random programs of integer arithmetic, and a slow, obvious evaluator of them, for tests that
   compare.

   The evaluator holds each block in its padded shape, so padding lanes have values too: what
   arithmetic gives there, or noise where elements are moved by their index in the exact shape.
   Memory is a hash of the address; stores are what a program is judged by. Included by the tests
   that use it, so everything is static. */
#ifndef TKC_TEST_RANDOM_IR_H
#define TKC_TEST_RANDOM_IR_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/unwind.h"
#include "base/vec.h"
#include "ir/build.h"
#include "ir/evaluate.h"
#include "ir/machine.h"
#include "ir/print.h"
#include "ir/type.h"
#include "ir/verify.h"

/* ---- random numbers ---- */

typedef struct Random {
    uint64_t state;
} Random;

static uint64_t random_next(Random *r)
{
    uint64_t x = r->state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static int random_below(Random *r, int n)
{
    return (int)(random_next(r) % (uint64_t)n);
}

static bool random_chance(Random *r, int percent)
{
    return random_below(r, 100) < percent;
}

/* Small numbers, powers of two, their neighbours and the ends of types. */
static int64_t random_number(Random *r)
{
    int64_t power = (int64_t)1 << random_below(r, random_chance(r, 80) ? 8 : 63);
    switch (random_below(r, 8)) {
    case 0: return random_below(r, 4);
    case 1: return power - 1;
    case 2: return -power;
    case 3: return (int64_t)random_next(r);
    case 4: return random_below(r, 200) - 100;
    default: return power;
    }
}

/* ---- the evaluator ---- */

typedef struct Stored {
    uint64_t address, value;
} Stored;

typedef struct Run Run;
struct Run {
    Arena *arena;
    const Func *fn;
    uint64_t **lanes; /* by value id */
    uint64_t params[8];
    int64_t program[3], programs[3];
    Random noise;
    int steps, most_steps;
    bool stopped; /* ran too long, or an `assume` was wrong: nothing counts */
    VEC(Stored) stores;
    void (*defined)(Run *run,
                    const Value *v); /* called each time a value gets lanes; may be NULL */
    void *user;
};

static int64_t padded_extent(const Type *ty, int d)
{
    int64_t n = 1;
    while (n < ty->shape[d]) n *= 2;
    return n;
}

static int64_t lane_count(const Type *ty)
{
    int64_t n = 1;
    for (int d = 0; d < ty->rank; d++) n *= padded_extent(ty, d);
    return n;
}

static void lane_coords(const Type *ty, int64_t lane, int64_t *coord)
{
    for (int d = ty->rank - 1; d >= 0; d--) {
        coord[d] = lane % padded_extent(ty, d);
        lane /= padded_extent(ty, d);
    }
}

static int64_t lane_at(const Type *ty, const int64_t *coord)
{
    int64_t lane = 0;
    for (int d = 0; d < ty->rank; d++) lane = lane * padded_extent(ty, d) + coord[d];
    return lane;
}

static bool lane_is_valid(const Type *ty, int64_t lane)
{
    int64_t coord[TKC_MAX_RANK];
    lane_coords(ty, lane, coord);
    for (int d = 0; d < ty->rank; d++) {
        if (coord[d] >= ty->shape[d]) return false;
    }
    return true;
}

static uint64_t *new_lanes(Run *run, const Value *v)
{
    return run->lanes[v->id] = arena_array(run->arena, uint64_t, lane_count(v->type));
}

static void now_defined(Run *run, const Value *v)
{
    if (run->defined && !run->stopped) run->defined(run, v);
}

/* A lane of an operand of an elementwise op, whose condition may be a scalar. */
static uint64_t lane_of(const Run *run, const Value *v, int64_t lane)
{
    return run->lanes[v->id][type_is_block(v->type) ? lane : 0];
}

static DType computed_dtype(const Type *ty)
{
    return type_is_pointer(ty) ? DT_U64 : type_dtype(ty);
}

static void run_elementwise(Run *run, const Op *op)
{
    const Value *v = op_result(op, 0);
    uint64_t *out = new_lanes(run, v), args[3] = {0};
    DType dt = computed_dtype(op_arg(op, op->nargs - 1)->type);
    for (int64_t i = 0; i < lane_count(v->type); i++) {
        for (int j = 0; j < op->nargs; j++) args[j] = lane_of(run, op_arg(op, j), i);
        if (op->kind == OP_ADDPTR) {
            out[i] = args[0] + args[1] * (uint64_t)type_bytes(tkc_type_element(v->type)->elem);
        } else if (op->kind == OP_BITCAST && computed_dtype(v->type) == dt) {
            out[i] = args[0];
        } else {
            check(tkc_evaluate(op->kind, dt, computed_dtype(v->type),
                              tkc_op_str(op, ATTR_ROUNDING, NULL), op->nargs, args, &out[i]),
                  "cannot evaluate %s", tkc_op_info(op->kind)->name);
        }
    }
}

static uint64_t noise(Run *run, const Type *ty)
{
    uint64_t bits = random_next(&run->noise);
    if (type_is_pointer(ty) || type_is_float(ty)) return 0;
    return bits_from_int(type_dtype(ty), (int64_t)bits);
}

/* Row-major order of the exact shape; padding is noise, unless only extents of 1 come and go. */
static void run_reshape(Run *run, const Op *op)
{
    const Value *x = op_arg(op, 0), *v = op_result(op, 0);
    uint64_t *out = new_lanes(run, v);
    int64_t from = 0;
    bool moves_padded = lane_count(x->type) == lane_count(v->type);
    for (int i = 0, j = 0; i < x->type->rank || j < v->type->rank;) {
        if (i < x->type->rank && x->type->shape[i] == 1) i++;
        else if (j < v->type->rank && v->type->shape[j] == 1) j++;
        else if (i < x->type->rank && j < v->type->rank && x->type->shape[i] == v->type->shape[j])
            i++, j++;
        else {
            moves_padded = false;
            break;
        }
    }
    for (int64_t i = 0; i < lane_count(v->type); i++) {
        if (moves_padded) {
            out[i] = run->lanes[x->id][i];
        } else if (!lane_is_valid(v->type, i)) {
            out[i] = noise(run, v->type);
        } else {
            while (!lane_is_valid(x->type, from)) from++;
            out[i] = run->lanes[x->id][from++];
        }
    }
}

/* Where a lane of the result of a move comes from: which operand, and its lane there. */
static uint64_t moved_lane(const Run *run, const Op *op, int64_t lane, int result)
{
    const Type *ty = op_result(op, 0)->type, *from = op_arg(op, 0)->type;
    int64_t to[TKC_MAX_RANK] = {0}, coord[TKC_MAX_RANK] = {0};
    const Value *x = op_arg(op, 0);
    lane_coords(ty, lane, to);
    for (int d = 0; d < ty->rank; d++) {
        switch (op->kind) {
        case OP_BROADCAST: coord[d] = from->shape[d] == 1 ? 0 : to[d]; break;
        case OP_TRANS: coord[tkc_op_attr(op, ATTR_PERM)->v[d]] = to[d]; break;
        case OP_EXPAND_DIMS: {
            int axis = (int)tkc_op_int(op, ATTR_AXIS, 0);
            if (d != axis) coord[d - (d > axis)] = to[d];
            break;
        }
        case OP_JOIN:
            if (d < from->rank) coord[d] = to[d];
            break;
        case OP_SPLIT: coord[d] = to[d]; break;
        default: break;
        }
    }
    if (op->kind == OP_JOIN) x = op_arg(op, (int)to[ty->rank - 1]);
    if (op->kind == OP_SPLIT) coord[from->rank - 1] = result;
    return run->lanes[x->id][from->rank ? lane_at(from, coord) : 0];
}

static void run_move(Run *run, const Op *op)
{
    if (op->kind == OP_RESHAPE) {
        run_reshape(run, op);
        return;
    }
    for (int r = 0; r < op->nresults; r++) {
        uint64_t *out = new_lanes(run, op_result(op, r));
        for (int64_t i = 0; i < lane_count(op_result(op, r)->type); i++)
            out[i] = moved_lane(run, op, i, r);
    }
}

static void run_region(Run *run, const Region *r);

static void set_lanes(Run *run, const Value *v, const uint64_t *from)
{
    memcpy(new_lanes(run, v), from, (size_t)lane_count(v->type) * sizeof *from);
    now_defined(run, v);
}

static uint64_t combine(Run *run, const Op *op, uint64_t x, uint64_t y)
{
    const Region *r = op->regions[0];
    set_lanes(run, r->args[0], &x);
    set_lanes(run, r->args[1], &y);
    run_region(run, r);
    return run->lanes[op_arg(r->last, 0)->id][0];
}

/* One operand. Padding along the axis is left out; padding along the others is combined like the
   rest. */
static void run_along_axis(Run *run, const Op *op)
{
    const Value *x = op_arg(op, 0), *v = op_result(op, 0);
    int axis = (int)tkc_op_int(op, ATTR_AXIS, 0);
    bool reverse = tkc_op_int(op, ATTR_REVERSE, 0) != 0;
    uint64_t *out = new_lanes(run, v);
    for (int64_t i = 0; i < lane_count(x->type); i++) {
        int64_t coord[TKC_MAX_RANK] = {0}, rest[TKC_MAX_RANK] = {0};
        lane_coords(x->type, i, coord);
        if (coord[axis] != 0) continue;
        for (int d = 0; d < x->type->rank; d++) {
            if (d != axis) rest[d - (d > axis)] = coord[d];
        }
        uint64_t acc = 0;
        for (int j = 0; j < x->type->shape[axis]; j++) {
            coord[axis] = reverse ? x->type->shape[axis] - 1 - j : j;
            uint64_t next = run->lanes[x->id][lane_at(x->type, coord)];
            acc = j ? combine(run, op, acc, next) : next;
            if (op->kind == OP_SCAN) out[lane_at(v->type, coord)] = acc;
        }
        if (op->kind == OP_REDUCE) out[lane_at(v->type, rest)] = acc;
    }
}

static uint64_t memory_at(uint64_t address, const Type *ty)
{
    Random r = {address};
    return type_is_int(ty)
               ? bits_from_int(type_dtype(ty), (int64_t)(random_next(&r) >> random_below(&r, 64)))
               : 0;
}

static void run_load(Run *run, const Op *op)
{
    const Value *v = op_result(op, 0);
    uint64_t *out = new_lanes(run, v);
    for (int64_t i = 0; i < lane_count(v->type); i++) {
        bool on = op->nargs < 2 || lane_of(run, op_arg(op, 1), i);
        uint64_t off = op->nargs > 2 ? lane_of(run, op_arg(op, 2), i) : 0;
        out[i] = on ? memory_at(lane_of(run, op_arg(op, 0), i), v->type) : off;
    }
}

/* Which NaN is nobody's promise. */
static uint64_t one_nan(const Type *ty, uint64_t bits)
{
    if (!type_is_float(ty)) return bits;
    double v = bits_to_double(type_dtype(ty), bits);
    return v == v ? bits : bits_nan(type_dtype(ty));
}

static void run_store(Run *run, const Op *op)
{
    const Type *ty = op_arg(op, 0)->type, *stored = op_arg(op, 1)->type;
    for (int64_t i = 0; i < lane_count(ty); i++) {
        if (!lane_is_valid(ty, i) || (op->nargs > 2 && !lane_of(run, op_arg(op, 2), i))) continue;
        Stored s = {lane_of(run, op_arg(op, 0), i),
                    one_nan(stored, lane_of(run, op_arg(op, 1), i))};
        vec_push(run->arena, &run->stores, s);
    }
}

static bool goes_on(DType dt, bool down, uint64_t i, uint64_t upper)
{
    uint64_t args[] = {i, upper}, on = 0;
    tkc_evaluate(down ? OP_GT : OP_LT, dt, DT_I1, NULL, 2, args, &on);
    return on != 0;
}

static void run_for(Run *run, const Op *op)
{
    const Region *body = op->regions[0];
    const Type *ty = op_arg(op, 0)->type;
    DType dt = type_dtype(ty);
    bool down = tkc_op_int(op, ATTR_DOWN, 0) != 0;
    uint64_t i = lane_of(run, op_arg(op, 0), 0), step = lane_of(run, op_arg(op, 2), 0);
    int64_t rounds = 0;
    for (int j = 0; j < op->nresults; j++)
        set_lanes(run, body->args[1 + j], run->lanes[op_arg(op, 3 + j)->id]);
    while (!run->stopped && goes_on(dt, down, i, lane_of(run, op_arg(op, 1), 0))) {
        set_lanes(run, body->args[0], &i);
        run_region(run, body);
        if (run->stopped) return;
        const uint64_t *next[8];
        for (int j = 0; j < op->nresults; j++) next[j] = run->lanes[op_arg(body->last, j)->id];
        for (int j = 0; j < op->nresults; j++) set_lanes(run, body->args[1 + j], next[j]);
        uint64_t before = i;
        i = bits_from_int(dt, (int64_t)(i + step));
        if (!goes_on(dt, down, before, i))
            return (void)(run->stopped = true); /* wrapped: the rounds are not fixed */
        if (++rounds > 40) run->stopped = true;
    }
    for (int j = 0; j < op->nresults; j++)
        set_lanes(run, op_result(op, j), run->lanes[body->args[1 + j]->id]);
}

static void run_while(Run *run, const Op *op)
{
    const Region *test = op->regions[0], *body = op->regions[1];
    const uint64_t *next[8];
    for (int j = 0; j < op->nresults; j++)
        set_lanes(run, test->args[j], run->lanes[op_arg(op, j)->id]);
    for (int rounds = 0; !run->stopped; rounds++) {
        run_region(run, test);
        if (run->stopped || rounds > 40) return (void)(run->stopped = true);
        for (int j = 0; j < op->nresults; j++) next[j] = run->lanes[op_arg(test->last, 1 + j)->id];
        if (!lane_of(run, op_arg(test->last, 0), 0)) break;
        for (int j = 0; j < op->nresults; j++) set_lanes(run, body->args[j], next[j]);
        run_region(run, body);
        if (run->stopped) return;
        for (int j = 0; j < op->nresults; j++) next[j] = run->lanes[op_arg(body->last, j)->id];
        for (int j = 0; j < op->nresults; j++) set_lanes(run, test->args[j], next[j]);
    }
    for (int j = 0; j < op->nresults; j++) set_lanes(run, op_result(op, j), next[j]);
}

static void run_if(Run *run, const Op *op)
{
    const Region *r = op->regions[lane_of(run, op_arg(op, 0), 0) ? 0 : 1];
    run_region(run, r);
    if (run->stopped) return;
    for (int j = 0; j < op->nresults; j++)
        set_lanes(run, op_result(op, j), run->lanes[op_arg(r->last, j)->id]);
}

static void run_leaf(Run *run, const Op *op)
{
    const Value *v = op->nresults ? op_result(op, 0) : NULL;
    switch (op->kind) {
    case OP_CONST:
        new_lanes(run, v);
        for (int64_t i = 0; i < lane_count(v->type); i++)
            run->lanes[v->id][i] = (uint64_t)tkc_op_int(op, ATTR_VALUE, 0);
        break;
    case OP_ARANGE:
        new_lanes(run, v);
        for (int64_t i = 0; i < lane_count(v->type); i++) {
            run->lanes[v->id][i] = bits_from_int(DT_I32, tkc_op_int(op, ATTR_START, 0) + i);
        }
        break;
    case OP_PROGRAM_ID:
        new_lanes(run, v)[0] = (uint64_t)run->program[tkc_op_int(op, ATTR_AXIS, 0)];
        break;
    case OP_NUM_PROGRAMS:
        new_lanes(run, v)[0] = (uint64_t)run->programs[tkc_op_int(op, ATTR_AXIS, 0)];
        break;
    case OP_SPLAT:
        new_lanes(run, v);
        for (int64_t i = 0; i < lane_count(v->type); i++)
            run->lanes[v->id][i] = lane_of(run, op_arg(op, 0), 0);
        break;
    case OP_LOAD: run_load(run, op); break;
    case OP_STORE: run_store(run, op); break;
    case OP_ASSUME: run->stopped |= !lane_of(run, op_arg(op, 0), 0); break;
    case OP_REDUCE:
    case OP_SCAN: run_along_axis(run, op); break;
    default:
        if (ir_has(op, OT_EW)) run_elementwise(run, op);
        else run_move(run, op);
    }
    for (int i = 0; i < op->nresults; i++) now_defined(run, op_result(op, i));
}

static void run_region(Run *run, const Region *r)
{
    for (const Op *op = r->first; op && !ir_is_terminator(op) && !run->stopped; op = op->next) {
        if (++run->steps > run->most_steps) run->stopped = true;
        else if (op->kind == OP_FOR) run_for(run, op);
        else if (op->kind == OP_WHILE) run_while(run, op);
        else if (op->kind == OP_IF) run_if(run, op);
        else run_leaf(run, op);
    }
}

/* Fills inputs that agree with what the function's parameters promise. */
static Run run_make(Arena *a, const Func *fn, Random *r)
{
    Run run = {.arena = a, .fn = fn, .noise = {random_next(r)}, .most_steps = 3000};
    for (int i = 0; i < fn->nparams; i++) {
        const Param *p = &fn->params[i];
        uint64_t k = (uint64_t)p->divisibility;
        if (type_is_pointer(p->type)) {
            run.params[i] = (0x10000000 + random_next(r) % 4096 * 64) / k * k;
        } else {
            run.params[i] =
                bits_from_int(type_dtype(p->type), random_number(r) / (int64_t)k * (int64_t)k);
        }
    }
    for (int i = 0; i < 3; i++) {
        int64_t most = i ? 65535 : INT32_MAX;
        run.programs[i] =
            1 + (int64_t)(random_next(r) % (uint64_t)(random_chance(r, 70) ? 100 : most));
        run.program[i] = random_chance(r, 20)
                             ? run.programs[i] - 1
                             : (int64_t)(random_next(r) % (uint64_t)run.programs[i]);
    }
    return run;
}

static void run_function(Run *run, const Func *fn)
{
    run->fn = fn;
    run->lanes = arena_array(run->arena, uint64_t *, fn->nvalues);
    for (int i = 0; i < fn->nparams; i++) set_lanes(run, fn->body->args[i], &run->params[i]);
    run_region(run, fn->body);
}

/* ---- the generator ---- */

typedef struct Maker {
    Random *r;
    Builder b;
    VEC(Value *) pool; /* values in scope */
    int budget;        /* ops still to make */
    int depth;
    int32_t shape[2]; /* of the program's blocks */
} Maker;

static Arena *maker_arena(const Maker *m)
{
    return ir_of(m->b.fn)->arena;
}

static Value *keep(Maker *m, Value *v)
{
    vec_push(maker_arena(m), &m->pool, v);
    return v;
}

/* Later values more often: they are the ones with a history. */
static Value *pick(Maker *m)
{
    int n = m->pool.len, i = random_below(m->r, n);
    if (random_chance(m->r, 70)) {
        int j = random_below(m->r, n);
        if (j > i) i = j;
    }
    return m->pool.data[i];
}

static Value *pick_if(Maker *m, bool (*suits)(const Type *))
{
    for (int tries = 0; tries < 40; tries++) {
        Value *v = pick(m);
        if (suits(v->type)) return v;
    }
    return NULL;
}

static bool is_number_type(const Type *ty)
{
    return type_is_int(ty) && !type_is_bool(ty);
}

static bool is_scalar_i32(const Type *ty)
{
    return type_is_scalar(ty) && type_dtype(ty) == DT_I32;
}

static bool is_any_int(const Type *ty)
{
    return type_is_int(ty);
}

static bool is_scalar_bool(const Type *ty)
{
    return type_is_scalar(ty) && type_is_bool(ty);
}

static uint64_t random_bits(Maker *m, DType dt)
{
    static const double floats[] = {0, -0.0, 1, -1, 2.5, 1e30, -1e-30};
    if (dtype_info(dt)->kind == DK_FLOAT) {
        return random_chance(m->r, 10) ? bits_nan(dt)
                                       : bits_from_double(dt, floats[random_below(m->r, 7)]);
    }
    return bits_from_int(dt, random_number(m->r));
}

static Value *make_const(Maker *m, const Type *ty)
{
    return build_const(&m->b, ty, random_bits(m, type_dtype(ty)));
}

/* Another value of this type: from the pool, brought into shape, or a constant. */
static Value *pick_like(Maker *m, const Type *ty)
{
    for (int tries = 0; tries < 30 && random_chance(m->r, 97); tries++) {
        Value *v = pick(m);
        if (v->type == ty) return v;
        if (tkc_type_element(ty) != v->type || !type_is_block(ty)) continue;
        return keep(m, build_splat(&m->b, v, ty->rank, ty->shape));
    }
    if (type_is_pointer(ty)) return NULL;
    return make_const(m, ty);
}

static Value *make_binary(Maker *m)
{
    static const OpKind kinds[] = {OP_ADD, OP_ADD, OP_ADD, OP_ADD, OP_SUB, OP_SUB,   OP_MUL, OP_MUL,
                                   OP_DIV, OP_REM, OP_DIV, OP_REM, OP_AND, OP_AND,   OP_OR,  OP_XOR,
                                   OP_SHL, OP_SHR, OP_SHR, OP_MIN, OP_MAX, OP_MULHI, OP_LT,  OP_LT,
                                   OP_LE,  OP_GT,  OP_GE,  OP_EQ,  OP_NE};
    Value *x = pick_if(m, random_chance(m->r, 85) ? is_number_type : is_any_int);
    if (!x) return NULL;
    Value *y = random_chance(m->r, 50) ? make_const(m, x->type) : pick_like(m, x->type);
    OpKind kind = kinds[random_below(m->r, (int)(sizeof kinds / sizeof *kinds))];
    bool swap = random_chance(m->r, 30);
    return build_binary(&m->b, kind, swap ? y : x, swap ? x : y);
}

static Value *make_float(Maker *m)
{
    static const OpKind kinds[] = {OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MIN,    OP_MAX,
                                   OP_LT,  OP_GE,  OP_EQ,  OP_NE,  OP_MIN_NAN};
    Value *x = pick_if(m, type_is_float);
    if (!x) {
        x = pick_if(m, is_number_type);
        return x ? build_cast(&m->b, x, random_chance(m->r, 50) ? DT_F32 : DT_F16, NULL) : NULL;
    }
    if (random_chance(m->r, 20))
        return build_unary(&m->b, random_chance(m->r, 60) ? OP_NEG : OP_ABS, x);
    if (random_chance(m->r, 15)) {
        Value *below = keep(m, build_binary(&m->b, OP_LT, x, pick_like(m, x->type)));
        return build_unary(&m->b, OP_NOT, below);
    }
    if (random_chance(m->r, 15))
        return build_cast(&m->b, x, random_chance(m->r, 50) ? DT_F64 : DT_I32, NULL);
    if (random_chance(m->r, 10))
        return build_fma(&m->b, x, pick_like(m, x->type), pick_like(m, x->type));
    Value *y = random_chance(m->r, 60) ? make_const(m, x->type) : pick_like(m, x->type);
    return build_binary(&m->b, kinds[random_below(m->r, 11)], x, y);
}

static Value *make_unary(Maker *m)
{
    static const OpKind kinds[] = {OP_NEG, OP_NOT, OP_ABS, OP_POPC, OP_CLZ};
    static const DType dtypes[] = {DT_I64, DT_I64, DT_I32, DT_U32, DT_I8,
                                   DT_U8,  DT_I16, DT_U64, DT_I1};
    Value *x = pick_if(m, random_chance(m->r, 70) ? is_any_int : type_is_bool);
    if (!x) return NULL;
    if (type_is_bool(x->type) && random_chance(m->r, 70)) return build_unary(&m->b, OP_NOT, x);
    if (random_chance(m->r, 40)) return build_unary(&m->b, kinds[random_below(m->r, 5)], x);
    if (random_chance(m->r, 50))
        x = keep(m, build_cast(&m->b, x, dtypes[random_below(m->r, 9)], NULL));
    return build_cast(&m->b, x, dtypes[random_below(m->r, 9)], NULL);
}

static Value *make_bitcast(Maker *m)
{
    static const DType signed_of[] = {
        [DT_U8] = DT_I8, [DT_U16] = DT_I16, [DT_U32] = DT_I32, [DT_U64] = DT_I64,
        [DT_I8] = DT_U8, [DT_I16] = DT_U16, [DT_I32] = DT_U32, [DT_I64] = DT_U64};
    TypeTable *types = ir_of(m->b.fn)->types;
    Value *x = pick_if(m, random_chance(m->r, 60) ? is_number_type : type_is_pointer);
    if (!x) return NULL;
    if (type_is_pointer(x->type)) {
        static const DType pointees[] = {DT_F32, DT_I8, DT_I64};
        const Type *to = type_pointer(types, type_scalar(types, pointees[random_below(m->r, 3)]));
        return build_bitcast(&m->b, x, random_chance(m->r, 50) ? type_scalar(types, DT_I64) : to);
    }
    DType dt = type_dtype(x->type);
    return build_bitcast(&m->b, x, type_scalar(types, signed_of[dt]));
}

static Value *make_select(Maker *m)
{
    Value *x = pick(m);
    Value *cond = pick_like(m, type_with_elem(ir_of(m->b.fn)->types, x->type,
                                              type_scalar(ir_of(m->b.fn)->types, DT_I1)));
    Value *scalar = random_chance(m->r, 30) ? pick_if(m, is_scalar_bool) : NULL;
    Value *y = pick_like(m, x->type);
    return y ? build_select(&m->b, scalar ? scalar : cond, x, y) : NULL;
}

static Value *make_addptr(Maker *m)
{
    Value *p = pick_if(m, type_is_pointer);
    if (!p) return NULL;
    static const DType dtypes[] = {DT_I32, DT_I32, DT_I64, DT_U32};
    const Type *ty =
        type_with_elem(ir_of(m->b.fn)->types, p->type,
                       type_scalar(ir_of(m->b.fn)->types, dtypes[random_below(m->r, 4)]));
    return build_addptr(&m->b, p, pick_like(m, ty));
}

static Value *make_shape(Maker *m)
{
    Value *x = pick(m);
    const Type *ty = x->type;
    int32_t shape[TKC_MAX_RANK] = {0};
    if (!type_is_block(ty)) return build_splat(&m->b, x, random_chance(m->r, 60) ? 1 : 2, m->shape);
    memcpy(shape, ty->shape, sizeof shape);
    switch (random_below(m->r, 6)) {
    case 0:
        return ty->rank < 3 ? build_expand_dims(&m->b, x, random_below(m->r, ty->rank + 1)) : NULL;
    case 1:
    case 2:
        for (int d = 0; d < ty->rank; d++) {
            if (shape[d] == 1) shape[d] = m->shape[random_below(m->r, 2)];
        }
        return build_broadcast(&m->b, x, ty->rank, shape);
    case 3:
        if (ty->rank == 2) return build_trans(&m->b, x, (int[]){1, 0});
        if (ty->rank != 3) return NULL;
        if (random_chance(m->r, 50)) x = keep(m, build_trans(&m->b, x, (int[]){1, 0, 2}));
        return build_trans(&m->b, x, (int[]){2, 0, 1});
    case 4:
        if (ty->rank > 1)
            return build_reshape(&m->b, x, 1, (int32_t[]){(int32_t)tkc_type_count(ty)}, false);
        for (int32_t n = 2; n < 9; n++) {
            if (shape[0] % n == 0)
                return build_reshape(&m->b, x, 2, (int32_t[]){shape[0] / n, n}, false);
        }
        return NULL;
    default: {
        if (ty->rank < 3 && random_chance(m->r, 50)) {
            Value *y = pick_like(m, ty);
            return y ? build_join(&m->b, x, y) : NULL;
        }
        if (shape[ty->rank - 1] != 2) return NULL;
        Value *lo, *hi;
        build_split(&m->b, x, &lo, &hi);
        return keep(m, lo), hi;
    }
    }
}

static bool is_line(const Type *ty)
{
    return is_number_type(ty) && ty->rank == 1;
}

/* rows[:, None] * c + cols[None, :], the way of most addresses. */
static Value *make_grid(Maker *m)
{
    Value *rows = pick_if(m, is_line), *cols = pick_if(m, is_line);
    if (!rows || !cols || tkc_type_element(rows->type) != tkc_type_element(cols->type)) return NULL;
    int32_t shape[] = {rows->type->shape[0], cols->type->shape[0]};
    Value *x = build_expand_dims(&m->b, rows, 1), *y = build_expand_dims(&m->b, cols, 0);
    x = build_broadcast(&m->b, build_binary(&m->b, OP_MUL, x, make_const(m, x->type)), 2, shape);
    return build_binary(&m->b, OP_ADD, x, build_broadcast(&m->b, y, 2, shape));
}

static Value *make_along_axis(Maker *m)
{
    Value *x = pick_if(m, is_any_int);
    if (!x || !type_is_block(x->type)) return NULL;
    static const OpKind kinds[] = {OP_ADD, OP_MAX, OP_MIN, OP_XOR};
    int axis = random_below(m->r, x->type->rank);
    bool scans = random_chance(m->r, 30);
    Op *op = scans ? build_scan(&m->b, axis, random_chance(m->r, 30), 1, &x)
                   : build_reduce(&m->b, axis, 1, &x);
    Builder inner = build_at_end(m->b.fn, op->regions[0]);
    Value *v = build_binary(&inner, kinds[random_below(m->r, 4)], op->regions[0]->args[0],
                            op->regions[0]->args[1]);
    build_yield(&inner, 1, &v);
    return op_result(op, 0);
}

static Value *make_load(Maker *m)
{
    Value *p = pick_if(m, type_is_pointer);
    if (!p) return NULL;
    const Type *ty =
        type_with_elem(ir_of(m->b.fn)->types, p->type, tkc_type_element(p->type)->elem);
    Value *mask = NULL, *other = NULL;
    if (random_chance(m->r, 60))
        mask = pick_like(m, type_with_elem(ir_of(m->b.fn)->types, p->type,
                                           type_scalar(ir_of(m->b.fn)->types, DT_I1)));
    if (mask && random_chance(m->r, 50)) other = pick_like(m, ty);
    return build_load(&m->b, p, mask, other);
}

static void make_store(Maker *m)
{
    Value *p = pick_if(m, type_is_pointer);
    if (!p) return;
    TypeTable *types = ir_of(m->b.fn)->types;
    Value *v = pick_like(m, type_with_elem(types, p->type, tkc_type_element(p->type)->elem));
    Value *mask = random_chance(m->r, 60)
                      ? pick_like(m, type_with_elem(types, p->type, type_scalar(types, DT_I1)))
                      : NULL;
    build_store(&m->b, p, v, mask);
}

/* Anything in scope, made observable: through a pointer of its element's type in its shape. */
static void make_observed(Maker *m, Value *v)
{
    TypeTable *types = ir_of(m->b.fn)->types;
    if (type_is_pointer(v->type)) v = build_bitcast(&m->b, v, type_scalar(types, DT_I64));
    Value *base = m->pool.data[0];
    Value *p = build_bitcast(&m->b, base, type_pointer(types, tkc_type_element(v->type)));
    if (type_is_block(v->type)) p = build_splat(&m->b, p, v->type->rank, v->type->shape);
    build_store(&m->b, p, v, NULL);
}

static void make_ops(Maker *m, int n);

/* Ends the open region: for each slot a value of its type, preferably a new one. */
static void make_slots(Maker *m, int n, const Type *const *types, Value **out)
{
    for (int i = 0; i < n; i++) {
        out[i] = NULL;
        for (int tries = 0; tries < 20 && !out[i]; tries++) {
            Value *v = pick(m);
            if (v->type == types[i]) out[i] = v;
        }
        for (int j = m->pool.len - 1; j >= 0 && !out[i]; j--) {
            if (m->pool.data[j]->type == types[i]) out[i] = m->pool.data[j];
        }
    }
}

static int pick_slots(Maker *m, Value **inits, const Type **types)
{
    int n = random_below(m->r, 4);
    for (int i = 0; i < n; i++) {
        inits[i] = pick(m);
        types[i] = inits[i]->type;
    }
    return n;
}

static Builder open_region(Maker *m, Region *r)
{
    Builder outer = m->b;
    m->b = build_at_end(m->b.fn, r);
    m->depth++;
    return outer;
}

static void close_region(Maker *m, Builder outer, int mark)
{
    m->b = outer;
    m->depth--;
    m->pool.len = mark;
}

static void make_for(Maker *m)
{
    Value *inits[4], *out[4], *bound = pick_if(m, is_scalar_i32);
    const Type *types[4];
    if (!bound) return;
    int n = pick_slots(m, inits, types), mark = m->pool.len;
    bool down = random_chance(m->r, 20);
    Value *lower = build_int(&m->b, DT_I32, random_below(m->r, 40)),
          *step = build_int(&m->b, DT_I32, 1 << random_below(m->r, 6));
    if (random_chance(m->r, 60))
        bound = build_binary(&m->b, OP_AND, bound, build_int(&m->b, DT_I32, 127));
    if (down) step = build_unary(&m->b, OP_NEG, step);
    if (random_chance(m->r, 30)) bound = build_int(&m->b, DT_I32, random_below(m->r, 80));
    Op *op = build_for(&m->b, lower, bound, step, n, inits);
    if (down) ir_set_int(m->b.fn, op, ATTR_DOWN, 1);
    Builder outer = open_region(m, op->regions[0]);
    for (int i = 0; i <= n; i++) keep(m, op->regions[0]->args[i]);
    make_ops(m, 1 + random_below(m->r, 8));
    make_slots(m, n, types, out);
    build_yield(&m->b, n, out);
    close_region(m, outer, mark);
    for (int i = 0; i < n; i++) keep(m, op_result(op, i));
}

static void make_while(Maker *m)
{
    Value *inits[4], *out[4], *bound = pick_if(m, is_scalar_i32);
    const Type *types[4];
    if (!bound) return;
    int n = pick_slots(m, inits, types), mark = m->pool.len;
    inits[n] = build_int(&m->b, DT_I32, random_below(m->r, 20));
    types[n] = inits[n]->type;
    Op *op = build_while(&m->b, n + 1, inits);
    Builder outer = open_region(m, op->regions[0]);
    for (int i = 0; i <= n; i++) keep(m, op->regions[0]->args[i]);
    make_ops(m, random_below(m->r, 3));
    Value *cond = build_binary(&m->b, OP_LT, op->regions[0]->args[n], bound);
    make_slots(m, n, types, out);
    out[n] = op->regions[0]->args[n];
    build_condition(&m->b, cond, n + 1, out);
    close_region(m, outer, mark);
    outer = open_region(m, op->regions[1]);
    for (int i = 0; i <= n; i++) keep(m, op->regions[1]->args[i]);
    make_ops(m, random_below(m->r, 6));
    make_slots(m, n, types, out);
    out[n] = build_binary(&m->b, OP_ADD, op->regions[1]->args[n],
                          build_int(&m->b, DT_I32, 1 + random_below(m->r, 9)));
    build_yield(&m->b, n + 1, out);
    close_region(m, outer, mark);
    for (int i = 0; i <= n; i++) keep(m, op_result(op, i));
}

static void make_if(Maker *m)
{
    Value *inits[4], *out[4], *cond = pick_if(m, is_scalar_bool);
    const Type *types[4];
    if (!cond) {
        Value *x = pick_if(m, is_scalar_i32);
        if (!x) return;
        cond = build_binary(&m->b, OP_LT, x, pick_like(m, x->type));
    }
    int n = pick_slots(m, inits, types), mark = m->pool.len;
    Op *op = build_if(&m->b, cond, n, types);
    for (int side = 0; side < 2; side++) {
        Builder outer = open_region(m, op->regions[side]);
        make_ops(m, random_below(m->r, 5));
        make_slots(m, n, types, out);
        build_yield(&m->b, n, out);
        close_region(m, outer, mark);
    }
    for (int i = 0; i < n; i++) keep(m, op_result(op, i));
}

/* Runs in which it is wrong do not count. */
static void make_assume(Maker *m)
{
    static const OpKind kinds[] = {OP_NE, OP_GE, OP_GT, OP_LT};
    Value *x = pick_if(m, is_scalar_i32);
    if (!x) return;
    Value *c = build_int(&m->b, DT_I32, random_chance(m->r, 60) ? 0 : random_number(m->r));
    build_assume(&m->b, build_binary(&m->b, kinds[random_below(m->r, 4)], x, c));
}

static bool is_small(const Type *ty)
{
    return lane_count(ty) <= 512;
}

static void make_one(Maker *m)
{
    Value *v = NULL;
    int dice = random_below(m->r, 100);
    if (dice < 38) v = make_binary(m);
    else if (dice < 48) v = make_shape(m);
    else if (dice < 55) v = make_unary(m);
    else if (dice < 58) v = make_bitcast(m);
    else if (dice < 62) v = make_select(m);
    else if (dice < 68) v = make_addptr(m);
    else if (dice < 72) v = make_along_axis(m);
    else if (dice < 75) v = make_load(m);
    else if (dice < 78) make_store(m);
    else if (dice < 84) v = make_float(m);
    else if (dice < 85) v = make_grid(m);
    else if (dice < 86) v = build_arange(&m->b, 0, m->shape[random_below(m->r, 2)]);
    else if (dice < 87) v = build_arange(&m->b, 8, 8 + m->shape[0]);
    else if (dice < 90)
        v = random_chance(m->r, 70) ? build_grid(&m->b, OP_PROGRAM_ID, random_below(m->r, 2))
                                    : build_grid(&m->b, OP_NUM_PROGRAMS, random_below(m->r, 3));
    else if (m->depth < 3 && dice < 94) make_for(m);
    else if (m->depth < 3 && dice < 97) make_while(m);
    else if (m->depth < 3 && dice < 99) make_if(m);
    else make_assume(m);
    if (v && is_small(v->type)) keep(m, v);
}

static void make_ops(Maker *m, int n)
{
    for (int i = 0; i < n && m->budget > 0; i++, m->budget--) make_one(m);
}

static void make_param(Maker *m, const char *name, const Type *type, int64_t divisibility)
{
    Value *v = ir_add_param(m->b.fn, name, type);
    m->b.fn->params[m->b.fn->nparams - 1].divisibility = divisibility;
    keep(m, v);
}

/* A whole function of about `size` ops that stores some of what it computes. */
static Func *random_function(Arena *a, Random *r, int size)
{
    static const int32_t extents[] = {1, 2, 3, 4, 6, 8, 8, 13, 16, 16, 32};
    Ir *ir = ir_new(a, intern_new(a));
    Func *fn = ir_func_new(ir, "random", machine_find("sm_90"), 4, 3);
    Maker m = {.r = r, .b = build_at_end(fn, fn->body), .budget = size};
    for (int i = 0; i < 2; i++) m.shape[i] = extents[random_below(r, 11)];
    make_param(&m, "p", type_pointer(ir->types, type_scalar(ir->types, DT_I32)), 16);
    make_param(&m, "q", type_pointer(ir->types, type_scalar(ir->types, DT_U8)),
               1 << random_below(r, 6));
    make_param(&m, "n", type_scalar(ir->types, DT_I32), 1);
    make_param(&m, "m", type_scalar(ir->types, DT_I32), 16);
    make_param(&m, "k", type_scalar(ir->types, DT_I64), random_chance(r, 50) ? 8 : 1);
    keep(&m, build_arange(&m.b, 0, m.shape[0]));
    keep(&m, build_arange(&m.b, 0, m.shape[1]));
    make_ops(&m, size);
    for (int i = 0; i < 12; i++) make_observed(&m, pick(&m));
    build_return(&m.b);
    return fn;
}

/* Runs f(arg) with a frame for the compiler's own errors. */
static int with_frame(int (*f)(int, char **), int argc, char **argv)
{
    UnwindFrame frame;
    volatile int status = 1;
    unwind_push(&frame);
    if (setjmp(frame.env) == 0) status = f(argc, argv);
    else fprintf(stderr, "internal error: %s\n", frame.message);
    unwind_pop(&frame);
    return status;
}

#endif
