/* cell_copy.c - see cell_copy.h. */
#include "table/encoder/cell_copy.h"

#include <string.h>

#include "csv/form/date.h"

uint32_t column_numbers(const struct column *c)
{
    return c->number == UINT32_MAX ? 0 : c->type == COLUMN_DATETIME ? DATE_PARTS : 1;
}

static void set_missing(const struct rowfmt *f, uint32_t number, bool missing,
                        unsigned char *record)
{
    uint32_t word, mask = UINT32_C(1) << number % 32;
    unsigned char *at = record + f->at_missing + 4 * (size_t)(number / 32);
    memcpy(&word, at, sizeof word);
    word = missing ? word | mask : word & ~mask;
    memcpy(at, &word, sizeof word);
}

static bool is_missing(const struct rowfmt *f, uint32_t number, const unsigned char *record)
{
    uint32_t word;
    memcpy(&word, record + f->at_missing + 4 * (size_t)(number / 32), sizeof word);
    return word >> number % 32 & 1;
}

void cell_copy(const struct encoder *e, size_t column, unsigned char *to,
               const unsigned char *from)
{
    const struct rowfmt *f = &e->format;
    const struct column *c = &e->schema->columns[column];
    const struct column_fit *fit = &e->columns[column];
    if (c->category != UINT32_MAX) {
        size_t at = f->at_category + 4 * (size_t)c->category;
        memcpy(to + at, from + at, 4);
    }
    if (fit->slots) { /* a text */
        size_t at = f->at_category + 4 * (size_t)fit->term;
        memcpy(to + at, from + at, 4 * (size_t)fit->slots);
    }
    for (uint32_t i = 0; i < column_numbers(c); i++) {
        uint32_t number = c->number + i;
        memcpy(to + 4 * (size_t)number, from + 4 * (size_t)number, 4);
        set_missing(f, number, is_missing(f, number, from), to);
    }
}

void cell_set_number(const struct rowfmt *f, uint32_t number, float value, unsigned char *record)
{
    memcpy(record + 4 * (size_t)number, &value, sizeof value);
    set_missing(f, number, false, record);
}
