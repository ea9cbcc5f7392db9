/* base_lock.c - who is refused and what is said, what a killed owner leaves,
 * and that the lock is held by one process only however many come and go. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/lock.h"
#include "scratch.h"
#include "tap.h"

enum { RACERS = 6, LAPS = 60 };

static void refused(void)
{
    struct err e = {0};
    struct lock one, two;
    const char *model = scratch("a.dnn");
    ok(lock_take(&one, model, &e) && one.held && !one.abrupt, "the first one has it");
    ok(!lock_take(&two, model, &e) && !two.held, "the second one does not");
    char pid[32];
    snprintf(pid, sizeof pid, "pid %ld on ", (long)getpid());
    ok(e.id == ERR_LOCKED && err_exit(&e) == 75, "75: try again later");
    ok(strstr(e.what, pid) != NULL && strstr(e.what, " since ") != NULL,
       "pid, host and time are named");
    lock_drop(&one);
    lock_drop(&one);
    is_int(scratch_count(), 0, "afterwards nothing is left; dropping twice is harmless");
    err_clear(&e);
    ok(lock_take(&two, model, &e), "the next one has it");
    lock_abort();
    is_int(scratch_count(), 0, "a handler can remove it");
    lock_drop(&two);
}

static void killed(void)
{
    struct err e = {0};
    struct lock l;
    int ready[2];
    char byte;
    const char *model = scratch("b.dnn");
    if (pipe(ready) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        bool good = lock_take(&l, model, &e);
        if (write(ready[1], good ? "y" : "n", 1) == 1)
            pause();
        _exit(0);
    }
    ok(read(ready[0], &byte, 1) == 1 && byte == 'y', "another process has it");
    ok(!lock_take(&l, model, &e) && e.id == ERR_LOCKED, "this one is refused");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    err_clear(&e);
    ok(lock_take(&l, model, &e) && l.abrupt,
       "after kill -9 the lock is free, and it shows that its owner was cut off");
    lock_drop(&l);
    static const struct {
        const char *text;
        size_t length;
    } ours[] = {{"pid 17 on host since 2026-01-02T03:04:05Z\n", 42}, {"pid 17 o", 8}, {"pi", 2},
                {"\0\0\0\0\0\0\0\0", 8}, {"", 0}},
      foreign[] = {{"\x1b[31mgarbage", 12}, {"[[package]]\n", 12}, {"pid 17\n", 7},
                   {"\0\0\0\0[", 5}, {"{", 1}};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        scratch_put("c.dnn.lock", ours[i].text, ours[i].length);
        ok(lock_take(&l, scratch("c.dnn"), &e) && l.abrupt == (ours[i].length > 0),
           "a lock that was left behind is taken over, however much of it is there");
        lock_drop(&l);
    }
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        size_t length;
        err_clear(&e);
        scratch_put("c.dnn.lock", foreign[i].text, foreign[i].length);
        ok(!lock_take(&l, scratch("c.dnn"), &e) && err_exit(&e) == 73,
           "a foreign file of that name: 73");
        lock_drop(&l);
        lock_abort();
        char *still = scratch_get("c.dnn.lock", &length);
        ok(still && length == foreign[i].length && memcmp(still, foreign[i].text, length) == 0,
           "and it stays as it is");
        free(still);
    }
    unlink(scratch("c.dnn.lock"));
}

static void links(void)
{
    struct err e = {0};
    struct lock one, two;
    scratch_put("real.dnn", "x", 1);
    if (symlink(scratch("real.dnn"), scratch("link.dnn")) != 0)
        return;
    ok(lock_take(&one, scratch("real.dnn"), &e) && !lock_take(&two, scratch("link.dnn"), &e),
       "a link and its file are one output");
    lock_drop(&one);
    err_clear(&e);
    unlink(scratch("real.dnn"));
    ok(lock_take(&one, scratch("real.dnn"), &e) && !lock_take(&two, scratch("link.dnn"), &e),
       "before there is a file as well");
    lock_drop(&one);
    err_clear(&e);
    ok(!lock_take(&one, scratch("nowhere/m.dnn"), &e) && err_exit(&e) == 73, "no folder: 73");
    unlink(scratch("link.dnn"));
}

static int count_of(void)
{
    size_t length;
    char *text = scratch_get("count", &length);
    int count = text ? (int)strtol(text, NULL, 10) : -1;
    free(text);
    return count;
}

/* Adds one to a number in a file, LAPS times; without a lock that holds, additions are lost. */
static void race(void)
{
    scratch_put("count", "0", 1);
    fflush(stdout);
    for (int i = 0; i < RACERS; i++)
        if (fork() == 0) {
            for (int lap = 0; lap < LAPS;) {
                struct err e = {0};
                struct lock l;
                if (!lock_take(&l, scratch("race.dnn"), &e)) {
                    usleep(100);
                    continue;
                }
                char text[16];
                int n = snprintf(text, sizeof text, "%d", count_of() + 1);
                scratch_put("count", text, (size_t)n);
                lock_drop(&l);
                lap++;
            }
            _exit(0);
        }
    bool good = true;
    for (int i = 0; i < RACERS; i++) {
        int status;
        wait(&status);
        good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    ok(good, "all racers arrive");
    is_int(count_of(), RACERS * LAPS, "nobody was inside together with another");
}

int main(void)
{
    scratch_make();
    refused();
    killed();
    links();
    race();
    return done();
}
