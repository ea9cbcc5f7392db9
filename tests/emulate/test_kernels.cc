/* Gather and the optimiser against plain loops, on ragged lengths. */
#include <math.h>

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

static void test_adam(bool decoupled, double clip, bool bad)
{
    enum { N = 4101, SHARDS = 3, STRIDE = 4200 };
    float *ph, *gh, *p = device_numbers(1, N, &ph), *g = device_numbers(2, SHARDS * STRIDE, &gh);
    float *m1h, *m2h, *m1 = device_numbers(3, N, &m1h), *m2 = device_numbers(4, N, &m2h);
    for (int i = 0; i < N; i++)
        m2[i] = m2h[i] = fabsf(m2h[i]);
    if (bad)
        g[2000] = INFINITY;
    const double part_weight[SHARDS] = {10, 20, 34};
    struct group groups[2] = {};
    groups[0].end = groups[1].begin = 2500;
    groups[0].lr = 1;
    groups[0].weight_decay = 1;
    groups[0].shards = SHARDS;
    groups[1].end = N;
    groups[1].lr = 0.5;
    groups[1].shards = 1;
    struct step step = {};
    step.applied = 4;
    step.lr = 0.01;
    step.weight_decay = 0.1;
    struct step *now = device_array(&step, 1);
    struct grads from = {};
    from.g = g;
    from.part_weight = device_array(part_weight, SHARDS);
    from.shard_stride = STRIDE;
    from.n = N;
    from.shards = SHARDS;
    from.group_count = 2;
    from.groups = device_array(groups, 2);
    struct op_norm2 norm = {};
    norm.now = now;
    norm.sums = device_room(cuda_norm2_kept(N));
    norm.from = from;
    char *scratch = device_empty<char>(cuda_norm2_scratch(N));
    memset(scratch, 0, SCRATCH_HEAD);
    shadow_written(scratch, SCRATCH_HEAD);
    cuda_norm2(NULL, &norm, scratch);
    struct op_adam a = {};
    a.p = p;
    a.m1 = m1;
    a.m2 = m2;
    a.from = from;
    a.sums = norm.sums;
    a.now = now;
    a.beta1 = 0.9;
    a.beta2 = 0.99;
    a.epsilon = 1e-8;
    a.clip = clip;
    a.decoupled = decoupled;
    cuda_adam(NULL, &a, NULL, NULL);
    if (bad) {
        ok(now->bad == 1 && memcmp(p, ph, N * 4) == 0 && memcmp(m1, m1h, N * 4) == 0,
           "a bad step moves nothing");
        device_drop_all();
        return;
    }
    double square = 0, weight = 64, worst = 0;
    for (int i = 0; i < N; i++) {
        double sum = (double)gh[i];
        for (int s = 1; s < SHARDS && i < 2500; s++)
            sum += (double)gh[s * STRIDE + i];
        square += sum * sum;
    }
    double norm_want = sqrt(square) / weight, scale = 1 / weight;
    is_near(now->gnorm, norm_want, 1e-6, "norm of the gradient");
    if (clip > 0 && norm_want > clip)
        scale *= clip / norm_want;
    for (int i = 0; i < N; i++) {
        const struct group *of = &groups[i >= 2500];
        double sum = (double)gh[i], lr = step.lr * of->lr,
               wd = step.weight_decay * of->weight_decay;
        for (uint32_t s = 1; s < of->shards; s++)
            sum += (double)gh[s * STRIDE + (uint32_t)i];
        double q = (double)ph[i], d = sum * scale + (decoupled ? 0 : wd * q);
        double m = 0.9 * (double)m1h[i] + 0.1 * d, v = 0.99 * (double)m2h[i] + 0.01 * d * d;
        q -= decoupled ? lr * wd * q : 0;
        q -= lr / (1 - pow(0.9, 5)) * m / (sqrt(v / (1 - pow(0.99, 5))) + 1e-8);
        worst = fmax(worst, fabs(q - (double)p[i]));
        worst = fmax(worst, fabs(m - (double)m1[i]) + fabs(v - (double)m2[i]));
    }
    is_near(worst, 0, 1e-6, decoupled ? "AdamW with clipping" : "Adam");
    device_drop_all();
}

int main(void)
{
    for (EACH_ORDER(order)) {
        test_gather(order % 2, order / 2, order % 2 ? 3 : 0, 0);
        test_gather(order / 2, order % 2, order % 2 ? 0 : 3, 24);
        test_adam(order % 2, order % 2 ? 0.001 : 0, false);
    }
    test_adam(true, 0, true);
    is_int(emulate_findings(), 0, "no findings");
    return done();
}
