/* fit_category.c - fits vocabularies and labels: sorts the values of the rows, and maps the
 * dataset's ids to slots and classes. */
#include "table/fit/fit.h"

#include <math.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/process/thread.h"
#include "csv/form/number.h"
#include "table/schema/label.h"

/* --- categories --- */

struct category_task {
    struct fit *fit;
    const uint32_t *column_of; /* by category slot */
};

/* Counts the rows of each id (0: missing). */
static uint64_t *count_values(const struct fit *f, uint32_t at, uint32_t ids)
{
    uint64_t *counts = mem_zero(ids, sizeof *counts);
    for (uint64_t i = 0; i < f->count; i++)
        counts[record_int(rows_at(&f->data->rows, f->rows[i]), at)]++;
    return counts;
}

/* Copies the kept values of `all` into the empty `into`, sorted. place[i]: new index of value i,
 * UINT32_MAX: not kept. */
static void keep_values(const struct vocab *all, const uint8_t *keep, struct vocab *into,
                        uint32_t *place)
{
    uint32_t values = vocab_count(all), *sorted;
    for (uint32_t i = 0; i < values; i++) {
        size_t length;
        const char *text = vocab_text(all, i, &length);
        place[i] = keep[i] ? vocab_add(into, text, length) : UINT32_MAX;
    }
    sorted = mem_alloc(values + 1, sizeof *sorted);
    vocab_sort(into, sorted);
    for (uint32_t i = 0; i < values; i++)
        place[i] = keep[i] ? sorted[place[i]] : UINT32_MAX;
    mem_free(sorted);
}

/* Returns the slot of an unknown value. */
static int32_t other_slot(const struct column *c)
{
    return c->unknown == UNKNOWN_MISSING ? 0 : 1;
}

/* "auto": few rows for each of many values teach nothing but noise. Below 10 rows a value the limit
 * grows, up to 2 log2(rows) at 3 rows a value. */
static int64_t auto_min_count(const struct column *c, double rows, const uint64_t *counts,
                              uint32_t values)
{
    enum { VALUES_LEAST = 256, ROWS_A_VALUE = 10 };
    uint64_t met = 0;
    for (uint32_t i = 0; i < values; i++)
        met += counts[i] > 0;
    if (met <= VALUES_LEAST || rows >= (double)(ROWS_A_VALUE * met) ||
        c->unknown == UNKNOWN_ERROR || c->encode >= ENCODE_TARGET)
        return 1;
    double share = 3 * (double)met / rows;
    return (int64_t)round(2 * log2(rows) * (share < 1 ? share : 1));
}

static void category_tile(void *context, unsigned slot, unsigned hand)
{
    (void)hand;
    struct category_task *task = context;
    const struct fit *f = task->fit;
    uint32_t column = task->column_of[slot];
    const struct vocab *all = f->data->schema->columns[column].values;
    const struct column *c = &f->encoder->schema->columns[column];
    struct column_fit *fit = &f->encoder->columns[column];
    uint32_t at = f->data->rows.format.at_category + 4 * (uint32_t)slot, values = vocab_count(all);
    if (c->type == COLUMN_TEXT) {
        fit_text(f, column, all, at);
        f->encoder->slot_of[slot] = mem_zero(values + 2, sizeof(int32_t));
        return;
    }
    uint64_t *counts = count_values(f, at, values + 2);
    uint8_t *keep = mem_alloc(values + 1, sizeof *keep);
    uint32_t *place = mem_alloc(values + 1, sizeof *place);
    int32_t *slot_of = mem_alloc(values + 2, sizeof *slot_of);
    fit->missing = counts[0];
    if (!c->min_count)
        fit->min_count =
            auto_min_count(c, weighed_rows(&f->weighed, f->count), counts + 2, values);
    for (uint32_t i = 0; i < values; i++)
        keep[i] = counts[i + 2] > 0 &&
                  (fit->min_count <= 1 ||
                   weighed_rows(&f->weighed, counts[i + 2]) >= (double)fit->min_count);
    keep_values(all, keep, fit->vocab, place);
    slot_of[0] = 0;
    slot_of[1] = 1;
    for (uint32_t i = 0; i < values; i++)
        slot_of[i + 2] = keep[i] ? (int32_t)place[i] + 2 : other_slot(c);
    f->encoder->slot_of[slot] = slot_of;
    mem_free(counts);
    mem_free(keep);
    mem_free(place);
}

