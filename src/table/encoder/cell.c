/* cell.c - parses one record to numbers and slots. Error messages: cell_error.c. */
#include "table/encoder/cell.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "csv/form/date.h"
#include "csv/form/number.h"
#include "table/encoder/cell_error.h"
#include "table/encoder/cell_run.h"
#include "table/encoder/header_row.h"
#include "table/schema/label.h"

enum number_result column_number(const struct schema *s, size_t column, const char *text,
                                 size_t length, double *value)
{
    return form_read_number(s->columns[column].form, text, length, s->decimal, value);
}

bool column_date(const struct schema *s, size_t column, const char *text, size_t length,
                 double *seconds)
{
    return form_read_date(s->columns[column].form, text, length, seconds);
}

/* --- one column --- */

/* Arguments of the functions that parse one record. */
struct row {
    const struct schema *s;
    const struct encoder *encoder; /* NULL: a training reads raw records */
    const struct rowfmt *format;
    unsigned char *out;
    struct drift *drift;
    uint64_t *vanished;
    struct cell_where where;
    struct terms *terms;
};

static inline void store_float(unsigned char *at, float v)
{
    memcpy(at, &v, sizeof v);
}

static inline void store_int(unsigned char *at, int32_t v)
{
    memcpy(at, &v, sizeof v);
}

static void store_missing(const struct row *r, size_t column, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        unsigned char *word = r->out + r->format->at_missing + 4 * (i / 32);
        uint32_t bits;
        store_float(r->out + 4 * (size_t)i, NAN);
        memcpy(&bits, word, sizeof bits);
        bits |= UINT32_C(1) << i % 32;
        memcpy(word, &bits, sizeof bits);
    }
    if (r->drift)
        r->drift->missing[column]++;
}

/* Stores value - offset. False: the difference does not fit a float32. */
static inline bool store_number(const struct row *r, size_t column, uint32_t slot, double value)
{
    const double offset = r->s->offsets[slot];
    float v = (float)(value - offset);
    if (isinf(v))
        return false;
    store_float(r->out + 4 * (size_t)slot, v);
    if (v == 0 && value != offset && r->vanished)
        ++*r->vanished; /* never for numbers of cell_run.h: they have no exponent */
    if (r->drift && (v < r->encoder->numbers[slot].low || v > r->encoder->numbers[slot].high)) {
        r->drift->outside[column]++;
        r->drift->unusual++;
    }
    return true;
}

static bool missing_number(const struct row *r, size_t column)
{
    const struct column *c = r->s->columns + column;
    if (c->impute == IMPUTE_ERROR)
        return cell_report_missing(&r->where, column);
    store_missing(r, column, c->number, c->type == COLUMN_DATETIME ? DATE_PARTS : 1);
    return true;
}

/* True if the text is not zero: 1e-400 is not, but its double is. */
static bool is_zero(const struct csv_cell *cell)
{
    for (uint32_t i = 0; i < cell->length && cell->text[i] != 'e' && cell->text[i] != 'E'; i++)
        if (cell->text[i] >= '1' && cell->text[i] <= '9')
            return false;
    return true;
}

static inline bool read_number(const struct row *r, size_t column, const struct csv_cell *cell)
{
    double value;
    if (!cell || cell_is_missing(r->s, column, cell->text, cell->length))
        return missing_number(r, column);
    enum number_result result = column_number(r->s, column, cell->text, cell->length, &value);
    if (result == NUMBER_OK && !store_number(r, column, r->s->columns[column].number, value))
        result = NUMBER_RANGE;
    if (result != NUMBER_OK)
        return cell_report_number(&r->where, column, cell, result);
    if (value == 0 && r->vanished && !is_zero(cell))
        ++*r->vanished;
    return true;
}

