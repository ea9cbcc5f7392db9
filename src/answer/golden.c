/* golden.c - see golden.h. */
#include "answer/golden.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

/* Checked as float32, the stored type: a double may be finite although its float is not. */
static bool are_finite(const real *logits, uint32_t outputs)
{
    for (uint32_t i = 0; i < outputs; i++)
        if (!isfinite((float)logits[i]))
            return false;
    return true;
}

/* The answers of all members to row r. */
static bool all_finite(const struct table_sample *sample, const real *logits, uint32_t members,
                       uint32_t outputs, uint32_t r)
{
    bool finite = true;
    for (uint32_t m = 0; m < members; m++)
        finite &= are_finite(logits + ((size_t)m * sample->rows + r) * outputs, outputs);
    return finite;
}

void golden_make(struct golden *g, const struct table_sample *sample, const real *logits,
                 uint32_t members, uint32_t outputs)
{
    const uint32_t cells = sample->cells;
    const size_t room = (size_t)sample->rows * cells;
    uint64_t length = 0;
    uint32_t kept[TABLE_SAMPLE_ROWS];
    *g = (struct golden){.cells = cells};
    g->text = mem_alloc(room ? sample->offsets[room] + 1 : 1, 1);
    g->offsets = mem_zero(room + 1, sizeof *g->offsets);
    g->logits = mem_zero((size_t)members * sample->rows * outputs + 1, sizeof *g->logits);
    for (uint32_t r = 0; r < sample->rows; r++) {
        const uint64_t *at = sample->offsets + (size_t)r * cells;
        if (!all_finite(sample, logits, members, outputs, r))
            continue;
        if (at[cells] > at[0])
            memcpy(g->text + length, sample->text + at[0], at[cells] - at[0]);
        for (uint32_t i = 0; i < cells; i++)
            g->offsets[(size_t)g->count * cells + i + 1] = length + (at[i + 1] - at[0]);
        length += at[cells] - at[0];
        kept[g->count++] = r;
    }
    real *to = g->logits;
    for (uint32_t m = 0; m < members; m++)
        for (uint32_t k = 0; k < g->count; k++, to += outputs)
            memcpy(to, logits + ((size_t)m * sample->rows + kept[k]) * outputs,
                   outputs * sizeof *to);
}

void golden_free(struct golden *g)
{
    mem_free(g->text);
    mem_free(g->offsets);
    mem_free(g->logits);
    *g = (struct golden){0};
}

static void make_cells(const struct golden *g, struct csv_cells *cells)
{
    size_t count = (size_t)g->count * g->cells;
    cells->cells = mem_zero(count ? count : 1, sizeof *cells->cells);
    cells->records = mem_zero(g->count ? g->count : 1, sizeof *cells->records);
    cells->cell_count = count;
    cells->record_count = g->count;
    for (size_t i = 0; i < count; i++) {
        cells->cells[i].text = g->text + g->offsets[i];
        cells->cells[i].length = (uint32_t)(g->offsets[i + 1] - g->offsets[i]);
    }
    for (uint32_t r = 0; r < g->count; r++) {
        uint64_t begin = g->offsets[(size_t)r * g->cells];
        cells->records[r] =
            (struct csv_record){.first_cell = r * g->cells,
                                .cells = g->cells,
                                .offset = begin,
                                .bytes = (uint32_t)(g->offsets[(size_t)(r + 1) * g->cells] - begin),
                                .line = (int64_t)r + 1};
    }
}

static bool parse_rows(const struct golden *g, const struct encoder *c, const struct binding *b,
                       const char *path, unsigned char *records, struct err *e)
{
    struct csv_cells cells = {0};
    struct terms terms = {0};
    struct csv_block block = {.bytes = g->text,
                              .size = (size_t)g->offsets[(size_t)g->count * g->cells],
                              .path = path,
                              .first_line = 1};
    bool good = true;
    make_cells(g, &cells);
    for (uint32_t r = 0; r < g->count && good; r++)
        good = cell_parse(c, b, &block, &cells, r, false, NULL,
                          records + r * (size_t)c->format.stride, NULL, &terms, e);
    terms_free(&terms);
    csv_cells_free(&cells);
    if (good)
        encoder_apply(c, records, g->count);
    return good;
}

bool golden_parse(const struct golden *g, const struct encoder *c, const char *path,
                  unsigned char *records, struct err *e)
{
    struct binding b;
    if (!g->count)
        return true;
    schema_bind_sample(c->schema, &b);
    bool good = b.cells == g->cells;
    if (!good) {
        err_at(e, ERR_MODEL_GOLDEN, path, 0, 0,
               "the golden rows have %u cells, the schema asks for %zu", g->cells, b.cells);
    } else if (!parse_rows(g, c, &b, path, records, e)) {
        char why[sizeof e->what];
        memcpy(why, e->what, sizeof why);
        err_clear(e);
        good = err_at(e, ERR_MODEL_GOLDEN, path, 0, 0, "a golden row cannot be read: %s", why);
    }
    binding_free(&b);
    return good;
}
