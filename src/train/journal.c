/* journal.c - see journal.h. */
#include "train/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"
#include "config/output.h"

/* Opens the file. A missing one is made with O_CREAT in flags; without, it is only tested that it
 * can be made. */
static bool open_file(struct journal *j, int flags, struct err *e)
{
    struct stat st;
    int fd, error = sys_open(j->path, O_WRONLY | O_APPEND | O_NONBLOCK | flags, 0666, &fd);
    if (error == ENOENT && !flags)
        return output_probe(j->path, e);
    if (error) {
        err_errno(e, j->path, error, true, "cannot be created");
        return err_help(e, "output.metrics names this file; its folder must exist and be writable");
    }
    j->fd = fd;
    j->regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    fcntl(fd, F_SETFL, O_APPEND); /* O_NONBLOCK was for the open of a pipe without a reader */
    return true;
}

bool journal_open(struct journal *j, const char *path, struct err *e)
{
    *j = (struct journal){.fd = -1};
    if (!path)
        return true;
    j->path = mem_string(path);
    int given = file_descriptor(path);
    if (given < 0 && open_file(j, 0, e))
        return true;
    /* A descriptor opened by name would have a position of its own, over the lines of others. */
    int mode = given < 0 ? -1 : fcntl(given, F_GETFL);
    if (mode >= 0 && (mode & O_ACCMODE) != O_RDONLY) {
        j->fd = given;
        j->borrowed = true;
        return true;
    }
    journal_close(j);
    if (given < 0)
        return false;
    err_errno(e, path, mode < 0 ? errno : EBADF, true, "cannot be written");
    return err_help(e, "output.metrics names this descriptor; it is not open for writing");
}

bool journal_own(struct journal *j, struct err *e)
{
    if (!j->regular || flock(j->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return true;
    err_at(e, ERR_LOCKED, j->path, 0, 0, "another training writes its metrics to this file");
    return err_help(e, "wait until it has ended, or choose another file with output.metrics");
}

/* Cuts *length to whole lines. If the file cannot be read, nothing is cut: an error. */
static bool whole_lines(const struct journal *j, uint64_t *length, struct err *e)
{
    char *text = NULL;
    size_t size;
    if (!file_slurp(j->path, SIZE_MAX / 2, ERR_FILE_READ, &text, &size, e))
        return err_help(e, "it cannot be read, to cut it to whole lines: make it readable, or "
                           "choose another file with output.metrics");
    const char *last = memrchr(text, '\n', size < *length ? size : (size_t)*length);
    *length = last ? (uint64_t)(last - text) + 1 : 0;
    mem_free(text);
    return true;
}

bool journal_cut(struct journal *j, uint64_t length, struct err *e)
{
    if (!j->path)
        return true;
    struct stat st;
    j->length = length;
    if (j->fd < 0 && (!open_file(j, O_CREAT, e) || !journal_own(j, e) ||
                      !file_sync_folder(j->path, e)))
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

bool journal_join(struct journal *j, struct err *e)
{
    if (!j->path)
        return true;
    return j->fd >= 0 || (open_file(j, O_CREAT, e) && file_sync_folder(j->path, e));
}

bool journal_filter(struct journal *j, bool (*keep)(const void *context, const char *line),
                    const void *context, struct err *e)
{
    char *text = NULL;
    size_t length = 0, at = 0, done;
    if (!j->path)
        return true;
    if (j->fd < 0 || !j->regular)
        return journal_cut(j, 0, e);
    if (!file_slurp(j->path, SIZE_MAX / 2, ERR_FILE_READ, &text, &length, e))
        return false;
    for (char *line = text, *end; (end = memchr(line, '\n', length - (size_t)(line - text)));
         line = end + 1) {
        *end = 0;
        const size_t bytes = (size_t)(end - line) + 1;
        const bool kept = keep(context, line);
        *end = '\n';
        if (kept)
            memmove(text + at, line, bytes);
        at += kept ? bytes : 0;
    }
    bool good = journal_cut(j, 0, e);
    int error = good && at ? sys_write(j->fd, text, at, SYS_HERE, &done) : 0;
    j->length = at;
    mem_free(text);
    return good && (!error || err_errno(e, j->path, error, true, "cannot be written"));
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
    if (j->path && j->fd >= 0 && !j->borrowed)
        sys_close(j->fd); /* the last lines were synced */
    mem_free(j->path);
    *j = (struct journal){.fd = -1};
}
