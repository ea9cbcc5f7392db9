/* opcase_size.c - a case of each operation at any size: `rows` of a batch and layers of `width`.
 * The meaning of its numbers stands with the operation's cases. */
#include "backend/cases/opcase.h"

/* in: a fixed number, or width / part; out likewise (WIDTH: width). KEPT: a training may keep the
 * activations in 16 bits; KEPT_BACK: their gradients as well. */
enum kept { NOT_KEPT, KEPT, KEPT_BACK };
#define WIDTH UINT32_MAX
static const struct {
    uint32_t part, in, out, kind, flags;
    enum kept kept;
} sizes[OP_COUNT] = {
    /* numbers, a few categories, two classes, in permuted order */
    [OP_gather] = {.part = 4, .out = 3, .kind = 2, .flags = CASE_SHUFFLE},
    [OP_onehot] = {.in = 8}, /* categories */
    [OP_embed] = {.in = 8, .out = 16},
    [OP_embed_back] = {.in = 8, .out = 16},
    [OP_ple] = {.part = 4, .kind = 14}, /* numbers with some 16 bins */
    [OP_ple_wide] = {.part = 4, .kind = 14},
    [OP_ple_dense] = {.in = 16, .out = WIDTH, .kind = 14},
    [OP_ple_dense_back] = {.in = 16, .out = WIDTH, .kind = 14},
    [OP_periodic] = {.part = 4},
    [OP_periodic_back] = {.part = 4},
    [OP_view_scale] = {.out = 8}, /* views */
    [OP_view_scale_back] = {.out = 8},
    [OP_view_mean] = {.in = 2, .out = 8},
    [OP_text] = {.in = 32, .out = WIDTH, .kind = 2000}, /* 33 terms a row */
    [OP_text_dense] = {.in = 32, .out = WIDTH, .kind = 2000},
    [OP_text_dense_back] = {.in = 32, .out = WIDTH, .kind = 2000},
    [OP_tokens] = {.in = 1, .out = 32}, /* of a text */
    [OP_series] = {.in = 8, .out = 16}, /* channels, steps */
    [OP_recur] = {.out = 16},
    [OP_recur_back] = {.out = 16},
    [OP_pool] = {.out = 16},
    [OP_pool_back] = {.out = 16},
    [OP_position] = {.out = 16},
    [OP_position_back] = {.out = 16},
    [OP_weigh] = {.out = 16},
    [OP_weigh_back] = {.out = 16},
    [OP_conv] = {.out = 16}, /* steps, of three taps */
    [OP_conv_back] = {.out = 16},
    [OP_lengths] = {.in = 1, .out = 16, .kind = 1},
    [OP_rocket] = {.in = 8, .out = 16, .kind = 2}, /* channels, steps, thresholds */
    [OP_rotary] = {.part = 8, .out = 16, .kind = 4}, /* steps, heads */
    [OP_attention] = {.part = 4, .out = 64, .kind = 4}, /* steps, heads; a quarter of the rows */
    [OP_attention_back] = {.part = 4, .out = 64, .kind = 4},
    [OP_dense] = {.out = WIDTH, .kind = ACT_RELU, .flags = CASE_SHADOW, .kept = KEPT},
    [OP_dense_back] = {.out = WIDTH, .kind = ACT_RELU, .flags = CASE_SHADOW, .kept = KEPT_BACK},
    [OP_act] = {.kind = ACT_GELU, .kept = KEPT},
    [OP_act_back] = {.kind = ACT_GELU, .kept = KEPT_BACK},
    [OP_blend] = {.kind = ACT_GELU, .kept = KEPT},
    [OP_blend_back] = {.kind = ACT_GELU, .kept = KEPT_BACK},
    [OP_dropout] = {.kind = 1, .kept = KEPT},
    [OP_add] = {.kept = KEPT},
    [OP_bnorm_stats] = {.kept = KEPT},
    [OP_bnorm] = {.kept = KEPT},
    [OP_bnorm_sums] = {.kept = KEPT_BACK},
    [OP_bnorm_back] = {.kept = KEPT_BACK},
    [OP_lnorm] = {.kept = KEPT},
    [OP_lnorm_back] = {.kept = KEPT_BACK},
    [OP_score] = {.in = 2, .kind = 1}, /* two classes, by their loss */
    [OP_loss_class] = {.in = 2},
    [OP_loss_f1] = {.in = 2},
    [OP_loss_value] = {.in = 1, .kind = VALUE_MSE},
    [OP_sgd] = {.flags = CASE_SHADOW},
    [OP_rmsprop] = {.flags = CASE_SHADOW},
    [OP_adam] = {.flags = CASE_SHADOW},
};

/* Parameters: a weight of 37 columns, and `in` more. */
static bool of_weights(enum op_id op)
{
    return op == OP_norm2 || op == OP_sgd || op == OP_rmsprop || op == OP_adam;
}

struct opcase opcase_sized(enum op_id op, uint32_t rows, uint32_t width)
{
    uint32_t part = sizes[op].part ? width / sizes[op].part : width;
    struct opcase c = {.op = op, .rows = rows, .in = sizes[op].in ? sizes[op].in : part,
                       .out = sizes[op].out == WIDTH ? width : sizes[op].out,
                       .kind = sizes[op].kind, .flags = sizes[op].flags};
    bool heads = op == OP_attention || op == OP_attention_back;
    if (heads)
        c.rows = rows < 4 ? 1 : rows / 4;
    if ((heads || op == OP_rotary) && c.in == 0)
        c.in = 1;
    if (of_weights(op)) /* about width * width parameters */
        c.out = width * width / 37;
    if (of_weights(op) || op == OP_advance)
        c.rows = plan_shards(rows);
    if (op == OP_keep) { /* number of parameters of a layer of that width */
        c.rows = 0;
        c.in = width * width;
    }
    return c;
}

double opcase_items(const struct opcase *c)
{
    if (of_weights(c->op))
        return (double)c->out * 37 + c->in; /* parameters */
    if (c->op == OP_keep)
        return c->in;
    return c->op == OP_advance ? 1 : c->rows; /* a step; rows */
}

/* Sets the form of the case if the machine gives all its activations the same one. */
void opcase_keep(struct opcase *c, const struct machine *m)
{
    bool product = c->op == OP_dense || c->op == OP_dense_back;
    uint32_t widths[] = {c->in, product ? c->out : c->in};
    uint32_t form = machine_act_form(m, c->rows, c->in, false);
    bool same = sizes[c->op].kept != NOT_KEPT;
    for (int i = 0; i < 2; i++)
        for (int back = 0; back <= (sizes[c->op].kept == KEPT_BACK); back++)
            same = same && machine_act_form(m, c->rows, widths[i], back) == form;
    if (same)
        c->form = form;
}
