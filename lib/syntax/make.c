/* Constructors. They check what the grammar leaves open (targets, order of parameters and
   arguments, literals) and always return a node, so the tree has no holes even after an error. */
#include "syntax/make.h"

#include <string.h>
#include "syntax/literal.h"

Span parser_span(const Parser *p, Loc at)
{
    return (Span){p->source, at.begin, at.end};
}

bool parser_is_strict(const Parser *p)
{
    return p->next > 0 && p->feed.data[p->next - 1].strict;
}

Diag *parser_report(Parser *p, Loc at, const char *text)
{
    if (!parser_is_strict(p)) {
        p->host_failed = true;
        return NULL;
    }
    p->failed = true;
    return diag_error(p->dx, parser_span(p, at), "%s", text);
}

static Loc loc_of(const Ast *n)
{
    return (Loc){n->span.begin, n->span.end};
}

Ast *make(Parser *p, Ast fields, Loc at)
{
    Ast *n = arena_new(p->arena, Ast);
    *n = fields;
    n->span = parser_span(p, at);
    return n;
}

/* ---- lists ---- */

AstList *list_new(Parser *p, Ast *first)
{
    AstList *list = arena_new(p->arena, AstList);
    return first ? list_add(p, list, first) : list;
}

AstList *list_add(Parser *p, AstList *list, Ast *item)
{
    vec_push(p->arena, list, item);
    return list;
}

AstList *list_join(Parser *p, AstList *list, const AstList *more)
{
    for (int i = 0; i < more->len; i++) vec_push(p->arena, list, more->data[i]);
    return list;
}

/* ---- assignment targets ---- */

/* What may stand where. */
typedef enum TargetUse { TARGET_ASSIGN, TARGET_SINGLE, TARGET_DELETE } TargetUse;

static void check_target(Parser *p, const Ast *target, TargetUse use, const char *verb)
{
    switch (target->kind) {
    case AST_NAME:
    case AST_ATTRIBUTE:
    case AST_SUBSCRIPT: return;
    case AST_TUPLE:
    case AST_LIST:
        if (use == TARGET_SINGLE) break;
        for (int i = 0; i < target->list.len; i++) {
            const Ast *item = target->list.data[i];
            bool starred = item->kind == AST_STARRED && use == TARGET_ASSIGN;
            check_target(p, starred ? item->unary.operand : item, use, verb);
        }
        return;
    default: break;
    }
    Diag *d = parser_error(p, loc_of(target), "cannot %s %s", verb, ast_describe(target));
    if (target->kind == AST_COMPARE && use == TARGET_ASSIGN)
        diag_note(p->dx, d, target->compare.ops.data[0].span, "'==' compares; '=' assigns");
}

/* ---- leaves ---- */

Ast *make_number(Parser *p, Loc at)
{
    const char *s = p->source->text + at.begin;
    size_t len = at.end - at.begin;
    Number v = literal_number(p->arena, s, len);
    AstKind kind = v.kind == NUMBER_FLOAT ? AST_FLOAT : AST_IMAGINARY;
    if (v.kind != NUMBER_INT) return make(p, (Ast){.kind = kind, .floating = {v.floating}}, at);
    Str text = intern(p->names, s, len);
    return make(p, (Ast){.kind = AST_INT, .integer = {v.integer, v.too_large, text}}, at);
}

/* ---- strings ---- */

/* The value of [body, body + len), which lies in the source. */
static Str decode(Parser *p, const char *body, size_t len, StringForm form)
{
    Buf value = buf_make(p->arena);
    StringError e = literal_decode(&value, body, len, form);
    uint32_t offset = (uint32_t)(body - p->source->text);
    if (e.text)
        parser_error(p, ((Loc){offset + (uint32_t)e.begin, offset + (uint32_t)e.end}), "%s", e.text);
    return intern(p->names, buf_text(&value), value.len);
}

Ast *make_string(Parser *p, Loc at)
{
    const char *body;
    size_t len;
    StringForm form =
        literal_string_form(p->source->text + at.begin, at.end - at.begin, &body, &len);
    Str value = decode(p, body, len, form);
    return make(p, (Ast){.kind = form.bytes ? AST_BYTES : AST_STRING, .string = {value}}, at);
}

