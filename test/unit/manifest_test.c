/* A manifest's text: read, it is what was written; anything else is refused. */
#include <stdlib.h>

#include "expect.h"
#include "jit/manifest.h"
#include "jit/sha256.h"
#include "tkc/runtime.h"

static const char kernel[] = "import triton\nimport triton.language as tl\n"
                             "@triton.jit\n"
                             "def k(x: '*fp32', d: 'tensordesc<fp16[16, 64]>', n: 'i32', flag: 'i1', B: tl.constexpr, NAME: tl.constexpr = 'two words %\\n'):\n"
                             "    if NAME != 'none':\n"
                             "        v = d.load([0, 0])\n"
                             "        d.store([0, 0], v)\n"
                             "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
                             "    tl.store(x + at, n, mask=(at < n) & flag)\n";

/* The manifest's text of the kernel, for the caller to free. */
static char *write(size_t *len)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *source;
    TkcArtifact *a;
    TkcOptions o;
    tkc_options_init(&o);
    o.signature = "x=*fp32:16";
    o.defines = (const TkcDefine[]){{"B", "64"}};
    o.ndefines = 1;
    o.num_warps = 2;
    o.arch = "sm_90a";
    EXPECT_INT(tkc_source_from_text(cx, "a file.tk", kernel, strlen(kernel), TKC_LANGUAGE_TK, &source), TKC_OK);
    if (tkc_compile(source, &o, TKC_EMIT_PTX, &a) != TKC_OK) printf("%s", tkc_last_error(cx)), exit(1);
    char *text = manifest_write(a, len);
    EXPECT(text && strlen(text) == *len);
    EXPECT_STR(tkc_artifact_manifest(a), text);
    EXPECT(tkc_artifact_manifest(a) == tkc_artifact_manifest(a) && !tkc_artifact_manifest(NULL));
    EXPECT(!tkc_artifact_arch(NULL) && !tkc_artifact_param_divisibility(a, -1) && !tkc_artifact_param_divisibility(a, 99));
    tkc_artifact_free(a);
    tkc_source_free(source);
    tkc_context_free(cx);
    return text;
}

static void expect_param(const ManifestParam *p, const char *name, const char *argument, ArgPart source, int dim,
                         const char *type, int bytes, int divisibility)
{
    EXPECT_STR(p->name, name);
    EXPECT_STR(p->argument, argument);
    EXPECT_INT(p->source, source);
    EXPECT_INT(p->dim, dim);
    EXPECT_STR(p->type, type);
    EXPECT_STR(p->kind, *type == '*' ? "pointer" : "number");
    EXPECT_INT(p->bytes, bytes);
    EXPECT_INT(p->divisibility, divisibility);
}

static void round_trip(void)
{
    size_t len;
    char *text = write(&len), hash[SHA256_TEXT];
    Manifest m;
    EXPECT(manifest_read(&m, text, len));
    EXPECT_STR(m.kernel, "k");
    EXPECT_STR(m.target, "sm_90a");
    EXPECT_STR(m.version, tkc_version_long());
    EXPECT(m.threads == 64 && m.warps == 2 && m.stages == 3 && m.config == -1 && m.nconfigs == 0);
    EXPECT_INT(m.nparams, 7);
    expect_param(&m.params[0], "x", "x", PART_WHOLE, 0, "*fp32", 8, 16);
    expect_param(&m.params[1], "d", "d", PART_WHOLE, 0, "*fp16", 8, 16);
    expect_param(&m.params[2], "d.shape0", "d", PART_SHAPE, 0, "i32", 4, 1);
    expect_param(&m.params[3], "d.shape1", "d", PART_SHAPE, 1, "i32", 4, 1);
    expect_param(&m.params[4], "d.stride0", "d", PART_STRIDE, 0, "i64", 8, 8);
    expect_param(&m.params[5], "n", "n", PART_WHOLE, 0, "i32", 4, 1);
    expect_param(&m.params[6], "flag", "flag", PART_WHOLE, 0, "i1", 1, 1);
    EXPECT(m.params[1].is.stars == 1 && m.params[1].element->bits == 16);
    EXPECT_INT(m.nvalues, 2);
    EXPECT_STR(m.values[0].value, "64");
    EXPECT_STR(m.values[1].name, "NAME");
    EXPECT(strstr(m.values[1].value, "two words %"));
    EXPECT_INT(m.nfiles, 1);
    sha256_text(hash, kernel, strlen(kernel));
    EXPECT_STR(m.files[0].path, "a file.tk");
    EXPECT_STR(m.files[0].hash, hash);
    manifest_fini(&m);
    free(text);
}

static bool reads(const char *text, size_t len)
{
    Manifest m;
    char *copy = malloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = 0;
    bool ok = manifest_read(&m, copy, len);
    manifest_fini(&m);
    free(copy);
    return ok;
}

