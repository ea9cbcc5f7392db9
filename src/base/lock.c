/* lock.c - see lock.h. The file is removed while the lock is held, and whoever was waiting at the
 * door of the removed file sees that the name now stands for another one (or none) and tries again.
 */
#include "base/lock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"

enum { TRIES = 100, LINE_MOST = 256 };

/* What a handler may remove. */
static char held_path[PATH_MAX];
static int held_fd;
static _Atomic bool held;

/* Whether the name still stands for the file behind fd. Async-signal-safe. */
static bool is_held(int fd, const char *path)
{
    struct stat there, ours;
    return lstat(path, &there) == 0 && fstat(fd, &ours) == 0 && there.st_ino == ours.st_ino &&
           there.st_dev == ours.st_dev;
}

/* A symbolic link and what it points to are one output. */
char *lock_path(const char *output)
{
    struct text t = {0};
    char *final = file_final(output);
    text_printf(&t, "%s.lock", final);
    mem_free(final);
    return t.data;
}

/* The line inside, cut to what it may hold: a foreign file is never echoed. */
static void read_line(int fd, char line[LINE_MOST])
{
    size_t got = 0, n = 0;
    char bytes[LINE_MOST];
    if (sys_read(fd, bytes, sizeof bytes - 1, 0, &got) != 0)
        got = 0;
    for (size_t i = 0; i < got && bytes[i] != '\n'; i++)
        if (isalnum((unsigned char)bytes[i]) || strchr(" .:-_", bytes[i]))
            line[n++] = bytes[i];
    line[n] = '\0';
    if (strncmp(line, "pid ", 4) != 0)
        memcpy(line, "an unknown process", sizeof "an unknown process");
}

/* Did a training write it? Then it is empty, a line of write_line, whole or cut, or the zeros that
 * a power cut leaves of it. Anything else of that name is somebody's file. */
static int look(int fd, bool *empty, bool *ours)
{
    char bytes[LINE_MOST];
    size_t got = 0, at = 4, zeros = 0;
    struct stat st;
    *empty = *ours = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
    if (*empty) /* our own, made just now: there is nothing that a read could say */
        return 0;
    int error = sys_read(fd, bytes, sizeof bytes, 0, &got);
    while (at < got && isdigit((unsigned char)bytes[at]))
        at++;
    while (zeros < got && !bytes[zeros])
        zeros++;
    size_t rest = at < got ? got - at : 0;
    bool line = memcmp(bytes, "pid ", got < 4 ? got : 4) == 0 &&
                memcmp(bytes + at, " on ", rest < 4 ? rest : 4) == 0;
    *empty = got == 0;
    *ours = got < sizeof bytes && (line || zeros == got);
    return error;
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

static bool refused(const char *path, int fd, struct err *e)
{
    char line[LINE_MOST];
    read_line(fd, line);
    err_at(e, ERR_LOCKED, path, 0, 0, "another training writes this output: held by %s", line);
    return err_help(e, "wait until it has ended, or train to another file with -o");
}

static bool cannot(const char *path, int error, struct err *e)
{
    err_errno(e, path, error, true, "the lock cannot be created");
    return err_help(e, error == ELOOP ? "this name is a symbolic link: remove it, or train to "
                                        "another file with -o"
                                      : "the folder of the output must exist and be writable");
}

static bool foreign(const char *path, struct err *e)
{
    err_at(e, ERR_FILE_CREATE, path, 0, 0,
           "the output's lock has this name, and there is a file that is no lock of dnn: it is not "
           "replaced");
    return err_help(e, "train to another file with -o, or remove this one");
}

bool lock_take(struct lock *l, const char *output, struct err *e)
{
    *l = (struct lock){.fd = -1, .path = lock_path(output)};
    int turn = 0;
    for (; turn < TRIES; turn++) {
        int error = sys_open(l->path, O_RDWR | O_CREAT | O_NOFOLLOW, 0666, &l->fd);
        if (error) {
            cannot(l->path, error, e);
            break;
        }
        if (flock(l->fd, LOCK_EX | LOCK_NB) != 0) {
            if (errno == EWOULDBLOCK) {
                refused(l->path, l->fd, e);
                break;
            }
            log_warning("\"%s\": this file system has no locks (%s): "
                        "nothing keeps a second training from the output",
                        text_quote_z(l->path), strerror(errno));
        } else if (!file_named(l->fd, l->path)) {
            sys_close(l->fd);
            l->fd = -1;
            continue;
        }
        bool empty, ours;
        error = look(l->fd, &empty, &ours);
        if (error || !ours) {
            error ? cannot(l->path, error, e) : foreign(l->path, e);
            break;
        }
        l->abrupt = !empty;
        error = write_line(l->fd);
        if (error) {
            sys_unlink(l->path);
            cannot(l->path, error, e);
            break;
        }
        l->held = true;
        if (strlen(l->path) < sizeof held_path) {
            memcpy(held_path, l->path, strlen(l->path) + 1);
            held_fd = l->fd;
            atomic_store(&held, true);
        }
        return true;
    }
    if (l->fd >= 0)
        sys_close(l->fd);
    if (turn == TRIES)
        err_at(e, ERR_LOCKED, l->path, 0, 0, "the lock comes and goes without end");
    mem_free(l->path);
    *l = (struct lock){.fd = -1};
    return false;
}

void lock_drop(struct lock *l)
{
    if (!l->held)
        return;
    atomic_store(&held, false);
    if (is_held(l->fd, l->path)) /* else somebody replaced it: it stays */
        unlink(l->path); /* cleaning up is not counted as a fallible call */
    sys_close(l->fd);
    mem_free(l->path);
    *l = (struct lock){.fd = -1};
}

void lock_abort(void)
{
    if (atomic_load(&held) && is_held(held_fd, held_path))
        unlink(held_path);
}
