/* explain.c - see explain.h. The rows are read once and stored (row_store.h). A permuted unit takes
 * its values from another row, or in sequences of records from another window: step t takes step t
 * of the other window, which starts again at its begin if it is shorter. */
#include "answer/explain/explain.h"

#include <math.h>
#include <string.h>

#include "answer/explain/row_store.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/text.h"
#include "table/encoder/cell_copy.h"
#include "table/schema/record.h"

#define SEED 20260101u

struct explain {
    struct explain_result *r;
    struct stream *stream;
    struct row_store store;
    uint64_t most, room; /* most rows, 0: no limit */
    int32_t *label;      /* by row; of the lines when all are known */
    double *target;
    float *weight;
    const struct unit *dealt;
    const uint32_t *from; /* [reads]: the read that the cells come from */
};

/* --- reading --- */

static void make_room(struct explain *x)
{
    if (x->store.rows < x->room)
        return;
    x->room = x->store.rows ? 2 * x->store.rows : 256;
    x->label = mem_grow(x->label, x->room, sizeof *x->label);
    x->target = mem_grow(x->target, x->room, sizeof *x->target);
    x->weight = mem_grow(x->weight, x->room, sizeof *x->weight);
}

static bool keep_group(void *context, const struct stream_group *g, struct err *e)
{
    struct explain *x = context;
    struct row_store *k = &x->store;
    const struct rowfmt *f = &k->serve->encoders[0]->format;
    for (uint64_t i = 0; i < g->rows; i++) {
        const uint64_t row = k->rows;
        if ((g->bad[i] && !k->window) || (x->most && row >= x->most))
            continue; /* a record of a window has no answer of its own, or no target */
        make_room(x);
        if (!store_add(k, x->stream, g, i, e))
            return false;
        const unsigned char *record = k->raw[0] + row * f->stride;
        x->weight[row] = record_float(record, f->at_weight);
        x->label[row] = k->classes ? record_int(record, f->at_target) : 0;
        x->target[row] = k->classes ? 0 : stream_target(x->stream, g, i);
        k->wanted[row] = x->label[row] >= 0 && !isnan(x->target[row]);
    }
    return true;
}

/* Lists the target, label and weight of each line. */
static void list_lines(struct explain *x)
{
    store_lines(&x->store);
    for (uint64_t i = 0; i < x->store.line_count; i++) {
        const uint32_t row = x->store.row_of[i]; /* i or above */
        x->label[i] = x->label[row];
        x->target[i] = x->target[row];
        x->weight[i] = x->weight[row];
    }
    x->r->rows = x->store.line_count;
}

static bool read_rows(struct explain *x, const struct explain_request *q, struct err *e)
{
    struct stream stream = {0};
    struct rows_request rows = q->rows;
    const struct stream_sink sink = {.group = keep_group, .context = x};
    rows.labelled = rows.strict = true;
    x->stream = &stream;
    bool good = stream_open(&stream, x->store.serve, &rows, &sink, e) &&
                stream_run(&stream, e);
    const char *path = rows_path(&rows);
    if (good)
        list_lines(x);
    x->r->unlabelled = stream.unlabelled;
    if (good && !x->r->rows && stream.weightless) {
        good = err_at(e, ERR_WEIGHT_SUM, path, 0, 0,
                      "the weight of each row is 0: there is nothing to measure");
    } else if (good && !x->r->rows && (stream.unlabelled || x->store.rows)) {
        err_at(e, ERR_CSV_LABEL_MISSING, path, 0, 0, "target \"%s\" is missing in every row",
               text_quote_z(stream.schema->columns[stream.schema->target].name));
        good = err_help(e, "importance is measured against the target");
    } else if (good && !x->r->rows) {
        good = err_at(e, ERR_CSV_NO_ROWS, path, 0, 0, "0 data rows: there is nothing to measure");
    }
    stream_close(&stream);
    return good;
}

/* --- measuring --- */

