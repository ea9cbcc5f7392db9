/* netrun.c - a network that is trained: its rows, its epochs, and whole steps, which are a function
 * that issues operations, for a machine to run or to record. */
#include "model/netarena.h"

struct pass net_pass(struct network *n, struct machine *machine, const struct model *m,
                     const struct netbatch *b)
{
    return (struct pass){
        .m = machine,
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
        .tables = n->tables,
    };
}

/* --- training --- */

/* The lists of positions of all parts together have as many entries as there are rows; a list of
 * chunks is there for the rows to train on and for those to answer. */
uint64_t network_source_bytes(const struct network_options *o, const struct source *from)
{
    const struct rows *r = &from->rows;
    uint32_t part = o->whole ? o->whole : o->micro * o->rows, shift = 0;
    while (o->streams && (uint64_t)1 << shift < part)
        shift++;
    uint64_t count = o->streams ? from->count : r->count;
    uint64_t chunks = count ? ((count - 1) >> (o->streams ? shift : r->shift)) + 1 : 0;
    uint64_t lists = 2 * chunks * sizeof(void *) + from->classes * sizeof *from->class_weight;
    return lists + (o->streams ? 0 : r->count * (r->format.stride + sizeof(uint32_t)));
}

static bool has_room(const struct network *n, const struct source *from)
{
    struct network_options there = n->o;
    uint64_t left = machine_bytes_free(n->m);
    there.streams = false;
    return !left || network_source_bytes(&there, from) <= left;
}

uint32_t net_part_rows(const struct network *n)
{
    uint32_t rows = n->shapes[0].model->rows;
    return n->model && net_step_rows(n) > rows ? net_step_rows(n) : rows;
}

/* Through the stream, which is made of the memory that is left. */
static bool stream_source(struct network *n, struct netsource *to, const struct source *from,
                          struct err *e)
{
    if (!netstream_is_open(&n->stream) && !netstream_open(&n->stream, n->m, net_part_rows(n),
                                                          from->count, from->rows.format.stride, e))
        return false;
    n->carries = STREAM_NONE;
    return netsource_put_ring(to, n->m, from, n->features, n->stream.ring, STREAM_RING,
                              n->stream.shift, e);
}

bool net_put_source(struct network *n, struct netsource *to, const struct source *from,
                    bool *streams, struct err *e)
{
    if (!*streams && netsource_put(to, n->m, from, n->features, e))
        return true;
    if (!*streams && (!n->o.own_memory || e->id != ERR_GPU_MEMORY))
        return false;
    err_clear(e);
    netsource_end(to, n->m);
    *streams = true;
    return stream_source(n, to, from, e);
}

bool network_source(struct network *n, const struct source *from, struct err *e)
{
    bool room = !n->o.own_memory || has_room(n, from);
    n->train_from = *from;
    n->train_streams = n->o.own_memory && !n->o.stays && (n->o.streams || !room);
    if (!n->o.stays)
        return net_put_source(n, &n->source, from, &n->train_streams, e);
    if (!room)
        return err_set(e, ERR_GPU_MEMORY, "the GPU has no room for all rows beside the network");
    return netsource_put(&n->source, n->m, from, n->features, e);
}

uint64_t network_streams(const struct network *n)
{
    return n->train_streams ? netstream_bytes(&n->stream) : 0;
}

uint32_t network_feed(struct network *n, uint32_t steps)
{
    uint64_t each = net_step_rows(n), row = n->next.row0;
    n->now_known = false;
    if (!n->train_streams || row >= n->train_from.count)
        return steps;
    if (n->carries != STREAM_TRAIN)
        netstream_begin(&n->stream, n->m, &n->train_from, &n->next);
    n->carries = STREAM_TRAIN;
    uint64_t end = ((row >> n->stream.shift) + 1) << n->stream.shift; /* of the part */
    uint64_t now = (end - row + each - 1) / each;
    if (now > steps)
        now = steps;
    uint64_t left = n->train_from.count - row, wanted = now * each;
    netstream_have(&n->stream, n->m, row, wanted < left ? wanted : left);
    n->next.row0 += wanted;
    return (uint32_t)now;
}

void net_feed_again(struct network *n, const struct step *again)
{
    struct step next = n->next;
    n->next = *again;
    n->carries = STREAM_NONE;
    network_feed(n, 1);
    net_next_step(n, &next);
}

/* Entries behind the last repeat it: what is recorded knows the room, not the count. */
static bool put_table(struct network *n, const struct hyper *table, uint32_t count, struct err *e)
{
    if (count > n->table_room)
        return err_set(e, ERR_BUG, "an epoch of %u steps in a network made for %u", count,
                       n->table_room);
    machine_fence(n->m, 0); /* the table before has been read */
    for (uint32_t i = 0; i < n->table_room; i++)
        n->host_table[i] = table[i < count ? i : count - 1];
    machine_send(n->m, 0, n->table, n->host_table, n->table_room * sizeof *table);
    return true;
}

bool network_epoch(struct network *n, uint32_t epoch, const struct hyper *table, uint32_t count,
                   struct err *e)
{
    struct nethost *host = n->host;
    struct step now;
    if (!put_table(n, table, count, e))
        return false;
    network_step(n, &now);
    host->first = now.tried;
    now.epoch = epoch;
    now.row0 = 0;
    now.epoch_weight = now.epoch_loss = 0;
    now.bad_steps = 0;
    now.lr = table[0].lr;
    now.weight_decay = table[0].weight_decay;
    host->now = now;
    machine_send(n->m, 0, n->first, &host->first, sizeof host->first);
    machine_send(n->m, 0, n->now, &host->now, sizeof host->now);
    machine_join(n->m, 0);
    net_next_step(n, &now);
    n->now_known = n->ask != NULL;
    return true;
}

struct pass net_train_pass(struct network *n, struct machine *m, uint32_t micro)
{
    struct pass p = net_pass(n, m, n->model, &n->train);
    p.grads = n->grads;
    p.moved = n->moved;
    p.shard_stride = net_shard_stride(n->model);
    p.now = n->now;
    p.from = n->source.at;
    p.micro = micro;
    p.whole = net_step_rows(n);
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
    struct pass p = net_train_pass(n, machine, micro);
    net_issue_loss(n, &p, model_forward(m, &p, n->train.target));
    model_backward(m, &p);
}

static void issue_update(struct network *n, struct machine *machine)
{
    const struct model *m = n->model;
    struct pass p = net_pass(n, machine, m, &n->train);
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
                                          .consumed = net_step_rows(n),
                                          .buffer_count = m->buffers,
                                          .shards = n->shards,
                                          .table_count = n->table_room});
}

uint32_t network_parts(const struct network *n)
{
    return n->o.micro + 1;
}

void network_issue_part(struct network *n, struct machine *machine, uint32_t part)
{
    if (part < n->o.micro)
        issue_micro(n, machine, part);
    else
        issue_update(n, machine);
}

void network_issue_step(void *network, struct machine *machine)
{
    for (uint32_t part = 0; part < network_parts(network); part++)
        network_issue_part(network, machine, part);
}

void network_step(struct network *n, struct step *now)
{
    if (!n->now_known)
        machine_download(n->m, now, n->now, sizeof *now);
    else
        *now = n->host->now;
}

void network_tell(struct network *n)
{
    if (!n->ask)
        return;
    machine_fetch(n->m, 0, &n->host->now, n->now, sizeof n->host->now);
    machine_fence(n->m, 0);
    n->now_known = true;
}

void network_norms(struct network *n, uint32_t first, uint32_t count, double *norms)
{
    machine_download(n->m, norms, n->norms + first, count * sizeof *norms);
}
