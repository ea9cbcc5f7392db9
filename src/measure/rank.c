/* rank.c - rows with 64-bit keys in chunks, each sorted in place, merged while the areas are
 * summed. */
#include "measure/rank.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/process/thread.h"

#define SMALL 48 /* below this many rows, insertion is faster than counting */

/* Keys have the order of the scores: negative scores have all bits turned, others the sign. */
static uint64_t key_of(double score)
{
    uint64_t bits;
    score += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &score, sizeof bits);
    return bits ^ (bits >> 63 ? UINT64_MAX : UINT64_C(1) << 63);
}

static double score_of(uint64_t key)
{
    double score;
    key ^= key >> 63 ? UINT64_C(1) << 63 : UINT64_MAX;
    memcpy(&score, &key, sizeof score);
    return score;
}

void rank_add(struct rank *r, double score, bool positive, float weight, uint32_t group)
{
    size_t at = (size_t)(r->count % RANK_CHUNK), chunk = (size_t)(r->count / RANK_CHUNK);
    if (chunk == r->chunk_count) {
        r->chunks = mem_more(r->chunks, r->chunk_count, sizeof *r->chunks);
        r->chunks[r->chunk_count++] = mem_alloc(RANK_CHUNK, sizeof **r->chunks);
    }
    r->chunks[chunk][at] =
        (struct rank_row){key_of(score), positive ? weight : -weight, group};
    r->count++;
    r->sorted = false;
    double w = (double)weight;
    if (positive) {
        r->positive += w;
        r->positive2 += w * w;
    } else {
        r->negative += w;
        r->negative2 += w * w;
    }
}

void rank_clear(struct rank *r)
{
    for (size_t i = 1; i < r->chunk_count; i++)
        mem_free(r->chunks[i]);
    if (r->chunk_count > 1)
        r->chunk_count = 1;
    r->count = 0;
    r->sorted = false;
    r->positive = r->negative = r->positive2 = r->negative2 = 0;
}

void rank_free(struct rank *r)
{
    for (size_t i = 0; i < r->chunk_count; i++)
        mem_free(r->chunks[i]);
    mem_free(r->chunks);
    memset(r, 0, sizeof *r);
}

/* --- sorting: by the highest byte first, in place (McIlroy, Bostic and McIlroy, 1993, "American
 * flag sort") --- */

static void insert_rows(struct rank_row *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct rank_row row = rows[i];
        size_t j = i;
        for (; j > 0 && rows[j - 1].key > row.key; j--)
            rows[j] = rows[j - 1];
        rows[j] = row;
    }
}

/* Moves each row to the rows of its byte; end: the end of the rows of each byte. */
static void part_rows(struct rank_row *rows, unsigned shift, size_t next[256],
                      const size_t end[256])
{
    for (size_t b = 0; b < 256; b++)
        while (next[b] < end[b]) {
            struct rank_row row = rows[next[b]];
            size_t home = row.key >> shift & 255;
            while (home != b) {
                struct rank_row other = rows[next[home]];
                rows[next[home]++] = row;
                row = other;
                home = row.key >> shift & 255;
            }
            rows[next[b]++] = row;
        }
}

static void sort_rows(struct rank_row *rows, size_t count, unsigned shift)
{
    if (count < SMALL) {
        insert_rows(rows, count);
        return;
    }
    size_t sizes[256] = {0}, next[256], end[256], at = 0;
    for (size_t i = 0; i < count; i++)
        sizes[rows[i].key >> shift & 255]++;
    for (size_t b = 0; b < 256; b++) {
        next[b] = at;
        at += sizes[b];
        end[b] = at;
    }
    if (sizes[rows[0].key >> shift & 255] < count)
        part_rows(rows, shift, next, end);
    if (shift == 0)
        return;
    for (size_t b = 0; b < 256; b++)
        if (sizes[b] > 1)
            sort_rows(rows + (end[b] - sizes[b]), sizes[b], shift - 8);
}

/* --- merging from the highest score down: a heap of the chunks' ends --- */

struct head {
    const struct rank_row *begin, *next; /* the next one is before `next` */
};

