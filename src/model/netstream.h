/* netstream.h - rows that a device has no room for pass through it: parts of an epoch in the order
 * in which it takes them, packed by the host into pinned memory and copied while the part before is
 * computed on. Machine memory is a ring of three parts: the one that is read, the next, which a
 * batch may reach into, and the one on its way. Gather finds them through a list of chunks in which
 * the three take turns, so the operations are those of rows that lie there, and so are the bits.
 * Private to netstream.c and netarena.h. */
#ifndef DNN_MODEL_NETSTREAM_H
#define DNN_MODEL_NETSTREAM_H

#include "model/netsource.h"

enum { STREAM_RING = 3 };
struct netstream {
    unsigned char *pinned[STREAM_RING]; /* host memory that transfers like */
    void *ring[STREAM_RING];            /* machine memory; [0] NULL: nothing is streamed */
    uint32_t shift;                     /* 1 << shift rows a part, */
    size_t stride;                      /* of so many bytes each */
    struct source from;                 /* as given: host memory */
    struct step order;                  /* its seed, epoch and model make the order */
    uint64_t parts, sent, there;        /* of this pass; begun to be sent; arrived */
};
/* Takes the memory: parts of at least `rows` rows, larger ones as far as half of what is left has
 * room for them and they are worth it for `count` rows. */
bool netstream_open(struct netstream *s, struct machine *m, uint32_t rows, uint64_t count,
                    size_t stride, struct err *e);
static inline bool netstream_is_open(const struct netstream *s)
{
    return s->ring[0] != NULL;
}
uint64_t netstream_least(uint32_t rows, size_t stride); /* bytes of the smallest ring */
void netstream_close(struct netstream *s, struct machine *m);
uint64_t netstream_bytes(const struct netstream *s); /* of machine memory */
/* Begins a pass over these rows, which must live and stay as they are, at now->row0 and in the
 * order of that epoch. Whoever reads them was given the ring by netsource_put_ring. */
void netstream_begin(struct netstream *s, struct machine *m, const struct source *from,
                     const struct step *now);
/* What is issued from now on may read `rows` rows from `row` on, and none before; at most as many
 * as a part has behind the end of the part of `row`. The next part is on its way. */
void netstream_have(struct netstream *s, struct machine *m, uint64_t row, uint64_t rows);

#endif
