/* -fsyntax-only: the kernels of one or more files, checked as far as their types and constexprs are
   known. A -D concerns the kernels of any file that have a parameter of that name; one that no file
   has is a mistake, as it is within one file. */
#include <string.h>

#include "command.h"

typedef struct Totals {
    int checked, incomplete, code;
    bool *used; /* of each -D: a file has a kernel with such a parameter */
} Totals;

static bool has_param(Options *o, TkcSource *source, const char *name)
{
    const char *kernel;
    bool has = false;
    for (int k = 0; !has && (kernel = tkc_source_kernel_name(source, k)); k++)
        command_has_param(o, source, kernel, name, &has);
    return has;
}

/* The options with the defines of this file alone, in `own`. */
static TkcOptions options_for(Options *o, TkcSource *source, TkcDefine *own, Totals *t)
{
    TkcOptions options = o->compile;
    if (o->nfiles == 1) return options;
    options.defines = own;
    options.ndefines = 0;
    for (int i = 0; i < o->ndefines; i++) {
        if (!has_param(o, source, o->defines[i].name)) continue;
        t->used[i] = true;
        own[options.ndefines++] = o->defines[i];
    }
    return options;
}

static void check_file(TkcContext *cx, Options *o, TkcDefine *own, Totals *t)
{
    int checked = 0, incomplete = 0, code = EXIT_REFUSED;
    TkcSource *source = command_source(cx, o);
    if (source) {
        TkcOptions options = options_for(o, source, own, t);
        code = command_exit(tkc_check(source, &options, &checked, &incomplete));
        tkc_source_free(source);
    }
    t->checked += checked;
    t->incomplete += incomplete;
    t->code = code > t->code ? code : t->code;
}

static void check_files(TkcContext *cx, Options *o, TkcDefine *own, Totals *t)
{
    for (int i = 0; i < o->nfiles; i++) {
        o->file = o->files[i];
        o->language = options_language(o, o->file);
        check_file(cx, o, own, t);
    }
    for (int i = 0; i < o->ndefines && o->nfiles > 1 && t->code == EXIT_FINE; i++)
        if (!t->used[i])
            t->code = command_fail("-D: no kernel of these files has a parameter '%s'",
                                   o->defines[i].name);
}

static void tell(const Options *o, const Totals *t)
{
    const char *plural = t->checked == 1 ? "" : "s";
    if (t->incomplete)
        command_say("%d kernel%s checked, %d not: types or constexprs are missing", t->checked,
                    plural, t->incomplete);
    else if (o->verbose) command_say("%d kernel%s checked", t->checked, plural);
}

int command_check(TkcContext *cx, Options *o)
{
    size_t n = (size_t)o->ndefines + 1;
    Totals t = {.code = EXIT_FINE, .used = options_alloc(o, n, sizeof *t.used)};
    TkcDefine *own = options_alloc(o, n, sizeof *own);
    check_files(cx, o, own, &t);
    if (t.code == EXIT_FINE) tell(o, &t);
    return t.code;
}
