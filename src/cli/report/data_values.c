/* data_values.c - the values of each column of a file, and the target at each. */
#include <math.h>

#include "cli/report/page.h"

enum { SPREADS_MOST = 60 };

/* The label that most of the rows have; SIZE_MAX: it is not among the shown ones. */
static size_t main_label(const struct data_look *l, const double *target)
{
    size_t most = 0;
    double others = 1;
    for (uint32_t i = 0; i < l->targets; i++) {
        others -= target[i];
        if (target[i] > target[most])
            most = i;
    }
    return others > target[most] ? SIZE_MAX : most;
}

/* "45.3 %", "1,204", "mostly Class_2, 62 %" */
static void put_there(const struct data_look *l, const double *target, struct text *out)
{
    if (!l->labels[0] || isnan(target[0])) {
        data_put_target(l, target[0], out);
        return;
    }
    const size_t most = main_label(l, target);
    if (most == SIZE_MAX)
        text_put(out, "other labels");
    else
        html_printf(out, "%.60s, <span class=\"one\">%f</span>", l->labels[most], target[most]);
}

/* --- charts of numbers and dates --- */

/* The figures below a histogram. */
static void put_figures(const struct look_column *c, struct text *out)
{
    if (c->period) {
        if (c->central)
            text_put(out, "the middle 98 % of the dates");
        return;
    }
    html_printf(out, "mean %g, standard deviation %g; half of the values lie between %g and %g",
                c->mean, c->deviation, c->quartile[0], c->quartile[1]);
    if (c->zeros > 0)
        html_printf(out, "; %f are 0", c->zeros);
    text_put(out, "; drawn: the middle 98 %");
}

static void put_histogram(const struct look_column *c, struct text *out)
{
    struct text heading = {0}, y_title = {0}, note = {0};
    struct chart h = {.x0 = c->edge[0], .x1 = c->edge[c->bars], .x_date = c->period != NULL};
    for (uint32_t i = 0; i < c->bars; i++)
        h.y1 = fmax(h.y1, c->bar[i]);
    html_text_z(&heading, c->about->name);
    text_put(&y_title, "rows");
    if (c->period)
        text_printf(&y_title, " a %s", c->period);
    put_figures(c, &note);
    chart_begin(&h, out, heading.data, c->period ? "date" : "value", y_title.data, false);
    for (uint32_t i = 0; i < c->bars; i++)
        chart_bar(&h, 0, c->edge[i], c->edge[i + 1], c->bar[i]);
    chart_end(&h, note.data);
    text_free(&heading);
    text_free(&y_title);
    text_free(&note);
}

static void put_missing(const struct data_look *l, const struct look_column *c, struct text *out)
{
    if (!(c->missing.share > 0))
        return;
    html_printf(out, "; missing in %f of the rows, and there: ", c->missing.share);
    put_there(l, c->missing.target, out);
}

/* The target over the bands: a line, or one of each label. */
static void put_line(const struct data_look *l, const struct look_column *c, struct text *out)
{
    struct text heading = {0}, note = {0};
    struct chart h = {.x0 = c->edge[0], .x1 = c->edge[c->bars], .y0 = INFINITY, .y1 = -INFINITY,
                      .x_date = c->period != NULL, .y_percent = l->label || l->labels[0]};
    double x[LOOK_VALUES], y[LOOK_LABELS][LOOK_VALUES];
    for (uint32_t i = 0; i < c->count; i++) {
        x[i] = fmin(fmax((c->values[i].low + c->values[i].high) / 2, h.x0), h.x1);
        for (uint32_t t = 0; t < l->targets; t++) {
            y[t][i] = c->values[i].target[t];
            chart_hold(&h, x[i], y[t][i]);
        }
    }
    if (h.y_percent)
        h.y0 = 0;
    html_printf(&heading, "%s by %s", l->columns[l->target].about->name, c->about->name);
    chart_begin(&h, out, heading.data, c->period ? "date" : "value",
                l->label       ? "share with the positive label"
                : l->labels[0] ? "share of the label"
                               : "mean of the target", false);
    if (!l->labels[0])
        chart_even(&h, h.x0, l->target_mean[0], h.x1, l->target_mean[0]);
    for (uint32_t t = 0; t < l->targets; t++) {
        chart_line(&h, t, x, y[t], c->count, false);
        for (uint32_t i = 0; i < c->count; i++)
            chart_dot(&h, t, x[i], y[t][i], 3.5);
        if (l->labels[0])
            chart_key(&h, t, l->labels[t]);
    }
    text_put(&note, l->labels[0] ? "bands of equally many rows"
                                 : "bands of equally many rows; dashed: all rows");
    put_missing(l, c, &note);
    chart_end(&h, note.data);
    text_free(&heading);
    text_free(&note);
}

/* --- tables of values --- */

