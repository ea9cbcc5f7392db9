/* folds.c - see folds.h. */
#include "table/split/folds.h"

#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/text.h"
#include "table/schema/record.h"
#include "table/dataset/row_list.h"
#include "table/schema/vocab.h"

#define FOLD_STREAM 0x466f6c64u /* permutations of folds differ from the split's */
#define EARLY UINT32_MAX        /* in no block, trained on by every run */

struct cut {
    const struct dataset *data;
    const struct split_options *options;
    uint32_t folds, count;
    uint32_t *rows; /* [count], ascending: all samples that are not test */
    uint32_t *fold; /* [count] */
};

/* --- the methods --- */

static void cut_random(struct cut *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        uint64_t place = rng_permute(c->options->seed, FOLD_STREAM, 0, c->count, i);
        c->fold[i] = (uint32_t)(place * c->folds / c->count);
    }
}

static uint32_t class_of(const struct cut *c, uint32_t i)
{
    const struct rows *rows = &c->data->rows;
    uint64_t last = sample_last(&c->data->samples, c->rows[i]);
    int32_t label = record_int(rows_at(rows, last), rows->format.at_target);
    return label < 0 ? 0 : (uint32_t)label;
}

/* Deals the rows of a class to the folds in turn, in random order. A class begins with the fold
 * after the last row of the one before, so that folds have nearly equal sizes. */
static void cut_stratified(struct cut *c)
{
    uint32_t classes = vocab_count(c->data->schema->labels) + 1, begin = 0;
    uint32_t *rows = mem_zero(classes, sizeof *rows), *first = mem_zero(classes, sizeof *first),
             *met = mem_zero(classes, sizeof *met);
    for (uint32_t i = 0; i < c->count; i++)
        rows[class_of(c, i)]++;
    for (uint32_t k = 0; k < classes; begin += rows[k++])
        first[k] = begin % c->folds;
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t k = class_of(c, i);
        uint64_t place = rng_permute(c->options->seed, FOLD_STREAM, k, rows[k], met[k]++);
        c->fold[i] = (uint32_t)((first[k] + place) % c->folds);
    }
    mem_free(rows);
    mem_free(first);
    mem_free(met);
}

struct keyed {
    uint64_t order; /* hash of the key: among groups of one size */
    uint32_t id;
    uint32_t rows;
};

static int by_size(const void *one, const void *other, const void *context)
{
    (void)context;
    const struct keyed *a = one, *b = other;
    if (a->rows != b->rows)
        return a->rows > b->rows ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void cut_group(struct cut *c)
{
    const struct samples *s = &c->data->samples;
    const uint64_t *key = c->data->key;
    struct vocab *keys = vocab_new();
    uint32_t *id = mem_alloc((size_t)c->count + 1, sizeof *id);
    for (uint32_t i = 0; i < c->count; i++)
        id[i] = vocab_add(keys, (const char *)&key[sample_first(s, c->rows[i])],
                          sizeof *key);
    uint32_t count = vocab_count(keys);
    struct keyed *groups = mem_zero((size_t)count + 1, sizeof *groups);
    uint32_t *fold_of = mem_zero((size_t)count + 1, sizeof *fold_of);
    uint64_t *have = mem_zero(c->folds, sizeof *have);
    for (uint32_t g = 0; g < count; g++)
        groups[g] = (struct keyed){
            rng_hash(vocab_text(keys, g, NULL), sizeof *key, c->options->seed ^ FOLD_STREAM), g, 0};
    for (uint32_t i = 0; i < c->count; i++)
        groups[id[i]].rows++;
    sort_stable(groups, count, sizeof *groups, by_size, NULL);
    for (uint32_t g = 0; g < count; g++) {
        uint32_t least = 0;
        for (uint32_t k = 1; k < c->folds; k++)
            least = have[k] < have[least] ? k : least;
        fold_of[groups[g].id] = least;
        have[least] += groups[g].rows;
    }
    for (uint32_t i = 0; i < c->count; i++)
        c->fold[i] = fold_of[id[i]];
    mem_free(id);
    mem_free(groups);
    mem_free(fold_of);
    mem_free(have);
    vocab_free(keys);
}

static void cut_hash(struct cut *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        uint64_t key = c->data->key[sample_first(&c->data->samples, c->rows[i])];
        uint64_t hash = rng_hash(&key, sizeof key, c->options->seed ^ FOLD_STREAM);
        c->fold[i] = (uint32_t)(((hash >> 32) * c->folds) >> 32);
    }
}

static int by_time(const void *one, const void *other, const void *context)
{
    const double *time = context;
    double a = time[*(const uint32_t *)one], b = time[*(const uint32_t *)other];
    return a < b ? -1 : a > b;
}

/* The block of place i of `count` in time: EARLY in the first half. */
static uint32_t block_of(const struct cut *c, uint64_t i)
{
    uint64_t half = c->count / 2;
    return i < half ? EARLY : (uint32_t)((i - half) * c->folds / (c->count - half));
}

/* A row is in the block of the first row of its time. */
static void cut_time(struct cut *c)
{
    const double *time = c->data->time;
    double *of = mem_alloc((size_t)c->count + 1, sizeof *of);
    uint32_t *order = mem_alloc((size_t)c->count + 1, sizeof *order), block = EARLY;
    for (uint32_t i = 0; i < c->count; i++) {
        order[i] = i;
        of[i] = time[sample_last(&c->data->samples, c->rows[i])];
    }
    sort_stable(order, c->count, sizeof *order, by_time, of);
    for (uint32_t i = 0; i < c->count; i++) {
        if (i == 0 || of[order[i - 1]] < of[order[i]])
            block = block_of(c, i);
        c->fold[order[i]] = block;
    }
    mem_free(of);
    mem_free(order);
}

