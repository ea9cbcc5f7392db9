/* page.c - see page.h: the order of the sections, and what they share. */
#include "cli/report/page.h"

#include <math.h>
#include <string.h>

const char *report_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

void report_title(const char *path, bool data, struct text *out)
{
    text_printf(out, "%s: %s", report_file(path), data ? "data" : "report");
}

const char *report_label(const struct report *r, uint32_t class_number)
{
    return vocab_text(r->file->schema->labels, class_number, NULL);
}

double report_share(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

static struct criterion criterion_of(const struct report *r)
{
    return (struct criterion){.loss = modelfile_loss(r->file),
                              .classes = r->file->schema->task != TASK_REGRESSION,
                              .class_weight = r->file->class_weight};
}

const struct metric_type *report_counts(const struct report *r)
{
    const struct criterion c = criterion_of(r);
    return metric_of(&c, r->file->schema->task);
}

int report_task(const struct report *r)
{
    const struct criterion c = criterion_of(r);
    return metric_task(&c, (int)r->file->schema->task, r->file->conformal.rule != 0);
}

const char *report_stored_part(const struct report *r)
{
    return r->stored && json_get(json_root(r->stored), "test") ? "test" : "valid";
}

double report_stored(const struct report *r, const char *part, const char *name)
{
    const struct json *all = r->stored ? json_root(r->stored) : NULL;
    const struct json *list = all && part ? json_get(all, part) : all;
    const struct json *v =
        list && json_kind(list) == JSON_OBJECT ? json_get(list, name) : NULL;
    return v && json_kind(v) == JSON_NUMBER ? json_number(v) : (double)NAN;
}

void report_value(const struct metric_type *t, double low, double high, struct text *out)
{
    (t->share ? html_percents : html_range)(out, low, high);
}

void report_cell(const struct metric_type *t, double low, double high, struct text *out)
{
    text_put(out, "<td class=\"n\">");
    report_value(t, low, high, out);
    text_put(out, "</td>");
}

void report_histograms(struct chart *c, struct text *out, const char *heading, const char *x_title,
                       const struct histogram *all, unsigned count, double mark)
{
    const double width = (all->high - all->low) / HISTOGRAM_BINS;
    c->x0 = all->low;
    c->x1 = all->high;
    for (unsigned k = 0; k < count; k++)
        for (int i = 0; i < HISTOGRAM_BINS; i++)
            c->y1 = fmax(c->y1, all[k].share[i] * (c->y_percent ? 1 : all[k].weight));
    chart_begin(c, out, heading, x_title, c->y_percent ? "share of the rows" : "rows", false);
    for (unsigned k = 0; k < count; k++)
        for (int i = 0; i < HISTOGRAM_BINS; i++)
            chart_bar(c, k, all->low + i * width, all->low + (i + 1) * width,
                      all[k].share[i] * (c->y_percent ? 1 : all[k].weight));
    if (!isnan(mark))
        chart_even(c, mark, c->y0, mark, c->y1);
}

void report_page(const struct report_request *q, const struct report *r, struct text *out)
{
    struct text title = {0};
    report_title(q->rows.model, false, &title);
    html_begin(out, title.data);
    report_summary(q, r, out);
    text_put(out, "<main>\n");
    if (r->unlabelled) {
        report_scores(r, out);
        report_drift(r, out);
    }
    report_results(r, out);
    if (r->measured) {
        report_groups(r, out);
        report_thresholds(r, out);
        report_importance(r, out);
        report_effects(r, out);
        report_calibration(r, out);
        report_regions(r, out);
        report_errors(q, r, out);
        report_drift(r, out);
    }
    report_training(r, out);
    report_card(q, r, out);
    text_put(out, "</main>\n<footer>\n");
    html_note(out, "Made by dnn " DNN_VERSION ". The same model and rows give the same page, but "
                   "for its date.");
    text_put(out, "</footer>\n");
    html_end(out);
    text_free(&title);
}
