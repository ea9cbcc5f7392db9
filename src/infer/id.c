/* id.c - columns that name rows: numbers of rows, identifiers by name and by values that are
 * all different; and what is said of them. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/process/shell.h"
#include "infer/survey.h"

const char infer_counts[] = "it numbers the rows, from %.0f on";

enum infer_order infer_order(const struct leak_target *of)
{
    enum { DRAWS = 9, RANGES = 20, LEAST = 20 };
    const uint32_t n = of->count;
    float *number = mem_alloc((size_t)n + 1, sizeof *number);
    int32_t *group = mem_alloc((size_t)n + 1, sizeof *group);
    double as_number[2] = {0, 0}, as_group[2] = {0, 0}; /* in order; the most of the other orders */
    for (uint32_t draw = 0; n >= LEAST && draw <= DRAWS; draw++) {
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t at = draw ? rng_permute(0, draw, 0, n, i) : i;
            number[i] = (float)at;
            group[i] = 1 + (int32_t)((uint64_t)at * RANGES / n);
        }
        const int k = draw > 0;
        as_number[k] = fmax(as_number[k], leak_of_number(of, number));
        as_group[k] = fmax(as_group[k], leak_of_group(of, group, RANGES + 1));
    }
    mem_free(number);
    mem_free(group);
    if (of->classes && leak_suspect(of, fmax(as_number[0], as_group[0])))
        return ORDER_SORTED;
    const bool tells = as_number[0] > 1.5 * as_number[1] + 0.01 ||
                       as_group[0] > 1.5 * as_group[1] + 0.01;
    return tells ? ORDER_TELLS : ORDER_CHANCE;
}

void infer_way_back(struct infer_column *c, bool numbers)
{
    if (!strstr(c->reason, "--set") && strlen(c->reason) + 60 < sizeof c->reason)
        infer_more(c->reason, sizeof c->reason, "; to learn from it, --set %s",
                   shell_word("data.columns.%s=%s",
                              shell_key(c->name), numbers ? "numeric" : "categorical"));
}

/* True if this many integers of this range would rarely all differ by chance (birthdays: n^2 / 2
 * range equal pairs expected), or there are 1000. */
static bool hardly_chance(const struct column_profile *w, uint64_t present)
{
    double rows = (double)present, range = w->high[0] - w->low[0] + 1;
    return present >= 20 && (present >= 1000 || rows * rows > 2 * 5 * range);
}

void infer_numbers(const struct column_profile *w, const struct infer_counts *n,
                   struct infer_column *c)
{
    const uint64_t present = n->present, missing = n->missing, distinct = n->distinct;
    bool whole = !(w->fraction > 0), all = w->whole == present;
    bool different = whole && all && distinct == present;
    const bool steps = whole && all && !missing && present >= 20 && w->steps;
    int name = column_name_kind(c->name);
    if (infer_epoch(w, present, c))
        return;
    if (steps && (w->unnamed || name != NAME_OTHER || column_names_row(c->name)))
        infer_set(c, COLUMN_ID, "it numbers the rows");
    else if (steps && w->low[0] >= 0 && w->low[0] <= 1)
        infer_set(c, COLUMN_ID, infer_counts, w->low[0]);
    else if (whole && name == NAME_ID && distinct == present)
        infer_set(c, COLUMN_ID,
                  "its name and its values, all different, are those of an identifier");
    else if (whole && name == NAME_ID && distinct > 100 && distinct * 2 > present)
        infer_set(c, COLUMN_ID, "its name and its %llu values are those of an identifier",
                  (unsigned long long)distinct);
    else if (w->serials * 2 > present && distinct * 2 > present)
        infer_set(c, COLUMN_ID, "whole numbers of more than 16 digits, most of them different, "
                                "are names, and a float does not tell them apart");
    else if (w->day_numbers == w->whole && all && distinct > 1)
        c->type = COLUMN_DATETIME;
    else if (different && name == NAME_NUMBER && present >= 20 && w->low[0] >= 0)
        infer_set(c, COLUMN_ID, "its name and its whole numbers, all different, are those of an "
                                "identifier; if it is a measure, --set %s",
                  shell_word("data.columns.%s=numeric", shell_key(c->name)));
    else if (different && !missing && present >= 20 && !column_names_order(c->name) &&
             (w->rises || w->falls || hardly_chance(w, present)))
        infer_set(c, COLUMN_NUMERIC,
                  "every row has another whole number%s: if it names the row, say --id %s",
                  w->rises ? ", in ascending order" : w->falls ? ", in descending order" : "",
                  shell_word("%s", c->name));
    else if (whole && all && name == NAME_ID && distinct > 2)
        infer_set(c, COLUMN_NUMERIC, "its name is that of an identifier, and its %llu values come "
                                     "again: taken as numbers; if they are none, --set "
                                     "%s, or group, or --id",
                  (unsigned long long)distinct,
                  shell_word("data.columns.%s=categorical", shell_key(c->name)));
    else
        c->type = COLUMN_NUMERIC;
}

