/* opcase_blend.c - the cases of blend. kind: the activation; ACT_NONE: the column times its weight.
 */
#include "backend/cases/opcase.h"

#define BLEND(OP, r, i, k, p, f)                                                                   \
    {.op = OP, .rows = r, .in = i, .kind = k, .pad = p, .flags = f, .gate = 1e-5}
#define BLENDS(OP, f)                                                                              \
    BLEND(OP, 256, 128, ACT_SELU, 0, f), BLEND(OP, 256, 40, ACT_MISH, 3, f),                       \
        BLEND(OP, 100, 70, ACT_NONE, 0, f), BLEND(OP, 33, 5, ACT_LEAKY_RELU, 1, f),                \
        BLEND(OP, 70, 37, ACT_TANH, 0, f), BLEND(OP, 9, 1, ACT_NONE, 0, f)
static const struct opcase cases_blend[] = {BLENDS(OP_blend, 0)};

static void make_blend(const struct opcase *c, struct opdata *d)
{
    d->arguments.blend =
        (struct op_blend){.y = opdata_act_output(d, "y", c, c->in, false),
                          .x = opdata_act_input(d, "x", c, c->in, 2),
                          .w = opdata_input(d, "w", BUFFER_REAL, 1, c->in, 0, 1),
                          .rows = c->rows,
                          .width = c->in,
                          .ldx = c->in + c->pad,
                          .ldy = c->in + c->pad,
                          .act = c->kind,
                          .slope = 0.3};
}
OPCASES(blend);

static const struct opcase cases_blend_back[] = {
    BLENDS(OP_blend_back, 0), BLENDS(OP_blend_back, CASE_ADD | CASE_MORE),
    BLEND(OP_blend_back, 65, 33, ACT_SELU, 2, CASE_BARE)};

static void make_blend_back(const struct opcase *c, struct opdata *d)
{
    uint32_t shards = plan_shards(c->rows);
    bool bare = c->flags & CASE_BARE;
    d->arguments.blend_back = (struct op_blend_back){
        .dx = bare ? no_act() : opdata_act_output(d, "dx", c, c->in, true),
        .dw = opdata_shards(d, "dw", c->in, shards, true),
        .dy = opdata_act_input(d, "dy", c, c->in, 1),
        .x = opdata_act_input(d, "x", c, c->in, 2),
        .w = opdata_input(d, "w", BUFFER_REAL, 1, c->in, 0, 1),
        .shard_stride = c->in,
        .rows = c->rows,
        .width = c->in,
        .ldx = c->in + c->pad,
        .lddx = c->in + c->pad,
        .lddy = c->in + c->pad,
        .act = c->kind,
        .add_dx = c->flags & CASE_ADD ? 1 : 0,
        .more = c->flags & CASE_MORE ? 1 : 0,
        .slope = 0.3};
}
OPCASES(blend_back);