static bool read_date(const struct row *r, size_t column, const struct csv_cell *cell)
{
    double seconds, parts[DATE_PARTS];
    if (!cell || cell_is_missing(r->s, column, cell->text, cell->length))
        return missing_number(r, column);
    if (!column_date(r->s, column, cell->text, cell->length, &seconds))
        return cell_report_date(&r->where, column, cell);
    date_parts(seconds, parts);
    uint32_t first = r->s->columns[column].number;
    store_number(r, column, first, parts[0]); /* years 1 to 9999 always fit */
    for (uint32_t i = 1; i < DATE_PARTS; i++)
        store_float(r->out + 4 * (size_t)(first + i),
                    (float)(parts[i] - r->s->offsets[first + i]));
    return true;
}

static void count_unknown(const struct row *r, size_t column, const struct csv_cell *cell)
{
    struct drift *d = r->drift;
    const bool rare =
        d->pooled && bloom_has(d->pooled, category_key(r->s->columns[column].name, cell->text,
                                                       cell->length));
    (rare ? d->rare : d->unknown)[column]++;
    if (!rare)
        drift_keep(d, column, cell->text, cell->length);
    d->unusual += d->pooled ? !rare : r->encoder->columns[column].min_count <= 1;
}

static bool read_category(const struct row *r, size_t column, const struct csv_cell *cell)
{
    const struct column *c = r->s->columns + column;
    uint32_t slot = 0;
    if (!cell || cell_is_missing(r->s, column, cell->text, cell->length)) {
        if (r->drift)
            r->drift->missing[column]++;
    } else if (!r->encoder) {
        slot = 2 + vocab_add(c->values, cell->text, cell->length);
    } else {
        uint32_t found =
            vocab_find(r->encoder->columns[column].vocab, cell->text, cell->length);
        if (found == UINT32_MAX && c->unknown == UNKNOWN_ERROR)
            return cell_report_unknown(&r->where, column, cell);
        if (found == UINT32_MAX && r->drift)
            count_unknown(r, column, cell);
        slot = found != UINT32_MAX ? 2 + found : c->unknown == UNKNOWN_BUCKET;
    }
    store_int(r->out + r->format->at_category + 4 * (size_t)c->category, (int32_t)slot);
    return true;
}

/* Raw: the text's id in the column's vocabulary. Else its terms or tokens. */
static bool read_text(const struct row *r, size_t column, const struct csv_cell *cell)
{
    if (!r->encoder)
        return read_category(r, column, cell);
    const struct column_fit *fit = &r->encoder->columns[column];
    unsigned char *to = r->out + r->format->at_category + 4 * (size_t)fit->term;
    memset(to, 0, 4 * (size_t)fit->slots);
    store_int(r->out + r->format->at_category + 4 * (size_t)r->s->columns[column].category, 0);
    if (!cell || cell_is_missing(r->s, column, cell->text, cell->length)) {
        if (r->drift)
            r->drift->missing[column]++;
        return true;
    }
    encoder_place_text(r->encoder, column, r->terms, cell->text, cell->length, to);
    return true;
}

bool cell_weight(const struct schema *s, size_t column, const struct csv_cell *cell,
                 double *weight)
{
    *weight = 1;
    return !cell || (!cell_is_missing(s, column, cell->text, cell->length) &&
                     number_parse(cell->text, cell->length, s->decimal, weight) == NUMBER_OK &&
                     *weight >= 0 && *weight <= WEIGHT_MOST);
}

static bool read_weight(const struct row *r, size_t column, const struct csv_cell *cell)
{
    double value;
    if (!cell_weight(r->s, column, cell, &value))
        return cell_report_weight(&r->where, column, cell);
    store_float(r->out + r->format->at_weight, (float)value);
    return true;
}

