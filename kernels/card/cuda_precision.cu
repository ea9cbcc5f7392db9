/* cuda_precision.cu - the precision of products: which a card has, the choice of auto, the data
 * kept in 16 bits, and whether products of warpgroups serve. */
#include <stdio.h>
#include <string.h>

#include "card/cuda_precision.cuh"
#include "form.cuh"
#include "ops/mlp.cuh"

extern "C" {
#include "base/fault.h"
#include "base/log.h"
}

static const char *const names[] = {"fp32", "tf32", "bf16", "fp16"};
enum { TAKES_TF32 = 1 << PRODUCT_TF32, TAKES_BF16 = 1 << PRODUCT_BF16,
       TAKES_FP16 = 1 << PRODUCT_FP16 };

/* By compute capability. auto is never fp16: gradients overflow it, and such steps are lost. From
 * sm_90 on, only 16 bits reach the full rate of the tensor cores; before, tf32 changes results
 * less. sm_75 has only fp16. */
static const struct { int since; unsigned takes; enum product best; } kinds[] = {
    {90, TAKES_TF32 | TAKES_BF16 | TAKES_FP16, PRODUCT_BF16},
    {80, TAKES_TF32 | TAKES_BF16 | TAKES_FP16, PRODUCT_TF32},
    {75, TAKES_FP16, PRODUCT_FP32},
    {0, 0, PRODUCT_FP32},
};

/* Least multiply-adds of a layer: a smaller product on CUDA cores takes no longer than its launch.
 * Emulated cards, used for tests of small networks, use less. */
static const uint64_t LEAST = (uint64_t)1 << 25, LEAST_EMULATED = (uint64_t)1 << 15;
/* And activations with more numbers than any fused step has. */
static const uint64_t KEPT = (uint64_t)MLP_ROWS * MLP_WIDTH + 1, KEPT_EMULATED = (uint64_t)1 << 11;

static unsigned kind_of(const struct card *m)
{
    unsigned i = 0;
    while (m->device.capability < kinds[i].since)
        i++;
    return i;
}

static int named(const char *name)
{
    int how = PRODUCT_FP16;
    while (how >= 0 && strcmp(names[how], name) != 0)
        how--;
    return how;
}

static bool takes(const struct card *m, int how)
{
    return how == PRODUCT_FP32 || (how > 0 && kinds[kind_of(m)].takes >> how & 1);
}

void cuda_precision(struct card *m, const char *wish)
{
    bool any = wish && strcmp(wish, "auto") == 0;
    int how = !wish ? (int)PRODUCT_FP32 : any ? (int)kinds[kind_of(m)].best : named(wish);
    bool emulated = strcmp(m->device.core, "emulated") == 0, good = takes(m, how);
    m->products.how = good ? (enum product)how : PRODUCT_FP32;
    m->products.least = emulated ? LEAST_EMULATED : LEAST;
    m->products.kept = emulated ? KEPT_EMULATED : KEPT;
    if (any)
        snprintf(m->precision_why, sizeof m->precision_why, "auto on sm_%d", m->device.capability);
    else if (!good)
        snprintf(m->precision_why, sizeof m->precision_why,
                 "sm_%d has no tensor cores that take %.8s", m->device.capability, wish);
    else
        snprintf(m->precision_why, sizeof m->precision_why, "asked for");
}

const char *cuda_precision_name(const struct card *m)
{
    return names[m->products.how];
}

void cuda_precision_set(struct card *m, const char *name)
{
    int how = named(name);
    if (!takes(m, how) || m->products.how == (enum product)how)
        return;
    m->products.how = (enum product)how;
    snprintf(m->precision_why, sizeof m->precision_why, "as the training began");
}

/* --- values kept in 16 bits --- */

size_t cuda_act_bytes(const struct machine *)
{
    return sizeof(float);
}

uint32_t cuda_act_form(const struct machine *machine, uint32_t rows, uint32_t width, bool back)
{
    return form_kept(card_of(machine)->products, rows, width, back);
}

static uint32_t form_of_card(const struct machine *machine)
{
    return form_product(card_of(machine)->products.how);
}

/* True: some layer's products are rounded, at the plan's batch or, without a plan, at any. */
bool cuda_rounds(const struct machine *machine, const struct group *groups, uint32_t count)
{
    uint32_t rows = machine->plan.batch ? machine->plan.batch : UINT32_MAX;
    bool any = false;
    for (uint32_t i = 0; i < count && !any; i++)
        any = product_of(card_of(machine)->products, rows, groups[i].in, groups[i].out, false) !=
              PRODUCT_FP32;
    return any;
}

/* Bytes of a copy of all parameters, at the same offsets, if a weight is in a rounded product. */
size_t cuda_shadow_bytes(const struct machine *machine, const struct group *groups, uint32_t count,
                         uint64_t n)
{
    bool wanted = form_of_card(machine) != FORM_REAL && cuda_rounds(machine, groups, count);
    return wanted ? (size_t)n * sizeof(uint16_t) : 0;
}

void cuda_refresh(struct machine *machine, void *shadow, const real *p, const struct group *groups,
                  uint32_t count)
{
    if (count)
        cuda_round(machine, shadow, (const float *)p, form_of_card(machine), groups[count - 1].end);
}

struct act cuda_shadow_of(const struct machine *machine, const void *shadow, uint64_t offset)
{
    return form_past(form_act(shadow, form_of_card(machine)), offset);
}

/* --- products of warpgroups (gemm_wgmma.cu): right on an H200, and up to 1.4 times as fast as
 * their twins, gemm_wide.cu and gemm_half.cu (tests/bench/results/2026-11-27-h200-before.txt); in
 * the emulator they are slow, and auto takes none --- */

#if defined(__CUDACC__)
static const bool AUTO_TAKES = true;
#else
static const bool AUTO_TAKES = false;
#endif
static const char wgmma_word[] = "wgmma";

static bool sixteen_bits(const struct card *m)
{
    return m->products.how == PRODUCT_BF16 || m->products.how == PRODUCT_FP16;
}

static void use_wgmma(struct card *m, bool wanted)
{
    m->wgmma = wanted && sixteen_bits(m) && gemm_wgmma_built() && m->device.capability == 90;
    if (m->wgmma)
        log_info("dnn_gpu: large products are those of warpgroups");
}

void cuda_wgmma_begin(struct card *m, const char *wish)
{
    const char *asked = fault_setting("WGMMA");
    use_wgmma(m, asked ? strcmp(asked, "none") != 0
                       : AUTO_TAKES || (wish && strcmp(wish, "auto") != 0));
}

void cuda_wgmma_plan(const struct card *m, struct plan *plan)
{
    size_t used = strlen(plan->guests);
    if (m->wgmma && sixteen_bits(m)) /* it may have none by now */
        snprintf(plan->guests + used, sizeof plan->guests - used, "%s%s", used ? "; " : "",
                 wgmma_word);
}

void cuda_wgmma_set_plan(struct card *m, const struct plan *plan)
{
    bool wanted = strstr(plan->guests, wgmma_word) != NULL;
    if (wanted != m->wgmma)
        use_wgmma(m, wanted);
}
