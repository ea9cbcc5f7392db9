/* calibration.c - the section of a report about probabilities: whether what has one of 70 %
 * is so in 7 of 10 rows. */
#include <math.h>

#include "cli/report/page.h"

static void put_chart(const struct report *r, struct text *out)
{
    struct chart c = {.x1 = 1, .y1 = 1, .x_percent = true, .y_percent = true};
    double x[TALLY_BINS], y[TALLY_BINS], most = 1;
    uint32_t n = 0;
    chart_begin(&c, out, "Probability and outcome", "predicted probability",
                "share that was so", true);
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
    chart_end(&c, "On the dashed line a probability of 70 % is right in 7 of 10 rows. Larger dots: "
                  "more rows.");
}

void report_calibration(const struct report *r, struct text *out)
{
    const double off = metrics_get(&r->value.metrics, "ece");
    if (!r->answers.classes)
        return;
    html_section(out, "Calibration");
    if (!isnan(off))
        html_printf(out, "<p class=\"dim\">On average a probability is off by %f (ece): so far it "
                         "lies from the share of such rows that were so.</p>\n", off);
    text_put(out, "<div class=\"charts\">\n");
    put_chart(r, out);
    text_put(out, "</div>\n");
    html_section_end(out);
}
