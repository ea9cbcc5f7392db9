/* cudart_stream.cc - streams, events, and the moment at which work put on them is done. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cudart.h"

enum { MOST_STREAMS = 64, MOST_EVENTS = 512 };
static struct emulated_stream *streams[MOST_STREAMS];
static unsigned stream_count;
static struct emulated_event *events[MOST_EVENTS];
static unsigned event_count;

struct emulated_node *work_new(enum work_kind kind)
{
    struct emulated_node *w = (struct emulated_node *)calloc(1, sizeof *w);
    if (!w)
        abort();
    w->kind = kind;
    return w;
}
void work_free(struct emulated_node *w)
{
    free(w->staged);
    free(w);
}

bool stream_known(cudaStream_t stream)
{
    for (unsigned i = 0; i < stream_count; i++)
        if (streams[i] == stream)
            return true;
    if (!stream)
        emulate_find(FIND_HOST, "the default stream is not used in this program");
    return false;
}
bool event_known(cudaEvent_t event)
{
    for (unsigned i = 0; i < event_count; i++)
        if (events[i] == event)
            return true;
    return false;
}

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void run_kernel(struct emulated_node *w, int device)
{
    const struct emulate_kernel *k = emulate_kernel_of(w->launch.kernel);
    void *arguments[32];
    size_t used = 0;
    for (unsigned i = 0; i < k->count; i++) {
        used = (used + 15) / 16 * 16;
        arguments[i] = w->arguments + used;
        used += k->bytes[i];
    }
    w->launch.arguments = arguments;
    cudart.kernels++;
    if (!cudart.dry && !emulate_run(&w->launch))
        cudart.sticky[device] = cudaErrorLaunchFailure;
    if (!cudart_faults_on(device))
        return;
    if (cudart.signal_after && --cudart.signal_after == 0)
        raise(cudart.signal_number);
    if (cudart.break_after && --cudart.break_after == 0)
        cudart.sticky[device] = cudart.break_code;
}

/* From the nth copy to the host on, the card is wrong about the first number of each. */
static void spoil(const struct emulated_node *w)
{
    const struct memory_block *to = memory_find(w->to), *from = memory_find(w->from);
    bool down = from && from->device >= 0 && (!to || to->device < 0) && w->bytes >= 4;
    if (!down || !cudart_faults_on(from->device) || !cudart.wrong_after ||
        --cudart.wrong_after != 0)
        return;
    cudart.wrong_after = 1;
    ((unsigned char *)w->to)[3] ^= 0x80;
}

bool work_run(cudaStream_t stream, struct emulated_node *w)
{
    if (stream->hung || cudart.sticky[stream->device] != cudaSuccess)
        return false;
    if (w->kind == WORK_WAIT && w->event->done < w->generation)
        return false;
    if (cudart_faults_on(stream->device) && cudart.hang_after && --cudart.hang_after == 0) {
        stream->hung = true;
        return false;
    }
    switch (w->kind) {
    case WORK_COPY:
        memory_open();
        memcpy(w->to, w->staged ? w->staged : w->from, w->bytes);
        spoil(w);
        memory_close();
        if (shadow_is_written(w->from, w->bytes) || w->staged)
            shadow_written(w->to, w->bytes);
        else if (!memory_find(w->to) || memory_find(w->to)->device < 0)
            emulate_find(FIND_UNINITIALISED, "%zu bytes copied to the host were never written",
                         w->bytes);
        break;
    case WORK_SET:
        memory_open();
        memset(w->to, w->value, w->bytes);
        memory_close();
        shadow_written(w->to, w->bytes);
        break;
    case WORK_KERNEL: run_kernel(w, stream->device); break;
    case WORK_RECORD:
        w->event->done = w->generation;
        w->event->at = milliseconds();
        break;
    case WORK_HOST:
        memory_open();
        w->host(w->to);
        memory_close();
        break;
    case WORK_GRAPH: return graph_run(w->graph, stream);
    case WORK_WAIT:
    default: break;
    }
    return true;
}

/* The first piece of a stream, if it may run. */
static bool stream_step(cudaStream_t s)
{
    struct emulated_node *w = s->first;
    if (!w || !work_run(s, w))
        return false;
    s->first = w->next;
    if (!s->first)
        s->last = NULL;
    work_free(w);
    return true;
}

/* Others move only when this one waits for their events. */
bool stream_finish(cudaStream_t s)
{
    while (s->first && cudart.sticky[s->device] == cudaSuccess) {
        if (stream_step(s))
            continue;
        bool moved = false;
        for (unsigned i = 0; i < stream_count && !moved; i++)
            moved = streams[i] != s && stream_step(streams[i]);
        if (!moved && (s->hung || s->first->kind == WORK_WAIT))
            return false;
    }
    return !s->first;
}
bool streams_finish(int device)
{
    bool all = true;
    for (unsigned i = 0; i < stream_count; i++)
        if (streams[i]->device == device)
            all &= stream_finish(streams[i]);
    return all;
}
void streams_pass(void)
{
    if (emulate.order == ORDER_UP || stream_count == 0)
        return;
    unsigned tries = emulate.order == ORDER_DOWN ? 0 : emulate_draw() % 4;
    if (emulate.order == ORDER_DOWN)
        for (bool moved = true; moved;) {
            moved = false;
            for (unsigned i = 0; i < stream_count; i++)
                moved |= stream_step(streams[i]);
        }
    while (tries--)
        stream_step(streams[emulate_draw() % stream_count]);
}

