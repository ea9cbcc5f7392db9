/* report_drift.c - the part of a report that says how rows differ from those of the training. */
#include <math.h>

#include "base/mem.h"
#include "cli/report/chart.h"
#include "cli/report/html.h"
#include "cli/report/page.h"
#include "table/drift.h"

enum { DRIFT_SHOWN = 40 };
/* The end of the bars: never so near that a small index looks large, never beyond an index that
 * could not be larger in practice. */
#define BAR_LEAST 0.3
#define BAR_MOST 1.0

struct moved {
    uint32_t column;
    double index, chance;
};

/* The columns that have an index, from the one that moved most down. */
static uint32_t list_moved(const struct report *r, struct moved *list)
{
    const struct schema *s = r->file->schema;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->column_count; i++) {
        struct moved m = {.column = i};
        m.index = drift_index(r->value.drift, s, i, &m.chance);
        if (isnan(m.index))
            continue;
        uint32_t k = count++;
        for (; k && list[k - 1].index < m.index; k--)
            list[k] = list[k - 1];
        list[k] = m;
    }
    return count;
}

static const char *verdict_of(const struct moved *m)
{
    return drift_moved(m->index, m->chance, DRIFT_MUCH)   ? "changed"
           : drift_moved(m->index, m->chance, DRIFT_SOME) ? "changed somewhat"
                                                          : "";
}

static void put_moved(const struct report *r, const struct moved *m, double most, struct text *out)
{
    const struct drift *d = r->value.drift;
    const struct column *c = &r->file->schema->columns[m->column];
    static const double marks[] = {DRIFT_SOME, DRIFT_MUCH};
    html_row(out);
    html_cell(out, c->name);
    text_printf(out, "<td>%s</td>", verdict_of(m));
    html_cell_number(out, m->index);
    html_cell_number(out, (double)(d->unknown[m->column] + d->outside[m->column]));
    html_cell_number(out, (double)d->missing[m->column]);
    chart_cell_marked(out, m->index, fmin(fmax(most, BAR_LEAST), BAR_MOST), marks, 2);
    html_row_end(out);
}

void report_drift(const struct report *r, struct text *out)
{
    static const char *const names[] = {"column", "", "stability index", "unseen values",
                                        "missing", "", NULL};
    struct moved *list = mem_alloc(r->file->schema->column_count + 1, sizeof *list);
    uint32_t count = r->value.drift ? list_moved(r, list) : 0;
    html_section(out, "Drift");
    if (!count) {
        html_note(out, "The model file does not say how its training values are spread.");
    } else {
        html_note(out, "The population stability index compares the values of a column with those "
                       "of the training rows: below %.2g nothing of note, from %.2g on much (the "
                       "dashed marks). Unseen: new categories, or numbers outside the training "
                       "range.",
                  DRIFT_SOME, DRIFT_MUCH);
        html_table(out, "Drift", names, 2);
        for (uint32_t i = 0; i < count && i < DRIFT_SHOWN; i++)
            put_moved(r, &list[i], list[0].index, out);
        html_table_end(out);
        if (count > DRIFT_SHOWN)
            html_note(out, "%u more columns: `dnn evaluate --json` has all.", count - DRIFT_SHOWN);
    }
    html_section_end(out);
    mem_free(list);
}
