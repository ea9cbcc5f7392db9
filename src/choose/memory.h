/* memory.h - the MEMORY of the contract: what this process holds on host and device. */
#ifndef DNN_CHOOSE_MEMORY_H
#define DNN_CHOOSE_MEMORY_H

#include "base/json.h"

#include "backend/backend.h"

/* What the machine holds now is what is written from here on; one without a device is passed over.
 */
void memory_note(const struct machine *m);
void memory_write(const char *key, struct json_out *out); /* MEMORY */

#endif
