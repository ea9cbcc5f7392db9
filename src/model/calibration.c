/* calibration.c - see calibration.h. */
#include "model/calibration.h"

#include <math.h>

#include "base/mem.h"

#define LOG_LEAST (-700.0)

void calibration_free(struct calibration *c)
{
    mem_free(c->shift);
    *c = (struct calibration){0};
}

double calibration_log(double p)
{
    double l = p <= 0 ? LOG_LEAST : log(p);
    return l < LOG_LEAST ? LOG_LEAST : l; /* NaN stays NaN */
}

/* Softmax of z [classes] in place. */
static void softmax(double *z, uint32_t classes)
{
    double top = z[0], sum = 0;
    for (uint32_t k = 1; k < classes; k++)
        top = fmax(top, z[k]);
    for (uint32_t k = 0; k < classes; k++)
        sum += z[k] = exp(z[k] - top);
    for (uint32_t k = 0; k < classes; k++)
        z[k] /= sum;
}

static void apply_row(const struct calibration *c, double *p)
{
    for (uint32_t k = 0; k < c->classes; k++)
        p[k] = c->scale * calibration_log(p[k]) + c->shift[k];
    softmax(p, c->classes);
}

void calibration_apply(const struct calibration *c, uint64_t rows, double *probability)
{
    for (uint64_t i = 0; c->scale > 0 && i < rows; i++)
        apply_row(c, probability + i * c->classes);
}

double calibration_limit(const struct calibration *c, double value)
{
    if (!c->limited)
        return value;
    return value < c->low ? c->low : value > c->high ? c->high : value;
}
