/* merge.c - `dnn merge`: parts to a model, by the function that ends a training of an ensemble. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "train/job.h"

/* True: both parts were made on one kind of machine; else `train` would not have made these
 * bytes. */
static bool same_machine(const struct run_part *a, const struct run_part *b, const char *path,
                         struct err *e)
{
    if (strcmp(a->plan.backend, b->plan.backend) == 0 && strcmp(a->plan.core, b->plan.core) == 0 &&
        strcmp(a->plan.precision, b->plan.precision) == 0 && a->plan.version == b->plan.version)
        return true;
    err_at(e, ERR_CHECKPOINT_OTHER, path, 0, 0,
           "the part was trained on %s, %s, %s, another one on %s, %s, %s", b->plan.backend,
           b->plan.core, b->plan.precision, a->plan.backend, a->plan.core, a->plan.precision);
    return err_help(e, "train all runs on one kind of processor, with one build of dnn");
}

static bool take(struct train_job *j, const char *path, const struct run_part **first,
                 struct err *e)
{
    struct ensemble *n = j->ensemble;
    char room[512];
    struct run_part *p = part_load(path, e);
    if (!p)
        return false;
    if (!*first) {
        j->run.features = encoder_features(p->encoder);
        struct text text = {0};
        if (config_resolved(j->config, j->run.features, true, &text, e))
            j->config_text = mem_string_n(text.data, text.length);
        text_free(&text);
    }
    bool good = j->config_text && job_part_fits(j, p, *first ? (*first)->data : p->data, path, e) &&
                (!*first || same_machine(*first, p, path, e));
    if (good && p->run >= n->runs)
        good = err_at(e, ERR_CHECKPOINT_OTHER, path, 0, 0, "the part is of run %u, and the config "
                      "has runs 0 to %u", p->run, n->runs - 1);
    if (good && n->parts[p->run])
        good = err_set(e, ERR_USAGE, "run %u is there twice, the second time as \"%s\"", p->run,
                       job_quoted(path, room));
    n->cut |= good && !part_whole(p);
    if (!good) {
        part_free(p);
        return false;
    }
    n->parts[p->run] = p;
    if (!*first)
        *first = p;
    return true;
}

/* True: all runs are there; a part of a run that diverged was never written. */
static bool complete(const struct ensemble *n, struct err *e)
{
    struct text missing = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->runs; i++)
        if (!n->parts[i] && count++ < 20)
            text_printf(&missing, "%s%u", missing.length ? ", " : "", i);
    if (count) {
        err_set(e, ERR_USAGE, "the part%s of run%s %s%s missing", count == 1 ? "" : "s",
                count == 1 ? "" : "s", missing.data, count == 1 ? " is" : " are");
        err_help(e, "`dnn train CONFIG --run I -o PART` makes each");
    }
    text_free(&missing);
    return !count;
}

static bool story(struct train_job *j, const char *const *parts, size_t count,
                  struct train_result *r, struct err *e)
{
    const struct run_part *first = NULL;
    if (!config_is_ensemble(j->config))
        return err_set(e, ERR_USAGE, "the config has no ensemble: there are no parts to merge");
    j->ensemble = ensemble_new(j->config, e);
    if (!j->ensemble || !job_open(j, j->request, e))
        return false;
    stop_phase("reading the parts", true);
    for (size_t i = 0; i < count; i++)
        if (!take(j, parts[i], &first, e))
            return false;
    return complete(j->ensemble, e) && job_save(j, r, e);
}

bool train_merge(const struct train_request *q, const char *const *parts, size_t count,
                 struct train_result *r, struct err *e)
{
    struct train_job j = {
        .request = q, .config = q->config, .began = clock_now(), .journal = {.fd = -1}};
    memset(r, 0, sizeof *r);
    bool good = story(&j, parts, count, r, e);
    r->total_s = clock_now() - j.began;
    r->exit = good ? EXIT_DONE : (int)err_exit(e);
    r->says_kept = j.says_kept;
    job_close(&j);
    stop_phase("ending", false);
    return good;
}
