/* gpucheck_library.c - the libraries of the driver and of others, loaded for a question.
 * Their functions are NVIDIA's documented ones: cuDriverGetVersion, which needs no initialisation;
 * NVML, the driver's own library of management; and the version calls of cuBLAS, cuDNN, NCCL. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "run/gpucheck_parts.h"

/* Functions are found as addresses of data; C knows no cast between the two but through bytes. */
#define FIND(library, name, function)                                                              \
    do {                                                                                           \
        void *address = dlsym(library, name);                                                      \
        memcpy(&(function), &address, sizeof address);                                             \
    } while (0)

/* What dlerror says, without what differs from machine to machine. */
static void why_not(char *to, size_t room, const char *name)
{
    const char *text = dlerror();
    if (text && strstr(text, "No such file"))
        snprintf(to, room, "%s is not found", name);
    else
        snprintf(to, room, "%s cannot be loaded: %.100s", name, text ? text_quote_z(text) : "?");
}

void gpucheck_cuda_library(struct gpu_libraries *l)
{
    int (*version)(int *) = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        why_not(l->cuda_why, sizeof l->cuda_why, "libcuda.so.1");
        return;
    }
    FIND(library, "cuDriverGetVersion", version);
    int code = version ? version(&l->cuda_version) : -1;
    l->cuda = version && code == 0 && l->cuda_version > 0;
    if (!version)
        snprintf(l->cuda_why, sizeof l->cuda_why, "libcuda.so.1 lacks cuDriverGetVersion");
    else if (!l->cuda)
        snprintf(l->cuda_why, sizeof l->cuda_why, "libcuda.so.1 answers with error %d", code);
    dlclose(library);
}

/* --- NVML --- */

struct nvml_memory { unsigned long long total, free, used; };
struct nvml_process {
    unsigned pid;
    unsigned long long bytes;
    unsigned instance, part;
};
struct nvml {
    int (*init)(void);
    int (*shutdown)(void);
    int (*version)(char *, unsigned);
    int (*count)(unsigned *);
    int (*handle)(unsigned, void **);
    /* of a device; each may be missing in an old or small library */
    int (*name)(void *, char *, unsigned);
    int (*uuid)(void *, char *, unsigned);
    int (*memory)(void *, struct nvml_memory *);
    int (*capability)(void *, int *, int *);
    int (*mode)(void *, int *);
    int (*mig)(void *, unsigned *, unsigned *);
    int (*processes)(void *, unsigned *, struct nvml_process *);
    int (*ecc)(void *, int, int, unsigned long long *);
    int (*throttle)(void *, unsigned long long *);
    int (*temperature)(void *, int, unsigned *);
};

static bool bind(void *library, struct nvml *n)
{
    FIND(library, "nvmlInit_v2", n->init);
    FIND(library, "nvmlShutdown", n->shutdown);
    FIND(library, "nvmlSystemGetDriverVersion", n->version);
    FIND(library, "nvmlDeviceGetCount_v2", n->count);
    FIND(library, "nvmlDeviceGetHandleByIndex_v2", n->handle);
    FIND(library, "nvmlDeviceGetName", n->name);
    FIND(library, "nvmlDeviceGetUUID", n->uuid);
    FIND(library, "nvmlDeviceGetMemoryInfo", n->memory);
    FIND(library, "nvmlDeviceGetCudaComputeCapability", n->capability);
    FIND(library, "nvmlDeviceGetComputeMode", n->mode);
    FIND(library, "nvmlDeviceGetMigMode", n->mig);
    FIND(library, "nvmlDeviceGetComputeRunningProcesses_v3", n->processes);
    FIND(library, "nvmlDeviceGetTotalEccErrors", n->ecc);
    FIND(library, "nvmlDeviceGetCurrentClocksThrottleReasons", n->throttle);
    FIND(library, "nvmlDeviceGetTemperature", n->temperature);
    return n->init && n->shutdown && n->version && n->count && n->handle;
}

static void describe(const struct nvml *n, void *at, unsigned index, struct gpu_device *d)
{
    struct nvml_memory m = {0};
    int major, minor;
    *d = (struct gpu_device){0};
    snprintf(d->id, sizeof d->id, "%u", index);
    if (n->name && n->name(at, d->name, sizeof d->name) != 0)
        d->name[0] = '\0';
    if (n->uuid && n->uuid(at, d->uuid, sizeof d->uuid) != 0)
        d->uuid[0] = '\0';
    if (n->capability && n->capability(at, &major, &minor) == 0)
        snprintf(d->capability, sizeof d->capability, "%d.%d", major, minor);
    if (n->memory && n->memory(at, &m) == 0) {
        d->total = m.total;
        d->used = m.used;
        d->free = m.free;
    }
}