static void node_comes_after(struct emulated_node *w, unsigned node)
{
    for (unsigned i = 0; i < w->need_count; i++)
        if (w->needs[i] == node)
            return;
    if (w->need_count == MOST_NEEDS)
        abort();
    w->needs[w->need_count++] = node;
}

static cudaError_t capture_put(cudaStream_t s, struct emulated_node *w)
{
    struct emulated_graph *g = s->capture->graph;
    if (s->capture->invalid) {
        work_free(w);
        return cudaErrorStreamCaptureInvalidated;
    }
    if (g->count == g->room) {
        g->room = g->room ? 2 * g->room : 64;
        g->nodes = (struct emulated_node **)realloc(g->nodes, g->room * sizeof *g->nodes);
        if (!g->nodes)
            abort();
    }
    if (s->tail)
        node_comes_after(w, s->tail - 1);
    for (unsigned i = 0; i < s->wait_count; i++)
        node_comes_after(w, s->waits[i]);
    s->wait_count = 0;
    g->nodes[g->count++] = w;
    s->tail = g->count;
    return cudaSuccess;
}

cudaError_t work_put(cudaStream_t s, struct emulated_node *w)
{
    if (!pthread_equal(s->caller, pthread_self()))
        emulate_find(FIND_HOST, "a stream is given work by a second thread");
    if (s->capture)
        return capture_put(s, w);
    if (s->last)
        s->last->next = w;
    else
        s->first = w;
    s->last = w;
    streams_pass();
    return cudart.sticky[s->device];
}

/* --- the calls --- */

cudaError_t do_StreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    if (flags > cudaStreamNonBlocking)
        return cudaErrorInvalidValue;
    if (stream_count == MOST_STREAMS)
        abort();
    *stream = (cudaStream_t)calloc(1, sizeof **stream);
    (*stream)->device = cudart_device;
    (*stream)->caller = pthread_self();
    streams[stream_count++] = *stream;
    cudart.left++;
    return cudaSuccess;
}
/* Its work is still done. */
cudaError_t do_StreamDestroy(cudaStream_t stream)
{
    if (!stream_known(stream))
        return cudaErrorInvalidResourceHandle;
    if (stream->capture) {
        stream->capture->invalid = true;
        return cudaErrorStreamCaptureUnsupported;
    }
    stream_finish(stream);
    for (unsigned i = 0; i < stream_count; i++)
        if (streams[i] == stream)
            streams[i] = streams[--stream_count];
    while (stream->first) {
        struct emulated_node *w = stream->first;
        stream->first = w->next;
        work_free(w);
    }
    free(stream);
    cudart.left--;
    return cudaSuccess;
}
cudaError_t do_StreamQuery(cudaStream_t stream)
{
    if (!stream_known(stream))
        return cudaErrorInvalidResourceHandle;
    if (stream_capture_forbids(stream))
        return cudaErrorStreamCaptureUnsupported;
    stream_step(stream); /* somebody who asks again and again gets there */
    streams_pass();
    cudaError_t sticky = cudart.sticky[stream->device];
    return !stream->first ? cudaSuccess : sticky != cudaSuccess ? sticky : cudaErrorNotReady;
}

