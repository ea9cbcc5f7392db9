/* memory.h - the MEMORY of the contract: what this process holds on host and device. */
#ifndef DNN_RUN_MEMORY_H
#define DNN_RUN_MEMORY_H

#include "base/json.h"

void memory_write(const char *key, struct json_out *out); /* MEMORY */

#endif
