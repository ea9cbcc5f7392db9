/* Routines: a whole training gives the same bytes plain, recorded, with any number of threads and
 * any vector code; a step that is not finite leaves nothing behind; playing takes no memory. */
#include "tap.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/process/thread.h"
#include "small_net.h"

static struct machine *open_with(const char *core, const char *blas)
{
    struct err e = {0};
    setenv("DNN_CPU", core, 1);
    setenv("DNN_BLAS", blas, 1);
    struct machine_options o = {.backend = "cpu", .blas = strcmp(blas, "always") == 0};
    if (o.blas)
        blas_prepare(1, BLAS_AUTO);
    return machine_open(&o, &e);
}

static int rounding = FE_TONEAREST;

/* The parameters after three epochs; caller mem_frees. */
static real *trained(struct machine *m, uint32_t batch, uint32_t micro, bool recorded,
                     double *loss)
{
    struct net *n = net_new(m, batch, micro);
    fesetround(rounding);
    double first = net_epoch(n, recorded);
    uint64_t before = mem_in_use(), peak = mem_peak();
    net_epoch(n, recorded);
    *loss = net_epoch(n, recorded);
    if (recorded && (mem_in_use() != before || mem_peak() != peak))
        ok(false, "playing takes no memory");
    if (!(*loss < 0.9 * first))
        ok(false, "the loss falls: %g, then %g", first, *loss);
    real *p = mem_copy(n->p, n->n * sizeof *p);
    net_free(n);
    return p;
}

static size_t net_size(struct machine *m)
{
    struct net *n = net_new(m, 64, 1);
    size_t size = (size_t)n->n;
    net_free(n);
    return size;
}

static double difference(const real *a, const real *b, size_t n)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
    return worst;
}

static void same_bytes(const char *best)
{
    struct machine *m = open_with(best, "none");
    size_t n = net_size(m);
    double loss, other;
    real *want = trained(m, 200, 1, false, &loss);
    for (int recorded = 0; recorded < 2; recorded++) {
        real *got = trained(m, 200, 1, recorded, &other);
        ok(memcmp(got, want, n * sizeof *got) == 0 && loss == other, "the same bytes: %s",
           recorded ? "recorded" : "plain again");
        mem_free(got);
    }
    static const unsigned counts[] = {2, 3, 8};
    for (size_t i = 0; i < 3; i++) {
        threads_start(counts[i]);
        for (int recorded = 0; recorded < 2; recorded++) {
            real *got = trained(m, 200, 1, recorded, &other);
            ok(memcmp(got, want, n * sizeof *got) == 0 && loss == other,
               "the same bytes: %u threads%s", counts[i], recorded ? ", recorded" : "");
            mem_free(got);
        }
        threads_stop();
    }
    static const char *const cores[] = {"c", "avx2", "avx512"};
    for (size_t i = 0; i < 3; i++) {
        struct machine *with = open_with(cores[i], "none");
        if (!with)
            continue;
        real *got = trained(with, 200, 1, true, &other);
        ok(memcmp(got, want, n * sizeof *got) == 0, "the same bytes: %s", cores[i]);
        mem_free(got);
        machine_close(with);
    }
    rounding = FE_UPWARD; /* as a library might have left it */
    real *rounded = trained(m, 200, 1, true, &other);
    ok(memcmp(rounded, want, n * sizeof *rounded) == 0,
       "the same bytes: another rounding mode before");
    rounding = FE_TONEAREST;
    mem_free(rounded);
    /* a batch in two parts: batch norm sees each by itself and the sums have another order, so only
     * nearly the same */
    real *halves = trained(m, 100, 2, true, &other);
    ok(fabs(loss - other) < 0.1, "accumulated over two micro-batches: loss %g and %g", loss, other);
    mem_free(halves);
    struct machine *guest = open_with(best, "always");
    struct plan plan;
    machine_plan(guest, 200, 1, &plan);
    struct cpu_info info;
    cpu_describe(&info);
    if (strcmp(plan.blas_core, "none") == 0) {
        tap_skip("with OpenBLAS", "there is none that serves here");
    } else {
        real *got = trained(guest, 200, 1, true, &other);
        double far = difference(got, want, n);
        ok(far < 0.1 && fabs(loss - other) < 1e-3,
           "with %s (%s): parameters within %g, loss %g and %g", info.blas, info.blas_core, far,
           loss, other);
        mem_free(got);
    }
    machine_close(guest);
    mem_free(want);
    machine_close(m);
}

