/* Block IR as text against the reader, the passes and the code generator.

       ir_fuzz [-n COUNT | -seconds S] [-first N] [-show] FILE.ir...

   Each mutant is one of the files with a few of its words, numbers or lines changed, or with a line
   of another file. It may be refused; it must not crash, hang, leak, or be called our own error.
   What is read and printed is read again, and printed the same. cases.h says how they are run. */
#include <ctype.h>

#include "cases.h"
#include "tkc/tkc.h"

enum { MAX_TEXT = 1 << 16 };
enum { COUNT_READ = COUNT_FIRST_OWN, COUNT_COMPILED };

typedef struct Seed {
    const char *path;
    char *text;
    size_t len;
} Seed;

static Seed *seeds;
static int nseeds;
static char text[MAX_TEXT];
static size_t len;

/* ---- mutation ---- */

static void splice(size_t at, size_t cut, const char *piece, size_t n)
{
    if (at > len || cut > len - at || len - cut + n >= MAX_TEXT) return;
    memmove(text + at + n, text + at + cut, len - at - cut);
    memcpy(text + at, piece, n);
    len = len - cut + n;
    text[len] = 0;
}

/* A line of a text, its end with it: where it begins, and its length. */
static size_t random_line(const char *from, size_t size, size_t *n)
{
    size_t at = size ? draw((uint32_t)size) : 0;
    while (at > 0 && from[at - 1] != '\n') at--;
    *n = strcspn(from + at, "\n");
    *n += from[at + *n] == '\n';
    return at;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '%' || c == '.' || c == '-' || c == '*';
}

static size_t random_word(const char *from, size_t size, size_t *n)
{
    size_t at = size ? draw((uint32_t)size) : 0;
    while (at < size && !is_word(from[at])) at++;
    while (at > 0 && is_word(from[at - 1])) at--;
    for (*n = 0; is_word(from[at + *n]); ++*n)
        ;
    return at;
}

/* A word of this text or of another file in the place of a word. */
static void swap_word(const Seed *other)
{
    char piece[128];
    size_t n, cut;
    bool own = draw(3) > 0;
    size_t from = own ? random_word(text, len, &n) : random_word(other->text, other->len, &n);
    if (n == 0 || n >= sizeof piece) return;
    memcpy(piece, (own ? text : other->text) + from, n);
    size_t at = random_word(text, len, &cut);
    splice(at, cut, piece, n);
}

static void swap_number(void)
{
    static const char *const numbers[] = {"0", "1", "-1", "2", "3", "7", "8", "16", "17", "31", "32", "33", "64", "128", "1024", "1048576",
                                          "2147483647", "-2147483648", "9223372036854775807", "99999999999999999999", "0.5", "1e400", "nan(0x7fc00000)"};
    for (int tries = 0; tries < 20; tries++) {
        size_t n, at = random_word(text, len, &n);
        if (n == 0 || !isdigit((unsigned char)text[at])) continue;
        const char *number = ONE_OF(numbers);
        splice(at, strspn(text + at, "0123456789"), number, strlen(number));
        return;
    }
}

static void mutate(void)
{
    static const char *const pieces[] = {"{", "}", "(", ")", " : ", ", ", "block<", ">", "int32", "fp16", "bf16", "*fp32", "int1", "block<8x16xfp32>",
                                         "block<5xint32>", " {axis = 1}", " {start = 3}", "yield", "return", "func @g() {\n  return\n}\n", "%0", "\"", "//", "x"};
    const Seed *other = &seeds[draw((uint32_t)nseeds)];
    size_t n, at, cut;
    const char *piece;
    switch (draw(8)) {
    case 0: at = random_line(text, len, &n); splice(at, n, "", 0); return;
    case 1:
    case 2: {
        char line[512];
        bool own = draw(2);
        at = own ? random_line(text, len, &n) : random_line(other->text, other->len, &n);
        if (n >= sizeof line) return;
        memcpy(line, (own ? text : other->text) + at, n);
        at = random_line(text, len, &cut);
        splice(at, draw(2) ? cut : 0, line, n);
        return;
    }
    case 3: swap_number(); return;
    case 4:
        piece = ONE_OF(pieces);
        splice(draw((uint32_t)len + 1), draw(2) ? draw(4) : 0, piece, strlen(piece));
        return;
    case 5:
        if (len) text[draw((uint32_t)len)] = (char)draw(256);
        return;
    default: swap_word(other); return;
    }
}

