#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "base/file/outfile.h"
#include "scratch.h"
#include "tap.h"

#define BYTES 700000 /* several buffers */

static char data[BYTES];
static struct err e;

static bool write_all(const char *path)
{
    struct outfile o;
    if (!outfile_open(&o, path, &e))
        return false;
    bool good = true;
    for (size_t at = 0; good && at < BYTES; at += 700)
        good = outfile_write(&o, data + at, 700, &e);
    if (good)
        return outfile_commit(&o, &e);
    outfile_abort(&o);
    return false;
}

static int again(const char *path, const char *how)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (how[0] == 'l') {
        struct rlimit limit = {300000, 300000};
        setrlimit(RLIMIT_FSIZE, &limit);
    } else if (how[0] == 'n') {
        struct rlimit limit, before;
        getrlimit(RLIMIT_NOFILE, &before);
        limit = (struct rlimit){3, before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &limit);
        bool good = write_all(path);
        setrlimit(RLIMIT_NOFILE, &before); /* a sanitizer needs files at the end */
        return good ? 0 : (int)err_exit(&e);
    } else if (how[0] == 'a') {
        struct outfile o;
        if (!outfile_open(&o, path, &e) || !outfile_write(&o, data, 1000, &e))
            return 1;
        outfile_abort_all();
        bool gone = !file_exists(o.temp);
        outfile_abort(&o);
        return gone ? 0 : 1;
    }
    if (write_all(path))
        return 0;
    fprintf(stderr, "%s|%s|%s", e.what, e.expected, e.help);
    return (int)err_exit(&e);
}

/* A fault: its exit code, the old file (or the new one, when it has its name already), no temporary
 * file. */
static void fault(const char *kind, int nth, int want, bool replaced)
{
    char set[64], path[600];
    snprintf(set, sizeof set, "%s:%d", kind, nth);
    snprintf(path, sizeof path, "%s", scratch("out"));
    scratch_put("out", "old", 3);
    int code = scratch_again(set, path, "x", "err");
    ok(code == want, "%s fails: %d, expected %d", set, code, want);
    ok(replaced ? scratch_holds("out", data, BYTES) : scratch_holds("out", "old", 3),
       "%s: the file is %s", set, replaced ? "the new one, whole" : "the old one");
    is_int(scratch_count(), 2, "nothing else lies there"); /* out and err */
}

static void faults(void)
{
    /* 700,000 bytes are 3 buffers of 256 KiB */
    for (int i = 1; i <= 3; i++)
        fault("write", i, 74, false);
    fault("write", 4, 0, true);
    /* F13 power loss: the file is on the disk before it gets its name, and the name before we say
     * so */
    fault("fsync", 1, 74, false);
    fault("fsync", 2, 74, true); /* the folder's: the file is in place */
    fault("fsync", 3, 0, true);
    fault("close", 1, 74, false);
    fault("rename", 1, 74, false);
    fault("open", 1, 71, false);
    fault("open", 2, 71, true);
    fault("write", 2, 74, false);
    char path[600];
    snprintf(path, sizeof path, "%s", scratch("out"));
    scratch_put("out", "old", 3);
    is_int(scratch_again("rename:1:EACCES", path, "x", "err"), 73, "no right to rename: 73");
    is_int(scratch_again("write:2:EDQUOT", path, "x", "err"), 74, "quota: 74");
    size_t length;
    char *text = scratch_get("err", &length);
    ok(strstr(text, "Disk quota exceeded|room for ") && strstr(text, " free (") &&
           strstr(text, "|the quota "),
       "with the bytes wanted and free: %s", text);
    free(text);
    is_int(scratch_again("open:1:EROFS", path, "x", "err"), 73, "a read-only disk: 73");
    is_int(scratch_again("open:1:EACCES", path, "x", "err"), 73, "a locked folder: 73");
    is_int(scratch_again("write:1:EFBIG", path, "x", "err"), 74, "too large: 74");
    is_int(scratch_again(NULL, path, "limit", "err"), 74, "a real limit of the size: 74");
    is_int(scratch_again(NULL, path, "nofile", "err"), 71, "a real limit of files: 71");
    ok(scratch_holds("out", "old", 3) && scratch_count() == 2,
       "the old file is there, and no other");
    is_int(scratch_again(NULL, path, "abort", "err"), 0, "abort_all");
    ok(scratch_holds("out", "old", 3) && scratch_count() == 2, "takes the temporary file away");
}

/* Killed at any call: the old file or the new one, complete; a temporary file may stay and does no
 * harm. */
