/* Building and rewiring the IR. Arrays of an op (operands, results, regions, attributes) are sized
   to a power of two that follows from their length, so they grow in place until it is reached and
   need no capacity field. A Use is a node of its value's list and lies in its op's operand array;
   whoever moves it in memory mends its neighbours (`move_use`). */
#include "ir/ir.h"

#include <string.h>

#include "base/unwind.h"

Ir *ir_new(Arena *a, Interner *names)
{
    Ir *ir = arena_new(a, Ir);
    *ir = (Ir){.arena = a, .names = names, .types = types_new(a), .layouts = layouts_new(a)};
    map_init(&ir->locs, a);
    return ir;
}

static Arena *arena_of(const Func *fn)
{
    return ir_of(fn)->arena;
}

/* What an array that holds n items has room for. */
static int room_for(int n)
{
    int room = 1;
    while (room < n) room *= 2;
    return n ? room : 0;
}

void *ir_grown(Arena *a, void *items, int n, size_t size)
{
    if (n < room_for(n)) return items;
    void *bigger = arena_alloc_array(a, (size_t)room_for(n + 1), size);
    if (n) memcpy(bigger, items, (size_t)n * size);
    return bigger;
}

/* ---- functions, regions, values ---- */

static Region *region_new(Func *fn, Op *parent)
{
    Region *r = arena_new(arena_of(fn), Region);
    *r = (Region){.parent = parent, .func = fn};
    return r;
}

Func *ir_func_new(Ir *ir, const char *name, const struct Machine *machine, int num_warps,
                  int num_stages)
{
    Func *fn = arena_new(ir->arena, Func);
    *fn = (Func){
        .name = intern_cstr(ir->names, name),
        .machine = machine,
        .num_warps = num_warps,
        .num_stages = num_stages,
        .fp_contract = true,
        .ir = ir,
    };
    fn->body = region_new(fn, NULL);
    return fn;
}

Value *ir_add_param(Func *fn, const char *name, const Type *type)
{
    fn->params = ir_grown(arena_of(fn), fn->params, fn->nparams, sizeof *fn->params);
    Param *p = &fn->params[fn->nparams++];
    *p = (Param){.name = intern_cstr(ir_of(fn)->names, name), .type = type, .divisibility = 1};
    for (int i = 0; i < TKC_MAX_RANK; i++) {
        p->extent[i] = p->stride[i] = -1;
        p->extent_param[i] = p->stride_param[i] = -1;
    }
    return ir_add_region_arg(fn->body, type, p->name);
}

static Value *value_new(Func *fn, const Type *type, int index)
{
    check(fn->nvalues < UINT32_MAX, "too many values in '%s'", fn->name);
    Value *v = arena_new(arena_of(fn), Value);
    *v = (Value){.type = type, .index = index, .id = fn->nvalues++};
    return v;
}

Value *ir_add_region_arg(Region *r, const Type *type, const char *name)
{
    Func *fn = r->func;
    r->args = ir_grown(arena_of(fn), r->args, r->nargs, sizeof *r->args);
    Value *v = value_new(fn, type, r->nargs);
    v->region = r;
    v->name = name ? intern_cstr(ir_of(fn)->names, name) : NULL;
    r->args[r->nargs++] = v;
    return v;
}

/* The i-th of n leaves; those behind it move up. */
static void close_gap(Value **values, int *n, int i)
{
    check(!values[i]->uses, "a value in use cannot be removed");
    for (--*n; i < *n; i++) {
        values[i] = values[i + 1];
        values[i]->index = i;
    }
}

void ir_remove_region_arg(Region *r, int index)
{
    close_gap(r->args, &r->nargs, index);
}

/* ---- uses ---- */

static void link_use(Use *u, Value *v, Op *user)
{
    *u = (Use){.value = v, .user = user, .next = v->uses};
    if (v->uses) v->uses->prev = u;
    v->uses = u;
}

static void unlink_use(Use *u)
{
    if (u->prev) u->prev->next = u->next;
    else u->value->uses = u->next;
    if (u->next) u->next->prev = u->prev;
    *u = (Use){0};
}

static void move_use(Use *to, Use *from)
{
    *to = *from;
    if (to->prev) to->prev->next = to;
    else to->value->uses = to;
    if (to->next) to->next->prev = to;
    *from = (Use){0};
}

