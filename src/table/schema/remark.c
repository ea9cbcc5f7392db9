/* remark.c - a growing list of warnings. */
#include "table/schema/remark.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"

static struct remark *append(struct remarks *r)
{
    r->items = mem_grow(r->items, r->count + 1, sizeof *r->items);
    return &r->items[r->count++];
}

void remark_add(struct remarks *r, const char *format, ...)
{
    struct remark *new = append(r);
    va_list args;
    va_start(args, format);
    vsnprintf(new->text, sizeof new->text, format, args);
    va_end(args);
}

void remarks_move(struct remarks *into, struct remarks *from)
{
    for (size_t i = 0; i < from->count; i++)
        *append(into) = from->items[i];
    remarks_free(from);
}

void remarks_free(struct remarks *r)
{
    mem_free(r->items);
    *r = (struct remarks){0};
}
