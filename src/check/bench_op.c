/* bench_op.c - one operation as a row of the benchmark: a case of its size (opcase_size.c), taken
 * down once and replayed. */
#include "backend/cases/opcase.h"
#include "base/log.h"
#include "check/bench_parts.h"

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
