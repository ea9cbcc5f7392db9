/* random_case.h - a random case of an operation from a seed. Sizes are drawn by powers of two,
 * flags by chance, the operation too: one number reproduces a case. */
#ifndef DNN_TESTS_RANDOM_CASE_H
#define DNN_TESTS_RANDOM_CASE_H

#include "backend/cases/opcase.h"
#include "base/rng.h"

struct random_draw { uint64_t seed; uint32_t at; };

static inline uint32_t draw_below(struct random_draw *d, uint32_t n)
{
    return (uint32_t)((uint64_t)rng_bits(d->seed, d->at++, 0, 0, RNG_TEST) * n >> 32);
}

/* 1 to most */
static inline uint32_t draw_size(struct random_draw *d, uint32_t most)
{
    uint32_t end = 2;
    while (end <= most && draw_below(d, 6))
        end *= 2;
    return 1 + draw_below(d, end <= most ? end : most);
}

static inline uint32_t draw_flag(struct random_draw *d, uint32_t flag)
{
    return draw_below(d, 2) ? flag : 0;
}

/* All the data, some of it, or one row. */
static inline uint32_t draw_ragged(struct random_draw *d)
{
    static const uint32_t kinds[] = {0, CASE_RAGGED, CASE_ONE_ROW};
    return kinds[draw_below(d, 3)];
}

/* Operations on parameters: rows are shards, `out` a weight's width, flags what its step is. */
static inline void draw_parameters(struct random_draw *d, struct opcase *c)
{
    c->rows = 1 + draw_below(d, 16);
    c->in = draw_size(d, 9000);
    c->out = draw_below(d, 3) ? draw_below(d, 60) : 0;
    c->kind = draw_below(d, 20);
    c->flags = draw_below(d, 8) ? 0 : CASE_BAD;
    if (c->op == OP_norm2)
        c->flags |= draw_flag(d, CASE_SECOND);
    else
        c->flags |= draw_flag(d, CASE_SECOND) | draw_flag(d, CASE_CLIP) | draw_flag(d, CASE_SHADOW);
    if (c->op == OP_sgd)
        c->flags |= draw_flag(d, CASE_BARE);
    c->pad = 0;
}

