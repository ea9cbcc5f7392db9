/* input_periodic.c - periodic numbers: learned sums of cosines of each (op_periodic) beside the
 * number itself. Parameters: periodic.frequency, .phase, .weight, .bias, one row a number; the
 * learning rate and the first values follow RealMLP (Holzmueller et al., 2024). */
#include "base/mem.h"
#include "model/layers/inputs.h"

struct periodic_spec {
    uint32_t count;
    uint64_t table;                          /* the columns in machine memory */
    uint64_t frequency, phase, weight, bias; /* offsets of parameters */
};
static const double RATE = 0.1, DEVIATION = 0.1, PI = 3.14159265358979323846;

static uint64_t plan_one(struct planner *p, const char *name, struct param_shape shape)
{
    uint64_t at = plan_param_whole(p, name, shape, PARAM_WEIGHT);
    plan_rates(p, RATE, 1);
    return at;
}

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct periodic_spec *s = l->spec;
    const struct features *f = p->features;
    (void)e;
    struct periodic_column *columns = mem_zero((size_t)f->format.numbers + 1, sizeof *columns);
    for (uint32_t i = 0; f->numbers && i < f->format.numbers; i++)
        if (f->numbers[i].periodic)
            columns[s->count++] = (struct periodic_column){
                .number = i, .at = plan_columns(p, PERIODIC_OUTPUTS)};
    s->table = plan_table(p, columns, s->count * sizeof *columns);
    mem_free(columns);
    l->skipped = s->count == 0;
    if (l->skipped)
        return true;
    s->frequency = plan_one(p, "frequency", SHAPE2(s->count, PERIODIC_WAVES));
    s->phase = plan_one(p, "phase", SHAPE2(s->count, PERIODIC_WAVES));
    s->weight = plan_one(p, "weight", SHAPE3(s->count, PERIODIC_WAVES, PERIODIC_OUTPUTS));
    s->bias = plan_one(p, "bias", SHAPE2(s->count, PERIODIC_OUTPUTS));
    p->flops += 2 * (uint64_t)s->count * PERIODIC_WAVES * PERIODIC_OUTPUTS;
    return true;
}

static void init(const struct layer *l, const struct first_values *v)
{
    const struct periodic_spec *s = l->spec;
    uint64_t waves = (uint64_t)s->count * PERIODIC_WAVES;
    const double limit = 0.25; /* 1 / sqrt(waves) */
    init_normal(v, s->frequency, waves, DEVIATION, s->frequency);
    init_uniform(v, s->phase, waves, PI, s->phase);
    init_uniform(v, s->weight, waves * PERIODIC_OUTPUTS, limit, s->weight);
    init_uniform(v, s->bias, (uint64_t)s->count * PERIODIC_OUTPUTS, limit, s->bias);
}

static struct periodic in_arena(const struct periodic_spec *s, real *arena)
{
    return (struct periodic){reals_at(arena, s->frequency), reals_at(arena, s->phase),
                             reals_at(arena, s->weight), reals_at(arena, s->bias)};
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct periodic_spec *s = l->spec;
    struct act row = pass_act(p, l->y);
    (void)x;
    op_periodic(p->m, &(struct op_periodic){.x = row,
                                            .p = in_arena(s, p->params),
                                            .column = pass_table(p, s->table),
                                            .dims = pass_dims(p, s->count),
                                            .ld = l->in});
    return row;
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    const struct periodic_spec *s = l->spec;
    (void)x, (void)dx, (void)add;
    op_periodic_back(p->m, &(struct op_periodic_back){.d = in_arena(s, p->grads),
                                                      .dx = dy,
                                                      .x = pass_act(p, l->y),
                                                      .p = in_arena(s, p->params),
                                                      .column = pass_table(p, s->table),
                                                      .dims = pass_dims(p, s->count),
                                                      .ld = l->in,
                                                      .more = p->more});
}

const struct layer_type input_periodic = {
    .name = "periodic",
    .summary = "Learned sums of cosines of a number.",
    .spec_size = sizeof(struct periodic_spec),
    .plan = plan,
    .init = init,
    .forward = forward,
    .backward = backward,
};
