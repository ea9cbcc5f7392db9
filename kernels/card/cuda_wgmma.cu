/* cuda_wgmma.cu - decides whether warpgroup kernels (gemm_wgmma.cu) or their twins (gemm_wide.cu,
 * gemm_half.cu) serve large 16-bit products, and stores that in the plan. They were right on an
 * H200, and up to 1.4 times as fast (tests/bench/results/2026-11-27-h200-before.txt). In each
 * process they must first agree with their twins in a trial. A test can force or forbid them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card/cuda_products.cuh"
#include "form.cuh"

extern "C" {
#include "base/fault.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
}

static const char word[] = "wgmma";

/* --- the trial: a product of each layout by both, more than a tile each way, and ragged --- */

/* K is long enough to use a ring of stages anew. The emulator is slow: a shorter K for it. */
#if defined(__CUDACC__)
enum { TRY_K = 456 };
static const bool AUTO_TRIES = true;
#else
enum { TRY_K = 200 };
static const bool AUTO_TRIES = false; /* a second for each command */
#endif
enum { TRY_M = 136, TRY_N = 152, LAYOUTS = 3, PARTS = 2, TRY_A = TRY_M * TRY_K,
       TRY_B = TRY_N * TRY_K, TRY_C = TRY_M * TRY_N, TRY_PART = TRY_C + TRY_N };
/* Seconds after which the trial counts as a hang. */
static const double TRIAL_SECONDS = 10;
/* Results: by the twin, by warpgroups, by warpgroups again in their other way. A part holds C, then
 * the column sums of B. */
enum { BY_TWIN, BY_WARPGROUPS, AGAIN, RESULTS };
struct tried {
    float a[TRY_A], b[TRY_B], c[RESULTS][PARTS * TRY_PART];
    uint16_t a16[TRY_A], b16[TRY_B];
};

static void fill_both_signs(float *at, size_t n, size_t seed)
{
    for (size_t i = 0; i < n; i++)
        at[i] = (float)((i * 4 + seed) * 2654435761u >> 8 & 0xffff) / 32768 - 1;
}

/* The last layout is a weight gradient: two parts, with sums. */
static bool has_parts(int layout)
{
    return layout == LAYOUTS - 1;
}

/* copied: the operands are 16-bit. */
static bool product_of_both(struct card *m, struct tried *host, struct tried *at, int layout,
                            bool copied)
{
    struct gemm g = {};
    bool a_fast = layout < 2, b_fast = layout == 1;
    uint32_t form = form_product(m->products.how);
    g.a = copied ? form_act(at->a16, form) : plain_act(at->a);
    g.b = copied ? form_act(at->b16, form) : plain_act(at->b);
    g.m = TRY_M;
    g.n = g.c_row = TRY_N;
    g.k = TRY_K;
    g.parts = has_parts(layout) ? PARTS : 1;
    g.c_part = TRY_PART;
    g.a_row = a_fast ? TRY_K : 1;
    g.a_col = a_fast ? 1 : TRY_M;
    g.b_row = b_fast ? 1 : TRY_N;
    g.b_col = b_fast ? TRY_K : 1;
    bool good = CUDA(m, MemcpyAsync,
                     (at, host, sizeof *at, cudaMemcpyHostToDevice, m->stream));
    if (good && copied) {
        cuda_round(&m->head, at->a16, at->a, form, TRY_A);
        cuda_round(&m->head, at->b16, at->b, form, TRY_B);
    }
    for (int by = 0; by < RESULTS && good && !cuda_lost(m); by++) {
        g.c = plain_act(at->c[by]);
        g.sums = has_parts(layout) ? at->c[by] + TRY_C : NULL;
        if (by == BY_TWIN)
            gemm_wide_start(&m->head, &g, m->products.how);
        else
            gemm_wgmma_in(&m->head, &g, m->products.how, by == AGAIN);
    }
    return good && !cuda_lost(m) &&
           CUDA(m, MemcpyAsync,
                (host->c, at->c, sizeof at->c, cudaMemcpyDeviceToHost, m->stream)) &&
           CUDA(m, EventRecord, (m->issued, m->stream)) &&
           cuda_await(m, m->issued, TRIAL_SECONDS);
}

