/* Branches: `if` and conditional expressions.

   A run-time branch executes both arms, each in its own region, and then compares what they bound:
   a name that differs becomes a result of the op. If one arm returns and the other does not, the
   rest of the function is executed inside the other arm. Where that cannot be (the branch sits in
   another arm or in a loop) a flag says whether the function has returned, and what follows is put
   under `if` of that flag.

   In the function of tl.map_elementwise a condition may be a block. Both arms are then computed for
   all elements, and what would be the results of the op is selected by the condition; so the arms
   must have no effects and read no memory. */

#include "base/unwind.h"
#include "spec/advice.h"
#include "spec/broadcast.h"
#include "spec/merge.h"
#include "spec/walk.h"

bool branch_is_by_element(const Spec *sp, SpecValue v)
{
    return sp->elementwise > 0 && v.kind == SV_VALUE && tkc_type_count(v.v->type) != 1;
}

Value *branch_condition(Spec *sp, SpecValue v, Span at)
{
    if (v.kind != SV_VALUE) v = strengthen(sp, v, at);
    if (v.kind == SV_ERROR) return NULL;
    bool by_element = v.kind == SV_VALUE && branch_is_by_element(sp, v);
    check(v.kind == SV_VALUE && (tkc_type_count(v.v->type) == 1 || by_element), "a condition of %s",
          spec_describe(sp, v));
    spec_at(sp, at);
    if (!by_element) v.v = shape_fill(sp, v.v, &(Shape){0});
    return op_cast(sp, v.v, type_scalar(sp->ir->types, DT_I1), false, NULL, at);
}

void poison_assigned(Spec *sp, const AstList *body)
{
    AstNames names = {0};
    walk_assigned(sp->arena, body, &names);
    for (int i = 0; i < names.len; i++)
        scope_set(sp->frame->scope, names.data[i], sv_error(), sp->frame->stmt);
}

/* ---- run-time branches ---- */

typedef struct Arm {
    Flow flow;
    Outcome out;
    ScopeCopy scope;
    Builder b;
} Arm;

/* One `if` op being made. */
typedef struct Branch {
    Spec *sp;
    Op *op;
    Value *lanes; /* a block of conditions, in place of the op's; or NULL */
    Arm arm[2];
    ScopeCopy before;
    Span at;
} Branch;

static bool is_live(const Arm *a)
{
    return a->flow == FLOW_NEXT || a->flow == FLOW_MAYBE;
}

static bool has_returned(const Arm *a)
{
    return a->flow == FLOW_RETURN || a->flow == FLOW_MAYBE;
}

/* Executes an arm, or more of it; the names are then again as before the branch. */
static void run_arm(Branch *br, int k, ArmFn run, void *ctx)
{
    Spec *sp = br->sp;
    Arm *a = &br->arm[k];
    Frame *f = sp->frame;
    f->out = (Outcome){.value = sv_none()};
    f->branches++;
    sp->b = a->b;
    a->flow = run(sp, ctx);
    f->branches--;
    a->out = f->out;
    a->b = sp->b;
    a->scope = scope_save(f->scope);
    scope_restore(f->scope, &br->before);
}

static bool is_rest_open(const Rest *rest)
{
    for (; rest; rest = rest->outer)
        if (!rest->list) return false;
    return true;
}

/* One arm has left the function: the other takes the rest of it along. */
static void take_rest(Branch *br, const Rest *rest)
{
    for (int k = 0; k < 2; k++) {
        if (br->arm[k].flow != FLOW_NEXT || is_live(&br->arm[!k])) continue;
        scope_restore(br->sp->frame->scope, &br->arm[k].scope);
        run_arm(br, k, exec_rest, (void *)rest);
        return;
    }
}

static const Binding *binding_in(const ScopeCopy *copy, int i)
{
    static const Binding none;
    return i < copy->len ? &copy->data[i] : &none;
}

