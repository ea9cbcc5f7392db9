/* file.c - reading, and the small questions about paths. Writing is outfile.c. */
#include "base/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"

static bool fill_in(struct file *f, struct err *e)
{
    struct stat st;
    if (fstat(f->fd, &st) != 0)
        return err_errno(e, f->path, errno, false, "cannot be examined");
    if (S_ISDIR(st.st_mode)) {
        err_at(e, ERR_FILE_MISSING, f->path, 0, 0, "is a directory, not a file");
        return false;
    }
    f->seekable = S_ISREG(st.st_mode);
    f->size = f->seekable ? (uint64_t)st.st_size : 0;
    f->device = (uint64_t)st.st_dev;
    f->inode = (uint64_t)st.st_ino;
    f->modified_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    return true;
}

static bool open_with(struct file *f, const char *path, int flags, struct err *e)
{
    *f = (struct file){.fd = -1};
    bool standard = strcmp(path, "-") == 0;
    if (standard) {
        f->fd = STDIN_FILENO;
    } else {
        int error = *path ? sys_open(path, O_RDONLY | flags, 0, &f->fd) : ENOENT;
        if (error)
            return err_errno(e, path, error, false, "cannot be opened");
    }
    f->path = mem_string(standard ? "standard input" : path);
    if (fill_in(f, e))
        return true;
    file_close(f);
    return false;
}

bool file_open(struct file *f, const char *path, struct err *e)
{
    return open_with(f, path, 0, e);
}

bool file_open_early(struct file *f, const char *path, struct err *e)
{
    return open_with(f, path, O_NONBLOCK, e);
}

bool file_open_regular(struct file *f, const char *path, struct err *e)
{
    /* Without O_NONBLOCK the open of a FIFO without a writer would wait for ever. */
    if (!open_with(f, path, O_NONBLOCK, e))
        return false;
    if (f->seekable)
        return true;
    err_at(e, ERR_FILE_MISSING, f->path, 0, 0, "is not a regular file");
    file_close(f);
    return false;
}

static bool read_all(struct file *f, void *bytes, size_t room, uint64_t offset, size_t *got,
                     struct err *e)
{
    char *at = bytes;
    *got = 0;
    while (*got < room) {
        size_t n;
        uint64_t where = offset == SYS_HERE ? SYS_HERE : offset + *got;
        int error = sys_read(f->fd, at + *got, room - *got, where, &n);
        if (error)
            return err_errno(e, f->path, error, false, "cannot be read");
        if (n == 0)
            break;
        *got += n;
    }
    return true;
}

bool file_read(struct file *f, void *bytes, size_t room, size_t *got, struct err *e)
{
    return read_all(f, bytes, room, SYS_HERE, got, e);
}

bool file_read_some(struct file *f, void *bytes, size_t room, size_t *got, struct err *e)
{
    int error = sys_read(f->fd, bytes, room, SYS_HERE, got);
    return !error || err_errno(e, f->path, error, false, "cannot be read");
}

bool file_ready(const struct file *f, int milliseconds)
{
    return sys_ready(f->fd, milliseconds);
}

bool file_read_at(struct file *f, void *bytes, size_t room, uint64_t offset, size_t *got,
                  struct err *e)
{
    return read_all(f, bytes, room, offset, got, e);
}

bool file_unchanged(const struct file *f, struct err *e)
{
    struct file now = {.fd = f->fd, .path = f->path};
    if (!f->seekable)
        return true;
    if (!fill_in(&now, e))
        return false;
    if (now.size == f->size && now.modified_ns == f->modified_ns && now.inode == f->inode &&
        now.device == f->device)
        return true;
    err_at(e, ERR_FILE_CHANGED, f->path, 0, 0, "changed while being read");
    if (now.size != f->size)
        err_expected(e, "%llu bytes as at the start; now it has %llu", (unsigned long long)f->size,
                     (unsigned long long)now.size);
    return err_help(e, "wait until the file is written, then start again");
}

void file_close(struct file *f)
{
    if (f->path && f->fd != STDIN_FILENO)
        sys_close(f->fd); /* nothing was written: a failure loses nothing */
    mem_free(f->path);
    *f = (struct file){.fd = -1};
}

bool file_slurp(const char *path, size_t most, enum err_id too_long, char **bytes, size_t *length,
                struct err *e)
{
    struct file f;
    *bytes = NULL;
    *length = 0;
    if (!file_open(&f, path, e))
        return false;
    size_t room = f.seekable && f.size < most ? (size_t)f.size + 1
                  : most < 65536              ? most + 1
                                              : 65536;
    char *data = mem_alloc(room + 1, 1);
    size_t used = 0;
    for (;;) {
        size_t got;
        if (!file_read(&f, data + used, room - used, &got, e))
            goto failed;
        used += got;
        if (used > most) {
            err_at(e, too_long, f.path, 0, 0, "is longer than %zu bytes", most);
            goto failed;
        }
        if (used < room)
            break;
        room = room > most / 2 ? most + 1 : room * 2;
        data = mem_grow(data, room + 1, 1);
    }
    data[used] = '\0';
    *bytes = data;
    *length = used;
    file_close(&f);
    return true;
failed:
    mem_free(data);
    file_close(&f);
    return false;
}

