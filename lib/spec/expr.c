/* Expressions: what each node of the tree is worth. Anything that values do by themselves
   (operators, attributes, subscripts) is left to operator.h; here are names, evaluation order,
   short circuits and containers. Long chains of one operator are walked in a loop, not by
   recursion, so that only real nesting counts against the budget. */
#include <string.h>

#include "spec/advice.h"
#include "spec/host_args.h"
#include "spec/record.h"
#include "spec/walk.h"

typedef struct Values { SpecValue *data; int len, cap; } Values;

/* ---- numbers, typed and untyped ---- */

SpecValue strengthen_all(Spec *sp, SpecValue v, Span at)
{
    if (!sv_is_sequence(v)) return strengthen(sp, v, at);
    if (v.kind == SV_RECORD && !record_is_tuple(v)) return v;
    SpecTuple *t = NULL;
    for (int i = 0; i < v.tuple->len; i++) {
        SpecValue x = strengthen_all(sp, v.tuple->data[i], at);
        if (sv_is_same(x, v.tuple->data[i])) continue;
        if (!t) t = tuple_copy(sp, v.tuple, v.tuple->len);
        t->data[i] = x;
    }
    if (t) v.tuple = t;
    return v;
}

SpecValue eval_constant(Spec *sp, const Ast *e, const char *what)
{
    SpecValue v = weaken(spec_eval(sp, e));
    if (v.kind == SV_ERROR || !sv_is_runtime(v)) return v;
    return spec_error(sp, e->span, "%s must be known at compile time, found %s", what,
                      spec_describe(sp, v));
}

/* ---- names ---- */

static bool is_assigned_in(Spec *sp, const SpecFunc *fn, Str name)
{
    if (!fn || !fn->def || fn->def->kind != AST_DEF) return false;
    AstNames names = {0};
    walk_assigned(sp->arena, &fn->def->def.body, &names);
    return walk_has(&names, name);
}

static const char *suggest_name(Spec *sp, Str name)
{
    const char *operation = builtin_spelling(sp->arena, name);
    if (operation) return operation;
    SpecModule *tl = module_named(sp->program, "triton.language");
    if (!sv_is_absent(module_attribute(sp, tl, name, SPAN_NONE)))
        return arena_printf(sp->arena, "tl.%s", name);
    DType dt = dtype_find(name, str_len(name));
    if (dt != DT_NONE) return arena_printf(sp->arena, "tl.%s", dtype_info(dt)->name);
    VEC(Str) all = {0};
    for (Scope *s = sp->frame->scope; s; s = s->outer) {
        for (int i = 0; i < s->len; i++)
            if (s->data[i].state != BIND_NONE) vec_push(sp->arena, &all, s->data[i].name);
    }
    for (int i = 0; i < sp->frame->module->names.len; i++)
        vec_push(sp->arena, &all, sp->frame->module->names.data[i]);
    const char *near = nearest_word(name, all.data, all.len);
    return near ? near : builtin_nearest(NS_PYTHON, name);
}

static const char *missing_import(Str name)
{
    if (strcmp(name, "tl") == 0) return "import triton.language as tl";
    if (strcmp(name, "triton") == 0) return "import triton";
    if (strcmp(name, "math") == 0) return "import math";
    if (strcmp(name, "torch") == 0) return "import torch";
    if (strcmp(name, "np") == 0) return "import numpy as np";
    if (strcmp(name, "libdevice") == 0) return "from triton.language.extra import libdevice";
    return NULL;
}

SpecValue eval_unknown_name(Spec *sp, Str name, Span at)
{
    const SpecFunc *fn = sp->frame->fn;
    if (is_assigned_in(sp, fn, name)) {
        spec_error_as(sp, DIAG_UNKNOWN_NAME, at, "'%s' has no value here: no assignment to it was executed before", name);
        const Ast *first = walk_first_assignment(&fn->def->def.body, name);
        if (first) spec_note(sp, first->span, "the function assigns it here");
    } else {
        spec_error_as(sp, DIAG_UNKNOWN_NAME, at, "the name '%s' is not defined", name);
        const char *import = missing_import(name), *near = import ? NULL : suggest_name(sp, name);
        if (import) spec_note(sp, at, "add '%s' at the top of the file", import);
        if (!strcmp(name, "inf") || !strcmp(name, "nan")) spec_fixit(sp, at, "float('%s')", name);
        else spec_suggest(sp, at, name, near);
    }
    if (sp->frame->caller || sp->frame->fn) scope_set(sp->frame->scope, name, sv_error(), at);
    return sv_error();
}

