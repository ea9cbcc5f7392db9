/* model_conformal.c - the tensors `intervals` and `sets`: there and back, and those that cannot be
 * are refused. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "model/file/modelfile_parts.h"
#include "tap.h"

/* Loads them from a file that has them alone. */
static enum err_id load(struct tensor_writer *w, int task, uint32_t members, struct conformal *c)
{
    struct text bytes = {0};
    struct err e = {0};
    struct schema schema = {.task = task};
    struct modelfile f = {.schema = &schema, .member_count = members};
    tensor_meta(w, "kind", "model");
    ok(tensor_write_bytes(w, "m.dnn", &bytes, &e), "written");
    struct tensor_file *file = tensor_open_bytes(bytes.data, bytes.length, "m.dnn", &e);
    const struct model_loading l = {file, &f, NULL, &e};
    bool good = file && modelfile_load_conformal(&l);
    *c = f.conformal;
    tensor_close(file);
    text_free(&bytes);
    tensor_writer_free(w);
    return good ? ERR_NONE : e.id;
}

static void back(const struct conformal *c, int task)
{
    struct conformal got;
    double room[CONFORMAL_NUMBERS];
    struct tensor_writer *w = tensor_writer_new();
    modelfile_add_conformal(c, room, w);
    is_int(load(w, task, 6, &got), ERR_NONE, "read again");
    ok(got.rule == c->rule && fabs(got.level - c->level) <= 0 && fabs(got.reach - c->reach) <= 0 &&
           fabs(got.floor - c->floor) <= 0 && got.folds == c->folds, "the same");
}

static enum err_id given(const char *name, const double *values, uint64_t count, int task,
                         uint32_t members)
{
    struct conformal got;
    struct tensor_writer *w = tensor_writer_new();
    tensor_add(w, name, DTYPE_F64, 1, &count, values);
    return load(w, task, members, &got);
}

int main(void)
{
    const struct conformal none = {0}, sets = {.rule = CONFORMAL_SETS, .level = 0.9, .reach = 0.2};
    const struct conformal spread = {CONFORMAL_SPREAD, 0.9, 1.5, 0.01, 3};
    const struct conformal learnt = {.rule = CONFORMAL_LEARNT, .level = 0.5, .reach = 0.25};
    back(&none, TASK_REGRESSION);
    back(&spread, TASK_REGRESSION);
    back(&learnt, TASK_REGRESSION);
    back(&sets, TASK_BINARY);
    static const struct {
        double v[5];
        uint64_t count;
        const char *name;
        int task;
        enum err_id id;
    } bad[] = {
        {{4, 0.9, 1, 0, 0}, 5, "intervals", TASK_REGRESSION, ERR_MODEL_NEWER},
        {{1, 0.9, 1, 0, 0}, 5, "intervals", TASK_BINARY, ERR_MODEL_WEIGHTS},
        {{1, 0.9, 1, 0, 0}, 4, "intervals", TASK_REGRESSION, ERR_MODEL_WEIGHTS},
        {{1, 1.5, 1, 0, 0}, 5, "intervals", TASK_REGRESSION, ERR_MODEL_WEIGHTS},
        {{1, 0.9, -1, 0, 0}, 5, "intervals", TASK_REGRESSION, ERR_MODEL_WEIGHTS},
        {{1, 0.9, INFINITY, 0, 0}, 5, "intervals", TASK_REGRESSION, ERR_MODEL_WEIGHTS},
        {{3, 0.9, 1, 0.1, 0}, 5, "intervals", TASK_REGRESSION, ERR_MODEL_WEIGHTS},
        {{3, 0.9, 1, 0.1, 4}, 5, "intervals", TASK_REGRESSION, ERR_MODEL_WEIGHTS},
        {{3, 0.9, 1, 0, 3}, 5, "intervals", TASK_REGRESSION, ERR_MODEL_WEIGHTS},
        {{3, 0.9, 1, 0.1, 1e300}, 5, "intervals", TASK_REGRESSION, ERR_MODEL_WEIGHTS},
        {{NAN, 0.9, 1, 0, 0}, 5, "intervals", TASK_REGRESSION, ERR_MODEL_NEWER},
        {{0.9, NAN}, 2, "sets", TASK_BINARY, ERR_MODEL_WEIGHTS},
        {{0.9, 0.5}, 2, "sets", TASK_REGRESSION, ERR_MODEL_WEIGHTS},
        {{0.9, 0.5, 1}, 3, "sets", TASK_MULTICLASS, ERR_MODEL_WEIGHTS}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        is_int(given(bad[i].name, bad[i].v, bad[i].count, bad[i].task, 6), bad[i].id, "refused");
    return done();
}
