/* The prompt of -break: what a person, or a script on standard input, asks of a program that
   stopped. */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 3 };

static const char help[] =
    "p NAME, p EXPR  a value: p x, p x[0, 3], p i * 2 + pid0     p alone: the names there are\n"
    "n, s            go on to the next line; s enters helpers\n"
    "c               go on to the next break\n"
    "l               the lines around this one\n"
    "w               where this is, and which calls led here\n"
    "q               end the run; so does the end of the input\n"
    "An empty line does again what the last one did.\n";

/* Lines first … last of a file, `here` marked. */
static void list(const char *path, int first, int last, int here)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;
    if (!f) {
        printf("%s: its lines cannot be read\n", path);
        return;
    }
    for (int n = 1; n <= last && getline(&line, &cap, f) >= 0; n++)
        if (n >= first)
            printf("%s%4d  %.*s\n", n == here ? ">" : " ", n, (int)strcspn(line, "\r\n"), line);
    free(line);
    fclose(f);
}

static void show(const TkcStop *stop, int around)
{
    const char *file, *function;
    int line;
    if (tkc_stop_place(stop, 0, &file, &line, &function))
        list(file, line - around, line + around, line);
}

static void where(const TkcStop *stop)
{
    const char *file, *function;
    int line;
    for (int i = 0; tkc_stop_place(stop, i, &file, &line, &function); i++)
        printf("%s%s:%d in %s\n", i ? "called from " : "", file, line, function);
}

static void announce(const TkcStop *stop)
{
    const char *file, *function;
    int line;
    if (!tkc_stop_place(stop, 0, &file, &line, &function)) return;
    printf("program (%lld, %lld, %lld) at %s:%d in %s\n", (long long)tkc_stop_program(stop, 0),
           (long long)tkc_stop_program(stop, 1), (long long)tkc_stop_program(stop, 2), file, line,
           function);
    show(stop, 0);
}

static void print(const Options *o, TkcStop *stop, const char *what)
{
    const char *text, *define = command_value(o->defines, (size_t)o->ndefines, what, strlen(what));
    if (!*what) {
        for (int i = 0; (text = tkc_stop_name(stop, i)); i++) printf("%s%s", i ? " " : "", text);
        printf("\n");
    } else if (define) {
        printf("%s = %s\n", what, define);
    } else {
        bool ok = tkc_stop_evaluate(stop, what, &text);
        printf(ok ? "%s = %s\n" : "%s: %s\n", what, text);
    }
}

/* True when the program goes on. */
static bool obey(Prompt *p, TkcStop *stop, const char *word, TkcStopAction *action)
{
    const char *rest = word + 1 + strspn(word + 1, " \t");
    bool is_one = !word[1] || word[1] == ' ' || word[1] == '\t';
    *action = TKC_STOP_CONTINUE;
    switch (is_one ? word[0] : 0) {
    case 'p': print(p->options, stop, rest); return false;
    case 'l': show(stop, AROUND); return false;
    case 'w': where(stop); return false;
    case 'h': fputs(help, stdout); return false;
    case 'n': *action = TKC_STOP_NEXT; return true;
    case 's': *action = TKC_STOP_STEP; return true;
    case 'q': *action = TKC_STOP_QUIT; return true;
    case 'c': return true;
    default: printf("there is no command '%s'; h lists them\n", word); return false;
    }
}

TkcStopAction prompt(TkcStop *stop, void *user)
{
    Prompt *p = user;
    TkcStopAction action = TKC_STOP_QUIT;
    char *line = NULL;
    size_t cap = 0;
    announce(stop);
    for (bool goes_on = false; !goes_on;) {
        fputs("(tkc) ", stdout);
        fflush(stdout);
        if (getline(&line, &cap, stdin) < 0) {
            action = TKC_STOP_QUIT;
            printf("\n");
            break;
        }
        char *word = line + strspn(line, " \t");
        size_t n = strlen(word);
        while (n && strchr(" \t\r\n", word[n - 1])) word[--n] = 0;
        if (n) snprintf(p->last, sizeof p->last, "%s", word);
        if (p->last[0]) goes_on = obey(p, stop, p->last, &action);
    }
    free(line);
    return action;
}
