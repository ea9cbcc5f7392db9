/* samples.h - a record is one row of a CSV. A sample is the input of one answer: one record, or
 * consecutive records. Splits assign samples, not records. In a table record i is sample i, and
 * nothing is stored; of sequences in long format a sample is a group. */
#ifndef DNN_TABLE_SAMPLES_H
#define DNN_TABLE_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

struct samples {
    uint64_t count;
    const uint64_t *first; /* [count + 1] first record of each, and the end; NULL: a table */
};

static inline uint64_t sample_first(const struct samples *s, uint64_t i)
{
    return s->first ? s->first[i] : i;
}

static inline uint64_t sample_records(const struct samples *s, uint64_t i)
{
    return s->first ? s->first[i + 1] - s->first[i] : 1;
}

static inline uint64_t sample_last(const struct samples *s, uint64_t i)
{
    return sample_first(s, i) + sample_records(s, i) - 1;
}

/* The sample that a record is of. */
static inline uint64_t sample_of(const struct samples *s, uint64_t record)
{
    uint64_t low = 0, high = s->count;
    while (s->first && high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (s->first[middle] <= record)
            low = middle;
        else
            high = middle;
    }
    return s->first ? low : record;
}

/* The records of listed samples, one after another: in a table the list itself, else mem_free. */
static inline uint32_t *samples_records(const struct samples *s, uint32_t *samples, uint64_t count,
                                        uint64_t *records)
{
    uint64_t all = 0, at = 0;
    *records = count;
    if (!s->first)
        return samples;
    for (uint64_t i = 0; i < count; i++)
        all += sample_records(s, samples[i]);
    uint32_t *list = mem_alloc(all + 1, sizeof *list);
    for (uint64_t i = 0; i < count; i++)
        for (uint64_t k = 0; k < sample_records(s, samples[i]); k++)
            list[at++] = (uint32_t)(sample_first(s, samples[i]) + k);
    *records = all;
    return list;
}

/* The rows that a run trains on or answers. In sequences of records the network reads windows of
 * them. */
struct row_list {
    uint32_t *index; /* the record of each answer */
    uint64_t count;  /* answers */
    /* Sequences: the records of each window, SAMPLE_NONE after the last; NULL: each record is read
     * alone */
    uint32_t *windows; /* [window_count][window] */
    uint32_t *begins; /* [window_count], 1: the first of its group; NULL: no state is carried */
    uint64_t window_count;
    uint32_t window;
    bool each; /* each record of a window with a target has an answer; false: the last one alone */
};
#define SAMPLE_NONE UINT32_MAX

/* True: the record at a place of `windows` is that of an answer; else it is context, or padding. */
static inline bool row_list_answers(const struct row_list *l, uint64_t place, uint64_t answer)
{
    return answer < l->count && l->windows[place] != SAMPLE_NONE &&
           l->windows[place] == l->index[answer];
}

/* Rows that the network reads: records, or windows of them. */
static inline uint64_t row_list_reads(const struct row_list *l)
{
    return l->windows ? l->window_count : l->count;
}

/* Frees a list of row_list_windows. */
static inline void row_list_free(struct row_list *l)
{
    if (l->windows)
        mem_free(l->index);
    mem_free(l->windows);
    mem_free(l->begins);
    *l = (struct row_list){.count = 0};
}

#endif
