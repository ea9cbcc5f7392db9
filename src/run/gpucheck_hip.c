/* gpucheck_hip.c - whether AMD's HIP runtime is here: looked for by the names of files where its
 * packages put it and where the loader would look, and never opened. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "run/gpucheck_parts.h"

static const char library[] = "libamdhip64.so"; /* and .so.5, .so.6, .so.6.2.60200, .. */

static bool is_library(const char *name)
{
    size_t length = sizeof library - 1;
    return strncmp(name, library, length) == 0 && (!name[length] || name[length] == '.');
}

/* A folder as it stands, at: its name in a message. */
static bool in_folder(const char *folder, const char *at, char *path, size_t room)
{
    DIR *d = opendir(folder);
    bool found = false;
    for (struct dirent *entry; d && !found && (entry = readdir(d)) != NULL;) {
        char whole[1024];
        int length = snprintf(whole, sizeof whole, "%s/%s", folder, entry->d_name);
        found = is_library(entry->d_name) && length < (int)sizeof whole &&
                access(whole, F_OK) == 0; /* not a link to what is gone */
        if (found)
            snprintf(path, room, "%s/%s", at, entry->d_name);
    }
    if (d)
        closedir(d);
    return found;
}

static bool in_place(const char *folder, char *path, size_t room)
{
    return in_folder(gpucheck_rooted(folder), folder, path, room);
}

/* The environment's list of folders, as the loader reads it; of a folder with `below` behind it. */
static bool in_variable(const char *name, const char *below, char *path, size_t room)
{
    const char *list = getenv(name);
    bool found = false;
    for (size_t length; list && *list && !found; list += length + (list[length] != '\0')) {
        char folder[512];
        length = strcspn(list, ":;");
        if (length && length + strlen(below) < sizeof folder) {
            snprintf(folder, sizeof folder, "%.*s%s", (int)length, list, below);
            found = in_folder(folder, folder, path, room);
        }
    }
    return found;
}

/* The loader's cache of ldconfig holds the paths of all libraries as strings. */
static bool in_cache(char *path, size_t room)
{
    struct err e = {0};
    char *bytes = NULL;
    size_t length = 0;
    bool found = false;
    const char *cache = gpucheck_rooted("/etc/ld.so.cache");
    if (!file_exists(cache) || !file_slurp(cache, 64 << 20, ERR_FILE_READ, &bytes, &length, &e))
        return false;
    for (size_t i = 0, end; i < length && !found; i = end + 1) {
        for (end = i; end < length && bytes[end];)
            end++;
        const char *slash = end < length ? strrchr(bytes + i, '/') : NULL;
        if (!slash || !is_library(slash + 1))
            continue;
        const char *at = memchr(bytes + i, '/', end - i); /* numbers may stand before the first */
        found = access(gpucheck_rooted(at), F_OK) == 0;
        if (found)
            snprintf(path, room, "%s", at);
    }
    mem_free(bytes);
    return found;
}

/* /opt/rocm-6.2.0, which need not have a link /opt/rocm. */
static bool in_opt(char *path, size_t room)
{
    char folder[300];
    DIR *d = opendir(gpucheck_rooted("/opt"));
    bool found = false;
    for (struct dirent *entry; d && !found && (entry = readdir(d)) != NULL;) {
        if (strncmp(entry->d_name, "rocm", 4) != 0)
            continue;
        snprintf(folder, sizeof folder, "/opt/%s/lib", entry->d_name);
        found = in_place(folder, path, room);
    }
    if (d)
        closedir(d);
    return found;
}

bool gpucheck_hip(char *path, size_t room)
{
    static const char *const usual[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib",
                                        "/usr/local/lib"};
    bool found = in_variable("LD_LIBRARY_PATH", "", path, room) ||
                 in_variable("ROCM_PATH", "/lib", path, room) ||
                 in_variable("HIP_PATH", "/lib", path, room) || in_opt(path, room) ||
                 in_cache(path, room);
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !found; i++)
        found = in_place(usual[i], path, room);
    return found;
}
