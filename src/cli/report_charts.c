/* report_charts.c - the part of a report that labelled rows give: curves, calibration, confusion,
 * thresholds, residuals, importance. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/curves.h"
#include "cli/chart.h"
#include "cli/html.h"
#include "cli/report_page.h"

enum { CLASSES_DRAWN = 6, CONFUSION_MOST = 25, LABELS_MOST = 60, IMPORTANCE_MOST = 40 };

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

static const char *label_of(const struct report *r, uint32_t c)
{
    return vocab_text(r->file->schema->labels, c, NULL);
}

/* --- classes --- */

/* The classes that are drawn: of two the positive one, else the first. */
static uint32_t first_drawn(const struct report *r)
{
    return r->answers.classes == 2;
}

static uint32_t end_drawn(const struct report *r)
{
    return r->answers.classes < CLASSES_DRAWN ? r->answers.classes : CLASSES_DRAWN;
}

static void draw_curves(const struct report *r, bool pr, struct text *out)
{
    struct chart c = {.x1 = 1, .y1 = 1};
    const struct tally *t = r->value.tally;
    bool more = r->answers.classes > CLASSES_DRAWN;
    if (pr)
        chart_begin(&c, out, "Precision and recall", "recall", "precision", true);
    else
        chart_begin(&c, out, "ROC curve", "share of false alarms", "recall", true);
    if (!pr)
        chart_even(&c, 0, 0, 1, 1);
    else if (r->answers.classes == 2)
        chart_even(&c, 0, share(t->support[1], t->weight), 1, share(t->support[1], t->weight));
    for (uint32_t i = first_drawn(r); i < end_drawn(r); i++) {
        struct class_curves all;
        const struct curve *shown = pr ? &all.pr : &all.roc;
        curves_of_class(&r->answers, i, &all);
        chart_line(&c, i - first_drawn(r), shown->x, shown->y, shown->count, false);
        if (r->answers.classes > 2)
            chart_key(&c, i, label_of(r, i));
        class_curves_free(&all);
    }
    if (r->answers.classes == 2) { /* where it is cut */
        double hit = t->hit[1], answered = t->answered[1], recall = share(hit, t->support[1]);
        chart_dot(&c, 1, pr ? recall : share(answered - hit, t->support[0]),
                  pr ? share(hit, answered) : recall, 4.5);
        chart_key(&c, 1, "at the model's threshold");
    }
    chart_end(&c, more ? "each label against the others; the first six" : NULL);
}

/* Of two classes. */
static void gains_curve(const struct report *r, struct text *out)
{
    struct chart c = {.x1 = 1, .y1 = 1};
    const struct tally *t = r->value.tally;
    struct class_curves all;
    const double positive = share(t->support[1], t->weight);
    double best_x[] = {0, positive, 1}, best_y[] = {0, 1, 1};
    curves_of_class(&r->answers, 1, &all);
    chart_begin(&c, out, "Gains", "share of the rows, the likeliest first",
                "share of the positive rows found", true);
    chart_even(&c, 0, 0, 1, 1);
    chart_line(&c, 0, all.gains.x, all.gains.y, all.gains.count, false);
    if (positive > 0 && positive < 1)
        chart_line(&c, 1, best_x, best_y, 3, true);
    chart_key(&c, 0, "the model");
    chart_key(&c, 1, "the best that is possible");
    chart_end(&c, "dashed and straight: rows chosen by chance");
    class_curves_free(&all);
}

