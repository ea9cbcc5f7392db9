/* check_runs.c - see check_parts.h. */

#include "backend/backend.h"
#include "base/clock.h"
#include "base/process/hostmem.h"
#include "base/mem.h"
#include "base/process/thread.h"
#include "check/check_parts.h"
#include "train/ensemble.h"
#include "train/run/run_path.h"
#include "train/parallel.h"

enum { ANSWERS = 4096 }; /* rows whose answers are timed */
static const double QUICKLY = 0.02; /* seconds of steps that are timed, for init */

struct measured {
    uint64_t parameters; /* that are trained */
    double seconds; /* of all epochs, or penalties */
    uint64_t bytes; /* of network and best weights */
    uint64_t room;  /* of all that a run at work takes: memory that it touches */
    uint64_t kept;  /* of its part, once it is finished */
};

/* Seconds of the answer to a row. */
static bool time_answers(const struct run *r, double *row_s, struct err *e)
{
    struct row_list list = r->list[PART_VALID];
    if (!list.windows && list.count > ANSWERS)
        list.count = ANSWERS;
    if (!list.count)
        return true;
    real *logits = mem_alloc(list.count * r->features->outputs, sizeof *logits);
    double began = clock_thread();
    bool good = run_answer(r, &list, logits, e);
    *row_s = (clock_thread() - began) / (double)list.count;
    mem_free(logits);
    return good;
}

/* Weights; logits, label or target and weight of the rows that it answers. */
static uint64_t part_bytes(const struct run *r, uint64_t weights)
{
    const uint64_t rows = r->list[PART_VALID].count + r->list[PART_TEST].count;
    return weights * sizeof(real) +
           rows * (r->features->outputs * sizeof(real) + 2 * sizeof(double));
}

/* Makes the network of a run that is open, and times its steps and answers. */
static bool measure(struct run *r, double trial, struct measured *to, struct err *e)
{
    struct network_bytes need;
    double step_s = 0, row_s = 0;
    run_plan(r, NULL);
    const struct network_options o = run_network_options(r);
    if (!run_network(r, e) || !run_begin(r, e) || !network_need(&o, r->machine, &need, e) ||
        !batch_size_time(r, trial, clock_thread, &step_s, e) || !time_answers(r, &row_s, e) ||
        !batch_size_time(r, trial, clock_thread, &step_s, e) || /* fresh memory was touched */
        !time_answers(r, &row_s, e))
        return false;
    const struct model *m = network_model(r->network);
    double valid = (double)row_list_reads(&r->list[PART_VALID]),
           test = (double)row_list_reads(&r->list[PART_TEST]);
    to->parameters = m->trained;
    to->room = (m->params + m->buffers) * sizeof(real); /* the best ones: not touched here */
    to->bytes = need.total + to->room;
    to->kept = part_bytes(r, m->params + m->buffers);
    to->seconds = (double)run_epochs_most(r) * (step_s * (double)r->steps + row_s * valid) +
                  row_s * (valid + test);
    return true;
}

/* The first run of a member, on a machine of its own. */
static bool measure_member(struct train_job *j, uint32_t member, double trial, struct measured *to,
                           struct err *e)
{
    const struct ensemble *n = j->ensemble;
    const uint32_t run = member * n->folds;
    const uint64_t before = hostmem_now();
    struct machine *m = machine_open(&(struct machine_options){.backend = "cpu", .blas = true,
                                                               .precision = j->backend.precision},
                                     e);
    if (!m)
        return false;
    struct view *view = view_make(j->table->data, n->encoders[run], false);
    struct run r = {.machine = m, .quiet = true};
    job_set_run(j, run, &view->rows, &r);
    bool good = run_open(&r, e) && measure(&r, trial, to, e);
    const uint64_t now = hostmem_now(), grown = now > before ? now - before : 0;
    const uint64_t solver = good ? run_path_bytes(&r) : 0;
    to->room += grown + solver;
    to->bytes += solver;
    run_close(&r);
    view_free(view);
    machine_close(m);
    return good;
}

/* Scales the first member's figures by the work of the member. */
static bool scale_member(struct train_job *j, uint32_t member, const struct measured *first,
                         struct measured *to, struct err *e)
{
    uint64_t first_params, params;
    double work = ensemble_work(j, 0, &first_params, e),
           own = ensemble_work(j, member * j->ensemble->folds, &params, e);
    if (work < 0 || own < 0)
        return false;
    to->parameters = params;
    to->seconds = first->seconds * own / work;
    to->bytes = (uint64_t)((double)first->bytes * (double)params / (double)first_params);
    to->kept = part_bytes(&j->run, params);
    return true;
}

/* The host's peak: bytes before the first network, the largest runs side by side, the
 * parts of all. */
static void account(uint64_t before, uint64_t room, uint64_t kept, struct check_result *r)
{
    const uint64_t all = before + r->runs_beside * room + kept;
    if (all <= r->host_bytes)
        return;
    const uint64_t more = all - r->host_bytes, held = kept < more ? kept : more;
    r->host_bytes = all;
    r->weights_bytes += held;
    r->activations_bytes += more - held;
}

bool check_runs(struct train_job *j, double load_s, uint64_t before, bool quick,
                struct check_result *r, struct err *e)
{
    const struct ensemble *n = j->ensemble;
    const struct fold_rows *folds = j->table->folds.rows;
    const struct measured first = {.seconds = r->seconds - load_s,
                                   .bytes = r->weights_bytes + r->activations_bytes};
    const bool gpu = select_is_gpu(&j->backend);
    r->runs = mem_zero(n->runs, sizeof *r->runs);
    r->run_count = n->runs;
    r->folds = n->folds;
    r->fold_rows[0] = folds[0].train_count;
    r->fold_rows[1] = folds[0].left_count;
    r->model_parameters = 0;
    r->runs_beside = ensemble_beside(j, n->runs);
    double *seconds = mem_zero(n->runs, sizeof *seconds);
    uint64_t room = 0, kept = 0;
    bool good = true;
    for (uint32_t member = 0; good && member < n->members; member++) {
        struct measured each = {0};
        threads_alone(!gpu); /* as in a training, if runs go side by side */
        good = gpu ? scale_member(j, member, &first, &each, e)
                   : measure_member(j, member, quick ? QUICKLY : STEPS_TIMED, &each, e);
        threads_alone(false);
        room = each.room > room ? each.room : room;
        kept += n->folds * each.kept;
        for (uint32_t f = 0; f < n->folds; f++) {
            const uint32_t run = member * n->folds + f;
            struct check_run *k = &r->runs[run];
            k->member = mem_string(n->names[member]);
            k->fold = f;
            k->parameters = each.parameters;
            r->model_parameters += each.parameters;
            k->seconds = each.seconds * (double)folds[f].train_count / (double)folds[0].train_count;
            k->host_bytes = each.bytes;
            r->runs_seconds += seconds[run] = k->seconds;
        }
    }
    r->seconds = load_s + parallel_seconds(seconds, n->runs, r->runs_beside);
    mem_free(seconds);
    if (!good)
        return false;
    account(before, room, kept, r);
    if (j->config->train.time_limit_s > 0 && r->seconds > j->config->train.time_limit_s)
        r->seconds = j->config->train.time_limit_s;
    return true;
}
