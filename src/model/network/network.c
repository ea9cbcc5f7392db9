/* network.c - the arenas of a model on a machine: sizes, allocation, state in and out. */
#include "model/network/network.h"

#include <assert.h>

#include "base/mem.h"
#include "model/network/netarena.h"

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

static uint32_t shards_of(const struct features *f, uint32_t rows)
{
    return plan_series_shards(rows, features_steps(f));
}

void network_plan(const struct features *f, const struct machine *m, uint32_t batch,
                  uint32_t micro, struct plan *plan)
{
    machine_plan(m, batch, micro, plan);
    plan->shards = shards_of(f, batch);
}

/* Rows of a batch of answers; fewer for sequences, whose steps take memory as rows of tables do. */
static uint32_t answer_rows(const struct network *n)
{
    const struct network_options *o = &n->o;
    const uint32_t steps = features_steps(o->features);
    const uint32_t least = steps < 4 ? NET_ANSWER_ROWS : 4 * NET_ANSWER_ROWS / steps;
    uint32_t rows = o->rows;
    /* 8 sequences a thread, for each of the threads, but no more than a step has */
    if (o->tracks) {
        const uint32_t most = 8 * NET_TRACKS_MOST;
        rows = net_step_rows(n) < most ? net_step_rows(n) : most;
    }
    return o->training && rows < least ? least : rows;
}

static bool plan_shapes(struct network *n, struct err *e)
{
    const uint64_t steps = features_steps(n->o.features);
    uint32_t rows = answer_rows(n);
    do {
        struct netshape *s = &n->answers.shapes[n->answers.shape_count];
        s->network = n;
        uint64_t all = rows * steps; /* without gradients a shard costs nothing */
        s->model = model_plan_on(n->m, n->o.architecture, n->o.features, rows,
                                 plan_shards(all < UINT32_MAX ? (uint32_t)all : UINT32_MAX),
                                 false, false, e);
        if (!s->model)
            return false;
        n->answers.shape_count++;
        rows /= steps > 1 ? 4 : 8;
    } while (n->answers.shape_count < NET_SHAPES && rows && rows * steps >= 8);
    return true;
}

static bool plan_all(struct network *n, uint32_t shards, struct err *e)
{
    if (!plan_shapes(n, e))
        return false;
    if (n->o.training)
        n->step.model =
            model_plan_on(n->m, n->o.architecture, n->o.features, n->o.rows, shards, true,
                          n->o.tracks > 0, e);
    n->step.rates_room = n->o.steps ? n->o.steps : 1;
    return n->step.model || !n->o.training;
}

static void drop_plans(struct network *n)
{
    for (unsigned i = 0; i < n->answers.shape_count; i++)
        model_free(n->answers.shapes[i].model);
    model_free(n->step.model);
}

/* --- allocation --- */

