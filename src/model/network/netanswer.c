/* netanswer.c - a network that answers: a batch of answers is a function that issues operations.
 * Logits are fetched batch by batch; a machine with memory of its own keeps and measures them until
 * all are computed. */
#include <string.h>

#include "model/network/netarena.h"

struct pass net_answer_pass(struct network *n, struct machine *machine, const struct netshape *s)
{
    struct pass p = net_pass(n, machine, s->model, &n->answers.batch);
    p.from = n->rows.answer.there.at;
    p.now = n->answers.now;
    p.exact = true;
    p.state.from = p.state.to = n->answers.state;
    return p;
}

void network_issue_answer(void *shape, struct machine *machine)
{
    const struct netshape *s = shape;
    struct network *n = s->network;
    const struct model *m = s->model;
    struct pass p = net_answer_pass(n, machine, s);
    p.most = n->answers.most;
    struct act logits = model_forward(m, &p, n->answers.batch.target);
    if (n->answers.request)
        op_score(machine, &(struct op_score){.now = n->answers.now,
                                             .to = n->answers.request,
                                             .kept = n->answers.kept,
                                             .logits = logits,
                                             .target = n->answers.batch.target,
                                             .weight = n->answers.batch.weight,
                                             .dims = pass_dims(&p, m->outputs),
                                             .ld = m->outputs});
}

struct netshape *network_shape(struct network *n, uint64_t rows, uint32_t *most)
{
    unsigned i = 0;
    while (i + 1 < n->answers.shape_count && 2 * rows <= n->answers.shapes[i].model->rows)
        i++;
    *most = n->answers.shapes[i].model->rows;
    return &n->answers.shapes[i];
}

void network_answer_from(struct network *n, const struct netshape *s, uint64_t row0)
{
    struct step now = {.row0 = row0};
    machine_upload(n->m, n->answers.now, &now, sizeof now);
    net_feed_answers(n, row0, s->model->rows);
}

void network_logits(const struct netshape *s, uint32_t rows, real *logits)
{
    struct network *n = s->network;
    uint32_t outputs = s->model->outputs;
    machine_act_download(n->m, logits, act_at(n->m, n->answers.batch.acts, s->model->logits),
                         rows * s->model->tags, outputs, outputs);
}

/* --- answers that stay on the machine until all are computed --- */

uint64_t network_room(const struct network *n)
{
    return n->answers.request ? n->answers.kept_rows : 0;
}

void network_answers_begin(struct network *n, uint64_t row0, uint64_t count,
                           const struct answers *what, bool kept)
{
    struct nethost *host = n->host;
    machine_fence(n->m, 0); /* the answers before have been read */
    host->answer_now = (struct step){.row0 = row0};
    host->request = what ? *what : (struct answers){.measure = MEASURE_NONE};
    host->request.first = row0;
    host->request.end = row0 + count;
    host->request.kept = kept;
    host->request.sum = host->request.weight = 0;
    machine_send(n->m, 0, n->answers.now, &host->answer_now, sizeof host->answer_now);
    machine_send(n->m, 0, n->answers.request, &host->request, sizeof host->request);
    machine_join(n->m, 0);
}

uint32_t network_answers_feed(struct network *n, const struct netshape *s, uint64_t row0,
                              uint64_t times)
{
    const uint32_t rows = s->model->rows;
    uint32_t now = 1;
    net_feed_answers(n, row0, rows);
    if (n->rows.answer.streams)
        return 1;
    if (features_steps(&s->model->inputs.features) == 1)
        return times < UINT32_MAX ? (uint32_t)times : UINT32_MAX;
    while (now < times && now < UINT32_MAX &&
           net_answer_most(n, row0 + (uint64_t)now * rows, rows) == n->answers.most)
        now++;
    return now;
}

bool network_answers_wait(struct network *n, struct answers *measured, real *logits, struct err *e)
{
    struct nethost *host = n->host;
    size_t count = (size_t)(host->request.end - host->request.first) * network_model(n)->outputs;
    machine_fetch(n->m, 0, &host->request, n->answers.request, sizeof host->request);
    if (logits)
        machine_fetch(n->m, 0, n->answers.host_kept, n->answers.kept, count * sizeof *logits);
    net_fetch_bad(n);
    machine_fence(n->m, 0);
    if (!machine_wait(n->m, MACHINE_PATIENCE, e))
        return false;
    if (logits)
        memcpy(logits, n->answers.host_kept, count * sizeof *logits);
    if (measured)
        *measured = host->request;
    return true;
}
