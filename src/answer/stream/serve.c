/* serve.c - see serve.h. A thousand rows must be answered in a few milliseconds from a cold start,
 * so nothing here is done before it is needed: threads, machine and network wait for the first
 * rows. */
#include "answer/stream/serve.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/process/device_thread.h"
#include "base/process/thread.h"
#include "choose/memory.h"
#include "measure/threshold.h"

#define BATCH_MOST 1024u
#define BATCH_LEAST 32u
#define ACTIVATIONS_MOST                                                                           \
    ((uint64_t)8 << 20) /* bytes: a batch stays small beside the 64 MiB that predict may take */
#define THREADS_BYTES ((uint64_t)512 << 10) /* of CSV: below, a thread costs more than it gives */
#define THREADS_FLOPS 1e8

/* The members, before their networks are made. */
static void make_members(struct serve *s)
{
    const struct modelfile *f = s->file;
    double sum = 0;
    s->member_count = f->member_count;
    s->members = mem_zero(s->member_count, sizeof *s->members);
    s->weights = mem_alloc(s->member_count, sizeof *s->weights);
    for (uint32_t i = 0; i < s->member_count; i++)
        sum += f->members[i].weight;
    s->codings = mem_alloc(s->member_count, sizeof *s->codings);
    for (uint32_t i = 0; i < s->member_count; i++) {
        s->weights[i] = f->members[i].weight / sum;
        s->codings[i] = &modelfile_encoder(f, i)->coding;
    }
}

bool serve_open(struct serve *s, const struct rows_request *q, enum job job, struct err *e)
{
    *s = (struct serve){.job = job, .beside = true};
    s->file = modelfile_load(q->model, e);
    if (!s->file)
        return false;
    s->schema = s->file->schema;
    s->decision = decision_in_use(&s->file->decision);
    s->has_options = backend_settings(s->file->config, job, &q->overrides, &s->options,
                                      &s->settings, &s->setting_count, e);
    if (!s->has_options ||
        !select_backend(&s->options, job, s->settings, s->setting_count, &s->backend, e)) {
        serve_close(s);
        return false;
    }
    s->encoders = s->file->encoders;
    s->encoder_count = s->file->encoder_count;
    s->features = mem_zero(s->encoder_count, sizeof *s->features);
    for (uint32_t i = 0; i < s->encoder_count; i++) {
        const size_t stride = s->encoders[i]->format.stride;
        s->features[i] = encoder_features(s->encoders[i]);
        s->stride = stride > s->stride ? stride : s->stride;
    }
    s->outputs = s->features[0]->outputs;
    make_members(s);
    return true;
}

bool serve_threshold(struct serve *s, const double *threshold, struct err *e)
{
    if (!threshold)
        return true;
    if (s->schema->task != TASK_BINARY)
        return err_set(e, ERR_OPTION_CONFLICT, "--threshold is for a model of task binary, and "
                                               "this one's is %s", task_names[s->schema->task]);
    if (!(*threshold >= 0 && *threshold <= 1))
        return err_set(e, ERR_OPTION_VALUE, "--threshold: %.9g is no probability from 0 to 1",
                       *threshold);
    s->decision.threshold = *threshold;
    return true;
}

bool serve_take(struct serve *s, const struct rows_request *q, struct err *e)
{
    for (uint32_t i = 0; i < s->encoder_count; i++)
        reading_apply(&q->reading, s->encoders[i]->schema);
    if (q->part)
        threads_start((unsigned)s->options.threads);
    return !q->part || held_find(&s->held, s->file, q->part, q->inputs, q->input_count, e);
}

static struct features *features_of(const struct serve *s, uint32_t member)
{
    return s->features[s->file->members[member].encoder];
}

/* Operations of a record's answer: its products. */
static double answer_flops(const struct serve *s)
{
    double flops = 0;
    for (uint32_t i = 0; i < s->member_count; i++)
        flops += (double)s->file->members[i].flops;
    return flops;
}

/* Chooses the machine for `auto`. The rows of a file are estimated by its bytes, seven a cell. */
static void decide(struct serve *s, uint64_t records, uint64_t bytes)
{
    double rows = (double)records, fill = (double)bytes / (7.0 * (double)s->schema->column_count);
    rows = rows > fill ? rows : fill;
    struct select_work work = {.rows = rows,
                               .flops = answer_flops(s),
                               .steps = rows / BATCH_MOST,
                               .bytes = rows * (double)s->encoders[0]->format.stride};
    select_decide(&s->backend, &work);
}

void serve_threads(struct serve *s, uint64_t records, uint64_t bytes, bool piped)
{
    if (bytes >= THREADS_BYTES || answer_flops(s) * (double)records >= THREADS_FLOPS)
        threads_start((unsigned)s->options.threads);
    s->backend.threads = threads_count();
    if (piped && s->backend.deterministic)
        select_piped(&s->backend);
    if (!s->backend.machine)
        decide(s, records, bytes);
}

