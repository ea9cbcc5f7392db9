/* drift.c - see drift.h. */
#include "table/encoder/drift.h"

#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "table/schema/record.h"

struct drift *drift_new(const struct encoder *c, const struct bloom *pooled)
{
    const size_t columns = c->schema->column_count;
    struct drift *d = mem_zero(1, sizeof *d);
    d->pooled = pooled;
    d->unknown = mem_zero(columns, sizeof *d->unknown);
    d->first = mem_zero(columns, sizeof *d->first);
    d->columns = columns;
    d->rare = mem_zero(columns, sizeof *d->rare);
    d->outside = mem_zero(columns, sizeof *d->outside);
    d->missing = mem_zero(columns, sizeof *d->missing);
    d->least = mem_alloc(columns, sizeof *d->least);
    d->most = mem_alloc(columns, sizeof *d->most);
    d->places = mem_zero(columns, sizeof *d->places);
    uint64_t all = 0;
    for (size_t i = 0; i < columns; i++) {
        d->least[i] = d->most[i] = NAN;
        all += c->columns[i].spread.places;
    }
    uint64_t *next = d->counts = mem_zero(all + 1, sizeof *next);
    for (size_t i = 0; i < columns; i++) {
        d->places[i] = c->columns[i].spread.places ? next : NULL;
        next += c->columns[i].spread.places;
    }
    return d;
}

void drift_add(struct drift *into, const struct drift *from, const struct encoder *c)
{
    into->vanished += from->vanished;
    into->respelt += from->respelt;
    into->unusual += from->unusual;
    into->unseen += from->unseen;
    for (size_t i = 0; i < into->columns; i++) {
        into->unknown[i] += from->unknown[i];
        for (int k = 0; k < DRIFT_NEW && from->first[i].text[k]; k++)
            drift_keep(into, i, from->first[i].text[k], strlen(from->first[i].text[k]));
        into->rare[i] += from->rare[i];
        into->outside[i] += from->outside[i];
        into->missing[i] += from->missing[i];
        into->least[i] = fminf(into->least[i], from->least[i]);
        into->most[i] = fmaxf(into->most[i], from->most[i]);
        for (uint32_t k = 0; k < c->columns[i].spread.places; k++)
            into->places[i][k] += from->places[i][k];
    }
}

void drift_undo(struct drift *from, struct drift *one, size_t columns)
{
    from->vanished -= one->vanished;
    from->respelt -= one->respelt;
    from->unusual -= one->unusual;
    from->unseen -= one->unusual > 0;
    from->last -= one->unusual;
    one->vanished = one->respelt = one->unusual = 0;
    for (size_t i = 0; i < columns; i++) {
        from->unknown[i] -= one->unknown[i];
        from->rare[i] -= one->rare[i];
        from->outside[i] -= one->outside[i];
        from->missing[i] -= one->missing[i];
        one->unknown[i] = one->rare[i] = one->outside[i] = one->missing[i] = 0;
    }
}

void drift_keep(struct drift *d, size_t column, const char *text, size_t length)
{
    char **to = d->first[column].text;
    for (int k = 0; k < DRIFT_NEW; k++) {
        if (!to[k])
            to[k] = mem_string_n(text, length);
        else if (strlen(to[k]) != length || memcmp(to[k], text, length) != 0)
            continue;
        return;
    }
}

uint64_t category_key(const char *column, const char *text, size_t length)
{
    return rng_hash(text, length, rng_hash(column, strlen(column), 0));
}

void drift_free(struct drift *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->columns; i++)
        for (int k = 0; k < DRIFT_NEW; k++)
            mem_free(d->first[i].text[k]);
    mem_free(d->first);
    mem_free(d->unknown);
    mem_free(d->rare);
    mem_free(d->outside);
    mem_free(d->missing);
    mem_free(d->least);
    mem_free(d->most);
    mem_free(d->places);
    mem_free(d->counts);
    mem_free(d);
}

static void count_numbers(struct drift *d, const struct encoder *e, size_t column,
                          const unsigned char *records, const bool *bad, size_t count)
{
    const uint32_t number = e->schema->columns[column].number;
    const struct number_slot *n = &e->numbers[number];
    for (size_t i = 0; i < count; i++) {
        float v = record_number(records + i * e->format.stride, number);
        if (bad[i])
            continue;
        if (v < n->low || v > n->high) {
            d->least[column] = fminf(d->least[column], v);
            d->most[column] = fmaxf(d->most[column], v);
        }
        if (d->places[column])
            d->places[column][distribution_place(&e->columns[column].spread, v)]++;
    }
}

void drift_places(struct drift *d, const struct encoder *e, const unsigned char *records,
                  const bool *bad, size_t count)
{
    for (size_t k = 0; k < e->schema->column_count; k++) {
        const struct column *c = &e->schema->columns[k];
        if (c->type == COLUMN_NUMERIC || c->type == COLUMN_DATETIME) {
            count_numbers(d, e, k, records, bad, count);
            continue;
        }
        uint32_t at = e->format.at_category + 4 * c->category;
        for (size_t i = 0; d->places[k] && i < count; i++)
            if (!bad[i])
                d->places[k][record_int(records + i * e->format.stride, at)]++;
    }
}

double drift_index(const struct drift *d, const struct encoder *e, size_t column, double *chance)
{
    const struct distribution *spread = &e->columns[column].spread;
    const bool category = e->schema->columns[column].type == COLUMN_CATEGORICAL;
    *chance = NAN;
    return spread->places ? distribution_index(spread, category, d->places[column], chance)
                          : (double)NAN;
}

void drift_write(const struct drift *d, const struct encoder *e, struct json_out *out)
{
    double chance;
    json_open(out, "stability_index", '{');
    for (size_t i = 0; i < e->schema->column_count; i++)
        if (e->columns[i].spread.places)
            json_put_number(out, e->schema->columns[i].name,
                            round(1e6 * drift_index(d, e, i, &chance)) / 1e6);
    json_close(out, '}');
}
