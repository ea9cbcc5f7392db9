/* stats_category.c - vocabularies and labels: what training rows had, in a defined order; the
 * provisional ids of all rows become final. */
#include "table/stats_parts.h"

#include "base/mem.h"
#include "base/thread.h"

/* --- categories --- */

struct category_task {
    struct schema *schema;
    struct table *table;
    const uint32_t *column_of; /* by category slot */
    uint64_t *unseen;          /* by category slot, unknown "error": rows that training lacks */
};

/* Values by training rows: counts[id], id as in the records (0 missing). */
static uint64_t *count_values(const struct table *t, uint32_t at, uint32_t ids)
{
    uint64_t *counts = mem_zero(ids, sizeof *counts);
    const uint32_t *rows = t->index[PART_TRAIN];
    for (uint64_t i = 0; i < t->count[PART_TRAIN]; i++)
        counts[stats_int_at(rows_at(&t->rows, rows[i]), at)]++;
    return counts;
}

/* What stands for a value that the vocabulary does not hold. */
static int32_t stand_in(const struct column *c)
{
    return c->unknown == UNKNOWN_MISSING ? 0 : 1;
}

static void category_tile(void *context, unsigned slot, unsigned hand)
{
    (void)hand;
    struct category_task *task = context;
    struct table *t = task->table;
    struct column *c = &task->schema->columns[task->column_of[slot]];
    uint32_t at = task->schema->format.at_category + 4 * (uint32_t)slot;
    uint32_t values = vocab_count(c->vocab);
    uint64_t *counts = count_values(t, at, values + 2);
    c->missing = counts[0];
    uint8_t *keep = mem_alloc(values + 1, sizeof *keep);
    uint32_t *kept = mem_alloc(values + 1, sizeof *kept);
    uint32_t *sorted = mem_alloc(values + 1, sizeof *sorted);
    int32_t *slot_of = mem_alloc(values + 2, sizeof *slot_of);
    for (uint32_t i = 0; i < values; i++)
        keep[i] = counts[i + 2] > 0 && counts[i + 2] >= (uint64_t)c->min_count;
    vocab_keep(c->vocab, keep, kept);
    vocab_sort(c->vocab, sorted);
    slot_of[0] = 0;
    slot_of[1] = 1;
    for (uint32_t i = 0; i < values; i++)
        slot_of[i + 2] = keep[i] ? (int32_t)sorted[kept[i]] + 2 : stand_in(c);
    for (uint64_t row = 0; row < t->rows.count; row++) {
        unsigned char *record = rows_at(&t->rows, row);
        int32_t id = stats_int_at(record, at);
        task->unseen[slot] += c->unknown == UNKNOWN_ERROR && slot_of[id] == 1;
        memcpy(record + at, &slot_of[id], sizeof slot_of[id]);
    }
    mem_free(counts);
    mem_free(keep);
    mem_free(kept);
    mem_free(sorted);
    mem_free(slot_of);
}

static bool report_category(const struct category_task *task, uint32_t slot, struct err *e)
{
    const struct table *t = task->table;
    struct column *c = &task->schema->columns[task->column_of[slot]];
    uint32_t values = vocab_count(c->vocab);
    if (task->unseen[slot]) {
        err_set(e, ERR_CSV_UNKNOWN_CATEGORY,
                "column \"%s\": %llu rows of validation or test have values that no training row "
                "has, and its `unknown` is error", text_quote_z(c->name),
                (unsigned long long)task->unseen[slot]);
        err_subject(e, c->name);
        return err_help(e, "set \"unknown\" to \"bucket\" for this column");
    }
    if (!values && c->missing == t->count[PART_TRAIN]) {
        err_set(e, ERR_COLUMN_EMPTY, "column \"%s\" has no value in any of the %llu training rows",
                text_quote_z(c->name), (unsigned long long)t->count[PART_TRAIN]);
        err_subject(e, c->name);
        return err_help(e, "give it the type \"ignore\" in data.columns");
    }
    if (values > VOCAB_MOST) {
        err_set(e, ERR_CATEGORY_LIMIT, "column \"%s\" has %u values", text_quote_z(c->name),
                values);
        err_subject(e, c->name);
        return err_expected(e, "at most %u", VOCAB_MOST);
    }
    if (!values)
        stats_warn(task->table, "column \"%s\": no value is in `min_count` (%lld) training rows, "
                                "and so it tells nothing%s",
                   text_quote_z(c->name), (long long)c->min_count,
                   c->missing ? " but where it is missing" : "");
    c->constant = values <= 1 && !c->missing && c->min_count == 1;
    return true;
}

