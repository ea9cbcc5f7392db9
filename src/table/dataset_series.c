/* dataset_series.c - the groups of sequences of records: their order, which may be sorted, and what
 * is unusual about it. */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sort.h"
#include "table/dataset_read.h"
#include "table/record.h"
#include "table/series.h"

#define STEPS_LOOKED_AT ((uint64_t)1 << 16) /* for the usual distance of two rows */

/* --- order --- */

struct rows_of_groups {
    struct dataset *data;
    uint64_t *group;
    double *order; /* NULL: none */
    uint32_t *id;  /* of the group, in the order of first rows; groups of another part are others */
};

/* Sets the ids. Returns the first row that is not in order, or UINT64_MAX. */
static uint64_t number_groups(struct rows_of_groups *r, bool *apart)
{
    const struct dataset *d = r->data;
    uint64_t bad = UINT64_MAX, row = 0;
    uint32_t base = 0;
    *apart = false;
    for (int part = PART_TRAIN; part < PARTS; part++) {
        struct vocab *met = vocab_new();
        for (uint64_t end = row + d->rows_of[part], begin = row; row < end; row++) {
            bool same = row > begin && r->group[row] == r->group[row - 1];
            uint32_t known = vocab_count(met);
            r->id[row] = same ? r->id[row - 1]
                              : base + vocab_add(met, (const char *)&r->group[row],
                                                 sizeof r->group[row]);
            bool back = !same && r->id[row] - base < known;
            bool falls = same && r->order && r->order[row] < r->order[row - 1];
            if (bad == UINT64_MAX && (back || falls)) {
                bad = row;
                *apart = back;
            }
        }
        base += vocab_count(met);
        vocab_free(met);
    }
    return bad;
}

static int by_place(const void *one, const void *other, const void *context)
{
    const struct rows_of_groups *r = context;
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    if (r->id[a] != r->id[b])
        return r->id[a] < r->id[b] ? -1 : 1;
    return r->order[a] < r->order[b] ? -1 : r->order[a] > r->order[b];
}

/* to[i] = from[order[i]], for all values of a row. */
static void *permuted(const void *from, size_t size, const uint32_t *order, uint64_t count)
{
    unsigned char *to = mem_alloc(count + 1, size);
    for (uint64_t i = 0; i < count; i++)
        memcpy(to + i * size, (const unsigned char *)from + order[i] * size, size);
    return to;
}

static void permute(void *values, size_t size, const uint32_t *order, uint64_t count)
{
    if (!values)
        return;
    void *moved = permuted(values, size, order, count);
    memcpy(values, moved, count * size);
    mem_free(moved);
}

