/* gpu_launches.cu - launches, graph nodes, barriers of a grid and of clusters, copies. */
#define BLOCKS_MEET
#include "gpu_constants.cuh"

namespace cg = cooperative_groups;

/* --- kernels that are nothing but what is measured --- */

__global__ void nothing(int *sink)
{
    if (sink && threadIdx.x == 4096)
        *sink = 1;
}
/* Begins before the one in front has ended, and waits for its writes. */
static __global__ void nothing_early(int *sink)
{
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
#endif
    if (sink && threadIdx.x == 4096)
        *sink = 1;
}
static __global__ void grid_barriers(int count)
{
    for (int i = 0; i < count; i++)
        sync_grid();
}
static __global__ void cluster_barriers(int count)
{
#if __CUDA_ARCH__ >= 900
    for (int i = 0; i < count; i++)
        sync_cluster();
#endif
}
/* Every block reads its neighbour's shared memory, 16 bytes a lane. */
enum { REMOTE_BYTES = 64 * 1024 };
static __global__ void cluster_reads(float *sink, int count)
{
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(16) float4 own[];
    const int words = REMOTE_BYTES / 16;
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = (int)threadIdx.x; i < words; i += (int)blockDim.x)
        own[i] = make_float4((float)i, 1, 2, 3);
    cluster.sync();
    const float4 *other =
        cluster.map_shared_rank(own, (cluster.block_rank() + 1) % cluster.num_blocks());
    float sum = 0;
    for (int n = 0; n < count; n++)
        for (int i = (int)threadIdx.x; i < words; i += 4 * (int)blockDim.x) {
            float4 a = other[i], b = other[(i + blockDim.x) % words],
                   c = other[(i + 2 * blockDim.x) % words], d = other[(i + 3 * blockDim.x) % words];
            sum += a.x + b.y + c.z + d.w;
        }
    cluster.sync();
    if (sum == 1234.5f)
        *sink = sum;
#endif
}

/* --- launches and graphs --- */

enum { NODES = 1000 };
static cudaError_t launch_early(unsigned blocks, unsigned lanes)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(lanes);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    return cudaLaunchKernelEx(&config, nothing_early, (int *)NULL);
}

static void graph_of(const char *name, bool early, unsigned blocks, unsigned lanes)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaError_t code = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    for (int i = 0; code == cudaSuccess && i < NODES; i++) {
        if (early)
            code = launch_early(blocks, lanes);
        else
            nothing<<<blocks, lanes, 0, stream>>>(NULL);
    }
    cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (!had(name, code != cudaSuccess ? code : ended))
        return;
    double t0 = clock_now();
    if (!had(name, cudaGraphInstantiateWithFlags(&exec, graph, 0)))
        return;
    double took = clock_now() - t0;
    double ms = milliseconds([&] { cudaGraphLaunch(exec, stream); }, 10);
    if (had(name, cudaSuccess))
        say(name, ms * 1e3 / NODES, "us a node");
    if (!early && blocks == 1)
        say("graph of 1000 nodes: instantiate", took * 1e3, "ms");
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

void launches(void)
{
    double ms = milliseconds([] { nothing<<<1, 32, 0, stream>>>(NULL); }, 2000);
    say("launch on a stream, one after the other", ms * 1e3, "us");
    ms = milliseconds([] { launch_early(1, 32); }, 2000);
    if (had("launch on a stream, programmatic", cudaSuccess))
        say("launch on a stream, programmatic", ms * 1e3, "us");
    double t0 = clock_now();
    for (int i = 0; i < 500; i++)
        nothing<<<1, 32, 0, stream>>>(NULL);
    say("launch, of the host", (clock_now() - t0) / 500 * 1e6, "us");
    cudaStreamSynchronize(stream);
    graph_of("graph replay, 1 block of 32", false, 1, 32);
    graph_of("graph replay, 1 block of 32, programmatic", true, 1, 32);
    graph_of("graph replay, a block of 256 a multiprocessor", false, (unsigned)sms, 256);
    graph_of("graph replay, a block of 256 a multiprocessor, programmatic", true, (unsigned)sms,
             256);
}

/* --- barriers --- */

static void grid_of(unsigned blocks, unsigned lanes)
{
    char name[96];
    int many = 1000, none = 0;
    void *long_one[] = {&many}, *short_one[] = {&none};
    snprintf(name, sizeof name, "sync_grid, %u blocks of %u", blocks, lanes);
    const void *kernel = (const void *)grid_barriers;
    cudaError_t code =
        cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(lanes), short_one, 0, stream);
    if (!had(name, code))
        return;
    double with = milliseconds([&] { cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(lanes),
                                                                 long_one, 0, stream); }, 3);
    double base = milliseconds([&] { cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(lanes),
                                                                 short_one, 0, stream); }, 3);
    if (had(name, cudaSuccess))
        say(name, (with - base) * 1e3 / many, "us");
}

