/* view.c - encodes raw records: ids become slots and classes, targets are standardised, numbers are
 * imputed and scaled (encoder_apply). Each record independently. */
#include "table/fit/view.h"

#include <string.h>

#include "base/mem.h"
#include "base/process/thread.h"
#include "table/encoder/cell.h"
#include "table/schema/record.h"

#define TILE_ROWS 8192 /* a power of two: a tile is within one chunk */

struct encoding {
    const struct dataset *data;
    const struct encoder *encoder;
    struct rows *to;
    uint64_t tile_rows;
    bool *same_slots; /* by category slot: every id equals its slot */
    bool same_classes;
    bool held;        /* training rows take statistics out of fold */
};

static void map_ids(unsigned char *at, size_t stride, uint64_t count, const int32_t *map)
{
    for (uint64_t i = 0; i < count; i++, at += stride) {
        int32_t id;
        memcpy(&id, at, sizeof id);
        id = id < 0 ? id : map[id];
        memcpy(at, &id, sizeof id);
    }
}

static void store_targets(const struct encoding *p, unsigned char *at, uint64_t first,
                          uint64_t count)
{
    const double *target = p->data->target + first;
    for (uint64_t i = 0; i < count; i++, at += p->encoder->format.stride) {
        float y = (float)coding_encode(&p->encoder->coding, target[i]);
        memcpy(at, &y, sizeof y);
    }
}

/* Copies records; `to` may have more numbers and terms, which are 0. */
static void copy_records(const struct rowfmt *from, const unsigned char *record,
                         const struct rowfmt *to, unsigned char *out, uint64_t count)
{
    if (from->stride == to->stride) {
        memcpy(out, record, count * from->stride);
        return;
    }
    for (uint64_t i = 0; i < count; i++, record += from->stride, out += to->stride) {
        memcpy(out, record, from->at_missing);
        memset(out + from->at_missing, 0, to->at_category - from->at_missing);
        memcpy(out + to->at_missing, record + from->at_missing, 4 * (size_t)from->words);
        memcpy(out + to->at_category, record + from->at_category, 4 * (size_t)from->categories);
        memset(out + to->at_category + 4 * (size_t)from->categories, 0,
               4 * (size_t)(to->categories - from->categories));
        memcpy(out + to->at_target, record + from->at_target, from->stride - from->at_target);
    }
}

/* The terms or tokens of texts, by the ids of the raw records. */
static void place_terms(const struct encoding *p, unsigned char *out, uint64_t first,
                        uint64_t count)
{
    const struct encoder *e = p->encoder;
    struct terms terms = {0};
    for (size_t k = 0; k < e->schema->column_count && e->term_count; k++) {
        const struct column *c = &p->data->schema->columns[k];
        const struct vocab *all = c->values;
        const uint32_t from = p->data->rows.format.at_category + 4 * c->category;
        const uint32_t to = e->format.at_category + 4 * e->columns[k].term;
        for (uint64_t i = 0; c->type == COLUMN_TEXT && i < count; i++) {
            int32_t id = record_int(rows_at(&p->data->rows, first + i), from);
            size_t length;
            if (!id)
                continue;
            const char *text = vocab_text(all, (uint32_t)id - 2, &length);
            encoder_place_text(e, k, &terms, text, length, out + i * e->format.stride + to);
        }
    }
    terms_free(&terms);
}

