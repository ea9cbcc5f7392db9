/* hostmem.h - memory of this process, from the kernel, in bytes. 0: not known. */
#ifndef DNN_BASE_HOSTMEM_H
#define DNN_BASE_HOSTMEM_H

#include <stddef.h>
#include <stdint.h>

/* Peak resident memory of this program, without the peak of the program that called exec. */
uint64_t hostmem_peak(void);
uint64_t hostmem_now(void); /* resident memory */
/* How many of these bytes are resident, in whole pages; `bytes` if the kernel cannot say. */
uint64_t hostmem_resident(const void *memory, size_t bytes);
/* Memory still available: the least of machine, control group and `ulimit -v`. */
uint64_t hostmem_available(void);

#endif
