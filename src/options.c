/* In: argv. Out: Options. The table options.def says what there is and what it does. */
#include "options.h"

#include <float.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tkc/expr.h"
#include "tkc/text.h"

typedef enum OptForm { FORM_GROUP, FORM_FLAG, FORM_EQUALS, FORM_NEXT, FORM_JOINED } OptForm;
typedef enum OptId {
#define OPT(ID, spelling, form, arg, help, meaning) OPT_##ID,
#include "options.def"
    OPT_COUNT
} OptId;

static const struct OptRow {
    const char *id, *spelling;
    OptForm form;
    const char *arg, *help;
} rows[] = {
#define OPT(ID, spelling, form, arg, help, meaning) {#ID, spelling, FORM_##form, arg, help},
#include "options.def"
};

/* Options that other versions have, and what to do instead. */
static const struct {
    const char *spelling, *instead;
} absent[] = {
    {"-O0", "the code is always optimized"},
    {"-O1", "the code is always optimized"},
    {"-O2", "the code is always optimized"},
    {"-O3", "the code is always optimized"},
    {"-c", "PTX is made without it; -o FILE.ptx says where to"},
    {"-S", "PTX is text; -o FILE.ptx says where to"},
};
enum { ABSENT = sizeof absent / sizeof *absent };

__attribute__((format(printf, 2, 3))) static bool misuse(Options *o, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(o->error, sizeof o->error, fmt, ap);
    va_end(ap);
    return false;
}

/* ---- memory, and lists that grow ---- */

void *options_alloc(Options *o, size_t n, size_t size)
{
    void *m = owned_take(&o->owned, n * size);
    if (!m) exit(report_error("command", "out of memory"));
    return m;
}

/* There is room up to a power of two. */
void *options_grow(Options *o, void *list, int len, size_t size)
{
    if (len & (len - 1)) return list;
    void *longer = options_alloc(o, 2 * (size_t)len + 1, size);
    return len ? memcpy(longer, list, (size_t)len * size) : longer;
}

char *options_keep(Options *o, const char *text)
{
    return strcpy(options_alloc(o, strlen(text) + 1, 1), text);
}

/* Splits a copy of NAME=VALUE; false without a name or '='. */
static bool split(Options *o, const char *text, Binding *out)
{
    char *copy = options_keep(o, text + strspn(text, " "));
    char *eq = strchr(copy, '='), *end = eq;
    while (end && end > copy && end[-1] == ' ') end--;
    if (!eq || end == copy) return false;
    *end = 0;
    *out = (Binding){copy, eq + 1 + strspn(eq + 1, " ")};
    return true;
}

static bool add_binding(Options *o, Bindings *list, OptId id, const char *text)
{
    Binding b;
    if (!split(o, text, &b))
        return misuse(o, "%s takes %s, not '%s'",
                      id == OPT_COUNT ? "an argument" : rows[id].spelling,
                      id == OPT_COUNT ? "NAME=VALUE" : rows[id].arg, text);
    options_push(o, list->data, list->len, b);
    return true;
}

/* Defines before the first are defaults: they may be given anew. */
static bool add_define(Options *o, int first, const char *text)
{
    Binding b;
    if (!split(o, text, &b)) return misuse(o, "-D takes NAME=VALUE, not '%s'", text);
    for (int i = o->ndefines - 1; i >= first; i--)
        if (!strcmp(o->defines[i].name, b.name))
            return misuse(o, "'%s' is given twice with -D", b.name);
    for (int i = 0; i < first && i < o->ndefines; i++)
        if (!strcmp(o->defines[i].name, b.name)) return o->defines[i].value = b.value, true;
    options_push(o, o->defines, o->ndefines, ((TkcDefine){b.name, b.value}));
    return true;
}

static void take_defines(Options *o, const Options *defaults)
{
    for (int i = 0; i < defaults->ndefines; i++)
        options_push(o, o->defines, o->ndefines, defaults->defines[i]);
}

/* A list that the library reads, with one more. */
static bool add_to_list(Options *o, const char **list, const char *one)
{
    const char *before = *list ? *list : "";
    char *longer = options_alloc(o, strlen(before) + strlen(one) + 2, 1);
    sprintf(longer, "%s%s%s", before, *before ? "," : "", one);
    return *list = longer, true;
}

