/* train_checkpoint.c - checkpoints come back as they were written; damaged ones are passed over,
 * those of another training are refused with the keys that differ; the oldest go when a newer one
 * is durable. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "scratch.h"
#include "tap.h"
#include "train/keeper.h"

enum { PARAMS = 37, BUFFERS = 6, EPOCHS = 3 };
static const char config[] = "{\"task\":\"binary\",\"train\":{\"epochs\":9,\"seed\":7,"
                             "\"checkpoint\":{\"keep\":2}},\"data\":{\"target\":\"y\"}}";
static char data[65];

static real reals[6][PARAMS];
static struct history_row rows[EPOCHS];
static char config_copy[512];

static struct checkpoint sample(int64_t step)
{
    for (int a = 0; a < 6; a++)
        for (int i = 0; i < PARAMS; i++)
            reals[a][i] = (real)(a + 1) / (real)(3 * i + 1);
    for (int i = 0; i < EPOCHS; i++)
        rows[i] = (struct history_row){1.0 / (i + 3), i ? 0.1 * i : (double)NAN, 1e-3 / 7};
    memset(data, 'a', 64);
    memcpy(config_copy, config, sizeof config);
    struct checkpoint c = {.params = reals[0],
                           .buffers = reals[1],
                           .m1 = reals[2],
                           .m2 = reals[3],
                           .best_params = reals[4],
                           .best_buffers = reals[5],
                           .param_count = PARAMS,
                           .buffer_count = BUFFERS,
                           .rows = rows,
                           .epochs = EPOCHS,
                           .seconds = 12.5,
                           .journal = 4711,
                           .best_journal = 815,
                           .config = config_copy};
    memcpy(c.data, data, 65);
    c.plan = (struct plan){.backend = "cpu",
                           .core = "c",
                           .blas_core = "none",
                           .precision = "fp32",
                           .batch = 256,
                           .micro = 1,
                           .shards = 4,
                           .version = 3};
    c.now = (struct step){.seed = UINT64_MAX - 5,
                          .tried = step,
                          .applied = step,
                          .epoch = 3,
                          .row0 = 512,
                          .gnorm = 3.5,
                          .weight = 256,
                          .loss = 1.0 / 3,
                          .epoch_weight = 1024,
                          .epoch_loss = 300.0 / 7,
                          .good = 9};
    return c;
}

static bool same_reals(const real *a, const real *b, size_t count)
{
    return a && b && memcmp(a, b, count * sizeof *a) == 0;
}

static void round_trip(void)
{
    struct err e = {0};
    struct checkpoint c = sample(1234);
    char *path = checkpoint_path(scratch("m.dnn"), 1234);
    ok(strstr(path, "m.dnn.ckpt-000000001234") != NULL, "twelve digits");
    ok(checkpoint_save(&c, path, &e), "saved");
    struct checkpoint *b = checkpoint_load(path, &e);
    ok(b != NULL, "loaded");
    if (!b)
        return;
    ok(same_reals(b->params, c.params, PARAMS) && same_reals(b->m1, c.m1, PARAMS) &&
           same_reals(b->m2, c.m2, PARAMS) && same_reals(b->best_params, c.best_params, PARAMS),
       "weights, moments and best weights are the same bits");
    ok(b->buffer_count == BUFFERS && same_reals(b->buffers, c.buffers, BUFFERS) &&
           same_reals(b->best_buffers, c.best_buffers, BUFFERS),
       "buffers too");
    ok(memcmp(&b->now, &c.now, sizeof c.now) == 0, "every counter and sum of the step");
    ok(b->epochs == EPOCHS && memcmp(b->rows, rows, sizeof rows) == 0, "the history, NaN included");
    ok(plan_same(&b->plan, &c.plan, NULL), "the plan");
    ok(b->seconds == 12.5 && b->journal == 4711 && b->best_journal == 815 &&
           strcmp(b->config, config) == 0 && strcmp(b->data, data) == 0,
       "time, journal, config, data");
    checkpoint_free(b);
    c.m1 = c.m2 = c.best_params = c.best_buffers = c.buffers = NULL;
    c.buffer_count = 0;
    c.epochs = 0;
    ok(checkpoint_save(&c, path, &e) && (b = checkpoint_load(path, &e)) != NULL,
       "without moments, buffers, epochs");
    ok(b && !b->m1 && !b->m2 && !b->best_params && b->buffer_count == 0 && b->epochs == 0,
       "they are absent");
    checkpoint_free(b);
    c.now.scale = 4096;
    c.now.skipped = 3;
    ok(checkpoint_save(&c, path, &e) && (b = checkpoint_load(path, &e)) != NULL &&
           memcmp(&b->now, &c.now, sizeof c.now) == 0,
       "the scale of gradients, and the steps it cost");
    checkpoint_free(b);
    mem_free(path);
}

static void refused(void)
{
    struct err e = {0};
    struct checkpoint c = sample(5);
    char *path = checkpoint_path(scratch("bad.dnn"), 5);
    reals[0][3] = (real)NAN;
    ok(checkpoint_save(&c, path, &e) && !checkpoint_load(path, &e) && err_exit(&e) == 76,
       "a weight that is NaN");
    err_clear(&e);
    c = sample(5);
    reals[3][3] = -1e-9F;
    ok(checkpoint_save(&c, path, &e) && !checkpoint_load(path, &e) && err_exit(&e) == 76,
       "a second moment below 0");
    err_clear(&e);
    c = sample(5);
    reals[3][3] = (real)INFINITY;
    struct checkpoint *kept = NULL;
    ok(checkpoint_save(&c, path, &e) && (kept = checkpoint_load(path, &e)) != NULL,
       "one that overflowed is kept: %s", e.what);
    checkpoint_free(kept);
    c = sample(5);
    c.now.applied = 6;
    ok(checkpoint_save(&c, path, &e) && !checkpoint_load(path, &e) && err_exit(&e) == 76,
       "more applied than tried");
    err_clear(&e);
    c = sample(5);
    c.now.epoch_loss = (double)INFINITY;
    ok(checkpoint_save(&c, path, &e) && !checkpoint_load(path, &e) && err_exit(&e) == 76,
       "a sum that is infinite");
    err_clear(&e);
    const double scales[] = {3, SCALE_MOST * 2, SCALE_LEAST / 2, 1};
    for (int i = 0; i < 4; i++) {
        c = sample(5);
        c.now.scale = scales[i];
        c.now.skipped = i == 3 ? 6 : 0;
        ok(checkpoint_save(&c, path, &e) && !checkpoint_load(path, &e) && err_exit(&e) == 76,
           i == 3 ? "more skipped than tried" : "a scale that is none: %g", scales[i]);
        err_clear(&e);
    }
    c = sample(5);
    ok(checkpoint_save(&c, path, &e), "a good one");
    size_t length;
    char *bytes = scratch_get("bad.dnn.ckpt-000000000005", &length);
    unsigned accepted = 0;
    for (size_t i = 0; bytes && i < length; i += 7) {
        bytes[i] = (char)(bytes[i] ^ (1 << (i % 8)));
        scratch_put("bad.dnn.ckpt-000000000005", bytes, length);
        struct checkpoint *b = checkpoint_load(path, &e);
        accepted += b != NULL || err_exit(&e) != 76;
        checkpoint_free(b);
        err_clear(&e);
        bytes[i] = (char)(bytes[i] ^ (1 << (i % 8)));
    }
    is_int(accepted, 0, "every seventh byte damaged in turn: always 76");
    for (size_t n = 0; bytes && n < length; n += 97) {
        scratch_put("bad.dnn.ckpt-000000000005", bytes, n);
        struct checkpoint *b = checkpoint_load(path, &e);
        accepted += b != NULL || err_exit(&e) != 76;
        checkpoint_free(b);
        err_clear(&e);
    }
    is_int(accepted, 0, "cut off anywhere: always 76");
    free(bytes);
    mem_free(path);
}

static void differences(void)
{
    struct text t = {0};
    resume_differences(config, config, true, &t);
    ok(t.length == 0, "the same config differs in nothing");
    resume_differences(config,
                       "{\"task\":\"binary\",\"train\":{\"epochs\":10,\"seed\":7,\"clip_norm\":1,"
                       "\"checkpoint\":{\"keep\":9}},\"data\":{\"target\":\"z\"}}",
                       true, &t);
    is_string(t.data, "train.epochs, train.clip_norm, data.target",
              "changed and added keys are named");
    text_clear(&t);
    resume_differences("{\"a\":{\"b\":[1,2]}}", "{\"a\":{\"b\":[1,3]}}", true, &t);
    is_string(t.data, "a.b", "a list counts as a whole");
    text_clear(&t);
    resume_differences(
        "{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1}", "{}",
        true, &t);
    ok(strstr(t.data, "and 2 more") != NULL, "at most eight are named");
    text_free(&t);
}

static void write_one(const char *output, int64_t step, const char *other_config, char data_byte)
{
    struct err e = {0};
    struct checkpoint c = sample(step);
    char *path = checkpoint_path(output, step);
    if (other_config)
        snprintf(config_copy, sizeof config_copy, "%s", other_config);
    memset(c.data, data_byte, 64);
    checkpoint_save(&c, path, &e);
    mem_free(path);
}

static struct keeper keeper_of(const char *output, const char *of)
{
    return (struct keeper){
        .output = mem_string(scratch(output)), .keep = 2, .config = of, .data = data};
}

static void find(void)
{
    struct err e = {0};
    memset(data, 'a', 64);
    struct keeper k = keeper_of("f.dnn", config);
    ok(resume_find(&k, &e) && !k.found && !k.last, "none is there: nothing to resume");
    write_one(k.output, 100, NULL, 'a');
    write_one(k.output, 200, NULL, 'a');
    write_one(
        k.output, 300,
        "{\"task\":\"binary\",\"train\":{\"epochs\":8,\"seed\":7},\"data\":{\"target\":\"y\"}}",
        'a');
    write_one(k.output, 350, NULL, 'b');
    scratch_put("f.dnn.ckpt-000000000400", "damaged", 7);
    scratch_put("f.dnn.ckpt-12", "not one of them", 15);
    unsigned warnings = log_warnings();
    log_setup(LOG_ERROR, false);
    ok(resume_find(&k, &e) && k.found && k.found->now.tried == 200,
       "the newest that is whole and fits");
    is_int(log_warnings() - warnings, 1, "the damaged one is named in a warning");
    expect_warnings(1);
    ok(k.last && strstr(k.last, "000000000200"), "with its path");
    ok(k.count == 2 && k.own[0].name == 100 && k.own[1].name == 200,
       "those that fit are ours, the others are left");
    keeper_clear(&k);
    struct checkpoint_list l;
    checkpoint_find(k.output, &l, &e);
    ok(l.count == 3 && l.steps[0] == 300 && l.steps[2] == 400, "only ours are removed");
    checkpoint_list_free(&l);
    keeper_release(&k);
    k = keeper_of("f.dnn", config);
    ok(!resume_find(&k, &e) && e.id == ERR_CHECKPOINT_OTHER && err_exit(&e) == 76,
       "whole ones, and none fits: 76");
    ok(strstr(e.what, "the data differ") != NULL, "the newest one's data differ");
    unlink(scratch("f.dnn.ckpt-000000000350"));
    err_clear(&e);
    ok(!resume_find(&k, &e) && strstr(e.what, "train.epochs"),
       "the key that differs is named");
    expect_warnings(2); /* the damaged one, again */
    log_setup(LOG_NOTE, false);
    keeper_release(&k);
    k = keeper_of("nowhere/f.dnn", config);
    err_clear(&e);
    ok(resume_find(&k, &e) && !k.found, "a folder that is not there has none");
    keeper_release(&k);
    k = keeper_of("f.dnn.ckpt-12/f.dnn", config);
    ok(!resume_find(&k, &e) && e.id != ERR_NONE && !k.found,
       "one that cannot be listed is an error, not an empty one");
    keeper_release(&k);
}

