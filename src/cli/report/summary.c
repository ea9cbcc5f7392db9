/* summary.c - the top of a report: what the model predicts, how good that is in a sentence, on what
 * rows, whether gates are met, and the figures that a reader looks for first. */
#include <math.h>
#include <stdio.h>

#include "cli/report/page.h"

enum { CARDS = 4 };

/* --- the sentence --- */

/* "68", "over 99": out of a hundred. */
struct hundred {
    char text[16];
};
static struct hundred hundred(double share)
{
    struct hundred h = {"none"};
    if (100 * share > 99.5 && share < 1)
        return (struct hundred){"over 99"};
    if (100 * share < 1 && share > 0)
        return (struct hundred){"fewer than 1"};
    if (!isnan(share))
        snprintf(h.text, sizeof h.text, "%.0f", 100 * share);
    return h;
}

/* "Churn = Yes" */
static void put_positive(const struct report *r, struct text *out)
{
    const struct schema *s = r->file->schema;
    html_printf(out, "%s = %s", s->columns[s->target].name, report_label(r, 1));
}

/* flagged: share of the rows answered as positive; NaN: not known. base: share of positive rows. */
static void put_two(const struct report *r, double flagged, double precision, double recall,
                    double base, struct text *out)
{
    const bool none = flagged <= 0 || isnan(precision);
    text_put(out, none ? "At its threshold it flags <b>no row</b> as "
                       : "Of 100 rows that it flags as ");
    put_positive(r, out);
    if (none)
        text_put(out, ".");
    else
        html_printf(out, ", <b>%s</b> are; it finds <b>%s</b> of 100 such rows.",
                    hundred(precision).text, hundred(recall).text);
    if (!isnan(base))
        html_printf(out, " Of 100 rows taken by chance, %s are.", hundred(base).text);
}

static void say_two(const struct report *r, struct text *out)
{
    const struct tally *t = r->value.tally;
    if (r->measured)
        put_two(r, report_share(t->answered[1], t->weight),
                report_share(t->hit[1], t->answered[1]), report_share(t->hit[1], t->support[1]),
                report_share(t->support[1], t->weight), out);
    else /* average precision of a constant is the share of positive rows */
        put_two(r, (double)NAN, report_stored(r, report_stored_part(r), "precision"),
                report_stored(r, report_stored_part(r), "recall"),
                report_stored(r, "baseline", "pr_auc"), out);
}

static void say_labels(const struct report *r, struct text *out)
{
    const struct tally *t = r->value.tally;
    double right = report_stored(r, report_stored_part(r), "accuracy"), most = 0, least = 2;
    uint32_t worst = 0;
    if (r->measured)
        right = report_share(t->right, t->weight);
    for (uint32_t c = 0; r->measured && c < t->classes; c++) {
        most = fmax(most, report_share(t->support[c], t->weight));
        if (report_share(t->hit[c], t->support[c]) < least) {
            least = report_share(t->hit[c], t->support[c]);
            worst = c;
        }
    }
    if (!r->measured)
        most = report_stored(r, "baseline", "accuracy");
    html_printf(out, "Of 100 answers <b>%s</b> are right; the most frequent label alone would be "
                     "right for %s.", hundred(right).text, hundred(most).text);
    if (least <= 1)
        html_printf(out, " The label that it finds least is %s: %s of 100 of its rows.",
                    report_label(r, worst), hundred(least).text);
}

static void say_values(const struct report *r, struct text *out)
{
    struct residuals s;
    if (!r->measured) {
        html_printf(out, "Its typical error is <b>%g</b> (the root of the mean square); a constant "
                         "answer has %g.", report_stored(r, report_stored_part(r), "rmse"),
                    report_stored(r, "baseline", "rmse"));
        return;
    }
    residuals_of(&r->answers, &s);
    html_printf(out, "Its typical error is <b>%g</b>: half of the answers are nearer to the truth, "
                     "and nine of ten within %g.", s.quantile[1], s.quantile[3]);
    if (!isnan(s.within))
        html_printf(out, " Of 100 answers <b>%s</b> lie within 10 %% of the truth.",
                    hundred(s.within).text);
    html_printf(out, " The typical error of a constant answer is %g.", s.constant);
    residuals_free(&s);
}

