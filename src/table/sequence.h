/* sequence.h - "data.sequence" of the config in wide format: a row is a sequence, and a channel has
 * a column for each step. */
#ifndef DNN_TABLE_SEQUENCE_H
#define DNN_TABLE_SEQUENCE_H

#include "csv/csv.h"
#include "table/options.h"

struct sequence {
    struct opt_strings names;   /* of the columns, channel by channel, each in the order of steps */
    struct opt_strings channels;
    uint32_t steps;
};
/* Finds the columns: those of a list in its order, those that a pattern means in the order of the
 * first training file, whose header is read for it; the target and columns with an entry in
 * data.columns are not among them. None when the config has no sequence. False, E13, on an error.
 * Caller: sequence_free, after an error too. */
bool sequence_find(const struct data_options *o, const struct json_doc *doc,
                   const struct csv_dialect *dialect, struct sequence *s, struct err *e);
void sequence_free(struct sequence *s);
/* The steps and the names of channels, which the caller then owns; frees the rest. */
void sequence_take(struct sequence *s, uint32_t *steps, struct opt_strings *channels);
/* True: the name matches the pattern; * stands for any text. */
bool sequence_matches(const char *pattern, const char *name);

#endif
