/* fit_scan.c - range and median of numbers without copies of whole columns. A sorted sample
 * gives a narrow range of values around the median's rank. One pass over the rows counts the values
 * below it and keeps those in it, sixteen slots at a time. The results are exact, and the order of
 * the values kept is chance. */
#include "table/fit/fit_scan.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/process/thread.h"
#include "csv/processor.h"
#include "table/fit/fit.h"

/* MARGIN: five deviations of the rank of a sample's median. */
enum { SAMPLE = 4096, MARGIN = 160, KEEP_SHARE = 8 };

struct scanning {
    const struct fit *f;
    struct scan_window window;
    struct scan_found sum;      /* of all tiles; the arrays of values have room + 1 places */
    uint32_t room;
    struct scan_found *of_hand; /* scratch */
    pthread_mutex_t lock;       /* of sum */
};

static float value_of(int32_t order)
{
    float v;
    order ^= (int32_t)((uint32_t)(order >> 31) & 0x7FFFFFFFu);
    memcpy(&v, &order, sizeof v);
    return v;
}

/* Sets the range of each slot around the median of a sample; for few rows, the whole range. */
static void choose_ranges(struct scanning *t)
{
    const struct fit *f = t->f;
    struct scan_window *w = &t->window;
    uint32_t most = f->count < SAMPLE ? (uint32_t)f->count : SAMPLE, found[SCAN_SLOTS] = {0};
    float(*sample)[SAMPLE] = mem_alloc(SCAN_SLOTS, sizeof *sample);
    for (uint32_t i = 0; i < most; i++) {
        const unsigned char *record = rows_at(&f->data->rows, f->rows[i * f->count / most]);
        for (uint32_t k = 0; k < SCAN_SLOTS; k++) {
            float v = w->wanted >> k & 1 ? record_number(record, w->first + k) : NAN;
            sample[k][found[k]] = v;
            found[k] += v == v;
        }
    }
    for (uint32_t k = 0; k < SCAN_SLOTS; k++) {
        uint32_t n = found[k];
        bool all = f->count <= t->room;
        sort_floats(sample[k], n);
        w->from[k] = all || n / 2 < MARGIN ? INT32_MIN : scan_order(sample[k][n / 2 - MARGIN]);
        w->to[k] = all || n / 2 + MARGIN >= n ? INT32_MAX : scan_order(sample[k][n / 2 + MARGIN]);
    }
    mem_free(sample);
}

void scan_rows_plain(const struct scan_window *w, const unsigned char *const *records,
                     uint32_t rows, struct scan_found *f)
{
    for (uint32_t k = 0; k < SCAN_SLOTS; k++) {
        uint32_t count = 0, below = 0, kept = f->kept[k];
        int32_t from = w->from[k], to = w->to[k], least = f->least[k], most = f->most[k];
        for (uint32_t i = 0; w->wanted >> k & 1 && i < rows; i++) {
            float v = record_number(records[i], w->first + k);
            int32_t order = scan_order(v);
            if (v != v)
                continue;
            count++;
            least = order < least ? order : least;
            most = order > most ? order : most;
            below += order < from;
            f->values[k][kept] = v;
            kept += (order >= from) & (order <= to);
        }
        f->count[k] += count;
        f->below[k] += below;
        f->kept[k] = kept;
        f->least[k] = least;
        f->most[k] = most;
    }
}

static scan_rows_fn *choose_code(void)
{
#if defined(__x86_64__)
    if (processor_may("avx512") && __builtin_cpu_supports("avx512f"))
        return scan_rows_avx512;
#endif
    return scan_rows_plain;
}

static void found_clear(struct scan_found *f)
{
    for (uint32_t k = 0; k < SCAN_SLOTS; k++) {
        f->count[k] = f->below[k] = f->kept[k] = 0;
        f->least[k] = INT32_MAX;
        f->most[k] = INT32_MIN;
    }
}

