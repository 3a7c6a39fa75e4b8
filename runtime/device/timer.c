/* Marks of time between launches: events in a stream of a GPU; the host's clock where a launch is
   over when it returns. */
#include <stdlib.h>

#include "cuda_device.h"
#include "tkc/clock.h"

struct Timer {
    size_t n;
    CuEvent *events; /* NULL: the host's clock */
    double *at;      /* ms, by that */
    CuPointer flushed;
    size_t flushed_bytes;
};

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

TkcStatus timer_new(TkcDevice *dev, size_t n, Timer **out)
{
    bool pushed;
    Timer *t = *out = calloc(1, sizeof *t);
    if (t && dev->ops->has_events) t->events = calloc(t->n = n, sizeof *t->events);
    else if (t) t->at = calloc(n, sizeof *t->at);
    TkcStatus status = t && (t->events || t->at) ? TKC_OK : tkc_no_memory(dev->cx);
    if (status == TKC_OK && t->events) status = cuda_enter(dev, dev->state, &pushed);
    if (status == TKC_OK && t->events) {
        status = make_inside(dev, dev->state, t);
        cuda_leave(dev->state, pushed);
    }
    if (status == TKC_OK) return status;
    timer_free(dev, t);
    *out = NULL;
    return status;
}

void timer_free(TkcDevice *dev, Timer *t)
{
    Cuda *c = dev->state;
    bool pushed;
    if (!t) return;
    if (t->events && cuda_enter_quietly(dev, &pushed)) {
        for (size_t i = 0; i < t->n; i++)
            if (t->events[i]) c->api.EventDestroy(t->events[i]);
        if (t->flushed) c->api.MemFree(t->flushed);
        cuda_leave(c, pushed);
    }
    free(t->events);
    free(t->at);
    free(t);
}

CALL_INSIDE(clear, (TkcDevice *dev, Timer *t, void *stream), MemsetD8Async, t->flushed, 0,
            t->flushed_bytes, stream)
CALL_INSIDE(mark_event, (TkcDevice *dev, Timer *t, size_t i, void *stream), EventRecord,
            t->events[i], stream)
CALL_INSIDE(between_events, (TkcDevice *dev, Timer *t, size_t from, size_t to, float *ms),
            EventElapsedTime, ms, t->events[from], t->events[to])

TkcStatus timer_flush(TkcDevice *dev, Timer *t, void *stream)
{
    return t->flushed ? clear(dev, t, stream) : TKC_OK;
}

TkcStatus timer_mark(TkcDevice *dev, Timer *t, size_t i, void *stream)
{
    if (t->events) return mark_event(dev, t, i, stream);
    t->at[i] = clock_ms();
    return TKC_OK;
}

TkcStatus timer_between(TkcDevice *dev, Timer *t, size_t from, size_t to, double *ms)
{
    float single = 0;
    TkcStatus status = t->events ? between_events(dev, t, from, to, &single) : TKC_OK;
    *ms = t->events ? (double)single : t->at[to] - t->at[from];
    return status;
}
