/* model_schedule.c - learning rates at steps where they can be worked out by hand. */
#include "model/schedule.h"
#include "tap.h"

static struct schedule_options read(const char *text)
{
    struct schedule_options o;
    struct err e = {0};
    struct json_doc *doc = json_parse(text, strlen(text), "case", &e);
    ok(doc && opt_read(schedule_options_table, doc, json_root(doc), "train.schedule", &o, &e), "%s",
       text);
    json_free(doc);
    return o;
}

int main(void)
{
    struct schedule_options o = read("{\"type\": \"constant\"}");
    is_near(schedule_at(&o, 0, 100, 10).lr, 1, 0, "constant at the first step");
    is_near(schedule_at(&o, 99, 100, 10).lr, 1, 0, "constant at the last step");

    o = read("{\"type\": \"constant\", \"warmup\": 0.1}");
    is_near(schedule_at(&o, 0, 100, 10).lr, 1.0 / 11, 1e-15, "warm-up begins above zero");
    is_near(schedule_at(&o, 9, 100, 10).lr, 10.0 / 11, 1e-15, "warm-up ends below one");
    is_near(schedule_at(&o, 10, 100, 10).lr, 1, 0, "after the warm-up");

    o = read("{\"type\": \"step\", \"gamma\": 0.5, \"every\": 2}");
    is_near(schedule_at(&o, 19, 100, 10).lr, 1, 0, "step: the first two epochs");
    is_near(schedule_at(&o, 20, 100, 10).lr, 0.5, 0, "step: the third epoch");
    is_near(schedule_at(&o, 99, 100, 10).lr, 0.0625, 0, "step: the tenth epoch");
    is_near(schedule_at(&o, 5, 100, 0).lr, 0.25, 1e-15, "step: no steps in an epoch count as one");

    o = read("{}");
    is_int(o.kind, SCHEDULE_COSINE, "the default is cosine");
    is_near(schedule_at(&o, 0, 100, 10).lr, 1, 0, "cosine begins at one");
    is_near(schedule_at(&o, 50, 100, 10).lr, 0.5, 1e-15, "cosine half way");
    is_near(schedule_at(&o, 25, 100, 10).lr, 0.5 + 0.25 * sqrt(2), 1e-15, "cosine at a quarter");
    is_near(schedule_at(&o, 99, 100, 10).lr, 0.5 - 0.5 * cos(0.01 * 3.14159265358979), 1e-12,
            "cosine at the last step");
    is_near(schedule_at(&o, 1000, 100, 10).lr, schedule_at(&o, 99, 100, 10).lr, 0,
            "beyond the end: the last step");
    is_near(schedule_at(&o, 0, 0, 0).lr, 1, 0, "no steps at all");
    o = read("{\"final\": 0.2, \"warmup\": 0.5}");
    is_near(schedule_at(&o, 50, 100, 10).lr, 1, 0, "cosine begins after the warm-up");
    is_near(schedule_at(&o, 75, 100, 10).lr, 0.6, 1e-15, "cosine half way to its last rate");

    o = read("{\"type\": \"one_cycle\", \"rise\": 0.5, \"start\": 0.2, \"final\": 0.1}");
    is_near(schedule_at(&o, 0, 100, 10).lr, 0.2, 1e-15, "one_cycle begins low");
    is_near(schedule_at(&o, 25, 100, 10).lr, 0.6, 1e-15, "one_cycle half way up");
    is_near(schedule_at(&o, 50, 100, 10).lr, 1, 0, "one_cycle at its height");
    is_near(schedule_at(&o, 75, 100, 10).lr, 0.55, 1e-15, "one_cycle half way down");
    o = read("{\"type\": \"one_cycle\", \"rise\": 1}");
    is_near(schedule_at(&o, 99, 100, 10).lr,
            0.04 + 0.96 * (0.5 - 0.5 * cos(0.99 * 3.14159265358979)), 1e-12,
            "one_cycle that only rises");
    o = read("{\"type\": \"one_cycle\", \"rise\": 0, \"final\": 0.5}");
    is_near(schedule_at(&o, 0, 100, 10).lr, 1, 0, "one_cycle that only falls");
    o = read("{\"warmup\": 1}");
    is_near(schedule_at(&o, 99, 100, 10).lr, 100.0 / 101, 1e-15, "nothing but warm-up");
    bool falls = true;
    o = read("{}");
    for (int64_t i = 1; i < 1000; i++)
        falls = falls && schedule_at(&o, i, 1000, 10).lr < schedule_at(&o, i - 1, 1000, 10).lr;
    ok(falls, "cosine falls at every step");

    o = read("{\"type\": \"coslog4\"}"); /* its minima are at (2^k - 1) / 15 */
    is_near(schedule_at(&o, 0, 1500, 10).lr, 0, 0, "coslog4 begins at 0");
    is_near(schedule_at(&o, 100, 1500, 10).lr, 0, 1e-15, "coslog4: the end of the first wave");
    is_near(schedule_at(&o, 300, 1500, 10).lr, 0, 1e-15, "coslog4: the end of the second wave");
    is_near(schedule_at(&o, 700, 1500, 10).lr, 0, 1e-15, "coslog4: the end of the third wave");
    is_near(schedule_at(&o, 500, 1500, 10).lr, 0.5 - 0.5 * cos(2 * 3.14159265358979 * log2(6)),
            1e-12, "coslog4 within the third wave");
    o = read("{\"type\": \"flat_cos\", \"weight_decay\": \"flat_cos\"}");
    is_near(schedule_at(&o, 499, 1000, 10).lr, 1, 0, "flat_cos: the first half");
    is_near(schedule_at(&o, 750, 1000, 10).lr, 0.5, 1e-15, "flat_cos at three quarters");
    is_near(schedule_at(&o, 499, 1000, 10).weight_decay, 1, 0,
            "the decay is whole in the first half");
    is_near(schedule_at(&o, 750, 1000, 10).weight_decay, 0.5, 1e-15, "and half at three quarters");
    is_near(schedule_at(&o, 2000, 1000, 10).weight_decay, 0, 1e-15, "and 0 beyond the end");
    is_int((int64_t)schedule_at(&o, 999, 1000, 10).dropout_decay, 0,
           "dropout is constant by default");
    o = read("{\"dropout\": \"flat_cos\"}");
    is_int((int64_t)schedule_at(&o, 499, 1000, 10).dropout_decay, 0,
           "dropout is whole in the first half");
    is_near((double)schedule_at(&o, 750, 1000, 10).dropout_decay, 0x1p31, 1,
            "and half at three quarters");
    is_int((int64_t)schedule_at(&o, 1000, 1000, 10).dropout_decay, (int64_t)1 << 32,
           "and none at the end");
    is_near(schedule_at(&o, 999, 1000, 10).weight_decay, 1, 0, "the decay is constant by default");
    return done();
}
