/* Statements, one after the other. Each says how control leaves it (Flow); what is left of the
   enclosing blocks is handed along as a chain (Rest), so that an early `return` under a run-time
   `if` can put the rest of the function into the other branch. */
#include <string.h>

#include "base/unwind.h"
#include "spec/advice.h"
#include "spec/kernel.h"
#include "spec/record.h"

const Rest rest_cut = {0};

/* ---- assignment ---- */

/* A number that is known now, as a debugger finds it when the program runs. */
static Value *known_value(Spec *sp, SpecValue v)
{
    if (v.kind == SV_BOOL) return build_bool(&sp->b, v.b);
    if (v.kind == SV_FLOAT) return build_float(&sp->b, DT_F64, v.f);
    if (v.kind != SV_INT || v.i != (int64_t)v.i) return NULL;
    return build_int(&sp->b, DT_I64, (int64_t)v.i);
}

SpecValue name_value(Spec *sp, SpecValue v, Str name, Span at)
{
    bool is_choice = v.kind == SV_VALUE && v.v->def && v.v->def->kind == OP_IF; /* a if c else b */
    if (v.kind == SV_VALUE && !v.v->name && !(sp->rq->debug && is_choice)) {
        v.v->name = name;
    } else if (v.kind == SV_VALUE && v.v->name && !v.v->def &&
               (strcmp(v.v->name, name) == 0 || type_is_pointer(v.v->type))) {
        return v; /* it is that name already; and a pointer argument keeps its declared extents by
                     being itself */
    } else if (sp->rq->debug) { /* each name has a value of its own */
        spec_at(sp, at);
        Value *own = v.kind == SV_VALUE ? build_copy(&sp->b, v.v) : known_value(sp, v);
        if (own) own->name = name;
        if (v.kind == SV_VALUE) v.v = own;
    }
    return v;
}

/* The items of v for `wanted` targets, one of which may be starred; -1 after an error. Triton drops
   what is left over, where Python raises: kernels follow the one, host code the other. */
static int items_for(Spec *sp, SpecValue v, int wanted, bool has_star, SpecValue **items, Span at)
{
    int n = sv_is_error(v) ? -1 : op_items(sp, v, items, at);
    if (n < 0 || n == wanted || (has_star && n >= wanted - 1)) return n;
    const char *s = n == 1 ? "" : "s", *t = wanted == 1 ? "" : "s";
    if (n < wanted || has_star || sp->frame->is_host)
        return spec_count(sp, at, "cannot unpack %d value%s into %d name%s", n, s, wanted, t);
    spec_warning(sp, DIAG_UNPACK, at, "%d value%s for %d name%s: the rest is dropped", n, s, wanted, t);
    return n;
}

static void assign_items(Spec *sp, const AstList *targets, SpecValue v, bool weak, Span at)
{
    SpecValue *items = NULL;
    int star = -1;
    for (int i = 0; i < targets->len; i++)
        if (targets->data[i]->kind == AST_STARRED) star = i;
    int n = items_for(sp, v, targets->len, star >= 0, &items, at);
    for (int i = 0; i < targets->len; i++) {
        const Ast *t = targets->data[i];
        if (n < 0) {
            assign(sp, t->kind == AST_STARRED ? t->unary.operand : t, sv_error(), weak, at);
        } else if (i == star) {
            const int rest = n - targets->len + 1;
            assign(sp, t->unary.operand, constant_sequence(sp, SV_LIST, rest, items + i), weak, at);
        } else {
            assign(sp, t, items[star >= 0 && i > star ? n - targets->len + i : i], weak, at);
        }
    }
}

static void assign_subscript(Spec *sp, const Ast *target, SpecValue v, bool weak, Span at)
{
    SpecValue x = spec_eval(sp, target->subscript.value),
              index = spec_eval(sp, target->subscript.index);
    if (sv_is_error(x) || sv_is_error(index) || sv_is_error(v)) return;
    spec_at(sp, at);
    bool is_part = sv_is_sequence(x);
    if (is_part) place_set_item(sp, x, index, weak ? v : strengthen_all(sp, v, at), target->span);
    else op_store_subscript(sp, x, index, v, at);
}

static void assign_attribute(Spec *sp, const Ast *target, SpecValue v, bool weak, Span at)
{
    SpecValue x = spec_eval(sp, target->attribute.value);
    if (sv_is_error(x) || sv_is_error(v)) return;
    if (x.kind == SV_RECORD)
        place_set_field(sp, x, target->attribute.name, weak ? v : strengthen_all(sp, v, at),
                        target->span);
    else spec_error(sp, target->span, "%s has no fields to assign", spec_describe(sp, x));
}