cudaError_t do_EventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    if (flags > (cudaEventBlockingSync | cudaEventDisableTiming))
        return cudaErrorInvalidValue;
    if (event_count == MOST_EVENTS)
        abort();
    *event = (cudaEvent_t)calloc(1, sizeof **event);
    (*event)->device = cudart_device;
    (*event)->timing = !(flags & cudaEventDisableTiming);
    events[event_count++] = *event;
    cudart.left++;
    return cudaSuccess;
}
cudaError_t do_EventDestroy(cudaEvent_t event)
{
    if (!event_known(event))
        return cudaErrorInvalidResourceHandle;
    for (unsigned i = 0; i < event_count; i++)
        if (events[i] == event)
            events[i] = events[--event_count];
    for (unsigned i = 0; i < stream_count; i++) /* nothing may look at it any more */
        for (struct emulated_node *w = streams[i]->first; w; w = w->next)
            if (w->event == event) {
                stream_finish(streams[i]);
                break;
            }
    free(event);
    cudart.left--;
    return cudaSuccess;
}
cudaError_t do_EventRecord(cudaEvent_t event, cudaStream_t stream)
{
    if (!event_known(event) || !stream_known(stream) || event->device != stream->device)
        return cudaErrorInvalidResourceHandle;
    event->capture = stream->capture;
    event->stream = stream;
    event->node = stream->tail;
    if (stream->capture)
        return cudaSuccess;
    struct emulated_node *w = work_new(WORK_RECORD);
    w->event = event;
    w->generation = ++event->recorded;
    return work_put(stream, w);
}
/* An event of a capture draws the stream into it. */
cudaError_t do_StreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    if (!event_known(event) || !stream_known(stream))
        return cudaErrorInvalidResourceHandle;
    if (event->capture) {
        if (stream->capture && stream->capture != event->capture)
            return cudaErrorStreamCaptureMerge;
        if (!stream->capture && stream->first && !stream_finish(stream))
            return cudaErrorStreamCaptureUnsupported;
        stream->capture = event->capture;
        if (event->node && stream->wait_count < MOST_NEEDS)
            stream->waits[stream->wait_count++] = event->node - 1;
        return cudaSuccess;
    }
    if (stream->capture) {
        stream->capture->invalid = true; /* work outside cannot be waited for inside */
        return cudaErrorStreamCaptureUnsupported;
    }
    struct emulated_node *w = work_new(WORK_WAIT);
    w->event = event;
    w->generation = event->recorded;
    return work_put(stream, w);
}
cudaError_t do_EventQuery(cudaEvent_t event)
{
    if (!event_known(event))
        return cudaErrorInvalidResourceHandle;
    if (event->capture)
        return cudaErrorCapturedEvent;
    cudart.waits += event->asked != event->recorded;
    event->asked = event->recorded;
    for (unsigned i = 0; i < stream_count && event->done < event->recorded; i++)
        stream_step(streams[i]);
    cudaError_t sticky = cudart.sticky[event->device];
    return event->done >= event->recorded ? cudaSuccess
           : sticky != cudaSuccess        ? sticky
                                          : cudaErrorNotReady;
}
cudaError_t do_EventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    if (!event_known(from) || !event_known(to) || !from->timing || !to->timing)
        return cudaErrorInvalidResourceHandle;
    if (!from->recorded || !to->recorded)
        return cudaErrorInvalidResourceHandle;
    if (from->done < from->recorded || to->done < to->recorded)
        return cudaErrorNotReady;
    *ms = (float)(to->at - from->at);
    return cudaSuccess;
}

/* --- what captures forbid --- */

/* A capture forbids unsafe calls by its own thread unless it is relaxed; a global one forbids them
 * by all threads (cudaThreadExchangeStreamCaptureMode in CUDA's documentation). */
bool capture_forbids(void)
{
    bool forbidden = false;
    for (unsigned i = 0; i < stream_count; i++) {
        struct capture *c = streams[i]->capture;
        if (c && (c->mode == cudaStreamCaptureModeGlobal ||
                  (c->mode == cudaStreamCaptureModeThreadLocal &&
                   pthread_equal(c->caller, pthread_self()))))
            c->invalid = forbidden = true;
    }
    return forbidden;
}
bool stream_capture_forbids(cudaStream_t stream)
{
    if (stream->capture)
        stream->capture->invalid = true;
    return stream->capture != NULL || capture_forbids();
}
/* Every member leaves; false when one other than the origin had not come back to it. */
bool capture_leave(struct capture *c)
{
    bool joined = true;
    for (unsigned i = 0; i < stream_count; i++) {
        struct emulated_stream *s = streams[i];
        if (s->capture != c)
            continue;
        if (s != c->origin && s->tail) {
            bool seen = s->tail != 0 && c->origin->tail > s->tail;
            for (unsigned k = 0; k < c->origin->wait_count; k++)
                seen |= c->origin->waits[k] + 1 == s->tail;
            joined &= seen;
        }
    }
    for (unsigned i = 0; i < stream_count; i++)
        if (streams[i]->capture == c) {
            streams[i]->capture = NULL;
            streams[i]->tail = streams[i]->wait_count = 0;
        }
    for (unsigned i = 0; i < event_count; i++)
        if (events[i]->capture == c)
            events[i]->capture = NULL;
    return joined;
}

void streams_drop_all(void)
{
    for (cudaError_t &sticky : cudart.sticky)
        sticky = cudaErrorUnknown; /* nothing of it is done any more */
    while (stream_count) {
        streams[0]->capture = NULL;
        do_StreamDestroy(streams[0]);
    }
    while (event_count)
        free(events[--event_count]);
    memory_drop_all();
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*call)(void *), void *data)
{
    if (!stream_known(stream))
        return cudaErrorInvalidResourceHandle;
    if (cudart.sticky[stream->device] != cudaSuccess)
        return cudart.sticky[stream->device];
    struct emulated_node *w = work_new(WORK_HOST);
    w->host = call;
    w->to = data;
    return work_put(stream, w);
}
