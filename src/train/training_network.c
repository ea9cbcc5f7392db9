/* training_network.c - the network of a training on its machine, and what is tried where a GPU has
 * no room for it: smaller micro-batches, then rows that pass through, then the CPU. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/stop.h"
#include "choose/memory.h"
#include "config/variable.h"
#include "train/training.h"

enum { MICRO_LEAST = 32 }; /* rows */

struct network_options training_network(const struct training *t)
{
    const struct train_options *o = &t->config->train;
    const uint64_t *rows = t->table->count;
    bool gpu = select_is_gpu(&t->backend);
    uint64_t answers = rows[PART_VALID] > rows[PART_TEST] ? rows[PART_VALID] : rows[PART_TEST];
    return (struct network_options){.model = &t->config->model,
                                    .features = t->features,
                                    .rows = t->plan.batch,
                                    .micro = t->plan.micro,
                                    .whole = t->batch * t->micro,
                                    .steps = (uint32_t)t->steps,
                                    .training = true,
                                    .own_memory = gpu,
                                    .answers = gpu ? answers + 1 : 0,
                                    .keeps_best = gpu,
                                    .loss = &o->loss,
                                    .optim = &o->optimizer,
                                    .clip_norm = o->clip_norm};
}

static bool no_room(const struct training *t, const struct network_options *o, uint64_t need,
                    uint64_t left, struct err *e)
{
    struct machine_info gpu;
    machine_describe(t->machine, &gpu);
    err_set(e, ERR_GPU_MEMORY,
            "GPU %u (%s) out of memory: a network with micro-batches of %u row%s needs %s, and it "
            "may have %s: %s of %s are free%s",
            gpu.index, text_quote_z(gpu.device), o->rows, o->rows == 1 ? "" : "s",
            text_bytes(need), text_bytes(left), text_bytes(gpu.free), text_bytes(gpu.total),
            left < gpu.free ? ", within backend.memory_limit_gb and memory_fraction" : "");
    return err_help(e, "lower train.batch_size or the width of the layers, wait until others have "
                       "left the card, or let the CPU train: --backend dnn_cpu");
}

static bool enough_memory(const struct training *t, const struct network_options *o, struct err *e)
{
    struct network_bytes need;
    if (!network_need(o, t->machine, &need, e))
        return false;
    uint64_t free_bytes = machine_bytes_free(t->machine);
    if (free_bytes && need.total > free_bytes && select_is_gpu(&t->backend))
        return no_room(t, o, need.total, free_bytes, e);
    if (free_bytes && need.total > free_bytes) {
        err_set(e, ERR_MEMORY, "the network needs %s of memory and %s are left",
                text_bytes(need.total), text_bytes(free_bytes));
        return err_help(e, "lower train.batch_size (now %lld) or the width of the layers",
                        (long long)o->rows);
    }
    return true;
}

static bool network_try(struct training *t, bool stays, struct err *e)
{
    struct network_options o = training_network(t);
    o.stays = stays;
    if (!enough_memory(t, &o, e))
        return false;
    t->network = network_new(&o, t->machine, &t->plan, e);
    if (!t->network)
        return false;
    t->stepper = step_open(t->network, t->machine);
    step_ask(t->stepper, stop_wanted);
    t->score.stepper = t->stepper;
    return true;
}

static void network_drop(struct training *t)
{
    step_close(t->stepper);
    network_free(t->network);
    t->score.stepper = t->stepper = NULL;
    t->network = NULL;
    machine_forgive(t->machine);
}

/* batch_norm takes its statistics over a micro-batch: other micro-batches are other mathematics. */
static bool takes_statistics(const struct training *t)
{
    struct err e = {0};
    struct model *m = model_plan(&t->config->model, t->features, 1, 1, false, &e);
    bool takes = m && m->buffers > 0;
    model_free(m);
    return takes;
}

/* Into micro-batches of as many rows at most. The step's rows stay what they are, and the sum over
 * them is the same however they are split; the last micro-batch may have fewer. */
static void split(struct training *t, uint32_t most)
{
    uint32_t whole = t->batch * t->micro;
    uint32_t micro = (whole + most - 1) / most;
    machine_plan(t->machine, (whole + micro - 1) / micro, micro, &t->plan);
    machine_obey(t->machine, &t->plan);
}

/* GPU_BATCH_SIZE, where t's micro-batches have more rows; 0: they have not. */
static int64_t size_to_keep_to(const struct training *t)
{
    const char *word = variable("GPU_BATCH_SIZE");
    int64_t most;
    bool any = select_is_gpu(&t->backend) && word && text_to_int(word, &most) && most >= 1;
    return any && t->plan.batch > most ? most : 0;
}

void training_keep_to_size(struct training *t)
{
    int64_t most = size_to_keep_to(t);
    uint32_t wished = t->plan.batch;
    if (!most)
        return;
    if (takes_statistics(t)) {
        log_line("dnn_gpu: GPU_BATCH_SIZE=%lld is not kept to: batch_norm takes its statistics "
                 "over the micro-batch of %u rows, which is not split", (long long)most, wished);
        return;
    }
    split(t, (uint32_t)most);
    log_line("dnn_gpu: GPU_BATCH_SIZE=%lld; micro-batch %u -> %u", (long long)most, wished,
             t->plan.batch);
}

void training_say_kept(const struct training *t, const struct checkpoint *c)
{
    const char *wish = t->backend.precision_wish;
    char room[512];
    if (!select_is_gpu(&t->backend) || strcmp(wish, "auto") == 0 ||
        strcmp(wish, t->plan.precision) == 0 ||
        !resume_asks_other(c, t->config_text, "backend.precision"))
        return;
    log_warning("backend.precision \"%s\" is not kept to: \"%s\" was computed in %s, and a "
                "training goes on as it began; without --resume it starts afresh in the other",
                text_quote_z(wish), training_quoted(t->checkpoint, room), t->plan.precision);
}

