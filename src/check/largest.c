/* largest.c - see check_parts.h. */
#include "check/check_parts.h"

#include <stdio.h>
#include <string.h>

#include "answer/stream/serve.h"
#include "csv/csv.h"

static bool predict_room(const struct train_job *j, struct largest_room *room, struct err *e)
{
    struct machine_info info;
    struct backend_options b;
    struct setting *settings;
    size_t count;
    struct json_doc *stored = json_parse(j->config_text, strlen(j->config_text), "config", e);
    bool good = stored && backend_settings(stored, JOB_PREDICT, NULL, &b, &settings, &count, e);
    if (good) {
        machine_describe(j->machine, &info);
        uint64_t limit = machine_limit(&(struct machine_options){
            .memory_limit_gb = b.memory_limit_gb, .memory_fraction = b.memory_fraction},
            info.total);
        uint64_t left = limit > info.allocated ? limit - info.allocated : 1;
        room->predict = info.free < left ? info.free : left;
        settings_free(settings, count);
        backend_release(&b);
    }
    json_free(stored);
    return good;
}

bool largest_room(const struct train_job *j, struct largest_room *room, struct err *e)
{
    machine_plan(j->machine, 1, 1, &room->opened);
    room->train = room->predict = machine_bytes_free(j->machine);
    return !select_is_gpu(&j->backend) || predict_room(j, room, e);
}

/* Answers are in fp32, even if a training is not, and without guests. */
static bool predict_fits(const struct train_job *j, uint32_t rows, const struct largest_room *room)
{
    bool gpu = select_is_gpu(&j->backend);
    struct plan plan = room->opened;
    snprintf(plan.precision, sizeof plan.precision, "fp32");
    plan.guests[0] = '\0';
    plan.batch = rows;
    machine_set_plan(j->machine, &plan);
    struct network_options o = serve_network(j->config->architecture, j->run.features, gpu);
    o.rows = rows;
    struct source from = {.rows.format = table_rows(j->table)->format, /* a line has two bytes */
                          .count = CSV_BLOCK_BYTES / 2, .classes = j->run.classes};
    struct network_bytes need;
    struct err e = {0};
    if (!network_need(&o, j->machine, &need, &e))
        return false;
    uint64_t source = gpu ? network_source_bytes(&o, &from) : 0;
    return !room->predict || need.total + source <= room->predict;
}

static bool fits(const struct train_job *j, uint32_t rows, bool train,
                 const struct largest_room *room)
{
    return train ? run_fits(&j->run, rows, &room->opened, room->train)
                 : predict_fits(j, rows, room);
}

/* Bisects between rows that fit (0: none known) and rows that do not. */
static uint32_t between(const struct train_job *j, uint32_t good, uint32_t most, bool train,
                        const struct largest_room *room)
{
    uint32_t bad = most + 1;
    while (good + 1 < bad) {
        uint32_t middle = good + (bad - good) / 2;
        if (fits(j, middle, train, room))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

uint64_t largest_train(const struct train_job *j, const struct largest_room *room)
{
    const int64_t asked = j->config->train.batch_size;
    uint32_t good = 0, micro = j->run.plan.batch;
    if (fits(j, TRAIN_BATCH_MOST, true, room))
        return TRAIN_BATCH_MOST;
    if (micro == j->run.batch || fits(j, (uint32_t)asked, true, room))
        good = (uint32_t)asked; /* it was made so */
    else if (fits(j, micro, true, room))
        good = micro;
    return between(j, good, TRAIN_BATCH_MOST - 1, true, room);
}

uint64_t largest_predict(const struct train_job *j, const struct largest_room *room)
{
    return between(j, 0, PREDICT_BATCH_MOST, false, room);
}
