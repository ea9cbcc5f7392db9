/* gate.h - a bound on a metric, "auc>=0.85", on an end of its 95 % interval, "auc.low>=0.8", on the
 * best precision at a recall, "precision@recall=0.8>=0.5", or the best recall at a precision, or on
 * the worst group of rows, "auc.worst>=0.7". A metric without a value (NaN) fails every gate. */
#ifndef DNN_MEASURE_GATE_H
#define DNN_MEASURE_GATE_H

#include "base/text.h"
#include "measure/metric.h"

enum gate_compare { GATE_AT_LEAST, GATE_ABOVE, GATE_AT_MOST, GATE_BELOW };
enum gate_of { GATE_OF_VALUE, GATE_OF_LOW, GATE_OF_HIGH, GATE_OF_CURVE, GATE_OF_WORST };
struct gate {
    char *text; /* as given; owned */
    const struct metric_type *metric;
    int of;     /* enum gate_of */
    double at;  /* GATE_OF_CURVE: the least of the other one */
    int compare; /* enum gate_compare */
    double bound, value;
    char *where; /* GATE_OF_WORST: the worst group, as text, owned; NULL: not known */
    bool compares; /* with another model: value is the difference of these two, > 0 when better */
    double own, other;
    struct interval interval; /* of that difference */
    bool pass;
};
/* WHAT OPERATOR NUMBER, blanks allowed between; WHAT: METRIC, METRIC.low, METRIC.high,
 * METRIC.worst, precision@recall=NUMBER or recall@precision=NUMBER; a metric of the task. Else
 * E10. */
bool gate_read(struct gate *g, const char *text, int task, struct err *e);
/* NAME OPERATOR NUMBER, of a measure that is no metric. Else E10. */
bool gate_read_name(struct gate *g, const char *text, const char *name, struct err *e);
bool gate_holds(const struct gate *g, double value); /* false for NaN */
void gate_measure(struct gate *g, double value);
/* The same, but for GATE_OF_WORST, of a tally with all counters that the metric needs, ranks too;
 * m: its metrics. */
void gate_judge(struct gate *g, const struct metrics *m, struct tally *y);
/* Appends the value, or "undefined: auc needs rows of two labels" without one. */
void gate_put(const struct gate *g, struct text *out);
void gate_release(struct gate *g);
void gates_write(const struct gate *gates, size_t count, struct json_out *out); /* "gates": [..] */

#endif
