/* encoder.h - what training rows teach of the columns of a schema: scales, imputation,
 * vocabularies, classes, the scale of a regression target. A model stores it (encoder_saved.h);
 * predict needs nothing else. encoder_fit.h makes one of rows. */
#ifndef DNN_TABLE_ENCODER_H
#define DNN_TABLE_ENCODER_H

#include "base/json/json.h"
#include "base/file/tensorfile.h"
#include "table/encoder/coding.h"
#include "table/encoder/distribution.h"
#include "table/encoder/number.h"
#include "table/schema/remark.h"
#include "table/schema/schema.h"
#include "table/encoder/statistics.h"

/* A column by its training rows. Slots of a category: 0 missing, 1 unknown, 2.. the values in the
 * order of vocab_sort. */
struct column_fit {
    struct vocab *vocab;        /* category: the values kept; tokens: the frequent ones first; else
                                 * empty */
    int64_t min_count;          /* of a value that is kept */
    uint64_t missing;           /* training rows with a missing value */
    /* A text: places for its terms or tokens, the first of them among the categories of a record,
     * the weight of each bucket (tfidf; else NULL) */
    uint32_t slots, term;
    float *bucket_weights;
    struct distribution spread; /* of the training values; for drift */
    uint64_t cut;               /* tokens: training texts with more than the most; not saved */
    bool constant;              /* one value in every training row, up to rounding; not saved */
};

struct encoder {
    struct schema *schema;      /* by which it was fitted; owned */
    struct column_fit *columns; /* [schema.column_count] */
    struct number_slot *numbers; /* [number_count]: of the columns, then of the statistics */
    uint32_t number_count;
    uint32_t term_count;        /* of texts; they follow the categories of a record */
    struct statistics *statistics; /* of the target; NULL: none */
    struct target_coding coding; /* regression; of others none, 0 and 1 */
    struct rowfmt format;       /* of an encoded record */
    /* What it knows of its dataset; a loaded one, and after encoder_forget_rows: NULL */
    int32_t **slot_of;          /* [category_count][values of the dataset + 2]: id -> slot */
    int32_t *class_of;          /* [labels of the dataset]: id -> class, -1: in no listed row; NULL:
                                 * regression */
    /* Target statistics out of fold: [numbers][held_count] for the rows it is fitted on. */
    float *held;
    uint32_t *held_rows;        /* [held_count], ascending */
    uint64_t held_count;
    struct target_choice choice; /* target_transform auto */
    struct remarks remarks;
};

/* Limit of scaled numbers (except scale none): an extreme cell at predict time cannot give an
 * infinity. */
#define SCHEMA_SCALED_MOST 1e6

/* A number that stays as it is. */
struct number_slot number_plain(double offset);
/* An encoder of that schema, which it owns from now on; nothing is fitted. */
struct encoder *encoder_new(struct schema *s);
/* Frees what it knows of the rows of its dataset: no view can be made with it any more. */
void encoder_forget_rows(struct encoder *c);
void encoder_free(struct encoder *c);
/* Adds target statistics, which it then owns, and their numbers. */
void encoder_add_statistics(struct encoder *c, struct statistics *t);
/* Sets the places of fitted texts (slots) in a record. */
void encoder_add_texts(struct encoder *c);
/* Writes the inputs of a text to its places in a record. Returns how many tokens it has; of terms
 * 0. */
size_t encoder_place_text(const struct encoder *c, size_t column, struct terms *t, const char *text,
                          size_t length, unsigned char *to);
/* Returns the inputs of the network. Caller: features_free. */
struct features *encoder_features(const struct encoder *c);
/* Returns the encoding of a category, with "auto" and the width decided. */
struct feature_category encoder_category(const struct encoder *c, size_t column);
void features_free(struct features *f);

/* Adds schema and encoder to a model file: tensors "schema.*" and "encoders.<number>.*"; from
 * number 1 on only encoders.*, as schema.* is the same for all. The writer borrows memory of c and
 * of the result until it has written. */
struct encoder_saved;
struct encoder_saved *encoder_save(const struct encoder *c, uint32_t number,
                                   struct tensor_writer *w);
void encoder_saved_free(struct encoder_saved *k);
/* Reads the encoder of that number of a model file, with its schema. Input is not trusted: every
 * index is checked. NULL, E15, on an error. */
struct encoder *encoder_load(const struct tensor_file *f, uint32_t number, struct err *e);
/* Checks before a training that encoder_load can read the result of encoder_save. False, CSV_LIMIT,
 * if not. */
bool encoder_holds(const struct encoder *c, struct err *e);
/* Writes schema and encoder for inspect: members without braces. */
void encoder_write_json(const struct encoder *c, struct json_out *out);

#endif
