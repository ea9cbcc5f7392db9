/* init_set.h - the values of --set that `dnn init` needs before there is a config: it does not
 * guess a value that is given. */
#ifndef DNN_CLI_INIT_SET_H
#define DNN_CLI_INIT_SET_H

#include "base/json/opt.h"
#include "config/overrides.h"
#include "infer/infer.h"

/* The value of the last --set key=VALUE; NULL: not given. */
const char *init_set_value(const struct overrides *o, const char *key);
/* The texts of a --set data.missing: a list, or one; opt_strings_free. false: none was given. */
bool init_take_missing(const struct overrides *o, struct opt_strings *list);
/* The lists of every --set data.columns.NAME.missing; init_drop_own. */
struct infer_own *init_take_own(const struct overrides *o, size_t *count);
void init_drop_own(struct infer_own *own, size_t count);
/* True: a --set gives the type of a column. */
bool init_column_given(const struct overrides *o, const char *name);
/* A column that a --set gives the type (enum column_type); NULL: none is. Caller: mem_free. */
char *init_column_of(const struct overrides *o, int column_type);
bool init_split_by_column(const struct overrides *o);
/* The column that says the part of each row is no feature. */
bool init_says_part(const struct overrides *o, const char *name);
/* enum split_method to write if no --set gives it: group if a column has that type, which has no
 * other use; else the task's. */
int init_split_method(const struct overrides *o, int task);

#endif
