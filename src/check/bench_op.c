/* bench_op.c - one operation as a row of the benchmark: a case of its size (opcase_size.c), taken
 * down once and replayed; and the cells of CSV, found by the fast scanner and by libcsv. */
#include "backend/cases/opcase.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/text.h"
#include "check/bench_parts.h"
#include "csv/csv.h"

static const struct {
    uint32_t rows, width;
} shapes[BENCH_SIZES] = {{256, 128}, {4096, 256}, {16384, 512}};

void bench_shape(const struct bench_task *t, enum bench_size size, uint32_t *rows,
                 uint32_t *width)
{
    *rows = t->q->command.batch_size > 0 ? (uint32_t)t->q->command.batch_size : shapes[size].rows;
    *width = shapes[size].width;
}

struct replayed {
    struct opdata *data;
    struct machine *machine;
    struct routine *routine;
};

static void issue(void *data, struct machine *m)
{
    const struct opdata *d = data;
    machine_issue(m, d->of->op, &d->arguments);
}

static bool replay(void *context, uint32_t times, struct err *e)
{
    struct replayed *r = context;
    (void)e; /* the waiting thread gets the error */
    if (r->routine)
        machine_play(r->machine, r->routine, times);
    return true;
}

/* The number format of its arithmetic, with the plan's precision. */
static const char *precision_of(const struct machine *m, const struct opcase *c,
                                const struct plan *plan)
{
    bool product = c->op == OP_dense || c->op == OP_dense_back;
    struct group g = {.in = c->in, .out = c->out};
    return product && (machine_in_place(m) || machine_rounds(m, &g, 1)) ? plan->precision : "fp32";
}

bool bench_operation(struct bench_task *t, enum op_id op, enum bench_size size,
                     enum bench_side side, struct bench_figure *f, struct err *e)
{
    uint32_t rows, width;
    struct machine *m = t->machines[side];
    struct plan plan;
    bench_shape(t, size, &rows, &width);
    machine_plan(m, rows, 1, &plan);
    machine_set_plan(m, &plan);
    struct opcase c = opcase_sized(op, rows, width);
    opcase_keep(&c, m);
    struct opdata *d = opcase_make(&c, m, 1);
    if (!opcase_ready(d, e)) {
        opcase_free(d);
        return false;
    }
    char name[96];
    const char *precision = precision_of(m, &c, &plan);
    opcase_name(&c, name, sizeof name);
    log_info("bench: %s, beside the limit of %s", name, precision);
    if (op == OP_dense)
        d->arguments.dense.exact = 0; /* as training does it */
    struct replayed r = {d, m, machine_record(m, issue, d)};
    struct bench_size_of of = {opcase_items(&c), d->flops, d->bytes};
    bool good = bench_time(t, side, replay, &r, &of, precision, f, e);
    routine_drop(m, r.routine);
    opcase_free(d);
    return good;
}

/* --- cells of CSV --- */

enum { COLUMNS = 28, BLOCK_ROWS = 900 /* enough rows to fill a block */ };

struct reading {
    struct csv_dialect dialect;
    struct csv_block block;
    struct csv_cells cells;
    uint32_t blocks;
};

static bool read_cells(void *context, uint32_t times, struct err *e)
{
    struct reading *r = context;
    for (uint64_t i = 0; i < (uint64_t)times * r->blocks; i++)
        if (!csv_cells_parse(&r->dialect, &r->block, COLUMNS, &r->cells, e))
            return false;
    return true;
}

static void write_rows(uint32_t rows, struct text *out)
{
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t k = 0; k < COLUMNS; k++)
            text_printf(out, "%.6g%c", rng_normal(1, i, k, 0, RNG_SAMPLE),
                        k + 1 < COLUMNS ? ',' : '\n');
}

bool bench_read(struct bench_task *t, bool libcsv, enum bench_size size, struct bench_figure *f,
                struct err *e)
{
    static const uint32_t rows[BENCH_SIZES] = {BLOCK_ROWS / 10, BLOCK_ROWS, BLOCK_ROWS};
    static const uint32_t blocks[BENCH_SIZES] = {1, 1, 20};
    struct text text = {0};
    write_rows(rows[size], &text);
    struct reading r = {.dialect = {.delimiter = ',', .libcsv = libcsv},
                        .block = {.bytes = text.data,
                                  .size = text.length,
                                  .path = "benchmark",
                                  .first_line = 1},
                        .blocks = blocks[size]};
    const struct bench_size_of of = {.items = (double)rows[size] * blocks[size],
                                     .bytes = (double)text.length * blocks[size]};
    bool good = bench_time(t, BENCH_CPU, read_cells, &r, &of, "fp32", f, e);
    f->rate = good && f->seconds > 0 ? of.bytes / f->seconds : 0;
    csv_cells_free(&r.cells);
    text_free(&text);
    return good;
}
