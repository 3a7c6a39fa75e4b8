/* Milliseconds a launch on the cpu device, the least of ROUNDS, without loading or copying: cpu_speed ROUNDS [work] < ROWS
   (work: processor time of all threads together).
   One line a row, as it comes: checks on, checks off. A row is words: FILE KERNEL PROGRAMS PROGRAMS ARGUMENT…, and an
   argument one of *fp32:COUNT, *fp16:COUNT (numbers of both signs), *i32:COUNT:BELOW, i=NUMBER, f=NUMBER, c=CONSTEXPR.
   test/bench/cpu_compare.py writes the rows and sets numpy beside the answers. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tkc/runtime.h"

enum { MOST_ARGS = 32 };

static double now_ms(bool work)
{
    struct timespec t;
    clock_gettime(work ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void must(TkcContext *cx, TkcStatus status)
{
    if (status == TKC_OK) return;
    fputs(tkc_last_error(cx), stderr);
    exit(1);
}

static void wrong(const char *word)
{
    fprintf(stderr, "cpu_speed: what is '%s'?\n", word);
    exit(2);
}

static uint32_t random_next(uint32_t *state)
{
    return *state = *state * 1664525u + 1013904223u;
}

/* Element i of `to` by the type's name; numbers are within 1 (fp16: 0.5), integers below `below`. */
static void put_number(const char *type, void *to, size_t i, uint32_t r, uint32_t below)
{
    if (!strcmp(type, "fp32")) ((float *)to)[i] = (float)(int32_t)r * 0x1p-31f;
    else if (!strcmp(type, "fp16"))
        ((uint16_t *)to)[i] = (uint16_t)((r >> 16 & 0x8000) | (0x3000 + (r >> 12 & 0x7ff)));
    else ((uint32_t *)to)[i] = (r >> 8) % below;
}

/* Memory of a "*type:count[:below]" word. */
static TkcArg array(TkcContext *cx, TkcDevice *dev, const char *word, TkcPtr *p)
{
    static const char *const types[] = {"*fp32", "*fp16", "*i32"};
    size_t length = strcspn(word, ":");
    const char *type = NULL;
    for (int i = 0; i < 3; i++)
        if (strlen(types[i]) == length && !strncmp(types[i], word, length)) type = types[i];
    if (!type || !word[length]) wrong(word);
    char *end;
    size_t count = strtoull(word + length + 1, &end, 10), size = strcmp(type, "*fp16") ? 4 : 2;
    uint32_t below = *end ? (uint32_t)strtoul(end + 1, NULL, 10) : 1, state = (uint32_t)count;
    char *host = malloc(count * size);
    if (!host) wrong(word);
    for (size_t i = 0; i < count; i++) put_number(type + 1, host, i, random_next(&state), below);
    must(cx, tkc_alloc(dev, count * size, p));
    must(cx, tkc_copy_in(dev, *p, host, count * size));
    free(host);
    return tkc_pointer(type, *p, count * size);
}

static TkcArg argument(TkcContext *cx, TkcDevice *dev, const char *word, TkcPtr *p)
{
    *p = 0;
    if (word[0] == '*') return array(cx, dev, word, p);
    if (!strncmp(word, "i=", 2)) return tkc_int(strtoll(word + 2, NULL, 10));
    if (!strncmp(word, "f=", 2)) return tkc_float(strtod(word + 2, NULL));
    if (strncmp(word, "c=", 2)) wrong(word);
    return tkc_constexpr(word + 2);
}

static double least(TkcContext *cx, TkcJit *jit, int rounds, bool work, const int64_t grid[3], const TkcArg *args, size_t n)
{
    double best = 1e9;
    for (int i = 0; i < rounds; i++) {
        double start = now_ms(work);
        must(cx, tkc_launch(jit, grid, NULL, args, n));
        double ms = now_ms(work) - start;
        best = ms < best ? ms : best;
    }
    return best;
}

static void measure(TkcContext *cx, TkcDevice *dev, char *row, int rounds, bool work)
{
    char *words[MOST_ARGS + 4];
    size_t n = 0;
    for (char *w = strtok(row, " \n"); w && n < MOST_ARGS + 4; w = strtok(NULL, " \n")) words[n++] = w;
    if (n < 4) wrong(row);
    TkcArg args[MOST_ARGS];
    TkcPtr memory[MOST_ARGS];
    for (size_t i = 4; i < n; i++) args[i - 4] = argument(cx, dev, words[i], &memory[i - 4]);
    TkcSource *source;
    TkcJit *jit;
    TkcOptions options;
    tkc_options_init(&options);
    options.kernel = words[1];
    must(cx, tkc_source_open(cx, words[0], TKC_LANGUAGE_TK, &source));
    must(cx, tkc_jit_new(dev, source, &options, &jit));
    const int64_t grid[3] = {strtoll(words[2], NULL, 10), strtoll(words[3], NULL, 10), 1};
    tkc_device_set_memory_checks(dev, true);
    double on = least(cx, jit, rounds, work, grid, args, n - 4);
    tkc_device_set_memory_checks(dev, false);
    double off = least(cx, jit, rounds, work, grid, args, n - 4);
    printf("%.3f %.3f\n", on, off);
    fflush(stdout);
    tkc_jit_free(jit);
    tkc_source_free(source);
    for (size_t i = 0; i < n - 4; i++)
        if (memory[i]) tkc_free(dev, memory[i]);
}

int main(int argc, char **argv)
{
    char row[4096];
    int rounds = argc > 1 ? atoi(argv[1]) : 0;
    bool work = argc == 3 && !strcmp(argv[2], "work");
    if (rounds < 1 || argc != 2 + work) {
        fputs("usage: cpu_speed ROUNDS [work] < ROWS\n", stderr);
        return 2;
    }
    TkcContext *cx = tkc_context_new();
    TkcDevice *dev;
    must(cx, tkc_device_open(cx, "cpu", 0, &dev));
    while (fgets(row, sizeof row, stdin)) {
        tkc_device_set_memory_checks(dev, true);
        measure(cx, dev, row, rounds, work);
    }
    tkc_device_free(dev);
    tkc_context_free(cx);
    return 0;
}
