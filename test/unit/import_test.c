/* What an import may read: import_test FOLDER, where the files are made. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "tkc/tkc.h"

#define HEAD "import triton\nimport triton.language as tl\n"
#define KERNEL "@triton.jit\ndef k(x: '*fp32'):\n    tl.store(x, N)\n"

static const char *root;

static const char *at(const char *name)
{
    static char path[2][4096];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", root, name);
    return path[turn];
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(at(name), "w");
    EXPECT(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* One compile; what it says is kept. */
typedef struct Try { TkcStatus status; char said[4000]; bool has_seven; } Try;

static void keep(const TkcDiagnostic *d, void *user)
{
    Try *t = user;
    strncat(t->said, d->rendered, sizeof t->said - strlen(t->said) - 1);
}

static Try compile(TkcContext *cx, TkcSource *source)
{
    Try t = {0};
    TkcArtifact *a;
    TkcOptions o;
    tkc_options_init(&o);
    tkc_context_on_diagnostic(cx, keep, &t);
    t.status = tkc_compile(source, &o, TKC_EMIT_IR, &a);
    t.has_seven = t.status == TKC_OK && strstr(tkc_artifact_text(a, NULL), "const 7.0");
    tkc_artifact_free(a);
    tkc_source_free(source);
    return t;
}

static Try compile_text(TkcContext *cx, const char *name, const char *text)
{
    TkcSource *source = NULL;
    EXPECT_INT(tkc_source_from_text(cx, name, text, strlen(text), TKC_LANGUAGE_TK, &source), TKC_OK);
    return compile(cx, source);
}

static Try compile_file(TkcContext *cx, const char *name)
{
    TkcSource *source = NULL;
    EXPECT_INT(tkc_source_open(cx, at(name), TKC_LANGUAGE_TK, &source), TKC_OK);
    return compile(cx, source);
}

/* A text is in no folder, whatever its name: nothing beside it, above it or at an absolute place is read. */
static void memory(void)
{
    TkcContext *cx = tkc_context_new();
    const char *const imports[] = {"from ..secret import N\n", "from .secret import N\n", "from secret import N\n",
                                   "from ..broken import N\n", "import secret\nN = secret.N\n"};
    for (size_t i = 0; i < sizeof imports / sizeof *imports; i++) {
        char text[1000];
        snprintf(text, sizeof text, "%s%s%s", HEAD, imports[i], KERNEL);
        const char *const names[] = {"user", "a/user", "secret", at("a/user"), at("user.tk")};
        for (int n = 0; n < 5; n++) {
            Try t = compile_text(cx, names[n], text);
            EXPECT_INT(t.status, TKC_ERROR);
            EXPECT(!strstr(t.said, "oops") && !strstr(t.said, "broken.py"));
        }
    }
    tkc_context_free(cx);
}

/* An include folder is read, and what is in it does not climb out either. */
static void include(void)
{
    TkcContext *cx = tkc_context_new();
    EXPECT_INT(tkc_context_add_include(cx, at("inc")), TKC_OK);
    EXPECT(compile_text(cx, "user", HEAD "from part import N\n" KERNEL).has_seven);
    EXPECT(compile_text(cx, "user", HEAD "from deep.inner import N\n" KERNEL).has_seven);
    EXPECT(!compile_text(cx, "user", HEAD "from climbs import N\n" KERNEL).has_seven);
    EXPECT(!compile_text(cx, "user", HEAD "from deep.climbs import N\n" KERNEL).has_seven);
    tkc_context_free(cx);
}

/* A pipe would be waited for, a device does not end. */
static void not_regular(void)
{
    TkcContext *cx = tkc_context_new();
    EXPECT(mkfifo(at("inc/pipe.py"), 0600) == 0);
    EXPECT(symlink("/dev/zero", at("inc/zeros.py")) == 0);
    EXPECT_INT(tkc_context_add_include(cx, at("inc")), TKC_OK);
    alarm(20);
    EXPECT_INT(compile_text(cx, "user", HEAD "from pipe import N\n" KERNEL).status, TKC_ERROR);
    EXPECT_INT(compile_text(cx, "user", HEAD "from zeros import N\n" KERNEL).status, TKC_ERROR);
    alarm(0);
    tkc_context_free(cx);
}