void ir_set_arg(Op *op, int i, Value *v)
{
    check(i >= 0 && i < op->nargs, "%s has no operand %d", tkc_op_info(op->kind)->name, i);
    unlink_use(&op->args[i]);
    link_use(&op->args[i], v, op);
}

/* The function an op belongs to: ops are made with a function, and its regions or operands know
   it. */
static Func *func_of(const Op *op)
{
    if (op->region) return op->region->func;
    if (op->nregions) return op->regions[0]->func;
    for (int i = 0; i < op->nargs; i++) {
        const Value *v = op->args[i].value;
        const Region *r = v->region ? v->region : v->def->region;
        if (r) return r->func;
    }
    unwind_raise("%s belongs to no function", tkc_op_info(op->kind)->name);
}

void ir_add_arg(Op *op, Value *v)
{
    if (op->nargs == room_for(op->nargs)) {
        const Region *r = op->region ? op->region : v->region ? v->region : v->def->region;
        Func *fn = r ? r->func : func_of(op);
        Use *bigger = arena_array(arena_of(fn), Use, room_for(op->nargs + 1));
        for (int i = 0; i < op->nargs; i++) move_use(&bigger[i], &op->args[i]);
        op->args = bigger;
    }
    link_use(&op->args[op->nargs++], v, op);
}

void ir_remove_arg(Op *op, int i)
{
    check(i >= 0 && i < op->nargs, "%s has no operand %d", tkc_op_info(op->kind)->name, i);
    unlink_use(&op->args[i]);
    op->nargs--;
    for (; i < op->nargs; i++) move_use(&op->args[i], &op->args[i + 1]);
}

void ir_replace_uses(Value *old, Value *with)
{
    if (old == with) return;
    while (old->uses) {
        Use *u = old->uses;
        Op *user = u->user;
        unlink_use(u);
        link_use(u, with, user);
    }
}

/* ---- ops ---- */

Op *ir_op_new(Func *fn, OpKind kind, int nargs, Value *const *args, int nresults,
              const Type *const *types, const Loc *loc)
{
    Arena *a = arena_of(fn);
    const OpInfo *info = tkc_op_info(kind);
    check(kind > OP_NONE && kind < OP_COUNT, "no op %d", (int)kind);
    Op *op = arena_new(a, Op);
    *op = (Op){
        .kind = kind, .nargs = nargs, .nresults = nresults, .nregions = info->nregions, .loc = loc};
    op->args = arena_array(a, Use, room_for(nargs));
    op->results = arena_array(a, Value *, room_for(nresults));
    op->regions = arena_array(a, Region *, op->nregions);
    for (int i = 0; i < nargs; i++) link_use(&op->args[i], args[i], op);
    for (int i = 0; i < nresults; i++) {
        op->results[i] = value_new(fn, types[i], i);
        op->results[i]->def = op;
    }
    for (int i = 0; i < op->nregions; i++) op->regions[i] = region_new(fn, op);
    return op;
}

Value *ir_add_result(Op *op, const Type *type)
{
    Func *fn = func_of(op);
    op->results = ir_grown(arena_of(fn), op->results, op->nresults, sizeof *op->results);
    Value *v = value_new(fn, type, op->nresults);
    v->def = op;
    op->results[op->nresults++] = v;
    return v;
}

void ir_remove_result(Op *op, int i)
{
    check(i >= 0 && i < op->nresults, "%s has no result %d", tkc_op_info(op->kind)->name, i);
    close_gap(op->results, &op->nresults, i);
}

/* Links op between two neighbours of which one may be missing. */
static void link_between(Region *r, Op *prev, Op *op, Op *next)
{
    check(!op->region, "%s is already in a region", tkc_op_info(op->kind)->name);
    op->region = r;
    op->prev = prev;
    op->next = next;
    if (prev) prev->next = op;
    else r->first = op;
    if (next) next->prev = op;
    else r->last = op;
}

void ir_append(Region *r, Op *op)
{
    link_between(r, r->last, op, NULL);
}

void ir_insert_before(Op *at, Op *op)
{
    link_between(at->region, at->prev, op, at);
}

void ir_detach(Op *op)
{
    Region *r = op->region;
    if (!r) return;
    if (op->prev) op->prev->next = op->next;
    else r->first = op->next;
    if (op->next) op->next->prev = op->prev;
    else r->last = op->prev;
    op->region = NULL;
    op->prev = op->next = NULL;
}

/* Uses of operands are dropped from the last op back, so that values inside lose their uses before
   their ops go. */
