/* Diagnostics are collected in order of arrival and sorted once. One place yields one error: whatever
   follows at the same place is a consequence of the first. */
#include "base/diag.h"

#include <stdlib.h>
#include <string.h>

#include "base/lookalike.h"
#include "base/unwind.h"
#include "base/vec.h"

/* Warnings and remarks beyond these are counted, not kept. */
enum { MAX_ERRORS = 20, MAX_OTHERS = 1000 };

void diags_init(Diags *d, Arena *a)
{
    *d = (Diags){.arena = a, .id = DIAG_LANGUAGE, .max_errors = MAX_ERRORS};
#define DIAG(ID, name, what)
#define REMARK(ID, name, what) d->off[DIAG_##ID] = true;
#include "base/diag_ids.def"
}

DiagId diags_enter(Diags *d, DiagId stage)
{
    DiagId before = d->id;
    d->id = stage;
    return before;
}

const char *diag_id_name(DiagId id)
{
    static const char *const names[] = {
#define DIAG(ID, name, what) [DIAG_##ID] = name,
#include "base/diag_ids.def"
    };
    check(id > DIAG_NONE && id < DIAG_COUNT, "diagnostic %d has no name", (int)id);
    return names[id];
}

/* A message quotes names and values of the input, which may be megabytes of anything. */
enum { LONGEST_TEXT = 4000 };

static char *compose(Arena *a, const char *fmt, va_list ap)
{
    char *text = arena_vprintf(a, fmt, ap);
    size_t len = strlen(text);
    if (len > LONGEST_TEXT) {
        for (len = LONGEST_TEXT; is_utf8_tail(text[len]); len--) {
        }
        strcpy(text + len, "...");
    }
    return text;
}

/* A diagnostic's own text is one line; only notes may have more. */
static char *compose_line(Arena *a, const char *fmt, va_list ap)
{
    char *text = compose(a, fmt, ap);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < 32 || *p == 127) *p = *p == '\n' ? ' ' : '?';
    return text;
}

static bool is_reported(const Diags *d, Severity severity, Span at, const char *text)
{
    for (const Diag *x = d->first; x; x = x->next) {
        if (x->severity != severity || !span_is(x->span, at)) continue;
        if (severity == SEV_ERROR && at.source) return true;
        if (strcmp(x->text, text) == 0) return true;
    }
    return false;
}

/* Counts the diagnostic and says whether there is room to keep it. */
static bool has_room(Diags *d, Severity severity)
{
    if (severity == SEV_ERROR) return d->nerrors++ < d->max_errors;
    if (severity == SEV_WARNING) d->nwarnings++;
    return d->count - (d->nerrors < d->max_errors ? d->nerrors : d->max_errors) < MAX_OTHERS;
}

Diag *diag_report(Diags *d, Severity severity, DiagId id, Span at, const char *fmt, ...)
{
    if (!id) id = d->id;
    if (severity < SEV_ERROR && d->off[id]) return NULL;
    if (d->muted) {
        d->unheard += severity == SEV_WARNING;
        return NULL;
    }
    va_list ap;
    va_start(ap, fmt);
    const char *text = compose_line(d->arena, fmt, ap);
    va_end(ap);
    if (is_reported(d, severity, at, text) || !has_room(d, severity)) return NULL;
    Diag *x = arena_new(d->arena, Diag);
    *x = (Diag){.severity = severity, .id = id, .span = at, .text = text, .seq = d->count++};
    if (d->last) d->last->next = x;
    else d->first = x;
    d->last = x;
    return x;
}

/* ---- what a diagnostic carries ---- */

Diag *diag_note(Diags *d, Diag *to, Span at, const char *fmt, ...)
{
    if (!to) return NULL;
    va_list ap;
    va_start(ap, fmt);
    Diag *note = arena_new(d->arena, Diag);
    *note = (Diag){.severity = SEV_NOTE, .span = at, .text = compose(d->arena, fmt, ap)};
    va_end(ap);
    Diag **end = &to->notes;
    while (*end) end = &(*end)->next;
    return *end = note;
}

void diag_fixit(Diags *d, Diag *to, Span at, const char *fmt, ...)
{
    if (!to || !at.source || at.source->is_hidden) return;
    va_list ap;
    va_start(ap, fmt);
    TkcFixit *fix = arena_new(d->arena, TkcFixit);
    *fix = (TkcFixit){
        .size = sizeof *fix, .file = at.source->name, .text = compose(d->arena, fmt, ap)};
    va_end(ap);
    source_position(at.source, at.begin, &fix->line, &fix->column);
    source_position(at.source, at.end, &fix->end_line, &fix->end_column);
    const TkcFixit **end = &to->fixits;
    while (*end) end = (const TkcFixit **)&(*end)->next;
    *end = fix;
}

enum { LONGEST_WORD = 63 };

/* The part of a place that is the word; without a source when it is not there, or twice. */
static Span word_in(Span at, const char *word)
{
    Span found = SPAN_NONE;
    uint32_t len = (uint32_t)strlen(word);
    for (uint32_t i = at.begin; at.source && i + len <= at.end; i++) {
        const char *s = at.source->text + i;
        if (memcmp(s, word, len) || (i > 0 && is_name_byte(s[-1])) || is_name_byte(s[len]))
            continue;
        if (found.source) return SPAN_NONE;
        found = (Span){at.source, i, i + len};
    }
    return found;
}

