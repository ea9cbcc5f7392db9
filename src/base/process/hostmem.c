/* hostmem.c - see hostmem.h. The peak is VmHWM: ru_maxrss of getrusage includes the program that
 * called exec. */
#include "base/process/hostmem.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/process/cgroup.h"
#include "base/err.h"
#include "base/file/file.h"
#include "base/mem.h"

enum { SMALL_FILE = 1 << 16 };

/* The number in a line "key: number kB", in bytes; 0: no such line. */
static bool number_behind(const char *path, const char *key, uint64_t *bytes)
{
    struct err e = {0};
    char *text;
    size_t length;
    if (!file_slurp(path, SMALL_FILE, ERR_FILE_READ, &text, &length, &e))
        return false;
    char *at = strstr(text, key);
    unsigned long long kib = 0;
    bool found = at && sscanf(at + strlen(key), "%*[: \t]%llu", &kib) == 1;
    *bytes = kib * 1024;
    mem_free(text);
    return found;
}

uint64_t hostmem_peak(void)
{
    uint64_t bytes;
    if (number_behind("/proc/self/status", "VmHWM", &bytes))
        return bytes;
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

uint64_t hostmem_now(void)
{
    uint64_t bytes;
    return number_behind("/proc/self/status", "VmRSS", &bytes) ? bytes : 0;
}

uint64_t hostmem_resident(const void *memory, size_t bytes)
{
    enum { AT_ONCE = 256 };
    unsigned char in[AT_ONCE];
    long told = sysconf(_SC_PAGESIZE);
    size_t page = told > 0 ? (size_t)told : 4096, count = 0;
    size_t skip = (page - (uintptr_t)memory % page) % page;
    const char *first = (const char *)memory + skip;
    size_t pages = bytes > skip ? (bytes - skip) / page : 0;
    for (size_t at = 0; at < pages; at += AT_ONCE) {
        size_t now = pages - at < AT_ONCE ? pages - at : AT_ONCE;
        void *from;
        first += at ? AT_ONCE * page : 0;
        memcpy(&from, &first, sizeof from); /* mincore only reads it */
        if (mincore(from, now * page, in) != 0)
            return bytes;
        for (size_t i = 0; i < now; i++)
            count += in[i] & 1;
    }
    return count * page;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a == 0 || (b && b < a) ? b : a;
}

uint64_t hostmem_available(void)
{
    uint64_t least = 0, bytes, used;
    if (number_behind("/proc/meminfo", "MemAvailable", &bytes))
        least = bytes;
    struct cgroup group;
    cgroup_read("", &group);
    if (group.memory != UINT64_MAX)
        least = less(least, group.memory ? group.memory : 1);
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        number_behind("/proc/self/status", "VmSize", &used))
        least = less(least, limit.rlim_cur > used ? limit.rlim_cur - used : 1);
    return least;
}
