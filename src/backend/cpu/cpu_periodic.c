/* cpu_periodic.c - periodic numbers. A row has the waves of one number after the other; on the way
 * back a tile has one number, and adds row by row. */
#include <string.h>

#include "backend/cpu/cpu.h"

#define TURN ((real)6.28318530717958648)

/* sin(2 pi q) for |q| <= 1/4: its series up to the 13th power, within 1e-9. */
static inline real quarter_sine(real q)
{
    static const real c[] = {(real)-1.0 / 6,         (real)1.0 / 120,       (real)-1.0 / 5040,
                             (real)1.0 / 362880, (real)-1.0 / 39916800, (real)1.0 / 6227020800};
    real a = TURN * q, s = a * a, sum = c[5];
    for (int i = 4; i >= 0; i--)
        sum = sum * s + c[i];
    return a + a * s * sum;
}

/* cos(2 pi v). Adding and taking away 1.5 2^23 (2^52 for doubles) rounds to a whole number. */
static inline real turn_cosine(real v)
{
    const real large = sizeof(real) == sizeof(float) ? (real)12582912 : (real)6755399441055744;
    real whole = (v + large) - large, away = v - whole;
    away = away < 0 ? -away : away;
    return quarter_sine((real)0.25 - (away < (real)0.5 ? away : (real)0.5));
}

static struct periodic of_column(const struct periodic *p, uint32_t i)
{
    return (struct periodic){p->frequency + (size_t)i * PERIODIC_WAVES,
                             p->phase + (size_t)i * PERIODIC_WAVES,
                             p->weight + (size_t)i * PERIODIC_WAVES * PERIODIC_OUTPUTS,
                             p->bias + (size_t)i * PERIODIC_OUTPUTS};
}

static void waves(const struct periodic *p, real x, real later, real *h)
{
    for (int k = 0; k < PERIODIC_WAVES; k++)
        h[k] = turn_cosine(p->frequency[k] * x + p->phase[k] * (1 / TURN) - later);
}

void cpu_periodic(const struct op_periodic *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        real *x = act_real(a->x) + row * a->ld;
        for (uint32_t i = 0; i < a->columns; i++) {
            struct periodic p = of_column(&a->p, i);
            real h[PERIODIC_WAVES], sum[PERIODIC_OUTPUTS];
            waves(&p, x[a->column[i].number], 0, h);
            memcpy(sum, p.bias, sizeof sum);
            for (int k = 0; k < PERIODIC_WAVES; k++)
                for (int j = 0; j < PERIODIC_OUTPUTS; j++)
                    sum[j] += h[k] * p.weight[k * PERIODIC_OUTPUTS + j];
            memcpy(x + a->column[i].at, sum, sizeof sum);
        }
    }
}

unsigned cpu_periodic_back_tiles(const struct op_periodic_back *a)
{
    return a->columns;
}

/* sin(2 pi v) is the cosine a quarter of a turn later. */
static void add_row(const struct periodic *p, const struct periodic *d, real x, const real *dy)
{
    real h[PERIODIC_WAVES], slope[PERIODIC_WAVES];
    waves(p, x, 0, h);
    waves(p, x, (real)0.25, slope);
    for (int k = 0; k < PERIODIC_WAVES; k++) {
        real dh = 0;
        for (int j = 0; j < PERIODIC_OUTPUTS; j++) {
            dh += dy[j] * p->weight[k * PERIODIC_OUTPUTS + j];
            d->weight[k * PERIODIC_OUTPUTS + j] += dy[j] * h[k];
        }
        d->phase[k] -= dh * slope[k];
        d->frequency[k] -= dh * slope[k] * TURN * x;
    }
    for (int j = 0; j < PERIODIC_OUTPUTS; j++)
        d->bias[j] += dy[j];
}

void cpu_periodic_back(const struct op_periodic_back *a, const struct slice *s)
{
    struct periodic p = of_column(&a->p, s->tile), d = of_column(&a->d, s->tile);
    const struct periodic_column *c = &a->column[s->tile];
    if (!a->more) {
        memset(d.frequency, 0, PERIODIC_WAVES * sizeof(real));
        memset(d.phase, 0, PERIODIC_WAVES * sizeof(real));
        memset(d.weight, 0, (size_t)PERIODIC_WAVES * PERIODIC_OUTPUTS * sizeof(real));
        memset(d.bias, 0, PERIODIC_OUTPUTS * sizeof(real));
    }
    for (size_t row = 0; row < a->rows; row++)
        add_row(&p, &d, act_read(a->x)[row * a->ld + c->number],
                act_read(a->dx) + row * a->ld + c->at);
}
