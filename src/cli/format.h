/* format.h - --format of train and evaluate: the gates and groups as JUnit test cases, the metrics
 * as Prometheus gauges. */
#ifndef DNN_CLI_FORMAT_H
#define DNN_CLI_FORMAT_H

#include "answer/evaluate/by.h"
#include "cli/cli.h"
#include "measure/gate.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_JUNIT, FORMAT_PROM };
extern const char *const format_words[]; /* in the order of the enum; NULL at the end */
#define FORMAT_OPTION \
    {"format", 0, "FORMAT", format_words, 0, 0, 0, \
     "text; json, as --json; junit: the gates as test cases (XML); prom: the metrics as gauges " \
     "dnn_metric{part,metric} in the text format of Prometheus. Groups of --by of evaluate are " \
     "cases too, and have the labels by and group."}

/* Also sets a->json. False, E10: --json says otherwise. */
bool format_read(struct args *a, enum format *f, struct err *e);
/* A test suite. Each gate is a case; it fails if the gate is not met. Each group is a case; it
 * fails if the group does not meet a gate on the worst group. Properties of its case are the rows,
 * metrics and intervals of the group. `error` (NULL: none) is one more case. */
struct format_suite {
    const struct gate *gates;
    size_t gate_count;
    const struct by *by; /* [by_count] */
    size_t by_count;
    const struct err *error;
};
void format_junit(const struct args *a, const struct format_suite *s, struct text *out);
/* A part, whose metrics become gauges, and its groups, whose metrics follow. */
struct format_part {
    const char *name;
    const struct metrics *metrics;
    const struct by *by; /* [by_count] */
    size_t by_count;
};
void format_prom(const struct format_part *parts, size_t count, struct text *out);

#endif
