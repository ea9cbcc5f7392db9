/* attribute.c - see attribute.h. Rows are stored (row_store.h) and go along a path side by side:
 * after each move all of them are answered. Rows of a table are explained group by group, sequences
 * of records when all rows are read. */
#include "answer/explain/attribute.h"

#include <math.h>
#include <string.h>

#include "answer/stream/answer_line.h"
#include "answer/explain/attribute_path.h"
#include "answer/explain/row_store.h"
#include "base/mem.h"
#include "base/file/outfile.h"
#include "base/text.h"
#include "config/output.h"

#define NUMBER_ROOM 32

struct line {
    uint32_t label;   /* the class whose probability is explained */
    double answer;    /* as the stream gives it */
    size_t cells_end; /* in `cells` */
    double base, last;
};
struct attribute {
    const struct attribute_request *q;
    struct attribute_result *r;
    struct stream *stream;
    struct progress_amount progress;
    struct row_store store;
    struct paths paths;
    struct answer_line line;
    struct outfile out;
    struct text text;
    double *values; /* [rows of a group][width] */
    struct line *lines; /* of the store */
    uint64_t line_count, room;
    struct text cells; /* of the lines, before the attributions */
    double *sum;       /* [lines][units] */
    /* the present place of the rows on their path */
    uint32_t path;
    double *share; /* [units] */
};

/* --- one path --- */

static void place_cells(const void *context, uint32_t encoder, uint64_t read, uint32_t length,
                        unsigned char *records)
{
    const struct attribute *x = context;
    const size_t stride = x->store.serve->encoders[encoder]->format.stride;
    (void)read;
    for (uint32_t t = 0; t < length; t++)
        for (uint32_t j = 0; j < x->paths.unit_count; j++)
            paths_place(&x->paths, x->store.serve, encoder, x->path, j, x->share[j],
                        records + t * stride);
}

static double explained(const struct attribute *x, uint64_t line)
{
    return x->store.answer[line * x->store.width + x->lines[line].label];
}

static bool walk(struct attribute *x, uint32_t path, struct err *e)
{
    const struct move *moves = x->paths.moves + (size_t)path * x->paths.move_count;
    const uint32_t units = x->paths.unit_count;
    x->path = path;
    memset(x->share, 0, units * sizeof *x->share);
    if (!store_answer(&x->store, place_cells, x, e))
        return false;
    for (uint64_t i = 0; i < x->line_count; i++) {
        x->lines[i].last = explained(x, i);
        x->lines[i].base += x->lines[i].last / x->paths.count;
    }
    for (uint32_t k = 0; k < x->paths.move_count; k++) {
        x->share[moves[k].unit] = moves[k].share;
        if (!store_answer(&x->store, place_cells, x, e))
            return false;
        for (uint64_t i = 0; i < x->line_count; i++) {
            double now = explained(x, i);
            x->sum[i * units + moves[k].unit] += (now - x->lines[i].last) / x->paths.count;
            x->lines[i].last = now;
        }
    }
    return true;
}

/* --- lines --- */

static void add_line(struct attribute *x, const struct stream_group *g, uint64_t i)
{
    const struct row_store *k = &x->store;
    const double *p = x->values + i * k->width;
    if (x->line_count == x->room) {
        x->room = x->room ? 2 * x->room : 256;
        x->lines = mem_grow(x->lines, x->room, sizeof *x->lines);
        x->sum = mem_grow(x->sum, x->room * x->paths.unit_count, sizeof *x->sum);
    }
    answer_line_cells(&x->line, g->cells, g->first + i, &x->cells);
    const uint32_t label = k->classes == 2 ? 1
                           : k->classes    ? decision_label(&k->serve->decision, p, k->classes)
                                           : 0;
    x->lines[x->line_count++] =
        (struct line){.label = label, .answer = p[label], .cells_end = x->cells.length};
}

static void put_number(double value, bool fine, char end, struct text *out)
{
    char digits[NUMBER_ROOM];
    text_add(out, digits, answer_value(digits, value, fine));
    text_char(out, end);
}

static void write_line(struct attribute *x, uint64_t i)
{
    const char delimiter = x->line.delimiter;
    const uint32_t units = x->paths.unit_count;
    const size_t from = i ? x->lines[i - 1].cells_end : 0;
    double total = 0;
    text_add(&x->text, x->cells.data + from, x->lines[i].cells_end - from);
    for (uint32_t j = 0; j < units; j++) {
        const double value = x->sum[i * units + j];
        put_number(value, false, delimiter, &x->text);
        x->r->mean[j] += fabs(value);
        total += value;
    }
    if (x->store.classes > 2) {
        const struct text *label = &x->line.labels[x->lines[i].label];
        text_add(&x->text, label->data, label->length);
        text_char(&x->text, delimiter);
    }
    put_number(x->lines[i].base, x->line.fine, delimiter, &x->text);
    put_number(x->lines[i].answer, x->line.fine, '\n', &x->text);
    x->r->base += x->lines[i].base;
    x->r->rows++;
    x->r->largest_difference =
        fmax(x->r->largest_difference, fabs(total - (x->lines[i].answer - x->lines[i].base)));
}

