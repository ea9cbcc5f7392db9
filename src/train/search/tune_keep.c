/* tune_keep.c - what a search leaves on the disk: its journal while it runs, and at the end the
 * best config and the trials as CSV.
 *
 * The journal is OUTPUT.journal: a line of JSON that names plan and data, then one line for each
 * finished training. A line that a kill cut short is cut off, a damaged one is passed over. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/file/outfile.h"
#include "base/file/sha256.h"
#include "config/output.h"
#include "csv/field.h"
#include "train/search/tune_parts.h"

#define JOURNAL_BEGIN "{\"schema\":\"dnn.tune-journal/1\","
#define JOURNAL_MOST ((size_t)64 << 20)

/* --- the journal --- */

/* The first line: all that the search depends on. */
static bool head_line(const struct tune *t, struct text *out, struct err *e)
{
    const struct config *c = t->q->config;
    struct text plan = {0};
    struct sha256 s;
    char digest[65];
    if (!config_resolved(c, NULL, true, &plan, e)) {
        text_free(&plan);
        return false;
    }
    for (size_t i = 0; i < t->a->space.count; i++) {
        const struct space_key *k = &t->a->space.keys[i];
        text_printf(&plan, "\n%s %.17g %.17g %d ", k->path, k->low, k->high, k->log);
        if (k->values)
            json_write(&plan, k->values, 0);
    }
    text_printf(&plan, "\n%lld", (long long)t->q->trials);
    sha256_init(&s);
    sha256_add(&s, plan.data, plan.length);
    sha256_hex(&s, digest);
    text_free(&plan);
    text_printf(out, JOURNAL_BEGIN "\"plan\":\"%s\",\"data\":\"%s\"}", digest,
                t->job.table->sha256);
    return true;
}

bool tune_keep(struct tune *t, const struct tune_result *r, struct err *e)
{
    struct json_out out = {0};
    if (!t->journal.path)
        return true;
    json_open(&out, NULL, '{');
    json_put_int(&out, "trial", r->trial);
    json_put_int(&out, "stage", r->stage);
    json_put_int(&out, "epochs", r->epochs);
    json_put_int(&out, "trained", r->trained);
    json_put_int(&out, "best_epoch", r->best_epoch);
    json_put_number(&out, "score", r->score);
    json_put_string(&out, "stopped", r->stopped);
    json_put_number(&out, "seconds", r->seconds);
    json_put_number(&out, "used", tune_used(t));
    metrics_write(&r->valid, "valid", &out);
    metrics_write_intervals(&r->valid, "valid_intervals", &out);
    json_close(&out, '}');
    bool good = journal_line(&t->journal, out.text.data, e) && journal_sync(&t->journal, e);
    text_free(&out.text);
    return good;
}

static double number_or_nan(const struct json *v)
{
    return v && json_kind(v) == JSON_NUMBER ? json_number(v) : (double)NAN;
}

static struct interval read_interval(const struct json *ends)
{
    bool there = ends && json_kind(ends) == JSON_LIST;
    return (struct interval){number_or_nan(there ? json_at(ends, 0) : NULL),
                             number_or_nan(there ? json_at(ends, 1) : NULL)};
}

/* A line of tune_keep. False: it is none. */
static bool read_line(struct tune *t, const char *line, size_t length)
{
    struct err ignored = {0};
    struct json_doc *doc = json_parse_own(line, length, "journal", &ignored);
    const struct json *root = doc ? json_root(doc) : NULL;
    const char *const names[] = {"trial", "stage", "epochs", "trained", "best_epoch"};
    int64_t n[5];
    bool good = root && json_kind(root) == JSON_OBJECT && json_get(root, "used") &&
                json_get(root, "valid") && json_get(root, "valid_intervals") &&
                json_get(root, "stopped");
    for (size_t i = 0; good && i < 5; i++) {
        const struct json *v = json_get(root, names[i]);
        good = v && json_integer(v, &n[i]) && n[i] >= 0;
    }
    if (good && n[0] < TUNE_MOST && n[1] < 64) {
        struct tune_result r = {.trial = (uint32_t)n[0],
                                .stage = (uint32_t)n[1],
                                .epochs = n[2],
                                .trained = n[3],
                                .best_epoch = n[4],
                                .score = number_or_nan(json_get(root, "score")),
                                .seconds = number_or_nan(json_get(root, "seconds"))};
        const struct json *m = json_at(json_get(root, "valid"), 0);
        for (; m && r.valid.count < METRIC_MOST; m = json_next(m)) {
            const struct metric_type *type = metric_find(json_key(m), t->q->config->task);
            if (!type)
                continue;
            const struct json *ends = json_get(json_get(root, "valid_intervals"), type->name);
            r.valid.m[r.valid.count].type = type;
            r.valid.m[r.valid.count].interval = read_interval(ends);
            r.valid.m[r.valid.count++].value = number_or_nan(m);
        }
        strncpy(r.stopped, json_string(json_get(root, "stopped")), sizeof r.stopped - 1);
        t->used = number_or_nan(json_get(root, "used"));
        t->used = t->used > 0 ? t->used : 0;
        tune_add(t, &r);
    }
    json_free(doc);
    return good;
}