static void keep(void)
{
    struct err e = {0};
    struct keeper k = keeper_of("k.dnn", config);
    write_one(k.output, 5, NULL, 'a'); /* somebody else's */
    scratch_put("k.dnn.ckpt-000000000040", "old", 3);
    scratch_put("k.dnn.ckpt-000000000041", "old", 3);
    for (int64_t step = 10; step <= 50; step += 10) {
        struct checkpoint c = sample(step);
        if (!keeper_save(&k, &c, &e))
            break;
    }
    struct checkpoint_list l;
    checkpoint_find(k.output, &l, &e);
    ok(l.count == 5 && l.steps[0] == 5 && l.steps[3] == 42 && l.steps[4] == 50,
       "the newest two of ours, and what was there");
    ok(scratch_holds("k.dnn.ckpt-000000000040", "old", 3) &&
           scratch_holds("k.dnn.ckpt-000000000041", "old", 3),
       "a checkpoint that was there is not replaced: ours has the next free name");
    checkpoint_list_free(&l);
    ok(k.own[0].name == 42 && k.own[0].step == 40 && keeper_newest(&k).step == 50,
       "which step each is of is known");
    keeper_own(&k, (struct checkpoint_id){.name = 5, .step = 5});
    keeper_undo(&k);
    checkpoint_find(k.output, &l, &e);
    ok(k.count == 1 && l.count == 3 && l.steps[0] == 5,
       "N01 undone: those that this run wrote are gone, the one it found stays");
    checkpoint_list_free(&l);
    scratch_put(".k.dnn.dnn-tmp-3fffff", "x", 1);
    scratch_put(".k.dnn.ckpt-000000000060.dnn-tmp-3fffff", "x", 1);
    scratch_put(".k.dnn2.dnn-tmp-3fffff", "x", 1);
    is_int(checkpoint_sweep(k.output), 2, "what a killed run wrote aside is removed");
    ok(scratch_holds(".k.dnn2.dnn-tmp-3fffff", "x", 1), "another output's is not");
    keeper_release(&k);
}

