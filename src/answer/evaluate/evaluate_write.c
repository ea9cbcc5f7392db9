/* evaluate_write.c - an evaluation as JSON, dnn.evaluate/1. */
#include <math.h>
#include <stdio.h>

#include "answer/evaluate/evaluate.h"
#include "base/text.h"

/* A sum of weights, which are floats: 7 digits of it, or all that stand before the point. Whole
 * sums are printed in full. */
static double weight_sum(double sum)
{
    char digits[32];
    double value;
    snprintf(digits, sizeof digits, "%.7g", sum);
    return sum < 1e6 && text_to_double(digits, &value) ? value : round(sum);
}

static void write_confusion(const struct tally *t, const struct vocab *labels, struct json_out *out)
{
    json_open(out, "confusion", '{');
    json_open(out, "labels", '[');
    for (uint32_t c = 0; c < t->classes; c++) {
        size_t length;
        const char *label = vocab_text(labels, c, &length);
        json_put_string_n(out, NULL, label, length);
    }
    json_close(out, ']');
    json_open(out, "counts", '[');
    for (uint32_t c = 0; t->confusion && c < t->classes; c++) {
        json_open(out, NULL, '[');
        for (uint32_t a = 0; a < t->classes; a++)
            json_put_number(out, NULL,
                            weight_sum(t->confusion[(size_t)c * t->classes + a]));
        json_close(out, ']');
    }
    json_close(out, ']');
    json_close(out, '}');
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

static void write_labels(const struct tally *t, const struct vocab *labels, struct json_out *out)
{
    json_open(out, "per_label", '{');
    for (uint32_t c = 0; c < t->classes; c++) {
        json_open(out, vocab_text(labels, c, NULL), '{');
        json_put_number(out, "precision", share(t->hit[c], t->answered[c]));
        json_put_number(out, "recall", share(t->hit[c], t->support[c]));
        json_put_number(out, "f1", share(2 * t->hit[c], t->support[c] + t->answered[c]));
        json_put_number(out, "support", weight_sum(t->support[c]));
        json_close(out, '}');
    }
    json_close(out, '}');
}

static void write_calibration(const struct tally *t, struct json_out *out)
{
    json_open(out, "calibration", '[');
    for (int b = 0; b < TALLY_BINS; b++) {
        const struct tally_bin *bin = &t->bins[b];
        json_open(out, NULL, '{');
        json_put_number(out, "from", (double)b / TALLY_BINS);
        json_put_number(out, "to", (double)(b + 1) / TALLY_BINS);
        json_put_int(out, "rows", (int64_t)bin->rows);
        json_put_number(out, "predicted", share(bin->predicted, bin->weight));
        json_put_number(out, "observed", share(bin->observed, bin->weight));
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void write_thresholds(const struct evaluate_result *r, struct json_out *out)
{
    json_put_number(out, "threshold", r->serve.decision.threshold);
    json_open(out, "thresholds", '[');
    for (uint32_t i = 0; i < r->table.count; i++) {
        const struct threshold_row t = threshold_table_row(&r->table, i);
        json_open(out, NULL, '{');
        json_put_number(out, "threshold", t.threshold);
        json_put_number(out, "precision", t.precision);
        json_put_number(out, "recall", t.recall);
        json_put_number(out, "f1", t.f1);
        json_put_number(out, "flagged", t.flagged);
        json_put_number(out, "cost", evaluate_cost(r, &t));
        json_close(out, '}');
    }
    json_close(out, ']');
}

double evaluate_cost(const struct evaluate_result *r, const struct threshold_row *t)
{
    return r->fp > 0 && r->fn > 0 ? r->fp * t->false_positives + r->fn * t->false_negatives
                                  : (double)NAN;
}

/* The share of targets at or below each. */
static void write_quantiles(const struct evaluate_result *r, struct json_out *out)
{
    const struct schema *s = r->serve.schema;
    json_open(out, "quantiles", '[');
    for (uint32_t k = 0; k < s->quantile_count; k++) {
        json_open(out, NULL, '{');
        json_put_number(out, "q", s->quantiles[k]);
        json_put_number(out, "coverage", share(r->tally->below[k], r->tally->weight));
        json_close(out, '}');
    }
    json_close(out, ']');
}

void evaluate_write(const struct evaluate_result *r, struct json_out *out)
{
    json_open(out, NULL, '{');
    json_put_string(out, "schema", "dnn.evaluate/1");
    json_put_int(out, "rows", (int64_t)r->rows);
    json_put_int(out, "rows_unlabelled", (int64_t)r->unlabelled);
    json_put_int(out, "rows_bad", (int64_t)r->bad);
    json_put_int(out, "rows_weight_zero", (int64_t)r->weightless);
    if (!isnan(r->known))
        json_put_number(out, "rows_known", r->known);
    metrics_write(&r->metrics, "metrics", out);
    metrics_write_intervals(&r->metrics, "intervals", out);
    gates_write(r->gates, r->gate_count, out);
    if (r->by_count)
        by_write(r->by, r->by_count, out);
    if (r->serve.schema->quantile_count)
        write_quantiles(r, out);
    if (r->tally->classes) {
        write_confusion(r->tally, r->serve.schema->labels, out);
        write_labels(r->tally, r->serve.schema->labels, out);
        if (r->table.count)
            write_thresholds(r, out);
        if (r->tally->classes == 2)
            lift_write(r->lift, out);
        write_calibration(r->tally, out);
    }
    drift_write(r->drift, r->serve.encoders[0], out);
    select_write(&r->serve.backend, "backend", out);
    json_close(out, '}');
}
