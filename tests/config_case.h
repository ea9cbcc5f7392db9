/* config_case.h - a small config for tests of the config, and one of its settings by name. */
#ifndef DNN_CONFIG_CASE_H
#define DNN_CONFIG_CASE_H

#include <string.h>

#include "base/text.h"
#include "config/config.h"

static const char start[] =
    "{\"task\": \"binary\", \"data\": {\"train\": \"a.csv\", \"target\": \"y\", "
    "\"columns\": {\"x\": \"numeric\", \"a.b\": \"categorical\"}}";

/* A config of `start` and more members. */
static inline struct config *make(const char *more, const struct overrides *o, struct err *e)
{
    struct text t = {0};
    text_printf(&t, "%s%s%s}", start, *more ? ",\n" : "", more);
    struct config *c = config_parse(t.data, t.length, "dir/c.json", o, e);
    text_free(&t);
    return c;
}

static inline const struct setting *setting(const struct config *c, const char *key)
{
    for (size_t i = 0; i < c->setting_count; i++)
        if (strcmp(c->settings[i].key, key) == 0)
            return &c->settings[i];
    return NULL;
}

static inline const char *from(const struct config *c, const char *key)
{
    const struct setting *s = setting(c, key);
    return s ? s->from : "(no such key)";
}

#define NONE                                                                                       \
    {                                                                                              \
        .threads = -1, .batch_size = -1, .time_limit_s = -1                                        \
    }

#endif
