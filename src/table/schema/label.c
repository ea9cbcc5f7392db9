/* label.c - see label.h. */
#include "table/schema/label.h"

#include <math.h>

#include "base/mem.h"
#include "base/sort.h"
#include "csv/form/number.h"

#define WHOLE_MOST 9007199254740992.0 /* 2^53 */

bool label_number(const char *text, size_t length, char decimal, double *value)
{
    return !number_is_code(text, length) &&
           number_parse(text, length, decimal, value) == NUMBER_OK && fabs(*value) < WHOLE_MOST;
}

struct number {
    double value;
    uint32_t label;
};

static bool number_at(const struct vocab *labels, uint32_t i, char decimal, double *value)
{
    size_t length;
    const char *text = vocab_text(labels, i, &length);
    return label_number(text, length, decimal, value);
}

/* Reads all labels with that decimal sign. Returns an array in their order (mem_free); NULL: one is
 * no number. */
static struct number *read_numbers(const struct vocab *labels, char decimal)
{
    const uint32_t count = vocab_count(labels);
    struct number *items = mem_alloc((size_t)count + 1, sizeof *items);
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++) {
        items[i].label = i;
        good = number_at(labels, i, decimal, &items[i].value);
    }
    if (good)
        return items;
    mem_free(items);
    return NULL;
}

static struct number *read_either(const struct vocab *labels)
{
    struct number *items = read_numbers(labels, '.');
    return items ? items : read_numbers(labels, ',');
}

static bool is_equal(double a, double b)
{
    return a >= b && a <= b;
}

/* The first label of that value, if all are numbers with that decimal sign; no memory is taken. */
static uint32_t find_value(const struct vocab *labels, char decimal, double value, bool *all)
{
    uint32_t found = UINT32_MAX;
    *all = true;
    for (uint32_t i = 0; i < vocab_count(labels) && *all; i++) {
        double other;
        *all = number_at(labels, i, decimal, &other);
        if (*all && found == UINT32_MAX && is_equal(value, other))
            found = i;
    }
    return *all ? found : UINT32_MAX;
}

uint32_t label_find(const struct vocab *labels, char decimal, const char *text, size_t length)
{
    double value;
    bool all;
    uint32_t found = vocab_find(labels, text, length);
    if (found != UINT32_MAX || !label_number(text, length, decimal, &value))
        return found;
    found = find_value(labels, '.', value, &all);
    return all ? found : find_value(labels, ',', value, &all);
}

static int by_value(const void *one, const void *other, const void *context)
{
    (void)context;
    const struct number *a = one, *b = other;
    return a->value < b->value ? -1 : a->value > b->value;
}

uint32_t label_join(const struct vocab *labels, const uint64_t *rows, uint32_t *as)
{
    const uint32_t count = vocab_count(labels);
    uint32_t joined = 0;
    for (uint32_t i = 0; i < count; i++)
        as[i] = i;
    struct number *items = read_either(labels);
    if (!items)
        return 0;
    sort_stable(items, count, sizeof *items, by_value, NULL);
    for (uint32_t from = 0, to; from < count; from = to) {
        uint32_t best = items[from].label;
        bool whole = is_equal(items[from].value, rint(items[from].value));
        for (to = from + 1; to < count && is_equal(items[to].value, items[from].value); to++)
            if (rows && rows[items[to].label] > rows[best])
                best = items[to].label;
        for (uint32_t i = from; i < to; i++) {
            const uint32_t label = items[i].label;
            if (label == best || (!whole && rows && rows[label]))
                continue;
            as[label] = best;
            joined++;
        }
    }
    mem_free(items);
    return joined;
}
