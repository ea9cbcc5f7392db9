/* attribute_path.c - see attribute_path.h. */
#include "answer/explain/attribute_path.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "table/encoder/cell_copy.h"
#include "table/schema/record.h"

#define SEED 20260102u
#define MOVES_MOST 1536u /* of a row on all paths, but for the least */

enum draws { DRAW_TIME, DRAW_VALUE, DRAW_JITTER };

static double uniform(uint64_t element, uint32_t unit, enum draws what)
{
    return ((double)rng_bits(SEED, element, unit, what, RNG_SAMPLE) + 0.5) * 0x1p-32;
}

/* One of `count` equal parts of 0 .. 1 for each path, in an order that each unit has of its
 * own. */
static void deal_parts(uint32_t count, uint32_t unit, enum draws what, uint32_t *part)
{
    for (uint32_t i = 0; i < count; i++)
        part[i] = i;
    for (uint32_t i = count; i-- > 1;) {
        uint32_t k = (uint32_t)(uniform(i, unit, what) * (i + 1)), other = part[i];
        part[i] = part[k];
        part[k] = other;
    }
}

/* --- the beginnings of paths --- */

/* A value of the slot's units, as a raw record has it. */
static double raw_of(const struct number_slot *n, double u)
{
    return n->transform ? copysign(expm1(fabs(u)), u) - n->offset : u;
}

/* The mean of the bins, each at its middle. */
static double mean_of_bins(const struct number_slot *n, const struct distribution *d)
{
    double sum = 0, rows = 0;
    for (uint32_t bin = 0; bin <= d->edges; bin++) {
        double low = bin ? (double)d->edge[bin - 1] : (double)n->low;
        double high = bin < d->edges ? (double)d->edge[bin] : (double)n->high;
        sum += (double)d->rows[bin + 1] * (low + high) / 2;
        rows += (double)d->rows[bin + 1];
    }
    return rows > 0 ? sum / rows : raw_of(n, (double)n->impute);
}

/* The mean of the training values, as far as the model knows it. */
static double mean_of(const struct number_slot *n, const struct distribution *spread, bool first)
{
    double sum = 0;
    if (n->scale == SCALE_STANDARD && !n->transform)
        return n->center;
    for (uint32_t i = 0; i < n->quantile_count; i++)
        sum += raw_of(n, (double)n->quantiles[i]) / n->quantile_count;
    if (n->quantile_count)
        return sum;
    return first && spread->places ? mean_of_bins(n, spread) : raw_of(n, (double)n->impute);
}

/* The slot below which `share` of the training rows lie. */
static uint32_t slot_at(const struct distribution *spread, double share)
{
    double rows = 0, below = 0;
    uint32_t slot = 0;
    for (uint32_t i = 0; i < spread->places; i++)
        rows += (double)spread->rows[i];
    if (!(rows > 0))
        return 1; /* unknown */
    while (slot + 1 < spread->places) {
        below += (double)spread->rows[slot];
        if (below > share * rows)
            break;
        slot++;
    }
    return slot;
}

/* The slot of the same value in another encoder. */
static int32_t slot_in(const struct vocab *from, uint32_t slot, const struct vocab *to)
{
    size_t length;
    if (from == to || slot < FIRST_VALUE)
        return (int32_t)slot;
    const char *text = vocab_text(from, slot - FIRST_VALUE, &length);
    uint32_t at = vocab_find(to, text, length);
    return at == UINT32_MAX ? 1 : (int32_t)at + FIRST_VALUE;
}

static void begin_column(struct paths *p, const struct serve *s, uint32_t k, uint32_t column,
                         const uint32_t *part)
{
    const struct encoder *c = s->encoders[k];
    const struct column *own = &c->schema->columns[column];
    const struct column_fit *fit = &c->columns[column], *first = &s->encoders[0]->columns[column];
    for (uint32_t path = 0; path < p->count; path++) {
        unsigned char *record = p->begin[k] + path * (size_t)c->format.stride;
        for (uint32_t i = 0; i < column_numbers(own); i++)
            cell_set_number(&c->format, own->number + i,
                            (float)mean_of(&c->numbers[own->number + i], &fit->spread, i == 0),
                            record);
        if (own->category == UINT32_MAX || own->type == COLUMN_TEXT)
            continue; /* a text begins empty */
        double share = (part[path] + 0.5) / p->count;
        int32_t slot = slot_in(first->vocab, slot_at(&first->spread, share), fit->vocab);
        memcpy(record + c->format.at_category + 4 * (size_t)own->category, &slot, sizeof slot);
    }
}