/* Replaces the target statistics of training rows by those out of fold. */
static void place_held(const struct encoder *c, unsigned char *records, uint64_t first,
                       uint64_t count)
{
    const struct statistics *t = c->statistics;
    const size_t stride = c->format.stride;
    uint64_t low = 0, high = c->held_count;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (c->held_rows[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint64_t i = low; i < c->held_count && c->held_rows[i] < first + count; i++) {
        unsigned char *at = records + (c->held_rows[i] - first) * stride + 4 * (size_t)t->first;
        for (uint32_t k = 0; k < t->numbers; k++)
            memcpy(at + 4 * (size_t)k, &c->held[k * c->held_count + i], sizeof(float));
    }
}

static void encode(const struct encoding *p, uint64_t first, uint64_t count)
{
    const struct encoder *c = p->encoder;
    size_t stride = c->format.stride;
    unsigned char *records = rows_at(p->to, first);
    if (p->to->chunks != p->data->rows.chunks)
        copy_records(&p->data->rows.format, rows_at(&p->data->rows, first), &c->format, records,
                     count);
    place_terms(p, records, first, count);
    for (uint32_t k = 0; k < c->schema->category_count; k++)
        if (!p->same_slots[k])
            map_ids(records + c->format.at_category + 4 * (size_t)k, stride, count,
                    c->slot_of[k]);
    if (c->schema->task == TASK_REGRESSION)
        store_targets(p, records + c->format.at_target, first, count);
    else if (!p->same_classes)
        map_ids(records + c->format.at_target, stride, count, c->class_of);
    if (c->statistics) {
        statistics_apply(c->statistics, &c->format, records, count);
        if (p->held)
            place_held(c, records, first, count);
    }
    numbers_scale(c, records, count);
}

static void encode_tile(void *context, unsigned tile, unsigned thread)
{
    const struct encoding *p = context;
    uint64_t first = tile * p->tile_rows, left = p->to->count - first;
    (void)thread;
    encode(p, first, left < p->tile_rows ? left : p->tile_rows);
}

static bool is_identity(const int32_t *map, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && map[i] == (int32_t)i)
        i++;
    return i == count;
}

static void find_identities(struct encoding *p)
{
    const struct schema *raw = p->data->schema;
    p->same_slots = mem_zero(raw->category_count + 1, sizeof *p->same_slots);
    for (size_t i = 0; i < raw->column_count; i++) {
        uint32_t slot = raw->columns[i].category;
        if (slot != UINT32_MAX)
            p->same_slots[slot] =
                is_identity(p->encoder->slot_of[slot], vocab_count(raw->columns[i].values) + 2);
    }
    p->same_classes = p->encoder->class_of &&
                      is_identity(p->encoder->class_of, vocab_count(raw->labels));
}

static unsigned char *const *new_chunks(const struct rows *like)
{
    uint64_t in_chunk = UINT64_C(1) << like->shift;
    uint64_t count = (like->count + in_chunk - 1) >> like->shift;
    unsigned char **chunks = mem_zero(count + 1, sizeof *chunks);
    for (uint64_t i = 0; i < count; i++)
        chunks[i] = mem_alloc(in_chunk, like->format.stride);
    return chunks;
}

/* Encodes the first records as an answer does. */
static void encode_first(struct encoding *p, struct view *v)
{
    v->first = v->rows;
    v->first.count = v->rows.count < TABLE_SAMPLE_ROWS ? v->rows.count : TABLE_SAMPLE_ROWS;
    v->first.shift = 63;
    unsigned char **chunks = mem_zero(1, sizeof *chunks);
    chunks[0] = mem_zero(v->first.count + 1, v->first.format.stride);
    v->first.chunks = chunks;
    p->to = &v->first;
    p->held = false;
    encode(p, 0, v->first.count);
}

struct view *view_make(struct dataset *d, const struct encoder *c, bool give)
{
    struct view *v = mem_zero(1, sizeof *v);
    bool own = !give || c->format.stride != d->rows.format.stride;
    v->rows = d->rows;
    v->rows.format = c->format;
    if (own)
        v->rows.chunks = new_chunks(&v->rows);
    struct encoding p = {
        .data = d, .encoder = c, .to = &v->rows, .tile_rows = TILE_ROWS, .held = true};
    if (p.tile_rows >> v->rows.shift)
        p.tile_rows = UINT64_C(1) << v->rows.shift;
    find_identities(&p);
    threads_run((unsigned)((v->rows.count + p.tile_rows - 1) / p.tile_rows), encode_tile, &p);
    if (c->statistics)
        encode_first(&p, v);
    mem_free(p.same_slots);
    if (give && own)
        rows_release(&d->rows);
    if (give)
        d->rows.chunks = NULL;
    return v;
}

const struct rows *view_first(const struct view *v)
{
    return v->first.chunks ? &v->first : &v->rows;
}

void view_free(struct view *v)
{
    if (v) {
        rows_release(&v->rows);
        rows_release(&v->first);
    }
    mem_free(v);
}
