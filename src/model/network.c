/* network.c - the arenas of a model on a machine: sizes, allocation, state in and out. */
#include "model/network.h"

#include <string.h>

#include "base/mem.h"
#include "model/features.h"
#include "model/netarena.h"

/* --- sizes --- */

static uint64_t batch_bytes(const struct model *m, const struct machine *machine)
{
    uint64_t reals = m->reals + 2 * (uint64_t)m->rows;
    return m->acts * machine_act_bytes(machine) + reals * sizeof(real) +
           (uint64_t)m->rows * m->features.format.categories * sizeof(int32_t);
}

/* Bytes that norm2 keeps for the optimiser. */
static uint64_t net_sums(const struct machine *machine, const struct model *m)
{
    struct need need;
    machine_need(machine, OP_norm2, &(struct op_norm2){.from = {.n = m->params}}, &need);
    return need.kept;
}

static uint32_t answer_rows(const struct network_options *o)
{
    return o->training && o->rows < NET_ANSWER_ROWS ? NET_ANSWER_ROWS : o->rows;
}

static bool plan_shapes(struct network *n, struct err *e)
{
    uint32_t rows = answer_rows(&n->o);
    do {
        struct netshape *s = &n->shapes[n->shape_count];
        s->network = n;
        s->model = model_plan(n->o.model, n->o.features, rows, 1, false, e);
        if (!s->model)
            return false;
        n->shape_count++;
        rows /= 8;
    } while (n->shape_count < NET_SHAPES && rows >= 8);
    return true;
}

static bool plan_all(struct network *n, struct err *e)
{
    if (!plan_shapes(n, e))
        return false;
    if (n->o.training)
        n->model = model_plan(n->o.model, n->o.features, n->o.rows, n->shards, true, e);
    n->table_room = n->o.steps ? n->o.steps : 1;
    return n->model || !n->o.training;
}

static void drop_plans(struct network *n)
{
    for (unsigned i = 0; i < n->shape_count; i++)
        model_free(n->shapes[i].model);
    model_free(n->model);
}

/* Scratch of the operations that it will issue; the arenas they are issued on are nowhere. */
static uint64_t scratch_need(struct network *n)
{
    static max_align_t nowhere;
    struct need step = {0}, answer;
    n->params = n->buffers = n->grads = n->moved = (real *)(void *)&nowhere;
    n->train.acts = n->answer.acts = &nowhere;
    n->train.reals = n->answer.reals = (real *)(void *)&nowhere;
    if (n->model)
        machine_measure(n->m, network_issue_step, n, &step);
    machine_measure(n->m, network_issue_answer, &n->shapes[0], &answer);
    return step.scratch > answer.scratch ? step.scratch : answer.scratch;
}

bool network_need(const struct network_options *o, struct machine *m, struct network_bytes *b,
                  struct err *e)
{
    struct network n = {.o = *o, .m = m, .shards = o->training ? plan_shards(o->rows) : 1};
    bool good = plan_all(&n, e);
    *b = (struct network_bytes){0};
    if (good) {
        const struct model *train = n.model, *model = network_model(&n);
        b->weights = (model->params + model->buffers) * sizeof(real);
        b->activations = batch_bytes(n.shapes[0].model, m);
        b->scratch = scratch_need(&n);
        if (train) {
            b->weights += train->buffers * sizeof(real);
            b->weights += machine_shadow_bytes(m, train->groups, train->group_count, train->params);
            b->gradients = net_grads(train, n.shards) * sizeof(real) + net_sums(m, train);
            b->state = optim_states(o->optim) * train->params * sizeof(real) +
                       n.table_room * (2 * sizeof *n.table + sizeof *n.norms);
            b->activations += batch_bytes(train, m);
        }
        b->total = b->weights + b->gradients + b->state + b->activations + b->scratch;
    }
    drop_plans(&n);
    return good;
}

/* --- allocation --- */

/* count elements of size bytes, at least one; NULL and an error when the machine has no more. */
static void *take(struct network *n, uint64_t count, size_t size, bool *good, struct err *e)
{
    uint64_t bytes;
    if (!*good)
        return NULL;
    if (mem_mul_overflows(count ? count : 1, size, &bytes) || bytes > SIZE_MAX / 2) {
        *good = err_set(e, ERR_MEMORY, "out of memory: %llu x %zu bytes", (unsigned long long)count,
                        size);
        return NULL;
    }
    void *memory = machine_alloc(n->m, (size_t)bytes, e);
    *good = memory != NULL;
    return memory;
}

static bool take_batch(struct network *n, const struct model *m, struct netbatch *b, struct err *e)
{
    bool good = true;
    b->acts = take(n, m->acts, machine_act_bytes(n->m), &good, e);
    b->reals = take(n, m->reals, sizeof(real), &good, e);
    b->target = take(n, m->rows, sizeof(real), &good, e);
    b->weight = take(n, m->rows, sizeof(real), &good, e);
    b->ids = take(n, (uint64_t)m->rows * m->features.format.categories, sizeof(int32_t), &good, e);
    return good;
}

static void give_batch(struct network *n, struct netbatch *b)
{
    machine_release(n->m, b->acts);
    machine_release(n->m, b->reals);
    machine_release(n->m, b->target);
    machine_release(n->m, b->weight);
    machine_release(n->m, b->ids);
}

static void *sent(struct network *n, const void *from, size_t count, size_t size, bool *good,
                  struct err *e)
{
    void *memory = take(n, count, size, good, e);
    if (*good && count)
        machine_upload(n->m, memory, from, count * size);
    return memory;
}

