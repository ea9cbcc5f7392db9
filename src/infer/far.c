/* far.c - values that stand for "none": -999 among ages, 99999, 9999-12-31, 1900-01-01. Such a
 * value is the least or the greatest of a number or a date, stands in many rows, and is far from
 * the others. A value that people use as such a mark is written into the column's missing; for
 * another one a note is written. Only sampled rows are checked. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json/json.h"
#include "base/mem.h"
#include "base/process/shell.h"
#include "base/sort.h"
#include "base/text.h"
#include "infer/survey.h"

enum {
    LEAST_ROWS = 20,
    LEAST_CELLS = 3,
    SHARE = 100,    /* a value in one of SHARE rows has a mass */
    RARE = 1000,    /* so has, in one of RARE rows, a mark that is very far */
    TOGETHER = 3,   /* values at one end: 97, 98, 99 */
    TEXTS = 8       /* that they are written as, in one column */
};

/* The sampled numbers, or seconds of dates, of a column. */
struct far {
    const struct survey *survey;
    const struct infer *infer;
    size_t column;
    bool dates;
    double *at;      /* in the order of the sample; NaN: missing, or neither */
    double *sorted;  /* without NaN */
    uint32_t from, end; /* of sorted: the values that are left */
    uint32_t count;  /* of sorted, at the beginning */
};

/* The verdict on the values at one end. */
enum verdict { NEAR, FAR, MARK };

static void read_column(struct far *f)
{
    for (uint32_t i = 0; i < f->survey->samples; i++) {
        double value;
        f->at[i] = (double)NAN;
        if (infer_sampled_value(f->survey, f->infer, f->column, i, &value))
            f->sorted[f->count++] = f->at[i] = value;
    }
    sort_doubles(f->sorted, f->count);
    f->end = f->count;
}

/* --- marks --- */

/* 99, -999, 8888, 77777.0: nothing but one of these digits, *digits of them. */
static bool is_run_of_digits(double value, unsigned *digits)
{
    char text[32];
    const double size = fabs(value);
    if (size > 1e15 || size < 9 || rint(size) < size)
        return false;
    *digits = (unsigned)snprintf(text, sizeof text, "%.0f", size);
    return strchr("987", text[0]) && strspn(text, (char[]){text[0], '\0'}) == *digits;
}

/* The ends of types of numbers, and the fill values of file formats. */
static bool is_limit(double value)
{
    static const double limits[] = {2147483647, -2147483648.0, 4294967295.0, 32767, -32768, 65535,
                                    9223372036854775807.0, -9223372036854775808.0, 1e20, 1e30};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (fabs(value - limits[i]) <= 1e-9 * fabs(value) ||
            fabs(value + limits[i]) <= 1e-9 * fabs(value))
            return true;
    return fabs(value) > 9.9e35;
}

/* True: few digits, as people write a mark for none. */
static bool is_round(double value)
{
    char text[32];
    double same;
    snprintf(text, sizeof text, "%.4g", value);
    return text_to_double(text, &same) && same >= value && same <= value;
}

/* Prices end in 9: 99 beside 19, 49 and 79 is one of them. */
static bool are_prices(const struct far *f)
{
    uint32_t nines = 0;
    for (uint32_t i = f->from; i < f->end; i++)
        nines += fmod(fabs(rint(f->sorted[i])), 10) > 8.5;
    return nines * UINT64_C(10) > (f->end - f->from) * UINT64_C(3);
}

static struct tm day_of(double seconds)
{
    const time_t at = (time_t)floor(seconds);
    struct tm day = {0};
    gmtime_r(&at, &day);
    return day;
}

/* The first or last day of a year that is far in the past or in the future. */
static bool is_mark_of_date(double seconds)
{
    static const int years[] = {1970, 1980, 2049, 2050, 2078, 2079};
    const struct tm d = day_of(seconds);
    const int of = d.tm_year + 1900;
    const bool edge = (d.tm_mon == 0 && d.tm_mday == 1) || (d.tm_mon == 11 && d.tm_mday >= 30);
    bool year = of <= 1901 || of >= 2090;
    for (size_t i = 0; i < sizeof years / sizeof *years; i++)
        year |= of == years[i];
    if (of == 2038 && d.tm_mon == 0 && d.tm_mday == 19)
        return true; /* the last second of 32 bits */
    return year && (edge || of >= 2200 || of <= 1753);
}

/* --- how far --- */

