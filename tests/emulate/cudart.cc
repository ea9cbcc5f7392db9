/* cudart.cc - the emulated runtime's front: each call is counted, may be failed, and is refused
 * after a sticky error; then devices, memory, copies and launches. */
#include "cudart.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cudart_state cudart = {2, 90, 13000, (size_t)64 << 20, cudaSuccess, {}, {}, 0, 0,
                              cudaSuccess, 0, 0, 0, false, 0, 0, 0, 0, false, 0, {}, cudaSuccess};
thread_local int cudart_device;
/* One call at a time: the emulator is one thread's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *const call_names[] = {
#define CALL(name, parameters, arguments) #name,
#include "../../kernels/card/cudart.def"
#undef CALL
};
enum { CALLS = sizeof call_names / sizeof *call_names };
static unsigned made[CALLS], made_in_all, after_fault;
static struct planned { char call[40]; unsigned left; cudaError_t code; } planned[16];
static unsigned planned_count;
static bool begun;

/* Tells `auto` that there are cards (backend/card.c). */
extern "C" {
extern const bool card_emulated;
const bool card_emulated = true;
}

/* --- errors --- */

static const struct { cudaError_t code; const char *name; bool sticky; } errors[] = {
#define ERROR(name, number, sticky) {name, #name, sticky},
    CUDA_ERRORS(ERROR)
#undef ERROR
};
enum { ERRORS = sizeof errors / sizeof *errors };

const char *cudaGetErrorName(cudaError_t code)
{
    for (unsigned i = 0; i < ERRORS; i++)
        if (errors[i].code == code)
            return errors[i].name;
    return "unrecognized error code";
}
const char *cudaGetErrorString(cudaError_t code) { return cudaGetErrorName(code); }
bool cudart_is_sticky(cudaError_t code)
{
    for (unsigned i = 0; i < ERRORS; i++)
        if (errors[i].code == code)
            return errors[i].sticky;
    return false;
}

cudaError_t cudart_give(cudaError_t code)
{
    if (cudart_is_sticky(code))
        cudart.sticky[cudart_device] = code;
    if (cudart_sticky() != cudaSuccess) {
        cudart.fault_told[cudart_device] = true;
        code = cudart_sticky();
    }
    if (code != cudaSuccess && code != cudaErrorNotReady)
        cudart.last = code;
    return code;
}

/* --- faults --- */

void cudart_fail(const char *call, unsigned nth, cudaError_t code)
{
    if (planned_count == 16 || nth == 0)
        abort();
    struct planned *p = &planned[planned_count++];
    snprintf(p->call, sizeof p->call, "%s", call);
    p->left = nth;
    p->code = code;
}
void cudart_break_after(unsigned kernels, cudaError_t code)
{
    cudart.break_after = kernels;
    cudart.break_code = code;
}
void cudart_hang_after(unsigned work)
{
    cudart.hang_after = work;
}
void cudart_vanish(void)
{
    for (cudaError_t &sticky : cudart.sticky)
        sticky = cudaErrorDevicesUnavailable;
}
void cudart_devices(unsigned count, size_t bytes)
{
    cudart.devices = count;
    cudart.bytes = bytes;
}

static void begin(void)
{
    begun = true;
    emulate_watch();
    cudart_plan();
    cudart_visible();
}

void cudart_restart(void)
{
    streams_drop_all();
    memory_hide(false);
    cudart = cudart_state{};
    cudart_devices(2, (size_t)64 << 20);
    cudart.capability = 90;
    cudart.driver = 13000;
    memset(made, 0, sizeof made);
    made_in_all = after_fault = planned_count = 0;
    cudart_device = 0;
    begun = false;
}
unsigned cudart_calls(const char *call)
{
    for (unsigned i = 0; call && i < CALLS; i++)
        if (strcmp(call_names[i], call) == 0)
            return made[i];
    return call ? 0 : made_in_all;
}
unsigned cudart_calls_after_fault(void)
{
    return after_fault;
}
unsigned cudart_left(void)
{
    return cudart.left;
}

enum {
#define CALL(name, parameters, arguments) AT_##name,
#include "../../kernels/card/cudart.def"
#undef CALL
};

/* The planned fault that this call on this device meets. */
static cudaError_t planned_fault(unsigned which, int device)
{
    for (unsigned i = 0; i < planned_count && cudart_faults_on(device); i++) {
        struct planned *p = &planned[i];
        bool same = strcmp(p->call, call_names[which]) == 0 || strcmp(p->call, "any") == 0;
        if (same && p->left && --p->left == 0)
            return p->code;
    }
    return cudaSuccess;
}