static inline struct opcase random_case(uint64_t seed)
{
    struct random_draw from = {seed, 0}, *d = &from;
    struct opcase c = {.op = (enum op_id)(seed % OP_COUNT)};
    c.rows = draw_size(d, 300);
    c.in = draw_size(d, 150);
    c.pad = draw_below(d, 2) ? draw_below(d, 6) : 0;
    c.gate = 1e-5;
    switch (c.op) {
    case OP_gather:
        c.out = draw_below(d, 5);
        c.kind = draw_below(d, 6);
        c.flags = draw_flag(d, CASE_SHUFFLE) | draw_ragged(d);
        c.gate = 0;
        break;
    case OP_onehot:
        c.in = draw_size(d, 12);
        c.gate = 0;
        break;
    case OP_embed:
    case OP_embed_back:
        c.in = draw_size(d, 20);
        c.out = draw_size(d, 140);
        c.flags = c.op == OP_embed ? 0 : draw_flag(d, CASE_MORE);
        c.gate = c.op == OP_embed ? 0 : 1e-4;
        if (c.op == OP_embed_back && c.rows > 50 && draw_below(d, 2)) { /* large tables */
            c.in = 1 + draw_below(d, 3);
            c.out = draw_size(d, 6);
            c.kind = (1u << 18) / c.rows + 1;
        }
        break;
    case OP_ple:
    case OP_ple_wide:
        c.in = draw_size(d, 40);
        c.kind = draw_size(d, 70);
        c.gate = 0;
        break;
    case OP_periodic:
    case OP_periodic_back:
        c.in = draw_size(d, 40);
        c.flags = c.op == OP_periodic ? 0 : draw_flag(d, CASE_MORE);
        c.gate = 1e-4;
        break;
    case OP_ple_dense:
    case OP_ple_dense_back:
        c.in = draw_size(d, 20);
        c.out = draw_size(d, 150);
        c.kind = draw_size(d, 70);
        c.flags = c.op == OP_ple_dense ? 0 : draw_flag(d, CASE_MORE);
        c.gate = 1e-4;
        break;
    case OP_text:
    case OP_text_dense:
    case OP_text_dense_back:
        c.in = draw_size(d, 40);
        c.out = draw_size(d, 150);
        c.kind = draw_size(d, 700);
        c.flags = c.op == OP_text              ? 0
                  : c.op == OP_text_dense ? draw_flag(d, CASE_BARE)
                                          : draw_flag(d, CASE_MORE);
        c.gate = 1e-4;
        break;
    case OP_series:
    case OP_tokens:
        c.rows = draw_size(d, 100);
        c.in = draw_size(d, 9);
        c.out = draw_size(d, 20);
        c.gate = 0;
        break;
    case OP_recur:
    case OP_recur_back:
        c.rows = draw_size(d, 100);
        c.in = draw_size(d, 50);
        c.out = draw_size(d, 9);
        c.kind = draw_below(d, 2);
        c.flags = draw_flag(d, CASE_SECOND);
        c.flags |= c.flags ? 0 : draw_flag(d, CASE_MORE);
        c.gate = 1e-4;
        break;
    case OP_pool:
    case OP_pool_back:
        c.out = draw_size(d, 12);
        c.kind = draw_below(d, POOL_KINDS);
        c.flags = c.op == OP_pool ? 0 : draw_flag(d, CASE_ADD);
        break;
    case OP_position:
        c.kind = draw_below(d, 3);
        c.flags = draw_flag(d, CASE_ADD) | draw_flag(d, CASE_BARE);
        c.out = 1 + draw_size(d, 12);
        break;
    case OP_position_back:
        c.out = draw_size(d, 12);
        c.flags = draw_flag(d, CASE_MORE);
        break;
    case OP_lengths:
        c.out = draw_size(d, 12);
        c.kind = draw_size(d, 5);
        break;
    case OP_rotary:
        c.in = draw_size(d, 20);
        c.out = draw_size(d, 12);
        c.kind = draw_size(d, 4);
        c.flags = draw_flag(d, CASE_SECOND);
        break;
    case OP_attention:
    case OP_attention_back:
        c.rows = draw_size(d, 9);
        c.in = draw_size(d, 40);
        c.out = draw_size(d, 80);
        c.kind = draw_size(d, 4);
        c.flags = draw_flag(d, CASE_SECOND);
        c.gate = 1e-4;
        break;
    case OP_conv:
    case OP_conv_back:
        c.rows = draw_size(d, 150);
        c.in = draw_size(d, 20);
        c.out = draw_size(d, 12);
        c.kind = draw_below(d, 6);
        c.flags = draw_flag(d, CASE_SECOND);
        if (c.op == OP_conv_back)
            c.flags |= draw_flag(d, CASE_ADD) | draw_flag(d, CASE_MORE) | draw_flag(d, CASE_BARE);
        c.gate = 1e-4;
        break;
    case OP_rocket:
        c.rows = draw_size(d, 4);
        c.in = draw_size(d, 12);
        c.out = draw_size(d, 40);
        c.kind = 1 + draw_below(d, 2);
        break;
    case OP_weigh:
    case OP_weigh_back:
        c.out = draw_size(d, 40);
        c.flags = c.op == OP_weigh ? 0 : draw_flag(d, CASE_ADD) | draw_flag(d, CASE_BARE);
        c.gate = 1e-4;
        break;
    case OP_dense:
        c.out = draw_size(d, 150);
        c.kind = draw_below(d, ACT_KINDS);
        c.flags = draw_flag(d, CASE_BARE) | draw_flag(d, CASE_SHADOW) |
                  draw_flag(d, CASE_KEEP_Z) | draw_flag(d, CASE_HOT);
        break;
    case OP_dense_back:
        c.out = draw_size(d, 150);
        c.kind = draw_below(d, ACT_KINDS);
        c.flags = draw_flag(d, CASE_BARE) | draw_flag(d, CASE_SHADOW) | draw_flag(d, CASE_ADD) |
                  draw_flag(d, CASE_MORE) | draw_flag(d, CASE_HOT);
        c.gate = 1e-4;
        break;
    case OP_act:
    case OP_act_back:
        c.kind = draw_below(d, ACT_KINDS);
        c.flags = c.op == OP_act ? 0 : draw_flag(d, CASE_ADD);
        c.gate = c.op == OP_act ? 1e-5 : 1e-4;
        break;
    case OP_blend:
    case OP_blend_back:
        c.kind = draw_below(d, ACT_KINDS);
        c.flags = c.op == OP_blend ? 0
                                   : draw_flag(d, CASE_ADD) | draw_flag(d, CASE_MORE) |
                                         draw_flag(d, CASE_BARE);
        c.gate = c.op == OP_blend ? 1e-5 : 1e-4;
        break;
    case OP_dropout:
        c.kind = draw_below(d, 1 << 16);
        c.flags = draw_flag(d, CASE_ADD) | draw_flag(d, CASE_SECOND);
        if (draw_below(d, 2)) { /* what is kept stands in words of sixteen */
            c.in = (c.in + 15) / 16 * 16;
            c.flags |= draw_below(d, 2) ? CASE_KEEP_Z : CASE_SHADOW;
        }
        break;
    case OP_view_scale:
    case OP_view_scale_back:
    case OP_view_mean:
        c.out = draw_size(d, 40);
        c.pad = 0;
        c.flags = draw_flag(d, CASE_BARE);
        if (c.op != OP_view_mean)
            c.flags |= draw_flag(d, CASE_SECOND);
        if (c.op == OP_view_scale_back)
            c.flags |= draw_flag(d, CASE_ADD) | draw_flag(d, CASE_MORE);
        c.gate = 1e-4;
        break;
    case OP_add:
    case OP_bnorm:
    case OP_lnorm:
        c.flags = draw_flag(d, CASE_BARE);
        break;
    case OP_bnorm_stats:
        c.flags = draw_flag(d, CASE_MORE) | draw_ragged(d);
        break;
    case OP_bnorm_sums:
        c.flags = draw_flag(d, CASE_MORE) | draw_ragged(d);
        c.gate = 1e-4;
        break;
    case OP_bnorm_back:
        c.flags = draw_flag(d, CASE_ADD) | draw_ragged(d);
        c.gate = 1e-4;
        break;
    case OP_lnorm_back:
        c.flags = draw_flag(d, CASE_ADD) | draw_flag(d, CASE_MORE);
        c.gate = 1e-4;
        break;
    case OP_loss_class:
        c.in = 1 + draw_size(d, 400);
        c.kind = draw_below(d, 10);
        c.flags = draw_flag(d, CASE_BARE) | draw_flag(d, CASE_MORE) | draw_flag(d, CASE_SECOND) |
                  draw_ragged(d);
        c.kind += c.flags & CASE_SECOND ? 1 : 0;
        break;
    case OP_loss_f1:
        c.in = 2 + draw_below(d, F1_CLASSES - 1);
        c.kind = draw_below(d, 2);
        c.flags = draw_flag(d, CASE_MORE) | draw_ragged(d);
        c.gate = 1e-4;
        break;
    case OP_loss_value:
        c.in = 1;
        c.kind = draw_below(d, VALUE_QUANTILE + 1);
        c.flags = draw_flag(d, CASE_BARE) | draw_flag(d, CASE_MORE) | draw_ragged(d);
        break;
    case OP_score:
        c.rows = draw_size(d, 2000);
        c.kind = draw_below(d, 9);
        c.in = c.kind < 5 ? 1 + draw_size(d, 60) : 1;
        c.flags = draw_flag(d, CASE_BARE) | draw_flag(d, CASE_MORE) | draw_ragged(d);
        break;
    case OP_keep:
        c.rows = draw_below(d, 3);
        c.in = draw_size(d, 30000);
        c.pad = 0;
        c.flags = draw_flag(d, CASE_BARE);
        c.gate = 0;
        break;
    case OP_norm2:
    case OP_sgd:
    case OP_rmsprop:
    case OP_adam:
        draw_parameters(d, &c);
        break;
    case OP_advance:
        c.rows = 1 + draw_below(d, 16);
        c.kind = draw_below(d, 5);
        c.flags = draw_flag(d, CASE_BAD) | draw_flag(d, CASE_BARE);
        c.in = c.flags & CASE_BARE ? 0 : c.in; /* buffers that there are none of */
        c.gate = 0;
        break;
    case OP_COUNT: break;
    }
    return c;
}

#endif
