/* sample.c - what the sampled rows say: what each column alone explains of the target, and
 * rows that are equal. Cells become numbers by the functions of training (form.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/process/shell.h"
#include "base/process/thread.h"
#include "infer/survey.h"

const char infer_leak_words[] =
    "it alone gives the target away almost completely: leave it out unless it is known before "
    "the target is";

/* The sampled rows with a target, and the target. */
struct sample {
    const struct survey *survey;
    struct infer *infer;
    struct leak_target of;
    const uint32_t *rows;
};

/* The hashes of the texts that mean missing in a column. Caller: mem_free(hash). */
struct hashes {
    uint32_t *hash;
    size_t count;
};

static struct hashes missing_of(const struct sample *t, size_t column)
{
    const struct opt_strings *lists[] = {&t->infer->missing, &t->infer->columns[column].none};
    struct hashes h = {mem_zero(lists[0]->count + lists[1]->count + 1, sizeof *h.hash), 0};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k]->count; i++)
            h.hash[h.count++] =
                infer_hash32(rng_hash(lists[k]->items[i], strlen(lists[k]->items[i]), 0));
    return h;
}

static bool is_missing(const struct hashes *h, uint32_t hash)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->hash[i] == hash)
            return true;
    return false;
}

const char *infer_sampled(const struct survey *s, const struct infer *i, size_t column,
                          uint32_t row, size_t *size)
{
    const struct column_profile *w = &s->profiles[column];
    const char *text = w->sample_text.data + w->sample_at[row];
    *size = w->sample_at[row + 1] - w->sample_at[row];
    return *size && !infer_is_missing(i, column, text, *size) ? text : NULL;
}

bool infer_sampled_value(const struct survey *s, const struct infer *i, size_t column,
                         uint32_t row, double *value)
{
    const struct infer_column *c = &i->columns[column];
    size_t size;
    const char *text = infer_sampled(s, i, column, row, &size);
    return text && (c->type == COLUMN_DATETIME ? form_read_date(c->form, text, size, value)
                                               : form_read_number(c->form, text, size, i->decimal,
                                                                  value) == NUMBER_OK);
}

/* Reads the cells of `rows` as numbers, minus the first one; NaN: missing, or no number. part: of
 * date_parts, for dates. */
static void read_numbers(const struct sample *t, size_t column, const uint32_t *rows,
                         uint32_t count, int part, float *out)
{
    double first = (double)NAN, value;
    for (uint32_t i = 0; i < count; i++) {
        out[i] = NAN;
        if (!infer_sampled_value(t->survey, t->infer, column, rows[i], &value))
            continue;
        if (part) {
            double parts[DATE_PARTS];
            date_parts(value, parts);
            value = parts[part];
        }
        if (first != first)
            first = value;
        out[i] = (float)(value - first);
    }
}

static double of_groups(const struct sample *t, size_t column)
{
    const struct column_profile *w = &t->survey->profiles[column];
    struct hashes none = missing_of(t, column);
    uint32_t n = t->of.count;
    int32_t *group = mem_alloc((size_t)n + 1, sizeof *group);
    struct vocab *ids = vocab_new();
    for (uint32_t i = 0; i < n; i++) {
        uint32_t hash = w->sample_hash[t->rows[i]];
        group[i] = is_missing(&none, hash)
                       ? 0
                       : (int32_t)vocab_add(ids, (const char *)&hash, sizeof hash) + 1;
    }
    double explained = leak_of_group(&t->of, group, vocab_count(ids) + 2);
    vocab_free(ids);
    mem_free(none.hash);
    mem_free(group);
    return explained;
}

static double of_numbers(const struct sample *t, size_t column)
{
    float *v = mem_alloc((size_t)t->of.count + 1, sizeof *v);
    double explained = (double)NAN;
    int parts = t->infer->columns[column].type == COLUMN_DATETIME ? DATE_PARTS : 1;
    for (int i = 0; i < parts; i++) { /* the best of the numbers that the network reads */
        read_numbers(t, column, t->rows, t->of.count, i, v);
        explained = fmax(explained, leak_of_number(&t->of, v));
    }
    mem_free(v);
    return explained;
}

static void score_tile(void *context, unsigned tile, unsigned thread)
{
    (void)thread;
    struct sample *t = context;
    struct infer_column *c = &t->infer->columns[tile];
    if (tile == t->infer->target || !infer_is_input(c))
        return;
    c->alone = c->type == COLUMN_CATEGORICAL ? of_groups(t, tile)
                                             : of_numbers(t, tile);
    if (leak_suspect(&t->of, c->alone))
        snprintf(c->note, sizeof c->note, "%s", infer_leak_words);
}

