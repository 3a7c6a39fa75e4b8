/* The scanner of the IR's textual form: blanks and `//` comments separate, ends of lines are
   remembered because an op's operands begin on its line. Any byte is accepted; what begins no token
   is a token of kind NONE. */
#include "ir/scan.h"

#include <string.h>

#include "base/lookalike.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word_start(char c)
{
    return char_is_word(c) && !is_digit(c);
}

static bool is_word_char(char c)
{
    return char_is_word(c) || c == '.' || c == '$';
}

static uint32_t end_of_run(const Source *src, uint32_t at, bool (*belongs)(char))
{
    while (at < src->len && belongs(src->text[at])) at++;
    return at;
}

/* A number runs on over the sign of an exponent. */
static uint32_t end_of_number(const Source *src, uint32_t at)
{
    if (src->text[at] == '-') at++;
    for (;;) {
        at = end_of_run(src, at, is_word_char);
        bool exponent = at < src->len && (src->text[at] == '-' || src->text[at] == '+') &&
                        (src->text[at - 1] == 'e' || src->text[at - 1] == 'E');
        if (!exponent) return at;
        at++;
    }
}

/* Past the closing quote, or at the end of the line without one. */
static uint32_t end_of_string(const Source *src, uint32_t at)
{
    for (at++; at < src->len && src->text[at] != '\n'; at++) {
        if (src->text[at] == '"') return at + 1;
        if (src->text[at] == '\\' && at + 1 < src->len && src->text[at + 1] != '\n') at++;
    }
    return at;
}

static void skip_blanks(Scanner *s)
{
    const Source *src = s->source;
    for (; s->at < src->len; s->at++) {
        char c = src->text[s->at];
        if (c == '\n') s->token.starts_line = true;
        else if (c == '/' && s->at + 1 < src->len && src->text[s->at + 1] == '/') {
            while (s->at + 1 < src->len && src->text[s->at + 1] != '\n') s->at++;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

void scan_next(Scanner *s)
{
    const Source *src = s->source;
    s->token = (Token){.starts_line = s->at == 0};
    skip_blanks(s);
    Token *t = &s->token;
    t->begin = t->end = s->at;
    if (s->at >= src->len) {
        t->kind = TOK_END;
        return;
    }
    char c = src->text[s->at], after = src->text[s->at + 1];
    t->end++;
    if (is_word_start(c)) {
        t->kind = TOK_WORD;
        t->end = end_of_run(src, s->at, is_word_char);
    } else if (is_digit(c) || (c == '-' && (is_digit(after) || is_word_start(after)))) {
        t->kind = TOK_NUMBER;
        t->end = end_of_number(src, s->at);
    } else if ((c == '%' || c == '@') && is_word_char(after)) {
        t->kind = c == '%' ? TOK_VALUE : TOK_FUNC;
        t->end = end_of_run(src, s->at + 1, is_word_char);
    } else if (c == '#' && is_digit(after)) {
        t->kind = TOK_LAYOUT;
        t->end = end_of_run(src, s->at + 1, is_digit);
    } else if (c == '"') {
        t->kind = TOK_STRING;
        t->end = end_of_string(src, s->at);
    } else if (c && strchr("(){}[]<>:,=*", c)) {
        t->kind = TOK_PUNCT;
    } else {
        t->end = end_of_run(src, t->end, is_utf8_tail); /* of a character, which is reported whole */
    }
    s->at = t->end;
}

Scanner scan_start(const Source *source)
{
    Scanner s = {.source = source};
    scan_next(&s);
    return s;
}

void scan_from(Scanner *s, uint32_t at)
{
    s->at = at;
    scan_next(s);
}

bool scan_is(const Scanner *s, const char *text)
{
    return s->token.kind != TOK_END && s->token.kind != TOK_STRING && scan_len(s) == strlen(text) &&
           memcmp(scan_text(s), text, scan_len(s)) == 0;
}

Span scan_span(const Scanner *s)
{
    return (Span){s->source, s->token.begin, s->token.end};
}
