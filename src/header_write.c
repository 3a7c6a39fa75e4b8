/* The text of a header: declarations for every file that includes it; below NAME_IMPLEMENTATION,
   which one file defines, the code of the kernels, the functions, and src/aot/launch.c. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "header.h"
#include "tkc/edge.h"
#include "tkc/text.h"

enum { MOST_PARAMS = 1024, MOST_NAME = 256 };

/* Names that no function or parameter can have: words of C and C++, of the headers that are included,
   and of a launch function itself. */
static const char *const taken[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
    "case", "catch", "char", "class", "compl", "concept", "const", "constexpr", "const_cast",
    "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
    "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline",
    "int", "long", "main", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
    "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
    "restrict", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast",
    "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef",
    "typeid", "typename", "typeof", "union", "unsigned", "using", "virtual", "void", "volatile",
    "wchar_t", "while", "xor", "xor_eq", "linux", "unix", "stream", "grid_x", "grid_y", "grid_z",
    "NULL", "malloc", "calloc", "free", "abs", "div", "exit"};

static bool is_taken(const char *name)
{
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(taken[i], name)) return true;
    return !strncmp(name, "tkc_", 4) || !strncmp(name, "TKC_", 4);
}

static bool is_ascii_name(const char *name)
{
    if (!*name || isdigit((unsigned char)*name)) return false;
    for (; *name; name++)
        if (!char_is_word(*name)) return false;
    return true;
}

bool header_is_name(const char *name)
{
    return is_ascii_name(name) && !is_taken(name) && strlen(name) < MOST_NAME / 2;
}

/* ---- parameters ---- */

typedef struct Names {
    char **of;
    int n;
} Names;

static bool has_name(const Names *names, const char *name)
{
    for (int i = 0; i < names->n; i++)
        if (!strcmp(names->of[i], name)) return true;
    return is_taken(name);
}

/* "d.shape0" is d_shape0; what would be another's gets more '_'. */
static void add_name(Options *o, Names *names, const char *name)
{
    const size_t room = strlen(name) + MOST_PARAMS + 2;
    char *out = options_alloc(o, room, 1);
    size_t n = 0;
    if (isdigit((unsigned char)*name)) out[n++] = '_';
    for (; *name; name++) out[n++] = isalnum((unsigned char)*name) ? *name : '_';
    out[n] = 0;
    while (has_name(names, out) && n + 1 < room) memcpy(out + n++, "_", 2);
    names->of[names->n++] = out;
}

static void name_params(Options *o, Names *names, const TkcArtifact *a)
{
    const int n = tkc_artifact_param_count(a);
    names->of = options_alloc(o, (size_t)n + 1, sizeof(char *));
    for (int i = 0; i < n; i++) add_name(o, names, tkc_artifact_param_name(a, i));
}

/* Floats that C has no type for are given as their bits. */
static void put_type(FILE *f, const char *text)
{
    const ParamType t = tkc_type_of(text);
    const DTypeInfo *of = tkc_dtype_info(t.dtype);
    const int bits = 8 * of->bytes;
    if (t.stars) fputs("uint64_t", f);
    else if (of->kind == DK_BOOL) fputs("bool", f);
    else if (of->kind == DK_INT) fprintf(f, "int%d_t", bits);
    else if (of->kind == DK_FLOAT && bits >= 32) fputs(bits == 32 ? "float" : "double", f);
    else fprintf(f, "uint%d_t", bits);
}

static void put_prototype(FILE *f, const Entry *e, const Names *names)
{
    const TkcArtifact *a = e->variants[0].images[0].code;
    fprintf(f, "int %s(void *stream, unsigned grid_x, unsigned grid_y, unsigned grid_z", e->name);
    for (int i = 0; i < names->n; i++) {
        fputs(", ", f);
        put_type(f, tkc_artifact_param_type(a, i));
        fprintf(f, " %s", names->of[i]);
    }
    fputc(')', f);
}

/* ---- comments ---- */

/* In a comment, whatever the text is. */
static void put_comment(FILE *f, const char *text)
{
    for (; *text; text++)
        fputc((text[0] == '*' && text[1] == '/') || *text == '\n' || *text == '\\' ? ' ' : *text,
              f);
}

static void put_about(FILE *f, const Header *h, const Entry *e)
{
    const Variant *v = &e->variants[0];
    const TkcArtifact *a = v->images[0].code;
    const TkcDefine *d;
    fputs("/* ", f);
    put_comment(f,
                e->options->compile.kernel ? e->options->compile.kernel : tkc_artifact_kernel(a));
    fputs(" of ", f);
    put_comment(f, h->o->file);
    for (int i = 0; (d = tkc_artifact_value(a, i)); i++) {
        fputs(i ? ", " : " with ", f);
        put_comment(f, d->name);
        fputc('=', f);
        put_comment(f, d->value);
    }
    for (int i = 0; i < tkc_artifact_param_count(a); i++)
        fprintf(f, "%s%s %s", i ? ", " : "; ", tkc_artifact_param_name(a, i),
                tkc_artifact_param_type(a, i));
    fprintf(f, "; %d variant%s for", e->nvariants, e->nvariants == 1 ? "" : "s");
    for (int i = 0; i < h->narchs; i++) fprintf(f, " %s", h->archs[i]);
    fputs(" */\n", f);
}