static void sift(struct head *heap, size_t count, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= count)
            return;
        if (child + 1 < count && heap[child + 1].next[-1].key > heap[child].next[-1].key)
            child++;
        if (heap[i].next[-1].key >= heap[child].next[-1].key)
            return;
        struct head h = heap[i];
        heap[i] = heap[child];
        heap[child] = h;
        i = child;
    }
}

/* --- the areas --- */

/* Precisions are summed from the top, without a subtraction: if weights are far apart, a total
 * minus its parts would be rounding alone. */
void rank_walk_group(struct rank_walk *w, double positive, double negative)
{
    /* the share of the other side that a row of this group stands right to, ties half */
    double over = (w->negative - w->above_negative - negative / 2) / w->negative;
    double under = (w->above_positive + positive / 2) / w->positive;
    w->pairs += negative * (w->above_positive + positive / 2);
    w->over_positives2 += positive * over * over;
    w->over_negatives2 += negative * under * under;
    w->above_positive += positive;
    w->above_negative += negative;
    if (positive > 0)
        w->precision += positive * (w->above_positive / (w->above_positive + w->above_negative));
}

/* Means over all groups, with sums rounded in the same order: a precision of at most 1 makes an
 * average of at most 1. The product of two sums is rounded on its own. */
struct rank_areas rank_walk_end(const struct rank_walk *w)
{
    struct rank_areas a = {(double)NAN, (double)NAN, (double)NAN, 0, 0};
    double positive = w->above_positive, negative = w->above_negative;
    if (positive > 0)
        a.positives = positive * positive / w->positive2;
    if (negative > 0)
        a.negatives = negative * negative / w->negative2;
    if (positive > 0)
        a.average_precision = w->precision / positive;
    if (!(positive > 0 && negative > 0))
        return a;
    a.auc = fmin(w->pairs / (positive * negative), 1);
    if (a.positives >= 2 && a.negatives >= 2) {
        double of_positives = w->over_positives2 / positive - a.auc * a.auc;
        double of_negatives = w->over_negatives2 / negative - a.auc * a.auc;
        double variance = (of_positives > 0 ? of_positives : 0) / (a.positives - 1) +
                          (of_negatives > 0 ? of_negatives : 0) / (a.negatives - 1);
        a.auc_error = sqrt(variance);
    }
    return a;
}

static size_t rows_of_chunk(const struct rank *r, size_t chunk)
{
    const uint64_t left = r->count - (uint64_t)chunk * RANK_CHUNK;
    return left < RANK_CHUNK ? (size_t)left : RANK_CHUNK;
}

static void sort_chunk(void *context, unsigned chunk, unsigned thread)
{
    struct rank *r = context;
    (void)thread;
    sort_rows(r->chunks[chunk], rows_of_chunk(r, chunk), 56);
}

static void sort_chunks(struct rank *r)
{
    const unsigned chunks = (unsigned)((r->count + RANK_CHUNK - 1) / RANK_CHUNK);
    if (!r->sorted && !threads_inside())
        threads_run(chunks, sort_chunk, r);
    else if (!r->sorted) /* a draw of a comparison is a tile itself */
        for (unsigned i = 0; i < chunks; i++)
            sort_chunk(r, i, 0);
    r->sorted = true;
}

/* Calls group for each group of equal scores, then row (unless NULL) for each of its rows. */
static void walk(struct rank *r, rank_group_fn *group,
                 void (*row)(void *context, const struct rank_row *row), void *context)
{
    size_t heads = 0, tied = 0;
    struct rank_row *ties = NULL;
    struct head *heap = mem_alloc(r->chunk_count + 1, sizeof *heap);
    sort_chunks(r);
    for (; (uint64_t)heads * RANK_CHUNK < r->count; heads++)
        heap[heads] = (struct head){r->chunks[heads], r->chunks[heads] + rows_of_chunk(r, heads)};
    for (size_t i = heads; i-- > 0;)
        sift(heap, heads, i);
    while (heads) {
        const uint64_t key = heap[0].next[-1].key;
        double positive = 0, negative = 0;
        tied = 0;
        while (heads && heap[0].next[-1].key == key) {
            const double weight = (double)(--heap[0].next)->weight;
            if (signbit(weight))
                negative -= weight;
            else
                positive += weight;
            if (row) {
                ties = mem_more(ties, tied, sizeof *ties);
                ties[tied++] = *heap[0].next;
            }
            if (heap[0].next == heap[0].begin)
                heap[0] = heap[--heads];
            sift(heap, heads, 0);
        }
        if (!group(context, score_of(key), positive, negative))
            break;
        for (size_t i = 0; i < tied; i++)
            row(context, &ties[i]);
    }
    mem_free(ties);
    mem_free(heap);
}

