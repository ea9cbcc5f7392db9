/* outfile.c - writing: beside the final place, synced, renamed over it, and the folder synced. A
 * list of the temporary files that stand open lets a signal handler remove them. A pipe, a device
 * and standard output are written straight. */
#include "base/file/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/file/outfile_temp.h"
#include "base/sys.h"

#define BUFFER ((size_t)256 << 10)
#define SLOTS 64

/* --- the temporary files that stand open; read by a signal handler --- */

enum slot_state { SLOT_FREE, SLOT_TAKEN, SLOT_LIVE };
static struct {
    _Atomic int state;
    char path[PATH_MAX];
} slots[SLOTS];

static int slot_take(const char *path)
{
    for (int i = 0; i < SLOTS; i++) {
        int expected = SLOT_FREE;
        if (atomic_compare_exchange_strong(&slots[i].state, &expected, SLOT_TAKEN)) {
            memcpy(slots[i].path, path, strlen(path) + 1);
            return i;
        }
    }
    return -1;
}

static void slot_drop(const char *path)
{
    for (int i = 0; i < SLOTS; i++)
        if (atomic_load(&slots[i].state) == SLOT_LIVE && strcmp(slots[i].path, path) == 0) {
            atomic_store(&slots[i].state, SLOT_FREE);
            return;
        }
}

void outfile_abort_all(void)
{
    int saved = errno;
    for (int i = 0; i < SLOTS; i++)
        if (atomic_load(&slots[i].state) == SLOT_LIVE)
            unlink(slots[i].path); /* no wrapper: this may run inside a signal handler */
    errno = saved;
}

/* --- where the bytes go --- */

/* Random, so that no other process can create the names before us. */
static unsigned random_turn(unsigned turn)
{
    unsigned drawn;
    return getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) == (ssize_t)sizeof drawn ? drawn | 1u
                                                                                   : turn;
}

/* Opens the temporary file and enters it in the list, with signals held back: a handler must find
 * both or neither. */
