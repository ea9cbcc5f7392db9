/* base_cgroup.c - limits of control groups, in folders that stand for a machine's: both
 * hierarchies, the groups above, the files of a container. */
#include "base/process/cgroup.h"

#include "base/mem.h"
#include "scratch.h"
#include "tap.h"

enum { PATH = 1200 };
static char root[600];
static char made[64][PATH];
static int made_count;

/* A file of that machine with the folders above it. */
static void put(const char *name, const char *text)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = strchr(path + strlen(root), '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) == 0)
            memcpy(made[made_count++], path, sizeof path);
        *slash = '/';
    }
    FILE *f = fopen(path, "wb");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
        printf("Bail out! cannot write %s\n", path);
        exit(1);
    }
    memcpy(made[made_count++], path, sizeof path);
}
static void machine(const char *name)
{
    snprintf(root, sizeof root, "%s", scratch(name));
}
static void gone(void)
{
    while (made_count > 0)
        remove(made[--made_count]);
    rmdir(root);
}
static struct cgroup read_it(void)
{
    struct cgroup c;
    cgroup_read(root, &c);
    return c;
}

static void unified(void)
{
    machine("unified");
    struct cgroup c = read_it();
    ok(isinf(c.processors) && c.memory == UINT64_MAX, "no groups at all: no limit");
    put("proc/self/cgroup", "0::/work.slice/job\n");
    put("sys/fs/cgroup/work.slice/job/cpu.max", "max 100000\n");
    put("sys/fs/cgroup/work.slice/job/memory.max", "max\n");
    put("sys/fs/cgroup/work.slice/job/memory.current", "1000\n");
    c = read_it();
    ok(isinf(c.processors) && c.memory == UINT64_MAX, "max is no limit");
    put("sys/fs/cgroup/work.slice/cpu.max", "150000 100000\n");
    put("sys/fs/cgroup/work.slice/memory.max", "8000\n");
    put("sys/fs/cgroup/work.slice/memory.current", "3000\n");
    c = read_it();
    is_near(c.processors, 1.5, 0, "the group above has a quota");
    is_int(c.memory, 5000, "and a limit of memory");
    put("sys/fs/cgroup/work.slice/job/memory.max", "4000\n");
    put("sys/fs/cgroup/work.slice/job/cpu.max", "50000 100000\n");
    c = read_it();
    is_near(c.processors, 0.5, 0, "the smallest quota counts");
    is_int(c.memory, 3000, "and the least that is left");
    put("sys/fs/cgroup/work.slice/memory.stat", "anon 1000\ninactive_file 700\nactive_file 300\n"
                                                "workingset_active_file 9999\n");
    put("sys/fs/cgroup/work.slice/memory.current", "7500\n");
    is_int(read_it().memory, 1500, "pages of files are given back when they are needed");
    put("sys/fs/cgroup/work.slice/memory.current", "99000\n");
    is_int(read_it().memory, 0, "beyond the limit: nothing is left");
    gone();
}

static void container(void)
{
    machine("container");
    put("proc/self/cgroup", "0::/../host/name\n");
    put("sys/fs/cgroup/cpu.max", "200000 100000\n");
    put("sys/fs/cgroup/memory.max", "6000\n");
    put("sys/fs/cgroup/memory.current", "1000\n");
    struct cgroup c = read_it();
    ok(c.processors >= 2 && c.processors <= 2 && c.memory == 5000,
       "a name of the host: the files of the top");
    put("proc/self/cgroup", "0::/\n");
    c = read_it();
    ok(c.processors >= 2 && c.processors <= 2 && c.memory == 5000, "the top");
    gone();
}

static void older(void)
{
    machine("older");
    put("proc/self/cgroup", "9:name=systemd:/\n5:cpuset:/a/b\n4:memory:/a/b\n"
                            "3:cpu,cpuacct:/a/b\n0::/\n");
    put("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000\n");
    put("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    put("sys/fs/cgroup/cpuset/a/cpu.cfs_quota_us", "1000\n");
    put("sys/fs/cgroup/cpuset/a/cpu.cfs_period_us", "100000\n");
    put("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "5000\n");
    struct cgroup c = read_it();
    is_near(c.processors, 3, 0, "the quota of the group above; that of cpuset is none");
    ok(c.memory > (uint64_t)1 << 60, "the older hierarchy's word for no limit is a large number");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9000\n");
    put("sys/fs/cgroup/memory/memory.usage_in_bytes", "7000\n");
    put("sys/fs/cgroup/memory/memory.stat", "cache 1\ntotal_inactive_file 3000\n");
    put("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "100000\n");
    put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    c = read_it();
    is_int(c.memory, 5000, "memory, two groups above");
    is_near(c.processors, 1, 0, "under the controllers' common name");
    put("proc/self/cgroup", "nonsense\n1:cpu\n:\n::\n");
    c = read_it();
    ok(isinf(c.processors) && c.memory == UINT64_MAX, "lines that are none");
    gone();
}

int main(void)
{
    scratch_make();
    unified();
    container();
    older();
    is_int(mem_in_use(), 0, "everything was given back");
    return done();
}
