/* The command line as a struct. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include "report.h"
#include "tkc/grow.h"

/* NAME=VALUE; both point into one copied string. */
typedef struct Binding { const char *name, *value; } Binding;
typedef struct Bindings { Binding *data; int len; } Bindings;

/* NAME or NAME[0:4,::2] */
typedef struct Print { const char *what; bool is_whole; } Print;

/* What is made of an artifact. */
typedef enum Product { PRODUCT_TEXT, PRODUCT_MANIFEST, PRODUCT_CUBIN, PRODUCT_HEADER } Product;

typedef struct Options {
    /* What a -line and an -entry have of the command. */
    const char *file;           /* NULL: none given; "-": standard input */
    TkcLanguage language;
    bool language_given;        /* -x: else each file's suffix says it */
    Product product;            /* of the PTX, instead of it */
    bool run, bench;
    const char *grid, *device;
    const char *bytes, *flops;  /* of -bench */
    double warmup_ms, time_ms;  /* 0: not said */
    double timeout;
    int64_t seed;
    bool no_memory_checks, memory_given;
    TkcOptions compile;         /* defines is filled from `defines` */
    /* What they do not, from here on. */
    const char **files;         /* all of them, where there may be several */
    int nfiles;
    const char *output;         /* NULL: standard output */
    TkcEmit emit;
    const char **entries; /* of a header: "NAME: WORDS" */
    int nentries;
    const char *ptxas; /* NULL: the one that is found; "none", "driver" */
    bool depend;       /* write what it was made of, to depend_file (NULL: beside the output) */
    const char *depend_file;
    const char *batch, *cache;
    bool syntax_only, list, explain, verbose, help, version;
    ColorChoice color;
    bool json;                  /* diagnostics */
    TkcDefine *defines;
    int ndefines;
    const char **include;
    int ninclude;
    const char *sweep, *csv, *plot; /* of -bench */
    const char **lines;
    int nlines;
    Bindings args, save, check;
    Print *print;
    int nprint;
    const char **traces, **breaks; /* NAME[:COND], LINE[:COND] */
    int ntraces, nbreaks;
    Owned *owned;
    char error[512];            /* what is wrong, after options_read gave false */
} Options;

/* Only how to speak, o->color and o->json: known before anything is said, of the options, too. */
void options_read_style(Options *o, int argc, char **argv);
/* argv[0] is not looked at. False: o->error says why. options_fini in both cases. */
bool options_read(Options *o, int argc, char **argv);
/* A line of -batch: what it does not say is as in `defaults`, which must outlive it. Only what a
   single compilation takes is allowed. */
bool options_read_line(Options *o, const Options *defaults, int argc, char **argv);
/* A -line of -bench, or an -entry of a header (`what` says which), without its label: what it does
   not say is as in `defaults`, which must outlive it. */
bool options_read_variant(Options *o, const Options *defaults, const char *what, const char *words);
/* What lives as long as the options: zeroed elements, a list with room for one more, and one with one
   more, a copy. The command ends, and says so, when there is no memory. */
void *options_alloc(Options *o, size_t n, size_t size);
void *options_grow(Options *o, void *list, int len, size_t size);
#define options_push(o, list, len, item)                                                           \
    ((list) = options_grow(o, list, len, sizeof *(list)), (list)[(len)++] = (item))
char *options_keep(Options *o, const char *text);
/* -x, or what the file's suffix says. */
TkcLanguage options_language(const Options *o, const char *file);
void options_fini(Options *o);
void options_help(FILE *out);
/* How the command line gives a field of TkcOptions, or a folder of imports, that value: "-DBLOCK=64". What snprintf
   gives; 0: it has no option for that. */
int options_spell(char *out, size_t size, const char *field, const char *value);

/* ---- words.c: of a text that options are written in, a line of -batch, a -line, an -entry ---- */
/* The next one, cut off in place, and *text moved behind it; NULL when there is none. A blank within
   quotes or brackets is part of a word; quotes around a whole word are not. */
char *words_next(char **text);
