/* memory.h - the MEMORY of the contract: what this process holds on host and device. */
#ifndef DNN_CHOOSE_MEMORY_H
#define DNN_CHOOSE_MEMORY_H

#include "base/json.h"

#include "backend/backend.h"

/* Notes the memory of the machine for memory_write; a machine without a device is ignored. */
void memory_note(const struct machine *m);
void memory_write(const char *key, struct json_out *out); /* MEMORY */

#endif