static const Seed *make_text(int number)
{
    begin_case(number);
    const Seed *seed = &seeds[draw((uint32_t)nseeds)];
    len = seed->len < MAX_TEXT / 2 ? seed->len : MAX_TEXT / 2;
    memcpy(text, seed->text, len);
    text[len] = 0;
    for (uint32_t edits = 1 + draw(draw(2) ? 1 : 6); edits > 0; edits--) mutate();
    for (size_t i = 0; i < len; i++) text[i] = text[i] ? text[i] : ' ';
    return seed;
}

/* ---- running it ---- */

static void fail(int number, const char *stage, const char *why)
{
    counts[COUNT_FAILED]++;
    fprintf(stderr, "case %d: %s: %s\n%s\n", number, stage, why, text);
}

static bool is_fine(TkcContext *cx, int number, const char *stage, TkcStatus status)
{
    bool ours = status != TKC_OK && strstr(tkc_last_error(cx), "internal error");
    if (ours || (status != TKC_OK && status != TKC_ERROR && status != TKC_MISUSE))
        fail(number, stage, tkc_last_error(cx));
    return status == TKC_OK;
}

static TkcArtifact *compile(TkcContext *cx, int number, TkcSource *source, const char *passes, TkcEmit emit)
{
    TkcOptions options;
    TkcArtifact *artifact = NULL;
    tkc_options_init(&options);
    options.max_seconds = COMPILE_SECONDS;
    options.kernel = tkc_source_kernel_count(source) > 0 ? tkc_source_kernel_name(source, 0) : NULL;
    options.passes = passes;
    options.verify_each = true;
    TkcStatus status = tkc_compile(source, &options, emit, &artifact);
    is_fine(cx, number, passes ? passes : "the pipeline", status);
    return artifact;
}

static void print_again(TkcContext *cx, int number, const TkcArtifact *first)
{
    TkcSource *source;
    size_t n;
    const char *printed = tkc_artifact_text(first, &n);
    if (tkc_source_from_text(cx, "again.ir", printed, n, TKC_LANGUAGE_IR, &source) != TKC_OK) {
        fail(number, "what was printed is refused", tkc_last_error(cx));
        return;
    }
    TkcArtifact *second = compile(cx, number, source, "", TKC_EMIT_IR);
    if (!second) fail(number, "what was printed is refused", tkc_last_error(cx));
    else if (strcmp(printed, tkc_artifact_text(second, NULL)))
        fail(number, "printed again it differs", tkc_artifact_text(second, NULL));
    tkc_artifact_free(second);
    tkc_source_free(source);
}

static void run_text(int number)
{
    static const char *const pipelines[] = {"fold", "fold,cse,licm,ifconv,dce,mask", "layout", "layout,expand,place,sync", "licm,fold,dce,layout,cse"};
    make_text(number);
    TkcContext *cx = tkc_context_new();
    TkcSource *source = NULL;
    TkcStatus status = tkc_source_from_text(cx, "mutant.ir", text, len, TKC_LANGUAGE_IR, &source);
    if (is_fine(cx, number, "source", status)) {
        TkcArtifact *plain = compile(cx, number, source, "", TKC_EMIT_IR);
        if (plain) {
            counts[COUNT_READ]++;
            print_again(cx, number, plain);
            tkc_artifact_free(compile(cx, number, source, ONE_OF(pipelines), TKC_EMIT_FACTS));
            TkcArtifact *ptx = compile(cx, number, source, NULL, TKC_EMIT_PTX);
            counts[COUNT_COMPILED] += ptx != NULL;
            tkc_artifact_free(ptx);
        }
        tkc_artifact_free(plain);
    }
    tkc_source_free(source);
    tkc_context_free(cx);
}

static void show_text(int number)
{
    const Seed *seed = make_text(number);
    fprintf(stderr, "case %d, from %s:\n%s\n", number, seed->path, text);
}

int main(int argc, char **argv)
{
    Cases cases = {.count = 300, .run = run_text, .show = show_text};
    seeds = calloc((size_t)argc, sizeof *seeds);
    for (int i = 1; i < argc; i++) {
        if (read_case_option(&cases, argc, argv, &i)) continue;
        Seed *seed = &seeds[nseeds++];
        seed->path = argv[i];
        seed->text = read_file(argv[i], MAX_TEXT - 1, &seed->len);
    }
    if (nseeds == 0 || !run_cases(&cases)) return 2;
    if (cases.only_show) return 0;
    printf("%d texts, %d read, %d compiled to PTX, %d failures\n", counts[COUNT_DONE], counts[COUNT_READ],
           counts[COUNT_COMPILED], counts[COUNT_FAILED]);
    return counts[COUNT_FAILED] != 0 || counts[COUNT_READ] == 0;
}