static bool add_print(Options *o, const char *what, bool is_whole)
{
    options_push(o, o->print, o->nprint, ((Print){what, is_whole}));
    return true;
}

/* ---- values ---- */

static bool read_count(Options *o, const char *option, const char *text, int64_t least,
                       int64_t most, int64_t *out)
{
    if (number_read(text, out) == NUMBER_FITS && *out >= least && *out <= most) return true;
    if (most == INT64_MAX)
        return misuse(o, "%s takes a number from %lld on, not '%s'", option, (long long)least,
                      text);
    return misuse(o, "%s takes a number from %lld to %lld, not '%s'", option, (long long)least,
                  (long long)most, text);
}

static bool read_int(Options *o, const char *option, const char *text, int least, int most,
                     int *out)
{
    int64_t n;
    if (!read_count(o, option, text, least, most, &n)) return false;
    *out = (int)n;
    return true;
}

static bool read_time(Options *o, const char *option, const char *text, const char *unit, double least,
                      double *out)
{
    char *end;
    *out = strtod(text, &end);
    return (end != text && !*end && *out >= least && *out < 1e9) ||
           misuse(o, "%s takes a number of %s%s, not '%s'", option, unit,
                  least > 0 ? " above 0" : ", 0 for any", text);
}

/* Which of those that the option's row names, "a|b|c". */
static bool read_choice(Options *o, OptId id, const char *text, int *which)
{
    char list[128];
    Text t = {list, sizeof list, 0};
    size_t len;
    *which = 0;
    for (const char *p = rows[id].arg; *p; p += len + (p[len] == '|'), ++*which) {
        len = strcspn(p, "|");
        if (strlen(text) == len && !strncmp(text, p, len)) return true;
        text_put(&t, "%s%.*s", !*which ? "" : p[len] ? ", " : " or ", (int)len, p);
    }
    return misuse(o, "%s takes %s, not '%s'", rows[id].spelling, list, text);
}

/* In the order in which -emit names them. */
static const struct {
    TkcEmit emit;
    Product product;
    const char *suffix; /* of a file of such; NULL: -emit has to say it */
} emits[] = {
    {TKC_EMIT_TOKENS, PRODUCT_TEXT, NULL},  {TKC_EMIT_AST, PRODUCT_TEXT, NULL},
    {TKC_EMIT_IR, PRODUCT_TEXT, ".ir"},     {TKC_EMIT_FACTS, PRODUCT_TEXT, NULL},
    {TKC_EMIT_LAYOUT, PRODUCT_TEXT, NULL},  {TKC_EMIT_LLVM, PRODUCT_TEXT, ".ll"},
    {TKC_EMIT_PTX, PRODUCT_TEXT, ".ptx"},   {TKC_EMIT_PTX, PRODUCT_MANIFEST, NULL},
    {TKC_EMIT_PTX, PRODUCT_CUBIN, ".cubin"}, {TKC_EMIT_PTX, PRODUCT_HEADER, ".h"},
};

static bool set_emit(Options *o, int i)
{
    o->emit = emits[i].emit;
    o->product = emits[i].product;
    return true;
}

static bool read_device(Options *o, OptId id, const char *text)
{
    int unused;
    o->device = text;
    if (strncmp(text, "simt:", 5)) return read_choice(o, id, text, &unused);
    return misuse(o, "-device takes cuda, cpu or simt, not '%s'; write -device simt -arch=%s", text,
                  text + 5);
}

/* ".ptx", or NULL: the name of the file has none. */
static const char *suffix_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return dot && dot[1] ? dot : NULL;
}

static bool check_save(Options *o)
{
    const Binding *b = &o->save.data[o->save.len - 1];
    const char *suffix = suffix_of(b->value);
    return !suffix || !strcmp(suffix, ".npy") ||
           misuse(o, "-save writes .npy files, not '%s'; write -save %s=FILE.npy", suffix, b->name);
}

/* What the suffix of -o says, unless -emit said it. */
static bool emit_from_output(Options *o)
{
    const char *dot = suffix_of(o->output);
    if (!dot) return true;
    for (int i = 0; i < (int)(sizeof emits / sizeof *emits); i++)
        if (emits[i].suffix && !strcmp(dot, emits[i].suffix)) return set_emit(o, i);
    return misuse(o,
                  "-o: what is a '%s' file? it writes .ptx, .ll, .ir, .cubin and .h; with "
                  "-emit=KIND, any name",
                  dot);
}

