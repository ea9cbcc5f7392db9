/* by.c - see by.h. The rows keep their answers (compare.h), so that each group has a tally of its
 * rows alone, in their order: the bits of an evaluation of a file with these rows. */
#include "answer/evaluate/by.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "csv/form/date.h"

#define NO_TEXT UINT32_MAX
#define CELL_MOST 64 /* bytes of a number or date */

void by_open(struct by *b, const char *option)
{
    *b = (struct by){.column = mem_string(option), .texts = vocab_new()};
}

void by_free(struct by *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        mem_free(b->groups[i].name);
    mem_free(b->groups);
    mem_free(b->other);
    mem_free(b->column);
    vocab_free(b->texts);
    mem_free(b->text);
    mem_free(b->value);
    *b = (struct by){0};
}

/* --- rows --- */

static uint32_t cell_named(const struct stream *t, const char *name, size_t length)
{
    for (uint32_t i = 0; i < t->in.name_count; i++)
        if (strlen(t->in.names[i]) == length && memcmp(t->in.names[i], name, length) == 0)
            return i;
    return UINT32_MAX;
}

/* The cell of the column in the present input. The first input says whether BINS is part of the
 * option, or of a name. */
static bool find_cell(struct by *b, const struct stream *t, uint32_t *cell, struct err *e)
{
    size_t length = strlen(b->column);
    *cell = cell_named(t, b->column, length);
    char *colon = strrchr(b->column, ':');
    int64_t bins;
    if (!b->found && *cell == UINT32_MAX && colon && text_to_int(colon + 1, &bins) && bins >= 2 &&
        bins <= BY_GROUPS) {
        *cell = cell_named(t, b->column, (size_t)(colon - b->column));
        if (*cell != UINT32_MAX) {
            b->bins = (uint32_t)bins;
            *colon = '\0';
        }
    }
    b->found = true;
    if (*cell != UINT32_MAX)
        return true;
    const char *near = text_nearest(b->column, t->in.names, t->in.name_count);
    err_set(e, ERR_OPTION_VALUE, "--by: the data has no column \"%s\"", text_quote_z(b->column));
    double number;
    err_expected(e, "COLUMN, or COLUMN:BINS with 2 to %d bins%s", BY_GROUPS,
                 text_to_double(b->column, &number)
                     ? "; a number, the least advantage, needs --better-than"
                     : "");
    return near ? err_help(e, "did you mean \"%s\"?", text_quote_z(near)) : false;
}

/* A number or date, as the model's column writes it, or plainly. NaN: neither. */
static double value_of(struct by *b, const struct stream *t, uint32_t cell,
                       const struct csv_cell *c)
{
    const struct schema *s = t->schema;
    const uint32_t column = t->in.binding.column_of[cell];
    double value = (double)NAN;
    char text[CELL_MOST];
    if (cell_is_missing(s, column, c->text, c->length))
        return value;
    if (column != UINT32_MAX && s->columns[column].type == COLUMN_DATETIME) {
        b->dates = true;
        return column_time(s, column, c->text, c->length);
    }
    if (column != UINT32_MAX &&
        (s->columns[column].type == COLUMN_NUMERIC || column == s->target)) {
        column_number(s, column, c->text, c->length, &value);
        return value;
    }
    if (c->length >= sizeof text)
        return value;
    memcpy(text, c->text, c->length);
    text[c->length] = '\0';
    if (s->decimal == ',' && strchr(text, ','))
        *strchr(text, ',') = '.';
    if (text_to_double(text, &value))
        return value;
    if (date_parse(c->text, c->length, &value)) {
        b->dates = true;
        return value;
    }
    return (double)NAN;
}

bool by_add(struct by *b, const struct stream *t, const struct stream_group *g, struct err *e)
{
    uint32_t cell;
    if (!find_cell(b, t, &cell, e))
        return false;
    if (b->rows + g->rows > b->room) {
        b->room = 2 * (b->rows + g->rows);
        b->text = mem_grow(b->text, b->room, sizeof *b->text);
        b->value = b->bins ? mem_grow(b->value, b->room, sizeof *b->value) : NULL;
    }
    for (uint64_t i = 0; i < g->rows; i++) {
        const struct csv_record *r = g->cells ? &g->cells->records[g->first + i] : NULL;
        const struct csv_cell *c =
            r && cell < r->cells ? &g->cells->cells[r->first_cell + cell] : NULL;
        const uint64_t row = b->rows++;
        b->text[row] = NO_TEXT;
        if (b->bins)
            b->value[row] = c ? value_of(b, t, cell, c) : (double)NAN;
        else if (c && !g->bad[i] &&
                 !cell_is_missing(t->schema, t->in.binding.column_of[cell], c->text, c->length))
            b->text[row] = vocab_add(b->texts, c->text, c->length);
    }
    return true;
}

