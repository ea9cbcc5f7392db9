/* mem.h - the only place that calls malloc. Out of memory never returns: mem_alloc calls the
 * handler of mem_on_failure (src/cli removes temporary files, prints E1701 and exits with 71), so
 * callers need no branch. mem_try returns NULL instead, for sizes that come from a file or a user.
 * All blocks are 64-byte aligned. */
#ifndef DNN_BASE_MEM_H
#define DNN_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *mem_alloc(size_t count, size_t size);           /* not cleared; count * size is checked */
void *mem_zero(size_t count, size_t size);            /* cleared */
void *mem_try(size_t count, size_t size);             /* not cleared; NULL: out of memory */
/* realloc with the same promise; old may be NULL. Grow by factors: the bytes are copied each time.
 */
void *mem_grow(void *old, size_t count, size_t size);
/* The list, which has `count` items, moved if it has no room for one more; NULL: none yet. */
void *mem_more(void *items, size_t count, size_t size);
void *mem_copy(const void *bytes, size_t size);
char *mem_string(const char *text);                   /* strdup */
char *mem_string_n(const char *text, size_t length);  /* length bytes and a NUL */
void mem_free(void *block);                           /* NULL does nothing */
void mem_on_failure(void (*handler)(size_t bytes));   /* must not return */
/* Call it once, before more threads are started. Then threads share a few pools of blocks, and a
 * freed block of 128 KiB or more leaves the process. Else glibc's malloc gives each thread a pool
 * of its own, and keeps freed blocks of up to 32 MiB: the peak would be chance. */
void mem_start(void);
/* Gives freed memory back to the system: malloc keeps some in each of its pools. Call it after a
 * stage that took much, before one that runs for long. */
void mem_trim(void);
uint64_t mem_in_use(void);                            /* bytes alive, as asked for */
uint64_t mem_peak(void);

/* true when the product or sum overflows */
#define mem_mul_overflows(a, b, out) __builtin_mul_overflow(a, b, out)
#define mem_add_overflows(a, b, out) __builtin_add_overflow(a, b, out)

#endif
