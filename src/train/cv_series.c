/* cv_series.c - see cv_series.h. */
#include "train/cv_series.h"

#include "base/mem.h"
#include "table/series.h"
#include "table/window_mean.h"

/* The record whose line has the answer to a record. */
static uint32_t line_of(const struct dataset *d, uint32_t record)
{
    return d->schema->windows.label == LABEL_GROUP
               ? (uint32_t)sample_last(&d->samples, sample_of(&d->samples, record))
               : record;
}

/* to: the line of each answer, from 0, as they come. */
static void join_rows(struct part_rows *r, uint32_t outputs, const uint32_t *to, uint64_t lines)
{
    struct window_mean mean = {0};
    window_mean_begin(&mean, 1, lines, outputs);
    for (uint64_t i = 0; i < r->count; i++) {
        const uint64_t line = to[i];
        window_mean_add(&mean, line, r->logits, r->count, i);
        if (r->label)
            r->label[line] = r->label[i];
        if (r->target)
            r->target[line] = r->target[i];
        r->weight[line] = r->weight[i];
        if (r->group)
            r->group[line] = r->group[i];
    }
    window_mean_put(&mean, r->logits, lines, 0);
    r->count = lines;
    window_mean_free(&mean);
}

void cv_series_join(const struct dataset *d, struct row_list *list, struct run_part *const *parts,
                    uint32_t runs)
{
    if (!list->windows)
        return;
    uint32_t *at = mem_alloc(d->rows.count + 1, sizeof *at); /* by record: its line */
    uint32_t *to = mem_alloc(list->count + 1, sizeof *to), lines = 0;
    for (uint64_t i = 0; i < d->rows.count; i++)
        at[i] = SAMPLE_NONE;
    for (uint64_t i = 0; i < list->count; i++) {
        const uint32_t record = line_of(d, list->index[i]);
        if (at[record] == SAMPLE_NONE) {
            at[record] = lines;
            list->index[lines++] = record;
        }
        to[i] = at[record];
    }
    for (uint32_t i = 0; i < runs; i++)
        if (parts[i])
            join_rows(&parts[i]->test, parts[i]->outputs, to, lines);
    list->count = lines;
    mem_free(at);
    mem_free(to);
}

bool *cv_series_lines(const struct dataset *d)
{
    const struct windows *w = &d->schema->windows;
    if (!w->window || w->label == LABEL_ROW)
        return NULL;
    bool *has = mem_zero(d->rows.count + 1, sizeof *has);
    for (uint64_t g = 0; g < d->samples.count; g++) {
        const uint64_t first = sample_first(&d->samples, g);
        const uint64_t rows = sample_records(&d->samples, g), all = windows_count(w, rows);
        for (uint64_t k = w->label == LABEL_GROUP ? all - 1 : 0; k < all; k++)
            has[first + k * w->stride + window_length(w, rows, k) - 1] = true;
    }
    return has;
}
