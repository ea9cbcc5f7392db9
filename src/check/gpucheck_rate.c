/* gpucheck_rate.c - is the card as fast as its kind? Loops of arithmetic and a copy, held against
 * the table of cards. A slow card computes right: it is a warning. */
#include <stdio.h>
#include <string.h>

#include "backend/peak.h"
#include "check/gpucheck_parts.h"

struct gpu_kind gpucheck_kind(const struct card_figures *card)
{
    struct gpu_kind kind;
    snprintf(kind.text, sizeof kind.text, "the %s",
             card->known ? card->name : "slowest card of its architecture");
    return kind;
}

/* False when it is less than the card's share. */
static bool rate_slow(const char *name, double measured, double whole, double scale,
                      const char *unit, struct text *has, struct text *wanted)
{
    if (measured <= 0 || whole <= 0)
        return true;
    text_printf(has, ", %s %.4g %s", name, measured / scale, unit);
    text_printf(wanted, ", %s %.4g", name, GPU_SHARE * whole / scale);
    return measured >= GPU_SHARE * whole;
}

const char *gpucheck_slow(const struct card_figures *card, const struct gpu_rates *r,
                          struct text *measured, struct text *wanted)
{
    bool fp32 = rate_slow("fp32", r->fp32, card->fp32, 1e12, "TFLOP/s", measured, wanted);
    bool half = rate_slow("16 bit", r->half, card->half, 1e12, "TFLOP/s", measured, wanted);
    bool memory = rate_slow("memory", r->memory, card->memory, 1e9, "GB/s", measured, wanted);
    return !fp32 ? "fp32" : !half ? "16 bit" : memory ? NULL : "memory";
}

const char *gpucheck_rates(struct gpu_job *j, struct text *measured, struct text *wanted)
{
    static const size_t COPIED = (size_t)1 << 28; /* more than any cache */
    static const double A_WHILE = 0.02;
    struct card_figures card;
    struct gpu_rates r = {0};
    bool bf16 = strcmp(j->plan.core, "sm_75") != 0;
    if (j->emulated)
        return NULL;
    card_find(j->info.device, j->plan.core, &card);
    r.fp32 = peak_measure(j->machine, PEAK_FMA, 0, A_WHILE);
    r.half = peak_measure(j->machine, bf16 ? PEAK_BF16 : PEAK_FP16, 0, A_WHILE);
    if (machine_bytes_free(j->machine) > 2 * COPIED)
        r.memory = peak_measure(j->machine, PEAK_COPY, COPIED, A_WHILE);
    return gpucheck_slow(&card, &r, measured, wanted);
}
