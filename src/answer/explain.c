/* explain.c - see explain.h. The rows are read once and kept as cell_parse leaves them, for every
 * encoder; a dealt column takes its bytes from other records before the encoding. Of wide sequences
 * a channel is dealt, all its steps together; for long ones see explain_series.h. */
#include "answer/explain.h"

#include <math.h>
#include <string.h>

#include "answer/evaluate.h"
#include "answer/explain_series.h"
#include "base/mem.h"
#include "base/name_list.h"
#include "base/rng.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/thread.h"
#include "table/cell_copy.h"

#define SEED 20260101u
#define TILE 256u

/* --- reading --- */

static void make_room(struct explain *x, uint64_t more)
{
    if (x->rows + more <= x->room)
        return;
    x->room = (x->rows + more) * 2;
    for (uint32_t k = 0; k < x->serve->encoder_count; k++)
        x->raw[k] = mem_grow(x->raw[k], x->room, x->serve->encoders[k]->format.stride);
    x->label = mem_grow(x->label, x->room, sizeof *x->label);
    x->target = mem_grow(x->target, x->room, sizeof *x->target);
    x->weight = mem_grow(x->weight, x->room, sizeof *x->weight);
    explain_series_room(x);
}

static bool keep_group(void *context, const struct stream_group *g, struct err *e)
{
    struct explain *x = context;
    const struct schema *s = x->serve->schema;
    bool good = true;
    make_room(x, g->rows);
    if (x->rows + g->rows >= UINT32_MAX)
        return err_set(e, ERR_CSV_LIMIT, "the files have more than %u rows", UINT32_MAX - 1);
    for (uint64_t i = 0; good && i < g->rows; i++) {
        if ((g->bad[i] && !x->window) || (x->most && x->rows >= x->most))
            continue; /* a record of a window has no answer of its own, or no target */
        for (uint32_t k = 0; good && k < x->serve->encoder_count; k++) {
            const struct schema *c = x->serve->encoders[k];
            good = cell_parse(c, &x->stream->binding, NULL, g->cells, g->first + i, true,
                              x->raw[k] + x->rows * c->format.stride, NULL, &x->terms, e);
        }
        const unsigned char *record = x->raw[0] + x->rows * s->format.stride;
        memcpy(&x->weight[x->rows], record + s->format.at_weight, sizeof(float));
        if (x->classes)
            memcpy(&x->label[x->rows], record + s->format.at_target, sizeof(int32_t));
        else
            x->target[x->rows] = stream_target(x->stream, g, i);
        explain_series_place(x, g, i);
        x->rows++;
    }
    return good;
}

static bool next_input(void *context, struct err *e)
{
    struct explain *x = context;
    (void)e;
    x->input++;
    return true;
}

static bool read_rows(struct explain *x, const struct explain_request *q, struct err *e)
{
    struct stream stream = {0};
    const struct stream_request want = {.inputs = q->inputs,
                                        .input_count = q->input_count,
                                        .progress = q->progress,
                                        .labelled = true,
                                        .again = q->again,
                                        .strict = true,
                                        .max_bad_rows = -1};
    const struct stream_sink sink = {keep_group, next_input, x};
    x->stream = &stream;
    bool good = stream_open(&stream, x->serve, &want, e) && stream_run(&stream, &sink, e);
    const char *path = q->input_count ? q->inputs[0] : "-";
    if (good && x->window)
        explain_series_list(x);
    x->r->rows = x->window ? x->line_count : x->rows;
    x->r->unlabelled = stream.unlabelled;
    if (good && !x->r->rows && (stream.unlabelled || x->rows)) {
        err_at(e, ERR_CSV_LABEL_MISSING, path, 0, 0, "target \"%s\" is missing in every row",
               text_quote_z(stream.schema->columns[stream.schema->target].name));
        good = err_help(e, "importance is measured against the target");
    } else if (good && !x->r->rows) {
        good = err_at(e, ERR_CSV_NO_ROWS, path, 0, 0, "0 data rows: there is nothing to measure");
    }
    stream_close(&stream);
    return good;
}

