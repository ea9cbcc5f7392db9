/* importance.c - the section of a report about which columns matter: permutation importance. */
#include <math.h>

#include "cli/report/page.h"

enum { SHOWN = 12, MOST = 200 };

static void put_alikes(const struct alikes *a, struct text *out)
{
    for (uint32_t i = 0; i < a->count; i++) {
        text_put(out, "<p>These columns carry much the same information and share their "
                      "importance: ");
        for (uint32_t k = 0; k < a->items[i].count; k++)
            html_printf(out, k ? ", <b>%s</b>" : "<b>%s</b>", a->items[i].units[k]->name);
        text_printf(out, " (association %.2f%s).</p>\n", a->items[i].least,
                    a->items[i].count > 2 ? " or more" : "");
    }
}

/* True: the interval lies above 0, or below. */
static bool is_sure(const struct importance *p)
{
    return p->interval.low > 0 || p->interval.high < 0;
}

static void put_columns(const struct explain_result *x, uint32_t from, uint32_t to,
                        struct text *out)
{
    static const char *const names[] = {"column", "", "importance", "95 % interval", NULL};
    double least = 0, most = 0;
    for (uint32_t i = 0; i < x->column_count; i++) {
        most = fmax(most, x->columns[i].importance);
        least = fmax(least, -x->columns[i].importance);
    }
    html_table(out, "Importance", names, 2);
    for (uint32_t i = from; i < to; i++) {
        const struct importance *p = &x->columns[i];
        text_put(out, is_sure(p) ? "<tr>" : "<tr class=\"faint\">");
        html_cells(out, "%s", p->unit->name);
        chart_cell(out, p->importance, p->interval.low, p->interval.high, least,
                   most + least > 0 ? most : 1);
        html_cell_near(out, p->importance, (double)NAN, fmax(most, least));
        html_cell_near(out, p->interval.low, p->interval.high, fmax(most, least));
        html_row_end(out);
    }
    html_table_end(out);
}

void report_importance(const struct report *r, struct text *out)
{
    const struct explain_result *x = &r->columns;
    const uint32_t count = x->column_count < MOST ? x->column_count : MOST;
    const uint32_t shown = count < SHOWN + 3 ? count : SHOWN; /* no fold of one or two */
    html_section(out, "What matters");
    if (!r->explained) {
        html_note(out, "Not measured: the rows can be read only once.");
        html_section_end(out);
        return;
    }
    html_note(out, "How much worse %s gets when the column's cells are shuffled among the rows (%d "
                   "times, on %s%llu rows). Near 0: the model does not use this column, or another "
                   "column carries the same information. Grey: the interval crosses 0, so that "
                   "the column may not matter at all.", x->metric->name, REPORT_REPEATS,
              x->rows < r->value.rows ? "the first " : "", (unsigned long long)x->rows);
    put_columns(x, 0, shown, out);
    if (shown < count) {
        text_printf(out, "<details><summary>%u columns that matter less</summary>\n",
                    count - shown);
        put_columns(x, shown, count, out);
        text_put(out, "</details>\n");
    }
    if (x->column_count > count)
        html_note(out, "%u more columns: `dnn explain` lists all.", x->column_count - count);
    put_alikes(&x->alikes, out);
    html_section_end(out);
}
