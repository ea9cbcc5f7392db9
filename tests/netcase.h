/* netcase.h - a small network on small data for tests of src/model: features, records, options
 * from JSON, a machine, steps without schedules. A case points into itself: never copy it. */
#ifndef DNN_NETCASE_H
#define DNN_NETCASE_H

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/network/network.h"

enum { CASE_CATEGORIES = 8, CASE_NUMBERS = 48, CASE_EDGES = 2048, CASE_STEPS = 64 };

struct netcase {
    /* set by the test */
    const char *backend; /* NULL: the CPU */
    const char *device;
    const char *model, *loss, *optim; /* JSON; NULL: defaults */
    bool stored; /* the model's last layer is the output layer */
    uint32_t numbers, indicators, categories, outputs, rows, micro;
    bool quantiles; /* outputs are those of a regression */
    uint32_t whole; /* 0: rows * micro */
    uint32_t tracks;
    struct feature_category category[CASE_CATEGORIES];
    uint32_t texts; /* two columns of so many terms and of one, of 7 and 3 buckets; 0: none */
    uint32_t tokens; /* above 0: the one input is a text of at most so many tokens, of 6 in all */
    uint32_t steps; /* above 0: the numbers are sequences of so many steps */
    /* window above 0: the records are groups of `group`, the last one shorter, read in windows */
    uint32_t window, stride, group;
    bool each;     /* each record of a window has an answer; else the last one has */
    bool carry;    /* a step's windows begin with random state, but for every third one */
    bool periodic; /* all numbers are */
    uint32_t bins; /* above 0: number i has bins + i of them, and every second stands alone */
    uint64_t count, seed; /* records */
    double clip;
    const float *class_weight;
    bool shuffle, streams;
    uint64_t answers; /* that the machine keeps; 0: each batch is brought back */
    /* made */
    struct json_doc *docs[3];
    struct features features;
    uint32_t indicator[CASE_NUMBERS];
    struct feature_number number[CASE_NUMBERS];
    float edges[CASE_EDGES];
    struct feature_text text[2];
    uint32_t *windows; /* [count][window] at most */
    uint32_t *begins;  /* carry: [count] at most */
    unsigned char *records;
    unsigned char *chunks[1];
    struct source source;
    struct architecture *architecture;
    struct loss_options loss_options;
    struct optim_options optim_options;
    struct network_options options;
    struct machine *machine;
    struct plan plan;
    struct network *network;
    struct routine *step;
    struct network_state state;
    struct err e;
};

/* A bit of everything, in shards, with a ragged last micro-batch. */
static inline struct netcase case_everything(const char *backend)
{
    return (struct netcase){
        .backend = backend,
        .model = "{\"layers\": [{\"type\": \"dense\", \"units\": 24}, {\"type\": \"batch_norm\"}, "
                 "{\"type\": \"gelu\"}, {\"type\": \"dropout\", \"p\": 0.2}, {\"type\": "
                 "\"residual\", \"layers\": [{\"type\": \"dense\", \"units\": 17}, {\"type\": "
                 "\"relu\"}, {\"type\": \"layer_norm\"}]}]}",
        .loss = "{\"label_smoothing\": 0.05}",
        .numbers = 5,
        .indicators = 2,
        .categories = 2,
        .outputs = 3,
        .rows = 160,
        .micro = 2,
        .count = 1000,
        .seed = 21,
        .clip = 0.5,
        .shuffle = true,
        .category = {{.count = 6, .encode = CATEGORY_ONEHOT},
                     {.count = 40, .encode = CATEGORY_EMBEDDING, .dim = 4}}};
}

static inline struct json_doc *case_doc(const char *text, struct err *e)
{
    struct json_doc *doc = text ? json_parse(text, strlen(text), "case", e) : NULL;
    assert(!text || doc);
    return doc;
}

static inline float *case_number(struct netcase *c, uint64_t row, uint32_t i)
{
    return (float *)(void *)(c->records + row * c->features.format.stride) + i;
}
static inline void case_put(struct netcase *c, uint64_t row, uint32_t at, int32_t value)
{
    memcpy(c->records + row * c->features.format.stride + at, &value, sizeof value);
}
static inline void case_put_float(struct netcase *c, uint64_t row, uint32_t at, float value)
{
    memcpy(c->records + row * c->features.format.stride + at, &value, sizeof value);
}
static inline uint32_t case_classes(const struct netcase *c) /* 0: regression */
{
    return c->outputs > 1 && !c->quantiles ? c->outputs : 0;
}
static inline void case_target(struct netcase *c, uint64_t row, double value)
{
    if (case_classes(c))
        case_put(c, row, c->features.format.at_target, (int32_t)value);
    else
        case_put_float(c, row, c->features.format.at_target, (float)value);
}

