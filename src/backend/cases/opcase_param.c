/* opcase_param.c - cases of operations on parameters. `in` is the number of parameters after a
 * weight of `out` x 37; rows is the number of shards. */
#include "backend/cases/opcase.h"

static uint64_t params_of(const struct opcase *c)
{
    return (uint64_t)c->out * 37 + c->in;
}

static struct step *scaled_step(struct opdata *d, bool written, double scale, int64_t good)
{
    const struct opcase *c = d->of;
    struct step now = {.seed = 5, .tried = 100, .applied = c->kind, .epoch = 3, .row0 = 512,
                       .gnorm = 3, .loss = 1, .weight = 2,
                       .epoch_loss = 10, .epoch_weight = 20, .good = good, .bad_steps = 1,
                       .bad = c->flags & CASE_BAD ? 1 : 0, .scale = scale};
    return opdata_values(d, written ? "now" : "read now", BUFFER_BYTES, &now, sizeof now, written);
}
static struct step *step_of(struct opdata *d, bool written)
{
    return scaled_step(d, written, 0, 5);
}

/* Three groups: the weight, a range with its own factors, and one outside the shards. */
static struct grads grads_of(struct opdata *d)
{
    const struct opcase *c = d->of;
    uint64_t n = params_of(c), weight = (uint64_t)c->out * 37, part = weight + c->in / 2;
    struct group *groups = opdata_host(d, 3, sizeof *groups);
    double weights[16];
    uint32_t count = 0;
    if (weight)
        groups[count++] = (struct group){0, weight, 1, 1, c->out, 37, c->rows, 0};
    if (part > weight)
        groups[count++] = (struct group){weight, part, 0.5, 0, 0, 0, c->rows, 0};
    groups[count++] = (struct group){part, n, 2, 3, 0, 0, 1, 0};
    for (uint32_t s = 0; s < c->rows; s++)
        weights[s] = 10 + s;
    real *g = opdata_input(d, "g", BUFFER_REAL, c->rows, n, 0, 20);
    if (c->flags & CASE_BAD && g) {
        real bad = (real)__builtin_inf();
        machine_upload(d->machine, g + n / 2, &bad, sizeof bad);
    }
    return (struct grads){.g = g, .part_weight = opdata_values(d, "part_weight", BUFFER_DOUBLE,
                                                               weights, c->rows, false),
                          .shard_stride = n, .n = n, .shards = c->rows, .group_count = count,
                          .groups = opdata_map_host(d, groups, count * sizeof *groups)};
}

static struct act shadow_of(struct opdata *d, const struct grads *from)
{
    const struct group *groups = d->host[0]; /* grads_of made them first */
    size_t bytes = machine_shadow_bytes(d->machine, groups, from->group_count, from->n);
    if (!bytes || !(d->of->flags & CASE_SHADOW))
        return no_act();
    void *shadow = opdata_output(d, "shadow", BUFFER_BYTES, 1, bytes, 0, false);
    return machine_shadow_of(d->machine, shadow, 0);
}

/* Room for the sums; their layout is the machine's. */
static void *sums_of(struct opdata *d, const struct grads *from)
{
    struct need need;
    machine_need(d->machine, OP_norm2, &(struct op_norm2){.from = *from}, &need);
    return opdata_output(d, "sums", BUFFER_BYTES, 1, (size_t)need.kept, 0, false);
}

static const struct opcase cases_norm2[] = {
    {.op = OP_norm2, .rows = 4, .in = 1000, .out = 128, .gate = 1e-5},
    {.op = OP_norm2, .rows = 1, .in = 1, .gate = 1e-5},
    {.op = OP_norm2, .rows = 16, .in = 9000, .out = 3, .gate = 1e-5},
    {.op = OP_norm2, .rows = 4, .in = 5000, .out = 3, .flags = CASE_BAD, .gate = 1e-5},
    {.op = OP_norm2, .rows = 2, .in = 50, .out = 3, .flags = CASE_SECOND, .gate = 1e-5},
};

/* Only gnorm and bad of the step are compared: all bytes are equal only for the same order of sums.
 */
static void make_norm2(const struct opcase *c, struct opdata *d)
{
    struct grads from = grads_of(d);
    d->arguments.norm2 = (struct op_norm2){.now = step_of(d, true), .sums = sums_of(d, &from),
                                           .from = from,
                                           .halt = c->flags & CASE_SECOND ? 1 : 0};
    d->flops = (double)(c->rows + 2) * (double)from.n;
}
OPCASES(norm2);

/* The input of an optimiser: the sums of a norm2, and its results in the step. */
static const void *summed(struct opdata *d, const struct grads *from, struct step *now)
{
    void *sums = sums_of(d, from);
    op_norm2(d->machine, &(struct op_norm2){.now = now, .sums = sums, .from = *from});
    return sums;
}

static real *state(struct opdata *d, const char *name, uint64_t n)
{
    real *values = opdata_host(d, n, sizeof *values);
    for (uint64_t i = 0; i < n; i++)
        values[i] = (real)opdata_random(d, 1000) / 1000;
    return opdata_values(d, name, BUFFER_REAL, values, n, true);
}

/* kind: steps applied before this one */
#define OPTIMISER(OP, r, i, o, k, f, g)                                                            \
    {.op = OP, .rows = r, .in = i, .out = o, .kind = k, .flags = f, .gate = g}
#define OPTIMISERS(OP, f)                                                                          \
    OPTIMISER(OP, 4, 1000, 128, 0, (f) | CASE_SHADOW, 1e-5),                                       \
        OPTIMISER(OP, 16, 9001, 50, 7, (f) | CASE_SHADOW | CASE_SECOND, 1e-5),                     \
        OPTIMISER(OP, 1, 1, 0, 1000, f, 1e-5),                                                     \
        OPTIMISER(OP, 2, 40, 3, 3, (f) | CASE_CLIP | CASE_SHADOW, 1e-5),                           \
        OPTIMISER(OP, 4, 300, 3, 3, (f) | CASE_BAD, 0)
