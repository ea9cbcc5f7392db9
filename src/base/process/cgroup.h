/* cgroup.h - the limits of this process's control group and of its parents, in cgroup versions 1
 * and 2. A file that cannot be read sets no limit. */
#ifndef DNN_BASE_CGROUP_H
#define DNN_BASE_CGROUP_H

#include <stdint.h>

struct cgroup {
    double processors; /* smallest quota of processor time; INFINITY: none */
    uint64_t memory;   /* bytes still free; UINT64_MAX: no limit */
};

/* root: "" for this machine. A test passes a folder with proc/self/cgroup and sys/fs/cgroup. */
void cgroup_read(const char *root, struct cgroup *c);

#endif