void diag_suggest(Diags *d, Diag *to, Span at, const char *word, const char *near)
{
    if (!near) return;
    Span there = word_in(at, word);
    char plain[LONGEST_WORD + 1];
    uint32_t code = lookalike_fold(word, plain, sizeof plain);
    bool is_other = !code && lookalike_fold(near, plain, sizeof plain);
    const char *why = is_other ? "; its letters are of another alphabet" : "";
    if (code) why = arena_printf(d->arena, "; '%s' has the letter U+%04X of another alphabet", word, code);
    Diag *note = diag_note(d, to, there.source ? there : at, "did you mean '%s'?%s", near, why);
    diag_fixit(d, note, there, "%s", near);
}

static void add_setting(Diags *d, Diag *to, const char *option, const char *value)
{
    TkcSetting *setting = arena_new(d->arena, TkcSetting);
    *setting = (TkcSetting){.size = sizeof *setting, .option = option, .value = value};
    const TkcSetting **end = &to->settings;
    while (*end) end = (const TkcSetting **)&(*end)->next;
    *end = setting;
}

void diag_setting(Diags *d, Diag *to, const char *option, const char *fmt, ...)
{
    if (!to) return;
    va_list ap;
    va_start(ap, fmt);
    add_setting(d, to, option, compose(d->arena, fmt, ap));
    va_end(ap);
}

void diag_larger(Diags *d, Diag *to, const char *option)
{
    if (to) add_setting(d, to, option, NULL);
}

/* A diagnostic with the rank of its file; unlocated ones have the last rank. */
typedef struct Ranked {
    Diag *diag;
    int rank;
} Ranked;

static int compare(const void *pa, const void *pb)
{
    const Ranked *a = pa, *b = pb;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    uint32_t at_a = a->diag->span.source ? a->diag->span.begin : 0;
    uint32_t at_b = b->diag->span.source ? b->diag->span.begin : 0;
    if (at_a != at_b) return at_a < at_b ? -1 : 1;
    return a->diag->seq < b->diag->seq ? -1 : 1;
}

void diags_sort(Diags *d)
{
    if (d->count < 2) return;
    Ranked *all = arena_array(d->arena, Ranked, d->count);
    VEC(const Source *) files = {0};
    int n = 0;
    for (Diag *x = d->first; x; x = x->next) {
        int rank = d->count;
        if (x->span.source) {
            for (rank = 0; rank < files.len && files.data[rank] != x->span.source;) rank++;
            if (rank == files.len) vec_push(d->arena, &files, x->span.source);
        }
        all[n++] = (Ranked){x, rank};
    }
    qsort(all, (size_t)n, sizeof *all, compare);
    for (int i = 0; i < n; i++) all[i].diag->next = i + 1 < n ? all[i + 1].diag : NULL;
    d->first = all[0].diag;
    d->last = all[n - 1].diag;
}

/* ---- what was meant ---- */

static int min3(int a, int b, int c)
{
    int m = a < b ? a : b;
    return m < c ? m : c;
}

/* Edit distance with swaps of neighbours (restricted Damerau-Levenshtein), by three rolling
   rows. */
static int edit_distance(const char *a, int na, const char *b, int nb)
{
    int rows[3][LONGEST_WORD + 1];
    int *before = rows[0], *above = rows[1], *row = rows[2];
    for (int j = 0; j <= nb; j++) above[j] = j;
    for (int i = 1; i <= na; i++) {
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            bool differ = a[i - 1] != b[j - 1];
            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + differ);
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < row[j]) row[j] = before[j - 2] + 1;
        }
        int *oldest = before;
        before = above, above = row, row = oldest;
    }
    return above[nb];
}

/* One that looks the same. */
static const char *lookalike_word(const char *word, const char *const *candidates, int n)
{
    char mine[LONGEST_WORD + 1], other[LONGEST_WORD + 1];
    bool is_foreign = lookalike_fold(word, mine, sizeof mine) != 0;
    for (int i = 0; i < n; i++) {
        bool may_be = lookalike_fold(candidates[i], other, sizeof other) != 0 || is_foreign;
        if (may_be && strcmp(mine, other) == 0 && strcmp(word, candidates[i]) != 0)
            return candidates[i];
    }
    return NULL;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* One that differs in capitals alone. */
static const char *capitals_word(const char *word, const char *const *candidates, int n)
{
    for (int i = 0; i < n; i++) {
        const char *a = word, *b = candidates[i];
        while (*a && lower(*a) == lower(*b)) a++, b++;
        if (!*a && !*b && strcmp(word, candidates[i]) != 0) return candidates[i];
    }
    return NULL;
}

const char *nearest_word(const char *word, const char *const *candidates, int n)
{
    size_t len = strlen(word);
    const char *same = lookalike_word(word, candidates, n);
    if (!same) same = capitals_word(word, candidates, n);
    if (same) return same;
    if (len < 2 || len > LONGEST_WORD) return NULL;
    int best = len < 4 ? 2 : (int)(len / 3) + 1; /* one more than the distance accepted */
    const char *found = NULL;
    for (int i = 0; i < n; i++) {
        size_t other = strlen(candidates[i]);
        if (other < 2 || other > LONGEST_WORD) continue;
        int distance = edit_distance(word, (int)len, candidates[i], (int)other);
        if (distance < best) best = distance, found = candidates[i];
    }
    return found;
}