static void kills(void)
{
    static const char *const kinds[] = {"write", "fsync", "rename", "close", "open"};
    static const int counts[] = {3, 2, 1, 2, 2};
    char path[600];
    snprintf(path, sizeof path, "%s", scratch("out"));
    for (size_t k = 0; k < 5; k++)
        for (int i = 1; i <= counts[k]; i++) {
            char set[64];
            snprintf(set, sizeof set, "kill:%s:%d", kinds[k], i);
            scratch_put("out", "old", 3);
            int code = scratch_again(set, path, "x", "err");
            bool whole = scratch_holds("out", "old", 3) || scratch_holds("out", data, BYTES);
            ok(code == 128 + SIGKILL && whole, "%s leaves a whole file", set);
        }
    is_int(scratch_again(NULL, path, "x", "err"), 0,
           "the next one writes in spite of what was left");
    ok(scratch_holds("out", data, BYTES), "and is whole");
}

static const char *refused(const char *path)
{
    struct outfile o;
    err_clear(&e);
    if (outfile_open(&o, path, &e)) {
        outfile_abort(&o);
        return "opened";
    }
    return err_info((int)e.id)->name;
}

static void places(void)
{
    char path[700];
    struct stat st;
    is_string(refused(scratch("no/such")), "FILE_CREATE", "no such folder");
    is_int(err_exit(&e), 73, "is 73");
    is_string(refused(scratch_folder), "FILE_CREATE", "a directory");
    snprintf(path, sizeof path, "%s/", scratch_folder);
    is_string(refused(path), "FILE_CREATE", "a name that ends in a slash");
    is_string(refused(""), "FILE_CREATE", "no name");
    is_string(refused(scratch("new")), "opened", "a new file can be made");
    is_int(scratch_count(), 0, "and an abort leaves nothing");
    if (geteuid() != 0) {
        chmod(scratch_folder, 0500);
        is_string(refused(scratch("new")), "FILE_CREATE", "a folder that is read-only");
        chmod(scratch_folder, 0700);
    } else {
        is_string(refused("/proc/new"), "FILE_CREATE", "a folder that takes no files");
    }
    char longest[256];
    memset(longest, 'n', 255);
    longest[255] = '\0';
    ok(write_all(scratch(longest)) && scratch_holds(longest, data, BYTES),
       "the longest name there is");
    unlink(scratch(longest));

    umask(027);
    ok(write_all(scratch("new")) && stat(scratch("new"), &st) == 0 && (st.st_mode & 0777) == 0640,
       "the mode follows the umask");
    chmod(scratch("new"), 0600);
    ok(write_all(scratch("new")) && stat(scratch("new"), &st) == 0 && (st.st_mode & 0777) == 0600,
       "a private file stays private");
    umask(022);

    scratch_put("real", "old", 3);
    ok(symlink("real", scratch("link")) == 0 && symlink(scratch("link"), scratch("chain")) == 0,
       "links");
    ok(write_all(scratch("chain")) && scratch_holds("real", data, BYTES),
       "the file behind two links is replaced");
    ok(lstat(scratch("chain"), &st) == 0 && S_ISLNK(st.st_mode) &&
           lstat(scratch("link"), &st) == 0 && S_ISLNK(st.st_mode),
       "and the links stay");
    unlink(scratch("real"));
    ok(write_all(scratch("link")) && scratch_holds("real", data, BYTES),
       "a link to nothing: the file is made there");
    ok(symlink("loop", scratch("loop")) == 0, "a loop");
    is_string(refused(scratch("loop")), "FILE_CREATE", "is refused");

    struct outfile a, b;
    ok(outfile_open(&a, scratch("two"), &e) && outfile_open(&b, scratch("two"), &e),
       "the same output twice");
    ok(outfile_write(&a, "first", 5, &e) && outfile_write(&b, "second", 6, &e),
       "each writes its own");
    ok(outfile_commit(&b, &e) && scratch_holds("two", "second", 6), "one ends");
    ok(outfile_commit(&a, &e) && scratch_holds("two", "first", 5), "the last one stays");
    outfile_abort(&a);
    ok(!a.open, "abort after commit is harmless");

    struct outfile many[70];
    int opened = 0;
    err_clear(&e);
    while (opened < 70 && outfile_open(&many[opened], scratch("many"), &e))
        opened++;
    ok(opened == 64 && e.id == ERR_FILE_OPEN_LIMIT, "64 outputs at once, the next is an error");
    while (opened > 0)
        outfile_abort(&many[--opened]);
    ok(outfile_open(&a, scratch("many"), &e), "then there is room again");
    outfile_abort(&a);
}

