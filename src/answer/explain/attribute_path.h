/* attribute_path.h - the paths of attribute.c: their beginnings, and the moves of their units
 * (unit.h). They depend on the model alone. Private to attribute.c and attribute_path.c. */
#ifndef DNN_ANSWER_ATTRIBUTE_PATH_H
#define DNN_ANSWER_ATTRIBUTE_PATH_H

#include "answer/stream/serve.h"
#include "answer/explain/unit.h"

/* At `time`, from 0 to 1, a unit comes to stand at `share` of the way to the row's own cells. */
struct move {
    double time, share;
    uint32_t unit;
};
struct paths {
    const struct unit *units;
    uint32_t unit_count, count, steps; /* steps: number of steps of a number on a path */
    struct move *moves;                /* [count][move_count], by time */
    uint32_t move_count;
    unsigned char **begin;             /* [encoders]: raw records [count] */
};
void paths_make(struct paths *p, const struct serve *s, const struct units *units);
void paths_free(struct paths *p, const struct serve *s);
/* Puts a unit of a raw record of encoder k, which has its own cells, at `share` of their way. */
void paths_place(const struct paths *p, const struct serve *s, uint32_t k, uint32_t path,
                 uint32_t unit, double share, unsigned char *record);

#endif