static void deal_cells(const void *context, uint32_t encoder, uint64_t read, uint32_t length,
                       unsigned char *records)
{
    const struct explain *x = context;
    const struct row_store *k = &x->store;
    const struct encoder *own = k->serve->encoders[encoder];
    const size_t stride = own->format.stride;
    uint32_t others = 1;
    const uint32_t *rows =
        k->window ? store_window(k, x->from[read], &others) : &x->from[read];
    for (uint32_t t = 0; t < length; t++)
        for (uint32_t c = 0; c < x->dealt->count; c++)
            cell_copy(own, x->dealt->columns[c], records + t * stride,
                      k->raw[encoder] + rows[t % others] * stride);
}

/* The metric of all rows, with the cells of `dealt` from the reads `from`. NULL: unchanged. */
static bool measure(struct explain *x, const struct unit *dealt, const uint32_t *from,
                    double *value, struct err *e)
{
    struct row_store *k = &x->store;
    x->dealt = dealt;
    x->from = from;
    if (!store_answer(k, dealt ? deal_cells : NULL, x, e))
        return false;
    struct tally *t = tally_new(k->serve->schema->task, k->classes, x->r->metric->needs);
    t->decision = k->serve->decision;
    const struct criterion c = serve_criterion(k->serve);
    tally_judge_by(t, &c);
    tally_add(t, &(struct scores){.task = t->task,
                                  .rows = k->line_count,
                                  .classes = k->classes,
                                  .probability = k->answer,
                                  .value = k->answer,
                                  .label = x->label,
                                  .target = x->target,
                                  .weight = x->weight});
    *value = t->weight > 0 ? x->r->metric->value(t) : (double)NAN;
    tally_free(t);
    return true;
}

/* Fisher and Yates; element: the column and the repeat. */
static void deal_rows(uint32_t *from, uint64_t rows, uint32_t column, uint32_t repeat)
{
    for (uint64_t i = 0; i < rows; i++)
        from[i] = (uint32_t)i;
    for (uint64_t i = rows; i-- > 1;) {
        uint32_t bits = rng_bits(SEED, i, column, repeat, RNG_SHUFFLE);
        uint64_t k = (uint64_t)bits * (i + 1) >> 32;
        uint32_t other = from[k];
        from[k] = from[i];
        from[i] = other;
    }
}

