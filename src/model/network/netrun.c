/* netrun.c - the training steps of a network. A step is three parts, each a function that issues
 * operations for a machine to run or to record: the gradients, computed from this network's own
 * rows; their exchange with other machines; the update of the weights. */
#include "model/network/netarena.h"

struct pass net_pass(struct network *n, struct machine *machine, const struct model *m,
                     const struct netbatch *b)
{
    return (struct pass){
        .m = machine,
        .params = n->weights.params,
        .buffers = n->weights.buffers,
        .reals = b->reals,
        .shadow = n->weights.shadow,
        .acts = b->acts,
        .dims = model_dims(m),
        .training = m->training,
        .ids = b->ids,
        .ids_ld = m->inputs.features.format.categories,
        .target = b->target,
        .weight = b->weight,
        .tables = n->weights.tables,
        .state.ld = m->carried,
        .schedule = {n->step.rates, n->step.rates_room, 0},
    };
}

/* --- training --- */

/* Rates for the steps from `tried` on, whose last one repeats: a recorded step reads a table of
 * fixed length. */
static bool put_rates(struct network *n, int64_t tried, const struct hyper *rates, uint32_t count,
                      struct err *e)
{
    struct netstep *t = &n->step;
    if (count > t->rates_room)
        return err_set(e, ERR_BUG, "an epoch of %u steps in a network made for %u", count,
                       t->rates_room);
    machine_fence(n->m, 0); /* the rates before have been read */
    for (uint32_t i = 0; i < t->rates_room; i++)
        t->host_rates[((uint32_t)tried + i) % t->rates_room] = rates[i < count ? i : count - 1];
    machine_send(n->m, 0, t->rates, t->host_rates, t->rates_room * sizeof *rates);
    return true;
}

bool network_epoch(struct network *n, uint32_t epoch, const struct hyper *rates, uint32_t count,
                   struct err *e)
{
    struct nethost *host = n->host;
    struct step now;
    network_step(n, &now);
    if (!put_rates(n, now.tried, rates, count, e))
        return false;
    now.epoch = epoch;
    now.row0 = 0;
    now.epoch_weight = now.epoch_loss = 0;
    now.bad_steps = 0;
    host->now = now;
    machine_send(n->m, 0, n->step.now, &host->now, sizeof host->now);
    machine_join(n->m, 0);
    net_next_step(n, &now);
    n->step.now_known = n->answers.request != NULL;
    return true;
}

/* The track of a micro-batch, from 0 on; neighbours share one. 0 without tracks. */
static uint32_t track_of(const struct network *n, uint32_t micro)
{
    return (uint32_t)((uint64_t)micro * n->o.tracks / n->o.micro);
}

static struct netbatch batch_of(const struct network *n, uint64_t track)
{
    struct netbatch b = n->step.batch;
    b.acts = bytes_at(b.acts, track * b.room.acts * machine_act_bytes(n->m));
    b.reals = reals_at(b.reals, track * b.room.reals);
    b.target = reals_at(b.target, track * b.room.rows);
    b.weight = reals_at(b.weight, track * b.room.rows);
    b.ids = bytes_at(b.ids, track * b.room.ids * sizeof *b.ids);
    return b;
}

struct pass net_train_pass(struct network *n, struct machine *m, uint32_t micro)
{
    const uint32_t track = track_of(n, micro);
    const struct netbatch b = batch_of(n, track);
    struct pass p = net_pass(n, m, n->step.model, &b);
    p.grads = reals_at(n->step.grads, track * p.dims.shard_stride);
    p.part_loss = bytes_at(n->step.part_loss, track * sizeof *p.part_loss);
    p.part_weight = bytes_at(n->step.part_weight, track * sizeof *p.part_weight);
    if (n->o.tracks)
        p.dims.shards = 1;
    p.moved = n->step.moved;
    if (p.state.ld) {
        uint64_t at = p.dims.rows * (uint64_t)micro * p.state.ld + n->step.model->buffers;
        p.state.from = reals_at(p.buffers, at);
        p.state.to = reals_at(p.moved, at);
    }
    p.now = n->step.now;
    p.from = n->rows.train.there.at;
    p.micro = micro;
    p.whole = net_step_rows(n);
    p.most = n->step.most;
    p.more = micro > 0 && track_of(n, micro - 1) == track;
    return p;
}

void net_issue_loss(struct network *n, struct pass *p, struct act logits)
{
    const struct model *m = n->step.model;
    const bool own = m->own_rows > 1; /* an answer is then a row, with its own target */
    if (own)
        p->dims.steps = m->own_rows;
    loss_issue(n->o.loss, p, logits, pass_act(p, m->dlogits), p->target, m->outputs,
               own ? 1 : m->answers, p->part_loss, p->part_weight);
}

uint32_t network_micros(const struct network *n)
{
    return n->o.micro;
}

void network_issue_gradients(struct network *n, struct machine *machine, uint32_t micro)
{
    const struct model *m = n->step.model;
    struct pass p = net_train_pass(n, machine, micro);
    machine_track(machine, n->o.tracks ? track_of(n, micro) + 1 : 0);
    net_issue_loss(n, &p, model_forward(m, &p, p.target));
    model_backward(m, &p);
    machine_track(machine, 0);
}

void network_issue_update(struct network *n, struct machine *machine)
{
    const struct netstep *t = &n->step;
    const struct model *m = t->model;
    struct pass p = net_pass(n, machine, m, &t->batch);
    struct grads g = {.g = t->grads,
                      .part_weight = t->part_weight,
                      .shard_stride = p.dims.shard_stride,
                      .n = m->params,
                      .shards = p.dims.shards,
                      .group_count = m->groups.count,
                      .groups = t->groups};
    optim_issue(n->o.optim, &p, t->m1, t->m2, &g, t->now, n->o.clip_norm, t->sums);
    op_advance(machine, &(struct op_advance){.now = t->now,
                                          .buffers = n->weights.buffers,
                                          .moved = t->moved,
                                          .part_loss = t->part_loss,
                                          .part_weight = t->part_weight,
                                          .consumed = net_step_rows(n),
                                          .buffer_count = network_buffers(n),
                                          .shards = p.dims.shards});
}

void network_issue_step(void *network, struct machine *machine)
{
    struct network *n = network;
    for (uint32_t micro = 0; micro < n->o.micro; micro++)
        network_issue_gradients(n, machine, micro);
    network_issue_update(n, machine);
}

uint32_t network_max_steps(const struct network *n, bool answers)
{
    return answers ? n->answers.most : n->step.most;
}

void network_step(struct network *n, struct step *now)
{
    if (!n->step.now_known)
        machine_download(n->m, now, n->step.now, sizeof *now);
    else
        *now = n->host->now;
}

void network_fetch_step(struct network *n)
{
    if (!n->answers.request)
        return;
    machine_fetch(n->m, 0, &n->host->now, n->step.now, sizeof n->host->now);
    machine_fence(n->m, 0);
    n->step.now_known = true;
}
