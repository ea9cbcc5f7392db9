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
    const struct json *groups; /* as given; for optim_read alone */
    struct optim_factors {
        double learning_rate, weight_decay;
    } factors[PARAM_KINDS]; /* of each kind of parameters (optim_read) */
};
extern const struct option optim_options_table[]; /* keys below "train.optimizer" */
/* After opt_read: fills the factors; without groups they are 1, and 0 for the weight decay of
 * biases and norms. E13: not two betas, nesterov without momentum, the form of groups. */
bool optim_read(struct optim_options *o, const struct json_doc *doc, struct err *e);
unsigned optim_states(const struct optim_options *o); /* arenas of state: 0, 1 or 2 */
/* The model's groups with these factors; mem_free. o NULL: factors of 1. */
struct group *optim_groups(const struct optim_options *o, const struct model *m);
/* norm2, then the update of p's parameters. sums: memory that norm2 keeps for the update, of
 * machine_need bytes. */
void optim_issue(const struct optim_options *o, struct pass *p, real *m1, real *m2,
                 const struct grads *g, struct step *now, double clip, void *sums);

#endif
