/* table.c - the data of a single training, in order: dataset, split, encoder, checks, view. */
#include "table/table.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/process/progress.h"
#include "base/text.h"
#include "table/split/digest.h"
#include "table/schema/label_list.h"
#include "table/fit/leak.h"
#include "table/split/parts_check.h"
#include "table/fit/pooled.h"
#include "table/fit/trend.h"

uint64_t table_bytes(const struct table *t)
{
    const struct rows *rows = table_rows(t);
    uint64_t row = sizeof *t->split.part + sizeof *t->split.list->index +
                   (t->data->target ? sizeof *t->data->target : 0);
    uint64_t in_chunk = UINT64_C(1) << rows->shift;
    uint64_t chunks = (rows->count + in_chunk - 1) >> rows->shift;
    return chunks * ((uint64_t)rows->format.stride << rows->shift) + rows->count * row;
}

/* Adds the files to an error about all rows: the training files; for a label that training lacks,
 * all. */
static bool in_files(const struct data_options *o, struct err *e)
{
    int last = e->id == ERR_LABEL_UNSEEN ? PART_TEST : PART_TRAIN;
    struct text names = {0};
    if (e->id == ERR_NONE || e->file[0])
        return false;
    for (int part = PART_TRAIN; part <= last; part++)
        for (size_t i = 0; i < data_files(o, part)->count && i < 2; i++)
            text_printf(&names, "%s%s", names.length ? ", " : "",
                        i ? "..." : data_files(o, part)->items[0]);
    if (names.length && names.length < sizeof e->file)
        memcpy(e->file, names.data, names.length + 1);
    text_free(&names);
    return false;
}

/* Help for a class that training rows lack: with a file of its own no split can help. */
static void unseen_help(const struct dataset *d, const struct split *s,
                        const struct data_options *o, uint64_t row, struct err *e)
{
    int part = s->part[sample_of(&d->samples, row - 1)];
    if (part != PART_TRAIN && (part == PART_TEST ? &o->test : &o->valid)->count) {
        const char *key = part == PART_TEST ? "data.test" : "data.valid";
        err_key(e, "%s", key);
        err_help(e, "take these rows out of %s, or give data.train rows of that label", key);
    } else {
        err_key(e, "data.split.method");
        err_help(e, "split.method \"stratified\" keeps every class in the training rows");
    }
}

/* data.positive is a number that the file writes otherwise. */
static void note_positive(const struct encoder *c, const struct data_options *o)
{
    const char *label = c->schema->positive;
    if (label && o->positive && strcmp(label, o->positive) != 0)
        log_note("data.positive \"%s\" is the label \"%s\" of the file, equal as a number",
                 text_quote_z(o->positive), text_quote_z(label));
}

/* Fits the encoder and checks the labels of the other parts. */
static struct encoder *fit(struct table *t, const struct data_options *o, struct err *e)
{
    const struct split *s = &t->split;
    struct encoder *c =
        encoder_fit_as(t->data, t->data->schema, s->records[PART_TRAIN],
                       s->record_count[PART_TRAIN], s->records[PART_VALID],
                       s->record_count[PART_VALID], e);
    uint64_t row = 0;
    bool labels = c || e->id == ERR_LABEL_COUNT || e->id == ERR_POSITIVE_UNSEEN;
    if (c && encoder_covers(c, t->data, e))
        remarks_move(&t->remarks, &c->remarks);
    struct text lists = {0};
    if (c && c->schema->labels &&
        label_list_tell(c->schema->labels, c->schema->columns[c->schema->target].name, &lists))
        remark_add(&t->remarks, "%s", lists.data);
    text_free(&lists);
    if (c)
        note_positive(c, o);
    if ((labels && e->id != ERR_CSV_UNKNOWN_CATEGORY &&
         !labels_check(c, t->data, s, &t->remarks, &row, e)) ||
        e->id != ERR_NONE) {
        encoder_free(c);
        c = NULL;
    }
    mem_free(t->data->label);
    t->data->label = NULL;
    if (row) {
        unseen_help(t->data, s, o, row, e);
        dataset_place(t->data, o, row, e);
    }
    return c;
}

static bool same_labels(const struct vocab *a, const struct vocab *b)
{
    bool same = !a || vocab_count(a) == vocab_count(b);
    for (uint32_t i = 0; a && same && i < vocab_count(a); i++) {
        size_t n, m;
        const char *one = vocab_text(a, i, &n), *other = vocab_text(b, i, &m);
        same = n == m && memcmp(one, other, n) == 0;
    }
    return same;
}

