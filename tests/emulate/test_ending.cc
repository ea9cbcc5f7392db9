/* The end of a step: an optimiser and what counts the step, together and one after the other. */
#include <math.h>

#include "harness.h"
#include "kernels.h"

extern "C" {
#include "backend/backend.h"
}

static const struct products fp32 = {PRODUCT_FP32, 0};

/* An optimiser and the end of its step, together or one after the other. */
struct ending {
    struct op_adam adam;
    struct op_advance advance;
    struct step *now;
    float *buffers;
};
static void make_ending(struct ending *s, bool bad)
{
    enum { N = 4099, BUFFERS = 300 };
    const double parts[2] = {3, 4};
    struct group group = {};
    struct step now = {};
    *s = ending{};
    group.end = N;
    group.lr = group.weight_decay = group.shards = 1;
    const struct hyper rates = {0.1, 0, 0};
    now.bad = bad;
    s->adam.now = s->now = s->advance.now = device_array(&now, 1);
    s->adam.schedule = {device_array(&rates, 1), 1, 0};
    s->adam.p = device_numbers(1, N, NULL);
    s->adam.m1 = device_numbers(2, N, NULL);
    s->adam.m2 = device_numbers(3, N, NULL);
    for (uint32_t i = 0; i < N; i++)
        s->adam.m2[i] = fabsf(s->adam.m2[i]);
    char *sums = (char *)device_numbers(4, cuda_norm2_kept(N) / 4, NULL);
    memcpy(sums, &parts[1], sizeof *parts);
    s->adam.sums = sums;
    s->adam.from.n = N;
    s->adam.from.group_count = 1;
    s->adam.from.groups = device_array(&group, 1);
    s->adam.beta1 = 0.9;
    s->adam.beta2 = 0.99;
    s->adam.epsilon = 1e-8;
    s->advance.part_loss = s->advance.part_weight = device_array(parts, 2);
    s->advance.shards = 2;
    s->advance.consumed = 64;
    s->advance.buffer_count = BUFFERS;
    s->advance.moved = device_numbers(5, BUFFERS, NULL);
    s->advance.buffers = s->buffers = device_numbers(6, BUFFERS, NULL);
}

static void test_ending(bool bad)
{
    struct ending fused, plain;
    make_ending(&fused, bad);
    make_ending(&plain, bad);
    const struct kernel_op ops[] = {{OP_adam, &fused.adam}, {OP_advance, &fused.advance}};
    kernels_issue(NULL, OP_adam, &plain.adam, fp32, NULL);
    kernels_issue(NULL, OP_advance, &plain.advance, fp32, NULL);
    uint64_t launches = emulate_counts.launches;
    void *scratch = device_room(SCRATCH_HEAD);
    memset(scratch, 0, SCRATCH_HEAD);
    shadow_written(scratch, SCRATCH_HEAD);
    is_int(kernels_issue_front(NULL, ops, 2, fp32, scratch), 2, "an ending");
    is_int((int64_t)(emulate_counts.launches - launches), 1, "in one launch");
    size_t bytes = fused.adam.from.n * sizeof(float);
    ok(memcmp(fused.now, plain.now, sizeof *plain.now) == 0, "the same step, bad %d", bad);
    ok(memcmp(fused.adam.p, plain.adam.p, bytes) == 0 &&
       memcmp(fused.adam.m1, plain.adam.m1, bytes) == 0 &&
       memcmp(fused.adam.m2, plain.adam.m2, bytes) == 0, "the same parameters");
    ok(memcmp(fused.buffers, plain.buffers, 4 * fused.advance.buffer_count) == 0,
       "the same buffers");
    device_drop_all();
}

int main(void)
{
    for (EACH_ORDER(order)) {
        test_ending(false);
        test_ending(true);
    }
    is_int(emulate_findings(), 0, "no findings");
    return done();
}