static Binding merge_bindings(Branch *br, Join *j, const Binding *a, const Binding *b,
                              const Binding *old)
{
    Spec *sp = br->sp;
    Binding out = *a;
    if (a->state == BIND_SET && b->state == BIND_SET) {
        out.is_fresh = a->is_fresh && b->is_fresh;
        if (a->where.begin == old->where.begin && a->where.source == old->where.source)
            out.where = b->where;
        if (merge_join(j, a->value, b->value, br->at, &out.value)) return out;
        out.state = BIND_CONFLICT;
        out.other = b->where;
        out.where = a->where;
        out.why = arena_printf(
            sp->arena, "Mismatched type for %s: it is %s on one path and %s on the other", a->name,
            spec_describe(sp, a->value), spec_describe(sp, b->value));
        out.advice = advise_conflict(sp, a->value, b->value);
        return out;
    }
    if (a->state == BIND_CONFLICT || b->state == BIND_CONFLICT) {
        const Binding *assigned = a->state == BIND_CONFLICT ? b : a;
        out = a->state == BIND_CONFLICT ? *a : *b;
        if (!out.other.source && assigned->state == BIND_SET) out.other = assigned->where;
        return out;
    }
    if (a->state == BIND_NONE && b->state == BIND_NONE) return *old;
    out = a->state == BIND_NONE ? *b : *a;
    if (out.state == BIND_SET) {
        out.state = BIND_MAYBE;
        out.why = arena_printf(
            sp->arena, "'%s' may be undefined here: it is assigned in one branch of an 'if' only",
            out.name);
    }
    return out;
}

/* The names after the branch, with marks where results of the op go. */
static Binding *merge_names(Branch *br, Join *j, int n)
{
    bool left = is_live(&br->arm[0]), right = is_live(&br->arm[1]);
    Binding *out = arena_array(br->sp->arena, Binding, n + 1);
    for (int i = 0; i < n; i++) {
        const Binding *a = binding_in(&br->arm[0].scope, i), *b = binding_in(&br->arm[1].scope, i);
        const Binding *old = binding_in(&br->before, i);
        if (left && right) out[i] = merge_bindings(br, j, a, b, old);
        else out[i] = left ? *a : right ? *b : *old;
        if (left != right && out[i].state == BIND_SET)
            out[i].value = merge_fill(j, out[i].value, left);
    }
    return out;
}

static SpecValue unlike_returns(Spec *sp, const Outcome *a, const Outcome *b)
{
    if (a->is_end || b->is_end) return exec_lacks_value(sp, a->is_end ? b : a);
    spec_error(sp, a->at, "Return type mismatch: '%s' returns %s here and %s elsewhere", sp->frame->fn->name,
               spec_describe(sp, a->value), spec_describe(sp, b->value));
    return spec_note(sp, b->at, "the other return");
}

static SpecValue merge_outcomes(Branch *br, Join *j)
{
    const Arm *a = &br->arm[0], *b = &br->arm[1];
    SpecValue out = sv_none();
    if (has_returned(a) && has_returned(b)) {
        if (merge_join(j, a->out.value, b->out.value, br->at, &out)) return out;
        return unlike_returns(br->sp, &a->out, &b->out);
    }
    if (has_returned(a)) out = merge_fill(j, a->out.value, true);
    if (has_returned(b)) out = merge_fill(j, b->out.value, false);
    return out;
}

static Value *returned_flag(Arm *a)
{
    if (a->flow == FLOW_MAYBE) return a->out.flag;
    return build_bool(&a->b, a->flow == FLOW_RETURN);
}

static Flow flow_after(const Arm *a, const Arm *b)
{
    if (!is_live(a) && !is_live(b))
        return has_returned(a) || has_returned(b) ? FLOW_RETURN : FLOW_STOP;
    return has_returned(a) || has_returned(b) ? FLOW_MAYBE : FLOW_NEXT;
}

/* ---- conditions that are blocks ---- */

static bool can_speculate(const Op *op)
{
    return op->nregions ? op->kind != OP_WHILE
                        : ir_is_terminator(op) || ir_has(op, OT_CONST) || ir_has(op, OT_PURE);
}

