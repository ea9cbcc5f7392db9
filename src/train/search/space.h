/* space.h - the space of a search, and its seeded plan: the values of trial I follow from the
 * space, train.seed and I alone, so that any scheduler can spread the trials. Trial 0 changes no
 * key. Private to src/train. */
#ifndef DNN_TRAIN_SPACE_H
#define DNN_TRAIN_SPACE_H

#include "config/config.h"

struct space_key {
    char *path;
    const struct json *values; /* a list; NULL: a range */
    double low, high;
    bool log, whole;
};
struct space {
    struct json_doc *own; /* of a preset's space; NULL: it stands in the config */
    struct space_key *keys;
    size_t count;
    uint64_t seed;
};
/* The values of a trial: "path=JSON" for each key of the space. */
struct draw {
    char **sets;
    size_t count; /* 0: trial 0 */
};

/* Reads tune.space, or the preset's. class_weights is no key of a regression, and --batch-size
 * fixes train.batch_size. False, E13: a key that no trial can set, or a bad range. space_close in
 * either case. */
bool space_open(struct space *s, const struct config *c, struct err *e);
void space_close(struct space *s);
/* Notes that trial 0 is solved for (rocket) if the others, which draw an optimiser, are not. */
void space_note_steps(const struct space *s, const struct config *c);
void space_draw(const struct space *s, uint32_t trial, struct draw *d); /* draw_free */
void draw_set(struct draw *d, const char *set); /* adds it */
void draw_free(struct draw *d);
/* The value of a key as JSON text; "": the config's own. */
const char *draw_value(const struct draw *d, size_t key);
/* {"path.to.key": value, ...} in one line. */
void draw_write(const struct draw *d, struct text *out);

#endif
