/* mem.c - every block has a header of one cache line in front, which knows its size. Blocks of 4
 * MiB and more are separate mappings, on a 2 MiB boundary and with huge pages asked for: they come
 * cleared and go back to the system when freed. */
#include "base/mem.h"

#include <assert.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/exitcode.h"
#include "base/fault.h"

#define LINE 64
#define HUGE ((size_t)2 << 20)
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MAP_FROM SIZE_MAX /* a sanitizer watches only what malloc gives */
#else
#define MAP_FROM ((size_t)4 << 20)
#endif
#define ALIVE UINT64_C(0x646e6e206d656d21)
#define FREED UINT64_C(0x646e6e2066726565)

struct header {
    size_t size;   /* as asked for */
    size_t mapped; /* bytes of its mapping, 0: from malloc */
    uint64_t mark;
    char rest[LINE - 2 * sizeof(size_t) - sizeof(uint64_t)];
};
_Static_assert(sizeof(struct header) == LINE, "a block stays aligned behind its header");

static _Atomic uint64_t in_use, peak;
static void (*_Atomic on_failure)(size_t bytes);

void mem_on_failure(void (*handler)(size_t bytes))
{
    atomic_store(&on_failure, handler);
}

void mem_start(void)
{
#if defined(__GLIBC__)
    mallopt(M_ARENA_MAX, 4); /* blocks are few and large: nobody waits for another */
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}

void mem_trim(void)
{
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

uint64_t mem_in_use(void)
{
    return atomic_load_explicit(&in_use, memory_order_relaxed);
}

uint64_t mem_peak(void)
{
    return atomic_load_explicit(&peak, memory_order_relaxed);
}

_Noreturn static void failed(size_t bytes)
{
    void (*handler)(size_t) = atomic_load(&on_failure);
    if (handler)
        handler(bytes);
    char line[96];
    int length =
        snprintf(line, sizeof line, "dnn: error[E1701]: out of memory: %zu bytes wanted\n", bytes);
    ssize_t ignored = write(STDERR_FILENO, line, (size_t)length);
    (void)ignored;
    _exit(EXIT_OS);
}

static void count_in(size_t size)
{
    uint64_t now = atomic_fetch_add_explicit(&in_use, size, memory_order_relaxed) + size;
    uint64_t most = atomic_load_explicit(&peak, memory_order_relaxed);
    while (now > most && !atomic_compare_exchange_weak_explicit(
                             &peak, &most, now, memory_order_relaxed, memory_order_relaxed))
        ;
}

static struct header *header_of(void *block)
{
    struct header *h = (struct header *)block - 1;
    assert(h->mark == ALIVE);
    return h;
}

/* A mapping of at least `bytes` that starts on a 2 MiB boundary: mapped larger, and the ends given
 * back. */
static struct header *map(size_t bytes, size_t *mapped)
{
    const long told = sysconf(_SC_PAGESIZE);
    size_t page = told > 0 ? (size_t)told : 4096, whole, wide;
    if (mem_add_overflows(bytes, page - 1, &whole))
        return NULL;
    whole &= ~(page - 1);
    if (mem_add_overflows(whole, HUGE, &wide))
        return NULL;
    char *at = mmap(NULL, wide, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    size_t before = (HUGE - ((uintptr_t)at & (HUGE - 1))) & (HUGE - 1);
    if (before)
        munmap(at, before);
    if (HUGE - before)
        munmap(at + before + whole, HUGE - before);
    madvise(at + before, whole, MADV_HUGEPAGE); /* advice: refused is fine */
    *mapped = whole;
    return (struct header *)(void *)(at + before);
}

/* NULL when it cannot be had; *cleared tells whether the bytes are zero already. */
static void *get(size_t count, size_t size, bool *cleared)
{
    size_t bytes, whole, mapped = 0;
    *cleared = false;
    if (fault_hit(FAULT_ALLOC))
        return NULL;
    if (mem_mul_overflows(count, size, &bytes) || bytes > PTRDIFF_MAX - 2 * LINE)
        return NULL;
    whole = (bytes + 2 * LINE - 1) & ~(size_t)(LINE - 1);
    struct header *h = NULL;
    if (bytes >= MAP_FROM) {
        h = map(whole, &mapped);
        *cleared = true;
    } else {
        h = aligned_alloc(LINE, whole);
    }
    if (!h)
        return NULL;
    h->size = bytes;
    h->mapped = mapped;
    h->mark = ALIVE;
    count_in(bytes);
    return h + 1;
}

static size_t wanted(size_t count, size_t size)
{
    size_t bytes;
    return mem_mul_overflows(count, size, &bytes) ? SIZE_MAX : bytes;
}

void *mem_try(size_t count, size_t size)
{
    bool cleared;
    return get(count, size, &cleared);
}

void *mem_alloc(size_t count, size_t size)
{
    bool cleared;
    void *block = get(count, size, &cleared);
    if (!block)
        failed(wanted(count, size));
    return block;
}

void *mem_zero(size_t count, size_t size)
{
    bool cleared;
    void *block = get(count, size, &cleared);
    if (!block)
        failed(wanted(count, size));
    if (!cleared)
        memset(block, 0, count * size);
    return block;
}

void *mem_grow(void *old, size_t count, size_t size)
{
    void *block = mem_alloc(count, size);
    if (old) {
        size_t had = header_of(old)->size, now = count * size;
        memcpy(block, old, had < now ? had : now);
        mem_free(old);
    }
    return block;
}

void *mem_more(void *items, size_t count, size_t size)
{
    size_t room = items ? header_of(items)->size / size : 0;
    return count < room ? items : mem_grow(items, 2 * room + 16, size);
}

void *mem_copy(const void *bytes, size_t size)
{
    void *block = mem_alloc(size, 1);
    if (size)
        memcpy(block, bytes, size);
    return block;
}

char *mem_string_n(const char *text, size_t length)
{
    size_t room;
    if (mem_add_overflows(length, (size_t)1, &room))
        failed(SIZE_MAX);
    char *copy = mem_alloc(room, 1);
    if (length)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *mem_string(const char *text)
{
    return mem_string_n(text, strlen(text));
}

void mem_free(void *block)
{
    if (!block)
        return;
    struct header *h = header_of(block);
    atomic_fetch_sub_explicit(&in_use, h->size, memory_order_relaxed);
    h->mark = FREED;
    if (h->mapped)
        munmap(h, h->mapped);
    else
        free(h);
}
