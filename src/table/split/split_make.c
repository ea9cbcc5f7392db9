/* split_make.c - splits a dataset: inputs of the method, the list of each part, warnings about
 * small parts. */
#include "table/split/split.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/process/thread.h"
#include "table/schema/record.h"
#include "table/dataset/row_list.h"

#define TILE_ROWS UINT64_C(16384)

static uint64_t tile_end(uint64_t count, unsigned tile)
{
    uint64_t end = (tile + UINT64_C(1)) * TILE_ROWS;
    return end < count ? end : count;
}

static unsigned tiles_of(uint64_t count)
{
    return (unsigned)((count + TILE_ROWS - 1) / TILE_ROWS);
}

/* --- inputs of the methods --- */

/* Returns the values of the first or last record of each sample: in a table `values` itself, else
 * mem_free. */
static void *by_sample(const struct samples *s, void *values, size_t size, bool last)
{
    if (!values || !s->first)
        return values;
    unsigned char *picked = mem_alloc(s->count + 1, size);
    for (uint64_t i = 0; i < s->count; i++) {
        uint64_t record = sample_first(s, i) + (last ? sample_records(s, i) - 1 : 0);
        memcpy(picked + i * size, (unsigned char *)values + record * size, size);
    }
    return picked;
}

/* Frees an array of by_sample that is not `values`. */
static void free_picked(const void *picked, const void *values)
{
    if (picked != values)
        mem_free((void *)(uintptr_t)picked);
}

/* Returns the part of each row from a part's own file; NULL: no such files. */
static uint8_t *own_parts(const struct dataset *d)
{
    if (d->rows_of[PART_TRAIN] == d->rows.count)
        return NULL;
    uint8_t *fixed = mem_zero(d->rows.count, 1), *at = fixed + d->rows_of[PART_TRAIN];
    for (int part = PART_VALID; part < PARTS; part++) {
        memset(at, part + 1, d->rows_of[part]);
        at += d->rows_of[part];
    }
    return fixed;
}

struct labels {
    const struct dataset *data;
    int32_t *label;
};

/* The label of a sample is its last record's. A table has them (dataset.h). */
static void label_tile(void *context, unsigned tile, unsigned thread)
{
    const struct labels *l = context;
    const struct samples *samples = &l->data->samples;
    (void)thread;
    for (uint64_t i = tile * TILE_ROWS, end = tile_end(samples->count, tile); i < end; i++) {
        uint64_t last = sample_first(samples, i) + sample_records(samples, i) - 1;
        l->label[i] = dataset_label(l->data, last);
    }
}

static int32_t *own_labels(const struct dataset *d, const struct split_options *o)
{
    if (o->method != SPLIT_STRATIFIED || d->schema->task == TASK_REGRESSION)
        return NULL;
    if (d->label)
        return d->label;
    struct labels l = {d, mem_alloc(d->samples.count + 1, sizeof *l.label)};
    threads_run(tiles_of(d->samples.count), label_tile, &l);
    return l.label;
}

/* --- the lists of the parts --- */

struct listing {
    struct split *split;
    uint64_t count;
    uint64_t (*first)[PARTS]; /* by tile: counts, then samples of each part before it */
};

static void count_tile(void *context, unsigned tile, unsigned thread)
{
    const struct listing *l = context;
    uint64_t found[PARTS] = {0};
    (void)thread;
    for (uint64_t i = tile * TILE_ROWS, end = tile_end(l->count, tile); i < end; i++)
        found[l->split->part[i]]++;
    memcpy(l->first[tile], found, sizeof found);
}

static void list_tile(void *context, unsigned tile, unsigned thread)
{
    const struct listing *l = context;
    uint64_t next[PARTS];
    (void)thread;
    memcpy(next, l->first[tile], sizeof next);
    for (uint64_t i = tile * TILE_ROWS, end = tile_end(l->count, tile); i < end; i++) {
        uint8_t part = l->split->part[i];
        l->split->index[part][next[part]++] = (uint32_t)i;
    }
}

