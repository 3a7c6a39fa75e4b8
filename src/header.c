/* -emit=header. In: the options, with -entry for each C function. Out: each function's variants,
   compiled for each target, then text (header_write.c).

   A hint of a signature may have alternatives, "n=i32:16|1|any": a variant for each combination. */
#include "header.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "tkc/edge.h"

enum { MOST_VARIANTS = 64 };

/* ---- alternatives of hints ---- */

/* The end of an item of a signature; commas between <> are a descriptor's. */
static const char *item_end(const char *p)
{
    int depth = 0;
    for (; *p && (*p != ',' || depth); p++) depth += (*p == '<') - (*p == '>');
    return p;
}

/* Where an item's hint begins, behind its ':'; NULL: it has none. */
static const char *hint_of(const char *begin, const char *end)
{
    const char *hint = end;
    while (hint > begin && hint[-1] != ':') hint--;
    return hint > begin ? hint : NULL;
}

static int count_alternatives(const char *begin, const char *end)
{
    int count = 1;
    const char *p = hint_of(begin, end);
    for (; p && p < end; p++) count += *p == '|';
    return count;
}

/* The item with alternative `i` of its hint; "any" is no hint. Gives the end. */
static char *put_item(char *out, const char *begin, const char *end, int i)
{
    const char *hint = hint_of(begin, end), *at = hint ? hint : end;
    for (; i; i--) at += strcspn(at, "|") + 1;
    const size_t left = (size_t)(end - at), most = strcspn(at, "|"), n = most < left ? most : left;
    const bool any = hint && n == 3 && !memcmp(at, "any", 3);
    out = mempcpy(out, begin, (size_t)((hint ? hint : end) - begin) - any);
    return hint && !any ? mempcpy(out, at, n) : out;
}

/* The combination of that number, in which the first item varies first; NULL past the last. */
static const char *combination(Options *o, const char *signature, int number)
{
    char *text = options_keep(o, signature), *out = text; /* no longer than that */
    for (const char *p = signature; *p;) {
        const char *end = item_end(p);
        const int count = count_alternatives(p, end);
        out = put_item(out, p, end, number % count);
        number /= count;
        if (*end) *out++ = ',';
        p = end + (*end == ',');
    }
    *out = 0;
    return number ? NULL : text;
}

/* ---- one variant ---- */

/* The signature's hint for the parameter is 1, which of an integer is its value. */
static bool is_one(const char *signature, const char *name)
{
    const size_t n = strlen(name);
    for (const char *p = signature ? signature : ""; *p;) {
        const char *end = item_end(p), *begin = p + strspn(p, " \t");
        const char *eq = begin + n + strspn(begin + n, " \t");
        if ((size_t)(end - begin) > n && !memcmp(begin, name, n) && *eq == '=' && eq < end) {
            while (end[-1] == ' ') end--;
            return end - eq > 3 && end[-1] == '1' && end[-2] == ':';
        }
        p = end + (*end == ',');
    }
    return false;
}

static void take_facts(const Header *h, Variant *v)
{
    const TkcArtifact *a = v->images[0].code;
    const int n = tkc_artifact_param_count(a);
    v->divides = options_alloc(h->o, (size_t)n + 1, sizeof *v->divides);
    for (int i = 0; i < n; i++) {
        const ParamType t = tkc_type_of(tkc_artifact_param_type(a, i));
        const bool is_int = !t.stars && tkc_dtype_info(t.dtype)->kind != DK_FLOAT;
        v->divides[i] = is_int && is_one(v->signature, tkc_artifact_param_name(a, i))
                            ? 0
                            : tkc_artifact_param_divisibility(a, i);
    }
}

static bool compile_image(Header *h, TkcSource *source, const Entry *e, Variant *v, int i)
{
    Image *image = &v->images[i];
    TkcOptions o = e->options->compile;
    o.signature = v->signature;
    o.arch = image->arch = h->archs[i];
    if (tkc_compile(source, &o, TKC_EMIT_PTX, &image->code) != TKC_OK)
        return !h->o->nentries ? false : command_refuse("that was -entry '%s'", e->name);
    return assemble(&h->by, image->code, &image->cubin, &image->cubin_len);
}

