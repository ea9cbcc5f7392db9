/* variable.h - the environment variables that dnn reads by the contract. */
#ifndef DNN_CONFIG_VARIABLE_H
#define DNN_CONFIG_VARIABLE_H

/* NULL when it is not set, or empty: the same for every one of them. */
const char *variable(const char *name);

#endif
