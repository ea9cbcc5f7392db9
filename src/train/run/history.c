/* history.c - see history.h. */
#include "train/run/history.h"

#include <math.h>

#include "base/mem.h"

bool history_begin(struct history *h, double start)
{
    h->begun = h->metric && isfinite(start);
    h->start = h->best = h->begun ? start : 0;
    return h->begun;
}

bool history_add(struct history *h, struct history_row row)
{
    h->rows = mem_more(h->rows, (size_t)h->epochs, sizeof *h->rows);
    h->rows[h->epochs++] = row;
    double value = h->metric ? row.metric : row.loss;
    double gain = h->metric && h->metric->higher ? value - h->best : h->best - value;
    /* a NaN is never better */
    double least = h->metric ? h->min_delta : 0;
    bool follows = h->best_epoch || h->begun;
    bool better = follows ? gain > least || (h->last && h->metric && gain >= least) : !isnan(value);
    /* a metric of labels (f1, recall) is 0 until a row is flagged: the loss says what is better */
    if (h->metric && h->metric->higher && h->best_epoch && fabs(value) + fabs(h->best) <= 0)
        better = better || row.loss < h->rows[h->best_epoch - 1].loss;
    if (better) {
        h->best = value;
        h->best_epoch = h->epochs;
        h->waited = 0;
    } else {
        h->waited++;
    }
    return better;
}

/* The first epoch, from 0, of the last tenth of the summed learning rates. */
static int64_t late(const struct history *h)
{
    double all = 0, behind = 0;
    int64_t first = h->epochs;
    for (int64_t i = 0; i < h->epochs; i++)
        all += h->rows[i].learning_rate;
    while (first > 1 && (behind < all / 10 || h->epochs - first < HISTORY_LATE))
        behind += h->rows[--first].learning_rate;
    return first;
}

bool history_unfinished(const struct history *h)
{
    if (!h->metric || h->epochs < HISTORY_MANY || h->best_epoch < h->epochs)
        return false;
    double sign = h->metric->higher ? -1 : 1, before = INFINITY;
    int64_t first = late(h);
    for (int64_t i = 0; i < first; i++)
        before = fmin(before, sign * h->rows[i].metric);
    double gained = sign * h->rows[0].metric - sign * h->best;
    return before - sign * h->best > gained / 100;
}

bool history_over(const struct history *h, int64_t steps)
{
    return h->metric && h->patience > 0 && h->waited >= h->patience &&
           h->waited * steps >= h->min_steps;
}

void history_replay(struct history *h, const struct history_row *rows, int64_t epochs)
{
    h->epochs = h->best_epoch = h->waited = 0;
    h->best = h->begun ? h->start : 0;
    for (int64_t i = 0; i < epochs; i++)
        history_add(h, rows[i]);
}

double *history_table(const struct history *h, uint32_t *rows)
{
    const int64_t step = (h->epochs + HISTORY_MOST - 1) / HISTORY_MOST;
    *rows = 0;
    if (!h->epochs)
        return NULL;
    double *table = mem_alloc((size_t)(h->epochs / step + 1) * HISTORY_COLUMNS, sizeof *table);
    for (int64_t i = 0; i < h->epochs; i += step) {
        double *to = table + (size_t)(*rows)++ * HISTORY_COLUMNS;
        to[HISTORY_EPOCH] = (double)(i + 1);
        to[HISTORY_LOSS] = h->rows[i].loss;
        to[HISTORY_METRIC] = h->rows[i].metric;
        to[HISTORY_RATE] = h->rows[i].learning_rate;
    }
    return table;
}

void history_release(struct history *h)
{
    mem_free(h->rows);
    *h = (struct history){0};
}
