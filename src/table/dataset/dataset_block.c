/* dataset_block.c - parses one block of text to raw records, with vocabularies of its own. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "table/encoder/cell_error.h"
#include "table/dataset/dataset_read.h"
#include "table/dataset/record_hash.h"

/* --- inputs of the split --- */

/* PARTS: none. */
static uint8_t part_of_cell(const struct csv_cell *cell)
{
    uint8_t p = 0;
    while (p < PARTS && !(cell->length == strlen(part_words[p]) &&
                          memcmp(cell->text, part_words[p], cell->length) == 0))
        p++;
    return p;
}

static bool read_part(const struct cell_where *w, uint32_t column, uint8_t *said)
{
    const struct csv_cell *cell = cell_at(w->b, w->cells, w->record, column);
    *said = part_of_cell(cell);
    return *said < PARTS || cell_report_part(w, column, cell);
}

bool dataset_excludes(unsigned own_parts, const struct cell_where *w)
{
    if (!own_parts || w->cells->records[w->record].cells != w->b->cells)
        return false;
    uint32_t column = w->s->split_columns[0];
    return own_parts >> part_of_cell(cell_at(w->b, w->cells, w->record, column)) & 1;
}

/* Hashes the text of the split's columns; without columns, of the whole row. */
static uint64_t read_key(const struct cell_where *w)
{
    const struct schema *s = w->s;
    const struct csv_record *r = w->cells->records + w->record;
    uint64_t key = 0;
    for (size_t i = 0; i < s->split_column_count; i++) {
        const struct csv_cell *cell = cell_at(w->b, w->cells, w->record, s->split_columns[i]);
        key = rng_hash(cell->text, cell->length, key);
    }
    for (uint32_t i = 0; s->split_column_count == 0 && i < r->cells; i++) {
        const struct csv_cell *cell = w->cells->cells + r->first_cell + i;
        key = rng_hash(cell->text, cell->length, key);
    }
    return key;
}

static bool read_split(struct block_rows *b, const struct block_request *q,
                       const struct cell_where *w, uint64_t row)
{
    uint64_t *key = b->values[VALUE_KEY], *group = b->values[VALUE_GROUP];
    uint8_t *said = b->values[VALUE_SAID];
    double *time = b->values[VALUE_TIME];
    if (key)
        key[row] = q->method < 0 && !q->groups ? 0 : read_key(w);
    if (group) {
        const struct csv_cell *cell = cell_at(w->b, w->cells, w->record, q->group_column);
        group[row] = cell ? rng_hash(cell->text, cell->length, 0) : 0;
    }
    if (said) {
        said[row] = 0;
        if (q->method >= 0 && !read_part(w, w->s->split_columns[0], &said[row]))
            return false;
    }
    if (time) {
        time[row] = 0;
        if (q->method >= 0) {
            uint32_t column = w->s->split_columns[0];
            const struct csv_cell *cell = cell_at(w->b, w->cells, w->record, column);
            time[row] = column_time(w->s, column, cell->text, cell->length);
            if (isnan(time[row]))
                return cell_is_missing(w->s, column, cell->text, cell->length)
                           ? cell_report_timeless(w, column)
                           : cell_report_date(w, column, cell);
        }
    }
    return true;
}

/* --- one block --- */

static void make_room(struct block_rows *b, const struct block_request *q, size_t rows)
{
    const struct schema *s = q->schema;
    size_t bytes = rows * s->raw.stride;
    if (b->records_room < bytes) {
        mem_free(b->records);
        b->records = mem_alloc(bytes, 1);
        b->records_room = bytes;
    }
    if (b->rows_room >= rows && b->rows_room)
        return;
    b->rows_room = rows + rows / 4 + 1;
    for (int k = 0; k < ROW_VALUES; k++)
        if (q->stored[k].size)
            b->values[k] = mem_grow(b->values[k], b->rows_room, q->stored[k].size);
}

/* Copies the schema: the ids of a block come from vocabularies of its own, without locks. */
static void own_schema(struct block_rows *b, const struct schema *s)
{
    b->schema = *s;
    b->schema.columns = mem_copy(s->columns, s->column_count * sizeof *s->columns);
    for (size_t i = 0; i < s->column_count; i++)
        if (s->columns[i].category != UINT32_MAX)
            b->schema.columns[i].values = vocab_new();
    b->schema.labels = s->labels ? vocab_new() : NULL;
}

static void append_sample(struct block_rows *b, const struct cell_where *w)
{
    const struct schema *s = w->s;
    size_t cells = s->column_count - 1, at = cells * b->sample_rows;
    if (!b->sample_ends)
        b->sample_ends = mem_alloc(TABLE_SAMPLE_ROWS * cells + 1, sizeof *b->sample_ends);
    for (size_t i = 0; i < s->column_count; i++) {
        if (i == s->target)
            continue;
        const struct csv_cell *cell = cell_at(w->b, w->cells, w->record, i);
        if (cell && column_type_is_input(s->columns[i].type))
            text_add(&b->sample, cell->text, cell->length);
        b->sample_ends[at++] = b->sample.length;
    }
    b->sample_rows++;
}

