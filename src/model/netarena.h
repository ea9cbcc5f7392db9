/* netarena.h - inside a network: its arenas. Private to network.c, netrun.c, netanswer.c and
 * nonfinite.c. */
#ifndef DNN_MODEL_NETARENA_H
#define DNN_MODEL_NETARENA_H

#include "model/netstream.h"
#include "model/network.h"

/* A batch on its way through one plan. All machine memory, one block each. */
struct netbatch {
    void *acts;
    real *reals, *target, *weight;
    int32_t *ids;
};

/* Answers come in a few shapes, largest first, so that one row does not cost a whole batch. All use
 * one netbatch. */
enum { NET_SHAPES = 3, NET_ANSWER_ROWS = 512 };
struct netshape {
    struct network *network;
    struct model *model;
};

/* What the host and the machine tell each other: host memory that transfers like. Nothing of it is
 * touched while it is on its way. */
struct nethost {
    struct step now, answer_now;
    struct answers ask;
    int64_t first;
    int32_t bad[2 * KEEP_PARTS];
};

struct network {
    struct network_options o;
    struct machine *m;
    uint32_t shards;
    struct model *model; /* the training plan; NULL: answers only */
    struct netshape shapes[NET_SHAPES];
    unsigned shape_count;
    struct network_bytes bytes; /* that it took, by kind */
    uint64_t counted; /* 0: it is whole. Else it only counts: its memory lies nowhere, up to here */
    struct group *host_groups;
    /* machine memory */
    struct group *groups;
    void *tables; /* of the model's layers */
    real *params, *buffers, *grads, *m1, *m2;
    real *moved;   /* the next running statistics: buffers once the optimiser's step is made */
    double *norms; /* [table_room]: gradient norms of the epoch's steps */
    void *shadow, *sums;
    struct netbatch train, answer;
    double *part_loss, *part_weight; /* [shards] */
    struct step *now, *answer_now;
    struct hyper *table;
    uint32_t table_room;
    int64_t *first;
    struct hyper *host_table; /* [table_room], of host memory that transfers like */
    struct nethost *host;
    bool now_known; /* host->now is the machine's, or on its way there */
    bool looks;     /* flags of weights were asked for, and are not fetched yet */
    /* machine memory of answers that stay; NULL: each batch of them is fetched by itself */
    struct answers *ask;
    real *kept;         /* [kept_rows][outputs] */
    real *host_kept;    /* the same, of host memory that transfers like */
    uint64_t kept_rows;
    int32_t *bad;       /* [2][KEEP_PARTS]: of params, of buffers */
    real *best, *best_buffers; /* NULL: not wanted */
    struct features *features; /* as gather reads them */
    uint32_t *indicators;
    struct netsource source, answer_source;
    /* Rows for which the machine has no room pass through the stream: whose do, and whose it
     * carries now. The sources are as they were given, the step is the next one. */
    struct netstream stream;
    bool train_streams, answer_streams;
    bool answer_held; /* answer_from stays until others are asked for */
    enum { STREAM_NONE, STREAM_TRAIN, STREAM_ANSWER } carries;
    struct source train_from, answer_from;
    struct step next;
};

/* A batch on its way through a plan. */
struct pass net_pass(struct network *n, struct machine *machine, const struct model *m,
                     const struct netbatch *b);
/* Rows lie on the machine, or pass through the stream: *streams. */
bool net_put_source(struct network *n, struct netsource *to, const struct source *from,
                    bool *streams, struct err *e);
/* One way of a micro-batch through the training plan, and its loss (netrun.c), on the network's
 * machine or one that takes its part. */
struct pass net_train_pass(struct network *n, struct machine *m, uint32_t micro);
void net_issue_loss(struct network *n, struct pass *p, const struct act *logits);

/* The rows of this step, which was done before, are there once more where they stream. */
void net_feed_again(struct network *n, const struct step *again);

/* Rows of a step. */
static inline uint32_t net_step_rows(const struct network *n)
{
    return n->o.whole ? n->o.whole : n->o.micro * n->o.rows;
}

/* The most rows that are issued at once, which a part of the stream holds at least. */
uint32_t net_part_rows(const struct network *n);

/* Training goes on with this step: what passes through the stream begins anew there. */
static inline void net_next_step(struct network *n, const struct step *now)
{
    n->next = *now;
    n->carries = STREAM_NONE;
}

/* Elements of the gradient arena: shards beyond the first lack the embedding tables, which stand in
 * front. */
static inline uint64_t net_shard_stride(const struct model *m)
{
    return m->params - m->front_params;
}
static inline uint64_t net_grads(const struct model *m, uint32_t shards)
{
    return m->params + (shards - 1) * net_shard_stride(m);
}

#endif
