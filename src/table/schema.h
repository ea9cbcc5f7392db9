/* schema.h - the columns of a data set: the declaration of the config, the statistics of the
 * training rows, the places in a record. Saved in the model; predict needs nothing else. */
#ifndef DNN_TABLE_SCHEMA_H
#define DNN_TABLE_SCHEMA_H

#include "base/json/json.h"
#include "base/rowfmt.h"
#include "base/file/tensorfile.h"
#include "csv/csv.h"
#include "csv/form/form.h"
#include "table/coding.h"
#include "table/distribution.h"
#include "table/number.h"
#include "table/options.h"
#include "table/statistics.h"
#include "table/terms.h"
#include "table/vocab.h"

/* Slots of a category: 0 missing, 1 unknown, 2.. the values in the order of vocab_sort. */
struct column {
    char *name;
    int type;               /* enum column_type */
    int scale, impute, unknown, encode;
    int64_t min_count, dim; /* dim 0: "auto" */
    int64_t onehot_values;  /* 0: "auto"; this and init are not saved */
    int init;               /* of an embedding: 0 uniform, 1 normal */
    bool min_auto;          /* min_count is "auto", and 1 until it is fitted */
    bool keyed;             /* in encoders.target_statistics.columns; not saved */
    int transform, edges;   /* numeric; encodes: bits of enum number_encode */
    unsigned encodes;
    int64_t bins;
    struct text_options text; /* text */
    /* A fitted text: places for its terms or tokens (as tokens, before it is fitted: the most), the
     * first of them among the categories of a record, the weight of each bucket (tfidf; else
     * NULL) */
    uint32_t slots, term;
    float *bucket_weights;
    struct distribution spread; /* of the training values; for drift */
    struct form *form;      /* how its cells are written; NULL: plain */
    struct opt_strings none; /* texts that mean missing here, beside schema.missing */
    uint32_t number;        /* first number slot (a datetime has DATE_PARTS), UINT32_MAX none */
    uint32_t category;      /* category slot, UINT32_MAX none; of a fitted text always 0 */
    struct vocab *vocab;    /* categorical; of tokens, the frequent ones first; of a text that is
                             * not fitted, all texts; for a class
                             * target the same object as schema.labels */
    uint64_t missing;       /* training rows with a missing value */
    uint64_t cut;           /* of tokens: training texts with more than the most; not saved */
    bool constant;          /* one value in every training row, up to rounding; for warnings, not
                             * saved */
};

/* Sequences of records: rows of one group, in windows of at most `window`. */
enum window_label { LABEL_LAST, LABEL_ROW, LABEL_GROUP };
struct windows {
    uint32_t window, stride; /* window 0: each record is a row of its own */
    uint32_t group, order;   /* columns; order UINT32_MAX: none */
    int label;               /* enum window_label */
    bool sort;               /* rows that are not in order are sorted */
    bool carry;              /* state passes from window to window of a group */
    double step;             /* the usual distance of two rows by `order`; 0: none */
};

struct schema {
    int task;               /* enum task */
    struct csv_dialect dialect;
    char decimal;
    struct opt_strings missing;      /* texts that mean missing in every column */
    struct column *columns;          /* as listed in the config; with the target */
    size_t column_count;
    uint32_t target;                 /* index in columns */
    char *positive;                  /* binary */
    struct vocab *labels;            /* classes in order, the positive one last; regression: NULL */
    struct target_coding coding;     /* regression; of others none, 0 and 1 */
    double *quantiles;               /* regression: an answer is these, rising */
    uint32_t quantile_count;         /* 0: an answer is one value; else at least 2 */
    struct number_slot *numbers;
    uint32_t number_count, category_count;
    uint32_t term_count;             /* of fitted texts; they follow the categories of a record */
    /* The target statistics; their numbers follow the columns' numbers. NULL: none. wanted: as
     * declared, without names: column.keyed; not saved. */
    struct statistics *statistics;
    struct statistics_options wanted;
    bool all_keys;                   /* wanted.columns is "auto" */
    struct rowfmt format;
    /* Sequences: the numbers are those of channels x steps, channel by channel. steps 0: none */
    uint32_t steps;
    bool steps_sorted;               /* in the training file they stand in another order */
    struct opt_strings channels;     /* names */
    struct windows windows;
    uint32_t file_columns;           /* cells of a training record, for files without header */
    /* Columns that the split reads (group, time, column: one; hash: the ids, or none: the whole
     * row). For training only, not saved. */
    uint32_t *split_columns;
    size_t split_column_count;
    bool fitted;
};

/* Limit of scaled numbers (except scale none): an extreme cell at predict time cannot give an
 * infinity. */
#define SCHEMA_SCALED_MOST 1e6

/* Numbers of a regression's answer. */
static inline uint32_t schema_values(const struct schema *s)
{
    return s->quantile_count ? s->quantile_count : 1;
}
/* True: a text that is a sequence of tokens. */
static inline bool column_is_tokens(const struct column *c)
{
    return c->type == COLUMN_TEXT && c->text.weight == TEXT_TOKENS;
}
/* Writes the inputs of a fitted text to its places in a record. Returns how many tokens it has; of
 * terms 0. */