static SpecValue read_binding(Spec *sp, Binding *b, Span at)
{
    if (b->state == BIND_SET) return b->value;
    spec_error(sp, at, "%s", b->why);
    spec_note(sp, b->where, b->state == BIND_MAYBE ? "assigned here" : "one of the assignments");
    if (b->state == BIND_CONFLICT && b->other.source) spec_note(sp, b->other, "the other");
    advise_binding(sp, b);
    return sv_error();
}

static SpecValue eval_name(Spec *sp, const Ast *e)
{
    Str name = e->name.id;
    Binding *b = scope_lookup(sp->frame->scope, name);
    if (b) return read_binding(sp, b, e->span);
    SpecValue v = module_lookup(sp, sp->frame->module, name, e->span);
    return sv_is_absent(v) ? eval_unknown_name(sp, name, e->span) : v;
}

/* ---- operators ---- */

/* True, after an error, for a value of the host's that is not known: no operator works on it. */
static bool is_unknown_host(Spec *sp, SpecValue v, Span at)
{
    if (!module_is_host(v)) return false;
    module_refuse(sp, v.module, at, "a host value that is not known here");
    return true;
}

/* The spine of a left-nested chain of one kind: top first. */
typedef struct Spine { const Ast **data; int len, cap; } Spine;

static const Ast *collect_spine(Spec *sp, const Ast *e, Spine *out)
{
    AstKind kind = e->kind;
    for (; e->kind == kind; e = e->binary.left) vec_push(sp->arena, out, e);
    return e;
}

static bool is_one_number(SpecValue v)
{
    return v.kind != SV_VALUE || tkc_type_count(v.v->type) == 1;
}

/* Python's `and` decides on its left side; that of blocks cannot. What map_elementwise calls is
   written for scalars. */
static void warn_of_blocks(Spec *sp, const Ast *e, SpecValue left, SpecValue right)
{
    bool is_and = e->binary.op == AOP_LOGICAL_AND;
    if (sp->elementwise || (is_one_number(left) && is_one_number(right))) return;
    spec_warning(sp, DIAG_BLOCK_LOGIC, e->span,
                 "'%s' of blocks computes both sides, element by element; write '%s'",
                 is_and ? "and" : "or", is_and ? "&" : "|");
}

static SpecValue eval_binary(Spec *sp, const Ast *e)
{
    Spine spine = {0};
    SpecValue v = spec_eval(sp, collect_spine(sp, e, &spine));
    for (int i = spine.len - 1; i >= 0; i--) {
        const Ast *n = spine.data[i];
        SpecValue right = spec_eval(sp, n->binary.right);
        if (!spec_step(sp, n->span)) return sv_error();
        if (sv_is_error(v) || sv_is_error(right) || is_unknown_host(sp, v, n->binary.left->span) ||
            is_unknown_host(sp, right, n->binary.right->span)) {
            v = sv_error();
            continue;
        }
        spec_at(sp, n->span);
        v = op_binary(sp, n->binary.op, v, right, n->span);
    }
    return v;
}

/* 1, 0, -1 for a value that is only known at run time, -2 after an error. A run-time int1 counts
   as not known: the type of what it is joined with must not hang on it. */
static int known_truth(Spec *sp, SpecValue v, Span at)
{
    if (v.kind == SV_VALUE && !type_is_bool(v.v->type)) v = weaken(v);
    if (v.kind == SV_VALUE) return -1;
    if (is_unknown_host(sp, v, at)) return -2;
    return op_truth(sp, v, at);
}

/* A right side that is no run-time value decides, or has no part in the result. Of two run-time
   values a left one of known truth does. */
static SpecValue join_logically(Spec *sp, const Ast *e, SpecValue left, int truth, SpecValue right)
{
    const bool is_and = e->binary.op == AOP_LOGICAL_AND;
    spec_at(sp, e->span);
    if (right.kind == SV_VALUE && truth >= 0) return truth == is_and ? right : left;
    if (right.kind == SV_VALUE) return op_logical(sp, e->binary.op, left, right, e->span);
    truth = known_truth(sp, right, e->binary.right->span);
    if (truth < 0) return sv_error();
    return truth == is_and ? left : right;
}

