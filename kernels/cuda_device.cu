/* cuda_device.cu - which GPU, and what it is. Only the one that is chosen is touched. */
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

bool cuda_device_uuid(int index, char *text, size_t room)
{
    cudaDeviceProp p;
    bool good = call_GetDeviceProperties(&p, index) == cudaSuccess;
    if (good)
        uuid_text(&p, text, room);
    return good;
}

/* The devices, for a message: 0 (NAME, UUID), .. */
static void list_devices(int count, struct text *to)
{
    for (int i = 0; i < count; i++) {
        cudaDeviceProp p;
        char uuid[48];
        if (call_GetDeviceProperties(&p, i) != cudaSuccess)
            continue;
        uuid_text(&p, uuid, sizeof uuid);
        text_printf(to, "%s%d (%s, %s)", to->length ? ", " : "", i, text_quote_z(p.name), uuid);
    }
}

/* A UUID may be cut, as CUDA_VISIBLE_DEVICES takes it. A slice of a card is asked for by its own,
 * MIG-..; what the driver gives it as is GPU-.. or MIG-.. with the same digits. */
static int find_uuid(int count, const char *wish)
{
    const char *digits = strchr(wish, '-') + 1;
    for (int i = 0; i < count; i++) {
        char uuid[48];
        if (!cuda_device_uuid(i, uuid, sizeof uuid))
            continue;
        if (*digits && strncasecmp(uuid + 4, digits, strlen(digits)) == 0)
            return i;
    }
    return -1;
}

static bool wanted(const char *wish, int count, int *index, struct err *e)
{
    int64_t number;
    if (!wish || strcmp(wish, "auto") == 0) {
        *index = cuda_device_freest(count);
        return true;
    }
    if (strncmp(wish, "GPU-", 4) == 0 || strncmp(wish, "MIG-", 4) == 0)
        *index = find_uuid(count, wish);
    else if (text_to_int(strncmp(wish, "cuda:", 5) == 0 ? wish + 5 : wish, &number) && number >= 0)
        *index = number < count ? (int)number : -1;
    else
        *index = -1;
    if (*index >= 0)
        return true;
    struct text list = {};
    list_devices(count, &list);
    err_set(e, ERR_NO_GPU, "there is no device \"%s\"", text_quote_z(wish));
    err_expected(e, "one of %s", list.length ? list.data : "none");
    text_free(&list);
    return err_cause(e, REFUSAL_DEVICE);
}

static bool attribute(int *value, enum cudaDeviceAttr which, int device, struct err *e)
{
    cudaError_t code = call_DeviceGetAttribute(value, which, device);
    return code == cudaSuccess || cuda_refused(code, "cudaDeviceGetAttribute", e);
}

bool cuda_device_open(struct cuda_device *d, const char *wish, struct err *e)
{
    *d = cuda_device{};
    cudaError_t code = call_GetDeviceCount(&d->count);
    if (code != cudaSuccess || d->count < 1)
        return cuda_refused(code != cudaSuccess ? code : cudaErrorNoDevice, "cudaGetDeviceCount",
                            e);
    cudaDeviceProp p;
    if (!wanted(wish, d->count, &d->index, e))
        return false;
    code = call_GetDeviceProperties(&p, d->index);
    if (code != cudaSuccess)
        return cuda_refused(code, "cudaGetDeviceProperties", e);
    snprintf(d->name, sizeof d->name, "%.*s", (int)sizeof d->name - 1, p.name);
    uuid_text(&p, d->uuid, sizeof d->uuid);
    d->total = p.totalGlobalMem;
    int sms, major, minor, block_bytes, driver = 0;
    if (!attribute(&sms, cudaDevAttrMultiProcessorCount, d->index, e) ||
        !attribute(&major, cudaDevAttrComputeCapabilityMajor, d->index, e) ||
        !attribute(&minor, cudaDevAttrComputeCapabilityMinor, d->index, e) ||
        !attribute(&block_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, d->index, e))
        return false;
    d->sms = (unsigned)sms;
    d->block_bytes = (size_t)block_bytes;
    d->capability = 10 * major + minor;
    /* an emulated card rounds as its compiler does: its bits are no card's */
    if (strcmp(d->name, "emulated") == 0)
        snprintf(d->core, sizeof d->core, "emulated");
    else
        snprintf(d->core, sizeof d->core, "sm_%d%d", major, minor);
    if (call_DriverGetVersion(&driver) == cudaSuccess)
        snprintf(d->driver, sizeof d->driver, "CUDA %d.%d", driver / 1000, driver % 1000 / 10);
    code = call_SetDevice(d->index);
    return code == cudaSuccess || cuda_refused(code, "cudaSetDevice", e);
}

bool cuda_device_begin(cudaStream_t *stream, struct err *e)
{
    cudaError_t code = call_StreamCreateWithFlags(stream, cudaStreamNonBlocking);
    if (code != cudaSuccess)
        return cuda_refused(code, "cudaStreamCreateWithFlags", e);
    code = call_FuncSetAttribute(kernels_any(), cudaFuncAttributePreferredSharedMemoryCarveout,
                                 cudaSharedmemCarveoutDefault); /* what it has anyhow */
    if (code == cudaSuccess)
        return true;
    cuda_refused(code, "cudaFuncSetAttribute", e);
    if (!cuda_ended())
        call_StreamDestroy(*stream);
    return false;
}

uint64_t cuda_device_free(void)
{
    size_t left = 0, total = 0;
    return call_MemGetInfo(&left, &total) == cudaSuccess ? left : 0;
}
