/* leak.c - measures how much of the target one column explains. Each row is judged by the other
 * rows, so that a column of unique values does not look perfect. */
#include "table/fit/leak.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

/* --- two classes: the area under the curve of one score --- */

/* Sets `result` from counts by ranges of scores. False: the exact area may be above AREA_SURE or
 * below 1 - AREA_SURE. */
#define AREA_SURE 0.9
static bool area_estimate(const int32_t *label, const float *score, uint32_t count, double *result)
{
    enum { RANGES = 4096 };
    uint32_t met[RANGES][2] = {{0}};
    uint64_t zeros = 0, ones = 0, below = 0, together = 0;
    for (uint32_t i = 0; i < count; i++) {
        float s = score[i] == 0 ? 0 : score[i];
        uint32_t bits;
        memcpy(&bits, &s, sizeof bits);
        met[(bits >> 31 ? ~bits : bits | 0x80000000u) >> 20][label[i] != 0]++;
    }
    for (uint32_t r = 0; r < RANGES; r++) {
        uint64_t zero = met[r][0], one = met[r][1];
        below += one * (2 * zeros + zero);
        together += one * zero;
        zeros += zero;
        ones += one;
    }
    if (!zeros || !ones)
        return false;
    double pairs = (double)zeros * (double)ones, most = (double)together / 2 / pairs;
    *result = (double)below / 2 / pairs;
    return fabs(*result - 0.5) + most < AREA_SURE - 0.5;
}

/* P(score of class 1 > score of class 0) + P(equal) / 2, by ranks. */
static double area_exact(const int32_t *label, const float *score, uint32_t count)
{
    uint32_t *order = mem_alloc((size_t)count + 1, sizeof *order);
    uint64_t zeros = 0, ones = 0, below = 0; /* below: twice the ordered pairs */
    sort_order_floats(order, score, count);
    for (uint32_t i = 0, end; i < count; i = end) {
        uint64_t zero = 0, one = 0;
        for (end = i; end < count && !(score[order[end]] > score[order[i]]); end++)
            *(label[order[end]] ? &one : &zero) += 1;
        below += one * (2 * zeros + zero);
        zeros += zero;
        ones += one;
    }
    mem_free(order);
    return zeros && ones ? (double)below / 2 / ((double)zeros * (double)ones) : 0.5;
}

/* Between 1 - AREA_SURE and AREA_SURE an estimate will do. */
static double area(const int32_t *label, const float *score, uint32_t count)
{
    double estimate;
    return area_estimate(label, score, count, &estimate) ? estimate
                                                         : area_exact(label, score, count);
}

/* --- groups --- */

/* Score of a row: the share of class 1 among the other rows of its group, with one row of the
 * overall share added. So a row of class 1 scores below a row of class 0 in its own group: such a
 * pair counts half. */
static double area_of_groups(const struct leak_target *t, const int32_t *group, uint32_t groups)
{
    double *ones = mem_zero(groups, sizeof *ones), *rows = mem_zero(groups, sizeof *rows), all = 0;
    float *score = mem_alloc((size_t)t->count + 1, sizeof *score);
    for (uint32_t i = 0; i < t->count; i++) {
        rows[group[i]]++;
        ones[group[i]] += t->label[i];
        all += t->label[i];
    }
    for (uint32_t i = 0; i < t->count; i++) {
        double others = ones[group[i]] - t->label[i];
        score[i] = (float)((others + all / t->count) / rows[group[i]]);
    }
    double result = area_exact(t->label, score, t->count), pairs = 0;
    for (uint32_t g = 0; g < groups; g++)
        pairs += ones[g] * (rows[g] - ones[g]);
    if (pairs > 0)
        result += pairs / 2 / (all * (t->count - all));
    mem_free(ones);
    mem_free(rows);
    mem_free(score);
    return result;
}

/* Compares two error counts: the answer is the most frequent class among the group's other rows, or
 * always the largest class. */
static double errors_saved(const struct leak_target *t, const int32_t *group, uint32_t groups)
{
    uint64_t cells = (uint64_t)groups * t->classes;
    uint32_t *of = cells <= (uint64_t)1 << 24 ? mem_zero(cells, sizeof *of) : NULL;
    if (!of)
        return 0; /* about one value for each row: no evidence */
    uint32_t *overall = mem_zero(t->classes, sizeof *overall), largest = 0;
    uint64_t right = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        of[(uint64_t)(uint32_t)group[i] * t->classes + (uint32_t)t->label[i]]++;
        if (++overall[t->label[i]] > largest)
            largest = overall[t->label[i]];
    }
    for (uint32_t g = 0; g < groups; g++) {
        const uint32_t *counts = of + (uint64_t)g * t->classes;
        uint32_t most = 0, second = 0;
        for (uint32_t c = 0; c < t->classes; c++) {
            if (counts[c] > most) {
                second = most;
                most = counts[c];
            } else if (counts[c] > second) {
                second = counts[c];
            }
        }
        /* Without this row its class still wins if it leads by two. */
        right += most > second + 1 ? most : 0;
    }
    mem_free(of);
    mem_free(overall);
    double wrong = (double)(t->count - right), base = (double)(t->count - largest);
    return base > 0 && wrong < base ? 1 - wrong / base : 0;
}

/* 1 - (squared error of the mean of the group's other rows) / (squared error of the overall
 * mean). */