/* --- which columns --- */

/* Dealt together: column i; of wide sequences all steps of channel i. */
static uint32_t unit_count(const struct schema *s)
{
    return (uint32_t)(s->steps ? s->channels.count : s->column_count);
}

static const char *unit_name(const struct schema *s, uint32_t unit)
{
    return s->steps ? s->channels.items[unit] : s->columns[unit].name;
}

static bool unit_input(const struct schema *s, uint32_t unit)
{
    return s->steps || column_is_input(&s->columns[unit]);
}

/* Adds the columns of a unit to a list. A channel's are its steps: the numbers of channels x
 * steps. */
static uint32_t add_unit(const struct schema *s, uint32_t unit, uint32_t *columns, uint32_t count)
{
    for (uint32_t c = 0; c < s->column_count; c++)
        if (s->steps ? s->columns[c].number != UINT32_MAX && s->columns[c].number / s->steps == unit
                     : c == unit)
            columns[count++] = c;
    return count;
}

static void add_entry(struct explain_result *r, const char *name, const uint32_t *columns,
                      uint32_t count)
{
    struct importance *p = &r->columns[r->column_count++];
    p->name = mem_string(name);
    p->columns = mem_copy(columns, count * sizeof *columns);
    p->count = count;
}

/* One --group: the names of columns that the network reads, none in two groups. */
static bool add_group(struct explain_result *r, const char *names, bool *taken, struct err *e)
{
    const struct schema *s = r->serve.schema;
    const char *what = s->steps ? "channel" : "column";
    uint32_t *columns = mem_alloc(s->column_count, sizeof *columns), count = 0;
    struct text all = {0};
    bool good = true;
    for (const char *from = names; good && from;) {
        char *name = name_list_next(&from, "group", e);
        uint32_t u = 0;
        while (name && u < unit_count(s) &&
               (strcmp(unit_name(s, u), name) != 0 || !unit_input(s, u)))
            u++;
        if (!name)
            good = false;
        else if (u == unit_count(s))
            good = err_set(e, ERR_OPTION_VALUE, "--group: the model has no input %s \"%s\"", what,
                           text_quote_z(name));
        else if (taken[u])
            good = err_set(e, ERR_OPTION_VALUE, "--group: %s \"%s\" is named twice", what,
                           text_quote_z(name));
        if (good) {
            text_printf(&all, "%s%s", count ? ", " : "", name);
            taken[u] = true;
            count = add_unit(s, u, columns, count);
        }
        mem_free(name);
    }
    if (good)
        add_entry(r, all.data, columns, count);
    text_free(&all);
    mem_free(columns);
    return good;
}

static bool list_columns(const struct explain_request *q, struct explain_result *r, struct err *e)
{
    const struct schema *s = r->serve.schema;
    bool *taken = mem_zero(unit_count(s), sizeof *taken), good = true;
    uint32_t *columns = mem_alloc(s->column_count, sizeof *columns);
    r->columns = mem_zero(unit_count(s), sizeof *r->columns);
    for (size_t i = 0; good && i < q->group_count; i++)
        good = add_group(r, q->groups[i], taken, e);
    for (uint32_t u = 0; good && u < unit_count(s); u++)
        if (unit_input(s, u) && !taken[u])
            add_entry(r, unit_name(s, u), columns, add_unit(s, u, columns, 0));
    mem_free(columns);
    mem_free(taken);
    return good;
}

/* --- measuring --- */