bool serve_overlaps(const struct serve *s)
{
    return s->beside && strcmp(s->backend.machine ? s->backend.machine : "cpu", "cpu") != 0;
}

/* Closes the networks and their machine. */
static void close_machine(void *serve)
{
    struct serve *s = serve;
    memory_note(s->machine);
    for (uint32_t i = 0; i < s->member_count; i++) {
        step_close(s->members[i].stepper);
        network_free(s->members[i].network);
    }
    machine_close(s->machine);
}

static void forget_machine(struct serve *s)
{
    for (uint32_t i = 0; i < s->member_count; i++)
        s->members[i] = (struct serve_member){NULL, NULL};
    s->machine = NULL;
}

/* A device whose close hangs keeps the memory: its thread may still read it. */
static void leave_machine(struct serve *s, bool device)
{
    struct err e = {0};
    if (!device)
        close_machine(s);
    else if (s->machine)
        device_thread_run(close_machine, s, &e);
    forget_machine(s);
}

struct network_options serve_network(const struct architecture *a,
                                     const struct features *features, bool gpu)
{
    return (struct network_options){.architecture = a, .features = features, .micro = 1,
                                    .own_memory = gpu, .streams = gpu,
                                    .answers = gpu ? SERVE_ANSWERS : 0};
}

bool serve_rows(struct network_options *o, struct machine *m, uint64_t count, int64_t chosen,
                struct err *e)
{
    uint32_t rows = BATCH_MOST;
    while (rows > BATCH_LEAST && rows / 2 >= count)
        rows /= 2;
    if (chosen > 0)
        rows = (uint32_t)chosen;
    o->rows = rows;
    struct network_bytes need;
    while (chosen <= 0 && rows > BATCH_LEAST) {
        if (!network_need(o, m, &need, e))
            return false;
        if (need.activations + need.scratch <= ACTIVATIONS_MOST)
            break;
        o->rows = rows /= 2;
    }
    return true;
}

static bool make_network(struct serve *s, struct serve_member *member,
                         const struct network_options *o, struct err *e)
{
    machine_plan(s->machine, o->rows, 1, &s->plan);
    machine_set_plan(s->machine, &s->plan);
    snprintf(s->backend.blas_core, sizeof s->backend.blas_core, "%s", s->plan.blas_core);
    struct network *n = member->network = network_new(o, s->machine, &s->plan, e);
    if (n && network_answer_source(n, &s->now.source, e)) /* it has room for rows */
        return true;
    network_free(n);
    member->network = NULL;
    machine_forgive(s->machine);
    return false;
}

/* A device without room for the batch gets a smaller one. */
static bool fit_network(struct serve *s, struct serve_member *member, struct network_options *o,
                        struct err *e)
{
    while (!make_network(s, member, o, e)) {
        if (e->id != ERR_GPU_MEMORY || o->rows <= BATCH_LEAST)
            return false;
        err_clear(e);
        log_line("dnn_gpu: out of memory; batch %u -> %u", o->rows, o->rows / 2);
        o->rows /= 2;
    }
    return true;
}

static bool open_network(struct serve *s, uint32_t i, uint64_t count, struct err *e)
{
    struct serve_member *member = &s->members[i];
    struct member *from = &s->file->members[i];
    bool gpu = select_is_gpu(&s->backend);
    struct network_options o = serve_network(from->architecture, features_of(s, i), gpu);
    o.beside = i ? s->members[i - 1].network : NULL;
    if (machine_in_place(s->machine)) {
        o.params = from->params;
        o.buffers = from->buffers;
    }
    s->now.source.features = features_of(s, i);
    if (!serve_rows(&o, s->machine, count > s->expected ? count : s->expected,
                    s->options.predict_batch_size, e) ||
        !fit_network(s, member, &o, e))
        return false;
    member->stepper = step_open(member->network, s->machine);
    struct network_state state = {0};
    if (!o.params)
        state = (struct network_state){.params = from->params, .buffers = from->buffers};
    network_set(member->network, &state);
    return true;
}

static bool open_networks(struct serve *s, uint64_t count, struct err *e)
{
    s->machine = select_open(&s->backend, &s->options, false, e);
    bool good = s->machine != NULL;
    for (uint32_t i = 0; good && i < s->member_count; i++)
        good = open_network(s, i, count, e);
    if (!good)
        return false;
    memory_note(s->machine);
    select_say_loaded(&s->backend, s->machine);
    if (s->job == JOB_PREDICT && select_is_gpu(&s->backend))
        log_note("a GPU answers: processes that share it need memory for each, and workers of a "
                 "cluster need a compatible GPU of their own (`dnn gpucheck`)");
    return true;
}

