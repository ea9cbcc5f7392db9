/* scores.c - the section of a report about rows without labels: what the model answers. */
#include <math.h>

#include "cli/report/chart.h"
#include "cli/report/html.h"
#include "cli/report/page.h"

enum { LABELS_MOST = 60 };

static void put_spread(const struct report *r, struct text *out)
{
    const struct histogram *h = &r->scored.spread;
    struct chart c = {.x0 = h->low, .x1 = h->high, .x_percent = r->scored.classes > 0};
    const double width = (h->high - h->low) / HISTOGRAM_BINS;
    for (int i = 0; i < HISTOGRAM_BINS; i++)
        c.y1 = fmax(c.y1, h->share[i] * h->weight);
    chart_begin(&c, out, "Scores",
                r->scored.classes == 2 ? "probability of the positive label"
                : r->scored.classes    ? "probability of the answer"
                                       : "answer", "rows", false);
    for (int i = 0; i < HISTOGRAM_BINS; i++)
        chart_bar(&c, 0, h->low + i * width, h->low + (i + 1) * width, h->share[i] * h->weight);
    if (r->scored.classes == 2)
        chart_even(&c, r->scored.serve.decision.threshold, c.y0,
                   r->scored.serve.decision.threshold, c.y1);
    chart_end(&c, r->scored.classes == 2 ? "dashed: the threshold" : NULL);
}

static void put_answers(const struct report *r, struct text *out)
{
    static const char *const names[] = {"answer", "rows", "share", NULL};
    const struct scored *s = &r->scored;
    html_table(out, "Answers", names, 1);
    for (uint32_t c = 0; c < s->classes && c < LABELS_MOST; c++) {
        html_row(out);
        html_cell(out, report_label(r, c));
        html_cell_number(out, (double)s->answered[c]);
        html_cell_percent(out, report_share((double)s->answered[c], (double)s->rows));
        html_row_end(out);
    }
    html_table_end(out);
}

static void put_quantiles(const struct report *r, struct text *out)
{
    const char *const names[] = {
        "share of the rows", r->scored.classes ? "probability at most" : "answer at most", NULL};
    html_table(out, "Quantiles of the scores", names, 0);
    for (int k = 0; k < SCORED_QUANTILES; k++) {
        html_row(out);
        html_cell_percent(out, scored_quantiles[k]);
        (r->scored.classes ? html_cell_percent : html_cell_number)(out, r->scored.quantile[k]);
        html_row_end(out);
    }
    html_table_end(out);
}

void report_scores(const struct report *r, struct text *out)
{
    html_section(out, "Scores");
    html_note(out, "These rows have no labels: they show what the model answers, not how good the "
                   "answers are.");
    text_put(out, "<div class=\"charts\">\n");
    put_spread(r, out);
    text_put(out, "</div>\n");
    if (r->scored.classes)
        put_answers(r, out);
    put_quantiles(r, out);
    html_section_end(out);
}
