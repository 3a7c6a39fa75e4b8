/* Diagnostics: collected, located, with notes; delivered by the API edge to the caller's
   handler. */
#ifndef TKC_BASE_DIAG_H
#define TKC_BASE_DIAG_H

#include <stdbool.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/source.h"

/* error: no result. warning: a result that is likely wrong. remark: a result that is slow, with
   cause and remedy. */
typedef enum Severity { SEV_NOTE, SEV_REMARK, SEV_WARNING, SEV_ERROR } Severity;

typedef struct Diag Diag;
struct Diag {
    Severity severity;
    Span span;
    const char *text;
    Diag *notes;      /* singly linked, in order; severity SEV_NOTE */
    Diag *next;
    int seq;          /* order of arrival */
};

typedef struct Diags Diags;
struct Diags {
    Arena *arena;
    Diag *first, *last;
    int nerrors, nwarnings, count;
    int max_errors;   /* further errors are counted, not kept; default 20 */
    int muted;        /* >0: nothing is recorded (speculative evaluation) */
};

void diags_init(Diags *d, Arena *a);
/* Each returns the diagnostic for diag_note, or NULL when it was dropped (limit, muted, same place
   already reported). Text: lower case, no full stop, names in quotes, types in the language's
   spelling. */
Diag *diag_error(Diags *d, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
Diag *diag_warning(Diags *d, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
Diag *diag_remark(Diags *d, Span at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* `to` may be NULL: nothing happens. */
void diag_note(Diags *d, Diag *to, Span at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Sorts by file order of first use, then position; unlocated ones come last in order of arrival. */
void diags_sort(Diags *d);
/* name:line:col: severity: text, the source line, caret and range, then the notes the same way. */
void diag_render(Buf *out, const Diag *d);
/* The candidate nearest to `word` by edit distance, or NULL when none is near enough to suggest. */
const char *nearest_word(const char *word, const char *const *candidates, int n);

#endif
