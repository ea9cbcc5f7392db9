/* gpucheck_learn.c - whole trainings, as `dnn train` and `dnn verify` do them, in a folder of their
 * own below TMPDIR: data that no linear model can learn, learnt on the card and on the CPU; a model
 * of each answered by the other; the card's training twice, to the same bytes. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer/verify.h"
#include "base/mem.h"
#include "base/file/outfile.h"
#include "base/process/progress.h"
#include "base/rng.h"
#include "base/worst.h"
#include "check/gpucheck_parts.h"
#include "model/file/checkpoint_list.h"
#include "train/train.h"

#define LEARNT 0.9  /* accuracy that a deep model reaches with ease, and no linear one */
#define ROWS 600

enum { ON_GPU, ON_GPU_AGAIN, ON_CPU, LINEAR, MODELS };
static const char *const names[MODELS] = {"gpu.dnn", "again.dnn", "cpu.dnn", "linear.dnn"};
struct lesson {
    struct gpu_job *j;
    char folder[256], data[300];
    char card[16]; /* that is checked: with its context it may be the freest no more */
    char models[MODELS][300];
    struct train_result results[MODELS];
    size_t said; /* train_result's, of the training before */
};

/* --- the folder --- */

static bool make_folder(struct lesson *s, struct err *e)
{
    const char *base = getenv("TMPDIR");
    snprintf(s->folder, sizeof s->folder, "%.200s/dnn-gpucheck-XXXXXX",
             base && *base ? base : "/tmp");
    if (!mkdtemp(s->folder)) {
        err_errno(e, s->folder, errno, true, "the folder of the check's small models");
        s->folder[0] = '\0';
        return err_help(e, "set TMPDIR to a folder that can be written to");
    }
    snprintf(s->data, sizeof s->data, "%s/xor.csv", s->folder);
    for (int i = 0; i < MODELS; i++)
        snprintf(s->models[i], sizeof s->models[i], "%s/%s", s->folder, names[i]);
    return true;
}

static void drop_folder(struct lesson *s)
{
    if (!s->folder[0])
        return;
    for (int i = 0; i < MODELS; i++) {
        struct checkpoint_list l = {0};
        struct err e = {0};
        if (checkpoint_find(s->models[i], &l, &e))
            for (size_t k = 0; k < l.count; k++) {
                char *path = checkpoint_path(s->models[i], l.steps[k]);
                unlink(path);
                mem_free(path);
            }
        checkpoint_list_free(&l);
        unlink(s->models[i]);
    }
    unlink(s->data);
    rmdir(s->folder);
}

/* y: whether a and b have one sign, with a strip between left out. */
static bool write_data(struct lesson *s, struct err *e)
{
    struct text rows = {0};
    text_put(&rows, "a,b,y\n");
    for (uint64_t i = 0, row = 0; row < ROWS; i++) {
        double a = (double)(rng_bits(7, i, 0, 0, RNG_TEST) % 2001) / 1000 - 1;
        double b = (double)(rng_bits(7, i, 1, 0, RNG_TEST) % 2001) / 1000 - 1;
        if (fabs(a) < 0.1 || fabs(b) < 0.1)
            continue;
        text_printf(&rows, "%.3f,%.3f,%s\n", a, b, a * b > 0 ? "one" : "two");
        row++;
    }
    const bool good = outfile_whole(s->data, &rows, e);
    text_free(&rows);
    return good;
}

/* --- training --- */

static void write_config(const struct lesson *s, int which, struct json_out *o)
{
    json_open(o, NULL, '{');
    json_put_string(o, "task", "binary");
    json_open(o, "data", '{');
    json_put_string(o, "train", s->data);
    json_put_string(o, "target", "y");
    json_put_raw(o, "columns", "{\"a\": \"numeric\", \"b\": \"numeric\"}");
    json_close(o, '}');
    json_put_raw(o, "model", which == LINEAR ? "{\"preset\": \"linear\"}"
                                             : "{\"preset\": \"mlp\", \"hidden\": [16, 8]}");
    json_put_raw(o, "train", "{\"epochs\": 30, \"batch_size\": 32, \"seed\": 1, "
                             "\"optimizer\": {\"learning_rate\": 0.02}, "
                             "\"early_stopping\": {\"patience\": 0}}");
    json_put_raw(o, "backend", "{\"fallback\": \"none\"}");
    json_close(o, '}');
}

static struct overrides command_of(const struct lesson *s, bool gpu)
{
    return (struct overrides){.threads = s->j->o->command.threads, .batch_size = -1,
                              .time_limit_s = -1,
                              .backend = gpu ? "dnn_gpu" : "dnn_cpu",
                              .device = gpu ? s->card : NULL};
}

