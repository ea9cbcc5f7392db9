/* small_net.h - a small network with every kind of operation, straight on a machine. Input:
 * numbers, one one-hot and one embedded category. Layers: dense, batch norm, relu, dropout,
 * dense with gelu, layer norm, dense; 3 classes. */
#ifndef DNN_TESTS_SMALL_NET_H
#define DNN_TESTS_SMALL_NET_H

#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "base/rng.h"

enum { NET_ROWS = 1000, NUMBERS = 6, WORDS = 4, DIM = 3, WIDE = 40, NEXT = 24, CLASSES = 3 };
enum { INPUT = NUMBERS + WORDS + DIM, GROUPS = 11 };

struct net {
    struct machine *m;
    uint32_t batch, micro, shards;
    unsigned char *records[1];
    struct source source;
    struct features features;
    struct onehot_column onehot;
    struct embed_column embed;
    struct group groups[GROUPS];
    uint64_t n, at[GROUPS]; /* table, w1, b1, gamma, beta, w2, b2, lgamma, lbeta, w3, b3 */
    real *p, *m1, *m2, *g, *running, *moved, *stats, *row_stats, *target, *weight;
    void *shadow, *sums;
    double *part_loss, *part_weight;
    int32_t *ids;
    struct step *now;
    struct hyper *rates;
    struct act x, z1, h1, r1, d1, z2, y2, l2, y3, dy3, dl2, dy2, dd1, dh1, dz1, dx;
    struct routine *routine;
};

static void *net_alloc(struct net *n, size_t count, size_t size)
{
    struct err e = {0};
    return machine_alloc(n->m, count * size, &e);
}

static void net_records(struct net *n)
{
    struct rowfmt f = rowfmt_make(NUMBERS, 2);
    n->records[0] = mem_zero(NET_ROWS, f.stride);
    for (uint32_t i = 0; i < NET_ROWS; i++) {
        unsigned char *r = n->records[0] + (size_t)i * f.stride;
        double score[CLASSES] = {0};
        for (uint32_t k = 0; k < NUMBERS; k++) {
            float v = (float)rng_normal(1, i * NUMBERS + k, 0, 0, RNG_TEST);
            memcpy(r + 4 * (size_t)k, &v, 4);
            score[k % CLASSES] += (double)v;
        }
        for (uint32_t k = 0; k < 2; k++) {
            int32_t id = (int32_t)(rng_bits(2, i * 2 + k, 0, 0, RNG_TEST) % (k ? 7 : WORDS));
            memcpy(r + f.at_category + 4 * (size_t)k, &id, 4);
            score[id % CLASSES] += 0.5;
        }
        int32_t label = score[0] > score[1] ? (score[0] > score[2] ? 0 : 2) : score[1] > score[2]
            ? 1 : 2;
        float weight = i % 5 ? 1 : 0.5f;
        memcpy(r + f.at_target, &label, 4);
        memcpy(r + f.at_weight, &weight, 4);
    }
    n->features = (struct features){.format = f};
    n->source = (struct source){.rows = {f, n->records, 63, NET_ROWS}, .count = NET_ROWS,
                                .shuffle = 1, .classes = CLASSES, .features = &n->features};
}

static void net_parameters(struct net *n)
{
    static const uint32_t in[GROUPS] = {0, INPUT, 0, 0, 0, WIDE, 0, 0, 0, NEXT, 0};
    static const uint32_t out[GROUPS] = {7 * DIM, WIDE, WIDE, WIDE, WIDE, NEXT, NEXT, NEXT, NEXT,
                                         CLASSES, CLASSES};
    for (int i = 0; i < GROUPS; i++) {
        bool whole = i == 0 || i == 3 || i == 4; /* embedding, batch norm: not sharded */
        n->at[i] = n->n;
        n->n += (uint64_t)(in[i] ? in[i] : 1) * out[i];
        n->groups[i] = (struct group){.begin = n->at[i], .end = n->n, .lr = 1,
                                      .weight_decay = in[i] ? 1 : 0, .in = in[i],
                                      .out = in[i] ? out[i] : 0, .shards = whole ? 1 : n->shards};
    }
    n->p = net_alloc(n, n->n, sizeof(real));
    n->m1 = net_alloc(n, n->n, sizeof(real));
    n->m2 = net_alloc(n, n->n, sizeof(real));
    n->g = net_alloc(n, n->n * n->shards, sizeof(real));
    n->shadow = net_alloc(n, machine_shadow_bytes(n->m, n->groups, GROUPS, n->n) + 1, 1);
    struct need need;
    machine_need(n->m, OP_norm2, &(struct op_norm2){.from = {.n = n->n}}, &need);
    n->sums = net_alloc(n, (size_t)need.kept, 1);
    for (uint64_t i = 0; i < n->n; i++)
        n->p[i] = (real)(0.3 * rng_normal(3, i, 0, 0, RNG_INIT));
    for (uint64_t i = 0; i < WIDE; i++)
        n->p[n->at[3] + i] = 1;
    for (uint64_t i = 0; i < NEXT; i++)
        n->p[n->at[7] + i] = 1;
    machine_refresh(n->m, n->shadow, n->p, n->groups, GROUPS);
}

