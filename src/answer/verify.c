/* verify.c - see verify.h. Text to cells to records to logits, as predict does it. */
#include "answer/verify.h"

#include <math.h>
#include <string.h>

#include "answer/stream/serve.h"
#include "base/mem.h"
#include "base/worst.h"
#include "measure/probability.h"
#include "table/sequence/windows.h"

#define BOUND 1e-5 /* of a probability, in fp32, on a machine of another kind */

/* --- the rows --- */

/* The answers of all members to row r. Checked as float32, the stored type: a double may be finite
 * although its float is not. */
static bool all_finite(const struct table_sample *sample, const real *logits, uint32_t members,
                       uint32_t outputs, uint32_t r)
{
    for (uint32_t m = 0; m < members; m++)
        for (uint32_t i = 0; i < outputs; i++)
            if (!isfinite((float)logits[((size_t)m * sample->rows + r) * outputs + i]))
                return false;
    return true;
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

/* Cells to records [g->count] of c->format.stride bytes, zeroed by the caller, ready for the
 * network. A cell that cannot be read: MODEL_GOLDEN, 76, at path. */
static bool golden_parse(const struct golden *g, const struct encoder *c, const char *path,
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

/* --- their answers --- */

/* The largest difference in one row; regression: in units of the target's deviation. */
static double difference(const struct serve *s, const struct answer_mean *got,
                         const struct answer_mean *want, uint64_t row)
{
    uint32_t outputs = s->outputs;
    double most = 0;
    double *p = mem_alloc(2 * (size_t)outputs, sizeof *p);
    if (s->schema->task == TASK_REGRESSION) {
        answer_mean_values(got, row, p);
        answer_mean_values(want, row, p + outputs);
    } else {
        answer_mean_probabilities(got, row, row + 1, outputs, p);
        answer_mean_probabilities(want, row, row + 1, outputs, p + outputs);
    }
    for (uint32_t o = 0; o < outputs; o++)
        most = worst_of(most, fabs(p[o] - p[outputs + o]));
    mem_free(p);
    return most;
}

/* Logits [members][count][outputs] of records that are one window, or a row each; if a window has
 * one answer, each record gets it. */
static bool answer_one(struct serve *s, unsigned char *records, uint64_t count, real *logits,
                       struct err *e)
{
    const struct features *f = s->features[0];
    if (!f->window)
        return serve_answer(s, records, count, logits, e);
    const uint64_t length = count < f->window ? count : f->window, out = s->outputs;
    const uint64_t answers = features_answers(f);
    uint32_t *window = mem_alloc(f->window, sizeof *window);
    real *all = mem_alloc(s->member_count * answers * out, sizeof *all);
    window_rows(window, f->window, 0, (uint32_t)length);
    bool good = serve_answer_windows(s, records, count, window, NULL, 1, all, e);
    for (uint32_t m = 0; good && m < s->member_count; m++)
        for (uint64_t i = 0; i < count; i++)
            memcpy(logits + (m * count + i) * out,
                   all + (m * answers + (f->each && i < length ? i : 0)) * out,
                   out * sizeof *all);
    mem_free(window);
    mem_free(all);
    return good;
}

bool verify_run(const char *model, const struct overrides *o, bool beside,
                struct verify_result *r, struct err *e)
{
    const struct rows_request q = {.model = model, .overrides = *o};
    struct serve s;
    *r = (struct verify_result){0};
    if (!serve_open(&s, &q, JOB_PREDICT, e))
        return false;
    s.beside = beside;
    const struct golden *g = &s.file->golden;
    if (!g->count) {
        serve_close(&s);
        return err_at(e, ERR_MODEL_NO_GOLDEN, model, 0, 0,
                      "the model holds no golden rows: nothing was compared");
    }
    r->rows = g->count;
    unsigned char *records = mem_zero(((size_t)g->count + 1) * s.encoder_count, s.stride);
    const size_t count = (size_t)s.member_count * g->count * s.outputs;
    real *logits = mem_zero(count + 1, sizeof *logits);
    bool good = true;
    for (uint32_t i = 0; good && i < s.encoder_count; i++)
        good = golden_parse(g, s.encoders[i], model,
                            records + (size_t)i * g->count * s.stride, e);
    good = good && answer_one(&s, records, g->count, logits, e);
    if (good) {
        const struct plan *theirs = &s.file->plan;
        r->bits = strcmp(theirs->backend, s.plan.backend) == 0 &&
                  strcmp(theirs->core, s.plan.core) == 0 &&
                  theirs->version == s.plan.version;
        bool same = !count || memcmp(logits, g->logits, count * sizeof *logits) == 0;
        struct answer_mean got = serve_mean(&s, logits, g->count),
                           want = serve_mean(&s, g->logits, g->count);
        got.codings = want.codings = NULL; /* in units of the deviation */
        if (s.schema->task == TASK_REGRESSION) /* its limits are in units of the file */
            got.calibration = want.calibration = NULL;
        for (uint32_t i = 0; i < g->count; i++)
            r->largest_difference =
                worst_of(r->largest_difference, difference(&s, &got, &want, i));
        r->backend = s.backend;
        r->pass = r->bits ? same : r->largest_difference <= BOUND;
    }
    mem_free(records);
    mem_free(logits);
    serve_close(&s);
    return good;
}
