/* op_list.c - see op_list.h. */
#include "backend/op_list.h"

#include <string.h>

#include "backend/machine.h"
#include "base/mem.h"

void *op_list_add(struct op_list *l, enum op_id op, const void *arguments)
{
    size_t size = (op_size(op) + 15) / 16 * 16;
    l->ops = mem_more(l->ops, l->count, sizeof *l->ops);
    if (l->used + size > l->bytes_room) {
        l->bytes_room = 2 * (l->used + size);
        l->bytes = mem_grow(l->bytes, l->bytes_room, 1);
    }
    memcpy(l->bytes + l->used, arguments, op_size(op));
    l->ops[l->count++] = (struct op_entry){.op = op, .at = l->used};
    l->used += size;
    return op_list_at(l, l->count - 1);
}

uint32_t op_list_differs(const struct op_list *a, const struct op_list *b)
{
    uint32_t i = 0;
    while (i < a->count && i < b->count && a->ops[i].op == b->ops[i].op &&
           memcmp(op_list_at(a, i), op_list_at(b, i), op_size(a->ops[i].op)) == 0)
        i++;
    return i;
}

void op_list_clear(struct op_list *l)
{
    l->count = 0;
    l->used = 0;
}

void op_list_free(struct op_list *l)
{
    mem_free(l->ops);
    mem_free(l->bytes);
    *l = (struct op_list){0};
}
