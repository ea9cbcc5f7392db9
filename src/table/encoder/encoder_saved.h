/* encoder_saved.h - the tensors of schema and encoder in a model file. Private to encoder_save.c,
 * encoder_load.c, encoder_head.c, encoder_check.c and statistics_saved.h.
 *
 * Format 3. "Texts" are two tensors: NAME U8, the bytes of all texts, concatenated, and
 * NAME.offsets I64 [texts + 1]: text i is bytes offsets[i] .. offsets[i + 1]. [columns]: one entry
 * for each column of the schema. [numbers]: one entry for each number of the input, in the order of
 * the columns: a numeric column has 1, a datetime DATE_PARTS. A code is an index into a list of
 * words in the head.
 *
 *   schema                U8, a JSON object, "the head": task, delimiter, decimal, encoding,
 *                         header, tsv, target (index of the column), cells (of a training record),
 *                         of sequences steps and "channels", a list of names: the numbers are
 *                         those of channels x steps, channel by channel;
 *                         of sequences of records "windows": {window, stride, group, order, label,
 *                         sort, step}, group and order: columns; order, sort and step (the usual
 *                         distance of two rows by order) may be absent;
 *                         "words": "unicode", what cuts texts into words; absent: bytes (terms.h);
 *                         and the lists of words "types", "scales", "imputes", "unknowns",
 *                         "encodes", "transforms"; forms: [{column, thousands, unit, format}];
 *                         missing: [{column, texts}], that mean missing there alone
 *   schema.names          texts [columns]
 *   schema.types          U8 [columns]: code
 *   schema.missing        texts that mean missing
 *   schema.labels         texts: classes in order; a positive one last; none for a regression
 *   encoders.0.impute, .unknown, .encode   U8 [columns]: codes; encode is never "auto"
 *   encoders.0.dim        I64 [columns]: of an embedding, else 0
 *   encoders.0.min_count, .missing         I64 [columns]: information only
 *   encoders.0.values     texts: the categories, column by column
 *   encoders.0.values.first   I64 [columns + 1]: the first category of each column
 *   encoders.0.scale      U8 [numbers]: code; .indicator U8 [numbers]: 1 adds "was missing"
 *   encoders.0.offset, .center, .factor, .least, .most, .fill, .low, .high   F64 [numbers]
 *   encoders.0.quantiles  F32 [knots]; .quantiles.offsets I64 [numbers + 1]: first of each number
 *   encoders.0.transform  U8 [numbers]: code; absent: none
 *   encoders.0.periodic   U8 [numbers]: it has periodic inputs; absent: none
 *   encoders.0.bins       F32: edges; .bins.offsets I64 [numbers + 1]: first of each number, and
 *   encoders.0.plain      U8 [numbers]: 1 if the number itself is an input; absent: no edges
 *   encoders.0.texts      I64 [texts * 7]: buckets, shortest and longest run of words, of
 *                         characters (0: none), weight (0 tfidf, 1 count), terms at most; in the
 *                         order of the columns of type text; absent: none. Weight 2: tokens, the
 *                         most of the vocabulary, 0, 0, 0, 0, 2, tokens at most; the tokens are
 *                         among .values, the most frequent first, and .dim is of each
 *   encoders.0.texts.weights  F32: a weight for each bucket of the texts with tfidf
 *   encoders.0.spread     I32: some of the training rows by place, column by column: of a number
 *                         missing and its bins, of a category its slots; for drift; absent: none
 *   encoders.0.spread.offsets   I64 [columns + 1]: the first place of each column
 *   encoders.0.spread.edges     F32: of each number the edges between its bins (places - 2)
 *   encoders.0.statistics.*   target statistics; absent: none: statistics_saved.h
 *   encoders.0.target     F64 [2]: center and scale of the target of a regression, else 0 and 1;
 *                         with a transform its name is encoders.0.target.log, .cbrt or .quantile,
 *                         and of the latter .target.knots F64: coding.h
 *
 * A number v becomes x = float32(v - offset), or fill if it is missing. With a transform log1p
 * before that: x becomes log(1 + (x + offset)), of negative ones -log(1 - (x + offset)). Then:
 *   scale none       x - center
 *   scale quantile   the normal quantile of its rank among the knots, within least and most
 *   any other        (x - center) * factor, within least and most
 *   scale clip       the same, and z / sqrt(1 + (z/3)^2) of that z
 * A number with edges e[0] < .. < e[n] has n more inputs, clamp((x - e[j]) / (e[j+1] - e[j]), 0, 1)
 * of the scaled x. They are 0 if it was missing and has an indicator.
 *
 * A text's terms: table/schema/terms.h, words.h. The value of a term is its count; with tfidf, its
 * count times the weight of its bucket, divided by the root of the sum of the squares of a text's
 * values.
 *
 * A text's tokens: table/schema/tokens.h; 0 none, 1 unknown, 2.. the vocabulary. */
#ifndef DNN_TABLE_ENCODER_SAVED_H
#define DNN_TABLE_ENCODER_SAVED_H

#include <string.h>

#include "base/json/json.h"
#include "table/encoder/encoder.h"

/* Limit of texts in data.missing: the most that a config holds, each with quotes and a comma. */
#define SAVED_MISSING_MOST (JSON_MOST_BYTES / 3)