static void list_parts(struct split *s, uint64_t count)
{
    unsigned tiles = tiles_of(count);
    struct listing l = {s, count, mem_alloc(tiles + 1, sizeof *l.first)};
    threads_run(tiles, count_tile, &l);
    for (int part = PART_TRAIN; part < PARTS; part++) {
        for (unsigned tile = 0; tile < tiles; tile++) {
            uint64_t here = l.first[tile][part];
            l.first[tile][part] = s->count[part];
            s->count[part] += here;
        }
        s->index[part] = mem_alloc(s->count[part] ? s->count[part] : 1, sizeof *s->index[part]);
    }
    threads_run(tiles, list_tile, &l);
    mem_free(l.first);
}

void split_list(struct split *s, const struct dataset *d)
{
    for (int part = PART_TRAIN; part < PARTS; part++) {
        s->records[part] = samples_records(&d->samples, s->index[part], s->count[part],
                                           &s->record_count[part]);
        if (d->schema->windows.window)
            row_list_windows(d, s->index[part], s->count[part], &s->list[part]);
        else
            s->list[part] = (struct row_list){.index = s->index[part], .count = s->count[part]};
    }
}

/* --- remarks --- */

/* Remarks about a column that gives the part. */
static void remark_parts(const struct split *split, const struct dataset *d,
                         const struct split_options *o)
{
    const struct schema *s = d->schema;
    char column[128];
    if (o->method != SPLIT_COLUMN)
        return;
    snprintf(column, sizeof column, "%s", text_quote_z(s->columns[s->split_columns[0]].name));
    if (d->left_out)
        log_note("%llu row%s of data.train left out: column \"%s\" says a part that has its own "
                 "file", (unsigned long long)d->left_out, d->left_out == 1 ? "" : "s", column);
    if (!split->count[PART_VALID])
        log_note("no row says \"valid\" in column \"%s\": there is nothing to choose the best "
                 "weights by, and the last epoch's are kept", column);
}

/* Warns of groups in a part's own file that training rows share. */
static void warn_shared(const struct split *s, const struct split_input *in, struct remarks *r)
{
    uint64_t shared[PARTS] = {0};
    if (!in->fixed)
        return;
    split_shared(in, s->part, shared);
    for (int part = PART_VALID; part < PARTS; part++)
        if (shared[part])
            remark_add(r,
                       "%llu of %llu %s rows are of a group that training rows have too: the "
                       "metrics are not those of new groups", (unsigned long long)shared[part],
                       (unsigned long long)s->count[part], part_names[part]);
}

/* Warns of a part far below its share, because the method keeps rows together. */
static void warn_short(const struct split *s, const struct split_options *o,
                       const uint32_t want[PARTS], struct remarks *r)
{
    static const char *const reasons[] = {
        [SPLIT_RANDOM] = "there are few rows",
        [SPLIT_STRATIFIED] = "each label keeps a row to train on",
        [SPLIT_GROUP] = "a group stays together, and these are few or large",
        [SPLIT_TIME] = "rows of one time stay together, and the times are few",
        [SPLIT_HASH] = "the hash is chance, and there are few rows or few keys"};
    uint64_t all = (uint64_t)want[PART_TRAIN] + want[PART_VALID] + want[PART_TEST];
    for (int part = PART_TRAIN; part < PARTS && o->method != SPLIT_COLUMN; part++)
        if ((double)s->count[part] < SPLIT_SHORT * want[part])
            remark_add(r,
                       "data.split (method %s) leaves %llu of %llu rows for %s, whose share is %u: "
                       "%s; other fractions may fit", split_method_names[o->method],
                       (unsigned long long)s->count[part], (unsigned long long)all,
                       part_names[part], want[part], reasons[o->method]);
}

/* Warns of columns of type group that nothing uses. */
static void warn_groups(const struct split *split, const struct schema *s,
                        const struct split_options *o, struct remarks *r)
{
    bool parted = split->count[PART_VALID] || split->count[PART_TEST];
    for (size_t i = 0; parted && i < s->column_count; i++) {
        bool read = s->columns[i].type != COLUMN_GROUP ||
                    (s->windows.window && s->windows.group == i);
        for (size_t k = 0; k < s->split_column_count; k++)
            read |= s->split_columns[k] == i;
        if (!read)
            remark_add(r,
                       "column \"%s\" of type group has no effect on the parts, as "
                       "data.split.method is %s: rows of a group may be in several parts; set the "
                       "method to \"group\" to keep them together; intervals of metrics respect "
                       "the groups", text_quote_z(s->columns[i].name),
                       split_method_names[o->method]);
    }
}

