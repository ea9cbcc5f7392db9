/* run_network.c - the network of a run on its machine. A GPU without room for it gets smaller
 * micro-batches, then streamed rows; after that the owner may try a CPU. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "base/text.h"
#include "model/network/length.h"
#include "train/run/run.h"

enum { MICRO_LEAST = 32 }; /* rows */

static bool on_gpu(const struct run *r)
{
    return !machine_in_place(r->machine);
}

struct network_options run_network_options(const struct run *r)
{
    const struct train_options *o = &r->config->train;
    uint64_t valid = r->list[PART_VALID].count, test = r->list[PART_TEST].count;
    bool gpu = on_gpu(r);
    return (struct network_options){.architecture = r->config->architecture,
                                    .features = r->features,
                                    .rows = r->plan.batch,
                                    .micro = r->plan.micro,
                                    .tracks = r->plan.tracks,
                                    .whole = r->batch * r->micro,
                                    .steps = (uint32_t)r->steps,
                                    .training = true,
                                    .own_memory = gpu,
                                    .answers = gpu ? (valid > test ? valid : test) + 1 : 0,
                                    .keeps_best = gpu,
                                    .loss = &r->loss,
                                    .optim = &o->optimizer,
                                    .clip_norm = o->clip_norm};
}

static bool no_room(const struct run *r, const struct network_options *o, uint64_t need,
                    uint64_t left, struct err *e)
{
    struct machine_info gpu;
    machine_describe(r->machine, &gpu);
    err_set(e, ERR_GPU_MEMORY,
            "GPU %u (%s) out of memory: a network with micro-batches of %u row%s needs %s, and it "
            "may have %s: %s of %s are free%s",
            gpu.index, text_quote_z(gpu.device), o->rows, o->rows == 1 ? "" : "s",
            text_bytes(need), text_bytes(left), text_bytes(gpu.free), text_bytes(gpu.total),
            left < gpu.free ? ", within backend.memory_limit_gb and memory_fraction" : "");
    return err_help(e, "lower train.batch_size or the width of the layers, wait until others have "
                       "left the card, or let the CPU train: --backend dnn_cpu");
}

static bool enough_memory(const struct run *r, const struct network_options *o, struct err *e)
{
    struct network_bytes need;
    if (!network_need(o, r->machine, &need, e))
        return false;
    uint64_t free_bytes = machine_bytes_free(r->machine);
    if (free_bytes && need.total > free_bytes && on_gpu(r))
        return no_room(r, o, need.total, free_bytes, e);
    if (free_bytes && need.total > free_bytes) {
        err_set(e, ERR_MEMORY, "the network needs %s of memory and %s are left",
                text_bytes(need.total), text_bytes(free_bytes));
        return o->tracks ? err_help(e, "make the layers narrower or the sequences shorter")
                         : err_help(e, "lower train.batch_size (now %lld) or the width of the "
                                       "layers", (long long)o->rows);
    }
    return true;
}

static bool network_try(struct run *r, bool stays, struct err *e)
{
    struct network_options o = run_network_options(r);
    o.stays = stays;
    if (!enough_memory(r, &o, e))
        return false;
    r->network = network_new(&o, r->machine, &r->plan, e);
    if (!r->network)
        return false;
    r->stepper = step_open(r->network, r->machine);
    step_stop_when(r->stepper, stop_wanted);
    r->score.stepper = r->stepper;
    return true;
}

static void network_drop(struct run *r)
{
    step_close(r->stepper);
    network_free(r->network);
    r->score.stepper = r->stepper = NULL;
    r->network = NULL;
    machine_forgive(r->machine);
}

/* batch_norm takes its statistics over a micro-batch: other micro-batches are other mathematics. */
static bool takes_statistics(const struct run *r)
{
    struct err e = {0};
    struct model *m = model_plan(r->config->architecture, r->features, 1, 1, false, &e);
    bool takes = m && m->buffers > 0;
    model_free(m);
    return takes;
}

/* Plans micro-batches of at most `most` rows. A step has the same rows and the same sum over them;
 * its last micro-batch may have fewer rows. */