static void two_histograms(const struct histogram *a, const struct histogram *b,
                           const char *heading, const char *x_title, const char *const names[2],
                           double threshold, struct text *out)
{
    const struct histogram *all[2] = {a, b};
    struct chart c = {.x0 = a->low, .x1 = a->high};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < HISTOGRAM_BINS; i++)
            c.y1 = fmax(c.y1, all[k]->share[i]);
    chart_begin(&c, out, heading, x_title, "share of the rows", false);
    for (unsigned k = 0; k < 2; k++) {
        double width = (a->high - a->low) / HISTOGRAM_BINS;
        for (int i = 0; i < HISTOGRAM_BINS; i++)
            chart_bar(&c, k, a->low + i * width, a->low + (i + 1) * width, all[k]->share[i]);
        if (all[k]->weight > 0)
            chart_key(&c, k, names[k]);
    }
    if (!isnan(threshold))
        chart_even(&c, threshold, c.y0, threshold, c.y1);
    chart_end(&c, isnan(threshold) ? NULL : "dashed: the threshold");
}

static void put_scores(const struct report *r, struct text *out)
{
    if (r->answers.classes == 2) {
        const char *const names[2] = {label_of(r, 0), label_of(r, 1)};
        struct histogram no = histogram_of_class(&r->answers, 1, false),
                         yes = histogram_of_class(&r->answers, 1, true);
        two_histograms(&no, &yes, "Scores by label", "probability of the positive label", names,
                       r->answers.decision.threshold, out);
    } else {
        static const char *const names[2] = {"right answers", "wrong answers"};
        struct histogram right = histogram_of_answers(&r->answers, true),
                         wrong = histogram_of_answers(&r->answers, false);
        two_histograms(&right, &wrong, "How sure it is", "probability of the answer", names,
                       (double)NAN, out);
    }
}

static void put_calibration(const struct report *r, struct text *out)
{
    struct chart c = {.x1 = 1, .y1 = 1};
    double x[TALLY_BINS], y[TALLY_BINS], most = 1;
    uint32_t n = 0;
    chart_begin(&c, out, "Calibration", "predicted probability", "share that was so", true);
    chart_even(&c, 0, 0, 1, 1);
    for (int i = 0; i < TALLY_BINS; i++)
        most = fmax(most, r->value.tally->bins[i].rows);
    for (int i = 0; i < TALLY_BINS; i++) {
        const struct tally_bin *b = &r->value.tally->bins[i];
        if (!(b->weight > 0))
            continue;
        x[n] = b->predicted / b->weight;
        y[n] = b->observed / b->weight;
        chart_dot(&c, 0, x[n], y[n], 2.6 + 5 * sqrt(b->rows / most));
        n++;
    }
    chart_line(&c, 0, x, y, n, false);
    chart_end(&c, "On the dashed line a probability of 0.7 is right in 7 of 10 rows. Larger dots: "
                  "more rows.");
}

/* --- tables of classes --- */

static void put_thresholds(const struct report *r, struct text *out)
{
    static const char *const names[] = {"threshold", "precision", "recall", "f1",
                                        "share flagged", "cost", NULL};
    const char *shown[7];
    const struct evaluate_result *v = &r->value;
    bool costs = v->fp > 0 && v->fn > 0;
    memcpy(shown, names, sizeof names);
    if (!costs)
        shown[5] = NULL;
    if (!v->table.count)
        return;
    text_put(out, "<h3>Where to cut</h3>\n");
    html_note(out, "A row is answered positive from the threshold on. The model's own is bold.");
    html_table(out, "Thresholds", shown, 0);
    for (uint32_t i = 0; i < v->table.count; i++) {
        const struct threshold_row t = threshold_table_row(&v->table, i);
        bool now = fabs(t.threshold - v->serve.decision.threshold) <= 0;
        text_put(out, now ? "<tr class=\"now\">" : "<tr>");
        html_cell_number(out, t.threshold);
        html_cell_number(out, t.precision);
        html_cell_number(out, t.recall);
        html_cell_number(out, t.f1);
        html_cell_number(out, t.flagged);
        if (costs)
            html_cell_number(out, evaluate_cost(v, &t));
        html_row_end(out);
    }
    html_table_end(out);
}