static void free_lists(struct split *s)
{
    for (int part = PART_TRAIN; part < PARTS; part++) {
        row_list_free(&s->list[part]);
        if (s->records[part] != s->index[part])
            mem_free(s->records[part]);
        mem_free(s->index[part]);
        s->count[part] = 0;
    }
}

/* Labels that no training sample has stay in training. */
static void keep_labels(struct split *s, const struct dataset *d, const struct split_options *o,
                        bool joined, struct rare *r)
{
    const struct samples *samples = &d->samples;
    /* the rows after these come from a part's own file */
    const uint64_t own = d->rows_of[PART_TRAIN];
    if (!d->schema->labels || o->method == SPLIT_COLUMN)
        return;
    uint64_t dealt = samples->count, left[PARTS] = {0};
    while (dealt && sample_first(samples, dealt - 1) >= own)
        dealt--;
    uint8_t *trained = mem_alloc(dealt + 1, 1), *keep = mem_alloc(dealt + 1, 1);
    for (uint64_t i = 0; i < dealt; i++)
        trained[i] = s->part[i] == PART_TRAIN || (joined && s->part[i] == PART_VALID);
    bool any = rare_find(d, NULL, dealt, trained, keep, r);
    for (uint64_t i = 0; any && i < dealt; i++) {
        keep[i] = keep[i] && !trained[i];
        left[s->part[i]] += !keep[i];
    }
    for (int part = PART_VALID; part < PARTS; part++)
        any = any && (left[part] || !s->count[part] || d->rows_of[part]);
    for (uint64_t i = 0; any && i < dealt; i++)
        s->part[i] = keep[i] ? PART_TRAIN : s->part[i];
    if (any) {
        free_lists(s);
        list_parts(s, samples->count);
        split_list(s, d);
    } else {
        *r = (struct rare){0};
    }
    mem_free(trained);
    mem_free(keep);
}

bool split_make(struct split *s, const struct dataset *d, const struct split_options *o,
                bool joined, struct rare *rare, struct remarks *remarks, struct err *e)
{
    const struct samples *samples = &d->samples;
    uint8_t *fixed = own_parts(d);
    int32_t *label = own_labels(d, o);
    const struct split_input in = {.rows = samples->count,
                                   .fixed = by_sample(samples, fixed, sizeof *fixed, false),
                                   .label = label,
                                   .key = by_sample(samples, d->key, sizeof *d->key, false),
                                   .time = by_sample(samples, d->time, sizeof *d->time, true),
                                   .said = by_sample(samples, d->said, sizeof *d->said, true)};
    *rare = (struct rare){0};
    *s = (struct split){.part = mem_zero(in.rows + 1, sizeof *s->part)};
    uint32_t want[PARTS];
    bool good = split_rows(o, &in, s->part, want, e);
    if (good) {
        list_parts(s, in.rows);
        split_list(s, d);
        remark_parts(s, d, o);
        warn_short(s, o, want, remarks);
        warn_groups(s, d->schema, o, remarks);
        if (o->method == SPLIT_GROUP)
            warn_shared(s, &in, remarks);
        keep_labels(s, d, o, joined, rare);
    }
    free_picked(in.fixed, fixed);
    free_picked(in.key, d->key);
    free_picked(in.time, d->time);
    free_picked(in.said, d->said);
    mem_free(fixed);
    free_picked(label, d->label);
    return good;
}

void split_join(struct split *s, const struct dataset *d)
{
    const struct samples *samples = &d->samples;
    for (uint64_t i = 0; i < samples->count; i++)
        if (s->part[i] == PART_VALID)
            s->part[i] = PART_TRAIN;
    free_lists(s);
    list_parts(s, samples->count);
    split_list(s, d);
}

void split_free(struct split *s)
{
    free_lists(s);
    mem_free(s->part);
    *s = (struct split){0};
}
