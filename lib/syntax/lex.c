/* The scanner's bookkeeping.
   Indentation is measured when a physical line begins and turned into INDENT and DEDENT by the
   first token of a logical line, so blank lines and comments need no care. Everything open is on
   one stack: brackets, f-strings, their fields; its top decides how the next character reads. A
   wrong file gives repaired tokens plus an entry in the error list: each bracket, block and
   f-string of the array is closed in order, whatever the text was. */
#include "syntax/lex.h"

#include <string.h>
#include "base/intern.h"
#include "base/lookalike.h"
#include "base/unwind.h"

/* ---- the table of tokens ---- */

typedef enum TokenClass { MARK, KEYWORD, SIMPLE, COMPOUND, CLAUSE, OPEN, CLOSE, OP } TokenClass;
static const struct {
    TokenClass class;
    const char *text, *id;
} token_table[] = {
#define TOKEN(ID, class, text, op) {class, text, #ID},
#include "syntax/tokens.def"
#undef TOKEN
};

const char *token_text(TokenKind kind)
{
    check(kind >= TOK_FIRST && kind < TOK_LIMIT, "token %d has no text", (int)kind);
    return token_table[kind - TOK_FIRST].text;
}

static TokenClass class_of(TokenKind kind)
{
    return kind >= TOK_FIRST && kind < TOK_LIMIT ? token_table[kind - TOK_FIRST].class : MARK;
}

bool token_is_keyword(TokenKind kind)
{
    return class_of(kind) >= KEYWORD && class_of(kind) <= CLAUSE;
}

bool token_begins_compound(TokenKind kind)
{
    return class_of(kind) == COMPOUND || class_of(kind) == CLAUSE;
}

int token_nesting(TokenKind kind)
{
    return (class_of(kind) == OPEN) - (class_of(kind) == CLOSE);
}

const char *token_class(TokenKind kind)
{
    if (kind == TOK_END) return "END";
    if (token_is_keyword(kind)) return "KEYWORD";
    return class_of(kind) != MARK ? "OP" : token_table[kind - TOK_FIRST].id;
}

/* The token, from `first` on, that is spelled like the text just matched. */
static TokenKind matched_token(const Lexer *lx, TokenKind first)
{
    const char *s = lx->source->text + lx->begin;
    const size_t n = lx->end - lx->begin;
    for (TokenKind kind = first; kind < TOK_LIMIT; kind++) {
        const char *text = token_table[kind - TOK_FIRST].text;
        if (*text == *s && strncmp(text, s, n) == 0 && !text[n]) return kind;
    }
    unwind_raise("tokens.def lacks '%.*s'", (int)n, s);
}

/* ---- errors ---- */

static Open *top_open(Lexer *lx)
{
    return lx->nopen > 0 ? &lx->open[lx->nopen - 1] : NULL;
}

static LexError *add_error(Lexer *lx, uint32_t begin, uint32_t end, const char *text)
{
    LexError e = {.token = lx->out->len, .begin = begin, .end = end, .text = text};
    vec_push(lx->arena, &lx->out->errors, e);
    return &lx->out->errors.data[lx->out->errors.len - 1];
}

/* A limit was passed. What follows is ignored, so the error counts even if only host code is
   around. */
static void stop(Lexer *lx, const char *text)
{
    if (lx->stopped) return;
    add_error(lx, lx->begin, lx->end, text)->fatal = true;
    lx->stopped = true;
}

static void push_token(Lexer *lx, TokenKind kind, uint32_t begin, uint32_t end)
{
    if (lx->out->len == LEX_MAX_TOKENS)
        stop(lx, "the file is too large (the limit is 2 million tokens)");
    Token t = {.kind = (uint16_t)kind, .begin = begin, .end = end};
    vec_push(lx->arena, lx->out, t);
}

/* ---- indentation ---- */

static bool has_tab(const Lexer *lx, uint32_t begin)
{
    const char *s = lx->source->text + begin;
    return memchr(s, '\t', strspn(s, " \t\f")) != NULL;
}