/* The largest difference of two results; a NaN counts as large. */
static double difference(const float *x, const float *y, size_t n)
{
    double far = 0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)x[i] - (double)y[i];
        d = d < 0 ? -d : d;
        far = d <= far ? far : d <= 1e9 ? d : 1e9;
    }
    return far;
}

/* The largest difference over all layouts; two ways with different bits count as large. Negative:
 * the card has failed. */
static double apart(struct card *m)
{
    double far = 0;
    struct tried *host = (struct tried *)mem_alloc(1, sizeof *host), *at = NULL;
    bool good = CUDA(m, Malloc, ((void **)&at, sizeof *at));
    for (int turn = 0; turn < 2 * LAYOUTS && good; turn++) {
        int layout = turn % LAYOUTS;
        size_t used = has_parts(layout) ? PARTS * TRY_PART : TRY_C;
        fill_both_signs(host->a, TRY_A, 1);
        fill_both_signs(host->b, TRY_B, 2);
        memset(host->a16, 0, sizeof host->a16);
        memset(host->b16, 0, sizeof host->b16);
        for (int by = 0; by < RESULTS; by++)
            fill_both_signs(host->c[by], PARTS * TRY_PART, 3 + (size_t)by);
        good = product_of_both(m, host, at, layout, turn >= LAYOUTS);
        if (!good)
            break;
        double d = difference(host->c[BY_TWIN], host->c[BY_WARPGROUPS], used);
        far = d > far ? d : far;
        if (memcmp(host->c[BY_WARPGROUPS], host->c[AGAIN], used * sizeof(float)) != 0)
            far = 1e9;
    }
    if (at && !cuda_gone(m))
        CUDA(m, Free, (at));
    mem_free(host);
    return good ? far : -1;
}

/* Without memory for the trial they are not used; the card works. */
static bool agrees(struct card *m)
{
    double far = apart(m);
    struct err full = m->head.failure;
    if (full.id == ERR_GPU_MEMORY && machine_forgive(&m->head))
        log_warning("dnn_gpu: products of warpgroups are not used, as they could not be tried "
                    "(%s); the result is as good, large products are slower", full.what);
    if (far >= 0 && far > 1e-4) /* the sums have TRY_K terms below 1 */
        log_warning("dnn_gpu: products of warpgroups differ from their twin's by %.1e on %s: they "
                    "are not used; the result is as good, large products are slower", far,
                    text_quote_z(m->device.name));
    return far >= 0 && far <= 1e-4;
}

static bool sixteen_bits(const struct card *m)
{
    return m->products.how == PRODUCT_BF16 || m->products.how == PRODUCT_FP16;
}

static void use_wgmma(struct card *m, bool wanted)
{
    m->wgmma = wanted && sixteen_bits(m) && gemm_wgmma_built() &&
               m->device.capability == 90 && agrees(m);
    if (m->wgmma)
        log_info("dnn_gpu: large products are those of warpgroups");
}

void cuda_wgmma_begin(struct card *m, const char *wish)
{
    const char *asked = fault_setting("WGMMA");
    bool wanted = AUTO_TRIES || (wish && strcmp(wish, "auto") != 0);
    if (asked)
        wanted = strcmp(asked, "none") != 0;
    use_wgmma(m, wanted);
}

void cuda_wgmma_plan(const struct card *m, struct plan *plan)
{
    size_t used = strlen(plan->guests);
    if (m->wgmma && sixteen_bits(m)) /* it may have none by now */
        snprintf(plan->guests + used, sizeof plan->guests - used, "%s%s", used ? "; " : "", word);
}

void cuda_wgmma_set_plan(struct card *m, const struct plan *plan)
{
    bool wanted = strstr(plan->guests, word) != NULL;
    if (wanted != m->wgmma)
        use_wgmma(m, wanted);
}