/* ---- the table's meaning ---- */

typedef struct Seen {
    bool emit, language, signature;
    int first_define;       /* those before it are defaults */
    const char *for_run;    /* an option that needs -run */
    const char *for_bench;  /* one that needs -bench */
    const char *for_result; /* one that looks at what a run did */
} Seen;

static bool read_signature(Options *o, Seen *seen, const char *v)
{
    if (!seen->signature) o->compile.signature = NULL; /* of the defaults */
    seen->signature = true;
    return add_to_list(o, &o->compile.signature, v);
}

/* What the rows of options.def say of an option's argument. */
#define TEXT(field) (field = v, true)
#define TEXTS(list) (options_push(o, o->list, o->n##list, v), true)
#define ON(field) (field = true)
#define CHOICE(field, type) (read_choice(o, id, v, &which) && (field = (type)which, true))
#define COUNT(field, least, most) read_count(o, rows[id].spelling, v, least, most, &field)
#define INT(field, least, most) read_int(o, rows[id].spelling, v, least, most, &field)
#define TIME(field, unit, least) read_time(o, rows[id].spelling, v, unit, least, &field)
/* 0 is no limit at all, which the library's options write -1. */
#define LIMIT(field, unit) ((field) = (field) ? (field) * (unit) : -1, true)

static bool apply(Options *o, Seen *seen, OptId id, const char *v)
{
    TkcOptions *c = &o->compile;
    int which;
    switch (id) {
#define OPT(ID, spelling, form, arg, help, meaning)                                                \
    case OPT_##ID: return meaning;
#include "options.def"
    case OPT_COUNT: break;
    }
    return false;
}

/* The row a word belongs to and where its argument starts (NULL: the next word, or none). */
static OptId find_row(const char *word, const char **value)
{
    *value = NULL;
    if (!strcmp(word, "-h") || !strcmp(word, "-help")) return OPT_HELP; /* as people write, too */
    for (int i = 0; i < OPT_COUNT; i++) {
        const OptForm form = rows[i].form;
        const size_t n = strlen(rows[i].spelling);
        if (form == FORM_GROUP || strncmp(word, rows[i].spelling, n)) continue;
        /* in one word '=' or ' ' is between, whichever of the two the option is listed with */
        if (word[n] && form == FORM_JOINED) *value = word + n;
        else if (form != FORM_FLAG && (word[n] == '=' || word[n] == ' ')) *value = word + n + 1;
        else if (word[n]) continue;
        return (OptId)i;
    }
    return OPT_COUNT;
}

static const char *without_dashes(const char *word)
{
    return word + strspn(word, "-");
}

/* word, up to a '=', is `spelling` with another number of dashes. */
static bool is_nearly(const char *word, const char *spelling)
{
    size_t n = strcspn(without_dashes(word), "=");
    const char *bare = without_dashes(spelling);
    return strlen(bare) == n && !strncmp(bare, without_dashes(word), n);
}

/* What stands between an option and its argument. */
static const char *joint(OptForm form)
{
    return form == FORM_EQUALS ? "=" : form == FORM_NEXT ? " " : "";
}

/* A value with quotes of its own goes into quotes for the shell, as does what the row has in some. */
int options_spell(char *out, size_t size, const char *field, const char *value)
{
    int i = 0;
    while (i < OPT_COUNT && strcasecmp(rows[i].id, field)) i++;
    if (i == OPT_COUNT) return 0;
    const struct OptRow *r = &rows[i];
    const char *quote = strchr(value, '\'') || r->arg[0] == '"' ? "\"" : "";
    if (r->form == FORM_FLAG) return snprintf(out, size, "%s", r->spelling);
    return snprintf(out, size, "%s%s%s%s%s", r->spelling, joint(r->form), quote, value, quote);
}

/* The option whose spelling is near to the word's, up to a '='; or NULL. */
static const char *nearest_option(const char *word)
{
    const char *all[OPT_COUNT];
    char plain[64];
    size_t n = 0;
    for (int i = 0; i < OPT_COUNT; i++)
        if (rows[i].form != FORM_GROUP) all[n++] = rows[i].spelling;
    snprintf(plain, sizeof plain, "-%.*s", (int)strcspn(without_dashes(word), "="),
             without_dashes(word));
    return tkc_nearest_word(plain, all, n);
}