/* Explains the lines of all stored rows, and clears the store. */
static bool explain_lines(struct attribute *x, struct err *e)
{
    bool good = true;
    store_lines(&x->store);
    /* the stream forgot a group, as too many others came between */
    if (x->store.line_count != x->line_count)
        return err_set(e, ERR_SERIES_ORDER, "the rows of a group stand apart in the files");
    for (uint64_t i = 0; i < x->line_count * x->paths.unit_count; i++)
        x->sum[i] = 0;
    for (uint32_t path = 0; good && x->line_count && path < x->paths.count; path++) {
        double part = (double)path / x->paths.count;
        progress_amount(&x->progress, (double)x->r->rows + part * (double)x->line_count, 0);
        good = walk(x, path, e);
    }
    text_clear(&x->text);
    for (uint64_t i = 0; good && i < x->line_count; i++)
        write_line(x, i);
    x->line_count = 0;
    text_clear(&x->cells);
    store_clear(&x->store);
    return good && outfile_write(&x->out, x->text.data ? x->text.data : "", x->text.length, e);
}

static bool keep_group(void *context, const struct stream_group *g, struct err *e)
{
    struct attribute *x = context;
    struct row_store *k = &x->store;
    if (!g->cells)
        return true;
    const struct answer_mean mean = serve_mean(k->serve, g->logits, g->rows);
    x->values = mem_grow(x->values, g->rows * k->width, sizeof *x->values);
    if (k->classes)
        answer_mean_probabilities(&mean, 0, g->rows, k->classes, x->values);
    for (uint64_t i = 0; i < g->rows; i++) {
        if (g->bad[i] && !k->window)
            continue;
        if (!store_add(k, x->stream, g, i, e))
            return false;
        if (!k->classes)
            store_values(k, &mean, i, x->values + i);
        if (!g->bad[i])
            add_line(x, g, i);
    }
    return k->window || explain_lines(x, e);
}

static bool next_input(void *context, struct err *e)
{
    struct attribute *x = context;
    return answer_line_turn(&x->line, &x->stream->in.binding, e);
}

/* --- the story --- */

static void put_name(struct attribute *x, const char *name)
{
    answer_line_field(&x->line, &x->text, name, strlen(name));
}

static bool begin_output(struct attribute *x, struct err *e)
{
    if (!answer_line_open(&x->line, x->stream->encoder, ANSWER_ALONE, &x->stream->in.binding, NULL,
                          false, NULL, e) ||
        !outfile_open(&x->out, x->q->output, e))
        return false;
    for (size_t i = 0; i < x->line.cell_count; i++)
        put_name(x, x->line.names[i]);
    for (uint32_t j = 0; j < x->paths.unit_count; j++)
        put_name(x, x->paths.units[j].name);
    if (x->store.classes > 2)
        put_name(x, "prediction");
    put_name(x, "base");
    put_name(x, "answer");
    text_char(&x->text, '\n');
    return outfile_write(&x->out, x->text.data, x->text.length, e);
}

static bool attribute(struct attribute *x, struct err *e)
{
    struct stream stream = {0};
    struct rows_request rows = x->q->rows;
    const struct stream_sink sink = {
        .group = keep_group, .input = next_input, .context = x, .asks = true};
    rows.progress = PROGRESS_NONE;
    rows.strict = true;
    x->stream = &stream;
    progress_amount_open(&x->progress, x->q->rows.progress, "explaining", "rows");
    bool good = stream_open(&stream, x->store.serve, &rows, &sink, e) && begin_output(x, e) &&
                stream_run(&stream, e) && (!x->store.window || explain_lines(x, e));
    if (good && !x->r->rows)
        good = err_at(e, ERR_CSV_NO_ROWS, rows_path(&rows), 0, 0,
                      "0 data rows: there is nothing to explain");
    progress_amount_close(&x->progress);
    stream_close(&stream);
    for (uint32_t j = 0; good && j < x->paths.unit_count; j++)
        x->r->mean[j] /= (double)x->r->rows;
    x->r->base /= (double)(x->r->rows ? x->r->rows : 1);
    return outfile_end(&x->out, good, e);
}

static void attribute_free(struct attribute *x)
{
    void *const blocks[] = {x->values, x->lines, x->sum, x->share};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        mem_free(blocks[i]);
    paths_free(&x->paths, x->store.serve);
    store_close(&x->store);
    answer_line_close(&x->line);
    text_free(&x->cells);
    text_free(&x->text);
}

bool attribute_run(const struct attribute_request *q, struct attribute_result *r, struct err *e)
{
    *r = (struct attribute_result){0};
    if (!output_spares(q->output, e) || !units_open(&r->units, &r->serve, &q->rows, NULL, 0, e))
        return false;
    r->mean = mem_zero(r->units.count + 1, sizeof *r->mean);
    struct attribute x = {.q = q, .r = r, .out = {.fd = -1}};
    x.share = mem_zero(r->units.count + 1, sizeof *x.share);
    store_open(&x.store, &r->serve);
    store_middle(&x.store);
    paths_make(&x.paths, &r->serve, &r->units);
    bool good = attribute(&x, e);
    attribute_free(&x);
    return good;
}

void attribute_explains(const struct attribute_result *r, struct text *out)
{
    const struct schema *s = r->serve.schema;
    if (s->quantile_count)
        text_printf(out, "quantile %.6g of %s",
                    s->quantiles[loss_middle(s->quantiles, s->quantile_count)],
                    text_quote_z(s->columns[s->target].name));
    else if (s->task == TASK_REGRESSION)
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
    for (uint32_t j = 0; j < r->units.count; j++) {
        json_open(out, NULL, '{');
        json_put_string(out, "name", r->units.items[j].name);
        json_put_number(out, "mean_absolute", r->mean[j]);
        json_close(out, '}');
    }
    json_close(out, ']');
    select_write(&r->serve.backend, "backend", out);
    json_close(out, '}');
    text_free(&explains);
}

void attribute_release(struct attribute_result *r)
{
    mem_free(r->mean);
    units_free(&r->units);
    serve_close(&r->serve);
    *r = (struct attribute_result){0};
}
