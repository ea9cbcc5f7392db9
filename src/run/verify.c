/* verify.c - see verify.h. Text to cells to records to logits, as predict does it. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "data/cell.h"
#include "run/answer.h"
#include "run/serve.h"
#include "run/verify.h"

#define BOUND 1e-5 /* of a probability, in fp32, on a machine of another kind */

/* The golden cells stand in schema order without the target: a file of exactly these columns. */
static size_t golden_names(const struct schema *s, const char **names)
{
    size_t count = 0;
    for (size_t i = 0; i < s->column_count; i++)
        if (i != s->target)
            names[count++] = s->columns[i].name;
    return count;
}

static void golden_cells(const struct golden *g, struct csv_cells *cells)
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

static bool parse_golden(const struct serve *s, const char *path, unsigned char *records,
                         struct err *e)
{
    const struct golden *g = &s->file->golden;
    struct binding b = {0};
    const char **names = mem_alloc(s->schema->column_count, sizeof *names);
    struct csv_cells cells = {0};
    bool bound = schema_bind(s->schema, (const char *const *)names, golden_names(s->schema, names),
                             false, &b, e);
    bool good = bound;
    if (good && b.cells != g->cells)
        good = err_set(e, ERR_MODEL_GOLDEN,
                       "the golden rows have %u cells, the schema asks for %zu", g->cells, b.cells);
    if (good) {
        struct csv_block block = {.bytes = g->text,
                                  .size = (size_t)g->offsets[(size_t)g->count * g->cells],
                                  .path = path,
                                  .first_line = 1};
        golden_cells(g, &cells);
        for (uint32_t r = 0; r < g->count && good; r++)
            good = cell_parse(s->schema, &b, &block, &cells, r, false,
                              records + r * (size_t)s->schema->format.stride, NULL, e);
        if (good)
            column_apply(s->schema, records, g->count);
    }
    if (!good && e->id != ERR_MODEL_GOLDEN) {
        char why[sizeof e->what];
        memcpy(why, e->what, sizeof why);
        err_clear(e);
        err_at(e, ERR_MODEL_GOLDEN, path, 0, 0, "a golden row cannot be read: %s", why);
    }
    csv_cells_free(&cells);
    if (bound)
        binding_free(&b);
    mem_free(names);
    return good;
}

static double difference(const struct serve *s, const real *got, const real *want)
{
    uint32_t outputs = s->outputs;
    if (s->schema->task == TASK_REGRESSION) /* standardised: in units of the target's deviation */
        return fabs((double)got[0] - (double)want[0]);
    double most = 0;
    float *p = mem_alloc(2 * (size_t)outputs, sizeof *p);
    answer_probabilities(got, 1, outputs, p);
    answer_probabilities(want, 1, outputs, p + outputs);
    for (uint32_t o = 0; o < outputs; o++) {
        double d = fabs((double)p[o] - (double)p[outputs + o]);
        if (!(d <= most)) /* NaN stays */
            most = d;
    }
    mem_free(p);
    return most;
}

bool verify_run(const char *model, const struct overrides *o, struct verify_result *r,
                struct err *e)
{
    struct serve s;
    *r = (struct verify_result){0};
    if (!serve_open(&s, model, JOB_PREDICT, o, e))
        return false;
    const struct golden *g = &s.file->golden;
    r->rows = g->count;
    unsigned char *records = mem_zero((size_t)g->count + 1, s.schema->format.stride);
    real *logits = mem_zero(((size_t)g->count + 1) * s.outputs, sizeof *logits);
    bool good =
        parse_golden(&s, model, records, e) && serve_answer(&s, records, g->count, logits, e);
    if (good) {
        const struct plan *theirs = &s.file->plan;
        r->bits = strcmp(theirs->backend, s.plan.backend) == 0 &&
                  strcmp(theirs->core, s.plan.core) == 0 &&
                  theirs->version == s.plan.version;
        bool same = true;
        for (uint32_t i = 0; i < g->count; i++) {
            const real *got = logits + (size_t)i * s.outputs,
                       *want = g->logits + (size_t)i * s.outputs;
            same = same && memcmp(got, want, s.outputs * sizeof *got) == 0;
            double d = difference(&s, got, want);
            if (!(d <= r->largest_difference))
                r->largest_difference = d;
        }
        r->backend = s.backend;
        r->pass = r->bits ? same : r->largest_difference <= BOUND;
    }
    mem_free(records);
    mem_free(logits);
    serve_close(&s);
    return good;
}
