/* classes.c - the results of a model of labels: curves, scores by label, confusion, each label. */
#include <math.h>

#include "cli/report/page.h"

enum { CLASSES_DRAWN = 6, CONFUSION_MOST = 25, MISTAKES = 12, LABELS_MOST = 60 };

/* The labels to show: all of them in their order, or of more than `most` the most frequent ones.
 * list: [most]. */
static uint32_t list_labels(const struct report *r, uint32_t most, uint32_t *list)
{
    const struct tally *t = r->value.tally;
    uint32_t count = 0;
    for (uint32_t c = 0; c < t->classes; c++) {
        uint32_t at = count < most ? count++ : most;
        for (; t->classes > most && at && t->support[list[at - 1]] < t->support[c]; at--)
            if (at < most)
                list[at] = list[at - 1];
        if (at < most)
            list[at] = c;
    }
    return count;
}

static void draw_curves(const struct report *r, bool pr, struct text *out)
{
    struct chart c = {.x1 = 1, .y1 = 1, .x_percent = true, .y_percent = true};
    const struct tally *t = r->value.tally;
    bool more = r->answers.classes > CLASSES_DRAWN;
    uint32_t list[CLASSES_DRAWN], count = list_labels(r, CLASSES_DRAWN, list);
    if (r->answers.classes == 2) { /* the positive one */
        list[0] = 1;
        count = 1;
    }
    if (pr)
        chart_begin(&c, out, "Precision and recall", "recall", "precision", true);
    else
        chart_begin(&c, out, "ROC curve", "share of false alarms", "recall", true);
    if (!pr)
        chart_even(&c, 0, 0, 1, 1);
    else if (r->answers.classes == 2)
        chart_even(&c, 0, report_share(t->support[1], t->weight), 1,
                   report_share(t->support[1], t->weight));
    for (uint32_t i = 0; i < count; i++) {
        struct class_curves all;
        const struct curve *shown = pr ? &all.pr : &all.roc;
        curves_of_class(&r->answers, list[i], &all);
        chart_line(&c, i, shown->x, shown->y, shown->count, false);
        if (r->answers.classes > 2)
            chart_key(&c, i, report_label(r, list[i]));
        class_curves_free(&all);
    }
    if (r->answers.classes == 2) { /* a dot at the threshold */
        double hit = t->hit[1], answered = t->answered[1];
        double recall = report_share(hit, t->support[1]);
        chart_dot(&c, 1, pr ? recall : report_share(answered - hit, t->support[0]),
                  pr ? report_share(hit, answered) : recall, 4.5);
        chart_key(&c, 1, "at the model's threshold");
    }
    chart_end(&c, more ? "each label against the others; the six most frequent" : NULL);
}

