/* bench_job.c - the jobs of jobs.def as rows of the benchmark: steps of training, batches of
 * answers, and answers with their metrics, of networks of our own or of a model file. The records
 * are made up: what they hold does not change the work. */
#include <stdio.h>
#include <string.h>

#include "answer/stream/serve.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "check/bench_parts.h"
#include "measure/metric.h"
#include "measure/probability.h"
#include "measure/tally.h"

enum { NUMBERS = 28, CLASSES = 2, RECORDS = 45056, STEPS = 7 /* a part of NUMBERS / 2 */ };

struct work_net {
    struct machine *machine;
    const char *preset; /* NULL: a network for the size */
    struct architecture *own_architecture; /* NULL: the architecture is a file's */
    const struct architecture *architecture;
    struct loss_options loss;
    struct optim_options optim;
    struct features features, *own; /* own: a model file's */
    uint32_t indicators[NUMBERS]; /* of a sequence */
    struct source source;
    unsigned char *records[1];
    struct plan plan;
    struct network *network;
    struct stepper *stepper;
    uint32_t rows, steps, next; /* of a batch; batches of an epoch; the next of them */
    uint32_t epoch;
    bool training;
    struct hyper *table;
    real *logits;
    double *answers; /* probabilities, or values */
    int32_t *labels;
    double *targets;
};

/* --- the data to compute on --- */

static void fill_record(const struct work_net *w, unsigned char *at, uint64_t i)
{
    const struct rowfmt *f = &w->features.format;
    uint32_t outputs = w->features.outputs;
    float one = 1, x = 0;
    for (uint32_t k = 0; k < f->numbers; k++) {
        x = (float)rng_normal(1, i * f->numbers + k, 0, 0, RNG_TEST);
        memcpy(at + sizeof x * k, &x, sizeof x);
    }
    for (uint32_t k = 0; k < f->categories; k++) {
        uint64_t count = w->features.categories[k].count;
        int32_t id = (int32_t)(rng_bits(2, i * f->categories + k, 0, 0, RNG_TEST) % count);
        memcpy(at + f->at_category + sizeof id * k, &id, sizeof id);
    }
    int32_t label = (int32_t)(rng_bits(3, i, 0, 0, RNG_TEST) % (outputs > 1 ? outputs : 2));
    memcpy(at + f->at_target, outputs > 1 ? (const void *)&label : (const void *)&x, sizeof x);
    memcpy(at + f->at_weight, &one, sizeof one);
}

static void make_records(struct work_net *w)
{
    uint64_t count = (uint64_t)w->steps * w->rows;
    size_t stride = w->features.format.stride;
    w->records[0] = mem_zero(count, stride);
    for (uint64_t i = 0; i < count; i++)
        fill_record(w, w->records[0] + i * stride, i);
    w->source = (struct source){.rows = {w->features.format, w->records, 63, count},
                                .count = count,
                                .shuffle = w->training,
                                .classes = w->features.outputs > 1 ? w->features.outputs : 0,
                                .features = &w->features};
}

static bool make_model(struct bench_task *t, struct work_net *w, uint32_t width, struct err *e)
{
    char text[160];
    if (!opt_read(loss_options_table, NULL, NULL, "", &w->loss, e) ||
        !opt_read(optim_options_table, NULL, NULL, "", &w->optim, e))
        return false;
    if (t->file && !w->preset) {
        w->own = encoder_features(t->file->encoders[0]);
        w->features = *w->own;
        w->architecture = t->file->members[0].architecture;
    } else {
        if (w->preset)
            snprintf(text, sizeof text, "{\"preset\": \"%s\"%s}", w->preset,
                     preset_find(w->preset)->small ? preset_find(w->preset)->small : "");
        else
            snprintf(text, sizeof text,
                     "{\"preset\": \"mlp\", \"hidden\": [%u, %u%s%.0u], \"dropout\": 0}", width,
                     width, width > 128 ? ", " : "", width > 128 ? width : 0);
        w->architecture = w->own_architecture = architecture_parse(text, "bench", e);
        if (!w->architecture)
            return false;
        w->features = (struct features){.format = rowfmt_make(width > 128 ? NUMBERS : NUMBERS / 2,
                                                              0), .outputs = CLASSES};
    }
    if (w->preset && preset_find(w->preset)->series) {
        w->features.steps = STEPS;
        w->features.indicators = w->indicators;
        w->features.indicator_count = w->features.format.numbers;
        for (uint32_t i = 0; i < w->features.format.numbers; i++)
            w->indicators[i] = i;
    }
    return loss_read(&w->loss, NULL, w->features.outputs > 1, e) &&
           optim_read(&w->optim, NULL, e);
}

