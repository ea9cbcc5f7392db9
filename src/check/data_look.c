/* data_look.c - see data_look.h. */
#include "check/data_look.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "check/data_sample.h"

#define CELLS_MOST ((uint64_t)4 << 20) /* of the sample */

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
        if (k == l->target && l->targets)
            x->target[row] = target_of(l, text, length);
        struct look_raw *raw = &x->raw[k];
        if (raw->number)
            raw->number[row] =
                missing ? (double)NAN : number_of(l->found, &l->found->columns[k], text, length);
        if (raw->code)
            raw->code[row] = missing || vocab_count(raw->texts) >= LOOK_DISTINCT
                                 ? LOOK_NO_CODE
                                 : vocab_add(raw->texts, text, length);
        if (raw->words) {
            raw->words->empty[row] = missing;
            look_words_add(x, k, missing ? "" : text, missing ? 0 : length);
        }
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
    x->raw = mem_zero(found->count + 1, sizeof *x->raw);
    x->target = mem_alloc(x->room + 1, sizeof *x->target);
    for (size_t k = 0; k < found->count; k++) {
        struct look_column *c = &l->columns[k];
        const struct infer_column *about = &found->columns[k];
        const bool target = q->target && strcmp(about->name, q->target) == 0;
        c->about = about;
        c->tells = target ? (double)NAN : about->alone;
        if (target)
            l->target = k;
        c->numbers = target ? found->task == TASK_REGRESSION
                            : about->type == COLUMN_NUMERIC || about->type == COLUMN_DATETIME;
        c->categories = target ? found->task != TASK_REGRESSION
                               : about->type == COLUMN_CATEGORICAL;
        c->words = !target && about->type == COLUMN_TEXT;
        struct look_raw *raw = &x->raw[k];
        if (c->numbers)
            raw->number = mem_alloc(x->room + 1, sizeof *raw->number);
        if (c->categories)
            raw->code = mem_alloc(x->room + 1, sizeof *raw->code);
        if (c->words) {
            raw->words = mem_zero(1, sizeof *raw->words);
            raw->words->last = mem_zero(LOOK_DISTINCT, sizeof *raw->words->last);
            raw->words->empty = mem_zero(x->room + 1, sizeof *raw->words->empty);
        }
        if (c->categories || c->words)
            raw->texts = vocab_new();
    }
    l->targets = l->target != SIZE_MAX && found->task != TASK_MULTICLASS;
    l->label = l->targets && found->task == TASK_BINARY ? found->positive : NULL;
}

static void words_free(struct look_words *w)
{
    if (!w)
        return;
    mem_free(w->row);
    mem_free(w->code);
    mem_free(w->last);
    mem_free(w->empty);
    text_free(&w->folded);
    mem_free(w);
}

static void end(struct looking *x)
{
    for (size_t k = 0; k < x->to->found->count; k++) {
        struct look_raw *raw = &x->raw[k];
        mem_free(raw->number);
        mem_free(raw->code);
        if (raw->texts)
            vocab_free(raw->texts);
        words_free(raw->words);
    }
    mem_free(x->raw);
    mem_free(x->target);
}

/* More than two labels: the most frequent ones are the target. */
static void set_labels(struct looking *x)
{
    struct data_look *l = x->to;
    const struct look_column *c = &l->columns[l->target];
    int place[LOOK_LABELS];
    look_spread_codes(x, l->target);
    for (; l->targets < c->count && l->targets < LOOK_LABELS; l->targets++) {
        l->labels[l->targets] = c->values[l->targets].text;
        place[l->targets] = (int)vocab_find(x->raw[l->target].texts, l->labels[l->targets],
                                            strlen(l->labels[l->targets]));
    }
    for (uint64_t i = 0; i < x->rows; i++) {
        const uint32_t code = x->raw[l->target].code[i];
        if (code == LOOK_NO_CODE)
            continue;
        x->target[i] = -1;
        for (uint32_t t = 0; t < l->targets; t++)
            if (place[t] == (int)code)
                x->target[i] = t;
    }
}

static void set_target(struct looking *x)
{
    struct data_look *l = x->to;
    struct look_sum sum = {0};
    if (l->target != SIZE_MAX && x->raw[l->target].code && !l->targets)
        set_labels(x);
    for (uint32_t i = 0; i < x->rows; i++)
        look_sum_add(&sum, x, i);
    look_sum_mean(&sum, l->target_mean);
}

static void spread(struct looking *x)
{
    for (size_t k = 0; k < x->to->found->count; k++)
        if (x->raw[k].number)
            look_spread_numbers(x, k);
        else if (x->raw[k].texts && !x->to->columns[k].count)
            look_spread_codes(x, k);
}

bool data_look_run(struct data_look *l, const struct infer_request *q, struct err *e)
{
    struct looking x = {.to = l};
    *l = (struct data_look){.found = infer_file(q, e)};
    if (!l->found)
        return false;
    begin(&x, q);
    const bool good = read_sample(&x, q, e);
    l->rows = x.rows;
    if (good) {
        set_target(&x);
        spread(&x);
        look_pairs_find(&x);
    }
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