static void put_lift(const struct report *r, struct text *out)
{
    static const char *const names[] = {"top", "precision", "found", "lift", NULL};
    text_put(out, "<h3>The likeliest rows</h3>\n");
    html_note(out, "Of the rows with the highest probabilities: the share that is positive, the "
                   "share of all positive rows that is among them, and how many times as dense "
                   "with positive rows as all rows they are.");
    html_table(out, "Lift", names, 0);
    for (int i = 0; i < LIFT_CUTS; i++) {
        const struct lift *l = &r->value.lift[i];
        html_row(out);
        text_printf(out, "<td class=\"n\">%.0f %%</td>", 100 * l->top);
        html_cell_number(out, l->precision);
        html_cell_number(out, l->found);
        html_cell_number(out, l->lift);
        html_row_end(out);
    }
    html_table_end(out);
}

static void put_confusion(const struct report *r, struct text *out)
{
    const struct tally *t = r->value.tally;
    if (!t->confusion || t->classes > CONFUSION_MOST)
        return;
    text_put(out, "<h3>Confusion</h3>\n");
    html_note(out, "A row a label, a column an answer; the stronger the colour, the larger "
                   "the share of the label's rows.");
    text_put(out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Confusion\">\n"
                  "<table class=\"heat\">\n<thead><tr><th scope=\"col\">label</th>");
    for (uint32_t c = 0; c < t->classes; c++) {
        text_put(out, "<th scope=\"col\" class=\"n\">");
        html_text_z(out, label_of(r, c));
        text_put(out, "</th>");
    }
    text_put(out, "</tr></thead>\n<tbody>\n");
    for (uint32_t c = 0; c < t->classes; c++) {
        text_put(out, "<tr><th scope=\"row\">");
        html_text_z(out, label_of(r, c));
        text_put(out, "</th>");
        for (uint32_t a = 0; a < t->classes; a++) {
            double count = t->confusion[(size_t)c * t->classes + a];
            double part = share(count, t->support[c]);
            text_printf(out, "<td class=\"n\" style=\"--a:%.2f\">", isnan(part) ? 0 : part * 0.6);
            html_number(out, count);
            text_put(out, "</td>");
        }
        html_row_end(out);
    }
    html_table_end(out);
}

static void put_labels(const struct report *r, struct text *out)
{
    static const char *const names[] = {"label", "precision", "recall", "f1", "rows", NULL};
    const struct tally *t = r->value.tally;
    text_put(out, "<h3>Label by label</h3>\n");
    html_table(out, "Labels", names, 1);
    for (uint32_t c = 0; c < t->classes && c < LABELS_MOST; c++) {
        html_row(out);
        html_cell(out, label_of(r, c));
        html_cell_number(out, share(t->hit[c], t->answered[c]));
        html_cell_number(out, share(t->hit[c], t->support[c]));
        html_cell_number(out, share(2 * t->hit[c], t->support[c] + t->answered[c]));
        html_cell_number(out, t->support[c]);
        html_row_end(out);
    }
    html_table_end(out);
    if (t->classes > LABELS_MOST)
        html_note(out, "%u more labels: `dnn evaluate --json` has all.", t->classes - LABELS_MOST);
}

/* --- regression --- */

static void put_dots(const struct residuals *s, struct text *out)
{
    struct chart c = {.x0 = INFINITY, .x1 = -INFINITY};
    for (uint32_t i = 0; i < s->dots.count; i++) {
        c.x0 = fmin(c.x0, fmin(s->dots.x[i], s->dots.y[i]));
        c.x1 = fmax(c.x1, fmax(s->dots.x[i], s->dots.y[i]));
    }
    c.y0 = c.x0;
    c.y1 = c.x1;
    chart_begin(&c, out, "Answer and truth", "truth", "answer", false);
    chart_even(&c, fmax(c.x0, c.y0), fmax(c.x0, c.y0), fmin(c.x1, c.y1), fmin(c.x1, c.y1));
    for (uint32_t i = 0; i < s->dots.count; i++)
        chart_dot(&c, 0, s->dots.x[i], s->dots.y[i], 2);
    chart_end(&c, s->dots.count >= RESIDUAL_DOTS / 2 ? "some hundred rows, at equal distances in "
                                                       "the file; dashed: answer = truth"
                                                     : "dashed: answer = truth");
}

