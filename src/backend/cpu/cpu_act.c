/* cpu_act.c - activations, blends, dropout, sums of two activations. */
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/dropout.h"
#include "backend/step.h"

void cpu_act(const struct op_act *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++)
        s->m->vec->act(act_real(a->y) + row * a->ldy, act_read(a->x) + row * a->ldx, a->width,
                       a->act, (real)a->slope);
}

void cpu_act_back(const struct op_act_back *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++)
        s->m->vec->act_back(act_real(a->dx) + row * a->lddx, act_read(a->dy) + row * a->lddy,
                            act_read(a->x) + row * a->ldx, a->width, a->act, (real)a->slope, true,
                            a->add_dx != 0);
}

void cpu_blend(const struct op_blend *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++)
        s->m->vec->blend(act_real(a->y) + row * a->ldy, act_read(a->x) + row * a->ldx, a->w,
                         a->width, a->act, (real)a->slope);
}

void cpu_blend_back(const struct op_blend_back *a, const struct slice *s)
{
    real *dw = a->dw + s->shard * a->shard_stride;
    if (s->first && !a->more)
        memset(dw, 0, a->width * sizeof *dw);
    for (size_t row = s->row0; row < s->row0 + s->rows; row++)
        s->m->vec->blend_back(a->dx.at ? act_real(a->dx) + row * a->lddx : NULL, dw,
                              act_read(a->dy) + row * a->lddy, act_read(a->x) + row * a->ldx, a->w,
                              a->width, a->act, (real)a->slope, a->add_dx != 0);
}

/* The dropout mask: one bit a value, lowest first, 1: kept. Rows start at words. */
static size_t kept_words(const struct op_dropout *a)
{
    return a->width % LANES ? 0 : a->width / LANES;
}

void cpu_dropout_need(const struct op_dropout *a, struct need *n)
{
    n->kept = a->rows * kept_words(a) * sizeof(uint16_t);
}

void cpu_dropout(const struct op_dropout *a, const struct slice *s)
{
    const uint64_t decay = step_dropout_decay(&a->schedule, a->now->tried);
    const uint32_t threshold = dropout_threshold(a->threshold, decay);
    struct keep keep = {.seed = a->now->seed, .stream = a->layer | a->now->model << 16,
                        .step = (uint32_t)a->now->tried, .threshold = threshold,
                        .scale = decay ? (real)dropout_scale(a->scale, threshold, decay)
                                      : (real)a->scale,
                        .known = a->kept && a->kept_known};
    bool whole = a->ldx == a->width && a->ldy == a->width; /* rows without gaps: one run */
    size_t step = whole ? s->rows : 1;
    for (size_t row = s->row0; row < s->row0 + s->rows; row += step) {
        uint64_t element = ((uint64_t)a->micro * a->rows + row) * a->width;
        keep.kept = a->kept ? (uint16_t *)a->kept + row * kept_words(a) : NULL;
        s->m->vec->dropout(act_real(a->y) + row * a->ldy, act_read(a->x) + row * a->ldx,
                           step * a->width, element, &keep, a->add != 0);
    }
}

void cpu_add(const struct op_add *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        real *y = act_real(a->y) + row * a->ldy;
        const real *first = act_read(a->a) + row * a->lda;
        if (a->b.at)
            s->m->vec->add(y, first, act_read(a->b) + row * a->ldb, a->width);
        else
            memmove(y, first, a->width * sizeof *y);
    }
}
