#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "scratch.h"
#include "tap.h"

static struct err e;

static const char *fails(const char *path)
{
    struct file f;
    err_clear(&e);
    if (file_open(&f, path, &e)) {
        file_close(&f);
        return "opened";
    }
    return err_info((int)e.id)->name;
}

static int again(const char *path, const char *how)
{
    char *bytes;
    size_t length;
    bool good = file_slurp(path, how[0] == 's' ? 10 : 1 << 20, ERR_CONFIG_KEY, &bytes, &length, &e);
    mem_free(bytes);
    return good ? 0 : (int)err_exit(&e);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return again(argv[1], argv[2]);
    scratch_make();
    static char data[300000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7 + i / 256);
    scratch_put("data", data, sizeof data);

    struct file f;
    static char got_bytes[sizeof data + 10];
    size_t got;
    ok(file_open(&f, scratch("data"), &e), "a file opens");
    ok(f.seekable && f.size == sizeof data && f.inode, "its size and kind are known");
    ok(file_read(&f, got_bytes, 1000, &got, &e) && got == 1000, "a piece");
    ok(file_read(&f, got_bytes + 1000, sizeof got_bytes - 1000, &got, &e) &&
           got == sizeof data - 1000,
       "the rest");
    ok(memcmp(data, got_bytes, sizeof data) == 0, "its bytes");
    ok(file_read(&f, got_bytes, 10, &got, &e) && got == 0, "the end");
    ok(file_read_at(&f, got_bytes, 20, sizeof data - 5, &got, &e) && got == 5,
       "a piece at an offset");
    ok(file_unchanged(&f, &e), "unchanged");
    FILE *more = fopen(scratch("data"), "ab");
    fputc('x', more);
    fclose(more);
    ok(!file_unchanged(&f, &e) && e.id == ERR_FILE_CHANGED, "grown while being read");
    is_int(err_exit(&e), 65, "which is an error of the data");
    file_close(&f);
    file_close(&f);
    ok(f.fd == -1, "closing twice is harmless");

    is_string(fails(scratch("nothing")), "FILE_MISSING", "a missing file");
    is_string(e.what, "cannot be opened: No such file or directory", "says why");
    is_string(fails(scratch_folder), "FILE_MISSING", "a directory");
    is_string(fails(""), "FILE_MISSING", "an empty name");
    is_string(fails(scratch("data/x")), "FILE_MISSING", "below a file");
    if (geteuid() != 0) {
        chmod(scratch("data"), 0);
        is_string(fails(scratch("data")), "FILE_PERMISSION", "no right to read");
        chmod(scratch("data"), 0600);
    } else {
        tap_skip("no right to read", "the superuser may read everything");
    }

    mkfifo(scratch("fifo"), 0600);
    err_clear(&e);
    ok(!file_open_regular(&f, scratch("fifo"), &e) && e.id == ERR_FILE_MISSING,
       "a FIFO is no regular file");
    err_clear(&e);
    ok(!file_open_regular(&f, "/dev/zero", &e) && e.id == ERR_FILE_MISSING, "nor is a device");
    err_clear(&e);
    ok(file_open(&f, "/dev/zero", &e) && !f.seekable && f.size == 0 &&
           file_read(&f, got_bytes, 100, &got, &e) && got == 100 && file_unchanged(&f, &e),
       "but a device can be read");
    file_close(&f);
    if (fork() == 0) { /* many short writes: a read must put them together */
        int fd = open(scratch("fifo"), O_WRONLY);
        for (int i = 0; i < 1000; i++)
            if (write(fd, data + 300 * i, 300) != 300)
                _exit(1);
        _exit(0);
    }
    ok(file_open(&f, scratch("fifo"), &e) && file_read(&f, got_bytes, sizeof got_bytes, &got, &e) &&
           got == sizeof data && memcmp(got_bytes, data, sizeof data) == 0,
       "a FIFO is read to its end");
    file_close(&f);
    wait(NULL);

    int given[2];
    bool piped = pipe(given) == 0 && dup2(given[0], 0) == 0 && fcntl(0, F_SETFL, O_NONBLOCK) == 0;
    if (fork() == 0) {
        usleep(20000);
        _exit(write(given[1], "late", 4) == 4 ? 0 : 1);
    }
    close(given[1]);
    ok(piped && file_open(&f, "-", &e) && strcmp(f.path, "standard input") == 0 &&
           file_read(&f, got_bytes, 100, &got, &e) && got == 4,
       "standard input, although it does not block");
    file_close(&f);
    ok(fcntl(0, F_GETFD) >= 0, "standard input stays open");
    wait(NULL);

    char *bytes;
    size_t length;
    scratch_put("ten", "0123456789", 10);
    ok(file_slurp(scratch("ten"), 10, ERR_CONFIG_KEY, &bytes, &length, &e) && length == 10 &&
           strcmp(bytes, "0123456789") == 0,
       "a whole file");
    mem_free(bytes);
    err_clear(&e);
    ok(!file_slurp(scratch("ten"), 9, ERR_CONFIG_KEY, &bytes, &length, &e) &&
           e.id == ERR_CONFIG_KEY && !bytes,
       "too long, with the caller's id");
    err_clear(&e);
    ok(!file_slurp("/dev/zero", 100000, ERR_CONFIG_KEY, &bytes, &length, &e) &&
           e.id == ERR_CONFIG_KEY,
       "without an end");
    scratch_put("none", "", 0);
    ok(file_slurp(scratch("none"), 10, ERR_CONFIG_KEY, &bytes, &length, &e) && length == 0 &&
           bytes[0] == '\0',
       "an empty file");
    mem_free(bytes);
    ok(file_slurp("/proc/self/status", 1 << 20, ERR_CONFIG_KEY, &bytes, &length, &e) &&
           length > 100,
       "a file that hides its size");
    mem_free(bytes);

    ok(link(scratch("ten"), scratch("twin")) == 0 && file_same(scratch("ten"), scratch("twin")),
       "one file by two names");
    ok(!file_same(scratch("ten"), scratch("none")) && !file_same(scratch("ten"), scratch("no")),
       "two files");
    ok(symlink(scratch("no"), scratch("dangling")) == 0 &&
           file_same(scratch("no"), scratch("./no")) &&
           file_same(scratch("no"), scratch("dangling")) &&
           !file_same(scratch("no"), scratch("none such")) &&
           !file_same(scratch("a/no"), scratch("b/no")),
       "two names of a file that is not there yet");
    char *final = file_final(scratch("dangling"));
    is_string(final, scratch("no"), "writing to a link ends behind it");
    mem_free(final);
    final = file_final("/dev/stdout");
    is_string(final, "/dev/stdout", "but where the program's output goes stays its affair");
    mem_free(final);
    unlink(scratch("dangling"));
    ok(file_exists(scratch("ten")) && !file_exists(scratch("no")), "exists");
    ok(file_lasts(scratch("ten")) && !file_lasts(scratch("no")) && !file_lasts("-") &&
           !file_lasts("/dev/null"), "can be read again");
    static const char *const joins[][3] = {{"a/b/c.json", "x.csv", "a/b/x.csv"},
                                           {"c.json", "x.csv", "x.csv"},
                                           {"a/c.json", "/x.csv", "/x.csv"},
                                           {"/c.json", "x", "/x"},
                                           {"a/c.json", "-", "-"},
                                           {NULL, "x", "x"}};
    for (size_t i = 0; i < sizeof joins / sizeof joins[0]; i++) {
        char *j = file_join(joins[i][0], joins[i][1]);
        is_string(j, joins[i][2], "joined");
        mem_free(j);
    }
    ok(file_remove(scratch("twin"), &e) && !file_exists(scratch("twin")), "removed");
    ok(file_remove(scratch("twin"), &e), "what is not there is removed");

    char path[600];
    snprintf(path, sizeof path, "%s", scratch("ten"));
    is_int(scratch_again("open:1", path, "x", NULL), 71, "no descriptor left: 71");
    is_int(scratch_again("open:1:ENFILE", path, "x", NULL), 71, "none left on the machine: 71");
    is_int(scratch_again("open:1:EACCES", path, "x", NULL), 77, "no right: 77");
    is_int(scratch_again("read:1", path, "x", NULL), 74, "the disk fails: 74");
    is_int(scratch_again("read:2", path, "x", NULL), 74, "at the second read: 74");
    is_int(scratch_again("alloc:2", path, "x", NULL), 71, "no memory: 71");
    is_int(scratch_again(NULL, path, "s", NULL), 0, "without a fault: 0");
    return done();
}
