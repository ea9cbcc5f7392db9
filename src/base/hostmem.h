/* hostmem.h - what this process holds and may hold, as the kernel tells it, in bytes. 0: not
 * known. */
#ifndef DNN_BASE_HOSTMEM_H
#define DNN_BASE_HOSTMEM_H

#include <stddef.h>
#include <stdint.h>

/* Resident, the most so far, of this program and not of the one that started it. */
uint64_t hostmem_peak(void);
uint64_t hostmem_now(void); /* resident */
/* Resident of these bytes, whole pages alone; all of them where the kernel does not tell. */
uint64_t hostmem_resident(const void *memory, size_t bytes);
/* What could still be taken: the machine, the control group and `ulimit -v` considered. */
uint64_t hostmem_available(void);

#endif
