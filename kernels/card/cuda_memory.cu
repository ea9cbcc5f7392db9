/* cuda_memory.cu - memory of a card, counted by kind with its peak; pinned host memory for
 * transfers; copies of rows that the host lends. */
#include <stdio.h>
#include <string.h>

#include "card/cuda_memory.cuh"

extern "C" {
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
}

/* --- on the device --- */

static struct block *block_add(struct card_memory *of)
{
    if (of->block_count == of->block_room) {
        of->block_room = of->block_room ? 2 * of->block_room : 64;
        of->blocks = (struct block *)mem_grow(of->blocks, of->block_room, sizeof *of->blocks);
    }
    struct block *b = &of->blocks[of->block_count++];
    *b = block{};
    return b;
}

static void block_free(struct card *m, struct block *b)
{
    m->memory.allocated -= b->bytes;
    m->memory.allocated_of[b->kind] -= b->bytes;
    if (!cuda_gone(m))
        CUDA(m, Free, (b->at));
    *b = m->memory.blocks[--m->memory.block_count];
}

static bool drop_spares(struct card *m)
{
    bool any = false;
    for (size_t i = m->memory.block_count; i-- > 0;)
        if (m->memory.blocks[i].mapped && m->memory.blocks[i].uses == 0) {
            block_free(m, &m->memory.blocks[i]);
            any = true;
        }
    return any;
}

static bool too_much(const struct card *m, size_t bytes, const char *why, struct err *e)
{
    char what[48];
    snprintf(what, sizeof what, "%s more", text_bytes(bytes));
    return cuda_full(m, what, why, e);
}

void *cuda_allocate(struct card *m, size_t bytes, struct err *e)
{
    void *at = NULL;
    cuda_watch_limit(m->runtime->watch, m->longest); /* no estimate of its time */
    if (m->memory.allocated + bytes > m->memory.limit && drop_spares(m) && cuda_lost(m)) {
        *e = m->head.failure;
        return NULL;
    }
    if (m->memory.allocated + bytes > m->memory.limit) {
        too_much(m, bytes, ", within backend.memory_limit_gb and memory_fraction", e);
        return NULL;
    }
    cudaError_t code = call_Malloc(m->runtime, &at, bytes);
    if (code == cudaErrorMemoryAllocation && drop_spares(m))
        code = call_Malloc(m->runtime, &at, bytes);
    if (code == cudaErrorMemoryAllocation) {
        call_GetLastError(m->runtime); /* this one is dealt with */
        too_much(m, bytes, "", e);
        return NULL;
    }
    if (!cuda_good(m, code, "cudaMalloc") ||
        !CUDA(m, MemsetAsync, (at, 0, bytes, m->stream))) {
        if (at && !cuda_gone(m))
            CUDA(m, Free, (at));
        *e = m->head.failure;
        return NULL;
    }
    m->work++;
    struct block *b = block_add(&m->memory);
    b->at = at;
    b->bytes = bytes;
    b->kind = m->head.kind;
    m->memory.allocated += bytes;
    m->memory.allocated_of[b->kind] += bytes;
    if (m->memory.allocated > m->memory.peak) {
        m->memory.peak = m->memory.allocated;
        memcpy(m->memory.peak_of, m->memory.allocated_of, sizeof m->memory.peak_of);
    }
    return at;
}

static struct block *block_at(struct card *m, const void *at)
{
    for (size_t i = 0; i < m->memory.block_count; i++)
        if (m->memory.blocks[i].at == at)
            return &m->memory.blocks[i];
    return NULL;
}

void *cuda_alloc(struct machine *m, size_t bytes, struct err *e)
{
    return cuda_allocate(card_of(m), bytes, e);
}

void cuda_release(struct machine *m, void *memory)
{
    struct block *b = block_at(card_of(m), memory);
    if (b)
        block_free(card_of(m), b);
}

/* --- of the host, for transfers --- */

/* If memory cannot be pinned, ordinary memory serves: transfers are only slower. */
bool cuda_pin(struct card *m, struct pinned *p, size_t bytes)
{
    void *at = NULL;
    cudaError_t code = call_HostAlloc(m->runtime, &at, bytes, cudaHostAllocDefault);
    p->plain = code == cudaErrorMemoryAllocation;
    if (p->plain) {
        call_GetLastError(m->runtime); /* this one is dealt with */
        at = mem_alloc(bytes, 1);
        if (!m->memory.unpinned)
            log_note("dnn_gpu: the driver could not pin %s of the host's memory; transfers are "
                     "slower", text_bytes(bytes));
        m->memory.unpinned = true;
    } else if (!cuda_good(m, code, "cudaHostAlloc")) {
        return false;
    }
    p->at = (char *)at;
    p->bytes = bytes;
    return true;
}

