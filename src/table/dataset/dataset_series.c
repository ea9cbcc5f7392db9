/* dataset_series.c - the groups of sequences of records: their order, which may be sorted, and what
 * is unusual about it. */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sort.h"
#include "table/dataset/dataset_read.h"
#include "table/schema/record.h"
#include "table/sequence/order.h"

#define STEPS_LOOKED_AT ((uint64_t)1 << 16) /* for the usual distance of two rows */

/* --- order --- */

/* A value goes to the place of its row. */
static void permute(void *values, size_t size, const struct row_places *p)
{
    if (!values)
        return;
    unsigned char *to = mem_alloc(p->count + 1, size);
    for (uint64_t i = 0; i < p->count; i++)
        memcpy(to + i * size, (const unsigned char *)values + p->at[i].row * size, size);
    memcpy(values, to, p->count * size);
    mem_free(to);
}

static void permute_records(struct dataset *d, const struct row_places *p)
{
    struct rows *rows = &d->rows;
    const size_t stride = rows->format.stride;
    unsigned char *all = mem_alloc(rows->count + 1, stride);
    uint64_t *hash = mem_alloc(rows->count + 1, sizeof *hash);
    const uint64_t mask = (UINT64_C(1) << rows->shift) - 1;
    for (uint64_t i = 0; i < rows->count; i++) {
        const uint32_t row = p->at[i].row;
        memcpy(all + i * stride, rows_at(rows, row), stride);
        hash[i] = d->hash[row >> rows->shift][row & mask];
    }
    for (uint64_t i = 0; i < rows->count; i++) {
        memcpy(rows_at(rows, i), all + i * stride, stride);
        d->hash[i >> rows->shift][i & mask] = hash[i];
    }
    mem_free(all);
    mem_free(hash);
}

/* Rows of the sample, the first rows of the file that the model keeps as text, stay in their
 * places, or leave the sample. */
static void sort_rows(struct dataset *d, struct row_places *p)
{
    row_places_sort(p);
    permute_records(d, p);
    permute(d->target, sizeof *d->target, p);
    permute(d->key, sizeof *d->key, p);
    permute(d->group, sizeof *d->group, p);
    permute(d->time, sizeof *d->time, p);
    permute(d->said, sizeof *d->said, p);
    d->moved = mem_alloc(p->count + 1, sizeof *d->moved);
    for (uint64_t i = 0; i < p->count; i++)
        d->moved[p->at[i].row] = (uint32_t)i;
    for (uint32_t i = 0; i < d->sample.rows; i++)
        if (p->at[i].row != i)
            d->sample.rows = i;
    row_places_note(p, d->schema, "");
    if (!d->sample.rows)
        log_note("the first row of the file moved: the model keeps no golden rows for `dnn "
                 "verify`");
}

static bool report_disorder(const struct dataset *d, const struct data_options *o,
                            const struct row_places *p, struct err *e)
{
    disorder_report(d->schema, p->why, e);
    err_key(e, "data.sequence.unordered");
    err_help(e, d->schema->windows.order == UINT32_MAX
                    ? "sort the file, or name a column with data.sequence.order and set "
                      "data.sequence.unordered to \"sort\""
                    : "set data.sequence.unordered to \"sort\", or sort the file");
    dataset_place(d, o, p->bad + 1, e);
    return false;
}

/* Places the rows, part by part. */
static void place_rows(const struct dataset *d, const struct series_step *steps,
                       struct row_places *p)
{
    row_places_begin(p, d->rows.count);
    for (int part = PART_TRAIN; part < PARTS; part++) {
        for (uint64_t i = 0; i < d->rows_of[part]; i++)
            row_places_add(p, &steps[p->count]);
        row_places_part(p);
    }
}

/* --- gaps and duplicates --- */

static int by_value(const void *one, const void *other, const void *context)
{
    double a = *(const double *)one, b = *(const double *)other;
    (void)context;
    return a < b ? -1 : a > b;
}

