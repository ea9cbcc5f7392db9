/* ops.h - the arguments of every operation in ops.def. Plain data, fixed-width members, readable by
 * gcc, g++ and nvcc.
 *
 * Rules, for all:
 *  - Order: shape and shards (DIMS), written, read, sizes. `rows` is the full batch; activations
 *    are [rows * steps][ld] with ld >= width; float on the CPU (double in the gradient build), of
 *    any form on a device (struct act). Leading dimensions are in elements.
 *  - Gradients of activations are overwritten (added to with add_dx); gradients of parameters go to
 *    shard arenas. The first touch of a step overwrites unless `more` is set (a further
 *    micro-batch), later strips of the same shard add.
 *  - An op never allocates, waits or reads back. Batches always have full shape: rows past the data
 *    have weight 0.
 *  - The loss is a sum. Only the optimiser divides, once, by the weight of the step. */
#ifndef DNN_BACKEND_OPS_H
#define DNN_BACKEND_OPS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/real.h"
#include "base/rowfmt.h"

/* How activations are stored: as reals, or on a device in 16 bits. The plan decides
 * (machine_act_form); operations accept any mixture. */
enum act_form { FORM_REAL, FORM_BF16, FORM_FP16 };

/* Activations in machine memory and their form (enum act_form). `at` NULL: not given. The private
 * copy of the weights (shadow) has this type as well. */
struct act {
    void *at;
    uint32_t form, pad;
};

/* The shape an operation works on: rows x steps x width numbers (steps: of a sequence; 1 for a
 * table), and how the run shards it. Gradients of parameters are summed over `shards` groups of
 * rows, each into its own arena: shard s of a gradient g begins at g + s * shard_stride. The
 * network makes these numbers once (model_dims), sizes its arenas by them and gives them to every
 * operation. */
struct dims {
    uint32_t rows, steps, width, shards;
    uint64_t shard_stride;
};
/* A member of the arguments of an operation: a->dims, and its members by name (a->rows). `width` is
 * the operation's own word for the width. */
#define DIMS(width)                                                                                \
    __extension__ union {                                                                          \
        struct dims dims;                                                                          \
        __extension__ struct {                                                                     \
            uint32_t rows, steps, width, shards;                                                   \
            uint64_t shard_stride;                                                                 \
        };                                                                                         \
    }
/* Numbers of all shards of a gradient arena whose first shard has `first`. */
static inline uint64_t dims_arena(struct dims d, uint64_t first)
{
    return first + (d.shards - 1) * d.shard_stride;
}

static inline struct act no_act(void)
{
    struct act none = {NULL, FORM_REAL, 0};
    return none;
}

/* The state of a step, in machine memory. There only norm2 (gnorm, bad) and advance write it; the
 * model sets it at the start of an epoch and when it restores a state. Its bytes are compared. */
struct step {
    uint64_t seed;
    int64_t tried, applied;    /* steps begun, steps whose update went through */
    uint32_t epoch, model;
    uint64_t row0;             /* first row (position in the epoch's order) of this step */
    double gnorm;              /* norm of the divided gradient, when norm2 ran */
    double weight, loss;       /* of this step, summed by advance */
    double epoch_weight, epoch_loss;
    /* bad: 1 when the step's gradient is not finite; good: finite ones in a row */
    int64_t bad, good;
    int64_t bad_steps;         /* in this epoch */
    /* loss scale: gradients are multiplied by it when rounded to 16 bits, and products divided by
     * it; fp32 gradients are unscaled. 0: off. A step whose gradient overflowed because of it is
     * skipped and counted in `skipped` (advance) */
    double scale;
    int64_t skipped;
};
#define STEP_AT(member, at)                                                                        \
    static_assert(offsetof(struct step, member) == (at), "struct step has no holes")
