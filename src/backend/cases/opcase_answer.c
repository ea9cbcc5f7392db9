/* opcase_answer.c - cases of answers, and of copies of parameters. */
#include <math.h>
#include <string.h>

#include "backend/cases/opcase.h"

/* kind: the measure of a row. CASE_BARE: logits are not kept; CASE_MORE: the first rows of the
 * batch are not wanted; CASE_RAGGED: nor the last. */
enum { BY_NOTHING, BY_CLASS, BY_FOCAL, BY_SMOOTH, BY_RIGHT, BY_VALUE }; /* by value: + its loss */
#define SCORES(r, i, k, f, p)                                                                      \
    {.op = OP_score, .rows = r, .in = i, .kind = k, .flags = f, .pad = p, .gate = 1e-5}
static const struct opcase cases_score[] = {
    SCORES(256, 2, BY_CLASS, 0, 0),
    SCORES(512, 2, BY_NOTHING, 0, 0),
    SCORES(1100, 2, BY_RIGHT, CASE_BARE, 0),
    SCORES(513, 3, BY_RIGHT, CASE_RAGGED | CASE_MORE, 2),
    SCORES(70, 5, BY_FOCAL, CASE_MORE, 1),
    SCORES(9, 40, BY_SMOOTH, CASE_RAGGED, 3),
    SCORES(600, 17, BY_CLASS, CASE_BARE | CASE_RAGGED, 0),
    SCORES(20, 33, BY_RIGHT, 0, 0),
    SCORES(256, 1, BY_VALUE + VALUE_MSE, 0, 0),
    SCORES(1025, 1, BY_VALUE + VALUE_MAE, CASE_RAGGED, 2),
    SCORES(65, 1, BY_VALUE + VALUE_HUBER, CASE_BARE, 0),
    SCORES(65, 1, BY_VALUE + VALUE_QUANTILE, CASE_MORE, 0),
};

static struct answers answers_of(const struct opcase *c)
{
    uint64_t first = c->flags & CASE_MORE ? 5 : 0, end = opcase_count(c);
    bool by_value = c->kind >= BY_VALUE, none = c->kind == BY_NOTHING;
    return (struct answers){
        .first = first,
        .end = end > first ? end : first,
        .sum = 0.5,
        .weight = 0.25,
        .smoothing = c->kind == BY_SMOOTH ? 0.1 : 0,
        .gamma = 1.5,
        .delta = 1.3,
        .q = 0.8,
        .most = 6,
        .measure = none                  ? MEASURE_NONE
                   : by_value            ? MEASURE_VALUE
                   : c->kind == BY_RIGHT ? MEASURE_RIGHT
                                         : MEASURE_CLASS,
        .kind = by_value ? c->kind - BY_VALUE : c->kind == BY_FOCAL ? CLASS_FOCAL : 0,
        .kept = c->flags & CASE_BARE ? 0 : 1};
}

/* Answers are compared as doubles; all other bytes are the same on every machine. */
static void make_score(const struct opcase *c, struct opdata *d)
{
    const struct step now = {.seed = 1};
    struct answers to = answers_of(c);
    real *target = opdata_host(d, c->rows, sizeof *target);
    real *weight = opdata_host(d, c->rows, sizeof *weight);
    for (size_t i = 0; i < c->rows; i++) {
        target[i] = (real)opdata_random(d, c->in > 1 ? c->in : 3);
        weight[i] = (real)opdata_random(d, 4) / 2; /* some rows weigh nothing */
    }
    d->arguments.score = (struct op_score){
        .now = opdata_values(d, "now", BUFFER_BYTES, &now, sizeof now, true),
        .to = opdata_values(d, "answers", BUFFER_DOUBLE, &to, sizeof to / sizeof(double), true),
        .kept = opdata_output(d, "logits", BUFFER_REAL, to.end - to.first, c->in, 0, true),
        .logits = opdata_act_input(d, "from", c, c->in, 3),
        .target = opdata_values(d, "target", BUFFER_REAL, target, c->rows, false),
        .weight = opdata_values(d, "weight", BUFFER_REAL, weight, c->rows, false),
        .rows = c->rows,
        .outputs = c->in,
        .ld = c->in + c->pad};
    d->flops = 10.0 * c->rows * c->in;
}
OPCASES(score);

/* in: numbers; rows: one of them is infinite (1), NaN (2), or none */
#define KEEPS(r, i, f) {.op = OP_keep, .rows = r, .in = i, .flags = f, .gate = 0}
static const struct opcase cases_keep[] = {
    KEEPS(0, 1, 0), KEEPS(0, 63, 0), KEEPS(1, 20000, 0), KEEPS(2, 4099, 0),
    KEEPS(2, 70, CASE_BARE), KEEPS(0, 20001, CASE_BARE)};

static void make_keep(const struct opcase *c, struct opdata *d)
{
    real *from = opdata_host(d, c->in, sizeof *from);
    for (uint32_t i = 0; i < c->in; i++)
        from[i] = (real)opdata_random(d, 1 << 20) - 1000;
    if (c->rows)
        from[c->in - 1 - c->in / 3] = c->rows == 1 ? -(real)INFINITY : (real)NAN;
    d->arguments.keep = (struct op_keep){
        .to = c->flags & CASE_BARE ? NULL
                                   : opdata_output(d, "to", BUFFER_REAL, 1, c->in, 0, true),
        .bad = opdata_output(d, "bad", BUFFER_INT, 1, KEEP_PARTS, 0, false),
        .from = opdata_values(d, "from", BUFFER_REAL, from, c->in, false),
        .n = c->in};
    d->flops = c->in;
}
OPCASES(keep);