/* The values that are left: their range, and that without the outermost twentieths. */
struct spread {
    double low, high, full, most;
    uint32_t distinct;
};

static struct spread spread_of(const struct far *f)
{
    const double *v = f->sorted + f->from;
    const uint32_t n = f->end - f->from;
    struct spread s = {v[0], v[n - 1], v[n - 1] - v[0], v[n - 1 - n / 20] - v[n / 20], 1};
    for (uint32_t i = 1; i < n && s.distinct < 11; i++)
        s.distinct += v[i] > v[i - 1];
    return s;
}

/* A zip code of 99999 is one of five digits among others. */
static bool is_code(const struct far *f, double value, double other)
{
    char texts[2][32];
    const char *name = f->infer->columns[f->column].name;
    snprintf(texts[0], sizeof texts[0], "%.0f", value);
    snprintf(texts[1], sizeof texts[1], "%.0f", other);
    return (column_names_kind(name) || column_name_kind(name) != NAME_OTHER) && value > 0 &&
           !(f->survey->profiles[f->column].fraction > 0) && strlen(texts[0]) == strlen(texts[1]);
}

/* Judges the value of `cells` cells beyond the values that are left in f. */
static enum verdict judge(const struct far *f, double value, uint32_t cells)
{
    const struct spread s = spread_of(f);
    const double gap = value < s.low ? s.low - value : value - s.high;
    unsigned digits = 1;
    if (s.distinct < 2 || (!f->dates && is_code(f, value, s.high)))
        return NEAR;
    const bool often = cells * (uint64_t)SHARE >= f->count;
    const bool strange = gap > 3 * s.full;
    if (!often && !(gap > 10 * s.full && cells * (uint64_t)RARE >= f->count))
        return NEAR;
    const bool half = cells * UINT64_C(2) <= f->count;
    if (f->dates)
        return is_mark_of_date(value) && gap > s.most / 4 ? MARK : strange && half ? FAR : NEAR;
    const bool run = is_run_of_digits(value, &digits);
    const bool alone = value < 0 && s.low >= 0; /* the only one below 0 */
    if (run && alone && (digits > 1 || gap > s.full))
        return MARK;
    if (run && digits > 1 && gap > (digits > 2 ? s.most / 2 : s.most) && !are_prices(f))
        return MARK;
    if (is_limit(value) || (strange && alone && (run || !(value < -1))))
        return gap > s.most / 2 ? MARK : NEAR;
    return strange && half && s.distinct > 10 && is_round(value) ? FAR : NEAR;
}

/* Looks at one end: its values, the outermost first, until the rest is far from the last of them.
 * They leave f. NEAR: nothing is changed. */
static enum verdict look_at_end(struct far *f, bool top, double values[TOGETHER], unsigned *count)
{
    const struct far before = *f;
    enum verdict best = NEAR;
    *count = 0;
    for (unsigned k = 0; k < TOGETHER && f->end - f->from > LEAST_ROWS / 2 && best == NEAR; k++) {
        const double value = f->sorted[top ? f->end - 1 : f->from];
        uint32_t cells = 0;
        while (f->from < f->end && !(f->sorted[top ? f->end - 1 : f->from] > value) &&
               !(f->sorted[top ? f->end - 1 : f->from] < value)) {
            cells++;
            f->from += !top;
            f->end -= top;
        }
        values[(*count)++] = value;
        if (cells < LEAST_CELLS || f->end - f->from < LEAST_ROWS / 2)
            break;
        best = judge(f, value, cells);
        for (unsigned i = 0; i + 1 < *count && best != NEAR; i++) { /* the others with it */
            enum verdict other = judge(f, values[i], before.count);
            best = other > best ? other : best;
        }
    }
    if (best == NEAR)
        *f = before;
    return best;
}

/* --- what is told --- */

/* Values that were found, as text. */
struct found {
    struct opt_strings texts;
    uint32_t cells;
};

/* Adds the texts of these values, and their cells in the sample. */
static void texts_of(const struct far *f, const double *values, unsigned count, struct found *to)
{
    for (uint32_t i = 0; i < f->survey->samples; i++) {
        bool is = false;
        for (unsigned k = 0; k < count; k++)
            is |= f->at[i] >= values[k] && f->at[i] <= values[k];
        if (!is)
            continue;
        size_t size;
        const char *text = infer_sampled(f->survey, f->infer, f->column, i, &size);
        to->cells++;
        if (text && !opt_strings_has(&to->texts, text, size) && to->texts.count < TEXTS) {
            char *copy = mem_string_n(text, size);
            opt_strings_add(&to->texts, copy);
            mem_free(copy);
        }
    }
}