static void set_weights(struct bench_task *t, struct work_net *w)
{
    const struct model *m = network_model(w->network);
    real *params = mem_zero(m->params + 1, sizeof *params);
    real *buffers = mem_zero(m->buffers + 1, sizeof *buffers);
    struct network_state state = {.params = params, .buffers = buffers, .now = {.seed = 1}};
    if (t->file && !w->preset) {
        memcpy(params, t->file->members[0].params, m->params * sizeof *params);
        if (m->buffers)
            memcpy(buffers, t->file->members[0].buffers, m->buffers * sizeof *buffers);
    } else {
        model_init(m, 1, 0, params, buffers);
    }
    network_set(w->network, &state);
    mem_free(params);
    mem_free(buffers);
}

static struct network_options training_options(const struct work_net *w)
{
    bool gpu = !machine_in_place(w->machine);
    return (struct network_options){.architecture = w->architecture,
                                    .features = &w->features, .rows = w->rows,
                                    .whole = w->rows, .micro = 1, .steps = w->steps,
                                    .training = true,
                                    .own_memory = gpu, .answers = gpu ? 1 : 0, .loss = &w->loss,
                                    .optim = &w->optim};
}

/* Answers by the way that predict takes (serve.c), in batches of its size. */
static bool open_net(struct bench_task *t, struct work_net *w, enum bench_size size, bool training,
                     struct err *e)
{
    uint32_t width;
    bench_shape(t, size, &w->rows, &width);
    w->training = training;
    if (!make_model(t, w, width, e))
        return false;
    w->steps = w->rows * 4 > RECORDS ? 4 : RECORDS / w->rows;
    if (t->q->iterations > 0 && t->q->iterations < w->steps) /* at most the number asked for */
        w->steps = (uint32_t)t->q->iterations;
    w->next = w->steps;
    make_records(w);
    struct network_options o =
        training ? training_options(w)
                 : serve_network(w->architecture, &w->features, !machine_in_place(w->machine));
    if (!training &&
        !serve_rows(&o, w->machine, w->source.count, t->q->command.batch_size, e))
        return false;
    network_plan(&w->features, w->machine, o.rows, 1, &w->plan);
    if (training)
        network_plan_tracks(w->architecture, &w->features, w->machine, &w->plan);
    o.rows = w->plan.batch;
    o.micro = training ? w->plan.micro : o.micro;
    o.tracks = w->plan.tracks;
    machine_set_plan(w->machine, &w->plan);
    w->network = network_new(&o, w->machine, &w->plan, e);
    if (!w->network)
        return false;
    w->stepper = step_open(w->network, w->machine);
    log_info("bench: %s of %u rows: in batches of %u, of whose answers the device keeps %llu",
             training ? "steps" : "answers", w->rows, o.rows,
             (unsigned long long)step_room(w->stepper));
    set_weights(t, w);
    return !training || network_source(w->network, &w->source, e);
}

/* The table of learning rates, room for answers, and the truth. */
static void make_rooms(struct work_net *w)
{
    uint64_t count = w->source.count;
    uint32_t outputs = w->features.outputs;
    w->table = mem_zero(w->steps, sizeof *w->table);
    for (uint32_t i = 0; i < w->steps; i++)
        w->table[i] = (struct hyper){1e-3, 1e-2, 0};
    w->logits = mem_zero(count * outputs, sizeof *w->logits);
    w->answers = mem_zero(count * outputs, sizeof *w->answers);
    w->labels = mem_zero(count, sizeof *w->labels);
    w->targets = mem_zero(count, sizeof *w->targets);
    for (uint64_t i = 0; i < count; i++) {
        const unsigned char *at = rows_at(&w->source.rows, i);
        float target;
        memcpy(&w->labels[i], at + w->features.format.at_target, sizeof *w->labels);
        memcpy(&target, at + w->features.format.at_target, sizeof target);
        w->targets[i] = outputs > 1 ? 0 : (double)target;
    }
}

static void close_net(struct work_net *w)
{
    step_close(w->stepper);
    network_free(w->network);
    opt_release(loss_options_table, &w->loss);
    opt_release(optim_options_table, &w->optim);
    architecture_free(w->own_architecture);
    if (w->own)
        features_free(w->own);
    void *const rooms[] = {w->records[0], w->table,  w->logits,
                           w->answers,    w->labels, w->targets};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        mem_free(rooms[i]);
}