STEP_AT(seed, 0);
STEP_AT(tried, 8);
STEP_AT(applied, 16);
STEP_AT(epoch, 24);
STEP_AT(model, 28);
STEP_AT(row0, 32);
STEP_AT(gnorm, 40);
STEP_AT(weight, 48);
STEP_AT(loss, 56);
STEP_AT(epoch_weight, 64);
STEP_AT(epoch_loss, 72);
STEP_AT(bad, 80);
STEP_AT(good, 88);
STEP_AT(bad_steps, 96);
STEP_AT(scale, 104);
STEP_AT(skipped, 112);
#undef STEP_AT
static_assert(sizeof(struct step) == 120, "struct step has no holes");

/* The rates of a step, computed in double on the host; factors of groups are not included.
 * dropout_decay: the part of p that dropout loses, times 2^32. */
struct hyper { double lr, weight_decay; uint64_t dropout_decay; };
/* Machine memory, written once an epoch: step `tried` has the rates at tried % count (step.h). */
struct schedule {
    const struct hyper *table; /* dropout: NULL: p does not change */
    uint32_t count, pad;
};

/* A range of the parameter arena with its own factors. Groups are sorted and cover [0, n). A weight
 * matrix has its shape here, so that a machine can refresh its private copy. */
struct group {
    uint64_t begin, end;
    double lr, weight_decay;   /* factors */
    uint32_t in, out;          /* of a dense weight [in][out]; 0 otherwise */
    /* 1 for ranges outside the sharded gradient (embeddings), else the plan's count */
    uint32_t shards;
    uint32_t pad;
};

#include "backend/ops_source.h"
struct op_gather {
    DIMS(width);
    struct act x;              /* [rows * steps][ld]: numbers, then indicators, from column 0 */
    int32_t *ids;              /* [rows * steps][categories] */
    real *target;              /* [rows]: class number or value; of a sequence the one at its end */
    real *weight;              /* [rows]: 0 past the end */
    int32_t *length;           /* [rows]: steps of each sequence; NULL if steps is 1 */
    int32_t *begins;           /* [rows]: source.begins, 1 past the end; NULL: not wanted */
    const struct source *from;
    const struct step *now;
    uint32_t ld, micro;        /* this micro-batch begins at now->row0 + micro * rows */
    uint32_t whole;            /* rows of the step: rows past them are none; 0: no end */
    uint32_t each;             /* 1: every step has a target: target, weight [rows * steps] */
    /* 1, with `each` and no length: step t of row r is a row of the table, position r of an order
     * of its own (rng_order). */
    uint32_t views;
    uint32_t categories;       /* of a record: the format has them as well, and this the host */
};

/* ids column, first output column, width */
struct onehot_column { uint32_t id, at, count; };
struct op_onehot {
    DIMS(width);
    struct act x;
    const int32_t *ids;
    const struct onehot_column *columns;
    uint32_t ld, ids_ld, column_count, pad;
};

/* table: offset in the parameter arena, [count][dim] */
struct embed_column { uint32_t id, at, dim, count; uint64_t table; };
struct op_embed {
    DIMS(width);
    struct act x;
    const int32_t *ids;
    const real *params;
    const struct embed_column *columns;
    uint32_t ld, ids_ld, column_count, pad;
};
struct op_embed_back {
    DIMS(width);
    real *grads;               /* offsets as in params; not sharded: written whole unless more */
    struct act dx;
    const int32_t *ids;
    const struct embed_column *columns;
    const struct step *now;
    uint32_t ld, ids_ld, column_count, more;
    uint32_t largest, pad;     /* categories of the largest table, as a hint; 0: few */
};

/* One-hot inputs of a dense layer, never written out: each column adds row at + id of w to z.
 * These rows of w follow the `in` rows for x; an unknown id adds nothing. */
struct onehot_inputs {
    const int32_t *ids;        /* [rows][ids_ld] */
    const struct onehot_column *columns;
    uint32_t ids_ld, column_count; /* 0 columns: no missing indicators */
    uint32_t width, pad;       /* rows of w that belong to them */
};

