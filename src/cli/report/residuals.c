/* residuals.c - the results of a regression: answers against truth, errors, coverage of
 * quantiles. */
#include <math.h>

#include "cli/report/page.h"

static void put_dots(const struct residuals *s, struct text *out)
{
    struct chart c = {.x0 = INFINITY, .x1 = -INFINITY, .y0 = INFINITY, .y1 = -INFINITY};
    for (uint32_t i = 0; i < s->dots.count; i++) { /* both axes show the same range */
        chart_hold(&c, s->dots.x[i], s->dots.y[i]);
        chart_hold(&c, s->dots.y[i], s->dots.x[i]);
    }
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
    struct chart c = {.y_percent = true};
    report_histograms(&c, out, "Size of the errors", "answer minus truth", &s->errors, 1,
                      s->errors.low < 0 && s->errors.high > 0 ? 0 : (double)NAN);
    chart_end(&c, "the middle 99 % of them");
}

static void put_bands(const struct residuals *s, struct text *out)
{
    const struct curve *low = &s->band[0], *high = &s->band[2];
    struct chart c = {.x0 = INFINITY, .x1 = -INFINITY};
    if (low->count < 2)
        return;
    for (uint32_t i = 0; i < low->count; i++) {
        chart_hold(&c, low->x[i], low->y[i]);
        chart_hold(&c, low->x[i], high->y[i]);
    }
    chart_begin(&c, out, "Errors by answer", "answer", "answer minus truth", false);
    chart_even(&c, c.x0, 0, c.x1, 0);
    for (int q = 0; q < 3; q++)
        chart_line(&c, q != 1, s->band[q].x, s->band[q].y, s->band[q].count, q != 1);
    chart_key(&c, 0, "median");
    chart_key(&c, 1, "8 of 10 rows lie between");
    chart_end(&c, NULL);
}

/* For a model of a quantile: the share of the rows at or below the answer, over the answer. */
static void put_covered(const struct residuals *s, double quantile, struct text *out)
{
    const struct curve *v = &s->covered;
    struct chart c = {.y1 = 1, .y_percent = true};
    if (v->count < 2)
        return;
    c.x0 = v->x[0];
    c.x1 = v->x[v->count - 1];
    chart_begin(&c, out, "Coverage by answer", "answer", "rows at or below it", true);
    chart_even(&c, c.x0, quantile, c.x1, quantile);
    chart_line(&c, 0, v->x, v->y, v->count, false);
    chart_end(&c, "tenths of the rows; dashed: the quantile");
}

/* For a model of several quantiles: the share of the rows at or below each. */
static void put_quantiles(const struct report *r, struct text *out)
{
    static const char *const names[] = {"quantile", "rows at or below it", NULL};
    const struct schema *s = r->file->schema;
    const struct tally *t = r->value.tally;
    html_table(out, "Quantiles", names, 0);
    for (uint32_t k = 0; k < s->quantile_count; k++)
        html_row(out, "%g %f", s->quantiles[k], t->below[k] / t->weight);
    html_table_end(out);
    html_note(out, "%.3g %% of the rows lie between the lowest and the highest; %.3g %% when "
                   "right. The charts show the quantile %.4g.", 100 * t->covered / t->weight,
              100 * (s->quantiles[s->quantile_count - 1] - s->quantiles[0]),
              s->quantiles[loss_middle(s->quantiles, s->quantile_count)]);
}

void report_residuals(const struct report *r, struct text *out)
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
    for (int i = 0; i < 5; i++)
        html_row(out, "%f %g", residual_quantiles[i], s.quantile[i]);
    html_table_end(out);
    html_printf(out, "<p class=\"dim\">Mean error (bias): %g.</p>\n", s.bias);
    residuals_free(&s);
}
