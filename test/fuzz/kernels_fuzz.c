/* The whole compiler and a device against kernels that are almost right.

       kernels_fuzz [-n COUNT | -seconds S] [-first N] [-show] [-v] [-device NAME] [-ptxas PATH] FILE...

   Each mutant is one of the files with a few of its tokens, operands, arguments or lines changed,
   compiled with options that are sometimes changed too: as far as IR, as far as PTX, and run on the
   device (cpu) if it compiles. It may be refused; it must not crash, hang, leak, or be called our own
   error. Files may say how to compile them, as tests do: "RUN: tkc -k NAME -sig TYPES -DX=1". cases.h says how. */
#include <ctype.h>

#include "cases.h"
#include "kernels_pieces.h"
#include "tkc/runtime.h"

enum {
    MAX_TEXT = 1 << 17,
    MAX_TOKENS = 1 << 15,
    MAX_DEFINES = 64,
    MAX_RUNS = 16,
    MAX_ARGS = 96,
    BUFFER = 1 << 14
};
/* ---- seeds ---- */

typedef struct Run {
    char *line, *kernel, *signature, *arch; /* parts of the line */
    char *defines[MAX_DEFINES];             /* NAME=VALUE */
    int ndefines;
} Run;

typedef struct Seed {
    const char *path;
    char *text;
    size_t len;
    Run runs[MAX_RUNS];
    int nruns;
} Seed;

static Seed *seeds;
static int nseeds;

/* The next word of a command line, quotes taken off; NULL at its end. */
static char *next_word(char **at)
{
    char *p = *at + strspn(*at, " \t"), *start = p, *out = p;
    if (!*p || *p == '\n') return NULL;
    for (char quote = 0; *p && *p != '\n' && (quote || (*p != ' ' && *p != '\t')); p++) {
        if ((*p == '"' || *p == '\'') && (!quote || quote == *p)) quote = quote ? 0 : *p;
        else *out++ = *p;
    }
    *at = p + (*p != 0);
    *out = 0;
    return start;
}

static void read_run(Seed *seed, const char *line)
{
    Run *run = &seed->runs[seed->nruns];
    char *at = strndup(line, strcspn(line, "\n"));
    *run = (Run){.line = at};
    for (char *w; (w = next_word(&at)) && strcmp(w, "|");) {
        if (!strcmp(w, "-k")) run->kernel = next_word(&at);
        else if (!strcmp(w, "-sig")) run->signature = next_word(&at);
        else if (!strncmp(w, "-arch=", 6)) run->arch = w + 6;
        else if (!strncmp(w, "-D", 2) && strchr(w, '=') && run->ndefines < MAX_DEFINES)
            run->defines[run->ndefines++] = w + 2;
    }
    seed->nruns++;
}

static void read_seed(Seed *seed, const char *path)
{
    seed->path = path;
    seed->text = read_file(path, MAX_TEXT / 2, &seed->len);
    for (const char *p = seed->text; (p = strstr(p, "RUN: ")) && seed->nruns < MAX_RUNS; p++)
        if (!strncmp(p + 5, "tkc ", 4) || !strncmp(p + 5, "not tkc ", 8)) read_run(seed, p + 5);
}

/* ---- tokens ---- */

typedef enum Kind {
    K_NAME,
    K_NUMBER,
    K_STRING,
    K_OPERATOR,
    K_OPEN,
    K_CLOSE,
    K_COMMA,
    K_OTHER,
    K_LINE
} Kind;

/* Text is replaced as a whole by each mutation; tokens are spans of it, K_LINE a line's start with
 * its indentation. */
typedef struct Token {
    Kind kind;
    uint32_t begin, end;
} Token;

static char text[MAX_TEXT];
static size_t len;
static Token tokens[MAX_TOKENS];
static int ntokens;

static size_t string_end(size_t i)
{
    char quote = text[i];
    bool triple = i + 2 < len && text[i + 1] == quote && text[i + 2] == quote;
    for (i += triple ? 3 : 1; i < len; i++) {
        if (text[i] == '\\') i++;
        else if (text[i] == quote &&
                 (!triple || (i + 2 < len && text[i + 1] == quote && text[i + 2] == quote)))
            return i + (triple ? 3 : 1) > len ? len : i + (triple ? 3 : 1);
        else if (text[i] == '\n' && !triple) return i;
    }
    return len;
}

