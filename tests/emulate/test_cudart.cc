/* The emulated runtime: what it does, what it puts off, what it forbids, and every way to fail. */
#include "cudart.h"
#include "harness.h"

#include <thread>
#include <unistd.h>

KERNEL(add_one)(float *x, uint32_t n)
{
    if (global_id() < n)
        x[global_id()] += 1;
}
KERNEL(twice)(float *x, uint32_t n)
{
    if (global_id() < n)
        x[global_id()] *= 2;
}
KERNEL(huge)(float *x)
{
    DYNAMIC(float, room);
    room[thread_id()] = 1;
    sync_block();
    x[thread_id()] = room[31 - thread_id()];
}
KERNEL(both)(float *x)
{
    DYNAMIC(float, room);
    SHARED(float, beside, 16);
    if (thread_id() < 16)
        beside[thread_id()] = 1;
    room[thread_id()] = 1;
    sync_block();
    x[thread_id()] = room[31 - thread_id()];
}
KERNEL(diverge)(float *x)
{
    if (thread_id() == 0)
        return;
    sync_block();
    x[0] = 1;
}

KERNEL(fresh)(float *x)
{
    x[0] = 1;
}

/* A launch as the machine's wrapper makes it. */
template <class... P>
static cudaError_t start(cudaStream_t s, void (*kernel)(P...), unsigned blocks, unsigned lanes,
                         size_t bytes, int together, typename same<P>::type... a)
{
    void *arguments[] = {(void *)&a..., nullptr};
    struct cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = together;
    cudaLaunchConfig_t how = {dim3(blocks), dim3(lanes), bytes, s, &attribute, 1};
    launch_known("kernel", kernel);
    return cudaLaunchKernelExC(&how, (const void *)kernel, arguments);
}

#define IS(call, want, name) is_string(cudaGetErrorName(call), #want, name)
#define FINE(call) IS(call, cudaSuccess, #call)

/* Waits for all work of the stream. */
static cudaError_t finish(cudaStream_t s)
{
    cudaEvent_t e = NULL;
    cudaError_t code = cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    if (code == cudaSuccess)
        code = cudaEventRecord(e, s);
    if (code == cudaSuccess)
        do
            code = cudaEventQuery(e);
        while (code == cudaErrorNotReady);
    return code == cudaSuccess ? cudaEventDestroy(e) : code;
}
static cudaStream_t stream_new(void)
{
    cudaStream_t s = NULL;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    return s;
}
static float *floats(size_t n)
{
    void *at = NULL;
    cudaMalloc(&at, n * 4);
    return (float *)at;
}
static float *pinned(size_t n)
{
    void *at = NULL;
    cudaHostAlloc(&at, n * 4, cudaHostAllocPortable);
    return (float *)at;
}

static void test_devices(void)
{
    int count = 0, value = 0;
    struct cudaDeviceProp of;
    size_t left = 0, total = 0;
    FINE(cudaGetDeviceCount(&count));
    is_int(count, 2, "two devices");
    FINE(cudaGetDeviceProperties(&of, 1));
    is_string(of.name, "emulated", "the device says what it is");
    FINE(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 1));
    is_int(value, 3, "three multiprocessors");
    IS(cudaSetDevice(2), cudaErrorInvalidDevice, "no third device");
    IS(cudaGetLastError(), cudaErrorInvalidDevice, "the last error");
    IS(cudaGetLastError(), cudaSuccess, "is forgotten when asked for");
    FINE(cudaSetDevice(1));
    float *x = floats(1000);
    FINE(cudaMemGetInfo(&left, &total));
    is_int(total - left, 4000, "memory in use");
    FINE(cudaSetDevice(0));
    FINE(cudaMemGetInfo(&left, &total));
    is_int(total - left, 0, "the other device has all of its own");
    void *big = NULL;
    IS(cudaMalloc(&big, total + 1), cudaErrorMemoryAllocation, "more than there is");
    FINE(cudaFree(x));
    IS(cudaFree((char *)NULL + 64), cudaErrorInvalidValue, "what was never had");
    FINE(cudaFree(NULL));
    cudaGetLastError();
    cudaStream_t s = stream_new();
    FINE(cudaSetDevice(1));
    IS(start(s, add_one, 1, 32, 0, 0, (float *)NULL, 0), cudaErrorInvalidResourceHandle,
       "a stream of another device");
    cudaGetLastError();
    FINE(cudaSetDevice(0));
    FINE(cudaStreamDestroy(s));
    is_int(cudart_left(), 0, "nothing is left");
}

