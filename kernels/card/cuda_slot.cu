/* cuda_slot.cu - transfers. Each slot has its own stream. A transfer waits for all work issued
 * before it; a fence waits for the transfers. Bytes that are not pinned pass through a pinned
 * stage, so that every wait has a deadline. */
#include <string.h>

#include "backend/form.h"
#include "card/cuda_memory.cuh"
#include "form.cuh"

extern "C" {
#include "base/mem.h"
}

bool slot_open(struct card *m, struct slot *s)
{
    return CUDA(m, StreamCreateWithFlags, (&s->stream, cudaStreamNonBlocking)) &&
           CUDA(m, EventCreateWithFlags, (&s->done, cudaEventDisableTiming));
}

void slot_close(struct card *m, struct slot *s)
{
    cuda_unpin(m, &s->stage);
    if (cuda_gone(m))
        return;
    if (s->done)
        call_EventDestroy(m->runtime, s->done);
    if (s->stream)
        call_StreamDestroy(m->runtime, s->stream);
}

/* --- marks of time --- */

void cuda_mark(struct machine *machine, uint32_t i)
{
    struct card *m = card_of(machine);
    if (!m->marks)
        m->marks = (cudaEvent_t *)mem_zero(MACHINE_MARKS, sizeof *m->marks);
    m->work++;
    if (m->marks[i] || CUDA(m, EventCreateWithFlags, (&m->marks[i], cudaEventDefault)))
        CUDA(m, EventRecord, (m->marks[i], m->stream));
}

double cuda_marked(struct machine *machine, uint32_t i)
{
    struct card *m = card_of(machine);
    float ms = 0;
    bool both = m->marks && m->marks[0] && m->marks[i];
    return both && CUDA(m, EventElapsedTime, (&ms, m->marks[0], m->marks[i])) ? (double)ms * 1e-3
                                                                              : 0;
}

/* --- transfers --- */

/* Downloads that arrived in the stage reach their destinations. */
static void unstage(struct slot *s)
{
    for (unsigned i = 0; i < s->pending_count; i++)
        memcpy(s->pending[i].to, s->stage.at + s->pending[i].at, s->pending[i].bytes);
    s->pending_count = 0;
}

static bool finish(struct card *m, struct slot *s)
{
    if (!s->busy)
        return true;
    bool good = !cuda_lost(m) && CUDA(m, EventRecord, (s->done, s->stream)) &&
                cuda_await(m, s->done, m->patience);
    if (good && m->done < s->behind)
        m->done = s->behind;
    if (good)
        unstage(s);
    slot_abandon(s);
    return good;
}

/* The next transfer waits for all work issued so far. */
static bool behind(struct card *m, struct slot *s)
{
    s->busy = true;
    if (s->behind == m->work)
        return !cuda_lost(m);
    s->behind = m->work;
    return CUDA(m, EventRecord, (m->issued, m->stream)) &&
           CUDA(m, StreamWaitEvent, (s->stream, m->issued, 0));
}

/* Free bytes of the stage, at most `wished`; 0 after a failure. */
static size_t stage_room(struct card *m, struct slot *s, size_t wished)
{
    if (!s->stage.at && !cuda_pin(m, &s->stage, STAGE_BYTES))
        return 0;
    size_t least = wished < 4096 ? wished : 4096;
    if ((STAGE_BYTES - s->staged < least || s->pending_count == STAGE_PENDING) && !finish(m, s))
        return 0;
    size_t room = STAGE_BYTES - s->staged;
    return wished < room ? wished : room;
}

static void stage_taken(struct slot *s, size_t bytes)
{
    s->staged += (bytes + 63) / 64 * 64;
    if (s->staged > STAGE_BYTES)
        s->staged = STAGE_BYTES;
}

void cuda_upload(struct machine *machine, uint32_t slot, void *to, const void *from, size_t bytes)
{
    struct card *m = card_of(machine);
    struct slot *s = &m->slots[slot];
    if (!behind(m, s))
        return;
    if (cuda_is_pinned(m, from, bytes)) {
        CUDA(m, MemcpyAsync, (to, from, bytes, cudaMemcpyHostToDevice, s->stream));
        return;
    }
    for (size_t done = 0, now; done < bytes; done += now) {
        now = stage_room(m, s, bytes - done);
        if (now == 0)
            return;
        char *stage = s->stage.at + s->staged;
        memcpy(stage, (const char *)from + done, now);
        stage_taken(s, now);
        s->busy = true;
        if (!CUDA(m, MemcpyAsync,
                  ((char *)to + done, stage, now, cudaMemcpyHostToDevice, s->stream)))
            return;
    }
}

void cuda_download(struct machine *machine, uint32_t slot, void *to, const void *from, size_t bytes)
{
    struct card *m = card_of(machine);
    struct slot *s = &m->slots[slot];
    size_t done = 0;
    bool good = behind(m, s);
    if (good && cuda_is_pinned(m, to, bytes)) {
        good = CUDA(m, MemcpyAsync, (to, from, bytes, cudaMemcpyDeviceToHost, s->stream));
        done = bytes;
    }
    while (good && done < bytes) {
        size_t now = stage_room(m, s, bytes - done);
        good = now && CUDA(m, MemcpyAsync, (s->stage.at + s->staged, (const char *)from + done, now,
                                            cudaMemcpyDeviceToHost, s->stream));
        if (!good)
            break;
        s->pending[s->pending_count].to = (char *)to + done;
        s->pending[s->pending_count].at = s->staged;
        s->pending[s->pending_count++].bytes = now;
        s->busy = true;
        stage_taken(s, now);
        done += now;
    }
    if (!good)
        memset(to, 0, bytes);
}

static float widened(uint32_t form, const char *at)
{
    uint16_t bits;
    memcpy(&bits, at, sizeof bits);
    return form_widen(form, bits);
}

void cuda_act_download(struct machine *machine, real *to, struct act from, size_t rows,
                       size_t width, size_t ld)
{
    if (!rows || !width)
        return;
    if (ld == width && is_plain(from)) {
        cuda_download(machine, 0, to, from.at, rows * width * sizeof *to);
        cuda_fence(machine, 0);
        return;
    }
    size_t span = (rows - 1) * ld + width, each = form_bytes(from.form);
    char *all = (char *)mem_alloc(span, each);
    cuda_download(machine, 0, all, from.at, span * each);
    cuda_fence(machine, 0);
    for (size_t i = 0; i < rows * width; i++) {
        const char *at = all + (i / width * ld + i % width) * each;
        if (is_plain(from))
            memcpy(to + i, at, sizeof *to);
        else
            to[i] = widened(from.form, at);
    }
    mem_free(all);
}

void cuda_fence(struct machine *m, uint32_t slot)
{
    finish(card_of(m), &card_of(m)->slots[slot]);
}

/* A later wait for the slot records the event again. */
void cuda_join(struct machine *machine, uint32_t slot)
{
    struct card *m = card_of(machine);
    struct slot *s = &m->slots[slot];
    if (!s->busy || cuda_lost(m) || !CUDA(m, EventRecord, (s->done, s->stream)))
        return;
    m->work++;
    CUDA(m, StreamWaitEvent, (m->stream, s->done, 0));
}