static void put_errors(const struct residuals *s, struct text *out)
{
    const struct histogram *h = &s->errors;
    struct chart c = {.x0 = h->low, .x1 = h->high};
    double width = (h->high - h->low) / HISTOGRAM_BINS;
    for (int i = 0; i < HISTOGRAM_BINS; i++)
        c.y1 = fmax(c.y1, h->share[i]);
    chart_begin(&c, out, "Errors", "answer minus truth", "share of the rows", false);
    for (int i = 0; i < HISTOGRAM_BINS; i++)
        chart_bar(&c, 0, h->low + i * width, h->low + (i + 1) * width, h->share[i]);
    if (h->low < 0 && h->high > 0)
        chart_even(&c, 0, c.y0, 0, c.y1);
    chart_end(&c, "the middle 99 % of them");
}

static void put_bands(const struct residuals *s, struct text *out)
{
    const struct curve *low = &s->band[0], *high = &s->band[2];
    struct chart c = {.y0 = 0, .y1 = 0};
    if (low->count < 2)
        return;
    c.x0 = low->x[0];
    c.x1 = low->x[low->count - 1];
    for (uint32_t i = 0; i < low->count; i++) {
        c.y0 = fmin(c.y0, low->y[i]);
        c.y1 = fmax(c.y1, high->y[i]);
    }
    chart_begin(&c, out, "Errors by answer", "answer", "answer minus truth", false);
    chart_even(&c, c.x0, 0, c.x1, 0);
    for (int q = 0; q < 3; q++)
        chart_line(&c, q != 1, s->band[q].x, s->band[q].y, s->band[q].count, q != 1);
    chart_key(&c, 0, "median");
    chart_key(&c, 1, "8 of 10 rows lie between");
    chart_end(&c, NULL);
}

/* Of a model of a quantile: the share of the rows at or below the answer, over the answer. */
static void put_covered(const struct residuals *s, double quantile, struct text *out)
{
    const struct curve *v = &s->covered;
    struct chart c = {.y1 = 1};
    if (v->count < 2)
        return;
    c.x0 = v->x[0];
    c.x1 = v->x[v->count - 1];
    chart_begin(&c, out, "Coverage by answer", "answer", "rows at or below it", true);
    chart_even(&c, c.x0, quantile, c.x1, quantile);
    chart_line(&c, 0, v->x, v->y, v->count, false);
    chart_end(&c, "tenths of the rows; dashed: the quantile");
}

/* Of a model of several quantiles: the share of the rows at or below each. */
static void put_quantiles(const struct report *r, struct text *out)
{
    static const char *const names[] = {"quantile", "rows at or below it", NULL};
    const struct schema *s = r->file->schema;
    const struct tally *t = r->value.tally;
    html_table(out, "Quantiles", names, 0);
    for (uint32_t k = 0; k < s->quantile_count; k++) {
        html_row(out);
        html_cell_number(out, s->quantiles[k]);
        html_cell_number(out, t->below[k] / t->weight);
        html_row_end(out);
    }
    html_table_end(out);
    html_note(out, "%.4g of the rows lie between the lowest and the highest; %.4g when right. The "
                   "charts show the quantile %.4g.", t->covered / t->weight,
              s->quantiles[s->quantile_count - 1] - s->quantiles[0],
              s->quantiles[loss_middle(s->quantiles, s->quantile_count)]);
}

