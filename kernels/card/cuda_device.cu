/* cuda_device.cu - the properties of a device, and its beginning. */
#include <stdio.h>
#include <string.h>

#include "card/cuda_device.cuh"
#include "kernels.h"

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
