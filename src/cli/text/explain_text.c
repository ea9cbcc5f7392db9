/* explain_text.c - see explain_text.h. */
#include "cli/text/explain_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    BAR = 30,        /* characters of the longest bar */
    NAME_MOST = 32,
    EFFECTS_SHOWN = 30, EFFECTS_DRAWN = 3, /* columns in a line each, and with all their points */
    DIGITS_LEAST = 4, DIGITS_MOST = 15
};

/* Bars of a list: `value` of `most`. */
static void put_bar(double value, double most, struct text *out)
{
    int bar = most > 0 ? (int)lround(BAR * value / most) : 0;
    if (bar > 0)
        text_char(out, ' ');
    for (int k = 0; k < bar; k++)
        text_char(out, '#');
    while (out->length && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    text_char(out, '\n');
}

/* A word of a command line for a shell. */
static void put_word(const char *word, struct text *out)
{
    const bool plain = !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_.,:/%@+=-")];
    text_put(out, plain ? "" : "'");
    for (; *word; word++)
        if (*word == '\'')
            text_put(out, "'\\''");
        else
            text_char(out, *word);
    text_put(out, plain ? "" : "'");
}

/* The groups of columns that share their importance, a line each with its --group. */
static void put_alikes(const struct alikes *a, struct text *out)
{
    for (uint32_t i = 0; i < a->count; i++) {
        struct text option = {0};
        alike_option(&a->items[i], &option);
        text_printf(out, "these say much the same (association %.2f%s) and share their importance; "
                         "all together: --group ",
                    a->items[i].least, a->items[i].count > 2 ? " or more" : "");
        put_word(option.data, out);
        text_char(out, '\n');
        text_free(&option);
    }
}

/* The width of a column that holds this name too, unless it is a long one. */
static size_t wide_enough(size_t width, const char *name)
{
    const size_t length = strlen(text_quote_z(name));
    return length > width && length <= NAME_MOST ? length : width;
}

void explain_text(const struct explain_result *r, struct text *out)
{
    size_t width = 6;
    double most = 0;
    for (uint32_t i = 0; i < r->column_count; i++) {
        width = wide_enough(width, r->columns[i].unit->name);
        most = fmax(most, r->columns[i].importance);
    }
    text_printf(out, "%s %s on %llu rows; how much worse it is when the column's cells are "
                "shuffled among the rows\n", r->metric->name, text_figure(r->value, 6),
                (unsigned long long)r->rows);
    for (uint32_t i = 0; i < r->column_count; i++) {
        const struct importance *p = &r->columns[i];
        char range[64] = "";
        if (!isnan(p->interval.low))
            snprintf(range, sizeof range, "(%s to %s)", text_figure(p->interval.low, 3),
                     text_figure(p->interval.high, 3));
        text_printf(out, "%-*s %10s  %-24s", (int)width, text_quote_z(p->unit->name),
                    text_figure(p->importance, 4), range);
        put_bar(p->importance, most, out);
    }
    put_alikes(&r->alikes, out);
}

void explain_text_rows(const struct attribute_request *q, const struct attribute_result *r,
                       struct text *out)
{
    struct text explains = {0};
    double most = 0;
    attribute_explains(r, &explains);
    text_printf(out, "%s: attributions of %llu rows to %s, against the training mean; base %s\n"
                "mean of the attributions without their sign:\n", text_quote_z(q->output),
                (unsigned long long)r->rows, explains.data, text_figure(r->base, 6));
    for (uint32_t i = 0; i < r->units.count; i++)
        most = fmax(most, r->mean[i]);
    for (uint32_t i = 0; i < r->units.count; i++) {
        text_printf(out, "%-24s %10s ", text_quote_z(r->units.items[i].name),
                    text_figure(r->mean[i], 4));
        put_bar(r->mean[i], most, out);
    }
    text_printf(out, "largest difference of a row's sum from its answer minus the base: %s\n",
                text_figure(r->largest_difference, 2));
    text_free(&explains);
}

/* --- --effects --- */

void explain_text_value(const struct effect *f, const struct effect_point *p, struct text *out)
{
    char date[40];
    struct tm tm;
    time_t at;
    if (p->kind == EFFECT_OTHER || p->kind == EFFECT_MISSING) {
        text_printf(out, "(%s)", p->kind == EFFECT_OTHER ? "others" : "missing");
        return;
    }
    if (f->type == COLUMN_DATETIME && !isnan(p->at) && !strpbrk(p->value, "-/:. ") &&
        strlen(p->value) > 8) { /* seconds since 1970 */
        at = (time_t)p->at;
        if (gmtime_r(&at, &tm) && strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm)) {
            text_put(out, date);
            return;
        }
    }
    text_put(out, p->value);
}

static const char *shown_value(const struct effect *f, const struct effect_point *p)
{
    struct text value = {0};
    explain_text_value(f, p, &value);
    const char *shown = text_quote(value.data ? value.data : "", value.length);
    text_free(&value);
    return shown;
}

static size_t name_width(const struct effects_result *r)
{
    size_t width = 6;
    for (uint32_t i = 0; i < r->count && i < EFFECTS_SHOWN; i++)
        width = wide_enough(width, r->effects[i].unit->name);
    return width;
}

