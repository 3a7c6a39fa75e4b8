/* From the tokens of a file to what the grammar reads.
   A user's file is mostly host code that we neither understand nor may refuse. So statements are
   told apart by their first token and their indentation alone: kernels (functions with a jit
   decorator, wherever they are), imports and assignments are passed on, module-level if, try and
   with are entered, anything else becomes one SKIPPED. Kernels pass through unchanged but for what
   the grammar could not recover from: a block that is missing gets a `pass`, an indentation that
   nothing asks for is dropped, both with an error. */
#include "syntax/parser.h"

#include <string.h>
#include "base/map.h"

static TokenKind kind_at(const TokenArray *t, int i)
{
    return i < t->len ? (TokenKind)t->data[i].kind : TOK_END;
}

static bool is_text(const Parser *p, int i, const char *text)
{
    Token k = p->tokens->data[i];
    return strlen(text) == k.end - k.begin &&
           memcmp(p->source->text + k.begin, text, k.end - k.begin) == 0;
}

/* ---- extents of statements ---- */

/* Index of the NEWLINE that ends the line. */
static int line_end(const TokenArray *t, int i)
{
    while (kind_at(t, i) != TOK_NEWLINE && kind_at(t, i) != TOK_END) i++;
    return i;
}

/* Index after the DEDENT that matches the INDENT at i. */
static int block_end(const TokenArray *t, int i)
{
    int depth = 0;
    for (; i < t->len && kind_at(t, i) != TOK_END; i++) {
        if (kind_at(t, i) == TOK_INDENT) depth++;
        if (kind_at(t, i) == TOK_DEDENT && --depth == 0) return i + 1;
    }
    return i;
}

/* Index after the statement: its line and the block below it. */
static int statement_end(const TokenArray *t, int i)
{
    int end = line_end(t, i);
    if (kind_at(t, end) == TOK_NEWLINE) end++;
    return kind_at(t, end) == TOK_INDENT ? block_end(t, end) : end;
}

static bool is_statement_start(const TokenArray *t, int first, int i)
{
    if (i == first) return true;
    TokenKind before = kind_at(t, i - 1);
    return before == TOK_NEWLINE || before == TOK_INDENT || before == TOK_DEDENT;
}

/* Index of the first such token in [i, end) outside brackets, or end. */
static int find_outside(const TokenArray *t, int i, int end, bool (*is)(TokenKind kind))
{
    for (int depth = 0; i < end; i++) {
        depth += token_nesting(kind_at(t, i));
        if (depth == 0 && is(kind_at(t, i))) break;
    }
    return i;
}

static bool is_semicolon(TokenKind kind)
{
    return kind == TOK_SEMICOLON;
}

static bool begins_target(TokenKind kind)
{
    return kind == TOK_NAME || kind == TOK_LPAREN || kind == TOK_LBRACKET || kind == TOK_STAR;
}

/* What ends a target: of a = b, a: T = b, a += 1. */
static bool ends_target(TokenKind kind)
{
    return kind == TOK_EQUAL || kind == TOK_COLON ||
           (kind >= TOK_PLUS_EQUAL && kind <= TOK_SHR_EQUAL);
}

/* Index of the colon that ends a compound statement's header, or -1. */
static int header_colon(const TokenArray *t, int i)
{
    int depth = 0, lambdas = 0;
    for (; kind_at(t, i) != TOK_NEWLINE && kind_at(t, i) != TOK_END; i++) {
        TokenKind kind = kind_at(t, i);
        depth += token_nesting(kind);
        if (depth > 0) continue;
        if (kind == TOK_LAMBDA) lambdas++;
        if (kind == TOK_COLON && lambdas-- == 0) return i;
    }
    return -1;
}

/* ---- names that skipped statements bind ---- */

typedef struct Binder {
    Parser *p;
    const TokenArray *tokens;
    Map seen;
    AstNames *out;
} Binder;

static void bind_token(Binder *b, int i)
{
    Token k = b->tokens->data[i];
    Str name = intern(b->p->names, b->p->source->text + k.begin, k.end - k.begin);
    if (map_has(&b->seen, (uint64_t)(uintptr_t)name)) return;
    map_set_ptr(&b->seen, name, NULL);
    vec_push(b->p->arena, b->out, name);
}

