/* outfile_sweep.c - what killed writers left. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

/* The number in ".NAME.dnn-tmp-PIDHEX" or ".NAME.dnn-tmp-PIDHEX-TURN"; 0: another file. */
static pid_t writer_of(const char *entry, const char *name)
{
    static const char mark[] = ".dnn-tmp-";
    size_t length = strlen(name);
    if (entry[0] != '.' || strncmp(entry + 1, name, length) != 0 ||
        strncmp(entry + 1 + length, mark, sizeof mark - 1) != 0)
        return 0;
    const char *digits = entry + length + sizeof mark;
    size_t hex = strspn(digits, "0123456789abcdef");
    if (hex == 0 || hex > 7 || (digits[hex] && digits[hex] != '-') ||
        (digits[hex] && strspn(digits + hex + 1, "0123456789") != strlen(digits + hex + 1)))
        return 0;
    return (pid_t)strtol(digits, NULL, 16);
}

static bool abandoned(int folder, const char *entry, pid_t writer)
{
    if (writer <= 0 || kill(writer, 0) == 0 || errno != ESRCH)
        return false;
    int fd = openat(folder, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool free_of_locks = flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return free_of_locks;
}

unsigned outfile_sweep(const char *path)
{
    char *final = file_final(path);
    const char *name = file_base_name(final);
    size_t head = (size_t)(name - final);
    char *folder = head ? mem_string_n(final, head) : mem_string(".");
    unsigned removed = 0;
    DIR *d = *name ? opendir(folder) : NULL;
    if (d) {
        for (struct dirent *entry; (entry = readdir(d));)
            if (abandoned(dirfd(d), entry->d_name, writer_of(entry->d_name, name)))
                removed += unlinkat(dirfd(d), entry->d_name, 0) == 0;
        closedir(d);
    }
    mem_free(folder);
    mem_free(final);
    return removed;
}
