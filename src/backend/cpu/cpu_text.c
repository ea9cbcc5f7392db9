/* cpu_text.c - texts as hashed terms. A row adds the rows of w for its terms in their order. The
 * gradient is cut into ranges of buckets: a tile owns one, reads all rows in order and adds those
 * terms that fall into it. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"

static inline real value_of(const struct text_column *c, const float *weights, int32_t term)
{
    real count = (real)TERM_COUNT(term);
    return c->weighted ? count * (real)weights[c->first + TERM_BUCKET(term)] : count;
}

void cpu_text(const struct op_text *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++)
        for (uint32_t i = 0; i < a->columns; i++) {
            const struct text_column *c = &a->column[i];
            const int32_t *terms = a->ids + row * a->ids_ld + c->slot;
            real sum = 0;
            for (uint32_t k = 0; k < c->slots && terms[k]; k++) {
                real v = value_of(c, a->weights, terms[k]);
                sum += v * v;
            }
            bool none = !c->slots || !terms[0];
            a->scales[(size_t)i * a->rows + row] =
                c->weighted && sum > 0 ? 1 / (real)sqrt((double)sum) : 1;
            act_real(a->x)[row * a->ld + c->at] = none;
        }
}

enum { TEXT_ROWS = 32, TEXT_PARTS = 32, TEXT_PART = 16384 };

unsigned cpu_text_dense_tiles(const struct op_text_dense *a)
{
    return (a->rows + TEXT_ROWS - 1) / TEXT_ROWS;
}

void cpu_text_dense(const struct op_text_dense *a, const struct slice *s)
{
    uint32_t begin = s->tile * TEXT_ROWS;
    uint32_t end = a->rows - begin < TEXT_ROWS ? a->rows : begin + TEXT_ROWS;
    for (size_t row = begin; row < end; row++) {
        real *y = act_real(a->y) + row * a->ldy + a->at;
        if (a->set)
            memset(y, 0, a->out * sizeof *y);
        for (uint32_t i = 0; i < a->columns; i++) {
            const struct text_column *c = &a->column[i];
            const int32_t *terms = a->ids + row * a->ids_ld + c->slot;
            real scale = a->scales[(size_t)i * a->rows + row];
            for (uint32_t k = 0; k < c->slots && terms[k]; k++) {
                real v = value_of(c, a->weights, terms[k]) * scale;
                const real *w = a->w + (size_t)(c->first + TERM_BUCKET(terms[k])) * a->out;
                for (uint32_t o = 0; o < a->out; o++)
                    y[o] += v * w[o];
            }
        }
    }
}

static uint32_t parts_of(const struct op_text_dense_back *a)
{
    uint64_t parts = ((uint64_t)a->buckets * a->out + TEXT_PART - 1) / TEXT_PART;
    parts = parts < 1 ? 1 : parts > TEXT_PARTS ? TEXT_PARTS : parts;
    return (uint32_t)parts;
}

unsigned cpu_text_dense_back_tiles(const struct op_text_dense_back *a)
{
    return parts_of(a);
}

void cpu_text_dense_back(const struct op_text_dense_back *a, const struct slice *s)
{
    uint32_t parts = parts_of(a);
    uint32_t begin = (uint32_t)((uint64_t)a->buckets * s->tile / parts);
    uint32_t end = (uint32_t)((uint64_t)a->buckets * (s->tile + 1) / parts);
    if (!a->more)
        memset(a->dw + (size_t)begin * a->out, 0, (size_t)(end - begin) * a->out * sizeof *a->dw);
    for (size_t row = 0; row < a->rows; row++) {
        const real *dy = act_read(a->dy) + row * a->lddy + a->at;
        for (uint32_t i = 0; i < a->columns; i++) {
            const struct text_column *c = &a->column[i];
            const int32_t *terms = a->ids + row * a->ids_ld + c->slot;
            for (uint32_t k = 0; k < c->slots && terms[k]; k++) {
                uint32_t bucket = c->first + TERM_BUCKET(terms[k]);
                if (bucket < begin || bucket >= end)
                    continue;
                real v = value_of(c, a->weights, terms[k]) *
                         a->scales[(size_t)i * a->rows + row];
                real *dw = a->dw + (size_t)bucket * a->out;
                for (uint32_t o = 0; o < a->out; o++)
                    dw[o] += v * dy[o];
            }
        }
    }
}
