/* thread.c - see thread.h.
 *
 * The tiles of a round are cut into one run of neighbours for each thread, so that a thread meets
 * the same tiles, and their data in its own cache, in every repetition. One word for each run, the
 * ticket, says where it ends and which tile is next: (end << 32) | next. A thread that adds one to
 * it has claimed the tile that stood there, in the round that runs at that moment. So a worker that
 * was away for a while cannot take a tile of a finished round: its claim is void or of the running
 * round. A thread whose run is done takes tiles from the others'. The caller claims like everybody
 * else and at the end waits only for tiles that others have claimed: a worker that never got a
 * processor costs nothing. When a claimed tile is late, because its worker lost the processor in
 * the middle of it, the caller sleeps (which gives the processor away) and then works alone for a
 * while: a busy machine must not be slower than one thread. */
#include "base/process/thread.h"

#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process/cgroup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/mem.h"

enum { THREADS_MOST = 1024, STACK_BYTES = 1 << 20, PAUSES = 16 };
static const double SPIN = 20e-6, LATE = 200e-6; /* seconds */
static const double ALONE_LEAST = 1e-3, ALONE_MOST = 16e-3, FORGET = 0.1;

typedef void work_fn(void *context, unsigned round, unsigned tile, unsigned thread);

struct run {
    _Alignas(64) _Atomic uint64_t ticket;
};

static struct {
    unsigned count; /* with the caller; 0 before threads_start */
    unsigned processors;
    pthread_t *workers;
    atomic_flag running; /* a round is being worked on: no second caller */
    /* of the current round: stable from its publication until its last tile is done */
    work_fn *work;
    void *context;
    unsigned round;
    /* working alone after a late tile */
    double alone_until, alone_for, last_late;
    struct run *runs; /* one for each thread that was asked for, so that it never changes */
    unsigned run_count;
    /* tiles of this round that are finished; the caller's futex */
    _Alignas(64) _Atomic uint32_t done;
    _Atomic uint32_t caller_sleeps;
    _Alignas(64) _Atomic uint32_t published; /* counts rounds; the workers' futex */
    _Atomic uint32_t sleepers;
    _Atomic bool stop;
} pool = {.running = ATOMIC_FLAG_INIT};

/* The state of this thread: it works without the pool (threads_alone); it is inside a tile. */
static _Thread_local bool alone_here, working_here;

