/* outfile_temp.c - see outfile_temp.h; and the files that killed writers left. */
#include "base/file/outfile_temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "base/file/outfile.h"
#include "base/text.h"

#define MARK ".dnn-tmp-"

/* Bytes of a name that fit between the first point and a tail of this length. */
static size_t room_before(size_t tail)
{
    return NAME_MAX - 1 - tail;
}

char *outfile_temp(const char *path, unsigned turn)
{
    char tail[48];
    int n = snprintf(tail, sizeof tail, turn ? MARK "%lx-%u" : MARK "%lx", (unsigned long)getpid(),
                     turn);
    const char *name = file_base_name(path);
    size_t most = room_before((size_t)n), length = strlen(name);
    struct text t = {0};
    text_add(&t, path, (size_t)(name - path));
    text_char(&t, '.');
    text_add(&t, name, length < most ? length : most);
    text_put(&t, tail);
    return t.data;
}

/* True: stem[length] is name, or name, infix and digits; or the beginning of one, when cut. */
static bool stands_for(const char *stem, size_t length, bool cut, const char *name,
                       const char *infix)
{
    size_t n = strlen(name);
    if (length <= n)
        return (cut || length == n) && strncmp(stem, name, length) == 0;
    if (!infix || strncmp(stem, name, n) != 0)
        return false;
    stem += n;
    length -= n;
    n = strlen(infix);
    if (length <= n)
        return cut && strncmp(stem, infix, length) == 0;
    return strncmp(stem, infix, n) == 0 && strspn(stem + n, "0123456789") == length - n;
}

/* The process whose temporary file for `name` (and infix) this is; 0: another file. */
static pid_t writer_of(const char *entry, const char *name, const char *infix)
{
    const char *mark = NULL;
    for (const char *at = entry; (at = strstr(at, MARK)); at++)
        mark = at;
    if (entry[0] != '.' || !mark)
        return 0;
    const char *digits = mark + sizeof MARK - 1;
    size_t hex = strspn(digits, "0123456789abcdef");
    if (hex == 0 || hex > 7 || (digits[hex] && digits[hex] != '-') ||
        (digits[hex] && strspn(digits + hex + 1, "0123456789") != strlen(digits + hex + 1)))
        return 0;
    size_t length = (size_t)(mark - entry) - 1;
    bool cut = length == room_before(strlen(mark));
    return stands_for(entry + 1, length, cut, name, infix) ? (pid_t)strtol(digits, NULL, 16) : 0;
}

/* Our own number: from before an exec, or of a process that had it once. */
static bool abandoned(int folder, const char *entry, pid_t writer)
{
    if (writer <= 0 || (writer != getpid() && (kill(writer, 0) == 0 || errno != ESRCH)))
        return false;
    int fd = openat(folder, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool free_of_locks = flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return free_of_locks;
}

unsigned outfile_sweep(const char *path, const char *infix)
{
    char *final = file_final(path);
    const char *name = file_base_name(final);
    size_t head = (size_t)(name - final);
    char *folder = head ? mem_string_n(final, head) : mem_string(".");
    unsigned removed = 0;
    DIR *d = *name ? opendir(folder) : NULL;
    if (d) {
        for (struct dirent *entry; (entry = readdir(d));)
            if (abandoned(dirfd(d), entry->d_name, writer_of(entry->d_name, name, infix)))
                removed += unlinkat(dirfd(d), entry->d_name, 0) == 0;
        closedir(d);
    }
    mem_free(folder);
    mem_free(final);
    return removed;
}