static void put_value(const struct far *f, double value, char *out, size_t size)
{
    const struct tm d = day_of(f->dates ? value : 0);
    if (f->dates)
        snprintf(out, size, "%04d-%02d-%02d", d.tm_year + 1900, d.tm_mon + 1, d.tm_mday);
    else
        snprintf(out, size, "%.10g", value);
}

/* The use of marks: written to the config, or only noted. */
enum fate { TAKEN, LEFT, LEFT_IN_TARGET };

static void tell(const struct far *f, const struct found *found, enum fate fate,
                 struct infer_column *c)
{
    char low[40], high[40];
    struct text list = {0}, line = {0};
    struct json_out keep = {0};
    const bool many = found->texts.count > 1;
    const struct opt_strings *missing = fate == TAKEN ? &c->none : &found->texts;
    put_value(f, f->sorted[f->from], low, sizeof low);
    put_value(f, f->sorted[f->end - 1], high, sizeof high);
    for (size_t i = 0; i < found->texts.count; i++)
        text_printf(&list, "%s\"%s\"", i ? ", " : "", text_quote_z(found->texts.items[i]));
    json_put_strings(&keep, NULL, missing->items, missing->count);
    text_printf(&line, "%s%s in %u of %u cells%s %s far from the others (%s to %s): ",
                c->far[0] ? "; " : "", list.data, found->cells, f->count,
                f->survey->sample_step > 1 ? " looked at" : "", many ? "are" : "is", low, high);
    if (fate == TAKEN)
        text_printf(&line, "taken as missing, by the column's \"missing\"; to keep %s as a value, ",
                    many ? "each" : "it");
    else
        text_printf(&line, "if %s no value, ", many ? "they mean" : "it means");
    if (fate == LEFT_IN_TARGET)
        text_printf(&line, "--set %s leaves such rows out",
                    shell_word("data.columns.%s={\"type\": \"numeric\", \"missing\": %s}",
                               shell_key(c->name),
                               keep.text.data));
    else
        text_printf(&line, "--set %s",
                    shell_word("data.columns.%s.missing=%s", shell_key(c->name), keep.text.data));
    infer_more(c->far, sizeof c->far, "%s", line.data);
    text_free(&keep.text);
    text_free(&list);
    text_free(&line);
}

static void look_at_column(struct far *f, const struct infer_request *r, struct infer *out)
{
    struct infer_column *c = &out->columns[f->column];
    const bool target = f->column == out->target;
    struct found taken = {.cells = 0}, left = {.cells = 0};
    read_column(f);
    for (int turn = 0; turn < 4 && f->count >= LEAST_ROWS; turn++) {
        double values[TOGETHER];
        unsigned count;
        const enum verdict v = look_at_end(f, turn & 1, values, &count);
        if (v != NEAR)
            texts_of(f, values, count, v == MARK && !target && !r->missing ? &taken : &left);
        c->distinct -= v != NEAR && c->distinct > count ? count : 0;
    }
    if (taken.cells)
        tell(f, &taken, TAKEN, c);
    for (size_t i = 0; i < taken.texts.count; i++)
        opt_strings_add(&c->none, taken.texts.items[i]);
    c->missing += f->survey->sample_step == 1 ? taken.cells : 0;
    if (left.cells)
        tell(f, &left, target ? LEFT_IN_TARGET : LEFT, c);
    opt_strings_free(&taken.texts);
    opt_strings_free(&left.texts);
}

void infer_far(const struct infer_request *r, const struct survey *s, struct infer *out)
{
    for (size_t c = 0; r->target && c < s->count; c++) {
        const int type = out->columns[c].type;
        if ((type != COLUMN_NUMERIC && type != COLUMN_DATETIME) || !s->profiles[c].sample_at ||
            s->profiles[c].own)
            continue; /* or the user gives the missing texts */
        struct far f = {.survey = s, .infer = out, .column = c, .dates = type == COLUMN_DATETIME};
        f.at = mem_alloc((size_t)s->samples + 1, sizeof *f.at);
        f.sorted = mem_alloc((size_t)s->samples + 1, sizeof *f.sorted);
        look_at_column(&f, r, out);
        mem_free(f.at);
        mem_free(f.sorted);
    }
}
