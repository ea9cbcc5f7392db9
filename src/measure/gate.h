/* gate.h - a bound on a metric, "auc>=0.85". A metric without a value (NaN) fails every gate. */
#ifndef DNN_MEASURE_GATE_H
#define DNN_MEASURE_GATE_H

#include "measure/metric.h"

enum gate_compare { GATE_AT_LEAST, GATE_ABOVE, GATE_AT_MOST, GATE_BELOW };
struct gate {
    char *text; /* as given; owned */
    const struct metric_type *metric;
    int compare; /* enum gate_compare */
    double bound, value;
    bool compares; /* with another model: value is the difference of these two, > 0 when better */
    double own, other;
    bool pass;
};
/* METRIC OPERATOR NUMBER, blanks allowed between; a metric of the task. Else E10. */
bool gate_read(struct gate *g, const char *text, int task, struct err *e);
void gate_measure(struct gate *g, double value);
void gate_release(struct gate *g);
void gates_write(const struct gate *gates, size_t count, struct json_out *out); /* "gates": [..] */

#endif
