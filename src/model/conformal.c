/* conformal.c - see conformal.h. */
#include "model/conformal.h"

const char *const conformal_rules[CONFORMAL_RULES] = {"none", "value", "learnt", "spread", "sets"};

void conformal_interval(const struct conformal *c, const struct calibration *limits,
                        const struct target_coding *coding, double value, double spread,
                        double ends[2])
{
    double reach = c->rule == CONFORMAL_SPREAD ? c->reach * (spread + c->floor) : c->reach;
    for (int k = 0; k < 2; k++) {
        double to = k ? reach : -reach;
        ends[k] = c->rule == CONFORMAL_LEARNT
                      ? coding_decode(coding, coding_encode(coding, value) + to)
                      : value + to;
        ends[k] = calibration_limit(limits, ends[k]);
    }
}
