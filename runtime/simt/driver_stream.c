/* Work in the order in which it was given: a context's thread does one job after the other. Streams
   are all that one order; events say how far it has come. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "driver.h"
#include "tkc/clock.h"

struct CuEventObject {
    CuContext context;
    unsigned long long at; /* the job that sets it; 0: never recorded */
    double ms;
};

/* ---- jobs ---- */

static void finish_job(CuContext cx, SimtJob *job, int code)
{
    pthread_mutex_lock(&cx->lock);
    if (code != SIMT_OK && !cx->lost) cx->lost = code;
    cx->done++;
    pthread_cond_broadcast(&cx->changed);
    pthread_mutex_unlock(&cx->lock);
    free(job);
}

/* After a fault nothing runs any more. */
static void *do_jobs(void *arg)
{
    CuContext cx = arg;
    for (;;) {
        pthread_mutex_lock(&cx->lock);
        while (!cx->first && !cx->stops) pthread_cond_wait(&cx->changed, &cx->lock);
        SimtJob *job = cx->first;
        if (job) cx->first = job->next;
        if (!cx->first) cx->last = NULL;
        const int lost = cx->lost;
        pthread_mutex_unlock(&cx->lock);
        if (!job) return NULL;
        finish_job(cx, job, lost ? SIMT_OK : job->run(job, cx));
    }
}

/* A child of fork has the context without its thread: nobody would do a job, nor let go of the lock. A
   GPU's driver refuses as well. */
static bool is_forked(CuContext cx)
{
    const pid_t owner = cx->thread_owner;
    if (!owner || owner == getpid()) return false;
    if (!cx->lost)
        snprintf(cx->report, sizeof cx->report,
                 "the process forked after it had used the emulated GPU, and the child cannot use it");
    return true;
}

int driver_give(CuContext cx, SimtJob *job)
{
    if (is_forked(cx)) {
        free(job);
        return SIMT_NOT_INITIALIZED;
    }
    pthread_mutex_lock(&cx->lock);
    if (!cx->thread_owner && !pthread_create(&cx->thread, NULL, do_jobs, cx))
        cx->thread_owner = getpid();
    const bool can = cx->thread_owner;
    if (can) {
        job->next = NULL;
        if (cx->last) cx->last->next = job;
        else cx->first = job;
        cx->last = job;
        cx->given++;
        pthread_cond_broadcast(&cx->changed);
    }
    pthread_mutex_unlock(&cx->lock);
    if (can) return SIMT_OK;
    free(job);
    return SIMT_OUT_OF_MEMORY;
}

int driver_wait(CuContext cx)
{
    if (is_forked(cx)) return SIMT_NOT_INITIALIZED;
    pthread_mutex_lock(&cx->lock);
    while (cx->done < cx->given) pthread_cond_wait(&cx->changed, &cx->lock);
    const int lost = cx->lost;
    pthread_mutex_unlock(&cx->lock);
    return lost;
}

static bool is_done(CuContext cx, unsigned long long job)
{
    pthread_mutex_lock(&cx->lock);
    const bool done = cx->done >= job;
    pthread_mutex_unlock(&cx->lock);
    return done;
}

static void unlink_context(CuContext cx)
{
    Driver *d = driver_state();
    pthread_mutex_lock(&d->lock);
    CuContext *link = &d->contexts;
    while (*link && *link != cx) link = &(*link)->next;
    if (*link) *link = cx->next;
    pthread_mutex_unlock(&d->lock);
}

static void end_thread(CuContext cx)
{
    driver_wait(cx);
    pthread_mutex_lock(&cx->lock);
    cx->stops = true;
    pthread_cond_broadcast(&cx->changed);
    pthread_mutex_unlock(&cx->lock);
    if (cx->thread_owner) pthread_join(cx->thread, NULL);
    pthread_cond_destroy(&cx->changed);
    pthread_mutex_destroy(&cx->lock);
}

void driver_context_free(CuContext cx)
{
    if (!is_forked(cx)) end_thread(cx);
    unlink_context(cx);
    while (cx->modules) {
        CuModule m = cx->modules;
        cx->modules = m->next;
        driver_module_free(m);
    }
    free(cx);
}

/* ---- streams ---- */