size_t column_place_text(const struct column *c, struct terms *t, const char *text, size_t length,
                         unsigned char *to);

/* Makes the schema of the config: types and options. Checks types, at most one weight, the column
 * of the split. Options of a target are ignored, but for its name. Caller: schema_free. NULL, E13,
 * on an error. */
struct schema *schema_declare(const struct data_options *o, int task, const struct json_doc *doc,
                              struct err *e);
/* Copies the declaration with the offsets of s; vocabularies are empty. */
struct schema *schema_copy(const struct schema *s);
void schema_free(struct schema *s);
/* One more text that means missing in every column, before a file is bound. */
void schema_add_missing(struct schema *s, const char *text);
/* Assigns slots to every column, and allocates numbers, vocabularies and labels that are absent.
 * For schema_declare and schema_load; needs s->columns, s->task and s->target. */
void schema_layout(struct schema *s);
/* Adds fitted target statistics, which it then owns, and their numbers. */
void schema_add_statistics(struct schema *s, struct statistics *t);
/* Sets the places of fitted texts (column.slots) in a record. */
void schema_add_texts(struct schema *s);
/* Numbers of the columns, without the target statistics'. */
static inline uint32_t schema_numbers(const struct schema *s)
{
    return s->statistics ? s->statistics->first : s->number_count;
}
/* The columns that a file must have, beside the features. A training also needs the weight and the
 * ids. */
enum bind_need {
    BIND_FEATURES, /* prediction: features only */
    BIND_TARGET,   /* the target: evaluation, and files that are one part */
    BIND_SPLIT     /* the target and the split's columns: files to split */
};
/* True: rows without a target stay, as context of their sequence. */
static inline bool schema_keeps_context(const struct schema *s)
{
    return s->windows.window > 0;
}
/* The column that names the group of a row: the windows', else the first of type group; UINT32_MAX:
 * none. */
uint32_t schema_group_column(const struct schema *s);
/* True: an answer is of a window or a group of records. */
static inline bool schema_answers_windows(const struct schema *s)
{
    return s->windows.window && s->windows.label != LABEL_ROW;
}
#define NUMBER_RUN_MOST 64
struct number_run {
    uint32_t column, count; /* neighbouring numeric columns with a cell, at most NUMBER_RUN_MOST */
    bool together;          /* neighbours in the file too, in this order */
};
#define BINDING_EXTRA 5
struct binding {
    int32_t *cell_of;      /* by schema column: its cell, or -1 */
    uint32_t *column_of;   /* by cell: its schema column, or UINT32_MAX: ignored */
    size_t cells;          /* cells of a record */
    uint32_t extra;        /* columns not in the schema; the first of their cells */
    uint32_t extra_cells[BINDING_EXTRA];
    int32_t weight;          /* the cell of the rows' weights, or -1 */
    struct number_run *runs; /* none if a text that means missing may look like a number */
    size_t run_count;
    const char *const *names; /* of the cells, borrowed */
};
/* True if the target was the last column of the training file: a file without header for prediction
 * may lack it. */
bool schema_target_last(const struct schema *s);
/* Finds the cell of every column by name. A weight is optional: -1 means weight 1. Columns of the
 * file that are not in the schema are counted. False, E14: all missing names at once, with similar
 * names; nothing to free then. names are borrowed. Caller: binding_free. */
bool schema_bind(const struct schema *s, const char *const *names, size_t count,
                 enum bind_need need, struct binding *b, struct err *e);
/* first_lines_help (csv/first_lines.h) for the columns of the schema, after an error of schema_bind
 * or of the header. */
void schema_help_header(const struct schema *s, const struct csv_dialect *d, const char *path,
                        struct err *e);
/* Binds the cells of a model's sample (dataset.h): one for each column but the target, in schema
 * order. Names are not used; b has none. */
void schema_bind_sample(const struct schema *s, struct binding *b);
void binding_free(struct binding *b);
/* Returns the inputs of the network; fitted schemas only. Caller: features_free. */
struct features *schema_features(const struct schema *s);
/* Returns the encoding of a fitted categorical column, with "auto" and the width decided. */
struct feature_category column_category(const struct column *c);
void features_free(struct features *f);

/* Adds the schema to a model file: tensors "schema.*" and "encoders.<number>.*"; from number 1 on
 * only encoders.*, as schema.* is the same for all. The writer borrows memory of s and of the
 * result until it has written. */
struct schema_saved;
struct schema_saved *schema_save(const struct schema *s, uint32_t number, struct tensor_writer *w);
void schema_saved_free(struct schema_saved *k);
/* Reads the schema of a model file, with the encoder of that number. Input is not
 * trusted: every index is checked. NULL, E15, on an error. */
struct schema *schema_load(const struct tensor_file *f, uint32_t number, struct err *e);
/* Checks before a training that schema_load can read the result of schema_save. False, CSV_LIMIT,
 * if not. */
bool schema_holds(const struct schema *s, struct err *e);
/* Writes the schema for inspect: members without braces. */
void schema_write_json(const struct schema *s, struct json_out *out);

#endif