static const struct opcase cases_sgd[] = {OPTIMISERS(OP_sgd, 0), OPTIMISERS(OP_sgd, CASE_BARE)};
static const struct opcase cases_rmsprop[] = {OPTIMISERS(OP_rmsprop, 0)};
static const struct opcase cases_adam[] = {OPTIMISERS(OP_adam, 0)};

static void make_sgd(const struct opcase *c, struct opdata *d)
{
    uint64_t n = params_of(c);
    struct grads from = grads_of(d);
    struct step *now = step_of(d, false);
    d->arguments.sgd = (struct op_sgd){.p = opdata_output(d, "p", BUFFER_REAL, 1, n, 0, true),
                                       .m = c->flags & CASE_BARE ? NULL : state(d, "m", n),
                                       .shadow = shadow_of(d, &from),
                                       .from = from,
                                       .sums = summed(d, &from, now),
                                       .now = now,
                                       .schedule = opdata_schedule(d),
                                       .momentum = 0.9,
                                       .clip = c->flags & CASE_CLIP ? 0.5 : 0,
                                       .nesterov = c->flags & CASE_SECOND ? 1 : 0};
    d->flops = 4.0 * (double)n;
}
OPCASES(sgd);

static void make_rmsprop(const struct opcase *c, struct opdata *d)
{
    uint64_t n = params_of(c);
    struct grads from = grads_of(d);
    struct step *now = step_of(d, false);
    d->arguments.rmsprop = (struct op_rmsprop){
        .p = opdata_output(d, "p", BUFFER_REAL, 1, n, 0, true), .v = state(d, "v", n),
            .shadow = shadow_of(d, &from),
        .from = from, .sums = summed(d, &from, now), .now = now,
        .schedule = opdata_schedule(d), .decay = 0.9, .epsilon = 1e-8,
            .clip = c->flags & CASE_CLIP ? 0.5 : 0};
    d->flops = 8.0 * (double)n;
}
OPCASES(rmsprop);

static void make_adam(const struct opcase *c, struct opdata *d)
{
    uint64_t n = params_of(c);
    struct grads from = grads_of(d);
    struct step *now = step_of(d, false);
    d->arguments.adam = (struct op_adam){.p = opdata_output(d, "p", BUFFER_REAL, 1, n, 0, true),
                                         .m1 = state(d, "m1", n),
                                         .m2 = state(d, "m2", n),
                                         .shadow = shadow_of(d, &from),
                                         .from = from,
                                         .sums = summed(d, &from, now),
                                         .now = now,
                                         .schedule = opdata_schedule(d),
                                         .beta1 = 0.9,
                                         .beta2 = 0.999,
                                         .epsilon = 1e-8,
                                         .clip = c->flags & CASE_CLIP ? 0.5 : 0,
                                         .decoupled = c->flags & CASE_SECOND ? 1 : 0};
    d->flops = 14.0 * (double)n;
}
OPCASES(adam);

/* The gradient scale of a case, and its good steps so far: kind. */
enum { SCALE_NONE, SCALE_IN_USE, SCALE_LOW, SCALE_DUE, SCALE_HIGH };
static const struct { double scale; int64_t good; } scales[] = {
    [SCALE_NONE] = {0, 5}, [SCALE_IN_USE] = {1024, 5}, [SCALE_LOW] = {SCALE_LEAST, 7},
    [SCALE_DUE] = {1024, 2 * SCALE_STEPS - 1}, [SCALE_HIGH] = {SCALE_MOST, SCALE_STEPS - 1}};
static const struct opcase cases_advance[] = {
    {.op = OP_advance, .rows = 2, .in = 3, .kind = SCALE_IN_USE},
    {.op = OP_advance, .rows = 2, .in = 3, .kind = SCALE_IN_USE, .flags = CASE_BAD},
    {.op = OP_advance, .rows = 2, .in = 3, .kind = SCALE_LOW, .flags = CASE_BAD},
    {.op = OP_advance, .rows = 2, .in = 3, .kind = SCALE_DUE},
    {.op = OP_advance, .rows = 2, .in = 3, .kind = SCALE_HIGH},
    {.op = OP_advance, .rows = 1, .in = 1},
    {.op = OP_advance, .rows = 16, .in = 70, .flags = CASE_BAD},
    {.op = OP_advance, .rows = 2, .in = 70},
    {.op = OP_advance, .rows = 4, .in = 0, .flags = CASE_BARE},
};

static void make_advance(const struct opcase *c, struct opdata *d)
{
    double loss[16], weight[16];
    for (uint32_t s = 0; s < c->rows; s++) {
        loss[s] = 0.25 * s + 1;
        weight[s] = 8 + s;
    }
    bool bare = c->flags & CASE_BARE;
    d->arguments.advance = (struct op_advance){
        .now = scaled_step(d, true, scales[c->kind].scale, scales[c->kind].good),
        .buffers = bare ? NULL : opdata_output(d, "buffers", BUFFER_REAL, 1, c->in, 0, true),
        .moved = bare ? NULL : opdata_input(d, "moved", BUFFER_REAL, 1, c->in, 0, 1),
        .buffer_count = c->in, .part_loss = opdata_values(d, "part_loss", BUFFER_DOUBLE, loss,
                                                            c->rows, false),
        .part_weight = opdata_values(d, "part_weight", BUFFER_DOUBLE, weight, c->rows, false),
        .consumed = 256, .shards = c->rows};
}
OPCASES(advance);
