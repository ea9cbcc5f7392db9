/* scratch.h - a temporary folder for a test program, removed at the end. It uses the C library
 * alone, so that the code under test is not involved. */
#ifndef DNN_SCRATCH_H
#define DNN_SCRATCH_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char scratch_folder[256];

static inline void scratch_clear(void) /* the folder stays */
{
    DIR *d = opendir(scratch_folder);
    struct dirent *entry;
    while (d && (entry = readdir(d))) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", scratch_folder, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlink(path) != 0)
            rmdir(path);
    }
    if (d)
        closedir(d);
}
static inline void scratch_remove(void)
{
    scratch_clear();
    rmdir(scratch_folder);
}
static inline void scratch_make(void)
{
    const char *root = getenv("TMPDIR");
    snprintf(scratch_folder, sizeof scratch_folder, "%.200s/dnn-test-XXXXXX",
             root && *root ? root : "/tmp");
    if (!mkdtemp(scratch_folder)) {
        printf("Bail out! no temporary folder\n");
        exit(1);
    }
    atexit(scratch_remove);
}
/* One of 8 rotating buffers. */
static inline const char *scratch(const char *name)
{
    static char paths[8][600];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    snprintf(path, 600, "%s/%s", scratch_folder, name);
    return path;
}
static inline void scratch_put(const char *name, const void *bytes, size_t length)
{
    FILE *f = fopen(scratch(name), "wb");
    if (!f || fwrite(bytes, 1, length, f) != length || fclose(f) != 0) {
        printf("Bail out! cannot write %s\n", scratch(name));
        exit(1);
    }
}
/* The whole file and a NUL, from malloc; NULL when it is not there. */
static inline char *scratch_get(const char *name, size_t *length)
{
    FILE *f = fopen(scratch(name), "rb");
    if (!f)
        return NULL;
    size_t room = 1 << 16, used = 0, n;
    char *bytes = (char *)malloc(room + 1);
    while (bytes && (n = fread(bytes + used, 1, room - used, f)) > 0) {
        used += n;
        if (used == room)
            bytes = (char *)realloc(bytes, (room *= 2) + 1);
    }
    fclose(f);
    if (bytes)
        bytes[used] = '\0';
    *length = used;
    return bytes;
}
static inline bool scratch_holds(const char *name, const void *bytes, size_t length)
{
    size_t n = 0;
    char *got = scratch_get(name, &n);
    bool same = got && n == length && memcmp(got, bytes, n) == 0;
    free(got);
    return same;
}
static inline int scratch_count(void) /* entries of the folder */
{
    int count = 0;
    DIR *d = opendir(scratch_folder);
    struct dirent *entry;
    while (d && (entry = readdir(d)))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (d)
        closedir(d);
    return count;
}
/* Runs this program anew with up to two arguments and DNN_FAULT set (NULL: unset): DNN_FAULT is
 * read once a process. Its exit code, or 128 + the signal. Standard error goes to the file `errors`
 * of the scratch folder when not NULL. */
static inline int scratch_again(const char *fault, const char *a, const char *b, const char *errors)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (fault)
            setenv("DNN_FAULT", fault, 1);
        else
            unsetenv("DNN_FAULT");
        if (errors && !freopen(scratch(errors), "wb", stderr))
            _exit(99);
        execl("/proc/self/exe", "again", a, b, (char *)NULL);
        _exit(99);
    }
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
