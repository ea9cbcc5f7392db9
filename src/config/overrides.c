/* overrides.c - the card that a command line names. */
#include "config/overrides.h"

#include <string.h>

#include "config/variable.h"

const struct overrides overrides_none = {.threads = -1, .batch_size = -1, .time_limit_s = -1};

bool card_named(const char *word)
{
    return word && strncmp(word, "cuda:", 5) == 0;
}

const char *card_number(const char *device)
{
    return card_named(device) ? device + 5 : device;
}

const char *overrides_card(const struct overrides *o)
{
    return o->device ? o->device : card_named(o->backend) ? o->backend : NULL;
}

bool overrides_one_card(const struct overrides *o)
{
    const char *card = overrides_card(o);
    if (!card)
        card = variable("GPU_DEVICE_ID");
    return card && strcmp(card, "auto") != 0;
}
