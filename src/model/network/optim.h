/* optim.h - train.optimizer and its state. sgd (momentum, Nesterov), rmsprop, adam, adamw
 * (Loshchilov and Hutter, 2019); the formulas follow PyTorch's conventions. State: up to two arenas
 * of n reals (m1, m2). */
#ifndef DNN_MODEL_OPTIM_H
#define DNN_MODEL_OPTIM_H

#include "base/json/opt.h"
#include "model/network/model.h"

enum optim_kind { OPTIM_SGD, OPTIM_RMSPROP, OPTIM_ADAM, OPTIM_ADAMW };
struct optim_options {
    int kind;
    double learning_rate, weight_decay, momentum, decay, epsilon;
    struct opt_numbers betas; /* two */
    bool nesterov;
    const struct json
        *groups; /* {"bias": {"learning_rate": 1, "weight_decay": 0}, ...}: factors by group name */
};
extern const struct option optim_options_table[]; /* keys below "train.optimizer" */
/* Checks of several keys: two betas, nesterov with momentum, the names and factors in
 * groups. E13. */
bool optim_check(const struct optim_options *o, const struct json_doc *doc, struct err *e);
unsigned optim_states(const struct optim_options *o); /* arenas of state: 0, 1 or 2 */
/* Factors of one kind of parameters: all 1, but no weight decay on biases and norms, unless groups
 * say otherwise. */
void optim_factors(const struct optim_options *o, enum param_kind kind, double *learning_rate,
                   double *weight_decay);
/* The model's groups with these factors; mem_free. o NULL: factors of 1. */
struct group *optim_groups(const struct optim_options *o, const struct model *m);
/* norm2, then the update. sums: memory that norm2 keeps for the update, of
 * machine_need bytes. */
void optim_issue(const struct optim_options *o, struct pass *p, real *params, void *shadow,
                 real *m1, real *m2, const struct grads *g, struct step *now, double clip,
                 void *sums);

#endif