static void split(struct run *r, uint32_t most)
{
    uint32_t whole = r->batch * r->micro;
    uint32_t micro = (uint32_t)run_pieces(whole, most);
    network_plan(r->features, r->machine, (uint32_t)run_pieces(whole, micro), micro, &r->plan);
    machine_set_plan(r->machine, &r->plan);
}

/* --- the plan --- */

/* Plans the whole step. No tracks for soft_f1, which counts over all rows. */
static void plan_whole(struct run *r)
{
    network_plan(r->features, r->machine, r->batch, r->micro, &r->plan);
    if (r->loss.kind != LOSS_SOFT_F1)
        network_plan_tracks(r->config->architecture, r->features, r->machine, &r->plan);
}

/* In the micro-batches and tracks of another plan. */
static void plan_like(struct run *r, const struct plan *other)
{
    uint32_t tracks = other->tracks;
    network_plan(r->features, r->machine, other->batch, other->micro, &r->plan);
    r->plan.tracks = tracks;
    r->plan.shards = tracks ? tracks : r->plan.shards;
}

/* The owner's limit on the rows of a micro-batch, if the plan has more; else 0. */
static int64_t limit_of(const struct run *r)
{
    return on_gpu(r) && r->micro_most && r->plan.batch > r->micro_most ? r->micro_most : 0;
}

static void keep_limit(struct run *r)
{
    int64_t most = limit_of(r);
    uint32_t wished = r->plan.batch;
    if (!most)
        return;
    if (takes_statistics(r)) {
        log_line("dnn_gpu: GPU_BATCH_SIZE=%lld is not kept to: batch_norm takes its statistics "
                 "over the micro-batch of %u rows, which is not split", (long long)most, wished);
        return;
    }
    split(r, (uint32_t)most);
    log_line("dnn_gpu: GPU_BATCH_SIZE=%lld; micro-batch %u -> %u", (long long)most, wished,
             r->plan.batch);
}

/* Compares the bits of two plans. All vector codes give the same; a BLAS has its own for each kind
 * of processor. */
static const char *difference(const struct plan *a, const struct plan *b)
{
    const char *differs = NULL;
    struct plan as_b = *a;
    if (strcmp(a->backend, "cpu") == 0 && strcmp(a->blas_core, "none") == 0 &&
        strcmp(b->blas_core, "none") == 0)
        memcpy(as_b.core, b->core, sizeof as_b.core);
    plan_same(&as_b, b, &differs);
    return differs;
}

/* By the epochs of the config: a training may end earlier. */
static void tell_work(struct run *r)
{
    struct err e = {0};
    struct model *m =
        on_gpu(r) ? model_plan(r->config->architecture, r->features, 1, 1, false, &e) : NULL;
    const double reads = (double)row_list_reads(&r->list[PART_TRAIN]) *
                         (double)r->config->train.epochs;
    const uint32_t steps = features_steps(r->features);
    if (m)
        machine_work(r->machine, &(struct machine_work){.rows = reads * steps,
                                                        .batch = r->batch * steps,
                                                        .group_count = m->groups.count,
                                                        .groups = m->groups.items});
    model_free(m);
}

const char *run_plan(struct run *r, const struct plan *wanted)
{
    const char *differs = NULL;
    if (!wanted)
        tell_work(r);
    plan_whole(r);
    if (wanted) {
        uint64_t whole = (uint64_t)r->batch * r->micro, rows = wanted->batch;
        bool same_kind = strcmp(wanted->backend, r->plan.backend) == 0;
        /* The last micro-batch has the rest. Rows beyond the batch would only cost memory. */
        bool same_step = rows && rows <= (wanted->tracks ? whole : r->batch) &&
                         run_pieces(whole, rows) == wanted->micro &&
                         (!wanted->tracks || r->plan.tracks) && wanted->tracks <= wanted->micro;
        if (same_kind)
            machine_set_plan(r->machine, wanted);
        if (same_kind && same_step)
            plan_like(r, wanted);
        else
            plan_whole(r);
        differs = difference(&r->plan, wanted);
    } else {
        keep_limit(r);
    }
    machine_set_plan(r->machine, &r->plan);
    return differs;
}

