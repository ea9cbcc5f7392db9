/* sequence.h - "data.sequence" of the config. Wide format: a row is a sequence, and a channel has a
 * column for each step. Long format: a row is a step. */
#ifndef DNN_TABLE_SEQUENCE_H
#define DNN_TABLE_SEQUENCE_H

#include "csv/csv.h"
#include "table/schema/options.h"
#include "table/schema/schema.h"

#define SEQUENCE_WINDOW_MOST 65536 /* rows */

/* Long format. */
struct sequence_long {
    char *group, *order;    /* columns; order NULL: none */
    int64_t window, stride; /* stride: resolved */
    int label;              /* enum window_label */
    int unordered;          /* 1: sort */
    bool carry_state;
};
extern const char *const window_label_names[];
/* Reads the long format. False, E13, on an error. Caller: sequence_long_free. group NULL: the
 * config has another format, or none. */
bool sequence_long_read(const struct data_options *o, int task, const struct json_doc *doc,
                        struct sequence_long *l, struct err *e);
void sequence_long_free(struct sequence_long *l);
/* Writes "sequence" of the JSON schema's $defs. */
void sequence_schema(struct json_out *out);
/* True: each row of a sequence has an answer. For a config that was not checked yet. */
bool sequence_answers_rows(const struct json *sequence, int task);

struct sequence {
    struct opt_strings names;   /* of the columns, channel by channel, each in the order of steps */
    struct opt_strings channels;
    uint32_t steps;
    bool sorted; /* a pattern's columns neither rise nor fall in the file */
};
/* Finds the columns: a list gives them in its order; a pattern matches names in the header of the
 * first training file, which is read, in file order. If the matched numbers neither rise nor fall
 * there, columns are sorted by them. The target and columns with an entry in data.columns are left
 * out. None if the config has no sequence. False, E13, on an error. Caller: sequence_take, after an
 * error too. */
bool sequence_find(const struct data_options *o, const struct json_doc *doc,
                   const struct csv_dialect *dialect, struct sequence *s, struct err *e);
/* The steps and the names of channels, which the caller then owns; frees the rest. */
void sequence_take(struct sequence *s, uint32_t *steps, struct opt_strings *channels);
/* True: the name matches the pattern; * stands for any text. */
bool sequence_matches(const char *pattern, const char *name);

#endif
