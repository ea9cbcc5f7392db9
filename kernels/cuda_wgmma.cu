/* cuda_wgmma.cu - whether a card's large products of 16 bits are those of warpgroups
 * (gemm_wgmma.cu) or of their twins (gemm_wide.cu, gemm_half.cu), and the plan of it. They have
 * never run on a card: until a dated report says that they are right and pay (tests/bench/results),
 * precision `auto` does not take them, and where bf16 or fp16 was asked for they must first agree
 * with their twins. A test may always take them, or never. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.cuh"
#include "form.cuh"

static const bool REPORTED = false;
static const char word[] = "wgmma";

/* --- a small product of each layout by both: more than a tile each way, and ragged --- */

enum { TRY_M = 136, TRY_N = 152, TRY_K = 72, LAYOUTS = 3, TRY_A = TRY_M * TRY_K,
       TRY_B = TRY_N * TRY_K, TRY_C = TRY_M * TRY_N };
/* A trial that takes longer hangs. */
static const double TRIAL_SECONDS = 10;
struct tried { float a[TRY_A], b[TRY_B], c[2][TRY_C]; uint16_t a16[TRY_A], b16[TRY_B]; };

static void fill_both_signs(float *at, size_t n, size_t seed)
{
    for (size_t i = 0; i < n; i++)
        at[i] = (float)((i * 4 + seed) * 2654435761u >> 8 & 0xffff) / 32768 - 1;
}

/* copied: operands lie in 16 bits. */
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
    g.parts = 1;
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
    g.c = plain_act(at->c[0]);
    if (good && !cuda_lost(m))
        gemm_wide_start(&m->head, &g, m->products.how);
    g.c = plain_act(at->c[1]);
    if (good && !cuda_lost(m))
        gemm_wgmma_start(&m->head, &g, m->products.how);
    return good && !cuda_lost(m) &&
           CUDA(m, MemcpyAsync,
                (host->c, at->c, sizeof at->c, cudaMemcpyDeviceToHost, m->stream)) &&
           CUDA(m, EventRecord, (m->issued, m->stream)) &&
           cuda_await(m, m->issued, TRIAL_SECONDS);
}

/* The largest difference; what is not a number is far. Negative: the card has failed. */
static double apart(struct card *m)
{
    double far = 0;
    struct tried *host = (struct tried *)mem_alloc(1, sizeof *host), *at = NULL;
    bool good = CUDA(m, Malloc, ((void **)&at, sizeof *at));
    for (int turn = 0; turn < 2 * LAYOUTS && good; turn++) {
        fill_both_signs(host->a, TRY_A, 1);
        fill_both_signs(host->b, TRY_B, 2);
        memset(host->a16, 0, sizeof host->a16);
        memset(host->b16, 0, sizeof host->b16);
        fill_both_signs(host->c[0], TRY_C, 3);
        fill_both_signs(host->c[1], TRY_C, 4);
        good = product_of_both(m, host, at, turn % LAYOUTS, turn >= LAYOUTS);
        for (size_t i = 0; i < TRY_C && good; i++) {
            double d = (double)host->c[0][i] - (double)host->c[1][i];
            d = d < 0 ? -d : d;
            far = d <= far ? far : d <= 1e9 ? d : 1e9;
        }
    }
    if (at && !cuda_gone(m))
        CUDA(m, Free, (at));
    mem_free(host);
    return good ? far : -1;
}

/* Where there is no room to try them, the card is sound. */
static bool agrees(struct card *m)
{
    double far = apart(m);
    struct err full = m->head.failure;
    if (full.id == ERR_GPU_MEMORY && machine_forgive(&m->head))
        log_warning("dnn_gpu: products of warpgroups are not used, as they could not be tried "
                    "(%s); the result is as good, large products are slower", full.what);
    if (far >= 0 && far > 1e-4) /* of sums of 72 numbers below 1 */
        log_warning("dnn_gpu: products of warpgroups differ from their twin's by %.1e on %s: they "
                    "are not used; the result is as good, large products are slower", far,
                    text_quote_z(m->device.name));
    return far >= 0 && far <= 1e-4;
}

static bool sixteen_bits(const struct card *m)
{
    return m->products.how == PRODUCT_BF16 || m->products.how == PRODUCT_FP16;
}

static void take(struct card *m, bool wanted)
{
    m->wgmma = wanted && sixteen_bits(m) && gemm_wgmma_built() &&
               m->device.capability == 90 && agrees(m);
    if (m->wgmma)
        log_info("dnn_gpu: large products are those of warpgroups");
}

/* --- what others ask --- */

bool device_wgmma(const struct machine *m)
{
    return card_of(m)->wgmma;
}

void cuda_wgmma_begin(struct card *m, const char *wish)
{
    const char *asked = fault_setting("WGMMA");
    bool wanted = REPORTED || (wish && strcmp(wish, "auto") != 0);
    if (asked)
        wanted = strcmp(asked, "none") != 0;
    take(m, wanted);
}

void cuda_wgmma_plan(const struct card *m, struct plan *plan)
{
    size_t used = strlen(plan->guests);
    if (m->wgmma && sixteen_bits(m)) /* it may have none by now */
        snprintf(plan->guests + used, sizeof plan->guests - used, "%s%s", used ? "; " : "", word);
}

void cuda_wgmma_obey(struct card *m, const struct plan *plan)
{
    bool wanted = strstr(plan->guests, word) != NULL;
    if (wanted != m->wgmma)
        take(m, wanted);
}
