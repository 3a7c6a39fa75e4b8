/* Any words as a command line: command_fuzz FOLDER TEST..., with the options of cases.h. Its seeds are the commands of the tests' RUN lines, %S being FOLDER. Each input is one of them with
   words changed, moved and taken from others. The words are read in this process: they are refused with
   a reason, or become options that are whole; so are they as a line of -batch and as a -grid. Every
   eighth is also run whole, in a process and a folder of its own: it ends in time, by itself, with an exit
   code of the command's. */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "options.h"
#include "tkc/expr.h"

int command_main(int argc, char **argv);

enum { MOST_WORDS = 64, MOST_SEEDS = 2000, MOST_TEXT = 400, WHOLE = 8, SECONDS = 20 };

typedef struct Words { int n; char *word[MOST_WORDS + 1]; } Words;

static Words seeds[MOST_SEEDS];
static int nseeds;

static const char *const spellings[] = {
#define OPT(ID, spelling, form, arg, help, meaning) spelling,
#include "options.def"
};
static const char *const pieces[] = {
    "=", ":", ",", "[", "]", "0", "-1", "9999999999999999999", "1e308", "nan", "None", "True", "x", "n",
    "BLOCK", "rand:f32[8]", "empty:i1[2,3]", "randn:f8e4", "[::-1]", "[...]", ".npy", ".npy:bf16", "'",
    "\"", "-", "--", " ", "cdiv(", ")", "//", "%", "*fp32:16", "tensordesc<fp16[8, 8]>", "f32", "\xC3\xA9",
    "\xFF", "\x1b[31m", "add.tk", "@", "#", "(", "0x", "1_0", ",rtol=", "pid0 == 1",
};

/* ---- seeds ---- */

static char *copy_text(const char *text, size_t n)
{
    char *copy = calloc(n + 1, 1);
    memcpy(copy, text, n);
    return copy;
}

/* A word as a shell reads it, %S replaced; NULL at what ends a command. */
static char *read_word(const char **p, const char *folder)
{
    char text[MOST_TEXT * 4] = "";
    size_t n = 0;
    char quote = 0;
    while (**p == ' ')
        ++*p;
    if (!**p || strchr("|><&;\n", **p))
        return NULL;
    for (; **p && **p != '\n' && (quote || !strchr(" |><&;", **p)) && n < MOST_TEXT; ++*p) {
        if (quote ? **p == quote : **p == '\'' || **p == '"')
            quote = quote ? 0 : **p;
        else if (!strncmp(*p, "%S", 2))
            n += (size_t)snprintf(text + n, MOST_TEXT, "%s", folder), ++*p;
        else
            text[n++] = **p;
    }
    return copy_text(text, n);
}

static void release(Words *w)
{
    while (w->n)
        free(w->word[--w->n]);
}

static void read_seed(const char *p, const char *folder)
{
    Words *w = &seeds[nseeds];
    *w = (Words){.n = 1, .word = {copy_text("tkc", 3)}};
    for (char *word; w->n < MOST_WORDS && (word = read_word(&p, folder));)
        w->word[w->n++] = word;
    if (w->n > 1 && nseeds + 1 < MOST_SEEDS) nseeds++;
    else
        release(w);
}

static void read_seeds(const char *path, const char *folder)
{
    char line[4096];
    FILE *f = fopen(path, "r");
    if (!f) {
        printf("cannot read %s\n", path);
        exit(1);
    }
    while (fgets(line, sizeof line, f)) {
        const char *tkc = strstr(line, "tkc ");
        if (tkc && (strstr(line, "RUN:") || strstr(line, "DEFINE:")))
            read_seed(tkc + 4, folder);
    }
    fclose(f);
}

/* ---- inputs ---- */

/* A word with a piece of text put in, or cut. */
static char *damage(const char *word)
{
    char text[MOST_TEXT * 3];
    size_t n = strlen(word), at = draw((uint32_t)(n + 1)), cut = draw(4);
    const char *piece = ONE_OF(pieces);
    if (n > MOST_TEXT)
        return copy_text(word, n);
    cut = cut > n - at ? n - at : cut;
    snprintf(text, sizeof text, "%.*s%s%s", (int)at, word, draw(3) ? piece : "", word + at + cut);
    return copy_text(text, strlen(text));
}

static char *new_word(void)
{
    const Words *other = &seeds[draw((uint32_t)nseeds)];
    const char *word = draw(3) ? other->word[draw((uint32_t)other->n)] : ONE_OF(spellings);
    return copy_text(word, strlen(word));
}

static void insert(Words *w, int at, char *word)
{
    if (w->n == MOST_WORDS) {
        free(word);
        return;
    }
    memmove(w->word + at + 1, w->word + at, sizeof *w->word * (size_t)(w->n++ - at));
    w->word[at] = word;
}

static void drop(Words *w, int at)
{
    free(w->word[at]);
    memmove(w->word + at, w->word + at + 1, sizeof *w->word * (size_t)(--w->n - at));
}

static void mutate(Words *w)
{
    int at = 1 + (int)draw((uint32_t)w->n);
    char *word;
    switch (at < w->n ? draw(5) : 4) {
    case 0: drop(w, at); break;
    case 1:
        word = damage(w->word[at]);
        free(w->word[at]);
        w->word[at] = word;
        break;
    case 2:
        word = w->word[at];
        w->word[at] = w->word[w->n - 1];
        w->word[w->n - 1] = word;
        break;
    case 3: insert(w, at, damage(w->word[at])); break;
    default: insert(w, at, new_word()); break;
    }
}