/* The CPU takes the place of a GPU that has no room. */
static bool network_on_cpu(struct training *t, struct err *e)
{
    select_fall_back(&t->backend, e, "using CPU");
    err_clear(e);
    machine_close(t->machine);
    t->machine = select_open(&t->backend, &t->config->backend, true, e);
    if (!t->machine)
        return false;
    machine_plan(t->machine, t->batch, t->micro, &t->plan);
    machine_obey(t->machine, &t->plan);
    return network_try(t, false, e);
}

/* Makes it with its rows, where there is no room in micro-batches of half as many rows, and of half
 * as many, down to `least`. False: it cannot be had so. */
static bool network_halved(struct training *t, bool stays, uint32_t least, struct err *e)
{
    for (uint32_t half;; split(t, half)) {
        if (network_try(t, stays, e) && network_source(t->network, &t->source, e))
            return true;
        network_drop(t);
        half = (t->plan.batch + 1) / 2;
        if (e->id != ERR_GPU_MEMORY || half == t->plan.batch || half < least)
            return false;
        err_clear(e);
    }
}

/* First the table stays, beside micro-batches that are halved, though not below MICRO_LEAST: a step
 * of smaller ones takes longer than the table to pass through. Then it passes through, beside
 * micro-batches as large as they were meant to be, or as large as there is room for. */
static bool network_fit(struct training *t, struct err *e)
{
    uint32_t wished = t->plan.batch, least = wished < MICRO_LEAST ? wished : MICRO_LEAST;
    bool gpu = select_is_gpu(&t->backend), statistics = gpu && takes_statistics(t);
    if (network_halved(t, gpu, gpu && !statistics ? least : wished, e))
        return true;
    if (!gpu || e->id != ERR_GPU_MEMORY)
        return false;
    if (statistics)
        log_line("dnn_gpu: out of memory; batch_norm takes its statistics over the micro-batch of "
                 "%u rows, which is not halved", wished);
    else
        split(t, wished);
    err_clear(e);
    return network_halved(t, false, statistics ? wished : 1, e);
}

/* --- whether there would be room --- */

static bool counted(const struct training *t, bool streams, uint64_t room)
{
    struct network_options o = training_network(t);
    struct network_bytes need;
    struct err e = {0};
    o.streams = streams && o.own_memory;
    if (!network_need(&o, t->machine, &need, &e))
        return false;
    return !room || need.total + (o.own_memory ? network_source_bytes(&o, &t->source) : 0) <= room;
}

/* As network_fit goes: halved ones beside the table, down to the smallest, come before whole ones
 * beside which it passes through. */
bool training_fits(const struct training *t, int64_t batch_size, const struct plan *opened,
                   uint64_t room)
{
    struct training other = *t;
    bool gpu = select_is_gpu(&t->backend), statistics = gpu && takes_statistics(t);
    training_size(&other, batch_size);
    machine_obey(t->machine, opened);
    machine_plan(t->machine, other.batch, other.micro, &other.plan);
    int64_t kept_to = statistics ? 0 : size_to_keep_to(&other);
    if (kept_to)
        split(&other, (uint32_t)kept_to);
    machine_obey(t->machine, &other.plan);
    if (counted(&other, false, room))
        return true;
    uint32_t wished = other.plan.batch, half = (wished + 1) / 2;
    while (!statistics && half < other.plan.batch && half >= MICRO_LEAST) {
        split(&other, half);
        half = (other.plan.batch + 1) / 2;
    }
    if (!gpu || (other.plan.batch < wished && counted(&other, false, room)))
        return false;
    if (!statistics)
        split(&other, wished);
    return counted(&other, true, room);
}

/* A training without a product that is large enough is one of fp32: the same bits, and every file
 * says so. */
static void keep_to_used(struct training *t)
{
    bool rounds = network_rounds(t->network);
    select_say_products(t->machine, rounds);
    if (rounds)
        return;
    snprintf(t->plan.precision, sizeof t->plan.precision, "fp32");
    machine_obey(t->machine, &t->plan);
    machine_plan(t->machine, t->plan.batch, t->plan.micro, &t->plan);
}

static void say_fitted(const struct training *t, uint32_t wished)
{
    uint64_t ring = network_streams(t->network);
    if (t->plan.batch != wished)
        log_line("dnn_gpu: out of memory; micro-batch %u -> %u", wished, t->plan.batch);
    if (ring)
        log_line("dnn_gpu: out of memory; data streamed (%s through %s)",
                 text_bytes(t->table->rows.count * t->table->rows.format.stride),
                 text_bytes(ring));
    memory_note(t->machine);
    select_say_loaded(&t->backend, t->machine);
}

bool training_make_network(struct training *t, struct err *e)
{
    uint32_t wished = t->plan.batch;
    t->source = (struct source){.rows = t->table->rows,
                                .index = t->table->index[PART_TRAIN],
                                .count = t->table->count[PART_TRAIN],
                                .shuffle = 1,
                                .classes = t->classes,
                                .class_weight = t->class_weight,
                                .features = t->features};
    bool good = network_fit(t, e);
    if (good && select_is_gpu(&t->backend)) {
        say_fitted(t, wished);
        keep_to_used(t);
    }
    if (good || e->id != ERR_GPU_MEMORY ||
        !select_falls_back(&t->backend, &t->config->backend, e))
        return good;
    return network_on_cpu(t, e) && network_source(t->network, &t->source, e);
}