/* --- groups --- */

static void put_value(const struct by *b, double value, struct text *out)
{
    if (!b->dates || !date_put(value, out))
        text_put(out, text_figure(value, 6));
}

/* Makes the number of each row's bin its text, and names the bins by their least and greatest
 * value. Equal values are in one bin. False: no row has a value. */
static bool cut_bins(struct by *b, const struct answers_kept *k)
{
    double *sorted = mem_alloc(b->rows + 1, sizeof *sorted), low[BY_GROUPS], high[BY_GROUPS];
    uint64_t n = 0, begin = 0;
    uint32_t count = 0;
    for (uint64_t i = 0; i < b->rows; i++)
        if (answers_counts(k, i) && !isnan(b->value[i]))
            sorted[n++] = b->value[i];
    sort_doubles(sorted, n);
    for (uint32_t i = 0; i < b->bins && begin < n; i++) {
        uint64_t end = (i + 1) * n / b->bins;
        while (end > begin && end < n && !(sorted[end] > sorted[end - 1]))
            end++;
        if (end <= begin)
            continue;
        low[count] = sorted[begin];
        high[count++] = sorted[end - 1];
        begin = end;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct text name = {0};
        put_value(b, low[i], &name);
        if (high[i] > low[i]) {
            text_put(&name, " to ");
            put_value(b, high[i], &name);
        }
        if (vocab_find(b->texts, name.data, name.length) != UINT32_MAX)
            text_printf(&name, " (%u)", i + 1); /* they differ beyond six digits */
        vocab_add(b->texts, name.data, name.length);
        text_free(&name);
    }
    for (uint64_t i = 0; i < b->rows; i++)
        for (uint32_t g = 0; g < count && answers_counts(k, i); g++)
            if (b->value[i] >= low[g] && b->value[i] <= high[g])
                b->text[i] = g;
    mem_free(sorted);
    return count > 0;
}

struct size {
    uint64_t rows;
    uint32_t text; /* the number of texts: missing */
};

static int by_size(const void *one, const void *other, const void *context)
{
    (void)context;
    const struct size *a = one, *b = other;
    if (a->rows != b->rows)
        return a->rows > b->rows ? -1 : 1;
    return a->text < b->text ? -1 : a->text > b->text;
}

/* A name that no cell has: `word`, in as many brackets as needed. mem_free. */
static char *name_apart(const struct by *b, const char *word)
{
    struct text name = {0};
    text_put(&name, word);
    while (vocab_find(b->texts, name.data, name.length) != UINT32_MAX) {
        char *inner = name.data;
        name = (struct text){0};
        text_printf(&name, "(%s)", inner);
        mem_free(inner);
    }
    return name.data;
}

/* Numbers groups by size and returns of_text [texts + 1], the group of each text. */
static uint32_t *choose_groups(struct by *b, const struct answers_kept *k)
{
    const uint32_t texts = vocab_count(b->texts);
    struct size *sizes = mem_zero(texts + 1, sizeof *sizes);
    uint32_t *of_text = mem_zero(texts + 1, sizeof *of_text), met = 0;
    for (uint32_t i = 0; i <= texts; i++)
        sizes[i].text = i;
    for (uint64_t i = 0; i < b->rows; i++)
        if (answers_counts(k, i))
            sizes[b->text[i] == NO_TEXT ? texts : b->text[i]].rows++;
    sort_stable(sizes, texts + 1, sizeof *sizes, by_size, NULL);
    while (met <= texts && sizes[met].rows)
        met++;
    b->count = met > BY_GROUPS + 1 ? BY_GROUPS + 1 : met;
    b->pooled = met > b->count ? met - BY_GROUPS : 0;
    b->other = b->pooled ? name_apart(b, "other") : NULL;
    b->groups = mem_zero(b->count + 1, sizeof *b->groups);
    for (uint32_t i = 0; i < met; i++) {
        const uint32_t g = b->pooled && i >= BY_GROUPS ? BY_GROUPS : i, at = sizes[i].text;
        size_t length = 0;
        const char *text = at < texts ? vocab_text(b->texts, at, &length) : NULL;
        of_text[at] = g;
        b->groups[g].rows += sizes[i].rows;
        if (!b->groups[g].name)
            b->groups[g].name = b->pooled && g == BY_GROUPS ? mem_string(b->other)
                                : text                      ? mem_string_n(text, length)
                                                            : name_apart(b, "(missing)");
    }
    mem_free(sizes);
    return of_text;
}