static SpecValue eval_boolop(Spec *sp, const Ast *e)
{
    Spine spine = {0};
    const Ast *first = collect_spine(sp, e, &spine);
    SpecValue v = spec_eval(sp, first);
    Span left_at = first->span;
    for (int i = spine.len - 1; i >= 0; i--) {
        const Ast *n = spine.data[i];
        if (sv_is_error(v)) return v;
        int truth = known_truth(sp, v, left_at);
        if (truth == -2) return sv_error();
        bool is_and = n->binary.op == AOP_LOGICAL_AND;
        if (truth >= 0 && v.kind != SV_VALUE) {
            if (truth == !is_and) continue; /* decided by the left side, which is the value */
            v = spec_eval(sp, n->binary.right);
            left_at = n->binary.right->span;
            continue;
        }
        SpecValue right = spec_eval(sp, n->binary.right);
        if (sv_is_error(right)) return right;
        if (truth < 0) warn_of_blocks(sp, n, v, right);
        v = join_logically(sp, n, v, truth, right);
        left_at = n->span;
    }
    return v;
}

static SpecValue eval_compare(Spec *sp, const Ast *e)
{
    if (!sp->frame->is_host && precedence_refuse(sp, e)) return sv_error();
    SpecValue left = spec_eval(sp, e->compare.first), result = sv_bool(true);
    bool is_mixed = precedence_is_mixed(e->compare.first, left);
    for (int i = 0; i < e->compare.rest.len; i++) {
        SpecValue right = spec_eval(sp, e->compare.rest.data[i]);
        is_mixed |= precedence_is_mixed(e->compare.rest.data[i], right);
        spec_at(sp, e->span);
        SpecValue link = op_compare(sp, e->compare.ops.data[i].op, left, right, e->span);
        if (sv_is_error(link)) return link;
        if (result.kind != SV_VALUE) result = link; /* all before it hold */
        else result = op_logical(sp, AOP_LOGICAL_AND, result, link, e->span);
        if (result.kind == SV_BOOL && !result.b) return result;
        left = right;
    }
    if (is_mixed && result.kind == SV_VALUE) precedence_warn(sp, e);
    return result;
}

static SpecValue eval_unary(Spec *sp, const Ast *e)
{
    SpecValue v = spec_eval(sp, e->unary.operand);
    spec_at(sp, e->span);
    return op_unary(sp, e->unary.op, v, e->span);
}

int condition_truth(Spec *sp, SpecValue v, Span at)
{
    if (branch_is_by_element(sp, v)) return -1;
    return is_unknown_host(sp, v, at) ? -2 : op_truth(sp, weaken(v), at);
}

static SpecValue eval_ifexp(Spec *sp, const Ast *e)
{
    SpecValue cond = spec_eval(sp, e->ifexp.cond);
    Span at = e->ifexp.cond->span;
    int truth = condition_truth(sp, cond, at);
    if (truth == -2) return sv_error();
    if (truth >= 0) {
        SpecValue chosen = spec_eval(sp, truth ? e->ifexp.then : e->ifexp.orelse);
        /* As at run time, where arms are of their own types, though this one is known. */
        return cond.kind == SV_VALUE ? strengthen(sp, chosen, e->span) : chosen;
    }
    Value *c = branch_condition(sp, cond, at);
    return c ? eval_branches(sp, c, e->ifexp.then, e->ifexp.orelse, e->span) : sv_error();
}

/* ---- containers ---- */

static bool push_item(Spec *sp, Values *items, SpecValue v, Span at)
{
    if (!spec_fits(sp, items->len + 1L, "a sequence", "values", at)) return false;
    vec_push(sp->arena, items, v);
    return true;
}

static SpecValue eval_sequence(Spec *sp, const Ast *e, SvKind kind)
{
    Values items = {0};
    bool ok = true;
    for (int i = 0; i < e->list.len; i++) {
        const Ast *x = e->list.data[i];
        const bool is_spread = x->kind == AST_STARRED;
        SpecValue v = spec_eval(sp, is_spread ? x->unary.operand : x), *more = &v;
        int n = sv_is_error(v) ? -1 : is_spread ? op_items(sp, v, &more, x->span) : 1;
        ok = ok && n >= 0;
        for (int k = 0; k < n && ok; k++) ok = push_item(sp, &items, more[k], x->span);
    }
    return ok ? constant_sequence(sp, kind, items.len, items.data) : sv_error();
}

