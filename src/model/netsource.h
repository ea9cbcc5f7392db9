/* netsource.h - rows as the machine reads them: a struct source in machine memory whose pointers
 * lead to machine memory too. Private to netsource.c, netstream.h and netarena.h. */
#ifndef DNN_MODEL_NETSOURCE_H
#define DNN_MODEL_NETSOURCE_H

#include "backend/backend.h"

struct netsource {
    /* machine memory, allocated by whoever opens it, released by close; its address is that of
     * every source put here */
    struct source *at;
    void *chunks;         /* machine memory: the list of chunks */
    const void **adopted; /* what is lent: chunks, then index and class_weight */
    uint64_t chunk_room, adopted_count;
};
/* From now on these rows: host memory, which must live and stay as it is until others take their
 * place or the source is closed. features: machine memory. What was recorded with `at` stays
 * right. */
bool netsource_put(struct netsource *s, struct machine *m, const struct source *from,
                   const struct features *features, struct err *e);
/* The same for rows that come in their order into a ring of chunks of 1 << shift rows, in machine
 * memory: chunk i is ring[i % count]. */
bool netsource_put_ring(struct netsource *s, struct machine *m, const struct source *from,
                        const struct features *features, void *const *ring, unsigned count,
                        uint32_t shift, struct err *e);
/* The rows are the caller's alone again: nothing that reads them may be played until others are
 * put. */
void netsource_end(struct netsource *s, struct machine *m);
void netsource_close(struct netsource *s, struct machine *m); /* cleared, or with `at` */

#endif
