/* gpu_constants.cu - what this card costs, measured: the driver's start, launches and graph nodes
 * with and without programmatic launch, barriers of a grid and of clusters, shared memory of a
 * neighbour block, copies, and products by our gemm_mma beside cuBLASLt's, where that is found.
 * JSON to standard output; a number that could not be had is null, and says why.
 *
 *     gpu_constants            LIBCUBLASLT=path names the library, else the loader finds it
 *     gpu_constants --hold MIB instead takes all of the device's memory but that, says "held" and
 *                              keeps it until its standard input ends: a neighbour, for tests
 *
 * Times are medians of several rounds, by events of the device; those of the host by its clock.
 * Data are random, since zeros are faster than anybody's data. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.cuh"
#if defined(__has_include)
#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#define HAVE_CUBLASLT 1
#endif
#endif

namespace cg = cooperative_groups;

/* --- results --- */

static unsigned lines;
static void say(const char *name, double value, const char *unit)
{
    printf("%s\n  {\"name\": \"%s\", \"value\": %.5g, \"unit\": \"%s\"}", lines++ ? "," : "", name,
           value, unit);
    fflush(stdout);
}
static void without(const char *name, const char *why)
{
    printf("%s\n  {\"name\": \"%s\", \"value\": null, \"why\": \"%s\"}", lines++ ? "," : "", name,
           why);
    fflush(stdout);
}
/* True when there is no error; else the number is left out, and the error forgotten. */
static bool had(const char *name, cudaError_t code)
{
    if (code == cudaSuccess)
        code = cudaGetLastError();
    if (code == cudaSuccess)
        return true;
    without(name, cudaGetErrorName(code));
    cudaGetLastError();
    return false;
}

static cudaStream_t stream;
static int sms;

/* Milliseconds of one call of `work`, which puts `each` of them on the stream; the median of 7
 * rounds after one that is not counted. Negative: it failed. */
template <class W> static double milliseconds(W work, int each)
{
    enum { ROUNDS = 7 };
    double took[ROUNDS];
    cudaEvent_t from, to;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    work();
    if (cudaStreamSynchronize(stream) != cudaSuccess)
        return -1;
    for (int i = 0; i < ROUNDS; i++) {
        float ms = 0;
        cudaEventRecord(from, stream);
        for (int k = 0; k < each; k++)
            work();
        cudaEventRecord(to, stream);
        if (cudaEventSynchronize(to) != cudaSuccess)
            return -1;
        cudaEventElapsedTime(&ms, from, to);
        double v = ms / each;
        int at = i;
        for (; at > 0 && took[at - 1] > v; at--)
            took[at] = took[at - 1];
        took[at] = v;
    }
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    return took[ROUNDS / 2];
}

/* --- kernels that are nothing but what is measured --- */

static __global__ void nothing(int *sink)
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
        cg::this_grid().sync();
}
static __global__ void cluster_barriers(int count)
{
#if __CUDA_ARCH__ >= 900
    for (int i = 0; i < count; i++)
        cg::this_cluster().sync();
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
static __global__ void random_fill(float *at, size_t n, unsigned seed)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        unsigned long long x = (i + 1) * 6364136223846793005ull + seed;
        x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdull;
        x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ull;
        at[i] = (float)(x >> 40) / 8388608.0f - 1.0f;
    }
}
static __global__ void round_fill(__nv_bfloat16 *at, const float *from, size_t n)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        at[i] = __float2bfloat16(from[i]);
}

/* --- start --- */

static bool start(void)
{
    double t0 = clock_now();
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*init)(unsigned) = driver ? (int (*)(unsigned))dlsym(driver, "cuInit") : NULL;
    if (!init || init(0) != 0)
        return false;
    double t1 = clock_now();
    if (cudaFree(NULL) != cudaSuccess)
        return false;
    double t2 = clock_now();
    cudaFuncAttributes a;
    cudaFuncGetAttributes(&a, nothing);
    double t3 = clock_now();
    nothing<<<1, 32>>>(NULL);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return false;
    double t4 = clock_now();
    nothing<<<1, 32>>>(NULL);
    cudaDeviceSynchronize();
    double t5 = clock_now();
    say("libcuda load and cuInit", (t1 - t0) * 1e3, "ms");
    say("context", (t2 - t1) * 1e3, "ms");
    say("module load", (t3 - t2) * 1e3, "ms");
    say("first launch and wait", (t4 - t3) * 1e3, "ms");
    say("second launch and wait", (t5 - t4) * 1e6, "us");
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    return true;
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

static void launches(void)
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

/* --- copies --- */

static void copies(void)
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
    random_fill<<<1024, 256, 0, stream>>>((float *)a, bytes / 4, 1);
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

/* --- products --- */

struct shape { uint32_t m, n, k; };
static const struct shape shapes[] = {
    {256, 128, 128}, {4096, 512, 512}, {65536, 512, 512}, {8192, 8192, 8192}};