static size_t token_end(size_t i, Kind *kind)
{
    unsigned char c = (unsigned char)text[i];
    size_t at = i + 1;
    if (isalpha(c) || c == '_') {
        for (*kind = K_NAME; at < len && (isalnum((unsigned char)text[at]) || text[at] == '_');
             at++)
            ;
    } else if (isdigit(c)) {
        for (*kind = K_NUMBER; at < len && (isalnum((unsigned char)text[at]) || text[at] == '.');
             at++)
            ;
    } else if (c == '"' || c == '\'') {
        *kind = K_STRING;
        at = string_end(i);
    } else if (strchr("([{", c)) {
        *kind = K_OPEN;
    } else if (strchr(")]}", c)) {
        *kind = K_CLOSE;
    } else if (c == ',') {
        *kind = K_COMMA;
    } else if (strchr("+-*/%<>=!&|^~", c)) {
        for (*kind = K_OPERATOR; at < len && at < i + 3 && text[at] && strchr("*/<>=", text[at]);
             at++)
            ;
    } else {
        *kind = K_OTHER;
    }
    return at;
}

static void tokenize(void)
{
    bool fresh = true;
    ntokens = 0;
    for (size_t i = 0; i < len && ntokens < MAX_TOKENS - 1;) {
        Token t = {K_LINE, (uint32_t)i, (uint32_t)i};
        if (fresh) {
            while (i < len && text[i] == ' ') i++;
            t.end = (uint32_t)i;
            tokens[ntokens++] = t;
            fresh = false;
        } else if (text[i] == '\n') {
            fresh = true;
            i++;
        } else if (text[i] == '#') {
            while (i < len && text[i] != '\n') i++;
        } else if (isspace((unsigned char)text[i])) {
            i++;
        } else {
            i = token_end(i, &t.kind);
            t.end = (uint32_t)i;
            tokens[ntokens++] = t;
        }
    }
}

/* A token of one of these kinds (a set of bits), or -1. */
static int pick(unsigned kinds)
{
    for (int tries = 0; ntokens && tries < 64; tries++) {
        int i = (int)draw((uint32_t)ntokens);
        if (kinds >> tokens[i].kind & 1) return i;
    }
    return -1;
}

static void replace(size_t begin, size_t end, const char *with, size_t n)
{
    if (len - (end - begin) + n >= MAX_TEXT) return;
    char *copy = malloc(n + 1);
    memcpy(copy, with, n); /* may be part of the text */
    memmove(text + begin + n, text + end, len - end);
    memcpy(text + begin, copy, n);
    len = len - (end - begin) + n;
    text[len] = 0;
    free(copy);
}

static void replace_token(int i, const char *with)
{
    if (i >= 0) replace(tokens[i].begin, tokens[i].end, with, strlen(with));
}

/* ---- mutations ---- */

/* Where the operand around token i begins and ends: a name with what is applied to it, or what is
 * in brackets. */
static void operand(int i, size_t *begin, size_t *end)
{
    int depth = 0, j = i;
    *begin = tokens[i].begin;
    if (tokens[i].kind == K_OPEN) depth = 1;
    for (j++; j < ntokens; j++) {
        const Token *t = &tokens[j];
        if (t->kind == K_OPEN) depth++;
        else if (depth > 0 && t->kind == K_CLOSE) depth--;
        else if (depth == 0 && !(t->kind == K_OTHER && text[t->begin] == '.') &&
                 !(t->kind == K_NAME && text[t->begin - 1] == '.'))
            break;
    }
    *end = tokens[j - 1].end;
}

