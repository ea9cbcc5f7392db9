/* stream_notes.c - the notes and warnings at the end of a stream. */
#include "answer/stream/stream.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "csv/form/date.h"
#include "table/schema/twins.h"

#define NAMED_MOST 3u /* columns in a note */

/* --- values unlike the training rows' --- */

typedef void say_fn(const char *format, ...);

/* A number of the column, or a date. */
static void put_value(const struct column *c, double value, struct text *out)
{
    if (c->type != COLUMN_DATETIME || !date_put(value, out))
        text_put(out, text_figure(value, 7));
}

/* Appends the range of the training numbers, then the range of the numbers outside. */
static void put_range(const struct drift *d, const struct encoder *e, size_t i, struct text *out)
{
    const struct column *c = &e->schema->columns[i];
    const struct number_slot *n = &e->numbers[c->number];
    if (d->least[i] != d->least[i])
        return;
    text_put(out, " (");
    put_value(c, (double)n->low + n->offset, out);
    text_put(out, " to ");
    put_value(c, (double)n->high + n->offset, out);
    text_put(out, "): ");
    put_value(c, (double)d->least[i] + n->offset, out);
    if (d->least[i] < d->most[i]) {
        text_put(out, " to ");
        put_value(c, (double)d->most[i] + n->offset, out);
    }
}

/* Appends the first new values of a column, with the known value that each is a twin of. */
static void put_values(const struct drift *d, const struct vocab *known, size_t i, struct text *out)
{
    for (int k = 0; k < DRIFT_NEW && d->first[i].text[k]; k++) {
        const char *text = d->first[i].text[k];
        const uint32_t twin = twins_find(known, text, strlen(text));
        text_printf(out, "%s\"%s\"", k ? ", " : ": ", text_quote_z(text));
        if (twin != UINT32_MAX)
            text_printf(out, " (training had \"%s\")",
                        text_quote_z(vocab_text(known, twin, NULL)));
    }
    if (d->first[i].text[DRIFT_NEW - 1] && d->unknown[i] > DRIFT_NEW)
        text_put(out, ", ...");
}

/* Says a line for each column; of many columns one line for all. ranges: a line ends with the range
 * of the numbers, else with the first unknown categories. */
static void note_columns(const struct drift *d, const struct encoder *e, const uint64_t *counts,
                         say_fn *say, const char *of_one, const char *of_many, bool ranges)
{
    const struct schema *s = e->schema;
    struct text names = {0};
    uint64_t columns = 0, sum = 0;
    for (size_t i = 0; i < s->column_count; i++) {
        if (!counts[i])
            continue;
        sum += counts[i];
        if (++columns <= NAMED_MOST)
            text_printf(&names, "%s\"%s\"", columns > 1 ? ", " : "",
                        text_quote_z(s->columns[i].name));
    }
    if (columns > NAMED_MOST)
        say("%llu columns (%s and %llu more): %llu %s%s", (unsigned long long)columns, names.data,
            (unsigned long long)(columns - NAMED_MOST), (unsigned long long)sum,
            ranges ? "value" : "", of_many);
    for (size_t i = 0; columns <= NAMED_MOST && i < s->column_count; i++) {
        if (!counts[i])
            continue;
        struct text range = {0};
        if (ranges)
            put_range(d, e, i, &range);
        else if (counts == d->unknown)
            put_values(d, e->columns[i].vocab, i, &range);
        say("column \"%s\": %llu %s%s%s", text_quote_z(s->columns[i].name),
            (unsigned long long)counts[i],
            !ranges ? "" : s->columns[i].type == COLUMN_DATETIME ? "date" : "number",
            counts[i] == 1 ? of_one : of_many, range.length ? range.data : "");
        text_free(&range);
    }
    text_free(&names);
}

/* Notes, in one line, the columns whose values are spread otherwise than in training. */
static void note_moved(const struct drift *d, const struct encoder *e)
{
    const struct schema *s = e->schema;
    struct text names = {0};
    unsigned columns = 0;
    for (size_t i = 0; i < s->column_count; i++) {
        double index, chance;
        index = drift_index(d, e, i, &chance);
        if (!drift_moved(index, chance, DRIFT_MUCH) || columns++ >= NAMED_MOST)
            continue;
        text_printf(&names, "%s\"%s\" %.2g", names.length ? ", " : "",
                    text_quote_z(s->columns[i].name), index);
    }
    if (columns > NAMED_MOST)
        text_printf(&names, " and %u more", columns - NAMED_MOST);
    if (columns)
        log_note("column%s whose distribution changed since training (stability index): %s",
                 columns == 1 ? "" : "s", names.data);
    text_free(&names);
}

/* True: a number of column i lies further outside the training range than that is wide. */
static bool far_outside(const struct drift *d, const struct encoder *e, size_t i)
{
    const struct number_slot *n = &e->numbers[e->schema->columns[i].number];
    double low = (double)n->low, high = (double)n->high;
    return (double)d->least[i] < low - (high - low) || (double)d->most[i] > high + (high - low);
}

/* A few numbers a little outside the range are the rule in a large file: they are worth a note from
 * one row in a hundred on. */
