/* memory.h - MEMORY of the JSON output: bytes of this process on host and device. One note in the
 * process; any thread. */
#ifndef DNN_CHOOSE_MEMORY_H
#define DNN_CHOOSE_MEMORY_H

#include "base/json/json.h"

#include "backend/backend.h"

/* Notes the memory of the machine for memory_write. m NULL or without a device: no effect. */
void memory_note(const struct machine *m);
void memory_write(const char *key, struct json_out *out); /* MEMORY */

#endif