/* What every call does first; cudaSuccess: it goes on. */
static cudaError_t enter(unsigned which)
{
    if (!begun)
        begin();
    bool selects = which == AT_SetDevice;
    if (emulate.lane)
        emulate_find(FIND_HOST, "cuda%s is called from a kernel", call_names[which]);
    made[which]++;
    made_in_all++;
    bool told = !selects && cudart.fault_told[cudart_device];
    after_fault += told;
    if (told && cudart.reports) {
        fprintf(stderr, "emulated: cuda%s is called after a fault\n", call_names[which]);
        abort();
    }
    if (cudart_faults_on(cudart_device) && cudart.stall_after && --cudart.stall_after == 0) {
        pthread_mutex_unlock(&lock);
        for (;;)
            pause();
    }
    if (selects) /* do_SetDevice knows the device */
        return cudaSuccess;
    cudaError_t code = planned_fault(which, cudart_device);
    cudart.end_fails = which == AT_StreamEndCapture ? code : cudaSuccess; /* yet it ends */
    return code != cudart.end_fails ? code : cudart_sticky();
}

/* cudaNAME counts and fails; do_NAME does. */
#define CALL(name, parameters, arguments) \
    cudaError_t cuda##name parameters \
    { \
        pthread_mutex_lock(&lock); \
        cudaError_t error = enter(AT_##name); \
        error = AT_##name == AT_GetLastError || AT_##name == AT_PeekAtLastError \
                    ? do_##name arguments \
                    : cudart_give(error != cudaSuccess ? error : do_##name arguments); \
        pthread_mutex_unlock(&lock); \
        return error; \
    }
#include "../../kernels/card/cudart.def"
#undef CALL

/* It does not look at the card. */
cudaError_t do_PeekAtLastError(void)
{
    return cudart.fault_told[cudart_device] ? cudart_sticky() : cudart.last;
}
cudaError_t do_GetLastError(void)
{
    cudaError_t code = do_PeekAtLastError();
    cudart.last = cudaSuccess;
    return code;
}

/* --- devices --- */

static bool device_known(int device)
{
    return device >= 0 && (unsigned)device < cudart.devices;
}

cudaError_t do_GetDeviceCount(int *count)
{
    *count = (int)cudart.devices;
    return cudart.devices ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t do_SetDevice(int device)
{
    if (!device_known(device))
        return cudaErrorInvalidDevice;
    cudaError_t code = planned_fault(AT_SetDevice, device);
    if (code != cudaSuccess)
        return code;
    cudart_device = device;
    return cudart_sticky();
}
cudaError_t do_GetDeviceProperties(struct cudaDeviceProp *of, int device)
{
    if (!device_known(device))
        return cudaErrorInvalidDevice;
    *of = cudaDeviceProp{};
    snprintf(of->name, sizeof of->name, "emulated");
    of->uuid.bytes[15] = (char)(device < 16 && cudart.shown[device] ? cudart.shown[device]
                                                                    : device + 1);
    of->totalGlobalMem = cudart.bytes;
    of->major = (int)cudart.capability / 10;
    of->minor = (int)cudart.capability % 10;
    of->multiProcessorCount = 3;
    return cudaSuccess;
}
cudaError_t do_DeviceGetAttribute(int *value, enum cudaDeviceAttr which, int device)
{
    const int major = (int)cudart.capability / 10, minor = (int)cudart.capability % 10;
    const struct { enum cudaDeviceAttr which; int value; } known[] = {
        {cudaDevAttrMaxThreadsPerBlock, LANES},
        {cudaDevAttrMaxSharedMemoryPerBlock, SHARED_STATIC_MOST},
        {cudaDevAttrWarpSize, 32},
        {cudaDevAttrMaxRegistersPerBlock, 65536},
        {cudaDevAttrClockRate, 1000000},
        {cudaDevAttrMultiProcessorCount, 3},
        {cudaDevAttrIntegrated, 0},
        {cudaDevAttrComputeMode, 0},
        {cudaDevAttrEccEnabled, 1},
        {cudaDevAttrPciBusId, 1},
        {cudaDevAttrPciDeviceId, 0},
        {cudaDevAttrMemoryClockRate, 1000000},
        {cudaDevAttrGlobalMemoryBusWidth, 256},
        {cudaDevAttrL2CacheSize, 1 << 20},
        {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
        {cudaDevAttrAsyncEngineCount, 2},
        {cudaDevAttrUnifiedAddressing, 1},
        {cudaDevAttrComputeCapabilityMajor, major},
        {cudaDevAttrComputeCapabilityMinor, minor},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 228 * 1024},
        {cudaDevAttrCooperativeLaunch, 1},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, SHARED_MOST},
        {cudaDevAttrClusterLaunch, 1}};
    if (!device_known(device))
        return cudaErrorInvalidDevice;
    for (const auto &k : known)
        if (k.which == which) {
            *value = k.value;
            return cudaSuccess;
        }
    return cudaErrorInvalidValue;
}
cudaError_t do_DriverGetVersion(int *version)
{
    *version = (int)cudart.driver;
    return cudaSuccess;
}
cudaError_t do_RuntimeGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}
/* --- memory --- */

cudaError_t do_MemGetInfo(size_t *left, size_t *total)
{
    *total = cudart.bytes;
    *left = cudart.bytes - memory_used(cudart_device);
    return cudaSuccess;
}
cudaError_t do_Malloc(void **at, size_t bytes)
{
    if (capture_forbids())
        return cudaErrorStreamCaptureUnsupported;
    *at = NULL;
    if (bytes == 0)
        return cudaSuccess;
    if (bytes > cudart.bytes - memory_used(cudart_device))
        return cudaErrorMemoryAllocation;
    *at = memory_alloc(bytes, cudart_device);
    cudart.left += *at != NULL;
    return *at ? cudaSuccess : cudaErrorMemoryAllocation;
}
/* Waits for all work, as CUDA does. */
cudaError_t do_Free(void *at)
{
    if (capture_forbids())
        return cudaErrorStreamCaptureUnsupported;
    if (!at)
        return cudaSuccess;
    const struct memory_block *m = memory_find(at);
    if (!m || m->at != at || m->device < 0)
        return cudaErrorInvalidValue;
    streams_finish(m->device);
    memory_free(at, m->device);
    cudart.left--;
    return cudart_sticky();
}
cudaError_t do_HostAlloc(void **at, size_t bytes, unsigned flags)
{
    if (flags > 7)
        return cudaErrorInvalidValue;
    if (capture_forbids())
        return cudaErrorStreamCaptureUnsupported;
    *at = memory_alloc(bytes, -1);
    cudart.left += *at != NULL;
    return *at ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t do_FreeHost(void *at)
{
    if (capture_forbids())
        return cudaErrorStreamCaptureUnsupported;
    if (!at)
        return cudaSuccess;
    for (int d = 0; d < (int)cudart.devices; d++)
        streams_finish(d);
    if (!memory_free(at, -1))
        return cudaErrorInvalidValue;
    cudart.left--;
    return cudart_sticky();
}

/* 0: pageable, -1: pinned, 1: device; the whole range must lie in one allocation. */
static int place_of(const void *at, size_t bytes, bool *whole)
{
    const struct memory_block *m = memory_find(at);
    *whole = !m || (const unsigned char *)at + bytes <= m->at + m->bytes;
    return !m ? 0 : m->device < 0 ? -1 : 1;
}

cudaError_t do_MemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                           cudaStream_t stream)
{
    bool to_whole, from_whole;
    if (!stream_known(stream))
        return cudaErrorInvalidResourceHandle;
    if (bytes == 0)
        return cudaSuccess;
    int to_place = place_of(to, bytes, &to_whole), from_place = place_of(from, bytes, &from_whole);
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (!to_whole || !from_whole || kind > cudaMemcpyDefault ||
        (kind != cudaMemcpyDefault &&
         (to_device != (to_place == 1) || from_device != (from_place == 1)))) {
        emulate_find(FIND_HOST, "a copy of %zu bytes beyond an allocation, or of the wrong kind",
                     bytes);
        return cudaErrorInvalidValue;
    }
    struct emulated_node *w = work_new(WORK_COPY);
    w->to = to;
    w->from = from;
    w->bytes = bytes;
    if (from_place == 0 && !stream->capture) { /* pageable bytes are taken now */
        w->staged = malloc(bytes);
        if (!w->staged)
            abort();
        memcpy(w->staged, from, bytes);
    }
    cudaError_t error = work_put(stream, w);
    if (to_place == 0 && !stream->capture && error == cudaSuccess)
        stream_finish(stream); /* and pageable bytes are there when the call returns */
    return error;
}
cudaError_t do_MemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream)
{
    bool whole;
    if (!stream_known(stream))
        return cudaErrorInvalidResourceHandle;
    if (bytes == 0)
        return cudaSuccess;
    if (place_of(at, bytes, &whole) != 1 || !whole) {
        emulate_find(FIND_HOST, "memset of %zu bytes beyond an allocation", bytes);
        return cudaErrorInvalidValue;
    }
    struct emulated_node *w = work_new(WORK_SET);
    w->to = at;
    w->value = value;
    w->bytes = bytes;
    return work_put(stream, w);
}

