/* Capture: the launches that a stream is given become a graph's, which is launched as they are, in their order. Nothing else is
   recorded. */
#include <stdlib.h>

#include "driver.h"

/* Also what is instantiated of it: nobody changes a graph. */
struct CuGraphObject {
    size_t nodes;
    SimtJob *first, **end;
    int keepers;
};

static bool has_object(CuStream s)
{
    return (uintptr_t)s > 2 && s->context == driver_current();
}

bool driver_records(CuStream stream, SimtJob *launch)
{
    if ((uintptr_t)stream <= 2 || !stream->capture) return false;
    CuGraph g = stream->capture;
    g->nodes++;
    *g->end = launch;
    g->end = &launch->next;
    return true;
}

CuResult DRIVER(cuStreamBeginCapture_v2)(CuStream stream, int mode)
{
    BEGIN(cuStreamBeginCapture_v2);
    (void)mode;
    if (!has_object(stream) || stream->capture) return SIMT_INVALID_HANDLE;
    stream->capture = calloc(1, sizeof *stream->capture);
    if (!stream->capture) return SIMT_OUT_OF_MEMORY;
    stream->capture->keepers = 1;
    stream->capture->end = &stream->capture->first;
    stream->context->captures++;
    stream->context->blocking_captures += !(stream->flags & 1);
    return SIMT_OK;
}

CuResult DRIVER(cuStreamEndCapture)(CuStream stream, CuGraph *graph)
{
    BEGIN(cuStreamEndCapture);
    if (!has_object(stream) || !stream->capture) return SIMT_INVALID_HANDLE;
    *graph = stream->capture;
    stream->capture = NULL;
    stream->context->captures--;
    stream->context->blocking_captures -= !(stream->flags & 1);
    return SIMT_OK;
}

/* A default stream cannot be captured; that one is asked about while a stream is captured that it waits for is the
   driver's error, too. */
CuResult DRIVER(cuStreamIsCapturing)(CuStream stream, CuCaptureStatus *status)
{
    BEGIN(cuStreamIsCapturing);
    *status = has_object(stream) && stream->capture;
    return !has_object(stream) && driver_current()->blocking_captures ? CU_CAPTURE_IMPLICIT : SIMT_OK;
}

CuResult DRIVER(cuGraphGetNodes)(CuGraph graph, struct CuGraphNodeObject **nodes, size_t *count)
{
    BEGIN(cuGraphGetNodes);
    if (nodes) return SIMT_NOT_SUPPORTED;
    *count = graph->nodes;
    return SIMT_OK;
}

CuResult DRIVER(cuGraphInstantiateWithFlags)(CuGraphExec *exec, CuGraph graph, unsigned long long flags)
{
    BEGIN(cuGraphInstantiateWithFlags);
    if (flags) return SIMT_NOT_SUPPORTED;
    graph->keepers++;
    *exec = graph;
    return SIMT_OK;
}

CuResult DRIVER(cuGraphLaunch)(CuGraphExec exec, CuStream stream)
{
    BEGIN(cuGraphLaunch);
    if (has_object(stream) && stream->capture) return SIMT_NOT_SUPPORTED;
    for (const SimtJob *job = exec->first; job && code == SIMT_OK; job = job->next) {
        SimtJob *copy = driver_copy_launch(job);
        code = copy ? driver_give(driver_current(), copy) : SIMT_OUT_OF_MEMORY;
    }
    driver_trace("cuGraphLaunch %zu nodes", exec->nodes);
    return code;
}

CuResult DRIVER(cuGraphDestroy)(CuGraph graph)
{
    if (--graph->keepers) return SIMT_OK;
    for (SimtJob *job = graph->first, *next; job; job = next) next = job->next, free(job);
    free(graph);
    return SIMT_OK;
}

CuResult DRIVER(cuGraphExecDestroy)(CuGraphExec exec)
{
    return DRIVER(cuGraphDestroy)(exec);
}