/* Something of a journal, or zeros that a power cut has left; no text of somebody's own. */
static bool is_damaged(const char *text, size_t length)
{
    size_t same = 0;
    while (same < length && same < strlen(JOURNAL_BEGIN) && text[same] == JOURNAL_BEGIN[same])
        same++;
    return same == length || (same < strlen(JOURNAL_BEGIN) && memchr(text, '\0', length));
}

/* Reads the journal; *keep: bytes of its whole lines, 0: it begins anew. False: it is of another
 * search. */
static bool read_journal(struct tune *t, const char *text, size_t length, const struct text *head,
                         uint64_t *keep, struct err *e)
{
    const char *end = memchr(text, '\n', length);
    size_t damaged = 0;
    *keep = 0;
    if (is_damaged(text, end ? (size_t)(end - text) : length)) {
        log_warning("\"%s\": its first line is damaged: the search starts afresh",
                    text_quote_z(t->journal.path));
        return true;
    }
    if (!end || (size_t)(end - text) != head->length ||
        memcmp(text, head->data, head->length) != 0) {
        err_at(e, ERR_CHECKPOINT_OTHER, t->journal.path, 0, 0,
               "the search in this journal is of another config, space, number of trials or other "
               "data");
        return err_help(e, "remove it, or give the config and the options that it belongs to");
    }
    for (const char *at = end + 1; at < text + length; at = end + 1) {
        *keep = (uint64_t)(at - text);
        end = memchr(at, '\n', (size_t)(text + length - at));
        if (!end)
            break;
        damaged += !read_line(t, at, (size_t)(end - at));
    }
    if (end)
        *keep = length;
    else
        log_warning("\"%s\": its last line is cut off: a training of it is made again",
                    text_quote_z(t->journal.path));
    if (damaged)
        log_warning("\"%s\": %zu of its lines are damaged: their trainings are made again",
                    text_quote_z(t->journal.path), damaged);
    return true;
}

static bool take_journal(struct tune *t, struct err *e)
{
    struct text head = {0};
    char *text = NULL;
    size_t length = 0;
    uint64_t keep = 0;
    bool there = file_exists(t->journal.path), good = head_line(t, &head, e);
    if (good && there && t->q->resume)
        good = file_slurp(t->journal.path, JOURNAL_MOST, ERR_CHECKPOINT_OTHER, &text, &length, e) &&
               (!length || read_journal(t, text, length, &head, &keep, e));
    else if (good && there)
        good = file_is_ours(t->journal.path, JOURNAL_BEGIN, "a journal of a search",
                            "choose another name with -o", e);
    if (good && there && !t->q->resume)
        log_note("the journal of an earlier search is replaced; --resume would go on from it");
    if (good && t->q->resume && t->a->count)
        log_line("resuming: %zu trainings are finished", t->a->count);
    else if (good && t->q->resume)
        log_note("there is no search to resume from: it starts afresh");
    good = good && journal_cut(&t->journal, keep, e) &&
           (keep || journal_line(&t->journal, head.data, e));
    mem_free(text);
    text_free(&head);
    return good;
}

/* --- open and close --- */

static bool check_outputs(const struct tune *t, struct err *e)
{
    const struct tune_request *q = t->q;
    const char *const paths[] = {q->output, q->csv};
    if (q->output && q->csv && file_same(q->output, q->csv))
        return err_set(e, ERR_SAME_FILE, "-o and --trials-csv are one file: \"%s\"",
                       text_quote_z(q->csv));
    for (size_t i = 0; i < 2; i++)
        if (paths[i] && (!output_apart(q->config, paths[i], e) || !output_probe(paths[i], e)))
            return false;
    return (!q->output || output_takes_config(q->output, q->force, e)) &&
           (!q->csv || output_spares(q->csv, e));
}

