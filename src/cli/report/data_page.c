/* data_page.c - see data_page.h. */
#include "cli/report/data_page.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "cli/report/chart.h"
#include "cli/report/html.h"

enum { COLUMNS_MOST = 1000, SPREADS_MOST = 60, TEXT_MOST = 60 };

/* --- parts of a sentence --- */

/* User text, cut between characters. */
static void put_short(struct text *out, const char *text)
{
    size_t end = strlen(text);
    const bool cut = end > TEXT_MOST;
    for (end = cut ? TEXT_MOST : end; cut && end && ((unsigned char)text[end] & 0xc0) == 0x80;)
        end--;
    html_text(out, text, end);
    text_put(out, cut ? " \u2026" : "");
}

static void put_number(const struct look_column *c, double value, struct text *out)
{
    const time_t at = (time_t)value;
    struct tm tm;
    char date[32];
    if (c->about->type == COLUMN_DATETIME && isfinite(value) && gmtime_r(&at, &tm) &&
        strftime(date, sizeof date, "%Y-%m-%d", &tm))
        text_put(out, date);
    else
        html_number(out, value);
}

/* The target of a value: a share, or a mean. */
static void put_target(const struct data_look *l, double target, struct text *out)
{
    (l->label ? html_percent : html_number)(out, target);
}

static void put_count(struct text *out, size_t count, const char *one, const char *more)
{
    html_number(out, (double)count);
    text_put(out, count == 1 ? one : more);
}

/* "; 16 categorical, 4 numeric, 1 id" */
static void put_types(const struct data_look *l, struct text *out)
{
    const char *before = ": ";
    for (int type = 0; type < COLUMN_TYPES; type++) {
        size_t count = 0;
        for (size_t k = 0; k < l->found->count; k++)
            count += l->found->columns[k].type == type;
        if (!count)
            continue;
        text_put(out, before);
        html_number(out, (double)count);
        text_printf(out, " %s", column_role_names[type]);
        before = ", ";
    }
}

static double missing_share(const struct data_look *l)
{
    double missing = 0, cells = (double)l->found->rows * (double)l->found->count;
    for (size_t k = 0; k < l->found->count; k++)
        missing += (double)l->found->columns[k].missing;
    return cells > 0 ? missing / cells : 0;
}

/* The column that alone tells most of the target; SIZE_MAX: none does. */
static size_t best_column(const struct data_look *l)
{
    size_t best = SIZE_MAX;
    for (size_t k = 0; k < l->found->count; k++)
        if (k != l->target && l->found->columns[k].alone > 0.01 &&
            (best == SIZE_MAX || l->found->columns[k].alone > l->found->columns[best].alone))
            best = k;
    return best;
}

static void put_lead(const struct data_look *l, struct text *out)
{
    text_put(out, "<p class=\"lead\">");
    put_count(out, l->found->rows, " row, ", " rows, ");
    put_count(out, l->found->count, " column", " columns");
    put_types(l, out);
    text_put(out, ". Of all cells <b>");
    html_percent(out, missing_share(l));
    text_put(out, "</b> are missing.");
    if (l->target != SIZE_MAX) {
        const struct look_column *t = &l->columns[l->target];
        text_put(out, " The target <b>");
        html_text_z(out, t->about->name);
        text_put(out, "</b> ");
        if (l->label) {
            text_put(out, "is ");
            put_short(out, l->label);
            text_put(out, " in ");
            html_percent(out, l->target_mean);
            text_put(out, " of the rows.");
        } else if (t->numbers) {
            text_put(out, "has the mean ");
            html_number(out, t->mean);
            text_put(out, " and the median ");
            html_number(out, t->median);
            text_put(out, ".");
        } else {
            text_put(out, "has ");
            put_count(out, t->about->distinct, " label.", " labels.");
        }
        const size_t best = best_column(l);
        if (best != SIZE_MAX) {
            text_put(out, " The column that alone tells most of it is <b>");
            html_text_z(out, l->found->columns[best].name);
            text_put(out, "</b>.");
        }
    }
    text_put(out, "</p>\n");
}

/* What `init` would say of the file. */
static void put_notes(const struct data_look *l, struct text *out)
{
    const struct infer *f = l->found;
    const char *const notes[] = {f->note, f->encoding_note, f->quote_note, f->missing_note,
                                 f->label_note, f->same_note, f->footer_note, f->time_note};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (*notes[i]) {
            text_put(out, "<p>");
            html_text_z(out, notes[i]);
            text_put(out, ".</p>\n");
        }
    if (f->looked && f->copies) {
        text_put(out, "<p>");
        html_number(out, (double)f->copies);
        text_put(out, " of ");
        html_number(out, (double)f->looked);
        text_put(out, " rows looked at are duplicates in all used columns.</p>\n");
    }
    for (size_t k = 0; k < f->count; k++)
        for (int i = 0; i < 2; i++) {
            const char *note = i ? f->columns[k].note : f->columns[k].reason;
            if (!*note)
                continue;
            text_put(out, "<p><b>");
            html_text_z(out, f->columns[k].name);
            text_put(out, "</b>: ");
            html_text_z(out, note);
            text_put(out, ".</p>\n");
        }
}

