/* Warnings and remarks by name: which there are, and which are off. The table is base/diag_ids.def. */
#include <string.h>

#include "api.h"

typedef struct Kind { DiagId id; const char *name, *what; } Kind;

static const Kind warnings[] = {
#define DIAG(ID, name, what)
#define WARNING(ID, name, what) {DIAG_##ID, name, what},
#include "base/diag_ids.def"
};
static const Kind remarks[] = {
#define DIAG(ID, name, what)
#define REMARK(ID, name, what) {DIAG_##ID, name, what},
#include "base/diag_ids.def"
};
enum { WARNINGS = sizeof warnings / sizeof *warnings, REMARKS = sizeof remarks / sizeof *remarks };

static const char *name_of(const Kind *kinds, size_t n, size_t i, const char **what)
{
    if (what) *what = i < n ? kinds[i].what : NULL;
    return i < n ? kinds[i].name : NULL;
}

const char *tkc_warning_name(size_t i, const char **what)
{
    return name_of(warnings, WARNINGS, i, what);
}

const char *tkc_remark_name(size_t i, const char **what)
{
    return name_of(remarks, REMARKS, i, what);
}

static bool unknown(Diags *dx, const char *one, const Kind *kinds, int n, const char *name)
{
    const char *names[WARNINGS + REMARKS];
    for (int i = 0; i < n; i++) names[i] = kinds[i].name;
    Diag *d = diag_error_as(dx, DIAG_REQUEST, SPAN_NONE, "there is no %s '%s'", one, name);
    diag_suggest(dx, d, SPAN_NONE, name, nearest_word(name, names, n));
    return false;
}

/* Of a list, each NAME or no-NAME. `one`: what its names name. */
static bool switch_kinds(Diags *dx, const char *list, const char *one, const Kind *kinds, int n)
{
    while (list && *list) {
        const size_t len = strcspn(list, ",");
        const char *name = arena_printf(dx->arena, "%.*s", (int)len, list);
        const bool off = strncmp(name, "no-", 3) == 0;
        int i = 0;
        name += off ? 3 : 0;
        while (i < n && strcmp(name, kinds[i].name)) i++;
        if (len && i == n) return unknown(dx, one, kinds, n, name);
        if (len) dx->off[kinds[i].id] = off;
        list += len + (list[len] == ',');
    }
    return true;
}

bool api_switch_kinds(Diags *dx, const TkcOptions *options)
{
    for (int i = 0; i < REMARKS; i++)
        dx->off[remarks[i].id] = !options->remarks || options->remark_kinds;
    return switch_kinds(dx, options->warnings, "warning", warnings, WARNINGS) &&
           (!options->remarks ||
            switch_kinds(dx, options->remark_kinds, "remark", remarks, REMARKS));
}
