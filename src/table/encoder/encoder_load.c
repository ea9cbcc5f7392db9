/* encoder_load.c - reads an encoder with its schema from an untrusted model file: every count,
 * index, word and number is checked before use. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "table/encoder/encoder_saved.h"
#include "table/encoder/statistics_saved.h"

/* --- columns --- */

struct columns {
    const uint8_t *types, *impute, *unknown, *encode;
    const int64_t *dim, *min_count, *missing, *first;
};

static bool find_columns(const struct loading *l, uint64_t count, struct columns *c)
{
    return saved_find(l, IN_TYPES, DTYPE_U8, count, &c->types) &&
           saved_find(l, IN_ENCODER "impute", DTYPE_U8, count, &c->impute) &&
           saved_find(l, IN_ENCODER "unknown", DTYPE_U8, count, &c->unknown) &&
           saved_find(l, IN_ENCODER "encode", DTYPE_U8, count, &c->encode) &&
           saved_find(l, IN_ENCODER "dim", DTYPE_I64, count, &c->dim) &&
           saved_find(l, IN_ENCODER "min_count", DTYPE_I64, count, &c->min_count) &&
           saved_find(l, IN_ENCODER "missing", DTYPE_I64, count, &c->missing) &&
           saved_offsets(l, IN_FIRST, count, &c->first);
}

static bool load_column(const struct loading *l, const struct head *h, const struct columns *from,
                        size_t i)
{
    struct column *c = &l->schema->columns[i];
    if (!saved_decode(l, &h->types, from->types[i], IN_TYPES, &c->type))
        return false;
    c->min_count = saved_within(from->min_count[i], 1, COLUMN_MIN_COUNT_MOST) ? from->min_count[i]
                                                                              : 1;
    if ((c->type == COLUMN_NUMERIC || c->type == COLUMN_DATETIME) &&
        !saved_decode(l, &h->imputes, from->impute[i], IN_ENCODER "impute", &c->impute))
        return false;
    c->dim = from->dim[i]; /* of a text, load_text checks it and the values */
    if (c->type != COLUMN_CATEGORICAL && c->type != COLUMN_TEXT)
        return from->first[i + 1] == from->first[i] ||
               saved_damaged(l, IN_FIRST, "gives values to a column without any");
    if (c->type == COLUMN_TEXT)
        return true;
    if (!saved_decode(l, &h->unknowns, from->unknown[i], IN_ENCODER "unknown", &c->unknown) ||
        !saved_decode(l, &h->encodes, from->encode[i], IN_ENCODER "encode", &c->encode))
        return false;
    return saved_within(c->dim, c->encode == ENCODE_EMBEDDING,
                        c->encode == ENCODE_EMBEDDING ? COLUMN_DIM_MOST : 0) ||
           saved_damaged(l, IN_ENCODER "dim", "holds a width that cannot be");
}

static bool load_values(const struct loading *l, const struct columns *from)
{
    const struct schema *s = l->schema;
    const int64_t *first = from->first;
    struct saved_texts values;
    if (!saved_texts(l, OFFSETS_OF(IN_VALUES), IN_VALUES, UINT64_MAX, &values))
        return false;
    bool good = (uint64_t)first[s->column_count] == values.count;
    for (size_t i = 0; good && i < s->column_count; i++)
        good = first[i + 1] - first[i] <= (int64_t)VOCAB_MOST;
    if (!good)
        return saved_damaged(l, IN_FIRST, "does not divide the values among the columns");
    for (size_t i = 0; i < s->column_count; i++) {
        struct column_fit *fit = &l->encoder->columns[i];
        fit->missing = from->missing[i] > 0 ? (uint64_t)from->missing[i] : 0;
        if (fit->vocab && !saved_values(l, &values, (uint64_t)first[i],
                                        (uint64_t)(first[i + 1] - first[i]), fit->vocab))
            return false;
    }
    return true;
}

static bool load_columns(const struct loading *l, const struct head *h, struct columns *from)
{
    struct schema *s = l->schema;
    struct saved_texts names;
    if (!saved_texts(l, OFFSETS_OF(IN_NAMES), IN_NAMES, CSV_MOST_COLUMNS, &names))
        return false;
    if (!names.count)
        return saved_damaged(l, IN_NAMES, "there are no columns");
    if (!find_columns(l, names.count, from))
        return false;
    s->column_count = (size_t)names.count;
    s->columns = mem_zero(s->column_count, sizeof *s->columns);
    for (size_t i = 0; i < s->column_count; i++)
        if (!load_column(l, h, from, i))
            return false;
    return saved_roles(l) && saved_names(l, &names);
}

/* --- numbers --- */

const char *const saved_number_names[SAVED_NUMBERS] = {
#define X(name) IN_ENCODER #name,
    SAVED_STATISTICS(X)
#undef X
};

