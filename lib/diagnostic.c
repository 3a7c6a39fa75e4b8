/* A diagnostic as the caller's handler sees it: data and drawn text, in the arena of the call. */
#include <limits.h>

#include "api.h"

_Static_assert((int)SEV_NOTE == (int)TKC_NOTE && (int)SEV_ERROR == (int)TKC_SEVERITY_ERROR,
               "severities are numbered as the caller's");

static TkcDiagnostic *make(Arena *a, const Diag *d, DiagId id)
{
    TkcDiagnostic *out = arena_new(a, TkcDiagnostic);
    *out = (TkcDiagnostic){.size = sizeof *out,
                           .severity = (TkcSeverity)d->severity,
                           .text = d->text,
                           .rendered = "",
                           .id = diag_id_name(id),
                           .fixits = d->fixits,
                           .settings = d->settings};
    if (d->span.source) {
        out->file = d->span.source->name;
        source_position(d->span.source, d->span.begin, &out->line, &out->column);
        source_position(d->span.source, d->span.end, &out->end_line, &out->end_column);
    }
    return out;
}

const char *tkc_nearest_word(const char *word, const char *const *candidates, size_t n)
{
    return word && candidates && n <= INT_MAX ? nearest_word(word, candidates, (int)n) : NULL;
}

const TkcDiagnostic *api_diagnostic(Arena *a, const Diag *d, const char *rendered)
{
    TkcDiagnostic *out = make(a, d, d->id);
    const TkcDiagnostic **end = &out->notes;
    out->rendered = rendered;
    for (const Diag *note = d->notes; note; note = note->next) {
        TkcDiagnostic *n = make(a, note, d->id);
        *end = n;
        end = &n->next;
    }
    return out;
}