/* The distance that more than half of the first steps have, within a thousandth; 0: none is. */
static double usual_step(const struct row_places *p)
{
    const struct row_place *at = p->at;
    uint64_t rows = p->count, count = 0;
    double *steps = mem_alloc((rows < STEPS_LOOKED_AT ? rows : STEPS_LOOKED_AT) + 1,
                              sizeof *steps);
    for (uint64_t i = 1; i < rows && count < STEPS_LOOKED_AT; i++)
        if (at[i].group == at[i - 1].group && at[i].order > at[i - 1].order)
            steps[count++] = at[i].order - at[i - 1].order;
    sort_stable(steps, count, sizeof *steps, by_value, NULL);
    double middle = count ? steps[count / 2] : 0;
    uint64_t alike = 0;
    for (uint64_t i = 0; i < count; i++)
        alike += fabs(steps[i] - middle) <= 1e-3 * middle;
    mem_free(steps);
    return 2 * alike > count ? middle : 0;
}

static void note_steps(const struct dataset *d, const struct row_places *p,
                       const struct data_options *o)
{
    const struct row_place *at = p->at;
    const struct schema *s = d->schema;
    struct odd_steps odd = {0};
    for (uint64_t i = 1; i < d->rows.count; i++) {
        if (at[i].group != at[i - 1].group)
            continue;
        enum odd_step kind = odd_step(&s->windows, at[i].order - at[i - 1].order);
        if (kind < ODD_STEPS && odd.count[kind]++ == 0)
            dataset_step_place(d, o, i + 1, &odd.first[kind]);
    }
    odd_steps_note(&odd, s);
    odd_steps_free(&odd);
}

/* --- groups --- */

/* label "group": the rows of a group say one label. */
static void warn_labels(struct dataset *d)
{
    const struct samples *s = &d->samples;
    uint64_t differ = 0;
    for (uint64_t g = 0; g < s->count && d->schema->labels; g++) {
        int32_t first = -1;
        for (uint64_t i = s->first[g]; i < s->first[g + 1]; i++) {
            int32_t label = record_int(rows_at(&d->rows, i), d->rows.format.at_target);
            bool other = first >= 0 && label >= 0 && label != first;
            first = first < 0 ? label : first;
            differ += other;
            if (other)
                break;
        }
    }
    if (differ)
        remark_add(&d->remarks,
                   "%llu of %llu groups have rows of several labels, and data.sequence.label is "
                   "\"group\": the label of the last row counts; \"row\" learns each",
                   (unsigned long long)differ, (unsigned long long)s->count);
}

static void set_groups(struct dataset *d, const struct row_places *p)
{
    uint64_t count = 0, *first = mem_alloc(d->rows.count + 1, sizeof *first), longest = 0;
    for (uint64_t at = 0; at < p->count; at = row_places_end(p, at))
        first[count++] = at;
    first[count] = d->rows.count;
    first = mem_grow(first, count + 1, sizeof *first);
    d->samples = (struct samples){.count = count, .first = first};
    for (uint64_t g = 0; g < count; g++)
        longest = first[g + 1] - first[g] > longest ? first[g + 1] - first[g] : longest;
    log_note("%llu rows are %llu sequences of at most %llu rows; the network reads %u at once",
             (unsigned long long)d->rows.count, (unsigned long long)count,
             (unsigned long long)longest, d->schema->windows.window);
    if (longest > 1 && d->schema->windows.window >= 2 * longest)
        log_note("data.sequence.window is %u, and no sequence has more than %llu rows: a smaller "
                 "window is as good, and faster", d->schema->windows.window,
                 (unsigned long long)longest);
}

bool dataset_find_series(struct dataset *d, const struct data_options *o, struct series_step *steps,
                         struct err *e)
{
    struct windows *w = &d->schema->windows;
    const bool ordered = w->order != UINT32_MAX;
    struct row_places p;
    place_rows(d, steps, &p);
    mem_free(steps);
    const bool sorts = p.why != IN_ORDER && w->sort && ordered;
    const bool good = p.why == IN_ORDER || sorts || report_disorder(d, o, &p, e);
    if (sorts)
        sort_rows(d, &p);
    if (good)
        set_groups(d, &p);
    if (good && ordered) {
        w->step = usual_step(&p);
        note_steps(d, &p, o);
    }
    if (good && w->label == LABEL_GROUP)
        warn_labels(d);
    row_places_free(&p);
    return good;
}
