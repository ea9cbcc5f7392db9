/* sort.c - merge sort with insertion at the bottom; radix sort for floats. */
#include "base/sort.h"

#include <string.h>

#include "base/mem.h"

/* --- any items --- */

typedef int comparison(const void *, const void *, const void *);

#define RUN 12

static void insert_run(char *items, size_t count, size_t size, comparison *compare,
                       const void *context, char *spare)
{
    for (size_t i = 1; i < count; i++) {
        size_t j = i;
        while (j > 0 && compare(items + (j - 1) * size, items + i * size, context) > 0)
            j--;
        if (j == i)
            continue;
        memcpy(spare, items + i * size, size);
        memmove(items + (j + 1) * size, items + j * size, (i - j) * size);
        memcpy(items + j * size, spare, size);
    }
}

static void merge(const char *a, size_t a_count, const char *b, size_t b_count, char *out,
                  size_t size, comparison *compare, const void *context)
{
    while (a_count && b_count) {
        if (compare(a, b, context) <= 0) { /* equal: the left one first (stable) */
            memcpy(out, a, size);
            a += size;
            a_count--;
        } else {
            memcpy(out, b, size);
            b += size;
            b_count--;
        }
        out += size;
    }
    if (a_count)
        memcpy(out, a, a_count * size);
    else if (b_count)
        memcpy(out, b, b_count * size);
}

void sort_stable(void *items, size_t count, size_t size,
                 int (*compare)(const void *, const void *, const void *), const void *context)
{
    if (count < 2)
        return;
    char *from = items, *other = mem_alloc(count, size), *to = other;
    for (size_t i = 0; i < count; i += RUN)
        insert_run(from + i * size, count - i < RUN ? count - i : RUN, size, compare, context,
                   other);
    for (size_t width = RUN; width < count; width *= 2) {
        for (size_t i = 0; i < count; i += 2 * width) {
            size_t left = count - i < width ? count - i : width;
            size_t right = count - i - left < width ? count - i - left : width;
            merge(from + i * size, left, from + (i + left) * size, right, to + i * size, size,
                  compare, context);
        }
        char *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, count * size);
    mem_free(other);
}

/* --- floats --- */

/* Maps floats to unsigned numbers of the same order: flips the sign bit of a positive float, all
 * bits of a negative one. */
