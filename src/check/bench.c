/* bench.c - the order of a benchmark: machines, their limits, then rows from small to large, so
 * that only the largest lack time. See bench.h. */
#include "check/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sort.h"
#include "base/process/stop.h"
#include "base/process/thread.h"
#include "check/bench_parts.h"
#include "model/preset/preset.h"

const char *const bench_size_names[] = {"small", "medium", "large", NULL};

static const char *const job_names[] = {
#define JOB(id, name, variable, what) #name,
#define JOB_OF_OTHERS(id, name, variable, what)
#include "config/jobs.def"
#undef JOB
};

/* Rows of one side alone, in which a library computes in the place of our own code. */
static const struct library_row {
    const char *name;
    size_t index;        /* the row with our own code */
    const char *preset;  /* of a training; NULL: the network of that row */
    enum bench_side side;
    const char *library; /* NULL: our own code, for a row of this preset */
} library_rows[] = {
    {"dense_openblas", OP_dense, NULL, BENCH_CPU, "OpenBLAS"},
    {"dense_back_openblas", OP_dense_back, NULL, BENCH_CPU, "OpenBLAS"},
    {"train_openblas", (size_t)OP_COUNT + JOB_TRAIN, NULL, BENCH_CPU, "OpenBLAS"},
    {"dense_cublaslt", OP_dense, NULL, BENCH_GPU, "cuBLASLt"},
    {"dense_back_cublaslt", OP_dense_back, NULL, BENCH_GPU, "cuBLASLt"},
    {"train_lstm", (size_t)OP_COUNT + JOB_TRAIN, "lstm", BENCH_GPU, NULL},
    {"train_lstm_cudnn", (size_t)OP_COUNT + JOB_TRAIN, "lstm", BENCH_GPU, "cuDNN"}};
/* Rows of a CPU that finds the cells of CSV, with each reader. */
static const char *const reader_rows[] = {"read_fast", "read_libcsv"};
enum {
    FIRST_LIBRARY = OP_COUNT + sizeof job_names / sizeof *job_names,
    FIRST_READER = FIRST_LIBRARY + sizeof library_rows / sizeof *library_rows,
    ALL_ROWS = FIRST_READER + sizeof reader_rows / sizeof *reader_rows
};
_Static_assert((int)ALL_ROWS <= (int)BENCH_ROWS, "a row more than there is room for");

const char *bench_name(size_t index)
{
    if (index < OP_COUNT)
        return op_name((enum op_id)index);
    if (index < FIRST_LIBRARY)
        return job_names[index - OP_COUNT];
    if (index < FIRST_READER)
        return library_rows[index - FIRST_LIBRARY].name;
    return index < ALL_ROWS ? reader_rows[index - FIRST_READER] : NULL;
}

static const double ALL_S = 45; /* no row begins later */

/* The row of a library, or of a preset; NULL: it is another row. */
static const struct library_row *library_row_at(size_t index)
{
    return index >= FIRST_LIBRARY && index < FIRST_READER ? &library_rows[index - FIRST_LIBRARY]
                                                          : NULL;
}

/* A model file has its jobs alone. */
static bool wanted(const struct bench_request *q, size_t index)
{
    const struct library_row *l = library_row_at(index);
    if (q->operation_count == 0)
        return !q->model || (index >= OP_COUNT && !(l && (l->preset || l->index < OP_COUNT)));
    for (size_t i = 0; i < q->operation_count; i++)
        if (strcmp(q->operations[i], bench_name(index)) == 0)
            return true;
    return false;
}

/* --- limits --- */

static void measure_limits(struct bench_task *t, enum bench_side side)
{
    static const double sizes[BENCH_COPIES] = {1 << 16, 1 << 20, 1 << 24, 1 << 28}; /* to far */
    struct bench_limits *l = &t->b->limits[side];
    double seconds = 0.15;
    if (!bench_claims(t->b, side))
        return;
    for (int i = 0; i < PEAK_COPY; i++)
        l->peaks[i] = peak_measure(t->machines[side], (enum peak_kind)i, 0, seconds);
    uint64_t room = machine_bytes_free(t->machines[side]);
    for (int i = 0; i < BENCH_COPIES; i++) {
        l->copy_bytes[i] = sizes[i];
        if (room && (double)room < 2 * sizes[i]) /* of this one nothing is known */
            continue;
        l->copies[i] = peak_measure(t->machines[side], PEAK_COPY, (size_t)sizes[i], seconds);
    }
    l->peaks[PEAK_COPY] = l->copies[BENCH_COPIES - 1];
}

/* --- machines --- */

