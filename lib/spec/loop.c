/* Loops. What is known while compiling is executed; the rest becomes `for` and `while` ops.

   A run-time loop carries the names that change in it. Which these are is found by trying: names
   with run-time values are carried from the start, compile-time values are assumed to stay, and
   when the body shows otherwise it is done again with what was learned (and remembered, so that
   nested loops are not tried anew each time):

       KEEP   a compile-time value that the body leaves alone: it stays compile-time
       CARRY  a run-time value from pass to pass
       LOCAL  assigned in each pass before it is read: nothing flows between passes, its type may
              differ from what was before */

#include "base/unwind.h"
#include "spec/advice.h"
#include "spec/memory.h"
#include "spec/merge.h"
#include "spec/walk.h"
#include "tkc/carry.h"

/* ---- loops at compile time ---- */

typedef struct Unrolled {
    const Ast *s;
    SpecValue *items;
    int n, next;
    bool broken;
} Unrolled;

static Flow unroll(Spec *sp, void *ctx);

/* The passes that are left; a `break` in them leaves this loop, whatever branches are around it. */
static Flow unroll_passes(Spec *sp, void *ctx)
{
    Unrolled *u = ctx;
    while (u->next < u->n) {
        if (!spec_step(sp, u->s->span)) return FLOW_STOP;
        assign(sp, u->s->loop.target, u->items[u->next++], true, u->s->loop.target->span);
        Flow flow = exec_block(sp, &u->s->loop.body, &rest_cut);
        if (flow == FLOW_BREAK) {
            u->broken = true;
            return FLOW_NEXT;
        }
        if (flow == FLOW_MAYBE && u->next < u->n) return exec_unless_returned(sp, unroll, u);
        if (flow != FLOW_NEXT && flow != FLOW_CONTINUE) return flow;
    }
    return FLOW_NEXT;
}

/* Executes what is in a loop of that kind. */
static Flow in_loop(Spec *sp, LoopKind kind, ArmFn run, void *ctx)
{
    Frame *f = sp->frame;
    LoopKind outer = f->loop;
    int branches = f->branches;
    f->loop = kind;
    f->branches = 0;
    Flow flow = run(sp, ctx);
    f->loop = outer;
    f->branches = branches;
    return flow;
}

static Flow unroll(Spec *sp, void *ctx)
{
    return in_loop(sp, LOOP_UNROLLED, unroll_passes, ctx);
}

static Flow exec_unrolled(Spec *sp, const Ast *s, SpecValue *items, int n)
{
    Unrolled u = {.s = s, .items = items, .n = n};
    Flow flow = unroll(sp, &u);
    if (u.broken || s->loop.orelse.len == 0) return flow;
    if (flow == FLOW_NEXT) return exec_cut(sp, (void *)&s->loop.orelse);
    return flow == FLOW_MAYBE ? exec_unless_returned(sp, exec_cut, (void *)&s->loop.orelse) : flow;
}

/* ---- run-time loops ---- */

enum { MAX_TRIES = 12 };

typedef enum LoopFate { FATE_KEEP, FATE_CARRY, FATE_LOCAL } LoopFate;

typedef struct LoopName {
    Str name;
    LoopFate fate;
    bool is_target;
    int index;        /* in the scope */
    Binding before;
    int first, count; /* leaves */
    bool is_refused;  /* an error has been said of its change */
} LoopName;

typedef struct Loop {
    Spec *sp;
    const Ast *s;
    const AstList *body;
    Builder at; /* where the op stands */
    LoopName *names;
    int n;
    ScopeCopy before;
    Leaves inits, finals;
    Value *bounds[3]; /* for */
    bool is_down;
    const SpecRange *range;
    int truth; /* while: of the condition, as while_head gives it */
    Op *op;
} Loop;

/* Where it is kept what earlier tries of a loop learned of a name: its fate, plus one. */
static uint64_t learned_key(const Loop *l, const LoopName *x)
{
    uint64_t key[3] = {l->sp->frame->path, (uint64_t)(uintptr_t)l->s, (uint64_t)(uintptr_t)x->name};
    return hash_bytes(key, sizeof key, 1);
}

static void learn(Loop *l, LoopName *x, LoopFate fate)
{
    x->fate = fate;
    map_set(&l->sp->program->loops, learned_key(l, x), (void *)(intptr_t)(fate + 1));
}

