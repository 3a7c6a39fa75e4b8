/* Marks of time between launches: events in a stream of a GPU; the host's clock where a launch is
   over when it returns. */
#include <stdlib.h>

#include "cuda_device.h"
#include "tkc/clock.h"

struct Timer {
    size_t n;
    CuEvent *events;
    double *at; /* ms */
    CuPointer flushed;
    size_t flushed_bytes;
};

static void release(TkcDevice *dev, Timer *t)
{
    (void)dev;
    free(t->events);
    free(t->at);
    free(t);
}

static TkcStatus host_new(TkcDevice *dev, size_t n, Timer **out)
{
    Timer *t = *out = calloc(1, sizeof *t);
    if (!t || !(t->at = calloc(n, sizeof *t->at)) || !(t->events = calloc(n, sizeof *t->events))) {
        if (t) release(dev, t);
        *out = NULL;
        return tkc_no_memory(dev->cx);
    }
    t->n = n;
    return TKC_OK;
}

/* ---- events ---- */

static void cuda_timer_free(TkcDevice *dev, Timer *t)
{
    Cuda *c = dev->state;
    bool pushed;
    tkc_context_mute(dev->cx, 1); /* a context that a kernel broke was reported when it did */
    if (cuda_enter(dev, c, &pushed) == TKC_OK) {
        for (size_t i = 0; i < t->n; i++)
            if (t->events[i]) c->api.EventDestroy(t->events[i]);
        if (t->flushed) c->api.MemFree(t->flushed);
        cuda_leave(c, pushed);
    }
    tkc_context_mute(dev->cx, -1);
    release(dev, t);
}

/* Twice the cache: writing as much leaves nothing of a kernel's in it. */
static TkcStatus make_inside(TkcDevice *dev, Cuda *c, Timer *t)
{
    TkcDeviceInfo facts = {.size = sizeof facts};
    TkcStatus status = TKC_OK;
    for (size_t i = 0; status == TKC_OK && i < t->n; i++)
        status = CALL(c, dev, EventCreate, &t->events[i], 0);
    cuda_facts(dev, &facts);
    t->flushed_bytes = (size_t)facts.cache_bytes * 2;
    if (status == TKC_OK && t->flushed_bytes)
        status = CALL(c, dev, MemAlloc, &t->flushed, t->flushed_bytes);
    return status;
}

static TkcStatus cuda_timer_new(TkcDevice *dev, size_t n, Timer **out)
{
    bool pushed;
    TkcStatus status = host_new(dev, n, out);
    if (status != TKC_OK) return status;
    status = cuda_enter(dev, dev->state, &pushed);
    if (status == TKC_OK) {
        status = make_inside(dev, dev->state, *out);
        cuda_leave(dev->state, pushed);
    }
    if (status != TKC_OK) {
        cuda_timer_free(dev, *out);
        *out = NULL;
    }
    return status;
}

CALL_INSIDE(clear, (TkcDevice *dev, Timer *t, void *stream), MemsetD8Async, t->flushed, 0,
            t->flushed_bytes, stream)
CALL_INSIDE(cuda_mark, (TkcDevice *dev, Timer *t, size_t i, void *stream), EventRecord,
            t->events[i], stream)
CALL_INSIDE(between_events, (TkcDevice *dev, Timer *t, size_t from, size_t to, float *ms),
            EventElapsedTime, ms, t->events[from], t->events[to])

static TkcStatus cuda_flush(TkcDevice *dev, Timer *t, void *stream)
{
    return t->flushed ? clear(dev, t, stream) : TKC_OK;
}

static TkcStatus cuda_between(TkcDevice *dev, Timer *t, size_t from, size_t to, double *ms)
{
    float single = 0;
    TkcStatus status = between_events(dev, t, from, to, &single);
    *ms = (double)single;
    return status;
}

const TimerOps cuda_timer = {cuda_timer_new, cuda_timer_free, cuda_flush, cuda_mark, cuda_between};

/* ---- the host's clock ---- */

static TkcStatus host_flush(TkcDevice *dev, Timer *t, void *stream)
{
    (void)dev, (void)t, (void)stream;
    return TKC_OK;
}

static TkcStatus host_mark(TkcDevice *dev, Timer *t, size_t i, void *stream)
{
    (void)dev, (void)stream;
    t->at[i] = clock_ms();
    return TKC_OK;
}

static TkcStatus host_between(TkcDevice *dev, Timer *t, size_t from, size_t to, double *ms)
{
    (void)dev;
    *ms = t->at[to] - t->at[from];
    return TKC_OK;
}

const TimerOps host_timer = {host_new, release, host_flush, host_mark, host_between};