static void drop_uses(Op *op)
{
    for (int i = op->nregions - 1; i >= 0; i--)
        for (Op *inner = op->regions[i]->last; inner; inner = inner->prev) drop_uses(inner);
    for (int i = 0; i < op->nargs; i++) unlink_use(&op->args[i]);
    op->nargs = 0;
}

void ir_unlink(Op *op)
{
    check(ir_is_unused(op), "%s has a result in use and cannot be removed",
          tkc_op_info(op->kind)->name);
    ir_detach(op);
    drop_uses(op);
}

void ir_replace(Op *op, Value *const *with)
{
    for (int i = 0; i < op->nresults; i++) {
        if (with[i]->def && !with[i]->name) with[i]->name = op_result(op, i)->name;
        ir_replace_uses(op_result(op, i), with[i]);
    }
    ir_unlink(op);
}

void ir_move_before(Op *op, Op *at)
{
    if (op == at) return;
    ir_detach(op);
    ir_insert_before(at, op);
}

void ir_move_body_before(Region *r, Op *at)
{
    while (r->first != r->last) ir_move_before(r->first, at);
}

/* ---- locations ---- */

typedef struct LocEntry LocEntry;
struct LocEntry {
    Loc loc;
    LocEntry *next;
};

static bool is_same_loc(const Loc *a, const Loc *b)
{
    return a->source == b->source && a->begin == b->begin && a->end == b->end &&
           a->function == b->function && a->caller == b->caller;
}

const Loc *ir_loc(Ir *ir, Span at, const char *function, const Loc *caller)
{
    Loc loc = {.source = at.source, .begin = at.begin, .end = at.end, .caller = caller};
    loc.function = function ? intern_cstr(ir->names, function) : NULL;
    const uint64_t key[] = {(uint64_t)(uintptr_t)at.source, (uint64_t)at.begin << 32 | at.end,
                            (uint64_t)(uintptr_t)loc.function, (uint64_t)(uintptr_t)caller};
    uint64_t hash = hash_bytes(key, sizeof key, 0);
    LocEntry *chain = map_get(&ir->locs, hash);
    for (LocEntry *e = chain; e; e = e->next)
        if (is_same_loc(&e->loc, &loc)) return &e->loc;
    loc.file = intern_cstr(ir->names, at.source->name);
    source_position(at.source, at.begin, &loc.line, &loc.col);
    LocEntry *e = arena_new(ir->arena, LocEntry);
    *e = (LocEntry){loc, chain};
    map_set(&ir->locs, hash, e);
    return &e->loc;
}

Span ir_span(const Loc *loc)
{
    return loc && loc->source ? (Span){loc->source, loc->begin, loc->end} : SPAN_NONE;
}

void ir_note_callers(Diags *dx, Diag *d, const Loc *loc)
{
    for (const Loc *c = loc ? loc->caller : NULL; c; c = c->caller)
        diag_note(dx, d, ir_span(c), "called from here");
}

/* ---- questions ---- */

bool ir_is_unused(const Op *op)
{
    for (int i = 0; i < op->nresults; i++)
        if (op->results[i]->uses) return false;
    return true;
}

static bool has_effect(const Op *op)
{
    if (ir_has(op, OT_WRITE) || ir_has(op, OT_SIDE)) return true;
    if (op->kind == OP_INLINE_ASM) return !tkc_op_int(op, ATTR_PURE, 0);
    return tkc_op_int(op, ATTR_VOLATILE, 0) != 0;
}

bool ir_can_erase(const Op *op)
{
    if (ir_is_terminator(op)) return false;
    for (const Op *in = op; in; in = ir_next(in, op))
        if (!ir_is_terminator(in) && has_effect(in)) return false;
    return true;
}

bool ir_may_combine(const Op *op)
{
    if (op->kind == OP_ASSERT || ir_is_terminator(op)) return true;
    if (op->nregions > 0) return !has_effect(op); /* what is in them is asked for itself */
    return ir_can_erase(op) && !ir_has(op, OT_READ);
}

int ir_axis(const Op *op)
{
    switch (op->kind) {
    case OP_REDUCE:
    case OP_SCAN:
    case OP_CARRY: return (int)tkc_op_int(op, ATTR_AXIS, 0);
    case OP_SORT: return op_arg(op, 0)->type->rank - 1;
    default: return -1;
    }
}