static void futex_wait(_Atomic uint32_t *word, uint32_t seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Looks at the word for a moment; true as soon as it differs from `seen`. */
static bool changes(const _Atomic uint32_t *word, uint32_t seen)
{
    for (int i = 0; i < PAUSES; i++) {
        if (atomic_load(word) != seen)
            return true;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("isb" ::: "memory");
#endif
    }
    return false;
}

static bool tiles_left(uint64_t ticket)
{
    return (uint32_t)ticket < (uint32_t)(ticket >> 32);
}

static uint32_t do_run(struct run *run, unsigned thread)
{
    uint32_t done = 0;
    while (tiles_left(atomic_load_explicit(&run->ticket, memory_order_relaxed))) {
        uint64_t ticket = atomic_fetch_add_explicit(&run->ticket, 1, memory_order_acq_rel);
        if (!tiles_left(ticket))
            break;
        pool.work(pool.context, pool.round, (uint32_t)ticket, thread);
        done++;
    }
    /* told once: until then the round cannot end, and no tile of another one stands here */
    if (done) {
        atomic_fetch_add(&pool.done, done);
        if (atomic_load(&pool.caller_sleeps))
            futex_wake(&pool.done);
    }
    return done;
}

/* Claims and does tiles, its own first, until the round has none left; returns how many it did. */
static uint32_t do_tiles(unsigned thread)
{
    uint32_t done = 0;
    for (unsigned i = 0; i < pool.run_count; i++)
        done += do_run(&pool.runs[(thread + i) % pool.run_count], thread);
    return done;
}

static void *worker_main(void *number)
{
    unsigned thread = (unsigned)(uintptr_t)number;
    working_here = true; /* always inside a tile */
    fesetenv(FE_DFL_ENV);
    while (!atomic_load(&pool.stop)) {
        uint32_t seen = atomic_load(&pool.published);
        do_tiles(thread);
        double until = clock_now() + SPIN;
        bool news = changes(&pool.published, seen);
        while (!news && clock_now() < until)
            news = changes(&pool.published, seen);
        if (news)
            continue;
        atomic_fetch_add(&pool.sleepers, 1);
        if (!atomic_load(&pool.stop))
            futex_wait(&pool.published, seen);
        atomic_fetch_sub(&pool.sleepers, 1);
    }
    return NULL;
}

/* The caller's end of a round: everything that others claimed is done when this returns. A tile may
 * take twice as long elsewhere as `each`, the time the caller's own took; beyond that its thread
 * has lost the processor, and it is the more likely to lose it again. */
static void wait_for_claimed(uint32_t tiles, double began, double each)
{
    uint32_t done = atomic_load(&pool.done);
    while (done != tiles) {
        if (!changes(&pool.done, done) && clock_now() - began >= SPIN) {
            atomic_store(&pool.caller_sleeps, 1);
            done = atomic_load(&pool.done);
            if (done != tiles)
                futex_wait(&pool.done, done);
            atomic_store(&pool.caller_sleeps, 0);
        }
        done = atomic_load(&pool.done);
    }
    double now = clock_now();
    if (now - began > LATE + 2 * each) {
        pool.alone_for = now - pool.last_late > FORGET ? ALONE_LEAST : pool.alone_for * 2;
        if (pool.alone_for > ALONE_MOST)
            pool.alone_for = ALONE_MOST;
        pool.alone_until = now + pool.alone_for;
        pool.last_late = now;
    }
}

static void run_round(work_fn *work, void *context, unsigned round, uint32_t tiles)
{
    bool alone = alone_here || pool.count <= 1 || tiles <= 1;
    if (!alone && pool.alone_until > 0) {
        alone = clock_now() < pool.alone_until;
        if (!alone)
            pool.alone_until = 0;
    }
    if (alone) {
        for (uint32_t tile = 0; tile < tiles; tile++)
            work(context, round, tile, 0);
        return;
    }
    pool.work = work;
    pool.context = context;
    pool.round = round;
    atomic_store_explicit(&pool.done, 0, memory_order_relaxed);
    for (unsigned i = 0; i < pool.count; i++) {
        uint64_t first = (uint64_t)tiles * i / pool.count;
        uint64_t end = (uint64_t)tiles * (i + 1) / pool.count;
        atomic_store_explicit(&pool.runs[i].ticket, end << 32 | first, memory_order_release);
    }
    atomic_fetch_add(&pool.published, 1);
    if (atomic_load(&pool.sleepers))
        futex_wake(&pool.published);
    double began = clock_now();
    uint32_t own = do_tiles(0);
    if (atomic_load(&pool.done) != tiles) {
        double now = clock_now();
        wait_for_claimed(tiles, now, own ? (now - began) / own : FORGET);
    }
}

struct plain_work {
    void (*work)(void *, unsigned, unsigned);
    void *context;
};

static void plain_tile(void *context, unsigned round, unsigned tile, unsigned thread)
{
    (void)round;
    const struct plain_work *plain = context;
    plain->work(plain->context, tile, thread);
}

bool threads_inside(void)
{
    return working_here;
}

/* A call from inside a tile, or from a second thread that shares the pool, would change the work
 * under the workers. */
static void begin(void)
{
    if (working_here ||
        (!alone_here && atomic_flag_test_and_set_explicit(&pool.running, memory_order_acquire))) {
        log_warning("bug: the threads were called while they work for another caller");
        abort();
    }
    working_here = true;
    fesetenv(FE_DFL_ENV); /* a library may have switched small numbers off */
}

static void end(void)
{
    working_here = false;
    if (!alone_here)
        atomic_flag_clear_explicit(&pool.running, memory_order_release);
}

void threads_alone(bool alone)
{
    alone_here = alone;
}

void threads_run(unsigned tiles, void (*work)(void *context, unsigned tile, unsigned thread),
                 void *context)
{
    struct plain_work plain = {work, context};
    begin();
    run_round(plain_tile, &plain, 0, tiles);
    end();
}

struct few_tiles {
    void (*work)(void *, unsigned, unsigned);
    void *context;
    unsigned tiles;
    _Atomic unsigned next;
};

static void few_tile(void *context, unsigned hand, unsigned thread)
{
    (void)thread;
    struct few_tiles *few = context;
    for (unsigned tile; (tile = atomic_fetch_add(&few->next, 1)) < few->tiles;)
        few->work(few->context, tile, hand);
}

void threads_run_few(unsigned tiles, void (*work)(void *context, unsigned tile, unsigned hand),
                     void *context)
{
    struct few_tiles few = {.work = work, .context = context, .tiles = tiles};
    unsigned hands = threads_hands();
    threads_run(tiles < hands ? tiles : hands, few_tile, &few);
}

void threads_run_rounds(unsigned rounds, unsigned (*tiles_of)(void *context, unsigned round),
                        void (*work)(void *context, unsigned round, unsigned tile, unsigned thread),
                        void *context)
{
    begin();
    for (unsigned round = 0; round < rounds; round++)
        run_round(work, context, round, tiles_of(context, round));
    end();
}

/* Signals are for the caller, and a thread inherits the mask that it is born with; but a crash is
 * its own, and tells of itself through the same handler. */
static void block_all_but_crashes(sigset_t *before)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    sigset_t others;
    sigfillset(&others);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigdelset(&others, crashes[i]);
    pthread_sigmask(SIG_SETMASK, &others, before);
}

