/* history.c - see history.h. */
#include "run/history.h"

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

bool history_runaway(const struct history *h, double constant_loss)
{
    int64_t row = 0;
    while (row < h->epochs &&
           h->rows[h->epochs - 1 - row].loss > HISTORY_FACTOR * constant_loss)
        row++;
    return row >= HISTORY_RUNAWAY;
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
