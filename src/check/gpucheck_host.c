/* gpucheck_host.c - what this machine shows before a card is opened: without any driver the PCI
 * bus, device files, the kernel's module, containers; then the libraries of the driver and of
 * others, loaded for a question. Files are read, none is opened for writing, no device file at all.
 * A test puts a folder in the place of /. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/guests.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "base/process/guest.h"
#include "base/text.h"
#include "check/gpucheck_parts.h"

struct place { char path[1024]; };

/* A path of this machine, or below the folder that a test puts in the place of /. */
static struct place place_of(const char *path)
{
    struct place p;
    const char *root = fault_setting("GPUCHECK_ROOT");
    snprintf(p.path, sizeof p.path, "%s%s", root ? root : "", path);
    return p;
}

static bool may(const char *path, int mode)
{
    return access(place_of(path).path, mode) == 0;
}

static char *small_file(const char *path)
{
    return file_small(place_of(path).path);
}

/* /proc/bus/pci/devices: a line a function: place, vendor and device as eight hex digits, .., the
 * module that drives it. A card's functions are several; the first that has a module counts. */
static void look_at_bus(struct gpu_host *h)
{
    char *text = small_file("/proc/bus/pci/devices");
    h->bus_known = text != NULL;
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        unsigned place, what;
        if (sscanf(line, "%x %x", &place, &what) != 2 || what >> 16 != 0x10de)
            continue;
        h->on_bus = true;
        size_t length = strcspn(line, "\n"), begin = length;
        while (begin > 0 && line[begin - 1] != '\t' && line[begin - 1] != ' ')
            begin--;
        bool named = length > begin && strspn(line + begin, "0123456789abcdef") < length - begin;
        if (named && !h->bus_driver[0])
            snprintf(h->bus_driver, sizeof h->bus_driver, "%.*s", (int)(length - begin),
                     line + begin);
    }
    mem_free(text);
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  ...": the first word with a dot that
 * begins with a digit. */
static void look_at_module(struct gpu_host *h)
{
    char *text = small_file("/proc/driver/nvidia/version");
    for (const char *at = text; at && *at && *at != '\n'; at += strspn(at, " \t")) {
        size_t length = strcspn(at, " \t\n");
        if (*at >= '0' && *at <= '9' && memchr(at, '.', length) && !h->module[0])
            snprintf(h->module, sizeof h->module, "%.*s", (int)length, at);
        at += length;
    }
    if (text && !h->module[0])
        snprintf(h->module, sizeof h->module, "loaded");
    mem_free(text);
}

static void look_at_nodes(struct gpu_host *h)
{
    char path[32];
    for (int i = -2; i < 32; i++) {
        snprintf(path, sizeof path, "/dev/nvidia%s", i == -2 ? "ctl" : "-uvm");
        if (i >= 0)
            snprintf(path, sizeof path, "/dev/nvidia%d", i);
        if (!may(path, F_OK))
            continue;
        h->nodes += i >= 0;
        h->uvm |= i == -1;
        if (!may(path, R_OK | W_OK) && !h->denied[0])
            snprintf(h->denied, sizeof h->denied, "%s", path);
    }
}

void gpucheck_host(struct gpu_host *h)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    *h = (struct gpu_host){0};
    h->container = may("/.dockerenv", F_OK) || may("/run/.containerenv", F_OK) ||
                   getenv("KUBERNETES_SERVICE_HOST") != NULL;
    h->wsl = may("/dev/dxg", F_OK);
    if (may("/dev/kfd", F_OK))
        snprintf(h->amd, sizeof h->amd, "/dev/kfd");
    look_at_bus(h);
    look_at_module(h);
    look_at_nodes(h);
    h->is_visible_set = visible != NULL;
    h->hides = visible && (!*visible || *visible == '-');
    if (visible)
        snprintf(h->visible, sizeof h->visible, "%s", text_quote_z(visible));
}

/* --- libraries --- */

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