static float *a32, *b32, *c32, *check32;
static __nv_bfloat16 *a16, *b16;

static double rate(const struct shape *s, double ms)
{
    return 2.0 * s->m * s->n * s->k / (ms * 1e-3) / 1e12;
}

static struct gemm product_of(const struct shape *s, float *c)
{
    struct gemm g = {};
    g.c = c;
    g.a = a32;
    g.b = b32;
    g.m = s->m;
    g.n = s->n;
    g.k = s->k;
    g.parts = 1;
    g.a_row = s->k;
    g.b_row = g.c_row = s->n;
    g.a_col = g.b_col = 1;
    return g;
}

/* Largest difference over the largest value, of the first rows. */
static double distance(const struct shape *s)
{
    size_t n = (size_t)s->n * (s->m < 64 ? s->m : 64);
    float *x = (float *)malloc(n * 4), *y = (float *)malloc(n * 4);
    cudaMemcpy(x, c32, n * 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(y, check32, n * 4, cudaMemcpyDeviceToHost);
    double worst = 0, largest = 1e-30;
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)x[i] - (double)y[i]);
        worst = d <= worst ? worst : d;
        largest = fmax(largest, fabs((double)y[i]));
    }
    free(x);
    free(y);
    return worst / largest;
}

static void ours(struct machine *m, const struct shape *s)
{
    static const enum product kinds[] = {PRODUCT_FP32, PRODUCT_TF32, PRODUCT_BF16, PRODUCT_FP16};
    static const char *const names[] = {"fp32", "tf32", "bf16", "fp16"};
    struct gemm reference = product_of(s, check32), g = product_of(s, c32);
    gemm_simt(m, &reference);
    for (int i = 0; i < 4; i++) {
        char name[96];
        bool big = (double)s->m * s->n * s->k > 1e11;
        snprintf(name, sizeof name, "product %u x %u x %u, ours, %s", s->m, s->n, s->k, names[i]);
        cudaMemsetAsync(c32, 0xff, (size_t)s->m * s->n * 4, stream);
        double ms = milliseconds([&] { gemm_mma(m, &g, kinds[i]); }, big ? 1 : 20);
        if (!had(name, cudaSuccess))
            return;
        say(name, rate(s, ms), "TFLOP/s");
        snprintf(name, sizeof name, "product %u x %u x %u, ours, %s: from fp32's", s->m, s->n, s->k,
                 names[i]);
        say(name, distance(s), "of the largest");
    }
}

#ifdef HAVE_CUBLASLT
static void *lt;
#define LT(name) ((decltype(&name))dlsym(lt, #name))
static cublasLtHandle_t handle;
static void *workspace;
enum { WORKSPACE = 32 << 20 };

static void lt_open(void)
{
    const char *named = getenv("LIBCUBLASLT");
    static const char *const known[] = {"libcublasLt.so.13", "libcublasLt.so.12",
                                        "libcublasLt.so.11", "libcublasLt.so"};
    double t0 = clock_now();
    if (named)
        lt = dlopen(named, RTLD_NOW);
    for (unsigned i = 0; !lt && i < sizeof known / sizeof *known; i++)
        lt = dlopen(known[i], RTLD_NOW);
    if (!lt || !LT(cublasLtCreate) || LT(cublasLtCreate)(&handle) != CUBLAS_STATUS_SUCCESS) {
        without("cublasLt", lt ? "it gives no handle" : "not found");
        lt = NULL;
        return;
    }
    say("cublasLt load and create", (clock_now() - t0) * 1e3, "ms");
    cudaMalloc(&workspace, WORKSPACE);
}

/* Row-major C = A B is column-major C' = B' A'. */
static void theirs(const struct shape *s, bool wide)
{
    char name[96];
    snprintf(name, sizeof name, "product %u x %u x %u, cublasLt, %s", s->m, s->n, s->k,
             wide ? "tf32" : "bf16");
    cublasLtMatmulDesc_t how;
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulPreference_t wish;
    cublasLtMatmulHeuristicResult_t best = {};
    cudaDataType_t in = wide ? CUDA_R_32F : CUDA_R_16BF, out = in;
    size_t most = WORKSPACE;
    int found = 0;
    float one = 1, zero = 0;
    LT(cublasLtMatmulDescCreate)(&how, wide ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                                 CUDA_R_32F);
    LT(cublasLtMatrixLayoutCreate)(&a, in, s->n, s->k, s->n);
    LT(cublasLtMatrixLayoutCreate)(&b, in, s->k, s->m, s->k);
    LT(cublasLtMatrixLayoutCreate)(&c, out, s->n, s->m, s->n);
    LT(cublasLtMatmulPreferenceCreate)(&wish);
    LT(cublasLtMatmulPreferenceSetAttribute)(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most,
                                             sizeof most);
    LT(cublasLtMatmulAlgoGetHeuristic)(handle, how, a, b, c, c, wish, 1, &best, &found);
    const void *first = wide ? (const void *)b32 : b16, *second = wide ? (const void *)a32 : a16;
    auto work = [&] {
        return LT(cublasLtMatmul)(handle, how, &one, first, a, second, b, &zero, c32, c, c32, c,
                                  &best.algo, workspace, WORKSPACE, stream);
    };
    double t0 = clock_now();
    if (!found || work() != CUBLAS_STATUS_SUCCESS) {
        without(name, found ? "it refuses" : "it has no way");
        return;
    }
    cudaStreamSynchronize(stream);
    if (s == &shapes[0] && wide)
        say("cublasLt, first product and wait", (clock_now() - t0) * 1e3, "ms");
    bool big = (double)s->m * s->n * s->k > 1e11;
    double ms = milliseconds(work, big ? 3 : 20);
    if (had(name, cudaSuccess))
        say(name, rate(s, ms), "TFLOP/s");
}
#endif