static void bad_step(void)
{
    struct machine *m = open_with("", "none");
    struct net *n = net_new(m, 200, 1);
    net_epoch(n, true);
    size_t bytes = (size_t)n->n * sizeof(real);
    real *p = mem_copy(n->p, bytes), *m1 = mem_copy(n->m1, bytes), *m2 = mem_copy(n->m2, bytes);
    real *running = mem_copy(n->running, 2 * WIDE * sizeof(real));
    float was, nan = __builtin_nanf("");
    memcpy(&was, n->records[0], 4);
    memcpy(n->records[0], &nan, 4);
    n->source.shuffle = 0; /* record 0 is in the first batch */
    n->now->row0 = 0;
    machine_play(m, n->routine, 1);
    ok(memcmp(p, n->p, bytes) == 0 && memcmp(m1, n->m1, bytes) == 0 && memcmp(m2, n->m2,
            bytes) == 0, "a step that is not finite changes no parameter");
    is_int(n->now->bad, 1, "and is marked");
    is_int(n->now->bad_steps, 1, "and counted");
    is_int(n->now->tried, 6, "as tried");
    is_int(n->now->applied, 5, "not as applied");
    ok(isfinite(n->now->epoch_loss), "and leaves the loss of the epoch alone");
    ok(memcmp(running, n->running, 2 * WIDE * sizeof(real)) == 0, "and the running statistics");
    memcpy(n->records[0], &was, 4);
    machine_play(m, n->routine, 1);
    ok(n->now->bad == 0 && n->now->applied == 6 && memcmp(p, n->p, bytes) != 0,
       "the next one goes on");
    ok(memcmp(running, n->running, 2 * WIDE * sizeof(real)) != 0, "with its running statistics");
    mem_free(running);
    mem_free(p);
    mem_free(m1);
    mem_free(m2);
    net_free(n);
    machine_close(m);
}

static void two_networks(void)
{
    struct machine *m = open_with("", "none");
    struct net *a = net_new(m, 200, 1), *b = net_new(m, 64, 1), *c = net_new(m, 200, 1);
    net_epoch(a, true);
    net_epoch(b, true);
    net_epoch(a, true);
    net_epoch(b, true);
    net_epoch(c, true);
    net_epoch(c, true);
    ok(memcmp(a->p, c->p, (size_t)a->n * sizeof(real)) == 0,
       "two networks on one machine do not meet");
    net_free(a);
    net_free(b);
    net_free(c);
    machine_close(m);
}

static void plans(void)
{
    struct machine *m = open_with("", "none");
    struct plan a, b;
    const char *differs = "";
    machine_plan(m, 256, 2, &a);
    machine_plan(m, 256, 2, &b);
    ok(plan_same(&a, &b, &differs) && !differs, "a plan is the same as itself");
    is_string(a.backend, "cpu", "backend");
    is_string(a.blas_core, "none", "no guest");
    is_int(a.shards, 4, "shards of 256 rows");
    is_int(a.version, 4, "the code that pools before products: others left other bits");
    b.micro = 3;
    ok(!plan_same(&a, &b, &differs), "another plan differs");
    is_string(differs, "micro", "in what was changed");
    machine_plan(m, 256, 2, &b);
    b.version--;
    ok(!plan_same(&a, &b, &differs), "the plan of code before differs");
    is_string(differs, "version", "in its version");
    machine_plan(m, 256, 2, &b);
    snprintf(b.blas, sizeof b.blas, "OpenBLAS 0.3.30");
    ok(!plan_same(&a, &b, &differs), "another OpenBLAS makes another plan");
    is_string(differs, "blas", "in its version");
    is_int(plan_shards(1), 1, "shards of 1 row");
    is_int(plan_shards(127), 1, "of 127");
    is_int(plan_shards(128), 2, "of 128");
    is_int(plan_shards(100000), 16, "of many");
    is_int(plan_series_shards(15, 1000), 1, "of 15 sequences");
    is_int(plan_series_shards(32, 50), 2, "of 32");
    is_int(plan_series_shards(64, 2), 2, "of 64 short ones");
    is_int(plan_series_shards(64, 50), 4, "of 64");
    is_int(plan_series_shards(100000, 50), 16, "of many sequences");
    for (uint32_t rows = 1; rows < 2000; rows++)
        if (plan_series_shards(rows, 1) != plan_shards(rows))
            ok(false, "of %u rows of one step, as of tables", rows);
    struct err e = {0};
    ok(machine_wait(m, 1, &e), "nothing went wrong");
    machine_close(m);
    setenv("DNN_CPU", "abacus", 1);
    struct machine_options o = {.backend = "cpu"};
    ok(machine_open(&o, &e) == NULL, "an unknown vector code opens nothing");
    is_int(e.id, sizeof(real) == 4 ? ERR_BACKEND_UNKNOWN : ERR_NONE, "and says so");
    is_string(op_name(OP_dense_back), "dense_back", "names of operations");
}