/* --- kernels --- */

/* A runtime loads a kernel at its first use, and drivers before 12.3 refuse that in a capture. */
static bool kernel_loads(struct emulate_kernel *k)
{
    if (!k->loaded && capture_forbids()) {
        emulate_find(FIND_HOST, "%s is used for the first time while a stream is captured",
                     k->name);
        return false;
    }
    k->loaded = true;
    return true;
}

cudaError_t do_FuncSetAttribute(const void *kernel, enum cudaFuncAttribute which, int value)
{
    struct emulate_kernel *k = emulate_kernel_of(kernel);
    if (!k)
        return cudaErrorInvalidDeviceFunction;
    if (!kernel_loads(k))
        return cudaErrorStreamCaptureUnsupported;
    if (which == cudaFuncAttributePreferredSharedMemoryCarveout)
        return cudaSuccess;
    if (which != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 || value > SHARED_MOST)
        return cudaErrorInvalidValue;
    k->dynamic_limit = (size_t)value;
    k->asked = true;
    return cudaSuccess;
}

static bool grid_fits(const struct emulate_launch *l, size_t dynamic_limit)
{
    for (int i = 0; i < 3; i++)
        if (l->grid[i] == 0 || l->block[i] == 0 || (i && l->grid[i] > 65535))
            return false;
    return l->block[0] * l->block[1] * l->block[2] <= LANES && l->bytes <= dynamic_limit &&
           (l->cluster <= 8 && (!l->cluster || l->grid[0] % l->cluster == 0));
}

