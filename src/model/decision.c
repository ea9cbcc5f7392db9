/* decision.c - see decision.h. */
#include "model/decision.h"

#include <float.h>
#include <math.h>

#include "base/mem.h"

void decision_free(struct decision *d)
{
    mem_free(d->offset);
    d->offset = NULL;
}

struct decision decision_copy(const struct decision *d)
{
    struct decision copy = *d;
    if (d->offset)
        copy.offset = mem_copy(d->offset, d->classes * sizeof *d->offset);
    return copy;
}

uint32_t decision_label(const struct decision *d, const double *probability, uint32_t classes)
{
    if (classes == 2)
        return probability[1] >= d->threshold ? 1 : 0;
    uint32_t best = 0;
    if (!d->offset) {
        for (uint32_t c = 1; c < classes; c++)
            if (probability[c] > probability[best])
                best = c;
        return best;
    }
    double most = calibration_log(probability[0]) + d->offset[0];
    for (uint32_t c = 1; c < classes; c++) {
        double value = calibration_log(probability[c]) + d->offset[c];
        if (value > most) {
            best = c;
            most = value;
        }
    }
    return best;
}

bool decision_before(const struct calibration *c, struct decision *d)
{
    bool moves = false;
    for (uint32_t k = 0; c->scale > 0 && k < c->classes; k++)
        moves = moves || fabs(c->shift[k]) > 0;
    if (!moves)
        return false;
    if (c->classes == 2) { /* a threshold of 0 would answer every row with the second label */
        d->threshold = fmax(1 / (1 + exp(c->shift[0] - c->shift[1])), DBL_MIN);
        return true;
    }
    mem_free(d->offset);
    d->classes = c->classes;
    d->threshold = 0;
    d->offset = mem_alloc(c->classes, sizeof *d->offset);
    for (uint32_t k = 0; k < c->classes; k++)
        d->offset[k] = 0 - c->shift[k]; /* never -0 */
    return true;
}

void decision_write(const struct decision *d, struct json_out *out)
{
    if (d->threshold > 0)
        json_put_number(out, "threshold", d->threshold);
    if (!d->offset)
        return;
    json_open(out, "decision", '[');
    for (uint32_t k = 0; k < d->classes; k++)
        json_put_number(out, NULL, d->offset[k]);
    json_close(out, ']');
}