/* Memory of all kinds, and what goes to and fro. */
static void memory(void)
{
    struct err e = {0};
    struct machine *m = open_with("", "none");
    int there[4] = {1, 2, 3, 4}, back[4] = {0};
    int *on_machine = machine_alloc(m, sizeof there, &e);
    int *on_host = machine_host_alloc(m, sizeof there, &e);
    ok(on_machine && on_host && on_machine[3] == 0 && on_host[3] == 0, "memory comes cleared");
    for (uint32_t slot = 0; slot < MACHINE_SLOTS; slot++) {
        on_host[0] = (int)slot;
        machine_send(m, slot, on_machine, on_host, sizeof there);
        machine_fetch(m, slot, back, on_machine, sizeof back);
        machine_fence(m, slot);
        if (back[0] != (int)slot)
            ok(false, "slot %u brings back what was sent", slot);
    }
    const int *lent = machine_map_host(m, there, sizeof there, &e);
    ok(lent == there, "the CPU reads what it is lent in place");
    ok(!machine_map_host(m, NULL, 0, &e) && e.id == ERR_NONE, "nothing is lent as nothing");
    machine_unmap_host(m, lent);
    ok(machine_bytes_free(m) > 1 << 20, "there is room: %llu bytes",
       (unsigned long long)machine_bytes_free(m));
    struct need need;
    machine_need(m, OP_norm2, &(struct op_norm2){.from = {.n = 10000}}, &need);
    ok(need.kept >= 10000 * sizeof(real) && need.scratch >= 5 * sizeof(double), "norm2's need");
    machine_need(m, OP_act, &(struct op_act){.rows = 8}, &need);
    ok(need.kept == 0 && need.scratch == 0, "most operations have none");
    struct machine_counts counts;
    machine_count(m, &counts);
    is_int((int64_t)counts.allocations, 2, "allocations are counted");
    machine_release(m, on_machine);
    machine_release(m, NULL);
    machine_host_release(m, on_host);
    machine_close(m);
}

/* --- shapes and shards --- */

enum { IN = 7, OUT = 5, WEIGHTS = IN * OUT };
struct layer {
    real x[600 * IN], y[600 * OUT], dy[600 * OUT], w[WEIGHTS], dw[20 * WEIGHTS];
};

/* The way back of a dense layer, and the layer itself, in the shape `d`. */
static void run_layer(struct machine *m, struct layer *l, struct dims d)
{
    for (int i = 0; i < 600 * OUT; i++)
        l->dy[i] = (real)(i * 7 % 11) / 8 - (real)0.5;
    for (int i = 0; i < 600 * IN; i++)
        l->x[i] = (real)(i * 5 % 13) / 8 - (real)0.75;
    for (int i = 0; i < WEIGHTS; i++)
        l->w[i] = (real)(i % 3) - 1;
    for (int i = 0; i < 20 * WEIGHTS; i++)
        l->dw[i] = 77;
    d.width = IN;
    op_dense(m, &(struct op_dense){.dims = d, .y = {.at = l->y}, .x = {.at = l->x}, .w = l->w,
                                   .out = OUT, .ldx = IN, .ldy = OUT});
    op_dense_back(m, &(struct op_dense_back){.dims = d, .dw = l->dw, .dy = {.at = l->dy},
                                             .x = {.at = l->x}, .w = l->w, .out = OUT, .ldx = IN,
                                             .ldy = OUT, .lddy = OUT});
}

static double sum_of(const struct layer *l, unsigned shards, int i)
{
    double sum = 0;
    for (unsigned s = 0; s < shards; s++)
        sum += (double)l->dw[s * WEIGHTS + (unsigned)i];
    return sum;
}

