/* cuda_device.cu - devices: choice and properties. Only the chosen one is opened, and those that
 * auto tries before it (cuda_freest.cu). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cuda.cuh"

static void uuid_text(const cudaDeviceProp *p, char *to, size_t room)
{
    const unsigned char *b = (const unsigned char *)p->uuid.bytes;
    int n = snprintf(to, room, "GPU-");
    for (int i = 0; i < 16; i++)
        n += snprintf(to + n, room - (size_t)n, "%s%02x",
                      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
}

bool cuda_device_uuid(struct cuda_runtime *r, int index, char *text, size_t room)
{
    cudaDeviceProp p;
    bool good = call_GetDeviceProperties(r, &p, index) == cudaSuccess;
    if (good)
        uuid_text(&p, text, room);
    return good;
}

/* The devices as a list for a message: 0 (NAME, UUID), .. */
static void list_devices(struct cuda_runtime *r, int count, struct text *to)
{
    for (int i = 0; i < count; i++) {
        cudaDeviceProp p;
        char uuid[48];
        if (call_GetDeviceProperties(r, &p, i) != cudaSuccess)
            continue;
        uuid_text(&p, uuid, sizeof uuid);
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

static bool attribute(struct cuda_runtime *r, int *value, enum cudaDeviceAttr which, int device,
                      struct err *e)
{
    cudaError_t code = call_DeviceGetAttribute(r, value, which, device);
    return code == cudaSuccess || cuda_refused(r, code, "cudaDeviceGetAttribute", e);
}

/* The properties of a device that are known without a context. */
static bool describe(struct cuda_runtime *r, struct cuda_device *d, struct err *e)
{
    cudaDeviceProp p;
    cudaError_t code = call_GetDeviceProperties(r, &p, d->index);
    if (code != cudaSuccess)
        return cuda_refused(r, code, "cudaGetDeviceProperties", e);
    snprintf(d->name, sizeof d->name, "%.*s", (int)sizeof d->name - 1, p.name);
    uuid_text(&p, d->uuid, sizeof d->uuid);
    d->total = p.totalGlobalMem;
    int sms, major, minor, block_bytes, driver = 0;
    if (!attribute(r, &sms, cudaDevAttrMultiProcessorCount, d->index, e) ||
        !attribute(r, &major, cudaDevAttrComputeCapabilityMajor, d->index, e) ||
        !attribute(r, &minor, cudaDevAttrComputeCapabilityMinor, d->index, e) ||
        !attribute(r, &block_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, d->index, e))
        return false;
    d->sms = (unsigned)sms;
    d->block_bytes = (size_t)block_bytes;
    d->capability = 10 * major + minor;
    /* an emulated card may give other results than a real one */
    if (strcmp(d->name, "emulated") == 0)
        snprintf(d->core, sizeof d->core, "emulated");
    else
        snprintf(d->core, sizeof d->core, "sm_%d%d", major, minor);
    if (call_DriverGetVersion(r, &driver) == cudaSuccess)
        snprintf(d->driver, sizeof d->driver, "CUDA %d.%d", driver / 1000, driver % 1000 / 10);
    return true;
}

bool cuda_device_begin(struct cuda_runtime *r, struct cuda_device *d, int index,
                       cudaStream_t *stream, struct err *e)
{
    d->index = index;
    if (!describe(r, d, e))
        return false;
    cudaError_t code = cuda_runtime_select(r, index);
    if (code != cudaSuccess)
        return cuda_refused(r, code, "cudaSetDevice", e);
    const char *call = "cudaStreamCreateWithFlags";
    code = call_StreamCreateWithFlags(r, stream, cudaStreamNonBlocking);
    bool streams = code == cudaSuccess;
    if (streams) {
        call = "cudaFuncSetAttribute";
        code = call_FuncSetAttribute(r, kernels_any(),
                                     cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutDefault); /* the default */
    }
    if (code == cudaSuccess)
        return true;
    cuda_refused(r, code, call, e);
    if (streams && !cuda_ended(r))
        call_StreamDestroy(r, *stream);
    return false;
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
        return cuda_device_auto(r, d, stream, e);
    return wanted(r, wish, d->count, &index, e) && cuda_device_begin(r, d, index, stream, e);
}

uint64_t cuda_device_free(struct cuda_runtime *r)
{
    size_t left = 0, total = 0;
    return call_MemGetInfo(r, &left, &total) == cudaSuccess ? left : 0;
}