static bool is_one(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool same_inode(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && is_one(&x, &y);
}

char *file_small(const char *path)
{
    struct err unread = {0};
    char *bytes = NULL;
    size_t length;
    bool good = file_exists(path) &&
                file_slurp(path, (size_t)1 << 20, ERR_FILE_READ, &bytes, &length, &unread);
    return good ? bytes : NULL;
}

bool file_same(const char *a, const char *b)
{
    if (file_exists(a) || file_exists(b))
        return same_inode(a, b);
    char *x = file_final(a), *y = file_final(b);
    bool same = strcmp(file_base_name(x), file_base_name(y)) == 0;
    char *in_x = file_join(x, "."), *in_y = file_join(y, ".");
    same = same && same_inode(in_x, in_y);
    mem_free(in_x);
    mem_free(in_y);
    mem_free(x);
    mem_free(y);
    return same;
}

bool file_named(int fd, const char *path)
{
    struct stat a, b;
    return fstat(fd, &a) == 0 && stat(path, &b) == 0 && is_one(&a, &b);
}

int file_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(folders[i]);
        int64_t number;
        if (strncmp(path, folders[i], n) == 0 && text_to_int(path + n, &number) && number >= 0 &&
            number <= INT_MAX)
            return (int)number;
    }
    return -1;
}

/* stat of the file that an output's name stands for, also of an open descriptor. */
static bool behind(const char *path, struct stat *st)
{
    int d = file_descriptor(path);
    return (d >= 0 ? fstat(d, st) : stat(path, st)) == 0;
}

bool file_is_input(const char *path)
{
    struct stat x, y;
    return fstat(STDIN_FILENO, &x) == 0 && S_ISREG(x.st_mode) && behind(path, &y) &&
           is_one(&x, &y);
}

bool file_is_output(const char *path)
{
    struct stat x, y;
    if (file_descriptor(path) == STDOUT_FILENO)
        return true;
    return fstat(STDOUT_FILENO, &x) == 0 && (S_ISREG(x.st_mode) || S_ISFIFO(x.st_mode)) &&
           behind(path, &y) && is_one(&x, &y);
}

bool file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

