/* format.h - --format of train and evaluate: the gates as JUnit test cases, the metrics as
 * Prometheus gauges. */
#ifndef DNN_CLI_FORMAT_H
#define DNN_CLI_FORMAT_H

#include "cli/cli.h"
#include "measure/gate.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_JUNIT, FORMAT_PROM };
extern const char *const format_words[]; /* of the option; NULL at the end */
#define FORMAT_OPTION \
    {"format", 0, "FORMAT", format_words, 0, 0, 0, \
     "text; json, as --json; junit: the gates as test cases (XML); prom: the metrics as gauges " \
     "dnn_metric{part,metric} in the text format of Prometheus."}

/* Also sets a->json. False, E10: --json says otherwise. */
bool format_read(struct args *a, enum format *f, struct err *e);
/* A test suite: a case for each gate, failed where it is not met; `error` (NULL: none) is one case
 * more. */
void format_junit(const struct args *a, const struct gate *gates, size_t count,
                  const struct err *error, struct text *out);
/* One metric of a part as a gauge. */
struct format_part { const char *name; const struct metrics *metrics; };
void format_prom(const struct format_part *parts, size_t count, struct text *out);

#endif