static bool read_target(const struct row *r, size_t column, const struct csv_cell *cell)
{
    const struct schema *s = r->s;
    unsigned char *at = r->out + r->format->at_target;
    if (!cell)
        return cell_report_unlabelled(&r->where, column);
    if (s->task == TASK_REGRESSION) {
        double value;
        enum number_result result = column_number(s, column, cell->text, cell->length, &value);
        if (result != NUMBER_OK)
            return cell_report_number(&r->where, column, cell, result);
        if (!r->encoder && !coding_takes(s->target_transform, value))
            return cell_report_domain(&r->where, column, cell);
        store_float(at, (float)(r->encoder ? coding_encode(&r->encoder->coding, value) : value));
        return true;
    }
    uint32_t label = r->encoder ? vocab_find(s->labels, cell->text, cell->length)
                                : vocab_add(s->labels, cell->text, cell->length);
    if (label == UINT32_MAX) {
        label = label_find(s->labels, s->decimal, cell->text, cell->length);
        if (label == UINT32_MAX)
            return cell_report_label(&r->where, column, cell);
        if (r->drift)
            r->drift->respelt++;
    }
    store_int(at, (int32_t)label);
    return true;
}

/* --- one record --- */

static void store_blank(const struct row *r)
{
    memset(r->out + r->format->at_missing, 0, 4 * (size_t)r->format->words);
    if (r->s->task == TASK_REGRESSION)
        store_float(r->out + r->format->at_target, NAN);
    else
        store_int(r->out + r->format->at_target, -1);
    store_float(r->out + r->format->at_weight, 1);
}

static bool read_cell(const struct row *r, size_t column, bool labelled,
                      const struct csv_cell *cell)
{
    switch ((enum column_type)r->s->columns[column].type) {
    case COLUMN_NUMERIC: return read_number(r, column, cell);
    case COLUMN_DATETIME: return read_date(r, column, cell);
    case COLUMN_CATEGORICAL: return read_category(r, column, cell);
    case COLUMN_TEXT: return read_text(r, column, cell);
    case COLUMN_WEIGHT: /* not used by predictions */
        return (r->encoder && !labelled) || read_weight(r, column, cell);
    case COLUMN_TARGET: return !labelled || read_target(r, column, cell);
    case COLUMN_ID:
    case COLUMN_GROUP:
    case COLUMN_IGNORE:
    case COLUMN_SPLIT: break;
    }
    return true;
}

/* Counts the numbers parsed by cell_run.h; read_number counts its own. */
static void count_outside(const struct row *r, const struct number_run *run, uint64_t read)
{
    uint32_t first = r->s->columns[run->column].number;
    for (uint32_t i = 0; i < run->count; i++) {
        const struct number_slot *n = r->encoder->numbers + first + i;
        float v;
        memcpy(&v, r->out + 4 * (size_t)(first + i), sizeof v);
        bool outside = (read >> i & 1) && (v < n->low || v > n->high);
        r->drift->outside[run->column + i] += outside;
        r->drift->unusual += outside;
    }
}

/* Parses the short plain numbers of a run together, then the others one by one. */
static bool read_run(const struct row *r, const struct number_run *run, cell_run_fn *read)
{
    const struct binding *b = r->where.b;
    const struct csv_cells *cells = r->where.cells;
    uint32_t first = r->s->columns[run->column].number;
    const struct cell_run numbers = {
        .cell_of = b->cell_of + run->column,
        .cells = cells->cells + cells->records[r->where.record].first_cell,
        .offsets = r->s->offsets + first,
        .count = run->count,
        .together = run->together,
        .decimal = r->s->decimal,
        .out = r->out + 4 * (size_t)first};
    uint64_t bad = read(&numbers), seen = ~bad;
    bool good = true;
    for (; bad && good; bad &= bad - 1) {
        size_t column = run->column + (size_t)__builtin_ctzll(bad);
        good = read_number(r, column, cell_at(b, cells, r->where.record, column));
        if (!good) /* do not count the cells after the error */
            seen &= (bad & -bad) - 1;
    }
    if (r->drift)
        count_outside(r, run, seen);
    return good;
}

double column_time(const struct schema *s, size_t column, const char *text, size_t length)
{
    double v;
    int type = s->columns[column].type;
    if (type != COLUMN_DATETIME && column_number(s, column, text, length, &v) == NUMBER_OK)
        return v;
    return type != COLUMN_NUMERIC && column_date(s, column, text, length, &v) ? v : (double)NAN;
}