static bool train(struct lesson *s, int which, struct err *e)
{
    struct json_out text = {0};
    struct overrides o = command_of(s, which == ON_GPU || which == ON_GPU_AGAIN);
    write_config(s, which, &text);
    struct config *c = config_parse(text.text.data, text.text.length, "gpucheck", &o, e);
    struct train_request q = {.config = c, .output = s->models[which], .progress = PROGRESS_NONE};
    bool good = c && train_run(&q, &s->results[which], e);
    s->said = s->results[which].said;
    config_free(c);
    text_free(&text.text);
    return good;
}

static double accuracy(const struct lesson *s, int which)
{
    return metrics_get(&s->results[which].valid, "accuracy");
}

/* A failure of the card is the check's; any other is the caller's: false. */
static bool ended(const struct lesson *s, struct gpu_check *c, bool good, struct err *e)
{
    if (good || !gpucheck_blame(c, e))
        return good;
    if (c->verdict == GPU_NONE) /* it existed before */
        c->verdict = GPU_FAULTY;
    if (s->said && s->said < strlen(c->reason)) { /* the sentence about the kept folder goes */
        c->reason[s->said] = '\0';
        gpucheck_fix(c, "`nvidia-smi` and the kernel log (dmesg, lines with Xid) say more; do not "
                        "train on this card until it passes");
    }
    err_clear(e);
    return true;
}

static bool check_train(struct lesson *s, struct err *e)
{
    struct gpu_check *c = gpucheck_add(s->j->g, "train");
    bool good = train(s, ON_GPU, e) && train(s, ON_CPU, e) && train(s, LINEAR, e);
    if (!good)
        return ended(s, c, good, e);
    double gpu = accuracy(s, ON_GPU), cpu = accuracy(s, ON_CPU), linear = accuracy(s, LINEAR);
    gpucheck_measured(c, "accuracy %.3f; CPU %.3f, a linear model %.3f", gpu, cpu, linear);
    gpucheck_threshold(c, "%.1f", LEARNT);
    gpucheck_reason(c, "a network on the card learned a problem that no linear model can learn");
    if (!(gpu >= LEARNT && cpu >= LEARNT && linear < LEARNT))
        gpucheck_faulty(c, "do not train on this card; " GPU_REPORT,
                        gpu >= LEARNT ? "the training on the CPU is wrong"
                                      : "the training on the card did not learn");
    return true;
}

static bool check_portable(struct lesson *s, struct err *e)
{
    struct gpu_check *c = gpucheck_add(s->j->g, "portable");
    struct verify_result there = {0}, back = {0};
    struct overrides cpu = command_of(s, false), gpu = command_of(s, true);
    bool good = verify_run(s->models[ON_GPU], &cpu, false, &there, e) &&
                verify_run(s->models[ON_CPU], &gpu, false, &back, e);
    if (!good)
        return ended(s, c, good, e);
    gpucheck_measured(c, "%.2g", worst_of(there.largest_difference, back.largest_difference));
    gpucheck_threshold(c, "1e-05");
    gpucheck_reason(c, "saved on one and loaded on the other: the same answers");
    if (!there.pass || !back.pass)
        gpucheck_faulty(c, "do not apply models on this card; " GPU_REPORT,
                        "a model of the %s answers otherwise on the %s",
                        there.pass ? "CPU" : "card", there.pass ? "card" : "CPU");
    return true;
}

static bool check_repeat(struct lesson *s, struct err *e)
{
    struct gpu_check *c = gpucheck_add(s->j->g, "repeat");
    bool good = train(s, ON_GPU_AGAIN, e);
    if (!good)
        return ended(s, c, good, e);
    bool same = strcmp(s->results[ON_GPU].sha256, s->results[ON_GPU_AGAIN].sha256) == 0;
    gpucheck_measured(c, "%s", same ? "the same bytes" : "other bytes");
    gpucheck_threshold(c, "the same bytes");
    gpucheck_reason(c, "two trainings from one seed give one model file");
    if (!same)
        gpucheck_faulty(c, "unstable memory or clocks do this (take overclocking back); report it "
                           "if a second card does it too",
                        "two trainings from one seed differ: something computes by chance");
    return true;
}

void gpucheck_learn_drop(struct gpu_job *j)
{
    if (j->lesson)
        drop_folder(j->lesson);
}

bool gpucheck_learn(struct gpu_job *j, struct err *e)
{
    struct lesson *s = mem_zero(1, sizeof *s);
    snprintf(s->card, sizeof s->card, "%u", j->info.index);
    s->j = j;
    j->lesson = s;
    bool good = make_folder(s, e) && write_data(s, e) && check_train(s, e);
    good = good && (!gpucheck_good(j->g) || check_portable(s, e));
    good = good && (!gpucheck_good(j->g) || check_repeat(s, e));
    j->lesson = NULL;
    drop_folder(s);
    mem_free(s);
    return good;
}