/* The points with the lowest and the highest mean answer. */
static void ends_of(const struct effect *f, const struct effect_point *ends[2])
{
    for (uint32_t i = 0; i < f->count; i++) {
        const struct effect_point *p = &f->points[i];
        if (!i || p->mean[f->moved] < ends[0]->mean[f->moved])
            ends[0] = p;
        if (!i || p->mean[f->moved] > ends[1]->mean[f->moved])
            ends[1] = p;
    }
}

/* Digits for mean answers: steps below a hundredth of the columns' effects, even if answers are far
 * larger, e.g. seconds since 1970. */
static int digits_of(const struct effects_result *r)
{
    double size = 0, apart = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct effect *f = &r->effects[i];
        const struct effect_point *ends[2];
        if (!f->count || f->points[0].kind == EFFECT_WORD)
            continue;
        ends_of(f, ends);
        apart = fmax(apart, ends[1]->mean[f->moved] - ends[0]->mean[f->moved]);
        size = fmax(size, fmax(fabs(ends[0]->mean[f->moved]), fabs(ends[1]->mean[f->moved])));
    }
    const double digits = apart > 0 && size / apart < 1e15 ? 3 + ceil(log10(size / apart)) : 0;
    return digits > DIGITS_MOST ? DIGITS_MOST : digits > DIGITS_LEAST ? (int)digits : DIGITS_LEAST;
}

static void effect_line(const struct effect *f, double most, int width, int digits,
                        struct text *out)
{
    const struct effect_point *ends[2] = {NULL, NULL};
    char low[80] = "", high[80] = "";
    ends_of(f, ends);
    if (ends[0]) {
        snprintf(low, sizeof low, "%s at %.24s", text_figure(ends[0]->mean[f->moved], digits),
                 shown_value(f, ends[0]));
        snprintf(high, sizeof high, "%s at %.24s", text_figure(ends[1]->mean[f->moved], digits),
                 shown_value(f, ends[1]));
    }
    text_printf(out, "%-*s %10s  %-28s %-28s", width, text_quote_z(f->unit->name),
                text_figure(f->size, 4), low, high);
    put_bar(f->size / 2, most, out); /* half as long: the line is full */
}

static void effect_points(const struct effects_result *r, const struct effect *f, int digits,
                          struct text *out)
{
    double least = INFINITY, most = -INFINITY;
    size_t width = 7;
    const bool words = f->count && f->points[0].kind == EFFECT_WORD;
    if (words)
        digits = DIGITS_LEAST;
    int wide = 10;
    for (uint32_t i = 0; i < f->count; i++) {
        size_t length = strlen(shown_value(f, &f->points[i]));
        width = length > width ? length : width;
        const int figure =
            (int)strlen(text_figure(f->points[i].mean[f->moved], digits));
        wide = figure > wide ? figure : wide;
        least = fmin(least, f->points[i].mean[f->moved]);
        most = fmax(most, f->points[i].mean[f->moved]);
    }
    if (width > NAME_MOST)
        width = NAME_MOST;
    text_printf(out, "\n%s", text_quote_z(f->unit->name));
    if (r->classes > 1)
        text_printf(out, ", the label that moves most: \"%s\"",
                    text_quote_z(effects_class(r, f->moved)));
    text_printf(out, "\n%-*s %6s %*s  %s\n", (int)width, words ? "word" : "value", "rows", wide,
                words ? "change" : "mean", "10 % to 90 % of the rows");
    for (uint32_t i = 0; i < f->count; i++) {
        const struct effect_point *p = &f->points[i];
        const double mean = p->mean[f->moved];
        char range[64];
        snprintf(range, sizeof range, "%s to %s", text_figure(p->low[f->moved], digits),
                 text_figure(p->high[f->moved], digits));
        text_printf(out, "%-*s %6u %*s  %-24s", (int)width, shown_value(f, p), p->rows, wide,
                    text_figure(mean, digits), range);
        if (words)
            put_bar(fabs(mean), fmax(fabs(least), fabs(most)), out);
        else
            put_bar(mean - least, most - least, out);
    }
}

void explain_text_effects(const struct effects_result *r, struct text *out)
{
    struct text explains = {0};
    const int width = (int)name_width(r), digits = digits_of(r);
    effects_of(r, &explains);
    text_printf(out, "%s on %llu of %llu rows", explains.data, (unsigned long long)r->lines,
                (unsigned long long)r->rows);
    if (r->classes == 1)
        text_printf(out, ", on average %s", text_figure(r->mean[0], digits));
    text_printf(out, "; each row gets the value, its other cells stay\n%-*s %10s  %-28s %s\n",
                width, "column", "moves by", "lowest mean", "highest mean");
    for (uint32_t i = 0; i < r->count && i < EFFECTS_SHOWN; i++)
        effect_line(&r->effects[i], r->effects[0].size, width, digits, out);
    if (r->count > EFFECTS_SHOWN)
        text_printf(out, "%u more columns: --effects FILE and --json have all\n",
                    r->count - EFFECTS_SHOWN);
    if (r->left_out)
        text_printf(out, "%u columns of texts are left out: not available for sequences of "
                         "records\n", r->left_out);
    for (uint32_t i = 0; i < r->count && i < EFFECTS_DRAWN; i++)
        effect_points(r, &r->effects[i], digits, out);
    text_free(&explains);
}