static bool take_features(struct network *n, struct err *e)
{
    const struct features *f = &network_model(n)->features;
    struct features as_read = *f;
    bool good = true;
    n->indicators = sent(n, f->indicators, f->indicator_count, sizeof *f->indicators, &good, e);
    as_read.indicators = n->indicators;
    as_read.categories = NULL;
    n->features = sent(n, &as_read, 1, sizeof as_read, &good, e);
    return good && netsource_open(&n->answer_source, n->m, e);
}

static bool take_weights(struct network *n, struct err *e)
{
    const struct model *m = network_model(n);
    bool good = true;
    n->onehot = sent(n, m->onehot, m->onehot_count, sizeof *n->onehot, &good, e);
    n->embed = sent(n, m->embed, m->embed_count, sizeof *n->embed, &good, e);
    n->params = take(n, m->params, sizeof(real), &good, e);
    n->buffers = take(n, m->buffers, sizeof(real), &good, e);
    n->answer_now = take(n, 1, sizeof *n->answer_now, &good, e);
    return good && take_features(n, e) && take_batch(n, n->shapes[0].model, &n->answer, e);
}

static bool take_training(struct network *n, struct err *e)
{
    const struct model *m = n->model;
    bool good = true;
    n->host_groups = optim_groups(n->o.optim, m);
    n->groups = sent(n, n->host_groups, m->group_count, sizeof *n->groups, &good, e);
    size_t shadow = machine_shadow_bytes(n->m, n->host_groups, m->group_count, m->params);
    if (shadow)
        n->shadow = take(n, shadow, 1, &good, e);
    n->grads = take(n, net_grads(m, n->shards), sizeof(real), &good, e);
    n->moved = take(n, m->buffers, sizeof(real), &good, e);
    unsigned states = optim_states(n->o.optim);
    n->m1 = states > 0 ? take(n, m->params, sizeof(real), &good, e) : NULL;
    n->m2 = states > 1 ? take(n, m->params, sizeof(real), &good, e) : NULL;
    n->sums = take(n, net_sums(n->m, m), 1, &good, e);
    n->part_loss = take(n, n->shards, sizeof(double), &good, e);
    n->part_weight = take(n, n->shards, sizeof(double), &good, e);
    n->now = take(n, 1, sizeof *n->now, &good, e);
    n->first = take(n, 1, sizeof *n->first, &good, e);
    n->table = take(n, n->table_room, sizeof *n->table, &good, e);
    n->norms = take(n, n->table_room, sizeof *n->norms, &good, e);
    if (good)
        n->host_table = machine_host_alloc(n->m, n->table_room * sizeof *n->host_table, e);
    good = good && n->host_table && netsource_open(&n->source, n->m, e);
    return good && take_batch(n, m, &n->train, e);
}

struct network *network_new(const struct network_options *o, struct machine *m,
                            const struct plan *plan, struct err *e)
{
    struct network *n = mem_zero(1, sizeof *n);
    n->o = *o;
    n->m = m;
    n->shards = plan && o->training ? plan->shards : 1;
    bool good = plan_all(n, e);
    good = good && take_weights(n, e) && (!o->training || take_training(n, e));
    if (good)
        return n;
    network_free(n);
    return NULL;
}

void network_free(struct network *n)
{
    if (!n)
        return;
    netsource_close(&n->source, n->m);
    netsource_close(&n->answer_source, n->m);
    machine_host_release(n->m, n->host_table);
    void *const blocks[] = {
        n->groups,      n->onehot, n->embed,      n->params,  n->buffers,      n->grads,
        n->m1,          n->m2,     n->shadow,     n->sums, n->part_loss,
        n->part_weight, n->features, n->indicators, n->now,    n->answer_now, n->table,   n->first,
        n->moved,       n->norms,
    };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        machine_release(n->m, blocks[i]);
    give_batch(n, &n->train);
    give_batch(n, &n->answer);
    mem_free(n->host_groups);
    drop_plans(n);
    mem_free(n);
}

const struct model *network_model(const struct network *n)
{
    return n->model ? n->model : n->shapes[0].model;
}

/* --- state --- */

static void put(struct network *n, void *to, const void *from, uint64_t count, size_t size)
{
    if (to && from)
        machine_send(n->m, 0, to, from, (size_t)count * size);
}

static void get(struct network *n, void *to, const void *from, uint64_t count, size_t size)
{
    if (to && from)
        machine_fetch(n->m, 0, to, from, (size_t)count * size);
}

void network_put(struct network *n, const struct network_state *s)
{
    const struct model *m = network_model(n);
    put(n, n->params, s->params, m->params, sizeof(real));
    put(n, n->buffers, s->buffers, m->buffers, sizeof(real));
    put(n, n->m1, s->m1, m->params, sizeof(real));
    put(n, n->m2, s->m2, m->params, sizeof(real));
    put(n, n->now, &s->now, 1, sizeof s->now);
    machine_fence(n->m, 0);
    if (n->shadow && s->params)
        machine_refresh(n->m, n->shadow, n->params, n->host_groups, m->group_count);
}

bool network_get(struct network *n, struct network_state *s, struct err *e)
{
    const struct model *m = network_model(n);
    get(n, s->params, n->params, m->params, sizeof(real));
    get(n, s->buffers, n->buffers, m->buffers, sizeof(real));
    get(n, s->m1, n->m1, m->params, sizeof(real));
    get(n, s->m2, n->m2, m->params, sizeof(real));
    get(n, &s->now, n->now, 1, sizeof s->now);
    machine_fence(n->m, 0);
    return machine_wait(n->m, MACHINE_PATIENCE, e);
}
