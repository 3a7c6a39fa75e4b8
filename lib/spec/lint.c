/* Warnings about a function's text.

   In: the tree of a function that is being specialized. Out: warnings. Only the text decides, not
   what specialization makes of it: a value that is read under `if FLAG:` is read, whatever FLAG is,
   so that one set of constexprs does not complain about what another needs. A name counts as read
   wherever it stands but as the target of an assignment; `x += 1` reads x. */
#include "spec/advice.h"

#include <string.h>

#include "spec/config.h"
#include "spec/kernel.h"
#include "spec/walk.h"

/* ---- behind a return ---- */

/* Control leaves with it. */
static bool is_leaving(const Ast *s)
{
    return s->kind == AST_RETURN || s->kind == AST_RAISE || s->kind == AST_BREAK ||
           s->kind == AST_CONTINUE;
}

static bool is_nothing(const Ast *s)
{
    return s->kind == AST_PASS || (s->kind == AST_EXPR && (s->unary.operand->kind == AST_STRING ||
                                                           s->unary.operand->kind == AST_ELLIPSIS));
}

static void check_block(void *user, AstList *list)
{
    Spec *sp = user;
    for (int i = 0; i + 1 < list->len; i++) {
        if (!is_leaving(list->data[i])) continue;
        const Ast *next = list->data[i + 1];
        if (is_nothing(next)) return;
        diag_warning(sp->dx, DIAG_UNREACHABLE, next->span,
                     "this is never executed: it is behind '%s'",
                     ast_kind_text(list->data[i]->kind));
        return;
    }
}

static bool visit_blocks(const Ast *n, void *user)
{
    if (n->kind == AST_IF || n->kind == AST_WHILE || n->kind == AST_FOR || n->kind == AST_WITH)
        ast_each_block((Ast *)n, check_block, user);
    return n->kind >= AST_FIRST_STMT;
}

/* ---- names that are read ---- */

static bool visit_reads(const Ast *n, void *user);

/* The parts of a target that are read: t[i] = v reads t and i. */
static void read_target(Map *r, const Ast *t)
{
    if (!t || t->kind == AST_NAME) return;
    if (t->kind == AST_STARRED) read_target(r, t->unary.operand);
    else if (t->kind == AST_TUPLE || t->kind == AST_LIST)
        for (int i = 0; i < t->list.len; i++) read_target(r, t->list.data[i]);
    else walk_ast(t, visit_reads, r);
}

static bool visit_reads(const Ast *n, void *user)
{
    Map *r = user; /* name -> where it is read */
    switch (n->kind) {
    case AST_NAME: map_set_ptr(r, n->name.id, (void *)n); return false;
    case AST_ASSIGN:
        for (int i = 0; i < n->assign.targets.len; i++) read_target(r, n->assign.targets.data[i]);
        walk_ast(n->assign.value, visit_reads, r);
        return false;
    case AST_ANNASSIGN:
        read_target(r, n->annassign.target);
        walk_ast(n->annassign.annotation, visit_reads, r);
        walk_ast(n->annassign.value, visit_reads, r);
        return false;
    default: return true;
    }
}

/* ---- names that are not ---- */

typedef struct Unread {
    Spec *sp;
    const SpecFunc *fn;
    Map reads;
} Unread;

static void check_target(Unread *u, const Ast *t, const Ast *value)
{
    if (!value || t->kind != AST_NAME || t->name.id[0] == '_') return;
    if (map_get_ptr(&u->reads, t->name.id) || walk_param(&u->fn->def->def.params, t->name.id)) return;
    map_set_ptr(&u->reads, t->name.id, (void *)t); /* once */
    const bool is_load = value->kind == AST_CALL && !strcmp(kernel_last_name(value), "load");
    diag_warning(u->sp->dx, DIAG_UNUSED_VALUE, t->span,
                 is_load ? "what is loaded into '%s' is never used" : "the value of '%s' is never used", t->name.id);
}

static bool visit_targets(const Ast *n, void *user)
{
    if (n->kind == AST_ASSIGN && n->assign.targets.len == 1)
        check_target(user, n->assign.targets.data[0], n->assign.value);
    if (n->kind == AST_ANNASSIGN) check_target(user, n->annassign.target, n->annassign.value);
    return n->kind >= AST_FIRST_STMT && n->kind != AST_DEF && n->kind != AST_CLASS;
}

void lint_function(Spec *sp, const SpecFunc *fn)
{
    const AstList *body = &fn->def->def.body;
    Unread u = {.sp = sp, .fn = fn};
    map_init(&u.reads, sp->arena);
    check_block(sp, (AstList *)body);
    walk_list(body, visit_blocks, sp);
    walk_list(body, visit_reads, &u.reads);
    walk_list(body, visit_targets, &u);
}

/* ---- parameters ---- */

static bool is_mention(const Ast *n, void *user)
{
    Str name = user;
    return (n->kind == AST_STRING && text_has_word(n->string.value, name)) ||
           (n->kind == AST_NAME && n->name.id == name) ||
           (n->kind == AST_KEYWORD && n->keyword.name == name);
}

