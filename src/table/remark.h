/* remark.h - warnings about the data, in the order in which they were found. The command logs them
 * when reading is over. */
#ifndef DNN_TABLE_REMARK_H
#define DNN_TABLE_REMARK_H

#include <stddef.h>

struct remark {
    char text[256];
};
struct remarks {
    struct remark *items;
    size_t count;
};

/* Adds one; a longer text is cut. */
void remark_add(struct remarks *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Moves all of `from` behind those of `into`. */
void remarks_move(struct remarks *into, struct remarks *from);
void remarks_free(struct remarks *r);

#endif