static size_t name_length(const char *word)
{
    return strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

/* NAME=VALUE and not a path that holds a '='. */
static bool is_argument(const char *word)
{
    return name_length(word) && word[name_length(word)] == '=';
}

static bool unknown_option(Options *o, const char *word)
{
    const char *eq = strchr(word, '='), *value = eq && eq[1] ? eq + 1 : NULL;
    for (int i = 0; i < ABSENT; i++)
        if (is_nearly(word, absent[i].spelling))
            return misuse(o, "this version has no %s; %s", absent[i].spelling, absent[i].instead);
    for (int i = 0; i < OPT_COUNT; i++) {
        const struct OptRow *r = &rows[i];
        if (r->form == FORM_GROUP || !is_nearly(word, r->spelling)) continue;
        return misuse(o, "there is no option '%s'; write %s%s%s", word, r->spelling,
                      r->form == FORM_FLAG ? "" : joint(r->form),
                      r->form == FORM_FLAG ? ""
                      : value              ? value
                                           : r->arg);
    }
    const char *name = without_dashes(word), *near = nearest_option(word);
    if (near && strlen(near) > 3)
        return misuse(o, "there is no option '%s'; did you mean '%s%s'?", word, near,
                      value ? value - 1 : "");
    if (value && is_argument(name))
        return misuse(o,
                      "there is no option '%s'; an argument of the kernel is written %s, a "
                      "constexpr -D%s",
                      word, name, name);
    if (o->run && !name[name_length(name)])
        return misuse(o,
                      "there is no option '%s'; an argument of the kernel is written %s=VALUE, a "
                      "constexpr -D%s=VALUE",
                      word, name, name);
    return misuse(o, "there is no option '%s'", word);
}

/* Blanks around the '=' of an argument make words of its parts. */
static bool is_apart(Options *o, int argc, char **argv, int i)
{
    const char *word = argv[i], *before = i > 1 ? argv[i - 1] : "NAME",
               *after = i + 1 < argc ? argv[i + 1] : "VALUE";
    const size_t n = strlen(word);
    if (!strcmp(word, "="))
        return !misuse(o, "write %s=%s, without blanks around '='", before, after);
    if (word[0] == '=') return !misuse(o, "write %s%s, without a blank before '='", before, word);
    if (is_argument(word) && word[n - 1] == '=' && i + 1 < argc && argv[i + 1][0] != '-' &&
        !strchr(argv[i + 1], '='))
        return !misuse(o, "write %s%s, without a blank behind '='", word, after);
    return false;
}

static bool read_word(Options *o, Seen *seen, int argc, char **argv, int *i)
{
    const char *word = argv[*i], *value;
    if (word[0] != '-' || !word[1]) {
        if (is_apart(o, argc, argv, *i)) return false;
        if (is_argument(word)) return add_binding(o, &o->args, OPT_COUNT, word);
        if (!word[0]) return misuse(o, "the name of the file is empty");
        if (!o->file) o->file = word;
        return options_push(o, o->files, o->nfiles, word), true;
    }
    OptId id = find_row(word, &value);
    if (id == OPT_COUNT) return unknown_option(o, word);
    if (!value && rows[id].form != FORM_FLAG) {
        if (*i + 1 >= argc) return misuse(o, "%s needs %s after it", word, rows[id].arg);
        value = argv[++*i];
    }
    if (id > OPT_BENCH && id < OPT_GROUP_ELSE) seen->for_bench = rows[id].spelling;
    else if (id > OPT_RUN && id < OPT_BENCH) seen->for_run = rows[id].spelling;
    if (id >= OPT_TRACE && id <= OPT_CHECK) seen->for_result = rows[id].spelling;
    return apply(o, seen, id, value);
}

TkcLanguage options_language(const Options *o, const char *file)
{
    if (o->language_given) return o->language;
    const char *suffix = suffix_of(file);
    return suffix && !strcmp(suffix, ".ir") ? TKC_LANGUAGE_IR : TKC_LANGUAGE_TK;
}

static bool read_words(Options *o, Seen *seen, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!read_word(o, seen, argc, argv, &i)) return false;
    o->compile.defines = o->defines;
    o->compile.ndefines = (size_t)o->ndefines;
    o->language_given = seen->language;
    if (o->file) o->language = options_language(o, o->file);
    if (o->nfiles > 1 && !o->syntax_only && !o->list)
        return misuse(o, "one file at a time: '%s' and '%s'%s", o->files[0], o->files[1],
                      o->run ? "; arguments are NAME=VALUE" : "");
    return true;
}

