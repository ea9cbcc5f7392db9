/* help_toolkits.c - the table of CUDA toolkits of `dnn help gpu`. */
#include <stdio.h>

#include "backend/toolkit.h"
#include "cli/help.h"

void help_toolkits(struct text *out)
{
    text_printf(out, "%-12s %-31s %-14s %-14s %s\n", "toolkit", "driver, at least", "cuDNN (guest)",
                "capability", "up to");
    const struct toolkit *t;
    for (size_t i = 0; (t = toolkit_at(i)); i++) {
        char releases[64], capability[64];
        unsigned major = t->first / 10;
        if (t->last % 10 == 9 && t->last / 10 == major && t->first % 10 == 0)
            snprintf(releases, sizeof releases, "%u.x", major);
        else if (t->first == t->last)
            snprintf(releases, sizeof releases, "%u.%u", major, t->first % 10);
        else
            snprintf(releases, sizeof releases, "%u.%u to %u.%u", major, t->first % 10,
                     t->last / 10, t->last % 10);
        snprintf(capability, sizeof capability, "%u.%u to %u.%u", t->least / 10, t->least % 10,
                 t->most / 10, t->most % 10);
        text_printf(out, "%-12s %-31s %-14s %-14s %s\n", releases, t->driver, t->cudnn, capability,
                    t->newest);
    }
}
