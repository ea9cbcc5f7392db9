/* network.c - the arenas of a model on a machine: sizes, allocation, state in and out. */
#include "model/network.h"

#include <assert.h>

#include "base/mem.h"
#include "model/netarena.h"

#define COUNTED_FROM ((uint64_t)64) /* addresses of a network that is only counted: lines */
#define COUNTED_MOST ((uint64_t)1 << 58) /* of one arena: their sum does not overflow */
#define KEPT_MOST ((uint64_t)1 << 22)    /* logits that stay on the machine: 16 MiB */

/* --- plans --- */

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
        s->model = model_plan_on(n->m, n->o.model, n->o.features, rows, 1, false, e);
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
        n->model = model_plan_on(n->m, n->o.model, n->o.features, n->o.rows, n->shards, true, e);
    n->table_room = n->o.steps ? n->o.steps : 1;
    return n->model || !n->o.training;
}

static void drop_plans(struct network *n)
{
    for (unsigned i = 0; i < n->shape_count; i++)
        model_free(n->shapes[i].model);
    model_free(n->model);
}

/* --- allocation --- */

/* A network that is only counted gets addresses that lie nowhere, one behind the other. */
static void *nowhere(struct network *n, uint64_t bytes)
{
    uint64_t at = n->counted;
    n->counted += (bytes + COUNTED_FROM - 1) / COUNTED_FROM * COUNTED_FROM;
    return bytes_at(NULL, at);
}

static enum memory_kind kind_of(const struct network *n, const uint64_t *kind)
{
    if (kind == &n->bytes.weights)
        return MEMORY_WEIGHTS;
    return kind == &n->bytes.activations ? MEMORY_ACTIVATIONS : MEMORY_STATE;
}

/* count elements of size bytes, at least one, which are added to *kind of the network's bytes; NULL
 * and an error when the machine has no more. */
static void *take(struct network *n, uint64_t *kind, uint64_t count, size_t size, bool *good,
                  struct err *e)
{
    uint64_t bytes;
    if (!*good)
        return NULL;
    if (mem_mul_overflows(count ? count : 1, size, &bytes) || bytes > COUNTED_MOST) {
        *good = err_set(e, ERR_MEMORY, "out of memory: %llu x %zu bytes", (unsigned long long)count,
                        size);
        return NULL;
    }
    *kind += bytes;
    if (n->counted)
        return nowhere(n, bytes);
    void *memory = machine_alloc_for(n->m, kind_of(n, kind), (size_t)bytes, e);
    *good = memory != NULL;
    return memory;
}

/* The same of host memory that transfers like, which is the machine's where that is the host. */
static void *take_host(struct network *n, uint64_t *kind, uint64_t count, size_t size, bool *good,
                       struct err *e)
{
    if (!*good)
        return NULL;
    if (machine_in_place(n->m))
        *kind += count * size;
    if (n->counted)
        return NULL; /* no operation is given it */
    void *memory = machine_host_alloc(n->m, (size_t)count * size, e);
    *good = memory != NULL;
    return memory;
}

static bool take_batch(struct network *n, const struct model *m, struct netbatch *b, struct err *e)
{
    uint64_t *kind = &n->bytes.activations, ids = m->features.format.categories;
    bool good = true;
    b->acts = take(n, kind, m->acts, machine_act_bytes(n->m), &good, e);
    b->reals = take(n, kind, m->reals, sizeof(real), &good, e);
    b->target = take(n, kind, m->rows, sizeof(real), &good, e);
    b->weight = take(n, kind, m->rows, sizeof(real), &good, e);
    b->ids = take(n, kind, m->rows * ids, sizeof(int32_t), &good, e);
    return good;
}

/* Tables that describe the model count as weights. */
static void *sent(struct network *n, const void *from, size_t count, size_t size, bool *good,
                  struct err *e)
{
    void *memory = take(n, &n->bytes.weights, count, size, good, e);
    if (*good && count && !n->counted)
        machine_upload(n->m, memory, from, count * size);
    return memory;
}