void assign(Spec *sp, const Ast *target, SpecValue v, bool weak, Span at)
{
    switch (target->kind) {
    case AST_NAME:
        if (!weak) v = strengthen_all(sp, v, at);
        v = name_value(sp, v, target->name.id, at);
        scope_set(sp->frame->scope, target->name.id, v, target->span);
        break;
    case AST_TUPLE: case AST_LIST: assign_items(sp, &target->list, v, weak, at); break;
    case AST_SUBSCRIPT: assign_subscript(sp, target, v, weak, at); break;
    case AST_ATTRIBUTE: assign_attribute(sp, target, v, weak, at); break;
    default: /* in the head of a host statement, which the parser reads without complaint */
        spec_error(sp, target->span, "cannot assign to %s", ast_describe(target));
        break;
    }
}

static bool is_unpacking(const AstList *targets)
{
    for (int i = 0; i < targets->len; i++) {
        AstKind kind = targets->data[i]->kind;
        if (kind == AST_TUPLE || kind == AST_LIST) return true;
    }
    return false;
}

static SpecValue refuse_unpacking(Spec *sp, const Ast *s, SpecValue v)
{
    spec_error(sp, s->assign.value->span, "cannot unpack %s: it is one value",
               spec_describe(sp, v));
    advise_unpacking(sp, s->assign.value);
    return sv_error();
}

static void exec_assign(Spec *sp, const Ast *s)
{
    SpecValue v = spec_eval(sp, s->assign.value);
    if (!sp->frame->is_host && !sv_is_number(v))
        v = strengthen_all(sp, v, s->assign.value->span); /* once: `a = b = [1]` share it */
    if (v.kind == SV_VALUE && is_unpacking(&s->assign.targets)) v = refuse_unpacking(sp, s, v);
    for (int i = 0; i < s->assign.targets.len; i++) {
        spec_at(sp, s->assign.value->span);
        assign(sp, s->assign.targets.data[i], v, sp->frame->is_host, s->span);
    }
}

/* `x: tl.constexpr = …` keeps a known value untyped. A run-time one is left what it is: Triton takes
   it, too, and fails at some uses. Other annotations say nothing. */
static void exec_annassign(Spec *sp, const Ast *s)
{
    if (!s->annassign.value) return;
    bool is_constant = kernel_is_constexpr(sp->frame->module->file, s->annassign.annotation);
    SpecValue v = spec_eval(sp, s->annassign.value);
    if (is_constant) v = weaken(v);
    if (is_constant && v.kind == SV_VALUE && !sp->frame->is_host && !spec_in_library(sp))
        spec_warning(sp, DIAG_CONSTEXPR, s->annassign.value->span,
                     "a tl.constexpr is known while compiling, found %s", spec_describe(sp, v));
    assign(sp, s->annassign.target, v, is_constant || sp->frame->is_host, s->span);
}

static void exec_augassign(Spec *sp, const Ast *s)
{
    const Ast *target = s->binary.left;
    SpecValue old = spec_eval(sp, target), v = spec_eval(sp, s->binary.right);
    if (sv_is_error(old) || sv_is_error(v)) {
        if (target->kind == AST_NAME) assign(sp, target, sv_error(), true, s->span);
        return;
    }
    spec_at(sp, s->span);
    assign(sp, target, op_binary(sp, s->binary.op, old, v, s->span), sp->frame->is_host, s->span);
}

static void exec_delete(Spec *sp, const Ast *s)
{
    for (int i = 0; i < s->list.len; i++) {
        const Ast *t = s->list.data[i];
        Binding *b = t->kind == AST_NAME ? scope_find(sp->frame->scope, t->name.id) : NULL;
        if (b) b->state = BIND_NONE, b->where = t->span;
        else spec_error(sp, t->span, "only names of this function can be deleted");
    }
}

/* ---- errors the program raises itself ---- */

/* The text of an exception or message when it is known. */
static const char *message_of(Spec *sp, const Ast *e)
{
    if (!e) return NULL;
    if (e->kind == AST_CALL) return e->call.args.len ? message_of(sp, e->call.args.data[0]) : NULL;
    if (e->kind != AST_STRING && e->kind != AST_FSTRING) return NULL;
    SpecValue v = spec_try(sp, e);
    return v.kind == SV_STR ? v.s : NULL;
}

static Flow exec_raise(Spec *sp, const Ast *s)
{
    const char *message = message_of(sp, s->pair.first);
    spec_error(sp, s->span, "%s", message ? message : "this 'raise' is reached");
    return FLOW_STOP;
}

