/* table_help.h - what the table tests share: a schema from JSON text, a table from numbers. */
#ifndef DNN_TESTS_DATA_HELP_H
#define DNN_TESTS_DATA_HELP_H

#include "base/log.h"
#include "base/mem.h"
#include "table/encoder/cell.h"
#include "table/split/digest.h"
#include "table/fit/leak.h"
#include "table/split/parts_check.h"
#include "table/encoder/quantile.h"
#include "table/table.h"
#include "tap.h"

/* The schema of a whole config {"data": {...}}; NULL and *e on failure. */
static inline struct schema *schema_of(const char *config, int task, struct err *e)
{
    struct data_options o = {0};
    struct schema *s = NULL;
    struct json_doc *doc = json_parse(config, strlen(config), "c.json", e);
    if (!doc)
        return NULL;
    if (opt_read(data_options_table, doc, json_path(json_root(doc), "data"), "data", &o, e)) {
        if (data_options_settle(&o, task, doc, e))
            s = schema_declare(&o, task, doc, e);
        opt_release(data_options_table, &o);
    }
    json_free(doc);
    return s;
}

/* A config of these columns with the target y. */
#define COLUMNS(text)                                                                              \
    "{\"data\": {\"train\": \"a\", \"target\": \"y\", \"columns\": {" text "}}}"

/* schema_of of what must be right: NULL is a failed test. */
static inline struct schema *schema_need(const char *config, int task)
{
    struct err e = {0};
    struct schema *s = schema_of(config, task, &e);
    if (!s)
        ok(false, "schema: %s", e.what);
    return s;
}

/* Rows as a dataset and a split have them; remarks and encoder of table_fit. */
struct sheet {
    struct rows rows;
    uint8_t *part;
    struct row_list list[PARTS];
    uint64_t count[PARTS];
    double *target;
    struct remarks remarks;
    struct encoder *encoder;
};
/* A sheet in chunks of 2^shift records, all rows in PART_TRAIN, every weight 1; freed by
 * table_drop. */
static inline struct sheet *table_make(const struct schema *s, uint64_t rows, unsigned shift)
{
    struct sheet *t = mem_zero(1, sizeof *t);
    uint64_t chunks = (rows >> shift) + 1, in_chunk = (uint64_t)1 << shift;
    unsigned char **chunk = mem_zero(chunks, sizeof *chunk);
    for (uint64_t c = 0; c < chunks; c++)
        chunk[c] = mem_zero(in_chunk, s->raw.stride);
    t->rows = (struct rows){.format = s->raw, .chunks = chunk, .shift = shift, .count = rows};
    t->part = mem_zero(rows + 1, 1);
    t->target = s->task == TASK_REGRESSION ? mem_zero(rows + 1, sizeof *t->target) : NULL;
    const float one = 1;
    for (uint64_t i = 0; i < rows; i++)
        memcpy(rows_at(&t->rows, i) + s->raw.at_weight, &one, sizeof one);
    return t;
}

/* After t->part is filled. */
static inline void table_index(struct sheet *t)
{
    for (int p = 0; p < PARTS; p++) {
        t->list[p].index = mem_alloc(t->rows.count + 1, sizeof *t->list[p].index);
        t->count[p] = 0;
        for (uint64_t i = 0; i < t->rows.count; i++)
            if (t->part[i] == p)
                t->list[p].index[t->count[p]++] = (uint32_t)i;
    }
}

static inline void table_drop(struct sheet *t)
{
    uint64_t chunks = (t->rows.count >> t->rows.shift) + 1;
    unsigned char **chunk = mem_copy(t->rows.chunks, chunks * sizeof *chunk);
    for (uint64_t c = 0; c < chunks; c++)
        mem_free(chunk[c]);
    mem_free(chunk);
    memcpy(&chunk, &t->rows.chunks, sizeof chunk); /* drops the const of the reader's view */
    mem_free(chunk);
    mem_free(t->part);
    mem_free(t->target);
    remarks_free(&t->remarks);
    encoder_free(t->encoder);
    for (int p = 0; p < PARTS; p++)
        mem_free(t->list[p].index);
    mem_free(t);
}