static void straight(void)
{
    char path[600];
    err_clear(&e);
    ok(!write_all("/dev/full") && e.id == ERR_FILE_WRITE, "/dev/full is full");
    err_clear(&e);
    ok(write_all("/dev/null"), "/dev/null takes all");
    mkfifo(scratch("fifo"), 0600);
    snprintf(path, sizeof path, "%s", scratch("fifo"));
    pid_t reader = fork();
    if (reader == 0) {
        static char got[BYTES + 1];
        size_t n = 0;
        FILE *f = fopen(path, "rb");
        n = f ? fread(got, 1, sizeof got, f) : 0;
        _exit(n == BYTES && memcmp(got, data, BYTES) == 0 ? 0 : 1);
    }
    int status = 1;
    ok(write_all(path) && waitpid(reader, &status, 0) == reader && status == 0,
       "a FIFO gets all, in place");
    struct stat st;
    ok(lstat(path, &st) == 0 && S_ISFIFO(st.st_mode), "and stays one");

    int saved = dup(1), ends[2];
    int out = open(scratch("stdout"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    fflush(stdout);
    dup2(out, 1);
    printf("before\n");
    bool good = write_all("-") && write_all("/dev/stdout");
    printf("after\n");
    fflush(stdout);
    dup2(saved, 1);
    close(out);
    size_t length;
    char *got = scratch_get("stdout", &length);
    ok(good && length == 7 + 2 * BYTES + 6 && memcmp(got, "before\n", 7) == 0 &&
           memcmp(got + 7, data, BYTES) == 0 && memcmp(got + 7 + 2 * BYTES, "after\n", 6) == 0,
       "standard output by both names, between what is printed");
    free(got);

    signal(SIGPIPE, SIG_IGN);
    ok(pipe(ends) == 0 && close(ends[0]) == 0, "a pipe without a reader");
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    err_clear(&e);
    ok(!write_all(path) && e.id == ERR_FILE_PIPE && err_exit(&e) == 141, "is 141");
    close(ends[1]);
}

/* A name that no process here has, and our own, which may be left from before an exec. */
static void sweeps(void)
{
    char name[256], long_name[256], cut[256];
    struct outfile o;
    err_clear(&e);
    scratch_put(".x.dnn-tmp-3fffff", "x", 1);
    scratch_put(".x.dnn-tmp-3ffffe-12", "x", 1);
    scratch_put(".x.ckpt-17.dnn-tmp-3fffff", "x", 1);
    scratch_put(".x.ckpt-17b.dnn-tmp-3fffff", "x", 1);
    scratch_put(".xy.dnn-tmp-3fffff", "x", 1);
    snprintf(name, sizeof name, ".x.dnn-tmp-%x", (unsigned)getppid());
    scratch_put(name, "x", 1);
    snprintf(name, sizeof name, ".x.dnn-tmp-%x-7", (unsigned)getpid());
    scratch_put(name, "x", 1);
    ok(outfile_open(&o, scratch("x"), &e), "one is being written: %s", e.what);
    is_int(outfile_sweep(scratch("x"), NULL), 3, "the abandoned ones go");
    is_int(outfile_sweep(scratch("x"), ".ckpt-"), 1, "with an infix those behind it");
    is_int(scratch_count(), 4, "others, those of a living process and an open one stay");
    ok(outfile_write(&o, "y", 1, &e) && outfile_prepare(&o, &e), "it is prepared: %s", e.what);
    is_int(outfile_sweep(scratch("x"), NULL), 0, "it stays until it is put in place");
    ok(outfile_commit(&o, &e), "which it can be: %s", e.what);

    memset(long_name, 'n', 255);
    long_name[255] = '\0';
    snprintf(cut, sizeof cut, ".%.239s.dnn-tmp-3fffff", long_name);
    scratch_put(cut, "x", 1);
    is_int(outfile_sweep(scratch(long_name), NULL), 1, "a name that was cut is known");
    snprintf(cut, sizeof cut, ".%.200s.ck.dnn-tmp-3fffff", long_name);
    scratch_put(cut, "x", 1);
    is_int(outfile_sweep(scratch(long_name), ".ckpt-"), 0, "one that was not is another");
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < BYTES; i++)
        data[i] = (char)(i * 11 + i / 300);
    if (argc == 3)
        return again(argv[1], argv[2]);
    scratch_make();
    places();
    scratch_remove();
    scratch_make();
    faults();
    kills();
    scratch_remove();
    scratch_make();
    straight();
    scratch_remove();
    scratch_make();
    sweeps();
    is_int(mem_in_use(), 0, "all memory is given back");
    return done();
}
