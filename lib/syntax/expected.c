/* From the parser's set of acceptable tokens to a sentence for people: what was expected, in the
   words of the construct around the error, and what was found. The rules are tried in order; the
   first that applies speaks. */
#include "syntax/parser.h"

/* Where the parser stopped. Indices are into the feed. */
typedef struct Place {
    Parser *p;
    const bool *expected;
    int at;                          /* the token that cannot stand here */
    int first;                       /* the first of its line */
    int open;                        /* the innermost bracket open before it, or -1 */
    TokenKind found, before, header; /* header: the line's first keyword, past async */
} Place;

static TokenKind kind_at(const Place *w, int i)
{
    return (TokenKind)w->p->feed.data[i].kind;
}

static Loc loc_at(const Place *w, int i)
{
    Token t = w->p->tokens->data[w->p->feed.data[i].token];
    return (Loc){t.begin, t.end};
}

static bool expects(const Place *w, TokenKind kind)
{
    return w->expected[kind - TOK_FIRST];
}

static bool ends_line(TokenKind kind)
{
    return kind == TOK_NEWLINE || kind == TOK_INDENT || kind == TOK_DEDENT || kind == TOK_SKIPPED ||
           kind == TOK_START_FILE || kind == TOK_START_EXPR;
}

static int innermost_open(const Place *w)
{
    for (int i = w->at - 1, depth = 0; i >= w->first; i--) {
        const int nesting = token_nesting(kind_at(w, i));
        if (nesting > 0 && depth == 0) return i;
        depth -= nesting;
    }
    return -1;
}

/* How a message calls the token: its text, or what it is. */
static const char *describe(const Place *w, int i)
{
    TokenKind kind = kind_at(w, i);
    Loc at = loc_at(w, i);
    if (kind == TOK_END) return "the end of the text";
    if (kind == TOK_INDENT) return "indentation";
    if ((kind == TOK_NAME || kind == TOK_NUMBER) && at.end - at.begin <= 40)
        return arena_printf(w->p->arena, "'%.*s'", (int)(at.end - at.begin),
                            w->p->source->text + at.begin);
    if (token_is_keyword(kind))
        return arena_printf(w->p->arena, "the keyword '%s'", token_text(kind));
    if (kind > TOK_YIELD) return arena_printf(w->p->arena, "'%s'", token_text(kind));
    return token_text(kind);
}

static Diag *say(const Place *w, const char *text)
{
    return parser_error(w->p, loc_at(w, w->at), "%s, found %s", text, describe(w, w->at));
}

/* The same for a rule that adds nothing. */
#define said(w, text) (say(w, text), true)

static const char *after(const Place *w, const char *text)
{
    if (w->at == w->first) return text;
    if (token_is_keyword(w->before))
        return arena_printf(w->p->arena, "%s after '%s'", text, token_text(w->before));
    return arena_printf(w->p->arena, "%s after %s", text, describe(w, w->at - 1));
}

static TokenKind closer_of(TokenKind opener)
{
    return opener + 1;
}

/* Where the bracket is that we are in, if that is not plain to see. */
static void note_open(const Place *w, Diag *d)
{
    int open_line, line, col;
    source_position(w->p->source, loc_at(w, w->open).begin, &open_line, &col);
    source_position(w->p->source, loc_at(w, w->at).begin, &line, &col);
    if (open_line == line) return;
    diag_note(w->p->dx, d, parser_span(w->p, loc_at(w, w->open)), "the '%s' is here",
              token_text(kind_at(w, w->open)));
}

/* ---- rules: each reports and returns true if it applies ---- */

static bool orphan_rule(const Place *w)
{
    if (w->at != w->first) return false;
    const char *of = NULL;
    if (w->found == TOK_ELSE) of = "an 'if', 'for', 'while' or 'try'";
    if (w->found == TOK_ELIF) of = "an 'if'";
    if (w->found == TOK_EXCEPT || w->found == TOK_FINALLY) of = "a 'try'";
    if (!of) return false;
    parser_error(w->p, loc_at(w, w->at), "'%s' without %s before it", token_text(w->found), of);
    return true;
}

static bool statement_rule(const Place *w)
{
    if (w->at != w->first || !expects(w, TOK_PASS)) return false;
    return said(w, "expected a statement");
}

/* The last two tokens are one character twice, without a blank: && || ++ -- */
static bool is_doubled(const Place *w)
{
    return w->at > w->first && w->found == w->before &&
           loc_at(w, w->at).begin == loc_at(w, w->at - 1).end;
}

/* a && b, a || b */
static bool logic_rule(const Place *w)
{
    bool is_and = w->found == TOK_AMPERSAND;
    if (!expects(w, TOK_NUMBER) || !is_doubled(w) || (!is_and && w->found != TOK_BAR)) return false;
    Loc at = {loc_at(w, w->at - 1).begin, loc_at(w, w->at).end};
    const char *ours = is_and ? "and" : "or";
    const int line = kind_at(w, w->first); /* a condition is of numbers, what else may be of blocks */
    Diag *d = parser_error(w->p, at,
                           "'%s' is not an operator; write '%s', or between blocks '%s' with "
                           "brackets around each comparison",
                           is_and ? "&&" : "||", ours, is_and ? "&" : "|");
    if (d && (line == TOK_IF || line == TOK_ELIF || line == TOK_WHILE))
        diag_fixit(w->p->dx, d, parser_span(w->p, at), "%s", ours);
    return true;
}