/* Columns that rise by one a row are numbers if the order of the rows predicts the target; not in
 * a file that is sorted by its classes. */
static void free_counts(const struct sample *t)
{
    int order = -1;
    for (size_t k = 0; k < t->infer->count; k++) {
        struct infer_column *c = &t->infer->columns[k];
        if (c->type != COLUMN_ID || c->kind != infer_counts)
            continue;
        if (order < 0)
            order = (int)infer_order(&t->of);
        if (order == ORDER_SORTED)
            infer_set(c, COLUMN_ID, "it numbers the rows, which are sorted by the target; to learn "
                      "from it, --set %s", shell_word("data.columns.%s=numeric",
                                                      shell_key(c->name)));
        if (order == ORDER_TELLS)
            infer_set(c, COLUMN_NUMERIC, "it rises by one a row, and tells of the target: taken as "
                      "a number; if it only numbers the rows, say --id %s",
                      shell_word("%s", c->name));
    }
}

/* --- equal rows --- */

/* False: no column is used. */
static bool hash_rows(const struct sample *t, struct leak_row *hash)
{
    bool used = false;
    for (size_t c = 0; c < t->survey->count; c++) {
        const struct infer_column *column = &t->infer->columns[c];
        const uint32_t *of = t->survey->profiles[c].sample_hash;
        if (c == t->infer->target || (!infer_is_input(column) && column->type != COLUMN_TEXT))
            continue;
        used = true;
        for (uint32_t i = 0; i < t->of.count; i++)
            hash[i].inputs = rng_hash(&of[t->rows[i]], sizeof *of, hash[i].inputs);
    }
    const uint32_t *of = t->survey->profiles[t->infer->target].sample_hash;
    for (uint32_t i = 0; i < t->of.count; i++)
        hash[i].whole = rng_hash(&of[t->rows[i]], sizeof *of, hash[i].inputs);
    return used;
}

/* Counts rows that equal another one; none if chance explains them. */
static void find_copies(const struct sample *t)
{
    const uint32_t n = t->of.count;
    struct leak_row *hash = mem_zero((size_t)n + 1, sizeof *hash);
    uint32_t copies = 0;
    bool chance = hash_rows(t, hash) && leak_by_chance(hash, n, &copies);
    mem_free(hash);
    t->infer->looked = n;
    t->infer->copies = chance ? 0 : copies;
}

/* --- the sample --- */

static bool take_target(const struct sample *t, int32_t *label, float *value, uint32_t *rows,
                        struct leak_target *of)
{
    const struct survey *s = t->survey;
    const struct column_profile *w = &s->profiles[s->target];
    const bool values = t->infer->task == TASK_REGRESSION;
    struct hashes none = missing_of(t, s->target);
    struct vocab *known = vocab_new(); /* labels by hash, in order of arrival */
    for (uint32_t i = 0; i < s->samples; i++)
        rows[i] = i;
    read_numbers(t, s->target, rows, s->samples, 0, value);
    for (uint32_t i = 0; i < s->samples; i++) {
        uint32_t hash = w->sample_hash[i], n = of->count;
        if (values ? value[i] != value[i] : is_missing(&none, hash))
            continue;
        label[n] = (int32_t)vocab_add(known, (const char *)&hash, sizeof hash);
        value[n] = value[i];
        rows[n] = i;
        of->count++;
    }
    of->classes = values ? 0 : vocab_count(known);
    vocab_free(known);
    mem_free(none.hash);
    return of->count && of->classes != 1;
}

void infer_sample(const struct survey *s, struct infer *out)
{
    struct sample t = {.survey = s, .infer = out};
    int32_t *label = mem_alloc((size_t)s->samples + 1, sizeof *label);
    float *value = mem_alloc((size_t)s->samples + 1, sizeof *value);
    uint32_t *rows = mem_alloc((size_t)s->samples + 1, sizeof *rows);
    t.rows = rows;
    t.of.label = label;
    t.of.value = value;
    if (take_target(&t, label, value, rows, &t.of)) {
        free_counts(&t);
        if (t.of.classes <= INFER_TEXTS) /* thousands of classes are not checked */
            threads_run_few((unsigned)s->count, score_tile, &t);
        find_copies(&t);
    }
    mem_free(label);
    mem_free(value);
    mem_free(rows);
}