struct encoder *table_fit_fold(const struct table *t, uint32_t fold, const struct schema *as,
                               struct err *e)
{
    const struct fold_rows *r = &t->folds.rows[fold];
    uint64_t count, left_count;
    uint32_t *records = samples_records(&t->data->samples, r->train, r->train_count, &count);
    uint32_t *left = samples_records(&t->data->samples, r->left, r->left_count, &left_count);
    struct encoder *c = encoder_fit_as(t->data, as ? as : t->data->schema, records, count, left,
                                       left_count, e);
    if (records != r->train)
        mem_free(records);
    if (left != r->left)
        mem_free(left);
    if (c && same_labels(c->schema->labels, t->encoder->schema->labels))
        return c;
    if (c)
        err_set(e, ERR_LABEL_UNSEEN, "a label is in no training row of fold %u", fold);
    encoder_free(c);
    err_key(e, "ensemble.folds");
    err_help(e, "split.method \"stratified\" spreads every class over the folds; or set "
                "`ensemble.folds` lower, or leave out rare labels");
    return NULL;
}

void table_know_pooled(struct table *t, struct encoder *const *encoders, uint32_t count)
{
    if (!t->known)
        return;
    bloom_free(&t->known->pooled);
    t->known->pooled = pooled_make(t->data, t->split.records[PART_TRAIN],
                                   t->split.record_count[PART_TRAIN], encoders, count);
}

static bool enough(const struct split *s, const struct data_options *o, struct err *e)
{
    const unsigned long long rows = s->count[PART_TRAIN];
    if (rows >= (uint64_t)o->min_rows)
        return true;
    err_set(e, ERR_DATA_FEW, "there are %llu training rows, and data.min_rows asks for %lld", rows,
            (long long)o->min_rows);
    return err_help(e, "look whether the file is whole, or lower data.min_rows");
}

/* Remembers the rows, and warns of held-out rows that formed the weights of the start. */
static void know_rows(struct table *t, const struct data_options *o)
{
    if (!o->fingerprint && !o->start)
        return;
    t->known = fingerprint_make(t->data, &t->split, o->start);
    for (int part = PART_VALID; part < PARTS; part++)
        if (t->known->held[part] > 0)
            remark_add(&t->remarks, "--init-from: its model was trained on about %.*f %% of the %s "
                       "rows: their figures are too good; data.split by hash or time, or a "
                       "data.%s, keeps them apart (`dnn help cron`)", t->known->held[part] < 0.1,
                       100 * t->known->held[part], part_names[part], part_words[part]);
    if (o->fingerprint)
        return;
    fingerprint_free(t->known);
    t->known = NULL;
}

static bool load(struct table *t, const struct schema *s, const struct data_options *o,
                 uint32_t folds, const struct stopper *stop, struct err *e)
{
    t->data = dataset_load(s, o, stop, e);
    if (!t->data)
        return false;
    remarks_move(&t->remarks, &t->data->remarks);
    struct rare rare;
    if (!split_make(&t->split, t->data, &o->split, folds > 1, &rare, &t->remarks, e))
        return in_files(o, e);
    if (folds && !folds_make(&t->folds, folds, t->data, &t->split, &o->split, &rare, e))
        return in_files(o, e);
    rare_tell(&rare, t->data, o, &t->remarks);
    if (folds > 1)
        split_join(&t->split, t->data);
    if (stopper_asked(stop))
        return false;
    if (!enough(&t->split, o, e))
        return in_files(o, e);
    struct encoder *c = t->encoder = fit(t, o, e);
    if (!c)
        return in_files(o, e);
    mem_trim();
    uint64_t *hash = rows_hash(t->data);
    leak_check(c, t->data, &t->split, hash, &t->remarks);
    trend_check(c, t->data, o, &t->remarks);
    data_digest(t->data, c, &t->split, hash, t->sha256);
    mem_free(hash);
    know_rows(t, o);
    if (folds) {
        t->data->progress = PROGRESS_NONE; /* the folds' owner tells of their encoders */
        noise_of(t->data, c, t->split.records[PART_TRAIN], t->split.record_count[PART_TRAIN],
                 &t->noise);
    } else {
        table_know_pooled(t, &c, 1);
        t->view = view_make(t->data, c, true);
    }
    encoder_forget_rows(c);
    mem_trim();
    return true;
}

struct table *table_load(const struct schema *s, const struct data_options *o, uint32_t folds,
                         const struct stopper *stop, struct err *e)
{
    struct table *t = mem_zero(1, sizeof *t);
    if (load(t, s, o, folds, stop, e))
        return t;
    table_free(t);
    return NULL;
}

void table_free(struct table *t)
{
    if (!t)
        return;
    view_free(t->view);
    split_free(&t->split);
    folds_free(&t->folds);
    if (!t->borrows) {
        encoder_free(t->encoder);
        dataset_free(t->data);
    }
    remarks_free(&t->remarks);
    fingerprint_free(t->known);
    mem_free(t);
}