/* The negotiable keys. */
static void other_rate(void)
{
    static const char slow[] = "{\"train\":{\"optimizer\":{\"learning_rate\":0.1}}}";
    static const char fast[] = "{\"train\":{\"optimizer\":{\"learning_rate\":20}},\"more\":1}";
    static const char lower[] = "{\"train\":{\"optimizer\":{\"learning_rate\":1},"
                                "\"clip_norm\":1},\"more\":1}";
    struct err e = {0};
    memset(data, 'a', 64);
    struct keeper k = keeper_of("d.dnn", slow);
    write_one(k.output, 600, fast, 'a');
    ok(!resume_find(&k, &e) && e.id == ERR_CHECKPOINT_OTHER,
       "another key stays another training");
    err_clear(&e);
    log_setup(LOG_ERROR, false);
    k.config = lower;
    ok(resume_find(&k, &e) && k.found && k.found->now.tried == 600 && k.count == 1,
       "learning rate and clipping may differ");
    keeper_release(&k);
    k = keeper_of("d.dnn", lower);
    write_one(k.output, 300, lower, 'a');
    ok(resume_find(&k, &e) && k.found && k.found->now.tried == 300 && k.count == 1,
       "an older one of the same rate comes first, and the other one is not ours");
    log_setup(LOG_NOTE, false);
    keeper_release(&k);
}

int main(void)
{
    scratch_make();
    round_trip();
    refused();
    differences();
    find();
    keep();
    other_rate();
    return done();
}