/* What is wrong with this line's indentation, next to another's. */
static void mixed_error(Lexer *lx, const Indent *other)
{
    uint32_t begin = lx->here.begin;
    bool tabs = has_tab(lx, begin), others = has_tab(lx, other->begin);
    if (lx->stopped) return;
    const char *text = "tabs and spaces are mixed in this indentation";
    if (tabs != others)
        text = tabs ? "this line is indented with tabs, the block around it with spaces"
                    : "this line is indented with spaces, the block around it with tabs";
    LexError *e = add_error(lx, begin, lx->begin, text);
    e->note = "the block's indentation is here";
    e->note_begin = other->begin;
    e->note_end = other->begin + (uint32_t)strspn(lx->source->text + other->begin, " \t\f");
}

/* Whether the two are indented one with tabs and one without, so that how deep each is means
   nothing. */
static bool is_mixed(const Lexer *lx, const Indent *other)
{
    return other->col > 0 && lx->here.col > 0 &&
           has_tab(lx, lx->here.begin) != has_tab(lx, other->begin);
}

static void indent_to(Lexer *lx)
{
    Indent here = lx->here, *top = &lx->indents[lx->nindents - 1];
    if (here.col >= top->col) lx->odd_col = 0;
    if (here.col == top->col) {
        if (here.alt != top->alt) mixed_error(lx, top);
        return;
    }
    if (here.col > top->col) {
        if (here.alt <= top->alt) mixed_error(lx, top);
        if (lx->nindents == LEX_MAX_INDENT) {
            stop(lx, "blocks are nested too deeply (the limit is 100)");
            return;
        }
        lx->indents[lx->nindents++] = here;
        push_token(lx, TOK_INDENT, lx->begin, lx->begin);
        return;
    }
    while (lx->nindents > 1 && here.col < lx->indents[lx->nindents - 1].col) {
        if (here.col > lx->indents[lx->nindents - 2].col) {
            /* Between two levels: take it for the inner one, and report the first line of a row of
               such. */
            if (here.col != lx->odd_col && is_mixed(lx, &lx->indents[lx->nindents - 1]))
                mixed_error(lx, &lx->indents[lx->nindents - 1]);
            else if (here.col != lx->odd_col)
                lex_error(lx, "this line's indentation matches no block around it");
            lx->odd_col = here.col;
            return;
        }
        lx->nindents--;
        push_token(lx, TOK_DEDENT, lx->begin, lx->begin);
    }
    if (here.alt != lx->indents[lx->nindents - 1].alt)
        mixed_error(lx, &lx->indents[lx->nindents - 1]);
}

void lex_space(Lexer *lx)
{
    if (!lx->measuring) return;
    for (uint32_t i = lx->begin; i < lx->end; i++) {
        char c = lx->source->text[i];
        if (c == '\f') {
            lx->here.col = lx->here.alt = 0;
        } else if (c == '\t') {
            lx->here.col = (lx->here.col / 8 + 1) * 8;
            lx->here.alt++;
        } else {
            lx->here.col++;
            lx->here.alt++;
        }
    }
    lx->measuring = false;
}

void lex_continuation(Lexer *lx)
{
    lx->measuring = false;
    if (lx->end == lx->source->len) lex_error(lx, "the file ends after a backslash");
}

/* ---- tokens ---- */

void lex_token(Lexer *lx, TokenKind kind)
{
    if (lx->stopped) return;
    if (lx->fresh_statement && lx->nopen == 0) {
        indent_to(lx);
        lx->fresh_statement = false;
    }
    lx->measuring = false;
    lx->fresh_line = false;
    push_token(lx, kind, lx->begin, lx->end);
}

static LexError *unclosed_error(Lexer *lx, const Open *open)
{
    const char *text = "this f-string is never closed";
    if (open->kind == OPEN_BRACKET)
        text = arena_printf(lx->arena, "this '%s' is never closed", token_text(open->token));
    else if (open->kind != OPEN_FSTRING) text = "this '{' of an f-string is never closed";
    return add_error(lx, open->begin, open->end, text);
}