static void condition(const struct nvml *n, void *at, struct gpu_libraries *l)
{
    struct nvml_process running[8];
    unsigned mig = 0, next = 0, count = sizeof running / sizeof *running, celsius = 0;
    unsigned long long errors = 0, reasons = 0;
    size_t used = 0;
    if (!n->mode || n->mode(at, &l->compute_mode) != 0)
        l->compute_mode = -1;
    l->mig = n->mig && n->mig(at, &mig, &next) == 0 && mig == 1;
    l->ecc = n->ecc && n->ecc(at, 1, 0, &errors) == 0 ? (int64_t)errors : -1;
    l->throttle = n->throttle && n->throttle(at, &reasons) == 0 ? (int64_t)reasons : -1;
    l->celsius = n->temperature && n->temperature(at, 0, &celsius) == 0 ? (int64_t)celsius : -1;
    l->holders[0] = '\0';
    if (!n->processes || n->processes(at, &count, running) != 0)
        return;
    for (unsigned i = 0; i < count && used + 16 < sizeof l->holders; i++)
        used += (size_t)snprintf(l->holders + used, sizeof l->holders - used, "%s%u",
                                 i ? ", " : "", running[i].pid);
}

static void ask(const struct nvml *n, struct gpu_libraries *l, struct gpucheck *g,
                const char *uuid)
{
    if (n->version(l->driver, sizeof l->driver) != 0)
        l->driver[0] = '\0';
    if (n->count(&l->cards) != 0)
        l->cards = 0;
    g->device_count = 0;
    for (unsigned i = 0; i < l->cards && i < GPU_DEVICES; i++) {
        void *at = NULL;
        if (n->handle(i, &at) != 0)
            continue;
        struct gpu_device *d = &g->devices[g->device_count];
        describe(n, at, i, d);
        if (g->device_count++ == 0 || (uuid && strcmp(d->uuid, uuid) == 0))
            condition(n, at, l);
    }
}

void gpucheck_nvml(struct gpu_libraries *l, struct gpucheck *g, const char *uuid)
{
    struct nvml n = {0};
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    l->compute_mode = -1;
    l->ecc = l->throttle = l->celsius = -1;
    if (!library) {
        why_not(l->nvml_why, sizeof l->nvml_why, "libnvidia-ml.so.1");
        return;
    }
    bool whole = bind(library, &n);
    int code = whole ? n.init() : 0;
    l->nvml = whole && code == 0;
    if (l->nvml) {
        ask(&n, l, g, uuid);
        n.shutdown();
    } else if (whole) {
        snprintf(l->nvml_why, sizeof l->nvml_why, "NVML answers with error %d%s", code,
                 code == 9    ? " (the driver is not loaded)"
                 : code == 4  ? " (no permission)"
                 : code == 18 ? " (library and driver are of different versions)"
                              : "");
    } else {
        snprintf(l->nvml_why, sizeof l->nvml_why, "libnvidia-ml.so.1 lacks a call");
    }
    dlclose(library);
}

/* --- others --- */

/* The first of the names that loads. It stays until the end of the process, which is when CUDA's
 * libraries expect to be closed. */
static void *load(const char *const *names)
{
    void *library = NULL;
    for (size_t i = 0; names[i] && !library; i++)
        library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    return library;
}

void gpucheck_other_libraries(struct gpucheck *g)
{
    static const char *const blas[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                       NULL},
                             *const dnn[] = {"libcudnn.so.9", "libcudnn.so.8", NULL},
                             *const nccl[] = {"libnccl.so.2", NULL};
    int (*property)(int, int *) = NULL, (*get)(int *) = NULL, v[3] = {0};
    size_t (*number)(void) = NULL;
    void *library = load(blas);
    if (library) {
        FIND(library, "cublasGetProperty", property);
        for (int i = 0; property && i < 3; i++)
            property(i, &v[i]);
        if (property)
            snprintf(g->versions.cublas, sizeof g->versions.cublas, "%d.%d.%d", v[0], v[1], v[2]);
    }
    library = load(dnn);
    if (library) {
        FIND(library, "cudnnGetVersion", number);
        size_t n = number ? number() : 0, unit = n >= 10000 ? 10000 : 1000;
        if (n)
            snprintf(g->versions.cudnn, sizeof g->versions.cudnn, "%zu.%zu.%zu", n / unit,
                     n % unit / 100, n % 100);
    }
    library = load(nccl);
    if (library) {
        FIND(library, "ncclGetVersion", get);
        if (get && get(&v[0]) == 0)
            snprintf(g->versions.nccl, sizeof g->versions.nccl, "%d.%d.%d", v[0] / 10000,
                     v[0] % 10000 / 100, v[0] % 100);
    }
}