bool file_lasts(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool file_once(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 || (stat(path, &st) == 0 && (S_ISFIFO(st.st_mode) ||
                                                               S_ISCHR(st.st_mode) ||
                                                               S_ISSOCK(st.st_mode)));
}

const char *file_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *file_join(const char *folder_of, const char *path)
{
    const char *slash = folder_of ? strrchr(folder_of, '/') : NULL;
    if (!slash || path[0] == '/' || strcmp(path, "-") == 0 || file_descriptor(folder_of) >= 0 ||
        strcmp(folder_of, "/dev/stdin") == 0)
        return mem_string(path);
    size_t head = (size_t)(slash - folder_of) + 1, tail = strlen(path);
    char *joined = mem_alloc(head + tail + 1, 1);
    memcpy(joined, folder_of, head);
    memcpy(joined + head, path, tail + 1);
    return joined;
}

/* The path from the root on, with its links kept: a link such as latest.csv, or a linked folder, is
 * meant to be repointed. Only folders before ".." are resolved. there: PATH_MAX bytes. */
static bool place_of(const char *path, char *there)
{
    char folder[PATH_MAX];
    const char *name = path;
    bool up = false;
    while (name[0] == '.' && name[1] == '/')
        for (name += 2; *name == '/';)
            name++;
    for (const char *part = name; part; part = strchr(part, '/'), part += part != NULL)
        up |= strncmp(part, "..", 2) == 0 && (part[2] == '/' || !part[2]);
    if (up)
        name = file_base_name(path);
    size_t head = up ? (size_t)(name - path) : 0;
    if (head >= sizeof folder)
        return false;
    memcpy(folder, path, head);
    folder[head] = '\0';
    if (!realpath(head ? folder : ".", there))
        return false;
    size_t length = strlen(there);
    int wrote = snprintf(there + length, PATH_MAX - length, "%s%s", length > 1 ? "/" : "", name);
    return wrote > 0 && (size_t)wrote < PATH_MAX - length;
}

char *file_seen_from(const char *file, const char *path)
{
    char folder[PATH_MAX], here[PATH_MAX], there[PATH_MAX];
    if (path[0] == '/' || !file || strcmp(file, "-") == 0)
        return mem_string(path);
    const char *slash = strrchr(file, '/');
    size_t length = slash ? (size_t)(slash - file) : 0;
    if (!slash)
        return mem_string(path); /* it lies in the working folder */
    if (length >= sizeof folder)
        return mem_string(path);
    memcpy(folder, file, length);
    folder[length] = '\0';
    if (!realpath(length ? folder : "/", here) || !place_of(path, there))
        return mem_string(path);
    size_t same = 0;
    for (size_t i = 0;; i++) {
        bool end_here = here[i] == '/' || !here[i], end_there = there[i] == '/' || !there[i];
        if (end_here && end_there)
            same = i;
        if (here[i] != there[i] || !here[i])
            break;
    }
    struct text out = {0};
    for (const char *rest = here + same; *rest; rest++)
        if (rest[0] == '/' && rest[1])
            text_put(&out, "../");
    text_put(&out, there + same + (there[same] == '/'));
    return out.data ? out.data : mem_string(path);
}

bool file_remove(const char *path, struct err *e)
{
    int error = sys_unlink(path);
    if (!error || error == ENOENT)
        return true;
    char room[128];
    enum err_id id = error == EACCES || error == EPERM ? ERR_FILE_PERMISSION : ERR_FILE_WRITE;
    return err_at(e, id, path, 0, 0, "cannot be removed: %s", strerror_r(error, room, sizeof room));
}

/* --- links and folders --- */

char *file_follow(const char *path)
{
    char *now = mem_string(path);
    for (int links = 0; links < 40; links++) {
        struct stat st;
        char target[PATH_MAX];
        if (lstat(now, &st) != 0 || !S_ISLNK(st.st_mode))
            return now;
        ssize_t n = readlink(now, target, sizeof target - 1);
        if (n <= 0)
            return now; /* the open that follows reports the fault */
        target[n] = '\0';
        char *next = file_join(now, target);
        mem_free(now);
        now = next;
    }
    mem_free(now);
    errno = ELOOP;
    return NULL;
}

char *file_final(const char *path)
{
    char *target = file_descriptor(path) < 0 ? file_follow(path) : NULL;
    return target ? target : mem_string(path);
}

/* A file system that cannot sync a folder is not asked twice. */
static int sync_folder(const char *path)
{
    size_t head = (size_t)(file_base_name(path) - path);
    char *folder = head ? mem_string_n(path, head) : mem_string(".");
    int fd, error = sys_open(folder, O_RDONLY | O_DIRECTORY, 0, &fd);
    mem_free(folder);
    if (error)
        return error == EACCES || error == EPERM ? 0 : error;
    error = sys_fsync(fd);
    sys_close(fd);
    return error == EINVAL || error == EROFS || error == ENOTSUP ? 0 : error;
}

bool file_sync_folder(const char *path, struct err *e)
{
    int error = sync_folder(path);
    if (!error)
        return true;
    err_errno(e, path, error, true, "the folder cannot be brought to the disk");
    err_cause(e, FILE_IN_PLACE);
    return err_help(e,
                    "the new file is in place and whole, but may be lost if the power fails now");
}

bool file_in_place(const struct err *e)
{
    return e->cause == FILE_IN_PLACE;
}

/* --- how a file begins --- */

bool file_not_ours(const char *path, const char *what, const char *help, struct err *e)
{
    err_at(e, ERR_FILE_CREATE, path, 0, 0, "there is a file that is not %s: it is not replaced",
           what);
    return err_help(e, "%s, or remove the file", help);
}

bool file_first_words(const char *path, char *words, size_t room, struct err *e)
{
    struct file f;
    char bytes[4096];
    size_t got, length = 0;
    *words = '\0';
    if (!file_open_regular(&f, path, e))
        return e->id == ERR_FILE_MISSING && (err_clear(e), true);
    bool good;
    do {
        good = file_read(&f, bytes, sizeof bytes, &got, e);
        for (size_t i = 0; good && i < got && length + 1 < room; i++)
            if (!bytes[i] || !strchr(" \t\r\n", bytes[i]))
                words[length++] = bytes[i] ? bytes[i] : '?'; /* a NUL is a word, and ends none */
    } while (good && got && length + 1 < room);
    words[length] = '\0';
    file_close(&f);
    return good;
}

bool file_is_ours(const char *path, const char *begins, const char *what, const char *help,
                    struct err *e)
{
    if (file_descriptor(path) >= 0)
        return true; /* the process that opened it chose the bytes before */
    size_t length = 0;
    char *words = mem_alloc(strlen(begins) + 1, 1);
    bool good = file_first_words(path, words, strlen(begins) + 1, e), same = true;
    /* an empty file, or a line that was cut, too */
    for (const char *at = begins; good && same && *at && words[length]; at++)
        same = strchr(" \t\r\n", *at) || *at == words[length++];
    mem_free(words);
    return good && (same || file_not_ours(path, what, help, e));
}
