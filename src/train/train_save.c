/* train_save.c - the end of a training: the best weights, what they reach, golden rows, the model
 * file. */
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <sys/stat.h>

#include "answer/golden.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "config/output.h"
#include "train/training.h"

/* All metrics of a part, and its loss against the constant's. */
static bool measure_part(struct training *t, enum part part, struct metrics *m, struct against *a,
                         struct err *e)
{
    if (!score_all(&t->score, part, &metric_loss, m, e))
        return false;
    *a = (struct against){.part = part,
                          .loss = m->m[--m->count].value,
                          .constant = score_constant(&t->score, part)};
    return true;
}

/* Without validation rows: of the epoch whose weights serve, or of the steps so far. */
static double training_loss(struct training *t)
{
    const struct history *h = &t->history;
    struct step now;
    if (h->epochs)
        return h->rows[(t->broke ? h->best_epoch : h->epochs) - 1].loss;
    network_step(t->network, &now);
    return now.epoch_loss / now.epoch_weight;
}

/* against: on the validation rows; shown: on the rows that the user is told of. */
static bool measure(struct training *t, struct train_result *r, struct against *against,
                    struct against *shown, struct err *e)
{
    r->has_valid = t->table->count[PART_VALID] > 0;
    r->has_test = t->table->count[PART_TEST] > 0;
    if ((r->has_valid && !measure_part(t, PART_VALID, &r->valid, against, e)) ||
        (r->has_test && !measure_part(t, PART_TEST, &r->test, shown, e)))
        return false;
    if (!r->has_valid)
        *against = (struct against){.part = PART_TRAIN,
                                    .loss = training_loss(t),
                                    .constant = score_constant(&t->score, PART_TRAIN)};
    if (!r->has_test || !score_weighs(&t->score, PART_TEST))
        *shown = *against;
    /* test rows that all weigh 0 measure nothing: then the constant is measured on the others */
    bool idle = shown->part != PART_TEST && r->has_valid;
    enum part part = r->has_test && !idle ? PART_TEST : PART_VALID;
    if (r->has_test || r->has_valid)
        score_baseline(&t->score, part, &r->baseline);
    return true;
}

