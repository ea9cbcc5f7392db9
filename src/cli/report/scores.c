/* scores.c - the section of a report about rows without labels: what the model answers. */
#include <math.h>

#include "cli/report/page.h"

enum { LABELS_MOST = 60 };

static void put_spread(const struct report *r, struct text *out)
{
    const bool two = r->scored.classes == 2;
    struct chart c = {.x_percent = r->scored.classes > 0};
    report_histograms(&c, out, "Scores",
                      two                 ? "probability of the positive label"
                      : r->scored.classes ? "probability of the answer"
                                          : "answer", &r->scored.spread, 1,
                      two ? r->scored.serve.decision.threshold : (double)NAN);
    chart_end(&c, two ? "dashed: the threshold" : NULL);
}

static void put_answers(const struct report *r, struct text *out)
{
    static const char *const names[] = {"answer", "rows", "share", NULL};
    const struct scored *s = &r->scored;
    html_table(out, "Answers", names, 1);
    for (uint32_t c = 0; c < s->classes && c < LABELS_MOST; c++)
        html_row(out, "%s %g %f", report_label(r, c), (double)s->answered[c],
                 report_share((double)s->answered[c], (double)s->rows));
    html_table_end(out);
}

static void put_quantiles(const struct report *r, struct text *out)
{
    const char *const names[] = {
        "share of the rows", r->scored.classes ? "probability at most" : "answer at most", NULL};
    html_table(out, "Quantiles of the scores", names, 0);
    for (int k = 0; k < SCORED_QUANTILES; k++)
        html_row(out, r->scored.classes ? "%f %f" : "%f %g", scored_quantiles[k],
                 r->scored.quantile[k]);
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
