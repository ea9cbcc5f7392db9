/* chart.h - charts as SVG inside a page of html.h: axes with round numbers, lines, bars, dots. The
 * colours belong to the page's series, 0 to CHART_SERIES - 1. */
#ifndef DNN_CLI_CHART_H
#define DNN_CLI_CHART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum { CHART_SERIES = 8 };
struct chart {
    struct text *out;
    double x0, x1, y0, y1; /* what the axes show */
    bool x_percent, y_percent; /* shares */
    bool x_date;               /* seconds since 1970 */
    struct text key;       /* of the series, below the chart */
};
/* Widens the axes, so that they show the point; a coordinate that is not finite does not count. */
void chart_hold(struct chart *c, double x, double y);
/* Titles are ours. y0 is lowered and y1 raised to round numbers unless `exact`. */
void chart_begin(struct chart *c, struct text *out, const char *heading, const char *x_title,
                 const char *y_title, bool exact);
/* Points that are not finite break the line. */
void chart_line(struct chart *c, unsigned series, const double *x, const double *y, uint32_t count,
                bool dashed);
/* The field between two lines; all finite. */
void chart_band(struct chart *c, unsigned series, const double *x, const double *low,
                const double *high, uint32_t count);
void chart_even(struct chart *c, double x0, double y0, double x1, double y1); /* to compare with */
void chart_bar(struct chart *c, unsigned series, double from, double to, double y);
void chart_dot(struct chart *c, unsigned series, double x, double y, double radius);
/* The entry of a series in the key; name: user text. */
void chart_key(struct chart *c, unsigned series, const char *name);
void chart_end(struct chart *c, const char *note); /* note: markup, or NULL */

/* A bar from 0 to value of -least .. most for a cell of a table, with its interval (NaN: none). */
void chart_cell(struct text *out, double value, double low, double high, double least, double most);
/* A bar from 0 to value, cut at most, with lines at marks [count]. */
void chart_cell_marked(struct text *out, double value, double most, const double *marks, int count);
/* A bar of the width of a whole that is cut into shares [count], a series each, and the rest. */
void chart_cell_parts(struct text *out, const double *shares, uint32_t count);
/* Two bars of shares, one above the other: in grey what was, in colour what is. */
void chart_cell_pair(struct text *out, double before, double now, double most);

#endif
