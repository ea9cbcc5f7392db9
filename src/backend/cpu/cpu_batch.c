/* cpu_batch.c - the input of a batch: records, one-hot columns, embeddings. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"

static void copy_numbers(real *x, const unsigned char *record, uint32_t count)
{
#ifdef DNN_DOUBLE
    for (uint32_t i = 0; i < count; i++) {
        float number;
        memcpy(&number, record + 4 * (size_t)i, sizeof number);
        x[i] = (real)number;
    }
#else
    memcpy(x, record, 4 * (size_t)count);
#endif
}

/* Label and weight of one record; without a label the weight is 0. */
static void copy_target(real *target, real *weight, const unsigned char *record,
                        const struct source *from)
{
    const struct rowfmt *f = &from->rows.format;
    float w, value;
    int32_t class;
    memcpy(&w, record + f->at_weight, sizeof w);
    *target = 0;
    if (from->classes) {
        memcpy(&class, record + f->at_target, sizeof class);
        if (class < 0 || (uint32_t)class >= from->classes) {
            w = 0;
        } else {
            *target = (real)class;
            if (from->class_weight)
                w *= from->class_weight[class];
        }
    } else {
        memcpy(&value, record + f->at_target, sizeof value);
        if (isnan(value))
            w = 0;
        else
            *target = (real)value;
    }
    *weight = (real)w;
}

enum { GATHER_ROWS = 128, ASKED_BYTES = 512 };

/* The positions of `count` rows of the batch, the first of them at position `begin`, in the order
 * of this view. */
static void find_order(uint32_t *order, const struct op_gather *a, const struct slice *s,
                       uint64_t begin, uint32_t count, uint32_t view)
{
    const struct source *from = a->from;
    if (from->shuffle && from->by_length.runs) {
        for (uint32_t r = 0; r < count; r++)
            order[r] = order_place(from, a->now, view, (uint32_t)begin + r);
    } else if (from->shuffle) {
        struct shuffle shuffle = {a->now->seed, a->now->epoch, rng_order(a->now->model, view),
                                  (uint32_t)from->count};
        s->m->vec->permute(order, (uint32_t)begin, count, &shuffle);
    }
}

/* The addresses of the records of a batch. They lie anywhere in memory, so all are prefetched
 * before the first is read. */
static void find_records(const unsigned char **records, const struct op_gather *a,
                         const struct slice *s, uint64_t begin, uint32_t count, uint32_t view)
{
    const struct source *from = a->from;
    const uint32_t bytes = from->rows.format.stride < ASKED_BYTES ? from->rows.format.stride
                                                                  : ASKED_BYTES;
    uint32_t order[GATHER_ROWS];
    find_order(order, a, s, begin, count, view);
    for (uint32_t r = 0; r < count; r++) {
        uint64_t i = from->shuffle ? order[r] : begin + r;
        records[r] = rows_at(&from->rows, from->index ? from->index[i] : i);
        for (uint32_t byte = 0; byte < bytes; byte += 64)
            __builtin_prefetch(records[r] + byte);
    }
}

/* Numbers, indicators and categories of a record at row `row` of x. */
static void copy_record(const struct op_gather *a, const unsigned char *record, size_t row)
{
    const struct source *from = a->from;
    const struct rowfmt *f = &from->rows.format;
    const struct features *features = from->features;
    uint32_t indicators = features ? features->indicator_count : 0;
    real *x = act_real(a->x) + row * a->ld;
    copy_numbers(x, record, f->numbers);
    for (uint32_t i = 0; i < indicators; i++) {
        uint32_t word, bit = features->indicators[i];
        memcpy(&word, record + f->at_missing + 4 * (size_t)(bit / 32), sizeof word);
        x[f->numbers + i] = (real)(word >> bit % 32 & 1);
    }
    if (f->categories)
        memcpy(a->ids + row * f->categories, record + f->at_category, 4 * (size_t)f->categories);
}

/* Rows row0 .. row0 + count of the batch, all valid; `begin` is the position of the first in the
 * epoch's order. With views each of them has a row there, in its order. */
static void gather_rows(const struct op_gather *a, const struct slice *s, uint64_t begin,
                        size_t row0, uint32_t count)
{
    const unsigned char *records[GATHER_ROWS];
    const uint32_t views = a->views ? a->steps : 1;
    for (uint32_t view = 0; view < views; view++) {
        find_records(records, a, s, begin, count, view);
        for (uint32_t r = 0; r < count; r++) {
            size_t to = (row0 + r) * views + view;
            copy_record(a, records[r], to);
            copy_target(&a->target[to], &a->weight[to], records[r], a->from);
        }
    }
}

/* Clears rows begin .. end of x and of the ids, which have no record. */
static void clear_rows(const struct op_gather *a, size_t begin, size_t end)
{
    const struct rowfmt *f = &a->from->rows.format;
    uint32_t width = f->numbers + (a->from->features ? a->from->features->indicator_count : 0);
    for (size_t row = begin; row < end; row++)
        memset(act_real(a->x) + row * a->ld, 0, width * sizeof(real));
    if (f->categories && end > begin)
        memset(a->ids + begin * f->categories, 0, 4 * (end - begin) * f->categories);
}