static LoopFate first_fate(const Loop *l, const LoopName *x)
{
    intptr_t learned = (intptr_t)map_get(&l->sp->program->loops, learned_key(l, x));
    if (!learned) return sv_is_runtime(x->before.value) ? FATE_CARRY : FATE_KEEP;
    /* A value that cannot be carried here, whatever it was elsewhere. */
    bool cannot = learned == FATE_CARRY + 1 && x->before.value.kind == SV_NONE;
    return cannot ? FATE_KEEP : (LoopFate)(learned - 1);
}

/* v is the sequence t or holds it. */
static bool holds(SpecValue v, const SpecTuple *t)
{
    if (!sv_is_sequence(v)) return false;
    bool found = v.tuple == t;
    for (int i = 0; i < v.tuple->len && !found; i++) found = holds(v.tuple->data[i], t);
    return found;
}

static bool shares(SpecValue v, const SpecTuple *t, bool deep)
{
    bool found = holds(v, t);
    for (int i = 0; i < t->len && deep && !found; i++)
        found = sv_is_sequence(t->data[i]) && shares(v, t->data[i].tuple, true);
    return found;
}

/* Another name of this function holds the sequence (or, deep, a part of it): what a pass changes
   would have to show there too. */
static void refuse_shared(Loop *l, const Binding *b, bool deep)
{
    const Scope *scope = l->sp->frame->scope;
    for (int i = 0; i < scope->len; i++) {
        const Binding *other = &scope->data[i];
        if (other == b || other->state != BIND_SET || !sv_is_sequence(other->value)) continue;
        long size = constant_size(other->value, NULL) * (deep ? constant_size(b->value, NULL) : 1);
        if (!spec_step_items(l->sp, size, l->s->span)) return;
        if (!shares(other->value, b->value.tuple, deep)) continue;
        spec_error(l->sp, l->s->span,
                   "this loop changes a part of '%s', which shares its value with '%s'", b->name,
                   other->name);
        spec_note(l->sp, other->where, "shared here");
        return;
    }
}

/* Names that are not assigned but hold a sequence of which a part is. */
static void add_changed(Loop *l, AstNames *assigned)
{
    AstNames changed = {0}, deep = {0};
    walk_changed(l->sp->arena, l->body, &changed, &deep);
    for (int i = 0; i < changed.len; i++) {
        const Binding *b = scope_find(l->sp->frame->scope, changed.data[i]);
        if (!b || b->state != BIND_SET || !sv_is_sequence(b->value)) continue;
        refuse_shared(l, b, walk_has(&deep, b->name));
        if (!walk_has(assigned, b->name)) vec_push(l->sp->arena, assigned, b->name);
    }
}

/* The names that the loop assigns and that had a value before. */
static void find_names(Loop *l, const Ast *target)
{
    Spec *sp = l->sp;
    Scope *scope = sp->frame->scope;
    AstNames assigned = {0}, targets = {0};
    if (target) walk_target(sp->arena, target, &assigned), walk_target(sp->arena, target, &targets);
    walk_assigned(sp->arena, l->body, &assigned);
    add_changed(l, &assigned);
    l->names = arena_array(sp->arena, LoopName, assigned.len + 1);
    for (int i = 0; i < assigned.len; i++) {
        LoopName x = {.name = assigned.data[i], .index = scope_declare(scope, assigned.data[i])};
        x.before = scope->data[x.index];
        if (x.before.state != BIND_SET) continue;
        x.is_target = walk_has(&targets, x.name);
        x.fate = first_fate(l, &x);
        l->names[l->n++] = x;
    }
}

static void open_loop(Loop *l, const Ast *target)
{
    find_names(l, target);
    l->at = l->sp->b;
    l->before = scope_save(l->sp->frame->scope);
}

/* The leaves to carry, from the values before the loop. */
static void collect_inits(Loop *l)
{
    l->inits.len = 0;
    for (int i = 0; i < l->n; i++) {
        LoopName *x = &l->names[i];
        x->first = l->inits.len;
        if (x->fate == FATE_CARRY &&
            !merge_flatten(l->sp, x->before.value, &l->inits, x->before.where)) {
            x->fate = FATE_KEEP;
            x->before.value = l->sp->frame->scope->data[x->index].value = sv_error();
        }
        x->count = l->inits.len - x->first;
    }
}

