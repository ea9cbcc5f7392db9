/* chart.c - see chart.h. */
#include "cli/report/chart.h"

#include <math.h>
#include <time.h>

#include "cli/report/html.h"
#include "csv/form/date.h"

/* The sheet, and the field inside it. */
enum { WIDTH = 420, HEIGHT = 280, LEFT = 70, RIGHT = 14, TOP = 12, BOTTOM = 42,
       EDGE = 22 /* a number in the middle of so little room would be cut */ };

static double at_x(const struct chart *c, double x)
{
    return LEFT + (x - c->x0) / (c->x1 - c->x0) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct chart *c, double y)
{
    return HEIGHT - BOTTOM - (y - c->y0) / (c->y1 - c->y0) * (HEIGHT - TOP - BOTTOM);
}

/* 1, 2 or 5 times a power of ten, so that about `count` fit. */
static double round_step(double range, int count)
{
    double rough = range / count, power = pow(10, floor(log10(rough))), times = rough / power;
    return power * (times < 1.5 ? 1 : times < 3.5 ? 2 : times < 7.5 ? 5 : 10);
}

/* A number for an axis: few characters. */
static void put_tick(struct text *out, double value, double step, bool percent)
{
    static const struct { double from; const char *unit; } units[] = {
        {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}};
    double size = fmax(fabs(value), step);
    if (fabs(value) < step * 1e-6)
        value = 0;
    if (percent) {
        html_percent(out, value);
        return;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (size >= units[i].from && size < 1e15) {
            double unit = units[i].from > 1e5 ? units[i].from : 1e3;
            text_printf(out, value == 0 ? "0" : "%.4g%s", value / unit, units[i].unit);
            return;
        }
    html_number_near(out, value, 10 * step);
}

/* Draws a tick of the x axis; its text follows. */
static void put_x_tick(const struct chart *c, double x)
{
    const bool edge = at_x(c, x) > WIDTH - EDGE;
    text_printf(c->out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" />"
                        "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">", at_x(c, x), at_x(c, x),
                HEIGHT - BOTTOM, HEIGHT - BOTTOM + 4, edge ? WIDTH - 1 : at_x(c, x),
                HEIGHT - BOTTOM + 17, edge ? "end" : "middle");
}

/* Ticks at the beginnings of years, months or days. */
static void put_dates(const struct chart *c)
{
    static const int steps[] = {1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000};
    const double day = 86400, range = (c->x1 - c->x0) / day;
    const time_t from = (time_t)c->x0;
    struct tm tm;
    size_t k = 0;
    if (range < 60) { /* days */
        const double step = fmax(round_step(range, 4), 1) * day;
        for (double x = ceil(c->x0 / step - 1e-9) * step; x <= c->x1; x += step) {
            put_x_tick(c, x);
            html_day(c->out, x);
            text_put(c->out, "</text>\n");
        }
        return;
    }
    while (k + 1 < sizeof steps / sizeof *steps && range / 30.4 / steps[k] > 5.5)
        k++;
    if (!gmtime_r(&from, &tm))
        return;
    for (long month = (tm.tm_year + 1900L) * 12 / steps[k] * steps[k];; month += steps[k]) {
        double x;
        if (!date_of_day((int)(month / 12), (int)(month % 12) + 1, 1, &x) || x > c->x1)
            return;
        if (x < c->x0)
            continue;
        put_x_tick(c, x);
        text_printf(c->out, steps[k] % 12 ? "%ld-%02ld</text>\n" : "%ld</text>\n", month / 12,
                    month % 12 + 1);
    }
}

static void put_axes(struct chart *c, const char *x_title, const char *y_title)
{
    double x_step = round_step(c->x1 - c->x0, 5), y_step = round_step(c->y1 - c->y0, 5);
    for (double y = ceil(c->y0 / y_step - 1e-9) * y_step; y <= c->y1 + y_step * 1e-6; y += y_step) {
        text_printf(c->out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" />"
                            "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT, WIDTH - RIGHT,
                    at_y(c, y), at_y(c, y), LEFT - 6, at_y(c, y) + 4);
        put_tick(c->out, y, y_step, c->y_percent);
        text_put(c->out, "</text>\n");
    }
    if (c->x_date)
        put_dates(c);
    for (double x = ceil(c->x0 / x_step - 1e-9) * x_step;
         !c->x_date && x <= c->x1 + x_step * 1e-6; x += x_step) {
        put_x_tick(c, x);
        put_tick(c->out, x, x_step, c->x_percent);
        text_put(c->out, "</text>\n");
    }
    text_printf(c->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x_title);
    text_printf(c->out, "<text transform=\"translate(14 %d) rotate(-90)\" "
                        "text-anchor=\"middle\">%s</text>\n", (TOP + HEIGHT - BOTTOM) / 2, y_title);
}

static void widen(double *low, double *high)
{
    if (!isfinite(*low) || !isfinite(*high))
        *low = 0, *high = 1;
    if (!(*high > *low)) {
        double by = fabs(*low) > 0 ? fabs(*low) / 2 : 1;
        *low -= by;
        *high += by;
    }
}

void chart_hold(struct chart *c, double x, double y)
{
    if (isfinite(x)) {
        c->x0 = fmin(c->x0, x);
        c->x1 = fmax(c->x1, x);
    }
    if (isfinite(y)) {
        c->y0 = fmin(c->y0, y);
        c->y1 = fmax(c->y1, y);
    }
}

void chart_begin(struct chart *c, struct text *out, const char *heading, const char *x_title,
                 const char *y_title, bool exact)
{
    c->out = out;
    c->key = (struct text){0};
    widen(&c->x0, &c->x1);
    widen(&c->y0, &c->y1);
    for (int i = 0; !exact && i < 2; i++) { /* the wider range may have a wider step */
        double step = round_step(c->y1 - c->y0, 5);
        c->y0 = floor(c->y0 / step + 1e-9) * step;
        c->y1 = ceil(c->y1 / step - 1e-9) * step;
    }
    text_printf(out, "<figure>\n<h3>%s</h3>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" "
                     "aria-label=\"%s: %s by %s\">\n", heading, WIDTH, HEIGHT, heading, y_title,
                x_title);
    put_axes(c, x_title, y_title);
}

static bool visible(const struct chart *c, double x, double y)
{
    return isfinite(x) && isfinite(y) && x >= c->x0 && x <= c->x1 && y >= c->y0 && y <= c->y1;
}

void chart_line(struct chart *c, unsigned series, const double *x, const double *y, uint32_t count,
                bool dashed)
{
    bool down = false;
    text_printf(c->out, "<path class=\"line s%u%s\" d=\"", series % CHART_SERIES,
                dashed ? " dash" : "");
    for (uint32_t i = 0; i < count; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i])) {
            down = false;
            continue;
        }
        double shown = fmin(fmax(y[i], c->y0), c->y1);
        text_printf(c->out, "%s%.1f %.1f", down ? " " : i ? " M" : "M", at_x(c, x[i]),
                    at_y(c, shown));
        down = true;
    }
    text_put(c->out, "\" />\n");
}