static void products(void)
{
    struct err e = {};
    struct machine_options o = {};
    o.backend = "cuda";
    double t0 = clock_now();
    struct machine *m = machine_open(&o, &e);
    if (!m) {
        without("product", "the machine does not open");
        return;
    }
    say("machine_open with a context there", (clock_now() - t0) * 1e3, "ms");
    cudaStream_t own = stream;
    stream = card_of(m)->stream;
    const size_t n = (size_t)8192 * 8192;
    if (!had("product", cudaMalloc((void **)&a32, 4 * n)) ||
        !had("product", cudaMalloc((void **)&b32, 4 * n)) ||
        !had("product", cudaMalloc((void **)&c32, 4 * n)) ||
        !had("product", cudaMalloc((void **)&check32, 4 * n)) ||
        !had("product", cudaMalloc((void **)&a16, 2 * n)) ||
        !had("product", cudaMalloc((void **)&b16, 2 * n)))
        return;
    random_fill<<<1024, 256, 0, stream>>>(a32, n, 1);
    random_fill<<<1024, 256, 0, stream>>>(b32, n, 2);
    round_fill<<<1024, 256, 0, stream>>>(a16, a32, n);
    round_fill<<<1024, 256, 0, stream>>>(b16, b32, n);
    had("product", cudaStreamSynchronize(stream));
    for (const struct shape &s : shapes)
        ours(m, &s);
#ifdef HAVE_CUBLASLT
    lt_open();
    for (unsigned i = 0; lt && i < sizeof shapes / sizeof *shapes; i++) {
        theirs(&shapes[i], true);
        theirs(&shapes[i], false);
    }
#else
    without("cublasLt", "its header was not there at the build");
#endif
    stream = own;
    machine_close(m);
}

/* Plain allocations, ever smaller ones where a large one is refused. */
static int hold(size_t leave)
{
    size_t left = 0, total = 0, piece = (size_t)16 << 30;
    if (cudaMemGetInfo(&left, &total) != cudaSuccess)
        return 69;
    while (left > leave && piece >= (1 << 20)) {
        void *at;
        size_t wish = left - leave < piece ? left - leave : piece;
        if (cudaMalloc(&at, wish) != cudaSuccess) {
            cudaGetLastError();
            piece /= 2;
        }
        cudaMemGetInfo(&left, &total);
        if (left < leave + (1 << 20))
            break;
    }
    printf("held, %zu MiB of %zu are left\n", left >> 20, total >> 20);
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}

int main(int count, char **words)
{
    cudaDeviceProp p;
    if (count == 3 && strcmp(words[1], "--hold") == 0)
        return hold((size_t)strtoul(words[2], NULL, 10) << 20);
    printf("{\"program\": \"gpu_constants\", \"constants\": [");
    if (!start()) {
        printf("], \"skipped\": \"no device\"}\n");
        fprintf(stderr, "gpu_constants: skipped, which is not a pass: no device\n");
        return 69;
    }
    launches();
    const unsigned counts[] = {8, 16, (unsigned)sms};
    for (unsigned blocks : counts)
        grid_of(blocks, 256);
    clusters(8);
    clusters(16);
    copies();
    products();
    int runtime = 0, driver = 0;
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);
    cudaGetDeviceProperties(&p, 0);
    printf("\n ],\n \"device\": \"%s\", \"sm\": %d, \"multiprocessors\": %d, \"l2_bytes\": %d,",
           p.name, p.major * 10 + p.minor, p.multiProcessorCount, p.l2CacheSize);
    printf(" \"bytes\": %zu, \"runtime\": %d, \"driver\": %d, \"left\": \"%s\"}\n",
           p.totalGlobalMem, runtime, driver, cudaGetErrorName(cudaDeviceSynchronize()));
    return cudaDeviceSynchronize() != cudaSuccess;
}
