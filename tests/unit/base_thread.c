/* The pool: every tile exactly once, barriers between rounds, any number of threads, and what a
 * worker is born with. */
#include "tap.h"

#include <fenv.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/process/thread.h"

enum { TILES = 1000, ROUNDS = 300 };

struct board {
    _Atomic unsigned count[TILES];
    _Atomic unsigned threads_seen, wrong;
    unsigned round_tiles[ROUNDS];
    _Atomic unsigned done[ROUNDS];
};

static void count_tile(void *context, unsigned tile, unsigned thread)
{
    struct board *b = context;
    atomic_fetch_add(&b->count[tile], 1);
    atomic_fetch_or(&b->threads_seen, 1u << thread);
    if (thread >= threads_count())
        atomic_fetch_add(&b->wrong, 1);
}

static unsigned tiles_of(void *context, unsigned round)
{
    return ((struct board *)context)->round_tiles[round];
}

/* All of the round before must be done, and nothing of the next one begun. */
static void round_tile(void *context, unsigned round, unsigned tile, unsigned thread)
{
    struct board *b = context;
    (void)thread;
    if (round > 0 && atomic_load(&b->done[round - 1]) != b->round_tiles[round - 1])
        atomic_fetch_add(&b->wrong, 1);
    if (round + 1 < ROUNDS && atomic_load(&b->done[round + 1]) != 0)
        atomic_fetch_add(&b->wrong, 1);
    if (tile % 7 == 3 && round % 50 == 0)
        usleep(300); /* longer than a spin: somebody goes to sleep */
    atomic_fetch_add(&b->done[round], 1);
}

static void every_tile_once(unsigned threads)
{
    static const unsigned sizes[] = {0, 1, 2, 3, 64, TILES};
    struct board *b = mem_zero(1, sizeof *b);
    bool once = true;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (unsigned i = 0; i < TILES; i++)
            atomic_store(&b->count[i], 0);
        threads_run(sizes[s], count_tile, b);
        for (unsigned i = 0; i < TILES; i++)
            once = once && atomic_load(&b->count[i]) == (i < sizes[s] ? 1u : 0u);
    }
    ok(once, "%u threads: each tile exactly once", threads);
    for (unsigned i = 0; i < ROUNDS; i++)
        b->round_tiles[i] = i % 13;
    threads_run_rounds(ROUNDS, tiles_of, round_tile, b);
    bool all = true;
    for (unsigned i = 0; i < ROUNDS; i++)
        all = all && atomic_load(&b->done[i]) == i % 13;
    ok(all, "%u threads: every round complete", threads);
    is_int(atomic_load(&b->wrong), 0, "no round overtakes another");
    mem_free(b);
}

struct few {
    struct board board;
    _Atomic unsigned at_work, most;
    _Atomic bool taken[1024]; /* by hand */
};

static void few_tile(void *context, unsigned tile, unsigned hand)
{
    struct few *f = context;
    unsigned now = atomic_fetch_add(&f->at_work, 1) + 1, most = atomic_load(&f->most);
    while (now > most && !atomic_compare_exchange_weak(&f->most, &most, now))
        ;
    if (hand >= threads_hands() || atomic_exchange(&f->taken[hand], true))
        atomic_fetch_add(&f->board.wrong, 1);
    if (tile % 16 == 3)
        usleep(300); /* whoever has no hand would come now */
    atomic_fetch_add(&f->board.count[tile], 1);
    atomic_store(&f->taken[hand], false);
    atomic_fetch_sub(&f->at_work, 1);
}

/* Tiles that take memory: no more at a time than there are processors, one in each hand. */
static void few_at_a_time(unsigned threads)
{
    static const unsigned sizes[] = {0, 1, 3, 64};
    struct few *f = mem_zero(1, sizeof *f);
    unsigned processors = threads_available(), hands = threads_hands();
    bool once = true;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (unsigned i = 0; i < TILES; i++)
            atomic_store(&f->board.count[i], 0);
        threads_run_few(sizes[s], few_tile, f);
        for (unsigned i = 0; i < TILES; i++)
            once = once && atomic_load(&f->board.count[i]) == (i < sizes[s] ? 1u : 0u);
    }
    ok(hands == (threads < processors ? threads : processors), "%u threads on %u processors: "
       "%u hands", threads, processors, hands);
    ok(once, "%u threads, few at a time: each tile exactly once", threads);
    ok(atomic_load(&f->most) >= 1 && atomic_load(&f->most) <= hands,
       "at most %u tiles at a time: %u", hands, atomic_load(&f->most));
    is_int(atomic_load(&f->board.wrong), 0, "a hand has one tile at a time");
    mem_free(f);
}