static bool is_stream(CuStream s)
{
    return (uintptr_t)s <= 2 || s->context == driver_current(); /* 1, 2: the default ones by name */
}

CuResult DRIVER(cuStreamCreate)(CuStream *stream, unsigned flags)
{
    BEGIN(cuStreamCreate);
    CuStream s = calloc(1, sizeof *s);
    if (!s) return SIMT_OUT_OF_MEMORY;
    s->context = driver_current();
    s->flags = flags;
    *stream = s;
    return SIMT_OK;
}

CuResult DRIVER(cuStreamDestroy_v2)(CuStream stream)
{
    BEGIN(cuStreamDestroy_v2);
    if ((uintptr_t)stream <= 2 || !is_stream(stream)) return SIMT_INVALID_HANDLE;
    free(stream);
    return SIMT_OK;
}

CuResult DRIVER(cuStreamSynchronize)(CuStream stream)
{
    BEGIN(cuStreamSynchronize);
    if (!is_stream(stream)) return SIMT_INVALID_HANDLE;
    driver_trace("cuStreamSynchronize");
    return driver_wait(driver_current());
}

CuResult DRIVER(cuCtxSynchronize)(void)
{
    BEGIN(cuCtxSynchronize);
    return driver_wait(driver_current());
}

CuResult DRIVER(cuStreamQuery)(CuStream stream)
{
    BEGIN(cuStreamQuery);
    if (!is_stream(stream)) return SIMT_INVALID_HANDLE;
    CuContext cx = driver_current();
    return is_done(cx, cx->given) ? SIMT_OK : SIMT_NOT_READY;
}

CuResult DRIVER(cuStreamWaitEvent)(CuStream stream, CuEvent event, unsigned flags)
{
    BEGIN(cuStreamWaitEvent);
    (void)flags;
    return is_stream(stream) && event ? SIMT_OK : SIMT_INVALID_HANDLE;
}

/* ---- events ---- */

typedef struct RecordJob {
    SimtJob job;
    CuEvent event;
} RecordJob;

static int record(SimtJob *job, CuContext cx)
{
    CuEvent e = ((RecordJob *)job)->event;
    pthread_mutex_lock(&cx->lock);
    e->ms = clock_ms();
    pthread_mutex_unlock(&cx->lock);
    return SIMT_OK;
}

CuResult DRIVER(cuEventCreate)(CuEvent *event, unsigned flags)
{
    BEGIN(cuEventCreate);
    (void)flags;
    CuEvent e = calloc(1, sizeof *e);
    if (!e) return SIMT_OUT_OF_MEMORY;
    e->context = driver_current();
    *event = e;
    return SIMT_OK;
}

CuResult DRIVER(cuEventDestroy_v2)(CuEvent event)
{
    if (!event) return SIMT_INVALID_HANDLE;
    driver_wait(event->context);
    free(event);
    return SIMT_OK;
}

CuResult DRIVER(cuEventRecord)(CuEvent event, CuStream stream)
{
    BEGIN(cuEventRecord);
    if (!event || !is_stream(stream)) return SIMT_INVALID_HANDLE;
    RecordJob *job = calloc(1, sizeof *job);
    if (!job) return SIMT_OUT_OF_MEMORY;
    job->job.run = record;
    job->event = event;
    event->at = event->context->given + 1;
    return driver_give(event->context, &job->job);
}

CuResult DRIVER(cuEventQuery)(CuEvent event)
{
    BEGIN(cuEventQuery);
    if (!event) return SIMT_INVALID_HANDLE;
    return is_done(event->context, event->at) ? SIMT_OK : SIMT_NOT_READY;
}

CuResult DRIVER(cuEventSynchronize)(CuEvent event)
{
    BEGIN(cuEventSynchronize);
    return event ? driver_wait(event->context) : SIMT_INVALID_HANDLE;
}

CuResult DRIVER(cuEventElapsedTime)(float *milliseconds, CuEvent from, CuEvent to)
{
    BEGIN(cuEventElapsedTime);
    if (!from || !to || !from->at || !to->at) return SIMT_INVALID_HANDLE;
    if (!is_done(to->context, to->at)) return SIMT_NOT_READY;
    *milliseconds = (float)(to->ms - from->ms);
    return SIMT_OK;
}