static void set_carried(Loop *l, Value *const *values)
{
    Scope *scope = l->sp->frame->scope;
    for (int i = 0; i < l->n; i++) {
        LoopName *x = &l->names[i];
        Binding *b = &scope->data[x->index];
        if (x->fate == FATE_CARRY) {
            int next = x->first;
            b->value = merge_rebuild(l->sp, x->before.value, false, values, &next);
            if (b->value.kind == SV_VALUE && !b->value.v->name) b->value.v->name = x->name;
        } else if (x->fate == FATE_LOCAL) {
            b->state = BIND_CONFLICT;
            b->other = SPAN_NONE;
            b->why = arena_printf(l->sp->arena, "'%s' differs in type between passes of the loop",
                                  x->name);
        }
    }
}

static void report_change(Loop *l, LoopName *x, const Binding *end)
{
    x->is_refused = true;
    Spec *sp = l->sp;
    if (end->state != BIND_SET) {
        const char *deleted = arena_printf(
            sp->arena, "'%s' is deleted in this loop, but its next turn reads it", x->name);
        spec_error(sp, end->where, "%s", end->state == BIND_NONE ? deleted : end->why);
    } else {
        SpecValue before = strengthen(sp, x->before.value, x->before.where);
        spec_error(sp, end->where,
                   "'%s' is %s here, but %s before the loop; a loop cannot change the type or "
                   "shape of a value",
                   x->name, spec_describe(sp, end->value), spec_describe(sp, before));
    }
    spec_note(sp, x->before.where, "'%s' gets its value before the loop here", x->name);
    if (end->state == BIND_SET) advise_accumulator(sp, x->name, x->before.value, end->value);
}

/* The end value in the leaves' types. */
static bool flatten_final(Loop *l, const LoopName *x, const Binding *end)
{
    int first = l->finals.len;
    if (end->state != BIND_SET || end->value.kind == SV_ERROR) return false;
    if (!merge_flatten(l->sp, end->value, &l->finals, end->where) ||
        l->finals.len - first != x->count)
        return false;
    for (int i = 0; i < x->count; i++) {
        const Value *init = l->inits.data[x->first + i], *final = l->finals.data[first + i];
        if (final->type != init->type || !memory_is_alike(l->sp, init, final)) return false;
    }
    return sv_is_same_form(x->before.value, end->value);
}

/* One pass over the names after the body was executed. True when it must be executed again. */
static bool review(Loop *l, Value *const *args, bool is_last_try)
{
    Scope *scope = l->sp->frame->scope;
    bool again = false;
    l->finals.len = 0;
    for (int i = 0; i < l->n; i++) {
        LoopName *x = &l->names[i];
        const Binding *end = &scope->data[x->index];
        bool early = scope->read_early[x->index];
        if (x->fate == FATE_CARRY) {
            int first = l->finals.len;
            if (flatten_final(l, x, end)) continue;
            bool is_error = end->state == BIND_SET && end->value.kind == SV_ERROR;
            if (!is_error && (!early || x->is_target) && !is_last_try) {
                learn(l, x, FATE_LOCAL);
                again = true;
            } else if (!is_error) {
                report_change(l, x, end);
            }
            l->finals.len = first;
            for (int k = 0; k < x->count; k++)
                vec_push(l->sp->arena, &l->finals, args[x->first + k]);
        } else if (x->fate == FATE_KEEP) {
            if (end->state == BIND_SET &&
                (end->value.kind == SV_ERROR || sv_is_same(end->value, x->before.value)))
                continue;
            bool can_carry = sv_is_operand(x->before.value) || sv_is_sequence(x->before.value);
            if (is_last_try || (!can_carry && early)) {
                report_change(l, x, end);
                continue;
            }
            learn(l, x, can_carry ? FATE_CARRY : FATE_LOCAL);
            again = true;
        }
    }
    return again;
}

/* ---- trying ---- */

/* Takes back a try: its ops, its names, what it reported. */
static void forget_try(Loop *l, const Diags *before)
{
    Spec *sp = l->sp;
    sp->b = l->at;
    ir_unlink(l->op);
    scope_restore(sp->frame->scope, &l->before);
    *sp->dx = *before;
    if (sp->dx->last) sp->dx->last->next = NULL;
    sp->last_error = NULL;
}