/* gelu is the exact one (erf); leaky_relu has slope `slope`, elu has alpha `slope`. */
enum act_kind {
    ACT_NONE,
#define ACT(NAME, name, at_z, init) ACT_##NAME,
#include "backend/acts.def"
    ACT_KINDS
};
/* Bit 1 << kind: the derivative needs z, the value before the activation; else it follows from
 * y. */
enum {
    ACTS_AT_Z = 0
#define ACT(NAME, name, at_z, init) | (at_z) << ACT_##NAME
#include "backend/acts.def"
};
#define ACT_NEEDS_Z(act) ((uint32_t)ACTS_AT_Z >> (act) & 1u)
struct op_dense {
    DIMS(in);
    struct act y;              /* [rows][ldy] */
    struct act z;              /* none: not kept */
    struct act x;              /* [rows][ldx] */
    const real *w;             /* [in + onehot.width][out] */
    const real *b;             /* [out] or NULL */
    struct act shadow;         /* the machine's private copy of w, or none */
    struct onehot_inputs onehot;
    uint32_t out, ldx, ldy, ldz;
    uint32_t act;              /* enum act_kind */
    /* prediction and validation: the row-independent product; a row's bits do not depend on its
     * place */
    uint32_t exact;
    double slope;
    struct padding padding;
};
struct op_dense_back {
    DIMS(in);
    struct act dx;             /* [rows][lddx] or none */
    real *dw, *db;             /* shard 0; db may be NULL */
    struct act dy;             /* [rows][lddy]; the machine may leave dz in its place */
    struct act y, z;           /* kept by dense: y or z, as act needs */
    struct act x;
    const real *w;
    struct act shadow;
    const struct step *now;    /* its scale; NULL: none */
    struct onehot_inputs onehot;     /* they have no dx */
    uint32_t out, ldx, ldy, ldz, lddx, lddy;
    uint32_t act, add_dx, more, pad;
    double slope;
    struct padding padding;    /* dy is 0 there */
};

/* exact: prediction and validation, as of dense */
struct op_act {
    DIMS(width);
    struct act y, x;
    uint32_t ldx, ldy, act, exact;
    double slope;
};
struct op_act_back {
    DIMS(width);
    struct act dx, dy, x;
    uint32_t ldx, lddx, lddy, act, add_dx, pad;
    double slope;
};
/* w: one a column. Without an activation (ACT_NONE) y = w x, else y = x + w (act(x) - x). */
struct op_blend {
    DIMS(width);
    struct act y, x;
    const real *w;             /* [width] */
    uint32_t ldx, ldy, act, pad;
    double slope;
};
struct op_blend_back {
    DIMS(width);
    struct act dx;             /* or none */
    real *dw;                  /* shard 0 */
    struct act dy, x;
    const real *w;
    uint32_t ldx, lddx, lddy, act, add_dx, more;
    double slope;
};
/* keep[i] = bits(seed, row in the whole step's batch * width + column, layer, tried, RNG_DROPOUT)
 * >= threshold; threshold = p * 2^32, less what the schedule takes of it (dropout.h). Row:
 * micro * rows + r. Backward is the same on gradients. The way forward leaves in `kept` which
 * values went on, as the machine likes; the way back (kept_known) takes it from there and draws
 * nothing. */
struct op_dropout {
    DIMS(width);
    struct act y;
    void *kept;                /* of the size of its need, or NULL: drawn again */
    struct act x;
    const struct step *now;
    struct schedule schedule;
    uint32_t ldx, ldy, layer, micro, threshold, add;
    uint32_t kept_known, pad;
    double scale;              /* 1 / (1 - p) of the whole p */
};
/* b NULL: copy */
struct op_add {
    DIMS(width);
    struct act y, a, b;
    uint32_t ldy, lda, ldb, pad;
};

