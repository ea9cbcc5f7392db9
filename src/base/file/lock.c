/* lock.c - see lock.h. The owner removes the file while it holds the lock. */
#include "base/file/lock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"

enum { LINE_MOST = 256 };

/* The lock that a signal handler may remove. */
static char held_path[PATH_MAX];
static int held_fd;
static _Atomic bool held;

/* True: the path names the file of fd. Async-signal-safe. */
static bool is_held(int fd, const char *path)
{
    struct stat there, ours;
    return lstat(path, &there) == 0 && fstat(fd, &ours) == 0 && there.st_ino == ours.st_ino &&
           there.st_dev == ours.st_dev;
}

/* A symbolic link and its target are one output. */
char *lock_path(const char *output)
{
    struct text t = {0};
    char *final = file_final(output);
    text_printf(&t, "%s.lock", final);
    mem_free(final);
    return t.data;
}

/* --- the line in the file --- */

/* Up to LINE_MOST bytes of the file. Its length; longer files give LINE_MOST. */
static int read_line(int fd, char bytes[LINE_MOST], size_t *length)
{
    *length = 0;
    return sys_read(fd, bytes, LINE_MOST, 0, length);
}

/* The owner for a message, without bytes that a terminal interprets. */
static void read_owner(int fd, char owner[LINE_MOST])
{
    char bytes[LINE_MOST];
    size_t length, n = 0;
    if (read_line(fd, bytes, &length) != 0)
        length = 0;
    for (size_t i = 0; i + 1 < length && bytes[i] != '\n'; i++)
        if (isalnum((unsigned char)bytes[i]) || strchr(" .:-_", bytes[i]))
            owner[n++] = bytes[i];
    owner[n] = '\0';
    if (strncmp(owner, "pid ", 4) != 0)
        memcpy(owner, "an unknown process", sizeof "an unknown process");
}

/* True: a training wrote it: empty, a line of write_line, whole or cut, or the zeros that a power
 * cut leaves of it. Other files of that name are the user's. */
static bool is_ours(const char *bytes, size_t length)
{
    size_t at = 4, zeros = 0;
    while (at < length && isdigit((unsigned char)bytes[at]))
        at++;
    while (zeros < length && !bytes[zeros])
        zeros++;
    size_t rest = at < length ? length - at : 0;
    bool line = memcmp(bytes, "pid ", length < 4 ? length : 4) == 0 &&
                memcmp(bytes + at, " on ", rest < 4 ? rest : 4) == 0;
    return length < LINE_MOST && (line || zeros == length);
}

static int write_line(int fd)
{
    char host[65] = "unknown", line[LINE_MOST], when[32] = "";
    gethostname(host, sizeof host - 1);
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    int n = snprintf(line, sizeof line, "pid %ld on %s since %s\n", (long)getpid(), host, when);
    size_t done;
    int error = sys_truncate(fd, 0);
    return error ? error : sys_write(fd, line, (size_t)n, 0, &done);
}

/* --- the lock --- */

static bool cannot(const char *path, int error, struct err *e)
{
    err_errno(e, path, error, true, "the lock cannot be created");
    return err_help(e, error == ELOOP ? "this name is a symbolic link: remove it, or train to "
                                        "another file with -o"
                                      : "the folder of the output must exist and be writable");
}

/* flock on the open file, which must still have its name. */
static bool own(struct lock *l, struct err *e)
{
    char owner[LINE_MOST] = "a training that ends just now";
    bool has = flock(l->fd, LOCK_EX | LOCK_NB) == 0;
    if (has && file_named(l->fd, l->path))
        return true;
    if (!has && errno != EWOULDBLOCK) {
        log_warning("\"%s\": this file system has no locks (%s): "
                    "nothing keeps a second training from the output",
                    text_quote_z(l->path), strerror(errno));
        return true;
    }
    if (!has)
        read_owner(l->fd, owner);
    err_at(e, ERR_LOCKED, l->path, 0, 0, "another training writes this output: held by %s", owner);
    return err_help(e, "wait until it has ended, or train to another file with -o");
}

/* Writes the line, unless the file is the user's. */
static bool mark(struct lock *l, struct err *e)
{
    char bytes[LINE_MOST];
    struct stat st;
    size_t length = 0;
    bool empty = fstat(l->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
    int error = empty ? 0 : read_line(l->fd, bytes, &length);
    if (error)
        return cannot(l->path, error, e);
    if (!is_ours(bytes, length)) {
        err_at(e, ERR_FILE_CREATE, l->path, 0, 0,
               "the output's lock has this name, and there is a file that is no lock of dnn: it is "
               "not replaced");
        return err_help(e, "train to another file with -o, or remove this one");
    }
    l->abrupt = length > 0;
    error = write_line(l->fd);
    if (!error)
        return true;
    sys_unlink(l->path);
    return cannot(l->path, error, e);
}

bool lock_take(struct lock *l, const char *output, struct err *e)
{
    *l = (struct lock){.fd = -1, .path = lock_path(output)};
    int error = sys_open(l->path, O_RDWR | O_CREAT | O_NOFOLLOW, 0666, &l->fd);
    l->held = error ? cannot(l->path, error, e) : own(l, e) && mark(l, e);
    if (l->held && strlen(l->path) < sizeof held_path) {
        memcpy(held_path, l->path, strlen(l->path) + 1);
        held_fd = l->fd;
        atomic_store(&held, true);
    }
    if (l->held)
        return true;
    if (!error)
        sys_close(l->fd);
    mem_free(l->path);
    *l = (struct lock){.fd = -1};
    return false;
}

void lock_drop(struct lock *l)
{
    if (!l->held)
        return;
    atomic_store(&held, false);
    if (is_held(l->fd, l->path)) /* else it was replaced: it stays */
        unlink(l->path); /* not a call that tests let fail */
    sys_close(l->fd);
    mem_free(l->path);
    *l = (struct lock){.fd = -1};
}

void lock_abort(void)
{
    if (atomic_load(&held) && is_held(held_fd, held_path))
        unlink(held_path);
}