/* i++ at the end of its line */
static bool increment_rule(const Place *w)
{
    bool is_sum = w->before == TOK_PLUS || w->before == TOK_MINUS;
    int i = w->at - 2;
    if (!expects(w, TOK_NUMBER) || !is_sum || i != w->first + 1 || w->found != TOK_NEWLINE ||
        kind_at(w, i) != w->before || kind_at(w, w->first) != TOK_NAME ||
        loc_at(w, i).end != loc_at(w, i + 1).begin)
        return false;
    Loc name = loc_at(w, w->first), at = {name.begin, loc_at(w, i + 1).end};
    const char *sign = token_text(w->before);
    const char *fix = arena_printf(w->p->arena, "%.*s %s= 1", (int)(name.end - name.begin),
                                   w->p->source->text + name.begin, sign);
    Diag *d = parser_error(w->p, at, "'%s%s' is not an operator; write '%s'", sign, sign, fix);
    if (d) diag_fixit(w->p->dx, d, parser_span(w->p, at), "%s", fix);
    return true;
}

/* A value is missing: x = ;  f(, a) */
static bool operand_rule(const Place *w)
{
    if (!expects(w, TOK_NUMBER)) return false;
    TokenKind closer = w->open >= 0 ? closer_of(kind_at(w, w->open)) : TOK_END;
    const char *text = "expected an expression";
    if (closer != TOK_END && expects(w, closer))
        text = arena_printf(w->p->arena, "%s or '%s'", text, token_text(closer));
    return said(w, after(w, text));
}

static bool name_rule(const Place *w)
{
    if (!expects(w, TOK_NAME)) return false;
    bool param = expects(w, TOK_POWER);
    return said(w, after(w, param ? "expected a parameter" : "expected a name"));
}

static bool ternary_rule(const Place *w)
{
    if (!expects(w, TOK_ELSE) || expects(w, TOK_NEWLINE) || expects(w, TOK_COLON)) return false;
    return said(w, "expected 'else' and the other value of this conditional expression");
}

/* The variables of a loop cannot be compared, so `in` without `not` means that they end here. */
static bool loop_rule(const Place *w)
{
    if (!expects(w, TOK_IN) || expects(w, TOK_NOT)) return false;
    return said(w, "expected 'in' after the loop variable");
}

static bool lambda_rule(const Place *w)
{
    if (!expects(w, TOK_COLON) || expects(w, TOK_NEWLINE)) return false;
    if (w->open >= 0 &&
        (expects(w, closer_of(kind_at(w, w->open))) || kind_at(w, w->open) == TOK_LBRACE))
        return false;
    for (int i = w->at - 1; i > w->open && i >= w->first; i--) {
        if (kind_at(w, i) == TOK_COLON) return false;
        if (kind_at(w, i) == TOK_LAMBDA)
            return said(w, "expected ':' after the parameters of the lambda");
    }
    return false;
}

static bool bracket_rule(const Place *w)
{
    if (w->open < 0) return false;
    TokenKind opener = kind_at(w, w->open), closer = closer_of(opener);
    if (w->found == TOK_EQUAL && opener == TOK_LPAREN && expects(w, closer)) {
        const char *text =
            "'=' here needs a plain name before it, as in 'f(name=value)'; '==' compares";
        note_open(w, parser_error(w->p, loc_at(w, w->at), "%s", text));
        return true;
    }
    if (w->found == TOK_WALRUS) {
        parser_error(w->p, loc_at(w, w->at), "':=' needs a plain name before it");
        return true;
    }
    bool comma = expects(w, TOK_COMMA), close = expects(w, closer);
    bool colon = expects(w, TOK_COLON) && opener == TOK_LBRACE;
    if (!comma && !close && !colon) return false;
    const char *options[3];
    int n = 0;
    if (comma) options[n++] = "','";
    if (colon) options[n++] = "':'";
    if (close) options[n++] = arena_printf(w->p->arena, "'%s'", token_text(closer));
    Buf text = buf_make(w->p->arena);
    for (int i = 0; i < n; i++)
        buf_printf(&text, "%s%s", i == 0 ? "expected " : i < n - 1 ? ", " : " or ", options[i]);
    note_open(w, say(w, after(w, buf_text(&text))));
    return true;
}

