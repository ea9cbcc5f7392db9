/* clock.c - columns of moments that are counted from 1970, and columns of durations. */
#include <string.h>

#include "base/text.h"
#include "csv/form/duration.h"
#include "infer/survey.h"

/* Counts since 1970: the directive that reads each, and how many make a second. */
static const struct {
    double a_second;
    const char *name, *format;
} counts[] = {{1, "seconds", "%s"},
              {1e3, "milliseconds", "%Q"},
              {1e6, "microseconds", "%q"},
              {1e9, "nanoseconds", "%N"}};

bool infer_is_stamp(const char *text, size_t length)
{
    double seconds;
    return (length == 14 && date_parse_format(text, length, "%Y%m%d%H%M%S", &seconds)) ||
           (length == 12 && date_parse_format(text, length, "%Y%m%d%H%M", &seconds));
}

/* 20240131123000: all of one length, of the years 1900 to 2099. */
static const char *format_of_stamps(const struct column_profile *w, uint64_t present)
{
    if (w->stamps != present || w->whole != present || w->distinct < 10)
        return NULL;
    return w->low[0] >= 19000101000000.0 && w->high[0] < 21000101000000.0 ? "%Y%m%d%H%M%S"
           : w->low[0] >= 190001010000.0 && w->high[0] < 210001010000.0   ? "%Y%m%d%H%M"
                                                                    : NULL;
}

bool infer_epoch(const struct column_profile *w, uint64_t present, struct infer_column *c)
{
    static const double first = 946684800, last = 2208988800.0; /* the years 2000 to 2039 */
    const bool named = column_names_moment(c->name), cut = w->fraction > 0;
    const char *stamps = format_of_stamps(w, present);
    size_t i = 0;
    if (stamps) {
        c->form = form_new(NULL, NULL, 0, stamps);
        infer_set(c, COLUMN_DATETIME,
                  "dates and times of digits alone, from %.0f to %.0f, in %llu cells: \"format\": "
                  "\"%s\"", w->low[0], w->high[0], (unsigned long long)present, stamps);
        return true;
    }
    while (i + 1 < sizeof counts / sizeof *counts && w->high[0] >= counts[i + 1].a_second * first)
        i++;
    if (w->whole + w->signs[0].cells != present || w->distinct < 10 ||
        w->low[0] < counts[i].a_second * first || w->high[0] >= counts[i].a_second * last ||
        column_name_kind(c->name) == NAME_ID || !(named || (w->minutes && !cut)))
        return false;
    form_free(c->form);
    c->form = form_new(NULL, NULL, 0, counts[i].format);
    infer_set(c, COLUMN_DATETIME,
              "%s since 1970, from %.0f to %.0f, in %llu cells: \"format\": \"%s\"",
              counts[i].name, w->low[0], w->high[0], (unsigned long long)present,
              counts[i].format);
    return true;
}

void infer_span(struct infer_spans *s, const char *text, size_t length, int64_t line)
{
    double seconds;
    if (length > FORM_CELL || !duration_parse(text, length, &seconds))
        return;
    const char *colon = memchr(text, ':', length);
    bool words = false;
    for (size_t i = 0; i < length; i++)
        words |= ((text[i] | 32) >= 'a' && (text[i] | 32) <= 'z') || text[i] & 0x80;
    if (!s->read++) {
        memcpy(s->first, text, length);
        s->first[length] = '\0';
        s->line = line;
    }
    const size_t behind = colon ? (size_t)(text + length - colon) : 0;
    if (!words)
        s->clocks[behind > 3 && colon[3] == ':']++;
    s->long_ones += words || seconds < 0 || seconds > 86400;
}

bool infer_propose_span(const struct column_profile *w, const struct infer_counts *n,
                        struct infer_column *c)
{
    const struct infer_spans *s = &w->spans;
    if (!s->read || s->read != n->present ||
        !(s->long_ones || n->target || column_names_duration(c->name)))
        return false;
    const bool mixed = s->clocks[0] && s->clocks[1];
    c->unread = mixed;
    if (mixed)
        infer_set(c, COLUMN_IGNORE,
                  "durations such as \"%.40s\" (line %lld), %llu of two numbers and %llu of three: "
                  "those of two may be hours and minutes, or minutes and seconds; write all with "
                  "three, such as 0:45:10, and run init again", text_quote_z(s->first),
                  (long long)s->line, (unsigned long long)s->clocks[0],
                  (unsigned long long)s->clocks[1]);
    else
        infer_set(c, COLUMN_NUMERIC,
                  "durations such as \"%.40s\" (line %lld) in %llu cells, as seconds%s: "
                  "\"format\": \"" FORM_DURATION "\"", text_quote_z(s->first), (long long)s->line,
                  (unsigned long long)s->read,
                  s->clocks[0] ? " (two numbers are hours and minutes)" : "");
    form_free(c->form);
    c->form = mixed ? NULL : form_new(NULL, NULL, 0, FORM_DURATION);
    return true;
}
