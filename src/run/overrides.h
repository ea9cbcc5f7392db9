/* overrides.h - what the command line says of a config. */
#ifndef DNN_RUN_OVERRIDES_H
#define DNN_RUN_OVERRIDES_H

#include <stddef.h>
#include <stdint.h>

/* Strings NULL and numbers -1 when not given. */
struct overrides {
    const char *const *sets; /* "path.to.key=VALUE" in order */
    size_t set_count;
    const char *backend, *device, *output_model;
    int64_t threads, batch_size;
    double time_limit_s;
};

/* The card that `device`, or else a backend "cuda:N", names; NULL: neither does (config_env.c). */
const char *overrides_card(const struct overrides *o);

#endif
