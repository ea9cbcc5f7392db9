/* remark.h - warnings about the data in the order of detection. The command logs them after
 * reading. */
#ifndef DNN_TABLE_REMARK_H
#define DNN_TABLE_REMARK_H

#include <stddef.h>

struct remark {
    char text[512];
};
struct remarks {
    struct remark *items;
    size_t count;
};

/* Appends a warning; cuts longer texts. */
void remark_add(struct remarks *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Moves all of `from` to the end of `into`. */
void remarks_move(struct remarks *into, struct remarks *from);
void remarks_free(struct remarks *r);

#endif
