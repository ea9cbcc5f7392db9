/* scored.h - the metrics of rows that are all in memory. */
#ifndef DNN_SCORED_H
#define DNN_SCORED_H

#include "measure/metric.h"
#include "measure/tally.h"

static inline void metrics_compute(const struct scores *s, struct metrics *m)
{
    struct tally *y = tally_new(s->task, s->classes, TALLY_ALL & ~(unsigned)TALLY_CONFUSED);
    tally_add(y, s);
    metrics_of(y, m);
    tally_free(y);
}

static inline double metric_compute(const struct scores *s, const struct metric_type *t)
{
    struct tally *y = tally_new(s->task, s->classes, t->needs);
    tally_add(y, s);
    double value = t->value(y);
    tally_free(y);
    return value;
}

#endif
