/* time.c - finds tables that grew with time: their rows are in the order of a date, or their dates
 * repeat. A split by chance tests a model on days that it was trained on. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/process/shell.h"
#include "base/sort.h"
#include "base/text.h"
#include "infer/survey.h"

enum { LEAST_TIMES = 10, ROWS_A_DAY = 2 };
#define DAY 86400.0
#define LONGEST (20 * 365.25 * DAY) /* of dates that repeat: longer ones may be dates of birth */

/* The dates of the sampled rows, in the order of the file. */
struct times {
    double *at;
    uint32_t count, rises, falls; /* from a row to the next */
};

/* Caller frees t->at (mem_free). */
static struct times times_of(const struct survey *s, const struct infer *infer, size_t column)
{
    struct times t = {.at = mem_alloc((size_t)s->samples + 1, sizeof *t.at)};
    for (uint32_t i = 0; i < s->samples; i++) {
        if (!infer_sampled_value(s, infer, column, i, &t.at[t.count]))
            continue;
        const double step = t.count ? t.at[t.count] - t.at[t.count - 1] : 0;
        t.rises += step > 0;
        t.falls += step < 0;
        t.count++;
    }
    return t;
}

static bool is_ordered(const struct times *t)
{
    const uint32_t less = t->rises < t->falls ? t->rises : t->falls;
    return t->rises + t->falls >= LEAST_TIMES && less * UINT64_C(100) <= t->rises + t->falls;
}

/* Several rows a day, over days and not over lives. Sorts the times. */
static bool repeats(const struct times *t)
{
    uint32_t days = 0;
    if (!t->count)
        return false;
    sort_doubles(t->at, t->count);
    for (uint32_t i = 0; i < t->count; i++)
        days += !i || floor(t->at[i] / DAY) > floor(t->at[i - 1] / DAY);
    return days >= LEAST_TIMES && days * (uint64_t)ROWS_A_DAY <= t->count &&
           t->at[t->count - 1] - t->at[0] <= LONGEST;
}

void infer_time(const struct infer_request *r, const struct survey *s, struct infer *i)
{
    const struct infer_column *found = NULL;
    size_t dates = 0;
    bool ordered = false, repeated = false;
    for (size_t k = 0; r->target && k < i->count; k++) {
        const struct infer_column *c = &i->columns[k];
        const struct column_profile *w = &s->profiles[k];
        if (c->type != COLUMN_DATETIME || k == i->target)
            continue;
        dates++;
        if (column_names_birth(c->name) || c->missing * 10 > i->rows || !w->sample_at || ordered)
            continue;
        struct times t = times_of(s, i, k);
        ordered = is_ordered(&t);
        if (ordered || (!found && repeats(&t))) {
            repeated = !ordered;
            found = c;
        }
        mem_free(t.at);
    }
    if (!found || (repeated && dates > 1))
        return;
    snprintf(i->time_note, sizeof i->time_note,
             "%s column \"%s\": if the model answers rows that come later than these, judge it on "
             "the latest ones: --set data.split.method=time%s%s",
             ordered ? "the rows are in the order of" : "several rows have the same day in",
             text_quote_z(found->name), dates > 1 ? " --set " : "",
             dates > 1 ? shell_word("data.split.column=%s", found->name) : "");
}
