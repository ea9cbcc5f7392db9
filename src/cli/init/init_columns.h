/* init_columns.h - the columns of a config that `dnn init` is about to write. */
#ifndef DNN_CLI_INIT_COLUMNS_H
#define DNN_CLI_INIT_COLUMNS_H

#include "config/config.h"
#include "infer/infer.h"

/* True: the config has an input column: numeric, categorical or datetime. */
bool init_has_feature(const struct config *c);
/* Removes the notes about columns that the config does not use as inputs. */
void init_unused(const struct config *c, struct infer *found);
/* True: the target has an entry of its own, which gives the form of its cells. */
bool init_lists_target(const struct infer_column *c, int task);
/* Writes a column's entry: its type alone, or with how its cells are written. */
void init_put_column(const struct infer_column *c, int type, struct json_out *o);

#endif