/* --- moves --- */

static int by_time(const void *a, const void *b, const void *context)
{
    const struct move *x = a, *y = b;
    (void)context;
    return x->time < y->time ? -1 : x->time > y->time;
}

static void add_moves(struct paths *p, uint32_t unit, uint32_t steps, const uint32_t *part,
                      uint32_t at)
{
    for (uint32_t path = 0; path < p->count; path++) {
        double in_step = (part[path] + uniform(path, unit, DRAW_JITTER)) / p->count;
        for (uint32_t k = 0; k < steps; k++)
            p->moves[(size_t)path * p->move_count + at + k] =
                (struct move){.time = (k + in_step) / steps,
                              .share = (double)(k + 1) / steps,
                              .unit = unit};
    }
}

/* The number of paths and steps that the time allows. */
static void choose_size(struct paths *p, uint32_t numbers)
{
    static const struct { uint32_t paths, steps; } sizes[] = {
        {16, 4}, {16, 2}, {8, 2}, {8, 1}, {4, 1}, {2, 1}};
    size_t i = 0;
    while (i + 1 < sizeof sizes / sizeof *sizes &&
           sizes[i].paths * (p->unit_count - numbers + sizes[i].steps * numbers) > MOVES_MOST)
        i++;
    p->count = sizes[i].paths;
    p->steps = sizes[i].steps;
    p->move_count = p->unit_count - numbers + p->steps * numbers;
}

static bool has_numbers(const struct schema *s, const struct unit *u)
{
    return column_numbers(&s->columns[u->columns[0]]) > 0;
}

void paths_make(struct paths *p, const struct serve *s, const struct units *units)
{
    const struct schema *c = s->schema;
    uint32_t numbers = 0, at = 0;
    *p = (struct paths){.units = units->items, .unit_count = units->count};
    for (uint32_t j = 0; j < units->count; j++)
        numbers += has_numbers(c, &p->units[j]);
    choose_size(p, numbers);
    p->moves = mem_alloc((size_t)p->count * p->move_count + 1, sizeof *p->moves);
    p->begin = mem_zero(s->encoder_count, sizeof(unsigned char *));
    for (uint32_t k = 0; k < s->encoder_count; k++)
        p->begin[k] = mem_zero(p->count, s->encoders[k]->format.stride);
    uint32_t *part = mem_alloc(p->count, sizeof *part);
    for (uint32_t j = 0; j < units->count; j++) {
        const struct unit *u = &p->units[j];
        uint32_t steps = has_numbers(c, u) ? p->steps : 1;
        deal_parts(p->count, j, DRAW_VALUE, part);
        for (uint32_t k = 0; k < s->encoder_count; k++)
            for (uint32_t i = 0; i < u->count; i++)
                begin_column(p, s, k, u->columns[i], part);
        deal_parts(p->count, j, DRAW_TIME, part);
        add_moves(p, j, steps, part, at);
        at += steps;
    }
    for (uint32_t path = 0; path < p->count; path++)
        sort_stable(p->moves + (size_t)path * p->move_count, p->move_count, sizeof *p->moves,
                    by_time, NULL);
    mem_free(part);
}

void paths_free(struct paths *p, const struct serve *s)
{
    for (uint32_t k = 0; p->begin && k < s->encoder_count; k++)
        mem_free(p->begin[k]);
    mem_free(p->begin);
    mem_free(p->moves);
}

static void place_number(const struct encoder *c, uint32_t number, double share,
                         const unsigned char *begin, unsigned char *record)
{
    const struct number_slot *n = &c->numbers[number];
    double from = (double)record_number(begin, number), to = (double)record_number(record, number);
    if (isnan(to) && c->schema->steps)
        return; /* the mean, or past the end of the sequence */
    if (isnan(to))
        to = raw_of(n, (double)n->impute);
    cell_set_number(&c->format, number, (float)(from + share * (to - from)), record);
}

void paths_place(const struct paths *p, const struct serve *s, uint32_t k, uint32_t path,
                 uint32_t unit, double share, unsigned char *record)
{
    const struct encoder *c = s->encoders[k];
    const unsigned char *begin = p->begin[k] + path * (size_t)c->format.stride;
    const struct unit *u = &p->units[unit];
    for (uint32_t i = 0; share < 1 && i < u->count; i++) {
        const struct column *own = &c->schema->columns[u->columns[i]];
        if (!column_numbers(own))
            cell_copy(c, u->columns[i], record, begin);
        for (uint32_t part = 0; part < column_numbers(own); part++)
            place_number(c, own->number + part, share, begin, record);
    }
}