/* Encodes the records of a tile of the chunk, with the dealt cells. */
static void encode_tile(void *context, unsigned tile, unsigned thread)
{
    const struct explain *x = context;
    uint64_t begin = (uint64_t)tile * TILE, end = begin + TILE < x->count ? begin + TILE : x->count;
    (void)thread;
    for (uint32_t k = 0; k < x->serve->encoder_count; k++) {
        const struct schema *s = x->serve->encoders[k];
        const size_t stride = s->format.stride;
        unsigned char *to = x->records + k * x->count * x->serve->stride;
        memcpy(to + begin * stride, x->raw[k] + (x->first + begin) * stride,
               (end - begin) * stride);
        for (uint64_t i = begin; x->dealt && i < end; i++)
            for (uint32_t c = 0; c < x->dealt->count; c++)
                cell_copy(&s->format, &s->columns[x->dealt->columns[c]], to + i * stride,
                          x->raw[k] + x->from[x->first + i] * stride);
        column_apply(s, to + begin * stride, end - begin);
    }
}

static void answer_tile(void *context, unsigned tile, unsigned thread)
{
    const struct explain *x = context;
    struct answer_mean mean = serve_mean(x->serve, x->logits, x->count);
    uint64_t begin = (uint64_t)tile * TILE, end = begin + TILE < x->count ? begin + TILE : x->count;
    (void)thread;
    if (x->classes)
        answer_mean_probabilities(&mean, begin, end, x->classes, x->answer + begin * x->classes);
    for (uint64_t i = begin; !x->classes && i < end; i++)
        x->answer[i] = answer_mean_value(&mean, i);
}

static bool measure_rows(struct explain *x, struct tally *t, struct err *e)
{
    bool good = true;
    for (x->first = 0; good && x->first < x->rows; x->first += x->count) {
        x->count = x->rows - x->first < EXPLAIN_CHUNK ? x->rows - x->first : EXPLAIN_CHUNK;
        unsigned tiles = (unsigned)((x->count + TILE - 1) / TILE);
        threads_run(tiles, encode_tile, x);
        good = !stream_stopped(e) &&
               serve_answer(x->serve, x->records, x->count, x->logits, e);
        if (!good)
            break;
        threads_run(tiles, answer_tile, x);
        tally_add(t, &(struct scores){.task = t->task,
                                      .rows = x->count,
                                      .classes = x->classes,
                                      .probability = x->answer,
                                      .value = x->answer,
                                      .label = x->label + x->first,
                                      .target = x->target + x->first,
                                      .weight = x->weight + x->first});
    }
    return good;
}

