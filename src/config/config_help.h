/* config_help.h - describes the keys of a config: pages, lists, a schema. */
#ifndef DNN_CONFIG_CONFIG_HELP_H
#define DNN_CONFIG_CONFIG_HELP_H

#include "base/json/json.h"
#include "base/json/opt.h"
#include "base/text.h"

void config_schema(struct text *json); /* JSON Schema draft 2020-12 */
/* "task", "data", ...: a key at the top of a config; value: and its value is of the key's kind
 * (NULL: any). */
bool config_top_key(const char *key, const struct json *value);
/* false: no such key; out then names the nearest */
bool config_key_help(const char *key, struct text *out);
/* Every key, also the keys of columns, presets and layers: a row each with words and default. */
void config_reference(struct text *out);
/* The key that an option of this name would set (epochs, seed; lr, as other programs have it): the
 * key nearest to the top with this end. value: what stands in place of the option's own (fp16: the
 * precision of that name), NULL: its own. list: the value is a list of numbers. */
struct spoken_key { char key[128]; const char *value; bool list; };
/* false: none, or more than two. word: with _ between its parts. */
bool config_spoken_key(const char *word, struct spoken_key *out);
void config_keys(void (*each)(const char *key, const struct option *row, void *context),
                 void *context);

#endif
