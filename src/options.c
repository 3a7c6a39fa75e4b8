/* In: argv. Out: Options. The table options.def says what there is; `apply` says what each does. */
#include "options.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef enum OptForm { FORM_GROUP, FORM_FLAG, FORM_EQUALS, FORM_NEXT, FORM_JOINED } OptForm;
typedef enum OptId {
#define OPT(ID, spelling, form, arg, help) OPT_##ID,
#include "options.def"
#undef OPT
    OPT_COUNT
} OptId;

static const struct OptRow { const char *spelling; OptForm form; const char *arg, *help; } rows[] = {
#define OPT(ID, spelling, form, arg, help) {spelling, FORM_##form, arg, help},
#include "options.def"
#undef OPT
};

static bool misuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static bool misuse(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("tkc: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputs(" (tkc --help lists the options)\n", stderr);
    va_end(ap);
    return false;
}

/* ---- growing lists; the command ends when there is no memory ---- */

static void *grow(void *data, int len, size_t size)
{
    void *p = realloc(data, (size_t)(len + 1) * size);
    if (!p) {
        fputs("tkc: out of memory\n", stderr);
        exit(EXIT_REFUSED);
    }
    return p;
}

static char *keep(Options *o, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = memcpy(grow(NULL, (int)n, 1), text, n);
    o->owned = grow(o->owned, o->nowned, sizeof *o->owned);
    o->owned[o->nowned++] = copy;
    return copy;
}

/* Splits a copy of NAME=VALUE; false without a name or '='. */
static bool split(Options *o, const char *text, Binding *out)
{
    char *copy = keep(o, text);
    char *eq = strchr(copy, '=');
    if (!eq || eq == copy)
        return false;
    *eq = 0;
    *out = (Binding){copy, eq + 1};
    return true;
}

static bool add_binding(Options *o, Bindings *list, const char *option, const char *text)
{
    Binding b;
    if (!split(o, text, &b))
        return misuse("%s takes NAME=VALUE, not '%s'", option, text);
    list->data = grow(list->data, list->len, sizeof *list->data);
    list->data[list->len++] = b;
    return true;
}

static bool add_define(Options *o, const char *text)
{
    Binding b;
    if (!split(o, text, &b))
        return misuse("-D takes NAME=VALUE, not '%s'", text);
    o->defines = grow(o->defines, o->ndefines, sizeof *o->defines);
    o->defines[o->ndefines++] = (TkcDefine){b.name, b.value};
    return true;
}

static bool add_text(const char ***list, int *len, const char *text)
{
    *list = grow(*list, *len, sizeof **list);
    (*list)[(*len)++] = text;
    return true;
}

/* ---- values ---- */

static bool read_count(const char *option, const char *text, int64_t least, int64_t most, int64_t *out)
{
    char *end;
    long long n = strtoll(text, &end, 10);
    if (end == text || *end || n < least || n > most)
        return misuse("%s takes a number from %lld to %lld, not '%s'", option, (long long)least, (long long)most, text);
    *out = n;
    return true;
}

static bool read_int(const char *option, const char *text, int least, int most, int *out)
{
    int64_t n;
    if (!read_count(option, text, least, most, &n))
        return false;
    *out = (int)n;
    return true;
}

static bool read_seconds(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (end == text || *end || !(*out > 0 && *out < 1e9))
        return misuse("-timeout takes a number of seconds, not '%s'", text);
    return true;
}

static const struct { const char *name; TkcEmit emit; } emit_names[] = {
    {"tokens", TKC_EMIT_TOKENS}, {"ast", TKC_EMIT_AST},   {"ir", TKC_EMIT_IR}, {"facts", TKC_EMIT_FACTS},
    {"layout", TKC_EMIT_LAYOUT}, {"llvm", TKC_EMIT_LLVM}, {"ptx", TKC_EMIT_PTX},
};

static bool read_emit(const char *text, TkcEmit *out)
{
    for (size_t i = 0; i < sizeof emit_names / sizeof *emit_names; i++)
        if (!strcmp(text, emit_names[i].name)) {
            *out = emit_names[i].emit;
            return true;
        }
    if (!strcmp(text, "cubin") || !strcmp(text, "header"))
        return misuse("this version does not make a %s; assemble its PTX with ptxas", text);
    return misuse("-emit takes tokens, ast, ir, facts, layout, llvm or ptx, not '%s'", text);
}

static bool read_choice(const char *option, const char *text, const char *a, const char *b, bool *is_b)
{
    *is_b = !strcmp(text, b);
    return *is_b || !strcmp(text, a) || misuse("%s takes %s or %s, not '%s'", option, a, b, text);
}

/* What the suffix of -o says, unless -emit said it. */
static bool emit_from_output(Options *o)
{
    const char *dot = strrchr(o->output, '.');
    if (!dot || strchr(dot, '/') || !strcmp(dot, ".ptx"))
        return true;
    if (!strcmp(dot, ".ll"))
        o->emit = TKC_EMIT_LLVM;
    else if (!strcmp(dot, ".ir"))
        o->emit = TKC_EMIT_IR;
    else if (!strcmp(dot, ".cubin") || !strcmp(dot, ".h"))
        return misuse("this version does not make '%s' files; assemble its PTX with ptxas", dot);
    return true;
}

/* ---- the table's meaning ---- */

typedef struct Seen { bool emit, language; } Seen;

static bool apply(Options *o, Seen *seen, OptId id, const char *v)
{
    TkcOptions *c = &o->compile;
    bool second;
    switch (id) {
    case OPT_OUTPUT: o->output = v; return true;
    case OPT_EMIT: seen->emit = true; return read_emit(v, &o->emit);
    case OPT_SYNTAX_ONLY: o->syntax_only = true; return true;
    case OPT_BATCH: o->batch = v; return true;
    case OPT_KERNEL: c->kernel = v; return true;
    case OPT_DEFINE: return add_define(o, v);
    case OPT_SIG: c->signature = v; return true;
    case OPT_LANGUAGE:
        seen->language = true;
        if (!read_choice("-x", v, "tk", "ir", &second))
            return false;
        o->language = second ? TKC_LANGUAGE_IR : TKC_LANGUAGE_TK;
        return true;
    case OPT_INCLUDE: return add_text(&o->include, &o->ninclude, v);
    case OPT_ARCH: c->arch = v; return true;
    case OPT_NUM_WARPS: return read_int("-num-warps", v, 1, 64, &c->num_warps);
    case OPT_NUM_STAGES: return read_int("-num-stages", v, 1, 64, &c->num_stages);
    case OPT_CONTRACT: return read_choice("-ffp-contract", v, "on", "off", &c->no_fp_contract);
    case OPT_DEBUG: c->debug = true; return true;
    case OPT_WERROR: c->warnings_as_errors = true; return true;
    case OPT_PASSES: c->passes = v; return true;
    case OPT_VERIFY_EACH: c->verify_each = true; return true;
    case OPT_TIME_REPORT: c->time_report = true; return true;
    case OPT_MAX_STEPS: return read_count("-fmax-steps", v, 1, INT64_MAX, &c->max_steps);
    case OPT_MAX_OPS: return read_count("-fmax-ops", v, 1, INT64_MAX, &c->max_ops);
    case OPT_MAX_NESTING: return read_count("-fmax-nesting", v, 1, 1000, &c->max_nesting);
    case OPT_MAX_DEPTH: return read_count("-fmax-depth", v, 1, 1000, &c->max_depth);
    case OPT_MAX_LENGTH: return read_count("-fmax-length", v, 1, INT64_MAX, &c->max_length);
    case OPT_RUN: o->run = true; return true;
    case OPT_GRID: o->grid = v; return true;
    case OPT_DEVICE: o->device = v; return true;
    case OPT_SEED: {
        int64_t n;
        if (!read_count("-seed", v, 0, INT64_MAX, &n))
            return false;
        o->seed = (uint64_t)n;
        return true;
    }
    case OPT_TIMEOUT: return read_seconds(v, &o->timeout);
    case OPT_SAVE: return add_binding(o, &o->save, "-save", v);
    case OPT_PRINT: return add_text(&o->print, &o->nprint, v);
    case OPT_CHECK: return add_binding(o, &o->check, "-check", v);
    case OPT_VERBOSE: o->verbose = true; return true;
    case OPT_HELP: o->help = true; return true;
    case OPT_VERSION: o->version = true; return true;
    case OPT_GROUP_OUT: case OPT_GROUP_WHAT: case OPT_GROUP_HOW: case OPT_GROUP_RUN: case OPT_GROUP_ELSE: case OPT_COUNT: break;
    }
    return false;
}

/* The row a word belongs to and where its argument starts (NULL: the next word, or none). */
static OptId find_row(const char *word, const char **value)
{
    for (int i = 0; i < OPT_COUNT; i++) {
        size_t n = strlen(rows[i].spelling);
        *value = NULL;
        switch (rows[i].form) {
        case FORM_GROUP: continue;
        case FORM_FLAG:
        case FORM_NEXT:
            if (!strcmp(word, rows[i].spelling))
                return (OptId)i;
            continue;
        case FORM_EQUALS:
            if (!strncmp(word, rows[i].spelling, n) && word[n] == '=') {
                *value = word + n + 1;
                return (OptId)i;
            }
            continue;
        case FORM_JOINED:
            if (strncmp(word, rows[i].spelling, n))
                continue;
            *value = word[n] ? word + n : NULL;
            return (OptId)i;
        }
    }
    return OPT_COUNT;
}

static bool unknown_option(const char *word)
{
    for (int i = 0; i < OPT_COUNT; i++)
        if (rows[i].form == FORM_EQUALS && !strcmp(word, rows[i].spelling))
            return misuse("write %s=%s", rows[i].spelling, rows[i].arg);
    return misuse("there is no option '%s'", word);
}

static bool read_word(Options *o, Seen *seen, int argc, char **argv, int *i)
{
    const char *word = argv[*i], *value;
    if (word[0] != '-' || !word[1]) {
        if (word[0] != '-' && strchr(word, '=')) /* NAME=VALUE */
            return add_binding(o, &o->args, "an argument", word);
        if (o->file)
            return misuse("one file at a time: '%s' and '%s'", o->file, word);
        o->file = word;
        return true;
    }
    OptId id = find_row(word, &value);
    if (id == OPT_COUNT)
        return unknown_option(word);
    if (!value && rows[id].form != FORM_FLAG) {
        if (*i + 1 >= argc)
            return misuse("%s needs %s after it", word, rows[id].arg);
        value = argv[++*i];
    }
    return apply(o, seen, id, value);
}

static bool has_suffix(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && !strcmp(s + n - m, suffix);
}

bool options_read(Options *o, int argc, char **argv)
{
    *o = (Options){.emit = TKC_EMIT_PTX};
    tkc_options_init(&o->compile);
    Seen seen = {0};
    for (int i = 1; i < argc; i++)
        if (!read_word(o, &seen, argc, argv, &i))
            return false;
    o->compile.defines = o->defines;
    o->compile.ndefines = (size_t)o->ndefines;
    if (o->help || o->version)
        return true;
    if (o->output && !strcmp(o->output, "-"))
        o->output = NULL;
    if (o->output && !seen.emit && !emit_from_output(o))
        return false;
    if (o->file && !seen.language && has_suffix(o->file, ".ir"))
        o->language = TKC_LANGUAGE_IR;
    if (!o->file && !o->batch)
        return misuse("which file?");
    if (o->run + o->syntax_only + (o->batch != NULL) > 1)
        return misuse("-run, -fsyntax-only and -batch exclude each other");
    if (!o->run && (o->args.len || o->save.len || o->check.len || o->nprint || o->grid || o->device))
        return misuse("%s goes with -run", o->args.len ? "NAME=VALUE" : o->grid ? "-grid" : o->device ? "-device" : "-save, -print or -check");
    return true;
}

void options_fini(Options *o)
{
    for (int i = 0; i < o->nowned; i++)
        free(o->owned[i]);
    free(o->owned);
    free(o->args.data);
    free(o->save.data);
    free(o->check.data);
    free(o->print);
    free(o->defines);
    free(o->include);
}

void options_help(FILE *out)
{
    fputs("usage: tkc [options] FILE.tk\n"
          "Compiles Triton's kernel language to PTX, or runs it. FILE may be - for standard input.\n", out);
    for (int i = 0; i < OPT_COUNT; i++) {
        const struct OptRow *r = &rows[i];
        if (r->form == FORM_GROUP) {
            fprintf(out, "\n%s:\n", r->help);
            continue;
        }
        char left[64];
        const char *join = r->form == FORM_EQUALS ? "=" : r->form == FORM_NEXT ? " " : "";
        int n = snprintf(left, sizeof left, "%s%s%s", r->spelling, join, r->arg);
        fprintf(out, n <= 24 ? "  %-25s %s\n" : "  %s\n                            %s\n", left, r->help);
    }
    fputs("\nExit code: 0 fine, 1 refused (the input is wrong, a check failed), 2 misuse of the command.\n", out);
}
