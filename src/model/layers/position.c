/* position.c - position: adds a vector to each step, learned or made of sines (Vaswani et al.,
 * 2017), so that layers which do not read steps in order know the place of each. class_token: a
 * learned step before all others (Devlin et al., 2019), which "pool": "cls" takes as the answer. */
#include <math.h>
#include <stddef.h>

#include "base/mem.h"
#include "model/layer.h"

enum position_kind { POSITION_LEARNED, POSITION_SINUSOIDAL };
struct position_spec {
    int type, kind;
    uint64_t at; /* planned: place of the parameter, or of the table */
};

static const char *const kind_words[] = {"learned", "sinusoidal", NULL};
static const struct option position_options[] = {
    LAYER_TYPE_ROW("position"),
    {OPT_ROW(struct position_spec, kind, OPT_WORD, "\"learned\""), .words = kind_words,
     .help = "What is added to a step. learned: a vector of parameters for each. sinusoidal: "
             "sines and cosines of its number, of wavelengths from 2 pi to 20,000 pi steps."},
    {0},
};
static const char *const position_examples[] = {
    "{\"type\": \"position\"}",
    "{\"type\": \"position\", \"kind\": \"sinusoidal\"}",
    NULL,
};
static const struct option token_options[] = {LAYER_TYPE_ROW("class_token"), {0}};
static const char *const token_examples[] = {"{\"type\": \"class_token\"}", NULL};

static bool learned(const struct layer *l)
{
    return ((const struct position_spec *)l->spec)->kind == POSITION_LEARNED;
}

static uint64_t plan_sines(struct planner *p, uint32_t width)
{
    real *table = mem_alloc((size_t)p->at.steps * width, sizeof *table);
    for (uint32_t t = 0; t < p->at.steps; t++)
        for (uint32_t j = 0; j < width; j++) {
            double angle = t / pow(10000, (double)(j / 2 * 2) / width);
            table[(size_t)t * width + j] = (real)(j % 2 ? cos(angle) : sin(angle));
        }
    uint64_t at = plan_table(p, table, (size_t)p->at.steps * width * sizeof *table);
    mem_free(table);
    return at;
}

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct position_spec *s = l->spec;
    (void)e;
    s->at = learned(l) ? plan_param_whole(p, "weight", SHAPE2(l->from.steps, l->in), PARAM_BIAS)
                       : plan_sines(p, l->in);
    l->y = plan_plain(p, l->out);
    return true;
}

/* Small beside numbers of deviation 1. */
enum { TENTHS = 10 };
static void init(const struct layer *l, const struct first_values *v)
{
    const struct position_spec *s = l->spec;
    if (learned(l))
        init_normal(v, s->at, (uint64_t)l->from.steps * l->in, 1.0 / TENTHS, 0);
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct position_spec *s = l->spec;
    struct act y = pass_act(p, l->y);
    op_position(p->m, &(struct op_position){.y = y,
                                            .x = x,
                                            .p = learned(l) ? reals_at(p->params, s->at)
                                                            : pass_table(p, s->at),
                                            .dims = pass_dims(p, l->in),
                                            .x_steps = p->dims.steps,
                                            .count = l->from.steps});
    return y;
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    const struct position_spec *s = l->spec;
    (void)x;
    if (learned(l))
        op_position_back(p->m, &(struct op_position_back){.dp = reals_at(p->grads, s->at),
                                                          .dy = dy,
                                                          .dims = pass_dims(p, l->in),
                                                          .count = l->from.steps,
                                                          .more = p->more});
    if (dx.at)
        op_position(p->m, &(struct op_position){.y = dx,
                                                .x = dy,
                                                .dims = pass_dims(p, l->in),
                                                .x_steps = p->dims.steps,
                                                .add = add});
}

const struct layer_type layer_position = {
    .name = "position",
    .summary = "Adds to each step of a sequence a vector that stands for its place.",
    .options = position_options,
    .examples = position_examples,
    .spec_size = sizeof(struct position_spec),
    .of = LAYER_OF_STEPS,
    .whole_rows = true,
    .plan = plan,
    .init = init,
    .forward = forward,
    .backward = backward,
};

/* --- class_token --- */

static bool token_plan(struct layer *l, struct planner *p, struct err *e)
{
    struct position_spec *s = l->spec;
    (void)e;
    s->at = plan_param_whole(p, "weight", SHAPE1(l->in), PARAM_BIAS);
    plan_lengths(p, 1, 1);
    l->y = plan_plain(p, l->out);
    return true;
}

static void token_init(const struct layer *l, const struct first_values *v)
{
    const struct position_spec *s = l->spec;
    init_normal(v, s->at, l->in, 1.0 / TENTHS, 0);
}

static struct act token_forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct position_spec *s = l->spec;
    struct act y = pass_act(p, l->y);
    struct dims dims = pass_dims(p, l->in);
    pass_lengths(p, l->to.length, 1, 1);
    dims.steps++;
    op_position(p->m, &(struct op_position){.y = y,
                                            .x = x,
                                            .p = reals_at(p->params, s->at),
                                            .dims = dims,
                                            .x_steps = p->dims.steps,
                                            .count = 1,
                                            .shift = -1});
    return y;
}

static void token_backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                           struct act dx, bool add)
{
    const struct position_spec *s = l->spec;
    struct dims dims = pass_dims(p, l->in);
    (void)x;
    dims.steps++;
    op_position_back(p->m, &(struct op_position_back){.dp = reals_at(p->grads, s->at),
                                                      .dy = dy,
                                                      .dims = dims,
                                                      .count = 1,
                                                      .more = p->more});
    if (dx.at)
        op_position(p->m, &(struct op_position){.y = dx,
                                                .x = dy,
                                                .dims = pass_dims(p, l->in),
                                                .x_steps = p->dims.steps + 1,
                                                .add = add,
                                                .shift = 1});
}

const struct layer_type layer_class_token = {
    .name = "class_token",
    .summary = "Puts a learned step before the others; pool \"cls\" takes it as the answer.",
    .options = token_options,
    .examples = token_examples,
    .spec_size = sizeof(struct position_spec),
    .of = LAYER_OF_STEPS,
    .whole_rows = true,
    .plan = token_plan,
    .init = token_init,
    .forward = token_forward,
    .backward = token_backward,
};
