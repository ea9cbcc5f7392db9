/* schema.h - the columns of a data set: what the config declares, what training rows taught
 * (statistics, vocabularies), and where each column stands in a record. Saved in the model;
 * predict uses nothing else. */
#ifndef DNN_TABLE_SCHEMA_H
#define DNN_TABLE_SCHEMA_H

#include "base/json.h"
#include "base/rowfmt.h"
#include "base/tensorfile.h"
#include "csv/csv.h"
#include "table/options.h"
#include "table/vocab.h"

/* One number slot of a record: value -> (value - offset) in float32 when parsed; scaled when
 * applied. */
struct number_slot {
    double offset;          /* taken off in double before rounding to float32 */
    int scale;              /* enum column_scale, never AUTO once fitted */
    double center, factor;  /* applied: (v - center) * factor, v already minus offset; factor 0:
                             * a constant, which is 0 in every row to come */
    double least, most;     /* the scaled value is clipped to these */
    float impute;           /* in place of a missing one, before scaling; v's units */
    bool indicator;         /* some training row lacked it */
    uint32_t quantile_count;
    /* SCALE_QUANTILE: ascending knots of the training values. Applied: the normal quantile of the
     * interpolated rank, clipped to least and most. */
    float *quantiles;
    float low, high;        /* range of the training values: drift is counted, not refused */
};

/* A category's slot: 0 missing, 1 unknown, 2.. the values in the order of vocab_sort, never that of
 * the file. */
struct column {
    char *name;
    int type;               /* enum column_type */
    int scale, impute, unknown, encode;
    int64_t min_count, dim; /* dim 0: "auto" */
    uint32_t number;        /* first number slot (a datetime has DATE_PARTS), UINT32_MAX none */
    uint32_t category;      /* category slot, UINT32_MAX none */
    struct vocab *vocab;    /* categorical; of a class target the same object as schema.labels */
    uint64_t missing;       /* training rows without it */
    bool constant;          /* one value in every training row, or as good as one: rounding explains
                             * the spread; for warnings, not saved */
};

struct schema {
    int task;               /* enum task */
    struct csv_dialect dialect;
    char decimal;
    struct opt_strings missing;      /* texts that mean missing */
    struct column *columns;          /* those the config lists, in its order; target included */
    size_t column_count;
    uint32_t target;                 /* index in columns */
    char *positive;                  /* binary */
    struct vocab *labels;            /* classes in order, a positive one last; regression: NULL */
    double target_center, target_scale; /* regression: standardised target = (y - center) / scale */
    struct number_slot *numbers;
    uint32_t number_count, category_count;
    struct rowfmt format;
    uint32_t file_columns;           /* cells of a training record: width of files without header */
    /* Columns whose text the split reads (group, time, column: one; hash: the ids, or none: the
     * whole row). For training only, not saved. */
    uint32_t *split_columns;
    size_t split_column_count;
    bool fitted;
};

/* Scaled numbers (scale none excepted) are clipped to this, so that a wild cell at predict time
 * cannot give an infinity. */
#define SCHEMA_SCALED_MOST 1e6

/* The declared schema: types and options from the config. Checks types, at most one weight, the
 * column of the split; of a target that is listed it takes the name alone. E13. */
struct schema *schema_declare(const struct data_options *o, int task, const struct json_doc *doc,
                              struct err *e);
/* A copy as it was declared, with the offsets of s and empty vocabularies. */
struct schema *schema_copy(const struct schema *s);
void schema_free(struct schema *s);
/* Gives every column its slots, and room for numbers, vocabularies and labels that are not there
 * yet. For schema_declare and schema_load; s->columns, s->task and s->target are filled. */
void schema_layout(struct schema *s);
/* Which cell of a CSV record feeds which column. All missing names at once (E14), near names
 * suggested; columns of the file that no one asked for are counted. Needed are features and what
 * `need` says; for training also the weight and the ids; for predictions (fitted, no target) the
 * ids. A weight is bound wherever it is present: -1 means weight 1. Nothing is to be freed after a
 * failure. */
enum bind_need {
    BIND_FEATURES, /* predictions */
    BIND_TARGET,   /* and the target: evaluation, and files that are a part as a whole */
    BIND_SPLIT     /* and what the split reads: files that are split */
};
#define NUMBER_RUN_MOST 64
struct number_run {
    uint32_t column, count; /* numeric columns with a cell, side by side, at most NUMBER_RUN_MOST */
    bool together;          /* in the file too, in this order */
};
#define BINDING_EXTRA 5
struct binding {
    int32_t *cell_of;      /* by schema column: cell, or -1 */
    uint32_t *column_of;   /* by cell: schema column, or UINT32_MAX when ignored */
    size_t cells;          /* in a record */
    uint32_t extra;        /* columns not in the schema; the first of their cells */
    uint32_t extra_cells[BINDING_EXTRA];
    struct number_run *runs; /* none when a text that means missing may look like a number */
    size_t run_count;
    const char *const *names; /* of the cells, borrowed */
};
/* Of a file without header that predictions are made of: the target may be absent where it was the
 * last of its columns. */
bool schema_target_last(const struct schema *s);
bool schema_bind(const struct schema *s, const char *const *names, size_t count,
                 enum bind_need need, struct binding *b, struct err *e);
/* The cells of a model's sample (table.h): one for every column but the target, in schema order.
 * No names are looked at, and b has none. */
void schema_bind_sample(const struct schema *s, struct binding *b);
void binding_free(struct binding *b);
/* What the network sees of it; owned by the caller (features_free). Fitted schemas only. */
struct features *schema_features(const struct schema *s);
/* How a fitted categorical column is encoded: "auto" is decided, and so is the width. */
struct feature_category column_category(const struct column *c);
void features_free(struct features *f);

/* In and out of a model file: tensors "schema.*" and "encoders.0.*". The writer borrows memory of s
 * and of the result until it writes. */
struct schema_saved;
struct schema_saved *schema_save(const struct schema *s, struct tensor_writer *w);
void schema_saved_free(struct schema_saved *k);
/* Of format 2 or 3. Hostile input: every index is checked, E15. */
struct schema *schema_load(const struct tensor_file *f, struct err *e);
/* Whether schema_load takes what schema_save writes; else CSV_LIMIT, before a training of hours
 * ends with a model that nothing reads. */
bool schema_holds(const struct schema *s, struct err *e);
/* For inspect; members without braces. */
void schema_write_json(const struct schema *s, struct json_out *out);

#endif
