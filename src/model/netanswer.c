/* netanswer.c - a network that answers: batches of rows, which are a function that issues
 * operations, and what becomes of their logits: each batch of them is brought back by itself, or,
 * on a machine with memory of its own, they stay there and are measured there until all are. The
 * best weights stay there as well. */
#include <string.h>

#include "model/netarena.h"

void network_issue_answer(void *shape, struct machine *machine)
{
    const struct netshape *s = shape;
    struct network *n = s->network;
    const struct model *m = s->model;
    struct pass p = net_pass(n, machine, m, &n->answer);
    p.from = n->answer_source.at;
    p.now = n->answer_now;
    p.exact = true;
    const struct act *logits = model_forward(m, &p, n->answer.target);
    if (n->ask)
        op_score(machine, &(struct op_score){.now = n->answer_now,
                                             .to = n->ask,
                                             .kept = n->kept,
                                             .logits = logits,
                                             .target = n->answer.target,
                                             .weight = n->answer.weight,
                                             .rows = m->rows,
                                             .outputs = m->outputs,
                                             .ld = m->outputs});
}

bool network_answer_source(struct network *n, const struct source *from, struct err *e)
{
    struct source plain = *from;
    plain.shuffle = 0;
    n->answer_from = plain;
    n->answer_held = false;
    n->answer_streams = n->o.own_memory && (n->o.streams || n->train_streams);
    n->carries = STREAM_NONE;
    return net_put_source(n, &n->answer_source, &plain, &n->answer_streams, e);
}

bool network_answer_hold(struct network *n, const struct source *from, struct err *e)
{
    const struct source *is = &n->answer_from;
    if (n->answer_held && is->index == from->index && is->count == from->count &&
        is->class_weight == from->class_weight && is->rows.chunks == from->rows.chunks &&
        is->rows.count == from->rows.count)
        return true;
    bool good = network_answer_source(n, from, e);
    n->answer_held = good && !n->answer_streams;
    return good;
}

void network_answer_end(struct network *n)
{
    n->answer_held = false;
    netsource_end(&n->answer_source, n->m);
}

struct netshape *network_shape(struct network *n, uint64_t rows, uint32_t *most)
{
    unsigned i = 0;
    while (i + 1 < n->shape_count && 2 * rows <= n->shapes[i].model->rows)
        i++;
    *most = n->shapes[i].model->rows;
    return &n->shapes[i];
}

/* Those of the batch at row0, where they stream. */
static void have_rows(struct network *n, uint64_t row0)
{
    struct step now = {.row0 = row0};
    uint64_t left = n->answer_from.count - row0, rows = n->shapes[0].model->rows;
    if (!n->answer_streams)
        return;
    if (n->carries != STREAM_ANSWER)
        netstream_begin(&n->stream, n->m, &n->answer_from, &now);
    n->carries = STREAM_ANSWER;
    netstream_have(&n->stream, n->m, row0, rows < left ? rows : left);
}

void network_answer_from(struct network *n, uint64_t row0)
{
    struct step now = {.row0 = row0};
    machine_upload(n->m, n->answer_now, &now, sizeof now);
    have_rows(n, row0);
}

void network_logits(const struct netshape *s, uint32_t rows, real *logits)
{
    struct network *n = s->network;
    uint32_t outputs = s->model->outputs;
    machine_act_download(n->m, logits, act_at(n->m, n->answer.acts, s->model->logits), rows,
                         outputs, outputs);
}

/* --- answers that stay until all are there --- */

uint64_t network_room(const struct network *n)
{
    return n->ask ? n->kept_rows : 0;
}

void network_ask(struct network *n, uint64_t row0, uint64_t count, const struct answers *what,
                 bool kept)
{
    struct nethost *host = n->host;
    machine_fence(n->m, 0); /* what was told before has been read */
    host->answer_now = (struct step){.row0 = row0};
    host->ask = what ? *what : (struct answers){.measure = MEASURE_NONE};
    host->ask.first = row0;
    host->ask.end = row0 + count;
    host->ask.kept = kept;
    host->ask.sum = host->ask.weight = 0;
    machine_send(n->m, 0, n->answer_now, &host->answer_now, sizeof host->answer_now);
    machine_send(n->m, 0, n->ask, &host->ask, sizeof host->ask);
    machine_join(n->m, 0);
}

