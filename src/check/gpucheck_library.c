/* gpucheck_library.c - the libraries of the driver and of others, loaded for a question. */
#include <stdio.h>
#include <string.h>

#include "backend/guests.h"
#include "backend/nvml.h"
#include "base/process/guest.h"
#include "check/gpucheck_parts.h"

/* The one function needs no initialisation. */
struct cuda_calls { int (*cuDriverGetVersion)(int *version); };

void gpucheck_cuda_library(struct gpu_libraries *l)
{
    static const struct guest_symbol symbols[] = {
        GUEST_SYMBOL(cuda_calls, cuDriverGetVersion, false)};
    static const char *const files[] = {"libcuda.so.1", NULL};
    static const struct guest_library library = {"CUDA driver", files, symbols, 1, NULL, 0};
    struct cuda_calls call;
    struct guest guest;
    if (!guest_open(&guest, &library, &call)) {
        snprintf(l->cuda_why, sizeof l->cuda_why, "%s", guest.why);
        return;
    }
    int code = call.cuDriverGetVersion(&l->cuda_version);
    l->cuda = code == 0 && l->cuda_version > 0;
    if (!l->cuda)
        snprintf(l->cuda_why, sizeof l->cuda_why, "libcuda.so.1 answers with error %d", code);
    guest_close(&guest);
}

static void keep(struct gpu_device *d, unsigned index, const struct nvml_card *card)
{
    *d = (struct gpu_device){.total = card->total, .used = card->used, .free = card->free};
    snprintf(d->id, sizeof d->id, "%u", index);
    snprintf(d->name, sizeof d->name, "%s", card->name);
    snprintf(d->uuid, sizeof d->uuid, "%s", card->uuid);
    snprintf(d->capability, sizeof d->capability, "%s", card->capability);
}

void gpucheck_nvml(struct gpu_libraries *l, struct gpucheck *g, const char *uuid)
{
    struct nvml *n = nvml_open(l->nvml_why, sizeof l->nvml_why);
    l->card = (struct nvml_card){.compute_mode = -1, .ecc = -1, .throttle = -1, .celsius = -1};
    l->nvml = n != NULL;
    if (!n)
        return;
    nvml_driver(n, l->driver, sizeof l->driver);
    l->cards = nvml_count(n);
    g->device_count = 0;
    for (unsigned i = 0; i < l->cards && i < GPU_DEVICES; i++) {
        struct nvml_card card;
        if (!nvml_card_at(n, i, &card))
            continue;
        keep(&g->devices[g->device_count], i, &card);
        if (g->device_count++ == 0 || (uuid && strcmp(card.uuid, uuid) == 0))
            l->card = card;
    }
    nvml_close(n);
}

void gpucheck_shown(struct gpucheck *g, char *why, size_t room)
{
    struct gpu_libraries l = {0};
    gpucheck_nvml(&l, g, NULL);
    snprintf(g->versions.driver, sizeof g->versions.driver, "%s", l.driver);
    snprintf(why, room, "%s", l.nvml_why);
}

bool gpucheck_other_libraries(struct gpucheck *g, char *why_not, size_t room)
{
    char *const versions[GUESTS] = {[GUEST_CUBLASLT] = g->versions.cublas,
                                    [GUEST_CUDNN] = g->versions.cudnn,
                                    [GUEST_NCCL] = g->versions.nccl};
    size_t used = 0;
    bool good = true;
    why_not[0] = '\0';
    for (int i = 0; i < GUESTS; i++) {
        struct guest found;
        if (guest_find((enum guest_id)i, &found))
            snprintf(versions[i], sizeof g->versions.cublas, "%s",
                     guest_version_text(found.version));
        else if (used < room)
            used += (size_t)snprintf(why_not + used, room - used, "%s%s: %s", used ? "; " : "",
                                     guest_name((enum guest_id)i), found.why);
        good = good && (found.library || strstr(found.why, "is not found"));
    }
    return good;
}