static void note_drift(const struct drift *d, const struct encoder *e, uint64_t rows)
{
    static const char cell[] = "cell with a category that training did not see",
                      cells[] = "cells with a category that training did not see",
                      rare[] = "cell with a category that training pooled, as it is rare there",
                      rares[] = "cells with a category that training pooled, as it is rare there",
                      number[] = " outside the range of training",
                      numbers[] = "s outside the range of training";
    uint64_t *many = mem_zero(e->schema->column_count, sizeof *many);
    uint64_t *few = mem_zero(e->schema->column_count, sizeof *few);
    for (size_t i = 0; i < e->schema->column_count; i++)
        if (d->outside[i]) {
            const bool loud = d->outside[i] >= (rows + 99) / 100 || far_outside(d, e, i);
            (loud ? many : few)[i] = d->outside[i];
        }
    note_columns(d, e, d->unknown, log_note, cell, cells, false);
    note_columns(d, e, d->rare, log_info, rare, rares, false);
    note_columns(d, e, many, log_note, number, numbers, true);
    note_columns(d, e, few, log_info, number, numbers, true);
    mem_free(many);
    mem_free(few);
    note_moved(d, e);
    if (d->vanished)
        log_note("%llu number%s too small for float32 and read as 0",
                 (unsigned long long)d->vanished, d->vanished == 1 ? " is" : "s are");
}

/* --- rows --- */

/* If no row can be read, the reason of the first one is told, with --quiet as well. */
static void note_bad_rows(const struct stream *t)
{
    const char *fate = t->request.on_bad_row == BAD_ROW_SKIP ? "left out" : "no answer";
    unsigned long long bad = t->bad_rows, rows = t->rows - t->unlabelled - t->weightless;
    const struct err *why = t->alike && t->other_form.id ? &t->other_form : &t->first_bad;
    if (bad < rows) {
        log_note("%llu of %llu rows cannot be read: %s", bad, rows, fate);
        return;
    }
    struct text place = {0};
    if (why->file[0])
        text_printf(&place, "%s:%lld: ", text_quote_z(why->file), (long long)why->line);
    log_warning("%llu of %llu rows cannot be read: %s; %s: %s%s (E%d)%s%s%s", bad, rows, fate,
             t->alike && bad > 1 ? "all for one reason, as the first" : "the first one",
             place.data ? place.data : "", why->what, (int)why->id, *why->help ? "; " : "",
             why->help,
             t->request.labelled || t->request.max_bad_rows >= 0
                 ? ""
                 : "; --max-bad-rows N makes more than N an error (65)");
    text_free(&place);
}

/* The model's labels are numbers, and the rows write them otherwise: 1.0 for 1. */
static void note_respelt(const struct stream *t)
{
    enum { NAMED = 4 };
    const struct vocab *labels = t->schema->labels;
    struct text list = {0};
    for (uint32_t i = 0; i < vocab_count(labels) && i < NAMED; i++)
        text_printf(&list, "%s\"%s\"", i ? ", " : "", text_quote_z(vocab_text(labels, i, NULL)));
    log_note("%llu labels are not written as in training: they count as the equal numbers among "
             "%s%s", (unsigned long long)t->drift->respelt, list.data,
             vocab_count(labels) > NAMED ? ", ..." : "");
    text_free(&list);
}

/* Rows that the model was trained on tell too much good of it. */
static void note_known(const struct stream *t)
{
    bool sure = false;
    double share =
        t->keys ? fingerprint_share(t->serve->file->known, &t->lookups, &sure) : 0;
    const struct fingerprint *known = t->serve->file->known;
    if (sure)
        log_warning("about %.*f %% of these rows are rows that the model was trained on: its "
                    "figures are better here than on new rows; %s (`dnn help held-out`)",
                    share < 0.1, 100 * share,
                    known->numbers[FINGERPRINT_OWN] & FINGERPRINT_HELD
                        ? "the weights of its start knew held-out rows too"
                    : known->numbers[FINGERPRINT_ROWS + PART_TEST] == 0
                        ? "the training left no test rows"
                    : known->numbers[FINGERPRINT_OWN] >> PART_TEST & 1
                        ? "its test rows have a file of their own"
                        : "`--part test` takes the held-out rows of the training file");
}

void stream_notes(const struct stream *t)
{
    const uint64_t blank = t->blank_lines - t->choice.blanked;
    note_known(t);
    note_drift(t->drift, t->encoder, t->rows);
    if (t->unlabelled)
        log_note("%llu of %llu rows have no target: left out", (unsigned long long)t->unlabelled,
                 (unsigned long long)t->rows);
    if (t->weightless)
        log_note("the weight is 0 in %llu of %llu rows, which count for nothing: left out",
                 (unsigned long long)t->weightless, (unsigned long long)t->rows);
    if (t->drift->respelt)
        note_respelt(t);
    if (blank)
        log_note("%llu blank line%s left out", (unsigned long long)blank, blank == 1 ? "" : "s");
    odd_steps_note(&t->odd, t->schema);
    if (t->stepless)
        log_warning("%llu of %llu rows have no step, as every cell of the sequence is missing: "
                    "their answers tell nothing of them", (unsigned long long)t->stepless,
                    (unsigned long long)t->rows);
    if (t->bad_rows)
        note_bad_rows(t);
    const char *encoding = csv_encoding_names[t->dialect.encoding];
    if (t->in_utf8)
        log_warning("all text beyond ASCII in the input is valid UTF-8, and it is read as %s: its "
                    "categories will not be found; give --encoding utf-8", encoding);
    if (t->foreign.length)
        log_warning("%s", t->foreign.data);
}