/* Answers that stay on the machine, and the best weights. */
static bool take_kept(struct network *n, struct err *e)
{
    const struct model *m = network_model(n);
    uint64_t *kind = &n->bytes.activations, most = KEPT_MOST / m->outputs, host = 0;
    bool good = true;
    n->host = take_host(n, &n->bytes.weights, 1, sizeof *n->host, &good, e);
    if (n->o.answers) {
        n->kept_rows = n->o.answers < most ? n->o.answers : most ? most : 1;
        n->ask = take(n, kind, 1, sizeof *n->ask, &good, e);
        n->kept = take(n, kind, n->kept_rows * m->outputs, sizeof(real), &good, e);
        n->host_kept = take_host(n, &host, n->kept_rows * m->outputs, sizeof(real), &good, e);
        n->bad = take(n, kind, (uint64_t)2 * KEEP_PARTS, sizeof *n->bad, &good, e);
    }
    if (n->o.keeps_best) {
        n->best = take(n, &n->bytes.weights, m->params, sizeof(real), &good, e);
        n->best_buffers = take(n, &n->bytes.weights, m->buffers, sizeof(real), &good, e);
    }
    return good;
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
    n->answer_source.at = take(n, &n->bytes.weights, 1, sizeof *n->answer_source.at, &good, e);
    return good;
}

static bool take_weights(struct network *n, struct err *e)
{
    const struct model *m = network_model(n);
    uint64_t *kind = &n->bytes.weights;
    bool good = true;
    n->tables = sent(n, m->tables.data, m->tables.length, 1, &good, e);
    n->params = take(n, kind, m->params, sizeof(real), &good, e);
    n->buffers = take(n, kind, m->buffers, sizeof(real), &good, e);
    n->answer_now = take(n, kind, 1, sizeof *n->answer_now, &good, e);
    return good && take_features(n, e) && take_kept(n, e) &&
           take_batch(n, n->shapes[0].model, &n->answer, e);
}

static bool take_gradients(struct network *n, struct err *e)
{
    const struct model *m = n->model;
    uint64_t *kind = &n->bytes.gradients;
    bool good = true;
    n->grads = take(n, kind, net_grads(m, n->shards), sizeof(real), &good, e);
    n->sums = take(n, kind, net_sums(n->m, m), 1, &good, e);
    n->part_loss = take(n, kind, n->shards, sizeof(double), &good, e);
    n->part_weight = take(n, kind, n->shards, sizeof(double), &good, e);
    return good;
}

static bool take_state(struct network *n, struct err *e)
{
    const struct model *m = n->model;
    uint64_t *kind = &n->bytes.state;
    unsigned states = optim_states(n->o.optim);
    bool good = true;
    n->m1 = states > 0 ? take(n, kind, m->params, sizeof(real), &good, e) : NULL;
    n->m2 = states > 1 ? take(n, kind, m->params, sizeof(real), &good, e) : NULL;
    n->now = take(n, kind, 1, sizeof *n->now, &good, e);
    n->first = take(n, kind, 1, sizeof *n->first, &good, e);
    n->table = take(n, kind, n->table_room, sizeof *n->table, &good, e);
    n->norms = take(n, kind, n->table_room, sizeof *n->norms, &good, e);
    n->host_table = take_host(n, kind, n->table_room, sizeof *n->host_table, &good, e);
    n->source.at = take(n, kind, 1, sizeof *n->source.at, &good, e);
    return good;
}

static bool take_training(struct network *n, struct err *e)
{
    const struct model *m = n->model;
    bool good = true;
    n->host_groups = optim_groups(n->o.optim, m);
    n->groups = sent(n, n->host_groups, m->group_count, sizeof *n->groups, &good, e);
    size_t shadow = machine_shadow_bytes(n->m, n->host_groups, m->group_count, m->params);
    if (shadow)
        n->shadow = take(n, &n->bytes.weights, shadow, 1, &good, e);
    n->moved = take(n, &n->bytes.weights, m->buffers, sizeof(real), &good, e);
    return good && take_gradients(n, e) && take_state(n, e) && take_batch(n, m, &n->train, e);
}