/* As above, for sequences. */
static void gather_series(const struct op_gather *a, const struct slice *s, uint64_t begin,
                          size_t row0, uint32_t count)
{
    const struct source *from = a->from;
    uint32_t order[GATHER_ROWS];
    find_order(order, a, s, begin, count, 0);
    for (uint32_t r = 0; r < count; r++) {
        uint64_t i = from->shuffle ? order[r] : begin + r;
        const uint32_t *index = from->index + i * from->steps;
        size_t first = (row0 + r) * a->steps;
        uint32_t length = 0;
        for (; length < a->steps && index[length] != SOURCE_NONE; length++) {
            const unsigned char *record = rows_at(&from->rows, index[length]);
            size_t to = a->each ? first + length : row0 + r;
            copy_record(a, record, first + length);
            copy_target(&a->target[to], &a->weight[to], record, from);
        }
        clear_rows(a, first + length, first + a->steps);
        a->length[row0 + r] = (int32_t)length;
        if (a->begins)
            a->begins[row0 + r] = from->begins ? (int32_t)from->begins[i] : 1;
        for (uint32_t t = length; a->each && t < a->steps; t++)
            a->target[first + t] = a->weight[first + t] = 0;
    }
}

void cpu_gather(const struct op_gather *a, const struct slice *s)
{
    uint64_t begin = a->now->row0 + (uint64_t)a->micro * a->rows + s->row0, end = a->from->count;
    if (a->whole && a->now->row0 + a->whole < end)
        end = a->now->row0 + a->whole;
    uint64_t left = begin < end ? end - begin : 0;
    uint32_t valid = left < s->rows ? (uint32_t)left : s->rows, steps = a->steps ? a->steps : 1;
    bool series = steps > 1 && !a->views;
    for (uint32_t r = 0; r < valid; r += GATHER_ROWS) {
        uint32_t count = valid - r < GATHER_ROWS ? valid - r : GATHER_ROWS;
        (series ? gather_series : gather_rows)(a, s, begin + r, s->row0 + r, count);
    }
    size_t first = s->row0 + valid, last = s->row0 + s->rows, targets = a->each ? steps : 1;
    clear_rows(a, first * steps, last * steps);
    for (size_t row = first; series && row < last; row++)
        a->length[row] = 0;
    for (size_t row = first; a->begins && row < last; row++)
        a->begins[row] = 1;
    for (size_t i = first * targets; i < last * targets; i++)
        a->target[i] = a->weight[i] = 0;
}

void cpu_onehot(const struct op_onehot *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        real *x = act_real(a->x) + row * a->ld;
        const int32_t *ids = a->ids + row * a->ids_ld;
        for (uint32_t i = 0; i < a->column_count; i++) {
            const struct onehot_column *c = &a->columns[i];
            memset(x + c->at, 0, c->count * sizeof *x);
            uint32_t id = (uint32_t)ids[c->id];
            if (id < c->count)
                x[c->at + id] = 1;
        }
    }
}

void cpu_embed(const struct op_embed *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        real *x = act_real(a->x) + row * a->ld;
        const int32_t *ids = a->ids + row * a->ids_ld;
        for (uint32_t i = 0; i < a->column_count; i++) {
            const struct embed_column *c = &a->columns[i];
            uint32_t id = (uint32_t)ids[c->id] < c->count ? (uint32_t)ids[c->id] : 0;
            memcpy(x + c->at, a->params + c->table + (size_t)id * c->dim, c->dim * sizeof *x);
        }
    }
}

/* A table is cut into ranges of ids; a tile owns one range, scans all rows in order and adds those
 * with its ids. */
static uint32_t embed_parts(const struct embed_column *c)
{
    uint64_t parts = ((uint64_t)c->count * c->dim + 16383) / 16384;
    return parts < 1 ? 1 : parts > 16 ? 16 : (uint32_t)parts;
}

unsigned cpu_embed_back_tiles(const struct op_embed_back *a)
{
    unsigned tiles = 0;
    for (uint32_t i = 0; i < a->column_count; i++)
        tiles += embed_parts(&a->columns[i]);
    return tiles;
}

void cpu_embed_back(const struct op_embed_back *a, const struct slice *s)
{
    uint32_t part = s->tile;
    const struct embed_column *c = a->columns;
    while (part >= embed_parts(c))
        part -= embed_parts(c++);
    uint32_t parts = embed_parts(c);
    uint32_t begin = (uint32_t)((uint64_t)c->count * part / parts);
    uint32_t end = (uint32_t)((uint64_t)c->count * (part + 1) / parts);
    real *table = a->grads + c->table;
    if (!a->more)
        memset(table + (size_t)begin * c->dim, 0, (size_t)(end - begin) * c->dim * sizeof *table);
    for (size_t row = 0; row < a->rows; row++) {
        uint32_t id = (uint32_t)a->ids[row * a->ids_ld + c->id];
        if (id >= c->count)
            id = 0;
        if (id < begin || id >= end)
            continue;
        const real *dx = act_read(a->dx) + row * a->ld + c->at;
        real *to = table + (size_t)id * c->dim;
        for (uint32_t k = 0; k < c->dim; k++)
            to[k] += dx[k];
    }
}
