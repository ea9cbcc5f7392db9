/* odd_steps.h - rows of a group whose `order` is as in the row before, or follows a gap: a step of
 * more than 1.5 usual ones. */
#ifndef DNN_TABLE_SEQUENCE_ODD_STEPS_H
#define DNN_TABLE_SEQUENCE_ODD_STEPS_H

#include "base/text.h"
#include "table/schema/schema.h"

enum odd_step { STEP_EQUAL, STEP_GAP, ODD_STEPS };
struct odd_steps {
    uint64_t count[ODD_STEPS];
    struct text first[ODD_STEPS]; /* where the first one is: "FILE:LINE, group "s3"" */
};
/* The kind of a step; ODD_STEPS: usual. */
enum odd_step odd_step(const struct windows *w, double step);
/* The place of a row, for `first`. group: its cell. */
void odd_step_place(struct text *to, const char *path, int64_t line, const char *group,
                    size_t length);
void odd_steps_note(const struct odd_steps *o, const struct schema *s);
void odd_steps_free(struct odd_steps *o);

#endif
