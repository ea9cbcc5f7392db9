/* cgroup.h - what the control groups of this process allow: its own and all those above it, of the
 * unified hierarchy and of the older one with a folder for each controller. What cannot be read is
 * no limit: there is no such hierarchy, or a sandbox hides it. */
#ifndef DNN_BASE_CGROUP_H
#define DNN_BASE_CGROUP_H

#include <stdint.h>

struct cgroup {
    double processors; /* of time, the smallest quota; INFINITY: none */
    uint64_t memory;   /* bytes that can still be taken, UINT64_MAX: no limit */
};

/* root "" is this machine; a test gives a folder that stands for it, holding proc/self/cgroup and
 * sys/fs/cgroup. */
void cgroup_read(const char *root, struct cgroup *c);

#endif
