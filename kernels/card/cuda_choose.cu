/* cuda_choose.cu - the choice of a device. Only the chosen one is opened, and those that auto tries
 * before it. auto: the card with the most free memory. CUDA would open a context on each card to
 * tell it, so NVML is read instead (backend/nvml.h); without NVML, CUDA's order is used. If a card
 * is full or kept by another process, the next one is tried. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "card/cuda_device.cuh"

extern "C" {
#include "backend/machine.h"
#include "backend/nvml.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
}

/* --- auto --- */

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

static bool open_freest(struct cuda_runtime *r, struct cuda_device *d, cudaStream_t *stream,
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

/* --- by name --- */

/* The devices as a list for a message: 0 (NAME, UUID), .. */
static void list_devices(struct cuda_runtime *r, int count, struct text *to)
{
    for (int i = 0; i < count; i++) {
        cudaDeviceProp p;
        char uuid[48];
        if (call_GetDeviceProperties(r, &p, i) != cudaSuccess ||
            !cuda_device_uuid(r, i, uuid, sizeof uuid))
            continue;
        text_printf(to, "%s%d (%s, %s)", to->length ? ", " : "", i, text_quote_z(p.name), uuid);
    }
}

/* A UUID may be a prefix, as in CUDA_VISIBLE_DEVICES. MIG-.. names a slice of a card; the driver
 * reports it as GPU-.. or MIG-.. with the same digits. */
static int find_uuid(struct cuda_runtime *r, int count, const char *wish)
{
    const char *digits = strchr(wish, '-') + 1;
    for (int i = 0; i < count; i++) {
        char uuid[48];
        if (!cuda_device_uuid(r, i, uuid, sizeof uuid))
            continue;
        if (*digits && strncasecmp(uuid + 4, digits, strlen(digits)) == 0)
            return i;
    }
    return -1;
}

static bool wanted(struct cuda_runtime *r, const char *wish, int count, int *index,
                   struct err *e)
{
    int64_t number;
    if (strncmp(wish, "GPU-", 4) == 0 || strncmp(wish, "MIG-", 4) == 0)
        *index = find_uuid(r, count, wish);
    else if (text_to_int(strncmp(wish, "cuda:", 5) == 0 ? wish + 5 : wish, &number) && number >= 0)
        *index = number < count ? (int)number : -1;
    else
        *index = -1;
    if (*index >= 0)
        return true;
    struct text list = {};
    list_devices(r, count, &list);
    err_set(e, ERR_NO_GPU, "there is no device \"%s\"", text_quote_z(wish));
    err_expected(e, "one of %s", list.length ? list.data : "none");
    text_free(&list);
    return err_cause(e, REFUSAL_DEVICE);
}

bool cuda_device_open(struct cuda_runtime *r, struct cuda_device *d, const char *wish,
                      cudaStream_t *stream, struct err *e)
{
    int index;
    *d = cuda_device{};
    cudaError_t code = call_GetDeviceCount(r, &d->count);
    if (code != cudaSuccess || d->count < 1)
        return cuda_refused(r, code != cudaSuccess ? code : cudaErrorNoDevice, "cudaGetDeviceCount",
                            e);
    if (!wish || strcmp(wish, "auto") == 0)
        return open_freest(r, d, stream, e);
    return wanted(r, wish, d->count, &index, e) && cuda_device_begin(r, d, index, stream, e);
}
