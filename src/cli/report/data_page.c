/* data_page.c - the page of `dnn report DATA.csv`: what is in a file of data. */
#include <math.h>
#include <string.h>

#include "cli/report/page.h"

enum { COLUMNS_MOST = 1000 };

/* --- parts of a sentence --- */

void data_put_number(const struct look_column *c, double value, struct text *out)
{
    (c->about->type == COLUMN_DATETIME ? html_day : html_number)(out, value);
}

void data_put_target(const struct data_look *l, double target, struct text *out)
{
    (l->label || l->labels[0] ? html_percent : html_number)(out, target);
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
        html_printf(out, "%s%g %s", before, (double)count, column_role_names[type]);
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
        if (l->columns[k].tells > 0.01 &&
            (best == SIZE_MAX || l->columns[k].tells > l->columns[best].tells))
            best = k;
    return best;
}

static void put_lead(const struct data_look *l, struct text *out)
{
    const size_t rows = l->found->rows, columns = l->found->count;
    html_printf(out, "<p class=\"lead\">%g %s, %g %s", (double)rows, rows == 1 ? "row" : "rows",
                (double)columns, columns == 1 ? "column" : "columns");
    put_types(l, out);
    html_printf(out, ". Of all cells <b>%f</b> are missing.", missing_share(l));
    if (l->found->looked && l->found->copies)
        html_printf(out, " Of the rows <b>%f</b> are the same as another row.",
                    (double)l->found->copies / (double)l->found->looked);
    if (l->target != SIZE_MAX) {
        const struct look_column *t = &l->columns[l->target];
        html_printf(out, " The target <b>%s</b> ", t->about->name);
        if (l->label)
            html_printf(out, "is %.60s in %f of the rows.", l->label, l->target_mean[0]);
        else if (t->numbers)
            html_printf(out, "has the mean %g and the median %g.", t->mean, t->median);
        else
            html_printf(out, "has %g %s", (double)t->about->distinct,
                        t->about->distinct == 1 ? "label." : "labels.");
        const size_t best = best_column(l);
        if (best != SIZE_MAX)
            html_printf(out, " The column that alone tells most of it is <b>%s</b>.",
                        l->found->columns[best].name);
    }
    text_put(out, "</p>\n");
}

static void put_column_note(const struct infer_column *c, const char *lead, const char *note,
                            struct text *out)
{
    if (note && *note)
        html_printf(out, "<p><b>%s</b>: %s%s.</p>\n", c->name, lead, note);
}

/* The notes that `init` would write about the file. */
static void put_notes(const struct data_look *l, struct text *out)
{
    const struct infer *f = l->found;
    const bool labels = f->task != TASK_REGRESSION;
    const char *const notes[] = {f->note, f->encoding_note, f->quote_note, f->prime_note,
                                 f->missing_note, labels ? f->label_note : "",
                                 labels ? f->same_note : "", labels ? f->nothing_note : "",
                                 f->footer_note, f->time_note};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (*notes[i])
            html_printf(out, "<p>%s.</p>\n", notes[i]);
    for (size_t k = 0; k < f->count; k++) {
        const struct infer_column *c = &f->columns[k];
        put_column_note(c, "", c->reason, out);
        put_column_note(c, "", k == l->target && labels ? "" : c->far, out);
        put_column_note(c, "values differ in the way they are written alone: ", c->twins, out);
        put_column_note(c, "", c->note, out);
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
        data_put_number(c, c->values[0].low, out);
        text_put(out, " to ");
        data_put_number(c, c->values[c->count - 1].high, out);
    } else if (c->count && !c->words) {
        for (uint32_t i = 0; i < c->count && i < 3; i++)
            html_printf(out, i ? ", %.60s" : "%.60s", c->values[i].text);
    } else {
        const char *before = "e.g. ";
        for (int i = 0; i < 3 && c->about->examples[i]; i++) {
            if (!*c->about->examples[i])
                continue;
            html_printf(out, "%s%.60s", before, c->about->examples[i]);
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
        html_note(out, "Tells of the target: %s, from 0 (nothing) to 1 (all), a quick estimate. "
                       "Near 1: does it come from the target?",
                  l->labels[0] ? "the association of the column with the label"
                               : "how much the column alone explains");
    html_table(out, "Columns", names, 3);
    for (size_t k = 0; k < l->found->count && k < COLUMNS_MOST; k++) {
        const struct infer_column *about = &l->found->columns[k];
        html_row_begin(out);
        html_cells(out, "%s", about->name);
        text_printf(out, "<td>%s</td>",
                    column_role_names[k == l->target ? COLUMN_TARGET : about->type]);
        put_content(&l->columns[k], out);
        html_cells(out, "%f", report_share((double)about->missing, (double)l->found->rows));
        html_printf(out, "<td class=\"n\">%g%s</td>", (double)about->distinct,
                    about->distinct_capped ? "+" : "");
        const double tells = l->columns[k].tells;
        if (target && !isnan(tells)) {
            html_cell_near(out, tells, (double)NAN, 0.1);
            chart_cell(out, fmax(tells, 0), (double)NAN, (double)NAN, 0, 1);
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

/* --- columns that say the same --- */

static void put_pairs(const struct data_look *l, struct text *out)
{
    static const char *const names[] = {"column", "and column", "association", "", NULL};
    if (!l->pair_count)
        return;
    html_section(out, "Associations");
    html_note(out, "The pairs of columns with the strongest association, from 0.5 on; near 1 both "
                   "say the same. Numbers by their ranks (Spearman, without sign), categories by "
                   "Cramer's V.");
    html_table(out, "Associations", names, 2);
    for (uint32_t i = 0; i < l->pair_count; i++) {
        const struct look_pair *p = &l->pairs[i];
        html_row_begin(out);
        html_cells(out, "%s %s", l->found->columns[p->a].name, l->found->columns[p->b].name);
        html_cell_near(out, p->association, (double)NAN, 1);
        chart_cell(out, p->association, (double)NAN, (double)NAN, 0, 1);
        html_row_end(out);
    }
    html_table_end(out);
    html_section_end(out);
}

void report_data_page(const struct data_look *l, const char *name, const char *note,
                      const char *date, struct text *out)
{
    struct text title = {0};
    report_title(name, true, &title);
    html_begin(out, title.data);
    html_printf(out, "<header>\n<h1>%s</h1>\n", name);
    put_lead(l, out);
    if (date)
        text_printf(out, "<p class=\"dim\">Page of %s.</p>\n", date);
    if (note)
        html_printf(out, "<p>%s</p>\n", note);
    text_put(out, "</header>\n<main>\n");
    put_columns(l, out);
    put_pairs(l, out);
    struct text notes = {0};
    put_notes(l, &notes);
    if (notes.length) {
        html_section(out, "Notes");
        html_note(out, "What `dnn init` finds in this file.");
        text_add(out, notes.data, notes.length);
        html_section_end(out);
    }
    text_free(&notes);
    report_data_values(l, out);
    text_put(out, "</main>\n<footer>\n");
    html_note(out, "Made by dnn " DNN_VERSION ".");
    text_put(out, "</footer>\n");
    html_end(out);
    text_free(&title);
}
