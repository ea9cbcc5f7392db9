/* cuda_fault.cu - waiting for a card, and its failure. */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "card/card.cuh"

extern "C" {
#include "base/clock.h"
#include "base/text.h"
}

/* --- waiting --- */

/* Asks without a pause for SPIN_SECONDS: most epochs of small networks end within. Later naps are
 * short ones; without asking for that, the timer makes 55 us of five. */
static const double SPIN_SECONDS = 1e-4;

static void pause_a_while(double waited)
{
    if (waited < SPIN_SECONDS)
        return;
    struct timespec t = {0, waited < 0.02 ? 5000 : 50000};
    prctl(PR_SET_TIMERSLACK, waited < 0.02 ? 1000UL : 0UL);
    nanosleep(&t, NULL);
}

bool cuda_await(struct card *m, cudaEvent_t event, double seconds)
{
    double waited = 0, before = clock_now(), most = seconds / 8 < 1 ? seconds / 8 : 1;
    while (waited <= seconds) {
        cudaError_t code = call_EventQuery(m->runtime, event);
        if (code == cudaSuccess)
            return true;
        if (code != cudaErrorNotReady)
            return cuda_good(m, code, "cudaEventQuery");
        double now = clock_now(); /* a stopped process has not waited */
        waited += now - before < most ? now - before : most;
        before = now;
        pause_a_while(waited);
    }
    struct err e = {};
    char last[160];
    err_set(&e, ERR_MACHINE_FAULT, "GPU %d (%s) hangs: no answer for %.3g seconds%s",
            m->device.index, text_quote_z(m->device.name), seconds,
            cuda_last(m, last, sizeof last));
    cuda_hangs(&e);
    cuda_end_calls(m->runtime, cudaErrorUnknown);
    cuda_fail(m, &e);
    return false;
}

bool cuda_wait(struct machine *machine, double seconds)
{
    struct card *m = card_of(machine);
    double most = seconds < m->patience ? seconds : m->patience;
    if (m->done == m->work)
        return true;
    if (!CUDA(m, EventRecord, (m->issued, m->stream)) || !cuda_await(m, m->issued, most))
        return false;
    m->done = m->work;
    return true;
}

void cuda_expect(struct machine *machine, double seconds)
{
    struct card *m = card_of(machine);
    m->patience = seconds < m->longest ? seconds : m->longest;
    cuda_watch_limit(m->runtime->watch, m->patience);
}

/* --- failure --- */

bool cuda_full(const struct card *m, const char *what, const char *why, struct err *e)
{
    uint64_t left = cuda_device_free(m->runtime);
    err_set(e, ERR_GPU_MEMORY, "GPU %d (%s): no room for %s: %s in use, %s of %s free%s",
            m->device.index, text_quote_z(m->device.name), what, text_bytes(m->memory.allocated),
            text_bytes(left), text_bytes(m->device.total), why);
    return err_help(e, "lower train.batch_size or backend.predict_batch_size, or wait until others "
                       "have left the card");
}

/* Errors that a kernel can cause: addresses, instructions, assertions, launches. */
static bool is_of_work(cudaError_t code)
{
    return ((int)code >= 700 && (int)code <= 720) || code == cudaErrorUnknown;
}

const char *cuda_last(const struct card *m, char *text, size_t room)
{
    static const char begin[] = "; last given to it: ";
    const struct given *g = &m->last;
    const char *kernel = g->kernel ? g->kernel : "";
    bool bracketed = *kernel == '('; /* LAUNCH passes names with commas in parentheses */
    int length = (int)strlen(kernel) - 2 * bracketed;
    kernel += bracketed;
    if (g->until)
        snprintf(text, room, "%sa recorded round of %u operations, %s to %s", begin, g->count,
                 g->op, g->until);
    else if (g->op && *kernel)
        snprintf(text, room, "%s%s (kernel %.*s)", begin, g->op, length, kernel);
    else if (g->op || *kernel)
        snprintf(text, room, "%s%s%.*s", begin, g->op ? g->op : "kernel ", length, kernel);
    else
        *text = '\0';
    return text;
}

/* The card works: waits for all work in flight before its memory is released. */
static void settle(struct card *m)
{
    cudaStream_t streams[1 + MACHINE_SLOTS] = {m->stream};
    for (unsigned i = 0; i < MACHINE_SLOTS; i++)
        streams[1 + i] = m->slots[i].stream;
    for (unsigned i = 0; i <= MACHINE_SLOTS && m->issued && !m->capturing && !cuda_gone(m); i++)
        if (streams[i] && call_EventRecord(m->runtime, m->issued, streams[i]) == cudaSuccess)
            cuda_await(m, m->issued, m->patience);
}

static bool full(struct card *m, const char *call)
{
    struct err e = {};
    char last[160], what[64];
    call_GetLastError(m->runtime); /* this one is dealt with */
    snprintf(what, sizeof what, "what %s needs", call);
    cuda_full(m, what, cuda_last(m, last, sizeof last), &e);
    cuda_fail(m, &e);
    return false;
}

bool cuda_good(struct card *m, cudaError_t code, const char *call)
{
    if (code == cudaSuccess)
        return true;
    if (code == cudaErrorMemoryAllocation && !cuda_ended(m->runtime))
        return full(m, call);
    struct err e = {};
    char last[160];
    err_set(&e, ERR_MACHINE_FAULT, "GPU %d (%s) failed: %s (%d) from %s%s", m->device.index,
            text_quote_z(m->device.name), cudaGetErrorName(code), (int)code, call,
            cuda_last(m, last, sizeof last));
    bool sought = is_of_work(code) && !m->one_by_one && *last;
    err_help(&e, "%s%s", cuda_advice(code),
             sought ? "; CUDA_LAUNCH_BLOCKING=1 waits for each kernel, and so names the one" : "");
    cuda_fail(m, &e);
    return false;
}

void slot_abandon(struct slot *s)
{
    for (unsigned i = 0; i < s->pending_count; i++)
        memset(s->pending[i].to, 0, s->pending[i].bytes);
    s->pending_count = 0;
    s->staged = 0;
    s->busy = false;
}

void cuda_fail(struct card *m, const struct err *e)
{
    bool first = !cuda_lost(m);
    machine_fail(&m->head, e);
    if (first && e->id == ERR_GPU_MEMORY)
        settle(m);
    for (unsigned i = 0; i < MACHINE_SLOTS; i++)
        slot_abandon(&m->slots[i]);
}
