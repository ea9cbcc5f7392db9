/* job.c - see job.h: outputs, data and network of a job. */
#include "train/job.h"

#include <stdio.h>
#include <string.h>

#include "answer/stream/answer_line.h"
#include "base/clock.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/process/stop.h"
#include "base/process/thread.h"
#include "choose/memory.h"
#include "config/output.h"
#include "config/variable.h"

const char *job_quoted(const char *path, char room[512])
{
    text_escape(room, 512, path, strlen(path));
    return room;
}

/* --- the outputs --- */

static void note_existing(const struct train_job *j)
{
    struct checkpoint_list l;
    struct err e = {0};
    if (!checkpoint_find(j->output, &l, &e))
        log_note("%s", e.what);
    if (l.count) {
        char *path = checkpoint_path(j->output, l.steps[l.count - 1]), room[512];
        log_note(
            "%zu checkpoint%s of an earlier training %s left as %s (\"%s\"); --resume would go "
            "on from the newest one of this config and data",
            l.count, l.count > 1 ? "s" : "", l.count > 1 ? "are" : "is",
            l.count > 1 ? "they are" : "it is", job_quoted(path, room));
        mem_free(path);
    }
    checkpoint_list_free(&l);
}

bool job_open(struct train_job *j, const struct train_request *q, struct err *e)
{
    j->config = q->config;
    j->output = file_final(q->output);
    j->resume = q->resume || reexec_resumes();
    stop_phase("opening the outputs", true);
    if (!output_check(j->config, q->output, q->one, q->profile, e) ||
        !lock_take(&j->lock, j->output, e) ||
        !journal_open(&j->journal, j->config->output.metrics, e) ||
        (!q->one && !journal_own(&j->journal, e)))
        return false;
    unsigned stale = checkpoint_sweep(j->output);
    if (stale)
        log_note("%u temporary file%s of a run that was killed removed", stale,
                 stale > 1 ? "s" : "");
    if (j->resume) {
        if (j->lock.abrupt)
            log_note("the run before ended abruptly");
    } else {
        note_existing(j);
    }
    return true;
}

/* --- the data --- */

static void say_notes(const struct table *table, const struct config *c)
{
    const struct preset *preset = c->architecture->preset;
    for (size_t i = 0; i < table->remarks.count; i++)
        log_warning("%s", table->remarks.items[i].text);
    if (c->unused)
        log_warning("preset auto has its own %s for its members: what the config says is not used; "
                    "one network that uses it: --set model.preset=%s", c->unused,
                    preset ? preset->name : "mlp");
    if (table->data->extra_columns)
        log_note("%llu column%s of the file not in the config: ignored",
                 (unsigned long long)table->data->extra_columns,
                 table->data->extra_columns > 1 ? "s" : "");
    if (table->data->blank_lines)
        log_note("%llu blank line%s dropped", (unsigned long long)table->data->blank_lines,
                 table->data->blank_lines > 1 ? "s" : "");
}

/* auto: a resumed training keeps the machine of its checkpoint. Else the network's products give
 * the cost of a row: the backward pass takes two for each of the forward pass. A step also updates
 * every parameter of its tables: 28 bytes of memory each, as slow as UPDATE operations of a product
 * on a CPU and on a card. */
#define UPDATE 256.0

/* The plan of the first run that is to be resumed, or was finished. NULL: there is none. */
static const struct plan *kept_plan(const struct ensemble *n)
{
    for (uint32_t i = 0; n->keepers && i < n->runs; i++)
        if (n->keepers[i].found || n->parts[i])
            return n->keepers[i].found ? &n->keepers[i].found->plan : &n->parts[i]->plan;
    return NULL;
}

