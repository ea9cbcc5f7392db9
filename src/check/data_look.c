/* data_look.c - see data_look.h. */
#include "check/data_look.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "table/vocab.h"

#define CELLS_MOST ((uint64_t)4 << 20) /* of the sample */
#define CENTRAL_LOW 0.01
#define NO_CODE UINT32_MAX

/* The sample: of each column numbers, or codes of its texts. */
struct looking {
    struct data_look *to;
    uint64_t seen, rows, room;
    double **number;      /* [columns][rows]; NaN: missing or no number; NULL: not of numbers */
    uint32_t **code;      /* [columns][rows]; NO_CODE: missing; NULL: not of categories */
    struct vocab **texts; /* [columns] */
    double *target;       /* [rows]; NaN: none */
};

/* --- the sample --- */

static bool is_missing(const struct infer *i, const struct infer_column *c, const char *text,
                       size_t length)
{
    return opt_strings_has(&i->missing, text, length) || opt_strings_has(&c->none, text, length);
}

static double number_of(const struct infer *i, const struct infer_column *c, const char *text,
                        size_t length)
{
    double value;
    if (c->type == COLUMN_DATETIME)
        return form_read_date(c->form, text, length, &value) ? value : (double)NAN;
    return form_read_number(c->form, text, length, i->decimal, &value) == NUMBER_OK ? value
                                                                                    : (double)NAN;
}

static double target_of(const struct data_look *l, const char *text, size_t length)
{
    const struct infer_column *c = &l->found->columns[l->target];
    if (is_missing(l->found, c, text, length))
        return (double)NAN;
    if (l->label)
        return strlen(l->label) == length && memcmp(l->label, text, length) == 0;
    return number_of(l->found, c, text, length);
}

static void take_row(struct looking *x, const struct csv_cells *cells, const struct csv_record *r)
{
    const struct data_look *l = x->to;
    const uint64_t row = x->rows++;
    x->target[row] = (double)NAN;
    for (size_t k = 0; k < l->found->count; k++) {
        const struct csv_cell *c =
            k < r->cells ? &cells->cells[r->first_cell + k] : NULL;
        const char *text = c ? c->text : "";
        const size_t length = c ? c->length : 0;
        const bool missing = is_missing(l->found, &l->found->columns[k], text, length);
        if (k == l->target && l->against)
            x->target[row] = target_of(l, text, length);
        if (x->number[k])
            x->number[k][row] =
                missing ? (double)NAN : number_of(l->found, &l->found->columns[k], text, length);
        if (x->code[k])
            x->code[k][row] = missing || vocab_count(x->texts[k]) >= LOOK_DISTINCT
                                  ? NO_CODE
                                  : vocab_add(x->texts[k], text, length);
    }
}

/* x->room rows of all, at equal distances. */
static bool is_wanted(const struct looking *x, uint64_t row)
{
    const uint64_t all = x->to->found->rows;
    return row * x->room / all != (row + 1) * x->room / all;
}

static bool read_sample(struct looking *x, const struct infer_request *q, struct err *e)
{
    char *path = mem_string(q->path);
    const char *const *names;
    size_t count;
    struct csv *c = csv_open(&x->to->found->dialect, &path, 1, e);
    struct csv_cells cells = {0};
    struct csv_block b;
    bool good = c && csv_header(c, &names, &count, e);
    while (good && csv_next(c, &b, e)) {
        good = !(q->stop && q->stop()) &&
               csv_cells_parse(&x->to->found->dialect, &b, count, &cells, e);
        for (size_t i = 0; good && i < cells.record_count; i++)
            if (is_wanted(x, x->seen++) && x->rows < x->room)
                take_row(x, &cells, &cells.records[i]);
        csv_release(c, &b);
    }
    csv_cells_free(&cells);
    if (c)
        csv_close(c);
    mem_free(path);
    return good && e->id == ERR_NONE;
}

/* --- spreads --- */

static double mean_target(const struct looking *x, const uint32_t *rows, uint64_t count)
{
    double sum = 0, known = 0;
    for (uint64_t i = 0; i < count; i++)
        if (!isnan(x->target[rows[i]])) {
            sum += x->target[rows[i]];
            known++;
        }
    return known > 0 ? sum / known : (double)NAN;
}

static void spread_numbers(const struct looking *x, size_t k, struct look_column *c)
{
    const double *v = x->number[k];
    double *sorted = mem_alloc(x->rows + 1, sizeof *sorted);
    float *keys = mem_alloc(x->rows + 1, sizeof *keys);
    uint32_t *row = mem_alloc(x->rows + 1, sizeof *row);
    uint32_t *order = mem_alloc(x->rows + 1, sizeof *order);
    uint64_t n = 0;
    for (uint64_t i = 0; i < x->rows; i++) {
        if (isnan(v[i]))
            continue;
        c->mean += v[i];
        sorted[n] = v[i];
        row[n++] = (uint32_t)i;
    }
    c->mean = n ? c->mean / (double)n : (double)NAN;
    sort_doubles(sorted, n);
    c->median = n ? sorted[n / 2] : (double)NAN;
    c->from = n ? sorted[(uint64_t)(CENTRAL_LOW * (double)(n - 1))] : 0;
    c->to = n ? sorted[(uint64_t)((1 - CENTRAL_LOW) * (double)(n - 1) + 0.5)] : 0;
    for (uint64_t i = 0; i < n; i++) {
        const double at = c->to > c->from ? (sorted[i] - c->from) / (c->to - c->from) : 0;
        if (at >= 0 && at <= 1)
            c->bar[at < 1 ? (int)(at * LOOK_BARS) : LOOK_BARS - 1]++;
        keys[i] = (float)(v[row[i]] - c->mean);
    }
    sort_order_floats(order, keys, n);
    for (uint64_t i = 0; i < n; i++)
        order[i] = row[order[i]];
    for (uint64_t from = 0; from < n && c->count < LOOK_VALUES;) {
        uint64_t to = (c->count + 1) * n / LOOK_VALUES;
        to = to > from ? to : from + 1;
        while (to < n && v[order[to]] <= v[order[to - 1]]) /* equal values stay together */
            to++;
        c->values[c->count++] = (struct look_value){
            .low = v[order[from]], .high = v[order[to - 1]],
            .share = (double)(to - from) / (double)x->rows,
            .target = mean_target(x, order + from, to - from)};
        from = to;
    }
    mem_free(sorted);
    mem_free(keys);
    mem_free(row);
    mem_free(order);
}