static bool check_product(Options *o, const char *mode)
{
    const bool header = o->product == PRODUCT_HEADER && !mode, cubin = o->product == PRODUCT_CUBIN;
    if (o->nentries && !header)
        return misuse(o, "-entry is a function of a header; add -emit=header, or -o FILE.h");
    if (o->ptxas && !header && !cubin)
        return misuse(o, "-ptxas makes cubins; it goes with -emit=cubin and -emit=header");
    if (o->compile.arch && strchr(o->compile.arch, ',') && !header)
        return misuse(o, "one target at a time: several, as in '%s', go with -emit=header",
                      o->compile.arch);
    if (o->depend && mode) return misuse(o, "-MD and -MF go with compiling, not with %s", mode);
    return !o->depend || o->output || misuse(o, "-MD says what a file is made of; add -o FILE");
}

/* What excludes what. */
static bool check_words(Options *o, const Seen *seen)
{
    const char *mode = o->bench         ? "-bench"
                       : o->run         ? "-run"
                       : o->syntax_only ? "-fsyntax-only"
                       : o->list        ? "-list"
                       : o->explain     ? "-explain"
                       : o->batch       ? "-batch"
                                        : NULL;
    if (o->run + o->syntax_only + o->list + o->explain + (o->batch != NULL) > 1)
        return misuse(o, "-run, -fsyntax-only, -list, -explain and -batch exclude each other");
    if (o->nfiles > 1 && o->compile.signature)
        return misuse(o, "-sig gives types to the kernels of one file; there are %d", o->nfiles);
    if (o->compile.require_checked && !o->syntax_only)
        return misuse(o, "-Wunchecked goes with -fsyntax-only");
    if (o->compile.remarks && (mode ? !o->run && !o->explain : o->emit < TKC_EMIT_LAYOUT))
        return misuse(o, "-R tells of code; %s makes none", mode ? mode : "this -emit");
    if (o->list && (o->compile.signature || o->ndefines))
        return misuse(o,
                      "-list prints what the files say; %s goes with -fsyntax-only, -run and "
                      "compiling",
                      o->compile.signature ? "-sig" : "-D");
    if (!o->run && (o->args.len || seen->for_run))
        return misuse(o, "%s goes with -run", o->args.len ? "NAME=VALUE" : seen->for_run);
    if (!o->bench && seen->for_bench) return misuse(o, "%s goes with -bench", seen->for_bench);
    if (o->bench && seen->for_result)
        return misuse(o, "-bench looks at no results: %s goes with -run", seen->for_result);
    if (o->bytes && o->flops) return misuse(o, "-bytes gives GB/s and -flops TFLOP/s: one of them");
    if (o->plot && !o->sweep)
        return misuse(o, "-plot draws what a -sweep finds; add -sweep NAME=RANGE");
    if (!o->file && !o->batch) return misuse(o, "which file?");
    if (o->file && o->batch)
        return misuse(o, "-batch takes its files from '%s': '%s' is one too many", o->batch,
                      o->file);
    if (o->output && mode) return misuse(o, "-o goes with compiling, not with %s", mode);
    if (seen->emit && mode && !o->batch)
        return misuse(o, "-emit goes with compiling, not with %s", mode);
    if (o->run && o->language == TKC_LANGUAGE_IR)
        return misuse(o, "%s takes a kernel of a .tk file, not IR", mode);
    return check_product(o, mode);
}

void options_read_style(Options *o, int argc, char **argv)
{
    *o = (Options){.color = COLOR_AUTO};
    for (int i = 1; i < argc; i++) {
        const char *value;
        OptId id = find_row(argv[i], &value);
        if (id != OPT_COUNT && !value && rows[id].form != FORM_FLAG)
            value = ++i < argc ? argv[i] : NULL;
        if (value && (id == OPT_COLOR || id == OPT_DIAGNOSTICS))
            apply(o, &(Seen){0}, id, value); /* options_read says what is wrong with it */
    }
}

