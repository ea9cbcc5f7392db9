/* train.c - the story of one training, from CSV to model file. It owns nothing: training.h does. */
#include "train/train.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/profile.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/warnings.h"
#include "choose/memory.h"
#include "train/training.h"

static bool read_gates(const struct train_request *q, struct train_result *r, struct err *e)
{
    if (q->require_count)
        r->gates = mem_zero(q->require_count, sizeof *r->gates);
    for (size_t i = 0; i < q->require_count; i++, r->gate_count++)
        if (!gate_read(&r->gates[i], q->require[i], q->config->task, e))
            return false;
    return true;
}

void train_release(struct train_result *r)
{
    for (size_t i = 0; i < r->gate_count; i++)
        gate_release(&r->gates[i]);
    mem_free(r->gates);
    r->gates = NULL;
    r->gate_count = 0;
}

static bool story(struct training *t, const struct train_request *q, struct train_result *r,
                  struct err *e)
{
    double began = t->began;
    if (!read_gates(q, r, e) || !training_open(t, q, e) ||
        (q->profile && !profile_begin(q->profile, e)) || !training_load(t, e))
        return false;
    if (r->gate_count && !t->table->count[PART_TEST] && !t->table->count[PART_VALID])
        return err_set(e, ERR_USAGE, "--require measures the test or the validation rows, and "
                                     "data.split leaves neither");
    double loaded = clock_now();
    if (!training_build(t, e))
        return false;
    double started = clock_now();
    profile_machine(t->backend.device);
    t->progress = progress_open((enum progress_style)q->progress, q->config->train.epochs,
                                t->history.metric ? t->history.metric->name : NULL);
    if (!epochs_run(t, e))
        return false;
    progress_close(t->progress);
    t->progress = NULL;
    double trained = clock_now();
    if (!train_save(t, r, e))
        return false;
    r->backend = t->backend;
    r->load_s = loaded - began - t->opening_s;
    r->start_s = started - loaded + t->opening_s;
    r->train_s = trained - started;
    r->total_s = t->before + clock_now() - began;
    return true;
}

/* What was written before a disk was full, say, stays. */
static bool tell_kept(struct training *t, struct err *e)
{
    char shown[512], advice[sizeof e->help];
    bool model = keeper_placed(e) && file_same(e->file, t->output); /* there already */
    bool again = !keeper_placed(e) && t->checkpoint && strcmp(e->file, t->checkpoint) == 0;
    if (t->says_kept || !t->checkpoint || again) /* to go on from it would fail as well */
        return false;
    t->says_kept = true;
    text_escape(shown, sizeof shown, t->checkpoint, strlen(t->checkpoint));
    snprintf(advice, sizeof advice, "%s", e->help);
    return err_help(e, "%s%sthe checkpoint \"%s\" %s", advice, *advice ? "; " : "", shown,
                    model ? "stays beside it"
                          : "is whole: the same command with --resume goes on from there");
}

static struct training *_Atomic running;

static bool _Atomic over;

bool train_over(void)
{
    return over;
}

void train_stuck(struct err *e)
{
    if (running)
        training_failed(running, e);
}

bool train_run(const struct train_request *q, struct train_result *r, struct err *e)
{
    const struct anew_spent before = anew_spent();
    struct training t = {
        .request = q, .began = clock_now(), .before = before.here, .used = before.all};
    memset(r, 0, sizeof *r);
    running = &t;
    bool good = story(&t, q, r, e) || training_failed(&t, e) || tell_kept(&t, e);
    r->exit = good ? EXIT_DONE : (int)err_exit(e);
    r->says_kept = t.says_kept;
    r->said = t.said;
    running = NULL;
    over = good;
    training_close(&t);
    over = false;
    stop_phase("ending", false);
    struct err late = {0};
    if (profile_end(good, &late) || !good)
        return good;
    *e = late;
    r->exit = (int)err_exit(e);
    r->says_kept = true;
    char shown[512], advice[sizeof e->help];
    text_escape(shown, sizeof shown, q->output, strlen(q->output));
    snprintf(advice, sizeof advice, "%s", e->help);
    return err_help(e, "%s%sthe model \"%s\" is written", advice, *advice ? "; " : "", shown);
}

void train_write_end(const struct train_result *r, struct json_out *out)
{
    json_put_int(out, "epochs", r->epochs);
    if (r->best_epoch)
        json_put_int(out, "best_epoch", r->best_epoch);
    else
        json_put_null(out, "best_epoch");
    json_put_string(out, "stopped", r->stopped);
}

void train_write(const struct train_request *q, const struct train_result *r, struct json_out *out)
{
    json_open(out, NULL, '{');
    json_put_string(out, "schema", "dnn.train/1");
    json_put_string(out, "model", q->output);
    select_write(&r->backend, "backend", out);
    memory_write("memory", out);
    json_open(out, "rows", '{');
    for (int p = 0; p < PARTS; p++)
        json_put_int(out, part_words[p], (int64_t)r->rows[p]);
    json_close(out, '}');
    train_write_end(r, out);
    metrics_write(&r->valid, "valid", out);
    metrics_write(&r->test, "test", out);
    metrics_write(&r->baseline, "baseline", out);
    if (r->gate_count)
        gates_write(r->gates, r->gate_count, out);
    warnings_write(out);
    json_open(out, "seconds", '{');
    json_put_number(out, "load", r->load_s);
    json_put_number(out, "start", r->start_s);
    json_put_number(out, "train", r->train_s);
    json_put_number(out, "total", r->total_s);
    json_close(out, '}');
    json_put_string(out, "model_sha256", r->sha256);
    json_close(out, '}');
}