bool job_decide_machine(struct train_job *j, uint32_t runs, struct err *e)
{
    if (j->resume && !job_find(j, e))
        return false;
    const struct plan *kept = kept_plan(j->ensemble);
    if (kept) {
        select_by_plan(&j->backend, kept);
        return job_open_machine(j, e);
    }
    const struct config *c = j->run.config;
    struct model *m = ensemble_plan(c, j->run.encoder, e);
    if (!m)
        return false;
    double products = (double)m->flops, tables = (double)m->params - products / 2;
    double rows = (double)row_list_reads(&j->run.list[PART_TRAIN]) * (double)c->train.epochs * runs;
    struct select_work work = {.rows = rows,
                               .flops = 3.0 * products + UPDATE * tables / j->run.batch,
                               .steps = rows / j->run.batch,
                               .bytes = (double)table_bytes(j->table)};
    model_free(m);
    select_decide(&j->backend, &work);
    return job_open_machine(j, e);
}

/* Fails before the training, not after it. */
static bool can_be_saved(const struct train_job *j, struct err *e)
{
    const struct ensemble *n = j->ensemble;
    bool fits = true;
    for (uint32_t i = 0; fits && i < n->members; i++) {
        struct model *m = ensemble_plan(n->configs[i], ensemble_encoder(j, i * n->folds), e);
        fits = m && modelfile_holds(m, e);
        model_free(m);
    }
    return fits;
}

/* Warns if backend.blas names OpenBLAS and it cannot be used. */
static void warn_blas(const struct train_job *j)
{
    struct cpu_info cpu;
    cpu_describe(&cpu);
    if (j->config->backend.blas == BLAS_OPENBLAS && cpu.blas_reason[0] &&
        !select_wants_gpu(&j->backend))
        log_warning("backend.blas \"openblas\": %s; our own products serve", cpu.blas_reason);
}

/* The seed of a run: folds see other rows and get other seeds; two members of one name would be the
 * same network. */
static uint64_t seed_of(const struct ensemble *n, uint64_t seed, uint32_t run)
{
    if (n->plain)
        return seed;
    const char *name = n->names[run / n->folds];
    const uint64_t fold = run % n->folds;
    return rng_hash(&fold, sizeof fold, rng_hash(name, strlen(name), seed)) >> 1;
}

void job_set_run(const struct train_job *j, uint32_t run, const struct rows *encoded, struct run *r)
{
    const struct ensemble *n = j->ensemble;
    const struct table *t = j->table;
    r->config = n->configs[run / n->folds];
    r->seed = seed_of(n, r->config->train.seed, run);
    r->encoder = ensemble_encoder(j, run);
    r->from = warm_of_run(j->warm, n, run);
    r->rows = *encoded;
    r->target = t->data->target;
    r->groups = dataset_has_groups(t->data) ? t->data : NULL;
    for (int p = 0; p < PARTS; p++)
        r->list[p] = t->split.list[p];
    if (!n->alone) {
        r->list[PART_TRAIN] = t->folds.rows[run % n->folds].trains_on;
        r->list[PART_VALID] = t->folds.rows[run % n->folds].answers;
    }
}

/* Sets the inputs of the run and opens it. */
bool job_open_run(struct train_job *j, struct err *e)
{
    struct run *r = &j->run;
    const char *word = variable("GPU_BATCH_SIZE");
    if (!j->ensemble->alone && j->request->check) /* its steps are timed */
        j->view = view_make(j->table->data, j->ensemble->encoders[0], false);
    job_set_run(j, 0, j->view ? &j->view->rows : table_rows(j->table), r);
    if (!word || !text_to_int(word, &r->micro_most) || r->micro_most < 1)
        r->micro_most = 0;
    return run_open(r, e);
}

/* Members without folds are chosen by the validation rows. */
static bool check_folds(const struct train_job *j, struct err *e)
{
    if (j->ensemble->alone || j->table->folds.rows[0].left_count)
        return true;
    err_set(e, ERR_CONFIG_CONFLICT, "the members of the ensemble are chosen by validation rows, "
                                    "and there are none");
    err_key(e, "ensemble.members");
    return err_help(e, "set `ensemble.folds` to 5, say, or `data.split.valid` above 0");
}