void rank_groups(struct rank *r, rank_group_fn *group, void *context)
{
    walk(r, group, NULL, context);
}

static bool walk_group(void *context, double score, double positive, double negative)
{
    (void)score;
    rank_walk_group(context, positive, negative);
    return true;
}

struct rank_areas rank_finish(struct rank *r)
{
    struct rank_walk w = {.positive = r->positive,
                          .negative = r->negative,
                          .positive2 = r->positive2,
                          .negative2 = r->negative2};
    rank_groups(r, walk_group, &w);
    return rank_walk_end(&w);
}

/* --- influence --- */

/* A positive row moves the precision at its own score and at all below it, by the share of negative
 * rows there over their number; a negative row moves it down. So sums over the scores below are
 * wanted: totals minus what stands above. */
struct pulling {
    const struct rank *r;
    const struct rank_areas *areas;
    double above_positive, above_negative; /* so far, with the present group */
    double gains, losses;                  /* of the present group and all below */
    double over, under, precision;         /* of the present group */
    double at_gain, at_loss;
    double *auc, *average;
    double squares; /* of what the rows pull average precision */
};

static void add_moves(struct pulling *p, double positive, double negative)
{
    p->above_positive += positive;
    p->above_negative += negative;
    const double all = p->above_positive + p->above_negative;
    p->precision = all > 0 ? p->above_positive / all : 0;
    p->at_gain = all > 0 ? positive * (1 - p->precision) / all : 0;
    p->at_loss = all > 0 ? positive * p->precision / all : 0;
}

static bool sum_moves(void *context, double score, double positive, double negative)
{
    struct pulling *p = context;
    (void)score;
    add_moves(p, positive, negative);
    p->gains += p->at_gain;
    p->losses += p->at_loss;
    return true;
}

static bool pull_group(void *context, double score, double positive, double negative)
{
    struct pulling *p = context;
    (void)score;
    p->over = (p->r->negative - p->above_negative - negative / 2) / p->r->negative;
    p->under = (p->above_positive + positive / 2) / p->r->positive;
    p->gains -= p->at_gain; /* the group before is not below */
    p->losses -= p->at_loss;
    add_moves(p, positive, negative);
    return true;
}

/* The influence of a row of the present group on average precision. */
static double pull_of(const struct pulling *p, const struct rank_row *row)
{
    const double weight = fabs((double)row->weight) / p->r->positive;
    return signbit(row->weight)
               ? -weight * p->losses
               : weight * (p->precision - p->areas->average_precision + p->gains);
}

static void pull_row(void *context, const struct rank_row *row)
{
    struct pulling *p = context;
    const double weight = fabs((double)row->weight);
    if (signbit(row->weight))
        p->auc[row->group] += weight * (p->under - p->areas->auc) / p->r->negative;
    else
        p->auc[row->group] += weight * (p->over - p->areas->auc) / p->r->positive;
    p->average[row->group] += pull_of(p, row);
}

static void pull_square(void *context, const struct rank_row *row)
{
    struct pulling *p = context;
    const double pull = pull_of(p, row);
    p->squares += pull * pull;
}

static void pull(struct rank *r, struct pulling *p,
                 void (*row)(void *context, const struct rank_row *row))
{
    walk(r, sum_moves, NULL, p);
    p->above_positive = p->above_negative = p->at_gain = p->at_loss = 0;
    walk(r, pull_group, row, p);
}

void rank_pulls(struct rank *r, const struct rank_areas *areas, double *auc, double *precision)
{
    struct pulling p = {.r = r, .areas = areas, .auc = auc, .average = precision};
    pull(r, &p, pull_row);
}

double rank_precision_error(struct rank *r, const struct rank_areas *areas)
{
    struct pulling p = {.r = r, .areas = areas};
    pull(r, &p, pull_square);
    return sqrt(p.squares);
}