static const char *header_part(const Place *w)
{
    switch (w->header) {
    case TOK_IF:
    case TOK_ELIF:
    case TOK_WHILE: return "the condition";
    case TOK_FOR: return "the loop's sequence";
    case TOK_DEF: return expects(w, TOK_ARROW) ? "the parameters" : "the return type";
    case TOK_CLASS: return "the class's name";
    case TOK_EXCEPT: return "the exception";
    case TOK_WITH: return "the 'with' items";
    case TOK_ELSE: return "'else'";
    case TOK_TRY: return "'try'";
    case TOK_FINALLY: return "'finally'";
    default: return NULL;
    }
}

/* The colon of a compound statement */
static bool header_rule(const Place *w)
{
    if (w->open >= 0) return false;
    if (w->header == TOK_DEF && w->before == TOK_NAME && expects(w, TOK_LPAREN) &&
        !expects(w, TOK_NEWLINE) && !expects(w, TOK_COLON))
        return said(w, "expected '(' and the parameters after the function's name");
    const char *part = header_part(w);
    if (!part || !expects(w, TOK_COLON)) return false;
    Diag *d = say(w, arena_printf(w->p->arena, "expected ':' after %s", part));
    if (w->found == TOK_EQUAL) {
        Span at = parser_span(w->p, loc_at(w, w->at));
        diag_note(w->p->dx, d, at, "'=' assigns; '==' compares");
        diag_fixit(w->p->dx, d, at, "==");
    }
    return true;
}

static bool import_rule(const Place *w)
{
    if (!expects(w, TOK_IMPORT) || w->header != TOK_FROM) return false;
    return said(w, "expected 'import' after the module's name");
}

/* The name at the statement's start is a type of C, and what it declares stands behind it. */
static bool is_declaration(const Place *w, const char *word)
{
    static const char *const types[] = {"int",   "float", "double", "bool", "auto",
                                        "const", "let",   "var",    NULL};
    return w->found == TOK_NAME && str_among(word, types);
}

/* A complete statement with something behind it; a misspelt keyword may be the reason. */
static bool end_rule(const Place *w)
{
    if (!expects(w, TOK_NEWLINE)) return false;
    Diag *d = say(w, "expected the end of the statement");
    static const char *const words[] = {"if",   "elif",   "else",  "for",    "while",  "return",
                                        "def",  "class",  "with",  "try",    "import", "from",
                                        "pass", "assert", "raise", "global", "not",    "lambda"};
    if (kind_at(w, w->first) != TOK_NAME || w->at != w->first + 1) return true;
    Loc first = loc_at(w, w->first);
    const char *word =
        arena_strndup(w->p->arena, w->p->source->text + first.begin, first.end - first.begin);
    Span at = parser_span(w->p, first);
    if (is_declaration(w, word)) {
        diag_note(w->p->dx, d, at, "a name is not declared: leave '%s' out", word);
        return true;
    }
    diag_suggest(w->p->dx, d, at, word, nearest_word(word, words, sizeof words / sizeof *words));
    return true;
}

static bool other_rule(const Place *w)
{
    const char *text = "expected";
    int n = 0;
    for (int k = TOK_FIRST; k < TOK_LIMIT && n < 4; k++) {
        if (!expects(w, (TokenKind)k)) continue;
        const char *quote = k > TOK_START_EXPR ? "'" : "";
        text = arena_printf(w->p->arena, "%s%s %s%s%s", text, n > 0 ? " or" : "", quote,
                            token_text((TokenKind)k), quote);
        n++;
    }
    return said(w, n > 0 ? text : "unexpected text");
}

static bool (*const rules[])(const Place *) = {
    orphan_rule, statement_rule, logic_rule, increment_rule, operand_rule, name_rule,   ternary_rule, loop_rule,
    lambda_rule, bracket_rule,   header_rule,  import_rule, end_rule,     other_rule,
};

/* A lexical error on the line, which was reported, explains what follows. */
static bool is_explained(const Parser *p, int token)
{
    int first = token, last = token;
    while (first > 0 && p->tokens->data[first - 1].kind != TOK_NEWLINE) first--;
    while (p->tokens->data[last].kind != TOK_NEWLINE && p->tokens->data[last].kind != TOK_END)
        last++;
    for (int i = 0; i < p->tokens->errors.len; i++) {
        const LexError *e = &p->tokens->errors.data[i];
        if (e->reported && e->token >= first && e->token <= last) return true;
    }
    return false;
}

void parser_unexpected(Parser *p, const bool expected[TOK_COUNT])
{
    p->error_strict = parser_is_strict(p);
    if (!p->error_strict) return;
    p->failed = true;
    Place w = {.p = p, .expected = expected, .at = p->next - 1};
    if (is_explained(p, p->feed.data[w.at].token)) return;
    w.first = w.at;
    while (w.first > 0 && !ends_line(kind_at(&w, w.first - 1))) w.first--;
    w.found = kind_at(&w, w.at);
    w.before = w.at > w.first ? kind_at(&w, w.at - 1) : TOK_NEWLINE;
    bool async = kind_at(&w, w.first) == TOK_ASYNC && w.first + 1 < w.at;
    w.header = kind_at(&w, w.first + async);
    w.open = innermost_open(&w);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i](&w)) return;
}