/* No prefix is a manifest, nor is what goes on; a byte that changes is not trusted to mean less: it reads or it does not. */
static void refuses(void)
{
    size_t len;
    char *text = write(&len);
    EXPECT(reads(text, len));
    for (size_t n = 0; n < len; n++)
        EXPECT(!reads(text, n));
    char *longer = malloc(len + 2);
    memcpy(longer, text, len);
    longer[len] = '\n';
    EXPECT(!reads(longer, len + 1));
    free(longer);
    for (size_t i = 0; i < len; i++)
        for (int bit = 0; bit < 8; bit++) {
            text[i] = (char)(text[i] ^ 1 << bit);
            reads(text, len);
            text[i] = (char)(text[i] ^ 1 << bit);
        }
    static const char *const changes[][2] = {
        {"manifest 4", "manifest 3"}, {"threads", "breadth"}, {" whole ", " halve "}, {"values 2", "values x"},
        {"shape 1 i32", "shape 7 i32"}, {"*fp16\n", "*fp19\n"}, {"parameters 7", "parameters 6"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *at = strstr(text, changes[i][0]);
        EXPECT(at && strlen(changes[i][0]) == strlen(changes[i][1]));
        if (!at) continue;
        memcpy(at, changes[i][1], strlen(changes[i][1]));
        if (reads(text, len)) expect_failed(__FILE__, __LINE__, changes[i][1]);
        memcpy(at, changes[i][0], strlen(changes[i][0]));
    }
    EXPECT(reads(text, len));
    free(text);
}

/* Tensor maps are made of parameters that are there: a pointer, and numbers. */
static void maps(void)
{
#define NONE " 1 64 -1 -1 -1"
#define NO_MORE NONE NONE NONE NONE NONE NONE
    static const struct { const char *line; bool reads; } rows[] = {
        {"map 0 2 8 8 32 2 8 64 -1 -1 -1 8 64 -1 -1 -1 64 64 -1 -1 -1" NO_MORE, true},
        {"map 1 2 8 8 32 2 1 64 3 -1 -1 1 64 2 -1 -1 1 64 4 -1 -1" NO_MORE, true},
        {"map 2 2 8 8 32 2 8 64 -1 -1 -1 8 64 -1 -1 -1 64 64 -1 -1 -1" NO_MORE, false},
        {"map -1 2 8 8 32 2 8 64 -1 -1 -1 8 64 -1 -1 -1 64 64 -1 -1 -1" NO_MORE, false},
        {"map 7 2 8 8 32 2 8 64 -1 -1 -1 8 64 -1 -1 -1 64 64 -1 -1 -1" NO_MORE, false},
        {"map 0 2 8 8 32 2 8 64 -1 -1 -1 8 64 0 -1 -1 64 64 -1 -1 -1" NO_MORE, false},
        {"map 0 2 8 8 32 2 8 64 7 -1 -1 8 64 -1 -1 -1 64 64 -1 -1 -1" NO_MORE, false},
        {"map 0 2 8 8 32 2 8 64 -1 -1 -1 8 64 -1 -1 -1 64 64 -2 -1 -1" NO_MORE, false},
        {"map 0 2 8 8 32 2 8 64 -1 -1 -1 1 32 2 3 4 64 64 -1 -1 -1" NO_MORE, true},
        {"map 0 2 8 8 32 2 8 64 -1 -1 -1 1 32 2 3 1 64 64 -1 -1 -1" NO_MORE, false},
        {"map 0 2 8 8 32 3 8 64 -1 -1 -1 8 64 -1 -1 -1 64 64 -1 -1 -1 1 64 2 -1 -1 1 64 4 -1 -1" NONE NONE NONE NONE, true},
        {"map 0 2 8 8 32 3 8 64 -1 -1 -1 8 64 -1 -1 -1 64 64 -1 -1 -1 1 64 7 -1 -1 1 64 4 -1 -1" NONE NONE NONE NONE, false},
        {"map 0 2 8 8 32 3 8 64 -1 -1 -1 8 64 -1 -1 -1 64 64 -1 -1 -1 1 64 2 -1 -1 1 64 1 -1 -1" NONE NONE NONE NONE, false},
        {"map 0 2 8 8 32 1 8 64 -1 -1 -1 8 64 -1 -1 -1 64 64 -1 -1 -1" NO_MORE, false},
        {"map 0 2 8 8 32 6 8 64 -1 -1 -1 8 64 -1 -1 -1 64 64 -1 -1 -1" NO_MORE, false}};
#undef NO_MORE
#undef NONE
    size_t len;
    char *text = write(&len), changed[8192];
    char *count = strstr(text, "maps 0"), *values = strstr(text, "value ");
    EXPECT(count && values && len < sizeof changed / 2);
    count[5] = '1';
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int n = snprintf(changed, sizeof changed, "%.*s%s\n%s", (int)(values - text), text, rows[i].line, values);
        if (reads(changed, (size_t)n) != rows[i].reads) expect_failed(__FILE__, __LINE__, rows[i].line);
    }
    free(text);
}

/* FIPS 180-4's examples, and one byte less, as many as, and one more than a block's room. */
static void hashes(void)
{
    static const struct { const char *text, *hash; } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
    };
    char hash[SHA256_TEXT];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sha256_text(hash, rows[i].text, strlen(rows[i].text));
        EXPECT_STR(hash, rows[i].hash);
    }
}

int main(void)
{
    RUN(round_trip);
    RUN(refuses);
    RUN(maps);
    RUN(hashes);
    return expect_done();
}
