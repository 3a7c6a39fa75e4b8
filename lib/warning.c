/* Warnings by name: which there are, and which are off. The table is base/diag_ids.def. */
#include <string.h>

#include "api.h"
#include "base/diag.h"

static const struct { DiagId id; const char *name, *what; } warnings[] = {
#define DIAG(ID, name, what)
#define WARNING(ID, name, what) {DIAG_##ID, name, what},
#include "base/diag_ids.def"
#undef DIAG
};
enum { WARNINGS = sizeof warnings / sizeof *warnings };

const char *tkc_warning_name(size_t i, const char **what)
{
    if (what)
        *what = i < WARNINGS ? warnings[i].what : NULL;
    return i < WARNINGS ? warnings[i].name : NULL;
}

static bool unknown(Diags *dx, const char *name)
{
    const char *names[WARNINGS];
    for (int i = 0; i < WARNINGS; i++)
        names[i] = warnings[i].name;
    Diag *d = diag_error_as(dx, DIAG_REQUEST, SPAN_NONE, "there is no warning '%s'", name);
    diag_suggest(dx, d, SPAN_NONE, name, nearest_word(name, names, WARNINGS));
    return false;
}

/* One of the list, of n bytes: NAME or no-NAME. */
static bool switch_one(Diags *dx, const char *word, size_t n)
{
    const char *name = arena_printf(dx->arena, "%.*s", (int)n, word);
    bool off = strncmp(name, "no-", 3) == 0;
    if (off)
        name += 3;
    for (int i = 0; i < WARNINGS; i++)
        if (strcmp(name, warnings[i].name) == 0) {
            dx->off[warnings[i].id] = off;
            return true;
        }
    return unknown(dx, name);
}

bool api_switch_warnings(Diags *dx, const char *list)
{
    while (list && *list) {
        size_t n = strcspn(list, ",");
        if (n && !switch_one(dx, list, n))
            return false;
        list += n + (list[n] == ',');
    }
    return true;
}
