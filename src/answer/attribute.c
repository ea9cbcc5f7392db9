/* attribute.c - see attribute.h. The rows of a group go along a path side by side: after each move
 * all of them are encoded and answered. */
#include "answer/attribute.h"

#include <math.h>
#include <string.h>

#include "answer/answer_line.h"
#include "answer/attribute_path.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/thread.h"
#include "config/output.h"
#include "table/cell_copy.h"

#define TILE 256u
#define NUMBER_ROOM 32

struct attribute {
    const struct attribute_request *q;
    struct attribute_result *r;
    struct stream *stream;
    struct progress_amount progress;
    struct serve *serve;
    struct paths paths;
    struct answer_line line;
    struct outfile out;
    struct terms terms;
    struct text text;
    uint32_t classes; /* 0: regression */
    /* of a group: its rows that can be read, side by side */
    uint64_t rows, room;
    size_t *record;            /* [rows]: of the block */
    uint32_t *label;           /* [rows]: the class whose probability is explained */
    double *answer;            /* [rows]: of the row as it is */
    double *base, *last, *sum; /* [rows], [rows], [rows][columns] */
    unsigned char **own, **at; /* [encoders][rows]: raw records of the rows, and on the path */
    unsigned char *records;
    real *logits;
    double *values; /* [rows][classes or 1] */
};

/* --- answers --- */

static void encode_tile(void *context, unsigned tile, unsigned thread)
{
    const struct attribute *x = context;
    uint64_t begin = (uint64_t)tile * TILE, end = begin + TILE < x->rows ? begin + TILE : x->rows;
    (void)thread;
    for (uint32_t k = 0; k < x->serve->encoder_count; k++) {
        const size_t stride = x->serve->encoders[k]->format.stride;
        unsigned char *to = x->records + k * x->rows * x->serve->stride + begin * stride;
        memcpy(to, x->at[k] + begin * stride, (end - begin) * stride);
        column_apply(x->serve->encoders[k], to, end - begin);
    }
}

/* values [rows][classes or 1] of those logits. */
static void take_answers(const struct attribute *x, const struct answer_mean *mean, uint64_t rows,
                         double *values)
{
    if (x->classes)
        answer_mean_probabilities(mean, 0, rows, x->classes, values);
    for (uint64_t i = 0; !x->classes && i < rows; i++)
        values[i] = answer_mean_value(mean, i);
}

static double explained(const struct attribute *x, const double *values, uint64_t row)
{
    return x->classes ? values[row * x->classes + x->label[row]] : values[row];
}

static bool answer_all(struct attribute *x, struct err *e)
{
    threads_run((unsigned)((x->rows + TILE - 1) / TILE), encode_tile, x);
    if (stream_stopped(e) || !serve_answer(x->serve, x->records, x->rows, x->logits, e))
        return false;
    struct answer_mean mean = serve_mean(x->serve, x->logits, x->rows);
    take_answers(x, &mean, x->rows, x->values);
    return true;
}

/* --- one path --- */

static void go_to_begin(struct attribute *x, uint32_t path)
{
    for (uint32_t k = 0; k < x->serve->encoder_count; k++) {
        const size_t stride = x->serve->encoders[k]->format.stride;
        for (uint64_t i = 0; i < x->rows; i++)
            memcpy(x->at[k] + i * stride, x->paths.begin[k] + path * stride, stride);
    }
}

static void move_rows(struct attribute *x, uint32_t path, const struct move *m)
{
    for (uint32_t k = 0; k < x->serve->encoder_count; k++) {
        const struct schema *s = x->serve->encoders[k];
        const size_t stride = s->format.stride;
        for (uint64_t i = 0; i < x->rows; i++)
            paths_move(s, x->paths.columns[m->column], m->share, x->paths.begin[k] + path * stride,
                       x->own[k] + i * stride, x->at[k] + i * stride);
    }
}