/* {"a": 1}: an object with named fields. */
static SpecValue eval_dict(Spec *sp, const Ast *e)
{
    SpecTuple *t = dict_new(sp, NULL, e->list.len);
    for (int i = 0; i < e->list.len; i++) {
        const Ast *k = e->list.data[i]->pair.first, *x = e->list.data[i]->pair.second;
        SpecValue v = spec_eval(sp, x);
        if (!k && host_args_are(v)) return host_args_refuse_all(sp, x->span);
        if (!k && !sv_is_error(v) && !constant_is_dict(v))
            return spec_error(sp, x->span, "'**' needs a dict, found %s", spec_describe(sp, v));
        if (k ? !dict_put(sp, t, spec_eval(sp, k), v, k->span) : sv_is_error(v)) return sv_error();
        if (k) continue;
        t = dict_new(sp, t, v.tuple->len + e->list.len);
        for (int j = 0; j < v.tuple->len; j++) dict_put(sp, t, v.tuple->keys[j], v.tuple->data[j], x->span);
    }
    return sv_tuple(SV_RECORD, t);
}

static bool comp_clause(Spec *sp, const Ast *e, int i, Values *out);

static bool comp_conditions(Spec *sp, const Ast *clause, bool *take)
{
    const AstList *conds = &clause->clause.conds;
    *take = true;
    for (int i = 0; i < conds->len && *take; i++) {
        SpecValue v = eval_constant(sp, conds->data[i], "the condition of a comprehension");
        int truth = sv_is_error(v) ? -2 : op_truth(sp, v, conds->data[i]->span);
        if (truth < 0) return false;
        *take = truth;
    }
    return true;
}

static bool comp_item(Spec *sp, const Ast *e, int i, SpecValue item, Values *out)
{
    const Ast *clause = e->comp.clauses.data[i], *target = clause->clause.target;
    bool take;
    assign(sp, target, item, true, target->span);
    if (!comp_conditions(sp, clause, &take)) return false;
    return !take || comp_clause(sp, e, i + 1, out);
}

static bool comp_clause(Spec *sp, const Ast *e, int i, Values *out)
{
    if (!spec_step(sp, e->span)) return false;
    if (i == e->comp.clauses.len) {
        SpecValue v = spec_eval(sp, e->comp.element);
        if (e->kind == AST_DICTCOMP && !sv_is_error(v)) {
            SpecValue pair[] = {v, spec_eval(sp, e->comp.value)};
            v = sv_is_error(pair[1]) ? pair[1] : constant_tuple(sp, 2, pair);
        }
        return !sv_is_error(v) && push_item(sp, out, v, e->span);
    }
    const Ast *iter = e->comp.clauses.data[i]->clause.iter;
    SpecValue seq = spec_eval(sp, iter), *items;
    int n = sv_is_error(seq) ? -1 : op_items(sp, seq, &items, iter->span);
    for (int k = 0; k < n; k++)
        if (!comp_item(sp, e, i, items[k], out)) return false;
    return n >= 0;
}

static SpecValue eval_comp(Spec *sp, const Ast *e)
{
    Scope *around = sp->frame->scope;
    Values items = {0};
    sp->frame->scope = scope_new(sp->arena, around);
    bool ok = comp_clause(sp, e, 0, &items);
    sp->frame->scope = around;
    const SvKind kind = e->kind == AST_LISTCOMP ? SV_LIST : SV_TUPLE;
    if (ok && e->kind == AST_DICTCOMP)
        return dict_of(sp, NULL, items.len, items.data, e->comp.element->span);
    return ok ? constant_sequence(sp, kind, items.len, items.data) : sv_error();
}

/* ---- strings ---- */

