/* netsource.h - rows as the machine reads them: a struct source in machine memory, with pointers to
 * machine memory. Private to netsource.c, netstream.h and netarena.h. */
#ifndef DNN_MODEL_NETSOURCE_H
#define DNN_MODEL_NETSOURCE_H

#include "backend/backend.h"

struct netsource {
    struct source *at;    /* machine memory; the network allocates it, close releases it */
    void *chunks;         /* machine memory: the list of chunks */
    const void **mapped; /* host memory that the machine uses: chunks, index, class_weight */
    uint64_t chunk_room, mapped_count;
};
/* Sets the rows: host memory that must not change until other rows are set or the source is closed.
 * features: machine memory. `at` stays the same, so that recorded routines stay valid. */
bool netsource_put(struct netsource *s, struct machine *m, const struct source *from,
                   const struct features *features, struct err *e);
/* As above, for rows that arrive in order in a ring of chunks of 1 << shift rows in machine memory:
 * chunk i is ring[i % count]. */
bool netsource_put_ring(struct netsource *s, struct machine *m, const struct source *from,
                        const struct features *features, void *const *ring, unsigned count,
                        uint32_t shift, struct err *e);
/* Gives the rows back to the caller. Set others before anything that reads rows is played. */
void netsource_end(struct netsource *s, struct machine *m);
void netsource_close(struct netsource *s, struct machine *m); /* a cleared one is allowed */

#endif