/* 16 numbers there, two kernels, and back; on two streams that meet by an event. */
static void test_streams(unsigned order)
{
    enum { N = 40 };
    cudaStream_t s = stream_new(), other = stream_new();
    cudaEvent_t copied = NULL, end = NULL;
    cudaEventCreateWithFlags(&copied, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&end, cudaEventDefault);
    float *x = floats(N), *host = pinned(N), here[N], back[N];
    for (int i = 0; i < N; i++)
        here[i] = host[i] = (float)i;
    shadow_written(host, N * 4);
    FINE(cudaMemcpyAsync(x, host, N * 4, cudaMemcpyHostToDevice, other));
    FINE(cudaEventRecord(copied, other));
    FINE(cudaStreamWaitEvent(s, copied, 0));
    FINE(start(s, add_one, 2, 32, 0, 0, x, N));
    FINE(start(s, twice, 2, 32, 0, 0, x, N));
    FINE(cudaEventRecord(end, s));
    if (order == ORDER_UP)
        IS(cudaEventQuery(copied), cudaErrorNotReady, "an event whose work has not begun");
    for (int i = 0; i < 50 && cudaEventQuery(copied) == cudaErrorNotReady; i++)
        ;
    IS(cudaEventQuery(copied), cudaSuccess, "who asks again and again gets there");
    FINE(cudaMemcpyAsync(back, x, N * 4, cudaMemcpyDeviceToHost, s));
    bool same = true; /* pageable memory: there when the call returns */
    for (int i = 0; i < N; i++)
        same &= back[i] == 2 * ((float)i + 1);
    ok(same, "order %u: copy, kernels, copy, over two streams", order);
    FINE(finish(s));
    FINE(cudaMemcpyAsync(x, here, N * 4, cudaMemcpyDefault, s));
    here[3] = -1; /* pageable bytes were taken by the call */
    FINE(cudaMemsetAsync(x + 5, 0, 4, s));
    FINE(cudaMemcpyAsync(host, x, N * 4, cudaMemcpyDeviceToHost, s));
    if (order == ORDER_UP)
        ok(host[5] == 5, "a copy to pinned memory is put off");
    FINE(finish(s));
    ok(host[5] == 0 && host[3] == 3, "and is there after the wait");
    FINE(cudaMemcpyAsync(x, host, N * 4, cudaMemcpyHostToDevice, s));
    if (order == ORDER_UP) {
        host[7] = 99; /* pinned bytes are read later */
        FINE(cudaMemcpyAsync(back, x, N * 4, cudaMemcpyDeviceToHost, s));
        ok(back[7] == 99, "pinned memory overwritten too early shows");
    }
    IS(cudaMemcpyAsync(x, back, N * 4 + 4, cudaMemcpyHostToDevice, s), cudaErrorInvalidValue,
       "a copy beyond an allocation");
    IS(cudaMemcpyAsync(x, back, N * 4, cudaMemcpyDeviceToHost, s), cudaErrorInvalidValue,
       "a copy of the wrong kind");
    is_int(emulate_found(FIND_HOST), 2, "are findings too");
    IS(start((cudaStream_t)NULL, twice, 1, 32, 0, 0, x, 1), cudaErrorInvalidResourceHandle,
       "the default stream");
    emulate_found(FIND_HOST);
    cudaGetLastError();
    FINE(cudaEventDestroy(copied));
    FINE(cudaEventDestroy(end));
    FINE(cudaStreamDestroy(s));
    FINE(cudaStreamDestroy(other));
    FINE(cudaFree(x));
    FINE(cudaFreeHost(host));
    is_int(cudart_left(), 0, "nothing is left");
}

