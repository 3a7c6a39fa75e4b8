/* A host that stops a kernel on the cpu device and looks around, as a debugger does. */
#include <string.h>

#include "expect.h"
#include "tkc/runtime.h"

static const char text[] = "import triton\nimport triton.language as tl\n"
                           "@triton.jit\n"
                           "def twice(v):\n"
                           "    w = v * 2\n"
                           "    u = w * 3\n"
                           "    return u\n"
                           "@triton.jit\n"
                           "def kernel(x: '*fp32', K: tl.constexpr):\n"
                           "    i = tl.program_id(0)\n"
                           "    j = twice(i + 3)\n"
                           "    tl.store(x + i, j + K)\n";

typedef struct Seen {
    int stops;
    bool looks; /* at the first stop */
    int lines[8];
    int64_t program;
    bool has_w;
    char value[64], wrong[200], function[32], caller[32];
    int levels;
    TkcStopAction then;
    char traced[200];
} Seen;

static TkcStopAction on_stop(TkcStop *stop, void *user)
{
    Seen *s = user;
    const char *file, *function, *words, *name;
    int line = 0, i;
    EXPECT(tkc_stop_place(stop, 0, &file, &line, &function));
    EXPECT_STR(file, "stop.tk");
    if (s->stops < 8) s->lines[s->stops] = line;
    if (s->stops++ == 0 && s->looks) {
        s->program = tkc_stop_program(stop, 0);
        EXPECT_INT(tkc_stop_program(stop, 1), 0);
        snprintf(s->function, sizeof s->function, "%s", function);
        for (s->levels = 1; tkc_stop_place(stop, s->levels, &file, &line, &function); s->levels++)
            snprintf(s->caller, sizeof s->caller, "%s:%d", function, line);
        for (i = 0; (name = tkc_stop_name(stop, i)); i++) s->has_w |= !strcmp(name, "w");
        EXPECT(i > 0);
        EXPECT(tkc_stop_evaluate(stop, "w + 10", &words));
        snprintf(s->value, sizeof s->value, "%s", words);
        EXPECT(!tkc_stop_evaluate(stop, "nothing + 1", &words));
        snprintf(s->wrong, sizeof s->wrong, "%s", words);
    }
    return s->then;
}

static void on_print(const char *line, void *user)
{
    Seen *s = user;
    snprintf(s->traced + strlen(s->traced), sizeof s->traced - strlen(s->traced), "%s|", line);
}

static TkcStatus run(Seen *seen, const char *where, const char *trace, float out[2])
{
    TkcContext *cx = tkc_context_new();
    TkcDevice *dev = NULL;
    TkcSource *source = NULL;
    TkcJit *jit = NULL;
    TkcPtr x = 0;
    TkcOptions options;
    tkc_options_init(&options);
    options.kernel = "kernel";
    EXPECT_INT(tkc_source_from_text(cx, "stop.tk", text, strlen(text), TKC_LANGUAGE_TK, &source),
               TKC_OK);
    EXPECT_INT(tkc_device_open(cx, "cpu", 0, &dev), TKC_OK);
    tkc_device_on_stop(dev, on_stop, seen);
    tkc_device_on_print(dev, on_print, seen);
    if (where) EXPECT_INT(tkc_device_break(dev, where), TKC_OK);
    if (trace) EXPECT_INT(tkc_device_trace(dev, trace), TKC_OK);
    EXPECT_INT(tkc_jit_new(dev, source, &options, &jit), TKC_OK);
    EXPECT_INT(tkc_alloc(dev, 2 * sizeof *out, &x), TKC_OK);
    const TkcArg args[] = {tkc_pointer(NULL, x, 2 * sizeof *out), tkc_constexpr("0.5")};
    const TkcStatus status = tkc_launch(jit, (int64_t[]){2, 1, 1}, NULL, args, 2);
    if (status == TKC_OK) EXPECT_INT(tkc_copy_out(dev, out, x, 2 * sizeof *out), TKC_OK);
    tkc_jit_free(jit);
    tkc_free(dev, x);
    tkc_device_free(dev);
    tkc_source_free(source);
    tkc_context_free(cx);
    return status;
}

static void looks_around(void)
{
    Seen seen = {.looks = true, .then = TKC_STOP_CONTINUE};
    float out[2] = {0};
    EXPECT_INT(run(&seen, "6:pid0 == 1", NULL, out), TKC_OK);
    EXPECT(out[0] == 18.5f && out[1] == 24.5f);
    EXPECT_INT(seen.stops, 1);
    EXPECT_INT(seen.lines[0], 6);
    EXPECT_INT(seen.program, 1);
    EXPECT(seen.has_w);
    EXPECT_STR(seen.value, "18");
    EXPECT(strstr(seen.wrong, "nothing"));
    EXPECT_STR(seen.function, "twice");
    EXPECT_STR(seen.caller, "kernel:11");
    EXPECT_INT(seen.levels, 2);
}

static void steps(void)
{
    Seen seen = {.then = TKC_STOP_NEXT};
    float out[2] = {0};
    EXPECT_INT(run(&seen, "11:pid0 == 0", NULL, out), TKC_OK);
    EXPECT(seen.stops >= 2);
    EXPECT_INT(seen.lines[0], 11);
    EXPECT_INT(seen.lines[1], 12);
    seen = (Seen){.then = TKC_STOP_STEP};
    EXPECT_INT(run(&seen, "11:pid0 == 0", NULL, out), TKC_OK);
    EXPECT_INT(seen.lines[1], 5);
}

static void quits(void)
{
    Seen seen = {.then = TKC_STOP_QUIT};
    float out[2] = {0};
    EXPECT(run(&seen, "11", NULL, out) != TKC_OK);
    EXPECT_INT(seen.stops, 1);
}

static void traces(void)
{
    Seen seen = {.then = TKC_STOP_CONTINUE};
    float out[2] = {0};
    EXPECT_INT(run(&seen, NULL, "j:pid0 == 1", out), TKC_OK);
    EXPECT_INT(seen.stops, 0);
    EXPECT(strstr(seen.traced, "24") && strchr(seen.traced, '|') == strrchr(seen.traced, '|'));
}

int main(void)
{
    RUN(looks_around);
    RUN(steps);
    RUN(quits);
    RUN(traces);
    return expect_done();
}