static void close_text(Lexer *lx, uint32_t end);

/* Closes what is open down to a depth with the tokens that belong there. */
static void close_down_to(Lexer *lx, int depth)
{
    while (lx->nopen > depth) {
        Open open = *top_open(lx);
        close_text(lx, lx->begin);
        lx->nopen--;
        TokenKind kind = open.kind == OPEN_FSTRING ? TOK_FSTRING_END : open.token + 1;
        push_token(lx, kind, lx->begin, lx->begin);
    }
}

/* A string that was cut off since the bracket was opened: its end may have held the closing one. */
static LexError *hidden_by(const Lexer *lx, const Open *open)
{
    for (int i = lx->out->errors.len - 1; i >= 0; i--) {
        LexError *e = &lx->out->errors.data[i];
        if (e->begin < open->begin) return NULL;
        if (e->hides_bracket) return e;
    }
    return NULL;
}

static void report_unclosed(Lexer *lx, bool fatal)
{
    const Open *open = top_open(lx);
    LexError *cause = hidden_by(lx, open);
    if (!cause) cause = unclosed_error(lx, open);
    cause->fatal |= fatal;
    close_down_to(lx, 0);
}

void lex_operator(Lexer *lx)
{
    lex_token(lx, matched_token(lx, TOK_COMMA));
}

/* A keyword that cannot stand in an expression begins a line: a bracket was forgotten before it. A
   decorator's `@` is taken so only at the left margin, where nobody writes a matrix product. */
void lex_statement(Lexer *lx, TokenKind kind)
{
    bool at_margin = lx->here.col == 0 && lx->here.alt == 0;
    if (lx->nopen > 0 && lx->fresh_line && (kind != TOK_AT || at_margin)) {
        report_unclosed(lx, false);
        push_token(lx, TOK_NEWLINE, lx->begin, lx->begin);
        lx->fresh_statement = true;
        lx->mismatched = false;
    }
    lex_token(lx, kind);
}

/* ---- names and numbers ---- */

/* Blocks of characters that are no letters: punctuation, spaces, arrows, mathematics, pictures,
   private use. What is left is taken for a letter; Python's finer rule needs Unicode's tables and
   changes no correct program. */
typedef struct CodeRange {
    uint32_t first, last;
} CodeRange;
static const CodeRange no_letters[] = {
    {0x80, 0xA9},       {0xAB, 0xB4},       {0xB6, 0xB6},        {0xB8, 0xB9},     {0xBB, 0xBF},
    {0xD7, 0xD7},       {0xF7, 0xF7},       {0x2000, 0x203E},    {0x2041, 0x2053}, {0x2055, 0x2070},
    {0x20A0, 0x20CF},   {0x2190, 0x2BFF},   {0x3000, 0x3004},    {0x3008, 0x3020}, {0xD800, 0xF8FF},
    {0xFE00, 0xFE1F},   {0xFF01, 0xFF0F},   {0xFF1A, 0xFF20},    {0xFF5B, 0xFF65}, {0xFFE0, 0xFFFF},
    {0x1F000, 0x1FAFF}, {0xE0000, 0xE00FF}, {0xF0000, 0x10FFFF},
};

static bool is_letter(uint32_t code)
{
    for (size_t i = 0; i < sizeof no_letters / sizeof *no_letters; i++)
        if (code >= no_letters[i].first && code <= no_letters[i].last) return false;
    return true;
}

/* It may be meant as a character that it looks like: quotes and dashes of word processors. */
static void invalid_character(Lexer *lx, uint32_t at, int len, uint32_t code)
{
    char like[3];
    const char *s = lx->source->text + at;
    const char *plain = lookalike_of(code, like) ? arena_strndup(lx->arena, like, 2) : NULL;
    const char *text =
        plain && *plain == ' '
            ? arena_printf(lx->arena, "invalid character U+%04X, which looks like a blank", code)
        : plain && !*plain
            ? arena_printf(lx->arena, "invalid character U+%04X, which cannot be seen", code)
        : plain ? arena_printf(lx->arena, "invalid character '%.*s' (U+%04X), which looks like '%s'",
                               len, s, code, plain)
                : arena_printf(lx->arena, "invalid character '%.*s' (U+%04X)", len, s, code);
    add_error(lx, at, at + (uint32_t)len, text)->fix = plain;
}

