/* What the parts of -run share. */
#pragma once

#include "array.h"
#include "command.h"

/* ---- debug.c: the prompt of -break ---- */
typedef struct Prompt {
    const Options *options;
    char last[1024]; /* what an empty line repeats */
} Prompt;
/* For tkc_device_on_stop; user is a Prompt. */
TkcStopAction prompt(TkcStop *stop, void *user);

typedef struct RunArg {
    const char *name, *text;  /* text NULL: given with -D, or left to the source */
    bool is_default;          /* text is the parameter's default */
    TkcParam param;
    bool is_array;
    bool is_result;           /* -print, -save or -check names it */
    Array array;
    TkcPtr ptr;
    char type[24];            /* "*fp32" */
    TkcDescriptor descriptor; /* where the parameter's type is one */
    TkcArg arg;
} RunArg;

typedef struct Run {
    Options *o;
    TkcContext *cx;
    TkcSource *source;
    TkcDevice *dev;
    TkcJit *jit;
    int nargs;
    RunArg *args;             /* one for each parameter of the kernel */
    TkcKernelInfo info;       /* once is_compiled */
    bool is_compiled;
    int64_t grid[3];
    const char *sweep;        /* a name that stands for a number, or NULL */
    int64_t sweep_value;
    bool is_grid_early;       /* it takes values that compiling gives */
    Prompt prompt;
    bool is_terminal;         /* standard output is one */
    void *owner;              /* of who makes several: bench.c */
} Run;

/* NULL when there is none. */
RunArg *run_find_arg(Run *r, const char *name, size_t len);
const char *run_find_define(const Run *r, const char *name, size_t len);
/* The parameter that was probably meant, or NULL. */
const char *run_nearest_param(const Run *r, const char *name, size_t len);
/* Says that the kernel has no such parameter; option: what named it, "" for an argument. */
void run_unknown_name(Run *r, const char *option, const char *name, size_t len);
/* Of "x.npy" or "x.npy:bf16" the length of the path; 0: it is none. */
size_t run_npy_length(const char *text);
/* Whether the launch gives an argument for it: -D does not. */
bool run_is_given(const Run *r, const RunArg *a);
/* Whether its memory counts as written by nobody. */
bool run_is_empty(const RunArg *a);

/* Each of these says what is wrong and gives false. */
/* argument.c: all but arrays; then, with a device and the types that -sig gives, these again, and
   arrays. */
bool run_read_arguments(Run *r);
bool run_make_values(Run *r);
bool run_make_arrays(Run *r);
/* run.c: all of these, where there is no device yet that, and the kernel's values. */
bool run_prepare(Run *r);
/* What `with` does with the launch's arguments. */
bool run_with_arguments(Run *r, bool (*with)(Run *r, const TkcArg *args, size_t n));
/* Compiles first, so that what follows is the run alone. */
bool run_compile(Run *r, const TkcArg *args, size_t n);
/* The number that an option's expression says. */
bool run_read_number(Run *r, const char *option, const char *text, int64_t *out);
/* All but source and device. */
void run_free(Run *r);
/* result.c: before the run, whether everything asked for can be done; after it, doing it. */
bool run_expect_results(Run *r);
bool run_use_results(Run *r);