/* --- the table of columns --- */

static void put_content(const struct look_column *c, struct text *out)
{
    text_put(out, "<td class=\"t\">");
    if (c->numbers && isfinite(c->about->low) && c->about->type != COLUMN_DATETIME) {
        html_range(out, c->about->low, c->about->high);
        text_put(out, "; median ");
        html_number(out, c->median);
    } else if (c->numbers && c->count) {
        put_number(c, c->values[0].low, out);
        text_put(out, " to ");
        put_number(c, c->values[c->count - 1].high, out);
    } else if (c->count) {
        for (uint32_t i = 0; i < c->count && i < 3; i++) {
            text_put(out, i ? ", " : "");
            put_short(out, c->values[i].text);
        }
    } else {
        const char *before = "e.g. ";
        for (int i = 0; i < 3 && c->about->examples[i]; i++) {
            if (!*c->about->examples[i])
                continue;
            text_put(out, before);
            put_short(out, c->about->examples[i]);
            before = ", ";
        }
    }
    text_put(out, "</td>");
}

static void put_columns(const struct data_look *l, struct text *out)
{
    static const char *const all[] = {"column", "type", "range, or most frequent", "missing",
                                      "distinct", "tells of the target", "", NULL};
    const char *names[8];
    const bool target = l->target != SIZE_MAX;
    memcpy(names, all, sizeof all);
    if (!target)
        names[5] = NULL;
    html_section(out, "Columns");
    if (target)
        html_note(out, "Tells of the target: how much the column alone explains, from 0 (nothing) "
                       "to 1 (all), a quick estimate. Near 1: does it come from the target?");
    html_table(out, "Columns", names, 3);
    for (size_t k = 0; k < l->found->count && k < COLUMNS_MOST; k++) {
        const struct infer_column *about = &l->found->columns[k];
        html_row(out);
        html_cell(out, about->name);
        text_printf(out, "<td>%s</td>",
                    column_role_names[k == l->target ? COLUMN_TARGET : about->type]);
        put_content(&l->columns[k], out);
        html_cell_percent(out, l->found->rows ? (double)about->missing / (double)l->found->rows
                                              : (double)NAN);
        text_put(out, "<td class=\"n\">");
        html_number(out, (double)about->distinct);
        text_put(out, about->distinct_capped ? "+</td>" : "</td>");
        if (target && k != l->target && !isnan(about->alone)) {
            html_cell_near(out, about->alone, (double)NAN, 0.1);
            chart_cell(out, fmax(about->alone, 0), (double)NAN, (double)NAN, 0, 1);
        } else if (target) {
            text_put(out, "<td></td><td></td>");
        }
        html_row_end(out);
    }
    html_table_end(out);
    if (l->found->count > COLUMNS_MOST)
        html_note(out, "%zu more columns: `dnn inspect` lists all.",
                  l->found->count - COLUMNS_MOST);
    html_section_end(out);
}

/* --- spreads --- */

static void put_histogram(const struct look_column *c, struct text *out)
{
    struct text heading = {0};
    struct chart h = {.x0 = c->from, .x1 = c->to};
    const double width = (c->to - c->from) / LOOK_BARS;
    for (int i = 0; i < LOOK_BARS; i++)
        h.y1 = fmax(h.y1, c->bar[i]);
    html_text_z(&heading, c->about->name);
    chart_begin(&h, out, heading.data, "value", "rows", false);
    for (int i = 0; i < LOOK_BARS; i++)
        chart_bar(&h, 0, c->from + i * width, c->from + (i + 1) * width, c->bar[i]);
    chart_end(&h, "the middle 98 % of the values");
    text_free(&heading);
}

/* The target over the bands of numbers. */
static void put_line(const struct data_look *l, const struct look_column *c, struct text *out)
{
    struct text heading = {0};
    struct chart h = {.x0 = c->from, .x1 = c->to, .y0 = INFINITY, .y1 = -INFINITY,
                      .y_percent = l->label != NULL};
    double x[LOOK_VALUES], y[LOOK_VALUES];
    for (uint32_t i = 0; i < c->count; i++) {
        x[i] = fmin(fmax((c->values[i].low + c->values[i].high) / 2, c->from), c->to);
        y[i] = c->values[i].target;
        h.y0 = fmin(h.y0, y[i]);
        h.y1 = fmax(h.y1, y[i]);
    }
    if (l->label)
        h.y0 = 0;
    html_text_z(&heading, l->columns[l->target].about->name);
    text_put(&heading, " by ");
    html_text_z(&heading, c->about->name);
    chart_begin(&h, out, heading.data, "value",
                l->label ? "share with the positive label" : "mean of the target", false);
    chart_even(&h, h.x0, l->target_mean, h.x1, l->target_mean);
    chart_line(&h, 0, x, y, c->count, false);
    for (uint32_t i = 0; i < c->count; i++)
        chart_dot(&h, 0, x[i], y[i], 3.5);
    chart_end(&h, "bands of equally many rows; dashed: all rows");
    text_free(&heading);
}