static bool compile_variant(Header *h, TkcSource *source, const Entry *e, Variant *v)
{
    v->images = options_alloc(h->o, (size_t)h->narchs, sizeof *v->images);
    for (int i = 0; i < h->narchs; i++)
        if (!compile_image(h, source, e, v, i)) return false;
    take_facts(h, v);
    return true;
}

/* ---- the variants of a function ---- */

/* The parameters of the newest variant are the first's; no other takes the same arguments. */
static bool check_newest(const Entry *e)
{
    const TkcArtifact *first = e->variants[0].images[0].code,
                      *newest = e->variants[e->nvariants - 1].images[0].code;
    const int n = tkc_artifact_param_count(newest);
    bool same = tkc_artifact_param_count(first) == n;
    for (int i = 0; i < n && same; i++)
        same = !strcmp(tkc_artifact_param_name(first, i), tkc_artifact_param_name(newest, i)) &&
               !strcmp(tkc_artifact_param_type(first, i), tkc_artifact_param_type(newest, i));
    if (!same)
        return command_refuse(
            "'%s' would be a C function with two lists of parameters; give one of "
            "the two -entry another name",
            e->name);
    const int64_t *divides = e->variants[e->nvariants - 1].divides;
    for (int i = 0; i + 1 < e->nvariants; i++)
        if (!memcmp(e->variants[i].divides, divides, (size_t)n * sizeof *divides))
            return command_refuse("'%s' is given twice for the same arguments; give one of the two "
                                  "-entry another name, or another hint in -sig (x=*fp32:16)",
                                  e->name);
    return true;
}

/* What a variant asks of its arguments; of two of which one takes what the other takes, the larger
   is the special one. */
static int64_t score(const Variant *v, int nparams)
{
    int64_t sum = 0;
    for (int i = 0; i < nparams; i++) sum += v->divides[i] ? v->divides[i] : INT32_MAX;
    return sum;
}

/* The most special first, else as they were given. */
static void sort_newest(Entry *e)
{
    const int n = tkc_artifact_param_count(e->variants[0].images[0].code);
    for (int i = e->nvariants - 1; i && score(&e->variants[i], n) > score(&e->variants[i - 1], n);
         i--) {
        const Variant v = e->variants[i];
        e->variants[i] = e->variants[i - 1];
        e->variants[i - 1] = v;
    }
}

static bool add_variant(Header *h, TkcSource *source, Entry *e, const char *signature)
{
    if (e->nvariants == MOST_VARIANTS)
        return command_refuse("'%s' has more than %d variants; give fewer hints with '|'", e->name,
                              MOST_VARIANTS);
    options_push(h->o, e->variants, e->nvariants, (Variant){.signature = signature});
    if (!compile_variant(h, source, e, &e->variants[e->nvariants - 1]) || !check_newest(e))
        return false;
    sort_newest(e);
    return true;
}

static bool add_variants(Header *h, TkcSource *source, Entry *e)
{
    const char *signature = e->options->compile.signature, *text;
    if (!signature) return add_variant(h, source, e, NULL);
    for (int i = 0; (text = combination(h->o, signature, i)); i++)
        if (!add_variant(h, source, e, text)) return false;
    return true;
}

/* ---- the functions ---- */

/* "add" and "add_load" are two names of a function's. */
static bool meets(const char *a, const char *b)
{
    const size_t n = strlen(b);
    return !strncmp(a, b, n) && !strcmp(a + n, "_load");
}

static Entry *find_entry(Header *h, const char *name)
{
    for (int i = 0; i < h->nentries; i++) {
        const char *other = h->entries[i].name;
        if (!strcmp(other, name)) return &h->entries[i];
        if (meets(other, name) || meets(name, other))
            return command_fail("'%s' and '%s': each function has one beside it whose name ends in "
                                "_load; give one of the two another name",
                                other, name),
                   NULL;
    }
    if (!header_is_name(name))
        return command_fail("'%s' cannot be the name of a C function; give another, "
                            "-entry \"NAME: WORDS\"",
                            name),
               NULL;
    options_push(h->o, h->entries, h->nentries, (Entry){.name = name});
    return &h->entries[h->nentries - 1];
}