bool stats_fit_categories(struct schema *s, struct table *t, struct err *e)
{
    uint32_t categories = s->category_count;
    if (!categories)
        return true;
    uint32_t *column_of = mem_alloc(categories, sizeof *column_of);
    for (uint32_t i = 0; i < s->column_count; i++)
        if (s->columns[i].category != UINT32_MAX)
            column_of[s->columns[i].category] = i;
    struct category_task task = {.schema = s, .table = t, .column_of = column_of};
    task.unseen = mem_zero(categories, sizeof *task.unseen);
    threads_run_few(categories, category_tile, &task);
    bool good = true;
    for (uint32_t slot = 0; slot < categories && good; slot++)
        good = report_category(&task, slot, e);
    mem_free(task.unseen);
    mem_free(column_of);
    return good;
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

/* Moves the positive label behind the other one. order: provisional id to class, updated. */
static bool place_positive(struct schema *s, uint32_t *order, uint32_t ids, struct err *e)
{
    if (s->task != TASK_BINARY)
        return true;
    if (!s->positive) {
        s->positive = mem_string(vocab_text(s->labels, 1, NULL));
        return true;
    }
    uint32_t at = vocab_find(s->labels, s->positive, strlen(s->positive));
    if (at == UINT32_MAX) {
        struct text found = {0};
        list_labels(s->labels, &found);
        err_set(e, ERR_POSITIVE_UNSEEN, "data.positive is \"%s\", and the labels of \"%s\" are %s",
                text_quote_z(s->positive), text_quote_z(s->columns[s->target].name), found.data);
        text_free(&found);
        return err_help(e, "the label must be written as in the file");
    }
    if (at == 1)
        return true;
    const uint32_t swap[2] = {1, 0};
    vocab_order(s->labels, swap);
    for (uint32_t i = 0; i < ids; i++)
        if (order[i] != UINT32_MAX)
            order[i] = 1 - order[i];
    return true;
}

/* A class that only other parts have cannot be learned or scored. */
static bool check_unseen(const struct schema *s, struct table *t, const uint64_t *counts,
                         uint32_t ids, struct err *e)
{
    for (uint32_t i = 0; i < ids; i++) {
        if (counts[i])
            continue;
        uint64_t rows = 0, first = 0;
        for (uint64_t row = 0; row < t->rows.count; row++)
            if (stats_int_at(rows_at(&t->rows, row), s->format.at_target) == (int32_t)i &&
                rows++ == 0)
                first = row + 1;
        if (!rows)
            continue;
        size_t length;
        const char *label = vocab_text(s->labels, i, &length);
        err_set(e, ERR_LABEL_UNSEEN,
                "label \"%s\" of \"%s\" is in %llu validation or test row%s, here first, and in no "
                "training row", text_quote(label, length),
                text_quote_z(s->columns[s->target].name), (unsigned long long)rows,
                rows == 1 ? "" : "s");
        t->blamed = first;
        return false; /* what helps depends on the files: table.c */
    }
    return true;
}

static void warn_lacking(const struct schema *s, struct table *t, enum part part)
{
    uint32_t classes = vocab_count(s->labels);
    if (!t->count[part])
        return;
    uint64_t *counts = mem_zero(classes, sizeof *counts);
    for (uint64_t i = 0; i < t->count[part]; i++) {
        int32_t label = stats_int_at(rows_at(&t->rows, t->index[part][i]), s->format.at_target);
        if (label >= 0)
            counts[label]++;
    }
    struct text list = {0};
    uint32_t lacking = 0;
    for (uint32_t i = 0; i < classes; i++) {
        size_t length;
        const char *label = vocab_text(s->labels, i, &length);
        if (!counts[i] && lacking++ < STATS_NAMED)
            text_printf(&list, "%s\"%s\"", lacking > 1 ? ", " : "", text_quote(label, length));
    }
    if (lacking > STATS_NAMED)
        text_printf(&list, " and %u more", lacking - STATS_NAMED);
    if (lacking)
        stats_warn(t, "no %s row has the label %s; metrics are over the classes present",
                   part_names[part], list.data);
    text_free(&list);
    mem_free(counts);
}

/* Files of two programs: one wrote 1, the other 1.0. */
static void warn_alike(const struct schema *s, struct table *t)
{
    size_t length[2];
    uint32_t i = vocab_same_number(s->labels);
    if (i == UINT32_MAX)
        return;
    const char *one = vocab_text(s->labels, i - 1, &length[0]);
    const char *other = vocab_text(s->labels, i, &length[1]);
    stats_warn(t, "the labels \"%s\" and \"%s\" are the same number, and count as two classes: "
                  "write them alike if they are one", text_quote(one, length[0]),
               text_quote(other, length[1]));
}

static void renumber(const struct schema *s, struct table *t, const uint32_t *order)
{
    for (uint64_t row = 0; row < t->rows.count; row++) {
        unsigned char *at = rows_at(&t->rows, row) + s->format.at_target;
        int32_t id = stats_int_at(at, 0);
        if (id < 0)
            continue;
        id = (int32_t)order[id];
        memcpy(at, &id, sizeof id);
    }
}

bool stats_fit_labels(struct schema *s, struct table *t, struct err *e)
{
    uint32_t ids = vocab_count(s->labels);
    uint64_t *counts = mem_zero(ids + 1, sizeof *counts);
    uint8_t *keep = mem_zero(ids + 1, sizeof *keep);
    uint32_t *order = mem_alloc(ids + 1, sizeof *order);
    uint32_t *sorted = mem_alloc(ids + 1, sizeof *sorted);
    for (uint64_t i = 0; i < t->count[PART_TRAIN]; i++) {
        int32_t id = stats_int_at(rows_at(&t->rows, t->index[PART_TRAIN][i]), s->format.at_target);
        if (id >= 0)
            counts[id]++;
    }
    for (uint32_t i = 0; i < ids; i++)
        keep[i] = counts[i] > 0;
    bool good = check_unseen(s, t, counts, ids, e);
    if (good) {
        vocab_keep(s->labels, keep, order);
        vocab_sort(s->labels, sorted);
        for (uint32_t i = 0; i < ids; i++)
            order[i] = keep[i] ? sorted[order[i]] : UINT32_MAX;
        good = check_label_count(s, e) && place_positive(s, order, ids, e);
    }
    if (good) {
        renumber(s, t, order);
        warn_alike(s, t);
        warn_lacking(s, t, PART_VALID);
        warn_lacking(s, t, PART_TEST);
    }
    mem_free(counts);
    mem_free(keep);
    mem_free(order);
    mem_free(sorted);
    return good;
}
