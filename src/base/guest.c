/* guest.c - see guest.h. */
#include "base/guest.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* What dlerror says, without what differs from machine to machine. */
static void cannot_open(struct guest *g, const char *file)
{
    const char *text = dlerror();
    if (text && strstr(text, file) && strstr(text, "No such file"))
        snprintf(g->why, sizeof g->why, "%s is not found", file);
    else
        snprintf(g->why, sizeof g->why, "%s cannot be loaded: %.100s", file,
                 text ? text_quote_z(text) : "?");
}

/* The first name that opens. Why not is told of the first that is there and does not open, else of
 * the newest. */
static bool open_first(struct guest *g, const struct guest_library *l)
{
    for (size_t i = 0; l->files[i]; i++) {
        struct guest tried = {0};
        g->library = dlopen(l->files[i], RTLD_NOW | RTLD_LOCAL);
        if (g->library) {
            snprintf(g->file, sizeof g->file, "%s", l->files[i]);
            g->why[0] = '\0';
            return true;
        }
        cannot_open(&tried, l->files[i]);
        if (i == 0 || (!strstr(tried.why, "is not found") && strstr(g->why, "is not found")))
            memcpy(g->why, tried.why, sizeof g->why);
    }
    return false;
}

/* A function is found as an address of data; C knows no cast between the two but through bytes. */
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

bool guest_open(struct guest *g, const struct guest_library *l, void *functions)
{
    *g = (struct guest){0};
    if (open_first(g, l) && bind_all(g, l, functions) && new_enough(g, l, functions))
        return true;
    for (size_t i = 0; i < l->count; i++)
        memset((char *)functions + l->symbols[i].at, 0, sizeof(void *));
    guest_close(g);
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
