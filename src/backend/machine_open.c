/* machine_open.c - the list of machine types: a machine is opened by the name of its type. */
#include <assert.h>
#include <string.h>

#include "backend/machine.h"
#include "base/text.h"

enum { TYPES_MOST = 8 };
static const struct machine_type *types[TYPES_MOST] = {&machine_cpu, &machine_cuda};

void machine_register(const struct machine_type *type)
{
    size_t i = 0;
    while (types[i] && types[i] != type)
        i++;
    assert(i < TYPES_MOST - 1);
    types[i] = type;
}

static size_t type_of(const char *name)
{
    size_t i = 0;
    while (types[i] && strcmp(types[i]->name, name) != 0)
        i++;
    return i;
}

bool machine_known(const char *name)
{
    return types[type_of(name)] != NULL;
}

struct machine *machine_open(const struct machine_options *o, struct err *e)
{
    const char *name = o->backend ? o->backend : machine_cpu.name;
    size_t i = type_of(name);
    if (!types[i]) {
        const char *names[sizeof types / sizeof *types];
        for (i = 0; types[i]; i++)
            names[i] = types[i]->name;
        err_set(e, ERR_BACKEND_UNKNOWN, "this build has no machine \"%s\"", text_quote_z(name));
        err_words(e, names, i);
        return NULL;
    }
    struct machine *m = types[i]->open(o, e);
    if (m)
        m->type = types[i];
    return m;
}