static bool add_entry(Header *h, TkcSource *source, const char *name, Options *o)
{
    Entry *e = find_entry(h, name);
    if (!e) return false;
    e->options = o;
    return add_variants(h, source, e);
}

static bool add_words(Header *h, TkcSource *source, int i)
{
    const char *text = h->o->entries[i], *colon = strchr(text, ':');
    const size_t n = colon ? (size_t)(colon - text) : 0;
    if (!n || strcspn(text, " =") < n)
        return command_refuse(
            "-entry takes \"NAME: WORDS\", such as \"add_f16: -k add -sig x=*fp16\", not '%s'",
            text);
    char *name = options_keep(h->o, text);
    name[n] = 0;
    if (!options_read_variant(&h->words[i], h->o, "an -entry", colon + 1))
        return command_refuse("-entry '%s': %s", name, h->words[i].error);
    return add_entry(h, source, name, &h->words[i]);
}

static bool make_entries(Header *h, TkcSource *source)
{
    const char *kernel = h->o->compile.kernel;
    if (!kernel) kernel = tkc_source_kernel_name(source, 0);
    if (!h->o->nentries) return add_entry(h, source, kernel ? kernel : "none", h->o);
    h->words = options_alloc(h->o, (size_t)h->o->nentries, sizeof *h->words);
    for (int i = 0; i < h->o->nentries; i++)
        if (!add_words(h, source, i)) return false;
    return true;
}

/* sm_80,sm_90a; without -arch sm_80, whatever GPU there is: a build gives the same everywhere. */
static bool read_archs(Header *h)
{
    char *text = options_keep(h->o, h->o->compile.arch ? h->o->compile.arch : "sm_80");
    for (char *arch = strtok(text, ","); arch; arch = strtok(NULL, ",")) {
        for (int i = 0; i < h->narchs; i++)
            if (!strcmp(h->archs[i], arch))
                return command_refuse("'%s' is given twice with -arch", arch);
        options_push(h->o, h->archs, h->narchs, arch);
    }
    return h->narchs ||
           command_refuse("-arch takes targets, sm_80,sm_90a, not '%s'", h->o->compile.arch);
}

/* ---- all of it ---- */

static int write(const Header *h)
{
    size_t len;
    Depends d = {.o = h->o};
    char *text = header_write(h, &len);
    int code = text ? command_write(h->o, text, len) : command_fail("out of memory");
    free(text);
    for (int i = 0; i < h->nentries; i++)
        for (int k = 0; k < h->entries[i].nvariants; k++)
            depend_add(&d, h->entries[i].variants[k].images[0].code);
    return depend_write(&d, code);
}

static void free_header(Header *h)
{
    for (int i = 0; i < h->nentries; i++) {
        Entry *e = &h->entries[i];
        for (int k = 0; k < e->nvariants; k++) {
            for (int j = 0; e->variants[k].images && j < h->narchs; j++) {
                tkc_artifact_free(e->variants[k].images[j].code);
                free(e->variants[k].images[j].cubin);
            }
        }
    }
    for (int i = 0; h->words && i < h->o->nentries; i++) options_fini(&h->words[i]);
}

int command_header(TkcContext *cx, Options *o)
{
    Header h = {.o = o, .by = assemble_find(o, cx)};
    int code = EXIT_REFUSED;
    TkcSource *source = command_source(cx, o);
    if (!source) return code;
    if (read_archs(&h) && make_entries(&h, source)) {
        code = write(&h);
        if (code == EXIT_FINE && !assemble_has(&h.by) && !(o->ptxas && !strcmp(o->ptxas, "none")))
            command_say("there is no ptxas, nor a driver that links: the header has PTX, which a driver "
                        "compiles when it loads it, and no "
                        "cubins (-ptxas=FILE names one, -ptxas=none wants none)");
    }
    assemble_end(&h.by);
    free_header(&h);
    tkc_source_free(source);
    return code;
}
