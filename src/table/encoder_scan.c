/* encoder_scan.c - range and median of numbers without copies of whole columns. A sorted sample
 * gives a narrow range of values around the median's rank. One pass over the rows counts the values
 * below it and keeps those in it. The results are exact. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/thread.h"
#include "table/encoder_fit.h"

/* MARGIN: five deviations of the rank of a sample's median. */
enum { TOGETHER = 8, BLOCK_ROWS = 256, SAMPLE = 4096, MARGIN = 160, KEEP_SHARE = 8 };

struct scanning {
    const struct fit *fit;
    struct number_scan *scans;
    uint32_t slots, together; /* together: slots of a tile */
};

/* One slot. Values are compared as integers of the same order, so that -0 is below 0. */
struct column_scan {
    uint32_t slot, count, below, kept, room;
    int32_t from, to; /* of the values to keep */
    int32_t least, most;
    float *values;    /* [room + 1] */
};

static inline int32_t order_of(float v)
{
    int32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits ^ (int32_t)((uint32_t)(bits >> 31) & 0x7FFFFFFFu);
}

static float value_of(int32_t order)
{
    float v;
    order ^= (int32_t)((uint32_t)(order >> 31) & 0x7FFFFFFFu);
    memcpy(&v, &order, sizeof v);
    return v;
}

/* Sets the range of each column around the median of a sample; for few rows, the whole range. */
static void choose_ranges(const struct fit *f, struct column_scan *columns, uint32_t count)
{
    uint32_t most = f->count < SAMPLE ? (uint32_t)f->count : SAMPLE, found[TOGETHER] = {0};
    float(*sample)[SAMPLE] = mem_alloc(count, sizeof *sample);
    for (uint32_t i = 0; i < most; i++) {
        const unsigned char *record = rows_at(&f->data->rows, f->rows[i * f->count / most]);
        for (uint32_t k = 0; k < count; k++) {
            float v = sample[k][found[k]] = record_number(record, columns[k].slot);
            found[k] += v == v;
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        struct column_scan *c = &columns[k];
        uint32_t n = found[k];
        bool all = f->count <= c->room;
        sort_floats(sample[k], n);
        c->from = all || n / 2 < MARGIN ? INT32_MIN : order_of(sample[k][n / 2 - MARGIN]);
        c->to = all || n / 2 + MARGIN >= n ? INT32_MAX : order_of(sample[k][n / 2 + MARGIN]);
    }
    mem_free(sample);
}

static void scan_block(const unsigned char *const *records, uint32_t rows, struct column_scan *c)
{
    uint32_t count = 0, below = 0, kept = c->kept, room = c->room;
    int32_t from = c->from, to = c->to, least = c->least, most = c->most;
    float *values = c->values;
    for (uint32_t i = 0; i < rows; i++) {
        float v = record_number(records[i], c->slot);
        int32_t order = order_of(v);
        if (v != v)
            continue;
        count++;
        least = order < least ? order : least;
        most = order > most ? order : most;
        below += order < from;
        values[kept] = v;
        kept += (order >= from) & (order <= to) & (kept < room);
    }
    c->count += count;
    c->below += below;
    c->kept = kept;
    c->least = least;
    c->most = most;
}

/* False: the median is not among the values kept. */
static bool find_median(const struct column_scan *c, double *median)
{
    double rank = 0.5 * (double)(c->count - 1);
    uint32_t at = (uint32_t)rank;
    float pair[2];
    if (c->kept >= c->room || at < c->below || at + 1 >= c->below + c->kept)
        return false;
    at -= c->below;
    select_floats(c->values, c->kept, &at, 1, &pair);
    double part = rank - floor(rank);
    *median = (double)pair[0] * (1 - part) + (double)pair[1] * part;
    return true;
}

static void finish(const struct column_scan *c, struct number_scan *s)
{
    s->count = c->count;
    s->done = true;
    if (!c->count)
        return;
    s->low = value_of(c->least);
    s->high = value_of(c->most);
    s->median = (double)s->high;
    s->done = c->count == 1 || find_median(c, &s->median);
}

static void scan_tile(void *context, unsigned tile, unsigned hand)
{
    struct scanning *t = context;
    const struct fit *f = t->fit;
    struct column_scan columns[TOGETHER];
    const unsigned char *records[BLOCK_ROWS];
    uint32_t used = 0, room = (uint32_t)(f->count / KEEP_SHARE) + SAMPLE;
    (void)hand;
    uint32_t from = tile * t->together, end = from + t->together;
    for (uint32_t slot = from; slot < t->slots && slot < end; slot++) {
        if (!t->scans[slot].wanted)
            continue;
        struct column_scan *c = &columns[used++];
        *c = (struct column_scan){
            .slot = slot, .room = room, .least = INT32_MAX, .most = INT32_MIN};
        c->values = mem_alloc((size_t)room + 1, sizeof *c->values);
    }
    if (!used)
        return;
    choose_ranges(f, columns, used);
    for (uint64_t done = 0; done < f->count; done += BLOCK_ROWS) {
        uint32_t rows = f->count - done < BLOCK_ROWS ? (uint32_t)(f->count - done) : BLOCK_ROWS;
        for (uint32_t i = 0; i < rows; i++) {
            records[i] = rows_at(&f->data->rows, f->rows[done + i]);
            __builtin_prefetch(records[i] + 4 * (size_t)columns[0].slot);
            __builtin_prefetch(records[i] + 4 * (size_t)columns[used - 1].slot);
        }
        for (uint32_t k = 0; k < used; k++)
            scan_block(records, rows, &columns[k]);
    }
    for (uint32_t k = 0; k < used; k++) {
        finish(&columns[k], &t->scans[columns[k].slot]);
        mem_free(columns[k].values);
    }
}

void numbers_scan(const struct fit *f, struct number_scan *scans, uint32_t slots)
{
    uint32_t hands = threads_hands(), tiles = (slots + TOGETHER - 1) / TOGETHER;
    tiles = (tiles + hands - 1) / hands * hands; /* as many for each */
    struct scanning t = {f, scans, slots, (slots + tiles - 1) / tiles};
    threads_run_few((slots + t.together - 1) / t.together, scan_tile, &t);
}
