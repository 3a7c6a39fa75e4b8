/* The front end's edge: text to tokens, tokens to feed, feed to tree, and the checks after it. */
#include <string.h>

#include "syntax/parser.h"

static Parser parser_of(Arena *a, Interner *names, Diags *dx, const Source *source,
                        TokenArray *tokens, TokenKind start)
{
    Parser p = {.arena = a, .names = names, .dx = dx, .source = source, .tokens = tokens};
    FeedItem first = {.kind = (uint16_t)start, .strict = true, .token = 0};
    vec_push(a, &p.feed, first);
    return p;
}

/* Lexical errors count where the text is parsed for good, or when what follows them cannot be
   trusted. */
static void report_lexical(Parser *p)
{
    if (p->tokens->errors.len == 0) return;
    bool *strict = arena_array(p->arena, bool, p->tokens->len + 1);
    for (int i = 1; i < p->feed.len; i++) strict[p->feed.data[i].token] |= p->feed.data[i].strict;
    for (int i = 0; i < p->tokens->errors.len; i++) {
        LexError *e = &p->tokens->errors.data[i];
        int at = e->token; /* the layout before a line may belong to what was skipped */
        while (p->tokens->data[at].kind == TOK_INDENT || p->tokens->data[at].kind == TOK_DEDENT)
            at++;
        if (!e->fatal && !strict[at]) continue;
        p->failed = true;
        if (e->reported) continue;
        e->reported = true;
        Diag *d = diag_error(p->dx, (Span){p->source, e->begin, e->end}, "%s", e->text);
        if (e->fix) diag_fixit(p->dx, d, (Span){p->source, e->begin, e->end}, "%s", e->fix);
        if (e->note)
            diag_note(p->dx, d, (Span){p->source, e->note_begin, e->note_end}, "%s", e->note);
    }
}

/* Ends the feed and runs the grammar over it. */
static void parse(Parser *p)
{
    FeedItem end = {.kind = TOK_END,
                    .strict = p->feed.data[p->feed.len - 1].strict,
                    .token = p->tokens->len - 1};
    vec_push(p->arena, &p->feed, end);
    report_lexical(p);
    bool failed = p->failed;
    p->failed = false;
    int result = parser_run(p);
    if (result == 2 || (result != 0 && !p->failed)) {
        Token t = p->tokens->data[p->feed.data[p->next - 1].token];
        diag_error(p->dx, (Span){p->source, t.begin, t.end}, "%s",
                   result == 2 ? "nested too deeply; the rest of the text is not read"
                               : "the text ends in the middle of a statement");
    }
    p->failed |= failed || result != 0;
}

/* Only the header of a statement that is entered; its block is looked at statement by statement. */
static bool is_header_deep(const Ast *n)
{
    if (n->kind == AST_IF) return validate_depth(n->branch.cond);
    for (int i = 0; n->kind == AST_WITH && i < n->with.items.len; i++)
        if (validate_depth(n->with.items.data[i]->pair.first)) return true;
    for (int i = 0; n->kind == AST_TRY && i < n->try_.handlers.len; i++)
        if (n->try_.handlers.data[i]->handler.type &&
            validate_depth(n->try_.handlers.data[i]->handler.type))
            return true;
    return false;
}

/* Checks a statement for good. What is too deep leaves the tree, since whoever reads it
   recurses. */
static void check_statement(Parser *p, Ast **slot)
{
    bool is_definition = (*slot)->kind == AST_DEF || (*slot)->kind == AST_CLASS;
    if (validate(p->dx, *slot, !is_definition)) return;
    p->failed = true;
    if (validate_depth(*slot)) *slot = feed_skipped_text(p, (*slot)->span.begin, (*slot)->span.end);
}

/* async def k(…) under @triton.jit */
static void refuse_async(Parser *p, const Ast *def)
{
    const char *text = p->source->text;
    uint32_t name = def->def.name_span.begin, begin = name;
    while (begin > def->span.begin && strncmp(text + begin, "async", 5) != 0) begin--;
    uint32_t end = begin + 5;
    Span word = {p->source, begin, end};
    Diag *d = diag_error(p->dx, word, "a kernel cannot be 'async'; write 'def'");
    while (end < name && (text[end] == ' ' || text[end] == '\t')) end++;
    diag_fixit(p->dx, d, (Span){p->source, begin, end}, "%s", "");
    p->failed = true;
}