/* a, (b, *c): the plain names of a target in [i, end); not those of x.f, x[i], f(x) */
static void bind_targets(Binder *b, int i, int end)
{
    const TokenArray *t = b->tokens;
    for (; i < end; i++) {
        if (kind_at(t, i) != TOK_NAME) continue;
        TokenKind next = kind_at(t, i + 1);
        if (i > 0 && kind_at(t, i - 1) == TOK_DOT) continue;
        if (next == TOK_DOT || next == TOK_LBRACKET || next == TOK_LPAREN) return;
        bind_token(b, i);
    }
}

static int find_kind(const TokenArray *t, int i, int end, TokenKind kind)
{
    while (i < end && kind_at(t, i) != kind) i++;
    return i;
}

/* import a.b, c as d;  from m import a as b, c */
static void bind_imports(Binder *b, int i, int end)
{
    const TokenArray *t = b->tokens;
    if (kind_at(t, i) == TOK_FROM) i = find_kind(t, i, end, TOK_IMPORT);
    for (i++; i < end; i++) {
        if (kind_at(t, i) != TOK_NAME) continue;
        int first = i;
        while (kind_at(t, i + 1) == TOK_DOT) i += 2;
        if (kind_at(t, i + 1) == TOK_AS) first = i += 2;
        if (first < end && kind_at(t, first) == TOK_NAME) bind_token(b, first);
    }
}

/* a = b = value;  a: T = value;  a += 1 */
static void bind_assignment(Binder *b, int i, int end)
{
    for (int k; (k = find_outside(b->tokens, i, end, ends_target)) < end; i = k + 1) {
        bind_targets(b, i, k);
        if (kind_at(b->tokens, k) != TOK_EQUAL) return;
    }
}

/* match x: and case y: are headers; as names they would be assigned to or annotated. */
static bool is_soft_header(const Binder *b, int i)
{
    const TokenArray *t = b->tokens;
    if (kind_at(t, i) != TOK_NAME || (!is_text(b->p, i, "match") && !is_text(b->p, i, "case")))
        return false;
    TokenKind next = kind_at(t, i + 1);
    return next != TOK_EQUAL && next != TOK_COLON && next != TOK_DOT && header_colon(t, i) >= 0;
}

static void bind_simple(Binder *b, int i, int end)
{
    TokenKind kind = kind_at(b->tokens, i);
    if (kind == TOK_IMPORT || kind == TOK_FROM) bind_imports(b, i, end);
    if (kind == TOK_NAME && kind_at(b->tokens, i + 1) == TOK_NAME) i++; /* type X = int */
    if (begins_target(kind)) bind_assignment(b, i, end);
}

/* The names of a header, up to its colon. */
static void bind_header(Binder *b, int i, int end)
{
    const TokenArray *t = b->tokens;
    if (kind_at(t, i) == TOK_FOR) bind_targets(b, i + 1, find_kind(t, i, end, TOK_IN));
    if (kind_at(t, i) != TOK_WITH && kind_at(t, i) != TOK_EXCEPT) return;
    for (int k = i; k + 1 < end; k++)
        if (kind_at(t, k) == TOK_AS && kind_at(t, k + 1) == TOK_NAME) bind_token(b, k + 1);
}

/* One line; returns the index to go on at, past the body of a function or class. */
static int bind_line(Binder *b, int i, int last)
{
    const TokenArray *t = b->tokens;
    int end = line_end(t, i) < last ? line_end(t, i) : last;
    int first = i + (kind_at(t, i) == TOK_ASYNC);
    TokenKind kind = kind_at(t, first);
    if (kind == TOK_DEF || kind == TOK_CLASS) {
        if (kind_at(t, first + 1) == TOK_NAME) bind_token(b, first + 1);
        return statement_end(t, i);
    }
    if (token_begins_compound(kind) || is_soft_header(b, first)) {
        int colon = header_colon(t, first);
        bind_header(b, first, colon < 0 ? end : colon);
        if (colon < 0) return end + 1;
        first = colon + 1;
    }
    for (int k; first <= end; first = k + 1) { /* a; b; c */
        k = find_outside(t, first, end, is_semicolon);
        if (k > first) bind_simple(b, first, k);
    }
    return end + 1;
}