static bool report_category(const struct fit *f, uint32_t column, struct err *e)
{
    const struct column *c = &f->encoder->schema->columns[column];
    struct column_fit *fit = &f->encoder->columns[column];
    uint32_t values = vocab_count(fit->vocab);
    if (!values && fit->missing == f->count) {
        err_set(e, ERR_COLUMN_EMPTY, "column \"%s\" has no value in any of the %llu training rows",
                text_quote_z(c->name), (unsigned long long)f->count);
        return err_help(e, "give it the type \"ignore\" in data.columns");
    }
    if (fit->cut)
        remark_add(&f->encoder->remarks,
                   "column \"%s\": %.1f %% of the training texts have more than %u tokens, and are "
                   "read up to there (`length`)", text_quote_z(c->name),
                   100 * (double)fit->cut / (double)(f->count - fit->missing), fit->slots);
    if (column_is_tokens(c) && !values)
        remark_add(&f->encoder->remarks,
                   "column \"%s\": no token stands `min_count` (%lld) times in the training rows, "
                   "and so all are unknown", text_quote_z(c->name), (long long)fit->min_count);
    if (c->type == COLUMN_TEXT)
        return true;
    if (values > VOCAB_MOST) {
        err_set(e, ERR_CATEGORY_LIMIT, "column \"%s\" has %u values", text_quote_z(c->name),
                values);
        return err_expected(e, "at most %u", VOCAB_MOST);
    }
    if (!values)
        remark_add(&f->encoder->remarks,
                   "column \"%s\": no value is in `min_count` (%lld) training rows, and so it "
                   "tells nothing%s", text_quote_z(c->name), (long long)fit->min_count,
                   fit->missing ? " but where it is missing" : "");
    fit->constant = values <= 1 && !fit->missing && fit->min_count == 1;
    return true;
}

bool fit_categories(struct fit *f, struct err *e)
{
    const struct schema *s = f->encoder->schema;
    uint32_t categories = s->category_count;
    if (!categories)
        return true;
    uint32_t *column_of = mem_alloc(categories, sizeof *column_of);
    for (uint32_t i = 0; i < s->column_count; i++)
        if (s->columns[i].category != UINT32_MAX)
            column_of[s->columns[i].category] = i;
    struct category_task task = {.fit = f, .column_of = column_of};
    threads_run_few(categories, category_tile, &task);
    bool good = true;
    for (uint32_t slot = 0; slot < categories && good; slot++)
        good = report_category(f, column_of[slot], e);
    encoder_add_texts(f->encoder);
    mem_free(column_of);
    return good;
}

/* Counts the rows of d with an unknown value in that slot. */
static uint64_t unknown_rows(const struct encoder *c, const struct dataset *d, uint32_t slot)
{
    uint32_t at = d->rows.format.at_category + 4 * slot;
    uint64_t rows = 0;
    for (uint64_t i = 0; i < d->rows.count; i++)
        rows += c->slot_of[slot][record_int(rows_at(&d->rows, i), at)] == 1;
    return rows;
}

bool encoder_covers(const struct encoder *c, const struct dataset *d, struct err *e)
{
    for (size_t i = 0; i < c->schema->column_count; i++) {
        const struct column *column = &c->schema->columns[i];
        if (column->category == UINT32_MAX || column->unknown != UNKNOWN_ERROR)
            continue;
        uint64_t rows = unknown_rows(c, d, column->category);
        if (!rows)
            continue;
        err_set(e, ERR_CSV_UNKNOWN_CATEGORY,
                "column \"%s\": %llu rows of validation or test have values that no training row "
                "has, and its `unknown` is error", text_quote_z(column->name),
                (unsigned long long)rows);
        return err_help(e, "set \"unknown\" to \"bucket\" for this column");
    }
    return true;
}

/* --- labels --- */

static void list_labels(const struct vocab *v, struct text *out)
{
    uint32_t count = vocab_count(v);
    for (uint32_t i = 0; i < count && i < 6; i++) {
        size_t length;
        const char *label = vocab_text(v, i, &length);
        text_printf(out, "%s\"%s\"", i ? ", " : "", text_quote(label, length));
    }
    if (count > 6)
        text_printf(out, " and %u more", count - 6);
}

