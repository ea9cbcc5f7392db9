/* netstream.c - see netstream.h. */
#include "model/network/netstream.h"

#include <string.h>

#include "base/mem.h"
#include "base/process/thread.h"

#define PART_BYTES ((size_t)8 << 20) /* worth a transfer: at 25 GB/s, a third of a millisecond */
enum { TILE_ROWS = 1024 };
static const uint32_t FIRST_SLOT = 1; /* of transfers; each of the ring has its own */

/* --- memory --- */

static void release(struct netstream *s, struct machine *m)
{
    for (unsigned i = 0; i < STREAM_RING; i++) {
        machine_release(m, s->ring[i]);
        machine_host_release(m, s->pinned[i]);
        s->ring[i] = NULL;
        s->pinned[i] = NULL;
    }
}

static bool alloc_ring(struct netstream *s, struct machine *m, struct err *e)
{
    size_t bytes = s->stride << s->shift;
    bool good = true;
    for (unsigned i = 0; i < STREAM_RING && good; i++) {
        s->ring[i] = machine_alloc_for(m, MEMORY_DATA, bytes, e);
        good = s->ring[i] && (s->pinned[i] = machine_host_alloc(m, bytes, e));
    }
    if (!good)
        release(s, m);
    return good;
}

static uint32_t shift_of(uint32_t rows)
{
    uint32_t shift = 0;
    while (((uint64_t)1 << shift) < rows)
        shift++;
    return shift;
}

uint64_t netstream_least(uint32_t rows, size_t stride)
{
    return (uint64_t)STREAM_RING * (stride << shift_of(rows));
}

bool netstream_open(struct netstream *s, struct machine *m, uint32_t rows, uint64_t count,
                    size_t stride, struct err *e)
{
    uint32_t least = shift_of(rows);
    *s = (struct netstream){.shift = least, .stride = stride};
    while (s->stride << (s->shift + 1) <= PART_BYTES && ((uint64_t)4 << s->shift) < count)
        s->shift++;
    uint64_t left = machine_bytes_free(m); /* others need some as well */
    while (s->shift > least && left && STREAM_RING * ((uint64_t)stride << s->shift) > left / 2)
        s->shift--;
    while (!alloc_ring(s, m, e)) {
        if (e->id != ERR_GPU_MEMORY || s->shift == least)
            return false;
        err_clear(e);
        s->shift--;
    }
    return true;
}

void netstream_close(struct netstream *s, struct machine *m)
{
    release(s, m);
    *s = (struct netstream){0};
}

uint64_t netstream_bytes(const struct netstream *s)
{
    return netstream_is_open(s) ? (uint64_t)STREAM_RING * (s->stride << s->shift) : 0;
}

/* --- rows --- */

void netstream_begin(struct netstream *s, struct machine *m, const struct source *from,
                     const struct step *now)
{
    for (uint32_t i = 0; i < STREAM_RING; i++)
        machine_fence(m, FIRST_SLOT + i);
    s->from = *from;
    s->parts = from->count ? ((from->count - 1) >> s->shift) + 1 : 0;
    s->order = *now;
    s->sent = s->there = now->row0 >> s->shift;
}

struct packing {
    struct netstream *s;
    uint64_t first, rows;
    unsigned char *to;
};

static void pack_tile(void *packing, unsigned tile, unsigned thread)
{
    const struct packing *p = packing;
    const struct netstream *s = p->s;
    const struct source *from = &s->from;
    uint64_t begin = (uint64_t)tile * TILE_ROWS, end = begin + TILE_ROWS;
    (void)thread;
    if (end > p->rows)
        end = p->rows;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t at = p->first + i;
        if (from->shuffle)
            at = order_place(from, &s->order, 0, (uint32_t)at);
        if (from->index)
            at = from->index[at];
        memcpy(p->to + i * s->stride, rows_at(&from->rows, at), s->stride);
    }
}

/* Sends a part after the issued operations, which may still read this part of the ring. */
static void send(struct netstream *s, struct machine *m, uint64_t part)
{
    unsigned at = (unsigned)(part % STREAM_RING);
    uint64_t first = part << s->shift, rows = (uint64_t)1 << s->shift;
    if (rows > s->from.count - first)
        rows = s->from.count - first;
    struct packing p = {.s = s, .first = first, .rows = rows, .to = s->pinned[at]};
    bool together = !s->from.index && !s->from.shuffle &&
                    first >> s->from.rows.shift == (first + rows - 1) >> s->from.rows.shift;
    if (together) /* answers run beside a reader that uses the threads */
        memcpy(p.to, rows_at(&s->from.rows, first), (size_t)rows * s->stride);
    else
        threads_run((unsigned)((rows + TILE_ROWS - 1) / TILE_ROWS), pack_tile, &p);
    machine_send(m, FIRST_SLOT + at, s->ring[at], p.to, (size_t)rows * s->stride);
}

static void send_up_to(struct netstream *s, struct machine *m, uint64_t part)
{
    for (; s->sent <= part && s->sent < s->parts; s->sent++)
        send(s, m, s->sent);
}

void netstream_have(struct netstream *s, struct machine *m, uint64_t row, uint64_t rows)
{
    uint64_t part = row >> s->shift, last = rows ? (row + rows - 1) >> s->shift : part;
    send_up_to(s, m, last);
    for (; s->there <= last && s->there < s->sent; s->there++)
        machine_fence(m, FIRST_SLOT + (uint32_t)(s->there % STREAM_RING));
    send_up_to(s, m, part + STREAM_RING - 1);
}
