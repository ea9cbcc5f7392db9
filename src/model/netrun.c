/* netrun.c - the two ways a network is used: whole training steps, and batches of answers. Both are
 * recorded once and then played. */
#include <string.h>

#include "base/mem.h"
#include "model/netarena.h"

static struct pass pass_of(struct network *n, const struct model *m, const struct netbatch *b)
{
    return (struct pass){
        .m = n->m,
        .params = n->params,
        .buffers = n->buffers,
        .reals = b->reals,
        .shadow = n->shadow,
        .acts = b->acts,
        .rows = m->rows,
        .shards = m->shards,
        .training = m->training,
        .ids = b->ids,
        .ids_ld = m->features.format.categories,
        .weight = b->weight,
        .onehot = n->onehot,
        .embed = n->embed,
    };
}

/* --- training --- */

void network_source(struct network *n, const struct source *from)
{
    bool same_count = from->count == n->source.count;
    n->source = *from;
    n->source.features = &n->model->features;
    if (n->routine && !same_count) { /* the count went into the recording */
        routine_drop(n->m, n->routine);
        n->routine = NULL;
    }
}

/* Entries behind the last repeat it: the recording knows the room, not the count, and so outlives a
 * shorter epoch. */
static bool put_table(struct network *n, const struct hyper *table, uint32_t count, struct err *e)
{
    if (!n->norms || count > n->table_room) {
        if (n->routine)
            routine_drop(n->m, n->routine);
        n->routine = NULL;
        machine_release(n->m, n->table);
        machine_release(n->m, n->norms);
        n->table_room = count;
        n->table = machine_alloc(n->m, (size_t)count * sizeof *table, e);
        n->norms = n->table ? machine_alloc(n->m, (size_t)count * sizeof *n->norms, e) : NULL;
        if (!n->norms)
            return false;
    }
    struct hyper *filled = mem_alloc(n->table_room, sizeof *filled);
    for (uint32_t i = 0; i < n->table_room; i++)
        filled[i] = table[i < count ? i : count - 1];
    machine_upload(n->m, n->table, filled, n->table_room * sizeof *filled);
    mem_free(filled);
    return true;
}

bool network_epoch(struct network *n, uint32_t epoch, const struct hyper *table, uint32_t count,
                   struct err *e)
{
    struct step now;
    if (!put_table(n, table, count, e))
        return false;
    machine_download(n->m, &now, n->now, sizeof now);
    machine_upload(n->m, n->first, &now.tried, sizeof now.tried);
    now.epoch = epoch;
    now.row0 = 0;
    now.epoch_weight = now.epoch_loss = 0;
    now.bad_steps = 0;
    now.lr = table[0].lr;
    now.weight_decay = table[0].weight_decay;
    machine_upload(n->m, n->now, &now, sizeof now);
    return true;
}

struct pass net_train_pass(struct network *n, uint32_t micro)
{
    struct pass p = pass_of(n, n->model, &n->train);
    p.grads = n->grads;
    p.moved = n->moved;
    p.shard_stride = net_shard_stride(n->model);
    p.now = n->now;
    p.count = n->source.count;
    p.micro = micro;
    p.more = micro > 0;
    return p;
}

void net_issue_loss(struct network *n, struct pass *p, const struct act *logits)
{
    const struct model *m = n->model;
    loss_issue(n->o.loss, p, logits, pass_act(p, m->dlogits), n->train.target, m->outputs,
               n->part_loss, n->part_weight);
}

static void issue_micro(struct network *n, struct machine *machine, uint32_t micro)
{
    const struct model *m = n->model;
    struct pass p = net_train_pass(n, micro);
    p.m = machine;
    net_issue_loss(n, &p, model_forward(m, &p, &n->source, n->train.target));
    model_backward(m, &p);
}

static void issue_step(void *network, struct machine *machine)
{
    struct network *n = network;
    const struct model *m = n->model;
    for (uint32_t micro = 0; micro < n->o.micro; micro++)
        issue_micro(n, machine, micro);
    struct pass p = pass_of(n, m, &n->train);
    p.m = machine;
    struct grads g = {.g = n->grads,
                      .part_weight = n->part_weight,
                      .shard_stride = net_shard_stride(m),
                      .n = m->params,
                      .shards = n->shards,
                      .group_count = m->group_count,
                      .groups = n->groups};
    optim_issue(n->o.optim, &p, n->params, n->shadow, n->m1, n->m2, &g, n->now, n->o.clip_norm,
                n->sums);
    op_advance(machine, &(struct op_advance){.now = n->now,
                                          .buffers = n->buffers,
                                          .norms = n->norms,
                                          .moved = n->moved,
                                          .part_loss = n->part_loss,
                                          .part_weight = n->part_weight,
                                          .table = n->table,
                                          .first = n->first,
                                          .consumed = (uint64_t)n->o.micro * m->rows,
                                          .buffer_count = m->buffers,
                                          .shards = n->shards,
                                          .table_count = n->table_room});
}

bool network_train(struct network *n, uint32_t steps, struct err *e)
{
    if (!n->routine)
        n->routine = machine_record(n->m, issue_step, n);
    machine_play(n->m, n->routine, steps);
    return machine_wait(n->m, MACHINE_PATIENCE, e);
}

void network_step(struct network *n, struct step *now)
{
    machine_download(n->m, now, n->now, sizeof *now);
}

void network_norms(struct network *n, uint32_t first, uint32_t count, double *norms)
{
    machine_download(n->m, norms, n->norms + first, count * sizeof *norms);
}

/* --- answers --- */

static void issue_answer(void *shape, struct machine *machine)
{
    const struct netshape *s = shape;
    struct network *n = s->network;
    const struct model *m = s->model;
    struct pass p = pass_of(n, m, &n->answer);
    p.m = machine;
    p.now = n->answer_now;
    p.exact = true;
    model_forward(m, &p, &n->answer_source, n->answer.target);
}

/* The smallest shape that holds so many rows, else the largest. */
static struct netshape *shape_for(struct network *n, uint64_t rows)
{
    unsigned i = 0;
    while (i + 1 < n->shape_count && n->shapes[i + 1].model->rows >= rows)
        i++;
    return &n->shapes[i];
}

bool network_answer(struct network *n, const struct source *from, uint64_t row0, uint64_t count,
                    real *logits, struct err *e)
{
    n->answer_source = *from;
    n->answer_source.shuffle = 0;
    n->answer_source.class_weight = NULL;
    n->answer_source.features = &n->shapes[0].model->features;
    for (uint64_t done = 0; done < count;) {
        struct netshape *s = shape_for(n, count - done);
        const struct model *m = s->model;
        if (!s->routine)
            s->routine = machine_record(n->m, issue_answer, s);
        struct step now = {.row0 = row0 + done};
        machine_upload(n->m, n->answer_now, &now, sizeof now);
        machine_play(n->m, s->routine, 1);
        if (!machine_wait(n->m, MACHINE_PATIENCE, e))
            return false;
        uint64_t rows = count - done < m->rows ? count - done : m->rows;
        machine_act_download(n->m, logits + done * m->outputs,
                             act_at(n->m, n->answer.acts, m->logits), rows, m->outputs, m->outputs);
        done += rows;
    }
    return true;
}