/* Memory for a network that is only counted: addresses without memory, one after another. */
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
static void *alloc(struct network *n, uint64_t *kind, uint64_t count, size_t size, bool *good,
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

/* As alloc, for host memory that transfers fast (pinned); it counts as the machine's if the machine
 * is the host. */
static void *alloc_host(struct network *n, uint64_t *kind, uint64_t count, size_t size,
                        bool *good, struct err *e)
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

/* copies: one after another */
static bool alloc_batch(struct network *n, const struct model *m, uint32_t copies,
                        struct netbatch *b, struct err *e)
{
    uint64_t *kind = &n->bytes.activations, ids = m->inputs.features.format.categories;
    bool good = true;
    b->room.acts = m->acts;
    b->room.reals = m->reals;
    b->room.rows = (uint64_t)m->rows * m->tags * m->own_rows;
    b->room.ids = (uint64_t)m->rows * m->inputs.each * ids;
    b->acts = alloc(n, kind, copies * b->room.acts, machine_act_bytes(n->m), &good, e);
    b->reals = alloc(n, kind, copies * b->room.reals, sizeof(real), &good, e);
    b->target = alloc(n, kind, copies * b->room.rows, sizeof(real), &good, e);
    b->weight = alloc(n, kind, copies * b->room.rows, sizeof(real), &good, e);
    b->ids = alloc(n, kind, copies * b->room.ids, sizeof(int32_t), &good, e);
    return good;
}

static bool has_room(const struct netbatch *b, const struct model *m)
{
    return b->room.acts >= m->acts && b->room.reals >= m->reals &&
           b->room.rows >= (uint64_t)m->rows * m->tags &&
           b->room.ids >= (uint64_t)m->rows * m->inputs.each * m->inputs.features.format.categories;
}

/* The batch of answers: shared with a network beside this one if that batch has room. */
static bool alloc_answers(struct network *n, struct err *e)
{
    const struct model *m = n->answers.shapes[0].model;
    bool good = true;
    if (m->carried)
        n->answers.state = alloc(n, &n->bytes.state, (uint64_t)m->rows * m->carried, sizeof(real),
                                 &good, e);
    const struct network *other = n->counted ? NULL : n->o.beside;
    while (other && !has_room(&other->answers.batch, m))
        other = other->o.beside;
    if (!other)
        return good && alloc_batch(n, m, 1, &n->answers.batch, e);
    n->answers.batch = other->answers.batch;
    n->answers.batch.borrowed = true;
    return good;
}

/* Tables that describe the model count as weights. */
static void *alloc_copy(struct network *n, const void *from, size_t count, size_t size,
                        bool *good, struct err *e)
{
    void *memory = alloc(n, &n->bytes.weights, count, size, good, e);
    if (*good && count && !n->counted)
        machine_upload(n->m, memory, from, count * size);
    return memory;
}

/* Answers that stay on the machine, and the best weights. */
static bool alloc_kept(struct network *n, struct err *e)
{
    const struct model *m = network_model(n);
    uint64_t *kind = &n->bytes.activations, most = KEPT_MOST / m->outputs, host = 0;
    struct netanswers *a = &n->answers;
    bool good = true;
    n->host = alloc_host(n, &n->bytes.weights, 1, sizeof *n->host, &good, e);
    if (n->o.answers) {
        a->kept_rows = n->o.answers < most ? n->o.answers : most ? most : 1;
        a->request = alloc(n, kind, 1, sizeof *a->request, &good, e);
        a->kept = alloc(n, kind, a->kept_rows * m->outputs, sizeof(real), &good, e);
        a->host_kept = alloc_host(n, &host, a->kept_rows * m->outputs, sizeof(real), &good, e);
    }
    if (n->o.answers || n->o.keeps_best)
        n->best.bad = alloc(n, kind, (uint64_t)2 * KEEP_PARTS, sizeof *n->best.bad, &good, e);
    if (n->o.keeps_best) {
        n->best.params = alloc(n, &n->bytes.weights, m->params, sizeof(real), &good, e);
        n->best.buffers = alloc(n, &n->bytes.weights, network_buffers(n), sizeof(real), &good, e);
    }
    return good;
}

static bool alloc_features(struct network *n, struct err *e)
{
    const struct features *f = &network_model(n)->inputs.features;
    struct features as_read = *f;
    struct netweights *w = &n->weights;
    bool good = true;
    w->indicators =
        alloc_copy(n, f->indicators, f->indicator_count, sizeof *f->indicators, &good, e);
    as_read.indicators = w->indicators;
    as_read.categories = NULL;
    as_read.numbers = NULL;
    as_read.edges = NULL;
    as_read.texts = NULL;
    as_read.text_weights = NULL;
    w->features = alloc_copy(n, &as_read, 1, sizeof as_read, &good, e);
    n->rows.answer.there.at = alloc(n, &n->bytes.weights, 1, sizeof(struct source), &good, e);
    return good;
}

static bool alloc_weights(struct network *n, struct err *e)
{
    const struct model *m = network_model(n);
    uint64_t *kind = &n->bytes.weights;
    struct netweights *w = &n->weights;
    bool good = true;
    w->tables = alloc_copy(n, m->tables.data, m->tables.length, 1, &good, e);
    w->params = n->o.params ? n->o.params : alloc(n, kind, m->params, sizeof(real), &good, e);
    w->buffers = n->o.params ? n->o.buffers
                             : alloc(n, kind, network_buffers(n), sizeof(real), &good, e);
    n->answers.now = alloc(n, kind, 1, sizeof *n->answers.now, &good, e);
    return good && alloc_features(n, e) && alloc_kept(n, e) &&
           alloc_answers(n, e);
}

static bool alloc_gradients(struct network *n, struct err *e)
{
    struct netstep *t = &n->step;
    const struct model *m = t->model;
    uint64_t *kind = &n->bytes.gradients;
    bool good = true;
    t->grads = alloc(n, kind, dims_arena(model_dims(m), m->params), sizeof(real), &good, e);
    t->sums = alloc(n, kind, net_sums(n->m, m), 1, &good, e);
    t->part_loss = alloc(n, kind, m->shards, sizeof(double), &good, e);
    t->part_weight = alloc(n, kind, m->shards, sizeof(double), &good, e);
    return good;
}

static bool alloc_state(struct network *n, struct err *e)
{
    struct netstep *t = &n->step;
    const struct model *m = t->model;
    uint64_t *kind = &n->bytes.state;
    unsigned states = optim_states(n->o.optim);
    bool good = true;
    t->m1 = states > 0 ? alloc(n, kind, m->params, sizeof(real), &good, e) : NULL;
    t->m2 = states > 1 ? alloc(n, kind, m->params, sizeof(real), &good, e) : NULL;
    t->now = alloc(n, kind, 1, sizeof *t->now, &good, e);
    t->rates = alloc(n, kind, t->rates_room, sizeof *t->rates, &good, e);
    t->host_rates = alloc_host(n, kind, t->rates_room, sizeof *t->host_rates, &good, e);
    n->rows.train.there.at = alloc(n, kind, 1, sizeof(struct source), &good, e);
    return good;
}

static bool alloc_training(struct network *n, struct err *e)
{
    struct netstep *t = &n->step;
    const struct model *m = t->model;
    bool good = true;
    t->host_groups = optim_groups(n->o.optim, m);
    t->groups = alloc_copy(n, t->host_groups, m->groups.count, sizeof *t->groups, &good, e);
    size_t shadow = machine_shadow_bytes(n->m, t->host_groups, m->groups.count, m->params);
    if (shadow)
        n->weights.shadow = alloc(n, &n->bytes.weights, shadow, 1, &good, e);
    t->moved = alloc(n, &n->bytes.weights, network_buffers(n), sizeof(real), &good, e);
    return good && alloc_gradients(n, e) && alloc_state(n, e) &&
           alloc_batch(n, m, n->o.tracks ? n->o.tracks : 1, &t->batch, e);
}

/* The larger scratch of a training step and a batch of answers. */
static uint64_t scratch_of(struct network *n)
{
    struct need step = {0}, answer;
    if (n->step.model)
        machine_measure(n->m, network_issue_step, n, &step);
    machine_measure(n->m, network_issue_answer, &n->answers.shapes[0], &answer);
    return step.scratch > answer.scratch ? step.scratch : answer.scratch;
}

/* Whole, or only counted. */
static struct network *make(const struct network_options *o, struct machine *m, uint32_t shards,
                            bool counted, struct err *e)
{
    struct network *n = mem_zero(1, sizeof *n);
    n->o = *o;
    n->m = m;
    n->counted = counted ? COUNTED_FROM : 0;
    if (o->features->window) { /* their records are not in order, and each batch is fetched */
        n->o.streams = false;
        n->o.stays = true;
        n->o.answers = 0;
    }
    bool good = plan_all(n, shards, e);
    if (good && o->training && n->step.model->own_rows > 1) { /* a stream has one order */
        n->o.streams = false;
        n->o.stays = true;
    }
    good = good && alloc_weights(n, e) && (!o->training || alloc_training(n, e)) &&
           (counted || machine_reserve(m, scratch_of(n), e));
    if (good)
        return n;
    network_free(n);
    return NULL;
}

struct network *network_new(const struct network_options *o, struct machine *m,
                            const struct plan *plan, struct err *e)
{
    assert(!o->training || (plan && plan->batch == o->rows));
    return make(o, m, o->training ? plan->shards : 1, false, e);
}

bool network_need(const struct network_options *o, struct machine *m, struct network_bytes *b,
                  struct err *e)
{
    *b = (struct network_bytes){0};
    struct network *n =
        make(o, m, o->tracks ? o->tracks : shards_of(o->features, o->rows), true, e);
    if (!n)
        return false;
    *b = n->bytes;
    b->scratch = scratch_of(n);
    if (n->o.streams)
        b->activations += netstream_least(net_part_rows(n), o->features->format.stride);
    b->total = b->weights + b->gradients + b->state + b->activations + b->scratch;
    network_free(n);
    return true;
}

static void release_batch(struct machine *m, const struct netbatch *b)
{
    void *const blocks[] = {b->acts, b->reals, b->target, b->weight, b->ids};
    if (b->borrowed)
        return;
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        machine_release(m, blocks[i]);
}

static void release_all(struct network *n)
{
    netstream_close(&n->rows.stream, n->m);
    netsource_close(&n->rows.train.there, n->m);
    netsource_close(&n->rows.answer.there, n->m);
    machine_host_release(n->m, n->step.host_rates);
    machine_host_release(n->m, n->host);
    machine_host_release(n->m, n->answers.host_kept);
    const struct netweights *w = &n->weights;
    const struct netstep *t = &n->step;
    const struct netanswers *a = &n->answers;
    release_batch(n->m, &t->batch);
    release_batch(n->m, &a->batch);
    if (!n->o.params) {
        machine_release(n->m, w->params);
        machine_release(n->m, w->buffers);
    }
    void *const blocks[] = {
        w->tables, w->shadow,     w->features,  w->indicators,
        t->groups, t->grads,      t->m1,        t->m2,         t->moved,        t->sums,
        t->part_loss,  t->part_weight, t->now,      t->rates,
        a->now,    a->request,    a->kept,      a->state,      n->best.bad,     n->best.params,
        n->best.buffers,
    };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        machine_release(n->m, blocks[i]);
}

void network_free(struct network *n)
{
    if (!n)
        return;
    if (!n->counted)
        release_all(n);
    mem_free(n->step.host_groups);
    drop_plans(n);
    mem_free(n);
}

const struct model *network_model(const struct network *n)
{
    return n->step.model ? n->step.model : n->answers.shapes[0].model;
}

bool network_rounds(const struct network *n)
{
    const struct model *m = n->step.model;
    return m && (m->narrow || machine_rounds(n->m, n->step.host_groups, m->groups.count));
}

/* --- state --- */

static void send_array(struct network *n, void *to, const void *from, uint64_t count, size_t size)
{
    if (to && from)
        machine_send(n->m, 0, to, from, (size_t)count * size);
}

static void fetch_array(struct network *n, void *to, const void *from, uint64_t count, size_t size)
{
    if (to && from)
        machine_fetch(n->m, 0, to, from, (size_t)count * size);
}

void net_refresh(struct network *n)
{
    machine_refresh(n->m, n->weights.shadow, n->weights.params, n->step.host_groups,
                    network_model(n)->groups.count);
}

uint64_t network_buffers(const struct network *n)
{
    const struct model *m = network_model(n);
    return m->buffers + (m->training ? (uint64_t)net_step_rows(n) * m->carried : 0);
}

void network_set(struct network *n, const struct network_state *s)
{
    const struct model *m = network_model(n);
    send_array(n, n->weights.params, s->params, m->params, sizeof(real));
    send_array(n, n->weights.buffers, s->buffers, network_buffers(n), sizeof(real));
    send_array(n, n->step.m1, s->m1, m->params, sizeof(real));
    send_array(n, n->step.m2, s->m2, m->params, sizeof(real));
    send_array(n, n->step.now, &s->now, 1, sizeof s->now);
    net_next_step(n, &s->now);
    machine_fence(n->m, 0);
    n->host->now = s->now;
    n->step.now_known = n->answers.request && n->step.now;
    if (n->weights.shadow && s->params)
        net_refresh(n);
}

bool network_get(struct network *n, struct network_state *s, struct err *e)
{
    const struct model *m = network_model(n);
    fetch_array(n, s->params, n->weights.params, m->params, sizeof(real));
    fetch_array(n, s->buffers, n->weights.buffers, network_buffers(n), sizeof(real));
    fetch_array(n, s->m1, n->step.m1, m->params, sizeof(real));
    fetch_array(n, s->m2, n->step.m2, m->params, sizeof(real));
    fetch_array(n, &s->now, n->step.now, 1, sizeof s->now);
    machine_fence(n->m, 0);
    return machine_wait(n->m, MACHINE_PATIENCE, e);
}

bool network_view(const struct network *n, struct network_state *s)
{
    if (!machine_in_place(n->m))
        return false;
    assert(!n->weights.shadow); /* a write in place would not refresh it */
    *s = (struct network_state){.params = n->weights.params,
                                .buffers = n->weights.buffers,
                                .m1 = n->step.m1,
                                .m2 = n->step.m2};
    if (n->step.now)
        s->now = *n->step.now;
    return true;
}