static void put_residuals(const struct report *r, struct text *out)
{
    static const char *const names[] = {"share of the rows", "|error| at most", NULL};
    const bool several = r->file->schema->quantile_count > 0;
    const double quantile = several ? 0 : modelfile_quantile(r->file);
    struct residuals s;
    residuals_of(&r->answers, &s);
    if (several)
        put_quantiles(r, out);
    if (quantile > 0)
        html_note(out, "The model answers the %.4g quantile: of a hundred rows about %.0f should "
                       "lie at or below their answer, so errors are not around 0.",
                  quantile, 100 * quantile);
    text_put(out, "<div class=\"charts\">\n");
    put_dots(&s, out);
    put_errors(&s, out);
    put_bands(&s, out);
    if (quantile > 0)
        put_covered(&s, quantile, out);
    text_put(out, "</div>\n");
    if (quantile > 0) {
        residuals_free(&s);
        return;
    }
    html_table(out, "Errors", names, 0);
    for (int i = 0; i < 5; i++) {
        html_row(out);
        text_printf(out, "<td class=\"n\">%.0f %%</td>", 100 * residual_quantiles[i]);
        html_cell_number(out, s.quantile[i]);
        html_row_end(out);
    }
    html_table_end(out);
    html_note(out, "Mean error (bias): %.4g.", s.bias);
    residuals_free(&s);
}

void report_answers(const struct report *r, struct text *out)
{
    html_section(out, r->answers.classes ? "Its answers" : "Its errors");
    if (!r->answers.classes) {
        put_residuals(r, out);
        html_section_end(out);
        return;
    }
    text_put(out, "<div class=\"charts\">\n");
    draw_curves(r, false, out);
    draw_curves(r, true, out);
    if (r->answers.classes == 2)
        gains_curve(r, out);
    put_scores(r, out);
    put_calibration(r, out);
    text_put(out, "</div>\n");
    put_thresholds(r, out);
    if (r->answers.classes == 2)
        put_lift(r, out);
    put_confusion(r, out);
    put_labels(r, out);
    html_section_end(out);
}

/* --- importance --- */

static void put_alikes(const struct alikes *a, struct text *out)
{
    for (uint32_t i = 0; i < a->count; i++) {
        text_put(out, "<p>These say much the same and share their importance: ");
        for (uint32_t k = 0; k < a->items[i].count; k++) {
            text_put(out, k ? ", <b>" : "<b>");
            html_text_z(out, a->items[i].units[k]->name);
            text_put(out, "</b>");
        }
        text_printf(out, " (association %.2f%s).</p>\n", a->items[i].least,
                    a->items[i].count > 2 ? " or more" : "");
    }
}

void report_importance(const struct report *r, struct text *out)
{
    static const char *const names[] = {"column", "", "importance", "95 % interval", NULL};
    const struct explain_result *x = &r->columns;
    double least = 0, most = 0;
    html_section(out, "Which columns matter");
    if (!r->explained) {
        html_note(out, "Not measured: the rows can be read only once.");
        html_section_end(out);
        return;
    }
    html_note(out, "How much worse %s gets when the column's cells are dealt to other rows (%d "
                   "times, on %s%llu rows). About 0: the answers do not hang on it, or another "
                   "column says the same.", x->metric->name, REPORT_REPEATS,
              x->rows < r->value.rows ? "the first " : "", (unsigned long long)x->rows);
    for (uint32_t i = 0; i < x->column_count; i++) {
        most = fmax(most, x->columns[i].importance);
        least = fmax(least, -x->columns[i].importance);
    }
    html_table(out, "Importance", names, 2);
    for (uint32_t i = 0; i < x->column_count && i < IMPORTANCE_MOST; i++) {
        const struct importance *p = &x->columns[i];
        html_row(out);
        html_cell(out, p->unit->name);
        chart_cell(out, p->importance, p->interval.low, p->interval.high, least,
                   most + least > 0 ? most : 1);
        html_cell_number(out, p->importance);
        html_cell_range(out, p->interval.low, p->interval.high);
        html_row_end(out);
    }
    html_table_end(out);
    if (x->column_count > IMPORTANCE_MOST)
        html_note(out, "%u more columns: `dnn explain` lists all.",
                  x->column_count - IMPORTANCE_MOST);
    put_alikes(&x->alikes, out);
    html_section_end(out);
}