static void run_loop_body(Loop *l)
{
    l->sp->frame->runtime_loops++;
    in_loop(l->sp, LOOP_RUNTIME, exec_cut, (void *)l->body);
    l->sp->frame->runtime_loops--;
}

/* Leaves that no pass changes need not be carried: what was before the loop serves. */
static void drop_leaf(Loop *l, int i)
{
    for (int k = 0; k < l->op->nregions; k++)
        ir_replace_uses(carry_param(l->op->regions[k], i), l->inits.data[i]);
    ir_stop_passing(l->op, i);
    ir_remove_slot(l->op, i);
}

/* The values of the leaves behind the loop. */
static Value **loop_results(Loop *l)
{
    Value **results = arena_array(l->sp->arena, Value *, l->inits.len + 1);
    const Region *body = l->op->regions[l->op->nregions - 1];
    for (int i = l->inits.len - 1; i >= 0; i--) {
        const Value *end = carry_passed(body, i);
        bool is_invariant = end == carry_param(body, i) || end == l->inits.data[i];
        results[i] = is_invariant ? l->inits.data[i] : l->op->results[i];
        if (is_invariant) drop_leaf(l, i);
    }
    return results;
}

/* The scope behind the loop. */
static void close_loop(Loop *l, Value **results)
{
    Spec *sp = l->sp;
    Scope *scope = sp->frame->scope;
    ScopeCopy inside = scope_save(scope);
    scope_restore(scope, &l->before);
    set_carried(l, results);
    for (int i = 0; i < scope->len; i++) {
        Binding *b = &scope->data[i];
        const Binding *in = &inside.data[i];
        bool was_fresh = i < l->before.len && l->before.data[i].is_fresh;
        bool is_old = i < l->before.len && l->before.data[i].state != BIND_NONE;
        scope->read_early[i] =
            (i < l->before.len && l->before.read_early[i]) || (inside.read_early[i] && !was_fresh);
        if (is_old || in->state == BIND_NONE) continue;
        *b = *in;
        b->is_fresh = false;
        if (b->state == BIND_SET)
            b->why = arena_printf(sp->arena,
                                  "'%s' may be undefined here: it is assigned inside a loop only",
                                  b->name);
        if (b->state == BIND_SET) b->state = BIND_MAYBE;
    }
    for (int i = 0; i < l->n; i++) {
        LoopName *x = &l->names[i];
        Binding *b = &scope->data[x->index];
        if (x->fate != FATE_KEEP && !x->before.is_fresh)
            scope->read_early[x->index] |= x->fate == FATE_CARRY;
        if (x->fate == FATE_CARRY) b->where = inside.data[x->index].where;
        if (x->is_refused && b->state == BIND_SET) b->value = sv_error();
        if (x->fate != FATE_LOCAL) continue;
        const Binding *in = &inside.data[x->index];
        b->other = in->where.begin == b->where.begin ? in->other : in->where;
        b->why = arena_printf(sp->arena,
                              in->state == BIND_NONE
                                  ? "'%s' may have no value here: a loop deletes it"
                                  : "'%s' has another type behind the loop than before it",
                              x->name);
    }
}

/* Until a try has learned nothing new. */
static void try_loop(Loop *l, bool (*try_once)(Loop *l, bool is_last_try))
{
    Spec *sp = l->sp;
    for (int k = 0;; k++) {
        Diags mark = *sp->dx;
        bool again = try_once(l, k >= MAX_TRIES);
        if (!again || sp->out_of_budget) return;
        forget_try(l, &mark);
    }
}

/* A try that the budget ended has learned of names that its op does not carry yet. */
static Flow end_loop(Loop *l, const AstList *orelse)
{
    Spec *sp = l->sp;
    if (sp->out_of_budget) {
        sp->b = l->at;
        scope_restore(sp->frame->scope, &l->before);
        poison_assigned(sp, l->body);
        return FLOW_STOP;
    }
    build_yield(&sp->b, l->finals.len, l->finals.data);
    sp->b = l->at;
    close_loop(l, loop_results(l));
    return exec_block(sp, orelse, &rest_cut);
}

/* ---- for ---- */

