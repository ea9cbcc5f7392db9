/* guest.c - see guest.h. */
#include "base/process/guest.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* The text of dlerror without paths, which differ between machines. */
static void cannot_open(struct guest *g, const char *file)
{
    const char *text = dlerror();
    if (text && strstr(text, file) && strstr(text, "No such file"))
        snprintf(g->why, sizeof g->why, "%s is not found", file);
    else
        snprintf(g->why, sizeof g->why, "%s cannot be loaded: %.100s", file,
                 text ? text_quote_z(text) : "?");
}

/* dlsym returns a data pointer; C converts it to a function pointer only by copying bytes. */
static bool bind_all(struct guest *g, const struct guest_library *l, void *functions)
{
    for (size_t i = 0; i < l->count; i++) {
        void *address = dlsym(g->library, l->symbols[i].name);
        if (!address && !l->symbols[i].may) {
            snprintf(g->why, sizeof g->why, "%s has no %s", g->file, l->symbols[i].name);
            return false;
        }
        memcpy((char *)functions + l->symbols[i].at, &address, sizeof address);
    }
    return true;
}

static bool new_enough(struct guest *g, const struct guest_library *l, const void *functions)
{
    g->version = l->version ? l->version(functions) : 0;
    if (!l->version || g->version >= l->least)
        return true;
    snprintf(g->why, sizeof g->why, "%s is of version %s, older than %s", g->file,
             guest_version_text(g->version), guest_version_text(l->least));
    return false;
}

static bool open_one(struct guest *g, const struct guest_library *l, const char *file,
                     void *functions)
{
    *g = (struct guest){0};
    g->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!g->library) {
        cannot_open(g, file);
        return false;
    }
    snprintf(g->file, sizeof g->file, "%s", file);
    if (bind_all(g, l, functions) && new_enough(g, l, functions))
        return true;
    guest_close(g);
    return false;
}

/* Opens the first name that serves. `why` speaks of the first library that exists and does not
 * serve, else of the newest name. */
bool guest_open(struct guest *g, const struct guest_library *l, void *functions)
{
    *g = (struct guest){0};
    for (size_t i = 0; l->files[i]; i++) {
        struct guest tried;
        if (open_one(&tried, l, l->files[i], functions)) {
            *g = tried;
            return true;
        }
        if (i == 0 || (!strstr(tried.why, "is not found") && strstr(g->why, "is not found")))
            *g = tried;
    }
    for (size_t i = 0; i < l->count; i++)
        memset((char *)functions + l->symbols[i].at, 0, sizeof(void *));
    return false;
}

void guest_close(struct guest *g)
{
    if (g->library)
        dlclose(g->library);
    g->library = NULL;
}

const char *guest_version_text(unsigned version)
{
    enum { ROOMS = 4 };
    static _Thread_local char rooms[ROOMS][24];
    static _Thread_local unsigned turn;
    char *room = rooms[turn++ % ROOMS];
    snprintf(room, sizeof *rooms, "%u.%u.%u", version / 10000, version % 10000 / 100,
             version % 100);
    return room;
}