static bool parse_record(struct block_rows *b, const struct block_request *q, struct cell_where *w)
{
    const struct schema *s = &b->schema;
    struct series_step *steps = b->values[VALUE_STEP];
    double *target = b->values[VALUE_TARGET];
    int32_t *label = b->values[VALUE_LABEL];
    unsigned char *out = b->records + b->rows * s->raw.stride;
    if (dataset_excludes(q->own_parts, w)) {
        b->left_out++;
        return true;
    }
    if (!schema_keeps_context(s) && cell_weightless(s, q->binding, w->cells, w->record)) {
        b->weightless++;
        return true;
    }
    if (!cell_parse_raw(s, q->binding, w->block, w->cells, w->record, out, &b->vanished, w->e)) {
        if (w->e->id != ERR_CSV_LABEL_MISSING)
            return false;
        if (b->unlabelled < UNLABELLED_SHOWN)
            b->unlabelled_lines[b->unlabelled] = w->cells->records[w->record].line;
        b->unlabelled++;
        err_clear(w->e);
        return true; /* it is left out */
    }
    if (!read_split(b, q, w, b->rows) ||
        (steps && !series_step_read(s, w->b, w->block, w->cells, w->record, &steps[b->rows],
                                    w->e)))
        return false;
    if (target) {
        const struct csv_cell *cell = cell_at(w->b, w->cells, w->record, s->target);
        if (isnan(record_float(out, s->raw.at_target))) /* none, or of weight 0 */
            target[b->rows] = NAN;
        else
            column_number(s, s->target, cell->text, cell->length, &target[b->rows]);
    }
    if (label)
        label[b->rows] = record_int(out, s->raw.at_target);
    if (q->sample && b->sample_rows < TABLE_SAMPLE_ROWS)
        append_sample(b, w);
    b->rows++;
    return true;
}

void block_parse(struct block_rows *b, const struct block_request *q,
                 const struct csv_block *block, struct csv_cells *cells)
{
    struct err syntax = {0};
    bool good = csv_cells_parse(q->dialect, block, q->binding->cells, cells, &syntax);
    b->path = block->path;
    b->blank_lines = cells->blank_lines;
    make_room(b, q, cells->record_count);
    own_schema(b, q->schema);
    struct cell_where w = {&b->schema, NULL, q->binding, block, cells, 0, &b->error};
    for (; w.record < cells->record_count; w.record++)
        if (!parse_record(b, q, &w)) {
            b->failed = true;
            return;
        }
    b->failed = !good;
    if (!good)
        b->error = syntax;
}

/* --- into the table --- */

static uint32_t *merge_vocab(const struct vocab *from, struct vocab *into)
{
    uint32_t count = vocab_count(from), *map = mem_alloc(count ? count : 1, sizeof *map);
    for (uint32_t i = 0; i < count; i++) {
        size_t length;
        const char *text = vocab_text(from, i, &length);
        map[i] = vocab_add(into, text, length);
    }
    return map;
}

void block_merge(struct block_rows *b, struct schema *s)
{
    b->map = mem_zero(s->category_count + 1, sizeof *b->map);
    for (size_t i = 0; i < s->column_count; i++)
        if (s->columns[i].category != UINT32_MAX)
            b->map[s->columns[i].category] =
                merge_vocab(b->schema.columns[i].values, s->columns[i].values);
    if (s->labels)
        b->map[s->category_count] = merge_vocab(b->schema.labels, s->labels);
    int32_t *label = b->values[VALUE_LABEL];
    for (uint64_t row = 0; label && row < b->rows; row++)
        if (label[row] >= 0)
            label[row] = (int32_t)b->map[s->category_count][label[row]];
}

static void renumber(struct block_rows *b, uint32_t at, const uint32_t *map, int32_t first)
{
    unsigned char *id_at = b->records + at;
    for (uint64_t row = 0; row < b->rows; row++, id_at += b->schema.raw.stride) {
        int32_t id;
        memcpy(&id, id_at, sizeof id);
        id = id < first ? id : (int32_t)map[id - first] + first;
        memcpy(id_at, &id, sizeof id);
    }
}

void block_copy(struct block_rows *b)
{
    const struct schema *s = &b->schema;
    const size_t stride = s->raw.stride;
    const unsigned char *from = b->records;
    for (uint32_t i = 0; i < s->category_count; i++)
        renumber(b, s->raw.at_category + 4 * i, b->map[i], 2);
    if (s->labels)
        renumber(b, s->raw.at_target, b->map[s->category_count], 0);
    for (size_t i = 0; i < b->piece_count; i++) {
        const struct block_piece *p = b->pieces + i;
        memcpy(p->records, from, p->rows * stride);
        for (uint64_t row = 0; row < p->rows; row++)
            p->hash[row] = record_hash(from + row * stride, &s->raw);
        from += p->rows * stride;
    }
}

void block_clear(struct block_rows *b)
{
    for (uint32_t i = 0; b->map && i <= b->schema.category_count; i++)
        mem_free(b->map[i]);
    mem_free(b->map);
    b->map = NULL;
    for (size_t i = 0; b->schema.columns && i < b->schema.column_count; i++)
        if (b->schema.columns[i].category != UINT32_MAX)
            vocab_free(b->schema.columns[i].values);
    if (b->schema.columns)
        vocab_free(b->schema.labels);
    mem_free(b->schema.columns);
    b->schema = (struct schema){0};
    text_free(&b->sample);
    mem_free(b->sample_ends);
    b->sample_ends = NULL;
    b->sample_rows = 0;
    b->rows = b->blank_lines = b->left_out = b->weightless = b->unlabelled =
        b->vanished = 0;
    b->failed = false;
    err_clear(&b->error);
}

void block_free(struct block_rows *b)
{
    block_clear(b);
    mem_free(b->pieces);
    mem_free(b->records);
    for (int k = 0; k < ROW_VALUES; k++)
        mem_free(b->values[k]);
}