void lex_name(Lexer *lx)
{
    const unsigned char *s = (const unsigned char *)lx->source->text;
    for (uint32_t i = lx->begin; i < lx->end;) {
        uint32_t code = 0;
        int len = s[i] < 0x80 ? 1 : utf8_decode(s + i, lx->end - i, &code);
        if (len == 0) {
            add_error(lx, i, i + 1,
                      arena_printf(lx->arena, "byte 0x%02X is not valid UTF-8", s[i]));
            break;
        }
        if (len > 1 && !is_letter(code)) {
            invalid_character(lx, i, len, code);
            break;
        }
        i += (uint32_t)len;
    }
    lex_token(lx, TOK_NAME);
}

void lex_keyword(Lexer *lx)
{
    const TokenKind kind = matched_token(lx, TOK_FALSE);
    if (class_of(kind) == SIMPLE || class_of(kind) == COMPOUND) lex_statement(lx, kind);
    else lex_token(lx, kind);
}

/* Python allows `1if x else y`: a number may be followed at once by a keyword that can follow an
   expression. */
static bool is_infix_keyword(const char *word)
{
    static const char *const words[] = {"and", "else", "for", "if", "in", "is", "not", "or", NULL};
    return str_among(word, words);
}

void lex_number(Lexer *lx)
{
    const char *s = lx->source->text;
    uint32_t end = lx->end;
    while (is_name_byte(s[end])) end++; /* the text ends in a NUL */
    if (end > lx->end && !is_infix_keyword(arena_strndup(lx->arena, s + lx->end, end - lx->end)))
        add_error(lx, lx->begin, end,
                  arena_printf(lx->arena, "invalid number '%.*s'", (int)(end - lx->begin),
                               s + lx->begin));
    lex_token(lx, TOK_NUMBER);
}

/* ---- brackets ---- */

/* Of the text just matched. */
static void push_open(Lexer *lx, Open open)
{
    open.begin = lx->begin;
    open.end = lx->end;
    if (lx->nopen == LEX_MAX_OPEN) stop(lx, "brackets are nested too deeply (the limit is 200)");
    if (!lx->stopped) lx->open[lx->nopen++] = open;
}

LexMode lex_mode(const Lexer *lx)
{
    OpenKind kind = lx->nopen > 0 ? lx->open[lx->nopen - 1].kind : OPEN_BRACKET;
    return kind == OPEN_FSTRING ? LEX_TEXT : kind == OPEN_SPEC ? LEX_SPEC : LEX_CODE;
}

void lex_open(Lexer *lx)
{
    const TokenKind kind = matched_token(lx, TOK_LPAREN);
    lex_token(lx, kind);
    push_open(lx, (Open){.kind = OPEN_BRACKET, .token = kind});
}

/* Depth of the bracket that this closer fits, searched no further than the innermost f-string; -1
   if there is none. */
static int fitting_depth(const Lexer *lx, TokenKind closer)
{
    for (int i = lx->nopen - 1; i >= 0; i--) {
        if (lx->open[i].token + 1 == closer) return i;
        if (lx->open[i].kind != OPEN_BRACKET) break;
    }
    return -1;
}

static void mismatch(Lexer *lx, const Open *open)
{
    if (!lx->mismatched && !hidden_by(lx, open)) {
        const char *opener = token_text(open->token);
        LexError *e = add_error(lx, lx->begin, lx->end,
                                arena_printf(lx->arena, "'%c' does not close '%s'",
                                             lx->source->text[lx->begin], opener));
        e->note = arena_printf(lx->arena, "the '%s' is here", opener);
        e->note_begin = open->begin;
        e->note_end = open->end;
    }
    lx->mismatched = true;
}

