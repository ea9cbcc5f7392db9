/* cudart_graph.cc - recording: what is put on a stream while it is captured is not done but taken
 * down, and played as often as the graph is launched, in any order its dependencies allow. */
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

cudaError_t do_StreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    if (!stream_known(stream))
        return cudaErrorInvalidResourceHandle;
    if (stream->capture)
        return cudaErrorStreamCaptureUnsupported;
    struct capture *c = (struct capture *)calloc(1, sizeof *c);
    c->graph = (struct emulated_graph *)calloc(1, sizeof *c->graph);
    c->origin = stream;
    c->mode = mode;
    c->caller = pthread_self();
    stream->capture = c;
    return cudaSuccess;
}

static void graph_free(struct emulated_graph *g)
{
    for (unsigned i = 0; i < g->count; i++)
        work_free(g->nodes[i]);
    free(g->nodes);
    free(g);
}

cudaError_t do_StreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = NULL;
    if (!stream_known(stream))
        return cudaErrorInvalidResourceHandle;
    struct capture *c = stream->capture;
    if (!c)
        return cudaErrorInvalidValue;
    if (c->origin != stream) {
        c->invalid = true;
        return cudaErrorStreamCaptureUnmatched;
    }
    cudaError_t error = c->invalid ? cudaErrorStreamCaptureInvalidated : cudart.end_fails;
    if (!capture_leave(c) && error == cudaSuccess)
        error = cudaErrorStreamCaptureUnjoined;
    if (error == cudaSuccess) {
        *graph = c->graph;
        cudart.left++;
    } else {
        graph_free(c->graph);
    }
    free(c);
    return error;
}

/* A copy: the graph may be destroyed. */
cudaError_t do_GraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                         unsigned long long)
{
    if (!graph || graph->exec)
        return cudaErrorInvalidValue;
    struct emulated_graph *g = (struct emulated_graph *)calloc(1, sizeof *g);
    g->nodes = (struct emulated_node **)calloc(graph->count + 1, sizeof *g->nodes);
    g->exec = true;
    g->device = cudart_device;
    for (g->count = 0; g->count < graph->count; g->count++) {
        g->nodes[g->count] = work_new(WORK_SET);
        *g->nodes[g->count] = *graph->nodes[g->count];
    }
    *exec = g;
    cudart.left++;
    return cudaSuccess;
}
cudaError_t do_GraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    if (!stream_known(stream))
        return cudaErrorInvalidResourceHandle;
    if (!exec || !exec->exec || exec->device != stream->device)
        return cudaErrorInvalidValue;
    struct emulated_node *w = work_new(WORK_GRAPH);
    w->graph = exec;
    return work_put(stream, w);
}
cudaError_t do_GraphExecDestroy(cudaGraphExec_t exec)
{
    if (!exec || !exec->exec)
        return cudaErrorInvalidValue;
    streams_finish(exec->device); /* work that names it */
    graph_free(exec);
    cudart.left--;
    return cudaSuccess;
}
cudaError_t do_GraphDestroy(cudaGraph_t graph)
{
    if (!graph || graph->exec)
        return cudaErrorInvalidValue;
    graph_free(graph);
    cudart.left--;
    return cudaSuccess;
}

/* Node i may run: all it comes after are done. */
static bool node_ready(const struct emulated_graph *g, const bool *done, unsigned i)
{
    for (unsigned k = 0; k < g->nodes[i]->need_count; k++)
        if (!done[g->nodes[i]->needs[k]])
            return false;
    return !done[i];
}

bool graph_run(cudaGraphExec_t g, cudaStream_t stream)
{
    struct emulated_stream inside = {};
    inside.device = g->device;
    bool *done = (bool *)calloc(g->count + 1, sizeof *done);
    for (unsigned left = g->count; left && cudart.sticky[g->device] == cudaSuccess; left--) {
        unsigned ready = 0, chosen = 0;
        for (unsigned i = 0; i < g->count; i++)
            if (node_ready(g, done, i)) {
                ready++;
                if (ready == 1 || emulate.order == ORDER_DOWN ||
                    (emulate.order >= ORDER_SEEDED && emulate_draw() % ready == 0))
                    chosen = i;
            }
        if (!work_run(&inside, g->nodes[chosen]))
            break;
        done[chosen] = true;
    }
    free(done);
    stream->hung |= inside.hung;
    return !inside.hung;
}
