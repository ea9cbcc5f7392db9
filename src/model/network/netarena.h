/* netarena.h - inside a network: weights, training step, rows, answers and best weights, each a
 * struct with a file. Private to network.c, net*.c and nonfinite.c. */
#ifndef DNN_MODEL_NETARENA_H
#define DNN_MODEL_NETARENA_H

#include "model/network/netstream.h"
#include "model/network/network.h"

enum { NET_TRACKS_MOST = 8 };

/* The activations of one batch. Machine memory, one block each. A training step with tracks has a
 * batch for each track, in the same blocks: the batch of track t begins at t * room. */
struct netbatch {
    void *acts;
    real *reals, *target, *weight;
    int32_t *ids;
    struct { uint64_t acts, reals, rows, ids; } room; /* elements of one batch */
    bool borrowed;                                     /* it is another network's */
};

/* Machine memory that training and answers share. */
struct netweights {
    real *params, *buffers;
    void *shadow;              /* the machine's own copy of params; NULL: it keeps none */
    void *tables;              /* of the model's layers (plan_table) */
    struct features *features; /* as op_gather reads them */
    uint32_t *indicators;
};

/* A training step (netrun.c). Machine memory but for the host's members. */
struct netstep {
    struct model *model; /* the plan for micro-batches; NULL: the network answers only */
    struct group *groups, *host_groups;
    struct netbatch batch;
    uint32_t most; /* steps of the sequences of the next step; 0: all */
    real *grads, *m1, *m2;
    real *moved;                     /* buffers once the optimiser's step is made */
    void *sums;                      /* of norm2 for the optimiser */
    double *part_loss, *part_weight; /* [shards]: with tracks, track t has number t */
    struct step *now;
    bool now_known; /* the host's copy of now is the machine's, or on its way there */
    /* The rates of an epoch, in pinned host memory and on the machine: [room]. The rates of
     * step `tried` stand at tried % room (struct schedule). */
    struct hyper *host_rates, *rates;
    uint32_t rates_room;
};

/* Rows to train on, or to answer for. */
struct netrows_of {
    struct source from;    /* as the caller gave them */
    struct netsource there; /* as the machine reads them */
    bool streams;          /* they pass through the stream */
};
/* All rows (netrows.c). The stream carries one of the two at a time. */
struct netrows {
    struct netrows_of train, answer;
    bool held; /* the rows to answer for stay until others are given */
    struct netstream stream;
    enum { STREAM_NONE, STREAM_TRAIN, STREAM_ANSWER } carries;
    struct step next; /* the next training step: the begin of the stream */
};

/* Answers (netanswer.c). They come in a few shapes, largest first, so that one row does not cost a
 * whole batch. All shapes use one batch. */
enum { NET_SHAPES = 4, NET_ANSWER_ROWS = 512 };
struct netshape {
    struct network *network;
    struct model *model;
};
struct netanswers {
    struct netshape shapes[NET_SHAPES];
    unsigned shape_count;
    struct netbatch batch;
    uint32_t most;    /* steps of the sequences of the next batch; 0: all */
    struct step *now; /* machine memory: row0 of the batch */
    /* answers that stay on the machine until all are computed; NULL: each batch is fetched */
    struct answers *request;
    real *kept;      /* machine memory [kept_rows][outputs] */
    real *host_kept; /* the same in pinned host memory */
    uint64_t kept_rows;
    real *state; /* machine memory: the state of the rows of the largest shape (model.carried) */
};

/* The best weights, and whether the present ones are finite (netbest.c). Machine memory. */
struct netbest {
    real *params, *buffers; /* NULL: not wanted */
    int32_t *bad;           /* [2][KEEP_PARTS]: flags of params, of buffers */
    bool checked;           /* the flags were computed, and are not fetched yet */
};

/* Pinned host memory for transfers. Nothing of it is touched while it is on its way. */
struct nethost {
    struct step now, answer_now;
    struct answers request;
    int32_t bad[2 * KEEP_PARTS];
};

struct network {
    struct network_options o;
    struct machine *m;
    struct network_bytes bytes; /* machine memory by kind */
    /* 0: a network with its memory. Else it is only counted: addresses up to here lie nowhere. */
    uint64_t counted;
    struct nethost *host;
    struct netweights weights;
    struct netstep step;
    struct netrows rows;
    struct netanswers answers;
    struct netbest best;
};

/* A pass of batch b through plan m. */
struct pass net_pass(struct network *n, struct machine *machine, const struct model *m,
                     const struct netbatch *b);
/* A batch of answers through a shape's plan (netanswer.c). */
struct pass net_answer_pass(struct network *n, struct machine *machine, const struct netshape *s);
/* One micro-batch through the training plan, and its loss (netrun.c). machine: the network's, or a
 * substitute. */
struct pass net_train_pass(struct network *n, struct machine *machine, uint32_t micro);
void net_issue_loss(struct network *n, struct pass *p, struct act logits);

/* Feeds the rows of an earlier step again, if rows stream (netrows.c). */
void net_feed_again(struct network *n, const struct step *again);
/* Makes the `rows` rows to answer for at row0 the next batch. Streamed rows are fed from row0 on,
 * as many as the largest batch has. */
void net_feed_answers(struct network *n, uint64_t row0, uint32_t rows);
/* The steps that sequences of that batch need; 0: all. */
uint32_t net_answer_most(const struct network *n, uint64_t row0, uint32_t batch);
/* The most rows that are issued at once; a part of the stream holds at least this many. */
uint32_t net_part_rows(const struct network *n);
/* The next wait fetches the flags of netbest too. */
void net_fetch_bad(struct network *n);

/* The machine's copy of the weights is made anew. */
void net_refresh(struct network *n);

/* Rows of a step. */
static inline uint32_t net_step_rows(const struct network *n)
{
    return n->o.whole ? n->o.whole : n->o.micro * n->o.rows;
}

/* Training continues with this step: streamed rows begin anew there. */
static inline void net_next_step(struct network *n, const struct step *now)
{
    n->rows.next = *now;
    n->rows.carries = STREAM_NONE;
}

#endif