struct op_bnorm_stats {
    DIMS(width);
    real *mean, *inv;          /* [width] of this batch */
    /* [2][width] mean, variance: the running statistics after this step, once it goes through
     * (advance). Moved by `momentum` if two rows or more are valid: the first micro-batch moves
     * `running`, each further one the result of the one before. */
    real *moved;
    const real *running;
    struct act x;
    const struct step *now;
    const struct source *from; /* with now it tells the valid rows */
    uint32_t ld, micro;
    double momentum, epsilon;
};
struct op_bnorm {
    DIMS(width);
    struct act y, x;
    const real *mean, *inv;    /* of the batch, or NULL: from running */
    const real *running;
    const real *gamma, *beta;
    uint32_t ldx, ldy;
    double epsilon;
};
struct op_bnorm_sums {
    DIMS(width);
    real *sums;                /* [2][width]: sum dy, sum dy * xhat over the valid rows */
    real *dgamma, *dbeta;      /* not sharded: their group has one shard */
    struct act dy, x;
    const real *mean, *inv;
    const struct step *now;
    const struct source *from;
    uint32_t ldx, lddy, micro, more;
};
struct op_bnorm_back {
    DIMS(width);
    struct act dx, dy, x;
    const real *mean, *inv, *gamma, *sums;
    const struct step *now;
    const struct source *from;
    uint32_t ldx, lddx, lddy, micro, add_dx, pad;
};
struct op_lnorm {
    DIMS(width);
    struct act y;
    real *mean, *inv;          /* [rows], kept for the way back; NULL at prediction */
    struct act x;
    const real *gamma, *beta;
    uint32_t ldx, ldy;
    double epsilon;
};
struct op_lnorm_back {
    DIMS(width);
    struct act dx;
    real *dgamma, *dbeta;
    struct act dy, x;
    const real *mean, *inv, *gamma;
    uint32_t ldx, lddx, lddy, add_dx, more, pad;
};

enum class_loss { CLASS_CROSS_ENTROPY, CLASS_FOCAL };
/* part_loss, part_weight: [shards] doubles; added to when more, else overwritten at the first strip
 * of the shard. Cross-entropy: -sum_k t_k log p_k with t = (1 - smoothing) onehot + smoothing /
 * classes. Focal (Lin et al. 2017): -(1-p_t)^gamma log p_t. dlogits = weight * dl/dlogits. */
struct op_loss_class {
    DIMS(classes);
    struct act dlogits;        /* none: only the sums */
    double *part_loss, *part_weight;
    struct act logits;
    const real *target, *weight;
    uint32_t ld, ldd, kind, more;
    double smoothing, gamma;
};
enum value_loss { VALUE_MSE, VALUE_MAE, VALUE_HUBER, VALUE_QUANTILE };
/* l = (y - t)^2 | |y - t| | huber: 0.5 d^2 for |d| <= delta else delta (|d| - delta/2) | pinball
 * with q. */
struct op_loss_value {
    DIMS(width);
    struct act dy;             /* [rows][ldd], one column */
    double *part_loss, *part_weight;
    struct act y;
    const real *target, *weight;
    uint32_t ld, ldd, kind, more;
    double delta, q;
};
enum { F1_CLASSES = 64 };
/* The mean over some classes of 1 - F, with F = (2 sum w p t + 1) / (sum w p + sum w t + 1) over
 * all rows, where p is the softmax of the logits, t is 1 in rows of the class and w their weights.
 * The 1 makes F 1 for a class that no row has and no row is answered. The loss is that mean times
 * sum w, which the optimiser divides by. part_loss, part_weight: as in op_loss_class, all in the
 * first shard. */
struct op_loss_f1 {
    DIMS(classes);             /* at most F1_CLASSES */
    struct act dlogits;        /* given always: it holds p meanwhile */
    double *part_loss, *part_weight;
    struct act logits;
    const real *target, *weight;
    uint64_t chosen;           /* bit c: class c counts; none above the classes */
    uint32_t ld, ldd, more, pad;
};

/* The destination of answers, in machine memory, so that one routine serves every request. */
enum answer_measure { MEASURE_NONE, MEASURE_CLASS, MEASURE_VALUE, MEASURE_RIGHT };
/* Rows at positions [first, end) count. sum += weight * the measure of a row, weight += its weight.
 * The measure is the loss of its class or value by `kind` (enum class_loss, enum value_loss), at
 * most `most` a row; or accuracy: 1 if the argmax is the label. Ties: the second of two classes,
 * the first of more. */
