/* check_gpucheck_rate.c - what was measured of a card against its row of the table. */
#include <string.h>

#include "check/gpucheck_parts.h"
#include "tap.h"

int main(void)
{
    struct card_figures card;
    struct text measured = {0}, wanted = {0};
    card_find("NVIDIA H200", "sm_90", &card);
    struct gpu_rates r = {60e12, 500e12, 4.2e12};
    ok(!gpucheck_slow(&card, &r, &measured, &wanted), "a card in order");
    is_string(measured.data, ", fp32 60 TFLOP/s, 16 bit 500 TFLOP/s, memory 4200 GB/s", "measured");
    is_string(wanted.data, ", fp32 27.5, 16 bit 395, memory 2150", "half of its row");
    r.memory = 2e12;
    is_string(gpucheck_slow(&card, &r, &measured, &wanted), "memory", "slow memory");
    r.fp32 = 20e12;
    is_string(gpucheck_slow(&card, &r, &measured, &wanted), "fp32", "and arithmetic, the first");
    r = (struct gpu_rates){60e12, 0, 0};
    ok(!gpucheck_slow(&card, &r, &measured, &wanted), "what was not measured is not slow");
    is_string(gpucheck_kind(&card).text, "the H200", "its kind");
    card_find("NVIDIA Something New", "sm_90", &card);
    ok(strstr(gpucheck_kind(&card).text, "slowest") != NULL, "a card that is not in the table");
    text_free(&measured);
    text_free(&wanted);
    return done();
}