/* f"{x = }" shows its own text: from the brace to the end of the space after '='. */
static Str debug_text(Parser *p, Loc open, Loc equal)
{
    const char *s = p->source->text;
    uint32_t end = equal.end;
    while (s[end] == ' ' || s[end] == '\t' || s[end] == '\n' || s[end] == '\r') end++;
    return intern(p->names, s + open.end, end - open.end);
}

Ast *make_field(Parser *p, Ast *value, Loc open, Loc equal, Str conversion, Loc conversion_at,
                Ast *spec, Loc at)
{
    Ast *n = make(p, (Ast){.kind = AST_FORMAT, .format = {.value = value, .spec = spec}}, at);
    if (conversion && (str_len(conversion) != 1 || !strchr("rsa", conversion[0])))
        parser_error(p, conversion_at, "expected '!r', '!s' or '!a', found '!%s'", conversion);
    n->format.conversion = conversion ? conversion[0] : 0;
    if (equal.end > 0) {
        n->format.debug_text = debug_text(p, open, equal);
        if (!conversion && !spec) n->format.conversion = 'r';
    }
    return n;
}

static void decode_items(Parser *p, AstList items, bool raw)
{
    for (int i = 0; i < items.len; i++) {
        Ast *item = items.data[i];
        if (item->kind == AST_STRING && !item->string.value) {
            size_t len = item->span.end - item->span.begin;
            item->string.value = decode(p, p->source->text + item->span.begin, len,
                                        (StringForm){.raw = raw, .field = true});
        } else if (item->kind == AST_FORMAT && item->format.spec) {
            decode_items(p, item->format.spec->list, raw);
        }
    }
}

Ast *make_fstring(Parser *p, AstList *items, Loc start, Loc at)
{
    bool raw = false;
    for (uint32_t i = start.begin; i < start.end; i++) raw |= (p->source->text[i] | 0x20) == 'r';
    decode_items(p, *items, raw);
    return make(p, (Ast){.kind = AST_FSTRING, .list = *items}, at);
}

static Ast *join_plain(Parser *p, const AstList *pieces, Loc at)
{
    Buf all = buf_make(p->arena);
    for (int i = 0; i < pieces->len; i++)
        buf_put(&all, pieces->data[i]->string.value, str_len(pieces->data[i]->string.value));
    Str value = intern(p->names, buf_text(&all), all.len);
    return make(p, (Ast){.kind = pieces->data[0]->kind, .string = {value}}, at);
}

static void add_text(Parser *p, AstList *items, Ast *text)
{
    if (str_len(text->string.value) == 0) return;
    Ast *last = items->len > 0 ? items->data[items->len - 1] : NULL;
    if (!last || last->kind != AST_STRING) {
        vec_push(p->arena, items, text);
        return;
    }
    Ast *both[] = {last, text};
    items->data[items->len - 1] =
        join_plain(p, &(AstList){both, 2, 2}, (Loc){last->span.begin, text->span.end});
}

Ast *make_strings(Parser *p, AstList *pieces, Loc at)
{
    if (pieces->len == 1) return pieces->data[0];
    bool formatted = false;
    for (int i = 0; i < pieces->len; i++) {
        Ast *piece = pieces->data[i];
        formatted |= piece->kind == AST_FSTRING;
        if ((piece->kind == AST_BYTES) != (pieces->data[0]->kind == AST_BYTES)) {
            parser_error(p, loc_of(piece), "bytes and other strings cannot be joined");
            return pieces->data[0];
        }
    }
    if (!formatted) return join_plain(p, pieces, at);
    AstList items = {0};
    for (int i = 0; i < pieces->len; i++) {
        Ast *piece = pieces->data[i];
        int n = piece->kind == AST_FSTRING ? piece->list.len : 1;
        for (int k = 0; k < n; k++) {
            Ast *item = piece->kind == AST_FSTRING ? piece->list.data[k] : piece;
            if (item->kind == AST_STRING) add_text(p, &items, item);
            else vec_push(p->arena, &items, item);
        }
    }
    return make(p, (Ast){.kind = AST_FSTRING, .list = items}, at);
}

/* ---- displays ---- */

Ast *make_exprs(Parser *p, AstList *items, bool comma, Loc at)
{
    if (items->len > 1 || comma) return make(p, (Ast){.kind = AST_TUPLE, .list = *items}, at);
    Ast *only = items->data[0];
    if (only->kind == AST_STARRED)
        parser_error(p, loc_of(only), "a starred expression must be in a list, a tuple or a call");
    return only;
}

