/* dataset.c - creates and frees a dataset. Its rows: dataset_read.c. */
#include "table/dataset/dataset.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "table/dataset/dataset_read.h"
#include "table/dataset/record_hash.h"

static bool load(struct reading *r, const struct data_options *o, const struct stopper *stop,
                 struct err *e)
{
    struct dataset *d = r->data;
    if (!dataset_read(r, o, stop, e))
        return false;
    mem_trim();
    if (d->vanished)
        log_note("%llu number%s too small for float32 and read as 0: scale the column if they "
                 "matter", (unsigned long long)d->vanished, d->vanished == 1 ? " is" : "s are");
    if (d->schema->steps_sorted)
        log_note("columns of a pattern in data.sequence.wide neither rise nor fall by their "
                 "numbers, which therefore say the order of steps; a list of names keeps its own");
    d->samples = (struct samples){.count = d->rows.count};
    d->target = spill_flat(&r->values[VALUE_TARGET]);
    d->label = spill_flat(&r->values[VALUE_LABEL]);
    d->key = spill_flat(&r->values[VALUE_KEY]);
    d->group = spill_flat(&r->values[VALUE_GROUP]);
    d->time = spill_flat(&r->values[VALUE_TIME]);
    d->said = spill_flat(&r->values[VALUE_SAID]);
    dataset_tell_twins(d, dataset_join_labels(d));
    struct series_step *steps = spill_flat(&r->values[VALUE_STEP]);
    return !steps || dataset_find_series(d, o, steps, e);
}

struct dataset *dataset_load(const struct schema *declared, const struct data_options *o,
                             const struct stopper *stop, struct err *e)
{
    struct reading r = {.data = mem_zero(1, sizeof *r.data)};
    r.data->schema = schema_copy(declared);
    r.data->progress = o->progress;
    bool good = load(&r, o, stop, e);
    for (int k = 0; k < ROW_VALUES; k++)
        spill_free(&r.values[k]);
    if (good)
        return r.data;
    dataset_free(r.data);
    return NULL;
}

static uint64_t chunks_of(const struct rows *rows)
{
    return (rows->count + (UINT64_C(1) << rows->shift) - 1) >> rows->shift;
}

void rows_release(struct rows *rows)
{
    unsigned char **own;
    memcpy(&own, &rows->chunks, sizeof own); /* const for readers */
    for (uint64_t i = 0; own && i < chunks_of(rows); i++)
        mem_free(own[i]);
    mem_free(own);
    rows->chunks = NULL;
}

uint64_t *rows_hash(struct dataset *d)
{
    const struct rows *rows = &d->rows;
    uint64_t *all = mem_alloc(rows->count + 1, sizeof *all), in_chunk = UINT64_C(1) << rows->shift;
    for (uint64_t from = 0; d->hash && from < rows->count; from += in_chunk) {
        uint64_t *chunk = d->hash[from >> rows->shift], left = rows->count - from;
        memcpy(all + from, chunk, (left < in_chunk ? left : in_chunk) * sizeof *all);
        mem_free(chunk);
    }
    for (uint64_t i = 0; !d->hash && i < rows->count; i++)
        all[i] = record_hash(rows_at(rows, i), &rows->format);
    mem_free(d->hash);
    d->hash = NULL;
    return all;
}

void dataset_free(struct dataset *d)
{
    if (!d)
        return;
    for (uint64_t i = 0; d->hash && i < chunks_of(&d->rows); i++)
        mem_free(d->hash[i]);
    mem_free(d->hash);
    rows_release(&d->rows);
    mem_free(d->target);
    mem_free(d->label);
    mem_free(d->key);
    mem_free(d->group);
    mem_free(d->time);
    mem_free(d->said);
    mem_free(d->moved);
    mem_free((void *)(uintptr_t)d->samples.first);
    mem_free(d->sample.text);
    mem_free(d->sample.offsets);
    remarks_free(&d->remarks);
    schema_free(d->schema);
    mem_free(d);
}
