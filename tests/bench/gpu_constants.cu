/* gpu_constants.cu - what this card costs, measured: the driver's start, launches and graph nodes
 * with and without programmatic launch, barriers of a grid and of clusters, shared memory of a
 * neighbour block, copies, and products by our gemm_mma beside cuBLASLt's, where that is found.
 * JSON to standard output; a number that could not be had is null, and says why.
 *
 *     gpu_constants            LIBCUBLASLT=path names the library, else the loader finds it
 *     gpu_constants --hold MIB instead takes all of the device's memory but that, says "held" and
 *                              keeps it until its standard input ends: a neighbour, for tests
 *
 * Times are medians of several rounds, by events of the device; those of the host by its clock. */
#include <dlfcn.h>

#include "gpu_constants.cuh"

cudaStream_t stream;
int sms;

/* --- results --- */

static unsigned lines;
void say(const char *name, double value, const char *unit)
{
    printf("%s\n  {\"name\": \"%s\", \"value\": %.5g, \"unit\": \"%s\"}", lines++ ? "," : "", name,
           value, unit);
    fflush(stdout);
}
void without(const char *name, const char *why)
{
    printf("%s\n  {\"name\": \"%s\", \"value\": null, \"why\": \"%s\"}", lines++ ? "," : "", name,
           why);
    fflush(stdout);
}
/* True when there is no error; else the number is left out, and the error forgotten. */
bool had(const char *name, cudaError_t code)
{
    if (code == cudaSuccess)
        code = cudaGetLastError();
    if (code == cudaSuccess)
        return true;
    without(name, cudaGetErrorName(code));
    cudaGetLastError();
    return false;
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
void fill(float *at, size_t n, unsigned seed)
{
    random_fill<<<1024, 256, 0, stream>>>(at, n, seed);
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
    barriers();
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
