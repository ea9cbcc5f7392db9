/* tiny.h - a folder with a small data set and a model trained on it, for tests that use a model. */
#ifndef DNN_TINY_H
#define DNN_TINY_H

#include <stdlib.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "config/config.h"
#include "train/train.h"

#define TINY_ROWS 1500

struct tiny {
    char folder[64];
    char *data, *model;
};
static const struct overrides tiny_overrides = {
    .backend = "dnn_cpu", .threads = 2, .batch_size = -1, .time_limit_s = -1};

static inline char *tiny_path(const struct tiny *t, const char *name)
{
    struct text path = {0};
    text_printf(&path, "%s/%s", t->folder, name);
    return path.data; /* mem_free */
}

/* Its path; mem_free. */
static inline char *tiny_file(const struct tiny *t, const char *name, const char *content)
{
    char *path = tiny_path(t, name);
    FILE *f = fopen(path, "wb");
    if (f) {
        fwrite(content, 1, strlen(content), f);
        fclose(f);
    }
    return path;
}

static inline char *tiny_read(const char *path)
{
    struct err e = {0};
    char *bytes = NULL;
    size_t length;
    return file_slurp(path, (size_t)64 << 20, ERR_FILE_READ, &bytes, &length, &e) ? bytes
                                                                                  : mem_string("");
}

static const char *tiny_no = "no"; /* the first label, as it stands in the file */

/* id, a number with gaps, a category with gaps, the target. */
static inline void tiny_rows(int task, uint64_t from, size_t rows, struct text *out)
{
    static const char *const colors[] = {"red", "green", "blue, light", "", "say \"\"x\"\""};
    const char *labels[] = {tiny_no, "yes", "so, so"};
    for (uint64_t i = from; i < from + rows; i++) {
        double x = rng_uniform(5, i, 0, 0, RNG_TEST), noise = rng_uniform(5, i, 1, 0, RNG_TEST);
        unsigned color = (unsigned)(rng_uniform(5, i, 2, 0, RNG_TEST) * 5);
        double score = x + (color < 2 ? 0.3 : 0) + 0.4 * noise;
        text_printf(out, "%llu,", (unsigned long long)i);
        if (i % 17 != 3)
            text_printf(out, "%.6f", x);
        text_printf(out, ",%s%s%s,", color == 2 || color == 4 ? "\"" : "", colors[color],
                    color == 2 || color == 4 ? "\"" : "");
        if (task == TASK_REGRESSION)
            text_printf(out, "%.4f\n", 1000 + 10 * score);
        else if (task == TASK_BINARY)
            text_printf(out, "%s\n", labels[score > 0.85]);
        else
            text_printf(out, "\"%s\"\n", labels[score > 1 ? 2 : score > 0.6]);
    }
}

static inline bool tiny_open(struct tiny *t, int task, struct err *e)
{
    struct text data = {0}, config = {0};
    *t = (struct tiny){0};
    snprintf(t->folder, sizeof t->folder, "/tmp/dnn_tiny_XXXXXX");
    if (!mkdtemp(t->folder))
        return err_set(e, ERR_BUG, "no temporary folder");
    text_put(&data, "id,x,color,y\n");
    tiny_rows(task, 0, TINY_ROWS, &data);
    t->data = tiny_file(t, "data.csv", data.data);
    t->model = tiny_path(t, "tiny.dnn");
    char *path = tiny_path(t, "config.json");
    text_printf(
        &config,
        "{\"task\": \"%s\", \"data\": {\"train\": \"data.csv\", \"target\": \"y\", %s"
        "\"columns\": {\"id\": \"id\", \"x\": \"numeric\", \"color\": \"categorical\"}},"
        "\"model\": {\"preset\": \"mlp\", \"hidden\": [16, 8]},"
        "\"train\": {\"epochs\": 12, \"batch_size\": 64, \"optimizer\": {\"learning_rate\": 0.01}},"
        "\"output\": {\"model\": \"tiny.dnn\", \"fingerprint\": false}}",
        task_names[task], task == TASK_BINARY ? "\"positive\": \"yes\", " : "");
    struct config *c = config_parse(config.data, config.length, path, &tiny_overrides, e);
    bool good = c != NULL;
    if (good) {
        struct train_request q = {.config = c, .output = t->model, .progress = 3};
        struct train_result r = {0};
        unsigned before = log_warnings();
        good = train_run(&q, &r, e);
        expect_warnings(log_warnings() - before); /* rows that look alike are on both sides */
        config_free(c);
    }
    mem_free(path);
    text_free(&data);
    text_free(&config);
    return good;
}

static inline void tiny_close(struct tiny *t)
{
    const char *const names[] = {"data.csv",   "tiny.dnn", "out.csv", "unseen.csv",
                                 "norows.csv", "in.csv",   "bad.csv", "part.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = tiny_path(t, names[i]);
        unlink(path);
        mem_free(path);
    }
    rmdir(t->folder);
    mem_free(t->data);
    mem_free(t->model);
}

#endif