static void put_values(const struct data_look *l, const struct look_column *c, bool target,
                       struct text *out)
{
    const char *const names[] = {"value", "", "rows", target ? "target" : NULL, NULL};
    double most = 0;
    for (uint32_t i = 0; i < c->count; i++)
        most = fmax(most, c->values[i].share);
    text_put(out, "<figure>\n<h3>");
    html_text_z(out, c->about->name);
    text_put(out, "</h3>\n");
    html_table(out, "Values", names, 2);
    for (uint32_t i = 0; i < c->count; i++) {
        const struct look_value *v = &c->values[i];
        html_row(out);
        text_put(out, "<td class=\"t\">");
        if (v->text) {
            put_short(out, v->text);
        } else {
            put_number(c, v->low, out);
            if (v->high > v->low) {
                text_put(out, " to ");
                put_number(c, v->high, out);
            }
        }
        text_put(out, "</td>");
        chart_cell(out, v->share, (double)NAN, (double)NAN, 0, most > 0 ? most : 1);
        html_cell_percent(out, v->share);
        if (target) {
            text_put(out, "<td class=\"n\">");
            put_target(l, v->target, out);
            text_put(out, "</td>");
        }
        html_row_end(out);
    }
    html_table_end(out);
    if (c->others > 0) {
        text_put(out, "<p class=\"dim\">Other values: ");
        html_percent(out, c->others);
        text_put(out, " of the rows.</p>\n");
    }
    text_put(out, "</figure>\n");
}

/* Of a few different numbers a table says more. */
static bool has_chart(const struct look_column *c)
{
    return c->numbers && c->about->distinct > LOOK_VALUES && c->count > 2 && c->to > c->from &&
           c->about->type != COLUMN_DATETIME;
}

/* A row of charts, or a table. */
static void put_spread(const struct data_look *l, size_t k, struct text *out)
{
    const struct look_column *c = &l->columns[k];
    const bool target = l->against && k != l->target;
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

static void put_spreads(const struct data_look *l, struct text *out)
{
    size_t shown = 0, left = 0;
    html_section(out, "Values");
    if (l->rows < l->found->rows) {
        text_put(out, "<p class=\"dim\">Of a sample of ");
        html_number(out, (double)l->rows);
        text_put(out, " rows, at equal distances in the file.</p>\n");
    }
    if (l->label) {
        text_put(out, "<p class=\"dim\">Target: the share of the rows that are ");
        put_short(out, l->label);
        text_put(out, "; of all rows ");
        html_percent(out, l->target_mean);
        text_put(out, ".</p>\n");
    } else if (l->against) {
        text_put(out, "<p class=\"dim\">Target: its mean over the rows; of all rows ");
        html_number(out, l->target_mean);
        text_put(out, ".</p>\n");
    }
    if (l->target != SIZE_MAX)
        put_spread(l, l->target, out);
    for (int charts = 1; charts >= 0; charts--) { /* then the tables, side by side */
        text_put(out, charts ? "" : "<div class=\"charts\">\n");
        for (size_t k = 0; k < l->found->count; k++) {
            if (k == l->target || !l->columns[k].count || has_chart(&l->columns[k]) != charts)
                continue;
            if (shown++ < SPREADS_MOST)
                put_spread(l, k, out);
            else
                left++;
        }
        text_put(out, charts ? "" : "</div>\n");
    }
    if (left)
        html_note(out, "%zu more columns are not shown here.", left);
    html_section_end(out);
}

void report_data_page(const struct data_look *l, const char *name, const char *note,
                      const char *date, struct text *out)
{
    struct text title = {0};
    text_printf(&title, "%s: data", name);
    html_begin(out, title.data);
    text_put(out, "<header>\n<h1>");
    html_text_z(out, name);
    text_put(out, "</h1>\n");
    put_lead(l, out);
    if (date)
        text_printf(out, "<p class=\"dim\">Page of %s.</p>\n", date);
    if (note) {
        text_put(out, "<p>");
        html_text_z(out, note);
        text_put(out, "</p>\n");
    }
    text_put(out, "</header>\n<main>\n");
    put_columns(l, out);
    put_spreads(l, out);
    struct text notes = {0};
    put_notes(l, &notes);
    if (notes.length) {
        html_section(out, "Notes");
        html_note(out, "What `dnn init` finds in this file.");
        text_add(out, notes.data, notes.length);
        html_section_end(out);
    }
    text_free(&notes);
    text_put(out, "</main>\n<footer>\n");
    html_note(out, "Made by dnn " DNN_VERSION ".");
    text_put(out, "</footer>\n");
    html_end(out);
    text_free(&title);
}