static void hoist_arms(Op *branch)
{
    for (int k = 0; k < 2; k++) {
        for (Op *op = branch->regions[k]->first, *next; op; op = next) {
            next = op->next;
            ir_move_before(op, branch);
        }
    }
}

static Value *select_lane(Branch *br, Value *x, Value *y)
{
    Spec *sp = br->sp;
    Value *cond = br->lanes;
    if (!broadcast_pair(sp, &x, &cond, br->at) || !broadcast_pair(sp, &y, &cond, br->at) ||
        !broadcast_pair(sp, &x, &cond, br->at)) {
        return NULL;
    }
    return build_select(&sp->b, cond, x, y);
}

/* Takes the op apart; gives what stands for its results. */
static Value **select_results(Branch *br, Join *j)
{
    Spec *sp = br->sp;
    if (!ir_holds_for_all(br->op->regions[0], can_speculate) ||
        !ir_holds_for_all(br->op->regions[1], can_speculate))
        spec_error(sp, br->at,
                   "a condition on the elements is only for computing: no memory, no effects, no "
                   "'while' under it");
    hoist_arms(br->op);
    Value **results = arena_array(sp->arena, Value *, j->left.len + 1);
    for (int i = 0; i < j->left.len; i++) {
        results[i] = select_lane(br, j->left.data[i], j->right.data[i]);
        if (!results[i]) results[i] = j->left.data[i]; /* reported */
    }
    ir_unlink(br->op);
    return results;
}

/* Gives the op its results; returns them. */
static Value **finish_op(Branch *br, Join *j)
{
    Op *op = br->op;
    if (br->lanes) return select_results(br, j);
    build_yield(&br->arm[0].b, j->left.len, j->left.data);
    build_yield(&br->arm[1].b, j->right.len, j->right.data);
    for (int i = 0; i < j->left.len; i++) ir_add_result(op, j->left.data[i]->type);
    return op->results;
}

static void set_names(Spec *sp, Binding *names, int n, Value *const *results, int *next)
{
    Scope *s = sp->frame->scope;
    for (int i = 0; i < n; i++) {
        if (names[i].state == BIND_SET) {
            names[i].value = merge_rebuild(sp, names[i].value, true, results, next);
            if (names[i].value.kind == SV_VALUE && !names[i].value.v->name)
                names[i].value.v->name = names[i].name;
        }
        names[i].name = s->data[i].name;
        s->data[i] = names[i];
    }
}

static Flow join_arms(Branch *br)
{
    Spec *sp = br->sp;
    Arm *a = &br->arm[0], *b = &br->arm[1];
    Flow flow = flow_after(a, b);
    Join j = {.sp = sp, .a = &a->b, .b = &b->b, .lanes = br->lanes};
    int n = sp->frame->scope->len, next = 0;
    Binding *names = merge_names(br, &j, n);
    SpecValue value = merge_outcomes(br, &j);
    if (flow == FLOW_MAYBE) {
        vec_push(sp->arena, &j.left, returned_flag(a));
        vec_push(sp->arena, &j.right, returned_flag(b));
    }
    Value **results = finish_op(br, &j);
    set_names(sp, names, n, results, &next);
    sp->frame->out = (Outcome){.value = merge_rebuild(sp, value, true, results, &next),
                               .at = has_returned(a) ? a->out.at : b->out.at};
    if (flow == FLOW_MAYBE) sp->frame->out.flag = results[next];
    return flow;
}

static Builder open_branch(Branch *br, Value *cond)
{
    Spec *sp = br->sp;
    spec_at(sp, br->at);
    br->lanes = type_is_block(cond->type) ? cond : NULL;
    br->op = build_if(&sp->b, br->lanes ? build_bool(&sp->b, true) : cond, 0, NULL);
    br->before = scope_save(sp->frame->scope);
    for (int k = 0; k < 2; k++) br->arm[k].b = build_in(&sp->b, br->op->regions[k]);
    return sp->b;
}

/* ---- if ---- */

