/* preset_linear.h - the preset linear in a config: its solver, and defaults. Private to
 * preset*.c. */
#ifndef DNN_MODEL_PRESET_LINEAR_H
#define DNN_MODEL_PRESET_LINEAR_H

#include "model/preset/preset.h"

/* preset.settle: makes solver "auto" path or gradient. */
void linear_settle(void *spec, const struct json_doc *doc);
/* preset.config_of: defaults that follow from the solver. */
const char *linear_config(const struct json_doc *doc);

#endif
