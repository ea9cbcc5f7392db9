/* overrides.h - the values of a config that the command line gives. */
#ifndef DNN_CONFIG_OVERRIDES_H
#define DNN_CONFIG_OVERRIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Strings NULL and numbers -1 when not given. */
struct overrides {
    const char *const *sets; /* "path.to.key=VALUE" in order */
    size_t set_count;
    const char *backend, *device, *output_model;
    int64_t threads, batch_size;
    double time_limit_s;
    bool one_network; /* preset auto stays the one network that it stands for */
};

extern const struct overrides overrides_none;

bool card_named(const char *word);              /* "cuda:3" */
const char *card_number(const char *device);    /* "3" of "cuda:3"; anything else unchanged */
/* The card that `device`, or else a backend "cuda:N", names; NULL: neither names one. */
const char *overrides_card(const struct overrides *o);
/* True: overrides_card, or else GPU_DEVICE_ID, is one card and not auto. */
bool overrides_one_card(const struct overrides *o);

#endif
