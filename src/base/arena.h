/* arena.h - many small allocations that are freed together. */
#ifndef DNN_BASE_ARENA_H
#define DNN_BASE_ARENA_H

#include <stddef.h>

struct arena;
struct arena *arena_new(size_t chunk_bytes);
/* Zeroed, 16-byte aligned; freed by arena_free alone. Never NULL. */
void *arena_alloc(struct arena *a, size_t count, size_t size);
/* A copy of length bytes, with a NUL after it. */
char *arena_string(struct arena *a, const char *text, size_t length);
void arena_free(struct arena *a);

#endif
