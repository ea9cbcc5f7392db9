/* cuda_freest.cu - which of several cards has the most memory left. To ask CUDA would open a
 * context on each, so the driver's own library is asked (NVML, loaded for this alone); where it is
 * not there, the first card it is. */
#include <dlfcn.h>

#include "cuda.cuh"

struct nvml_memory { unsigned long long total, free, used; };
struct nvml {
    int (*init)(void);
    int (*shutdown)(void);
    int (*handle)(const char *uuid, void **device);
    int (*memory)(void *device, struct nvml_memory *m);
};

/* All of it or nothing. */
static bool bind(void *library, struct nvml *n)
{
    n->init = (int (*)(void))dlsym(library, "nvmlInit_v2");
    n->shutdown = (int (*)(void))dlsym(library, "nvmlShutdown");
    n->handle = (int (*)(const char *, void **))dlsym(library, "nvmlDeviceGetHandleByUUID");
    n->memory =
        (int (*)(void *, struct nvml_memory *))dlsym(library, "nvmlDeviceGetMemoryInfo");
    return n->init && n->shutdown && n->handle && n->memory;
}

static int freest(const struct nvml *n, int count)
{
    int best = 0;
    unsigned long long most = 0;
    for (int i = 0; i < count; i++) {
        char uuid[48];
        void *device;
        struct nvml_memory m = {};
        if (!cuda_device_uuid(i, uuid, sizeof uuid) || n->handle(uuid, &device) != 0 ||
            n->memory(device, &m) != 0 || m.free <= most)
            continue;
        most = m.free;
        best = i;
    }
    return best;
}

int cuda_device_freest(int count)
{
    struct nvml n;
    int best = 0;
    void *library = count > 1 ? dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library && bind(library, &n) && n.init() == 0) {
        best = freest(&n, count);
        n.shutdown();
    }
    if (library)
        dlclose(library);
    return best;
}