static struct net *net_new(struct machine *m, uint32_t batch, uint32_t micro)
{
    struct net *n = mem_zero(1, sizeof *n);
    struct plan plan;
    machine_plan(m, batch, micro, &plan);
    machine_set_plan(m, &plan);
    n->m = m;
    n->batch = batch;
    n->micro = micro;
    n->shards = plan.shards;
    net_records(n);
    net_parameters(n);
    n->onehot = (struct onehot_column){0, NUMBERS, WORDS};
    n->embed = (struct embed_column){1, NUMBERS + WORDS, DIM, 7, n->at[0]};
    n->running = net_alloc(n, 2 * WIDE, sizeof(real));
    n->moved = net_alloc(n, 2 * WIDE, sizeof(real));
    n->stats = net_alloc(n, 4 * WIDE, sizeof(real)); /* mean, inv, sums */
    n->row_stats = net_alloc(n, 2 * batch, sizeof(real));
    n->target = net_alloc(n, batch, sizeof(real));
    n->weight = net_alloc(n, batch, sizeof(real));
    n->ids = net_alloc(n, 2 * batch, sizeof(int32_t));
    n->part_loss = net_alloc(n, n->shards, sizeof(double));
    n->part_weight = net_alloc(n, n->shards, sizeof(double));
    n->now = net_alloc(n, 1, sizeof *n->now);
    *n->now = (struct step){.seed = 7};
    n->rates = net_alloc(n, 1, sizeof *n->rates);
    *n->rates = (struct hyper){.lr = 0.01, .weight_decay = 0.01};
    struct act *acts[] = {&n->x, &n->z1, &n->h1, &n->r1, &n->d1, &n->z2, &n->y2, &n->l2,
                           &n->y3, &n->dy3, &n->dl2, &n->dy2, &n->dd1, &n->dh1, &n->dz1, &n->dx};
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        acts[i]->at = net_alloc(n, (size_t)batch * WIDE, machine_act_bytes(m));
    return n;
}

static void net_free(struct net *n)
{
    void *blocks[] = {n->p, n->m1, n->m2, n->g, n->shadow, n->sums,
                      n->running, n->moved, n->stats, n->row_stats, n->target, n->weight, n->ids,
                      n->rates, n->part_loss, n->part_weight, n->now, n->x.at, n->z1.at, n->h1.at,
                      n->r1.at, n->d1.at, n->z2.at, n->y2.at, n->l2.at, n->y3.at, n->dy3.at,
                      n->dl2.at, n->dy2.at, n->dd1.at, n->dh1.at, n->dz1.at, n->dx.at};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        machine_release(n->m, blocks[i]);
    if (n->routine)
        routine_drop(n->m, n->routine);
    mem_free(n->records[0]);
    mem_free(n);
}

/* The dims of an operation over `rows` rows of this network. */
#define OF(of_rows) .rows = (of_rows), .steps = 1, .shards = n->shards

