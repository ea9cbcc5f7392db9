/* apply.c - encoder_apply: scales raw numbers. It works column by column on a block of records that
 * fits the first-level cache: the loops are simple, and a column's constants stay in registers.
 * Each result depends on its own record only. */
#include "table/encoder/cell.h"

#include <math.h>
#include <string.h>

#include "table/encoder/columns.h"
#include "table/encoder/quantile.h"

#define BLOCK QUANTILE_BLOCK
enum { TOGETHER = 8 }; /* columns copied at once */

/* --- scales --- */

static void impute(const struct number_slot *n, float *v, size_t count)
{
    const float instead = n->impute;
    for (size_t i = 0; i < count; i++)
        v[i] = v[i] == v[i] ? v[i] : instead;
}

/* Scale none in place: one pass, no copy. */
static void apply_plain(const struct number_slot *n, unsigned char *at, size_t stride, size_t count)
{
    const double center = n->center;
    const float instead = n->impute;
    for (size_t i = 0; i < count; i++, at += stride) {
        float v;
        memcpy(&v, at, sizeof v);
        v = v == v ? v : instead;
        v = (float)((double)v - center);
        memcpy(at, &v, sizeof v);
    }
}

/* True if a number of the record is missing or -0. */
static bool needs_plain(const unsigned char *at, uint32_t numbers)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < numbers; i++) {
        uint32_t bits;
        memcpy(&bits, at + 4 * (size_t)i, sizeof bits);
        found |= ((bits & 0x7FFFFFFFu) > 0x7F800000u) | (bits == 0x80000000u);
    }
    return found;
}

/* Neighbouring slots of scale none without offset: their numbers do not change, and most records
 * are not written. */
static void apply_same(const struct number_slot *n, uint32_t numbers, unsigned char *at,
                       size_t stride, size_t count)
{
    for (size_t i = 0; i < count; i++, at += stride)
        if (needs_plain(at, numbers))
            for (uint32_t k = 0; k < numbers; k++)
                apply_plain(n + k, at + 4 * (size_t)k, stride, 1);
}

static bool is_plain(const struct number_slot *n)
{
    return n->scale == SCALE_NONE && !n->transform;
}

static bool is_same(const struct number_slot *n)
{
    return is_plain(n) && n->center == 0;
}

static void apply_linear(const struct number_slot *n, float *v, size_t count)
{
    const double center = n->center, factor = n->factor, least = n->least, most = n->most;
    for (size_t i = 0; i < count; i++) {
        double x = ((double)v[i] - center) * factor;
        x = x < most ? x : most;
        v[i] = (float)(x > least ? x : least);
    }
}

/* Smooth: nearly the value itself around 0, within 3 far out. */
static void apply_clip(float *v, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double z = (double)v[i];
        v[i] = (float)(z / sqrt(1 + z / 3 * (z / 3)));
    }
}

float number_transform(const struct number_slot *n, float v)
{
    double x = (double)v + n->offset;
    return n->transform ? (float)(x < 0 ? -log1p(-x) : log1p(x)) : v;
}

static void apply_slot(const struct number_slot *n, float *v, size_t count,
                       struct quantile_room *room)
{
    for (size_t i = 0; n->transform && i < count; i++)
        v[i] = number_transform(n, v[i]);
    impute(n, v, count);
    if (n->scale == SCALE_QUANTILE)
        quantile_choose()(n, v, count, room);
    else
        apply_linear(n, v, count);
    if (n->scale == SCALE_CLIP)
        apply_clip(v, count);
}

void number_apply(const struct number_slot *n, float *v, size_t count)
{
    struct quantile_room room;
    for (size_t done = 0; done < count; done += BLOCK)
        if (is_plain(n))
            apply_plain(n, (unsigned char *)(v + done), sizeof *v,
                        count - done < BLOCK ? count - done : BLOCK);
        else
            apply_slot(n, v + done, count - done < BLOCK ? count - done : BLOCK, &room);
}

void encoder_apply(const struct encoder *c, unsigned char *records, size_t count)
{
    if (c->statistics)
        statistics_apply(c->statistics, &c->format, records, count);
    numbers_scale(c, records, count);
}

void numbers_scale(const struct encoder *c, unsigned char *records, size_t count)
{
    float v[TOGETHER * BLOCK];
    unsigned char *at_row[BLOCK];
    struct quantile_room room;
    size_t stride = c->format.stride, most = ((size_t)32 << 10) / stride;
    most = most > BLOCK ? BLOCK : most < 16 ? 16 : most;
    for (size_t done = 0; done < count; done += most) {
        size_t rows = count - done < most ? count - done : most;
        unsigned char *block = records + done * stride;
        for (size_t i = 0; i < rows; i++)
            at_row[i] = block + i * stride;
        for (uint32_t slot = 0; slot < c->number_count; slot++) {
            unsigned char *at = block + 4 * (size_t)slot;
            uint32_t same = 0;
            while (slot + same < c->number_count && is_same(&c->numbers[slot + same]))
                same++;
            if (same) {
                apply_same(&c->numbers[slot], same, at, stride, rows);
                slot += same - 1;
                continue;
            }
            if (is_plain(&c->numbers[slot])) {
                apply_plain(&c->numbers[slot], at, stride, rows);
                continue;
            }
            uint32_t n = 1;
            while (n < TOGETHER && slot + n < c->number_count && !is_plain(&c->numbers[slot + n]))
                n++;
            columns_read((const unsigned char *const *)at_row, rows, 4 * (size_t)slot, n, v,
                         BLOCK);
            for (uint32_t k = 0; k < n; k++)
                apply_slot(&c->numbers[slot + k], v + k * BLOCK, rows, &room);
            columns_write(at_row, rows, 4 * (size_t)slot, n, v, BLOCK);
            slot += n - 1;
        }
    }
}