/* A SKIPPED node for the tokens [first, last), with the names they bind. */
static Ast *feed_skipped(Parser *p, int first, int last, const char *what)
{
    const TokenArray *tokens = p->tokens;
    int end = last;
    while (end > first + 1 &&
           (kind_at(tokens, end - 1) == TOK_DEDENT || kind_at(tokens, end - 1) == TOK_NEWLINE))
        end--;
    Ast *n = ast_new(p->arena, AST_SKIPPED,
                     (Span){p->source, tokens->data[first].begin, tokens->data[end - 1].end});
    n->skipped.first_token = first;
    n->skipped.last_token = last - 1;
    n->skipped.what = what;
    Binder b = {.p = p, .tokens = tokens, .out = &n->skipped.names};
    map_init(&b.seen, p->arena);
    for (int i = first; i < last;) {
        TokenKind kind = kind_at(tokens, i);
        bool layout = kind == TOK_INDENT || kind == TOK_DEDENT || kind == TOK_NEWLINE;
        i = layout ? i + 1 : bind_line(&b, i, last);
    }
    return n;
}

/* Index of the first token that begins at an offset or behind it. */
static int token_from(const TokenArray *t, uint32_t offset)
{
    int lo = 0, hi = t->len - 1;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (t->data[mid].begin < offset) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

Ast *feed_skipped_text(Parser *p, uint32_t begin, uint32_t end)
{
    const TokenArray *t = p->tokens;
    int first = token_from(t, begin), last;
    while (kind_at(t, first) == TOK_INDENT || kind_at(t, first) == TOK_DEDENT) first++;
    for (last = first; kind_at(t, last) != TOK_END && t->data[last].end <= end; last++) continue;
    return feed_skipped(p, first, last > first ? last : first + 1, "statement");
}

/* ---- passing tokens on ---- */

static void push(Parser *p, TokenKind kind, int token, bool strict, Ast *skipped)
{
    FeedItem item = {.kind = (uint16_t)kind, .strict = strict, .token = token, .skipped = skipped};
    vec_push(p->arena, &p->feed, item);
}

static void push_tokens(Parser *p, int first, int last, bool strict)
{
    for (int i = first; i < last; i++) push(p, kind_at(p->tokens, i), i, strict, NULL);
}

static void report(Parser *p, int first, int last, const char *fmt, const char *word)
{
    Span at = {p->source, p->tokens->data[first].begin, p->tokens->data[last].end};
    diag_error(p->dx, at, "%s", arena_printf(p->arena, fmt, word));
    p->failed = true;
}

/* match x: with a case in its block, or type X = …; words that are names anywhere else. */
static const char *soft_statement(const Parser *p, int i, int end)
{
    const TokenArray *t = p->tokens;
    if (kind_at(t, i) != TOK_NAME) return NULL;
    if (is_text(p, i, "type") && kind_at(t, i + 1) == TOK_NAME &&
        (kind_at(t, i + 2) == TOK_EQUAL || kind_at(t, i + 2) == TOK_LBRACKET))
        return "type statement";
    if (is_text(p, i, "match") && kind_at(t, end - 1) == TOK_COLON &&
        kind_at(t, end + 1) == TOK_INDENT && kind_at(t, end + 2) == TOK_NAME &&
        is_text(p, end + 2, "case"))
        return "match statement";
    return NULL;
}

/* Whether the scanner has something to say of the layout at token i. */
static bool has_error(const TokenArray *t, int i)
{
    for (int k = 0; k < t->errors.len; k++)
        if (t->errors.data[k].token == i) return true;
    return false;
}

/* One line of a kernel, with its repairs; *stray says that the INDENT after it belongs to nothing.
   Returns where to go on. */
static int feed_line(Parser *p, int i, bool *stray)
{
    const TokenArray *t = p->tokens;
    int end = line_end(t, i);
    const char *soft = soft_statement(p, i, end);
    *stray = false;
    if (soft) {
        int stop = statement_end(t, i);
        push(p, TOK_SKIPPED, i, true, feed_skipped(p, i, stop, soft));
        return stop;
    }
    if (kind_at(t, i) == TOK_AT) {
        TokenKind next = kind_at(t, end + 1);
        if (next != TOK_AT && next != TOK_DEF && next != TOK_CLASS && next != TOK_ASYNC) {
            report(p, i, end - 1, "expected a function or a class after the %s", "decorator");
            *stray = next == TOK_INDENT;
            return end + 1;
        }
    }
    push_tokens(p, i, end + 1, true);
    bool indented = kind_at(t, end + 1) == TOK_INDENT;
    bool compound = token_begins_compound(kind_at(t, i));
    if (compound && kind_at(t, end - 1) == TOK_COLON && !indented) {
        report(p, i, end - 1, "expected an indented block after '%s'", token_text(kind_at(t, i)));
        push(p, TOK_INDENT, end, true, NULL);
        push(p, TOK_PASS, end, true, NULL);
        push(p, TOK_NEWLINE, end, true, NULL);
        push(p, TOK_DEDENT, end, true, NULL);
    }
    /* Without any colon the parser says that one is missing, and takes the block; so it does when a
       line that is no header ends in one: a keyword is misspelt. */
    bool wants_block = kind_at(t, end - 1) == TOK_COLON || (compound && header_colon(t, i) < 0);
    if (indented && !wants_block) {
        if (!has_error(t, end + 1)) report(p, end + 2, end + 2, "unexpected %s", "indentation");
        *stray = true;
    }
    return end + 1;
}

void feed_range(Parser *p, int first, int last)
{
    const TokenArray *t = p->tokens;
    VEC(bool) strays = {0};
    bool stray = false;
    for (int i = first; i < last;) {
        TokenKind kind = kind_at(t, i);
        if (kind == TOK_INDENT) {
            vec_push(p->arena, &strays, stray);
            if (!stray) push(p, kind, i, true, NULL);
            i++;
        } else if (kind == TOK_DEDENT) {
            bool dropped = strays.len > 0 && strays.data[--strays.len];
            if (!dropped) push(p, kind, i, true, NULL);
            i++;
        } else if (line_end(t, i) >= last) { /* part of a line: a; b */
            push_tokens(p, i, last, true);
            push(p, TOK_NEWLINE, last, true, NULL);
            i = last;
        } else {
            i = feed_line(p, i, &stray);
        }
    }
}

/* ---- host code ---- */

/* @cute.jit, @numba.cuda.jit and the like are of other languages. */
static bool is_foreign(const Parser *p, int i)
{
    static const char *const others[] = {"cute", "numba", "nb", "cuda", "jax", "torch"};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (is_text(p, i, others[k])) return true;
    return false;
}

/* Index after the decorator lines at i; *jit: one of them marks a kernel, a helper or a
   compile-time function. */
static int decorators_end(const Parser *p, int i, bool *jit)
{
    const TokenArray *t = p->tokens;
    *jit = false;
    while (kind_at(t, i) == TOK_AT) {
        int last = i + 1;
        while (kind_at(t, last) == TOK_NAME && kind_at(t, last + 1) == TOK_DOT) last += 2;
        TokenKind next = kind_at(t, last + 1);
        bool plain = kind_at(t, last) == TOK_NAME && (next == TOK_NEWLINE || next == TOK_LPAREN) &&
                     !is_foreign(p, i + 1);
        if (plain && (is_text(p, last, "jit") || is_text(p, last, "constexpr_function")))
            *jit = true;
        i = line_end(t, i);
        if (kind_at(t, i) == TOK_NEWLINE) i++;
    }
    return i;
}

/* Passes on a kernel whose decorators begin at i, if one does; returns where it ends, or i. */
static int feed_kernel(Parser *p, int i)
{
    bool jit;
    int def = decorators_end(p, i, &jit);
    TokenKind kind = kind_at(p->tokens, def);
    if (!jit) return i;
    if (kind == TOK_DEF || kind == TOK_ASYNC) {
        int end = statement_end(p->tokens, def);
        feed_range(p, i, end);
        return end;
    }
    if (kind != TOK_CLASS)
        report(p, i, line_end(p->tokens, i) - 1, "expected a function or a class after the %s",
               "decorator");
    return i;
}

/* SKIPPED for [first, last), then the kernels inside it. */
static void skip(Parser *p, int first, int last, const char *what)
{
    const TokenArray *t = p->tokens;
    Ast *node = feed_skipped(p, first, last, what);
    push(p, TOK_SKIPPED, first, false, node);
    for (int i = first; i < last;) {
        if (kind_at(t, i) != TOK_AT || !is_statement_start(t, first, i)) {
            i++;
            continue;
        }
        bool jit;
        int end = feed_kernel(p, i);
        i = end > i ? end : decorators_end(p, i, &jit);
    }
}

/* Imports, assignments and pass; [i, end) is one simple statement. */
static bool is_kept(const TokenArray *t, int i, int end)
{
    TokenKind kind = kind_at(t, i);
    return kind == TOK_IMPORT || kind == TOK_FROM || kind == TOK_PASS ||
           (begins_target(kind) && find_outside(t, i, end, ends_target) < end);
}

/* a; b; c in [i, end), where `end` is a NEWLINE. */
static void feed_simple(Parser *p, int i, int end)
{
    const TokenArray *t = p->tokens;
    for (int k; i <= end; i = k + 1) {
        k = find_outside(t, i, end, is_semicolon);
        if (k > i && is_kept(t, i, k)) {
            push_tokens(p, i, k, false);
            push(p, TOK_NEWLINE, k, false, NULL);
        } else if (k > i) {
            skip(p, i, k, "statement");
        }
    }
}

static void feed_host(Parser *p, int i, int last);

/* Enters a module-level if, try or with, or a clause of one: its header, then its block
   filtered. */
static int enter(Parser *p, int i)
{
    const TokenArray *t = p->tokens;
    int end = line_end(t, i), colon = header_colon(t, i), stop = statement_end(t, i);
    bool indented = kind_at(t, end + 1) == TOK_INDENT;
    if (colon < 0 || indented != (colon == end - 1)) {
        skip(p, i, stop, "statement");
        return stop;
    }
    push_tokens(p, i, colon + 1, false);
    push(p, TOK_NEWLINE, end, false, NULL);
    push(p, TOK_INDENT, end, false, NULL);
    if (indented) feed_host(p, end + 2, stop - 1);
    else feed_simple(p, colon + 1, end);
    push(p, TOK_DEDENT, end, false, NULL);
    return stop;
}

/* One statement of host code that is not a simple line. Returns its end, or i. */
static int feed_compound(Parser *p, int i)
{
    const TokenArray *t = p->tokens;
    int end = statement_end(t, i), def = i;
    bool jit;
    switch (kind_at(t, i)) {
    case TOK_AT:
        end = feed_kernel(p, i);
        if (end > i) return end;
        def = decorators_end(p, i, &jit);
        end = token_begins_compound(kind_at(t, def)) ? statement_end(t, def) : def;
        break;
    case TOK_ASYNC:
    case TOK_DEF:
    case TOK_CLASS: break;
    case TOK_FOR:
    case TOK_WHILE:
        if (kind_at(t, end) == TOK_ELSE) end = statement_end(t, end);
        break;
    case TOK_INDENT: end = block_end(t, i); break;
    case TOK_IF:
    case TOK_ELIF:
    case TOK_ELSE:
    case TOK_TRY:
    case TOK_EXCEPT:
    case TOK_FINALLY:
    case TOK_WITH: return enter(p, i);
    default: /* match, or a block without a header */
        if (end == line_end(t, i) + 1) return i;
    }
    def += kind_at(t, def) == TOK_ASYNC;
    const TokenKind kind = kind_at(t, def);
    skip(p, i, end, kind == TOK_DEF ? "function" : kind == TOK_CLASS ? "class" : "statement");
    return end;
}

static void feed_host(Parser *p, int i, int last)
{
    while (i < last) {
        int end = feed_compound(p, i);
        if (end == i) {
            int newline = line_end(p->tokens, i);
            feed_simple(p, i, newline);
            end = newline + 1;
        }
        i = end;
    }
}

void feed_file(Parser *p)
{
    feed_host(p, 0, p->tokens->len - 1);
}

void feed_expr(Parser *p)
{
    for (int i = 0; i < p->tokens->len - 1; i++) {
        TokenKind kind = kind_at(p->tokens, i);
        if (kind != TOK_NEWLINE && kind != TOK_INDENT && kind != TOK_DEDENT)
            push(p, kind, i, true, NULL);
    }
}