static void say_quantiles(const struct report *r, struct text *out)
{
    const struct schema *s = r->file->schema;
    const bool several = s->quantile_count > 0;
    const double covered = r->measured ? metrics_get(&r->value.metrics, "coverage")
                                       : report_stored(r, report_stored_part(r), "coverage");
    const double level = several ? s->quantiles[s->quantile_count - 1] - s->quantiles[0]
                                 : modelfile_quantile(r->file);
    html_printf(out, several ? "Of 100 rows <b>%s</b> lie between the lowest and the highest "
                               "answer; %s should."
                             : "Of 100 rows <b>%s</b> lie at or below their answer; %s should.",
                hundred(covered).text, hundred(level).text);
}

/* For rows without labels; the training's quality follows. */
static void say_scores(const struct report *r, struct text *out)
{
    const struct scored *s = &r->scored;
    if (s->classes == 2) {
        html_printf(out, "Of 100 of these rows it flags <b>%s</b> as ",
                    hundred(report_share((double)s->answered[1], (double)s->rows)).text);
        put_positive(r, out);
    } else if (s->classes) {
        uint32_t most = 0;
        for (uint32_t c = 1; c < s->classes; c++)
            most = s->answered[c] > s->answered[most] ? c : most;
        html_printf(out, "Its most frequent answer to these rows is %s, to <b>%s</b> of 100",
                    report_label(r, most),
                    hundred(report_share((double)s->answered[most], (double)s->rows)).text);
    } else {
        html_printf(out, "Half of its answers to these rows lie between <b>%g</b> and <b>%g</b>",
                    s->quantile[1], s->quantile[3]);
    }
    text_put(out, ". They have no labels. On rows that its training held out: ");
}

static void put_sentence(const struct report *r, struct text *out)
{
    const struct schema *s = r->file->schema;
    text_put(out, "<p class=\"lead\">");
    if (r->unlabelled)
        say_scores(r, out);
    if (s->task == TASK_REGRESSION && (s->quantile_count || modelfile_quantile(r->file) > 0))
        say_quantiles(r, out);
    else if (s->task == TASK_REGRESSION)
        say_values(r, out);
    else if (vocab_count(s->labels) == 2)
        say_two(r, out);
    else
        say_labels(r, out);
    text_put(out, "</p>\n");
}

/* --- what it is --- */

static void put_heading(const struct report *r, struct text *out)
{
    const struct schema *s = r->file->schema;
    text_put(out, "<h1>Predicts ");
    if (s->labels && vocab_count(s->labels) == 2)
        put_positive(r, out);
    else
        html_text_z(out, s->columns[s->target].name);
    if (s->labels && vocab_count(s->labels) != 2)
        text_printf(out, " (%u labels)", vocab_count(s->labels));
    for (uint32_t k = 0; k < s->quantile_count; k++)
        text_printf(out, k ? ", %.4g" : ", its quantiles %.4g", s->quantiles[k]);
    if (!s->quantile_count && modelfile_quantile(r->file) > 0)
        text_printf(out, ", its %.4g quantile", modelfile_quantile(r->file));
    text_put(out, "</h1>\n");
}

static void put_origin(const struct report_request *q, const struct report *r, struct text *out)
{
    const uint64_t rows = r->measured ? r->value.rows : r->scored.rows;
    html_printf(out, "<p class=\"dim\">Model <b>%s</b>", report_file(q->rows.model));
    if (r->file->member_count > 1)
        html_printf(out, ", the mean of %u networks", r->file->member_count);
    if (r->measured || r->unlabelled) {
        html_printf(out, "; %s %g %s of ", r->measured ? "measured on" : "answers to",
                    (double)rows, rows == 1 ? "row" : "rows");
        for (size_t i = 0; i < q->rows.input_count; i++)
            html_printf(out, i ? ", <b>%s</b>" : "<b>%s</b>", report_file(q->rows.inputs[i]));
        if (q->rows.part)
            html_printf(out, " (its %s part%s)", q->rows.part,
                        r->held ? ", which the training did not see" : "");
        else if (r->held)
            text_put(out, " (the test rows of the training)");
    } else {
        text_put(out, "; figures of its training: no rows were given");
    }
    if (q->date)
        text_printf(out, "; page of %s", q->date);
    text_put(out, ".</p>\n");
}

