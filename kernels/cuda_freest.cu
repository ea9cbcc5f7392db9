/* cuda_freest.cu - device auto: the card with the most free memory. CUDA would open a context on
 * each card to tell it, so NVML is read instead (backend/nvml.h); without NVML, CUDA's order is
 * used. A card that is full or kept by another process fails to open: the next one is tried. */
#include <stdio.h>

#include "cuda.cuh"

#include "backend/nvml.h"

struct choice {
    int index;
    uint64_t left; /* bytes; 0: not known */
    bool taken;    /* by NVML; with MPS an exclusive card may still be shared */
};

static bool before(const struct choice *a, const struct choice *b)
{
    return a->taken != b->taken ? b->taken : a->left > b->left;
}

/* False, with the reason, if no free memory is known. */
static bool free_memory(struct cuda_runtime *r, struct choice *all, int count, char *why,
                        size_t room)
{
    bool told = false;
    struct nvml *n = nvml_open(why, room);
    for (int i = 0; n && i < count; i++) {
        char uuid[48];
        struct nvml_card card;
        if (!cuda_device_uuid(r, i, uuid, sizeof uuid) || !nvml_card_of(n, uuid, &card))
            continue;
        all[i].left = card.free;
        all[i].taken = nvml_taken(&card);
        told |= card.free > 0;
    }
    if (n && !told)
        snprintf(why, room, "NVML does not know them");
    nvml_close(n);
    return told;
}

/* Stable: equal cards keep CUDA's order. */
static void sort(struct choice *all, int count)
{
    for (int i = 1; i < count; i++) {
        struct choice it = all[i];
        int at = i;
        for (; at > 0 && before(&it, &all[at - 1]); at--)
            all[at] = all[at - 1];
        all[at] = it;
    }
}

/* The cards in the order of trial; mem_free. */
static struct choice *rank(struct cuda_runtime *r, int count)
{
    char why[160];
    struct choice *all = (struct choice *)mem_zero((size_t)count, sizeof *all);
    for (int i = 0; i < count; i++)
        all[i].index = i;
    if (count > 1 && !free_memory(r, all, count, why, sizeof why))
        log_line("dnn_gpu: which of %d GPUs has the most memory left cannot be asked (%s): they "
                 "are tried from the first on", count, why);
    sort(all, count);
    return all;
}

/* Used by another process: a later try may work. */
static bool is_taken(const struct err *e)
{
    return e->id == ERR_GPU_BUSY || e->id == ERR_GPU_MEMORY;
}

bool cuda_device_auto(struct cuda_runtime *r, struct cuda_device *d, cudaStream_t *stream,
                      struct err *e)
{
    struct choice *all = rank(r, d->count);
    struct err first = {};
    bool good = false, next = true;
    for (int i = 0; i < d->count && next; i++) {
        err_clear(e);
        good = cuda_device_begin(r, d, all[i].index, stream, e);
        next = !good && !cuda_ended(r) &&
               (is_taken(e) || e->cause == REFUSAL_KERNELS || e->cause == REFUSAL_COMPILER);
        if (!next)
            break;
        if (i == 0 || (is_taken(e) && !is_taken(&first)))
            first = *e;
        if (d->count > 1)
            log_line("dnn_gpu: GPU %d is passed over (%s)", d->index, e->what);
        call_GetLastError(r); /* this one is dealt with */
    }
    if (!good && first.id != ERR_NONE && !cuda_ended(r))
        *e = first; /* the first card's error matters most */
    mem_free(all);
    return good;
}