/* ---- operators ---- */

Ast *make_binary(Parser *p, AstKind kind, AstOp op, Loc op_at, Ast *left, Ast *right, Loc at)
{
    return make(p, (Ast){.kind = kind, .binary = {op, left, right, parser_span(p, op_at)}}, at);
}

Ast *make_compare(Parser *p, Ast *left, AstOp op, Loc op_at, Ast *right, Loc at)
{
    Ast *n = make(p, (Ast){.kind = AST_COMPARE, .compare.first = left}, at);
    return extend_compare(p, n, op, op_at, right, at);
}

Ast *extend_compare(Parser *p, Ast *chain, AstOp op, Loc op_at, Ast *right, Loc at)
{
    AstOperator operator = {op, parser_span(p, op_at)};
    vec_push(p->arena, &chain->compare.ops, operator);
    vec_push(p->arena, &chain->compare.rest, right);
    chain->span = parser_span(p, at);
    return chain;
}

Ast *make_named(Parser *p, Str name, Loc name_at, Ast *value, Loc at)
{
    Ast *target = make(p, (Ast){.kind = AST_NAME, .name = {name}}, name_at);
    return make(p, (Ast){.kind = AST_NAMED, .named = {target, value}}, at);
}

/* ---- primaries ---- */

/* Positional arguments come first, and each keyword once. */
static void check_args(Parser *p, const AstList *args)
{
    const Ast *keyword = NULL, *mapping = NULL;
    for (int i = 0; i < args->len; i++) {
        const Ast *arg = args->data[i];
        if (arg->kind != AST_KEYWORD) {
            if (mapping) parser_error(p, loc_of(arg), "an argument cannot follow '**'");
            else if (keyword && arg->kind != AST_STARRED)
                parser_error(p, loc_of(arg),
                             "a positional argument cannot follow a keyword argument");
            continue;
        }
        if (!arg->keyword.name) mapping = arg;
        keyword = arg;
        for (int k = 0; k < i && arg->keyword.name && i < 256; k++) {
            const Ast *before = args->data[k];
            if (before->kind != AST_KEYWORD || before->keyword.name != arg->keyword.name) continue;
            Diag *d =
                parser_error(p, loc_of(arg), "argument '%s' is given twice", arg->keyword.name);
            diag_note(p->dx, d, before->span, "it is given here first");
        }
    }
}

Ast *make_call(Parser *p, Ast *callee, AstList *args, Loc at)
{
    check_args(p, args);
    return make(p, (Ast){.kind = AST_CALL, .call = {callee, *args}}, at);
}

Ast *make_subscript(Parser *p, Ast *value, AstList *index, bool comma, Loc index_at, Loc at)
{
    bool tuple = comma || index->len > 1 || index->data[0]->kind == AST_STARRED;
    index_at.begin = index->data[0]->span.begin;
    Ast *one = tuple ? make(p, (Ast){.kind = AST_TUPLE, .list = *index}, index_at) : index->data[0];
    return make(p, (Ast){.kind = AST_SUBSCRIPT, .subscript = {value, one}}, at);
}

Ast *make_slice(Parser *p, Ast *lo, Ast *hi, Ast *step, Loc colon, Loc at)
{
    if (!lo) at.begin = colon.begin;
    return make(p, (Ast){.kind = AST_SLICE, .slice = {lo, hi, step}}, at);
}

Ast *make_clause(Parser *p, Ast *target, Ast *iter, AstList *conds, bool is_async, Loc at)
{
    check_target(p, target, TARGET_ASSIGN, "assign to");
    return make(p, (Ast){.kind = AST_CLAUSE, .clause = {target, iter, *conds, is_async}}, at);
}

/* ---- parameters ---- */

/* Where we are in: positional, defaults, `*`, keyword-only, `**`. */
typedef struct ParamOrder {
    bool defaulted, slash, star, bare_star, kwargs;
} ParamOrder;