/* Every text has a length of its own, some have none. */
static inline int32_t case_token(const struct netcase *c, uint64_t row, uint32_t at, uint32_t bits)
{
    uint32_t length = rng_bits(c->seed, row, 7, 0, RNG_TEST) % (c->tokens + 1);
    return at < length ? 1 + (int32_t)(bits % 7) : 0;
}

/* Random records: normal numbers, bits, ids over all slots, targets, weights of 0.5, 1 and 2. */
static inline void case_fill(struct netcase *c)
{
    const struct rowfmt *f = &c->features.format;
    for (uint64_t row = 0; row < c->count; row++) {
        for (uint32_t i = 0; i < f->numbers; i++)
            *case_number(c, row, i) =
                (float)rng_normal(c->seed, row * f->numbers + i, 1, 0, RNG_TEST);
        for (uint32_t i = 0; i < f->words; i++)
            case_put(c, row, f->at_missing + 4 * i,
                     (int32_t)rng_bits(c->seed, row * f->words + i, 2, 0, RNG_TEST));
        for (uint32_t i = 0; i < c->categories; i++)
            case_put(c, row, f->at_category + 4 * i,
                     (int32_t)(rng_bits(c->seed, row * f->categories + i, 3, 0, RNG_TEST) %
                               c->category[i].count));
        for (uint32_t i = c->categories; i < f->categories; i++) {
            uint32_t bits = rng_bits(c->seed, row * f->categories + i, 6, 0, RNG_TEST);
            uint32_t buckets = i + 1 < f->categories ? 7 : 3;
            case_put(c, row, f->at_category + 4 * i,
                     c->tokens ? case_token(c, row, i - c->categories, bits)
                     : bits % 4 ? term_make(bits / 4 % buckets, (int32_t)(bits >> 9) % 3 - 4) : 0);
        }
        double t = case_classes(c)
                       ? (double)(rng_bits(c->seed, row, 4, 0, RNG_TEST) % c->outputs)
                       : rng_normal(c->seed, row, 4, 0, RNG_TEST);
        if (c->window && row % 5 == 3) /* context */
            t = case_classes(c) ? -1 : (double)NAN;
        case_target(c, row, t);
        case_put_float(c, row, f->at_weight,
                       (float)(0.5 * (1 << rng_bits(c->seed, row, 5, 0, RNG_TEST) % 3)));
    }
}

/* Edges from -1.5 on, so that normal numbers lie on both sides of them too. */
static inline void case_bins(struct netcase *c)
{
    struct features *f = &c->features;
    for (uint32_t i = 0; c->periodic && i < c->numbers; i++)
        c->number[i].periodic = 1;
    if (c->periodic)
        f->numbers = c->number;
    if (!c->bins)
        return;
    for (uint32_t i = 0; i < c->numbers; i++) {
        uint32_t bins = c->bins + i;
        assert(i < CASE_NUMBERS && f->edge_count + bins < CASE_EDGES);
        c->number[i] =
            (struct feature_number){.bins = bins, .edges = f->edge_count,
                                    .alone = i % 2 && !c->periodic, .periodic = c->periodic};
        for (uint32_t k = 0; k <= bins; k++)
            c->edges[f->edge_count++] = -1.5f + 3 * (float)k / (float)bins;
    }
    f->numbers = c->number;
    f->edges = c->edges;
}

static inline void case_texts(struct netcase *c)
{
    static float weights[] = {1, 2, 0.5f, 3, 1, 1.5f, 2, 1, 1, 1};
    struct features *f = &c->features;
    for (uint32_t i = c->categories; i < f->format.categories && c->tokens; i++)
        c->category[i].encode = CATEGORY_NONE;
    if (c->tokens) {
        c->text[0] = (struct feature_text){
            .slot = c->categories, .slots = c->tokens, .tokens = 8, .dim = 3};
        f->texts = c->text;
        f->text_count = 1;
        f->steps = c->tokens;
    }
    if (!c->texts)
        return;
    c->text[0] = (struct feature_text){
        .slot = c->categories, .slots = c->texts, .buckets = 7, .weighted = 1};
    c->text[1] = (struct feature_text){
        .slot = c->categories + c->texts, .slots = 1, .first = 7, .buckets = 3};
    for (uint32_t i = c->categories; i < f->format.categories; i++)
        c->category[i].encode = CATEGORY_NONE;
    f->texts = c->text;
    f->text_count = 2;
    f->text_weights = weights;
    f->bucket_count = 10;
}