static bool is_unused(const SpecFunc *fn, const Ast *p)
{
    static const char *const launch_options[] = {"num_warps", "num_stages", "num_ctas", NULL};
    Str name = p->param.name;
    if (p->param.kind == PARAM_VARARGS || p->param.kind == PARAM_KWARGS || name[0] == '_') return false;
    /* what it does is looked at first: there most are */
    return !str_among(name, launch_options) &&
           !walk_list_any(&fn->def->def.body, is_mention, (void *)name) &&
           !walk_any(fn->def, is_mention, (void *)name);
}

/* In one warning: strides that are passed by custom come in dozens. */
void lint_parameters(Spec *sp, const SpecFunc *fn)
{
    const AstList *params = &fn->def->def.params;
    Buf names = buf_make(sp->arena);
    int n = 0;
    Span first = SPAN_NONE;
    for (int i = 0; i < params->len; i++) {
        if (!is_unused(fn, params->data[i])) continue;
        if (n++) buf_puts(&names, ", ");
        else first = params->data[i]->span;
        buf_printf(&names, "'%s'", params->data[i]->param.name);
    }
    if (n == 0) return;
    diag_warning(sp->dx, DIAG_UNUSED_PARAMETER, first, "%s %s never used: %s",
                 n == 1 ? "a parameter" : "parameters", n == 1 ? "is" : "are", buf_text(&names));
}

/* ---- statements that are values ---- */

static bool is_dotted_name(const Ast *e)
{
    while (e->kind == AST_ATTRIBUTE) e = e->attribute.value;
    return e->kind == AST_NAME;
}

/* A call of one of the language's operations. */
static bool is_operation(Spec *sp, const Ast *call)
{
    if (!is_dotted_name(call->call.callee)) return false;
    SpecValue callee = spec_try(sp, call->call.callee);
    return callee.kind == SV_BUILTIN || callee.kind == SV_METHOD;
}

/* Computing it has no effect, nor has what the same call made before. A hint acts on what it is
   given. */
static bool is_wasted(SpecValue v)
{
    const Op *last = v.kind == SV_VALUE ? v.v->def : NULL, *op = last;
    if (!last || last->kind == OP_HINT) return v.kind == SV_BLOCK_PTR;
    while (op && op->loc == last->loc && ir_can_erase(op)) op = op->prev;
    return !op || op->loc != last->loc;
}

/* ++x or --x of a name: two signs without a blank. */
static bool is_increment(const Ast *e)
{
    if (e->kind != AST_UNARY || (e->unary.op != AOP_POS && e->unary.op != AOP_NEG)) return false;
    const Ast *inner = e->unary.operand;
    return inner->kind == AST_UNARY && inner->unary.op == e->unary.op &&
           inner->unary.operand->kind == AST_NAME && inner->span.begin == e->span.begin + 1;
}

static void warn_of_increment(Spec *sp, const Ast *e)
{
    const char *sign = ast_op_text(e->unary.op);
    Str name = e->unary.operand->unary.operand->name.id;
    Diag *d = diag_warning(sp->dx, DIAG_UNUSED_VALUE, e->span,
                           "'%s%s' is two signs and changes nothing; write '%s %s= 1'", sign, sign,
                           name, sign);
    diag_fixit(sp->dx, d, e->span, "%s %s= 1", name, sign);
}

/* The decorator by which a function asks that its callers use what it returns; NULL: there is none. */
static const Ast *asks_for_use(SpecValue fn)
{
    if (fn.kind != SV_FUNC || fn.fn->def->kind != AST_DEF) return NULL;
    return kernel_decorator(&fn.fn->def->def.decorators, "must_use_result");
}

/* A call whose result had to be used: an error, with the words that the decorator adds. */
static bool is_neglected(Spec *sp, const Ast *call)
{
    const Ast *callee = call->call.callee;
    const Ast *asks = is_dotted_name(callee) ? asks_for_use(spec_try(sp, callee)) : NULL;
    if (!asks) return false;
    const Ast *words = asks->kind == AST_CALL ? config_argument(asks, "what", 0) : NULL;
    const bool said = words && words->kind == AST_STRING;
    spec_error(sp, call->span, "The result of %s is not being used.%s%s",
               span_text(sp->arena, callee->span), said ? " " : "", said ? words->string.value : "");
    return true;
}

void lint_statement(Spec *sp, const Ast *e, SpecValue v)
{
    if (sp->frame->is_host || sp->frame->fn->module->is_std || sv_is_error(v)) return;
    if (e->kind == AST_CALL) {
        if (is_neglected(sp, e) || !is_wasted(v) || !is_operation(sp, e)) return;
        diag_warning(sp->dx, DIAG_UNUSED_VALUE, e->span, "the result of this call is never used");
    } else if (is_increment(e)) {
        warn_of_increment(sp, e);
    } else if (e->kind != AST_NAMED && sv_is_operand(v)) {
        diag_warning(sp->dx, DIAG_UNUSED_VALUE, e->span, "this value is never used");
    }
}