struct state {
    _Atomic unsigned bad_signals, bad_modes, others;
};

static void look(void *context, unsigned tile, unsigned thread)
{
    struct state *s = context;
    (void)tile;
    if (thread == 0) {
        usleep(100);
        return;
    }
    atomic_fetch_add(&s->others, 1);
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (!sigismember(&blocked, SIGTERM) || !sigismember(&blocked, SIGINT) ||
        !sigismember(&blocked, SIGUSR1) || sigismember(&blocked, SIGSEGV) ||
        sigismember(&blocked, SIGABRT))
        atomic_fetch_add(&s->bad_signals, 1);
    volatile double tiny = 2.2250738585072014e-308; /* the smallest normal number */
    if (fegetround() != FE_TONEAREST || !(tiny / 4 > 0))
        atomic_fetch_add(&s->bad_modes, 1);
}

static void workers_are_quiet(void)
{
    struct state s = {0};
    double until = clock_now() + 5;
    while (atomic_load(&s.others) == 0 && clock_now() < until)
        threads_run(64, look, &s);
    ok(atomic_load(&s.others) > 0, "a worker takes tiles too");
    is_int(atomic_load(&s.bad_signals), 0, "workers block all signals but those of a crash");
    is_int(atomic_load(&s.bad_modes), 0, "workers round to nearest and keep small numbers");
    sigset_t mine;
    pthread_sigmask(SIG_SETMASK, NULL, &mine);
    ok(!sigismember(&mine, SIGTERM), "the caller's own mask is as it was");
}

/* In a process of its own, born before this one has looked for faults. Returns threads_count(). */
static int count_with_fault(const char *fault, unsigned wanted)
{
    pid_t child = fork();
    if (child == 0) {
        setenv("DNN_FAULT", fault, 1);
        threads_start(wanted);
        struct board *b = mem_zero(1, sizeof *b);
        threads_run(TILES, count_tile, b);
        for (unsigned i = 0; i < TILES; i++)
            if (atomic_load(&b->count[i]) != 1)
                _exit(99);
        int count = (int)threads_count();
        threads_stop();
        _exit(count);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void add_up(void *context, unsigned tile, unsigned thread)
{
    double *sums = context;
    (void)thread;
    for (unsigned i = 0; i < 20000; i++)
        sums[tile] += 1.0 / (1 + i + tile);
}

static void a_late_worker_does_no_harm(void)
{
    double first[24], again[24];
    for (int run = 0; run < 200; run++) {
        double *sums = run ? again : first;
        memset(sums, 0, sizeof first);
        threads_run(24, add_up, sums);
        if (run && memcmp(first, again, sizeof first) != 0) {
            ok(false, "the same sums in run %d", run);
            return;
        }
    }
    ok(true, "the same sums in 200 runs");
}

static void small_numbers(void *context, unsigned tile, unsigned thread)
{
    (void)tile;
    (void)thread;
    volatile double tiny = 2.2250738585072014e-308;
    if (!(tiny / 4 > 0))
        atomic_fetch_add((_Atomic unsigned *)context, 1);
}

/* Some library has told the processor to take numbers below the normal ones as zero. */
static void a_library_does_no_harm(void)
{
#if defined(__x86_64__)
    _Atomic unsigned lost = 0;
    __builtin_ia32_ldmxcsr(0x9fc0); /* the default, flush to zero, denormals are zero */
    small_numbers(&lost, 0, 0);
    unsigned before = atomic_exchange(&lost, 0);
    threads_run(64, small_numbers, &lost);
    ok(before == 1 && atomic_load(&lost) == 0, "N17 flush to zero is switched off for the work");
#else
    tap_skip("N17 flush to zero is switched off for the work", "not this processor");
#endif
}

static void alone_tile(void *seen, unsigned tile, unsigned thread)
{
    (void)thread;
    ((unsigned char *)seen)[tile]++;
}

static void call_again(void *context, unsigned tile, unsigned thread)
{
    (void)tile;
    (void)thread;
    threads_run(1, call_again, context);
}

static void a_second_caller_is_a_bug(void)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        threads_run(1, call_again, NULL);
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "a second caller is a bug: it stops");
}

