/* schema.h - the columns of a data set as they are declared, and the raw record. It is complete
 * once the data are read, or the model file, and never changes after that. What training rows teach
 * of the columns: encoder.h. */
#ifndef DNN_TABLE_SCHEMA_H
#define DNN_TABLE_SCHEMA_H

#include "base/rowfmt.h"
#include "csv/csv.h"
#include "csv/form/form.h"
#include "table/schema/options.h"
#include "table/schema/terms.h"
#include "table/schema/vocab.h"

struct column {
    char *name;
    int type;               /* enum column_type */
    int scale, impute, unknown, encode;
    int64_t min_count, dim; /* 0: "auto" */
    int64_t onehot_values;  /* 0: "auto"; this and init are not saved */
    int init;               /* of an embedding: 0 uniform, 1 normal */
    bool keyed;             /* in encoders.target_statistics.columns; not saved */
    int transform, edges;   /* numeric; encodes: bits of enum number_encode */
    unsigned encodes;
    int64_t bins;
    struct text_options text;
    uint32_t tokens_most;   /* of a text as tokens; not saved */
    struct form *form;      /* how its cells are written; NULL: plain */
    struct opt_strings none; /* texts that mean missing here, beside schema.missing */
    uint32_t number;        /* first number slot (a datetime has DATE_PARTS), UINT32_MAX none */
    uint32_t category;      /* category slot, UINT32_MAX none */
    struct vocab *values;   /* of a category or text: in a dataset all values of its rows, in the
                             * order of the files; else empty */
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

struct binding;
struct schema {
    int task;               /* enum task */
    struct csv_dialect dialect;
    char decimal;
    struct opt_strings missing;      /* texts that mean missing in every column */
    struct column *columns;          /* as listed in the config; with the target */
    size_t column_count;
    uint32_t target;                 /* index in columns */
    int target_transform;            /* regression: enum target_transform, maybe "auto" */
    char *positive;                  /* binary */
    struct vocab *labels;            /* of a dataset: all labels of its rows, in the order of the
                                      * files. Of an encoder: its classes, in their order, the
                                      * positive one last. Regression: NULL */
    double *quantiles;               /* regression: an answer is these, rising */
    uint32_t quantile_count;         /* 0: an answer is one value; else at least 2 */
    /* The raw record (dataset.h), and what is subtracted from each number in double before it is
     * rounded to float32 */
    struct rowfmt raw;
    double *offsets;                 /* [number_count] */
    uint32_t number_count, category_count;
    /* The target statistics as declared, without names: column.keyed; not saved */
    struct statistics_options wanted;
    bool all_keys;                   /* wanted.columns is "auto" */
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
};

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
/* True: the network reads columns of this type. */
static inline bool column_type_is_input(int type)
{
    return type == COLUMN_NUMERIC || type == COLUMN_CATEGORICAL || type == COLUMN_DATETIME ||
           type == COLUMN_TEXT;
}

/* Makes the schema of the config: types and options. Checks types, at most one weight, the column
 * of the split. Options of a target are ignored, but for its name. Caller: schema_free. NULL, E13,
 * on an error. */
struct schema *schema_declare(const struct data_options *o, int task, const struct json_doc *doc,
                              struct err *e);
/* Copies the schema; its vocabularies are empty. */
struct schema *schema_copy(const struct schema *s);
void schema_free(struct schema *s);
/* Assigns slots to every column, and allocates offsets, vocabularies and labels that are absent.
 * Needs s->columns, s->task and s->target. */
void schema_layout(struct schema *s);
/* Chooses the offset of every number from the first rows of the first file, before parsing: 0, or
 * the first value if the values are large against their spread and do not fit a float32
 * (timestamps, codes). Datetimes use their first value. */
void schema_offsets_decide(struct schema *s, const struct binding *b,
                           const struct csv_cells *cells);
/* The columns that a file must have, beside the features. */
enum bind_need {
    BIND_FEATURES, /* prediction: features only */
    BIND_TARGET,   /* evaluation: the target */
    BIND_PART,     /* training: target, weight and ids; files that are one part */
    BIND_SPLIT     /* the split's columns, too: files to split */
};
static inline bool bind_trains(enum bind_need need)
{
    return need >= BIND_PART;
}
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
/* first_lines_help (csv/first_lines.h) for the columns that are needed, after an error of
 * schema_bind or of the header. */
void schema_help_header(const struct schema *s, enum bind_need need, const struct csv_dialect *d,
                        const char *path, struct err *e);
/* Binds the cells of a model's sample (dataset.h): one for each column but the target, in schema
 * order. Names are not used; b has none. */
void schema_bind_sample(const struct schema *s, struct binding *b);
void binding_free(struct binding *b);

#endif