static void about(struct bench *b, enum bench_side side, const struct machine *m)
{
    struct plan plan;
    struct machine_info info;
    struct cpu_info processor;
    machine_plan(m, 256, 1, &plan);
    machine_describe(m, &info);
    cpu_describe(&processor);
    b->has[side] = true;
    snprintf(b->device[side], sizeof b->device[side], "%s",
             side == BENCH_GPU ? info.device : processor.model);
    snprintf(b->precision[side], sizeof b->precision[side], "%s", plan.precision);
    if (side == BENCH_CPU)
        snprintf(b->backend.blas_core, sizeof b->backend.blas_core, "%s", plan.blas_core);
    b->emulated |= strcmp(plan.core, "emulated") == 0;
}

/* Opens the second of a CPU's two machines: one computes with our own products, the other with
 * OpenBLAS, if that is installed. */
static bool open_blas(struct bench_task *t, struct err *e)
{
    struct plan plan;
    struct cpu_info cpu;
    struct machine *own = t->machines[BENCH_CPU];
    cpu_describe(&cpu);
    if (!own || cpu.blas_reason[0])
        return true;
    machine_plan(own, 256, 1, &plan);
    snprintf(plan.blas, sizeof plan.blas, "none");
    snprintf(plan.blas_core, sizeof plan.blas_core, "none");
    machine_set_plan(own, &plan);
    t->libraries[BENCH_CPU] =
        machine_open(&(struct machine_options){.backend = "cpu", .blas = true}, e);
    return t->libraries[BENCH_CPU] != NULL;
}

/* Opens a second machine on the GPU, on which cuBLASLt and cuDNN compute what they can, if a row
 * asks for it. Without room for it, or without a library, its rows are left out. */
static void open_guests(struct bench_task *t, const struct backend_options *o)
{
    struct err e = {0};
    struct machine_info info;
    char device[16];
    bool asked = false;
    for (size_t i = FIRST_LIBRARY; i < FIRST_READER; i++)
        asked |= library_row_at(i)->side == BENCH_GPU && library_row_at(i)->library &&
                 wanted(t->q, i);
    if (!t->machines[BENCH_GPU] || !asked)
        return;
    const int level = log_mute();
    machine_describe(t->machines[BENCH_GPU], &info);
    snprintf(device, sizeof device, "%u", info.index);
    setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:2", 0); /* cuDNN serves with it alone */
    t->libraries[BENCH_GPU] = machine_open(
        &(struct machine_options){.backend = "cuda", .blas = true, .device = device,
                                  .memory_limit_gb = o->memory_limit_gb,
                                  .memory_fraction = o->memory_fraction,
                                  .precision = t->b->backend.precision_wish,
                                  .guests = GUESTS_CUBLASLT | GUESTS_CUDNN}, &e);
    log_setup(level, log_json());
    if (!t->libraries[BENCH_GPU])
        log_info("bench: no rows of cuBLASLt and cuDNN (%s)", e.what);
}

/* True: the library computes on the second machine of its side. */
static bool serves(struct bench_task *t, enum bench_side side, const char *library)
{
    struct plan plan;
    if (!t->libraries[side])
        return false;
    machine_plan(t->libraries[side], 256, 1, &plan);
    return side == BENCH_CPU || strstr(plan.guests, library);
}

/* auto: every backend there is. A named backend: that one alone. */
static bool open_machines(struct bench_task *t, const struct backend_options *o, struct err *e)
{
    struct selection *s = &t->b->backend;
    bool both = !s->machine;
    if (both)
        s->machine = "cuda";
    struct machine *m = select_open(s, o, true, e);
    if (!m)
        return false;
    enum bench_side side = select_is_gpu(s) ? BENCH_GPU : BENCH_CPU;
    t->machines[side] = m;
    if (side == BENCH_CPU && strcmp(s->requested, "dnn_cpu") != 0)
        snprintf(t->b->missing, sizeof t->b->missing, "%s", s->reason);
    if (side == BENCH_GPU && both)
        snprintf(s->reason, sizeof s->reason, "every machine there is");
    if (side == BENCH_GPU && both &&
        !(t->machines[BENCH_CPU] = machine_open(
              &(struct machine_options){.backend = "cpu", .blas = true}, e)))
        return false;
    if (!open_blas(t, e))
        return false;
    open_guests(t, o);
    for (int i = 0; i < BENCH_SIDES; i++)
        if (t->machines[i])
            about(t->b, (enum bench_side)i, t->machines[i]);
    return true;
}

/* --- rows --- */

/* An emulated device is a thousand times slower than any: its small rows show that they run. */
static bool too_slow(const struct bench *b, int side, int size)
{
    return !bench_claims(b, side) && size > BENCH_SMALL;
}

static bool figure(struct bench_task *t, size_t index, const char *preset, int size, int side,
                   struct bench_figure *f, struct err *e);