static void net_forward(struct net *n, struct machine *m, uint32_t micro)
{
    uint32_t b = n->batch;
    op_gather(m, &(struct op_gather){.x = n->x, .ids = n->ids, .target = n->target,
                                     .weight = n->weight, .from = &n->source, .now = n->now,
                                     OF(b), .ld = WIDE, .micro = micro});
    op_onehot(m, &(struct op_onehot){.x = n->x, .ids = n->ids, .columns = &n->onehot, OF(b),
                                     .ld = WIDE, .ids_ld = 2, .column_count = 1});
    op_embed(m, &(struct op_embed){.x = n->x, .ids = n->ids, .params = n->p, .columns = &n->embed,
                                   OF(b), .ld = WIDE, .ids_ld = 2, .column_count = 1});
    op_dense(m, &(struct op_dense){.y = n->z1, .x = n->x, .w = n->p + n->at[1],
                                   .b = n->p + n->at[2], .shadow = machine_shadow_of(m, n->shadow,
            n->at[1]), OF(b), .in = INPUT, .out = WIDE, .ldx = WIDE, .ldy = WIDE});
    op_bnorm_stats(m, &(struct op_bnorm_stats){.mean = n->stats, .inv = n->stats + WIDE,
                                               .moved = n->moved, .running = n->running,
                                               .x = n->z1, .now = n->now,
                                               .from = &n->source, OF(b), .width = WIDE,
                                               .ld = WIDE, .micro = micro, .momentum = 0.1,
                                               .epsilon = 1e-5});
    op_bnorm(m, &(struct op_bnorm){.y = n->h1, .x = n->z1, .mean = n->stats, .inv = n->stats + WIDE,
                                   .running = n->running, .gamma = n->p + n->at[3],
                                       .beta = n->p + n->at[4], OF(b),
                                   .width = WIDE, .ldx = WIDE, .ldy = WIDE, .epsilon = 1e-5});
    op_act(m, &(struct op_act){.y = n->r1, .x = n->h1, OF(b), .width = WIDE, .ldx = WIDE,
                               .ldy = WIDE, .act = ACT_RELU});
    op_dropout(m, &(struct op_dropout){.y = n->d1, .x = n->r1, .now = n->now, OF(b),
                                       .width = WIDE, .ldx = WIDE, .ldy = WIDE, .layer = 4,
                                       .micro = micro, .threshold = 858993459, .scale = 1.25});
    op_dense(m, &(struct op_dense){.y = n->y2, .z = n->z2, .x = n->d1, .w = n->p + n->at[5],
                                   .b = n->p + n->at[6], .shadow = machine_shadow_of(m, n->shadow,
            n->at[5]), OF(b), .in = WIDE, .out = NEXT, .ldx = WIDE, .ldy = WIDE, .ldz = WIDE,
                                   .act = ACT_GELU});
    op_lnorm(m, &(struct op_lnorm){.y = n->l2, .mean = n->row_stats, .inv = n->row_stats + b,
                                   .x = n->y2, .gamma = n->p + n->at[7], .beta = n->p + n->at[8],
                                   OF(b), .width = NEXT, .ldx = WIDE, .ldy = WIDE,
                                   .epsilon = 1e-5});
    op_dense(m, &(struct op_dense){.y = n->y3, .x = n->l2, .w = n->p + n->at[9],
                                   .b = n->p + n->at[10], .shadow = machine_shadow_of(m, n->shadow,
            n->at[9]), OF(b), .in = NEXT, .out = CLASSES, .ldx = WIDE, .ldy = WIDE});
    op_loss_class(m, &(struct op_loss_class){.dlogits = n->dy3, .part_loss = n->part_loss,
                                             .part_weight = n->part_weight, .logits = n->y3,
                                             .target = n->target, .weight = n->weight, OF(b),
                                             .classes = CLASSES, .ld = WIDE, .ldd = WIDE,
                                             .more = micro > 0});
}

