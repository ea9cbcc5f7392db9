/* report_regions.c - the part of a report about intervals and sets: whether they hold what their
 * level says, and how wide they are, band by band. */
#include <math.h>

#include "answer/evaluate/curves.h"
#include "cli/report/page.h"

enum { LABELS_MOST = 40 };

/* coverage: draws coverage, with the level; else the width. */
static void put_chart(const struct regions *s, double level, bool coverage, struct text *out)
{
    struct chart c = {.x0 = INFINITY, .x1 = -INFINITY, .y1 = coverage ? 1 : 0,
                      .y_percent = coverage};
    double x[REGION_BANDS], y[REGION_BANDS];
    for (uint32_t b = 0; b < s->count; b++) {
        x[b] = (s->band[b].from + s->band[b].to) / 2;
        y[b] = coverage ? s->band[b].coverage : s->band[b].size;
        chart_hold(&c, x[b], y[b]);
    }
    chart_begin(&c, out, coverage ? "Coverage by answer" : "Width by answer", "answer",
                coverage ? "share of the rows inside" : "mean width", coverage);
    if (coverage)
        chart_even(&c, c.x0, level, c.x1, level);
    chart_line(&c, 0, x, y, s->count, false);
    chart_end(&c, coverage ? "tenths of the rows; dashed: the level" : "tenths of the rows");
}

static void put_sizes(const struct regions *s, struct text *out)
{
    struct chart c = {.x0 = 0.5, .x1 = 1.5, .y_percent = true};
    for (int i = 0; i < REGION_SIZES; i++)
        if (s->share[i] > 0) {
            c.x1 = i + 1.5;
            c.y1 = fmax(c.y1, s->share[i]);
        }
    chart_begin(&c, out, "Size of the sets", "labels in the set", "share of the rows", false);
    for (int i = 0; i + 0.5 < c.x1; i++)
        chart_bar(&c, 0, i + 0.6, i + 1.4, s->share[i]);
    chart_end(&c, NULL);
}

static void put_table(const struct report *r, const struct regions *s, struct text *out)
{
    static const char *const values[] = {"answers", "rows", "coverage", "mean width", NULL};
    static const char *const labels[] = {"label", "rows", "coverage", "labels in the set", NULL};
    const uint32_t shown = s->count < LABELS_MOST ? s->count : LABELS_MOST;
    html_table(out, "Coverage", r->answers.classes ? labels : values, 1);
    for (uint32_t b = 0; b < shown; b++) {
        html_row_begin(out);
        if (r->answers.classes)
            html_cells(out, "%s", report_label(r, b));
        else
            html_cell_range(out, s->band[b].from, s->band[b].to);
        html_cells(out, "%g %f %g", (double)s->band[b].rows, s->band[b].coverage,
                   s->band[b].size);
        html_row_end(out);
    }
    html_table_end(out);
    if (shown < s->count)
        html_note(out, "%u more labels.", s->count - shown);
}

void report_regions(const struct report *r, struct text *out)
{
    const struct conformal *c = &r->file->conformal;
    struct regions s;
    if (!c->rule)
        return;
    regions_of(&r->answers, &s);
    html_section(out, "Intervals");
    html_note(out, "Of a hundred rows about %.4g shall lie inside their %s: that is promised over "
                   "all rows, and not for each kind of them. Where the coverage of a band is low, "
                   "answers are less sure there than they are told to be.",
              100 * c->level, r->answers.classes ? "set of labels" : "interval");
    text_put(out, "<div class=\"charts\">\n");
    if (r->answers.classes)
        put_sizes(&s, out);
    else
        for (int coverage = 1; coverage >= 0; coverage--)
            put_chart(&s, c->level, coverage, out);
    text_put(out, "</div>\n");
    put_table(r, &s, out);
    html_section_end(out);
    regions_free(&s);
}
