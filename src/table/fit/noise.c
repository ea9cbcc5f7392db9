/* noise.c - see noise.h. Rows are sorted by a hash of their inputs: equal ones are neighbours. */
#include "table/fit/noise.h"

#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "table/dataset/dataset.h"
#include "table/encoder/encoder.h"
#include "table/schema/record.h"
#include "table/schema/vocab.h"

struct item {
    uint64_t hash;
    uint32_t row;
    int32_t label;
};

static int compare(const void *a, const void *b, const void *unused)
{
    const struct item *x = a, *y = b;
    (void)unused;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* The share of pairs with different labels. counts [classes] is 0 before and after. */
static double labels_differ(const struct item *items, uint64_t count, double *counts)
{
    double same = 0, rows = (double)count;
    for (uint64_t i = 0; i < count; i++)
        same += 2 * counts[items[i].label]++;
    for (uint64_t i = 0; i < count; i++)
        counts[items[i].label] = 0;
    return 1 - same / (rows * (rows - 1));
}

static double variance(const struct item *items, uint64_t count, const double *target)
{
    double first = target[items[0].row], sum = 0, squares = 0; /* equal ones give exactly 0 */
    for (uint64_t i = 0; i < count; i++) {
        double d = target[items[i].row] - first;
        sum += d;
        squares += d * d;
    }
    return fmax(squares - sum * sum / (double)count, 0) / (double)(count - 1);
}

static uint64_t gather(const struct dataset *d, const struct encoder *c, const uint32_t *index,
                       uint64_t count, struct item *items)
{
    const struct rowfmt *f = &d->rows.format;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++) {
        const unsigned char *record = rows_at(&d->rows, index[i]);
        struct item *to = &items[kept];
        *to = (struct item){.row = index[i], .hash = rng_hash(record, f->at_target, 0)};
        if (c->schema->labels) {
            int32_t id = record_int(record, f->at_target);
            to->label = id < 0 || !c->class_of ? id : c->class_of[id];
            kept += to->label >= 0;
        } else {
            kept += d->target[index[i]] == d->target[index[i]];
        }
    }
    return kept;
}

void noise_of(const struct dataset *d, const struct encoder *c, const uint32_t *index,
              uint64_t count, struct noise *n)
{
    struct item *items = mem_alloc(count + 1, sizeof *items);
    double *counts = mem_zero(c->schema->labels ? vocab_count(c->schema->labels) : 1,
                              sizeof *counts), sum = 0;
    const uint64_t all = gather(d, c, index, count, items);
    *n = (struct noise){.of = all};
    sort_stable(items, all, sizeof *items, compare, NULL);
    for (uint64_t from = 0, to; from < all; from = to) {
        for (to = from + 1; to < all && items[to].hash == items[from].hash;)
            to++;
        if (to - from < 2)
            continue;
        n->rows += to - from;
        sum += (double)(to - from) * (c->schema->labels
                                          ? labels_differ(items + from, to - from, counts)
                                          : variance(items + from, to - from, d->target));
    }
    n->differ = n->rows ? sum / (double)n->rows : 0;
    mem_free(counts);
    mem_free(items);
}