static const char *param_error(ParamOrder *o, const Ast *n)
{
    bool marker = !n->param.name;
    if (o->kwargs) return "nothing can follow the '**' parameter";
    if (marker && n->param.kind == PARAM_POSITIONAL_ONLY) {
        bool wrong = o->slash || o->star;
        o->slash = true;
        return wrong ? "'/' must come once, before '*'" : NULL;
    }
    if (n->param.kind == PARAM_VARARGS) {
        bool wrong = o->star;
        o->star = true;
        o->bare_star = marker;
        return wrong ? "only one '*' parameter is allowed" : NULL;
    }
    bool bare = o->bare_star;
    if (n->param.kind == PARAM_KWARGS) {
        o->kwargs = true;
        return bare ? "a parameter must follow the bare '*'" : NULL;
    }
    o->bare_star = false;
    if (o->star) return NULL;
    if (o->defaulted && !n->param.default_)
        return "a parameter without a default cannot follow one with a default";
    o->defaulted |= n->param.default_ != NULL;
    return NULL;
}

static void check_unique(Parser *p, const AstList *params, int i)
{
    const Ast *n = params->data[i];
    for (int k = 0; k < i && i < 1024; k++) {
        if (params->data[k]->param.name != n->param.name) continue;
        Diag *d = parser_error(p, loc_of(n), "parameter '%s' appears twice", n->param.name);
        diag_note(p->dx, d, params->data[k]->span, "it is here first");
        return;
    }
}

AstList *make_params(Parser *p, AstList *list)
{
    AstList *out = list_new(p, NULL);
    ParamOrder order = {0};
    for (int i = 0; i < list->len; i++) {
        Ast *n = list->data[i];
        const char *error = param_error(&order, n);
        if (error) parser_error(p, loc_of(n), "%s", error);
        if (!n->param.name && n->param.kind == PARAM_POSITIONAL_ONLY)
            for (int k = 0; k < out->len; k++)
                if (out->data[k]->param.kind == PARAM_POSITIONAL)
                    out->data[k]->param.kind = PARAM_POSITIONAL_ONLY;
        if (!n->param.name) continue;
        if (order.star && n->param.kind == PARAM_POSITIONAL) n->param.kind = PARAM_KEYWORD_ONLY;
        list_add(p, out, n);
        check_unique(p, out, out->len - 1);
    }
    if (order.bare_star)
        parser_error(p, loc_of(list->data[list->len - 1]), "a parameter must follow the bare '*'");
    return out;
}

/* ---- simple statements ---- */

Ast *make_assign(Parser *p, AstList *chain, Loc at)
{
    int n = chain->len - 1;
    for (int i = 0; i < n; i++) check_target(p, chain->data[i], TARGET_ASSIGN, "assign to");
    AstList targets = {.data = chain->data, .len = n, .cap = n};
    return make(p, (Ast){.kind = AST_ASSIGN, .assign = {targets, chain->data[n]}}, at);
}

Ast *make_augassign(Parser *p, Ast *target, AstOp op, Loc op_at, Ast *value, Loc at)
{
    check_target(p, target, TARGET_SINGLE, "update");
    return make_binary(p, AST_AUGASSIGN, op, op_at, target, value, at);
}

Ast *make_annassign(Parser *p, Ast *target, Ast *annotation, Ast *value, Loc at)
{
    check_target(p, target, TARGET_SINGLE, "annotate");
    return make(p, (Ast){.kind = AST_ANNASSIGN, .annassign = {target, annotation, value}}, at);
}

Ast *make_delete(Parser *p, AstList *targets, Loc at)
{
    for (int i = 0; i < targets->len; i++)
        check_target(p, targets->data[i], TARGET_DELETE, "delete");
    return make(p, (Ast){.kind = AST_DELETE, .list = *targets}, at);
}

Ast *make_import(Parser *p, AstKind kind, int level, Str module, AstList *names, Loc at)
{
    if (!module) module = intern_cstr(p->names, "");
    return make(p, (Ast){.kind = kind, .import = {level, module, *names}}, at);
}

/* ---- compound statements ---- */

/* A block ends where its last statement does, not at the start of the next line. */
static Loc up_to(Loc at, const AstList *list)
{
    if (list && list->len > 0) at.end = list->data[list->len - 1]->span.end;
    return at;
}

Ast *make_branch(Parser *p, AstKind kind, Ast *cond, AstList *body, AstList *orelse, Loc at)
{
    return make(p, (Ast){.kind = kind, .branch = {cond, *body, *orelse}},
                up_to(up_to(at, body), orelse));
}

Ast *make_for(Parser *p, Ast *target, Ast *iter, AstList *body, AstList *orelse, Loc at)
{
    check_target(p, target, TARGET_ASSIGN, "assign to");
    return make(p, (Ast){.kind = AST_FOR, .loop = {target, iter, *body, *orelse, false}},
                up_to(up_to(at, body), orelse));
}

