/* input_numbers.c - numbers and "was missing" indicators: op_gather has put them into the first
 * columns of x, unchanged. */
#include "model/layers/inputs.h"

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    (void)l, (void)e;
    uint64_t count = (uint64_t)p->features->format.numbers + p->features->indicator_count;
    while (count-- > 0)
        plan_columns(p, 1);
    return true;
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    (void)x;
    return pass_act(p, l->y);
}

const struct layer_type input_numbers = {
    .name = "numbers",
    .summary = "Numbers and indicators of missing ones, as they are.",
    .plan = plan,
    .forward = forward,
};