void chart_band(struct chart *c, unsigned series, const double *x, const double *low,
                const double *high, uint32_t count)
{
    text_printf(c->out, "<path class=\"band s%u\" d=\"", series % CHART_SERIES);
    for (uint32_t i = 0; i < 2 * count; i++) {
        const uint32_t k = i < count ? i : 2 * count - 1 - i;
        const double y = i < count ? high[k] : low[k];
        text_printf(c->out, "%s%.1f %.1f", i ? " " : "M", at_x(c, x[k]),
                    at_y(c, fmin(fmax(y, c->y0), c->y1)));
    }
    text_put(c->out, "Z\" />\n");
}

void chart_even(struct chart *c, double x0, double y0, double x1, double y1)
{
    text_printf(c->out, "<path class=\"even\" d=\"M%.1f %.1f %.1f %.1f\" />\n", at_x(c, x0),
                at_y(c, y0), at_x(c, x1), at_y(c, y1));
}

void chart_bar(struct chart *c, unsigned series, double from, double to, double y)
{
    double top = at_y(c, fmin(y, c->y1));
    if (y > 0)
        text_printf(c->out, "<rect class=\"fill s%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                            "height=\"%.1f\" />\n", series % CHART_SERIES, at_x(c, from) + 0.5, top,
                    fmax(at_x(c, to) - at_x(c, from) - 1, 0.5), at_y(c, c->y0) - top);
}