uint32_t network_ask_feed(struct network *n, uint64_t row0, uint64_t times)
{
    have_rows(n, row0);
    return n->answer_streams ? 1 : times < UINT32_MAX ? (uint32_t)times : UINT32_MAX;
}

/* The flags come with whatever is told next. */
static void fetch_look(struct network *n)
{
    if (n->looks)
        machine_fetch(n->m, 0, n->host->bad, n->bad, sizeof n->host->bad);
    n->looks = false;
}

bool network_told(struct network *n, struct answers *told, real *logits, struct err *e)
{
    struct nethost *host = n->host;
    size_t count = (size_t)(host->ask.end - host->ask.first) * network_model(n)->outputs;
    machine_fetch(n->m, 0, &host->ask, n->ask, sizeof host->ask);
    if (logits)
        machine_fetch(n->m, 0, n->host_kept, n->kept, count * sizeof *logits);
    fetch_look(n);
    machine_fence(n->m, 0);
    if (!machine_wait(n->m, MACHINE_PATIENCE, e))
        return false;
    if (logits)
        memcpy(logits, n->host_kept, count * sizeof *logits);
    if (told)
        *told = host->ask;
    return true;
}

/* --- the weights, looked at and kept where they are --- */

static void keep(struct network *n, real *to, const real *from, uint64_t count, uint32_t flags)
{
    if (count)
        op_keep(n->m, &(struct op_keep){
                          .to = to, .bad = n->bad + flags * KEEP_PARTS, .from = from, .n = count});
}

void network_look(struct network *n)
{
    const struct model *m = network_model(n);
    keep(n, NULL, n->params, m->params, 0);
    keep(n, NULL, n->buffers, m->buffers, 1);
    n->looks = true;
}

bool network_looked(struct network *n, bool *finite, struct err *e)
{
    bool told = !n->looks;
    int32_t bad = 0;
    fetch_look(n);
    if (!told)
        machine_fence(n->m, 0);
    if (!machine_wait(n->m, MACHINE_PATIENCE, e))
        return false;
    for (uint32_t i = 0; i < 2 * KEEP_PARTS; i++)
        bad |= n->host->bad[i];
    *finite = !bad;
    return true;
}

bool network_keeps_best(const struct network *n)
{
    return n->best != NULL;
}

void network_keep_best(struct network *n)
{
    const struct model *m = network_model(n);
    keep(n, n->best, n->params, m->params, 0);
    keep(n, n->best_buffers, n->buffers, m->buffers, 1);
}

void network_take_best(struct network *n)
{
    const struct model *m = network_model(n);
    keep(n, n->params, n->best, m->params, 0);
    keep(n, n->buffers, n->best_buffers, m->buffers, 1);
    machine_refresh(n->m, n->shadow, n->params, n->host_groups, m->group_count);
}

void network_set_best(struct network *n, const struct network_state *s)
{
    const struct model *m = network_model(n);
    machine_send(n->m, 0, n->best, s->params, (size_t)m->params * sizeof *s->params);
    if (m->buffers)
        machine_send(n->m, 0, n->best_buffers, s->buffers, (size_t)m->buffers * sizeof(real));
    machine_fence(n->m, 0);
}

bool network_get_best(struct network *n, struct network_state *s, struct err *e)
{
    const struct model *m = network_model(n);
    machine_fetch(n->m, 0, s->params, n->best, (size_t)m->params * sizeof *s->params);
    if (m->buffers)
        machine_fetch(n->m, 0, s->buffers, n->best_buffers, (size_t)m->buffers * sizeof(real));
    machine_fence(n->m, 0);
    return machine_wait(n->m, MACHINE_PATIENCE, e);
}