/* Lists the windows of all groups: at 0, stride, 2 stride, .. until one reaches the end. Returns
 * their number. */
static inline uint64_t case_windows(struct netcase *c)
{
    uint64_t count = 0;
    c->windows = mem_zero(c->count * c->window, sizeof *c->windows);
    for (uint64_t begin = 0; begin < c->count; begin += c->group) {
        uint64_t end = begin + c->group < c->count ? begin + c->group : c->count;
        for (uint64_t at = begin;; at += c->stride) {
            uint32_t *to = c->windows + count++ * c->window;
            for (uint32_t t = 0; t < c->window; t++)
                to[t] = at + t < end ? (uint32_t)(at + t) : SOURCE_NONE;
            if (at + c->window >= end)
                break;
        }
    }
    return count;
}

/* Reads the options and makes the records' memory, cleared with weights of 1. */
static inline bool case_make(struct netcase *c)
{
    const char *texts[3] = {c->model, c->loss, c->optim};
    const struct json *at[3];
    for (int i = 0; i < 3; i++) {
        c->docs[i] = case_doc(texts[i], &c->e);
        at[i] = c->docs[i] ? json_root(c->docs[i]) : NULL;
    }
    if (!opt_read(loss_options_table, c->docs[1], at[1], "train.loss", &c->loss_options, &c->e) ||
        !opt_read(optim_options_table, c->docs[2], at[2], "train.optimizer", &c->optim_options,
                  &c->e) ||
        !loss_read(&c->loss_options, c->docs[1], case_classes(c) > 0, &c->e) ||
        !optim_read(&c->optim_options, c->docs[2], &c->e))
        return false;
    c->architecture =
        c->stored ? architecture_stored(c->docs[0], json_get(at[0], "layers"), &c->e)
                  : architecture_read(&(struct model_options){.doc = c->docs[0], .model = at[0]},
                                      &c->e);
    if (!c->architecture)
        return false;
    if (c->steps)
        c->indicators = c->numbers;
    for (uint32_t i = 0; i < c->indicators; i++)
        c->indicator[i] = i;
    c->features = (struct features){.format = rowfmt_make(c->numbers,
                                                          c->categories +
                                                              (c->texts ? c->texts + 1
                                                                        : c->tokens)),
                                    .indicators = c->indicator,
                                    .indicator_count = c->indicators,
                                    .categories = c->category,
                                    .outputs = c->outputs,
                                    .quantiles = c->quantiles ? c->outputs : 0,
                                    .steps = c->steps,
                                    .window = c->window,
                                    .each = c->each,
                                    .carry = c->carry};
    case_bins(c);
    case_texts(c);
    c->records = mem_zero(c->count + 1, c->features.format.stride);
    c->chunks[0] = c->records;
    for (uint64_t row = 0; row < c->count; row++)
        case_put_float(c, row, c->features.format.at_weight, 1);
    c->source = (struct source){
        .rows = {.format = c->features.format, .chunks = c->chunks, .shift = 63, .count = c->count},
        .count = c->count,
        .shuffle = c->shuffle,
        .classes = case_classes(c),
        .class_weight = c->class_weight};
    if (c->window) {
        c->source.count = case_windows(c);
        c->source.index = c->windows;
        c->source.steps = c->window;
        c->source.begins = c->begins = c->carry ? mem_zero(c->count, sizeof *c->begins) : NULL;
        for (uint64_t i = 0; i < c->count && c->carry; i += 3)
            c->begins[i] = 1;
    }
    return true;
}

static inline bool case_open(struct netcase *c)
{
    c->machine = machine_open(
        &(struct machine_options){.backend = c->backend, .device = c->device}, &c->e);
    if (!c->machine)
        return false;
    machine_plan(c->machine, c->rows, c->micro, &c->plan);
    c->plan.tracks = c->tracks;
    c->plan.shards = c->tracks ? c->tracks : c->plan.shards;
    machine_set_plan(c->machine, &c->plan);
    c->options = (struct network_options){.architecture = c->architecture,
                                          .features = &c->features,
                                          .rows = c->rows,
                                          .micro = c->micro,
                                          .whole = c->whole,
                                          .tracks = c->tracks,
                                          .steps = CASE_STEPS,
                                          .training = true,
                                          .own_memory = c->streams || c->answers,
                                          .answers = c->answers,
                                          .streams = c->streams,
                                          .loss = &c->loss_options,
                                          .optim = &c->optim_options,
                                          .clip_norm = c->clip};
    c->network = network_new(&c->options, c->machine, &c->plan, &c->e);
    if (!c->network)
        return false;
    const struct model *m = network_model(c->network);
    c->state.params = mem_zero(m->params + 1, sizeof(real));
    const uint64_t buffers = network_buffers(c->network);
    c->state.buffers = mem_zero(buffers + 1, sizeof(real));
    c->state.m1 = mem_zero(m->params + 1, sizeof(real));
    c->state.m2 = mem_zero(m->params + 1, sizeof(real));
    c->state.now = (struct step){.seed = c->seed};
    model_init(m, c->seed, 0, c->state.params, c->state.buffers);
    for (uint64_t i = m->buffers; i < buffers; i++)
        c->state.buffers[i] = (real)(0.5 * rng_normal(c->seed, i, 8, 0, RNG_TEST));
    network_set(c->network, &c->state);
    return network_source(c->network, &c->source, &c->e);
}

