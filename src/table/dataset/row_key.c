/* row_key.c - see row_key.h: a chain of multiplications of 64 by 64 bits, folded. */
#include "table/dataset/row_key.h"

#include <math.h>

#include "base/mem.h"
#include "base/rng.h"

struct row_keys {
    const struct schema *s;
    uint32_t numbers, categories;
    uint32_t *column;  /* [categories]: its schema column */
    uint64_t **text;   /* [categories]: the key of each value of its vocabulary; reading: NULL */
    uint64_t *label;   /* [labels]; NULL: regression */
    uint32_t at_label; /* reading: in a raw record */
};

__extension__ typedef unsigned __int128 wide;

static inline uint64_t add(uint64_t h, uint64_t word)
{
    wide product = (wide)(h ^ word) * UINT64_C(0xD6E8FEB86659FD93);
    return ((uint64_t)product ^ (uint64_t)(product >> 64)) + (h << 1 | h >> 63);
}

static uint64_t *vocab_keys(const struct vocab *v)
{
    uint32_t count = v ? vocab_count(v) : 0;
    uint64_t *keys = mem_alloc((size_t)count + 1, sizeof *keys);
    for (uint32_t i = 0; i < count; i++) {
        size_t length;
        const char *text = vocab_text(v, i, &length);
        keys[i] = rng_hash(text, length, 1);
    }
    return keys;
}

static struct row_keys *keys_of(const struct schema *s)
{
    struct row_keys *k = mem_zero(1, sizeof *k);
    *k = (struct row_keys){.s = s, .numbers = s->number_count};
    k->column = mem_zero(s->column_count + 1, sizeof *k->column);
    for (size_t i = 0; i < s->column_count; i++)
        if (s->columns[i].category != UINT32_MAX)
            k->column[k->categories++] = (uint32_t)i;
    k->label = s->labels ? vocab_keys(s->labels) : NULL;
    return k;
}

struct row_keys *row_keys_of(const struct dataset *d)
{
    struct row_keys *k = keys_of(d->schema);
    k->text = mem_zero((size_t)k->categories + 1, sizeof *k->text);
    for (uint32_t i = 0; i < k->categories; i++)
        k->text[i] = vocab_keys(d->schema->columns[k->column[i]].values);
    return k;
}

struct row_keys *row_keys_reading(const struct encoder *c)
{
    struct row_keys *k = keys_of(c->schema);
    k->at_label = c->format.at_target;
    return k;
}

void row_keys_free(struct row_keys *k)
{
    if (!k)
        return;
    for (uint32_t i = 0; k->text && i < k->categories; i++)
        mem_free(k->text[i]);
    mem_free(k->text);
    mem_free(k->column);
    mem_free(k->label);
    mem_free(k);
}

/* The bits of a number; all zeros are one, and all missing ones. */
static inline uint32_t bits_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return v == 0 ? 0 : v == v ? bits : 0x7FC00000u;
}

/* The bits of two numbers. Mostly none is zero, and none has the largest exponent. */
static inline uint64_t pair_of(const unsigned char *record, uint32_t i)
{
    uint64_t pair;
    memcpy(&pair, record + sizeof(float) * i, sizeof pair);
    const uint64_t size = pair & UINT64_C(0x7FFFFFFF7FFFFFFF);
    const uint64_t odd = (size - UINT64_C(0x0000000100000001)) |
                         (size + UINT64_C(0x0080000000800000));
    if (!(odd & UINT64_C(0x8000000080000000)))
        return pair;
    return bits_of(record_number(record, i)) |
           (uint64_t)bits_of(record_number(record, i + 1)) << 32;
}

static uint64_t add_numbers(uint64_t h, const unsigned char *record, uint32_t count)
{
    uint32_t i = 0;
    for (; i + 1 < count; i += 2)
        h = add(h, pair_of(record, i));
    return i < count ? add(h, bits_of(record_number(record, i))) : h;
}

bool row_key_of(const struct row_keys *k, const struct dataset *d, uint64_t row, uint64_t *key)
{
    const unsigned char *record = rows_at(&d->rows, row);
    const struct rowfmt *f = &d->rows.format;
    uint64_t h = add_numbers(1, record, k->numbers);
    for (uint32_t i = 0; i < k->categories; i++) {
        const struct column *c = &k->s->columns[k->column[i]];
        int32_t id = record_int(record, f->at_category + 4 * c->category);
        h = add(h, id < 2 ? 0 : k->text[i][id - 2]);
    }
    if (k->label) {
        int32_t label = record_int(record, f->at_target);
        *key = label < 0 ? 0 : add(h, k->label[label]);
        return label >= 0;
    }
    float value = (float)d->target[row];
    *key = add(h, bits_of(value));
    return !isnan(value);
}

bool row_key_read(const struct row_keys *k, const struct binding *b, const struct csv_cells *cells,
                  size_t record, const unsigned char *raw, uint64_t *key)
{
    const struct schema *s = k->s;
    uint64_t h = add_numbers(1, raw, k->numbers);
    for (uint32_t i = 0; i < k->categories; i++) {
        const struct csv_cell *c = cell_at(b, cells, record, k->column[i]);
        bool missing = !c || cell_is_missing(s, k->column[i], c->text, c->length);
        h = add(h, missing ? 0 : rng_hash(c->text, c->length, 1));
    }
    if (k->label) {
        int32_t label = record_int(raw, k->at_label);
        *key = label < 0 ? 0 : add(h, k->label[label]);
        return label >= 0;
    }
    const struct csv_cell *c = cell_at(b, cells, record, s->target);
    double value;
    if (!c || cell_is_missing(s, s->target, c->text, c->length) ||
        column_number(s, s->target, c->text, c->length, &value) != NUMBER_OK)
        return false;
    *key = add(h, bits_of((float)value));
    return true;
}