static int open_temp(struct outfile *o, const char *target)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = EEXIST;
    for (unsigned turn = 0; turn < 1000 && error == EEXIST; turn++) {
        /* A file of that name belongs to another output of ours, or was left by a process that had
         * our number: taken. */
        o->temp = outfile_temp(target, random_turn(turn));
        int slot = -1;
        if (strlen(o->temp) >= PATH_MAX)
            error = ENAMETOOLONG;
        else if ((slot = slot_take(o->temp)) < 0)
            error = EMFILE;
        else
            error = sys_open(o->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666, &o->fd);
        if (!error)
            (void)!flock(o->fd, LOCK_EX | LOCK_NB); /* outfile_sweep sees that somebody writes */
        if (slot >= 0)
            atomic_store(&slots[slot].state, error ? SLOT_FREE : SLOT_LIVE);
        if (error) {
            mem_free(o->temp);
            o->temp = NULL;
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static bool refuse(struct outfile *o, const char *path, int error, struct err *e)
{
    err_errno(e, path, error, true, "cannot be created");
    if (error == ENOENT || error == ENOTDIR)
        err_help(e, "the folder of the output must exist; dnn does not make folders");
    else if (error == EACCES || error == EPERM || error == EROFS)
        err_help(e, "the output is written beside its final place, so its folder must be writable");
    outfile_abort(o);
    return false;
}

static bool open_output(struct outfile *o, const char *path, bool here, struct err *e)
{
    *o = (struct outfile){.fd = -1};
    int error = 0, given = file_descriptor(path);
    if (given >= 0) { /* replacing the file that it leads to would miss the point */
        o->path = mem_string(given == STDOUT_FILENO ? "standard output" : path);
        fflush(stdout); /* lines printed before stay before */
        if (given == STDOUT_FILENO || given == STDERR_FILENO)
            o->fd = given;
        else if ((o->fd = fcntl(given, F_DUPFD_CLOEXEC, 3)) < 0)
            error = errno;
        o->borrowed = o->fd == given;
    } else {
        char *target = here ? mem_string(path) : file_follow(path);
        struct stat st;
        if (!target)
            return refuse(o, path, errno, e);
        o->path = target;
        bool there = (here ? lstat : stat)(target, &st) == 0;
        if (!there && errno == ENAMETOOLONG)
            error = errno; /* now, not when the file is renamed after hours of work */
        else if (!*file_base_name(target) || (there && S_ISDIR(st.st_mode)))
            error = *target ? EISDIR : ENOENT;
        else if (there && !S_ISREG(st.st_mode) && !here)
            error = sys_open(target, O_WRONLY, 0, &o->fd);
        else
            error = open_temp(o, target);
        if (!error && there && o->temp && S_ISREG(st.st_mode))
            (void)!fchmod(o->fd, st.st_mode & 0777); /* a private file stays private */
    }
    if (error)
        return refuse(o, path, error, e);
    o->buffer = mem_alloc(BUFFER, 1);
    o->open = true;
    return true;
}

bool outfile_open(struct outfile *o, const char *path, struct err *e)
{
    return open_output(o, path, false, e);
}

bool outfile_open_here(struct outfile *o, const char *path, struct err *e)
{
    return open_output(o, path, file_descriptor(path) < 0, e);
}

/* --- writing --- */

static bool write_failed(struct outfile *o, int error, size_t wanted, const char *doing,
                         struct err *e)
{
    struct statvfs v;
    o->failed = true;
    err_errno(e, o->path, error, true, doing);
    if (error == EIO)
        return err_help(e, "the device failed, not the room on it: its log (dmesg) and its health "
                           "come first; write to another disk");
    if (error == EPIPE || !o->temp || fstatvfs(o->fd, &v) != 0)
        return false;
    uint64_t left = (uint64_t)v.f_bavail * v.f_frsize;
    if (wanted)
        err_expected(e, "room for %zu more bytes; the disk has %llu free (%s)", wanted,
                     (unsigned long long)left, text_bytes(left));
    else
        err_expected(e, "the bytes on the disk; it has %llu free (%s)", (unsigned long long)left,
                     text_bytes(left));
    return err_help(e, error == EDQUOT  ? "the quota of the user or the group is used up"
                       : error == EFBIG ? "the limit of the size of a file is reached (`ulimit -f`)"
                                        : "free some space or write to another disk");
}

static bool write_out(struct outfile *o, const void *bytes, size_t length, struct err *e)
{
    size_t done;
    int error = sys_write(o->fd, bytes, length, SYS_HERE, &done);
    o->written += done;
    return error ? write_failed(o, error, length - done, "cannot be written", e) : true;
}

static bool usable(struct outfile *o, struct err *e)
{
    if (o->open && !o->failed)
        return true;
    /* An err that holds the first failure is not overwritten. */
    return err_at(e, ERR_FILE_WRITE, o->path, 0, 0, "an earlier write failed");
}

bool outfile_flush(struct outfile *o, struct err *e)
{
    if (!usable(o, e))
        return false;
    size_t used = o->used;
    o->used = 0;
    return used ? write_out(o, o->buffer, used, e) : true;
}

bool outfile_write(struct outfile *o, const void *bytes, size_t length, struct err *e)
{
    if (!usable(o, e))
        return false;
    if (length > BUFFER - o->used && !outfile_flush(o, e))
        return false;
    if (length >= BUFFER)
        return write_out(o, bytes, length, e);
    if (length)
        memcpy(o->buffer + o->used, bytes, length);
    o->used += length;
    return true;
}

/* --- the end --- */

static bool rename_failed(struct outfile *o, int error, struct err *e)
{
    char room[128];
    bool place = error == EACCES || error == EPERM || error == EROFS || error == EISDIR ||
                 error == ENOENT || error == ENOTDIR;
    err_at(e, place ? ERR_FILE_CREATE : ERR_FILE_RENAME, o->path, 0, 0,
           "cannot be put in place: %s", strerror_r(error, room, sizeof room));
    return err_help(e, "the old file is unchanged; check the owner and the mode of the folder");
}

/* Closes and forgets; the temporary file goes unless it has become the final one. */
static void release(struct outfile *o, bool keep)
{
    if (o->prepared && o->fd >= 0)
        close(o->fd); /* held the lock; outfile_prepare has reported failed writes */
    else if (o->fd >= 0 && !o->borrowed)
        sys_close(o->fd);
    if (o->temp) {
        if (!keep)
            unlink(o->temp); /* cleaning up is not counted as a fallible call */
        slot_drop(o->temp);
    }
    mem_free(o->temp);
    mem_free(o->path);
    mem_free(o->buffer);
    *o = (struct outfile){.fd = -1};
}

bool outfile_prepare(struct outfile *o, struct err *e)
{
    if (o->prepared)
        return true;
    if (!outfile_flush(o, e))
        return false;
    if (!o->temp) /* an output that is written straight has no other name */
        return true;
    int error = sys_fsync(o->fd);
    if (error) /* Never a second fsync: the kernel may have dropped the pages and would succeed. */
        return write_failed(o, error, 0, "cannot be brought to the disk", e);
    int fd = o->fd;
    o->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* the lock lasts until the rename: outfile_sweep */
    o->open = false;
    error = sys_close(fd);
    o->failed = error != 0;
    o->prepared = !error;
    return error ? err_errno(e, o->path, error, true, "cannot be closed") : true;
}

/* A network file system may report only now; a duplicate is closed, since others go on printing. */
static bool close_straight(struct outfile *o, struct err *e)
{
    int copy = o->borrowed ? fcntl(o->fd, F_DUPFD_CLOEXEC, 3) : o->fd;
    if (!o->borrowed)
        o->fd = -1;
    int error = copy >= 0 ? sys_close(copy) : 0;
    return error ? write_failed(o, error, 0, "cannot be closed", e) : true;
}

static bool put_in_place(struct outfile *o, struct err *e)
{
    int error = sys_rename(o->temp, o->path);
    return error ? rename_failed(o, error, e) : true;
}

bool outfile_commit(struct outfile *o, struct err *e)
{
    bool straight = !o->temp;
    bool there = outfile_prepare(o, e) && (straight ? close_straight(o, e) : put_in_place(o, e));
    bool good = there && (straight || file_sync_folder(o->path, e));
    release(o, there);
    return good;
}

void outfile_abort(struct outfile *o)
{
    if (o->open || o->path)
        release(o, false);
}

bool outfile_end(struct outfile *o, bool good, struct err *e)
{
    if (good)
        return outfile_commit(o, e);
    outfile_abort(o);
    return false;
}

bool outfile_text(struct outfile *o, struct text *t, struct err *e)
{
    const bool good = outfile_write(o, t->data, t->length, e);
    text_clear(t);
    return good;
}

bool outfile_whole(const char *path, const struct text *t, struct err *e)
{
    struct outfile o;
    return outfile_open(&o, path, e) &&
           outfile_end(&o, outfile_write(&o, t->data, t->length, e), e);
}