static void spread_categories(const struct looking *x, size_t k, struct look_column *c)
{
    const uint32_t values = vocab_count(x->texts[k]);
    double *rows = mem_zero((size_t)values + 1, sizeof *rows);
    double *sum = mem_zero((size_t)values + 1, sizeof *sum);
    double *known = mem_zero((size_t)values + 1, sizeof *known);
    double all = 0;
    for (uint64_t i = 0; i < x->rows; i++) {
        const uint32_t at = x->code[k][i];
        if (at == NO_CODE)
            continue;
        rows[at]++;
        all++;
        if (!isnan(x->target[i])) {
            sum[at] += x->target[i];
            known[at]++;
        }
    }
    while (c->count < LOOK_VALUES) {
        uint32_t most = 0;
        for (uint32_t i = 1; i < values; i++)
            most = rows[i] > rows[most] ? i : most;
        if (!values || !(rows[most] > 0))
            break;
        c->values[c->count++] = (struct look_value){
            .text = mem_string(vocab_text(x->texts[k], most, NULL)),
            .share = rows[most] / (double)x->rows,
            .target = known[most] > 0 ? sum[most] / known[most] : (double)NAN};
        all -= rows[most];
        rows[most] = 0;
    }
    c->others = x->rows ? all / (double)x->rows : 0;
    mem_free(rows);
    mem_free(sum);
    mem_free(known);
}

/* --- the story --- */

static void begin(struct looking *x, const struct infer_request *q)
{
    struct data_look *l = x->to;
    const struct infer *found = l->found;
    const uint64_t most = CELLS_MOST / (found->count + 1) + 1;
    x->room = most < LOOK_ROWS ? most : LOOK_ROWS;
    x->room = found->rows < x->room ? found->rows : x->room;
    l->columns = mem_zero(found->count + 1, sizeof *l->columns);
    l->target = SIZE_MAX;
    x->number = mem_zero(found->count + 1, sizeof *x->number);
    x->code = mem_zero(found->count + 1, sizeof *x->code);
    x->texts = mem_zero(found->count + 1, sizeof *x->texts);
    x->target = mem_alloc(x->room + 1, sizeof *x->target);
    for (size_t k = 0; k < found->count; k++) {
        struct look_column *c = &l->columns[k];
        const struct infer_column *about = &found->columns[k];
        const bool target = q->target && strcmp(about->name, q->target) == 0;
        c->about = about;
        if (target)
            l->target = k;
        c->numbers = target ? found->task == TASK_REGRESSION
                            : about->type == COLUMN_NUMERIC || about->type == COLUMN_DATETIME;
        c->categories = target ? found->task != TASK_REGRESSION
                               : about->type == COLUMN_CATEGORICAL;
        if (c->numbers)
            x->number[k] = mem_alloc(x->room + 1, sizeof **x->number);
        if (c->categories) {
            x->code[k] = mem_alloc(x->room + 1, sizeof **x->code);
            x->texts[k] = vocab_new();
        }
    }
    l->against = l->target != SIZE_MAX && found->task != TASK_MULTICLASS;
    l->label = l->against && found->task == TASK_BINARY ? found->positive : NULL;
}

static void end(struct looking *x)
{
    for (size_t k = 0; k < x->to->found->count; k++) {
        mem_free(x->number[k]);
        mem_free(x->code[k]);
        if (x->texts[k])
            vocab_free(x->texts[k]);
    }
    mem_free(x->number);
    mem_free(x->code);
    mem_free(x->texts);
    mem_free(x->target);
}

bool data_look_run(struct data_look *l, const struct infer_request *q, struct err *e)
{
    struct looking x = {.to = l};
    *l = (struct data_look){.found = infer_file(q, e)};
    if (!l->found)
        return false;
    begin(&x, q);
    const bool good = read_sample(&x, q, e);
    double sum = 0, known = 0;
    l->rows = x.rows;
    for (size_t k = 0; good && k < l->found->count; k++) {
        if (l->columns[k].numbers)
            spread_numbers(&x, k, &l->columns[k]);
        else if (l->columns[k].categories)
            spread_categories(&x, k, &l->columns[k]);
    }
    for (uint64_t i = 0; i < x.rows; i++)
        if (!isnan(x.target[i])) {
            sum += x.target[i];
            known++;
        }
    l->target_mean = known > 0 ? sum / known : (double)NAN;
    end(&x);
    return good;
}

void data_look_free(struct data_look *l)
{
    for (size_t k = 0; l->columns && k < l->found->count; k++)
        for (uint32_t i = 0; i < l->columns[k].count; i++)
            mem_free(l->columns[k].values[i].text);
    mem_free(l->columns);
    infer_free(l->found);
    *l = (struct data_look){0};
}