/* The argument that begins after token i, an opening bracket or a comma. */
static bool argument(int i, size_t *begin, size_t *end)
{
    int depth = 0, j = i + 1;
    for (; j < ntokens; j++) {
        if (depth == 0 && (tokens[j].kind == K_COMMA || tokens[j].kind == K_CLOSE)) break;
        depth += (tokens[j].kind == K_OPEN) - (tokens[j].kind == K_CLOSE);
    }
    if (j == i + 1 || j == ntokens) return false;
    *begin = tokens[i + 1].begin;
    *end = tokens[j - 1].end;
    return true;
}

enum {
    OPERANDS = 1 << K_NAME | 1 << K_NUMBER | 1 << K_STRING | 1 << K_OPEN,
    ARGUMENTS = 1 << K_OPEN | 1 << K_COMMA,
    ANY = 0x1ff
};

static void change_token(void)
{
    int i = pick(ANY & ~(1 << K_LINE)), j = pick(ANY & ~(1 << K_LINE));
    if (i < 0 || j < 0) return;
    const Token *t = &tokens[i], *u = &tokens[j];
    switch (draw(3)) {
    case 0: replace(t->begin, t->end, "", 0); break;
    case 1: replace(t->end, t->end, text + t->begin, t->end - t->begin); break;
    default: replace(t->begin, t->end, text + u->begin, u->end - u->begin); break;
    }
}

static void change_operand(void)
{
    size_t begin, end, from, to;
    int i = pick(OPERANDS), j = pick(OPERANDS);
    if (i < 0 || j < 0) return;
    operand(i, &begin, &end);
    operand(j, &from, &to);
    const char *piece = ONE_OF(constants);
    switch (draw(4)) {
    case 0: replace(begin, end, piece, strlen(piece)); break;
    case 1: replace(begin, end, text + from, to - from); break;
    case 2:
        piece = ONE_OF(methods);
        replace(end, end, piece, strlen(piece));
        break;
    default: replace_token(i, piece); break;
    }
}

static void change_argument(void)
{
    size_t begin, end, from, to;
    int i = pick(ARGUMENTS), j = pick(ARGUMENTS);
    if (i < 0 || j < 0 || !argument(i, &begin, &end) || !argument(j, &from, &to)) return;
    char piece[64];
    switch (draw(4)) {
    case 0: replace(begin, end, text + from, to - from); break;
    case 1: replace(begin, end + (text[end] == ','), "", 0); break;
    case 2:
        snprintf(piece, sizeof piece, "%s, ", draw(2) ? ONE_OF(keywords) : ONE_OF(constants));
        replace(begin, begin, piece, strlen(piece));
        break;
    default:
        snprintf(piece, sizeof piece, ", %s", ONE_OF(keywords));
        replace(end, end, piece, strlen(piece));
        break;
    }
}

static void change_name(void)
{
    int i = pick(1 << K_NAME), j = pick(1 << K_NAME);
    size_t begin, end;
    if (i < 0 || j < 0) return;
    if (draw(2)) {
        replace(tokens[i].begin, tokens[i].end, text + tokens[j].begin,
                tokens[j].end - tokens[j].begin);
        return;
    }
    begin = tokens[i].begin;
    end = tokens[i].end;
    if (begin >= 3 && !memcmp(text + begin - 3, "tl.", 3)) begin -= 3;
    const char *name = ONE_OF(names);
    replace(begin, end, name, strlen(name));
}

/* A line after line i, indented like it; or line i moved one level in under a head of its own. */
static void change_line(void)
{
    int i = pick(1 << K_LINE), j = pick(1 << K_LINE);
    if (i < 0 || j < 0) return;
    size_t begin = tokens[i].begin, body = tokens[i].end, end = body + strcspn(text + body, "\n");
    size_t from = tokens[j].end, to = from + strcspn(text + from, "\n");
    char piece[2048];
    int indent = (int)(body - begin);
    switch (draw(6)) {
    case 0: replace(begin, end + (text[end] == '\n'), "", 0); return;
    case 1:
        snprintf(piece, sizeof piece, "%*s%.*s\n", indent, "", (int)(to - from), text + from);
        break;
    case 2: snprintf(piece, sizeof piece, "%*s%s\n", indent, "", ONE_OF(lines)); break;
    case 3:
        snprintf(piece, sizeof piece, "%*s%s\n%*s%.*s\n", indent, "", ONE_OF(wrappers), indent + 4,
                 "", (int)(end - body), text + body);
        replace(begin, end + (text[end] == '\n'), piece, strlen(piece));
        return;
    case 4: replace(body, body, "    ", 4); return;
    default: replace(begin, begin + (indent >= 4 ? 4 : 0), "", 0); return;
    }
    replace(begin, begin, piece, strlen(piece));
}

