/* verify.c - see verify.h. Text to cells to records to logits, as predict does it. */
#include <math.h>
#include <string.h>

#include "answer/verify.h"
#include "answer/golden.h"
#include "answer/stream/serve.h"
#include "base/mem.h"
#include "base/worst.h"
#include "measure/probability.h"

#define BOUND 1e-5 /* of a probability, in fp32, on a machine of another kind */

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

bool verify_run(const char *model, const struct overrides *o, bool beside,
                struct verify_result *r, struct err *e)
{
    struct serve s;
    *r = (struct verify_result){0};
    if (!serve_open(&s, model, JOB_PREDICT, o, e))
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
    good = good && serve_answer_one(&s, records, g->count, logits, e);
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