static double variance_between(const struct leak_target *t, const int32_t *group, uint32_t groups)
{
    double *sum = mem_zero(groups, sizeof *sum), *rows = mem_zero(groups, sizeof *rows);
    double mean = 0, all = 0, left = 0;
    for (uint32_t i = 0; i < t->count; i++)
        mean += ((double)t->value[i] - mean) / (i + 1);
    for (uint32_t i = 0; i < t->count; i++) {
        sum[group[i]] += (double)t->value[i] - mean;
        rows[group[i]]++;
    }
    for (uint32_t i = 0; i < t->count; i++) {
        double y = (double)t->value[i] - mean, others = rows[group[i]] - 1;
        double guess = others > 0 ? (sum[group[i]] - y) / others : 0;
        all += y * y;
        left += (y - guess) * (y - guess);
    }
    mem_free(sum);
    mem_free(rows);
    return all > 0 && left < all ? 1 - left / all : 0;
}

double leak_of_group(const struct leak_target *t, const int32_t *group, uint32_t groups)
{
    if (t->count < 2)
        return 0;
    if (!t->classes)
        return variance_between(t, group, groups);
    if (t->classes == 2)
        return fmax(0, 2 * area_of_groups(t, group, groups) - 1);
    return errors_saved(t, group, groups);
}

/* --- numbers --- */

enum { LEAK_OFTEN = 8 }; /* rows for each value, if values are groups */

/* Squared correlation over the rows that have the number. */
static double correlation(const float *x, const float *y, uint32_t count)
{
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (x[i] != x[i])
            continue;
        double dx = (double)x[i] - mx, dy = (double)y[i] - my;
        n++;
        mx += dx / n;
        my += dy / n;
        xx += dx * ((double)x[i] - mx);
        yy += dy * ((double)y[i] - my);
        xy += dx * ((double)y[i] - my);
    }
    return n > 2 && xx > 0 && yy > 0 ? xy / xx * (xy / yy) : 0;
}

/* Groups numbers into up to 255 ranges of equal rows; equal values stay together. If most values
 * are frequent, each value is a group (a range over two values could hide a series of one class).
 * Group 0: missing. */
static uint32_t to_ranges(const float *number, uint32_t count, int32_t *group)
{
    float *present = mem_alloc((size_t)count + 1, sizeof *present);
    uint32_t *rows = mem_alloc((size_t)count + 1, sizeof *rows);
    uint32_t *order = mem_alloc((size_t)count + 1, sizeof *order);
    uint32_t n = 0, groups = 1, begun = 0, values = 0;
    for (uint32_t i = 0; i < count; i++) {
        group[i] = 0;
        if (number[i] == number[i]) {
            present[n] = number[i];
            rows[n++] = i;
        }
    }
    sort_order_floats(order, present, n);
    for (uint32_t i = 0; i < n; i++)
        values += i == 0 || present[order[i]] > present[order[i - 1]];
    uint32_t least = (uint64_t)values * LEAK_OFTEN <= n ? 1 : n / 255 + 1;
    for (uint32_t i = 0; i < n; i++) {
        bool other = i == 0 || present[order[i]] > present[order[i - 1]];
        if (i == 0 || (other && i - begun >= least)) {
            groups++;
            begun = i;
        }
        group[rows[order[i]]] = (int32_t)groups - 1;
    }
    mem_free(present);
    mem_free(rows);
    mem_free(order);
    return groups;
}

double leak_of_number(const struct leak_target *t, const float *number)
{
    if (t->count < 2)
        return 0;
    if (!t->classes)
        return correlation(number, t->value, t->count);
    if (t->classes == 2) {
        /* Ignore rows without the number: the missing indicator tells about them. */
        int32_t *label = mem_alloc((size_t)t->count + 1, sizeof *label);
        float *present = mem_alloc((size_t)t->count + 1, sizeof *present);
        uint32_t n = 0;
        for (uint32_t i = 0; i < t->count; i++)
            if (number[i] == number[i]) {
                label[n] = t->label[i];
                present[n++] = number[i];
            }
        double result = n * 2 >= t->count ? 2 * fabs(area(label, present, n) - 0.5) : 0;
        mem_free(label);
        mem_free(present);
        return result;
    }
    int32_t *group = mem_alloc((size_t)t->count + 1, sizeof *group);
    double result = errors_saved(t, group, to_ranges(number, t->count, group));
    mem_free(group);
    return result;
}

bool leak_suspect(const struct leak_target *t, double explained)
{
    if (t->count < 50) /* too few rows: chance */
        return false;
    return explained > (t->classes == 2 ? 0.99 : t->classes ? 0.98 : 0.9998);
}

static int by_inputs(const void *a, const void *b, const void *unused)
{
    const struct leak_row *x = a, *y = b;
    (void)unused;
    if (x->inputs != y->inputs)
        return x->inputs < y->inputs ? -1 : 1;
    return x->whole < y->whole ? -1 : x->whole > y->whole;
}

bool leak_by_chance(struct leak_row *rows, uint32_t count, uint32_t *copies)
{
    /* rows with equal inputs: all, and the ones with a rarer target */
    uint32_t alike = 0, apart = 0;
    *copies = 0;
    sort_stable(rows, count, sizeof *rows, by_inputs, NULL);
    for (uint32_t i = 0, next; i < count; i = next) {
        uint32_t most = 0, same = 0;
        for (next = i; next < count && rows[next].inputs == rows[i].inputs; next++) {
            same = next > i && rows[next].whole == rows[next - 1].whole ? same + 1 : 1;
            *copies += same == 2 ? 2 : same > 2;
            most = same > most ? same : most;
        }
        alike += next - i > 1 ? next - i : 0;
        apart += next - i - most;
    }
    return apart > alike / 20;
}