static bool library_figure(struct bench_task *t, size_t row, int size, int side,
                           struct bench_figure *f, struct err *e)
{
    const char *library = library_rows[row].library;
    struct machine *own = t->machines[side];
    if ((int)library_rows[row].side != side ||
        (library && !serves(t, (enum bench_side)side, library)))
        return true;
    if (library)
        t->machines[side] = t->libraries[side];
    bool good = figure(t, library_rows[row].index, library_rows[row].preset, size, side, f, e);
    t->machines[side] = own;
    if (library && !serves(t, (enum bench_side)side, library)) /* it has failed: not its time */
        f->made = false;
    return good;
}

static bool figure(struct bench_task *t, size_t index, const char *preset, int size, int side,
                   struct bench_figure *f, struct err *e)
{
    if (index >= FIRST_READER)
        return side != BENCH_CPU || !t->machines[side] ||
               bench_read(t, index > FIRST_READER, (enum bench_size)size, f, e);
    if (index >= FIRST_LIBRARY)
        return library_figure(t, index - FIRST_LIBRARY, size, side, f, e);
    if (!t->machines[side] || too_slow(t->b, side, size))
        return true;
    if (clock_now() > t->until) {
        t->b->left_out++;
        return true;
    }
    if (index < OP_COUNT)
        return bench_operation(t, (enum op_id)index, (enum bench_size)size, (enum bench_side)side,
                               f, e);
    return bench_job(t, (enum job)(index - OP_COUNT), preset, (enum bench_size)size,
                     (enum bench_side)side, f, e);
}

static bool all_rows(struct bench_task *t, struct err *e)
{
    struct bench *b = t->b;
    size_t indices[BENCH_ROWS];
    for (size_t i = 0; bench_name(i) && b->count < BENCH_ROWS; i++)
        if (wanted(t->q, i)) {
            indices[b->count] = i;
            b->rows[b->count++].name = bench_name(i);
        }
    for (int size = 0; size < BENCH_SIZES; size++) {
        if (t->q->size >= 0 && t->q->size != size)
            continue;
        for (unsigned r = 0; r < b->count; r++)
            for (int side = 0; side < BENCH_SIDES; side++)
                if (!figure(t, indices[r], NULL, size, side, &b->rows[r].figures[size][side], e))
                    return false;
    }
    return true;
}

/* The path that serves each preset, on each side. */
static bool all_paths(struct bench_task *t, struct err *e)
{
    struct bench *b = t->b;
    bool good = true;
    if (t->q->operation_count || t->q->model)
        return true;
    for (size_t i = 0; i < preset_count() && b->preset_count < BENCH_PRESETS && good; i++) {
        struct bench_preset *p = &b->presets[b->preset_count];
        if (presets[i].same_as)
            continue;
        p->name = presets[i].name;
        b->preset_count++;
        for (int side = 0; side < BENCH_SIDES; side++)
            for (int job = 0; t->machines[side] && job < BENCH_PATHS && good; job++)
                good = bench_path(t, p->name, job, (enum bench_side)side, &p->path[job][side], e);
    }
    return good;
}

static bool run(struct bench_task *t, const struct backend_options *o, struct err *e)
{
    if (t->q->model && !(t->file = modelfile_load(t->q->model, e)))
        return false;
    if (!open_machines(t, o, e))
        return false;
    for (int side = 0; side < BENCH_SIDES; side++)
        if (t->machines[side])
            measure_limits(t, (enum bench_side)side);
    t->until = clock_now() + ALL_S;
    return all_paths(t, e) && all_rows(t, e);
}

bool bench_run(const struct bench_request *q, struct bench *b, struct err *e)
{
    struct bench_task t = {.q = q, .b = b};
    struct backend_options o;
    struct setting *settings;
    size_t count;
    double began = clock_now();
    *b = (struct bench){0};
    stop_phase("benchmark", false);
    if (!backend_settings(NULL, JOB_TRAIN, &q->command, &o, &settings, &count, e))
        return false;
    bool good = select_backend(&o, JOB_TRAIN, settings, count, &b->backend, e);
    if (good) {
        blas_prepare(o.threads ? (unsigned)o.threads : threads_available(), BLAS_OPENBLAS);
        threads_start((unsigned)o.threads);
        b->backend.threads = threads_count();
        good = run(&t, &o, e);
    }
    for (int side = 0; side < BENCH_SIDES; side++) {
        machine_close(t.machines[side]);
        machine_close(t.libraries[side]);
    }
    if (t.file)
        modelfile_free(t.file);
    settings_free(settings, count);
    backend_release(&o);
    b->seconds = clock_now() - began;
    if (good && b->left_out)
        log_note("%u figures are left out: there was no time for them; --operation and --size "
                 "choose rows", b->left_out);
    return good;
}
