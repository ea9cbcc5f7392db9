/* evaluate_text.c - see evaluate_text.h. */
#include "cli/text/evaluate_text.h"

#include <math.h>
#include <string.h>

#define CONFUSION_MOST 12 /* labels: more do not stand side by side */
#define LABELS_MOST 50
#define DRIFT_LINES 10    /* columns that moved */
#define BY_METRICS 5    /* beside each other */
#define NAME_MOST 20u     /* characters of a label */

static void put_wide(double value, int width, struct text *out)
{
    text_printf(out, " %*s", width, isnan(value) ? "-" : text_figure(value, 4));
}

static void put_cells(const double *values, int count, struct text *out)
{
    for (int i = 0; i < count; i++)
        put_wide(values[i], 10, out);
}

/* A sum of weights: whole ones without a point. */
static void put_sum(double value, struct text *out)
{
    text_printf(out, round(value) == value || value >= 1e6 ? " %10.0f" : " %10.4g", value);
}

static void put_name(const struct vocab *labels, uint32_t c, int width, struct text *out)
{
    size_t length;
    const char *label = vocab_text(labels, c, &length);
    const char *shown = text_quote(label, length < NAME_MOST ? length : NAME_MOST);
    text_printf(out, width < 0 ? "%-*s" : "%*s", width < 0 ? -width : width, shown);
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

static void put_labels(const struct tally *t, const struct vocab *labels, struct text *out)
{
    text_printf(out, "\n%-20s %10s %10s %10s %10s\n", "label", "precision", "recall", "f1", "rows");
    for (uint32_t c = 0; c < t->classes && c < LABELS_MOST; c++) {
        put_name(labels, c, -20, out);
        put_cells((double[]){share(t->hit[c], t->answered[c]), share(t->hit[c], t->support[c]),
                             share(2 * t->hit[c], t->support[c] + t->answered[c])}, 3, out);
        put_sum(t->support[c], out);
        text_char(out, '\n');
    }
    if (t->classes > LABELS_MOST)
        text_printf(out, "... %u more: --json has all\n", t->classes - LABELS_MOST);
}

/* A row a label, a column an answer. */
static void put_confusion(const struct tally *t, const struct vocab *labels, struct text *out)
{
    if (!t->confusion || t->classes > CONFUSION_MOST)
        return;
    text_printf(out, "\n%-20s", "label \\ answer");
    for (uint32_t c = 0; c < t->classes; c++) {
        text_char(out, ' ');
        put_name(labels, c, 10, out);
    }
    text_char(out, '\n');
    for (uint32_t c = 0; c < t->classes; c++) {
        put_name(labels, c, -20, out);
        for (uint32_t a = 0; a < t->classes; a++)
            put_sum(t->confusion[(size_t)c * t->classes + a], out);
        text_char(out, '\n');
    }
}

static void put_thresholds(const struct evaluate_result *r, struct text *out)
{
    struct threshold_row row;
    bool costs = r->fp > 0 && r->fn > 0;
    text_printf(out, "\n%-12s %10s %10s %10s %10s%s\n", "threshold", "precision", "recall", "f1",
                "flagged", costs ? "       cost" : "");
    for (uint32_t i = 0; i < r->table.count; i++) {
        row = threshold_table_row(&r->table, i);
        text_printf(out, "%-10.5g %c", row.threshold,
                    row.threshold == r->serve.decision.threshold ? '*' : ' ');
        put_cells((double[]){row.precision, row.recall, row.f1, row.flagged}, 4, out);
        if (costs)
            put_sum(evaluate_cost(r, &row), out);
        text_char(out, '\n');
    }
}

static void put_lift(const struct lift *l, struct text *out)
{
    text_printf(out, "\n%-12s %10s %10s %10s\n", "top", "precision", "found", "lift");
    for (int i = 0; i < LIFT_CUTS; i++) {
        text_printf(out, "%-2.0f %%        ", 100 * l[i].top);
        put_cells((double[]){l[i].precision, l[i].found, l[i].lift}, 3, out);
        text_char(out, '\n');
    }
}

/* The range of a metric of a group; empty: it has none. */
static void put_range(const struct by_group *g, const char *metric, struct text *range)
{
    const struct interval n = metrics_interval(&g->metrics, metric);
    text_clear(range);
    if (!isnan(n.low))
        interval_put(&n, range);
}

/* The widths of the column of a metric, and of its ranges. */
static void by_width(const struct by *b, const char *metric, int *value, int *range)
{
    struct text text = {0};
    *value = 10;
    *range = 21;
    for (uint32_t g = 0; g < b->count; g++) {
        const int length =
            (int)strlen(text_figure(metrics_get(&b->groups[g].metrics, metric), 4));
        put_range(&b->groups[g], metric, &text);
        *value = length > *value ? length : *value;
        *range = (int)text.length > *range ? (int)text.length : *range;
    }
    text_free(&text);
}

/* The groups of --by, the worst first: the metric of the order, and the first of the others. */
static void put_by(const struct by *b, struct text *out)
{
    const char *shown[BY_METRICS];
    const uint32_t count = by_metrics(b, shown, BY_METRICS), without = by_undefined(b);
    int value[BY_METRICS], ranges[BY_METRICS];
    struct text range = {0};
    text_printf(out, "\n%-20s %10s", text_quote_z(b->column), "rows");
    for (uint32_t i = 0; i < count; i++) {
        by_width(b, shown[i], &value[i], &ranges[i]);
        text_printf(out, " %*s%*s", value[i], shown[i], i ? 0 : ranges[i], "");
    }
    text_char(out, '\n');
    for (uint32_t g = 0; g < b->count; g++) {
        const struct by_group *group = &b->groups[g];
        text_printf(out, "%-20s", text_quote_z(group->name));
        put_sum((double)group->rows, out);
        for (uint32_t i = 0; i < count; i++) {
            put_wide(metrics_get(&group->metrics, shown[i]), value[i], out);
            put_range(group, shown[i], &range);
            if (!i)
                text_printf(out, "%-*s", ranges[i], range.length ? range.data : "");
        }
        text_char(out, '\n');
    }
    text_free(&range);
    if (without)
        text_printf(out, "%u of %u groups have no %s, and are not counted as the worst\n", without,
                    b->count, b->metric->name);
    if (b->pooled)
        text_printf(out, "%s: %llu more groups; a column of numbers can be cut: --by %s:4\n",
                    b->other, (unsigned long long)b->pooled, text_quote_z(b->column));
}

/* The columns that moved, the farthest first. */
static void put_drift(const struct evaluate_result *r, struct text *out)
{
    const struct schema *s = r->serve.schema;
    double before = (double)INFINITY, chance;
    for (int lines = 0; lines < DRIFT_LINES; lines++) {
        double largest = 0;
        size_t at = 0;
        for (size_t i = 0; i < s->column_count; i++) {
            double index = drift_index(r->drift, r->serve.encoders[0], i, &chance);
            if (drift_moved(index, chance, DRIFT_SOME) && index < before && index > largest) {
                largest = index;
                at = i;
            }
        }
        if (!(largest > 0))
            break;
        if (!lines)
            text_printf(out, "\n%-20s %10s %10s %10s\n", "drift", "stability", "outside", "unseen");
        text_printf(out, "%-20s", text_quote_z(s->columns[at].name));
        put_wide(largest, 10, out);
        put_sum((double)r->drift->outside[at], out);
        put_sum((double)r->drift->unknown[at], out);
        text_char(out, '\n');
        before = largest;
    }
}

void evaluate_details(const struct evaluate_result *r, struct text *out)
{
    const struct vocab *labels = r->serve.schema->labels;
    put_drift(r, out);
    for (size_t i = 0; i < r->by_count; i++)
        put_by(&r->by[i], out);
    if (!r->tally->classes)
        return;
    put_labels(r->tally, labels, out);
    put_confusion(r->tally, labels, out);
    if (r->table.count)
        put_thresholds(r, out);
    if (r->tally->classes == 2)
        put_lift(r->lift, out);
    text_char(out, '\n');
}