/* ---- code ---- */

static void put_bytes(FILE *f, const char *bytes, size_t n)
{
    fputc('{', f);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s%u,", i % 24 ? "" : "\n ", (unsigned char)bytes[i]);
    fputs("0\n};\n", f); /* a driver reads PTX up to a NUL */
}

static void put_image_bytes(FILE *f, const Entry *e, int v, const Image *image)
{
    size_t len;
    const char *ptx = tkc_artifact_text(image->code, &len);
    fprintf(f, "static const unsigned char tkc_%s_%d_%s_ptx[] = ", e->name, v, image->arch);
    put_bytes(f, ptx, len);
    if (!image->cubin) return;
    fprintf(f, "static const unsigned char tkc_%s_%d_%s_cubin[] = ", e->name, v, image->arch);
    put_bytes(f, image->cubin, image->cubin_len);
}

static int bytes_of_param(const TkcArtifact *a, int64_t param)
{
    if (param < 0) return 0;
    return tkc_dtype_info(tkc_type_of(tkc_artifact_param_type(a, (int)param)).dtype)->bytes;
}

static void put_number(FILE *f, const TkcArtifact *a, const TkcNumber *n)
{
    fprintf(f, "{%lld, %d, {", (long long)n->value, (int)n->bits);
    for (int i = 0; i < TKC_FACTORS; i++)
        fprintf(f, "%s{%d, %d}", i ? ", " : "", (int)n->param[i], bytes_of_param(a, n->param[i]));
    fputs("}}, ", f);
}

static int count_maps(const TkcArtifact *a)
{
    TkcTensorMap map;
    int n = 0;
    while (tkc_artifact_tensor_map(a, n, &map)) n++;
    return n;
}

static void put_maps(FILE *f, const Entry *e, int v, const Image *image)
{
    TkcTensorMap m;
    if (!count_maps(image->code)) return;
    fprintf(f, "static const TkcMap1 tkc_%s_%d_%s_maps[] = {\n", e->name, v, image->arch);
    for (int i = 0; tkc_artifact_tensor_map(image->code, i, &m); i++) {
        fprintf(f, "    {%d, %d, {", (int)m.base, (int)m.rank);
        for (int d = 0; d < m.rank; d++) put_number(f, image->code, &m.extent[d]);
        fputs("}, {", f);
        for (int d = 0; d < m.rank - 1; d++) put_number(f, image->code, &m.stride[d]);
        fprintf(f, "}, %d, %d, %d, %d},\n", (int)m.bytes, (int)m.box_rows, (int)m.box_columns,
                (int)m.swizzle);
    }
    fputs("};\n", f);
}

static void put_image(FILE *f, const Entry *e, int v, const Image *image)
{
    const char *arch = image->arch;
    const int nmaps = count_maps(image->code);
    char cubin[MOST_NAME + 32] = "NULL", maps[MOST_NAME + 32] = "NULL";
    if (nmaps) snprintf(maps, sizeof maps, "tkc_%s_%d_%s_maps", e->name, v, arch);
    if (image->cubin) snprintf(cubin, sizeof cubin, "tkc_%s_%d_%s_cubin", e->name, v, arch);
    fprintf(f, "    {\"%s\", %d, %d, %d, %d, tkc_%s_%d_%s_ptx, %s, %s, %d},\n",
            tkc_artifact_kernel(image->code), atoi(arch + 3),
            isalpha((unsigned char)arch[strlen(arch) - 1]) != 0,
            32 * tkc_artifact_num_warps(image->code), tkc_artifact_shared_bytes(image->code),
            e->name, v, arch, cubin, maps, nmaps);
}

static void put_codes(FILE *f, const Header *h, const Entry *e)
{
    for (int v = 0; v < e->nvariants; v++) {
        for (int i = 0; i < h->narchs; i++) {
            put_image_bytes(f, e, v, &e->variants[v].images[i]);
            put_maps(f, e, v, &e->variants[v].images[i]);
        }
        fprintf(f, "static const TkcImage1 tkc_%s_%d_images[] = {\n", e->name, v);
        for (int i = 0; i < h->narchs; i++) put_image(f, e, v, &e->variants[v].images[i]);
        fputs("};\n", f);
    }
    fprintf(f, "static TkcCode1 tkc_%s_code[] = {\n", e->name);
    for (int v = 0; v < e->nvariants; v++)
        fprintf(f, "    {tkc_%s_%d_images, %d, NULL},\n", e->name, v, h->narchs);
    fputs("};\n\n", f);
}

