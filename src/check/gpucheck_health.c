/* gpucheck_health.c - the card after its work: errors of its memory, heat, and whether it is as
 * fast as its kind: loops of arithmetic and a copy, held against the table of cards. A slow card
 * computes right: it is a warning. */
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

static const char *rates(struct gpu_job *j, struct text *measured, struct text *wanted)
{
    static const size_t COPIED = (size_t)1 << 28; /* more than any cache */
    static const double A_WHILE = 0.02;
    struct gpu_rates r = {0};
    bool bf16 = strcmp(j->plan.core, "sm_75") != 0;
    if (j->emulated)
        return NULL;
    r.fp32 = peak_measure(j->machine, PEAK_FMA, 0, A_WHILE);
    r.half = peak_measure(j->machine, bf16 ? PEAK_BF16 : PEAK_FP16, 0, A_WHILE);
    if (machine_bytes_free(j->machine) > 2 * COPIED)
        r.memory = peak_measure(j->machine, PEAK_COPY, COPIED, A_WHILE);
    return gpucheck_slow(&j->card, &r, measured, wanted);
}

/* Bits of NVML's clock reasons that tell of trouble: hardware slowdown, software and hardware
 * thermal slowdown, power brake. */
enum { SLOWED = 0x8 | 0x20 | 0x40 | 0x80 };

static const char mend_slowness[] = "`nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER` says which; "
                                    "check the cooling and the power supply";

static const char *text_of(const struct text *t)
{
    return t->length ? t->data : "";
}

/* slow: the part that is slow; NULL: none. */
static void slow_card(const struct gpu_job *j, struct gpu_check *c, const char *slow)
{
    if (!slow)
        return;
    c->status = GPU_WARN;
    gpucheck_reason(c, "slow (%s): less than half of what %s gives; heat, power, a limit of the "
                       "clocks, or another process that uses it",
                    slow, gpucheck_kind(&j->card).text);
    gpucheck_fix(c, "%s", mend_slowness);
}

void gpucheck_health(struct gpu_job *j)
{
    struct gpu_check *c = gpucheck_add(j->g, "health");
    struct gpu_libraries *l = &j->libraries;
    const struct nvml_card *card = &l->card;
    struct text measured = {0}, wanted = {0};
    const char *slow = rates(j, &measured, &wanted);
    char ecc[32] = "not reported", celsius[32] = "";
    gpucheck_threshold(c, "no uncorrected error, no slowdown%s", text_of(&wanted));
    gpucheck_nvml(l, j->g, j->info.uuid); /* the state after the work */
    if (card->ecc >= 0)
        snprintf(ecc, sizeof ecc, "%lld", (long long)card->ecc);
    if (card->celsius >= 0)
        snprintf(celsius, sizeof celsius, ", %lld degrees", (long long)card->celsius);
    const bool slowed = card->throttle > 0 && card->throttle & SLOWED;
    gpucheck_measured(c, "uncorrected errors %s%s%s%s", ecc, slowed ? ", slowed down" : "", celsius,
                      text_of(&measured));
    gpucheck_reason(c, "nothing is amiss");
    if (!l->nvml) {
        gpucheck_reason(c, "all work was done; ECC and throttling cannot be asked without NVML");
        c->status = j->emulated ? GPU_PASS : GPU_WARN;
        gpucheck_fix(c, "%s", j->emulated ? "" : "see nvml; dmesg shows errors as Xid");
        gpucheck_measured(c, "%s", measured.length ? measured.data + strlen(", ") : "");
        slow_card(j, c, slow);
    } else if (card->ecc > 0) {
        gpucheck_faulty(c, "see Xid 48, 63, 64, 94 or 95 in the kernel log (dmesg); reset the card "
                           "(sudo nvidia-smi -r, or restart), and have it replaced if they come "
                           "back", "the card's memory had errors that could not be corrected");
    } else if (slowed) {
        c->status = GPU_WARN;
        gpucheck_reason(c, "the card has slowed itself down: heat or power");
        gpucheck_fix(c, "%s", mend_slowness);
    } else {
        slow_card(j, c, slow);
    }
    text_free(&measured);
    text_free(&wanted);
}
