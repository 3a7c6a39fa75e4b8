/* The command line as a struct. */
#ifndef TKC_SRC_OPTIONS_H
#define TKC_SRC_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include "tkc/tkc.h"

/* NAME=VALUE; both point into one copied string. */
typedef struct Binding { const char *name, *value; } Binding;
typedef struct Bindings { Binding *data; int len; } Bindings;

typedef struct Options {
    const char *file;           /* NULL: none given; "-": standard input */
    const char *output;         /* NULL: standard output */
    TkcEmit emit;
    TkcLanguage language;
    const char *batch, *grid, *device;
    bool syntax_only, run, verbose, help, version;
    double timeout;
    uint64_t seed;
    TkcOptions compile;         /* defines is filled from `defines` */
    TkcDefine *defines;
    int ndefines;
    const char **include;
    int ninclude;
    Bindings args, save, check;
    const char **print;
    int nprint;
    void **owned;               /* strings to free */
    int nowned;
} Options;

/* Exit codes of the command. */
enum { EXIT_FINE = 0, EXIT_REFUSED = 1, EXIT_MISUSE = 2 };

/* False after a message on standard error. `allow_file` false: options of a -batch line, where files and -run are not allowed. */
bool options_read(Options *o, int argc, char **argv);
void options_fini(Options *o);
void options_help(FILE *out);

#endif