/* --- the lists --- */

static bool trains(const struct cut *c, uint32_t i, uint32_t fold)
{
    if (c->options->method == SPLIT_TIME)
        return c->fold[i] == EARLY || c->fold[i] < fold;
    return c->fold[i] != fold; /* EARLY too */
}

/* Rows with a label that no other fold has are in no block, unless a fold would be empty. */
static void keep_labels(struct cut *c, struct rare *r)
{
    uint8_t *trained = mem_alloc((size_t)c->count + 1, 1);
    uint8_t *keep = mem_alloc((size_t)c->count + 1, 1);
    uint64_t *left = mem_alloc(c->folds, sizeof *left);
    for (uint32_t k = 0; k < c->folds; k++) {
        struct rare found = r ? *r : (struct rare){0};
        for (uint32_t i = 0; i < c->count; i++)
            trained[i] = trains(c, i, k);
        if (!rare_find(c->data, c->rows, c->count, trained, keep, &found))
            continue;
        memset(left, 0, c->folds * sizeof *left);
        for (uint32_t i = 0; i < c->count; i++)
            if (!keep[i] && c->fold[i] != EARLY)
                left[c->fold[i]]++;
        uint32_t filled = 0;
        for (uint32_t other = 0; other < c->folds; other++)
            filled += left[other] > 0;
        if (filled < c->folds)
            continue;
        for (uint32_t i = 0; i < c->count; i++)
            c->fold[i] = keep[i] ? EARLY : c->fold[i];
        if (r)
            *r = found;
    }
    mem_free(trained);
    mem_free(keep);
    mem_free(left);
}

static bool list_fold(const struct cut *c, uint32_t fold, struct fold_rows *r, struct err *e)
{
    r->train = mem_alloc((size_t)c->count + 1, sizeof *r->train);
    r->left = mem_alloc((size_t)c->count + 1, sizeof *r->left);
    for (uint32_t i = 0; i < c->count; i++)
        if (trains(c, i, fold))
            r->train[r->train_count++] = c->rows[i];
        else if (c->fold[i] == fold)
            r->left[r->left_count++] = c->rows[i];
    r->train = mem_grow(r->train, r->train_count + 1, sizeof *r->train);
    r->left = mem_grow(r->left, r->left_count + 1, sizeof *r->left);
    if (r->train_count && r->left_count)
        return true;
    err_set(e, ERR_SPLIT_EMPTY, "%u folds of %u rows (method %s): fold %u has no rows to %s",
            c->folds, c->count, split_method_names[c->options->method], fold,
            r->train_count ? "validate on" : "train on");
    err_key(e, "ensemble.folds");
    return err_help(e, "set `ensemble.folds` lower, or give more rows%s",
                    c->options->method == SPLIT_GROUP  ? ": a group stays together"
                    : c->options->method == SPLIT_TIME ? ": rows of one time stay together"
                                                       : "");
}

static void cut_rows(struct cut *c)
{
    switch ((enum split_method)c->options->method) {
    case SPLIT_STRATIFIED:
        if (c->data->schema->labels)
            cut_stratified(c);
        else
            cut_random(c);
        break;
    case SPLIT_GROUP: cut_group(c); break;
    case SPLIT_HASH: cut_hash(c); break;
    case SPLIT_TIME: cut_time(c); break;
    case SPLIT_RANDOM:
    case SPLIT_COLUMN: cut_random(c); break;
    }
}

static void as_split(struct folds *f, const struct split *s)
{
    struct fold_rows *r = f->rows;
    r->train_count = s->count[PART_TRAIN];
    r->left_count = s->count[PART_VALID];
    r->train = mem_copy(s->index[PART_TRAIN], r->train_count * sizeof *r->train);
    r->left = mem_copy(s->index[PART_VALID], r->left_count * sizeof *r->left + !r->left_count);
}

static void list_reads(struct folds *f, const struct dataset *d)
{
    for (uint32_t k = 0; k < f->count; k++) {
        struct fold_rows *r = &f->rows[k];
        if (d->schema->windows.window) {
            row_list_windows(d, r->train, r->train_count, &r->trains_on);
            row_list_windows(d, r->left, r->left_count, &r->answers);
        } else {
            r->trains_on = (struct row_list){.index = r->train, .count = r->train_count};
            r->answers = (struct row_list){.index = r->left, .count = r->left_count};
        }
    }
}

bool folds_make(struct folds *f, uint32_t count, const struct dataset *d, const struct split *s,
                const struct split_options *o, struct rare *r, struct err *e)
{
    struct cut c = {.data = d, .options = o, .folds = count};
    *f = (struct folds){.count = count, .rows = mem_zero(count, sizeof *f->rows)};
    if (count == 1) {
        as_split(f, s);
        list_reads(f, d);
        return true;
    }
    c.rows = mem_alloc(d->samples.count + 1, sizeof *c.rows);
    c.fold = mem_alloc(d->samples.count + 1, sizeof *c.fold);
    for (uint64_t i = 0; i < d->samples.count; i++)
        if (s->part[i] != PART_TEST)
            c.rows[c.count++] = (uint32_t)i;
    cut_rows(&c);
    keep_labels(&c, r);
    bool good = true;
    for (uint32_t k = 0; good && k < count; k++)
        good = list_fold(&c, k, &f->rows[k], e);
    if (good)
        list_reads(f, d);
    mem_free(c.rows);
    mem_free(c.fold);
    return good;
}

void folds_free(struct folds *f)
{
    for (uint32_t k = 0; k < f->count; k++) {
        row_list_free(&f->rows[k].trains_on);
        row_list_free(&f->rows[k].answers);
        mem_free(f->rows[k].train);
        mem_free(f->rows[k].left);
    }
    mem_free(f->rows);
    *f = (struct folds){0};
}