void run_keep_fp32(struct run *r)
{
    if (network_rounds(r->network))
        return;
    snprintf(r->plan.precision, sizeof r->plan.precision, "fp32");
    machine_set_plan(r->machine, &r->plan);
    plan_like(r, &r->plan);
}

/* --- the network --- */

/* Makes the network and gives it its rows. Without room: with micro-batches of half the rows, again
 * and again, down to `least`. */
static bool network_halved(struct run *r, bool stays, uint32_t least, struct err *e)
{
    for (uint32_t half;; split(r, half)) {
        if (network_try(r, stays, e) && network_source(r->network, &r->source, e))
            return true;
        network_drop(r);
        half = (r->plan.batch + 1) / 2;
        if (e->id != ERR_GPU_MEMORY || half == r->plan.batch || half < least)
            return false;
        err_clear(e);
    }
}

/* First the rows stay on the GPU and micro-batches are halved, down to MICRO_LEAST: steps of
 * smaller ones take longer than streaming the rows. Then rows are streamed, with micro-batches as
 * large as planned, or as large as there is room for. */
static bool network_fit(struct run *r, struct err *e)
{
    uint32_t wished = r->plan.batch, least = wished < MICRO_LEAST ? wished : MICRO_LEAST;
    bool gpu = on_gpu(r), statistics = gpu && takes_statistics(r);
    if (network_halved(r, gpu, gpu && !statistics ? least : wished, e))
        return true;
    if (!gpu || e->id != ERR_GPU_MEMORY)
        return false;
    if (statistics)
        log_line("dnn_gpu: out of memory; batch_norm takes its statistics over the micro-batch of "
                 "%u rows, which is not halved", wished);
    else
        split(r, wished);
    err_clear(e);
    return network_halved(r, false, statistics ? wished : 1, e);
}

bool run_rebuild(struct run *r, int64_t batch_size, struct err *e)
{
    network_drop(r);
    run_size(r, batch_size);
    run_plan(r, NULL);
    return run_network(r, e) && run_begin(r, e);
}

/* --- does a network fit? --- */

static bool counted(const struct run *r, bool streams, uint64_t room)
{
    struct network_options o = run_network_options(r);
    struct network_bytes need;
    struct err e = {0};
    o.streams = streams && o.own_memory;
    if (!network_need(&o, r->machine, &need, &e))
        return false;
    return !room || need.total + (o.own_memory ? network_source_bytes(&o, &r->source) : 0) <= room;
}

/* In the order of network_fit. */
bool run_fits(const struct run *r, int64_t batch_size, const struct plan *opened, uint64_t room)
{
    struct run other = *r;
    bool gpu = on_gpu(r), statistics = gpu && takes_statistics(r);
    run_size(&other, batch_size);
    machine_set_plan(r->machine, opened);
    plan_whole(&other);
    int64_t kept_to = statistics ? 0 : limit_of(&other);
    if (kept_to)
        split(&other, (uint32_t)kept_to);
    machine_set_plan(r->machine, &other.plan);
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

bool run_network(struct run *r, struct err *e)
{
    const struct row_list *train = &r->list[PART_TRAIN];
    mem_free(r->sorted);
    r->source = (struct source){.rows = r->rows,
                                .index = train->windows ? train->windows : train->index,
                                .count = row_list_reads(train),
                                .steps = train->window,
                                .shuffle = 1,
                                .classes = r->classes,
                                .class_weight = r->class_weight,
                                .features = r->features};
    struct lanes before = run_deal(r);
    lanes_free(&before);
    /* carried states have an order of their own; ridge reads the rows of the list */
    const bool ridge = r->config->architecture->solution == SOLVED_BY_RIDGE;
    r->sorted = r->config->train.by_length && !r->features->carry && !ridge
                    ? length_sort(&r->source, r->features, r->batch * r->micro)
                    : NULL;
    r->source.index = r->sorted ? r->sorted : r->source.index;
    return network_fit(r, e);
}
