/* memory.h - what this process holds and may hold, as the kernel tells it. 0: not known. */
#ifndef DNN_RUN_MEMORY_H
#define DNN_RUN_MEMORY_H

#include <stdint.h>

#include "base/json.h"

uint64_t memory_peak(
    void); /* resident bytes, the most so far (of this program, not of the one that started it) */
uint64_t memory_now(void);       /* resident bytes */
uint64_t memory_available(void); /* what could still be taken: the machine, the control group and
                                    `ulimit -v` considered */
void memory_write(const char *key, struct json_out *out); /* MEMORY */

#endif
