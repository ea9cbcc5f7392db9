/* journal.c - see journal.h. */
#include "train/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"

bool journal_open(struct journal *j, const char *path, struct err *e)
{
    *j = (struct journal){.fd = -1};
    if (!path)
        return true;
    int given = file_descriptor(path);
    if (given >= 0) { /* opened by its name it would have a place of its own, over others' lines */
        int mode = fcntl(given, F_GETFL);
        if (mode >= 0 && (mode & O_ACCMODE) != O_RDONLY) {
            *j = (struct journal){.fd = given, .path = mem_string(path), .borrowed = true};
            return true;
        }
        err_errno(e, path, mode < 0 ? errno : EBADF, true, "cannot be written");
        return err_help(e, "output.metrics names this descriptor; it is not open for writing");
    }
    const int flags = O_WRONLY | O_APPEND | O_NONBLOCK;
    int error = sys_open(path, flags, 0, &j->fd);
    if (error == ENOENT) {
        error = sys_open(path, flags | O_CREAT, 0666, &j->fd);
        j->made = !error;
    }
    if (error) {
        err_errno(e, path, error, true, "cannot be created");
        return err_help(e, "output.metrics names this file; its folder must exist and be writable");
    }
    struct stat st;
    j->regular = fstat(j->fd, &st) == 0 && S_ISREG(st.st_mode);
    fcntl(j->fd, F_SETFL,
          O_APPEND); /* O_NONBLOCK was for the opening of a pipe that nobody reads */
    j->path = mem_string(path);
    return true;
}

enum { TRIES = 100 };

/* Whoever ended before its beginning removed the file that was waited for, and the name stands for
 * another one or none: it is opened again. */
bool journal_own(struct journal *j, struct err *e)
{
    for (int turn = 0; j->path && j->regular && turn < TRIES; turn++) {
        if (flock(j->fd, LOCK_EX | LOCK_NB) != 0) {
            if (errno == EWOULDBLOCK)
                break;
            return true;
        }
        if (file_named(j->fd, j->path))
            return true;
        char *path = mem_string(j->path);
        j->made = false;
        journal_close(j);
        bool opened = journal_open(j, path, e);
        mem_free(path);
        if (!opened)
            return false;
    }
    if (!j->path || !j->regular)
        return true;
    j->made = false; /* by the other one */
    err_at(e, ERR_LOCKED, j->path, 0, 0, "another training writes its metrics to this file");
    return err_help(e, "wait until it has ended, or choose another file with output.metrics");
}

enum { BLOCK = 4096 };

/* `room` bytes from `at` on, fewer where the file ends. */
static int read_block(int fd, char *block, size_t room, uint64_t at, size_t *got)
{
    size_t more = 1;
    int error = 0;
    for (*got = 0; !error && more && *got < room; *got += more)
        error = sys_read(fd, block + *got, room - *got, at + *got, &more);
    return error;
}

/* How much of the first *length bytes are lines with an end. Where that cannot be seen nothing is
 * cut: a line that lost its end would be joined to the next, or whole ones be lost. */
static bool whole_lines(const struct journal *j, uint64_t *length, struct err *e)
{
    char block[BLOCK];
    const char *last = NULL;
    uint64_t end = *length;
    int fd, error = sys_open(j->path, O_RDONLY, 0, &fd);
    if (!error) {
        while (!error && !last && end > 0) {
            size_t room = end < BLOCK ? (size_t)end : BLOCK, got;
            error = read_block(fd, block, room, end - room, &got);
            last = error ? NULL : memrchr(block, '\n', got);
            end = end - room + (last ? (uint64_t)(last - block) + 1 : 0);
        }
        sys_close(fd);
    }
    *length = end;
    if (!error)
        return true;
    err_errno(e, j->path, error, false, "cannot be read, to cut it to whole lines");
    return err_help(e, "make it readable, or choose another file with output.metrics");
}

bool journal_cut(struct journal *j, uint64_t length, struct err *e)
{
    if (!j->path)
        return true;
    struct stat st;
    bool made = j->made;
    j->made = false; /* from here on it is kept */
    j->length = length;
    if (made && !file_sync_folder(j->path, e))
        return false;
    if (!j->regular)
        return true;
    if (fstat(j->fd, &st) == 0 && (uint64_t)st.st_size < length) {
        log_note(
            "\"%s\" is shorter than the checkpoint remembers; lines of earlier epochs are missing",
            text_quote_z(j->path));
        length = (uint64_t)st.st_size;
        if (!whole_lines(j, &length, e))
            return false;
        j->length = length;
    }
    int error = sys_truncate(j->fd, length);
    return error ? err_errno(e, j->path, error, true, "cannot be cut to its length") : true;
}

bool journal_line(struct journal *j, const char *line, struct err *e)
{
    if (!j->path)
        return true;
    size_t length = strlen(line), done;
    char *whole = mem_string_n(line, length + 1);
    whole[length] = '\n';
    int error = sys_write(j->fd, whole, length + 1, SYS_HERE, &done);
    mem_free(whole);
    j->length += done;
    return error ? err_errno(e, j->path, error, true, "cannot be written") : true;
}

bool journal_sync(struct journal *j, struct err *e)
{
    if (!j->path || !j->regular)
        return true;
    int error = sys_fsync(j->fd);
    return error ? err_errno(e, j->path, error, true, "cannot be brought to the disk") : true;
}

void journal_close(struct journal *j)
{
    /* the training never began; another one may have taken the file meanwhile */
    if (j->path && j->made && (flock(j->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
        file_named(j->fd, j->path))
        sys_unlink(j->path);
    if (j->path && !j->borrowed)
        sys_close(j->fd); /* the last lines were synced */
    mem_free(j->path);
    *j = (struct journal){.fd = -1};
}