/* Filled rows become sequences of no steps to all: the numbers behind the last step are missing. At
 * most 32 numbers. */
static inline void case_cut_short(struct netcase *c)
{
    for (uint64_t row = 0; row < c->count; row++) {
        uint32_t length = (uint32_t)(row * 7 % 11 % (c->steps + 1)), missing = 0;
        for (uint32_t i = 0; i < c->numbers; i++)
            missing |= (uint32_t)(i % c->steps >= length) << i;
        case_put(c, row, c->features.format.at_missing, (int32_t)missing);
    }
}

/* The largest difference of the parameters that two cases of one network hold. */
static inline double case_apart(const struct netcase *a, const struct netcase *b)
{
    double most = 0;
    for (uint64_t i = 0; i < network_model(a->network)->params; i++)
        most = fmax(most, fabs((double)(a->state.params[i] - b->state.params[i])));
    return most;
}

/* All three, for a case that changes nothing in between. */
static inline bool case_ready(struct netcase *c)
{
    if (!case_make(c))
        return false;
    case_fill(c);
    return case_open(c);
}

/* So many steps of the epoch that has begun, recorded at the first call. */
static inline bool case_steps(struct netcase *c, uint32_t steps)
{
    if (!c->step)
        c->step = machine_record(c->machine, network_issue_step, c->network);
    for (uint32_t done = 0, now; done < steps; done += now) {
        now = network_feed(c->network, steps - done);
        machine_play(c->machine, c->step, now);
    }
    return machine_wait(c->machine, 10, &c->e);
}

/* Logits of positions row0.. of `from`, by a network on the case's machine; recorded in each call
 * where it comes in many batches. */
static inline bool case_answer(struct netcase *c, struct network *n, const struct source *from,
                               uint64_t row0, uint64_t count, real *logits)
{
    bool good = network_answer_source(n, from, &c->e);
    for (uint64_t done = 0, rows; good && done < count; done += rows) {
        uint32_t most;
        struct netshape *shape = network_shape(n, count - done, &most);
        network_answer_from(n, shape, row0 + done);
        if (done % 3) {
            struct routine *r = machine_record(c->machine, network_issue_answer, shape);
            machine_play(c->machine, r, 1);
            routine_drop(c->machine, r);
        } else {
            network_issue_answer(shape, c->machine);
        }
        good = machine_wait(c->machine, 10, &c->e);
        rows = count - done < most ? count - done : most;
        network_logits(shape, (uint32_t)rows, logits + done * c->outputs);
    }
    network_answer_release(n);
    return good;
}

/* So many epochs at one learning rate. */
static inline bool case_train(struct netcase *c, uint32_t epochs, double lr, double weight_decay)
{
    uint64_t step = c->whole ? c->whole : (uint64_t)c->rows * c->micro;
    uint32_t steps = (uint32_t)((c->count + step - 1) / step);
    for (uint32_t i = 0; i < epochs; i++) {
        if (!network_epoch(c->network, i, &(struct hyper){lr, weight_decay, 0}, 1, &c->e) ||
            !case_steps(c, steps))
            return false;
    }
    return true;
}

static inline void case_close(struct netcase *c)
{
    if (c->machine)
        routine_drop(c->machine, c->step);
    network_free(c->network);
    machine_close(c->machine);
    for (int i = 0; i < 3; i++)
        json_free(c->docs[i]);
    architecture_free(c->architecture);
    opt_release(loss_options_table, &c->loss_options);
    loss_release(&c->loss_options);
    opt_release(optim_options_table, &c->optim_options);
    mem_free(c->records);
    mem_free(c->windows);
    mem_free(c->begins);
    mem_free(c->state.params);
    mem_free(c->state.buffers);
    mem_free(c->state.m1);
    mem_free(c->state.m2);
}

#endif