struct answers {
    uint64_t first, end;
    double sum, weight;
    double smoothing, gamma, delta, q, most;
    uint32_t measure, kind;
    uint32_t kept, pad;        /* 1: logits are kept */
};
struct op_score {
    DIMS(outputs);
    struct step *now;          /* the batch begins at row0, which moves on by `rows` */
    struct answers *to;
    real *kept;                /* [end - first][outputs]; NULL: none are kept */
    struct act logits;
    const real *target, *weight;
    uint32_t ld, pad;
};

/* Gradient shards: value of parameter i is the sum over s < group.shards of g[s * shard_stride +
 * i], added in order, over the sum of part_weight. */
struct grads {
    const real *g;
    const double *part_weight; /* [shards] */
    uint64_t shard_stride, n;
    uint32_t shards, group_count;
    const struct group *groups;
};
/* sums: the machine's sums of the gradient, for the optimiser of this step. halt 1: after a bad
 * step every later step of the epoch counts as bad and moves nothing, until the host has looked: a
 * bad step that no smaller scale mends ends the training. */
struct op_norm2 { struct step *now; void *sums; struct grads from; uint32_t halt, pad; };
/* The optimisers. `sums` come from a norm2 of the same gradient, issued before, which also finds a
 * step that is not finite. now->bad: nothing changes. clip > 0: gradients are scaled by min(1, clip
 * / gnorm). A step whose rows weigh nothing has the gradient 0. */
struct op_sgd {
    real *p, *m;               /* m NULL: no momentum */
    struct act shadow;
    struct grads from;
    const void *sums;
    const struct step *now;
    struct schedule schedule;
    double momentum, clip;
    uint32_t nesterov, pad;
};
struct op_rmsprop {
    real *p, *v;
    struct act shadow;
    struct grads from;
    const void *sums;
    const struct step *now;
    struct schedule schedule;
    double decay, epsilon, clip;
};
struct op_adam {
    real *p, *m1, *m2;
    struct act shadow;
    struct grads from;
    const void *sums;
    const struct step *now;    /* bias corrections from applied + 1 */
    struct schedule schedule;
    double beta1, beta2, epsilon, clip;
    uint32_t decoupled, pad;   /* 1: AdamW */
};
/* Sums part_loss and part_weight into the step and the epoch, counts the step, moves row0 by
 * `consumed`, and stores the statistics of batch_norm in the running buffers. A bad step adds
 * nothing to the sums of the epoch and moves no buffer; with a scale above SCALE_LEAST it is
 * skipped and the scale halved, else it counts in bad_steps. After SCALE_STEPS good steps in a row
 * the scale is doubled, up to SCALE_MOST (Micikevicius et al., "Mixed precision training",
 * 2018). */
#define SCALE_FIRST 0x1p16
#define SCALE_LEAST 0x1p-14
#define SCALE_MOST 0x1p24
#define SCALE_STEPS 2000
struct op_advance {
    struct step *now;
    real *buffers;             /* [buffer_count]: becomes `moved` */
    const real *moved;
    const double *part_loss, *part_weight;
    uint64_t consumed;         /* rows of a whole applied step */
    uint64_t buffer_count;
    uint32_t shards, pad;
};
/* to[i] = from[i]; to NULL: the numbers are only checked. Part j has the numbers from n * j /
 * KEEP_PARTS on, and bad[j] becomes 1 if one of them is not finite, else 0. */
enum { KEEP_PARTS = 64 };
struct op_keep {
    real *to;                  /* [n] */
    int32_t *bad;              /* [KEEP_PARTS] */
    const real *from;
    uint64_t n;
};
/* without running over */
#define KEEP_BEGIN(n, part)                                                                        \
    ((n) / KEEP_PARTS * (part) + (n) % KEEP_PARTS * (part) / KEEP_PARTS)

#include "backend/ops_inputs.h"
#include "backend/ops_series.h"

#endif
