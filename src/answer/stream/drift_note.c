/* drift_note.c - see drift_note.h. */
#include "answer/stream/drift_note.h"

#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "table/schema/twins.h"

#define NAMED_MOST 3u /* columns in a note */

typedef void say_fn(const char *format, ...);

/* A number of the column, or a date. */
static void put_value(const struct column *c, double value, struct text *out)
{
    char date[40];
    time_t at = (time_t)value;
    struct tm tm;
    if (c->type != COLUMN_DATETIME || !gmtime_r(&at, &tm) ||
        !strftime(date, sizeof date, tm.tm_hour || tm.tm_min ? "%Y-%m-%dT%H:%M" : "%Y-%m-%d", &tm))
        text_put(out, text_figure(value, 7));
    else
        text_put(out, date);
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
void drift_note(const struct drift *d, const struct encoder *e, uint64_t rows)
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
