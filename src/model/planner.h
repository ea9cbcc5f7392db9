/* planner.h - collects the needs of layers: parameters, buffers and activations are an arena each,
 * and a layer's plan states shapes and offsets in them once. */
#ifndef DNN_MODEL_PLANNER_H
#define DNN_MODEL_PLANNER_H

#include "backend/backend.h"
#include "base/text.h"
#include "model/param.h"

#define LAYER_MOST 4096 /* layers of a model, nested ones included */
#define LAYER_MOST_UNITS ((int64_t)1 << 24)
enum { VIEWS_MOST = 1024 };
#define LAYER_MOST_PARAMS ((uint64_t)1 << 40)
#define FIRST_MOST_WIDTH ((uint64_t)1 << 24) /* columns of x */

struct layer;

/* The steps at a place between layers. */
struct span {
    uint32_t steps; /* of a sequence, at most; or the number of views; else 1 */
    /* of a sequence whose first layer has n steps: (n + more) / divide, rounded up; divide 0: the
     * steps are no sequence's */
    uint64_t more, divide;
    uint64_t length; /* lengths of the batch's sequences: their place in the reals */
};

/* The columns of x that the first stage has planned so far. */
struct first_columns {
    uint64_t count;
    uint32_t *ends, end_count; /* the end of each feature's columns */
    uint32_t read_by; /* the position of the layer whose inputs have these ends */
};
/* How the first hidden layer reads the first stage. */
struct first_reader {
    bool takes_ids;
    uint32_t pair_units; /* its outputs, if it takes pairs; else 0 */
    double pair_rate;    /* the rate of its weights for pairs */
};

/* Collects the needs of layers. Offsets are in elements and multiples of 16, so that rows of a
 * matrix begin at cache lines; the gap between two ranges has no gradient and stays zero. */
struct planner {
    uint32_t rows; /* micro-batch */
    struct span at; /* before the next layer */
    uint32_t shards;
    uint64_t params, buffers; /* so far, gaps included */
    struct text path;         /* of the layer that is planned: "layers.2." */
    const struct layer *layer; /* that is planned; NULL: one of the first stage */
    struct text tables;        /* bytes that layers want in machine memory (plan_table) */
    const struct features *features;
    struct first_columns x;
    struct first_reader first;
    struct param_list list;
    uint64_t trained;         /* parameters without gaps */
    uint64_t flops;           /* of one row, forward: two for a multiplication and an addition */
    uint64_t acts;     /* activations and their gradients, in elements of FORM_REAL */
    uint64_t reals;    /* real scratch that lives through a step: bnorm mean, lnorm mean.. */
    uint32_t position; /* of the next layer, depth first: its random stream */
    struct param_groups groups;
    uint32_t last_groups; /* the first group of the parameter declared last */
    bool sequences; /* the features are sequences */
    bool all_steps; /* a machine was asked for the memory of all steps: no batch has fewer */
    bool in_views;  /* steps are views of a row of one step */
    uint32_t own_rows; /* above 1: the number of views, each with rows of its own */
    bool training;  /* false: no gradients, no kept values */
    bool tracks;    /* shards have every parameter */
    uint32_t carried; /* numbers of a row that pass from window to window, so far */
    bool narrow;    /* some activations or their gradients are in 16 bits */
    const struct machine *machine; /* whose operations may keep something; NULL: none does */
    char too_large[48]; /* the limit that was passed, "" while none was: the plan is refused */
};
/* The plan is refused: more than `format` says, the first limit that was hit. */
__attribute__((format(printf, 2, 3))) void plan_refuse(struct planner *p, const char *format, ...);
/* Declares a parameter of the layer that is planned; returns its offset. Its gradient comes in
 * shards. PARAM_WEIGHT of rank 2 is a weight [in][out] of op_dense. */
uint64_t plan_param(struct planner *p, const char *name, struct param_shape shape,
                    enum param_kind kind);
/* As plan_param, for a gradient in one piece: of sums over the whole batch, or the micro-batches of
 * a track. The parameter is no weight of op_dense. */
uint64_t plan_param_whole(struct planner *p, const char *name, struct param_shape shape,
                          enum param_kind kind);
/* Returns the first of the next `count` columns of x, of one feature. inputs_plan refuses a row
 * that is too wide. */
uint32_t plan_columns(struct planner *p, uint64_t count);
/* Sets the rates of the parameter declared last; without it both are 1. */
void plan_rates(struct planner *p, double rate, double scale);
/* Buffers of one shape, one right after another; names ends with NULL. Returns the first offset. */
uint64_t plan_buffers(struct planner *p, const char *const *names, struct param_shape shape);
/* Places of rows x steps x width activations. plain: in fp32, as computed. acts (kept for the way
 * back) and back (their gradients, for `steps` steps): in the form in which the machine keeps them,
 * maybe 16 bits. */
struct act_place plan_plain(struct planner *p, uint32_t width);
struct act_place plan_acts(struct planner *p, uint32_t width);
struct act_place plan_back(struct planner *p, uint32_t width, uint32_t steps);
uint64_t plan_reals(struct planner *p, uint64_t count);
/* The sequences of later layers have (steps + more) / divide steps, rounded up, and lengths of
 * their own (pass_lengths). */
void plan_lengths(struct planner *p, uint32_t more, uint32_t divide);
/* Later layers have one step. */
void plan_one_step(struct planner *p);
/* Bytes that no step changes, copied to machine memory; returns their place (pass_table). */
uint64_t plan_table(struct planner *p, const void *bytes, size_t size);
/* Bytes that the machine keeps from forward to backward; returns their offset in the reals. */
uint64_t plan_kept(struct planner *p, uint64_t bytes);
/* As plan_kept for an operation by its need, with the shapes of its arguments. False: the machine
 * keeps nothing for it, or there is no machine. */
bool plan_need(struct planner *p, enum op_id op, const void *arguments, uint64_t *kept);

#endif