/* Data of the number tensors, whose sizes are checked. */
struct numbers {
    const double *statistics[SAVED_NUMBERS];
    const uint8_t *scale, *indicator;
    const int64_t *knots; /* [count + 1] */
    const float *quantiles;
};

static bool find_numbers(const struct loading *l, uint64_t count, struct numbers *n)
{
    for (int k = 0; k < SAVED_NUMBERS; k++)
        if (!saved_find(l, saved_number_names[k], DTYPE_F64, count, &n->statistics[k]))
            return false;
    if (!saved_find(l, IN_ENCODER "scale", DTYPE_U8, count, &n->scale) ||
        !saved_find(l, IN_ENCODER "indicator", DTYPE_U8, count, &n->indicator) ||
        !saved_offsets(l, IN_KNOTS, count, &n->knots))
        return false;
    return saved_find(l, IN_QUANTILES, DTYPE_F32, (uint64_t)n->knots[count], &n->quantiles);
}

static bool load_number(const struct loading *l, const struct head *h, const struct numbers *from,
                        uint32_t i)
{
    struct number_slot *n = &l->encoder->numbers[i];
    double v[SAVED_NUMBERS];
    int scale;
    for (int k = 0; k < SAVED_NUMBERS; k++)
        v[k] = from->statistics[k][i];
    return saved_decode(l, &h->scales, from->scale[i], IN_ENCODER "scale", &scale) &&
           ((from->indicator[i] <= 1 &&
             saved_number(n, scale, from->indicator[i], v,
                          (uint64_t)(from->knots[i + 1] - from->knots[i]))) ||
            saved_damaged(l, IN_ENCODER "*", "a statistic of a number cannot be")) &&
           saved_knots(l, IN_QUANTILES, from->quantiles + from->knots[i], n);
}

static bool load_bins(const struct loading *l)
{
    struct number_slot *numbers = l->encoder->numbers;
    const int64_t *first;
    const float *edges;
    const uint8_t *plain;
    uint64_t count = l->schema->number_count;
    if (!saved_has(l, IN_BINS))
        return true;
    if (!saved_offsets(l, IN_EDGES, count, &first) ||
        !saved_find(l, IN_PLAIN, DTYPE_U8, count, &plain) ||
        !saved_find(l, IN_BINS, DTYPE_F32, (uint64_t)first[count], &edges))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        if (!saved_edges(l, IN_BINS, edges + first[i], (uint64_t)(first[i + 1] - first[i]),
                         &numbers[i]))
            return false;
        numbers[i].alone = numbers[i].edge_count && !plain[i];
    }
    return true;
}

static bool load_transforms(const struct loading *l, const struct head *h)
{
    const uint8_t *codes;
    if (!saved_has(l, IN_TRANSFORM))
        return true;
    if (!saved_find(l, IN_TRANSFORM, DTYPE_U8, l->schema->number_count, &codes))
        return false;
    for (uint32_t i = 0; i < l->schema->number_count; i++)
        if (!saved_decode(l, &h->transforms, codes[i], IN_TRANSFORM,
                          &l->encoder->numbers[i].transform))
            return false;
    return true;
}

static bool load_text(const struct loading *l, int rule, size_t column, const int64_t *v)
{
    const struct schema *s = l->schema;
    struct column *c = &s->columns[column];
    struct column_fit *fit = &l->encoder->columns[column];
    const bool tokens = v[5] == TEXT_TOKENS, alone = s->category_count + s->number_count == 1;
    if (!saved_within(v[0], 1, TERM_BUCKETS_MOST) || !saved_within(v[1], 0, TERM_RUN_MOST) ||
        !saved_within(v[2], v[1], TERM_RUN_MOST) || !saved_within(v[3], 0, TERM_RUN_MOST) ||
        !saved_within(v[4], v[3], TERM_RUN_MOST) || !saved_within(v[5], TEXT_TFIDF, TEXT_TOKENS) ||
        !saved_within(v[6], 1 + tokens, TERM_SLOTS_MOST) ||
        (tokens ? !alone || s->windows.window || !saved_within(c->dim, 1, COLUMN_DIM_MOST)
                : c->dim || vocab_count(fit->vocab)))
        return saved_damaged(l, IN_TEXTS, "holds a value that cannot be");
    c->text = (struct text_options){.buckets = (uint32_t)v[0],
                                    .words = {(uint32_t)v[1], (uint32_t)v[2]},
                                    .chars = {(uint32_t)v[3], (uint32_t)v[4]},
                                    .weight = (int)v[5], .rule = rule};
    fit->slots = (uint32_t)v[6];
    return true;
}