static bool put_format(Spec *sp, Buf *out, const Ast *e)
{
    SpecValue v = weaken(spec_eval(sp, e->format.value));
    if (sv_is_error(v)) return false;
    Str spec = NULL;
    if (e->format.spec) {
        SpecValue s = spec_eval(sp, e->format.spec);
        if (s.kind != SV_STR) return false;
        spec = s.s;
    }
    Str text = op_format(sp, v, e->format.conversion, spec, e->span);
    if (!text) return false;
    if (e->format.debug_text) buf_puts(out, e->format.debug_text);
    buf_put(out, text, str_len(text));
    return true;
}

static SpecValue eval_fstring(Spec *sp, const Ast *e)
{
    Buf out = buf_make(sp->arena);
    for (int i = 0; i < e->list.len; i++) {
        const Ast *x = e->list.data[i];
        if (x->kind == AST_STRING) buf_put(&out, x->string.value, str_len(x->string.value));
        else if (!put_format(sp, &out, x)) return sv_error();
        if (!spec_fits(sp, (long)out.len, "a string", "bytes", e->span)) return sv_error();
    }
    return sv_str(intern(sp->names, buf_text(&out), out.len));
}

/* ---- attributes and subscripts ---- */

SpecValue spec_member(Spec *sp, SpecValue v, Str name, Span at, Span name_at)
{
    if (sv_is_error(v)) return v;
    if (v.kind == SV_MODULE) return module_member(sp, v.module, name, at, name_at);
    if (v.kind == SV_RECORD && !builtin_find(op_record_methods(v), name))
        return record_member(sp, v, name, name_at);
    if (v.kind == SV_RECORD_CLASS) return record_class_member(sp, v.record_class, name, name_at);
    spec_at(sp, at);
    return op_attribute(sp, v, name, at);
}

static SpecValue bound(Spec *sp, const Ast *e)
{
    return e ? spec_eval(sp, e) : sv_none();
}

static SpecValue eval_slice(Spec *sp, const Ast *e)
{
    SpecSlice *s = arena_new(sp->arena, SpecSlice);
    s->lo = bound(sp, e->slice.lo);
    s->hi = bound(sp, e->slice.hi);
    s->step = bound(sp, e->slice.step);
    bool failed = sv_is_error(s->lo) || sv_is_error(s->hi) || sv_is_error(s->step);
    return failed ? sv_error() : (SpecValue){.kind = SV_SLICE, .slice = s};
}

/* x_ptr.shape[0], where x_ptr.shape is () */
static bool is_extent_of_scalar(const Ast *e, SpecValue shape)
{
    const Ast *of = e->subscript.value;
    return of->kind == AST_ATTRIBUTE && strcmp(of->attribute.name, "shape") == 0 &&
           of->attribute.value->kind == AST_NAME && shape.kind == SV_TUPLE && shape.tuple->len == 0;
}

static SpecValue refuse_extent(Spec *sp, const Ast *e)
{
    const Ast *of = e->subscript.value->attribute.value;
    SpecValue v = spec_eval(sp, of);
    spec_error(sp, e->span, "'%s' is %s, which has no extents", of->name.id, spec_describe(sp, v));
    if (sv_is_pointer(v)) advise_pointer_attribute(sp, "shape");
    return sv_error();
}

/* d[key], of a key that is no string. */
static SpecValue eval_key(Spec *sp, SpecValue dict, SpecValue key, Span at)
{
    const int i = dict_find(sp, dict, key);
    if (i >= 0) return dict.tuple->data[i];
    return spec_error_as(sp, DIAG_UNKNOWN_ATTRIBUTE, at, "the dict has no key %s",
                         spec_describe(sp, key));
}

static SpecValue eval_subscript(Spec *sp, const Ast *e)
{
    SpecValue v = spec_eval(sp, e->subscript.value), index = spec_eval(sp, e->subscript.index);
    if (sv_is_error(v) || sv_is_error(index)) return sv_error();
    if (host_args_are(v)) return host_args_item(sp, v, index, e->subscript.index->span);
    if (v.kind == SV_RECORD && index.kind == SV_STR)
        return record_member(sp, v, index.s, e->subscript.index->span);
    if (constant_is_dict(v)) return eval_key(sp, v, index, e->subscript.index->span);
    if (module_is_host(v))
        return sv_module(
            module_named(sp->program, arena_printf(sp->arena, "%s[]", v.module->path)));
    if (is_extent_of_scalar(e, v)) return refuse_extent(sp, e);
    spec_at(sp, e->span);
    return op_subscript(sp, v, index, e->span);
}