/* The metric of all rows, with the cells of `dealt` from the rows `from`. */
static bool measure(struct explain *x, const struct importance *dealt, const uint32_t *from,
                    double *value, struct err *e)
{
    struct tally *t = tally_new(x->serve->schema->task, x->classes, x->r->metric->needs);
    x->dealt = dealt;
    x->from = from;
    t->threshold = x->serve->threshold;
    t->quantile = evaluate_quantile(x->serve->file);
    bool good = x->window ? explain_series_measure(x, t, e) : measure_rows(x, t, e);
    *value = good && t->weight > 0 ? x->r->metric->value(t) : (double)NAN;
    tally_free(t);
    return good;
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

static bool measure_column(struct explain *x, struct importance *p, int64_t repeats,
                           uint32_t *from, struct err *e)
{
    double mean = 0, square = 0;
    for (int64_t k = 0; k < repeats; k++) {
        double value;
        deal_rows(from, x->window ? x->window_count : x->rows, p->columns[0], (uint32_t)k);
        if (!measure(x, p, from, &value, e))
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

static bool more_important(const struct importance *a, const struct importance *b)
{
    if (a->importance != b->importance)
        return a->importance > b->importance;
    return a->columns[0] < b->columns[0];
}

static void order(struct explain_result *r)
{
    for (uint32_t i = 1; i < r->column_count; i++) {
        struct importance p = r->columns[i];
        uint32_t k = i;
        for (; k && more_important(&p, &r->columns[k - 1]); k--)
            r->columns[k] = r->columns[k - 1];
        r->columns[k] = p;
    }
}

static bool explain(struct explain *x, const struct explain_request *q, struct err *e)
{
    if (x->window) {
        explain_series_begin(x);
    } else {
        const size_t chunk = x->rows < EXPLAIN_CHUNK ? x->rows : EXPLAIN_CHUNK;
        x->records = mem_alloc(chunk * x->serve->encoder_count, x->serve->stride);
        x->logits = mem_alloc(chunk * x->serve->member_count * x->serve->outputs,
                              sizeof *x->logits);
        x->answer = mem_alloc(chunk * x->width, sizeof *x->answer);
    }
    uint32_t *from = mem_alloc(x->rows, sizeof *from);
    bool good = measure(x, NULL, NULL, &x->r->value, e);
    if (good && isnan(x->r->value))
        good = err_set(e, ERR_WEIGHT_SUM,
                       "the weight of each row is 0: there is nothing to measure");
    struct progress_amount progress;
    progress_amount_open(&progress, (enum progress_style)q->progress, "explaining", "columns");
    for (uint32_t i = 0; good && i < x->r->column_count; i++) {
        good = measure_column(x, &x->r->columns[i], q->repeats, from, e);
        progress_amount(&progress, i + 1, x->r->column_count);
    }
    progress_amount_close(&progress);
    mem_free(from);
    return good;
}

static void explain_free(struct explain *x)
{
    for (uint32_t k = 0; x->raw && k < x->serve->encoder_count; k++)
        mem_free(x->raw[k]);
    mem_free(x->raw);
    mem_free(x->label);
    mem_free(x->target);
    mem_free(x->weight);
    terms_free(&x->terms);
    mem_free(x->records);
    mem_free(x->logits);
    mem_free(x->answer);
    explain_series_end(x);
}

bool explain_run(const struct explain_request *q, struct explain_result *r, struct err *e)
{
    *r = (struct explain_result){0};
    stop_phase("explain", true);
    if (!serve_open(&r->serve, q->model, JOB_EXPLAIN, &q->overrides, e) ||
        !list_columns(q, r, e))
        return false;
    serve_reading(&r->serve, &q->reading);
    const struct schema *s = r->serve.schema;
    if (s->windows.carry) {
        err_set(e, ERR_CONFIG_CONFLICT,
                "the model carries state from window to window (data.sequence.carry_state): "
                "columns cannot be dealt between windows");
        return err_help(e, "explain a model that was trained without it");
    }
    r->serve.beside = true;
    r->metric = evaluate_quantile(r->serve.file) > 0 ? metric_find("pinball", METRIC_QUANTILE)
                                                     : metric_default(s->task);
    struct explain x = {.r = r, .most = q->most_rows, .serve = &r->serve,
                        .classes = s->task == TASK_REGRESSION ? 0 : r->serve.outputs,
                        .window = s->windows.window};
    x.width = x.classes ? x.classes : 1;
    x.raw = mem_zero(r->serve.encoder_count, sizeof(unsigned char *));
    bool good = read_rows(&x, q, e) && explain(&x, q, e);
    r->backend = r->serve.backend;
    explain_free(&x);
    order(r);
    return good;
}

static void put_number(struct json_out *out, const char *key, double value)
{
    if (isnan(value))
        json_put_null(out, key);
    else
        json_put_number(out, key, value);
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
        json_put_string(out, "name", p->name);
        json_put_number(out, "importance", p->importance);
        put_number(out, "low", p->interval.low);
        put_number(out, "high", p->interval.high);
        json_close(out, '}');
    }
    json_close(out, ']');
    select_write(&r->backend, "backend", out);
    json_close(out, '}');
}

void explain_release(struct explain_result *r)
{
    for (uint32_t i = 0; i < r->column_count; i++) {
        mem_free(r->columns[i].name);
        mem_free(r->columns[i].columns);
    }
    mem_free(r->columns);
    serve_close(&r->serve);
    *r = (struct explain_result){0};
}
