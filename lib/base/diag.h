/* Diagnostics: collected, located, with notes; delivered by the API edge to the caller's
   handler. */
#pragma once

#include <stdbool.h>
#include "base/buf.h"
#include "base/source.h"
#include "tkc/tkc.h"

/* error: no result. warning: a result that is likely wrong. remark: a result that is slow, with
   cause and remedy. */
typedef enum Severity { SEV_NOTE, SEV_REMARK, SEV_WARNING, SEV_ERROR } Severity;

typedef enum DiagId {
    DIAG_NONE, /* of a note: its parent's; of a report: the stage's */
#define DIAG(ID, name, what) DIAG_##ID,
#include "base/diag_ids.def"
    DIAG_COUNT
} DiagId;
const char *diag_id_name(DiagId id);

typedef struct Diag Diag;
struct Diag {
    Severity severity;
    DiagId id;
    Span span;
    const char *text;
    const TkcFixit *fixits;     /* these three singly linked, in order */
    const TkcSetting *settings;
    Diag *notes;           /* severity SEV_NOTE */
    Diag *next;
    int seq;          /* order of arrival */
};

typedef struct Diags Diags;
struct Diags {
    Arena *arena;
    DiagId id;        /* of reports that give none: the stage at work */
    Diag *first, *last;
    int nerrors, nwarnings, count;
    int max_errors;   /* further errors are counted, not kept; default 20 */
    bool off[DIAG_COUNT]; /* warnings and remarks that are not reported */
    int muted;        /* >0: nothing is recorded (speculative evaluation) */
    int unheard;      /* warnings that were not, for that reason */
};

void diags_init(Diags *d, Arena *a);
/* The stage that is at work from now on; gives the one before. */
DiagId diags_enter(Diags *d, DiagId stage);
/* Does it without recording anything: diag_quietly(dx, v = spec_eval(sp, e)). */
#define diag_quietly(d, ...) ((d)->muted++, __VA_ARGS__, (d)->muted--)
/* These return the diagnostic for diag_note, or NULL when it was dropped (limit, muted, same place
   already reported). Text: lower case, no full stop, names in quotes, types in the language's
   spelling. */
Diag *diag_report(Diags *d, Severity severity, DiagId id, Span at, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
#define diag_error(d, ...) diag_report(d, SEV_ERROR, DIAG_NONE, __VA_ARGS__)
#define diag_fail(d, ...) (diag_error(d, __VA_ARGS__), false) /* for functions that give false then */
/* The same for what has a row of its own in diag_ids.def, as each kind of warning and of remark has, by
   which it is switched off; remarks are off unless asked for. */
#define diag_error_as(d, ...) diag_report(d, SEV_ERROR, __VA_ARGS__)
#define diag_fail_as(d, ...) (diag_error_as(d, __VA_ARGS__), false)
#define diag_warning(d, ...) diag_report(d, SEV_WARNING, __VA_ARGS__)
#define diag_remark(d, ...) diag_report(d, SEV_REMARK, __VA_ARGS__)
/* What follows adds to a diagnostic; `to` may be NULL: nothing happens. */
Diag *diag_note(Diags *d, Diag *to, Span at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A diagnostic or a note says what to write in place of `at`; an empty `at` inserts. */
void diag_fixit(Diags *d, Diag *to, Span at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* "did you mean 'near'?" at a place that holds `word`, with the fix. near NULL: nothing happens. */
void diag_suggest(Diags *d, Diag *to, Span at, const char *word, const char *near);
void diag_setting(Diags *d, Diag *to, const char *option, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A limit of the call is passed: any larger value of the option would mend it. */
void diag_larger(Diags *d, Diag *to, const char *option);

/* Sorts by file order of first use, then position; unlocated ones come last in order of arrival. */
void diags_sort(Diags *d);
/* name:line:col: severity: text, the source line, caret and range, what to write there, then the
   notes the same way; with `color` in the colours of a terminal. */
void diag_draw(Buf *out, const Diag *d, bool color);
/* The candidate that looks like `word`, differs from it in capitals alone, or is nearest to it by
   edit distance; or NULL when none is near enough to suggest. */
const char *nearest_word(const char *word, const char *const *candidates, int n);
