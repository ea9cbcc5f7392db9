/* memory.cc - one range of addresses for device, pinned and shared bytes. What lies between the
 * allocations is out of bounds for every build: poisoned for AddressSanitizer, forbidden in the
 * shadow. Fresh memory holds 0xff bytes: not a number, as float. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emulate.h"
#include "shadow.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

enum { MOST_BLOCKS = 4096, ALIGN = 256, GAP = 256 };

unsigned char *memory_base;
/* pinned memory lies behind the devices', so that these can be hidden from the host */
static const size_t MEMORY_PINNED = (size_t)160 << 20;
static bool hidden;
static unsigned opened;
static struct memory_block table[MOST_BLOCKS]; /* by address */
static unsigned used;

static void reserve_once(void)
{
    if (memory_base)
        return;
    void *all = mmap(NULL, MEMORY_RANGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) {
        perror("emulator: device memory");
        abort();
    }
    memory_base = (unsigned char *)all;
#if defined(__SANITIZE_ADDRESS__)
    ASAN_POISON_MEMORY_REGION(all, MEMORY_RANGE);
#endif
}

static void protect(int how)
{
    if (mprotect(memory_base, MEMORY_PINNED, how) != 0) {
        perror("emulator: device memory");
        abort();
    }
}
void memory_hide(bool hide)
{
    reserve_once();
    hidden = hide;
    protect(hide ? PROT_NONE : PROT_READ | PROT_WRITE);
}
void memory_open(void)
{
    if (hidden && opened++ == 0)
        protect(PROT_READ | PROT_WRITE);
}
void memory_close(void)
{
    if (hidden && --opened == 0)
        protect(PROT_NONE);
}
bool memory_is_hidden(const void *at)
{
    return hidden && (size_t)((const unsigned char *)at - memory_base) < MEMORY_PINNED;
}

void memory_allow(void *at, size_t bytes)
{
#if defined(__SANITIZE_ADDRESS__)
    ASAN_UNPOISON_MEMORY_REGION(at, bytes);
#endif
    shadow_allow(at, bytes);
    memory_open();
    memset(at, 0xff, bytes);
    memory_close();
}

void memory_forbid(void *at, size_t bytes)
{
#if defined(__SANITIZE_ADDRESS__)
    ASAN_POISON_MEMORY_REGION(at, bytes);
#endif
    shadow_forbid(at, bytes);
}

unsigned char *memory_shared(unsigned number)
{
    reserve_once();
    return memory_base + (size_t)number * SHARED_BYTES;
}

/* First gap that is wide enough, in order of addresses. */
void *memory_alloc(size_t bytes, int device)
{
    reserve_once();
    if (used == MOST_BLOCKS || bytes == 0 || bytes > MEMORY_RANGE)
        return NULL;
    unsigned char *at = memory_base + (device < 0 ? MEMORY_PINNED : MEMORY_SHARED);
    unsigned char *end = memory_base + (device < 0 ? MEMORY_RANGE : MEMORY_PINNED);
    unsigned place = 0;
    for (; place < used; place++) {
        if (table[place].at < at)
            continue;
        if ((size_t)(table[place].at - at) >= bytes + GAP)
            break;
        size_t past = (size_t)(table[place].at + table[place].bytes - memory_base) + GAP;
        at = memory_base + (past + ALIGN - 1) / ALIGN * ALIGN;
    }
    if (at > end || (size_t)(end - at) < bytes + GAP)
        return NULL;
    memmove(table + place + 1, table + place, (used - place) * sizeof *table);
    used++;
    table[place].at = at;
    table[place].bytes = bytes;
    table[place].device = device;
    memory_allow(at, bytes);
    return at;
}

bool memory_free(void *at, int device)
{
    for (unsigned i = 0; i < used; i++)
        if (table[i].at == at && table[i].device == device) {
            memory_forbid(at, table[i].bytes);
            memmove(table + i, table + i + 1, (used - i - 1) * sizeof *table);
            used--;
            return true;
        }
    return false;
}

const struct memory_block *memory_find(const void *at)
{
    const unsigned char *p = (const unsigned char *)at;
    for (unsigned i = 0; i < used; i++)
        if (p >= table[i].at && p < table[i].at + table[i].bytes)
            return &table[i];
    return NULL;
}

size_t memory_used(int device)
{
    size_t sum = 0;
    for (unsigned i = 0; i < used; i++)
        if (table[i].device == device)
            sum += table[i].bytes;
    return sum;
}

void memory_drop_all(void)
{
    while (used)
        memory_free(table[0].at, table[0].device);
}
