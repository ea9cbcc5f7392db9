/* drift_note.c - see drift_note.h. */
#include "answer/drift_note.h"

#include "base/log.h"
#include "base/text.h"

#define NAMED_MOST 3u /* columns in a note */

typedef void say_fn(const char *format, ...);

/* A line for each column, or one for all where there are many. */
static void note_columns(const struct schema *s, const uint64_t *counts, uint64_t least,
                         uint64_t most, say_fn *say, const char *of_one, const char *of_many,
                         bool kinds)
{
    struct text names = {0};
    uint64_t columns = 0, sum = 0;
    for (size_t i = 0; i < s->column_count; i++) {
        if (counts[i] < least || counts[i] > most)
            continue;
        sum += counts[i];
        if (++columns <= NAMED_MOST)
            text_printf(&names, "%s\"%s\"", columns > 1 ? ", " : "",
                        text_quote_z(s->columns[i].name));
    }
    if (columns > NAMED_MOST)
        say("%llu columns (%s and %llu more): %llu %s%s", (unsigned long long)columns, names.data,
            (unsigned long long)(columns - NAMED_MOST), (unsigned long long)sum,
            kinds ? "value" : "", of_many);
    for (size_t i = 0; columns <= NAMED_MOST && i < s->column_count; i++)
        if (counts[i] >= least && counts[i] <= most)
            say("column \"%s\": %llu %s%s", text_quote_z(s->columns[i].name),
                (unsigned long long)counts[i],
                !kinds ? "" : s->columns[i].type == COLUMN_DATETIME ? "date" : "number",
                counts[i] == 1 ? of_one : of_many);
    text_free(&names);
}

/* A few numbers beyond the range are the rule in a large file: they are worth a note from one row
 * in a hundred on. */
void drift_note(const struct drift *d, const struct schema *s, uint64_t rows)
{
    static const char cell[] = "cell with a category that training did not see",
                      cells[] = "cells with a category that training did not see",
                      number[] = " outside the range of training",
                      numbers[] = "s outside the range of training";
    uint64_t often = rows / 100 + (rows % 100 != 0);
    often = often ? often : 1;
    note_columns(s, d->unknown, 1, UINT64_MAX, log_note, cell, cells, false);
    note_columns(s, d->outside, often, UINT64_MAX, log_note, number, numbers, true);
    note_columns(s, d->outside, 1, often - 1, log_info, number, numbers, true);
    if (d->vanished)
        log_note("%llu number%s too small for float32 and read as 0",
                 (unsigned long long)d->vanished, d->vanished == 1 ? " is" : "s are");
}