/* Order: [rows], the rows of each group together, as in the file; begin: [count + 1]. */
static void order_rows(const struct by *b, const struct answers_kept *k, const uint32_t *of_text,
                       uint64_t *order, uint64_t *begin)
{
    const uint32_t texts = vocab_count(b->texts);
    uint64_t *next = mem_zero(b->count + 1, sizeof *next);
    begin[0] = 0;
    for (uint32_t g = 0; g < b->count; g++) {
        next[g] = begin[g];
        begin[g + 1] = begin[g] + b->groups[g].rows;
    }
    for (uint64_t i = 0; i < b->rows; i++)
        if (answers_counts(k, i))
            order[next[of_text[b->text[i] == NO_TEXT ? texts : b->text[i]]]++] = i;
    mem_free(next);
}

static void measure_group(struct by_group *g, const struct answers_kept *k,
                          const struct tally *like, const uint64_t *order)
{
    struct tally *t = tally_new(like->task, like->classes, TALLY_ALL);
    t->decision = like->decision;
    if (criterion_is_metric(&like->criterion)) /* else it judges by what is not kept */
        tally_judge_by(t, &like->criterion);
    t->conformal = like->conformal;
    for (uint64_t i = 0; i < g->rows; i++) {
        const struct scores one = answers_scores(k, order[i], 1);
        tally_add(t, &one);
    }
    metrics_of(t, &g->metrics);
    metrics_intervals(t, &g->metrics);
    tally_free(t);
}

static int by_worst(const void *one, const void *other, const void *context)
{
    const struct metric_type *m = context;
    const struct by_group *a = one, *b = other;
    double x = metrics_get(&a->metrics, m->name), y = metrics_get(&b->metrics, m->name);
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return x == y ? 0 : (x < y) == m->higher ? -1 : 1;
}

bool by_measure(struct by *b, const struct answers_kept *k, const struct tally *like,
                const struct metric_type *metric, struct err *e)
{
    b->metric = metric;
    if (b->bins && !cut_bins(b, k)) {
        err_set(e, ERR_OPTION_VALUE, "--by: the column \"%s\" has no numbers or dates to cut",
                text_quote_z(b->column));
        return err_help(e, "--by %s measures its values", text_quote_z(b->column));
    }
    uint32_t *of_text = choose_groups(b, k);
    uint64_t *order = mem_alloc(b->rows + 1, sizeof *order);
    uint64_t *begin = mem_zero(b->count + 1, sizeof *begin);
    order_rows(b, k, of_text, order, begin);
    for (uint32_t g = 0; g < b->count; g++)
        measure_group(&b->groups[g], k, like, order + begin[g]);
    sort_stable(b->groups, b->count, sizeof *b->groups, by_worst, metric);
    mem_free(of_text);
    mem_free(order);
    mem_free(begin);
    return true;
}

uint32_t by_metrics(const struct by *b, const char **names, uint32_t most)
{
    uint32_t count = 0;
    names[count++] = b->metric->name;
    for (uint32_t i = 0; b->count && i < b->groups->metrics.count && count < most; i++)
        if (b->groups->metrics.m[i].type != b->metric)
            names[count++] = b->groups->metrics.m[i].type->name;
    return count;
}

uint32_t by_undefined(const struct by *b)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < b->count; g++)
        count += isnan(metrics_get(&b->groups[g].metrics, b->metric->name)) ? 1 : 0;
    return count;
}

void by_judge(const struct by *b, size_t count, struct gate *g)
{
    const struct by_group *worst = NULL;
    double value = (double)NAN;
    for (size_t c = 0; c < count; c++)
        for (uint32_t i = 0; i < b[c].count; i++) {
            double own = metrics_get(&b[c].groups[i].metrics, g->metric->name);
            if (isnan(own) || (worst && (g->metric->higher ? own >= value : own <= value)))
                continue;
            value = own;
            worst = &b[c].groups[i];
            mem_free(g->where);
            struct text where = {0};
            text_printf(&where, "%s ", text_quote_z(b[c].column));
            text_printf(&where, "\"%s\", %llu rows", text_quote_z(worst->name),
                        (unsigned long long)worst->rows);
            g->where = where.data;
        }
    gate_measure(g, value);
}

void by_write(const struct by *b, size_t count, struct json_out *out)
{
    json_open(out, "groups", '{');
    for (size_t c = 0; c < count; c++) {
        json_open(out, b[c].column, '[');
        for (uint32_t i = 0; i < b[c].count; i++) {
            json_open(out, NULL, '{');
            json_put_string(out, "group", b[c].groups[i].name);
            json_put_int(out, "rows", (int64_t)b[c].groups[i].rows);
            metrics_write(&b[c].groups[i].metrics, "metrics", out);
            metrics_write_intervals(&b[c].groups[i].metrics, "intervals", out);
            json_close(out, '}');
        }
        json_close(out, ']');
    }
    json_close(out, '}');
}
