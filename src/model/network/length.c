/* length.c - see length.h. */
#include "model/network/length.h"

#include <string.h>

#include "base/mem.h"

enum {
    RUN_STEPS = 8,   /* least steps of a run: the rows of a step are drawn from the rows of a run */
    LENGTHS_MOST = 8, /* that training steps may have */
    LEAST = 2,       /* of a pass: one step is not a sequence */
};
static const double PADDED = 0.1; /* of all steps: below it the order is left to chance */

/* --- lengths --- */

static uint32_t records_length(const uint32_t *index, uint32_t steps)
{
    uint32_t length = 0;
    while (length < steps && index[length] != SOURCE_NONE)
        length++;
    return length;
}

static uint32_t tokens_length(const unsigned char *ids, uint32_t steps)
{
    for (int32_t id; steps > 0; steps--) {
        memcpy(&id, ids + 4 * (size_t)(steps - 1), sizeof id);
        if (id)
            break;
    }
    return steps;
}

/* Channel by channel, as the indicators are. */
static bool step_there(const struct features *f, const unsigned char *missing, uint32_t t)
{
    for (uint32_t at = t; at < f->indicator_count; at += f->steps) {
        uint32_t word, bit = f->indicators[at];
        memcpy(&word, missing + 4 * (size_t)(bit / 32), sizeof word);
        if (!(word >> bit % 32 & 1))
            return true;
    }
    return false;
}

uint32_t length_of(const struct source *from, const struct features *f, uint64_t place)
{
    if (f->window)
        return records_length(from->index + place * from->steps, from->steps);
    const unsigned char *record =
        rows_at(&from->rows, from->index ? from->index[place] : place);
    const struct feature_text *tokens = features_tokens(f);
    if (tokens)
        return tokens_length(record + f->format.at_category + 4 * (size_t)tokens->slot, f->steps);
    uint32_t length = f->steps;
    while (length > 0 && !step_there(f, record + f->format.at_missing, length - 1))
        length--;
    return length;
}

/* The next of a few numbers of steps. */
static uint32_t round_up(uint32_t longest, uint32_t steps)
{
    for (uint64_t shift = 4; shift > 0; shift--) /* steps / 16, 3 / 32, 1 / 8, 3 / 16, .. */
        for (uint64_t parts = 2; parts < 4; parts++) {
            uint64_t some = (steps * parts + (2 << shift) - 1) >> (shift + 1);
            if (some >= longest && some >= LEAST && some < steps)
                return (uint32_t)some;
        }
    return 0;
}

/* now: the step of a training, whose shuffled order the rows have; NULL: they are in file order. */
static uint32_t most_of(const struct source *from, const struct features *f, uint64_t begin,
                        uint64_t end, const struct step *now)
{
    const uint32_t steps = features_steps(f);
    uint32_t longest = 0;
    if (steps <= LEAST)
        return 0;
    for (end = end < from->count ? end : from->count; begin < end && longest < steps; begin++) {
        uint64_t place = now && from->shuffle ? order_place(from, now, 0, (uint32_t)begin) : begin;
        uint32_t length = length_of(from, f, place);
        longest = length > longest ? length : longest;
    }
    return round_up(longest, steps);
}

uint32_t length_most(const struct source *from, const struct features *f, uint64_t begin,
                     uint64_t end)
{
    return most_of(from, f, begin, end, NULL);
}

/* --- the order of lengths --- */

/* Places sorted by length; equal lengths keep their order. */
static uint32_t *sort_places(const uint32_t *length, uint32_t count, uint32_t steps)
{
    uint32_t *place = mem_alloc((size_t)count + 1, sizeof *place);
    uint32_t *next = mem_zero((size_t)steps + 2, sizeof *next);
    for (uint32_t i = 0; i < count; i++)
        next[length[i] + 1]++;
    for (uint32_t n = 0; n <= steps; n++)
        next[n + 1] += next[n];
    for (uint32_t i = 0; i < count; i++)
        place[next[length[i]]++] = i;
    mem_free(next);
    return place;
}

/* Merges two neighbouring runs, with the longer length, at the place that adds the fewest steps,
 * until LENGTHS_MOST are left. */
static void merge_lengths(struct by_length *o)
{
    uint32_t count = 0, first[SOURCE_RUNS]; /* of runs with one length */
    for (uint32_t run = 0; run < o->runs; run++)
        if (!run || o->longest[run] != o->longest[run - 1])
            first[count++] = run;
    while (count > LENGTHS_MOST) {
        uint32_t best = 0, least = UINT32_MAX;
        for (uint32_t i = 0; i + 1 < count; i++) {
            uint32_t added = (first[i + 1] - first[i]) *
                             (o->longest[first[i + 1]] - o->longest[first[i]]);
            if (added < least) {
                least = added;
                best = i;
            }
        }
        for (uint32_t run = first[best]; run < first[best + 1]; run++)
            o->longest[run] = o->longest[first[best + 1]];
        memmove(first + best + 1, first + best + 2, (count - best - 2) * sizeof *first);
        count--;
    }
}

static void cut_runs(struct by_length *o, const uint32_t *length, const uint32_t *place,
                     uint32_t count)
{
    const uint32_t steps = count / o->batch;
    for (uint32_t run = 0; run < o->runs; run++) {
        uint32_t end = run + 1 < o->runs ? order_run_begin(o, steps, run + 1) * o->batch : count;
        uint32_t longest = length[place[end - 1]];
        o->longest[run] = longest > LEAST ? longest : LEAST;
    }
    merge_lengths(o);
}

static uint32_t *ordered(const struct source *from, const uint32_t *place, uint32_t count)
{
    const size_t each = from->steps > 1 ? from->steps : 1;
    uint32_t *index = mem_alloc(count * each, sizeof *index);
    for (size_t i = 0; i < count; i++)
        if (from->index)
            memcpy(index + i * each, from->index + place[i] * each, each * sizeof *index);
        else
            index[i] = place[i];
    return index;
}

uint32_t *length_sort(struct source *from, const struct features *f, uint32_t batch)
{
    const uint32_t most = features_steps(f), count = (uint32_t)from->count;
    const uint32_t runs = count / batch / RUN_STEPS;
    uint32_t longest = 0, *index = NULL;
    uint64_t all = 0;
    from->by_length = (struct by_length){.batch = batch};
    if (most <= LEAST || runs < 2)
        return NULL;
    uint32_t *length = mem_alloc(count, sizeof *length);
    for (uint32_t i = 0; i < count; i++) {
        length[i] = length_of(from, f, i);
        all += length[i];
        longest = length[i] > longest ? length[i] : longest;
    }
    double places = (double)longest * count;
    if (places - (double)all > PADDED * places) {
        uint32_t *place = sort_places(length, count, most);
        from->by_length.runs = runs < SOURCE_RUNS ? runs : SOURCE_RUNS;
        cut_runs(&from->by_length, length, place, count);
        index = ordered(from, place, count);
        mem_free(place);
    }
    mem_free(length);
    return index;
}

uint32_t length_step(const struct source *from, const struct features *f, const struct step *now,
                     uint32_t batch)
{
    const struct by_length *o = &from->by_length;
    if (!o->runs || now->row0 >= from->count)
        return most_of(from, f, now->row0, now->row0 + batch, now);
    return o->longest[order_run(o, (uint32_t)from->count / o->batch,
                                order_step(from, now, (uint32_t)now->row0 / o->batch))];
}
