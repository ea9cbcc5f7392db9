/* job_write.c - the model file of a training: its runs, and the metrics of the model. */
#include <string.h>

#include "answer/verify.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "config/output.h"
#include "train/ensemble_mix.h"

/* The metrics as the JSON object of the model file; no time, place or speed. */
static void metrics_text(const struct train_result *r, struct text *out)
{
    struct json_out o = {0};
    json_open(&o, NULL, '{');
    train_write_end(r, &o);
    json_open(&o, "rows", '{');
    for (int p = 0; p < PARTS; p++)
        json_put_int(&o, part_words[p], (int64_t)r->rows[p]);
    json_close(&o, '}');
    train_write_judged(r, &o);
    if (r->metric)
        json_put_string(&o, "metric", r->metric);
    if (r->member_count)
        train_write_members(r, false, &o);
    if (r->has_valid)
        metrics_write(&r->valid, "valid", &o);
    if (r->has_test)
        metrics_write(&r->test, "test", &o);
    if (r->has_valid || r->has_test)
        metrics_write(&r->baseline, "baseline", &o);
    json_close(&o, '}');
    *out = o.text;
}

/* --- the runs --- */

struct storing {
    struct modelfile f;
    struct text *bytes; /* [encoder_count]: as saved, to find equal ones */
    const struct model **plans;
    real *logits; /* of the sample: [members][rows][outputs] */
};

/* The number of an encoder in the model; a new one is added. */
static uint32_t find_encoder(struct storing *s, struct encoder *c)
{
    struct tensor_writer *w = tensor_writer_new();
    struct encoder_saved *kept = encoder_save(c, 0, w);
    struct text bytes = {0};
    struct err ignored = {0};
    uint32_t k = 0;
    tensor_meta(w, "kind", "model");
    tensor_write_bytes(w, "encoder", &bytes, &ignored);
    encoder_saved_free(kept);
    tensor_writer_free(w);
    while (k < s->f.encoder_count && (s->bytes[k].length != bytes.length ||
                                      memcmp(s->bytes[k].data, bytes.data, bytes.length) != 0))
        k++;
    if (k < s->f.encoder_count) {
        text_free(&bytes);
    } else {
        s->bytes[k] = bytes;
        s->f.encoders[k] = c;
        s->f.encoder_count++;
    }
    return k;
}

static bool store_run(struct storing *s, const struct mixing *x, uint32_t i, uint32_t fold,
                      struct err *e)
{
    const struct run_part *p = mixing_part(x, i, fold);
    const size_t sample = (size_t)p->sample.rows * p->outputs;
    struct model *m = ensemble_plan(x->n->configs[x->members[i]], p->encoder, e);
    if (!m)
        return false;
    if (!s->f.member_count) {
        s->f.plan = p->plan;
        /* a merge has no table; a part of an earlier version has no fingerprint */
        s->f.known = x->j->table ? x->j->table->known : (struct fingerprint *)(uintptr_t)p->known;
    }
    s->plans[s->f.member_count] = m;
    if (sample)
        memcpy(s->logits + s->f.member_count * sample, p->sample_logits,
               sample * sizeof *s->logits);
    s->f.members[s->f.member_count++] = (struct member){.params = p->params,
                                                        .buffers = p->buffers,
                                                        .param_count = p->param_count,
                                                        .buffer_count = p->buffer_count,
                                                        .encoder = find_encoder(s, p->encoder),
                                                        .history = p->history,
                                                        .epochs = p->history_rows,
                                                        .weight = x->weights[i] / x->folds};
    return (m->params == p->param_count && m->buffers == p->buffer_count) ||
           err_set(e, ERR_MODEL_TENSOR, "run %u is not of the network of its member", p->run);
}

/* --- the file --- */

/* A foreign file may have appeared at the output's name while the training ran. The last look is
 * directly before the rename; then the model is written beside that file, and it is an error. */
static bool write(struct train_job *j, const struct modelfile *f, const struct model *const *plans,
                  char digest[65], struct err *e)
{
    char shown[512];
    struct outfile o = {.fd = -1};
    bool replaceable = output_replaceable(j->output, false, e);
    if (replaceable && !modelfile_prepare(f, plans, j->output, &o, digest, e))
        return false;
    if (replaceable && output_replaceable(j->output, false, e))
        return outfile_commit(&o, e);
    outfile_abort(&o);
    if (e->id != ERR_FILE_CREATE)
        return false; /* it cannot be looked at */
    struct err inner = {0};
    struct text beside = {0};
    text_printf(&beside, "%s.new", j->output);
    if (output_replaceable(beside.data, false, &inner) &&
        modelfile_save(f, plans, beside.data, digest, &inner)) {
        err_help(e, "it came while the training ran; the model is written to \"%s\"",
                 job_quoted(beside.data, shown));
        job_clear(j);
        j->says_kept = true;
    } else {
        *e = inner;
    }
    text_free(&beside);
    return false;
}

bool job_write_model(const struct mixing *x, struct train_result *r, struct err *e)
{
    struct train_job *j = x->j;
    const struct run_part *first = mixing_part(x, 0, 0);
    const uint32_t most = x->count * x->folds;
    struct storing s = {.f = {.decision = r->decision,
                              .calibration = x->calibration,
                              .conformal = x->conformal,
                              .class_weight = x->class_weight},
                        .plans = mem_zero(most, sizeof *s.plans)};
    struct text metrics = {0};
    bool good = true;
    s.logits = mem_zero((size_t)most * (first->sample.rows + 1) * first->outputs,
                        sizeof *s.logits);
    s.f.members = mem_zero(most, sizeof *s.f.members);
    s.f.encoders = mem_zero(most, sizeof *s.f.encoders);
    s.bytes = mem_zero(most, sizeof *s.bytes);
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t f = 0; good && x->weights[i] > 0 && f < x->folds; f++)
            good = store_run(&s, x, i, f, e);
    metrics_text(r, &metrics);
    s.f.schema = good ? s.f.encoders[0]->schema : NULL;
    s.f.config_text = j->config_text;
    s.f.metrics_text = metrics.data;
    golden_make(&s.f.golden, &first->sample, s.logits, s.f.member_count, first->outputs);
    stop_phase("writing the model", false);
    /* with the model in place its folder's sync alone can fail: then its checkpoints stay */
    good = good && journal_sync(&j->journal, e) && write(j, &s.f, s.plans, r->sha256, e);
    golden_free(&s.f.golden);
    for (uint32_t i = 0; i < s.f.member_count; i++)
        model_free((struct model *)(uintptr_t)s.plans[i]);
    for (uint32_t i = 0; i < s.f.encoder_count; i++)
        text_free(&s.bytes[i]);
    mem_free(s.bytes);
    mem_free(s.f.encoders);
    mem_free(s.plans);
    mem_free(s.logits);
    mem_free(s.f.members);
    text_free(&metrics);
    return good;
}