/* --- the jobs --- */

static bool train(void *context, uint32_t times, struct err *e)
{
    struct work_net *w = context;
    while (times > 0) {
        if (w->next == w->steps) {
            if (!network_epoch(w->network, w->epoch++, w->table, w->steps, e))
                return false;
            w->next = 0;
        }
        uint32_t left = w->steps - w->next, now = times < left ? times : left;
        if (!step_train(w->stepper, now, e))
            return false;
        w->next += now;
        times -= now;
    }
    return true;
}

static bool predict(void *context, uint32_t times, struct err *e)
{
    struct work_net *w = context;
    for (uint64_t left = (uint64_t)times * w->rows; left > 0;) {
        uint64_t now = left < w->source.count ? left : w->source.count;
        if (!step_answer(w->stepper, &w->source, 0, now, w->logits, e))
            return false;
        left -= now;
    }
    return true;
}

static bool evaluate(void *context, uint32_t times, struct err *e)
{
    struct work_net *w = context;
    uint32_t classes = w->source.classes;
    struct tally *tally =
        tally_new(classes == 0 ? TASK_REGRESSION : classes == 2 ? TASK_BINARY : TASK_MULTICLASS,
                  classes, TALLY_ALL);
    struct scores s = {.task = tally->task, .classes = classes, .probability = w->answers,
                       .label = w->labels, .value = w->answers, .target = w->targets};
    struct metrics metrics;
    bool good = true;
    for (uint64_t left = (uint64_t)times * w->rows; good && left > 0; left -= s.rows) {
        s.rows = left < w->source.count ? left : w->source.count;
        good = step_answer(w->stepper, &w->source, 0, s.rows, w->logits, e);
        if (classes)
            answer_probabilities(w->logits, s.rows, classes, w->answers);
        else
            answer_values(NULL, w->logits, s.rows, w->features.outputs, w->answers);
        tally_add(tally, &s);
    }
    metrics_of(tally, &metrics);
    tally_free(tally);
    return good;
}

/* Operations and bytes of one batch: the way back takes twice the way forward, but for the dx of
 * the first layer; an optimiser reads and writes parameters and two states, and reads gradients. */
static struct bench_size_of size_of(const struct work_net *w)
{
    const struct model *m = network_model(w->network);
    const struct layer *first = m->layers[0];
    double forward = (double)m->flops, params = (double)m->trained * sizeof(real);
    double spared = first->type->takes_ids ? 2.0 * first->in * first->out : 0;
    double rows = w->rows, records = rows * w->features.format.stride;
    if (w->training)
        return (struct bench_size_of){rows, rows * (3 * forward - spared), records + 7 * params};
    return (struct bench_size_of){rows, rows * forward, records + params};
}

/* The number format of most of its arithmetic. */
static const char *precision_of(const struct work_net *w)
{
    bool planned = w->training && (machine_in_place(w->machine) || network_rounds(w->network));
    return planned ? w->plan.precision : "fp32";
}

static bench_work *const works[] = {
#define JOB(id, name, variable, what) name,
#define JOB_OF_OTHERS(id, name, variable, what)
#include "config/jobs.def"
#undef JOB
};

bool bench_job(struct bench_task *t, enum job job, const char *preset, enum bench_size size,
               enum bench_side side, struct bench_figure *f, struct err *e)
{
    struct work_net w = {.machine = t->machines[side], .preset = preset};
    bool good = open_net(t, &w, size, job == JOB_TRAIN, e);
    if (good) {
        make_rooms(&w);
        struct bench_size_of of = size_of(&w);
        good = bench_time(t, side, works[job], &w, &of, precision_of(&w), f, e);
    }
    close_net(&w);
    return good;
}

bool bench_path(struct bench_task *t, const char *preset, bool answers, enum bench_side side,
                struct bench_path *p, struct err *e)
{
    enum { PLAYS = 3 }; /* the first is plain, the second recorded */
    struct work_net w = {.machine = t->machines[side], .preset = preset};
    bool good = open_net(t, &w, BENCH_SMALL, !answers, e);
    if (good) {
        make_rooms(&w);
        for (int i = 0; i < PLAYS && good; i++)
            good = answers ? predict(&w, 1, e) : train(&w, 1, e);
        p->stacks = model_stacks(network_model(w.network));
        p->made = good && step_path(w.stepper, answers, &p->path);
    }
    close_net(&w);
    return good;
}