/* The gains curve of two labels. */
static void gains_curve(const struct report *r, struct text *out)
{
    struct chart c = {.x1 = 1, .y1 = 1, .x_percent = true, .y_percent = true};
    const struct tally *t = r->value.tally;
    struct class_curves all;
    const double positive = report_share(t->support[1], t->weight);
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

static void put_scores(const struct report *r, struct text *out)
{
    const bool two = r->answers.classes == 2;
    const char *const names[2] = {two ? report_label(r, 0) : "right answers",
                                  two ? report_label(r, 1) : "wrong answers"};
    struct histogram all[2];
    struct chart c = {.x_percent = true};
    for (int k = 0; k < 2; k++)
        all[k] = two ? histogram_of_class(&r->answers, 1, k == 1)
                     : histogram_of_answers(&r->answers, k == 0);
    report_histograms(&c, out, two ? "Scores by label" : "How sure it is",
                      two ? "probability of the positive label" : "probability of the answer", all,
                      2, two ? r->answers.decision.threshold : (double)NAN);
    for (unsigned k = 0; k < 2; k++)
        if (all[k].weight > 0)
            chart_key(&c, k, names[k]);
    chart_end(&c, two ? "dashed: the threshold" : NULL);
}

static void put_confusion(const struct report *r, struct text *out)
{
    const struct tally *t = r->value.tally;
    if (!t->confusion || t->classes > CONFUSION_MOST)
        return;
    text_put(out, "<div class=\"keep\">\n<h3>Confusion</h3>\n");
    html_note(out, "Rows: true label. Columns: predicted label. Darker: larger share of that row.");
    text_put(out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Confusion\">\n"
                  "<table class=\"heat\">\n<thead><tr><th scope=\"col\">label</th>");
    for (uint32_t c = 0; c < t->classes; c++)
        html_printf(out, "<th scope=\"col\" class=\"n\">%s</th>", report_label(r, c));
    text_put(out, "</tr></thead>\n<tbody>\n");
    for (uint32_t c = 0; c < t->classes; c++) {
        html_printf(out, "<tr><th scope=\"row\">%s</th>", report_label(r, c));
        for (uint32_t a = 0; a < t->classes; a++) {
            double count = t->confusion[(size_t)c * t->classes + a];
            double part = report_share(count, t->support[c]);
            text_printf(out, "<td class=\"n\" style=\"--a:%.2f\">", isnan(part) ? 0 : part * 0.6);
            html_printf(out, "%g</td>", count);
        }
        html_row_end(out);
    }
    html_table_end(out);
    text_put(out, "</div>\n");
}

/* The mistakes among many labels, the most frequent first. */
static void put_mistakes(const struct report *r, struct text *out)
{
    static const char *const names[] = {"label", "answered as", "rows", "share of the label's rows",
                                        NULL};
    const struct tally *t = r->value.tally;
    size_t list[MISTAKES], count = 0;
    if (!t->confusion || t->classes <= CONFUSION_MOST)
        return;
    for (size_t i = 0; i < (size_t)t->classes * t->classes; i++) {
        if (!(t->confusion[i] > 0) || i / t->classes == i % t->classes)
            continue;
        size_t at = count < MISTAKES ? count++ : MISTAKES;
        for (; at && t->confusion[list[at - 1]] < t->confusion[i]; at--)
            if (at < MISTAKES)
                list[at] = list[at - 1];
        if (at < MISTAKES)
            list[at] = i;
    }
    if (!count)
        return;
    text_put(out, "<h3>The most frequent mistakes</h3>\n");
    html_table(out, "Mistakes", names, 2);
    for (size_t i = 0; i < count; i++) {
        const uint32_t label = (uint32_t)(list[i] / t->classes);
        html_row(out, "%s %s %g %f", report_label(r, label),
                 report_label(r, (uint32_t)(list[i] % t->classes)), t->confusion[list[i]],
                 report_share(t->confusion[list[i]], t->support[label]));
    }
    html_table_end(out);
}

static void put_labels(const struct report *r, struct text *out)
{
    static const char *const names[] = {"label", "precision", "recall", "f1", "rows", NULL};
    const struct tally *t = r->value.tally;
    text_put(out, "<h3>Per class</h3>\n");
    html_table(out, "Labels", names, 1);
    uint32_t list[LABELS_MOST];
    const uint32_t count = list_labels(r, LABELS_MOST, list);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t c = list[i];
        html_row(out, "%s %f %f %g %g", report_label(r, c),
                 report_share(t->hit[c], t->answered[c]), report_share(t->hit[c], t->support[c]),
                 report_share(2 * t->hit[c], t->support[c] + t->answered[c]), t->support[c]);
    }
    html_table_end(out);
    if (t->classes > LABELS_MOST)
        html_note(out, "%u more labels, of fewer rows: `dnn evaluate --json` has all.",
                  t->classes - LABELS_MOST);
}

void report_classes(const struct report *r, struct text *out)
{
    text_put(out, "<div class=\"charts\">\n");
    draw_curves(r, false, out);
    draw_curves(r, true, out);
    if (r->answers.classes == 2)
        gains_curve(r, out);
    put_scores(r, out);
    text_put(out, "</div>\n");
    put_confusion(r, out);
    put_mistakes(r, out);
    put_labels(r, out);
}
