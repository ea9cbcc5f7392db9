/* alike.h - columns that say the same: each alone seems to matter little, because the answers find
 * the same in the others. Measured on stored rows (association.h). A group has a first column, the
 * most important one; each of the others says the same as that one. */
#ifndef DNN_ANSWER_ALIKE_H
#define DNN_ANSWER_ALIKE_H

#include "answer/explain/row_store.h"
#include "answer/explain/unit.h"
#include "base/text.h"

#define ALIKE_LEAST 0.9
enum {
    ALIKE_ROWS = 1000,    /* that are looked at */
    ALIKE_COLUMNS = 1000, /* the most important ones */
    ALIKE_ROWS_LEAST = 30
};

struct alike {
    const struct unit **units; /* two or more */
    uint32_t count;
    double least;              /* the weakest association with the first */
};
struct alikes {
    struct alike *items;
    uint32_t count;
};
/* Among units, from the most important down, but for texts and groups of the user. */
void alikes_find(struct alikes *a, const struct row_store *k, const struct unit *const *units,
                 uint32_t count);
/* The value of --group that deals them together: a,b. */
void alike_option(const struct alike *a, struct text *out);
void alikes_free(struct alikes *a);

#endif
