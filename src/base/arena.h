/* arena.h - bytes that live and die together. */
#ifndef DNN_BASE_ARENA_H
#define DNN_BASE_ARENA_H

#include <stddef.h>

struct arena;
struct arena *arena_new(size_t chunk_bytes);
/* Cleared, 16-byte aligned. */
void *arena_alloc(struct arena *a, size_t count, size_t size);
char *arena_string(struct arena *a, const char *text, size_t length);
void arena_free(struct arena *a);

#endif