static bool walk(struct attribute *x, uint32_t path, struct err *e)
{
    const struct move *moves = x->paths.moves + (size_t)path * x->paths.move_count;
    go_to_begin(x, path);
    if (!answer_all(x, e))
        return false;
    for (uint64_t i = 0; i < x->rows; i++) {
        x->last[i] = explained(x, x->values, i);
        x->base[i] += x->last[i] / x->paths.count;
    }
    for (uint32_t k = 0; k < x->paths.move_count; k++) {
        move_rows(x, path, &moves[k]);
        if (!answer_all(x, e))
            return false;
        for (uint64_t i = 0; i < x->rows; i++) {
            double now = explained(x, x->values, i);
            x->sum[i * x->paths.column_count + moves[k].column] +=
                (now - x->last[i]) / x->paths.count;
            x->last[i] = now;
        }
    }
    return true;
}

/* --- a group --- */

static void make_room(struct attribute *x, uint64_t rows)
{
    const size_t width = x->classes ? x->classes : 1;
    const uint32_t encoders = x->serve->encoder_count;
    if (rows <= x->room)
        return;
    x->room = rows;
    x->record = mem_grow(x->record, rows, sizeof *x->record);
    x->label = mem_grow(x->label, rows, sizeof *x->label);
    x->answer = mem_grow(x->answer, rows, sizeof *x->answer);
    x->base = mem_grow(x->base, rows, sizeof *x->base);
    x->last = mem_grow(x->last, rows, sizeof *x->last);
    x->sum = mem_grow(x->sum, rows * x->paths.column_count, sizeof *x->sum);
    x->values = mem_grow(x->values, rows * width, sizeof *x->values);
    x->records = mem_grow(x->records, rows * encoders, x->serve->stride);
    x->logits = mem_grow(x->logits, rows * x->serve->member_count * x->serve->outputs,
                         sizeof *x->logits);
    for (uint32_t k = 0; k < encoders; k++) {
        x->own[k] = mem_grow(x->own[k], rows, x->serve->encoders[k]->format.stride);
        x->at[k] = mem_grow(x->at[k], rows, x->serve->encoders[k]->format.stride);
    }
}

/* The rows that can be read, with their answers. */
static bool take_rows(struct attribute *x, const struct stream_group *g, struct err *e)
{
    struct answer_mean mean = serve_mean(x->serve, g->logits, g->rows);
    bool good = true;
    take_answers(x, &mean, g->rows, x->values);
    x->rows = 0;
    for (uint64_t i = 0; good && i < g->rows; i++) {
        const uint64_t row = x->rows;
        if (g->bad[i])
            continue;
        for (uint32_t k = 0; good && k < x->serve->encoder_count; k++) {
            const struct schema *s = x->serve->encoders[k];
            good = cell_parse(s, &x->stream->binding, NULL, g->cells, g->first + i, false,
                              x->own[k] + row * s->format.stride, NULL, &x->terms, e);
        }
        const double *p = x->values + i * (x->classes ? x->classes : 1);
        x->label[row] = x->classes == 2 ? 1
                        : x->classes    ? answer_label(p, x->classes, 0)
                                        : 0;
        x->answer[row] = p[x->label[row]];
        x->record[row] = g->first + i;
        x->base[row] = 0;
        x->rows++;
    }
    memset(x->sum, 0, x->rows * x->paths.column_count * sizeof *x->sum);
    return good;
}

static void put_number(double value, char end, struct text *out)
{
    char digits[NUMBER_ROOM];
    text_add(out, digits, answer_number(digits, value));
    text_char(out, end);
}