/* A bound below zero is not one of an unsigned loop. */
static bool fits_loop(Spec *sp, Value *bound, const Type *ty, Span at)
{
    int64_t known;
    if (type_kind(ty) != DK_UINT || type_kind(bound->type) == DK_UINT) return true;
    if (!ir_const_int(bound, &known) || known >= 0) return true;
    spec_error(sp, at, "the numbers of a loop are %s: %lld is out of range",
               type_text(sp->arena, ty), (long long)known);
    spec_note(sp, at, "cast the others to a signed type");
    return false;
}

/* Constants are int32 here as if they had a name, or what holds them: a loop up to an int8 counts
   in int32. */
static bool loop_bounds(Loop *l, const SpecRange *r, Span at)
{
    Spec *sp = l->sp;
    spec_at(sp, at);
    SpecValue from = strengthen(sp, r->lower, at), to = strengthen(sp, r->upper, at),
              by = strengthen(sp, r->step, at);
    Value *lower, *upper, *step;
    if (!unify(sp, from, to, UNIFY_NUMBERS, &lower, &upper, "the bounds of a loop", at)) return false;
    if (!unify(sp, sv_value(upper), by, UNIFY_NUMBERS, &upper, &step, "the step of a loop", at)) return false;
    const Type *ty = upper->type;
    check(type_is_scalar(ty) && type_is_int(ty), "a loop to %s", type_text(sp->arena, ty));
    if (!fits_loop(sp, from.v, ty, at) || !fits_loop(sp, to.v, ty, at) ||
        !fits_loop(sp, by.v, ty, at))
        return false;
    if (type_is_bool(ty)) ty = type_scalar(sp->ir->types, DT_I32);
    Value *const bounds[] = {lower, upper, step};
    for (int i = 0; i < 3; i++) l->bounds[i] = op_cast(sp, bounds[i], ty, false, NULL, at);
    int64_t known;
    bool is_known = ir_const_int(l->bounds[2], &known);
    l->is_down = is_known && known < 0 && type_kind(ty) == DK_INT;
    if (!is_known || known != 0) return true;
    return spec_fail(sp, at, "the step of a loop must not be 0");
}

/* True when the body must be executed again with what was learned. */
static bool try_for(Loop *l, bool is_last_try)
{
    Spec *sp = l->sp;
    collect_inits(l);
    l->op =
        build_for(&sp->b, l->bounds[0], l->bounds[1], l->bounds[2], l->inits.len, l->inits.data);
    if (l->is_down) ir_set_int(l->sp->fn, l->op, ATTR_DOWN, 1);
    if (l->range->stages) ir_set_int(l->sp->fn, l->op, ATTR_STAGES, l->range->stages);
    if (l->range->unroll > 1) ir_set_int(l->sp->fn, l->op, ATTR_UNROLL, l->range->unroll);
    if (l->range->no_licm) ir_set_int(l->sp->fn, l->op, ATTR_NO_LICM, 1);
    Region *body = l->op->regions[0];
    sp->b = build_in(&sp->b, body);
    set_carried(l, body->args + carry_own_params(l->op));
    scope_watch(sp->frame->scope);
    assign(sp, l->s->loop.target, sv_value(body->args[0]), true, l->s->loop.target->span);
    run_loop_body(l);
    return review(l, body->args + carry_own_params(l->op), is_last_try);
}

static Flow exec_runtime_for(Spec *sp, const Ast *s, const SpecRange *range)
{
    Loop l = {.sp = sp, .s = s, .range = range, .body = &s->loop.body};
    if (!loop_bounds(&l, range, s->loop.iter->span)) {
        poison_assigned(sp, &s->loop.body);
        return FLOW_NEXT;
    }
    open_loop(&l, s->loop.target);
    try_loop(&l, try_for);
    return end_loop(&l, &s->loop.orelse);
}

/* True when everything the loop runs over is known and it is to be executed here. */
static bool is_host_range(const Spec *sp, const SpecRange *r)
{
    if (r->is_static) return true;
    return sp->frame->is_host && !sv_is_runtime(r->lower) && !sv_is_runtime(r->upper) &&
           !sv_is_runtime(r->step);
}

