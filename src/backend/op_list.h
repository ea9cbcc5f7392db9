/* op_list.h - a list of recorded operations with copies of their arguments. All machines record
 * into it. extern "C" clean. */
#ifndef DNN_BACKEND_OP_LIST_H
#define DNN_BACKEND_OP_LIST_H

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An operation and the offset of its arguments in bytes. track: see machine_track. */
struct op_entry { enum op_id op; uint32_t track; size_t at; };
struct op_list {
    struct op_entry *ops;
    uint32_t count;
    unsigned char *bytes;
    size_t used, bytes_room;
};
/* Returns the copy of the arguments, valid until the next call. */
void *op_list_add(struct op_list *l, enum op_id op, const void *arguments);
static inline void *op_list_at(const struct op_list *l, uint32_t i)
{
    return l->bytes + l->ops[i].at;
}
/* The index of the first operation that differs, in kind, argument bytes or presence; the count
 * of both if none does. */
uint32_t op_list_differs(const struct op_list *a, const struct op_list *b);
void op_list_clear(struct op_list *l); /* keeps the memory */
void op_list_free(struct op_list *l);

#ifdef __cplusplus
}
#endif

#endif