void lex_close(Lexer *lx)
{
    const TokenKind kind = matched_token(lx, TOK_LPAREN);
    Open *open = top_open(lx);
    if (!open) {
        if (!lx->mismatched)
            lex_error(lx, arena_printf(lx->arena, "'%s' closes nothing", token_text(kind)));
        lx->mismatched = true;
        return;
    }
    int depth = fitting_depth(lx, kind);
    if (depth < lx->nopen - 1) mismatch(lx, open);
    if (depth < 0) {
        if (open->kind == OPEN_FIELD) return;
        depth = lx->nopen - 1; /* the wrong closer was written: take it for the right one */
    }
    close_down_to(lx, depth + 1);
    lex_token(lx, top_open(lx)->token + 1);
    lx->nopen--;
}

void lex_colon(Lexer *lx)
{
    lex_token(lx, TOK_COLON);
    Open *open = top_open(lx);
    if (open && open->kind == OPEN_FIELD) open->kind = OPEN_SPEC;
}

void lex_bang(Lexer *lx)
{
    Open *open = top_open(lx);
    if (open && open->kind == OPEN_FIELD) lex_token(lx, TOK_BANG);
    else if (!lx->stopped)
        add_error(lx, lx->begin, lx->end, "'!' is not an operator; write 'not'")->fix = "not ";
}

/* ---- f-strings ---- */

void lex_fstring_open(Lexer *lx)
{
    lex_token(lx, TOK_FSTRING_START);
    const char *s = lx->source->text;
    uint32_t quote = lx->begin;
    bool raw = false;
    for (; s[quote] != '\'' && s[quote] != '"'; quote++) raw |= s[quote] == 'r' || s[quote] == 'R';
    push_open(lx, (Open){.kind = OPEN_FSTRING,
                         .token = TOK_FSTRING_START,
                         .quote = s[quote],
                         .triple = lx->end - quote == 3,
                         .raw = raw});
}

void lex_text(Lexer *lx)
{
    if (!lx->has_text) lx->text_begin = lx->begin;
    lx->has_text = true;
}

static void close_text(Lexer *lx, uint32_t end)
{
    if (lx->has_text && !lx->stopped) push_token(lx, TOK_FSTRING_MIDDLE, lx->text_begin, end);
    lx->has_text = false;
}

void lex_field_open(Lexer *lx)
{
    Open field = *top_open(lx);
    field.kind = OPEN_FIELD;
    field.token = TOK_LBRACE;
    close_text(lx, lx->begin);
    lex_token(lx, TOK_LBRACE);
    push_open(lx, field);
}

void lex_field_close(Lexer *lx)
{
    close_text(lx, lx->begin);
    lex_token(lx, TOK_RBRACE);
    lx->nopen--;
}

/* Depth of the innermost f-string, or -1. */
static int fstring_depth(const Lexer *lx)
{
    int depth = lx->nopen - 1;
    while (depth >= 0 && lx->open[depth].kind != OPEN_FSTRING) depth--;
    return depth;
}

/* What is innermost was not closed; nor is what is around it, down to a depth. */
static void close_with_error(Lexer *lx, int depth)
{
    unclosed_error(lx, top_open(lx));
    close_down_to(lx, depth);
}

void lex_fstring_close(Lexer *lx)
{
    int depth = fstring_depth(lx);
    close_text(lx, lx->begin);
    /* Quotes in the format of a field: the field was not closed. */
    if (depth < lx->nopen - 1) close_with_error(lx, depth + 1);
    lex_token(lx, TOK_FSTRING_END);
    lx->nopen--;
}

void lex_fstring_unterminated(Lexer *lx)
{
    int depth = fstring_depth(lx);
    add_error(lx, lx->open[depth].begin, lx->begin,
              "this f-string is not closed before the end of its line")
        ->hides_bracket = true;
    close_down_to(lx, depth);
}

