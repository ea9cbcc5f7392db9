/* table_fold.c - the table of one fold: its rows as a split of their own. */
#include <string.h>

#include "base/mem.h"
#include "table/schema/record.h"
#include "table/table.h"

/* The rows that a fold trains on, and the inputs of a split of them. */
struct cutting {
    const struct dataset *data;
    const struct fold_rows *rows;
    int32_t *label;
    uint64_t *key;
    double *time;
};

static void gather(struct cutting *c, const struct split_options *o)
{
    const struct dataset *d = c->data;
    const uint64_t count = c->rows->train_count;
    if (o->method == SPLIT_STRATIFIED && d->schema->labels)
        c->label = mem_alloc(count + 1, sizeof *c->label);
    if (d->key)
        c->key = mem_alloc(count + 1, sizeof *c->key);
    if (d->time)
        c->time = mem_alloc(count + 1, sizeof *c->time);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t first = sample_first(&d->samples, c->rows->train[i]);
        uint64_t last = sample_last(&d->samples, c->rows->train[i]);
        if (c->label)
            c->label[i] = record_int(rows_at(&d->rows, last), d->rows.format.at_target);
        if (c->key)
            c->key[i] = d->key[first];
        if (c->time)
            c->time[i] = d->time[last];
    }
}

/* Rows with a label that the others lack are trained on, unless they are all that validates. */
static void keep_labels(const struct cutting *c, uint8_t *part)
{
    const uint64_t count = c->rows->train_count;
    uint8_t *trained = mem_alloc(count + 1, 1), *keep = mem_zero(count + 1, 1);
    uint64_t left = 0;
    for (uint64_t i = 0; i < count; i++)
        trained[i] = part[i] == PART_TRAIN;
    bool any = rare_find(c->data, c->rows->train, count, trained, keep, NULL);
    for (uint64_t i = 0; i < count; i++)
        left += part[i] != PART_TRAIN && !keep[i];
    for (uint64_t i = 0; any && left && i < count; i++)
        part[i] = keep[i] ? PART_TRAIN : part[i];
    mem_free(trained);
    mem_free(keep);
}

/* Cuts the validation rows: part [training rows of the fold]. */
static bool cut_valid(const struct table *t, const struct fold_rows *rows,
                      const struct split_options *o, uint8_t *part, struct err *e)
{
    struct cutting c = {.data = t->data, .rows = rows};
    struct split_options own = *o;
    uint32_t want[PARTS];
    own.test = 0;
    if (own.method == SPLIT_COLUMN || (own.method == SPLIT_STRATIFIED && !t->data->schema->labels))
        own.method = SPLIT_RANDOM;
    gather(&c, &own);
    const struct split_input in = {
        .rows = rows->train_count, .label = c.label, .key = c.key, .time = c.time};
    bool good = split_rows(&own, &in, part, want, e);
    if (good)
        keep_labels(&c, part);
    mem_free(c.label);
    mem_free(c.key);
    mem_free(c.time);
    return good;
}

/* Every row that the fold does not train on is outside the folds of its own ensemble; of these
 * only the rows left out are in the list of test rows. */
static bool split_fold(struct split *s, const struct table *t, const struct fold_rows *rows,
                       const struct split_options *o, bool valid, struct err *e)
{
    const uint64_t all = t->data->samples.count;
    uint8_t *part = mem_zero(rows->train_count + 1, sizeof *part); /* PART_TRAIN */
    bool good = !valid || !(o->valid > 0) || cut_valid(t, rows, o, part, e);
    s->part = mem_alloc(all + 1, sizeof *s->part);
    memset(s->part, PART_TEST, all + 1);
    for (int p = PART_TRAIN; p <= PART_VALID; p++)
        s->index[p] = mem_alloc(rows->train_count + 1, sizeof *s->index[p]);
    for (uint64_t i = 0; good && i < rows->train_count; i++) {
        s->part[rows->train[i]] = part[i];
        s->index[part[i]][s->count[part[i]]++] = rows->train[i];
    }
    s->index[PART_TEST] =
        mem_copy(rows->left, rows->left_count * sizeof *rows->left + !rows->left_count);
    s->count[PART_TEST] = rows->left_count;
    split_list(s, t->data);
    mem_free(part);
    return good;
}

struct table *table_of_fold(const struct table *t, uint32_t fold, const struct split_options *o,
                            uint32_t folds, struct err *e)
{
    struct table *f = mem_alloc(1, sizeof *f);
    *f = (struct table){.data = t->data, .encoder = t->encoder, .borrows = true};
    memcpy(f->sha256, t->sha256, sizeof f->sha256);
    if (!split_fold(&f->split, t, &t->folds.rows[fold], o, folds == 1, e) ||
        !folds_make(&f->folds, folds, t->data, &f->split, o, NULL, e)) {
        table_free(f);
        return NULL;
    }
    return f;
}