static void make(Words *w)
{
    const Words *seed = &seeds[draw((uint32_t)nseeds)];
    *w = (Words){0};
    for (int i = 0; i < seed->n; i++)
        w->word[w->n++] = copy_text(seed->word[i], strlen(seed->word[i]));
    for (uint32_t i = draw(6); i > 0; i--)
        mutate(w);
    w->word[w->n] = NULL;
}

/* ---- what must hold ---- */

static void require(bool ok, const char *what, int code)
{
    if (ok)
        return;
    fprintf(stderr, "%s %d\n", what, code);
    exit(1);
}

static ExprFound find_length(void *user, const char *name, size_t len, const int64_t *index, int n,
                             ExprNumber *out, char *why, size_t size)
{
    (void)user, (void)name, (void)index, (void)n, (void)why, (void)size;
    *out = (ExprNumber){.i = (int64_t)len};
    return EXPR_FOUND;
}

/* Whether they are options. */
static bool read_words(const Words *w, Options *o)
{
    char why[256] = "";
    int64_t grid[3];
    const ExprNames names = {.find = find_length, .counts = true};
    bool ok = options_read(o, w->n, (char **)w->word);
    require(ok == !*o->error, "a reason without a refusal, or the other way round", ok);
    if (ok && o->cache) require(!o->file, "-cache beside a file", 0);
    if (ok && !o->help && !o->version && !o->cache)
        require(!o->file == (o->batch != NULL) && !o->file == !o->nfiles,
                "neither a file nor a list of them, or both", o->nfiles);
    for (int i = 1, n = 3; i < w->n; i++, n = 3)
        require(expr_list(w->word[i], &n, grid, &names, why, sizeof why) == EXPR_FOUND || *why,
                "a grid is refused without a reason: word", i);
    return ok;
}

static void read_as_line(const Words *w, const Options *defaults)
{
    Options o;
    bool ok = options_read_line(&o, defaults, w->n, (char **)w->word);
    require(ok == !*o.error, "a line of -batch is refused without a reason, or not", ok);
    options_fini(&o);
}

/* Only into the folder that the process is in, and never for long. */
static bool may_run(const Words *w, const Options *o)
{
    bool ok = !o->output || !strchr(o->output, '/');
    for (int i = 0; i < o->save.len; i++)
        ok &= !strchr(o->save.data[i].value, '/');
    return ok && w->n + 3 < MOST_WORDS;
}

static void limit(int what, rlim_t n)
{
    setrlimit(what, &(struct rlimit){n, n});
}

static void add_word(Words *w, const char *text)
{
    w->word[w->n++] = copy_text(text, strlen(text));
    w->word[w->n] = NULL;
}

static void run_command(Words *w, bool is_right, bool is_run)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    limit(RLIMIT_FSIZE, 1 << 26);
    limit(RLIMIT_CORE, 0);
#ifndef __SANITIZE_ADDRESS__ /* which maps terabytes */
    limit(RLIMIT_AS, (rlim_t)6 << 30);
#endif
    if (is_run) {
        add_word(w, "-timeout");
        add_word(w, "2");
    }
    if (is_right) add_word(w, "-fmax-seconds=2");
    alarm(SECONDS);
    _exit(command_main(w->n, w->word));
}

static void run_whole(Words *w, bool is_right, bool is_run)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run_command(w, is_right, is_run);
    require(child > 0, "no process", errno);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    require(!WIFSIGNALED(status), "the command ended by signal", WTERMSIG(status));
    require(WEXITSTATUS(status) <= EXIT_MISUSE, "the command's exit code is", WEXITSTATUS(status));
}

/* ---- cases ---- */

enum { COUNT_RIGHT = COUNT_FIRST_OWN, COUNT_RUN };
static Options defaults;

static void run_case(int number)
{
    Words w;
    Options o;
    begin_case(number);
    make(&w);
    bool ok = read_words(&w, &o);
    read_as_line(&w, &defaults);
    counts[COUNT_RIGHT] += ok;
    if (number % WHOLE == 0 && (!ok || may_run(&w, &o))) {
        run_whole(&w, ok, ok && o.run);
        counts[COUNT_RUN]++;
    }
    options_fini(&o);
    release(&w);
}

static void show_case(int number)
{
    Words w;
    begin_case(number);
    make(&w);
    fprintf(stderr, "case %d:", number);
    for (int i = 0; i < w.n; i++)
        fprintf(stderr, " '%s'", w.word[i]);
    fputc('\n', stderr);
    release(&w);
}

/* Where commands may write; it is emptied by whoever empties /tmp. */
static bool enter_folder(void)
{
    static char folder[] = "/tmp/command_fuzz-XXXXXX";
    return mkdtemp(folder) && chdir(folder) == 0;
}

int main(int argc, char **argv)
{
    static char *batch[] = {"tkc", "-batch", "x", NULL};
    Cases cases = {.count = 2000, .run = run_case, .show = show_case};
    const char *folder = NULL;
    for (int i = 1; i < argc; i++) {
        if (read_case_option(&cases, argc, argv, &i))
            continue;
        if (folder)
            read_seeds(argv[i], folder);
        else
            folder = argv[i];
    }
    if (!nseeds || !enter_folder() || !options_read(&defaults, 3, batch) || !run_cases(&cases))
        return 2;
    options_fini(&defaults);
    if (cases.only_show)
        return 0;
    printf("%d seeds, %d command lines, %d of them right, %d run, %d failures\n", nseeds,
           counts[COUNT_DONE], counts[COUNT_RIGHT], counts[COUNT_RUN], counts[COUNT_FAILED]);
    return counts[COUNT_FAILED] != 0 || counts[COUNT_RIGHT] == 0;
}