/* The 97.5 % point of Student's t: by degrees of freedom; Cornish and Fisher's expansion. */
static double student(int64_t freedom)
{
    static const double first[] = {12.706204736, 4.302652730, 3.182446305};
    const double z = 1.959963984540054, n = (double)freedom;
    if (freedom <= 3)
        return first[freedom - 1];
    double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

static bool measure_unit(struct explain *x, struct importance *p, int64_t repeats,
                           uint32_t *from, struct err *e)
{
    double mean = 0, square = 0;
    for (int64_t k = 0; k < repeats; k++) {
        double value;
        deal_rows(from, store_reads(&x->store), p->unit->columns[0], (uint32_t)k);
        if (!measure(x, p->unit, from, &value, e))
            return false;
        double worse = x->r->metric->higher ? x->r->value - value : value - x->r->value;
        double before = worse - mean;
        mean += before / (double)(k + 1);
        square += before * (worse - mean);
    }
    double half = repeats > 1 ? student(repeats - 1) *
                                    sqrt(square / (double)(repeats - 1) / (double)repeats)
                              : (double)NAN;
    p->importance = mean;
    p->interval = (struct interval){mean - half, mean + half};
    return true;
}

/* --- the story --- */

static int by_importance(const void *one, const void *other, const void *context)
{
    const struct importance *a = one, *b = other;
    (void)context;
    if (a->importance > b->importance || a->importance < b->importance)
        return a->importance > b->importance ? -1 : 1;
    return a->unit->columns[0] < b->unit->columns[0] ? -1 : 1;
}

static bool explain(struct explain *x, const struct explain_request *q, struct err *e)
{
    uint32_t *from = mem_alloc(store_reads(&x->store), sizeof *from);
    bool good = measure(x, NULL, NULL, &x->r->value, e);
    if (good && isnan(x->r->value))
        good = err_set(e, ERR_WEIGHT_SUM,
                       "the weight of each row is 0: there is nothing to measure");
    struct progress_amount progress;
    progress_amount_open(&progress, q->rows.progress, "explaining", "columns");
    for (uint32_t i = 0; good && i < x->r->column_count; i++) {
        good = measure_unit(x, &x->r->columns[i], q->repeats, from, e);
        progress_amount(&progress, i + 1, x->r->column_count);
    }
    progress_amount_close(&progress);
    mem_free(from);
    return good;
}

static void find_alike(struct explain_result *r, const struct row_store *k)
{
    const struct unit **units = mem_alloc(r->column_count + 1, sizeof(struct unit *));
    for (uint32_t i = 0; i < r->column_count; i++)
        units[i] = r->columns[i].unit;
    alikes_find(&r->alikes, k, units, r->column_count);
    mem_free(units);
}

bool explain_run(const struct explain_request *q, struct explain_result *r, struct err *e)
{
    *r = (struct explain_result){0};
    if (!units_open(&r->units, &r->serve, &q->rows, q->groups, q->group_count, e))
        return false;
    const struct criterion c = serve_criterion(&r->serve);
    r->metric = metric_of(&c, r->serve.schema->task);
    r->column_count = r->units.count;
    r->columns = mem_zero(r->column_count, sizeof *r->columns);
    for (uint32_t i = 0; i < r->column_count; i++)
        r->columns[i].unit = &r->units.items[i];
    struct explain x = {.r = r, .most = q->most_rows};
    store_open(&x.store, &r->serve);
    x.store.before = r->metric == &metric_loss; /* as evaluate judges by it */
    bool good = read_rows(&x, q, e) && explain(&x, q, e);
    sort_stable(r->columns, r->column_count, sizeof *r->columns, by_importance, NULL);
    if (good)
        find_alike(r, &x.store);
    store_close(&x.store);
    mem_free(x.label);
    mem_free(x.target);
    mem_free(x.weight);
    return good;
}

static void put_number(struct json_out *out, const char *key, double value)
{
    if (isnan(value))
        json_put_null(out, key);
    else
        json_put_number(out, key, value);
}

static void write_alikes(const struct alikes *a, struct json_out *out)
{
    json_open(out, "alike", '[');
    for (uint32_t i = 0; i < a->count; i++) {
        struct text option = {0};
        alike_option(&a->items[i], &option);
        json_open(out, NULL, '{');
        json_open(out, "columns", '[');
        for (uint32_t k = 0; k < a->items[i].count; k++)
            json_put_string(out, NULL, a->items[i].units[k]->name);
        json_close(out, ']');
        json_put_number(out, "association", a->items[i].least);
        json_put_string(out, "group", option.data);
        json_close(out, '}');
        text_free(&option);
    }
    json_close(out, ']');
}

void explain_write(const struct explain_request *q, const struct explain_result *r,
                   struct json_out *out)
{
    json_open(out, NULL, '{');
    json_put_string(out, "schema", "dnn.explain/1");
    json_put_int(out, "rows", (int64_t)r->rows);
    json_put_int(out, "rows_unlabelled", (int64_t)r->unlabelled);
    json_put_string(out, "metric", r->metric->name);
    json_put_number(out, "value", r->value);
    json_put_int(out, "repeats", q->repeats);
    json_open(out, "columns", '[');
    for (uint32_t i = 0; i < r->column_count; i++) {
        const struct importance *p = &r->columns[i];
        json_open(out, NULL, '{');
        json_put_string(out, "name", p->unit->name);
        json_put_number(out, "importance", p->importance);
        put_number(out, "low", p->interval.low);
        put_number(out, "high", p->interval.high);
        json_close(out, '}');
    }
    json_close(out, ']');
    write_alikes(&r->alikes, out);
    select_write(&r->serve.backend, "backend", out);
    json_close(out, '}');
}

void explain_release(struct explain_result *r)
{
    mem_free(r->columns);
    alikes_free(&r->alikes);
    units_free(&r->units);
    serve_close(&r->serve);
    *r = (struct explain_result){0};
}