/* Depth of the innermost f-string if it is one of a single line, or -1. */
static int line_fstring(const Lexer *lx)
{
    int depth = fstring_depth(lx);
    return depth >= 0 && !lx->open[depth].triple ? depth : -1;
}

/* A field may go on over lines, even in an f-string of one line. Here one was rather forgotten to
   be closed: the quote comes again before any brace. Looks no further than a screenful. */
static bool is_field_cut(const Lexer *lx, int depth)
{
    enum { FAR = 2000 };
    const char *s = lx->source->text + lx->end;
    char quote = lx->open[depth].quote;
    for (int i = 0; i < FAR && s[i] && s[i] != '}'; i++)
        if (s[i] == quote) return true;
    return false;
}

/* A string that its line cuts off. In a field of an f-string of one line, the quote was meant to
   end that: f"{x" */
void lex_string_unterminated(Lexer *lx)
{
    int depth = line_fstring(lx);
    if (depth >= 0) {
        close_with_error(lx, depth);
        return;
    }
    if (!lx->stopped)
        add_error(lx, lx->begin, lx->end, "this string is not closed before the end of its line")
            ->hides_bracket = true;
    lex_token(lx, TOK_STRING);
}

void lex_newline(Lexer *lx)
{
    int depth = line_fstring(lx);
    if (depth >= 0 && is_field_cut(lx, depth)) close_with_error(lx, depth);
    lx->here = (Indent){.begin = lx->end};
    lx->measuring = true;
    lx->fresh_line = true;
    if (lx->nopen > 0 || lx->fresh_statement) return;
    push_token(lx, TOK_NEWLINE, lx->begin, lx->end);
    lx->fresh_statement = true;
    lx->mismatched = false;
}

/* ---- errors and the end ---- */

void lex_error(Lexer *lx, const char *text)
{
    if (!lx->stopped) add_error(lx, lx->begin, lx->end, text);
}

void lex_error_fatal(Lexer *lx, const char *text)
{
    if (!lx->stopped) add_error(lx, lx->begin, lx->begin + 1, text)->fatal = true;
}

void lex_bad_character(Lexer *lx)
{
    unsigned char c = (unsigned char)lx->source->text[lx->begin];
    lex_error(lx, c >= 0x20 && c < 0x7F
                      ? arena_printf(lx->arena, "unexpected character '%c'%s", c,
                                     c == '?' ? "; 'c ? a : b' is written 'a if c else b'" : "")
                      : arena_printf(lx->arena, "unexpected character, code 0x%02X", c));
}

static void lex_end(Lexer *lx)
{
    lx->begin = lx->end = (uint32_t)lx->source->len;
    bool fatal = !lx->stopped;
    if (lx->nopen > 0 && fatal) report_unclosed(lx, true);
    close_down_to(lx, 0);
    if (!lx->fresh_statement) push_token(lx, TOK_NEWLINE, lx->end, lx->end);
    for (; lx->nindents > 1; lx->nindents--) push_token(lx, TOK_DEDENT, lx->end, lx->end);
    push_token(lx, TOK_END, lx->end, lx->end);
}

TokenArray *tokens_scan(Arena *a, const Source *source)
{
    TokenArray *out = arena_new(a, TokenArray);
    Lexer *lx = arena_new(a, Lexer);
    lx->arena = a;
    lx->source = source;
    lx->out = out;
    lx->nindents = 1;
    lx->measuring = lx->fresh_line = lx->fresh_statement = true;
    const char *nul = memchr(source->text, 0, source->len);
    if (source->len > LEX_MAX_SIZE) {
        lx->end = 1;
        stop(lx, "the file is too large (the limit is 64 MiB)");
    } else if (nul) {
        lx->begin = (uint32_t)(nul - source->text);
        lx->end = lx->begin + 1;
        stop(lx, "a NUL byte: this is not a text file");
    } else {
        if (source->len >= 3 && memcmp(source->text, "\xEF\xBB\xBF", 3) == 0) lx->end = 3;
        lex_scan(lx);
    }
    lex_end(lx);
    return out;
}