/* A block and how many are around it. */
typedef struct Finish { Parser *p; int level; } Finish;

static void finish_block(void *context, AstList *block);

/* Kernels are checked. Host code that is too deep becomes SKIPPED, like any that we do not
   understand. */
static void finish_statement(Parser *p, Ast **slot, int level)
{
    Ast *n = *slot;
    if (n->kind == AST_SKIPPED) return;
    if (n->kind == AST_DEF) {
        if (n->def.is_async) refuse_async(p, n);
        check_statement(p, slot);
    } else if (ast_is_entered(n) ? is_header_deep(n) || level == SYNTAX_MAX_DEPTH
                                 : validate_depth(n) != NULL) {
        *slot = feed_skipped_text(p, n->span.begin, n->span.end);
    } else if (ast_is_entered(n)) {
        ast_each_block(n, finish_block, &(Finish){p, level + 1});
    }
}

/* A function in the statement that was skipped last. With a first parameter `self` it is a method. */
static void mark_inner(Ast *def, const Ast *skipped)
{
    if (def->kind != AST_DEF || !skipped || def->span.end > skipped->span.end) return;
    if (strcmp(skipped->skipped.what, "statement") != 0) def->def.inside = skipped;
    def->def.is_method = def->def.params.len && !strcmp(def->def.params.data[0]->param.name, "self");
}

static void finish_block(void *context, AstList *block)
{
    const Finish *f = context;
    const Ast *skipped = NULL;
    for (int i = 0; i < block->len; i++) {
        Ast *n = block->data[i];
        if (n->kind == AST_SKIPPED) skipped = n;
        mark_inner(n, skipped);
        finish_statement(f->p, &block->data[i], f->level);
    }
}

AstFile *syntax_parse(Arena *a, Interner *names, Diags *dx, const Source *source)
{
    AstFile *file = arena_new(a, AstFile);
    DiagId stage = diags_enter(dx, DIAG_SYNTAX);
    file->source = source;
    file->tokens = tokens_scan(a, source);
    Parser p = parser_of(a, names, dx, source, file->tokens, TOK_START_FILE);
    feed_file(&p);
    parse(&p);
    if (p.body) file->body = *p.body;
    finish_block(&(Finish){&p, 0}, &file->body);
    file->ok = !p.failed;
    diags_enter(dx, stage);
    return file;
}

bool parse_tokens(Arena *a, Interner *names, Diags *dx, const AstFile *file, int first, int last,
                  AstList *out)
{
    DiagId stage = diags_enter(dx, DIAG_SYNTAX);
    Parser p = parser_of(a, names, dx, file->source, file->tokens, TOK_START_FILE);
    feed_range(&p, first, last);
    parse(&p);
    if (p.body) *out = *p.body;
    for (int i = 0; i < out->len; i++) check_statement(&p, &out->data[i]);
    diags_enter(dx, stage);
    return !p.failed;
}

Ast *syntax_parse_skipped(Arena *a, Interner *names, Diags *dx, AstFile *file, const Ast *skipped)
{
    AstList list = {0};
    bool ok = parse_tokens(a, names, dx, file, skipped->skipped.first_token,
                           skipped->skipped.last_token + 1, &list);
    return ok && list.len > 0 ? list.data[0] : NULL;
}

Ast *syntax_parse_expr(Arena *a, Interner *names, Diags *dx, const Source *source)
{
    DiagId stage = diags_enter(dx, DIAG_SYNTAX);
    Parser p = parser_of(a, names, dx, source, tokens_scan(a, source), TOK_START_EXPR);
    feed_expr(&p);
    parse(&p);
    bool ok = !p.failed && p.expr && validate(dx, p.expr, false);
    diags_enter(dx, stage);
    return ok ? p.expr : NULL;
}
