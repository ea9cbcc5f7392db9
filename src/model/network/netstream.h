/* netstream.h - streams rows through a device that has no room for all of them. The host packs the
 * rows of an epoch in their order into parts of pinned memory; a part is copied while the one
 * before is computed on. Machine memory is a ring of three parts: one is read, a batch may reach
 * into the next, and one is copied. Gather finds them in a list of chunks, so the operations and
 * the bits are the same as for rows that stay on the device. Private to netstream.c and
 * netarena.h. */
#ifndef DNN_MODEL_NETSTREAM_H
#define DNN_MODEL_NETSTREAM_H

#include "model/network/netsource.h"

enum { STREAM_RING = 3 };
struct netstream {
    unsigned char *pinned[STREAM_RING]; /* pinned host memory */
    void *ring[STREAM_RING];            /* machine memory; [0] NULL: nothing is streamed */
    uint32_t shift;                     /* 1 << shift rows a part, */
    size_t stride;                      /* of `stride` bytes each */
    struct source from;                 /* as given: host memory */
    struct step order;                  /* its seed, epoch and model make the order */
    uint64_t parts, sent, there;        /* of this pass; begun to be sent; arrived */
};
/* Allocates parts of at least `rows` rows: larger ones if they fit into half of the memory that is
 * left, and `count` rows make it worth it. */
bool netstream_open(struct netstream *s, struct machine *m, uint32_t rows, uint64_t count,
                    size_t stride, struct err *e);
static inline bool netstream_is_open(const struct netstream *s)
{
    return s->ring[0] != NULL;
}
uint64_t netstream_least(uint32_t rows, size_t stride); /* bytes of the smallest ring */
void netstream_close(struct netstream *s, struct machine *m);
uint64_t netstream_bytes(const struct netstream *s); /* of machine memory */
/* Begins a pass over these rows at now->row0, in the order of that epoch. The rows must not change
 * meanwhile. Gather reads the ring through netsource_put_ring. */
void netstream_begin(struct netstream *s, struct machine *m, const struct source *from,
                     const struct step *now);
/* Operations that are issued next may read `rows` rows from `row` on, and none before it; at most a
 * part's rows beyond the part of `row`. Begins to copy the next part. */
void netstream_have(struct netstream *s, struct machine *m, uint64_t row, uint64_t rows);

#endif