static void mutate(void)
{
    tokenize();
    switch (draw(8)) {
    case 0: change_token(); break;
    case 1: replace_token(pick(1 << K_OPERATOR), ONE_OF(operators)); break;
    case 2:
    case 3: change_operand(); break;
    case 4: change_argument(); break;
    case 5: change_name(); break;
    case 6: change_line(); break;
    default: replace_token(pick(1 << K_NUMBER), ONE_OF(constants)); break;
    }
}

/* ---- one mutant ---- */

/* The strings that options point to. */
typedef struct Mutant {
    const Seed *seed;
    TkcOptions options;
    TkcDefine defines[2 * MAX_DEFINES];
    char strings[1 << 14], signature[1 << 13];
    size_t used;
} Mutant;

static const char *keep(Mutant *m, const char *s, size_t n)
{
    if (m->used + n + 1 > sizeof m->strings) return "";
    char *copy = m->strings + m->used;
    memcpy(copy, s, n);
    copy[n] = 0;
    m->used += n + 1;
    return copy;
}

static const char *random_type(void)
{
    static const char *const types[] = {
        "*fp32", "*fp32:16", "*fp16:16", "*bf16", "*i32",   "*i64", "*i8",  "*u8:16",
        "*i1",   "*fp8e4nv", "*fp64",    "i32",   "i32:16", "i64",  "fp32", "u32",
        "i1",    "fp64",     "i8",       "fp16",  "**fp32", "what", "*u64"};
    return ONE_OF(types);
}

static const char *guess_type(const char *name)
{
    static const char *const pointers[] = {"*fp32:16", "*fp16:16", "*fp32", "*bf16:16", "*i32"};
    static const char *const numbers[] = {"i32", "i32:16", "i64", "fp32"};
    size_t n = strlen(name);
    bool is_pointer =
        n <= 2 || strstr(name, "ptr") || strstr(name, "pointer") || isupper((unsigned char)name[0]);
    return draw(16) == 0 ? random_type() : is_pointer ? ONE_OF(pointers) : ONE_OF(numbers);
}

static void add_define(Mutant *m, const char *name, const char *value)
{
    if (m->options.ndefines < 2 * MAX_DEFINES)
        m->defines[m->options.ndefines++] = (TkcDefine){keep(m, name, strlen(name)), value};
}

/* What a seed says of its compilation, with chance. */
static void take_run(Mutant *m, const Run *run)
{
    m->options.kernel = run->kernel;
    m->options.arch = run->arch;
    for (int i = 0; i < run->ndefines; i++) {
        const char *eq = strchr(run->defines[i], '=');
        const char *name = keep(m, run->defines[i], (size_t)(eq - run->defines[i]));
        add_define(m, name, draw(48) == 0 ? ONE_OF(constants) : eq + 1);
    }
    char *out = m->signature;
    for (const char *p = run->signature ? run->signature : ""; *p;) {
        size_t n = strcspn(p, ","), name = strcspn(p, "=");
        if (draw(48) == 0 && name < n) out += sprintf(out, "%.*s=%s,", (int)name, p, random_type());
        else out += sprintf(out, "%.*s,", (int)n, p);
        p += n + (p[n] == ',');
    }
}