#define IN_HEAD "schema"
#define IN_NAMES "schema.names"
#define IN_TYPES "schema.types"
#define IN_MISSING "schema.missing"
#define IN_LABELS "schema.labels"
#define IN_ENCODER "encoders.0."
/* The name of an encoder's tensor after its number; NULL: a tensor of the schema. */
static inline const char *encoder_tail(const char *name)
{
    return strncmp(name, IN_ENCODER, sizeof IN_ENCODER - 1) == 0 ? name + sizeof IN_ENCODER - 1
                                                                 : NULL;
}
#define IN_VALUES IN_ENCODER "values"
#define IN_FIRST IN_ENCODER "values.first"
#define IN_QUANTILES IN_ENCODER "quantiles"
#define IN_KNOTS IN_ENCODER "quantiles.offsets"
#define IN_BINS IN_ENCODER "bins"
#define IN_EDGES IN_ENCODER "bins.offsets"
#define IN_PLAIN IN_ENCODER "plain"
#define IN_TRANSFORM IN_ENCODER "transform"
#define IN_PERIODIC IN_ENCODER "periodic"
#define IN_TARGET IN_ENCODER "target"
#define IN_TARGET_KNOTS IN_TARGET ".knots"
#define IN_TARGET_QUANTILES IN_TARGET ".quantiles"
#define IN_TEXTS IN_ENCODER "texts"
#define IN_BUCKETS IN_ENCODER "texts.weights"
#define IN_SPREAD IN_ENCODER "spread"
#define IN_SPREAD_EDGES IN_ENCODER "spread.edges"
enum { SAVED_TEXT = 7 };
#define OFFSETS_OF(name) name ".offsets"

/* The statistics of a number, one tensor each. */
#define SAVED_STATISTICS(X) \
    X(offset) X(center) X(factor) X(least) X(most) X(fill) X(low) X(high)
enum saved_statistic {
#define X(name) SAVED_##name,
    SAVED_STATISTICS(X)
#undef X
        SAVED_NUMBERS
};
extern const char *const saved_number_names[SAVED_NUMBERS];

/* --- encoder_check.c: checks --- */

struct loading {
    const struct tensor_file *file;
    struct schema *schema;
    struct encoder *encoder; /* NULL until the schema is read */
    struct err *e;
    uint32_t number; /* of the encoder: names begin with "encoders.<number>." */
};
/* True: the encoder has this tensor of its own. */
bool saved_has(const struct loading *l, const char *name);
/* tensor_need with the encoder's number put into the name. */
const struct tensor *saved_need(const struct loading *l, const char *name, enum dtype type,
                                uint64_t count);
/* Finds a tensor of `count` entries; sets *to, a pointer, to them. */
bool saved_find(const struct loading *l, const char *name, enum dtype type, uint64_t count,
                void *to);
/* The same for the ends of `count` lists, which begin at 0 and do not go backwards. */
bool saved_offsets(const struct loading *l, const char *name, uint64_t count, const int64_t **to);
/* True: the numbers are finite and ascending, each once if they are to be distinct. */
bool saved_ascends(const struct loading *l, const char *name, const float *v, uint64_t count,
                   bool distinct);
bool saved_damaged(const struct loading *l, const char *tensor, const char *what); /* false, E15 */
bool saved_within(int64_t value, int64_t low, int64_t high);

struct saved_texts {
    const int64_t *offsets;
    const char *bytes;
    uint64_t count;
};
/* Reads texts and checks their offsets: ascending from 0 to the end of the bytes, no NUL byte, at
 * most `most` texts. */
bool saved_texts(const struct loading *l, const char *in_offsets, const char *in_bytes,
                 uint64_t most, struct saved_texts *t);
/* Adds texts first .. first + count - 1 to an empty vocabulary. False if one is too long, not
 * UTF-8, or a duplicate. */
bool saved_values(const struct loading *l, const struct saved_texts *t, uint64_t first,
                  uint64_t count, struct vocab *into);
bool saved_names(const struct loading *l, const struct saved_texts *names);
bool saved_missing(const struct loading *l, const struct saved_texts *missing);
bool saved_labels(const struct loading *l, const struct saved_texts *labels);
bool saved_roles(const struct loading *l); /* one target, features, at most one weight */
/* Sets n from its statistics; false if they are invalid. */
bool saved_number(struct number_slot *n, int scale, bool indicator, const double *v,
                  uint64_t knots);
/* Copies the knots to n. False if they are not ascending and finite. */
bool saved_knots(const struct loading *l, const char *tensor, const float *v,
                 struct number_slot *n);
/* Copies the edges to n. False if they are not ascending and finite, or too many or too few. */
bool saved_edges(const struct loading *l, const char *tensor, const float *v, uint64_t count,
                 struct number_slot *n);

/* --- encoder_head.c: the head --- */

/* By code of the file: the value of the enum. */
struct codes {
    uint8_t ours[256];
    unsigned count;
};
struct head {
    struct codes types, scales, imputes, unknowns, encodes, transforms;
    int words; /* enum word_rule */
    struct json_doc *doc; /* owned */
};
/* Reads the settings, and the lists of words. */
bool saved_head(const struct loading *l, struct head *h);
/* Reads the forms of the columns' cells and their missing texts; after the columns. */
bool saved_forms(const struct loading *l, const struct head *h);
/* Sets *to to the enum's value of a code. False: unknown. */
bool saved_decode(const struct loading *l, const struct codes *c, uint8_t code, const char *tensor,
                  int *to);
extern const char *const saved_target_names[];

#endif