/* A model that stands there: a regular file that is not empty (output_check has read it). */
static bool model_stands(const struct training *t)
{
    struct stat st;
    return stat(t->output, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

static bool refuse_useless(const struct train_result *r, const struct against *a, struct err *e)
{
    if (r->has_valid)
        err_set(e, ERR_USELESS,
                "the new model is no better than a constant answer: loss %.4g on the validation "
                "rows, that of the constant %.4g; the model that is there stays",
                a->loss, a->constant);
    else
        err_set(e, ERR_USELESS,
                "the training ended inside its first epoch, and there are no validation rows to "
                "show what it reached; the model that is there stays");
    return err_help(e, "train longer or on other data; or replace it all the same with --force");
}

/* On the test part, else the validation part. */
static bool gates_met(struct train_result *r, struct err *e)
{
    const struct metrics *m = r->has_test ? &r->test : &r->valid;
    struct text failed = {0};
    for (size_t i = 0; i < r->gate_count; i++) {
        struct gate *g = &r->gates[i];
        gate_measure(g, metrics_get(m, g->metric->name));
        if (!g->pass)
            text_printf(&failed, "%s%s, measured %.6g", failed.length ? "; " : "",
                        text_quote_z(g->text), g->value);
    }
    bool met = !failed.length;
    if (!met)
        err_set(e, ERR_GATE_UNMET, "gate not met on the %s rows: %s",
                part_names[r->has_test ? PART_TEST : PART_VALID], failed.data);
    text_free(&failed);
    return met;
}

/* A run that broke, and whose best epoch is no better than a constant answer. */
static bool refuse(struct training *t, const struct against *a, struct err *e)
{
    char why[200];
    snprintf(why, sizeof why,
             "the best epoch, %lld, is no better than a constant answer (loss %.4g on the %s rows, "
             "that of the constant %.4g)",
             (long long)t->history.best_epoch, a->loss, part_names[a->part], a->constant);
    return training_useless(t, t->broke, why, e);
}

static bool judge(struct training *t, struct train_result *r, const struct against *a,
                  const struct against *shown, struct err *e)
{
    char advice[300];
    if (t->broke && !against_better(a))
        return refuse(t, a, e);
    if (t->broke) {
        training_advice(t, advice, sizeof advice);
        log_warning("%s; the model is that of epoch %lld, the best before; %s", t->broke,
                    (long long)t->history.best_epoch, advice);
    }
    /* without validation rows nothing is known of a run that ended inside its first epoch */
    bool useless = r->has_valid ? !against_better(a) : r->epochs == 0;
    if (useless && !t->request->force && model_stands(t))
        return refuse_useless(r, a, e);
    if (!gates_met(r, e))
        return false;
    train_judge(t, r, r->has_valid && against_better(shown) ? a : shown);
    return true;
}

/* JSON object of the model file: what the training reached, and nothing about when, where or how
 * fast. */
static void write_metrics(const struct train_result *r, struct text *out)
{
    struct json_out o = {0};
    json_open(&o, NULL, '{');
    train_write_end(r, &o);
    if (r->has_valid)
        metrics_write(&r->valid, "valid", &o);
    if (r->has_test)
        metrics_write(&r->test, "test", &o);
    if (r->has_valid || r->has_test)
        metrics_write(&r->baseline, "baseline", &o);
    json_close(&o, '}');
    *out = o.text;
}

static bool make_golden(const struct training *t, struct golden *g, struct err *e)
{
    const struct table_sample *sample = &t->table->sample;
    const uint32_t outputs = t->features->outputs;
    real *logits = mem_zero((size_t)sample->rows * outputs + 1, sizeof *logits);
    bool good = score_first(&t->score, sample->rows, logits, e);
    if (good)
        golden_make(g, sample, logits, outputs);
    mem_free(logits);
    return good;
}

/* A name beside the output that is free; mem_free. */
static char *name_beside(const char *output)
{
    for (unsigned i = 1;; i++) {
        struct text name = {0};
        text_printf(&name, i > 1 ? "%s.new-%u" : "%s.new", output, i);
        struct stat st;
        if (lstat(name.data, &st) != 0 && errno == ENOENT)
            return name.data;
        text_free(&name);
    }
}

/* A foreign file may have appeared at the output's name while the training ran. The last look is
 * directly before the rename; then the model is written beside that file, and it is an error. */
static bool save(struct training *t, const struct modelfile *f, const struct model *m,
                 char digest[65], struct err *e)
{
    char shown[512];
    struct outfile o = {.fd = -1};
    bool replaceable = output_replaceable(t->output, e);
    if (replaceable && !modelfile_prepare(f, &m, t->output, &o, digest, e))
        return false;
    if (replaceable && output_replaceable(t->output, e))
        return outfile_commit(&o, e);
    outfile_abort(&o);
    if (e->id != ERR_FILE_CREATE)
        return false; /* it cannot be looked at */
    struct err inner = {0};
    char *beside = name_beside(t->output);
    if (modelfile_save(f, &m, beside, digest, &inner)) {
        err_help(e, "it came while the training ran; the model is written to \"%s\"",
                 training_quoted(beside, shown));
        keeper_clear(&t->keeper);
        t->says_kept = true;
    } else {
        *e = inner;
    }
    mem_free(beside);
    return false;
}

static bool write_model(struct training *t, struct train_result *r, struct err *e)
{
    const struct model *m = network_model(t->network);
    struct network_state s;
    struct text metrics = {0};
    bool good = training_look(t, false, &s, e) && training_finite(t, &s, e);
    struct member member = {.params = s.params,
                            .buffers = s.buffers,
                            .param_count = m->params,
                            .buffer_count = m->buffers,
                            .weight = 1};
    struct modelfile f = {.schema = t->schema,
                          .config_text = t->config_text,
                          .plan = t->plan,
                          .members = &member,
                          .member_count = 1};
    good = good && make_golden(t, &f.golden, e);
    write_metrics(r, &metrics);
    f.metrics_text = metrics.data;
    stop_phase("writing the model", false);
    if (good)
        good = save(t, &f, m, r->sha256, e);
    golden_free(&f.golden);
    text_free(&metrics);
    training_look_end(t, &s);
    return good;
}

static void swap_reals(real *a, real *b, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        real kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* The best weights and the last ones in each other's place; no third copy. */
static void swap_best(struct training *t)
{
    const struct model *m = network_model(t->network);
    struct network_state now;
    network_view(t->network, &now);
    swap_reals(now.params, t->best.params, m->params);
    swap_reals(now.buffers, t->best.buffers, m->buffers);
}

/* The best weights take the place of the last ones, which are kept in `last`, or in t->best where
 * the machine's memory is the host's; moments and counters stay as they are. */
static bool put_best(struct training *t, struct network_state *last, struct err *e)
{
    *last = (struct network_state){0};
    if (!t->best.params || (!t->history.metric && !t->broke))
        return true; /* without validation rows the last weights serve */
    if (!training_look(t, false, last, e))
        return false;
    if (machine_in_place(t->machine)) {
        swap_best(t);
        return true;
    }
    network_restore_best(t->network);
    return true;
}

/* A checkpoint holds the training as it stood, not its best moment. */
static void put_last(struct training *t, const struct network_state *last)
{
    if (last->params && machine_in_place(t->machine))
        swap_best(t);
    else if (last->params)
        network_set(t->network, last);
}

bool train_save(struct training *t, struct train_result *r, struct err *e)
{
    struct network_state last;
    struct against against = {0}, shown = {0};
    stop_phase("measuring the model", false);
    bool good = put_best(t, &last, e);
    for (int p = 0; p < PARTS; p++)
        r->rows[p] = t->table->count[p];
    r->epochs = t->history.epochs;
    r->best_epoch = t->history.metric || t->broke ? t->history.best_epoch : t->history.epochs;
    r->stopped = t->stopped;
    good = good && measure(t, r, &against, &shown, e);
    if (!good && (e->id == ERR_NONE || machine_in_place(t->machine)))
        put_last(t, &last); /* in place, the best ones are where they were as well */
    if (!good && e->id == ERR_NONE)
        training_stopped(t, e);
    training_look_end(t, &last);
    good = good && judge(t, r, &against, &shown, e);
    /* with the model in place its folder's sync alone can fail: then its checkpoints stay */
    good = good && journal_sync(&t->journal, e) && write_model(t, r, e);
    if (good)
        keeper_clear(&t->keeper);
    return good;
}