static void *works_alone(void *context)
{
    bool *good = context;
    unsigned char seen[64] = {0};
    threads_alone(true);
    *good = threads_count() == 1 && threads_hands() == 1;
    for (int i = 0; i < 1000; i++)
        threads_run(64, alone_tile, seen);
    for (int i = 0; i < 64; i++)
        *good = *good && seen[i] == (unsigned char)1000;
    return NULL;
}

/* Threads that are alone work while the pool works for another. */
static void some_are_alone(void)
{
    enum { ALONE = 2 };
    pthread_t threads[ALONE];
    bool good[ALONE];
    struct board { unsigned char seen[64]; } own = {{0}};
    threads_start(3);
    for (int i = 0; i < ALONE; i++)
        pthread_create(&threads[i], NULL, works_alone, &good[i]);
    for (int i = 0; i < 1000; i++)
        threads_run(64, alone_tile, own.seen);
    for (int i = 0; i < ALONE; i++) {
        pthread_join(threads[i], NULL);
        ok(good[i], "a thread that is alone does all its tiles itself");
    }
    bool all = threads_count() == 3;
    for (int i = 0; i < 64; i++)
        all = all && own.seen[i] == (unsigned char)1000;
    ok(all, "and the pool does those of its caller");
    threads_stop();
}

/* A sanitizer hands out blocks its own way, and so do other C libraries. */
#if defined(M_ARENA_MAX) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static _Atomic unsigned have_a_block;
static _Atomic bool may_end;

static void *own_a_block(void *context)
{
    mem_free(mem_alloc(100, 1));
    atomic_fetch_add(&have_a_block, 1);
    while (!atomic_load(&may_end))
        usleep(100);
    return context;
}

/* However many threads there are, their blocks come from few pools: each has pages of its own. */
static void blocks_of_few_pools(void)
{
    threads_start(24);
    enum { OWNERS = 24 };
    static pthread_t owners[OWNERS];
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; i < OWNERS; i++)
        pthread_create(&owners[i], NULL, own_a_block, NULL);
    while (atomic_load(&have_a_block) < OWNERS)
        usleep(100);
    malloc_info(0, out);
    fclose(out);
    atomic_store(&may_end, true);
    for (size_t i = 0; i < OWNERS; i++)
        pthread_join(owners[i], NULL);
    unsigned pools = 0;
    for (const char *p = text; (p = strstr(p, "<heap nr")) != NULL; p++)
        pools++;
    ok(pools >= 1 && pools <= 4, "%d threads share %u pools of blocks", OWNERS, pools);
    free(text);
    threads_stop();
}
#else
static void blocks_of_few_pools(void)
{
}
#endif

int main(void)
{
    mem_start();
    a_second_caller_is_a_bug();
    is_int(count_with_fault("thread:2", 4), 2, "the second worker cannot be had: two threads");
    is_int(count_with_fault("thread:1+", 8), 1, "none can be had: one thread");
    is_int(threads_count(), 1, "one thread before the start");
    every_tile_once(1);
    few_at_a_time(1);
    ok(threads_available() >= 1 && threads_available() <= 65536, "%u processors",
       threads_available());
    static const unsigned counts[] = {1, 2, 3, 8};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        threads_start(counts[i]);
        is_int(threads_count(), counts[i], "threads as asked for");
        threads_start(5); /* started once: no effect */
        is_int(threads_count(), counts[i], "a second start changes nothing");
        every_tile_once(counts[i]);
        few_at_a_time(counts[i]);
        a_late_worker_does_no_harm();
        a_library_does_no_harm();
        if (counts[i] > 1)
            workers_are_quiet();
        threads_stop();
        is_int(threads_count(), 1, "one thread after the stop");
    }
    some_are_alone();
    blocks_of_few_pools();
    threads_start(0);
    is_int(threads_count(), threads_available(), "0 takes what the machine gives");
    threads_stop();
    is_int(mem_in_use(), 0, "everything was given back");
    return done();
}