/* The most that a step or a batch of answers asks for, whatever their order. */
static uint64_t scratch_of(struct network *n)
{
    struct need step = {0}, answer;
    if (n->model)
        machine_measure(n->m, network_issue_step, n, &step);
    machine_measure(n->m, network_issue_answer, &n->shapes[0], &answer);
    return step.scratch > answer.scratch ? step.scratch : answer.scratch;
}

/* Whole, or only counted. */
static struct network *make(const struct network_options *o, struct machine *m, bool counted,
                            struct err *e)
{
    struct network *n = mem_zero(1, sizeof *n);
    n->o = *o;
    n->m = m;
    n->counted = counted ? COUNTED_FROM : 0;
    n->shards = o->training ? plan_shards(o->rows) : 1;
    bool good = plan_all(n, e);
    good = good && take_weights(n, e) && (!o->training || take_training(n, e)) &&
           (counted || machine_reserve(m, scratch_of(n), e));
    if (good)
        return n;
    network_free(n);
    return NULL;
}

struct network *network_new(const struct network_options *o, struct machine *m,
                            const struct plan *plan, struct err *e)
{
    assert(!o->training || (plan && plan->shards == plan_shards(o->rows)));
    (void)plan;
    return make(o, m, false, e);
}

bool network_need(const struct network_options *o, struct machine *m, struct network_bytes *b,
                  struct err *e)
{
    *b = (struct network_bytes){0};
    struct network *n = make(o, m, true, e);
    if (!n)
        return false;
    *b = n->bytes;
    b->scratch = scratch_of(n);
    if (o->streams)
        b->activations += netstream_least(net_part_rows(n), o->features->format.stride);
    b->total = b->weights + b->gradients + b->state + b->activations + b->scratch;
    network_free(n);
    return true;
}

static void give_all(struct network *n)
{
    netstream_close(&n->stream, n->m);
    netsource_close(&n->source, n->m);
    netsource_close(&n->answer_source, n->m);
    machine_host_release(n->m, n->host_table);
    machine_host_release(n->m, n->host);
    machine_host_release(n->m, n->host_kept);
    const struct netbatch *t = &n->train, *a = &n->answer;
    void *const blocks[] = {
        n->groups,   n->tables,     n->params,    n->buffers,   n->grads,
        n->m1,       n->m2,         n->shadow,   n->sums,      n->part_loss, n->part_weight,
        n->features, n->indicators, n->now,      n->answer_now, n->table,    n->first,
        n->moved,    n->norms,      t->acts,     t->reals,     t->target,    t->weight,
        t->ids,      a->acts,       a->reals,    a->target,    a->weight,    a->ids,
        n->ask,      n->kept,       n->bad,      n->best,      n->best_buffers,
    };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        machine_release(n->m, blocks[i]);
}

void network_free(struct network *n)
{
    if (!n)
        return;
    if (!n->counted)
        give_all(n);
    mem_free(n->host_groups);
    drop_plans(n);
    mem_free(n);
}

const struct model *network_model(const struct network *n)
{
    return n->model ? n->model : n->shapes[0].model;
}

bool network_rounds(const struct network *n)
{
    if (!n->o.training)
        return false;
    return n->model->narrow || machine_rounds(n->m, n->host_groups, n->model->group_count);
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
    net_next_step(n, &s->now);
    machine_fence(n->m, 0);
    n->host->now = s->now;
    n->now_known = n->ask && n->now;
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

bool network_view(const struct network *n, struct network_state *s)
{
    if (!machine_in_place(n->m))
        return false;
    assert(!n->shadow); /* what is written in place refreshes none */
    *s = (struct network_state){
        .params = n->params, .buffers = n->buffers, .m1 = n->m1, .m2 = n->m2};
    if (n->now)
        s->now = *n->now;
    return true;
}