bool job_start(struct train_job *j, struct err *e)
{
    const struct config *c = j->config;
    if (!select_backend(&c->backend, j->job, c->settings, c->setting_count, &j->backend, e))
        return false;
    unsigned threads = c->backend.threads ? (unsigned)c->backend.threads : threads_available();
    blas_prepare(threads, (enum blas_choice)c->backend.blas); /* before any thread starts */
    warn_blas(j);
    threads_start((unsigned)c->backend.threads);
    j->backend.threads = threads_count();
    if (j->request->init_from && !(j->warm = warm_open(j->request->init_from, e)))
        return false;
    stop_phase("reading the data", true);
    if (!job_read(j, e))
        return false;
    stop_phase("preparing", false);
    if (!answer_line_names(j->table->encoder->schema, job_region(c), e) ||
        !encoder_holds(j->table->encoder, e))
        return false;
    say_notes(j->table, j->config);
    return true;
}

static bool match_warm(struct train_job *j, struct err *e)
{
    if (!j->warm)
        return true;
    warm_mark(j->warm, j->table->sha256);
    return warm_match(j->warm, j->ensemble, e);
}

/* A model of the first rows alone says so, and is no other training to resume. */
static bool add_limit(struct text *config, uint64_t limit, struct err *e)
{
    char number[32];
    struct json_doc *doc = json_parse_own(config->data, config->length, "config", e);
    snprintf(number, sizeof number, "%llu", (unsigned long long)limit);
    bool good = doc && json_set(doc, "data.limit", number, e);
    text_clear(config);
    if (good)
        json_write(config, json_root(doc), 0);
    json_free(doc);
    return good;
}

static bool load(struct train_job *j, struct err *e)
{
    const struct config *c = j->config;
    struct ensemble *n = j->ensemble =
        config_is_ensemble(c) ? ensemble_new(c, e) : ensemble_alone(j->config);
    if (!n)
        return false;
    j->folds = n->alone ? 0 : n->folds;
    if (!job_start(j, e) || !match_warm(j, e) || !check_folds(j, e) || !job_conform_rows(j, e) ||
        (!n->alone && !ensemble_encode(j, e)) || !job_open_run(j, e))
        return false;
    transforms_say(j, 1, n->runs);
    struct text text = {0};
    if (!config_resolved(c, j->run.features, true, &text, e))
        return false;
    if (j->request->limit && !add_limit(&text, j->request->limit, e))
        return false;
    j->config_text = mem_string_n(text.data, text.length);
    text_free(&text);
    return can_be_saved(j, e) && (j->machine || job_decide_machine(j, n->runs, e));
}

bool job_load(struct train_job *j, struct err *e)
{
    return load(j, e) || config_blame(j->config, e);
}

/* --- plan, network, weights --- */

/* Warns if the config asks for another precision than the checkpoint's plan. */
static void warn_precision(const struct train_job *j, const struct run *r,
                           const struct checkpoint *c, const char *path)
{
    const char *wish = j->backend.precision_wish, *kept = r->plan.precision;
    char room[512];
    bool rounds = strcmp(wish, "bf16") == 0 || strcmp(kept, "bf16") == 0;
    if ((!select_is_gpu(&j->backend) && !rounds) || strcmp(wish, "auto") == 0 ||
        strcmp(wish, kept) == 0 ||
        !resume_asks_other(c, j->config_text, "backend.precision"))
        return;
    log_warning("backend.precision \"%s\" is not used: the checkpoint \"%s\" was computed in %s, "
                "and a resumed training keeps its precision; train without --resume to change it",
                text_quote_z(wish), job_quoted(path, room), kept);
}

/* The plan of the checkpoint at path, as far as this machine and build can. */
static void resume_plan(const struct train_job *j, struct run *r, const struct checkpoint *c,
                        const char *path)
{
    char room[512];
    const char *differs = run_plan(r, &c->plan);
    if (differs && !j->backend.fell_back)
        log_warning("\"%s\" was computed %s (%s differs): the result is as good, but not the same "
                    "bytes as that of a run that was not stopped",
                    job_quoted(path, room),
                    strcmp(differs, "batch") == 0 || strcmp(differs, "micro") == 0 ||
                            strcmp(differs, "tracks") == 0
                        ? "in other pieces"
                        : "on another kind of machine",
                    differs);
    warn_precision(j, r, c, path);
}