static void test_launches(void)
{
    cudaStream_t s = stream_new();
    float *x = floats(64);
    cudaMemsetAsync(x, 0, 256, s);
    IS(start(s, twice, 0, 32, 0, 0, x, 1), cudaErrorInvalidConfiguration, "no blocks");
    IS(start(s, twice, 1, 2048, 0, 0, x, 1), cudaErrorInvalidConfiguration, "too many lanes");
    IS(start(s, huge, 1, 32, 60000, 0, x), cudaErrorInvalidConfiguration, "60000 dynamic bytes");
    FINE(cudaFuncSetAttribute((const void *)(void (*)(float *))huge,
                              cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    FINE(start(s, huge, 1, 32, 60000, 0, x));
    emulate_quiet(true);
    FINE(start(s, both, 1, 32, (48 << 10) - 64, 0, x));
    FINE(finish(s));
    is_int(emulate_found(FIND_LAUNCH), 0, "48 KiB of both kinds need not be asked for");
    start(s, both, 1, 32, (48 << 10) - 48, 0, x);
    finish(s);
    ok(emulate_found(FIND_LAUNCH) > 0, "16 bytes more do");
    emulate_quiet(false);
    FINE(cudaFuncSetAttribute((const void *)(void (*)(float *))both,
                              cudaFuncAttributeMaxDynamicSharedMemorySize, 48 << 10));
    FINE(start(s, both, 1, 32, (48 << 10) - 48, 0, x));
    FINE(finish(s));
    IS(start(s, twice, 100, 32, 0, 1, x, 1), cudaErrorCooperativeLaunchTooLarge,
       "a grid that is too large to be alive at once");
    FINE(start(s, twice, 15, 32, 0, 1, x, 1));
    IS(cudaPeekAtLastError(), cudaErrorCooperativeLaunchTooLarge, "refusals do not stick");
    FINE(finish(s));
    cudaGraph_t graph = NULL;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
    emulate_quiet(true);
    IS(start(s, fresh, 1, 32, 0, 0, x), cudaErrorStreamCaptureUnsupported,
       "a kernel that a capture would have to load");
    is_int(emulate_found(FIND_HOST), 1, "and found");
    emulate_quiet(false);
    IS(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated, "loses the capture");
    emulate_quiet(true);
    start(s, diverge, 1, 32, 0, 0, x);
    IS(finish(s), cudaErrorLaunchFailure, "a kernel that fails sticks");
    IS(cudaGetLastError(), cudaErrorLaunchFailure, "and is not forgotten");
    void *more = NULL;
    IS(cudaMalloc(&more, 4), cudaErrorLaunchFailure, "by any call");
    ok(cudart_calls_after_fault() == 2, "calls after a fault are counted");
    is_int(emulate_found(FIND_DIVERGED), 1, "and found");
    emulate_quiet(false);
    cudart_restart();
}

static void test_capture(unsigned order)
{
    enum { N = 32 };
    cudaStream_t s = stream_new(), side = stream_new();
    cudaEvent_t fork = NULL, join = NULL;
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
    float *x = floats(N), *y = floats(N), back[N];
    cudaMemsetAsync(x, 0, N * 4, s);
    cudaMemsetAsync(y, 0, N * 4, s);
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    FINE(start(s, add_one, 1, 32, 0, 0, x, 0)); /* loaded, and nothing done */
    FINE(start(s, twice, 1, 32, 0, 0, x, 0));
    FINE(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    FINE(start(s, add_one, 1, 32, 0, 0, x, N));
    FINE(cudaEventRecord(fork, s));
    FINE(cudaStreamWaitEvent(side, fork, 0));
    FINE(start(side, add_one, 1, 32, 0, 0, y, N));
    FINE(cudaEventRecord(join, side));
    FINE(start(s, twice, 1, 32, 0, 0, x, N));
    FINE(cudaStreamWaitEvent(s, join, 0));
    FINE(start(s, twice, 1, 32, 0, 0, y, N));
    ok(side->capture && side->capture == s->capture, "an event draws a stream into the capture");
    FINE(cudaStreamEndCapture(s, &graph));
    is_int(graph->count, 4, "four nodes");
    FINE(cudaMemcpyAsync(back, x, N * 4, cudaMemcpyDeviceToHost, s));
    ok(back[0] == 0, "what is captured is not done");
    FINE(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    FINE(cudaGraphDestroy(graph));
    for (int i = 0; i < 3; i++)
        FINE(cudaGraphLaunch(exec, s));
    FINE(cudaMemcpyAsync(back, x, N * 4, cudaMemcpyDeviceToHost, s));
    ok(back[0] == 14 && back[31] == 14, "order %u: three replays", order);
    FINE(cudaMemcpyAsync(back, y, N * 4, cudaMemcpyDeviceToHost, s));
    ok(back[0] == 14, "order %u: and of the other stream", order);
    FINE(cudaGraphExecDestroy(exec));

    /* what may not be done meanwhile */
    void *more = NULL;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
    IS(cudaMalloc(&more, 4), cudaErrorStreamCaptureUnsupported, "malloc while capturing");
    ok(s->capture && s->capture->invalid, "loses the capture");
    IS(start(s, twice, 1, 32, 0, 0, y, N), cudaErrorStreamCaptureInvalidated, "and all after it");
    IS(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated, "to its end");
    ok(graph == NULL, "with no graph");
    cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
    IS(cudaStreamQuery(s), cudaErrorStreamCaptureUnsupported, "waiting while capturing");
    cudaStreamEndCapture(s, &graph);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
    start(s, twice, 1, 32, 0, 0, x, N);
    cudaEventRecord(fork, s);
    IS(cudaEventQuery(fork), cudaErrorCapturedEvent, "an event of a capture cannot be asked");
    cudaStreamWaitEvent(side, fork, 0);
    start(side, add_one, 1, 32, 0, 0, y, N);
    IS(cudaStreamEndCapture(side, &graph), cudaErrorStreamCaptureUnmatched, "ended elsewhere");
    cudaStreamEndCapture(s, &graph);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
    start(s, twice, 1, 32, 0, 0, x, N);
    cudaEventRecord(fork, s);
    cudaStreamWaitEvent(side, fork, 0);
    start(side, add_one, 1, 32, 0, 0, y, N);
    IS(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureUnjoined, "a fork without a join");

    /* and by another thread */
    const enum cudaStreamCaptureMode modes[] = {cudaStreamCaptureModeThreadLocal,
                                                cudaStreamCaptureModeRelaxed,
                                                cudaStreamCaptureModeGlobal};
    for (enum cudaStreamCaptureMode mode : modes) {
        bool may = mode != cudaStreamCaptureModeGlobal;
        cudaStreamBeginCapture(s, mode);
        std::thread([&] {
            cudaError_t want = may ? cudaSuccess : cudaErrorStreamCaptureUnsupported;
            ok(cudaMalloc(&more, 4) == want, "malloc by another thread, mode %d", mode);
        }).join();
        cudaError_t want = may ? cudaSuccess : cudaErrorStreamCaptureInvalidated;
        ok(cudaStreamEndCapture(s, &graph) == want, "and the capture, mode %d", mode);
        if (may) {
            FINE(cudaGraphDestroy(graph));
            FINE(cudaFree(more));
        }
    }
    cudaGetLastError();
    is_int(emulate_findings(), 0, "no findings");
    cudart_restart();
}

static void test_faults(void)
{
    void *at = NULL;
    cudart_fail("Malloc", 3, cudaErrorMemoryAllocation);
    bool first = cudaMalloc(&at, 4) == cudaSuccess && cudaMalloc(&at, 4) == cudaSuccess;
    ok(first && cudaMalloc(&at, 4) == cudaErrorMemoryAllocation, "the third allocation fails");
    ok(cudaMalloc(&at, 4) == cudaSuccess, "and no other");
    is_int(cudart_calls("Malloc"), 4, "calls are counted");
    cudart_restart();

    cudart_fail("any", 2, cudaErrorECCUncorrectable);
    FINE(cudaSetDevice(0));
    IS(cudaSetDevice(0), cudaErrorECCUncorrectable, "the second call of all");
    IS(cudaSetDevice(0), cudaErrorECCUncorrectable, "sticks");
    cudart_restart();

    cudaStream_t s = stream_new();
    float *x = floats(32);
    cudaMemsetAsync(x, 0, 128, s);
    cudart_break_after(2, cudaErrorIllegalAddress);
    start(s, add_one, 1, 32, 0, 0, x, 32);
    FINE(finish(s));
    start(s, add_one, 1, 32, 0, 0, x, 32);
    IS(finish(s), cudaErrorIllegalAddress, "the second kernel breaks the device");
    cudart_restart();

    s = stream_new();
    x = floats(32);
    cudaEvent_t e = NULL;
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    cudart_hang_after(2);
    cudaMemsetAsync(x, 0, 128, s);
    start(s, add_one, 1, 32, 0, 0, x, 32);
    cudaEventRecord(e, s);
    bool never = true;
    for (int i = 0; i < 100; i++)
        never &= cudaEventQuery(e) == cudaErrorNotReady && cudaStreamQuery(s) == cudaErrorNotReady;
    ok(never, "work that hangs is never ready");
    cudart_restart();

    cudart_vanish();
    IS(cudaSetDevice(0), cudaErrorDevicesUnavailable, "a device that is gone");
    cudart_restart();
    setenv("DNN_EMULATE", "SetDevice:2:46,devices:1:4096", 1);
    int count = 0;
    cudaGetDeviceCount(&count);
    ok(count == 1 && cudaSetDevice(0) == cudaSuccess &&
           cudaSetDevice(0) == cudaErrorDevicesUnavailable, "faults from the environment");
    unsetenv("DNN_EMULATE");
    cudart_restart();
    emulate_quiet(true);
    float room[8];
    cudaMemcpyAsync(room, floats(8), 32, cudaMemcpyDeviceToHost, stream_new());
    is_int(emulate_found(FIND_UNINITIALISED), shadow_present,
           "bytes nobody wrote that come to the host");
    emulate_quiet(false);
    cudart_restart();
}

/* --- what ends a process --- */

static void host_touches(void)
{
    setenv("DNN_EMULATE", "hide", 1);
    cudart_restart();
    float *x = floats(8);
    x[0] = 1;
}
static void host_keeps_away(void)
{
    setenv("DNN_EMULATE", "hide", 1);
    cudart_restart();
    cudaStream_t s = stream_new();
    float *x = floats(32), *host = pinned(32);
    host[0] = 1;
    cudaMemsetAsync(x, 0, 128, s);
    start(s, add_one, 1, 32, 0, 0, x, 32);
    cudaMemcpyAsync(host, x, 128, cudaMemcpyDeviceToHost, s);
    finish(s);
    if (host[31] != 1)
        abort();
}
static void waits_for_a_hang(void)
{
    alarm(1);
    cudaStream_t s = stream_new();
    cudart_hang_after(1);
    cudaMemsetAsync(floats(8), 0, 32, s);
    finish(s);
}

int main(void)
{
    ok(dies(host_touches), "the host may not touch device memory");
    ok(!dies(host_keeps_away), "what the runtime does there for it is fine");
    ok(dies(waits_for_a_hang), "who waits for a hang waits for ever");
    emulate_quiet(false);
    cudart_restart();
    test_devices();
    for (EACH_ORDER(order)) {
        emulate_quiet(true);
        test_streams(order);
        emulate_quiet(false);
        test_capture(order);
    }
    emulate_order(ORDER_UP);
    test_launches();
    test_faults();
    is_int(emulate_findings(), 0, "no findings");
    return done();
}