bool tune_open(struct tune *t, struct err *e)
{
    struct text path = {0};
    if (!check_outputs(t, e))
        return false;
    if (!t->q->output || t->q->only >= 0)
        return true;
    t->output = file_final(t->q->output);
    text_printf(&path, "%s.journal", t->output);
    bool good = lock_take(&t->lock, t->output, e) && journal_open(&t->journal, path.data, e) &&
                journal_own(&t->journal, e) && take_journal(t, e);
    text_free(&path);
    return good;
}

void tune_close(struct tune *t)
{
    journal_close(&t->journal);
    lock_drop(&t->lock);
    mem_free(t->output);
    t->output = NULL;
}

/* --- the results --- */

static bool save_config(const struct tune *t, struct err *e)
{
    const struct tune_result *best = &t->a->results[t->a->best];
    const struct config *c = t->q->config;
    struct draw d;
    struct text text = {0};
    char epochs[48];
    space_draw(&t->a->space, best->trial, &d);
    snprintf(epochs, sizeof epochs, "train.epochs=%lld", (long long)best->epochs);
    if (best->epochs != c->train.epochs)
        draw_set(&d, epochs);
    bool good = config_trial_text(c, (const char *const *)d.sets, d.count, t->q->output, &text,
                                  e) &&
                outfile_whole(t->q->output, &text, e);
    draw_free(&d);
    text_free(&text);
    return good;
}

static void put_cell(struct text *out, const char *cell)
{
    text_char(out, ',');
    field_put(out, cell, strlen(cell));
}

/* A cell; NaN: an empty one. */
static void put_number(struct text *out, double value)
{
    char digits[32];
    size_t length = isnan(value) ? 0 : answer_number(digits, value);
    text_char(out, ',');
    text_add(out, digits, length);
}

/* The metrics, then the interval of the searched one. */
static void put_metrics(struct text *out, const struct metrics *names, const struct metrics *m,
                        const struct metric_type *searched)
{
    const struct interval ends = metrics_interval(m, searched->name);
    for (uint32_t k = 0; k < names->count; k++)
        put_number(out, metrics_get(m, names->m[k].type->name));
    put_number(out, ends.low);
    put_number(out, ends.high);
}

/* A value as a cell: a string without its quotes. */
static void put_value(struct text *out, const char *json)
{
    struct err ignored = {0};
    struct json_doc *doc = *json ? json_parse_own(json, strlen(json), "value", &ignored) : NULL;
    bool string = doc && json_kind(json_root(doc)) == JSON_STRING;
    put_cell(out, string ? json_string(json_root(doc)) : json);
    json_free(doc);
}

static bool save_csv(const struct tune *t, struct err *e)
{
    const struct tune_answer *a = t->a;
    const struct metrics *names = &a->results[a->best].valid;
    struct text text = {0};
    text_put(&text, "trial,stage,epochs,best_epoch,stopped");
    for (uint32_t k = 0; k < names->count; k++)
        text_printf(&text, ",%s", names->m[k].type->name);
    text_printf(&text, ",%s.low,%s.high", a->metric->name, a->metric->name);
    for (size_t i = 0; i < a->space.count; i++)
        put_cell(&text, a->space.keys[i].path);
    text_put(&text, ",seconds\n");
    for (uint32_t i = 0; i < a->trials; i++) {
        const struct tune_result *r = tune_last(a, i);
        struct draw d;
        if (!r)
            continue;
        text_printf(&text, "%u,%u,%lld,%lld,%s", r->trial, r->stage, (long long)r->epochs,
                    (long long)r->best_epoch, r->stopped);
        put_metrics(&text, names, &r->valid, a->metric);
        space_draw(&a->space, i, &d);
        for (size_t k = 0; k < a->space.count; k++)
            put_value(&text, draw_value(&d, k));
        draw_free(&d);
        text_printf(&text, ",%.3f\n", r->seconds);
    }
    bool good = outfile_whole(t->q->csv, &text, e);
    text_free(&text);
    return good;
}

bool tune_save(struct tune *t, struct err *e)
{
    if ((t->q->csv && !save_csv(t, e)) ||
        (t->q->output &&
         (!output_takes_config(t->q->output, t->q->force, e) || !save_config(t, e))))
        return false;
    return !t->journal.path || file_remove(t->journal.path, e);
}
