/* attribute_path.h - the paths of attribute.c: where they begin, and the moves of their columns.
 * They depend on the model alone. Private to attribute.c and attribute_path.c. */
#ifndef DNN_ANSWER_ATTRIBUTE_PATH_H
#define DNN_ANSWER_ATTRIBUTE_PATH_H

#include "answer/serve.h"

/* At `time`, from 0 to 1, a column comes to stand at `share` of the way to the row's own cell. */
struct move {
    double time, share;
    uint32_t column; /* index in paths.columns */
};
struct paths {
    const uint32_t *columns; /* of the schema: the inputs */
    uint32_t column_count, count, steps; /* steps: of a number on a path */
    struct move *moves;                  /* [count][move_count], by time */
    uint32_t move_count;
    unsigned char **begin;               /* [encoders]: raw records [count] */
};
void paths_make(struct paths *p, const struct serve *s, const uint32_t *columns,
                uint32_t column_count);
void paths_free(struct paths *p, const struct serve *s);
/* Moves a column of a raw record to `share` of the way from `begin` to `own`. */
void paths_move(const struct schema *s, uint32_t column, double share, const unsigned char *begin,
                const unsigned char *own, unsigned char *record);

#endif
