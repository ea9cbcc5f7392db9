/* options.h - the "data" object of the config; opt.h reads it by data_options_table (options.c). */
#ifndef DNN_TABLE_OPTIONS_H
#define DNN_TABLE_OPTIONS_H

#include "base/json/opt.h"
#include "base/rng.h"
#include "csv/csv.h"
#include "table/schema/part.h"

enum split_method {
    SPLIT_RANDOM, SPLIT_STRATIFIED, SPLIT_GROUP, SPLIT_TIME, SPLIT_HASH, SPLIT_COLUMN
};
#define DATA_WORKERS_MOST 1024
enum data_reader { READER_AUTO, READER_LIBCSV };
enum task { TASK_BINARY, TASK_MULTICLASS, TASK_REGRESSION, TASK_TAGGING };
enum column_type {
    COLUMN_NUMERIC, COLUMN_CATEGORICAL, COLUMN_DATETIME, COLUMN_ID, COLUMN_WEIGHT, COLUMN_GROUP,
    COLUMN_IGNORE, COLUMN_TEXT, COLUMN_TARGET, COLUMN_SPLIT /* read only by split.method column */
};
#define COLUMN_TYPES (COLUMN_SPLIT + 1)
enum column_scale {
    SCALE_AUTO, SCALE_NONE, SCALE_STANDARD, SCALE_ROBUST, SCALE_MINMAX, SCALE_QUANTILE,
    SCALE_CLIP
};
#define SCALE_KINDS (SCALE_CLIP + 1)
enum column_impute { IMPUTE_MEDIAN, IMPUTE_MEAN, IMPUTE_ZERO, IMPUTE_ERROR };
enum column_transform { TRANSFORM_NONE, TRANSFORM_LOG1P };
enum number_encode { NUMBER_PLAIN, NUMBER_PLE, NUMBER_PERIODIC };
enum number_edges { EDGES_QUANTILE, EDGES_TREE };
enum text_encode { TEXT_ENCODE_HASHED, TEXT_ENCODE_TOKENS };
enum column_unknown { UNKNOWN_BUCKET, UNKNOWN_MISSING, UNKNOWN_ERROR };
enum column_encode { ENCODE_AUTO, ENCODE_ONEHOT, ENCODE_EMBEDDING, ENCODE_TARGET, ENCODE_COUNT };

#define QUANTILES_MOST 32 /* of an answer */

struct split_options {
    int method;           /* enum split_method; -1 (absent) until data_options_settle */
    bool method_given;
    char *column;         /* NULL: see INTERFACE.md, split.column */
    double valid, test;   /* fractions */
    uint64_t seed;
};

/* One entry of "columns", or the defaults for a type of column; min_count and dim are "auto" or a
 * number. */
#define COLUMN_MIN_COUNT_MOST 1000000000
#define COLUMN_DIM_MOST 4096
#define COLUMN_BINS_MOST 1024
struct column_options {
    char *type;
    int scale, impute, unknown, encode;
    char *thousands, *format; /* numeric; datetime */
    struct opt_strings units, missing;
    int init; /* of an embedding: 0 uniform, 1 normal */
    const struct json *min_count, *dim, *onehot_values;
    /* numeric */
    int transform, edges;
    struct opt_strings encodes;
    int64_t bins;
    /* text */
    int64_t buckets;
    struct opt_ints ngram, char_ngram;
    int weight;
    int64_t vocabulary, length, token_count; /* tokens */
};
/* "encoders.target_statistics": statistics of the target by key, beside the columns. */
#define STATISTICS_PAIRS_MOST 1000
#define STATISTICS_FOLDS_MOST 100
struct statistics_options {
    bool given;                /* false: null */
    struct opt_strings columns; /* names, or "auto" */
    int64_t pairs, folds;
    double prior;
    bool counts;
};
/* "encoders" of the config: the values for columns that do not set the key. */
struct encoder_options {
    struct column_options numeric, categorical;
    struct statistics_options statistics;
};

struct data_options {
    /* files; config/ has made the paths relative to the working folder */
    struct opt_strings train, valid, test;
    char *delimiter;      /* one of , ; TAB | */
    int decimal;          /* 0 '.', 1 ',' */
    int quote;            /* enum csv_quote */
    int progress;         /* enum progress_style; of the command line, no key */
    bool fingerprint;     /* table_load makes one; no key of "data" */
    const struct fingerprint *start; /* of the model that the training starts from; NULL: none */
    uint64_t limit;       /* the first records of data.train alone; 0: all; no key of "data" */
    int encoding;         /* enum csv_encoding */
    bool header;
    struct opt_strings missing;
    int reader;           /* enum data_reader */
    int64_t workers;      /* threads that read and parse; 0: as many as threads that compute */
    int64_t min_rows;     /* fewer training rows are an error */
    char *target, *positive;
    const struct json *columns; /* "columns": name -> "type" or {...}; read by schema_declare */
    const struct json *sequence; /* "sequence", maybe null; read by sequence_find */
    struct split_options split;
    struct encoder_options encoders; /* the keys beside "data" */
    int target_transform;            /* enum target_transform */
    /* The quantiles that each answer gives, from train.loss; 0: one value. Set after
     * data_options_settle, which clears them. */
    double quantiles[QUANTILES_MOST];
    uint32_t quantile_count;
};

/* The files of a part (enum part). */
static inline const struct opt_strings *data_files(const struct data_options *o, int part)
{
    return part == PART_TRAIN ? &o->train : part == PART_VALID ? &o->valid : &o->test;
}
/* The first of a part's files that cannot be read again (a pipe, a FIFO, gone); NULL: all can. */
const char *data_passing(const struct data_options *o, int part);

/* Completes and checks the options: sets the default split method of the task, checks delimiter,
 * fractions that leave no training rows, stratified regression. Call it after opt_read and before
 * schema_declare. doc: the whole config. False with E13 and the place. */
bool data_options_settle(struct data_options *o, int task, struct json_doc *doc, struct err *e);

/* The type that an entry of "columns" names; "": none. */
const char *column_entry_type(const struct json *entry);
/* True: a column of "columns" is a text as tokens. For a config that was not checked yet. */
bool columns_have_tokens(const struct json *columns);
/* Bits of enum number_encode from its words; none: plain. */
unsigned options_encodes(const struct opt_strings *words);
/* Reads the shortest and the longest run: two numbers in order, or none. Else E13 at the key of the
 * entry v. */
bool options_runs(const struct json_doc *doc, const struct json *v, const struct opt_ints *from,
                  const char *name, const char *key, uint32_t runs[2], struct err *e);

extern const struct option data_options_table[];   /* keys below "data" */
extern const struct option encoder_options_table[]; /* keys below "encoders" */
extern const struct option column_numeric_table[], column_categorical_table[],
    column_text_table[], column_datetime_table[], column_plain_table[];
void columns_schema(struct json_out *out); /* writes "columns" of the JSON schema's $defs from these
                                            * tables */
extern const char *const split_method_names[], *const task_names[], *const data_decimal_names[];
/* Words of the enums above, in their order. Types of a config end before COLUMN_TARGET; roles
 * include all. */
extern const char *const column_type_names[], *const column_role_names[];
extern const char *const column_scale_names[];
extern const char *const column_impute_names[], *const column_unknown_names[];
extern const char *const column_encode_names[], *const column_transform_names[];
extern const char *const number_encode_names[];
extern const char *const text_weight_names[], *const text_encode_names[];

#endif
