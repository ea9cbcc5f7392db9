/* opt_copy.c - structs that opt_read filled: copied, compared. */
#include <math.h>

#include "base/mem.h"
#include "base/json/opt_parts.h"

/* An empty list is not null. */
static void *items_copy(const void *items, size_t size)
{
    return items ? mem_copy(items, size) : NULL;
}

/* Replaces what an option of the struct `into` points at by a copy that it owns. */
static void own(const struct option *row, void *field)
{
    struct opt_ints *ints = field;
    struct opt_numbers *numbers = field;
    struct opt_strings *strings = field;
    char **string = field;
    if (row->type == OPT_STRING && *string)
        *string = mem_string(*string);
    else if (row->type == OPT_STRINGS && strings->items)
        *strings = opt_strings_copy(strings);
    else if (row->type == OPT_INTS)
        ints->items = items_copy(ints->items, ints->count * sizeof *ints->items);
    else if (row->type == OPT_NUMBERS)
        numbers->items = items_copy(numbers->items, numbers->count * sizeof *numbers->items);
    else if (row->type == OPT_TABLE)
        for (const struct option *inside = row->table; inside->key; inside++)
            own(inside, opt_field(inside, field));
}

void opt_copy(const struct option *table, const void *from, size_t size, void *into)
{
    memcpy(into, from, size);
    for (const struct option *row = table; row->key; row++)
        own(row, opt_field(row, into));
}

static bool same_string(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_strings(const struct opt_strings *a, const struct opt_strings *b)
{
    bool same = a->count == b->count && !a->items == !b->items;
    for (size_t i = 0; same && i < a->count; i++)
        same = strcmp(a->items[i], b->items[i]) == 0;
    return same;
}

/* Not numbers are equal: they stand for null. */
static bool same_number(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a <= b && a >= b);
}

static bool same_numbers(const struct opt_numbers *a, const struct opt_numbers *b)
{
    bool same = a->count == b->count && !a->items == !b->items;
    for (size_t i = 0; same && i < a->count; i++)
        same = same_number(a->items[i], b->items[i]);
    return same;
}

static bool same_ints(const struct opt_ints *a, const struct opt_ints *b)
{
    return a->count == b->count && !a->items == !b->items &&
           (!a->count || memcmp(a->items, b->items, a->count * sizeof *a->items) == 0);
}

static bool same_json(const struct json *a, const struct json *b)
{
    struct text one = {0}, other = {0};
    if (a)
        json_write(&one, a, 0);
    if (b)
        json_write(&other, b, 0);
    bool same = !a == !b && same_string(one.data, other.data);
    text_free(&one);
    text_free(&other);
    return same;
}

static bool same_value(const struct option *row, const void *a, const void *b)
{
    switch (row->type) {
    case OPT_BOOL: return *(const bool *)a == *(const bool *)b;
    case OPT_INT: return *(const int64_t *)a == *(const int64_t *)b;
    case OPT_SEED: return *(const uint64_t *)a == *(const uint64_t *)b;
    case OPT_NUMBER: return same_number(*(const double *)a, *(const double *)b);
    case OPT_STRING: return same_string(*(char *const *)a, *(char *const *)b);
    case OPT_WORD: return *(const int *)a == *(const int *)b;
    case OPT_STRINGS: return same_strings(a, b);
    case OPT_INTS: return same_ints(a, b);
    case OPT_NUMBERS: return same_numbers(a, b);
    case OPT_TABLE: /* null: its struct begins with a bool */
        return (!opt_null_table(row) || *(const bool *)a == *(const bool *)b) &&
               ((opt_null_table(row) && !*(const bool *)a) || opt_equal(row->table, a, b));
    case OPT_CUSTOM:
        return same_json(*(const struct json *const *)a, *(const struct json *const *)b);
    }
    return false;
}

bool opt_equal(const struct option *table, const void *a, const void *b)
{
    for (const struct option *row = table; row->key; row++)
        if (!same_value(row, (const char *)a + row->offset, (const char *)b + row->offset))
            return false;
    return true;
}