Flow exec_for(Spec *sp, const Ast *s)
{
    SpecValue iter = spec_eval(sp, s->loop.iter), *items;
    if (iter.kind == SV_RANGE && !is_host_range(sp, iter.range))
        return exec_runtime_for(sp, s, iter.range);
    int n = sv_is_error(iter) ? -1 : op_items(sp, iter, &items, s->loop.iter->span);
    if (n < 0 && !sv_is_error(iter)) advise_loop(sp, iter, s->loop.iter->span);
    if (n >= 0) return exec_unrolled(sp, s, items, n);
    poison_assigned(sp, &s->loop.body);
    assign(sp, s->loop.target, sv_error(), true, s->loop.target->span);
    return FLOW_NEXT;
}

/* ---- while ---- */

static Flow host_passes(Spec *sp, void *ctx)
{
    const Ast *s = ctx;
    Flow flow = FLOW_NEXT;
    while (spec_step(sp, s->span) && (flow == FLOW_NEXT || flow == FLOW_CONTINUE)) {
        SpecValue cond = eval_constant(sp, s->branch.cond, "the condition of a loop in host code");
        if (sv_is_error(cond) || op_truth(sp, cond, s->branch.cond->span) <= 0) break;
        flow = exec_block(sp, &s->branch.body, &rest_cut);
    }
    return flow == FLOW_BREAK || flow == FLOW_CONTINUE ? FLOW_NEXT : flow;
}

/* The condition's region. Gives the truth of the condition as known under the names' present fates;
   -2 after an error. */
static int while_head(Loop *l)
{
    Spec *sp = l->sp;
    Region *head = l->op->regions[0];
    const Ast *e = l->s->branch.cond;
    sp->b = build_at_end(sp->fn, head);
    set_carried(l, head->args);
    scope_watch(sp->frame->scope);
    ScopeCopy watched = scope_save(sp->frame->scope);
    spec_at(sp, e->span);
    SpecValue cond = spec_eval(sp, e);
    int truth = op_truth(sp, weaken(cond), e->span);
    Value *c = truth == -2  ? NULL
               : truth >= 0 ? build_bool(&sp->b, truth)
                            : branch_condition(sp, cond, e->span);
    build_condition(&sp->b, c ? c : build_bool(&sp->b, false), head->nargs, head->args);
    scope_restore(sp->frame->scope, &watched);
    return c ? truth : -2;
}

static bool try_while(Loop *l, bool is_last_try)
{
    Spec *sp = l->sp;
    collect_inits(l);
    spec_at(sp, l->s->branch.cond->span);
    l->op = build_while(&sp->b, l->inits.len, l->inits.data);
    l->truth = while_head(l);
    if (l->truth == 0 || l->truth == -2) return false;
    Region *body = l->op->regions[1];
    sp->b = build_at_end(sp->fn, body);
    set_carried(l, body->args);
    run_loop_body(l);
    return review(l, body->args, is_last_try);
}

static bool is_named(const Ast *n, void *user)
{
    (void)user;
    return n->kind == AST_NAMED;
}

static Flow exec_runtime_while(Spec *sp, const Ast *s)
{
    Loop l = {.sp = sp, .s = s, .body = &s->branch.body};
    const int before = sp->dx->nerrors;
    open_loop(&l, NULL);
    try_loop(&l, try_while);
    if (l.truth == 0 || l.truth == -2) { /* never entered, or not understood */
        sp->b = l.at;
        ir_unlink(l.op);
        scope_restore(sp->frame->scope, &l.before);
        if (l.truth == -2) poison_assigned(sp, &s->branch.body);
        return l.truth == 0 ? exec_block(sp, &s->branch.orelse, &rest_cut) : FLOW_NEXT;
    }
    if (l.truth == 1 && sp->dx->nerrors == before) /* else a break that is an error may have ended it */
        spec_error(sp, s->branch.cond->span, "this loop never ends: its condition is always true");
    return end_loop(&l, &s->branch.orelse);
}

Flow exec_while(Spec *sp, const Ast *s)
{
    if (sp->frame->is_host) return in_loop(sp, LOOP_UNROLLED, host_passes, (void *)s);
    if (!walk_any(s->branch.cond, is_named, NULL)) return exec_runtime_while(sp, s);
    spec_error(sp, s->branch.cond->span,
               "':=' in the condition of a run-time loop is not supported; assign before the loop "
               "and at its end");
    poison_assigned(sp, &s->branch.body);
    return FLOW_NEXT;
}
