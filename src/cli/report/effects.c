/* report_effects.c - the part of a report that says how the most important columns act: numbers as
 * curves with their band, other columns as bars around the mean answer. */
#include <math.h>
#include <string.h>

#include "cli/text/explain_text.h"
#include "cli/report/page.h"

enum { CLASSES_DRAWN = 4, POINTS_SHOWN = 16 };

static void put_heading(const struct effects_result *r, const struct effect *f, struct text *out)
{
    html_text_z(out, f->unit->name);
    if (r->classes > 1)
        html_printf(out, ": %s", effects_class(r, f->moved));
}

/* The answers are probabilities. */
static bool is_share(const struct effects_result *r)
{
    return r->serve.schema->task != TASK_REGRESSION;
}

static void put_answer(const struct effects_result *r, double value, struct text *out)
{
    (is_share(r) ? html_percent : html_number)(out, value);
}

static const struct effect_point *missing_point(const struct effect *f)
{
    return f->count && f->points[f->count - 1].kind == EFFECT_MISSING ? &f->points[f->count - 1]
                                                                      : NULL;
}

/* --- numbers --- */

/* The classes to draw: the class with the largest effect, then the first ones. */
static uint32_t list_classes(const struct effects_result *r, const struct effect *f,
                             uint32_t list[CLASSES_DRAWN])
{
    uint32_t count = 0;
    list[count++] = f->moved;
    for (uint32_t c = 0; c < r->classes && count < CLASSES_DRAWN; c++)
        if (c != f->moved)
            list[count++] = c;
    return count;
}

static void put_curve(const struct effects_result *r, const struct effect *f, struct text *out)
{
    const struct effect_point *missing = missing_point(f);
    const uint32_t count = f->count - (missing != NULL);
    double x[EFFECTS_POINTS], y[EFFECTS_POINTS], low[EFFECTS_POINTS], high[EFFECTS_POINTS];
    uint32_t classes[CLASSES_DRAWN], class_count = list_classes(r, f, classes);
    struct chart c = {.x0 = INFINITY, .x1 = -INFINITY, .y0 = INFINITY, .y1 = -INFINITY,
                      .y_percent = is_share(r)};
    struct text heading = {0}, note = {0};
    for (uint32_t i = 0; i < count; i++) {
        const struct effect_point *p = &f->points[i];
        x[i] = p->at;
        low[i] = p->low[f->moved];
        high[i] = p->high[f->moved];
        chart_hold(&c, x[i], low[i]);
        chart_hold(&c, x[i], high[i]);
        for (uint32_t k = 0; k < class_count; k++)
            chart_hold(&c, x[i], p->mean[classes[k]]);
    }
    put_heading(r, f, &heading);
    chart_begin(&c, out, heading.data, "value", "mean answer", false);
    chart_band(&c, 0, x, low, high, count);
    for (uint32_t k = 0; k < class_count; k++) {
        for (uint32_t i = 0; i < count; i++)
            y[i] = f->points[i].mean[classes[k]];
        chart_line(&c, k, x, y, count, k > 0);
        if (class_count > 1)
            chart_key(&c, k, effects_class(r, classes[k]));
    }
    if (missing) {
        text_printf(&note, "missing (%u rows): ", missing->rows);
        put_answer(r, missing->mean[f->moved], &note);
    }
    chart_end(&c, note.data);
    text_free(&heading);
    text_free(&note);
}

/* --- all others --- */

/* For a value the difference of its mean from the mean over unchanged rows, for a word its
 * change. */
static double difference(const struct effects_result *r, const struct effect *f,
                         const struct effect_point *p)
{
    return p->mean[f->moved] - (p->kind == EFFECT_WORD ? 0 : r->mean[f->moved]);
}

static void put_bars(const struct effects_result *r, const struct effect *f, struct text *out)
{
    static const char *const of_values[] = {"value", "", "mean answer", "rows", NULL};
    static const char *const of_words[] = {"word", "", "change", "rows", NULL};
    const bool words = f->count && f->points[0].kind == EFFECT_WORD;
    const uint32_t shown = f->count < POINTS_SHOWN ? f->count : POINTS_SHOWN;
    double least = 0, most = 0;
    struct text heading = {0};
    for (uint32_t i = 0; i < shown; i++) {
        most = fmax(most, difference(r, f, &f->points[i]));
        least = fmax(least, -difference(r, f, &f->points[i]));
    }
    put_heading(r, f, &heading);
    text_printf(out, "<figure>\n<h3>%s</h3>\n", heading.data);
    html_table(out, heading.data, words ? of_words : of_values, 2);
    for (uint32_t i = 0; i < shown; i++) {
        const struct effect_point *p = &f->points[i];
        struct text value = {0};
        explain_text_value(f, p, &value);
        html_row_begin(out);
        html_cells(out, "%s", value.data ? value.data : "");
        chart_cell(out, difference(r, f, p), (double)NAN, (double)NAN, least,
                   most + least > 0 ? most : 1);
        text_put(out, "<td class=\"n\">");
        if (words) /* a change, with its sign */
            text_put(out, p->mean[f->moved] < 0 ? "\u2212" : "+");
        put_answer(r, words ? fabs(p->mean[f->moved]) : p->mean[f->moved], out);
        text_put(out, "</td>");
        html_cells(out, "%g", (double)p->rows);
        html_row_end(out);
        text_free(&value);
    }
    html_table_end(out);
    if (shown < f->count)
        html_note(out, "%u more: `dnn explain --effects` has all.", f->count - shown);
    text_put(out, "</figure>\n");
    text_free(&heading);
}

static void put_effect(const struct effects_result *r, const struct effect *f, struct text *out)
{
    if (f->type == COLUMN_NUMERIC && f->count > 2)
        put_curve(r, f, out);
    else
        put_bars(r, f, out);
}

void report_effects(const struct report *r, struct text *out)
{
    const struct effects_result *x = &r->effects;
    struct text explains = {0};
    if (!r->explained || !x->count)
        return;
    effects_of(x, &explains);
    html_section(out, "How it acts");
    html_printf(out, "<p>Each row gets the value in the column, its other cells stay, and the "
                     "answers are averaged: %s", explains.data);
    text_printf(out, ", on %s%llu rows", x->lines < x->rows ? "a sample of " : "",
                (unsigned long long)x->lines);
    if (x->classes == 1) {
        text_put(out, ", as they are ");
        put_answer(x, x->mean[0], out);
    }
    text_put(out, ". The band holds the answers to 8 of 10 rows; bars begin at the mean answer to "
                  "the rows as they are. The change of a word: the rows that have it are answered "
                  "with it and without it. It is what the model answers, not what causes "
                  "what.</p>\n<div class=\"charts\">\n");
    for (uint32_t k = 0; k < r->columns.column_count; k++) /* the most important one first */
        for (uint32_t i = 0; i < x->count; i++)
            if (strcmp(x->effects[i].unit->name, r->columns.columns[k].unit->name) == 0)
                put_effect(x, &x->effects[i], out);
    text_put(out, "</div>\n");
    html_section_end(out);
    text_free(&explains);
}