static Flow exec_assert(Spec *sp, const Ast *s)
{
    SpecValue cond = weaken(spec_eval(sp, s->pair.first));
    if (sv_is_error(cond)) return FLOW_NEXT;
    const char *message = message_of(sp, s->pair.second);
    if (cond.kind != SV_VALUE) {
        int truth = op_truth(sp, cond, s->pair.first->span);
        if (truth == 0)
            spec_error(sp, s->pair.first->span, "assertion failed%s%s", message ? ": " : "",
                       message ? message : "");
        return truth == 0 ? FLOW_STOP : FLOW_NEXT;
    }
    const Builtin *b = builtin_find(NS_TL, "device_assert");
    SpecValue args[2] = {cond, sv_str(intern_cstr(sp->names, message ? message : ""))};
    spec_call(sp, (SpecValue){.kind = SV_BUILTIN, .builtin = b}, 2, args, s->span);
    return FLOW_NEXT;
}

/* ---- leaving ---- */

static Flow exec_return(Spec *sp, const Ast *s)
{
    Frame *f = sp->frame;
    SpecValue v = s->unary.operand ? spec_eval(sp, s->unary.operand) : sv_none();
    if (f->runtime_loops > 0) {
        spec_error(sp, s->span,
                   "'return' inside a run-time loop; set a flag and use it behind the loop, or put "
                   "it into the condition of a 'while'");
        return FLOW_STOP;
    }
    f->out = (Outcome){.value = v, .at = s->span};
    return FLOW_RETURN;
}

static Flow exec_leave(Spec *sp, const Ast *s, Flow flow)
{
    const Frame *f = sp->frame;
    const char *word = flow == FLOW_BREAK ? "break" : "continue";
    check(f->loop != LOOP_NONE, "'%s' outside a loop", word);
    if (f->loop == LOOP_RUNTIME) {
        spec_error(sp, s->span, "'%s' in a run-time loop; %s", word,
                   flow == FLOW_BREAK ? "write a 'while' with the condition"
                                      : "put what follows under an 'if'");
        if (flow == FLOW_BREAK)
            spec_note(sp, SPAN_NONE, "a value can carry it: 'more = True' before the loop, 'while more "
                                     "and …', and 'more = not (…)' at its end");
    } else if (f->branches > 0) {
        spec_error(sp, s->span, "'%s' under a condition that is only known at run time", word);
    } else {
        return flow;
    }
    return FLOW_STOP;
}

static const struct { AstKind kind; const char *name, *advice; } refused[] = {
    {AST_WITH, "'with'", "move it around the launch, into host code"},
    {AST_TRY, "'try'",
     "nothing raises in a kernel; check with tl.static_assert or tl.device_assert"},
    {AST_GLOBAL, "'global'",
     "names of the file are constants; pass the value as a parameter and return the new one"},
    {AST_NONLOCAL, "'nonlocal'",
     "names of the file are constants; pass the value as a parameter and return the new one"},
    {AST_IMPORT, "'import'", "move it to the top of the file"},
    {AST_FROM, "'import'", "move it to the top of the file"},
    {AST_DEF, "a nested function", "move it to the top of the file, under @triton.jit"},
    {AST_CLASS, "a class", "move it to the top of the file"},
    {AST_SKIPPED, "a type alias", "write it as an assignment at the top of the file"},
};

static Flow refuse(Spec *sp, const Ast *s)
{
    const char *name = ast_describe(s), *advice = NULL;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].kind == s->kind) name = refused[i].name, advice = refused[i].advice;
    if (s->kind == AST_SKIPPED && strcmp(s->skipped.what, "match statement") == 0)
        name = "'match'", advice = "write it with 'if', 'elif' and 'else'";
    spec_error(sp, s->span, "%s is not supported in a kernel", name);
    if (advice) spec_note(sp, SPAN_NONE, "%s", advice);
    poison_assigned(sp, &(AstList){(Ast *[]){(Ast *)s}, 1, 1});
    return FLOW_NEXT;
}

/* A function in one of the host's takes its names from there, as they are when it runs. */
static void exec_def(Spec *sp, const Ast *s)
{
    const Frame *f = sp->frame;
    Str name = intern_printf(sp->names, "%s.%s", f->fn->name, s->def.name);
    SpecFunc *fn = func_new(sp, name, s, f->module, f->scope);
    scope_set(f->scope, s->def.name, sv_func(fn), s->def.name_span);
}

/* A profiler's scope changes nothing that is computed, so its body is simply executed. Any other
   context is host code. */
static bool is_profile_scope(Spec *sp, const Ast *context)
{
    if (context->kind != AST_CALL) return false;
    SpecValue callee = spec_try(sp, context->call.callee);
    return callee.kind == SV_BUILTIN && (callee.builtin->where & NS_PROFILE);
}

static Flow exec_with(Spec *sp, const Ast *s, const Rest *rest)
{
    for (int i = 0; i < s->with.items.len; i++) {
        const Ast *context = s->with.items.data[i]->pair.first;
        if (!is_profile_scope(sp, context)) return refuse(sp, s);
        spec_eval(sp, context);
    }
    return exec_block(sp, &s->with.body, rest);
}