static uint32_t key_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static float value_of(uint32_t key)
{
    uint32_t bits = key & 0x80000000u ? key & 0x7FFFFFFFu : ~key;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define PASSES 3
#define DIGIT 11
#define BUCKETS ((size_t)1 << DIGIT)

static size_t digit_of(uint32_t key, int pass)
{
    return key >> (DIGIT * pass) & (BUCKETS - 1);
}

/* Counts all three digits in one pass and turns the counts into start positions. */
static size_t *places(const uint32_t *keys, size_t stride, size_t count)
{
    size_t *place = mem_zero(PASSES * BUCKETS, sizeof *place);
    for (size_t i = 0; i < count; i++)
        for (int pass = 0; pass < PASSES; pass++)
            place[(size_t)pass * BUCKETS + digit_of(keys[i * stride], pass)]++;
    for (int pass = 0; pass < PASSES; pass++) {
        size_t sum = 0;
        for (size_t d = 0; d < BUCKETS; d++) {
            size_t here = place[(size_t)pass * BUCKETS + d];
            place[(size_t)pass * BUCKETS + d] = sum;
            sum += here;
        }
    }
    return place;
}

static int doubles_compare(const void *a, const void *b, const void *context)
{
    (void)context;
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sort_doubles(double *values, size_t count)
{
    sort_stable(values, count, sizeof *values, doubles_compare, NULL);
}

void sort_floats_room(float *values, size_t count, uint32_t *room)
{
    enum { LOW = 0, MIDDLE = BUCKETS, HIGH = 2 * BUCKETS };
    uint32_t *place = mem_zero(2 * PASSES * BUCKETS, sizeof *place);
    for (size_t i = 0; i < count; i++) { /* two arrays: equal neighbours need not wait */
        uint32_t key = key_of(values[i]), *counts = place + i % 2 * PASSES * BUCKETS;
        for (int pass = 0; pass < PASSES; pass++)
            counts[(size_t)pass * BUCKETS + digit_of(key, pass)]++;
    }
    for (size_t d = 0, sum = 0; d < PASSES * BUCKETS; d++) {
        sum = d % BUCKETS ? sum : 0;
        size_t here = (size_t)place[d] + place[d + PASSES * BUCKETS];
        place[d] = (uint32_t)sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t key = key_of(values[i]);
        room[place[LOW + digit_of(key, 0)]++] = key;
    }
    for (size_t i = 0; i < count; i++)
        memcpy(&values[place[MIDDLE + digit_of(room[i], 1)]++], &room[i], sizeof *room);
    for (size_t i = 0; i < count; i++) {
        uint32_t key;
        memcpy(&key, &values[i], sizeof key);
        room[place[HIGH + digit_of(key, 2)]++] = key;
    }
    for (size_t i = 0; i < count; i++)
        values[i] = value_of(room[i]);
    mem_free(place);
}

void sort_floats(float *values, size_t count)
{
    if (count < 2)
        return;
    uint32_t *room = mem_alloc(count, sizeof *room);
    sort_floats_room(values, count, room);
    mem_free(room);
}

/* By the counts of the keys' upper bits: only the values of one bucket, or of two neighbours, are
 * sorted. */
#define SELECT_BITS 12
#define SELECT_BUCKETS ((size_t)1 << SELECT_BITS)
void select_floats(const float *values, size_t count, size_t rank, float pair[2])
{
    uint32_t *counts = mem_zero(2 * SELECT_BUCKETS, sizeof *counts);
    uint32_t *other = counts + SELECT_BUCKETS; /* two neighbours of one bucket need not wait */
    for (size_t i = 0; i + 1 < count; i += 2) {
        counts[key_of(values[i]) >> (32 - SELECT_BITS)]++;
        other[key_of(values[i + 1]) >> (32 - SELECT_BITS)]++;
    }
    if (count % 2)
        counts[key_of(values[count - 1]) >> (32 - SELECT_BITS)]++;
    size_t below = 0, first = 0, found = 0;
    while (below + counts[first] + other[first] <= rank) {
        below += counts[first] + other[first];
        first++;
    }
    size_t last = first, inside = counts[first] + other[first];
    while (below + inside <= rank + 1) {
        last++;
        inside += counts[last] + other[last];
    }
    float *subset = mem_alloc(inside + 1, sizeof *subset);
    for (size_t i = 0; i < count; i++) {
        size_t bucket = key_of(values[i]) >> (32 - SELECT_BITS);
        subset[found] = values[i];
        found += bucket >= first && bucket <= last;
    }
    sort_floats(subset, inside);
    pair[0] = subset[rank - below];
    pair[1] = subset[rank - below + 1];
    mem_free(subset);
    mem_free(counts);
}

struct keyed {
    uint32_t key, index;
};

void sort_order_floats(uint32_t *order, const float *keys, size_t count)
{
    if (count == 0)
        return;
    struct keyed *from = mem_alloc(count, sizeof *from), *to = mem_alloc(count, sizeof *to);
    for (size_t i = 0; i < count; i++) {
        float key = keys[i] == 0 ? 0 : keys[i]; /* -0 and 0 are equal: keep their order */
        from[i] = (struct keyed){key_of(key), (uint32_t)i};
    }
    size_t *place = places(&from[0].key, 2, count);
    for (int pass = 0; pass < PASSES; pass++) {
        size_t *next = place + (size_t)pass * BUCKETS;
        for (size_t i = 0; i < count; i++)
            to[next[digit_of(from[i].key, pass)]++] = from[i];
        struct keyed *swap = from;
        from = to;
        to = swap;
    }
    for (size_t i = 0; i < count; i++)
        order[i] = from[i].index;
    mem_free(place);
    mem_free(from);
    mem_free(to);
}
