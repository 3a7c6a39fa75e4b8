/* What the command's parts share. */
#pragma once

#include "options.h"
#include "tkc/runtime.h"

/* Opens the file of the options ("-": standard input). NULL after diagnostics. */
TkcSource *command_source(TkcContext *cx, const Options *o);
/* -v: which configuration of @autotune was taken (-1: none), and values known when compiling. */
void command_tell_taken(int config, int nconfigs, const TkcDefine *values, size_t n);
/* The value of the name of so many bytes, or NULL. */
const char *command_value(const TkcDefine *all, size_t n, const char *name, size_t len);
/* The kernel's n parameters, kept with the options. NULL after an error. */
TkcParam *command_params(Options *o, TkcSource *source, const char *kernel, int *n);
/* Whether it has one of that name. False after an error. */
bool command_has_param(Options *o, TkcSource *source, const char *kernel, const char *name,
                       bool *has);
/* The exit code that a status means. */
int command_exit(TkcStatus status);
/* "tkc: error: …" on standard error; gives EXIT_REFUSED. */
#define command_fail(...) report_error("command", __VA_ARGS__)
/* The same for functions that give false then. */
#define command_refuse(...) (command_fail(__VA_ARGS__), false)
/* "tkc: …" on standard error. */
#define command_say(...) report_own(TKC_NOTE, "command", __VA_ARGS__)
/* All there is, and a NUL behind it, malloc'ed; NULL, with *why: it cannot be read. */
char *command_read(FILE *f, size_t *len, const char **why);
/* Writes it to -o, else to standard output. An exit code. */
int command_write(const Options *o, const char *text, size_t len);
/* The GPU that is here; NULL: none, of which nothing is said. */
TkcDevice *command_gpu(TkcContext *cx);
/* Where code is made and no arch is given for it: the GPU's that is there, else the library's default. */
void command_default_arch(TkcContext *cx, Options *o);

/* ---- depend.c: -MD, what an output was made of, as a rule for make and ninja ---- */
typedef struct Depends {
    const char **paths;
    int n;
    Options *o;
} Depends;
/* Every file that a name of the artifact resolved to, once. */
void depend_add(Depends *d, const TkcArtifact *artifact);
/* "OUTPUT: FILE FILE …", where the options say. Without -MD, or where the output's exit code is not
   fine, nothing. An exit code. */
int depend_write(Depends *d, int code);

/* What is asked for; gives the exit code. */
typedef int Command(TkcContext *cx, Options *o);
Command command_compile, command_header, command_check, command_list, command_explain;
Command command_batch, command_cache, command_run, command_bench;
