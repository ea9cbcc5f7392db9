/* data_pairs.c - see data_sample.h: how much columns say the same. */
#include <math.h>

#include "base/mem.h"
#include "check/data_sample.h"
#include "measure/association.h"

#define ASSOCIATION_LEAST 0.5
enum { ROWS_MOST = 1000, ROWS_LEAST = 30, COLUMNS_MOST = 300 };

static struct trait trait_of(const struct looking *x, size_t k, uint32_t rows)
{
    float *numbers = mem_alloc((size_t)rows + 1, sizeof *numbers);
    int32_t *codes = mem_alloc((size_t)rows + 1, sizeof *codes);
    const struct look_raw *raw = &x->raw[k];
    for (uint32_t i = 0; i < rows; i++) {
        const uint64_t row = i * x->rows / rows;
        if (raw->number)
            numbers[i] = (float)(raw->number[row] - x->to->columns[k].mean);
        else
            codes[i] = (int32_t)raw->code[row]; /* -1: missing */
    }
    struct trait t = raw->number ? trait_numbers(numbers, rows) : trait_categories(codes, rows);
    mem_free(numbers);
    mem_free(codes);
    return t;
}

static void take_pair(struct data_look *l, struct look_pair p)
{
    uint32_t at = l->pair_count < LOOK_PAIRS ? l->pair_count++ : LOOK_PAIRS;
    for (; at && l->pairs[at - 1].association < p.association; at--)
        if (at < LOOK_PAIRS)
            l->pairs[at] = l->pairs[at - 1];
    if (at < LOOK_PAIRS)
        l->pairs[at] = p;
}

void look_pairs_find(const struct looking *x)
{
    struct data_look *l = x->to;
    const uint32_t rows = x->rows < ROWS_MOST ? (uint32_t)x->rows : ROWS_MOST;
    struct trait traits[COLUMNS_MOST];
    size_t column[COLUMNS_MOST], count = 0;
    if (rows < ROWS_LEAST)
        return;
    uint32_t *scratch = mem_zero((size_t)rows + 1, sizeof *scratch);
    struct trait target = {0};
    if (l->labels[0])
        target = trait_of(x, l->target, rows);
    for (size_t k = 0; k < l->found->count && count < COLUMNS_MOST; k++)
        if (k != l->target && (x->raw[k].number || x->raw[k].code)) {
            column[count] = k;
            traits[count++] = trait_of(x, k, rows);
            if (l->labels[0])
                l->columns[k].tells = association(&traits[count - 1], &target, scratch);
        }
    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count; b++) {
            const double v = association(&traits[a], &traits[b], scratch);
            if (v >= ASSOCIATION_LEAST)
                take_pair(l, (struct look_pair){column[a], column[b], v});
        }
    for (size_t i = 0; i < count; i++)
        trait_free(&traits[i]);
    trait_free(&target);
    mem_free(scratch);
}
