/* unit.h - the inputs that explain measures together: one column, all steps of one channel of wide
 * sequences, or several columns or channels that the user names. */
#ifndef DNN_ANSWER_UNIT_H
#define DNN_ANSWER_UNIT_H

#include "answer/stream/serve.h"

struct unit {
    char *name;        /* of the column or channel, or "a, b" */
    uint32_t *columns; /* of the schema */
    uint32_t count;
};
struct units {
    struct unit *items;
    uint32_t count;
};

/* Opens the model of an explanation, takes its rows and lists its units: the groups ("a,b": names,
 * none in two groups), then every other unit in the order of the schema. False: e; E10, or state
 * passes from window to window. Caller: units_free and serve_close, after an error too. */
bool units_open(struct units *u, struct serve *s, const struct rows_request *q,
                const char *const *groups, size_t group_count, struct err *e);
void units_free(struct units *u);

#endif
