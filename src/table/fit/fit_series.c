/* fit_series.c - the scale of sequences: every channel has one mean and one deviation, of all
 * its values in the training rows. A missing value inside a sequence is the mean. */
#include <math.h>

#include "base/mem.h"
#include "base/process/thread.h"
#include "table/fit/fit.h"

/* Sums of one number; offsets are added, so that numbers of a channel can be put together. */
struct step_sums {
    uint64_t count;
    double sum, square, low, high; /* square: sum of squared distances from `from` */
};

struct series_task {
    const struct fit *fit;
    struct step_sums *sums;  /* by number */
    const double *from;      /* by channel; NULL: the first pass */
};

enum { NUMBERS_A_TILE = 16 };

static void add_value(struct step_sums *s, double v, double from)
{
    s->low = s->count ? fmin(s->low, v) : v;
    s->high = s->count ? fmax(s->high, v) : v;
    s->sum += v;
    s->square += (v - from) * (v - from);
    s->count++;
}

/* Rows in their order for each number: the sums do not depend on threads. */
static void sum_tile(void *context, unsigned tile, unsigned thread)
{
    const struct series_task *t = context;
    const struct schema *s = t->fit->encoder->schema;
    uint32_t first = tile * NUMBERS_A_TILE, end = first + NUMBERS_A_TILE;
    (void)thread;
    end = end < s->number_count ? end : s->number_count;
    for (uint32_t k = first; k < end; k++)
        t->sums[k] = (struct step_sums){.count = 0};
    for (uint64_t i = 0; i < t->fit->count; i++) {
        const unsigned char *record = rows_at(&t->fit->data->rows, t->fit->rows[i]);
        for (uint32_t k = first; k < end; k++) {
            double v = (double)record_number(record, k);
            if (!isnan(v))
                add_value(&t->sums[k], v + s->offsets[k],
                          t->from ? t->from[k / s->steps] : 0);
        }
    }
}

static void sum_all(struct series_task *t)
{
    uint32_t numbers = t->fit->encoder->schema->number_count;
    threads_run((numbers + NUMBERS_A_TILE - 1) / NUMBERS_A_TILE, sum_tile, t);
}

static struct step_sums channel_sums(const struct series_task *t, uint32_t channel)
{
    const uint32_t steps = t->fit->encoder->schema->steps;
    struct step_sums all = {.count = 0};
    for (uint32_t i = channel * steps; i < (channel + 1) * steps; i++) {
        const struct step_sums *s = &t->sums[i];
        if (!s->count)
            continue;
        all.low = all.count ? fmin(all.low, s->low) : s->low;
        all.high = all.count ? fmax(all.high, s->high) : s->high;
        all.sum += s->sum;
        all.square += s->square;
        all.count += s->count;
    }
    return all;
}

static void set_channel(const struct series_task *t, uint32_t channel, double mean)
{
    const struct fit *f = t->fit;
    const struct schema *s = f->encoder->schema;
    struct step_sums all = channel_sums(t, channel);
    double deviation = sqrt(all.square / (double)all.count);
    bool constant = !(deviation > 1e-12 * fmax(fabs(all.low), fabs(all.high)));
    for (uint32_t i = channel * s->steps; i < (channel + 1) * s->steps; i++) {
        struct number_slot *n = &f->encoder->numbers[i];
        n->scale = SCALE_STANDARD;
        n->center = mean - n->offset;
        n->factor = constant ? 0 : 1 / deviation;
        n->least = -SCHEMA_SCALED_MOST;
        n->most = SCHEMA_SCALED_MOST;
        n->impute = (float)n->center;
        n->indicator = t->sums[i].count < f->count;
        n->low = (float)(all.low - n->offset);
        n->high = (float)(all.high - n->offset);
    }
}

bool fit_series(struct fit *f, struct err *e)
{
    const struct schema *s = f->encoder->schema;
    uint32_t channels = s->number_count / s->steps;
    struct series_task t = {.fit = f, .sums = mem_zero(s->number_count, sizeof *t.sums)};
    double *mean = mem_zero(channels, sizeof *mean);
    uint32_t c = 0;
    sum_all(&t);
    for (; c < channels; c++) {
        struct step_sums all = channel_sums(&t, c);
        if (!all.count)
            break;
        mean[c] = all.sum / (double)all.count;
    }
    if (c < channels) {
        err_set(e, ERR_COLUMN_EMPTY,
                "the channel \"%s\" has no value in any of the %llu training rows",
                text_quote_z(s->channels.items[c]), (unsigned long long)f->count);
        err_help(e, "leave it out of data.sequence");
    } else {
        t.from = mean;
        sum_all(&t);
        for (c = 0; c < channels; c++)
            set_channel(&t, c, mean[c]);
        for (size_t i = 0; i < s->column_count; i++)
            if (s->columns[i].number != UINT32_MAX)
                f->encoder->columns[i].missing = f->count - t.sums[s->columns[i].number].count;
    }
    mem_free(mean);
    mem_free(t.sums);
    return c == channels && t.from;
}