static void permute_records(struct dataset *d, const uint32_t *order)
{
    struct rows *rows = &d->rows;
    const size_t stride = rows->format.stride;
    unsigned char *all = mem_alloc(rows->count + 1, stride);
    uint64_t *hash = mem_alloc(rows->count + 1, sizeof *hash);
    const uint64_t mask = (UINT64_C(1) << rows->shift) - 1;
    for (uint64_t i = 0; i < rows->count; i++) {
        memcpy(all + i * stride, rows_at(rows, order[i]), stride);
        hash[i] = d->hash[order[i] >> rows->shift][order[i] & mask];
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
static void sort_rows(struct rows_of_groups *r)
{
    struct dataset *d = r->data;
    const uint64_t count = d->rows.count;
    uint32_t *order = mem_alloc(count + 1, sizeof *order);
    for (uint64_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_stable(order, count, sizeof *order, by_place, r);
    permute_records(d, order);
    permute(d->target, sizeof *d->target, order, count);
    permute(d->key, sizeof *d->key, order, count);
    permute(d->group, sizeof *d->group, order, count);
    permute(d->time, sizeof *d->time, order, count);
    permute(d->said, sizeof *d->said, order, count);
    permute(r->group, sizeof *r->group, order, count);
    permute(r->order, sizeof *r->order, order, count);
    permute(r->id, sizeof *r->id, order, count);
    d->moved = mem_alloc(count + 1, sizeof *d->moved);
    for (uint64_t i = 0; i < count; i++)
        d->moved[order[i]] = (uint32_t)i;
    for (uint32_t i = 0; i < d->sample.rows; i++)
        if (order[i] != i)
            d->sample.rows = i;
    mem_free(order);
    log_note("rows were put in order by \"%s\" and \"%s\": all %llu are held in memory for it",
             text_quote_z(d->schema->columns[d->schema->windows.group].name),
             text_quote_z(d->schema->columns[d->schema->windows.order].name),
             (unsigned long long)count);
    if (!d->sample.rows)
        log_note("the first row of the file moved: the model keeps no golden rows for `dnn "
                 "verify`");
}

static bool report_disorder(const struct rows_of_groups *r, const struct data_options *o,
                            uint64_t row, bool apart, struct err *e)
{
    const struct schema *s = r->data->schema;
    const char *group = s->columns[s->windows.group].name;
    if (apart)
        err_set(e, ERR_SERIES_ORDER,
                "the rows of a group (\"%s\") stand apart: other rows come before this one",
                text_quote_z(group));
    else
        err_set(e, ERR_SERIES_ORDER,
                "\"%s\" is less than in the row before, which is of the same group (\"%s\")",
                text_quote_z(s->columns[s->windows.order].name), text_quote_z(group));
    err_key(e, "data.sequence.unordered");
    err_help(e, s->windows.order == UINT32_MAX
                    ? "sort the file, or name a column with data.sequence.order and set "
                      "data.sequence.unordered to \"sort\""
                    : "set data.sequence.unordered to \"sort\", or sort the file");
    dataset_place(r->data, o, row + 1, e);
    return false;
}

/* --- gaps and duplicates --- */

static int by_value(const void *one, const void *other, const void *context)
{
    double a = *(const double *)one, b = *(const double *)other;
    (void)context;
    return a < b ? -1 : a > b;
}

/* The distance that more than half of the first steps have, within a thousandth; 0: none is. */
static double usual_step(const struct rows_of_groups *r)
{
    uint64_t rows = r->data->rows.count, count = 0;
    double *steps = mem_alloc((rows < STEPS_LOOKED_AT ? rows : STEPS_LOOKED_AT) + 1,
                              sizeof *steps);
    for (uint64_t i = 1; i < rows && count < STEPS_LOOKED_AT; i++)
        if (r->id[i] == r->id[i - 1] && r->order[i] > r->order[i - 1])
            steps[count++] = r->order[i] - r->order[i - 1];
    sort_stable(steps, count, sizeof *steps, by_value, NULL);
    double middle = count ? steps[count / 2] : 0;
    uint64_t alike = 0;
    for (uint64_t i = 0; i < count; i++)
        alike += fabs(steps[i] - middle) <= 1e-3 * middle;
    mem_free(steps);
    return 2 * alike > count ? middle : 0;
}

static void note_steps(const struct rows_of_groups *r, const struct data_options *o)
{
    const struct dataset *d = r->data;
    const struct schema *s = d->schema;
    struct odd_steps odd = {0};
    for (uint64_t i = 1; i < d->rows.count; i++) {
        if (r->id[i] != r->id[i - 1])
            continue;
        enum odd_step kind = odd_step(&s->windows, r->order[i] - r->order[i - 1]);
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

static void set_groups(struct rows_of_groups *r)
{
    struct dataset *d = r->data;
    uint64_t count = 0, *first = mem_alloc(d->rows.count + 1, sizeof *first), longest = 0;
    for (uint64_t i = 0; i < d->rows.count; i++)
        if (i == 0 || r->id[i] != r->id[i - 1])
            first[count++] = i;
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

bool dataset_find_series(struct dataset *d, const struct data_options *o, uint64_t *group,
                         double *order, struct err *e)
{
    struct rows_of_groups r = {.data = d, .group = group, .order = order};
    bool apart;
    r.id = mem_alloc(d->rows.count + 1, sizeof *r.id);
    uint64_t bad = number_groups(&r, &apart);
    bool sorts = bad != UINT64_MAX && d->schema->windows.sort && order;
    bool good = bad == UINT64_MAX || sorts || report_disorder(&r, o, bad, apart, e);
    if (sorts)
        sort_rows(&r);
    if (good)
        set_groups(&r);
    if (good && order) {
        d->schema->windows.step = usual_step(&r);
        note_steps(&r, o);
    }
    if (good && d->schema->windows.label == LABEL_GROUP)
        warn_labels(d);
    mem_free(r.id);
    return good;
}