static bool check_label_count(const struct schema *s, struct err *e)
{
    uint32_t count = vocab_count(s->labels);
    if (count >= 2 && (s->task != TASK_BINARY || count == 2))
        return true;
    struct text found = {0};
    list_labels(s->labels, &found);
    err_set(e, ERR_LABEL_COUNT, "target \"%s\" has %u class%s among the training rows: %s",
            text_quote_z(s->columns[s->target].name), count, count == 1 ? "" : "es",
            found.data ? found.data : "none");
    text_free(&found);
    err_expected(e, s->task == TASK_BINARY ? "exactly two" : "at least two");
    return err_help(e, count > 2 ? "set \"task\" to \"multiclass\" (or \"regression\")"
                                 : "a class must occur among the training rows to be learned");
}

/* Moves the positive label to the end. order: provisional id to class, updated. */
static bool place_positive(struct schema *s, uint32_t *order, uint32_t ids, struct err *e)
{
    if (s->task != TASK_BINARY)
        return true;
    if (!s->positive) {
        s->positive = mem_string(vocab_text(s->labels, 1, NULL));
        return true;
    }
    uint32_t at = label_find(s->labels, s->decimal, s->positive, strlen(s->positive));
    if (at == UINT32_MAX) {
        struct text found = {0};
        list_labels(s->labels, &found);
        err_set(e, ERR_POSITIVE_UNSEEN, "data.positive is \"%s\", and the labels of \"%s\" are %s",
                text_quote_z(s->positive), text_quote_z(s->columns[s->target].name), found.data);
        text_free(&found);
        return err_help(e, "the label must be written as in the file");
    }
    mem_free(s->positive);
    s->positive = mem_string(vocab_text(s->labels, at, NULL)); /* as the file writes it */
    if (at == 1)
        return true;
    const uint32_t swap[2] = {1, 0};
    vocab_order(s->labels, swap);
    for (uint32_t i = 0; i < ids; i++)
        if (order[i] != UINT32_MAX)
            order[i] = 1 - order[i];
    return true;
}

/* Detects labels of two programs: 1 and 1.0. */
static void warn_alike(const struct fit *f)
{
    const struct schema *s = f->encoder->schema;
    size_t length[2];
    uint32_t i = vocab_same_number(s->labels);
    if (i == UINT32_MAX)
        return;
    const char *one = vocab_text(s->labels, i - 1, &length[0]);
    const char *other = vocab_text(s->labels, i, &length[1]);
    double value;
    if ((!label_number(one, length[0], '.', &value) &&
         !label_number(one, length[0], ',', &value)) ||
        number_is_code(other, length[1]))
        return; /* codes and long numbers are texts */
    remark_add(&f->encoder->remarks,
               "the labels \"%s\" and \"%s\" are the same number, and count as two classes: "
               "write them alike if they are one", text_quote(one, length[0]),
               text_quote(other, length[1]));
}

bool fit_labels(struct fit *f, struct err *e)
{
    struct schema *s = f->encoder->schema;
    const struct vocab *all = f->data->schema->labels;
    uint32_t ids = vocab_count(all), *order = mem_alloc(ids + 1, sizeof *order);
    uint8_t *keep = mem_zero(ids + 1, sizeof *keep);
    const struct weighed *w = &f->weighed; /* a label counts, however small its weights are */
    for (uint64_t i = 0, met = 0; i < w->single_count && met < ids; i++) {
        int32_t id = dataset_label(f->data, w->single[i]);
        if (id >= 0) {
            met += !keep[id];
            keep[id] = 1;
        }
    }
    keep_values(all, keep, s->labels, order);
    bool good = check_label_count(s, e) && place_positive(s, order, ids, e);
    if (good) {
        f->encoder->class_of = mem_alloc(ids + 1, sizeof *f->encoder->class_of);
        for (uint32_t i = 0; i < ids; i++)
            f->encoder->class_of[i] = (int32_t)order[i]; /* UINT32_MAX: -1 */
        warn_alike(f);
    }
    mem_free(keep);
    mem_free(order);
    return good;
}