OpKind ir_combine_kind(const Region *r)
{
    const Op *only = r->first;
    if (r->nargs != 2 || !only || only->next != r->last || only->nargs != 2 ||
        op_arg(r->last, 0)->def != only)
        return OP_NONE;
    const Value *x = op_arg(only, 0), *y = op_arg(only, 1);
    return x != y && x->region == r && y->region == r ? only->kind : OP_NONE;
}

bool ir_is_part(const Op *op, const Op *whole)
{
    while (op && op != whole) op = op->region->parent;
    return op;
}

Op *ir_op_of(const Op *op, const Region *r)
{
    while (op && op->region != r) op = op->region->parent;
    return (Op *)op;
}

bool ir_is_before(const Op *op, const Op *at)
{
    while (at && at != op) at = at->prev;
    return at;
}

bool ir_asks_for(const Op *op, const Value *v)
{
    for (const Use *u = v->uses; u; u = u->next)
        if (ir_is_part(u->user, op)) return true;
    return false;
}

const Region *ir_turn(const Op *op)
{
    const Region *r = op->region;
    while (r->parent && !ir_is_loop(r->parent)) r = r->parent->region;
    return r->parent ? r : NULL;
}

int ir_words_carried(const Op *loop)
{
    int words = 0;
    for (int i = 0; i < loop->nresults; i++) {
        const Type *ty = op_result(loop, i)->type;
        if (type_dtype(ty) != DT_NONE) words += type_words(ty);
    }
    return words;
}

bool ir_is_defined_outside(const Value *v, const Region *r)
{
    const Region *at = v->region ? v->region : v->def->region;
    while (at && at != r) at = at->parent ? at->parent->region : NULL;
    return !at;
}

bool ir_const_bits(const Value *v, uint64_t *bits)
{
    if (!v->def || v->def->kind != OP_CONST) return false;
    *bits = (uint64_t)tkc_op_int(v->def, ATTR_VALUE, 0);
    return true;
}

bool ir_const_int(const Value *v, int64_t *value)
{
    uint64_t bits;
    if (!type_is_int(v->type) || !ir_const_bits(v, &bits)) return false;
    *value = (int64_t)bits;
    return true;
}

bool ir_contains(const Region *r, OpKind kind, bool deep)
{
    bool found = false;
    for (const Op *op = r->first; op && !found; op = op->next) {
        found = op->kind == kind;
        for (int i = 0; deep && i < op->nregions && !found; i++)
            found = ir_contains(op->regions[i], kind, true);
    }
    return found;
}

/* In its regions from that number on. */
static Op *first_in(const Op *op, int region)
{
    while (region < op->nregions && !op->regions[region]->first) region++;
    return region < op->nregions ? op->regions[region]->first : NULL;
}

/* What is in the op left aside. */
static Op *next_behind(const Op *op, const Op *root)
{
    if (op == root) return NULL;
    const Op *around = op->region->parent;
    int region = 0;
    if (op->next || !around) return op->next;
    while (around->regions[region] != op->region) region++;
    Op *next = first_in(around, region + 1);
    return next ? next : next_behind(around, root);
}

Op *ir_next(const Op *op, const Op *root)
{
    Op *next = first_in(op, 0);
    return next ? next : next_behind(op, root);
}

bool ir_holds_for_all(const Region *r, bool (*holds)(const Op *op))
{
    for (const Op *op = r->first; op; op = op->next) {
        if (!holds(op)) return false;
        for (int i = 0; i < op->nregions; i++)
            if (!ir_holds_for_all(op->regions[i], holds)) return false;
    }
    return true;
}

void ir_walk(Region *r, void (*f)(Op *op, void *user), void *user)
{
    for (Op *op = r->first, *next; op; op = next) {
        next = op->next;
        f(op, user);
        if (op->region != r) continue; /* erased or moved away */
        for (int i = 0; i < op->nregions; i++) ir_walk(op->regions[i], f, user);
    }
}

int tkc_region_ops(const Region *r)
{
    int n = 0;
    for (const Op *op = r->first; op; op = op->next) {
        n++;
        for (int i = 0; i < op->nregions; i++) n += tkc_region_ops(op->regions[i]);
    }
    return n;
}

OpKind ir_opposite_compare(OpKind kind)
{
    switch (kind) {
    case OP_LT: return OP_GE;
    case OP_LE: return OP_GT;
    case OP_GT: return OP_LE;
    case OP_GE: return OP_LT;
    case OP_EQ: return OP_NE;
    case OP_NE: return OP_EQ;
    default: return OP_NONE;
    }
}