/* The values beyond the room are counted only. */
static void found_add(struct scanning *t, const struct scan_found *f)
{
    struct scan_found *sum = &t->sum;
    for (uint32_t k = 0; k < SCAN_SLOTS; k++) {
        uint32_t left = sum->kept[k] < t->room ? t->room - sum->kept[k] : 0;
        uint32_t now = f->kept[k] < left ? f->kept[k] : left;
        if (now)
            memcpy(sum->values[k] + sum->kept[k], f->values[k], now * sizeof(float));
        sum->kept[k] += f->kept[k];
        sum->count[k] += f->count[k];
        sum->below[k] += f->below[k];
        sum->least[k] = f->least[k] < sum->least[k] ? f->least[k] : sum->least[k];
        sum->most[k] = f->most[k] > sum->most[k] ? f->most[k] : sum->most[k];
    }
}

static void scan_tile(void *context, unsigned tile, unsigned hand)
{
    struct scanning *t = context;
    const struct fit *f = t->f;
    struct scan_found *found = &t->of_hand[hand];
    const unsigned char *records[SCAN_ROWS];
    uint64_t first = (uint64_t)tile * SCAN_ROWS;
    uint32_t rows = f->count - first < SCAN_ROWS ? (uint32_t)(f->count - first) : SCAN_ROWS;
    for (uint32_t i = 0; i < rows; i++)
        records[i] = rows_at(&f->data->rows, f->rows[first + i]);
    found_clear(found);
    choose_code()(&t->window, records, rows, found);
    pthread_mutex_lock(&t->lock);
    found_add(t, found);
    pthread_mutex_unlock(&t->lock);
}

/* False: the median is not among the values kept. */
static bool find_median(const struct scanning *t, uint32_t k, double *median)
{
    const struct scan_found *f = &t->sum;
    double rank = 0.5 * (double)(f->count[k] - 1);
    uint32_t at = (uint32_t)rank;
    float pair[2];
    if (f->kept[k] >= t->room || at < f->below[k] || at + 1 >= f->below[k] + f->kept[k])
        return false;
    at -= f->below[k];
    select_floats(f->values[k], f->kept[k], &at, 1, &pair);
    double part = rank - floor(rank);
    *median = (double)pair[0] * (1 - part) + (double)pair[1] * part;
    return true;
}

static void finish(const struct scanning *t, uint32_t k, struct number_scan *s)
{
    s->count = t->sum.count[k];
    s->done = true;
    if (!s->count)
        return;
    s->low = value_of(t->sum.least[k]);
    s->high = value_of(t->sum.most[k]);
    s->median = (double)s->high;
    s->done = s->count == 1 || find_median(t, k, &s->median);
}

static void found_room(struct scan_found *f, uint32_t room)
{
    f->values[0] = mem_alloc((size_t)SCAN_SLOTS * room, sizeof(float));
    for (uint32_t k = 1; k < SCAN_SLOTS; k++)
        f->values[k] = f->values[0] + (size_t)k * room;
}

void numbers_scan(const struct fit *f, struct number_scan *scans, uint32_t slots)
{
    struct scanning t = {.f = f,
                         .room = (uint32_t)(f->count / KEEP_SHARE) + SAMPLE,
                         .of_hand = mem_zero(threads_hands(), sizeof *t.of_hand),
                         .lock = PTHREAD_MUTEX_INITIALIZER};
    for (uint32_t first = 0; first < slots; first++) {
        if (!scans[first].wanted)
            continue;
        t.window = (struct scan_window){.first = first};
        for (uint32_t k = 0; k < SCAN_SLOTS && first + k < slots; k++)
            t.window.wanted |= (uint32_t)scans[first + k].wanted << k;
        for (unsigned i = 0; !t.sum.values[0] && i < threads_hands(); i++)
            found_room(&t.of_hand[i], SCAN_ROWS + SCAN_PAD);
        if (!t.sum.values[0])
            found_room(&t.sum, t.room);
        found_clear(&t.sum);
        choose_ranges(&t);
        threads_run_few((unsigned)((f->count + SCAN_ROWS - 1) / SCAN_ROWS), scan_tile, &t);
        for (uint32_t k = 0; k < SCAN_SLOTS; k++)
            if (t.window.wanted >> k & 1)
                finish(&t, k, &scans[first + k]);
        first += SCAN_SLOTS - 1;
    }
    for (unsigned i = 0; i < threads_hands(); i++)
        mem_free(t.of_hand[i].values[0]);
    mem_free(t.of_hand);
    mem_free(t.sum.values[0]);
    pthread_mutex_destroy(&t.lock);
}
