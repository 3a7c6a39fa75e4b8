/* In: diagnostics of the library and of the command itself. Out: standard error, each as a whole.
   The library names the options of a call; how a command line spells them options.c says. */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

/* How this process speaks: set once, before the first word. */
static struct Style {
    bool color, json;
} style;

static bool wants_color(ColorChoice choice)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (choice != COLOR_AUTO) return choice == COLOR_ALWAYS;
    return isatty(STDERR_FILENO) && !(no && *no) && term && strcmp(term, "dumb");
}

void report_style(ColorChoice color, bool json)
{
    style.json = json;
    style.color = !json && wants_color(color);
}

/* ---- what would mend it ---- */

const char *report_flags(const TkcDiagnostic *d, char *buffer, size_t size)
{
    size_t n = 0;
    buffer[0] = 0;
    for (const TkcSetting *s = d->settings; s; s = s->next) {
        const int blank = n > 0, len = options_spell(buffer + n + blank, size - n - (size_t)blank, s->option,
                                                     s->value ? s->value : "N");
        const bool fits = len > 0 && n + (size_t)(blank + len) < size;
        if (fits && blank) buffer[n] = ' ';
        n += fits ? (size_t)(blank + len) : 0;
        buffer[n] = 0; /* without one that has no room */
    }
    return buffer;
}

/* ---- printing ---- */

static bool told_bug;

void report_heed(const TkcDiagnostic *d)
{
    told_bug |= !strcmp(d->id, "internal");
}

bool report_told_bug(void)
{
    return told_bug;
}

static const char *ink(const char *escape)
{
    return style.color ? escape : "";
}

static void print_diagnostic(const TkcDiagnostic *d, void *user)
{
    (void)user;
    char flags[4096];
    report_heed(d);
    report_flags(d, flags, sizeof flags);
    if (style.json) {
        json_print(stderr, d, flags, -1);
        return;
    }
    fputs(d->rendered, stderr);
    if (*flags) fprintf(stderr, "%snote: %sadd %s\n", ink("\033[1;36m"), ink("\033[0m"), flags);
}

void report_listen(TkcContext *cx)
{
    tkc_context_color(cx, style.color);
    tkc_context_on_diagnostic(cx, print_diagnostic, NULL);
}

/* What the command says itself; ms: how long that took, below 0 where it is no time. */
static void say(TkcSeverity severity, const char *id, const char *text, const char *rendered,
                double ms)
{
    const TkcDiagnostic d = {
        .size = sizeof d, .severity = severity, .id = id, .text = text, .rendered = rendered};
    if (style.json) json_print(stderr, &d, "", ms);
    else fputs(rendered, stderr);
}

/* lead: "tkc: " and what stands before the text. */
static void print_own(TkcSeverity severity, const char *id, const char *lead, const char *text)
{
    char rendered[4200];
    snprintf(rendered, sizeof rendered, "%stkc: %s%s%s%s%s\n", ink("\033[1m"), ink("\033[1;31m"),
             lead, ink(*lead ? "\033[0;1m" : "\033[0m"), text, ink("\033[0m"));
    say(severity, id, text, rendered, -1);
}

int report_own(TkcSeverity severity, const char *id, const char *fmt, ...)
{
    char text[4096];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    print_own(severity, id, severity == TKC_SEVERITY_ERROR ? "error: " : "", text);
    return EXIT_REFUSED;
}

void report_time(const char *what, double ms)
{
    char text[256], rendered[256];
    snprintf(text, sizeof text, "%s took %.3f ms", what, ms);
    snprintf(rendered, sizeof rendered, "%10.3f ms  %s\n", ms, what);
    say(TKC_NOTE, "time", text, rendered, ms);
}

void report_misuse(const char *text)
{
    char all[600];
    snprintf(all, sizeof all, "%s (tkc --help lists the options)", text);
    print_own(TKC_SEVERITY_ERROR, "usage", "", all);
}
