/* parallel.c - see parallel.h. */
#include "train/parallel.h"

#include "backend/backend.h"
#include "base/mem.h"
#include "base/process/thread.h"

void parallel_lock(struct parallel_jobs *s)
{
    pthread_mutex_lock(&s->lock);
}

void parallel_unlock(struct parallel_jobs *s)
{
    pthread_mutex_unlock(&s->lock);
}

bool parallel_failed(struct parallel_jobs *s)
{
    parallel_lock(s);
    bool failed = s->failed;
    parallel_unlock(s);
    return failed;
}

/* The next item to do. False: none is left. */
static bool take(struct parallel_jobs *s, uint32_t *item)
{
    enum parallel_turn turn = PARALLEL_PASS;
    parallel_lock(s);
    while (turn == PARALLEL_PASS && s->next < s->count && !s->failed && !s->stopped) {
        turn = s->turn ? s->turn(s->owner, s->next) : PARALLEL_DO;
        if (turn != PARALLEL_END)
            *item = s->next++;
    }
    parallel_unlock(s);
    return turn == PARALLEL_DO;
}

static void end(struct parallel_jobs *s, const struct err *e)
{
    parallel_lock(s);
    if (e->id == ERR_NONE)
        s->stopped = true;
    else if (!s->failed)
        s->e = *e;
    s->failed |= e->id != ERR_NONE;
    parallel_unlock(s);
}

static void work(struct parallel_jobs *s, struct machine *m)
{
    struct err e = {0};
    struct machine *own = NULL;
    uint32_t item;
    struct machine_info like = {.precision = "fp32"};
    if (s->machine)
        machine_describe(s->machine, &like);
    if (!m) /* the machine of struct selection on a CPU, with one thread */
        m = own = machine_open(&(struct machine_options){.backend = "cpu", .blas = true,
                                                         .precision = like.precision}, &e);
    if (!m)
        end(s, &e);
    while (m && take(s, &item))
        if (!s->work(s->owner, item, m, &e)) {
            end(s, &e);
            err_clear(&e);
        }
    machine_close(own);
}

static void *work_alone(void *jobs)
{
    threads_alone(true);
    work(jobs, NULL);
    return NULL;
}

/* One a thread; a thread that cannot be had means fewer at a time. */
static void work_beside(struct parallel_jobs *s)
{
    pthread_t *threads = mem_alloc(s->threads, sizeof *threads);
    uint32_t begun = 0;
    while (begun < s->threads && thread_new(work_alone, s, &threads[begun]))
        begun++;
    if (!begun)
        work(s, NULL);
    for (uint32_t i = 0; i < begun; i++)
        pthread_join(threads[i], NULL);
    mem_free(threads);
}

bool parallel_run(struct parallel_jobs *s, struct err *e)
{
    pthread_mutex_init(&s->lock, NULL);
    s->next = 0;
    s->failed = s->stopped = false;
    err_clear(&s->e);
    if (s->threads > 1)
        work_beside(s);
    else
        work(s, s->machine);
    pthread_mutex_destroy(&s->lock);
    if (s->failed)
        *e = s->e;
    else if (s->stopped)
        err_clear(e);
    return !s->failed && !s->stopped;
}

double parallel_seconds(const double *each, uint32_t count, uint32_t threads)
{
    double *until = mem_zero(threads ? threads : 1, sizeof *until), last = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t next = 0; /* who is free first takes the item */
        for (uint32_t t = 1; t < threads; t++)
            next = until[t] < until[next] ? t : next;
        until[next] += each[i];
        last = until[next] > last ? until[next] : last;
    }
    mem_free(until);
    return last;
}