/* What nobody says: any kernel, types after names. */
static void take_chance(Mutant *m, TkcSource *source)
{
    static const char *const values[] = {"16",    "64",   "8",    "128", "1", "True",
                                         "False", "None", "fp32", "5",   "0", "'none'"};
    int n = tkc_source_kernel_count(source), count = 0;
    const char *kernel = n > 0 ? tkc_source_kernel_name(source, (int)draw((uint32_t)n)) : NULL;
    if (!kernel) return;
    m->options.kernel = keep(m, kernel, strlen(kernel));
    if (tkc_source_param_count(source, kernel, &count) != TKC_OK) return;
    char *out = m->signature;
    for (int i = 0; i < count; i++) {
        TkcParam p = {.size = sizeof p};
        if (tkc_source_param(source, kernel, i, &p) != TKC_OK || strlen(p.name) > 64 ||
            out > m->signature + sizeof m->signature - 256)
            return;
        if (p.is_constexpr && (!p.default_ || draw(4) == 0))
            add_define(m, p.name, strstr(p.name, "BLOCK") ? "32" : ONE_OF(values));
        else if (!p.is_constexpr && !p.type)
            out += sprintf(out, "%s=%s,", p.name, guess_type(p.name));
    }
}

static void choose_options(Mutant *m, TkcSource *source)
{
    static const char *const archs[] = {"sm_75",  "sm_75",  "sm_80",  "sm_86", "sm_90",
                                        "sm_90a", "sm_90a", "sm_100", "gfx942"};
    static const int warps[] = {1, 2, 2, 4, 8, 8, 8, 16, 16, 32, 3, -1};
    static const char *const passes[] = {
        "", "fold", "fold,cse,licm,ifconv,dce,mask,fold,cse,dce,layout,cse,dce,expand,place,sync",
        "layout,expand,place,sync"};
    tkc_options_init(&m->options);
    m->options.max_seconds = COMPILE_SECONDS;
    m->used = 0;
    m->signature[0] = 0;
    if (m->seed->nruns && draw(8)) take_run(m, &m->seed->runs[draw((uint32_t)m->seed->nruns)]);
    else take_chance(m, source);
    m->options.defines = m->defines;
    m->options.signature = m->signature[0] ? m->signature : NULL;
    if (draw(3) == 0) m->options.arch = ONE_OF(archs);
    if (draw(3) == 0) m->options.num_warps = ONE_OF(warps);
    if (draw(4) == 0) m->options.num_stages = (int)draw(6);
    if (draw(8) == 0) m->options.passes = ONE_OF(passes);
    m->options.debug = draw(8) == 0;
    m->options.verify_each = true;
    m->options.remarks = draw(4) == 0;
    m->options.max_steps = 100000;
    m->options.max_ops = 10000;
}

/* The source of mutant number i; NULL when its text is refused. */
static TkcSource *make_mutant(TkcContext *cx, Mutant *m, int i)
{
    begin_case(i);
    m->seed = &seeds[draw((uint32_t)nseeds)];
    memcpy(text, m->seed->text, m->seed->len + 1);
    len = m->seed->len;
    for (uint32_t edits = 1 + draw(draw(2) ? 1 : 4); edits > 0; edits--) mutate();
    TkcSource *source;
    if (tkc_source_from_text(cx, "mutant.tk", text, len, TKC_LANGUAGE_TK, &source) != TKC_OK)
        return NULL;
    choose_options(m, source);
    return source;
}

/* ---- running it ---- */

static const char *ptxas, *device = "cpu";
static bool verbose;     /* say why mutants are refused */
enum { COUNT_COMPILED = COUNT_FIRST_OWN, COUNT_RAN }; /* to PTX; on the device */

static void show(const Mutant *m, int i)
{
    const TkcOptions *o = &m->options;
    fprintf(stderr, "mutant %d of %s: -k %s -sig \"%s\"", i, m->seed->path,
            o->kernel ? o->kernel : "", o->signature ? o->signature : "");
    for (size_t d = 0; d < o->ndefines; d++)
        fprintf(stderr, " \"-D%s=%s\"", o->defines[d].name, o->defines[d].value);
    fprintf(stderr, " -arch=%s -num-warps=%d -num-stages=%d", o->arch ? o->arch : "sm_80",
            o->num_warps, o->num_stages);
    fprintf(stderr, "%s%s%s\n", o->passes ? " -passes=" : "", o->passes ? o->passes : "",
            o->debug ? " -g" : "");
}

