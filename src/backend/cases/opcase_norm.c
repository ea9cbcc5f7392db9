/* opcase_norm.c - the cases of normalisation and losses. */
#include <string.h>

#include "backend/cases/opcase.h"

/* --- normalisation --- */

/* 1 + 0.2 normal: for variances, 1/deviations and gammas */
static real *near_one(struct opdata *d, const char *name, size_t n, size_t from, bool written)
{
    real *values = opdata_host(d, n, sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = (real)((i < from ? 0.0 : 0.5) + (double)opdata_random(d, 1000) / 1000);
    return opdata_values(d, name, BUFFER_REAL, values, n, written);
}

/* Only its count is read here. */
static const struct source *source_of(struct opdata *d, uint64_t count)
{
    struct source from = {.count = count};
    return opdata_values(d, "from", BUFFER_BYTES, &from, sizeof from, false);
}

#define NORM(OP, r, i, p, f) {.op = OP, .rows = r, .in = i, .pad = p, .flags = f, .gate = 1e-5}
#define NORMS(OP, f)                                                                               \
    NORM(OP, 256, 128, 0, f), NORM(OP, 100, 70, 3, (f) | CASE_RAGGED), NORM(OP, 9, 1, 0, f),       \
        NORM(OP, 20, 17, 0, (f) | CASE_ONE_ROW)
static const struct opcase cases_bnorm_stats[] = {NORMS(OP_bnorm_stats, 0),
                                                  NORMS(OP_bnorm_stats, CASE_MORE)};

static void make_bnorm_stats(const struct opcase *c, struct opdata *d)
{
    uint32_t second = c->flags & CASE_MORE ? 1 : 0; /* micro-batch */
    d->arguments.bnorm_stats = (struct op_bnorm_stats){
        .mean = opdata_output(d, "mean", BUFFER_REAL, 1, c->in, 0, false),
        .inv = opdata_output(d, "inv", BUFFER_REAL, 1, c->in, 0, false), .moved = near_one(d,
                "moved", 2 * c->in, c->in, true),
        .running = near_one(d, "running", 2 * c->in, c->in, false),
        .x = opdata_act_input(d, "x", c, c->in, 2),
        .now = opdata_step(d), .from = source_of(d, opcase_count(c) + (second ? c->rows : 0)),
        .rows = c->rows, .width = c->in, .ld = c->in + c->pad, .micro = second, .momentum = 0.1,
        .epsilon = 1e-5};
}
OPCASES(bnorm_stats);

static const struct opcase cases_bnorm[] = {NORMS(OP_bnorm, 0),
                                               NORMS(OP_bnorm, CASE_BARE)};

static void make_bnorm(const struct opcase *c, struct opdata *d)
{
    bool bare = c->flags & CASE_BARE;
    d->arguments.bnorm = (struct op_bnorm){
        .y = opdata_act_output(d, "y", c, c->in, false), .x = opdata_act_input(d, "x", c, c->in, 2),
        .mean = bare ? NULL : opdata_input(d, "mean", BUFFER_REAL, 1, c->in, 0, 1),
            .inv = bare ? NULL : near_one(d, "inv", c->in, 0, false),
        .running = near_one(d, "running", 2 * c->in, c->in, false), .gamma = near_one(d, "gamma",
                c->in, 0, false),
        .beta = opdata_input(d, "beta", BUFFER_REAL, 1, c->in, 0, 1), .rows = c->rows,
            .width = c->in, .ldx = c->in + c->pad,
        .ldy = c->in + c->pad, .epsilon = 1e-5};
}
OPCASES(bnorm);

static const struct opcase cases_bnorm_sums[] = {NORMS(OP_bnorm_sums, 0),
                                               NORMS(OP_bnorm_sums, CASE_MORE)};

static void make_bnorm_sums(const struct opcase *c, struct opdata *d)
{
    real *g = opdata_shards(d, "dgamma dbeta", 2 * c->in, 1, true);
    d->arguments.bnorm_sums =
        (struct op_bnorm_sums){.sums = opdata_output(d, "sums", BUFFER_REAL, 2, c->in, 0, false),
                               .dgamma = g,
                               .dbeta = g + c->in,
                               .dy = opdata_act_input(d, "dy", c, c->in, 1),
                               .x = opdata_act_input(d, "x", c, c->in, 2),
                               .mean = opdata_input(d, "mean", BUFFER_REAL, 1, c->in, 0, 1),
                               .inv = near_one(d, "inv", c->in, 0, false),
                               .now = opdata_step(d),
                               .from = source_of(d, opcase_count(c)),
                               .rows = c->rows,
                               .width = c->in,
                               .ldx = c->in + c->pad,
                               .lddy = c->in + c->pad,
                               .more = c->flags & CASE_MORE ? 1 : 0};
}
OPCASES(bnorm_sums);

static const struct opcase cases_bnorm_back[] = {NORMS(OP_bnorm_back, 0),
                                               NORMS(OP_bnorm_back, CASE_ADD)};

static void make_bnorm_back(const struct opcase *c, struct opdata *d)
{
    d->arguments.bnorm_back =
        (struct op_bnorm_back){.dx = opdata_act_output(d, "dx", c, c->in, true),
                               .dy = opdata_act_input(d, "dy", c, c->in, 1),
                               .x = opdata_act_input(d, "x", c, c->in, 2),
                               .mean = opdata_input(d, "mean", BUFFER_REAL, 1, c->in, 0, 1),
                               .inv = near_one(d, "inv", c->in, 0, false),
                               .gamma = near_one(d, "gamma", c->in, 0, false),
                               .sums = opdata_input(d, "sums", BUFFER_REAL, 2, c->in, 0, 5),
                               .now = opdata_step(d),
                               .from = source_of(d, opcase_count(c)),
                               .rows = c->rows,
                               .width = c->in,
                               .ldx = c->in + c->pad,
                               .lddx = c->in + c->pad,
                               .lddy = c->in + c->pad,
                               .add_dx = c->flags & CASE_ADD ? 1 : 0};
}
OPCASES(bnorm_back);

static const struct opcase cases_lnorm[] = {NORMS(OP_lnorm, 0),
                                            NORM(OP_lnorm, 70, 33, 0, CASE_BARE)};

static void make_lnorm(const struct opcase *c, struct opdata *d)
{
    bool bare = c->flags & CASE_BARE;
    d->arguments.lnorm = (struct op_lnorm){
        .y = opdata_act_output(d, "y", c, c->in, false),
        .mean = bare ? NULL : opdata_output(d, "mean", BUFFER_REAL, 1, c->rows, 0, false),
        .inv = bare ? NULL : opdata_output(d, "inv", BUFFER_REAL, 1, c->rows, 0, false),
        .x = opdata_act_input(d, "x", c, c->in, 2),
        .gamma = near_one(d, "gamma", c->in, 0, false),
        .beta = opdata_input(d, "beta", BUFFER_REAL, 1, c->in, 0, 1),
        .rows = c->rows,
        .width = c->in,
        .ldx = c->in + c->pad,
        .ldy = c->in + c->pad,
        .epsilon = 1e-5};
}
OPCASES(lnorm);

static const struct opcase cases_lnorm_back[] = {NORMS(OP_lnorm_back, 0),
                                               NORMS(OP_lnorm_back, CASE_ADD | CASE_MORE)};

static void make_lnorm_back(const struct opcase *c, struct opdata *d)
{
    real *g = opdata_shards(d, "dgamma dbeta", 2 * c->in, plan_shards(c->rows), true);
    d->arguments.lnorm_back = (struct op_lnorm_back){
        .dx = opdata_act_output(d, "dx", c, c->in, true), .dgamma = g, .dbeta = g + c->in,
            .dy = opdata_act_input(d, "dy", c, c->in, 1),
        .x = opdata_act_input(d, "x", c, c->in, 2), .mean = opdata_input(d, "mean", BUFFER_REAL, 1,
                c->rows, 0, 0.3),
        .inv = near_one(d, "inv", c->rows, 0, false), .gamma = near_one(d, "gamma", c->in, 0,
                false), .shard_stride = 2 * c->in,
        .rows = c->rows, .width = c->in, .ldx = c->in + c->pad, .lddx = c->in + c->pad,
            .lddy = c->in + c->pad,
        .add_dx = c->flags & CASE_ADD ? 1 : 0, .more = c->flags & CASE_MORE ? 1 : 0};
}
OPCASES(lnorm_back);

/* --- losses: in classes; kind 1 to 10 stands for smoothing kind / 20, or gamma kind - 1 of a focal
 * one --- */

static real *weights_of(struct opdata *d, const struct opcase *c)
{
    real *values = opdata_host(d, c->rows, sizeof *values);
    for (size_t i = 0; i < opcase_count(c); i++)
        values[i] = (real)opdata_random(d, 4) / 2; /* some rows weigh nothing */
    return opdata_values(d, "weight", BUFFER_REAL, values, c->rows, false);
}

#define CLASSES(r, i, k, f, p)                                                                     \
    {.op = OP_loss_class, .rows = r, .in = i, .kind = k, .flags = f, .pad = p, .gate = 1e-5}
static const struct opcase cases_loss_class[] = {
    CLASSES(256, 2, 0, 0, 0), CLASSES(256, 2, 2, 0, 0), CLASSES(100, 9, 2, CASE_RAGGED, 3),
        CLASSES(5, 1000, 1, 0, 0),
    CLASSES(3, 20000, 1, 0, 0), CLASSES(256, 2, 3, CASE_SECOND, 0),
        CLASSES(70, 5, 1, CASE_SECOND | CASE_MORE, 1),
    CLASSES(256, 3, 0, CASE_BARE, 0), CLASSES(33, 4, 2, CASE_SECOND | CASE_RAGGED, 0),
};

static void make_loss_class(const struct opcase *c, struct opdata *d)
{
    uint32_t shards = plan_shards(c->rows);
    real *target = opdata_host(d, c->rows, sizeof *target);
    for (size_t i = 0; i < c->rows; i++)
        target[i] = (real)opdata_random(d, c->in);
    bool focal = c->flags & CASE_SECOND;
    d->arguments.loss_class = (struct op_loss_class){
        .dlogits =
            c->flags & CASE_BARE ? no_act() : opdata_act_output(d, "dlogits", c, c->in, false),
        .part_loss = opdata_output(d, "part_loss", BUFFER_DOUBLE, 1, shards, 0, true),
        .part_weight = opdata_output(d, "part_weight", BUFFER_DOUBLE, 1, shards, 0, true),
        .logits = opdata_act_input(d, "logits", c, c->in, 3), .target = opdata_values(d, "target",
                BUFFER_REAL, target, c->rows, false),
        .weight = weights_of(d, c), .rows = c->rows, .classes = c->in, .ld = c->in + c->pad,
            .ldd = c->in + c->pad,
        .kind = focal ? CLASS_FOCAL : CLASS_CROSS_ENTROPY, .more = c->flags & CASE_MORE ? 1 : 0,
        .smoothing = focal ? 0 : c->kind / 20.0, .gamma = focal ? c->kind - 1.0 : 0};
    d->flops = 10.0 * c->rows * c->in;
}
OPCASES(loss_class);

#define VALUES(r, k, f, p)                                                                         \
    {.op = OP_loss_value, .rows = r, .in = 1, .kind = k, .flags = f, .pad = p, .gate = 1e-5}
static const struct opcase cases_loss_value[] = {
    VALUES(256, VALUE_MSE, 0, 0), VALUES(100, VALUE_MAE, CASE_RAGGED, 2), VALUES(256, VALUE_HUBER,
            CASE_MORE, 0),
    VALUES(65, VALUE_QUANTILE, 0, 1), VALUES(256, VALUE_MSE, CASE_BARE, 0),
};

static void make_loss_value(const struct opcase *c, struct opdata *d)
{
    uint32_t shards = plan_shards(c->rows);
    d->arguments.loss_value = (struct op_loss_value){
        .dy = c->flags & CASE_BARE ? no_act() : opdata_act_output(d, "dy", c, 1, false),
        .part_loss = opdata_output(d, "part_loss", BUFFER_DOUBLE, 1, shards, 0, true),
        .part_weight = opdata_output(d, "part_weight", BUFFER_DOUBLE, 1, shards, 0, true),
            .y = opdata_act_input(d, "y", c, 1, 2),
        .target = opdata_input(d, "target", BUFFER_REAL, c->rows, 1, 0, 2), .weight = weights_of(d,
                c), .rows = c->rows,
        .ld = 1 + c->pad, .ldd = 1 + c->pad, .kind = c->kind, .more = c->flags & CASE_MORE ? 1 : 0,
            .delta = 1.3, .q = 0.8};
    d->flops = 5.0 * c->rows;
}
OPCASES(loss_value);

/* kind: the first class that counts, then each third one */
#define LABELS(r, i, k, f, p)                                                                      \
    {.op = OP_loss_f1, .rows = r, .in = i, .kind = k, .flags = f, .pad = p, .gate = 1e-4}
static const struct opcase cases_loss_f1[] = {
    LABELS(256, 2, 1, 0, 0), LABELS(100, 9, 0, CASE_RAGGED, 3), LABELS(70, 5, 2, CASE_MORE, 1),
    LABELS(3, 64, 0, 0, 0), LABELS(1500, 3, 0, 0, 0),
};

static void make_loss_f1(const struct opcase *c, struct opdata *d)
{
    uint32_t shards = plan_shards(c->rows);
    real *target = opdata_host(d, c->rows, sizeof *target);
    uint64_t chosen = 0;
    for (size_t i = 0; i < c->rows; i++)
        target[i] = (real)opdata_random(d, c->in);
    for (uint32_t k = c->kind; k < c->in; k += 3)
        chosen |= UINT64_C(1) << k;
    d->arguments.loss_f1 = (struct op_loss_f1){
        .dlogits = opdata_act_output(d, "dlogits", c, c->in, false),
        .part_loss = opdata_output(d, "part_loss", BUFFER_DOUBLE, 1, shards, 0, true),
        .part_weight = opdata_output(d, "part_weight", BUFFER_DOUBLE, 1, shards, 0, true),
        .logits = opdata_act_input(d, "logits", c, c->in, 3),
        .target = opdata_values(d, "target", BUFFER_REAL, target, c->rows, false),
        .weight = weights_of(d, c),
        .rows = c->rows,
        .classes = c->in,
        .chosen = chosen,
        .ld = c->in + c->pad,
        .ldd = c->in + c->pad,
        .more = c->flags & CASE_MORE ? 1 : 0};
    d->flops = 20.0 * c->rows * c->in;
}
OPCASES(loss_f1);