/* --- badges --- */

static void put_badge(struct text *out, bool good, const char *verdict)
{
    text_printf(out, "<span class=\"badge %s\">%s</span>", good ? "s2" : "s4", verdict);
}

/* Whether an interval of these rows shows that the answers are better than a constant one. */
static void put_constant_badge(const struct report *r, struct text *out)
{
    const struct tally *t = r->value.tally;
    const char *name = "r2";
    double least = 0;
    if (t->classes == 2) {
        name = "auc";
        least = 0.5;
    } else if (t->classes) {
        name = "accuracy";
        for (uint32_t c = 0; c < t->classes; c++)
            least = fmax(least, report_share(t->support[c], t->weight));
    }
    const struct interval i = metrics_interval(&r->value.metrics, name);
    if (isnan(i.low) || r->file->schema->quantile_count || modelfile_quantile(r->file) > 0)
        return;
    const bool good = i.low > least;
    put_badge(out, good, good ? "\u2713 better than a constant answer"
                              : "\u2717 not shown to be better than a constant answer");
}

static void put_badges(const struct report *r, struct text *out)
{
    if (!r->measured)
        return;
    text_put(out, "<p>");
    for (size_t i = 0; i < r->value.gate_count; i++) {
        const struct gate *g = &r->value.gates[i];
        struct text verdict = {0};
        html_printf(&verdict, "%s: %s, measured ",
                    g->pass ? "\u2713 gate met" : "\u2717 gate NOT met", g->text);
        if (isnan(g->value))
            text_put(&verdict, "nothing");
        else
            html_number(&verdict, g->value);
        put_badge(out, g->pass, verdict.data);
        text_free(&verdict);
    }
    put_constant_badge(r, out);
    text_put(out, "</p>\n");
    if (r->value.known > 0.01)
        text_printf(out, "<p class=\"s4\"><b>About %.0f %% of these rows are rows that the model "
                         "was trained on: all figures are too good.</b></p>\n",
                    100 * r->value.known);
}

/* --- cards --- */

static void put_card(struct text *out, const char *words, const struct metric_type *t,
                     double value, const struct interval *i)
{
    text_printf(out, "<div><span>%s</span><b>", words);
    report_value(t, value, (double)NAN, out);
    text_printf(out, "</b><span>%s", t->name);
    if (i && !isnan(i->low)) {
        text_put(out, ", 95 %: ");
        report_value(t, i->low, i->high, out);
    }
    text_put(out, "</span></div>\n");
}

static void put_cards(const struct report *r, struct text *out)
{
    static const struct { const char *metric, *words; } wanted[] = {
        {"precision", "flagged rows that are right"}, {"recall", "positive rows that are found"},
        {"pinball", "mean loss"},                     {"coverage", "rows inside"},
        {"accuracy", "answers that are right"},       {"auc", "order of the scores, 0.5 to 1"},
        {"macro_f1", "labels alike, 0 to 1"},         {"rmse", "root mean squared error"},
        {"r2", "variance explained, 1 is all"},       {"mae", "mean size of an error"},
        {"logloss", "loss of the probabilities"}};
    int count = 0;
    text_put(out, "<div class=\"cards\">\n");
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted && count < CARDS; k++) {
        const struct metric_type *t = metric_find(wanted[k].metric, report_task(r));
        double value = t ? report_stored(r, report_stored_part(r), t->name) : (double)NAN;
        struct interval range = {(double)NAN, (double)NAN};
        if (t && r->measured) {
            value = metrics_get(&r->value.metrics, t->name);
            range = metrics_interval(&r->value.metrics, t->name);
        }
        if (!t || isnan(value))
            continue;
        put_card(out, wanted[k].words, t, value, &range);
        count++;
    }
    text_put(out, "</div>\n");
}

void report_summary(const struct report_request *q, const struct report *r, struct text *out)
{
    text_put(out, "<header>\n");
    put_heading(r, out);
    put_sentence(r, out);
    put_badges(r, out);
    put_origin(q, r, out);
    put_cards(r, out);
    text_put(out, "</header>\n");
}