static Flow run_time_if(Spec *sp, Value *cond, const Ast *s, const Rest *rest)
{
    Branch br = {.sp = sp, .at = s->span};
    bool is_open = is_rest_open(rest);
    Builder after = open_branch(&br, cond);
    run_arm(&br, 0, exec_cut, (void *)&s->branch.body);
    if (is_open && !is_live(&br.arm[0])) { /* all that follows belongs to the second */
        run_arm(&br, 1, exec_rest, &(Rest){&s->branch.orelse, 0, rest});
    } else {
        run_arm(&br, 1, exec_cut, (void *)&s->branch.orelse);
        if (is_open) take_rest(&br, rest);
    }
    sp->b = after;
    return join_arms(&br);
}

Flow exec_if(Spec *sp, const Ast *s, const Rest *rest)
{
    Span at = s->branch.cond->span;
    SpecValue cond = spec_eval(sp, s->branch.cond);
    int truth = condition_truth(sp, cond, at);
    if (truth == -2) {
        poison_assigned(sp, &s->branch.body);
        poison_assigned(sp, &s->branch.orelse);
        return FLOW_NEXT;
    }
    if (truth >= 0) return exec_block(sp, truth ? &s->branch.body : &s->branch.orelse, rest);
    Value *c = branch_condition(sp, cond, at);
    if (!c) return FLOW_NEXT;
    return run_time_if(sp, c, s, rest);
}

static Flow already_returned(Spec *sp, void *ctx)
{
    sp->frame->out = *(const Outcome *)ctx;
    return FLOW_RETURN;
}

Flow exec_unless_returned(Spec *sp, ArmFn go, void *ctx)
{
    Outcome out = sp->frame->out;
    Value *flag = out.flag;
    out.flag = NULL;
    Branch br = {.sp = sp, .at = out.at};
    Builder after = open_branch(&br, flag);
    run_arm(&br, 0, already_returned, &out);
    run_arm(&br, 1, go, ctx);
    sp->b = after;
    return join_arms(&br);
}

/* ---- conditional expressions ---- */

typedef struct Choice { const Ast *e; SpecValue value; } Choice;

static Flow run_choice(Spec *sp, void *ctx)
{
    Choice *c = ctx;
    c->value = spec_eval(sp, c->e);
    return FLOW_NEXT;
}

/* A number beside a run-time value takes that value's type, as it would in an operator. */
static SpecValue adopt_type(Spec *sp, Builder *b, SpecValue number, SpecValue other, Span at)
{
    if (!sv_is_number(number) || other.kind != SV_VALUE || type_is_pointer(other.v->type))
        return number;
    Builder saved = sp->b;
    sp->b = *b;
    Value *x, *y;
    bool ok = unify(sp, number, other, UNIFY_NUMBERS, &x, &y, "a conditional expression", at) && y == other.v;
    *b = sp->b;
    sp->b = saved;
    return ok ? sv_value(x) : number;
}

SpecValue eval_branches(Spec *sp, Value *cond, const Ast *then, const Ast *orelse, Span at)
{
    Choice choice[2] = {{.e = then}, {.e = orelse}};
    Branch br = {.sp = sp, .at = at};
    Outcome out = sp->frame->out;
    Builder after = open_branch(&br, cond);
    for (int k = 0; k < 2; k++) run_arm(&br, k, run_choice, &choice[k]);
    sp->b = after;
    sp->frame->out = out;
    choice[0].value = adopt_type(sp, &br.arm[0].b, choice[0].value, choice[1].value, at);
    choice[1].value = adopt_type(sp, &br.arm[1].b, choice[1].value, choice[0].value, at);
    Join j = {.sp = sp, .a = &br.arm[0].b, .b = &br.arm[1].b, .lanes = br.lanes};
    SpecValue v;
    int next = 0;
    bool ok = merge_join(&j, choice[0].value, choice[1].value, at, &v);
    Value **results = finish_op(&br, &j);
    if (ok) return merge_rebuild(sp, v, true, results, &next);
    return spec_error(sp, at,
                      "Ternary expression with dynamic condition has inconsistent types %s and %s",
                      spec_describe(sp, choice[0].value), spec_describe(sp, choice[1].value));
}
