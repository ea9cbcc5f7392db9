/* history.c - see history.h. */
#include "train/history.h"

#include <math.h>

#include "base/mem.h"

bool history_add(struct history *h, struct history_row row)
{
    if (h->epochs == h->room) {
        h->room = h->room ? 2 * h->room : 64;
        h->rows = mem_grow(h->rows, (size_t)h->room, sizeof *h->rows);
    }
    h->rows[h->epochs++] = row;
    bool better = true;
    if (h->metric) {
        double gain = h->metric->higher ? row.metric - h->best : h->best - row.metric;
        /* written so that a NaN on the new side is never better */
        better = h->best_epoch ? gain > h->min_delta : row.metric == row.metric;
    }
    if (better) {
        h->best = row.metric;
        h->best_epoch = h->epochs;
        h->waited = 0;
    } else {
        h->waited++;
    }
    return better;
}

bool history_ruins(const struct history *h, double loss)
{
    double usual = h->untrained > h->constant ? h->untrained : h->constant;
    return loss > HISTORY_FACTOR * usual;
}

bool history_ruined(const struct history *h, int64_t epoch)
{
    return history_ruins(h, h->rows[epoch - 1].loss);
}

bool history_useless(const struct history *h, int64_t epoch)
{
    double further = h->untrained > h->constant ? h->untrained / h->constant : 1;
    double usual = h->rooted ? sqrt(further) : further;
    bool far = h->metric && !h->metric->higher && h->constant_metric > 0 &&
               h->rows[epoch - 1].metric > HISTORY_FAR * usual * h->constant_metric;
    return far || history_ruined(h, epoch);
}

bool history_runaway(const struct history *h, int64_t steps, bool over)
{
    int64_t last = h->epochs, low = last, row = 0;
    for (; row < last && history_ruined(h, last - row); row++)
        if (h->rows[last - row - 1].loss <= h->rows[low - 1].loss)
            low = last - row;
    int64_t back = (HISTORY_STEPS + steps - 1) / steps;
    if (back < HISTORY_RUNAWAY)
        back = HISTORY_RUNAWAY;
    if (over || row < HISTORY_RUNAWAY)
        return row >= HISTORY_RUNAWAY;
    return low < last - back && h->rows[last - 1].loss >= h->rows[last - back - 1].loss;
}

/* The first of the epochs that are the last tenth of the way, from 0. */
static int64_t late(const struct history *h)
{
    double way = 0, behind = 0;
    int64_t first = h->epochs;
    for (int64_t i = 0; i < h->epochs; i++)
        way += h->rows[i].learning_rate;
    while (first > 1 && (behind < way / 10 || h->epochs - first < HISTORY_LATE))
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

bool history_over(const struct history *h)
{
    return h->metric && h->patience > 0 && h->waited >= h->patience;
}

void history_replay(struct history *h, const struct history_row *rows, int64_t epochs)
{
    h->epochs = h->best_epoch = h->waited = 0;
    h->best = 0;
    for (int64_t i = 0; i < epochs; i++)
        history_add(h, rows[i]);
}

void history_release(struct history *h)
{
    mem_free(h->rows);
    *h = (struct history){0};
}