bool options_read(Options *o, int argc, char **argv)
{
    Seen seen = {0};
    *o = (Options){.emit = TKC_EMIT_PTX};
    tkc_options_init(&o->compile);
    if (!read_words(o, &seen, argc, argv)) return false;
    if (o->cache && o->file)
        return misuse(o, "-cache takes no file: '%s' is one too many", o->file);
    if (o->help || o->version || o->cache) return true;
    if (o->output && !strcmp(o->output, "-")) o->output = NULL;
    if (o->batch && !seen.emit)
        o->emit =
            TKC_EMIT_IR; /* are these kernels right? what a target makes of them is asked for */
    return (!o->output || seen.emit || emit_from_output(o)) && check_words(o, &seen);
}

bool options_read_line(Options *o, const Options *defaults, int argc, char **argv)
{
    Seen seen = {.first_define = defaults->ndefines};
    *o = (Options){
        .emit = defaults->emit, .language = defaults->language, .compile = defaults->compile};
    take_defines(o, defaults);
    if (!read_words(o, &seen, argc, argv)) return false;
    if (o->output || o->depend || o->nentries || o->ptxas || o->product || o->batch || o->run ||
        o->syntax_only || o->list || o->explain || o->cache || o->help || o->version ||
        o->args.len || seen.for_run || seen.for_bench)
        return misuse(o, "a line of -batch only compiles: -o, -run and the like do not go there");
    if (!o->file || !strcmp(o->file, "-"))
        return misuse(o, "a line of -batch begins with the name of a file");
    return true;
}

/* What may differ from line to line. */
static bool is_of_variant(OptId id)
{
    return id == OPT_KERNEL || id == OPT_DEFINES || id == OPT_SIGNATURE || id == OPT_NUM_WARPS ||
           id == OPT_NUM_STAGES || id == OPT_CONTRACT || id == OPT_PASSES;
}

/* The words of a text, the first of them none. False: too many, or one that does not belong. */
static bool split_words(Options *o, const char *what, char *text, char **argv, int most, int *argc)
{
    const char *value;
    for (char *word; (word = words_next(&text));) {
        if (*argc == most) return misuse(o, "%s has at most %d words", what, most - 1);
        argv[(*argc)++] = word;
        if (is_argument(word) || (argv[*argc - 2] && argv[*argc - 2][0] == '-' && word[0] != '-'))
            continue;
        if (word[0] != '-' || !is_of_variant(find_row(word, &value)))
            return misuse(o, "%s has -k, -D, -sig, -num-warps, -num-stages%s, not '%s'", what,
                          o->run ? " and NAME=VALUE" : "", word);
    }
    return true;
}

bool options_read_variant(Options *o, const Options *defaults, const char *what, const char *words)
{
    enum { MOST = 64 };
    char *argv[MOST + 1] = {NULL};
    int argc = 1;
    Seen seen = {.first_define = defaults->ndefines, .language = defaults->language_given};
    *o = (Options){0};
    memcpy(o, defaults, offsetof(Options, files));
    take_defines(o, defaults);
    if (!split_words(o, what, options_keep(o, words), argv, MOST, &argc) ||
        !read_words(o, &seen, argc, argv))
        return false;
    if (o->args.len && !o->run)
        return misuse(o, "%s gives no arguments: '%s' is the caller's", what, o->args.data[0].name);
    return !o->nfiles || misuse(o, "%s has no file of its own: '%s'", what, o->files[0]);
}

void options_fini(Options *o)
{
    owned_free(o->owned);
    o->owned = NULL;
}

static void print_kinds(FILE *out, const char *title,
                        const char *(*name_of)(size_t i, const char **what))
{
    const char *what, *name;
    fprintf(out, "\n%s:\n", title);
    for (size_t i = 0; (name = name_of(i, &what)); i++) fprintf(out, "  %-25s %s\n", name, what);
}

void options_help(FILE *out)
{
    for (int i = 0; i < OPT_COUNT; i++) {
        const struct OptRow *r = &rows[i];
        if (r->form == FORM_GROUP) {
            if (i == OPT_EXIT) {
                print_kinds(out, "Warnings (-Wno-NAME)", tkc_warning_name);
                print_kinds(out, "Remarks (-RNAME)", tkc_remark_name);
            }
            fprintf(out, *r->arg ? "%s%s\n" : "%s%s:\n", i ? "\n" : "", r->help);
            continue;
        }
        char left[64];
        int n = snprintf(left, sizeof left, "%s%s%s", r->spelling, joint(r->form), r->arg);
        fprintf(out, n <= 24 ? "  %-25s %s\n" : "  %s\n                            %s\n", left,
                r->help);
    }
}