/* A file that the host opened imports as in Python. Lines are quoted of its package and of include folders. */
static void opened(void)
{
    TkcContext *cx = tkc_context_new();
    EXPECT(compile_file(cx, "a/climbs.tk").has_seven);
    Try t = compile_file(cx, "a/breaks.tk");
    EXPECT_INT(t.status, TKC_ERROR);
    EXPECT(strstr(t.said, "broken.py:2:") && !strstr(t.said, "oops"));
    t = compile_file(cx, "pkg/sub/breaks.tk");
    EXPECT(strstr(t.said, "pkg/broken.py:2:") && strstr(t.said, "oops"));
    EXPECT_INT(tkc_context_add_include(cx, root), TKC_OK);
    t = compile_file(cx, "a/breaks.tk");
    EXPECT(strstr(t.said, "broken.py:2:") && strstr(t.said, "oops"));
    tkc_context_free(cx);
}

typedef struct Asked { int n; char first[200]; const char *answer; } Asked;

static const char *answer(const char *path, size_t *len, void *user)
{
    Asked *a = user;
    if (a->n++ == 0)
        snprintf(a->first, sizeof a->first, "%s", path);
    if (strcmp(path, "own/part.tk"))
        return NULL;
    *len = strlen(a->answer);
    return a->answer;
}

static void hook(void)
{
    TkcContext *cx = tkc_context_new();
    Asked asked = {.answer = "N = 7.0\n"};
    EXPECT_INT(tkc_context_add_include(cx, at("inc")), TKC_OK);
    tkc_context_on_import(NULL, answer, &asked);
    tkc_context_on_import(cx, answer, &asked);
    EXPECT(compile_text(cx, "own/user.tk", HEAD "from .part import N\n" KERNEL).has_seven);
    EXPECT_INT(asked.n, 2);
    EXPECT_STR(asked.first, "own/part.py");
    EXPECT_INT(compile_text(cx, "other/user.tk", HEAD "from part import N\n" KERNEL).status, TKC_ERROR);
    asked = (Asked){.answer = "N = = 7\n"};
    Try t = compile_text(cx, "own/user.tk", HEAD "from .part import N\n" KERNEL);
    EXPECT(strstr(t.said, "own/part.tk:1:") && strstr(t.said, "N = = 7"));
    tkc_context_on_import(cx, NULL, NULL);
    EXPECT_INT(compile_text(cx, "user", HEAD "from part import N\n" KERNEL).status, TKC_ERROR);
    EXPECT_INT(compile_file(cx, "a/climbs.tk").status, TKC_ERROR);
    tkc_context_free(cx);
}

static void make_files(void)
{
    const char *const folders[] = {"a", "inc", "inc/deep", "pkg", "pkg/sub"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        EXPECT(mkdir(at(folders[i]), 0700) == 0);
    const char broken[] = "# a comment\nN = 1 // len('') # oops\n";
    put("secret.py", "N = 7.0\n");
    put("broken.py", broken);
    put("inc/part.py", "N = 7.0\n");
    put("inc/climbs.py", "from ..secret import N\n");
    put("inc/deep/inner.py", "from ..part import N\n");
    put("inc/deep/climbs.py", "from ...secret import N\n");
    put("a/climbs.tk", HEAD "from ..secret import N\n" KERNEL);
    put("a/breaks.tk", HEAD "from ..broken import N\n" KERNEL);
    put("pkg/__init__.py", "");
    put("pkg/sub/__init__.py", "");
    put("pkg/broken.py", broken);
    put("pkg/sub/breaks.tk", HEAD "from ..broken import N\n" KERNEL);
}

int main(int argc, char **argv)
{
    if (argc != 2 || chdir(argv[1]))
        return 2;
    root = argv[1];
    make_files();
    RUN(memory);
    RUN(include);
    RUN(not_regular);
    RUN(opened);
    RUN(hook);
    return expect_done();
}
