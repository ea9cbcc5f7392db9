/* opcase_size.c - a case of each operation at any size: `rows` of a batch and layers of `width`.
 * The meaning of its numbers stands with the operation's cases. */
#include "backend/cases/opcase.h"

struct opcase opcase_sized(enum op_id op, uint32_t rows, uint32_t width)
{
    struct opcase c = {.op = op, .rows = rows, .in = width};
    switch ((int)op) {
    case OP_gather: /* numbers, a few categories, two classes, in permuted order */
        c.in = width / 4;
        c.out = 3;
        c.kind = 2;
        c.flags = CASE_SHUFFLE;
        break;
    case OP_onehot: /* `in` categories, with an embedding `out` wide */
        c.in = 8;
        break;
    case OP_embed:
    case OP_embed_back:
        c.in = 8;
        c.out = 16;
        break;
    case OP_ple:
    case OP_ple_wide: /* numbers with some 16 bins */
        c.in = width / 4;
        c.kind = 14;
        break;
    case OP_periodic:
    case OP_periodic_back:
        c.in = width / 4;
        break;
    case OP_ple_dense:
    case OP_ple_dense_back:
        c.in = 16;
        c.kind = 14;
        c.out = width;
        break;
    case OP_view_scale: /* of 8 views */
    case OP_view_scale_back:
        c.out = 8;
        break;
    case OP_view_mean:
        c.in = 2;
        c.out = 8;
        break;
    case OP_text: /* 33 terms a row */
    case OP_text_dense:
    case OP_text_dense_back:
        c.in = 32;
        c.kind = 2000;
        c.out = width;
        break;
    case OP_tokens: /* 32 of a text */
        c.in = 1;
        c.out = 32;
        break;
    case OP_series: /* eight channels of 16 steps */
        c.in = 8;
        c.out = 16;
        break;
    case OP_recur:
    case OP_recur_back:
    case OP_pool:
    case OP_pool_back:
    case OP_position:
    case OP_position_back:
    case OP_weigh:
    case OP_weigh_back:
        c.out = 16;
        break;
    case OP_lengths:
        c.in = 1;
        c.out = 16;
        c.kind = 1;
        break;
    case OP_conv: /* 16 steps, three taps */
    case OP_conv_back:
        c.out = 16;
        break;
    case OP_rocket: /* eight channels of 16 steps, two thresholds */
        c.in = 8;
        c.out = 16;
        c.kind = 2;
        break;
    case OP_rotary: /* four heads, 16 steps */
        c.in = width < 8 ? 1 : width / 8;
        c.out = 16;
        c.kind = 4;
        break;
    case OP_attention: /* four heads, 64 steps, a quarter of the rows */
    case OP_attention_back:
        c.rows = rows < 4 ? 1 : rows / 4;
        c.in = width < 4 ? 1 : width / 4;
        c.out = 64;
        c.kind = 4;
        break;
    case OP_dense:
    case OP_dense_back:
        c.out = width;
        c.kind = ACT_RELU;
        c.flags = CASE_SHADOW;
        break;
    case OP_act:
    case OP_act_back:
    case OP_blend:
    case OP_blend_back:
        c.kind = ACT_GELU;
        break;
    case OP_score: /* two classes, by their loss */
        c.kind = 1;
        c.in = 2;
        break;
    case OP_loss_class:
    case OP_loss_f1:
        c.in = 2;
        break;
    case OP_loss_value:
        c.in = 1;
        c.kind = VALUE_MSE;
        break;
    case OP_norm2: /* about width * width parameters in that many shards */
    case OP_sgd:
    case OP_rmsprop:
    case OP_adam:
        c.rows = plan_shards(rows);
        c.out = width * width / 37;
        c.flags = op == OP_norm2 ? 0 : CASE_SHADOW;
        break;
    case OP_advance:
        c.rows = plan_shards(rows);
        break;
    case OP_keep: /* number of parameters of a layer of that width */
        c.rows = 0;
        c.in = width * width;
        break;
    case OP_dropout:
        c.kind = 1;
        break;
    default: break;
    }
    return c;
}

double opcase_items(const struct opcase *c)
{
    if (c->op == OP_norm2 || c->op == OP_sgd || c->op == OP_rmsprop || c->op == OP_adam)
        return (double)c->out * 37 + c->in; /* parameters */
    if (c->op == OP_keep)
        return c->in;
    return c->op == OP_advance ? 1 : c->rows; /* a step; rows */
}

/* Operations whose activations a training may keep in 16 bits. Negative: not; else whether it has
 * gradients of them as well. */
static int goes_back(enum op_id op)
{
    switch ((int)op) {
    case OP_dense:
    case OP_act:
    case OP_blend:
    case OP_dropout:
    case OP_add:
    case OP_bnorm_stats:
    case OP_bnorm:
    case OP_lnorm: return 0;
    case OP_dense_back:
    case OP_act_back:
    case OP_blend_back:
    case OP_bnorm_sums:
    case OP_bnorm_back:
    case OP_lnorm_back: return 1;
    default: return -1;
    }
}

/* Sets the form of the case if the machine gives all its activations the same one. */
void opcase_keep(struct opcase *c, const struct machine *m)
{
    bool product = c->op == OP_dense || c->op == OP_dense_back;
    uint32_t widths[] = {c->in, product ? c->out : c->in};
    uint32_t form = machine_act_form(m, c->rows, c->in, false);
    bool same = goes_back(c->op) >= 0;
    for (int i = 0; i < 2; i++)
        for (int back = 0; back <= goes_back(c->op); back++)
            same = same && machine_act_form(m, c->rows, widths[i], back) == form;
    if (same)
        c->form = form;
}
