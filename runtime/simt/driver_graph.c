/* Capture: what a stream is given is counted as nodes of a graph. Graphs cannot be launched. */
#include <stdlib.h>

#include "driver.h"

struct CuGraphObject {
    size_t nodes;
};

static bool has_object(CuStream s)
{
    return (uintptr_t)s > 2 && s->context == driver_current();
}

bool driver_records(CuStream stream)
{
    if ((uintptr_t)stream <= 2 || !stream->capture) return false;
    stream->capture->nodes++;
    return true;
}

CuResult DRIVER(cuStreamBeginCapture_v2)(CuStream stream, int mode)
{
    BEGIN(cuStreamBeginCapture_v2);
    (void)mode;
    if (!has_object(stream) || stream->capture) return SIMT_INVALID_HANDLE;
    stream->capture = calloc(1, sizeof *stream->capture);
    if (!stream->capture) return SIMT_OUT_OF_MEMORY;
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

CuResult DRIVER(cuGraphDestroy)(CuGraph graph)
{
    free(graph);
    return SIMT_OK;
}
