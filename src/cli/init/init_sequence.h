/* init_sequence.h - whether the columns or the rows of a file are the steps of sequences, as `dnn
 * init` tells by their names and cells. */
#ifndef DNN_CLI_INIT_SEQUENCE_H
#define DNN_CLI_INIT_SEQUENCE_H

#include "config/overrides.h"
#include "infer/infer.h"

struct init_sequence {
    uint32_t steps;              /* 0: they are not */
    struct opt_strings channels; /* names */
    struct opt_strings patterns; /* of the columns of each */
};
/* Names that prove it: "ch1_0 ch1_1 ..", two channels or more or one that is called ch or channel,
 * "t0_c0 t1_c0 ..", or "t0 t1 ..": all columns to learn from are numbers of that form, every
 * channel has the same number of steps, 8 or more, from 0 or 1 on, in any order. None if a --set
 * gives the types of columns. Caller: init_sequence_free. */
struct init_sequence init_sequence_find(const struct infer *found, const char *target,
                                        const struct overrides *sets);
void init_sequence_free(struct init_sequence *s);
/* Looks for sequences with a row a step (infer/series.c). If it finds them, their two columns
 * become ids and the task may become tagging; a --set about the types of columns or rows ends it.
 * False on an error, or with e->id == ERR_NONE after a stop. */
bool init_sequence_rows(const struct infer_request *r, const struct overrides *sets,
                        struct infer *found, struct err *e);
/* True: the column is one of its steps. */
bool init_sequence_has(const struct init_sequence *s, const struct infer_column *c);
/* Writes data.sequence and logs a note of what was seen. False: the file holds no sequences, and
 * nothing is written. */
bool init_sequence_write(const struct init_sequence *s, const struct infer *found,
                         struct json_out *out);

#endif
