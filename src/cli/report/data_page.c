/* data_page.c - see data_page.h. */
#include "cli/report/data_page.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "cli/report/chart.h"
#include "cli/report/html.h"
#include "cli/report/page.h"

enum { COLUMNS_MOST = 1000, TEXT_MOST = 60 };

/* --- parts of a sentence --- */

void data_put_short(struct text *out, const char *text)
{
    size_t end = strlen(text);
    const bool cut = end > TEXT_MOST;
    for (end = cut ? TEXT_MOST : end; cut && end && ((unsigned char)text[end] & 0xc0) == 0x80;)
        end--;
    html_text(out, text, end);
    text_put(out, cut ? " \u2026" : "");
}

void data_put_number(const struct look_column *c, double value, struct text *out)
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

void data_put_target(const struct data_look *l, double target, struct text *out)
{
    (l->label || l->labels[0] ? html_percent : html_number)(out, target);
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
        if (l->columns[k].tells > 0.01 &&
            (best == SIZE_MAX || l->columns[k].tells > l->columns[best].tells))
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
    if (l->found->looked && l->found->copies) {
        text_put(out, " Of the rows <b>");
        html_percent(out, (double)l->found->copies / (double)l->found->looked);
        text_put(out, "</b> are the same as another row.");
    }
    if (l->target != SIZE_MAX) {
        const struct look_column *t = &l->columns[l->target];
        text_put(out, " The target <b>");
        html_text_z(out, t->about->name);
        text_put(out, "</b> ");
        if (l->label) {
            text_put(out, "is ");
            data_put_short(out, l->label);
            text_put(out, " in ");
            html_percent(out, l->target_mean[0]);
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

static void put_column_note(const struct infer_column *c, const char *lead, const char *note,
                            struct text *out)
{
    if (!note || !*note)
        return;
    text_put(out, "<p><b>");
    html_text_z(out, c->name);
    text_printf(out, "</b>: %s", lead);
    html_text_z(out, note);
    text_put(out, ".</p>\n");
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
        if (*notes[i]) {
            text_put(out, "<p>");
            html_text_z(out, notes[i]);
            text_put(out, ".</p>\n");
        }
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
        for (uint32_t i = 0; i < c->count && i < 3; i++) {
            text_put(out, i ? ", " : "");
            data_put_short(out, c->values[i].text);
        }
    } else {
        const char *before = "e.g. ";
        for (int i = 0; i < 3 && c->about->examples[i]; i++) {
            if (!*c->about->examples[i])
                continue;
            text_put(out, before);
            data_put_short(out, c->about->examples[i]);
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
        html_row(out);
        html_cell(out, l->found->columns[p->a].name);
        html_cell(out, l->found->columns[p->b].name);
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