void cuda_unpin(struct card *m, struct pinned *p)
{
    if (p->plain)
        mem_free(p->at);
    else if (p->at && !cuda_gone(m))
        CUDA(m, FreeHost, (p->at));
    *p = pinned{};
}

void *cuda_host_alloc(struct machine *machine, size_t bytes, struct err *e)
{
    struct card *m = card_of(machine);
    struct card_memory *of = &m->memory;
    struct pinned got = {};
    cuda_watch_limit(m->runtime->watch, m->longest);
    if (!cuda_pin(m, &got, bytes)) {
        *e = m->head.failure;
        return NULL;
    }
    memset(got.at, 0, bytes);
    if (of->pin_count == of->pin_room) {
        of->pin_room = of->pin_room ? 2 * of->pin_room : 16;
        of->pins = (struct pinned *)mem_grow(of->pins, of->pin_room, sizeof *of->pins);
    }
    of->pins[of->pin_count++] = got;
    return got.at;
}

void cuda_host_release(struct machine *machine, void *memory)
{
    struct card *m = card_of(machine);
    for (size_t i = 0; i < m->memory.pin_count; i++)
        if (m->memory.pins[i].at == memory) {
            struct pinned gone = m->memory.pins[i];
            m->memory.pins[i] = m->memory.pins[--m->memory.pin_count];
            cuda_unpin(m, &gone);
            return;
        }
}

bool cuda_is_pinned(const struct card *m, const void *at, size_t bytes)
{
    const char *begin = (const char *)at;
    for (size_t i = 0; i < m->memory.pin_count; i++)
        if (!m->memory.pins[i].plain && begin >= m->memory.pins[i].at &&
            begin + bytes <= m->memory.pins[i].at + m->memory.pins[i].bytes)
            return true;
    return false;
}

/* --- rows lent by the host: a copy, shared while the same bytes are lent again --- */

static struct block *block_lent(struct card *m, const void *host, size_t bytes)
{
    for (size_t i = 0; i < m->memory.block_count; i++) {
        struct block *b = &m->memory.blocks[i];
        if (b->mapped && b->uses && b->host == host && b->host_bytes == bytes)
            return b;
    }
    return NULL;
}

/* A spare block that these bytes fill to a quarter or more. */
static struct block *block_spare(struct card *m, size_t bytes)
{
    for (size_t i = 0; i < m->memory.block_count; i++) {
        struct block *b = &m->memory.blocks[i];
        if (b->mapped && !b->uses && b->bytes >= bytes && b->bytes / 4 <= bytes)
            return b;
    }
    return NULL;
}

const void *cuda_map_host(struct machine *machine, const void *host, size_t bytes, struct err *e)
{
    struct card *m = card_of(machine);
    size_t wished = bytes ? bytes : 1;
    struct block *b = block_lent(m, host, bytes);
    if (b) {
        b->uses++;
        return b->at;
    }
    b = block_spare(m, wished);
    if (!b) {
        void *at = cuda_allocate(m, wished, e);
        if (!at)
            return NULL;
        b = block_at(m, at);
    }
    b->mapped = true;
    b->host = host;
    b->host_bytes = bytes;
    b->uses = 1;
    void *at = b->at;
    if (bytes)
        cuda_upload(machine, 0, at, host, bytes);
    cuda_fence(machine, 0);
    if (!cuda_lost(m))
        return at;
    *e = m->head.failure;
    return NULL;
}

void cuda_unmap_host(struct machine *machine, const void *mapped)
{
    struct block *b = block_at(card_of(machine), mapped);
    if (b && b->uses)
        b->uses--;
}

uint64_t cuda_bytes_free(struct machine *machine)
{
    const struct card *m = card_of(machine);
    uint64_t left = cuda_device_free(m->runtime);
    uint64_t limit = m->memory.limit, taken = m->memory.allocated;
    uint64_t allowed = limit > taken ? limit - taken : 0;
    return left < allowed ? left : allowed;
}

/* --- the end --- */

void cuda_memory_close(struct card *m)
{
    const uint64_t *of = m->memory.peak_of;
    if (m->memory.peak)
        log_info("dnn_gpu: at most %llu bytes of GPU %d were taken: weights %llu, state %llu, "
                 "activations %llu, data %llu", (unsigned long long)m->memory.peak, m->device.index,
                 (unsigned long long)of[MEMORY_WEIGHTS], (unsigned long long)of[MEMORY_STATE],
                 (unsigned long long)of[MEMORY_ACTIVATIONS], (unsigned long long)of[MEMORY_DATA]);
    for (size_t i = 0; i < m->memory.pin_count; i++)
        cuda_unpin(m, &m->memory.pins[i]);
    for (size_t i = 0; i < m->memory.block_count && !cuda_gone(m); i++)
        call_Free(m->runtime, m->memory.blocks[i].at);
    mem_free(m->memory.blocks);
    mem_free(m->memory.pins);
}
