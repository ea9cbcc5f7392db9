/* schedule.c - learning rate, weight decay and dropout of every step. */
#include "model/schedule.h"

#include <math.h>

static const char *const kinds[] = {"constant", "step", "cosine", "one_cycle",
                                    "coslog4",  "flat_cos", NULL};

static const char *const decay_kinds[] = {"constant", "flat_cos", NULL};

const struct option schedule_options_table[] = {
    {OPT_ROW_AS("type", struct schedule_options, kind, OPT_WORD, "\"cosine\""), .words = kinds,
     .help = "How the learning rate changes. constant: not at all. step: by the factor gamma "
             "every few epochs. cosine: it falls as half a cosine wave. one_cycle: it rises, "
             "then falls. coslog4: four waves from 0 to 0, each twice as long as the one before. "
             "flat_cos: constant in the first half of the steps, then half a cosine wave to 0."},
    {OPT_ROW(struct schedule_options, warmup, OPT_NUMBER, "0"), .low = 0, .high = 1,
     .help = "The fraction of all steps in which the rate first rises linearly from 0."},
    {OPT_ROW(struct schedule_options, gamma, OPT_NUMBER, "0.1"), .flags = OPT_OPEN_LOW, .low = 0,
     .high = 1,
     .help = "step: multiplies the rate by this factor."},
    {OPT_ROW(struct schedule_options, every, OPT_INT, "30"), .low = 1, .high = 1e9,
     .help = "step: the number of epochs between two changes."},
    {OPT_ROW(struct schedule_options, final, OPT_NUMBER, "0"), .low = 0, .high = 1,
     .help = "cosine, one_cycle: the rate after the last step, as a fraction of the highest."},
    {OPT_ROW(struct schedule_options, rise, OPT_NUMBER, "0.3"), .low = 0, .high = 1,
     .help = "one_cycle: the fraction of steps in which the rate rises."},
    {OPT_ROW(struct schedule_options, start, OPT_NUMBER, "0.04"), .flags = OPT_OPEN_LOW, .low = 0,
     .high = 1,
     .help = "one_cycle: the first rate as a fraction of the highest."},
    {OPT_ROW_AS("weight_decay", struct schedule_options, decay, OPT_WORD, "\"constant\""),
     .words = decay_kinds,
     .help = "How the weight decay changes: constant, or flat_cos, in the first half of the steps "
             "constant, then half a cosine wave to 0."},
    {OPT_ROW(struct schedule_options, dropout, OPT_WORD, "\"constant\""), .words = decay_kinds,
     .help = "How the p of dropout layers changes: constant, or flat_cos, in the first half of "
             "the steps constant, then half a cosine wave to 0."},
    {0},
};

#define PI 3.14159265358979323846

/* From a at t = 0 to b at t = 1, half a cosine wave. */
static double wave(double a, double b, double t)
{
    return b + (a - b) * 0.5 * (1 + cos(PI * t));
}

static double flat_cos(double t)
{
    return t < 0.5 ? 1 : wave(1, 0, 2 * t - 1);
}

static double decay_factor(int kind, int64_t tried, int64_t total)
{
    double t = total > 0 ? (double)tried / (double)total : 0;
    return kind == SCHEDULE_CONSTANT ? 1 : flat_cos(t < 1 ? t : 1);
}

static double rate_factor(const struct schedule_options *o, int64_t tried, int64_t total,
                          int64_t steps_per_epoch)
{
    if (total < 1)
        total = 1;
    if (tried >= total)
        tried = total - 1;
    if (tried < 0)
        tried = 0;
    int64_t warm = (int64_t)floor(o->warmup * (double)total);
    double rising = tried < warm ? (double)(tried + 1) / (double)(warm + 1) : 1;
    double t = tried < warm ? 0 : (double)(tried - warm) / (double)(total - warm);
    switch ((enum schedule_kind)o->kind) {
    case SCHEDULE_CONSTANT: return rising;
    case SCHEDULE_STEP: {
        int64_t epoch = tried / (steps_per_epoch > 0 ? steps_per_epoch : 1);
        return rising * pow(o->gamma, (double)(epoch / (o->every > 0 ? o->every : 1)));
    }
    case SCHEDULE_COSINE: return rising * wave(1, o->final, t);
    case SCHEDULE_ONE_CYCLE:
        if (t < o->rise)
            return rising * wave(o->start, 1, t / o->rise);
        return rising * (o->rise < 1 ? wave(1, o->final, (t - o->rise) / (1 - o->rise)) : 1);
    case SCHEDULE_COSLOG4: return rising * 0.5 * (1 - cos(2 * PI * log2(1 + 15 * t)));
    case SCHEDULE_FLAT_COS: return rising * flat_cos(t);
    }
    return rising;
}

struct hyper schedule_at(const struct schedule_options *o, int64_t tried, int64_t total,
                         int64_t steps_per_epoch)
{
    double dropout = decay_factor(o->dropout, tried, total);
    return (struct hyper){.lr = rate_factor(o, tried, total, steps_per_epoch),
                          .weight_decay = decay_factor(o->decay, tried, total),
                          .dropout_decay = (uint64_t)((1 - dropout) * 0x1p32)};
}