/* The run says in how many shards gradients are summed, whatever the rows of an operation. */
static void shards(void)
{
    struct machine *m = open_with("", "none");
    struct layer *a = mem_zero(1, sizeof *a), *b = mem_zero(1, sizeof *b);
    struct dims own = {.rows = 600, .steps = 1, .shards = 3, .shard_stride = WEIGHTS};
    struct dims rule = own;
    rule.shards = plan_shards(600);
    run_layer(m, a, own);
    run_layer(m, b, rule);
    uint64_t arena = dims_arena(own, WEIGHTS), touched = 0;
    is_int((int64_t)arena, 3 * WEIGHTS, "an arena of three shards");
    for (uint64_t i = arena; i < 20 * WEIGHTS; i++)
        touched += a->dw[i] < 77 || a->dw[i] > 77;
    is_int((int64_t)touched, 0, "600 rows in three shards write nothing behind them");
    ok(a->dw[arena - 1] < 77, "but the last of them");
    bool same = true;
    for (int i = 0; i < WEIGHTS; i++)
        same &= fabs(sum_of(a, 3, i) - sum_of(b, rule.shards, i)) < 1e-3;
    ok(same, "their sum is that of nine shards");
    mem_free(a);
    mem_free(b);
    machine_close(m);
}

/* Steps of a row count as rows to an operation that treats each alike. */
static void steps(void)
{
    struct machine *m = open_with("", "none");
    struct layer *a = mem_zero(1, sizeof *a), *b = mem_zero(1, sizeof *b);
    run_layer(m, a, (struct dims){.rows = 600, .steps = 1, .shards = 2, .shard_stride = WEIGHTS});
    run_layer(m, b, (struct dims){.rows = 120, .steps = 5, .shards = 2, .shard_stride = WEIGHTS});
    ok(memcmp(a, b, sizeof *a) == 0, "120 rows of 5 steps are as 600 rows");
    mem_free(a);
    mem_free(b);
    machine_close(m);
}

/* An operation without shards, or with steps that it does not know, is a bug: it is not run. */
static bool is_refused(enum op_id op, const void *arguments)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct machine *m = open_with("", "none");
        signal(SIGABRT, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(0);
        machine_issue(m, op, arguments);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void bad_dims(void)
{
    ok(is_refused(OP_act, &(struct op_act){.rows = 0, .steps = 1}), "no shards");
    ok(is_refused(OP_act, &(struct op_act){.rows = 0, .shards = 1}), "no steps");
    ok(is_refused(OP_score, &(struct op_score){.rows = 0, .steps = 2, .shards = 1}),
       "a score of rows with several steps");
    ok(!is_refused(OP_act, &(struct op_act){.rows = 0, .steps = 2, .shards = 1}),
       "an activation of such rows is good");
}

/* Two machines in two threads, each of them alone on its thread. */
struct beside {
    real *p;
    double loss;
    unsigned threads;
    bool recorded;
};

static void *train_beside(void *context)
{
    struct beside *b = context;
    struct err e = {0};
    threads_alone(true);
    b->threads = threads_count();
    struct machine *m = machine_open(&(struct machine_options){.backend = "cpu"}, &e);
    struct net *n = m ? net_new(m, 200, 1) : NULL;
    for (int epoch = 0; n && epoch < 3; epoch++)
        b->loss = net_epoch(n, b->recorded);
    if (n) {
        b->p = mem_copy(n->p, n->n * sizeof *n->p);
        net_free(n);
    }
    machine_close(m);
    return NULL;
}

static void side_by_side(const char *best)
{
    struct machine *m = open_with(best, "none");
    size_t n = net_size(m);
    double loss;
    real *want = trained(m, 200, 1, true, &loss);
    machine_close(m);
    threads_start(3);
    enum { RUNS = 2, TIMES = 4 };
    bool same = true, alone = true;
    for (int time = 0; time < TIMES; time++) {
        struct beside runs[RUNS] = {{.recorded = true}, {.recorded = time % 2 == 0}};
        pthread_t threads[RUNS];
        for (int i = 0; i < RUNS; i++)
            pthread_create(&threads[i], NULL, train_beside, &runs[i]);
        for (int i = 0; i < RUNS; i++) {
            pthread_join(threads[i], NULL);
            alone = alone && runs[i].threads == 1;
            same = same && runs[i].p && runs[i].loss == loss &&
                   memcmp(runs[i].p, want, n * sizeof *want) == 0;
            mem_free(runs[i].p);
        }
    }
    ok(alone && threads_count() == 3, "a run beside others has its own thread, and no other");
    ok(same, "%d trainings at the same time: the bytes of one by itself", RUNS);
    threads_stop();
    mem_free(want);
}

int main(void)
{
    struct cpu_info info;
    setenv("DNN_CPU", "", 1);
    cpu_describe(&info);
    ok(info.core[0] && info.model[0], "%s on %s", info.core, info.model);
    same_bytes("");
    bad_step();
    two_networks();
    memory();
    shards();
    steps();
    bad_dims();
    side_by_side("");
    if (sizeof(real) == sizeof(float))
        plans();
    is_int(mem_in_use(), 0, "everything was given back");
    return done();
}
