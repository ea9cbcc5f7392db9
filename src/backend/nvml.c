/* nvml.c - see nvml.h. */
#include "backend/nvml.h"

#include <stdio.h>

#include "base/process/guest.h"
#include "base/mem.h"

struct nvml_memory { unsigned long long total, free, used; };
struct nvml_process {
    unsigned pid;
    unsigned long long bytes;
    unsigned instance, part;
};
struct nvml_calls {
#define NEED GUEST_MEMBER
#define MAY GUEST_MEMBER
#include "backend/nvml.def"
};
struct nvml {
    struct guest guest;
    struct nvml_calls call;
};

static const struct guest_symbol symbols[] = {
#define NEED(name, result, arguments) GUEST_SYMBOL(nvml_calls, name, false)
#define MAY(name, result, arguments) GUEST_SYMBOL(nvml_calls, name, true)
#include "backend/nvml.def"
};
static const char *const files[] = {"libnvidia-ml.so.1", NULL};
static const struct guest_library library = {
    .name = "NVML", .files = files, .symbols = symbols, .count = sizeof symbols / sizeof *symbols};

struct nvml *nvml_open(char *why, size_t room)
{
    struct nvml *n = mem_zero(1, sizeof *n);
    int code = 0;
    why[0] = '\0';
    if (guest_open(&n->guest, &library, &n->call) && (code = n->call.nvmlInit_v2()) == 0)
        return n;
    if (code == 0)
        snprintf(why, room, "%s", n->guest.why);
    else
        snprintf(why, room, "NVML answers with error %d%s", code,
                 code == 9    ? " (the driver is not loaded)"
                 : code == 4  ? " (no permission)"
                 : code == 18 ? " (library and driver are of different versions)"
                              : "");
    guest_close(&n->guest);
    mem_free(n);
    return NULL;
}

void nvml_close(struct nvml *n)
{
    if (!n)
        return;
    n->call.nvmlShutdown();
    guest_close(&n->guest);
    mem_free(n);
}

unsigned nvml_count(const struct nvml *n)
{
    unsigned count = 0;
    return n->call.nvmlDeviceGetCount_v2 && n->call.nvmlDeviceGetCount_v2(&count) == 0 ? count : 0;
}

void nvml_driver(const struct nvml *n, char *to, size_t room)
{
    if (!n->call.nvmlSystemGetDriverVersion ||
        n->call.nvmlSystemGetDriverVersion(to, (unsigned)room) != 0)
        to[0] = '\0';
}

static void describe(const struct nvml_calls *c, void *at, struct nvml_card *card)
{
    struct nvml_memory m = {0};
    int major, minor;
    if (c->nvmlDeviceGetName && c->nvmlDeviceGetName(at, card->name, sizeof card->name) != 0)
        card->name[0] = '\0';
    if (c->nvmlDeviceGetUUID && c->nvmlDeviceGetUUID(at, card->uuid, sizeof card->uuid) != 0)
        card->uuid[0] = '\0';
    if (c->nvmlDeviceGetCudaComputeCapability &&
        c->nvmlDeviceGetCudaComputeCapability(at, &major, &minor) == 0)
        snprintf(card->capability, sizeof card->capability, "%d.%d", major, minor);
    if (c->nvmlDeviceGetMemoryInfo && c->nvmlDeviceGetMemoryInfo(at, &m) == 0) {
        card->total = m.total;
        card->used = m.used;
        card->free = m.free;
    }
}

static void condition(const struct nvml_calls *c, void *at, struct nvml_card *card)
{
    enum { UNCORRECTED = 1, SINCE_LOADED = 0, OF_THE_GPU = 0 };
    unsigned mig = 0, next = 0, celsius = 0;
    unsigned long long errors = 0, reasons = 0;
    if (!c->nvmlDeviceGetComputeMode ||
        c->nvmlDeviceGetComputeMode(at, &card->compute_mode) != 0)
        card->compute_mode = -1;
    card->mig = c->nvmlDeviceGetMigMode && c->nvmlDeviceGetMigMode(at, &mig, &next) == 0 &&
                mig == 1;
    bool known = c->nvmlDeviceGetTotalEccErrors &&
                 c->nvmlDeviceGetTotalEccErrors(at, UNCORRECTED, SINCE_LOADED, &errors) == 0;
    card->ecc = known ? (int64_t)errors : -1;
    known = c->nvmlDeviceGetCurrentClocksThrottleReasons &&
            c->nvmlDeviceGetCurrentClocksThrottleReasons(at, &reasons) == 0;
    card->throttle = known ? (int64_t)reasons : -1;
    known = c->nvmlDeviceGetTemperature &&
            c->nvmlDeviceGetTemperature(at, OF_THE_GPU, &celsius) == 0;
    card->celsius = known ? (int64_t)celsius : -1;
}

/* The processes on it. If the array is too small, NVML returns their number; more may come before
 * the next call. */
static void holders(const struct nvml_calls *c, void *at, struct nvml_card *card)
{
    enum { TOO_SMALL = 7, FIRST = 8 };
    unsigned room = FIRST, count = FIRST;
    struct nvml_process *running = mem_alloc(room, sizeof *running);
    size_t used = 0;
    int code = TOO_SMALL;
    for (int turn = 0; turn < 3 && code == TOO_SMALL; turn++) {
        if (count > room) {
            room = count + FIRST;
            running = mem_grow(running, room, sizeof *running);
        }
        count = room;
        code = c->nvmlDeviceGetComputeRunningProcesses_v3
                   ? c->nvmlDeviceGetComputeRunningProcesses_v3(at, &count, running)
                   : -1;
    }
    for (unsigned i = 0; code == 0 && i < count && used + 16 < sizeof card->holders; i++)
        used += (size_t)snprintf(card->holders + used, sizeof card->holders - used, "%s%u",
                                 i ? ", " : "", running[i].pid);
    mem_free(running);
}

static void read_card(const struct nvml_calls *c, void *at, struct nvml_card *card)
{
    *card = (struct nvml_card){.compute_mode = -1, .ecc = -1, .throttle = -1, .celsius = -1};
    if (!at)
        return;
    describe(c, at, card);
    condition(c, at, card);
    holders(c, at, card);
}

bool nvml_card_at(const struct nvml *n, unsigned index, struct nvml_card *card)
{
    void *at = NULL;
    bool there = n->call.nvmlDeviceGetHandleByIndex_v2 &&
                 n->call.nvmlDeviceGetHandleByIndex_v2(index, &at) == 0;
    read_card(&n->call, there ? at : NULL, card);
    return there;
}

bool nvml_card_of(const struct nvml *n, const char *uuid, struct nvml_card *card)
{
    void *at = NULL;
    bool there = n->call.nvmlDeviceGetHandleByUUID &&
                 n->call.nvmlDeviceGetHandleByUUID(uuid, &at) == 0;
    read_card(&n->call, there ? at : NULL, card);
    return there;
}

bool nvml_taken(const struct nvml_card *card)
{
    enum { PROHIBITED = 2, ONE_PROCESS = 3 };
    return card->compute_mode == PROHIBITED ||
           (card->compute_mode == ONE_PROCESS && card->holders[0]);
}
