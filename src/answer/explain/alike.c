/* alike.c - see alike.h. */
#include "answer/explain/alike.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "measure/association.h"
#include "table/encoder/cell_copy.h"
#include "table/schema/record.h"

#define SEED 20260104u
enum { STEPS_MOST = 50 }; /* of a channel that are looked at in a row */

/* The sample that is compared: the same rows, and for channels the same steps, of every unit. */
struct look {
    const struct row_store *k;
    const struct schema *s;
    const struct rowfmt *f;
    uint32_t count, steps; /* cells of a unit; of a row */
    uint32_t *row;         /* [count] */
};

static struct look look_at(const struct row_store *k)
{
    struct look l = {.k = k, .s = k->serve->schema, .f = &k->serve->encoders[0]->format,
                     .steps = 1};
    if (l.s->steps)
        l.steps = l.s->steps < STEPS_MOST ? l.s->steps : STEPS_MOST;
    l.row = mem_alloc(ALIKE_ROWS + 1, sizeof *l.row);
    for (uint32_t i = 0; i < k->rows && l.count + l.steps <= ALIKE_ROWS; i++) {
        const uint32_t row = rng_permute(SEED, 0, 0, (uint32_t)k->rows, i);
        const unsigned char *record = k->raw[0] + row * l.f->stride;
        if (record_float(record, l.f->at_weight) > 0)
            for (uint32_t t = 0; t < l.steps; t++)
                l.row[l.count++] = row;
    }
    return l;
}

static struct trait trait_of(const struct look *l, const struct unit *u)
{
    const struct column *c = &l->s->columns[u->columns[0]];
    const uint32_t apart = u->count / l->steps; /* of the steps of a channel */
    float *numbers = mem_alloc((size_t)l->count + 1, sizeof *numbers);
    int32_t *slots = mem_alloc((size_t)l->count + 1, sizeof *slots);
    for (uint32_t i = 0; i < l->count; i++) {
        const unsigned char *record = l->k->raw[0] + l->row[i] * l->f->stride;
        const struct column *own = &l->s->columns[u->columns[i % l->steps * apart]];
        if (c->number != UINT32_MAX)
            numbers[i] = (float)((double)record_number(record, own->number) +
                                 (l->s->steps ? l->s->offsets[own->number] : 0));
        else
            slots[i] = record_int(record, l->f->at_category + 4 * own->category);
    }
    struct trait t = c->number != UINT32_MAX ? trait_numbers(numbers, l->count)
                                             : trait_categories(slots, l->count);
    mem_free(numbers);
    mem_free(slots);
    return t;
}

static bool looked_at(const struct schema *s, const struct unit *u)
{
    return s->steps ? u->count == s->steps
                    : u->count == 1 && s->columns[u->columns[0]].type != COLUMN_TEXT;
}

/* Finds the units that say the same as unit `first` and are in no group yet. */
static void find_group(struct alikes *a, const struct unit *const *units,
                       const struct trait *traits, uint32_t count, uint32_t first, bool *taken,
                       uint32_t *scratch)
{
    struct alike g = {.units = mem_alloc(count, sizeof(struct unit *)), .least = 1};
    g.units[g.count++] = units[first];
    for (uint32_t i = first + 1; i < count; i++) {
        const double v = taken[i] ? 0 : association(&traits[first], &traits[i], scratch);
        if (v < ALIKE_LEAST)
            continue;
        taken[i] = true;
        g.units[g.count++] = units[i];
        g.least = fmin(g.least, v);
    }
    if (g.count > 1) {
        a->items = mem_grow(a->items, (size_t)a->count + 1, sizeof *a->items);
        a->items[a->count++] = g;
    } else {
        mem_free(g.units);
    }
}

void alikes_find(struct alikes *a, const struct row_store *k, const struct unit *const *units,
                 uint32_t count)
{
    *a = (struct alikes){0};
    if (!k->rows)
        return;
    struct look look = look_at(k);
    if (look.count < ALIKE_ROWS_LEAST * look.steps)
        count = 0;
    const struct unit **list = mem_alloc((size_t)count + 1, sizeof(struct unit *));
    struct trait *traits = mem_zero((size_t)count + 1, sizeof *traits);
    bool *taken = mem_zero((size_t)count + 1, sizeof *taken);
    uint32_t *scratch = mem_zero((size_t)look.count + 1, sizeof *scratch), n = 0;
    for (uint32_t i = 0; i < count && n < ALIKE_COLUMNS; i++)
        if (looked_at(look.s, units[i])) {
            list[n] = units[i];
            traits[n++] = trait_of(&look, units[i]);
        }
    for (uint32_t i = 0; i < n; i++)
        if (!taken[i])
            find_group(a, list, traits, n, i, taken, scratch);
    for (uint32_t i = 0; i < n; i++)
        trait_free(&traits[i]);
    mem_free(traits);
    mem_free(list);
    mem_free(taken);
    mem_free(scratch);
    mem_free(look.row);
}

void alike_option(const struct alike *a, struct text *out)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const char *name = a->units[i]->name;
        const bool quoted = strchr(name, ',') || *name == '"';
        text_put(out, i ? "," : "");
        text_put(out, quoted ? "\"" : "");
        for (; *name; name++) {
            if (quoted && *name == '"')
                text_char(out, '"');
            text_char(out, *name);
        }
        text_put(out, quoted ? "\"" : "");
    }
}

void alikes_free(struct alikes *a)
{
    for (uint32_t i = 0; i < a->count; i++)
        mem_free(a->items[i].units);
    mem_free(a->items);
    *a = (struct alikes){0};
}