static bool load_texts(const struct loading *l, int rule)
{
    const struct schema *s = l->schema;
    const int64_t *options;
    const float *weights;
    uint64_t texts = 0, buckets = 0;
    for (size_t i = 0; i < s->column_count; i++)
        texts += s->columns[i].type == COLUMN_TEXT;
    if (!texts)
        return true;
    if (!saved_find(l, IN_TEXTS, DTYPE_I64, texts * SAVED_TEXT, &options))
        return false;
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        if (c->type != COLUMN_TEXT)
            continue;
        if (!load_text(l, rule, i, options))
            return false;
        options += SAVED_TEXT;
        buckets += c->text.weight == TEXT_TFIDF ? c->text.buckets : 0;
    }
    if (!saved_find(l, IN_BUCKETS, DTYPE_F32, buckets, &weights))
        return false;
    for (uint64_t i = 0; i < buckets; i++)
        if (!isfinite(weights[i]))
            return saved_damaged(l, IN_BUCKETS, "is not finite");
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        if (c->type != COLUMN_TEXT || c->text.weight != TEXT_TFIDF)
            continue;
        l->encoder->columns[i].bucket_weights =
            mem_copy(weights, c->text.buckets * sizeof *weights);
        weights += c->text.buckets;
    }
    encoder_add_texts(l->encoder);
    return true;
}

static bool load_periodic(const struct loading *l)
{
    const uint8_t *is;
    if (!saved_has(l, IN_PERIODIC))
        return true;
    if (!saved_find(l, IN_PERIODIC, DTYPE_U8, l->schema->number_count, &is))
        return false;
    for (uint32_t i = 0; i < l->schema->number_count; i++)
        l->encoder->numbers[i].periodic = is[i] != 0;
    return true;
}

/* --- the target --- */

/* By enum target_transform. A program that does not know one finds no target: it refuses the model,
 * and never answers in other units. */
const char *const saved_target_names[] = {IN_TARGET, IN_TARGET ".log", IN_TARGET ".cbrt",
                                          IN_TARGET ".quantile"};

static bool load_knots(const struct loading *l, struct target_coding *c)
{
    const struct tensor *t = saved_need(l, IN_TARGET_KNOTS, DTYPE_F64, UINT64_MAX);
    if (!t)
        return false;
    if (!t->count || t->count > CODING_KNOTS_MOST)
        return saved_damaged(l, IN_TARGET_KNOTS, "has a wrong count");
    c->knots = mem_copy(t->data, t->count * sizeof *c->knots);
    c->knot_count = (uint32_t)t->count;
    for (uint32_t i = 0; i < c->knot_count; i++)
        if (!isfinite(c->knots[i]) || (i && c->knots[i] < c->knots[i - 1]))
            return saved_damaged(l, IN_TARGET_KNOTS, "is not finite and ascending");
    return true;
}

/* Absent: an answer is one value. */
static bool load_quantiles(const struct loading *l)
{
    struct schema *s = l->schema;
    if (!saved_has(l, IN_TARGET_QUANTILES))
        return true;
    const struct tensor *t = saved_need(l, IN_TARGET_QUANTILES, DTYPE_F64, UINT64_MAX);
    if (!t)
        return false;
    if (s->task != TASK_REGRESSION || t->count < 2 || t->count > QUANTILES_MOST)
        return saved_damaged(l, IN_TARGET_QUANTILES, "has a wrong count");
    s->quantiles = mem_copy(t->data, t->count * sizeof *s->quantiles);
    s->quantile_count = (uint32_t)t->count;
    for (uint32_t k = 0; k < s->quantile_count; k++)
        if (!(s->quantiles[k] > (k ? s->quantiles[k - 1] : 0) && s->quantiles[k] < 1))
            return saved_damaged(l, IN_TARGET_QUANTILES, "does not rise within 0 and 1");
    return true;
}

static bool load_target(const struct loading *l)
{
    struct target_coding *c = &l->encoder->coding;
    int kind = TARGET_QUANTILE;
    while (kind > TARGET_NONE && !saved_has(l, saved_target_names[kind]))
        kind--;
    const char *name = saved_target_names[kind];
    const double *v;
    if (!saved_find(l, name, DTYPE_F64, 2, &v))
        return false;
    if (!isfinite(v[0]) || !isfinite(v[1]) || !(v[1] > 0))
        return saved_damaged(l, name, "is not a finite center and a positive scale");
    c->transform = kind;
    c->center = v[0];
    c->scale = v[1];
    return (kind != TARGET_QUANTILE || load_knots(l, c)) && load_quantiles(l);
}

/* --- the spread of the training values --- */

/* The edges between the bins of a number; its first place is of missing ones. */
static uint32_t edges_of(const struct column *c, int64_t places)
{
    return places && c->type != COLUMN_CATEGORICAL ? (uint32_t)places - 2 : 0;
}