struct cluster_launch {
    cudaLaunchConfig_t config;
    cudaLaunchAttribute attribute;
};
static void cluster_of(struct cluster_launch *l, unsigned size, unsigned grid, unsigned lanes,
                       size_t bytes)
{
    *l = cluster_launch();
    l->config.gridDim = dim3(grid);
    l->config.blockDim = dim3(lanes);
    l->config.dynamicSmemBytes = bytes;
    l->config.stream = stream;
    l->config.attrs = &l->attribute;
    l->config.numAttrs = 1;
    l->attribute.id = cudaLaunchAttributeClusterDimension;
    l->attribute.val.clusterDim.x = size;
    l->attribute.val.clusterDim.y = l->attribute.val.clusterDim.z = 1;
}

static void clusters(unsigned size)
{
    char name[96];
    struct cluster_launch l;
    const int many = 1000, reads = 200;
    const float *none = NULL;
    snprintf(name, sizeof name, "sync_cluster, %u blocks of 256", size);
    cluster_of(&l, size, size, 256, 0);
    cudaFuncSetAttribute(cluster_barriers, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (had(name, cudaLaunchKernelEx(&l.config, cluster_barriers, 0))) {
        double with = milliseconds([&] { cudaLaunchKernelEx(&l.config, cluster_barriers, many); },
                                   3);
        double base = milliseconds([&] { cudaLaunchKernelEx(&l.config, cluster_barriers, 0); }, 3);
        if (had(name, cudaSuccess))
            say(name, (with - base) * 1e3 / many, "us");
    }
    cudaFuncSetAttribute(cluster_reads, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    cudaFuncSetAttribute(cluster_reads, cudaFuncAttributeMaxDynamicSharedMemorySize, REMOTE_BYTES);
    cluster_of(&l, size, size, 1024, REMOTE_BYTES);
    int active = 0;
    snprintf(name, sizeof name, "shared memory of a neighbour, clusters of %u", size);
    if (!had(name, cudaOccupancyMaxActiveClusters(&active, cluster_reads, &l.config)))
        return;
    for (int all = 0; all < 2; all++) {
        unsigned count = all ? (unsigned)active : 1;
        snprintf(name, sizeof name, "shared memory of a neighbour, %u cluster%s of %u", count,
                 count == 1 ? "" : "s", size);
        if (count == 0) {
            without(name, "none fits");
            continue;
        }
        cluster_of(&l, size, size * count, 1024, REMOTE_BYTES);
        double with = milliseconds([&] { cudaLaunchKernelEx(&l.config, cluster_reads,
                                                            (float *)none, reads + 10); }, 3);
        double base = milliseconds([&] { cudaLaunchKernelEx(&l.config, cluster_reads,
                                                            (float *)none, 10); }, 3);
        if (had(name, cudaSuccess))
            say(name, (double)size * count * reads * REMOTE_BYTES / ((with - base) * 1e-3) / 1e9,
                "GB/s");
    }
}

void barriers(void)
{
    const unsigned counts[] = {8, 16, (unsigned)sms};
    for (unsigned blocks : counts)
        grid_of(blocks, 256);
    clusters(8);
    clusters(16);
}

/* --- copies --- */

void copies(void)
{
    size_t bytes = (size_t)1 << 30, left = 0, total = 0;
    char *a = NULL, *b = NULL, *pinned = NULL;
    cudaMemGetInfo(&left, &total);
    while (bytes > (1 << 20) && bytes * 3 > left)
        bytes /= 2;
    if (!had("copies", cudaMalloc((void **)&a, bytes)) ||
        !had("copies", cudaMalloc((void **)&b, bytes)) ||
        !had("copies", cudaHostAlloc((void **)&pinned, bytes / 4, cudaHostAllocDefault)))
        return;
    memset(pinned, 7, bytes / 4);
    fill((float *)a, bytes / 4, 1);
    double ms = milliseconds(
        [&] { cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, stream); }, 3);
    say("device to device, read and written", 2.0 * (double)bytes / (ms * 1e-3) / 1e9, "GB/s");
    ms = milliseconds(
        [&] { cudaMemcpyAsync(a, pinned, bytes / 4, cudaMemcpyHostToDevice, stream); }, 2);
    say("host to device, pinned", (double)bytes / 4 / (ms * 1e-3) / 1e9, "GB/s");
    ms = milliseconds(
        [&] { cudaMemcpyAsync(pinned, a, bytes / 4, cudaMemcpyDeviceToHost, stream); }, 2);
    say("device to host, pinned", (double)bytes / 4 / (ms * 1e-3) / 1e9, "GB/s");
    double t0 = clock_now();
    for (int i = 0; i < 200; i++) {
        cudaMemcpyAsync(pinned, a, 128, cudaMemcpyDeviceToHost, stream);
        cudaStreamSynchronize(stream);
    }
    say("128 bytes to the host and wait", (clock_now() - t0) / 200 * 1e6, "us");
    had("copies", cudaSuccess);
    cudaFreeHost(pinned);
    cudaFree(a);
    cudaFree(b);
}