static void say_network(struct train_job *j, uint32_t wished)
{
    struct run *r = &j->run;
    const bool gpu = select_is_gpu(&j->backend);
    uint64_t ring = gpu ? network_streams(r->network) : 0;
    if (gpu && r->plan.batch != wished)
        log_line("dnn_gpu: out of memory; micro-batch %u -> %u", wished, r->plan.batch);
    if (ring)
        log_line("dnn_gpu: out of memory; data streamed (%s through %s)",
                 text_bytes(r->rows.count * r->rows.format.stride), text_bytes(ring));
    if (gpu) {
        memory_note(j->machine);
        select_say_loaded(&j->backend, j->machine);
    }
    select_say_products(j->machine, machine_in_place(j->machine) || network_rounds(r->network));
}

/* A GPU without room for the network: the CPU takes over. */
static bool network_on_cpu(struct train_job *j, struct err *e)
{
    select_use_cpu(&j->backend, e, "using CPU");
    err_clear(e);
    machine_close(j->machine);
    j->machine = select_open(&j->backend, &j->config->backend, true, e);
    j->run.machine = j->machine;
    if (!j->machine)
        return false;
    run_plan(&j->run, NULL);
    return run_network(&j->run, e);
}

static bool make_network(struct train_job *j, struct run *r, struct err *e)
{
    uint32_t wished = r->plan.batch;
    bool good = run_network(r, e);
    if (good && !r->quiet)
        say_network(j, wished);
    if (good && !machine_in_place(r->machine))
        run_keep_fp32(r);
    if (good || r->quiet || e->id != ERR_GPU_MEMORY ||
        !select_may_use_cpu(&j->backend, &j->config->backend, e))
        return good;
    return network_on_cpu(j, e);
}

/* Sets the weights: new ones, or the checkpoint c's. */
static bool set_weights(uint32_t run, struct run *r, struct checkpoint *c, const char *path,
                        struct err *e)
{
    const long long epochs = r->config->train.epochs;
    if (!c)
        return run_begin(r, e);
    if (!run_resume(r, c, path, e))
        return false;
    if (r->quiet)
        log_info("run %u goes on at step %lld", run, (long long)c->now.tried);
    else
        log_line("resuming at step %lld (epoch %lld of %lld)", (long long)c->now.tried,
                 (long long)(c->epochs < epochs ? c->epochs + 1 : c->epochs), epochs);
    return true;
}

/* What the job has of its run, once that has a network. */
static void note_network(struct train_job *j, struct run *r)
{
    unsigned copies = 2 + optim_states(&r->config->train.optimizer);
    if (j->output)
        output_room(j->output, 2 * copies * network_model(r->network)->params * sizeof(real));
    r->mark = j->journal.length;
}

bool job_build(struct train_job *j, uint32_t run, struct run *r, struct err *e)
{
    struct keeper *k = j->ensemble->keepers ? &j->ensemble->keepers[run] : NULL;
    struct checkpoint *c = k ? k->found : NULL;
    if (!r->quiet)
        r->machine = j->machine;
    if (c)
        resume_plan(j, r, c, k->last);
    else
        run_plan(r, NULL);
    bool good = make_network(j, r, e);
    if (!r->quiet) {
        snprintf(j->backend.blas_core, sizeof j->backend.blas_core, "%s", r->plan.blas_core);
        snprintf(j->backend.precision, sizeof j->backend.precision, "%s", r->plan.precision);
    }
    good = good && set_weights(run, r, c, k ? k->last : NULL, e) &&
           (r->quiet || journal_cut(&j->journal, c ? c->journal : 0, e));
    if (good && !r->quiet)
        note_network(j, r);
    checkpoint_free(c);
    if (k) {
        k->found = NULL;
        k->at = clock_now();
    }
    return good;
}

void job_close(struct train_job *j)
{
    progress_close(j->progress);
    memory_note(j->machine);
    run_close(&j->run);
    ensemble_free(j->ensemble);
    view_free(j->view);
    machine_close(j->machine);
    mem_free(j->config_text);
    warm_free(j->warm);
    table_free(j->table);
    mem_free(j->output);
    journal_close(&j->journal);
    lock_drop(&j->lock);
    memset(j, 0, sizeof *j);
}