static bool is_fine(TkcContext *cx, const Mutant *m, int i, const char *stage, TkcStatus status)
{
    bool ours = status != TKC_OK && strstr(tkc_last_error(cx), "internal error");
    if (verbose && status != TKC_OK) fprintf(stderr, "%d %s: %s", i, stage, tkc_last_error(cx));
    if (!ours && (status == TKC_OK || status == TKC_ERROR || status == TKC_MISUSE))
        return status == TKC_OK;
    show(m, i);
    fprintf(stderr, "%s: %s\n%s\n", stage, tkc_status_text(status), tkc_last_error(cx));
    counts[COUNT_FAILED]++;
    return false;
}

/* ptxas must take what we print, for the target it is for; what needs more of a resource than there
 * is, it may refuse. */
static void assemble(const Mutant *m, int i, const TkcArtifact *artifact)
{
    char path[64], command[512];
    snprintf(path, sizeof path, "/tmp/kernels_fuzz.%d.ptx", (int)getpid());
    FILE *f = fopen(path, "w");
    if (!f) return;
    fputs(tkc_artifact_text(artifact, NULL), f);
    fclose(f);
    snprintf(command, sizeof command, "%s -O0 -arch=%s %s -o /dev/null 2>&1", ptxas,
             m->options.arch ? m->options.arch : "sm_80", path);
    alarm(0); /* its time is not ours */
    FILE *p = popen(command, "r");
    char out[1024];
    size_t n = p ? fread(out, 1, sizeof out - 1, p) : 0;
    out[n] = 0;
    int status = p ? pclose(p) : 0;
    alarm(CASE_WALL_SECONDS);
    if (status != 0 && !strstr(out, "too much shared data")) {
        show(m, i);
        fprintf(stderr, "ptxas: %s\n", out);
        counts[COUNT_FAILED]++;
    }
    unlink(path);
}

static const char *type_of(const TkcArtifact *artifact, const char *name)
{
    for (int i = 0; i < tkc_artifact_param_count(artifact); i++)
        if (!strcmp(tkc_artifact_param_name(artifact, i), name))
            return tkc_artifact_param_type(artifact, i);
    return NULL;
}

/* Small numbers, whatever type they are read as. */
static void fill(void *to, const char *type, size_t bytes)
{
    bool is_fp32 = !strcmp(type, "*fp32") || !strcmp(type, "*f32");
    for (size_t k = 0; k < bytes / 4; k++) {
        float value = (float)(int)draw(64) / 8 - 4;
        uint32_t small = strstr(type, "64")   ? (k & 1 ? 0 : draw(16))
                         : strstr(type, "16") ? 0x3c003c00 + (draw(256) << 4)
                                              : draw(16);
        if (is_fp32) memcpy((char *)to + 4 * k, &value, 4);
        else memcpy((char *)to + 4 * k, &small, 4);
    }
}

static TkcArg random_number(const char *type)
{
    static const int64_t numbers[] = {0, 1, 2, 3, 5, 8, 16, 16, 32, 32, 64, 100, -1, 2147483647};
    if (type && strstr(type, "f") && !strchr(type, '*')) return tkc_float(draw(32) / 8.0 - 1);
    return tkc_int(ONE_OF(numbers));
}

static bool is_defined(const Mutant *m, const char *name)
{
    for (size_t i = 0; i < m->options.ndefines; i++)
        if (!strcmp(m->options.defines[i].name, name)) return true;
    return false;
}

/* Arguments of the right kinds for all that the defines leave open; their number, or -1. */
static int make_args(const Mutant *m, TkcDevice *dev, TkcSource *source,
                     const TkcArtifact *artifact, TkcArg *args, char *bytes)
{
    int count, n = 0;
    if (tkc_source_param_count(source, m->options.kernel, &count) != TKC_OK || count > MAX_ARGS)
        return -1;
    for (int i = 0; i < count; i++) {
        TkcParam p = {.size = sizeof p};
        TkcPtr memory;
        if (tkc_source_param(source, m->options.kernel, i, &p) != TKC_OK) return -1;
        const char *type = type_of(artifact, p.name);
        if (is_defined(m, p.name)) continue;
        if (p.is_constexpr || !type) {
            args[n++] = tkc_constexpr(NULL);
        } else if (type[0] != '*') {
            args[n++] = random_number(type);
        } else {
            if (tkc_alloc(dev, BUFFER, &memory) != TKC_OK) return -1;
            fill(bytes, type, BUFFER);
            tkc_copy_in(dev, memory, bytes, BUFFER);
            args[n++] = tkc_pointer(type, memory, BUFFER);
        }
    }
    return n;
}

