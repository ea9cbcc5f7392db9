/* netsource.c - see netsource.h. The machine maps new rows before it unmaps the old ones: if
 * both have chunks in common, a machine with memory of its own keeps its copy. */
#include "model/network/netsource.h"

#include <string.h>

#include "base/mem.h"

static void unmap_all(struct machine *m, const void **mapped, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        machine_unmap_host(m, mapped[i]);
    mem_free((void *)mapped);
}

static uint64_t chunk_count(const struct rows *r)
{
    return r->count ? ((r->count - 1) >> r->shift) + 1 : 0;
}

/* Records of chunk i. */
static uint64_t records_of(const struct rows *r, uint64_t i)
{
    uint64_t left = r->count - (i << r->shift), full = (uint64_t)1 << r->shift;
    return left < full ? left : full;
}

static const void *map_host(struct netsource *s, struct machine *m, const void *host, size_t bytes,
                        struct err *e)
{
    const void *mapped = machine_map_host(m, host, bytes, e);
    s->mapped[s->mapped_count++] = mapped;
    return mapped;
}

/* Adopts class weights, and the memory for a list of `chunks` chunks. */
static bool map_rest(struct netsource *s, struct machine *m, const struct source *from,
                   struct source *as_read, uint64_t chunks, struct err *e)
{
    as_read->class_weight =
        map_host(s, m, from->class_weight, from->classes * sizeof *from->class_weight, e);
    if (chunks > s->chunk_room) {
        machine_release(m, s->chunks);
        s->chunks = machine_alloc_for(m, MEMORY_DATA, (size_t)chunks * sizeof *s->mapped, e);
        s->chunk_room = s->chunks ? chunks : 0;
    }
    as_read->rows.chunks = s->chunks;
    return (!chunks || s->chunks) && !from->class_weight == !as_read->class_weight;
}

static void send_source(struct netsource *s, struct machine *m, const struct source *as_read,
                 const void *const *list, uint64_t chunks)
{
    machine_send(m, 0, s->chunks, (const void *)list, (size_t)chunks * sizeof *list);
    machine_send(m, 0, s->at, as_read, sizeof *as_read);
    machine_fence(m, 0);
}

static bool map_all(struct netsource *s, struct machine *m, const struct source *from,
                     struct source *as_read, struct err *e)
{
    const struct rows *r = &from->rows;
    uint64_t chunks = chunk_count(r);
    s->mapped = mem_alloc((size_t)chunks + 3, sizeof *s->mapped);
    s->mapped_count = 0;
    for (uint64_t i = 0; i < chunks; i++)
        if (!map_host(s, m, r->chunks[i], (size_t)records_of(r, i) * r->format.stride, e))
            return false;
    uint64_t places = from->count * (from->steps > 1 ? from->steps : 1);
    as_read->index = map_host(s, m, from->index, (size_t)places * sizeof *from->index, e);
    if (from->begins)
        as_read->begins =
            map_host(s, m, from->begins, (size_t)from->count * sizeof *from->begins, e);
    return !from->index == !as_read->index && !from->begins == !as_read->begins &&
           map_rest(s, m, from, as_read, chunks, e);
}

bool netsource_put(struct netsource *s, struct machine *m, const struct source *from,
                   const struct features *features, struct err *e)
{
    const void **before = s->mapped;
    uint64_t before_count = s->mapped_count;
    struct source as_read = *from;
    as_read.features = features;
    bool good = map_all(s, m, from, &as_read, e);
    if (good)
        send_source(s, m, &as_read, s->mapped, chunk_count(&from->rows));
    unmap_all(m, before, before_count);
    return good;
}

bool netsource_put_ring(struct netsource *s, struct machine *m, const struct source *from,
                        const struct features *features, void *const *ring, unsigned count,
                        uint32_t shift, struct err *e)
{
    struct source as_read = *from;
    uint64_t chunks = from->count ? ((from->count - 1) >> shift) + 1 : 0;
    netsource_end(s, m);
    as_read.features = features;
    as_read.index = NULL; /* they come in their order */
    as_read.shuffle = 0;
    as_read.rows.count = from->count;
    as_read.rows.shift = shift;
    s->mapped = mem_alloc(1, sizeof *s->mapped);
    if (!map_rest(s, m, from, &as_read, chunks, e))
        return false;
    const void **list = mem_alloc((size_t)chunks + 1, sizeof *list);
    for (uint64_t i = 0; i < chunks; i++)
        list[i] = ring[i % count];
    send_source(s, m, &as_read, list, chunks);
    mem_free((void *)list);
    return true;
}

void netsource_end(struct netsource *s, struct machine *m)
{
    unmap_all(m, s->mapped, s->mapped_count);
    s->mapped = NULL;
    s->mapped_count = 0;
}

void netsource_close(struct netsource *s, struct machine *m)
{
    netsource_end(s, m);
    machine_release(m, s->chunks);
    machine_release(m, s->at);
    memset(s, 0, sizeof *s);
}