/* True: a column can have this number of places. */
static bool places_fit(const struct loading *l, size_t column, int64_t places)
{
    const struct column *c = &l->schema->columns[column];
    const struct vocab *values = l->encoder->columns[column].vocab;
    if (c->type == COLUMN_NUMERIC || c->type == COLUMN_DATETIME)
        return places == 0 || saved_within(places, 2, DISTRIBUTION_EDGES + 2);
    return places == 0 ||
           (c->type == COLUMN_CATEGORICAL && places == (int64_t)vocab_count(values) + 2);
}

/* Absent: an older model. */
static bool load_spread(const struct loading *l)
{
    const struct schema *s = l->schema;
    const int64_t *at;
    const int32_t *rows;
    const float *edge;
    uint64_t edges = 0;
    if (!saved_has(l, IN_SPREAD))
        return true;
    if (!saved_offsets(l, OFFSETS_OF(IN_SPREAD), s->column_count, &at))
        return false;
    for (size_t i = 0; i < s->column_count; i++) {
        if (!places_fit(l, i, at[i + 1] - at[i]))
            return saved_damaged(l, OFFSETS_OF(IN_SPREAD), "does not fit the columns");
        edges += edges_of(&s->columns[i], at[i + 1] - at[i]);
    }
    if (!saved_find(l, IN_SPREAD, DTYPE_I32, (uint64_t)at[s->column_count], &rows) ||
        !saved_find(l, IN_SPREAD_EDGES, DTYPE_F32, edges, &edge))
        return false;
    for (size_t i = 0; i < s->column_count; i++) {
        struct distribution *d = &l->encoder->columns[i].spread;
        if (at[i + 1] == at[i])
            continue;
        distribution_new(d, (uint32_t)(at[i + 1] - at[i]));
        d->edges = edges_of(&s->columns[i], d->places);
        memcpy(d->rows, rows + at[i], d->places * sizeof *rows);
        memcpy(d->edge, edge, d->edges * sizeof *edge);
        edge += d->edges;
        if (!saved_ascends(l, IN_SPREAD_EDGES, d->edge, d->edges, true))
            return false;
        for (uint32_t k = 0; k < d->places; k++)
            if (d->rows[k] < 0)
                return saved_damaged(l, IN_SPREAD, "holds a count below 0");
    }
    return true;
}

/* --- the whole --- */

/* All inputs are the numbers of channels x steps. */
static bool check_sequence(const struct loading *l)
{
    const struct schema *s = l->schema;
    const struct windows *w = &s->windows;
    if (w->window && (w->group >= s->column_count || w->group == s->target ||
                      (w->order != UINT32_MAX &&
                       (w->order >= s->column_count || w->order == s->target))))
        return saved_damaged(l, IN_HEAD, "holds a sequence of other columns");
    if (!s->steps ||
        (s->number_count == (uint64_t)s->steps * s->channels.count && !s->category_count))
        return true;
    return saved_damaged(l, IN_HEAD, "holds a sequence of other columns");
}

static bool load_schema(const struct loading *l, const struct head *h, struct columns *from)
{
    struct saved_texts labels, missing;
    if (!load_columns(l, h, from) || !saved_forms(l, h) ||
        !saved_texts(l, OFFSETS_OF(IN_LABELS), IN_LABELS, VOCAB_MOST, &labels) ||
        !saved_labels(l, &labels) ||
        !saved_texts(l, OFFSETS_OF(IN_MISSING), IN_MISSING, SAVED_MISSING_MOST, &missing) ||
        !saved_missing(l, &missing))
        return false;
    schema_layout(l->schema);
    return check_sequence(l);
}

static bool load_encoder(const struct loading *l, const struct head *h, const struct columns *from)
{
    struct numbers numbers;
    if (!load_values(l, from) || !find_numbers(l, l->schema->number_count, &numbers))
        return false;
    for (uint32_t i = 0; i < l->schema->number_count; i++) {
        if (!load_number(l, h, &numbers, i))
            return false;
        l->schema->offsets[i] = l->encoder->numbers[i].offset;
    }
    return load_texts(l, h->words) && load_bins(l) && load_transforms(l, h) && load_periodic(l) &&
           load_target(l) && load_spread(l) && statistics_load(l);
}

struct encoder *encoder_load(const struct tensor_file *f, uint32_t number, struct err *e)
{
    struct head h = {.words = 0};
    struct columns columns = {.types = NULL};
    struct loading l = {
        .file = f, .schema = mem_zero(1, sizeof(struct schema)), .e = e, .number = number};
    bool good = saved_head(&l, &h) && load_schema(&l, &h, &columns);
    if (good) {
        l.encoder = encoder_new(l.schema);
        good = load_encoder(&l, &h, &columns);
    } else {
        schema_free(l.schema);
    }
    json_free(h.doc);
    if (good)
        return l.encoder;
    encoder_free(l.encoder);
    return NULL;
}
