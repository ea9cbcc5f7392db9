/* bench_read.c - rows of a benchmark: cells of CSV found by the fast scanner and by libcsv. */
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "check/bench_parts.h"
#include "csv/csv.h"

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