Ast *make_with_item(Parser *p, Ast *value, Ast *target)
{
    if (target) check_target(p, target, TARGET_ASSIGN, "assign to");
    return make(p, (Ast){.kind = AST_ITEM, .pair = {value, target}}, loc_of(value));
}

/* with (a, b): has two items, although it reads like one tuple. */
static bool is_item_tuple(const Parser *p, const AstList *items)
{
    if (items->len != 1 || items->data[0]->kind != AST_ITEM) return false;
    const Ast *only = items->data[0]->pair.first;
    if (items->data[0]->pair.second || only->kind != AST_TUPLE || only->list.len == 0) return false;
    for (int i = 0; i < only->list.len; i++)
        if (only->list.data[i]->kind == AST_STARRED || only->list.data[i]->kind == AST_NAMED)
            return false;
    return p->source->text[only->span.begin] == '(';
}

Ast *make_with(Parser *p, AstList *items, AstList *body, Loc at)
{
    Ast *n = make(p, (Ast){.kind = AST_WITH, .with.body = *body}, up_to(at, body));
    if (is_item_tuple(p, items)) items = &items->data[0]->pair.first->list;
    for (int i = 0; i < items->len; i++) {
        Ast *item = items->data[i];
        if (item->kind != AST_ITEM) item = make_with_item(p, item, NULL);
        list_add(p, &n->with.items, item);
    }
    return n;
}

Ast *make_handler(Parser *p, Ast *type, Str name, AstList *body, Loc at)
{
    return make(p, (Ast){.kind = AST_HANDLER, .handler = {type, name, *body}}, up_to(at, body));
}

Ast *make_try(Parser *p, AstList *body, AstList *handlers, AstList *orelse, AstList *finalbody,
              Loc at)
{
    at = up_to(at, body);
    if (!handlers && !finalbody)
        parser_error(p, ((Loc){at.begin, at.begin + 3}),
                     "expected 'except' or 'finally' after the block of this 'try'");
    at = up_to(up_to(up_to(at, handlers), orelse), finalbody);
    Ast *n = make(p, (Ast){.kind = AST_TRY, .try_.body = *body}, at);
    if (handlers) n->try_.handlers = *handlers;
    if (orelse) n->try_.orelse = *orelse;
    if (finalbody) n->try_.finalbody = *finalbody;
    return n;
}

Ast *make_def(Parser *p, Str name, Loc name_at, AstList *params, Ast *returns, AstList *body,
              Loc at)
{
    return make(p,
                (Ast){.kind = AST_DEF,
                      .def = {.name = name,
                              .name_span = parser_span(p, name_at),
                              .params = *params,
                              .returns = returns,
                              .body = *body}},
                up_to(at, body));
}

Ast *make_class(Parser *p, Str name, Loc name_at, AstList *args, AstList *body, Loc at)
{
    check_args(p, args);
    return make(p,
                (Ast){.kind = AST_CLASS,
                      .class_ = {.name = name,
                                 .name_span = parser_span(p, name_at),
                                 .args = *args,
                                 .body = *body}},
                up_to(at, body));
}

Ast *make_async(Ast *statement, Loc at)
{
    statement->span.begin = at.begin;
    if (statement->kind == AST_DEF) statement->def.is_async = true;
    if (statement->kind == AST_FOR) statement->loop.is_async = true;
    if (statement->kind == AST_WITH) statement->with.is_async = true;
    return statement;
}

Ast *make_decorated(AstList *decorators, Ast *definition)
{
    if (definition->kind == AST_DEF) definition->def.decorators = *decorators;
    else definition->class_.decorators = *decorators;
    return definition;
}

/* ---- what is left of host code ---- */

AstList *make_statement(Parser *p, AstList *statement, Loc at)
{
    bool expr = statement->len > 0 && statement->data[0]->kind == AST_EXPR;
    if (!p->host_failed && (!expr || parser_is_strict(p))) return statement;
    p->host_failed = false;
    return list_new(p, feed_skipped_text(p, at.begin, at.end));
}

AstList *make_recovered(Parser *p, AstList *block, Loc at)
{
    bool strict = p->error_strict;
    p->host_failed = false;
    if (strict) return block;
    return list_join(p, list_new(p, feed_skipped_text(p, at.begin, at.end)), block);
}