/* Launches the variant, if its arguments are as it takes them. */
static void put_variant(FILE *f, const Entry *e, int v, const Names *names, bool has_maps)
{
    const char *before = "    if (";
    for (int i = 0; i < names->n; i++) {
        const int64_t d = e->variants[v].divides[i];
        if (d == 1) continue;
        if (d) fprintf(f, "%s%s %% %lld == 0", before, names->of[i], (long long)d);
        else fprintf(f, "%s%s == 1", before, names->of[i]);
        before = " && ";
    }
    fputs(*before == ' ' && before[1] == '&' ? ")\n        " : "    ", f);
    fprintf(f,
            "return tkc_launch_1(&tkc_%s_code[%d], stream, grid_x, grid_y, grid_z, tkc_params, %d, "
            "%s);\n",
            e->name, v, names->n, has_maps ? "tkc_maps" : "NULL");
}

static bool takes_anything(const Variant *v, int n)
{
    for (int i = 0; i < n; i++)
        if (v->divides[i] != 1) return false;
    return true;
}

static int most_maps(const Header *h, const Entry *e)
{
    int most = 0;
    for (int v = 0; v < e->nvariants; v++)
        for (int i = 0; i < h->narchs; i++) {
            const int n = count_maps(e->variants[v].images[i].code);
            if (n > most) most = n;
        }
    return most;
}

static void put_function(FILE *f, const Header *h, const Entry *e, const Names *names)
{
    const int nmaps = most_maps(h, e);
    put_prototype(f, e, names);
    fputs("\n{\n    void *tkc_params[] = {", f);
    for (int i = 0; i < names->n; i++) fprintf(f, "&%s, ", names->of[i]);
    for (int i = 0; i < nmaps; i++) fputs("NULL, ", f);
    fputs("NULL};\n", f);
    if (nmaps) fprintf(f, "    unsigned char tkc_maps[%d];\n", 64 + 128 * nmaps);
    for (int v = 0; v < e->nvariants; v++) put_variant(f, e, v, names, nmaps);
    if (!takes_anything(&e->variants[e->nvariants - 1], names->n))
        fputs("    return TKC_LAUNCH_NO_VARIANT;\n", f);
    fprintf(f, "}\n\nint %s_load(void)\n{\n    return tkc_load_all_1(tkc_%s_code, %d);\n}\n\n",
            e->name, e->name, e->nvariants);
}

/* ---- the whole ---- */

/* "my-kernels.h": MY_KERNELS */
static void name_file(const Header *h, char out[MOST_NAME])
{
    const char *path = h->o->output ? h->o->output : "kernels", *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    size_t n = 0;
    if (isdigit((unsigned char)*base)) out[n++] = 'H';
    for (; *base && base != dot && n + 1 < MOST_NAME; base++)
        out[n++] = isalnum((unsigned char)*base) && (unsigned char)*base < 128
                       ? (char)toupper(*base)
                       : '_';
    out[n] = 0;
}

static void put_head(FILE *f, const char *name)
{
    fprintf(f,
            "/* Made by %s. Include it where its functions are called; one C or C++ file defines\n"
            "   %s_IMPLEMENTATION before that, and has them. */\n",
            tkc_version_long(), name);
    fputs(launch_texts[1].text, f);
    fprintf(f, "\n#ifndef %s_H\n#define %s_H\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n", name,
            name);
}

static bool put_all(FILE *f, const Header *h, const Names *names)
{
    char name[MOST_NAME];
    name_file(h, name);
    put_head(f, name);
    for (int i = 0; i < h->nentries; i++) {
        put_about(f, h, &h->entries[i]);
        put_prototype(f, &h->entries[i], &names[i]);
        fprintf(f, ";\nint %s_load(void);\n", h->entries[i].name);
    }
    fprintf(f,
            "#ifdef __cplusplus\n}\n#endif\n#endif\n\n#if defined %s_IMPLEMENTATION && !defined "
            "%s_IMPLEMENTED\n#define %s_IMPLEMENTED\n",
            name, name, name);
    fputs(launch_texts[0].text, f);
    fputs("\n", f);
    for (int i = 0; i < h->nentries; i++) {
        put_codes(f, h, &h->entries[i]);
        put_function(f, h, &h->entries[i], &names[i]);
    }
    fputs("#endif\n", f);
    return !ferror(f);
}

char *header_write(const Header *h, size_t *len)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, len);
    Names *names = options_alloc(h->o, (size_t)h->nentries, sizeof *names);
    for (int i = 0; i < h->nentries; i++)
        name_params(h->o, &names[i], h->entries[i].variants[0].images[0].code);
    bool ok = f && put_all(f, h, names);
    if (f && fclose(f) != 0) ok = false;
    if (ok) return text;
    free(text);
    return NULL;
}