/* ---- the rest ---- */

static SpecValue eval_integer(Spec *sp, const Ast *e)
{
    const char *text = e->integer.text;
    if (e->integer.too_large)
        return spec_error(sp, e->span, "the number %.40s%s is larger than 64 bits", text,
                          strlen(text) > 40 ? "…" : "");
    return sv_int((__int128)e->integer.value);
}

static SpecValue eval_named(Spec *sp, const Ast *e)
{
    SpecValue v = spec_eval(sp, e->named.value);
    if (!sp->frame->is_host) v = strengthen(sp, v, e->span);
    assign(sp, e->named.target, v, sp->frame->is_host, e->span);
    return v;
}

static SpecValue eval_node(Spec *sp, const Ast *e)
{
    switch (e->kind) {
    case AST_NAME: return eval_name(sp, e);
    case AST_INT: return eval_integer(sp, e);
    case AST_FLOAT: return sv_float(e->floating.value);
    case AST_STRING: return sv_str(e->string.value);
    case AST_FSTRING: return eval_fstring(sp, e);
    case AST_TRUE: return sv_bool(true);
    case AST_FALSE: return sv_bool(false);
    case AST_NONE: return sv_none();
    case AST_ELLIPSIS: return (SpecValue){.kind = SV_ELLIPSIS};
    case AST_TUPLE: case AST_SET: return eval_sequence(sp, e, SV_TUPLE);
    case AST_LIST: return eval_sequence(sp, e, SV_LIST);
    case AST_DICT: return eval_dict(sp, e);
    case AST_UNARY: return eval_unary(sp, e);
    case AST_BINARY: return eval_binary(sp, e);
    case AST_BOOLOP: return eval_boolop(sp, e);
    case AST_COMPARE: return eval_compare(sp, e);
    case AST_IFEXP: return eval_ifexp(sp, e);
    case AST_LAMBDA:
        return sv_func(func_new(sp, intern_cstr(sp->names, "lambda"), e, sp->frame->module,
                                sp->frame->scope));
    case AST_CALL: return eval_call(sp, e);
    case AST_ATTRIBUTE:
        return spec_member(sp, spec_eval(sp, e->attribute.value), e->attribute.name, e->span,
                           e->attribute.name_span);
    case AST_SUBSCRIPT: return eval_subscript(sp, e);
    case AST_SLICE: return eval_slice(sp, e);
    case AST_NAMED: return eval_named(sp, e);
    case AST_LISTCOMP: case AST_GENERATOR: return eval_comp(sp, e);
    case AST_DICTCOMP:
        if (sp->frame->is_host) return eval_comp(sp, e);
        /* fall through */
    default: return spec_error(sp, e->span, "%s is not supported in a kernel", ast_describe(e));
    }
}

/* Pays for a string or sequence each time an expression gives it: whatever is done with it looks at
   all of it. */
static bool within_budget(Spec *sp, SpecValue v, Span at)
{
    int nesting;
    long size = constant_size(v, &nesting);
    bool fits = nesting <= 1 || sp->out_of_budget;
    if (!fits && nesting > sp->limits.nesting)
        return spec_end(sp, "max_nesting", at, "tuples in tuples, more than %d deep",
                        sp->limits.nesting);
    if (!fits && size > sp->limits.length)
        return spec_end(sp, "max_length", at, "tuples in tuples, of more than %ld items in all",
                        sp->limits.length);
    return spec_step_items(sp, size, at);
}

SpecValue spec_eval(Spec *sp, const Ast *e)
{
    if (!spec_step(sp, e->span) || !enter_nested(sp, e->span)) return sv_error();
    SpecValue v = eval_node(sp, e);
    leave_nested(sp);
    sp->frame->failed |= sv_is_error(v);
    return within_budget(sp, v, e->span) ? v : sv_error();
}

SpecValue spec_try(Spec *sp, const Ast *e)
{
    const bool was_spent = sp->out_of_budget, failed = sp->frame->failed;
    SpecValue v;
    diag_quietly(sp->dx, v = spec_eval(sp, e));
    sp->frame->failed = failed;
    /* What ends all is said: nothing is said later. */
    if (sp->out_of_budget && !was_spent) {
        sp->out_of_budget = false;
        spec_step(sp, e->span);
    }
    return v;
}