bool cell_unlabelled(const struct schema *s, const struct binding *b,
                     const struct csv_cells *cells, size_t record)
{
    if (cells->records[record].cells != b->cells)
        return false;
    const struct csv_cell *cell = cell_at(b, cells, record, s->target);
    return cell && cell_is_missing(s, s->target, cell->text, cell->length);
}

bool cell_weighs_nothing(const struct schema *s, const struct binding *b,
                         const struct csv_cells *cells, size_t record)
{
    const uint32_t column = b->column_of[b->weight];
    double weight;
    return cells->records[record].cells == b->cells &&
           cell_weight(s, column, cell_at(b, cells, record, column), &weight) &&
           (float)weight <= 0;
}

bool cell_left_out(const struct schema *s, const struct binding *b, const struct csv_cells *cells,
                   size_t record)
{
    return !schema_keeps_context(s) &&
           (cell_weightless(s, b, cells, record) || cell_unlabelled(s, b, cells, record));
}

/* The numbers of another record. The target statistics follow them; each encoder has its own. */
static void copy_numbers(const struct row *r, const struct raw_record *raw)
{
    const size_t numbers = r->s->number_count, words = (numbers + 31) / 32;
    memcpy(r->out, raw->at, 4 * numbers);
    memcpy(r->out + r->format->at_missing, raw->at + raw->encoder->format.at_missing, 4 * words);
}

/* A missing number may be an error of this encoder alone. */
static bool is_copied(const struct column *c)
{
    return (c->type == COLUMN_NUMERIC || c->type == COLUMN_DATETIME) && c->impute != IMPUTE_ERROR;
}

static bool parse(struct row *r, bool labelled, const struct raw_record *raw)
{
    const struct cell_where *w = &r->where;
    const struct schema *s = w->s;
    const struct binding *b = w->b;
    const struct csv_record *record = &w->cells->records[w->record];
    if (record->cells != b->cells)
        return cell_report_ragged(w);
    const struct csv_cell *first = w->cells->cells + record->first_cell;
    if (b->names && header_row_may_be(b->names, first) &&
        header_row_equals(b->names, b->cells, first))
        return header_row_report(w->block, record, w->e);
    if (r->encoder && !w->cells->dialect.header && record->line == 1 && header_row_unknown(w))
        return header_row_report_unknown(w);
    if (labelled && cell_unlabelled(s, b, w->cells, w->record)) {
        if (!schema_keeps_context(s))
            return cell_report_unlabelled(w, s->target);
        labelled = false;
    }
    if (schema_keeps_context(s) && cell_weightless(s, b, w->cells, w->record))
        labelled = false;
    store_blank(r);
    if (raw)
        copy_numbers(r, raw);
    cell_run_fn *read = cell_run_choose();
    const struct number_run *run = b->runs, *end = run + b->run_count;
    bool good = true;
    for (size_t i = 0; i < s->column_count && good;) {
        if (!raw && run < end && run->column == i) {
            good = read_run(r, run, read);
            i += run++->count;
        } else if (raw && is_copied(&s->columns[i])) {
            i++;
        } else {
            good = read_cell(r, i, labelled, cell_at(b, w->cells, w->record, i));
            i++;
        }
    }
    return good;
}

bool cell_parse(const struct encoder *c, const struct binding *b, const struct csv_block *block,
                const struct csv_cells *cells, size_t record, bool labelled,
                const struct raw_record *raw, unsigned char *out, struct drift *d, struct terms *t,
                struct err *e)
{
    struct row r = {c->schema, c, &c->format, out, d, d ? &d->vanished : NULL,
                    {c->schema, c, b, block, cells, record, e}, t};
    return parse(&r, labelled, raw);
}

bool cell_parse_raw(const struct schema *s, const struct binding *b, const struct csv_block *block,
                    const struct csv_cells *cells, size_t record, unsigned char *out,
                    uint64_t *vanished, struct err *e)
{
    struct row r = {s, NULL, &s->raw, out, NULL, vanished,
                    {s, NULL, b, block, cells, record, e}, NULL};
    return parse(&r, true, NULL);
}
