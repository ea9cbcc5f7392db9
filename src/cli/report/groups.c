/* report_groups.c - the part of a report about groups of rows (--by): how good the model is for
 * each of them, the worst first. */
#include <math.h>
#include <string.h>

#include "cli/report/page.h"

enum { SHOWN = 5 }; /* metrics beside each other */

/* Writes a metric, in percent if it is a share. */
static void put_metric(const struct by_group *g, const char *name, double low, double high,
                       struct text *out)
{
    const struct metric_type *t = NULL;
    for (uint32_t i = 0; !t && i < g->metrics.count; i++)
        if (strcmp(g->metrics.m[i].type->name, name) == 0)
            t = g->metrics.m[i].type;
    if (t)
        report_cell(t, low, high, out);
    else
        html_cells(out, "%g", (double)NAN);
}

static void put_group(const struct by_group *g, const char *const *shown, uint32_t count,
                      double least, double most, struct text *out)
{
    const double value = metrics_get(&g->metrics, shown[0]);
    const struct interval range = metrics_interval(&g->metrics, shown[0]);
    html_row_begin(out);
    html_cells(out, "%s", g->name);
    if (isnan(value))
        text_put(out, "<td></td>");
    else
        chart_cell(out, value, range.low, range.high, least, most + least > 0 ? most : 1);
    html_cells(out, "%g", (double)g->rows);
    put_metric(g, shown[0], value, (double)NAN, out);
    put_metric(g, shown[0], range.low, range.high, out);
    for (uint32_t i = 1; i < count; i++)
        put_metric(g, shown[i], metrics_get(&g->metrics, shown[i]), (double)NAN, out);
    html_row_end(out);
}

static void put_by(const struct by *b, struct text *out)
{
    const char *shown[SHOWN];
    const uint32_t count = by_metrics(b, shown, SHOWN), without = by_undefined(b);
    const char *names[SHOWN + 5] = {"group", "", "rows", shown[0], "95 % interval"};
    double least = 0, most = 0;
    for (uint32_t i = 1; i < count; i++)
        names[4 + i] = shown[i];
    for (uint32_t g = 0; g < b->count; g++) {
        const double value = metrics_get(&b->groups[g].metrics, shown[0]);
        most = fmax(most, value); /* fmax passes a NaN by */
        least = fmax(least, -value);
    }
    html_printf(out, "<h3>%s</h3>\n", b->column);
    html_table(out, "Metrics by group", names, 2);
    for (uint32_t g = 0; g < b->count; g++)
        put_group(&b->groups[g], shown, count, least, most, out);
    html_table_end(out);
    if (without)
        html_note(out, "%u of %u groups have no %s and stand last.", without, b->count, shown[0]);
    if (b->pooled)
        html_note(out, "%s: %llu more groups.", b->other, (unsigned long long)b->pooled);
}

void report_groups(const struct report *r, struct text *out)
{
    if (!r->by_count)
        return;
    html_section(out, "By group");
    html_note(out, "Each group measured alone, the worst by %s first. Of many small groups "
                   "some are worse by chance: the interval tells.", r->by[0].metric->name);
    if (r->regrouped)
        html_note(out, "Groups of the columns that matter most; --by names others.");
    for (size_t i = 0; i < r->by_count; i++)
        put_by(&r->by[i], out);
    html_section_end(out);
}