static void net_backward(struct net *n, struct machine *m, uint32_t micro)
{
    uint32_t b = n->batch, more = micro > 0;
    op_dense_back(m, &(struct op_dense_back){.dx = n->dl2, .dw = n->g + n->at[9],
                                             .db = n->g + n->at[10], .dy = n->dy3, .x = n->l2,
                                             .w = n->p + n->at[9], .shadow = machine_shadow_of(m,
            n->shadow, n->at[9]), .shard_stride = n->n, OF(b), .in = NEXT, .out = CLASSES,
                                             .ldx = WIDE, .lddx = WIDE, .lddy = WIDE,
                                             .more = more});
    op_lnorm_back(m, &(struct op_lnorm_back){.dx = n->dy2, .dgamma = n->g + n->at[7],
                                             .dbeta = n->g + n->at[8], .dy = n->dl2, .x = n->y2,
                                             .mean = n->row_stats, .inv = n->row_stats + b,
                                             .gamma = n->p + n->at[7], .shard_stride = n->n,
                                             OF(b), .width = NEXT, .ldx = WIDE, .lddx = WIDE,
                                             .lddy = WIDE, .more = more});
    op_dense_back(m, &(struct op_dense_back){.dx = n->dd1, .dw = n->g + n->at[5],
                                             .db = n->g + n->at[6], .dy = n->dy2, .y = n->y2,
                                             .z = n->z2, .x = n->d1, .w = n->p + n->at[5],
                                             .shadow = machine_shadow_of(m, n->shadow, n->at[5]),
                                             .shard_stride = n->n, OF(b), .in = WIDE,
                                             .out = NEXT, .ldx = WIDE, .ldy = WIDE, .ldz = WIDE,
                                             .lddx = WIDE, .lddy = WIDE, .act = ACT_GELU,
                                             .more = more});
    op_dropout(m, &(struct op_dropout){.y = n->dd1, .x = n->dd1, .now = n->now, OF(b),
                                       .width = WIDE, .ldx = WIDE, .ldy = WIDE, .layer = 4,
                                       .micro = micro, .threshold = 858993459, .scale = 1.25});
    op_act_back(m, &(struct op_act_back){.dx = n->dh1, .dy = n->dd1, .x = n->h1, OF(b),
                                         .width = WIDE, .ldx = WIDE, .lddx = WIDE, .lddy = WIDE,
                                         .act = ACT_RELU});
    op_bnorm_sums(m, &(struct op_bnorm_sums){.sums = n->stats + 2 * WIDE, .dgamma = n->g + n->at[3],
                                             .dbeta = n->g + n->at[4], .dy = n->dh1, .x = n->z1,
                                                 .mean = n->stats,
                                             .inv = n->stats + WIDE, .now = n->now,
                                                 .from = &n->source,
                                             OF(b), .width = WIDE,
                                                 .ldx = WIDE, .lddy = WIDE,
                                             .micro = micro, .more = more});
    op_bnorm_back(m, &(struct op_bnorm_back){.dx = n->dz1, .dy = n->dh1, .x = n->z1,
                                             .mean = n->stats, .inv = n->stats + WIDE,
                                             .gamma = n->p + n->at[3], .sums = n->stats + 2 * WIDE,
                                             .now = n->now, .from = &n->source, OF(b),
                                             .width = WIDE, .ldx = WIDE, .lddx = WIDE, .lddy = WIDE,
                                             .micro = micro});
    op_dense_back(m, &(struct op_dense_back){.dx = n->dx, .dw = n->g + n->at[1],
                                             .db = n->g + n->at[2], .dy = n->dz1, .x = n->x,
                                             .w = n->p + n->at[1], .shadow = machine_shadow_of(m,
            n->shadow, n->at[1]), .shard_stride = n->n, OF(b), .in = INPUT, .out = WIDE,
                                             .ldx = WIDE, .lddx = WIDE, .lddy = WIDE,
                                             .more = more});
    op_embed_back(m, &(struct op_embed_back){.grads = n->g, .dx = n->dx, .ids = n->ids,
                                             .columns = &n->embed, .now = n->now,
                                             OF(b), .ld = WIDE,
                                             .ids_ld = 2, .column_count = 1, .more = more});
}

static void net_step(void *net, struct machine *m)
{
    struct net *n = net;
    for (uint32_t micro = 0; micro < n->micro; micro++) {
        net_forward(n, m, micro);
        net_backward(n, m, micro);
    }
    struct grads from = {.g = n->g, .part_weight = n->part_weight, .shard_stride = n->n, .n = n->n,
                         .shards = n->shards, .group_count = GROUPS, .groups = n->groups};
    op_norm2(m, &(struct op_norm2){.now = n->now, .sums = n->sums, .from = from});
    op_adam(m, &(struct op_adam){.p = n->p,
                                 .m1 = n->m1,
                                 .m2 = n->m2,
                                 .shadow = machine_shadow_of(m, n->shadow, 0),
                                 .from = from,
                                 .sums = n->sums,
                                 .now = n->now,
                                 .schedule = {n->rates, 1, 0},
                                 .beta1 = 0.9,
                                 .beta2 = 0.999,
                                 .epsilon = 1e-8,
                                 .clip = 1,
                                 .decoupled = 1});
    op_advance(m, &(struct op_advance){.now = n->now, .buffers = n->running, .moved = n->moved,
                                          .buffer_count = 2 * WIDE, .part_loss = n->part_loss,
                                          .part_weight = n->part_weight,
                                          .consumed = (uint64_t)n->batch * n->micro,
                                          .shards = n->shards});
}

/* One pass over the records, the last batch ragged; returns the mean loss. */
static double net_epoch(struct net *n, bool recorded)
{
    uint32_t steps = (NET_ROWS + n->batch * n->micro - 1) / (n->batch * n->micro);
    n->now->row0 = 0;
    n->now->epoch++;
    n->now->epoch_loss = n->now->epoch_weight = 0;
    if (recorded && !n->routine)
        n->routine = machine_record(n->m, net_step, n);
    if (recorded)
        machine_play(n->m, n->routine, steps);
    for (uint32_t i = 0; !recorded && i < steps; i++)
        net_step(n, n->m);
    return n->now->epoch_loss / n->now->epoch_weight;
}

#endif
