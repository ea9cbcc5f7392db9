/* init.h - the parts of `dnn init`: what a --set says before there is a config, sequences, the
 * entries of columns, notes, and the time of a training. */
#ifndef DNN_CLI_INIT_H
#define DNN_CLI_INIT_H

#include "config/config.h"
#include "config/overrides.h"
#include "infer/infer.h"

/* --- init_set.c: values of --set; init does not guess a value that is given --- */

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

/* --- init_sequence.c: whether columns or rows are the steps of sequences --- */

struct init_sequence {
    uint32_t steps;              /* 0: they are not */
    struct opt_strings channels; /* names */
    struct opt_strings patterns; /* of the columns of each */
};
/* Names that prove it: "ch1_0 ch1_1 ..", two channels or more or one that is called ch or channel,
 * "t0_c0 t1_c0 ..", or "t0 t1 ..": all columns to learn from are numbers of that form, every
 * channel has the same number of steps, 8 or more, from 0 or 1 on, in any order. None if a --set
 * gives the types of columns. Caller: init_sequence_free. */
struct init_sequence init_sequence_find(const struct infer *found, const struct overrides *sets);
void init_sequence_free(struct init_sequence *s);
/* Looks for sequences with a row a step (infer/series.c). If it finds them, their two columns
 * become ids and the task may become tagging; a --set about the types of columns or rows ends it.
 * False on an error, or with e->id == ERR_NONE after a stop. */
bool init_sequence_rows(const struct infer_request *r, const struct overrides *sets,
                        struct infer *found, struct err *e);
/* True: the column is one of its steps. */
bool init_sequence_has(const struct init_sequence *s, const struct infer_column *c);
/* Writes data.sequence, if the file holds sequences, and logs a note of what was seen. */
void init_sequence_write(const struct init_sequence *s, const struct infer *found,
                         struct json_out *out);

/* --- init_columns.c: the columns of the config that is about to be written --- */

/* True: the config has an input column: numeric, categorical, datetime or text. */
bool init_has_feature(const struct config *c);
/* Removes the notes about columns that the config does not use as inputs. */
void init_unused(const struct config *c, struct infer *found);
/* True: the target has an entry of its own, which gives the form of its cells. */
bool init_lists_target(const struct infer_column *c, int task);
/* Writes a column's entry: its type alone, or with how its cells are written. */
void init_put_column(const struct infer_column *c, int type, struct json_out *o);

/* --- init_notes.c --- */

/* The notes about a file: types with their reasons, labels, scores, leaks. */
void init_notes(const struct infer *found, const struct overrides *o);
/* The last line: how long a training takes here. config: as written to `name`. preset: a --set's;
 * NULL: none, and auto and the fast preset are compared. rows: of the file. Writes nothing if no
 * forecast can be made. */
void init_time(const struct text *config, const char *name, const char *preset, uint64_t rows);

#endif
