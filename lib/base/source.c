/* A file's text and where its lines begin. A line ends at \n, \r\n or a lone \r, as Python counts
   them. */
#include "base/source.h"

#include <string.h>

#include "base/unwind.h"
#include "base/vec.h"

/* The offset after the line that begins at i; len + 1 when that line is the last. */
static size_t next_line(const char *text, size_t i, size_t len)
{
    while (i < len && text[i] != '\n' && text[i] != '\r') i++;
    if (i < len && text[i] == '\r' && text[i + 1] == '\n') i++;
    return i + 1;
}

Source *source_new(Arena *a, const char *name, const char *text, size_t len)
{
    Source *s = source_of_static(a, name, arena_strndup(a, text, len), len);
    s->is_static = false;
    return s;
}

Source *source_of_static(Arena *a, const char *name, const char *text, size_t len)
{
    check(len < UINT32_MAX, "a source of %zu bytes", len);
    Source *s = arena_new(a, Source);
    s->name = arena_strndup(a, name, strlen(name));
    s->text = text;
    s->is_static = true;
    s->len = len;
    VEC(uint32_t) starts = {0};
    for (size_t i = 0; i <= len; i = next_line(s->text, i, len)) vec_push(a, &starts, (uint32_t)i);
    s->line_start = starts.data;
    s->nlines = starts.len;
    return s;
}

Source *source_copy(Arena *a, const Source *s)
{
    Source *copy = arena_copy(a, s, sizeof *s);
    copy->name = arena_strndup(a, s->name, strlen(s->name));
    if (!s->is_static) copy->text = arena_strndup(a, s->text, s->len);
    copy->line_start = arena_copy(a, s->line_start, (size_t)s->nlines * sizeof *s->line_start);
    return copy;
}

void source_position(const Source *s, uint32_t offset, int *line, int *col)
{
    if (offset > s->len) offset = (uint32_t)s->len;
    int low = 0, high = s->nlines; /* the line is in [low, high) */
    while (high - low > 1) {
        int mid = low + (high - low) / 2;
        if (s->line_start[mid] <= offset) low = mid;
        else high = mid;
    }
    *line = low + 1;
    *col = (int)(offset - s->line_start[low]) + 1;
}

const char *source_line(const Source *s, int line, size_t *len)
{
    check(line >= 1 && line <= s->nlines, "line %d of %d", line, s->nlines);
    size_t begin = s->line_start[line - 1];
    size_t end = line < s->nlines ? s->line_start[line] : s->len;
    while (end > begin && (s->text[end - 1] == '\n' || s->text[end - 1] == '\r')) end--;
    *len = end - begin;
    return s->text + begin;
}

bool span_is(Span a, Span b)
{
    return a.source == b.source && a.begin == b.begin && a.end == b.end;
}

Span span_join(Span a, Span b)
{
    if (!a.source) return b;
    if (a.source != b.source) return a;
    if (b.begin < a.begin) a.begin = b.begin;
    if (b.end > a.end) a.end = b.end;
    return a;
}

const char *span_text(Arena *a, Span at)
{
    return arena_strndup(a, at.source->text + at.begin, at.end - at.begin);
}
