/* Programs that can see each other run one at a time. A program that waits in a `while` loop lets
   others run meanwhile.

   A runner is a thread with a frame that runs programs to their end. One runner has the turn; all
   others sleep. At the end of a round of a loop a runner may pass the turn on: to a new runner as
   long as there are programs nobody has begun, then to the one that has slept longest. So
   everything happens in one order, which depends on nothing but the grid and the seed.

   A loop is stuck when a round has neither changed memory nor any value it carries: all further
   rounds will be the same. Its runner sleeps until the memory has changed. When all are stuck
   nothing will ever change it: that is an error of the one that has slept longest. */
#include <pthread.h>
#include <stdlib.h>

#include "interp.h"

enum {
    MOST_RUNNERS = 4096,
    STACK_BYTES = 1 << 20,
    PATIENCE = 10000 /* rounds of a loop that goes on by itself */
};

struct Runner {
    Launch *launch;
    pthread_t thread;
    pthread_cond_t wake;
    bool has_turn;
    bool stuck;
    uint64_t seen; /* changes when it went to sleep */
    int rounds;
    Runner *after; /* who fell asleep next */
    Runner *older; /* of all runners */
};

struct Turns {
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    Runner *first, *last; /* asleep, in order */
    Runner *newest;       /* of all runners */
    int runners, alive;
    uint64_t changes;
    bool no_memory;
};

uint64_t turns_changes(const Frame *f)
{
    return f->launch->turns->changes;
}

void turns_note_change(Frame *f)
{
    f->launch->turns->changes++;
}

/* ---- passing the turn on; all under the mutex ---- */

static bool can_run(const Launch *l, const Runner *r)
{
    return !r->stuck || r->seen != l->turns->changes || atomic_load(&l->stop);
}

/* Takes the first sleeper that can go on (with `any`: the first) out of the list; NULL: there is
   none. */
static Runner *take_sleeper(Launch *l, bool any)
{
    Turns *t = l->turns;
    for (Runner **p = &t->first, *before = NULL; *p; before = *p, p = &(*p)->after) {
        Runner *r = *p;
        if (!any && !can_run(l, r)) continue;
        *p = r->after;
        if (t->last == r) t->last = before;
        r->after = NULL;
        return r;
    }
    return NULL;
}

static void wake(Runner *r)
{
    r->has_turn = true;
    pthread_cond_signal(&r->wake);
}

static void sleep_until_turn(Turns *t, Runner *r)
{
    r->has_turn = false;
    if (t->last) t->last->after = r;
    else t->first = r;
    t->last = r;
    while (!r->has_turn) pthread_cond_wait(&r->wake, &t->mutex);
}

/* ---- runners ---- */

static void *run_programs(void *arg)
{
    Runner *r = arg;
    Launch *l = r->launch;
    Turns *t = l->turns;
    Frame f;
    bool ok = frame_open(&f, l);
    f.runner = r;
    if (ok) launch_work(&f);
    frame_close(&f);
    pthread_mutex_lock(&t->mutex);
    t->no_memory |= !ok;
    t->alive--;
    Runner *next = take_sleeper(l, false);
    if (!next) next = take_sleeper(l, true); /* it will find that it waits in vain */
    if (next) wake(next);
    else pthread_cond_signal(&t->ended);
    pthread_mutex_unlock(&t->mutex);
    return NULL;
}

/* A runner that has the turn from its first moment. */
static bool start_runner(Launch *l)
{
    Turns *t = l->turns;
    pthread_attr_t attr;
    Runner *r = t->runners < MOST_RUNNERS ? calloc(1, sizeof *r) : NULL;
    if (!r) return false;
    r->launch = l;
    pthread_cond_init(&r->wake, NULL);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    bool ok = !pthread_create(&r->thread, &attr, run_programs, r);
    pthread_attr_destroy(&attr);
    if (!ok) {
        pthread_cond_destroy(&r->wake);
        free(r);
        return false;
    }
    r->older = t->newest;
    t->newest = r;
    t->runners++;
    t->alive++;
    return true;
}

/* Passes the turn on if somebody can use it, and sleeps; false: nobody can. */
static bool pass_on(Launch *l, Runner *r)
{
    Turns *t = l->turns;
    Runner *next = NULL;
    if ((!launch_has_more(l) || !start_runner(l)) && !(next = take_sleeper(l, false))) return false;
    if (next) wake(next);
    sleep_until_turn(t, r);
    return true;
}

typedef enum Wait { WAIT_FINE, WAIT_IN_VAIN, WAIT_NO_RUNNER } Wait;

static Wait wait_for_turn(Frame *f, bool stuck)
{
    Launch *l = f->launch;
    Turns *t = l->turns;
    Runner *r = f->runner;
    r->rounds = 0;
    pthread_mutex_lock(&t->mutex);
    r->stuck = stuck;
    r->seen = t->changes;
    bool passed = pass_on(l, r), in_vain = stuck && !can_run(l, r);
    bool more = launch_has_more(l);
    r->stuck = false;
    pthread_mutex_unlock(&t->mutex);
    return !in_vain ? WAIT_FINE : more && !passed ? WAIT_NO_RUNNER : WAIT_IN_VAIN;
}

void turns_yield(Frame *f, const Insn *in, bool stuck)
{
    if (!stuck && ++f->runner->rounds < PATIENCE) return;
    const char *who = in->op->kind == OP_ATOMIC_POLL ? "poll" : "loop";
    const Wait wait = wait_for_turn(f, stuck);
    if (wait == WAIT_NO_RUNNER)
        interp_fail(f, in,
                    "the %s waits for a program that cannot be started: %d programs wait already",
                    who, f->launch->turns->alive);
    else if (wait == WAIT_IN_VAIN)
        interp_fail(f, in,
                    "the %s waits for memory to change, and no program is left that will change it",
                    who);
}

bool turns_wait(Frame *f)
{
    return wait_for_turn(f, true) == WAIT_FINE;
}

bool turns_run(Launch *l)
{
    Turns t = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};
    l->turns = &t;
    pthread_mutex_lock(&t.mutex);
    bool ok = start_runner(l);
    while (t.alive) pthread_cond_wait(&t.ended, &t.mutex);
    pthread_mutex_unlock(&t.mutex);
    for (Runner *r = t.newest, *older; r; r = older) {
        older = r->older;
        pthread_join(r->thread, NULL);
        pthread_cond_destroy(&r->wake);
        free(r);
    }
    return ok && !t.no_memory;
}