static inline void put_number(struct sheet *t, uint64_t row, uint32_t slot, float v)
{
    unsigned char *r = rows_at(&t->rows, row);
    memcpy(r + 4 * (size_t)slot, &v, sizeof v);
    if (v != v) {
        uint32_t bits;
        memcpy(&bits, r + t->rows.format.at_missing + 4 * (slot / 32), sizeof bits);
        bits |= 1u << slot % 32;
        memcpy(r + t->rows.format.at_missing + 4 * (slot / 32), &bits, sizeof bits);
    }
}

static inline float get_number(const struct sheet *t, uint64_t row, uint32_t slot)
{
    float v;
    memcpy(&v, rows_at(&t->rows, row) + 4 * (size_t)slot, sizeof v);
    return v;
}

static inline void put_int(struct sheet *t, uint64_t row, uint32_t at, int32_t v)
{
    memcpy(rows_at(&t->rows, row) + at, &v, sizeof v);
}

static inline int32_t get_int(const struct sheet *t, uint64_t row, uint32_t at)
{
    int32_t v;
    memcpy(&v, rows_at(&t->rows, row) + at, sizeof v);
    return v;
}

/* How many warnings have both texts. */
static inline size_t warnings_with(const struct sheet *t, const char *a, const char *b)
{
    size_t found = 0;
    for (size_t i = 0; i < t->remarks.count; i++)
        found += strstr(t->remarks.items[i].text, a) && strstr(t->remarks.items[i].text, b);
    return found;
}

/* The provisional id that cell_parse gives a category, NULL: missing. */
static inline void put_category(struct sheet *t, uint64_t row, struct schema *s, uint32_t column,
                                const char *text)
{
    struct column *c = &s->columns[column];
    int32_t id = text ? (int32_t)vocab_add(c->values, text, strlen(text)) + 2 : 0;
    put_int(t, row, s->raw.at_category + 4 * c->category, id);
}

static inline void put_label(struct sheet *t, uint64_t row, struct schema *s, const char *text)
{
    put_int(t, row, s->raw.at_target, (int32_t)vocab_add(s->labels, text, strlen(text)));
}

/* The encoder's ids and the standardised target in place of the raw ones; numbers stay raw. */
static inline void table_map(struct sheet *t, const struct encoder *c)
{
    const struct rowfmt *f = &t->rows.format;
    for (uint64_t i = 0; i < t->rows.count; i++) {
        for (uint32_t k = 0; k < c->schema->category_count; k++) {
            uint32_t at = f->at_category + 4 * k;
            put_int(t, i, at, c->slot_of[k][get_int(t, i, at)]);
        }
        int32_t id = get_int(t, i, f->at_target);
        if (t->target) {
            float y = (float)coding_encode(&c->coding, t->target[i]);
            memcpy(rows_at(&t->rows, i) + f->at_target, &y, sizeof y);
        } else {
            put_int(t, i, f->at_target, id < 0 ? id : c->class_of[id]);
        }
    }
}

/* Fits and checks as table_load does: t->encoder. t->remarks has all remarks, ids and targets of t
 * become final. */
static inline bool table_fit(struct schema *s, struct sheet *t, struct err *e)
{
    struct dataset d = {.schema = s, .rows = t->rows, .target = t->target};
    struct split split = {.part = t->part};
    uint64_t row = 0;
    d.samples.count = t->rows.count;
    s->file_columns = (uint32_t)s->column_count;
    for (int p = 0; p < PARTS; p++)
        split.index[p] = split.records[p] = t->list[p].index;
    memcpy(split.count, t->count, sizeof split.count);
    memcpy(split.record_count, t->count, sizeof split.record_count);
    struct encoder *c = encoder_fit(&d, t->list[PART_TRAIN].index, t->count[PART_TRAIN], e);
    bool good = c && encoder_covers(c, &d, e);
    if (c)
        remarks_move(&t->remarks, &c->remarks);
    good &= e->id == ERR_CSV_UNKNOWN_CATEGORY || labels_check(c, &d, &split, &t->remarks, &row, e);
    if (good) {
        uint64_t *hash = rows_hash(&d);
        leak_check(c, &d, &split, hash, &t->remarks);
        mem_free(hash);
        table_map(t, c);
        t->encoder = c;
    } else {
        encoder_free(c);
    }
    return good;
}

#endif