static void run(TkcContext *cx, const Mutant *m, int i, TkcSource *source,
                const TkcArtifact *artifact)
{
    static char bytes[BUFFER];
    TkcArg args[MAX_ARGS] = {0};
    TkcDevice *dev;
    TkcJit *jit = NULL;
    TkcOptions options = m->options;
    if (options.passes && draw(2)) options.passes = NULL;
    if (!is_fine(cx, m, i, "device", tkc_device_open(cx, device, 0, &dev))) return;
    tkc_device_set_timeout(dev, 0.3);
    tkc_device_set_threads(dev, 1 + (int)draw(2));
    int n = make_args(m, dev, source, artifact, args, bytes);
    if (n >= 0 && is_fine(cx, m, i, "jit", tkc_jit_new(dev, source, &options, &jit))) {
        int64_t grid[3] = {1 + draw(4), 1 + draw(2), 1};
        counts[COUNT_RAN] += is_fine(cx, m, i, "launch", tkc_launch(jit, grid, NULL, args, (size_t)n));
        tkc_jit_free(jit);
    }
    for (int k = 0; k < n; k++)
        if (args[k].kind == TKC_ARG_POINTER) tkc_free(dev, args[k].pointer);
    tkc_device_free(dev);
}

static void run_mutant(int i)
{
    static Mutant m;
    TkcArtifact *artifact = NULL;
    TkcContext *cx = tkc_context_new();
    TkcSource *source = make_mutant(cx, &m, i);
    if (source &&
        is_fine(cx, &m, i, "ir", tkc_compile(source, &m.options, TKC_EMIT_IR, &artifact))) {
        run(cx, &m, i, source, artifact);
        tkc_artifact_free(artifact);
        artifact = NULL;
        if (is_fine(cx, &m, i, "ptx", tkc_compile(source, &m.options, TKC_EMIT_PTX, &artifact))) {
            counts[COUNT_COMPILED]++;
            if (ptxas) assemble(&m, i, artifact);
        }
    } else if (!source && strstr(tkc_last_error(cx), "internal error")) {
        fprintf(stderr, "mutant %d of %s: parse: %s\n", i, m.seed->path, tkc_last_error(cx));
        counts[COUNT_FAILED]++;
    }
    tkc_artifact_free(artifact);
    tkc_source_free(source);
    tkc_context_free(cx);
}

/* ---- the command ---- */

static void show_mutant(int i)
{
    static Mutant m;
    TkcContext *cx = tkc_context_new();
    TkcSource *source = make_mutant(cx, &m, i);
    if (source) show(&m, i);
    fprintf(stderr, "%s\n", text);
    tkc_source_free(source);
    tkc_context_free(cx);
}

int main(int argc, char **argv)
{
    Cases cases = {.count = 300, .run = run_mutant, .show = show_mutant};
    seeds = calloc((size_t)argc, sizeof *seeds);
    for (int i = 1; i < argc; i++) {
        if (read_case_option(&cases, argc, argv, &i)) continue;
        if (!strcmp(argv[i], "-ptxas") && i + 1 < argc) ptxas = argv[++i];
        else if (!strcmp(argv[i], "-device") && i + 1 < argc) device = argv[++i];
        else if (!strcmp(argv[i], "-v")) verbose = true;
        else read_seed(&seeds[nseeds++], argv[i]);
    }
    if (nseeds == 0 || !run_cases(&cases)) return 2;
    if (cases.only_show) return 0;
    printf("%d mutants, %d compiled to PTX, %d run, %d failures\n", counts[COUNT_DONE],
           counts[COUNT_COMPILED], counts[COUNT_RAN], counts[COUNT_FAILED]);
    return counts[COUNT_FAILED] != 0;
}
