/* arena.c - chunks in a list; a request larger than half a chunk gets a chunk of its own size. */
#include "base/arena.h"
#include "base/mem.h"

#include <string.h>

struct chunk {
    struct chunk *next;
    size_t room, used;
};
#define HEAD ((sizeof(struct chunk) + 15) & ~(size_t)15)

struct arena {
    size_t standard;      /* bytes of an ordinary chunk */
    struct chunk *filling; /* the chunk in use; full ones follow */
    struct chunk *large;   /* chunks that hold one allocation */
};

struct arena *arena_new(size_t chunk_bytes)
{
    struct arena *a = mem_zero(1, sizeof *a);
    a->standard = chunk_bytes < 1024 ? 1024 : chunk_bytes;
    return a;
}

static struct chunk *chunk_new(size_t room, struct chunk *next)
{
    size_t whole;
    if (mem_add_overflows(room, HEAD, &whole))
        whole = SIZE_MAX; /* mem_alloc reports the failure */
    struct chunk *c = mem_alloc(whole, 1);
    *c = (struct chunk){.next = next, .room = room};
    return c;
}

static void *chunk_carve(struct chunk *c, size_t bytes)
{
    char *at = (char *)c + HEAD + c->used;
    c->used += (bytes + 15) & ~(size_t)15;
    memset(at, 0, bytes);
    return at;
}

void *arena_alloc(struct arena *a, size_t count, size_t size)
{
    size_t bytes, whole;
    if (mem_mul_overflows(count, size, &bytes) || mem_add_overflows(bytes, (size_t)15, &whole))
        bytes = whole = SIZE_MAX - 15;
    whole &= ~(size_t)15;
    if (whole > a->standard / 2) {
        a->large = chunk_new(whole, a->large);
        return chunk_carve(a->large, bytes);
    }
    struct chunk *c = a->filling;
    if (!c || c->room - c->used < whole) {
        c = chunk_new(a->standard, a->filling);
        a->filling = c;
    }
    return chunk_carve(c, bytes);
}

char *arena_string(struct arena *a, const char *text, size_t length)
{
    char *copy = arena_alloc(a, length + 1, 1);
    if (length)
        memcpy(copy, text, length);
    return copy;
}

static void free_list(struct chunk *c)
{
    while (c) {
        struct chunk *next = c->next;
        mem_free(c);
        c = next;
    }
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    free_list(a->filling);
    free_list(a->large);
    mem_free(a);
}