static bool answer(struct answering *a, struct err *e)
{
    struct serve *s = a->s;
    const struct features *first = s->features[0];
    const struct serve_member *last = &s->members[s->member_count - 1];
    a->chunk = a->records;
    a->source = (struct source){
        .rows = {.format = s->encoders[0]->format, .chunks = &a->chunk, .shift = 63,
                 .count = a->count},
        .count = a->reads,
        .classes = s->schema->task == TASK_REGRESSION ? 0 : s->outputs,
        .features = first,
        .index = a->windows,
        .begins = a->begins,
        .steps = a->windows ? first->window : 0,
    };
    const uint64_t answers = a->windows ? features_answers(first) : 1;
    bool good = last->stepper || open_networks(s, a->reads, e);
    for (uint32_t i = 0; good && i < s->member_count; i++) {
        a->chunk = a->records + s->file->members[i].encoder * a->count * s->stride;
        a->source.features = features_of(s, i);
        a->source.rows.format = a->source.features->format;
        good = step_answer(s->members[i].stepper, &a->source, 0, a->reads,
                           a->logits + i * a->reads * answers * s->outputs, e);
    }
    return good;
}

struct answer_mean serve_mean(const struct serve *s, const real *logits, uint64_t rows)
{
    return (struct answer_mean){
        .logits = logits, .weights = s->weights, .rows = rows, .members = s->member_count,
        .values = schema_values(s->schema),
        .middle = loss_middle(s->schema->quantiles, s->schema->quantile_count),
        .codings = s->codings, .calibration = &s->file->calibration,
        .conformal = s->file->conformal.rule ? &s->file->conformal : NULL};
}

static void answer_now(void *answering)
{
    struct answering *a = answering;
    a->good = answer(a, &a->e);
}

/* After a fault of the device, or without room on it, the CPU answers, these records first. After a
 * hang it does not: the driver may hold this process as well. */
static bool answer_instead(struct serve *s, struct err *e)
{
    const struct answering *a = &s->now;
    if (!select_may_use_cpu(&s->backend, &s->options, e))
        return false;
    if (e->id == ERR_MACHINE_FAULT && e->cause == FAULT_HANG)
        return err_help(e, "--backend dnn_cpu answers on the CPU; the process may have to be "
                           "killed with -9");
    if (a->begins && !a->begins[0])
        return err_help(e, "the state that its group's windows passed on is lost with the GPU: "
                           "answer on the CPU (--backend dnn_cpu)");
    bool device = serve_overlaps(s);
    select_use_cpu(&s->backend, e, "continuing on the CPU at the first row without an answer");
    err_clear(e);
    leave_machine(s, device);
    return answer(&s->now, e);
}

void serve_begin(struct serve *s, unsigned char *records, uint64_t count, real *logits)
{
    s->now = (struct answering){
        .s = s, .records = records, .count = count, .reads = count, .logits = logits};
    s->now.beside = serve_overlaps(s) && s->machine && device_thread_begin(answer_now, &s->now);
}

bool serve_end(struct serve *s, struct err *e)
{
    struct answering *a = &s->now;
    if (!a->beside) {
        if (!s->backend.machine) /* serve_threads was not called: estimate by these records */
            decide(s, a->count, 0);
        if (serve_overlaps(s) && !s->machine)
            select_lost(&s->backend, &s->options);
        a->beside = serve_overlaps(s) && device_thread_begin(answer_now, a);
        if (!a->beside)
            answer_now(a);
    }
    if (a->beside && !device_thread_end(e)) {
        forget_machine(s); /* that thread never comes back: its machine is left to it */
        a->good = false;
    } else if (!a->good) {
        *e = a->e;
    }
    a->beside = false;
    return a->good || answer_instead(s, e);
}

bool serve_answer(struct serve *s, unsigned char *records, uint64_t count, real *logits,
                  struct err *e)
{
    return serve_answer_windows(s, records, count, NULL, NULL, count, logits, e);
}

bool serve_answer_windows(struct serve *s, unsigned char *records, uint64_t count,
                          const uint32_t *windows, const uint32_t *begins, uint64_t window_count,
                          real *logits, struct err *e)
{
    s->now = (struct answering){.s = s,
                                .records = records,
                                .count = count,
                                .reads = window_count,
                                .windows = windows,
                                .begins = s->features[0]->carry ? begins : NULL,
                                .logits = logits};
    return !window_count || serve_end(s, e);
}

void serve_close(struct serve *s)
{
    leave_machine(s, serve_overlaps(s));
    for (uint32_t i = 0; s->features && i < s->encoder_count; i++)
        features_free(s->features[i]);
    mem_free(s->features);
    mem_free(s->codings);
    held_free(&s->held);
    modelfile_free(s->file);
    mem_free(s->members);
    mem_free(s->weights);
    settings_free(s->settings, s->setting_count);
    if (s->has_options)
        backend_release(&s->options);
    memset(s, 0, sizeof *s);
}

struct criterion serve_criterion(const struct serve *s)
{
    struct criterion c = {.loss = modelfile_loss(s->file),
                          .classes = s->schema->task == TASK_REGRESSION ? 0 : s->outputs,
                          .class_weight = s->file->class_weight,
                          .coding = &s->encoders[0]->coding};
    c.loss.label_smoothing = 0;
    return c;
}