static void add_row(struct attribute *x, const struct stream_group *g, uint64_t i)
{
    const char delimiter = x->line.delimiter;
    const uint32_t columns = x->paths.column_count;
    double total = 0;
    answer_line_cells(&x->line, g->cells, x->record[i], &x->text);
    for (uint32_t j = 0; j < columns; j++) {
        const double value = x->sum[i * columns + j];
        put_number(value, delimiter, &x->text);
        x->r->columns[j].mean += fabs(value);
        total += value;
    }
    if (x->classes > 2) {
        const struct text *label = &x->line.labels[x->label[i]];
        text_add(&x->text, label->data, label->length);
        text_char(&x->text, delimiter);
    }
    put_number(x->base[i], delimiter, &x->text);
    put_number(x->answer[i], '\n', &x->text);
    x->r->base += x->base[i];
    x->r->rows++;
    x->r->largest_difference =
        fmax(x->r->largest_difference, fabs(total - (x->answer[i] - x->base[i])));
}

static bool attribute_group(void *context, const struct stream_group *g, struct err *e)
{
    struct attribute *x = context;
    if (!g->cells)
        return true;
    make_room(x, g->rows);
    bool good = take_rows(x, g, e);
    for (uint32_t path = 0; good && x->rows && path < x->paths.count; path++) {
        double part = (double)path / x->paths.count;
        progress_amount(&x->progress, (double)x->r->rows + part * (double)x->rows, 0);
        good = walk(x, path, e);
    }
    text_clear(&x->text);
    for (uint64_t i = 0; good && i < x->rows; i++)
        add_row(x, g, i);
    return good && outfile_write(&x->out, x->text.data ? x->text.data : "", x->text.length, e);
}

static bool next_input(void *context, struct err *e)
{
    struct attribute *x = context;
    return answer_line_turn(&x->line, &x->stream->binding, e);
}

/* --- the story --- */

static void put_name(struct attribute *x, const char *name)
{
    answer_line_field(&x->line, &x->text, name, strlen(name));
}

static bool begin_output(struct attribute *x, struct err *e)
{
    const struct schema *s = x->serve->schema;
    if (!answer_line_open(&x->line, s, &x->stream->binding, NULL, false, NULL, e) ||
        !outfile_open(&x->out, x->q->output, e))
        return false;
    for (size_t i = 0; i < x->line.cell_count; i++)
        put_name(x, x->line.names[i]);
    for (uint32_t j = 0; j < x->paths.column_count; j++)
        put_name(x, s->columns[x->paths.columns[j]].name);
    if (x->classes > 2)
        put_name(x, "prediction");
    put_name(x, "base");
    put_name(x, "answer");
    text_char(&x->text, '\n');
    return outfile_write(&x->out, x->text.data, x->text.length, e);
}

static bool attribute(struct attribute *x, struct err *e)
{
    struct stream stream = {0};
    const struct stream_request want = {.inputs = x->q->inputs,
                                        .input_count = x->q->input_count,
                                        .strict = true,
                                        .max_bad_rows = -1,
                                        .progress = PROGRESS_NONE};
    x->stream = &stream;
    progress_amount_open(&x->progress, (enum progress_style)x->q->progress, "explaining", "rows");
    bool good = stream_open(&stream, x->serve, &want, e) && begin_output(x, e) &&
                stream_run(&stream, &(struct stream_sink){attribute_group, next_input, x}, e);
    if (good && !x->r->rows)
        good = err_at(e, ERR_CSV_NO_ROWS, x->q->inputs[0], 0, 0,
                      "0 data rows: there is nothing to explain");
    progress_amount_close(&x->progress);
    stream_close(&stream);
    for (uint32_t j = 0; good && j < x->paths.column_count; j++)
        x->r->columns[j].mean /= (double)x->r->rows;
    x->r->base /= (double)(x->r->rows ? x->r->rows : 1);
    if (good)
        return outfile_commit(&x->out, e);
    outfile_abort(&x->out);
    return false;
}

