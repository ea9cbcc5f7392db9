/* Gather against plain loops: several chunks, steps of several micro-batches, ragged ends. */
#include "base/rng.h"
#include "form.cuh"
#include "harness.h"
#include "kernels.h"

/* Records with three numbers, 33 more to have two words of indicators, two categories; of a step of
 * `whole` rows, or of full micro-batches. */
static void test_gather(bool shuffle, bool index, uint32_t classes, uint32_t whole)
{
    enum { COUNT = 37, NUMBERS = 36, ROWS = 16, SHIFT = 3 };
    struct rowfmt f = rowfmt_make(NUMBERS, 2);
    uint32_t words[COUNT * 64];
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t *record = words + i * (f.stride / 4);
        for (uint32_t k = 0; k < NUMBERS; k++)
            record[k] = float_bits((float)(i * 100 + k));
        record[NUMBERS] = i * 0x9E3779B1u;
        record[NUMBERS + 1] = ~i; /* whose bits are not those of the word before */
        record[f.at_category / 4] = i % 5;
        record[f.at_category / 4 + 1] = i % 3;
        record[f.at_target / 4] =
            classes ? i % (classes + 1) - (i % 11 == 0) : float_bits((float)i);
        if (!classes && i % 4 == 0)
            record[f.at_target / 4] = 0x7fc00000u;
        record[f.at_weight / 4] = float_bits(1.0f + (float)i);
    }
    unsigned char *chunks[COUNT / 8 + 1];
    for (uint32_t c = 0; c * 8 < COUNT; c++) {
        uint32_t rows = COUNT - c * 8 < 8 ? COUNT - c * 8 : 8;
        chunks[c] = (unsigned char *)device_put(words + c * 8 * (f.stride / 4), rows * f.stride);
    }
    uint32_t order[COUNT], indicators[] = {0, 2, 33, 35};
    for (uint32_t i = 0; i < COUNT; i++)
        order[i] = i * 5 % COUNT;
    struct features features = {};
    features.indicator_count = 4;
    features.indicators = device_array(indicators, 4);
    const float class_weight[] = {0.5f, 2, 3};
    struct step step = {};
    step.seed = 99;
    step.epoch = 3;
    step.model = 2;
    step.row0 = 8;
    struct source from = {};
    from.rows.format = f;
    from.rows.chunks = device_array(chunks, COUNT / 8 + 1);
    from.rows.shift = SHIFT;
    from.count = COUNT;
    from.shuffle = shuffle;
    from.index = index ? device_array(order, COUNT) : NULL;
    from.classes = classes;
    from.class_weight = classes ? device_array(class_weight, 3) : NULL;
    from.features = device_array(&features, 1);
    struct op_gather a = {};
    float *x = device_empty<float>(ROWS * 41);
    a.x = plain_act(x);
    a.ids = device_empty<int32_t>(ROWS * 2);
    a.target = device_empty<float>(ROWS);
    a.weight = device_empty<float>(ROWS);
    a.from = device_array(&from, 1);
    a.now = device_array(&step, 1);
    a.rows = ROWS;
    a.ld = 41;
    a.micro = 1; /* positions 24 .. 39: three are past the end */
    a.whole = whole;
    cuda_gather(NULL, &a);
    bool same = device_written(a.target, ROWS * 4);
    for (uint32_t r = 0; r < ROWS; r++) {
        uint32_t at = 8 + ROWS + r, shown = at < COUNT && (!whole || at < 8 + whole);
        uint32_t i = shuffle && shown ? rng_permute(99, 3, 2, COUNT, at) : at;
        i = index && shown ? order[i] : i;
        const uint32_t *record = words + i * (f.stride / 4) * shown;
        for (uint32_t k = 0; k < NUMBERS; k++)
            same &= x[r * 41 + k] == (shown ? bits_float(record[k]) : 0.0f);
        for (uint32_t k = 0; k < 4; k++)
            same &= x[r * 41 + NUMBERS + k] ==
                    (float)(shown ? record[NUMBERS + indicators[k] / 32] >> indicators[k] % 32 & 1
                                  : 0);
        same &= a.ids[2 * r] == (shown ? (int32_t)(i % 5) : 0);
        same &= a.ids[2 * r + 1] == (shown ? (int32_t)(i % 3) : 0);
        uint32_t label = record[f.at_target / 4];
        bool labelled = shown && (classes ? label < classes : i % 4 != 0);
        float target = !labelled ? 0.0f : classes ? (float)label : (float)i;
        float weight = !labelled ? 0.0f : (1.0f + (float)i) * (classes ? class_weight[label] : 1);
        same &= a.target[r] == target && a.weight[r] == weight;
    }
    ok(same, "gather shuffle %d index %d classes %u whole %u", shuffle, index, classes, whole);
    device_drop_all();
}

int main(void)
{
    for (EACH_ORDER(order)) {
        test_gather(order % 2, order / 2, order % 2 ? 3 : 0, 0);
        test_gather(order / 2, order % 2, order % 2 ? 0 : 3, 24);
    }
    is_int(emulate_findings(), 0, "no findings");
    return done();
}