static void put_value(const struct data_look *l, const struct look_column *c,
                      const struct look_value *v, double most, bool target, struct text *out)
{
    const bool parts = target && l->labels[0];
    text_put(out, v == &c->missing ? "<tr><td class=\"t dim\">" : "<tr><td class=\"t\">");
    if (v == &c->missing) {
        text_put(out, "missing");
    } else if (v->text) {
        html_printf(out, "%.60s", v->text);
    } else {
        data_put_number(c, v->low, out);
        if (v->high > v->low) {
            text_put(out, " to ");
            data_put_number(c, v->high, out);
        }
    }
    text_put(out, "</td>");
    if (!parts)
        chart_cell(out, v->share, (double)NAN, (double)NAN, 0, most > 0 ? most : 1);
    html_cells(out, "%f", v->share);
    if (parts)
        chart_cell_parts(out, v->target, isnan(v->target[0]) ? 0 : l->targets);
    if (target) {
        text_put(out, parts ? "<td class=\"t\">" : "<td class=\"n\">");
        put_there(l, v->target, out);
        text_put(out, "</td>");
    }
    html_row_end(out);
}

static void put_values(const struct data_look *l, const struct look_column *c, bool target,
                       struct text *out)
{
    const bool parts = target && l->labels[0];
    const char *const plain[] = {c->words ? "word" : "value", "", "rows",
                                 target ? "target" : NULL, NULL},
               *const cut[] = {plain[0], "rows", "labels there", "most frequent", NULL};
    double most = 0;
    for (uint32_t i = 0; i < c->count; i++)
        most = fmax(most, c->values[i].share);
    html_printf(out, "<figure>\n<h3>%s</h3>\n", c->about->name);
    if (c->words)
        html_note(out, target ? "The words whose rows differ most from all rows in the target."
                              : "The most frequent words.");
    html_table(out, "Values", parts ? cut : plain, parts ? 4 : 2);
    for (uint32_t i = 0; i < c->count; i++)
        put_value(l, c, &c->values[i], most, target, out);
    if (c->missing.share > 0)
        put_value(l, c, &c->missing, most, target, out);
    html_table_end(out);
    if (c->others > 0)
        html_printf(out, "<p class=\"dim\">Other values: %f of the rows.</p>\n", c->others);
    text_put(out, "</figure>\n");
}

/* --- the section --- */

/* False: a table shows a few different numbers better. */
static bool has_chart(const struct look_column *c)
{
    return c->numbers && c->about->distinct > LOOK_VALUES && c->count > 2 && c->bars > 1 &&
           c->edge[c->bars] > c->edge[0];
}

/* A row of charts, or a table. */
static void put_spread(const struct data_look *l, size_t k, struct text *out)
{
    const struct look_column *c = &l->columns[k];
    const bool target = l->targets && k != l->target;
    if (!has_chart(c)) {
        put_values(l, c, target, out);
        return;
    }
    text_put(out, "<div class=\"charts\">\n");
    put_histogram(c, out);
    if (target)
        put_line(l, c, out);
    text_put(out, "</div>\n");
}

/* The meaning of `target`. */
static void put_meaning(const struct data_look *l, struct text *out)
{
    if (!l->targets)
        return;
    text_put(out, "<p class=\"dim\">Target: ");
    if (l->labels[0]) {
        text_put(out, "the shares of the labels. ");
        for (uint32_t i = 0; i < l->targets; i++)
            html_printf(out, "<span class=\"key s%u\"><i></i>%.60s</span>", i, l->labels[i]);
        if (l->columns[l->target].about->distinct > l->targets)
            text_printf(out, "<span class=\"key s%d\"><i></i>other labels</span>",
                        CHART_SERIES - 1);
    } else if (l->label) {
        html_printf(out, "the share of the rows that are %.60s; of all rows %f.", l->label,
                    l->target_mean[0]);
    } else {
        html_printf(out, "its mean over the rows; of all rows %g.", l->target_mean[0]);
    }
    text_put(out, "</p>\n");
}

void report_data_values(const struct data_look *l, struct text *out)
{
    size_t shown = 0;
    html_section(out, "Values");
    if (l->rows < l->found->rows)
        html_printf(out, "<p class=\"dim\">Of a sample of %g rows, at equal distances in the "
                         "file.</p>\n", (double)l->rows);
    put_meaning(l, out);
    if (l->target != SIZE_MAX)
        put_spread(l, l->target, out);
    for (int charts = 1; charts >= 0; charts--) { /* then the tables, side by side */
        text_put(out, charts ? "" : "<div class=\"charts\">\n");
        for (size_t k = 0; k < l->found->count; k++) {
            if (k == l->target || !l->columns[k].count || has_chart(&l->columns[k]) != charts)
                continue;
            if (shown++ < SPREADS_MOST)
                put_spread(l, k, out);
        }
        text_put(out, charts ? "" : "</div>\n");
    }
    if (shown > SPREADS_MOST)
        html_note(out, "%zu more columns are not shown here.", shown - SPREADS_MOST);
    html_section_end(out);
}
