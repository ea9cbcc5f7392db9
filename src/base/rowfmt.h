/* rowfmt.h - the row format, between the room table and a machine's gather. A record is
 * `stride` bytes:
 *
 *     float   number[numbers]     scaled and imputed once encoder_apply has run; NaN = missing
 *                                 before that
 *     uint32  missing[words]      bit i set: number i was missing in the file; words =
 *                                 (numbers + 31) / 32
 *     int32   category[categories]  0 missing, 1 unknown, 2.. the values of the vocabulary; after
 *                                 those the terms of texts (term_make), or the tokens of one: 0
 *                                 after the last, 1 unknown, 2.. the values of its vocabulary
 *     float | int32  target       class number from 0, or the value (already standardised);
 *                                 -1 / NaN = unlabelled
 *     float   weight              1 when there is no weight column
 *
 * No padding anywhere; every member is four bytes. */
#ifndef DNN_BASE_ROWFMT_H
#define DNN_BASE_ROWFMT_H

#include <stddef.h>
#include <stdint.h>

struct rowfmt {
    uint32_t numbers, words, categories; /* words = (numbers + 31) / 32 */
    uint32_t at_missing, at_category, at_target, at_weight; /* bytes from the start of the record */
    uint32_t stride;
};

static inline struct rowfmt rowfmt_make(uint32_t numbers, uint32_t categories)
{
    struct rowfmt f = {0, 0, 0, 0, 0, 0, 0, 0}; /* C and C++: no designators */
    f.numbers = numbers;
    f.words = (numbers + 31) / 32;
    f.categories = categories;
    f.at_missing = 4 * numbers;
    f.at_category = f.at_missing + 4 * f.words;
    f.at_target = f.at_category + 4 * categories;
    f.at_weight = f.at_target + 4;
    f.stride = f.at_weight + 4;
    return f;
}

/* Records in equal chunks: record i is at chunk[i >> shift] + (i & mask) * stride. A single block
 * has shift 63. */
struct rows {
    struct rowfmt format;
    unsigned char *const *chunks;
    unsigned shift;
    uint64_t count;
};

static inline unsigned char *rows_at(const struct rows *r, uint64_t i)
{
    return r->chunks[i >> r->shift] + (i & (((uint64_t)1 << r->shift) - 1)) * r->format.stride;
}

/* A term of a text: the bucket of its hash, and its count (with the hash's sign). 0: no term. */
#define TERM_BUCKETS_MOST (1 << 20)
#define TERM_COUNT_MOST 511
static inline int32_t term_make(uint32_t bucket, int32_t count)
{
    return (int32_t)((uint32_t)count << 22 | (bucket + 1));
}
#define TERM_BUCKET(term) (((uint32_t)(term) & 0x3fffff) - 1)
#define TERM_COUNT(term) ((int32_t)(term) >> 22)

/* The inputs that a record makes, in this order: numbers, then indicators, then the categories. */
enum category_encode { CATEGORY_ONEHOT, CATEGORY_EMBEDDING, CATEGORY_NONE /* no input */ };
struct feature_category {
    uint32_t count;  /* rows of its table: 2 + values (slot 0 missing, 1 unknown) */
    uint32_t encode; /* enum category_encode */
    uint32_t dim;    /* of an embedding */
    uint32_t normal; /* 1: it starts as normal numbers, else uniform ones within 1 / sqrt(dim) */
};
/* Piecewise-linear encoding of a number: bins + 1 ascending edges in features.edges. */
struct feature_number {
    uint32_t bins;   /* 0: the number itself is the only input */
    uint32_t edges;  /* place of its first edge */
    uint32_t alone;  /* 1: the number itself is no input */
    uint32_t periodic; /* 1: it has periodic inputs as well */
};
/* A text: its terms stand in the categories from `slot` on. Its buckets begin at `first` among the
 * buckets of all texts. */
struct feature_text {
    uint32_t slot, slots;    /* of the record's categories */
    uint32_t first, buckets;
    uint32_t weighted;       /* 1: by features.text_weights and to length 1; 0: counts */
    /* A text as tokens: rows of their table, its width; count 0: terms. It is the only input;
     * features.steps is the number of its tokens. */
    uint32_t tokens, dim;
};
struct features {
    struct rowfmt format;
    uint32_t indicator_count;
    uint32_t *indicators; /* numbers that also give a 0/1 column "was missing", ascending */
    struct feature_category *categories; /* format.categories of them */
    uint32_t outputs;     /* 1 for regression, or its quantiles; else the number of classes (at
                           * least 2) */
    uint32_t quantiles;   /* regression: the number of outputs, each a quantile; 0: outputs is 1 */
    struct feature_number *numbers; /* format.numbers of them; NULL: all are plain */
    float *edges;
    uint32_t edge_count;
    struct feature_text *texts; /* [text_count] */
    float *text_weights;        /* [bucket_count], by bucket of all texts */
    uint32_t text_count, bucket_count;
    /* Sequences: the numbers are channels x steps, channel by channel, and each has an indicator;
     * or a text is tokens. 0: rows of a table */
    uint32_t steps;
    /* Sequences of at most `window` records; 0: each record is a row of its own */
    uint32_t window;
    uint32_t each; /* 1: every record of a sequence has an answer; 0: its last one */
    uint32_t carry; /* 1: recurrent layers begin a window with the state of the one before */
};
/* Steps of the longest sequence; 1: rows of a table. */
static inline uint32_t features_steps(const struct features *f)
{
    uint32_t steps = f->window ? f->window : f->steps;
    return steps ? steps : 1;
}
/* The text that is a sequence of tokens; NULL: none. */
static inline const struct feature_text *features_tokens(const struct features *f)
{
    return f->text_count && f->texts[0].tokens ? &f->texts[0] : NULL;
}
/* Answers of a row of a batch, each with outputs numbers. */
static inline uint32_t features_answers(const struct features *f)
{
    return f->window && f->each ? f->window : 1;
}

#endif