cudaError_t do_LaunchKernelExC(const cudaLaunchConfig_t *how, const void *kernel, void **arguments)
{
    struct emulate_kernel *k = emulate_kernel_of(kernel);
    if (!k)
        return cudaErrorInvalidDeviceFunction;
    if (!stream_known(how->stream) || how->stream->device != cudart_device)
        return cudaErrorInvalidResourceHandle;
    if (!kernel_loads(k))
        return cudaErrorStreamCaptureUnsupported;
    struct emulated_node *w = work_new(WORK_KERNEL);
    struct emulate_launch *l = &w->launch;
    l->name = k->name;
    l->kernel = kernel;
    l->call = k->call;
    const dim3 *sizes[] = {&how->gridDim, &how->blockDim};
    for (int i = 0; i < 2; i++) {
        unsigned *to = i ? l->block : l->grid;
        to[0] = sizes[i]->x;
        to[1] = sizes[i]->y;
        to[2] = sizes[i]->z;
    }
    l->bytes = how->dynamicSmemBytes;
    size_t most = k->asked ? SHARED_MOST : SHARED_STATIC_MOST;
    size_t spoken_for = k->asked ? k->dynamic_limit : l->bytes;
    l->beside = spoken_for < most ? most - spoken_for : 0;
    for (unsigned i = 0; i < how->numAttrs; i++) {
        if (how->attrs[i].id == cudaLaunchAttributeCooperative)
            l->together = how->attrs[i].val.cooperative != 0;
        else if (how->attrs[i].id == cudaLaunchAttributeClusterDimension)
            l->cluster = how->attrs[i].val.clusterDim.x;
    }
    size_t used = 0;
    for (unsigned i = 0; i < k->count; i++) {
        used = (used + 15) / 16 * 16;
        if (used + k->bytes[i] > sizeof w->arguments)
            abort();
        memcpy(w->arguments + used, arguments[i], k->bytes[i]);
        used += k->bytes[i];
    }
    bool many = l->together && l->grid[0] * l->grid[1] * l->grid[2] > BLOCKS - 1;
    if (!grid_fits(l, k->dynamic_limit) || many) {
        work_free(w);
        return many ? cudaErrorCooperativeLaunchTooLarge : cudaErrorInvalidConfiguration;
    }
    return work_put(how->stream, w);
}
