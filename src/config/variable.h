/* variable.h - the environment variables that dnn reads by the contract. */
#ifndef DNN_CONFIG_VARIABLE_H
#define DNN_CONFIG_VARIABLE_H

#include <stdbool.h>

/* NULL when it is not set, or empty: the same for every one of them. */
const char *variable(const char *name);

/* True: a job reads this switch (DNN_TRAIN_GPU, ..., ALL_GPU), of this build or a later one. */
bool config_switch_known(const char *name);

#endif
