/* cuda_device.cu - which GPU, and what it is. Only the one that is chosen is touched, but for
 * those that auto tries and passes over (cuda_freest.cu). */
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

/* What it is, as far as that is known without a context. */
static bool describe(struct cuda_device *d, struct err *e)
{
    cudaDeviceProp p;
    cudaError_t code = call_GetDeviceProperties(&p, d->index);
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
    return true;
}

static unsigned living; /* machines of this process */

void cuda_device_end(void)
{
    living--;
}

bool cuda_device_begin(struct cuda_device *d, int index, cudaStream_t *stream, struct err *e)
{
    d->index = index;
    if (!describe(d, e))
        return false;
    cudaError_t code = call_SetDevice(index);
    if (code != cudaSuccess)
        return cuda_refused(code, "cudaSetDevice", e);
    const char *call = "cudaStreamCreateWithFlags";
    code = call_StreamCreateWithFlags(stream, cudaStreamNonBlocking);
    bool streams = code == cudaSuccess;
    if (streams) {
        call = "cudaFuncSetAttribute";
        code = call_FuncSetAttribute(kernels_any(), cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutDefault); /* what it has anyhow */
    }
    if (code == cudaSuccess) {
        living++;
        return true;
    }
    cuda_refused(code, call, e);
    if (streams && !cuda_ended())
        call_StreamDestroy(*stream);
    if (!cuda_ended() && !living) /* it would take the memory of one that lives there */
        call_DeviceReset(); /* another card may serve: no context stays on this one */
    return false;
}

bool cuda_device_open(struct cuda_device *d, const char *wish, cudaStream_t *stream, struct err *e)
{
    int index;
    *d = cuda_device{};
    cudaError_t code = call_GetDeviceCount(&d->count);
    if (code != cudaSuccess || d->count < 1)
        return cuda_refused(code != cudaSuccess ? code : cudaErrorNoDevice, "cudaGetDeviceCount",
                            e);
    if (!wish || strcmp(wish, "auto") == 0)
        return cuda_device_auto(d, stream, e);
    return wanted(wish, d->count, &index, e) && cuda_device_begin(d, index, stream, e);
}

uint64_t cuda_device_free(void)
{
    size_t left = 0, total = 0;
    return call_MemGetInfo(&left, &total) == cudaSuccess ? left : 0;
}