static Flow exec_expression(Spec *sp, const Ast *e)
{
    if (e->kind == AST_STRING || e->kind == AST_ELLIPSIS) return FLOW_NEXT; /* a docstring */
    sp->frame->raised = false;
    if (!place_call(sp, e)) lint_statement(sp, e, spec_eval(sp, e));
    return sp->frame->raised ? FLOW_STOP : FLOW_NEXT;
}

/* ---- dispatch ---- */

static Flow exec_one(Spec *sp, const Ast *s, const Rest *rest)
{
    switch (s->kind) {
    case AST_EXPR: return exec_expression(sp, s->unary.operand);
    case AST_ASSIGN: exec_assign(sp, s); return FLOW_NEXT;
    case AST_AUGASSIGN: exec_augassign(sp, s); return FLOW_NEXT;
    case AST_ANNASSIGN: exec_annassign(sp, s); return FLOW_NEXT;
    case AST_IF: return exec_if(sp, s, rest);
    case AST_FOR: return exec_for(sp, s);
    case AST_WHILE: return exec_while(sp, s);
    case AST_RETURN: return exec_return(sp, s);
    case AST_BREAK: return exec_leave(sp, s, FLOW_BREAK);
    case AST_CONTINUE: return exec_leave(sp, s, FLOW_CONTINUE);
    case AST_ASSERT: return exec_assert(sp, s);
    case AST_RAISE: return exec_raise(sp, s);
    case AST_WITH: return exec_with(sp, s, rest);
    case AST_DELETE: exec_delete(sp, s); return FLOW_NEXT;
    case AST_PASS: return FLOW_NEXT;
    case AST_IMPORT: case AST_FROM: case AST_DEF:
        if (!sp->frame->is_host) return refuse(sp, s);
        if (s->kind == AST_DEF) exec_def(sp, s);
        else module_import(sp, sp->frame->module, s);
        return FLOW_NEXT;
    default: return refuse(sp, s);
    }
}

static Flow exec_stmt(Spec *sp, const Ast *s, const Rest *rest)
{
    if (!spec_step(sp, s->span) || !enter_nested(sp, s->span)) return FLOW_STOP;
    sp->frame->stmt = s->span;
    Flow flow = exec_one(sp, s, rest);
    leave_nested(sp);
    return flow;
}

static Flow exec_from(Spec *sp, const AstList *list, int i, const Rest *outer);

static Flow exec_tail(Spec *sp, void *ctx)
{
    const Rest *tail = ctx;
    return exec_from(sp, tail->list, tail->next, tail->outer);
}

static Flow exec_from(Spec *sp, const AstList *list, int i, const Rest *outer)
{
    for (; i < list->len; i++) {
        Rest rest = {list, i + 1, outer};
        Flow flow = exec_stmt(sp, list->data[i], &rest);
        if (flow == FLOW_NEXT) continue;
        if (flow == FLOW_MAYBE && i + 1 < list->len)
            return exec_unless_returned(sp, exec_tail, &(Rest){list, i + 1, &rest_cut});
        return flow;
    }
    return FLOW_NEXT;
}

Flow exec_block(Spec *sp, const AstList *body, const Rest *outer)
{
    return exec_from(sp, body, 0, outer);
}

SpecValue exec_lacks_value(Spec *sp, const Outcome *out)
{
    if (!sp->frame->caller)
        return spec_error(sp, out->at, "a kernel returns nothing, found %s; write 'return' alone",
                          spec_describe(sp, out->value));
    return spec_error(sp, out->at, "'%s' returns %s here, but nothing where its end is reached",
                      sp->frame->fn->name, spec_describe(sp, out->value));
}

Flow exec_fall_off(Spec *sp)
{
    Frame *f = sp->frame;
    if (f->out.value.kind != SV_NONE && f->out.value.kind != SV_ERROR)
        f->out.value = exec_lacks_value(sp, &f->out);
    f->out.flag = NULL;
    return FLOW_RETURN;
}

Flow exec_cut(Spec *sp, void *body)
{
    return exec_block(sp, body, &rest_cut);
}

Flow exec_rest(Spec *sp, void *from)
{
    for (const Rest *rest = from; rest; rest = rest->outer) {
        Flow flow = exec_from(sp, rest->list, rest->next, rest->outer);
        if (flow == FLOW_NEXT) continue;
        if (flow == FLOW_MAYBE && rest->outer)
            return exec_unless_returned(sp, exec_rest, (void *)rest->outer);
        return flow == FLOW_MAYBE ? exec_fall_off(sp) : flow;
    }
    sp->frame->out = (Outcome){.value = sv_none(), .at = sp->frame->stmt, .is_end = true};
    return FLOW_RETURN;
}
