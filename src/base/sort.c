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

void sort_floats(float *values, size_t count)
{
    if (count < 2)
        return;
    uint32_t *room = mem_alloc(count, sizeof *room);
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
    mem_free(room);
}

/* --- ranks --- */

/* Values are counted in buckets that ascend and hold about equally many of a sample: a cell has the
 * keys of equal upper bits, and is cut into buckets of equal width. Then only the values of few
 * buckets are sorted. All counts fit the second-level cache. */
#define CELL_BITS 12
#define CELLS ((size_t)1 << CELL_BITS)
#define WITHIN (32 - CELL_BITS)
enum { SELECT_SAMPLE = 8192, SELECT_LEAST = 4096, SELECT_MOST = 65536 };

struct buckets {
    struct cell {
        uint32_t first, width; /* its first bucket, and their number */
    } cells[CELLS];
    size_t count;
    uint32_t *counts; /* [count] */
    uint8_t *wanted;  /* [count] a rank is in it */
};

static inline size_t bucket_of(const struct buckets *b, float value)
{
    uint32_t key = key_of(value);
    struct cell cell = b->cells[key >> WITHIN];
    uint64_t within = key & ((UINT32_C(1) << WITHIN) - 1);
    return cell.first + (size_t)(within * cell.width >> WITHIN);
}

static void count_buckets(struct buckets *b, const float *values, size_t count, size_t most)
{
    size_t step = count / SELECT_SAMPLE + 1, sampled = (count + step - 1) / step;
    memset(b, 0, sizeof *b);
    for (size_t i = 0; i < count; i += step)
        b->cells[key_of(values[i]) >> WITHIN].width++;
    for (size_t i = 0; i < CELLS; i++) {
        b->cells[i].width = 1 + (uint32_t)(b->cells[i].width * most / sampled);
        b->cells[i].first = (uint32_t)b->count;
        b->count += b->cells[i].width;
    }
    b->counts = mem_zero(2 * b->count, sizeof *b->counts);
    b->wanted = mem_zero(b->count, sizeof *b->wanted);
    uint32_t *other = b->counts + b->count; /* two neighbours of one bucket need not wait */
    for (size_t i = 0; i + 1 < count; i += 2) {
        b->counts[bucket_of(b, values[i])]++;
        other[bucket_of(b, values[i + 1])]++;
    }
    if (count % 2)
        other[bucket_of(b, values[count - 1])]++;
    for (size_t i = 0; i < b->count; i++)
        b->counts[i] += other[i];
}

/* Marks the buckets of each rank and of the next one. place: by rank, its index among the values of
 * all marked buckets in order. Returns the number of these values. */
static size_t find_ranks(struct buckets *b, const uint32_t *ranks, size_t count, uint32_t *place)
{
    size_t at = 0, below = 0, kept = 0; /* kept: the values of `below` that are in marked buckets */
    for (size_t i = 0; i < count; i++) {
        for (; below + b->counts[at] <= ranks[i]; at++) {
            below += b->counts[at];
            kept += b->wanted[at] ? b->counts[at] : 0;
        }
        size_t next = at, before = below;
        for (; before + b->counts[next] <= (size_t)ranks[i] + 1; next++)
            before += b->counts[next];
        b->wanted[at] = b->wanted[next] = 1;
        place[i] = (uint32_t)(kept + ranks[i] - below);
    }
    for (; at < b->count; at++)
        kept += b->wanted[at] ? b->counts[at] : 0;
    return kept;
}

/* Selects one rank: the values around the rank's share in a sorted sample limit a narrow range.
 * False: the range has more than half of the values, or lacks the rank. */
enum { ONE_SAMPLE = 4096, ONE_MARGIN = 160 /* five deviations of a sample's rank */ };
static bool select_one(const float *values, size_t count, uint32_t rank, float pair[2])
{
    if (count < 2 * ONE_SAMPLE)
        return false;
    float sample[ONE_SAMPLE];
    for (size_t i = 0; i < ONE_SAMPLE; i++)
        sample[i] = values[i * count / ONE_SAMPLE];
    sort_floats(sample, ONE_SAMPLE);
    size_t at = (size_t)rank * ONE_SAMPLE / count, below = 0, found = 0;
    uint32_t low = at < ONE_MARGIN ? 0 : key_of(sample[at - ONE_MARGIN]);
    uint32_t high = at + ONE_MARGIN < ONE_SAMPLE ? key_of(sample[at + ONE_MARGIN]) : UINT32_MAX;
    float *subset = mem_alloc(count / 2 + 1, sizeof *subset);
    for (size_t i = 0; i < count && found <= count / 2; i++) {
        uint32_t key = key_of(values[i]);
        subset[found] = values[i];
        below += key < low;
        found += key - low <= high - low;
    }
    bool good = found <= count / 2 && rank >= below && rank + (size_t)1 < below + found;
    if (good) {
        rank -= (uint32_t)below;
        select_floats(subset, found, &rank, 1, (float(*)[2])pair);
    }
    mem_free(subset);
    return good;
}

void select_floats(const float *values, size_t count, const uint32_t *ranks, size_t rank_count,
                   float (*pairs)[2])
{
    if (rank_count == 1 && select_one(values, count, ranks[0], pairs[0]))
        return;
    struct buckets b;
    size_t most = 64 * rank_count < SELECT_MOST ? 64 * rank_count : SELECT_MOST;
    count_buckets(&b, values, count, most > SELECT_LEAST ? most : SELECT_LEAST);
    uint32_t *place = mem_alloc(rank_count + 1, sizeof *place);
    size_t inside = find_ranks(&b, ranks, rank_count, place), found = 0;
    float *subset = mem_alloc(inside + 1, sizeof *subset);
    for (size_t i = 0; i < count; i++) { /* one place beyond the last is written too */
        subset[found] = values[i];
        found += b.wanted[bucket_of(&b, values[i])];
    }
    sort_floats(subset, inside);
    for (size_t i = 0; i < rank_count; i++) {
        pairs[i][0] = subset[place[i]];
        pairs[i][1] = subset[place[i] + 1];
    }
    mem_free(subset);
    mem_free(place);
    mem_free(b.counts);
    mem_free(b.wanted);
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