static void attribute_free(struct attribute *x)
{
    void *const blocks[] = {x->record, x->label, x->answer, x->base,   x->last,
                            x->sum,    x->records, x->logits, x->values};
    for (uint32_t k = 0; k < x->serve->encoder_count; k++) {
        mem_free(x->own[k]);
        mem_free(x->at[k]);
    }
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        mem_free(blocks[i]);
    mem_free(x->own);
    mem_free(x->at);
    paths_free(&x->paths, x->serve);
    answer_line_close(&x->line);
    terms_free(&x->terms);
    text_free(&x->text);
}

static void list_columns(struct attribute_result *r)
{
    const struct schema *s = r->serve.schema;
    r->columns = mem_zero(s->column_count + 1, sizeof *r->columns);
    for (uint32_t i = 0; i < s->column_count; i++)
        if (column_is_input(&s->columns[i]))
            r->columns[r->column_count++].column = i;
}

bool attribute_run(const struct attribute_request *q, struct attribute_result *r, struct err *e)
{
    *r = (struct attribute_result){0};
    stop_phase("explain", true);
    if (!output_spares(q->output, e) ||
        !serve_open(&r->serve, q->model, JOB_EXPLAIN, &q->overrides, e))
        return false;
    serve_reading(&r->serve, &q->reading);
    const struct schema *s = r->serve.schema;
    if (s->steps || s->windows.window) {
        err_set(e, ERR_USAGE, "--rows is for models of tables, and this model reads sequences");
        return err_help(e, "without --rows, explain says which %s matter",
                        s->steps ? "channels" : "columns");
    }
    r->serve.beside = true;
    list_columns(r);
    uint32_t *columns = mem_alloc(r->column_count + 1, sizeof *columns);
    for (uint32_t j = 0; j < r->column_count; j++)
        columns[j] = r->columns[j].column;
    struct attribute x = {.q = q, .r = r, .serve = &r->serve, .out = {.fd = -1},
                          .classes = s->task == TASK_REGRESSION ? 0 : r->serve.outputs};
    x.own = mem_zero(r->serve.encoder_count, sizeof(unsigned char *));
    x.at = mem_zero(r->serve.encoder_count, sizeof(unsigned char *));
    paths_make(&x.paths, &r->serve, columns, r->column_count);
    bool good = attribute(&x, e);
    r->backend = r->serve.backend;
    attribute_free(&x);
    mem_free(columns);
    return good;
}

void attribute_explains(const struct attribute_result *r, struct text *out)
{
    const struct schema *s = r->serve.schema;
    if (s->task == TASK_REGRESSION)
        text_printf(out, "the value of %s", text_quote_z(s->columns[s->target].name));
    else if (r->serve.outputs == 2)
        text_printf(out, "the probability of \"%s\"",
                    text_quote_z(vocab_text(s->labels, 1, NULL)));
    else
        text_put(out, "the probability of the row's prediction");
}

void attribute_write(const struct attribute_request *q, const struct attribute_result *r,
                     struct json_out *out)
{
    struct text explains = {0};
    attribute_explains(r, &explains);
    json_open(out, NULL, '{');
    json_put_string(out, "schema", "dnn.explain/1");
    json_put_int(out, "rows", (int64_t)r->rows);
    json_put_string(out, "attributions", q->output);
    json_put_string(out, "explains", explains.data);
    json_put_number(out, "base", r->base);
    json_put_number(out, "largest_difference", r->largest_difference);
    json_open(out, "columns", '[');
    for (uint32_t j = 0; j < r->column_count; j++) {
        json_open(out, NULL, '{');
        json_put_string(out, "name", r->serve.schema->columns[r->columns[j].column].name);
        json_put_number(out, "mean_absolute", r->columns[j].mean);
        json_close(out, '}');
    }
    json_close(out, ']');
    select_write(&r->backend, "backend", out);
    json_close(out, '}');
    text_free(&explains);
}

void attribute_release(struct attribute_result *r)
{
    mem_free(r->columns);
    serve_close(&r->serve);
    *r = (struct attribute_result){0};
}
