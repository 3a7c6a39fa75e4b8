/* Diagnostics as a person reads them:

       add.tk:7:9: error: cannot broadcast block<128xfp32> with block<64xfp32>
           y = x + bias
               ^~~~~~~~
       add.tk:3:12: note: 'bias' gets its shape here
       ...

   What to write instead stands below the caret, where it belongs in the line. */
#include "base/diag.h"

#include <string.h>

#include "base/lookalike.h"

/* Terminals' colours; TEXT is what bold text is after a bold colour. */
#define INK_PLAIN "\033[0m"
#define INK_BOLD "\033[1m"
#define INK_TEXT "\033[0;1m"
#define INK_RED "\033[1;31m"
#define INK_GREEN "\033[1;32m"
#define INK_BLUE "\033[1;34m"
#define INK_MAGENTA "\033[1;35m"
#define INK_CYAN "\033[1;36m"

static void paint(Buf *out, bool color, const char *ink)
{
    if (color) buf_puts(out, ink);
}

/* The part of a line that is shown: a very long line is cut around the caret. */
typedef struct Excerpt {
    const char *text;
    size_t begin, end; /* bytes of the line that are shown */
    bool cut_left, cut_right;
} Excerpt;

enum { SHOWN_BEFORE = 60, SHOWN_IN_ALL = 160 };

static Excerpt excerpt_of(const char *line, size_t len, size_t caret)
{
    Excerpt x = {.text = line, .end = len};
    if (len > SHOWN_IN_ALL && caret > SHOWN_BEFORE) x.begin = caret - SHOWN_BEFORE;
    if (x.end - x.begin > SHOWN_IN_ALL) x.end = x.begin + SHOWN_IN_ALL;
    while (x.begin < caret && is_utf8_tail(line[x.begin])) x.begin++;
    while (x.end < len && is_utf8_tail(line[x.end])) x.end++;
    x.cut_left = x.begin > 0;
    x.cut_right = x.end < len;
    return x;
}

static void draw_line(Buf *out, const Excerpt *x)
{
    if (x->cut_left) buf_puts(out, "...");
    for (size_t i = x->begin; i < x->end; i++) {
        unsigned char c = (unsigned char)x->text[i];
        buf_putc(out, (c < 32 && c != '\t') || c == 127 ? '?' : (char)c);
    }
    if (x->cut_right) buf_puts(out, "...");
    buf_putc(out, '\n');
}

/* One column for each character above, a tab under a tab, up to byte `end` of the line. */
static void draw_margin(Buf *out, const Excerpt *x, size_t end)
{
    if (x->cut_left) buf_puts(out, "   ");
    for (size_t i = x->begin; i < end && i < x->end; i++)
        if (!is_utf8_tail(x->text[i])) buf_putc(out, x->text[i] == '\t' ? '\t' : ' ');
}

static void draw_range(Buf *out, const Excerpt *x, size_t caret, size_t end)
{
    buf_putc(out, '^');
    for (size_t i = caret + 1; i < end && i < x->end; i++)
        if (!is_utf8_tail(x->text[i])) buf_putc(out, '~');
}

/* What to write instead, below the range it takes the place of. */
static void draw_fixits(Buf *out, const Excerpt *x, const Diag *d, int line, bool color)
{
    for (const TkcFixit *f = d->fixits; f; f = f->next) {
        const size_t at = (size_t)f->column - 1;
        bool is_here = f->file == d->span.source->name && f->line == line && at >= x->begin;
        if (!is_here || !*f->text || strchr(f->text, '\n')) continue;
        draw_margin(out, x, at);
        paint(out, color, INK_GREEN);
        buf_puts(out, f->text);
        paint(out, color, INK_PLAIN);
        buf_putc(out, '\n');
    }
}

/* "a.tk:3:5: error: text" */
static void draw_head(Buf *out, const Diag *d, int line, int col, bool color)
{
    static const struct { const char *name, *ink; } looks[] = {
        [SEV_NOTE] = {"note", INK_CYAN},
        [SEV_REMARK] = {"remark", INK_BLUE},
        [SEV_WARNING] = {"warning", INK_MAGENTA},
        [SEV_ERROR] = {"error", INK_RED},
    };
    paint(out, color, INK_BOLD);
    if (d->span.source) buf_printf(out, "%s:%d:%d: ", d->span.source->name, line, col);
    paint(out, color, looks[d->severity].ink);
    buf_printf(out, "%s: ", looks[d->severity].name);
    paint(out, color, d->severity == SEV_NOTE ? INK_PLAIN : INK_TEXT);
    buf_puts(out, d->text);
    paint(out, color && d->severity != SEV_NOTE, INK_PLAIN);
    buf_putc(out, '\n');
}

/* above: what stands above it and shows the same place, so that the line is not repeated; or NULL. */
static void draw_one(Buf *out, const Diag *d, const Diag *above, bool color)
{
    const Source *s = d->span.source;
    int line = 0, col = 0;
    if (s) source_position(s, d->span.begin, &line, &col);
    draw_head(out, d, line, col, color);
    if (!s || s->is_hidden || (above && !d->fixits && span_is(d->span, above->span))) return;
    size_t len, caret = (size_t)col - 1;
    const char *text = source_line(s, line, &len);
    if (caret > len) caret = len;
    size_t width = d->span.end > d->span.begin ? d->span.end - d->span.begin : 0;
    Excerpt x = excerpt_of(text, len, caret);
    draw_line(out, &x);
    draw_margin(out, &x, caret);
    paint(out, color, INK_GREEN);
    draw_range(out, &x, caret, caret + width);
    paint(out, color, INK_PLAIN);
    buf_putc(out, '\n');
    draw_fixits(out, &x, d, line, color);
}

void diag_draw(Buf *out, const Diag *d, bool color)
{
    const Diag *above = d;
    draw_one(out, d, NULL, color);
    for (const Diag *note = d->notes; note; note = note->next) {
        draw_one(out, note, above, color);
        if (note->span.source) above = note;
    }
}
