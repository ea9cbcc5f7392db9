/* netbest.c - the best weights, which stay on the machine, and whether weights are finite. */
#include "model/network/netarena.h"

void net_fetch_bad(struct network *n)
{
    if (n->best.checked)
        machine_fetch(n->m, 0, n->host->bad, n->best.bad, sizeof n->host->bad);
    n->best.checked = false;
}

static void issue_keep(struct network *n, real *to, const real *from, uint64_t count,
                       uint32_t flags)
{
    int32_t *bad = n->best.bad + flags * KEEP_PARTS;
    if (count)
        op_keep(n->m, &(struct op_keep){.to = to, .bad = bad, .from = from, .n = count});
}

void network_check_finite(struct network *n)
{
    const struct model *m = network_model(n);
    issue_keep(n, NULL, n->weights.params, m->params, 0);
    issue_keep(n, NULL, n->weights.buffers, m->buffers, 1);
    n->best.checked = true;
}

bool network_is_finite(struct network *n, bool *finite, struct err *e)
{
    bool fetched = !n->best.checked;
    int32_t bad = 0;
    net_fetch_bad(n);
    if (!fetched)
        machine_fence(n->m, 0);
    if (!machine_wait(n->m, MACHINE_PATIENCE, e))
        return false;
    for (uint32_t i = 0; i < 2 * KEEP_PARTS; i++)
        bad |= n->host->bad[i];
    *finite = !bad;
    return true;
}

bool network_has_best_copy(const struct network *n)
{
    return n->best.params != NULL;
}

void network_save_best(struct network *n)
{
    const struct model *m = network_model(n);
    issue_keep(n, n->best.params, n->weights.params, m->params, 0);
    issue_keep(n, n->best.buffers, n->weights.buffers, network_buffers(n), 1);
}

void network_restore_best(struct network *n)
{
    const struct model *m = network_model(n);
    issue_keep(n, n->weights.params, n->best.params, m->params, 0);
    issue_keep(n, n->weights.buffers, n->best.buffers, network_buffers(n), 1);
    net_refresh(n);
}

void network_set_best(struct network *n, const struct network_state *s)
{
    const struct model *m = network_model(n);
    machine_send(n->m, 0, n->best.params, s->params, (size_t)m->params * sizeof *s->params);
    const size_t buffers = (size_t)network_buffers(n);
    if (buffers)
        machine_send(n->m, 0, n->best.buffers, s->buffers, buffers * sizeof(real));
    machine_fence(n->m, 0);
}

bool network_get_best(struct network *n, struct network_state *s, struct err *e)
{
    const struct model *m = network_model(n);
    machine_fetch(n->m, 0, s->params, n->best.params, (size_t)m->params * sizeof *s->params);
    const size_t buffers = (size_t)network_buffers(n);
    if (buffers)
        machine_fetch(n->m, 0, s->buffers, n->best.buffers, buffers * sizeof(real));
    machine_fence(n->m, 0);
    return machine_wait(n->m, MACHINE_PATIENCE, e);
}
