/* What the programs of this folder share: chance, files to start from, and cases in child processes.

       PROGRAM [-n COUNT | -seconds S] [-first N] [-show] … FILE...

   Case N is the same on every run with the same files. Cases run in child processes, a few hundred
   each, under a limit of time, so that one that dies or does not come back is reported and the next
   go on. -show prints case N instead of running it. */
#ifndef TKC_FUZZ_CASES_H
#define TKC_FUZZ_CASES_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- chance ---- */

static uint64_t chance_state;

static inline uint32_t draw(uint32_t n)
{
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 7;
    chance_state ^= chance_state << 17;
    return (uint32_t)((chance_state >> 11) % n);
}

#define ONE_OF(list) (list)[draw((uint32_t)(sizeof(list) / sizeof *(list)))]

/* Makes case `number` come out the same each time. */
static inline void begin_case(int number)
{
    chance_state = UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(number + 1);
    draw(2);
}

/* ---- what the command line says ---- */

typedef struct Cases {
    int first, count;
    double seconds; /* in place of count, unless 0 */
    bool only_show;
    void (*run)(int number);  /* in a child */
    void (*show)(int number); /* to stderr, in the parent */
} Cases;

/* Takes argv[*i] if it is an option of all. */
static inline bool read_case_option(Cases *c, int argc, char **argv, int *i)
{
    bool has_next = *i + 1 < argc;
    if (!strcmp(argv[*i], "-show")) c->only_show = true;
    else if (!strcmp(argv[*i], "-n") && has_next) c->count = atoi(argv[++*i]);
    else if (!strcmp(argv[*i], "-first") && has_next) c->first = atoi(argv[++*i]);
    else if (!strcmp(argv[*i], "-seconds") && has_next) c->seconds = atof(argv[++*i]);
    else return false;
    return true;
}

/* The text of a file with a NUL, at most `most` bytes; the program ends when it cannot be read. */
static inline char *read_file(const char *path, size_t most, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *text = malloc(most + 1);
    if (!f || !text) {
        perror(path);
        exit(2);
    }
    *len = fread(text, 1, most, f);
    text[*len] = 0;
    fclose(f);
    return text;
}

/* ---- counts, which children share with their parent ---- */

typedef enum Count {
    COUNT_AT, /* the case at work */
    COUNT_DONE,
    COUNT_FAILED,
    COUNT_FIRST_OWN, /* the program's own from here on */
    COUNTS = 16
} Count;
static int *counts;

/* ---- children ---- */

enum {
    CASE_SECONDS = 6, /* of processor time, with sanitizers */
    CASE_WALL_SECONDS = 60, /* of a machine that has other work */
    COMPILE_SECONDS = 2,    /* what a compilation is given: it must end in that time by itself */
    CHILD_CASES = 200 /* a process: memory that LLVM keeps for good is given back */
};

static inline void on_case_time(int sig)
{
    (void)sig;
    _exit(100);
}

static inline double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void run_child(const Cases *c, int from, int to, double end)
{
    signal(SIGPROF, on_case_time);
    signal(SIGALRM, on_case_time);
    for (int i = from; i < to && (!end || now_seconds() < end); i++) {
        struct itimerval limit = {.it_value = {.tv_sec = CASE_SECONDS}};
        counts[COUNT_AT] = i;
        setitimer(ITIMER_PROF, &limit, NULL);
        alarm(CASE_WALL_SECONDS);
        c->run(i);
        counts[COUNT_DONE]++;
    }
}

static inline void report_death(const Cases *c, int status)
{
    int i = counts[COUNT_AT];
    counts[COUNT_FAILED]++;
    c->show(i);
    if (WIFSIGNALED(status)) fprintf(stderr, "case %d: signal %d\n", i, WTERMSIG(status));
    else
        fprintf(stderr, "case %d: %s %d\n", i,
                WEXITSTATUS(status) == 100 ? "takes too long:" : "exit", WEXITSTATUS(status));
}

/* Runs the cases, or shows one. False: there was no memory to count in. */
static inline bool run_cases(const Cases *c)
{
    double end = c->seconds > 0 ? now_seconds() + c->seconds : 0;
    size_t bytes = COUNTS * sizeof *counts;
    counts = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counts == MAP_FAILED) return false;
    if (c->only_show) c->show(c->first);
    int last = end ? INT32_MAX : c->first + c->count;
    for (int from = c->only_show ? last : c->first; from < last;) {
        int to = last - from > CHILD_CASES ? from + CHILD_CASES : last, status = 0;
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) {
            run_child(c, from, to, end);
            exit(0);
        }
        waitpid(pid, &status, 0);
        from = to;
        if (status != 0) {
            report_death(c, status);
            from = counts[COUNT_AT] + 1;
        }
        if (end && now_seconds() >= end) break;
    }
    return true;
}

#endif
