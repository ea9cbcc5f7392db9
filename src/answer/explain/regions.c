/* regions.c - see regions.h. */
#include "answer/explain/regions.h"

#include <math.h>

#include "base/mem.h"
#include "base/sort.h"
#include "model/conformal.h"

static void add_row(struct region_band *b, double weight, bool inside, double size)
{
    b->rows++;
    b->weight += weight;
    b->coverage += inside ? weight : 0;
    b->size += weight * size;
}

static void end_band(struct region_band *b)
{
    b->coverage = b->weight > 0 ? b->coverage / b->weight : (double)NAN;
    b->size = b->weight > 0 ? b->size / b->weight : (double)NAN;
}

static void of_values(const struct answers_kept *k, struct regions *r)
{
    float *answers = mem_alloc(k->rows + 1, sizeof *answers);
    uint32_t *order = mem_alloc(k->rows + 1, sizeof *order);
    uint32_t *rows = mem_alloc(k->rows + 1, sizeof *rows);
    uint64_t count = 0;
    for (uint64_t i = 0; i < k->rows; i++)
        if (!isnan(k->target[i])) {
            answers[count] = (float)answers_value(k, i);
            rows[count++] = (uint32_t)i;
        }
    sort_order_floats(order, answers, count);
    r->band = mem_zero(REGION_BANDS, sizeof *r->band);
    for (uint64_t b = 0; b < REGION_BANDS; b++) {
        uint64_t from = b * count / REGION_BANDS, to = (b + 1) * count / REGION_BANDS;
        struct region_band *band = &r->band[r->count];
        if (from == to)
            continue;
        band->from = answers_value(k, rows[order[from]]);
        band->to = answers_value(k, rows[order[to - 1]]);
        for (uint64_t n = from; n < to; n++) {
            const uint32_t i = rows[order[n]];
            const bool inside = k->low[i] <= k->target[i] && k->target[i] <= k->high[i];
            add_row(band, (double)k->weight[i], inside, k->high[i] - k->low[i]);
        }
        end_band(band);
        r->count++;
    }
    mem_free(answers);
    mem_free(order);
    mem_free(rows);
}

static void of_labels(const struct answers_kept *k, struct regions *r)
{
    double weight = 0;
    r->count = k->classes;
    r->band = mem_zero(r->count, sizeof *r->band);
    for (uint64_t i = 0; i < k->rows; i++) {
        const double *p = k->score + i * k->classes, w = (double)k->weight[i];
        const uint32_t answer = decision_label(&k->decision, p, k->classes);
        uint32_t size = 0;
        if (k->label[i] < 0)
            continue;
        for (uint32_t c = 0; c < k->classes; c++)
            size += conformal_holds(k->conformal, p, answer, c);
        add_row(&r->band[k->label[i]], w,
                conformal_holds(k->conformal, p, answer, (uint32_t)k->label[i]), size);
        r->share[size < REGION_SIZES ? size - 1 : REGION_SIZES - 1] += w;
        weight += w;
    }
    for (uint32_t c = 0; c < r->count; c++)
        end_band(&r->band[c]);
    for (int s = 0; s < REGION_SIZES; s++)
        r->share[s] = weight > 0 ? r->share[s] / weight : 0;
}

void regions_of(const struct answers_kept *k, struct regions *r)
{
    *r = (struct regions){0};
    if (k->classes)
        of_labels(k, r);
    else
        of_values(k, r);
}

void regions_free(struct regions *r)
{
    mem_free(r->band);
    *r = (struct regions){0};
}