bool thread_new(void *(*run)(void *context), void *context, pthread_t *thread)
{
    sigset_t before;
    block_all_but_crashes(&before);
    bool good = fault_hit(FAULT_THREAD) == 0 && pthread_create(thread, NULL, run, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

static int start_worker(unsigned thread)
{
    int fault = fault_hit(FAULT_THREAD);
    if (fault)
        return fault;
    pthread_attr_t attributes;
    int failed = pthread_attr_init(&attributes);
    if (failed)
        return failed;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    failed = pthread_create(&pool.workers[thread - 1], &attributes, worker_main,
                            (void *)(uintptr_t)thread);
    pthread_attr_destroy(&attributes);
    return failed;
}

void threads_start(unsigned wanted)
{
    if (pool.count)
        return;
    pool.processors = threads_available();
    if (wanted == 0)
        wanted = pool.processors;
    if (wanted > THREADS_MOST)
        wanted = THREADS_MOST;
    fesetenv(FE_DFL_ENV);
    pool.count = 1;
    if (wanted == 1)
        return;
    pool.workers = mem_alloc(wanted - 1, sizeof *pool.workers);
    pool.runs = mem_zero(wanted, sizeof *pool.runs);
    pool.run_count = wanted;
    sigset_t before;
    block_all_but_crashes(&before);
    int failed = 0;
    while (pool.count < wanted && (failed = start_worker(pool.count)) == 0)
        pool.count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        log_note("%u threads were requested, %u are available (%s): the work takes longer, the "
                 "results are the same",
                 wanted, pool.count, strerror(failed));
}

void threads_stop(void)
{
    atomic_store(&pool.stop, true);
    atomic_fetch_add(&pool.published, 1);
    futex_wake(&pool.published);
    for (unsigned i = 1; i < pool.count; i++)
        pthread_join(pool.workers[i - 1], NULL);
    mem_free(pool.workers);
    mem_free(pool.runs);
    pool.workers = NULL;
    pool.runs = NULL;
    pool.count = 0;
    atomic_store(&pool.stop, false);
}

unsigned threads_count(void)
{
    return !alone_here && pool.count ? pool.count : 1;
}

unsigned threads_hands(void)
{
    unsigned count = threads_count();
    return count < pool.processors ? count : pool.processors ? pool.processors : 1;
}

/* --- how many processors this process may use --- */

static unsigned processors_allowed(void)
{
    unsigned count = 0;
    for (size_t bits = 1024; bits <= (size_t)1 << 16 && !count; bits *= 4) {
        size_t bytes = CPU_ALLOC_SIZE(bits);
        cpu_set_t *set = mem_zero(1, bytes);
        if (sched_getaffinity(0, bytes, set) == 0)
            count = (unsigned)CPU_COUNT_S(bytes, set);
        else if (errno != EINVAL) /* EINVAL: the kernel knows more processors than fit */
            count = 1;
        mem_free(set);
    }
    return count ? count : 1;
}

/* Half a processor and more counts as one: a quota of 1.5 gives 2 threads. */
unsigned threads_available(void)
{
    unsigned processors = processors_allowed();
    struct cgroup group;
    cgroup_read("", &group);
    if (group.processors + 0.5 >= processors)
        return processors;
    return group.processors < 0.5 ? 1 : (unsigned)(group.processors + 0.5);
}
