/* results.c - the section of a report with the metrics, and what the kind of the task adds. */
#include <math.h>

#include "cli/report/page.h"

/* A column of the table of metrics. */
struct figures {
    const char *heading, *part; /* part NULL: the rows of the report */
};

static double value_of(const struct report *r, const struct figures *f, const struct metric_type *t)
{
    return f->part ? report_stored(r, f->part, t->name) : metrics_get(&r->value.metrics, t->name);
}

/* The metric of the task after t; t NULL: the first; the criterion is the last. */
static const struct metric_type *next_metric(const struct report *r, const struct metric_type *t)
{
    if (t == &metric_loss)
        return NULL;
    for (t = t ? t + 1 : metric_types; t->name; t++)
        if (metric_belongs(t, report_task(r)))
            return t;
    return metric_find(metric_loss.name, report_task(r));
}

static bool has_values(const struct report *r, const struct figures *f)
{
    for (const struct metric_type *t = next_metric(r, NULL); t; t = next_metric(r, t))
        if (!isnan(value_of(r, f, t)))
            return true;
    return false;
}

static void put_metric(const struct report *r, const struct metric_type *t,
                       const struct figures *const *columns, struct text *out)
{
    text_printf(out, "<tr><td class=\"t\"><div><b>%s</b><br /><span class=\"dim\">%s</span></div>"
                     "</td>", t->name, t->help);
    for (; *columns; columns++) {
        report_cell(t, value_of(r, *columns, t), (double)NAN, out);
        if ((*columns)->part)
            continue;
        const struct interval i = metrics_interval(&r->value.metrics, t->name);
        report_cell(t, i.low, i.high, out);
    }
    html_row_end(out);
}

static void put_metrics(const struct report *r, struct text *out)
{
    static const struct figures all[] = {{"*measured", NULL},
                                         {"test rows of the training", "test"},
                                         {"validation rows", "valid"},
                                         {"a constant answer", "baseline"}};
    const struct figures *columns[5] = {NULL};
    const char *names[8] = {"metric"};
    int count = 0, named = 1;
    for (int i = r->measured ? 0 : 1; i < 4; i++) {
        if ((i == 1 && r->held) || !has_values(r, &all[i]))
            continue; /* the measured rows are the test part's */
        columns[count++] = &all[i];
        names[named++] = all[i].heading;
        if (!all[i].part)
            names[named++] = "95 % interval";
    }
    if (r->measured)
        html_note(out, "Measured: on the rows of this report; this column counts. The interval "
                       "says where the metric would lie on other rows of this kind. Validation "
                       "rows chose the model.");
    html_table(out, "Metrics", names, 1);
    for (const struct metric_type *t = next_metric(r, NULL); t; t = next_metric(r, t))
        put_metric(r, t, columns, out);
    html_table_end(out);
}

void report_results(const struct report *r, struct text *out)
{
    html_section(out, "Results");
    put_metrics(r, out);
    if (r->measured && (r->value.unlabelled || r->value.bad))
        html_note(out, "Left out: %llu rows without a target, %llu that cannot be read.",
                  (unsigned long long)r->value.unlabelled, (unsigned long long)r->value.bad);
    if (r->measured && r->answers.classes)
        report_classes(r, out);
    else if (r->measured)
        report_residuals(r, out);
    html_section_end(out);
}
