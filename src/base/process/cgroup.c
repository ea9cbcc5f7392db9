/* cgroup.c - see cgroup.h. Version 2: cpu.max, memory.max, memory.current, memory.stat. Version
 * 1: cpu.cfs_quota_us, cpu.cfs_period_us, memory.limit_in_bytes, memory.usage_in_bytes,
 * memory.stat. */
#include "base/process/cgroup.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "base/text.h"

/* One group's folder. */
struct group {
    const char *mount; /* ".../sys/fs/cgroup/memory" */
    const char *path;  /* "/a/b", "" at the top */
};

static char *group_file(const struct group *g, const char *name)
{
    struct text path = {0};
    text_printf(&path, "%s%s/%s", g->mount, g->path, name);
    char *bytes = file_small(path.data);
    text_free(&path);
    return bytes;
}

/* False: the file is missing or says "max". */
static bool group_number(const struct group *g, const char *name, long long *number)
{
    char *bytes = group_file(g, name);
    bool good = bytes && sscanf(bytes, "%lld", number) == 1 && *number >= 0;
    mem_free(bytes);
    return good;
}

/* --- processors --- */

static double quota_of(long long quota, long long period)
{
    return quota > 0 && period > 0 ? (double)quota / (double)period : HUGE_VAL;
}

static double processors_of(const struct group *g, bool unified)
{
    long long quota = -1, period = -1;
    if (!unified)
        return group_number(g, "cpu.cfs_quota_us", &quota) &&
                       group_number(g, "cpu.cfs_period_us", &period)
                   ? quota_of(quota, period) : HUGE_VAL;
    char *bytes = group_file(g, "cpu.max"); /* "max 100000" or "150000 100000" */
    bool good = bytes && sscanf(bytes, "%lld %lld", &quota, &period) == 2;
    mem_free(bytes);
    return good ? quota_of(quota, period) : HUGE_VAL;
}

/* --- memory --- */

/* The number after "NAME " in memory.stat; 0: no such line. */
static long long stat_number(const char *stat, const char *name)
{
    size_t n = strlen(name);
    long long number;
    for (const char *line = stat; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, n) == 0 && sscanf(line + n, " %lld", &number) == 1)
            return number > 0 ? number : 0;
    }
    return 0;
}

/* The kernel counts cached pages of files as used, and frees them on demand: subtract them. */
static uint64_t memory_of(const struct group *g, bool unified)
{
    long long limit, used;
    if (!group_number(g, unified ? "memory.max" : "memory.limit_in_bytes", &limit) ||
        !group_number(g, unified ? "memory.current" : "memory.usage_in_bytes", &used))
        return UINT64_MAX;
    char *stat = group_file(g, "memory.stat");
    if (stat) {
        used -= stat_number(stat, unified ? "active_file " : "total_active_file ");
        used -= stat_number(stat, unified ? "inactive_file " : "total_inactive_file ");
    }
    mem_free(stat);
    used = used > 0 ? used : 0;
    return limit > used ? (uint64_t)(limit - used) : 0;
}

/* --- the groups --- */

static void group_read(const struct group *g, bool unified, bool processors, bool memory,
                       struct cgroup *c)
{
    if (processors)
        c->processors = fmin(c->processors, processors_of(g, unified));
    if (memory) {
        uint64_t left = memory_of(g, unified);
        c->memory = left < c->memory ? left : c->memory;
    }
}

/* True when word is in a list like "cpu,cpuacct". */
static bool listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, n) == 0 && (at[n] == ',' || at[n] == '\0'))
            return true;
    }
    return false;
}

/* Reads the limits for one line of /proc/self/cgroup: "0::/a/b" or "4:cpu,cpuacct:/a/b". The folder
 * of a controller is named "cpu,cpuacct" or "cpu". In a container the path may be the host's path,
 * so the top group is always read too. */
static void line_read(const char *root, char *line, struct cgroup *c)
{
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return;
    controllers++;
    *path++ = '\0';
    bool unified = *controllers == '\0';
    bool processors = unified || listed(controllers, "cpu");
    bool memory = unified || listed(controllers, "memory");
    if (!processors && !memory)
        return;
    const char *names[] = {controllers, processors ? "cpu" : "memory"};
    for (int i = 0; i < 2 && (i == 0 || strcmp(names[0], names[1]) != 0); i++) {
        struct text mount = {0};
        text_printf(&mount, "%s/sys/fs/cgroup%s%s", root, unified ? "" : "/", names[i]);
        char *group = mem_string(strcmp(path, "/") == 0 ? "" : path);
        for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
            *end = '\0';
            group_read(&(struct group){mount.data, group}, unified, processors, memory, c);
        }
        text_free(&mount);
        mem_free(group);
        if (unified)
            return;
    }
}

void cgroup_read(const char *root, struct cgroup *c)
{
    *c = (struct cgroup){HUGE_VAL, UINT64_MAX};
    struct text path = {0};
    text_printf(&path, "%s/proc/self/cgroup", root);
    char *bytes = file_small(path.data);
    for (char *line = bytes; line && *line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        line_read(root, line, c);
        line = end ? end + 1 : NULL;
    }
    mem_free(bytes);
    text_free(&path);
}