void chart_dot(struct chart *c, unsigned series, double x, double y, double radius)
{
    if (visible(c, x, y))
        text_printf(c->out, "<circle class=\"%s s%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" />\n",
                    radius > 2.5 ? "mark" : "dot", series % CHART_SERIES, at_x(c, x), at_y(c, y),
                    radius);
}

void chart_key(struct chart *c, unsigned series, const char *name)
{
    html_printf(&c->key, "<span class=\"key s%u\"><i></i>%s</span>", series % CHART_SERIES, name);
}

void chart_end(struct chart *c, const char *note)
{
    text_put(c->out, "</svg>\n");
    if (c->key.length || note) {
        text_put(c->out, "<figcaption>");
        if (c->key.length)
            text_add(c->out, c->key.data, c->key.length);
        if (note)
            text_put(c->out, note);
        text_put(c->out, "</figcaption>\n");
    }
    text_put(c->out, "</figure>\n");
    text_free(&c->key);
}

static const char bar_begin[] = "<td class=\"bar\"><svg viewBox=\"0 0 200 14\" "
                                "preserveAspectRatio=\"none\" aria-hidden=\"true\">";

static void put_fill(struct text *out, unsigned series, double from, double width)
{
    text_printf(out, "<rect class=\"fill s%u\" x=\"%.1f\" y=\"1\" width=\"%.1f\" height=\"12\" />",
                series, from, width);
}

static void put_bar(struct text *out, double value, double low, double high, double least,
                    double most, const double *marks, int mark_count)
{
    double zero = least / (least + most) * 200, scale = 200 / (least + most);
    text_put(out, bar_begin);
    put_fill(out, value < 0, zero + fmin(value, 0) * scale, fmax(fabs(value) * scale, 0.5));
    for (int i = 0; i < mark_count; i++)
        text_printf(out, "<line class=\"even\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"14\" />",
                    zero + marks[i] * scale, zero + marks[i] * scale);
    if (!isnan(low))
        text_printf(out, "<line class=\"even\" style=\"stroke-dasharray:none\" x1=\"%.1f\" "
                         "x2=\"%.1f\" y1=\"7\" y2=\"7\" />", fmax(zero + low * scale, 0),
                    fmin(zero + high * scale, 200));
    text_put(out, "</svg></td>");
}

void chart_cell(struct text *out, double value, double low, double high, double least, double most)
{
    put_bar(out, value, low, high, least, most, NULL, 0);
}

void chart_cell_marked(struct text *out, double value, double most, const double *marks, int count)
{
    put_bar(out, fmin(value, most), (double)NAN, (double)NAN, 0, most, marks, count);
}

void chart_cell_parts(struct text *out, const double *shares, uint32_t count)
{
    double from = 0;
    text_put(out, bar_begin);
    for (uint32_t i = 0; i <= count && from < 1; i++) {
        const double part = i < count ? shares[i] : 1 - from;
        if (part > 0)
            put_fill(out, i < count ? i : CHART_SERIES - 1u, 200 * from, 200 * part);
        from += fmax(part, 0);
    }
    text_put(out, "</svg></td>");
}

void chart_cell_pair(struct text *out, double before, double now, double most)
{
    const double scale = most > 0 ? 200 / most : 0;
    text_printf(out, "%s<rect class=\"fill s7\" x=\"0\" y=\"1\" width=\"%.1f\" height=\"5.5\" />"
                     "<rect class=\"fill s0\" x=\"0\" y=\"7.5\" width=\"%.1f\" height=\"5.5\" />"
                     "</svg></td>", bar_begin, before * scale, now * scale);
}
