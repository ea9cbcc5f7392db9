/* gpu_products.cu - products by our kernels beside cuBLASLt's, where that is found. */
#include <cuda_bf16.h>
#include <dlfcn.h>

#include "form.cuh"
#include "gpu_constants.cuh"
#if defined(__has_include)
#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#define HAVE_CUBLASLT 1
#endif
#endif

static __global__ void round_fill(__nv_bfloat16 *at, const float *from, size_t n)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        at[i] = __float2bfloat16(from[i]);
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
    g.c = plain_act(c);
    g.a = plain_act(a32);
    g.b = plain_act(b32);
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

static void say_ours(const struct shape *s, const char *how, double ms)
{
    char name[96];
    snprintf(name, sizeof name, "product %u x %u x %u, ours, %s", s->m, s->n, s->k, how);
    say(name, rate(s, ms), "TFLOP/s");
    snprintf(name, sizeof name, "product %u x %u x %u, ours, %s: from fp32's", s->m, s->n, s->k,
             how);
    say(name, distance(s), "of the largest");
}

/* Every precision, and bf16 with operands that lie in it, as a training keeps them. */
static void ours(struct machine *m, const struct shape *s)
{
    bool big = (double)s->m * s->n * s->k > 1e11;
    static const enum product kinds[] = {PRODUCT_FP32, PRODUCT_TF32, PRODUCT_BF16, PRODUCT_FP16};
    static const char *const names[] = {"fp32", "tf32", "bf16", "fp16", "bf16 kept"};
    struct gemm reference = product_of(s, check32), g = product_of(s, c32);
    gemm_simt(m, &reference);
    for (int i = 0; i < 5; i++) {
        enum product how = i < 4 ? kinds[i] : PRODUCT_BF16;
        if (i == 4) {
            g.a = form_act(a16, FORM_BF16);
            g.b = form_act(b16, FORM_BF16);
        }
        if (card_of(m)->device.capability < 80 && (how == PRODUCT_TF32 || how == PRODUCT_BF16)) {
            without(names[i], "the card has no tensor cores for it");
            continue;
        }
        cudaMemsetAsync(c32, 0xff, (size_t)s->m * s->n * 4, stream);
        double ms = milliseconds([&] { gemm_mma(m, &g, how); }, big ? 1 : 20);
        if (!had(names[i], cudaSuccess))
            return;
        say_ours(s, names[i], ms);
    }
}

/* A layer as a training has it: operands, bias, relu, and the result in bf16. */
static void whole_layer(struct machine *m, const struct shape *s)
{
    static const char *const names[] = {"wide", "wgmma"};
    int each = (double)s->m * s->n * s->k > 1e11 ? 1 : 20;
    bool can = gemm_wgmma_built() && card_of(m)->device.capability == 90;
    struct gemm g = product_of(s, c32);
    g.a = form_act(a16, FORM_BF16);
    g.b = form_act(b16, FORM_BF16);
    g.c = form_act(c32, FORM_BF16);
    g.bias = b32;
    g.act = ACT_RELU;
    for (int i = 0; i < (can ? 2 : 1) && card_of(m)->device.capability >= 80; i++) {
        char name[96];
        double ms = milliseconds(
            [&] { (i ? gemm_wgmma_start : gemm_wide_start)(m, &g, PRODUCT_BF16); }, each);
        snprintf(name, sizeof name, "product %u x %u x %u, %s, bf16 with bias and relu to bf16",
                 s->m, s->n, s->k, names[i]);
        if (had(name, cudaSuccess))
            say(name, rate(s, ms), "TFLOP/s");
    }
}

/* Products of warpgroups beside their twin, of fp32 rounded on its way and of what lies in 16 bits.
 */
static void twins(struct machine *m, const struct shape *s)
{
    static const struct { enum product how; bool copied; const char *name; } kinds[] = {
        {PRODUCT_BF16, false, "bf16"},
        {PRODUCT_FP16, false, "fp16"},
        {PRODUCT_BF16, true, "bf16 in memory"}};
    int each = (double)s->m * s->n * s->k > 1e11 ? 1 : 20;
    bool can = gemm_wgmma_built() && card_of(m)->device.capability == 90;
    for (int i = 0; can && i < 3; i++) {
        char name[96];
        struct gemm twin = product_of(s, check32), own = product_of(s, c32);
        if (kinds[i].copied) {
            twin.a = own.a = form_act(a16, FORM_BF16);
            twin.b = own.b = form_act(b16, FORM_BF16);
        }
        cudaMemsetAsync(c32, 0xff, (size_t)s->m * s->n * 4, stream);
        double ms = milliseconds([&] { gemm_wide_start(m, &twin, kinds[i].how); }, each);
        snprintf(name, sizeof name, "product %u x %u x %u, wide, %s", s->m, s->n, s->k,
                 kinds[i].name);
        if (!had(name, cudaSuccess))
            return;
        say(name, rate(s, ms), "TFLOP/s");
        ms = milliseconds([&] { gemm_wgmma_start(m, &own, kinds[i].how); }, each);
        snprintf(name, sizeof name, "product %u x %u x %u, wgmma, %s", s->m, s->n, s->k,
                 kinds[i].name);
        if (!had(name, cudaSuccess))
            return;
        say(name, rate(s, ms), "TFLOP/s");
        snprintf(name, sizeof name, "product %u x %u x %u, wgmma, %s: from wide", s->m, s->n,
                 s->k, kinds[i].name);
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

/* Row-major C = A B is column-major C' = B' A'. wide: tf32; else of bf16, C in it or in fp32, as
 * the gradient of a weight is. */
static void theirs(const struct shape *s, bool wide, bool to_fp32)
{
    char name[96];
    snprintf(name, sizeof name, "product %u x %u x %u, cublasLt, %s", s->m, s->n, s->k,
             wide ? "tf32" : to_fp32 ? "bf16 to fp32" : "bf16");
    cublasLtMatmulDesc_t how;
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulPreference_t wish;
    cublasLtMatmulHeuristicResult_t best = {};
    cudaDataType_t in = wide ? CUDA_R_32F : CUDA_R_16BF, out = to_fp32 ? CUDA_R_32F : in;
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

void products(void)
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
    fill(a32, n, 1);
    fill(b32, n, 2);
    round_fill<<<1024, 256, 0, stream>>>(a16, a32, n);
    round_fill<<<1024, 256, 0, stream>>>(b16, b32, n);
    had("product", cudaStreamSynchronize(stream));
    for (const struct shape &s : shapes) {
        ours(m, &s);
        twins(m, &s);
        whole_layer(m, &s);
    }
#ifdef HAVE_CUBLASLT
    lt_open();
    for (unsigned i = 0; lt && i < sizeof shapes / sizeof *shapes; i++) {
        theirs(&shapes[i], true, true);
        theirs(&shapes[i], false, false);
        theirs(&shapes[i], false, true);
    }
#else
    without("cublasLt", "its header was not there at the build");
#endif
    stream = own;
    machine_close(m);
}
