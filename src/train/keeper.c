/* keeper.c - see keeper.h. */
#include "train/keeper.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/json/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/profile.h"
#include "config/output.h"

/* --- two configs --- */

enum { NAMED_MOST = 8 };
static const char *const irrelevant[] = {"train.checkpoint", "train.time_limit_s", "output",
                                         "backend"};

/* These may change at a resume: the training continues, with other bytes. */
static const char *const negotiable[] = {"train.optimizer.learning_rate", "train.clip_norm"};

struct differences {
    struct text *out;
    unsigned count;
    char path[512]; /* of the object that is being compared, with a dot at its end */
};

static void differ(struct differences *d, const char *key)
{
    if (d->count++ >= NAMED_MOST)
        return;
    if (d->count > 1)
        text_put(d->out, ", ");
    text_printf(d->out, "%s%s", d->path, text_quote_z(key));
}

static bool same_value(const struct json *a, const struct json *b)
{
    struct text x = {0}, y = {0};
    json_write(&x, a, 0);
    json_write(&y, b, 0);
    bool same = x.length == y.length && memcmp(x.data, y.data, x.length) == 0;
    text_free(&x);
    text_free(&y);
    return same;
}

static void compare(struct differences *d, const struct json *a, const struct json *b)
{
    for (const struct json *x = json_at(a, 0); x; x = json_next(x)) {
        const char *key = json_key(x);
        const struct json *y = json_get(b, key);
        size_t length = strlen(d->path), more = strlen(key);
        if (!y) {
            differ(d, key);
        } else if (json_kind(x) == JSON_OBJECT && json_kind(y) == JSON_OBJECT &&
                   length + more + 2 < sizeof d->path) {
            memcpy(d->path + length, key, more);
            memcpy(d->path + length + more, ".", 2);
            compare(d, x, y);
            d->path[length] = '\0';
        } else if (!same_value(x, y)) {
            differ(d, key);
        }
    }
    for (const struct json *y = json_at(b, 0); y; y = json_next(y))
        if (!json_get(a, json_key(y)))
            differ(d, json_key(y));
}

static struct json_doc *parse(const char *text, bool strict)
{
    struct err e = {0};
    struct json_doc *doc = json_parse_own(text, strlen(text), "config", &e);
    for (size_t i = 0; doc && i < sizeof irrelevant / sizeof irrelevant[0]; i++)
        json_remove(doc, irrelevant[i]);
    for (size_t i = 0; doc && !strict && i < sizeof negotiable / sizeof negotiable[0]; i++)
        json_remove(doc, negotiable[i]);
    return doc;
}

void resume_differences(const char *one, const char *other, bool strict, struct text *out)
{
    struct json_doc *a = parse(one, strict), *b = parse(other, strict);
    struct differences d = {.out = out};
    if (a && b)
        compare(&d, json_root(a), json_root(b));
    else
        text_put(out, "the whole config");
    if (d.count > NAMED_MOST)
        text_printf(out, " and %u more", d.count - NAMED_MOST);
    json_free(a);
    json_free(b);
}

bool resume_asks_other(const struct checkpoint *c, const char *config, const char *path)
{
    struct err e = {0};
    struct json_doc *a = json_parse_own(c->config, strlen(c->config), "config", &e);
    struct json_doc *b = json_parse_own(config, strlen(config), "config", &e);
    const struct json *before = a ? json_path(json_root(a), path) : NULL;
    const struct json *now = b ? json_path(json_root(b), path) : NULL;
    bool asks = now && (!before || !same_value(before, now));
    json_free(a);
    json_free(b);
    return asks;
}

/* --- the newest checkpoint that fits --- */

static bool refuse(const char *path, const char *what, struct err *e)
{
    err_at(e, ERR_CHECKPOINT_OTHER, path, 0, 0, "the checkpoint belongs to another training: %s",
           what);
    return err_help(e, "--resume=or-restart removes the old checkpoints and trains from the "
                       "start; or restore the old config and data");
}

/* True: c is of this config and these data. Else *what names the difference. strict: the negotiable
 * keys count. */
static bool fits(const struct checkpoint *c, const char *config, const char *data, bool strict,
                 struct text *what)
{
    struct text keys = {0};
    resume_differences(c->config, config, strict, &keys);
    text_clear(what);
    if (keys.length)
        text_printf(what, "the config differs in %s", keys.data);
    else if (strcmp(c->data, data) != 0)
        text_put(what, "the data differ (rows, columns, what was learnt from them, or the "
                       "model of --init-from)");
    text_free(&keys);
    return what->length == 0;
}

/* True: damaged or missing: it can never be read. Other errors may pass or be mended; starting
 * afresh because of them would lose the training. */
static bool is_damaged(const struct err *why)
{
    return err_exit(why) == EXIT_FORMAT || why->id == ERR_FILE_MISSING;
}

/* The file is passed over. One of dnn that was cut or changed goes with ours; one of a newer dnn,
 * or another file, stays. */
static void pass_over(struct keeper *k, int64_t name, const struct err *why)
{
    struct checkpoint_list *l = &k->damaged;
    log_warning("%s: %s; passed over", why->file, why->what);
    if (why->id != ERR_MODEL_TRUNCATED && why->id != ERR_MODEL_HASH)
        return;
    l->steps = mem_grow(l->steps, l->count + 1, sizeof *l->steps);
    l->steps[l->count++] = name;
}

/* Searches from the newest on. Those that fit become ours: they are removed when the model is
 * written. other: says why the newest whole one does not fit. False: one could not be read. */
static bool search(struct keeper *k, const struct checkpoint_list *l, bool strict,
                   struct err *other, struct err *e)
{
    struct text what = {0};
    bool readable = true;
    for (size_t i = l->count; readable && i-- > 0;) {
        char *path = checkpoint_path(k->output, l->steps[i]);
        struct err why = {0};
        struct checkpoint *c = checkpoint_load(path, &why), *found = k->found;
        if (!c && !found && !is_damaged(&why)) {
            *e = why;
            readable = err_help(e, "make the checkpoint readable, or move it away to go on from "
                                   "the one before it");
        } else if (!c && strict) {
            pass_over(k, l->steps[i], &why);
        } else if (c && (found ? fits(c, found->config, found->data, true, &what)
                               : fits(c, k->config, k->data, strict, &what))) {
            keeper_own(k, (struct checkpoint_id){.name = l->steps[i], .step = c->now.tried});
            if (!found) {
                k->found = c;
                k->last = path;
                continue;
            }
        } else if (c && !found) {
            refuse(path, what.data, other);
        }
        checkpoint_free(c);
        mem_free(path);
    }
    text_free(&what);
    return readable;
}

bool resume_find(struct keeper *k, struct err *e)
{
    struct checkpoint_list l;
    struct err other = {0};
    struct text keys = {0};
    if (!checkpoint_find(k->output, &l, e))
        return err_help(e, "leave out --resume to start afresh");
    bool good = search(k, &l, true, &other, e);
    if (good && !k->found && other.id != ERR_NONE) {
        err_clear(&other);
        good = search(k, &l, false, &other, e);
        if (k->found) {
            resume_differences(k->found->config, k->config, true, &keys);
            log_note("the checkpoint was written with another %s: the result will differ from that "
                     "of an uninterrupted training", keys.data);
        }
    }
    if (good && !k->found && other.id != ERR_NONE) {
        *e = other;
        good = false;
    }
    text_free(&keys);
    checkpoint_list_free(&l);
    return good;
}

/* --- ours --- */

void keeper_own(struct keeper *k, struct checkpoint_id id)
{
    size_t at = k->count;
    while (at > 0 && k->own[at - 1].name > id.name)
        at--;
    if (at > 0 && k->own[at - 1].name == id.name) {
        k->own[at - 1] = id;
        return;
    }
    k->own = mem_grow(k->own, k->count + 1, sizeof *k->own);
    memmove(k->own + at + 1, k->own + at, (k->count - at) * sizeof *k->own);
    k->own[at] = id;
    k->count++;
}

struct checkpoint_id keeper_newest(const struct keeper *k)
{
    return k->count ? k->own[k->count - 1] : (struct checkpoint_id){.name = -1, .step = -1};
}

static void drop(const struct keeper *k, int64_t name)
{
    struct err e = {0};
    char *path = checkpoint_path(k->output, name);
    if (!file_remove(path, &e))
        log_warning("%s: %s", e.file, e.what);
    mem_free(path);
}

/* A file or a folder stays there; a link is replaced, and not followed. */
static bool occupied(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

/* True: our checkpoint of this name is of this step: it is replaced. */
static bool is_step(const struct keeper *k, int64_t name, int64_t step)
{
    bool is = false;
    for (size_t i = 0; i < k->count; i++)
        is |= k->own[i].name == name && k->own[i].step == step;
    return is;
}

/* The path of a new checkpoint: its number is its step, or the next free one. mem_free. */
static char *name_new(const struct keeper *k, int64_t step, int64_t *name)
{
    *name = step;
    for (size_t i = 0; i < k->count; i++)
        if (k->own[i].step < step && k->own[i].name >= *name)
            *name = k->own[i].name + 1;
    char *path = checkpoint_path(k->output, *name);
    while (!is_step(k, *name, step) && occupied(path)) {
        mem_free(path);
        path = checkpoint_path(k->output, ++*name);
    }
    return path;
}

void keeper_undo(struct keeper *k)
{
    size_t kept = 0;
    for (size_t i = 0; i < k->count; i++)
        if (!k->own[i].written)
            k->own[kept++] = k->own[i];
        else
            drop(k, k->own[i].name);
    k->count = kept;
    mem_free(k->last);
    k->last = NULL;
}

/* A checkpoint that is in place counts as written, also if its folder could not be synced. */
bool keeper_save(struct keeper *k, const struct checkpoint *c, struct err *e)
{
    int64_t name;
    if (k->journal && !journal_sync(k->journal, e))
        return false;
    char *path = name_new(k, c->now.tried, &name);
    bool good = checkpoint_save(c, path, e);
    if (!good && !file_in_place(e)) {
        mem_free(path);
        return false;
    }
    keeper_own(k, (struct checkpoint_id){name, c->now.tried, true});
    mem_free(k->last);
    k->last = path;
    k->at = clock_now();
    log_info("checkpoint at step %lld: %s", (long long)c->now.tried,
             text_quote_z(file_base_name(path)));
    size_t kept = 0;
    for (size_t i = 0; good && i < k->count; i++)
        if ((int64_t)(k->count - i) <= k->keep)
            k->own[kept++] = k->own[i];
        else
            drop(k, k->own[i].name);
    k->count = good ? kept : k->count;
    return good;
}

void keeper_clear(struct keeper *k)
{
    for (size_t i = 0; i < k->count; i++)
        drop(k, k->own[i].name);
    for (size_t i = 0; i < k->damaged.count; i++)
        drop(k, k->damaged.steps[i]);
    k->count = k->damaged.count = 0;
}

void keeper_release(struct keeper *k)
{
    mem_free(k->output);
    mem_free(k->own);
    mem_free(k->last);
    checkpoint_free(k->found);
    checkpoint_list_free(&k->damaged);
    *k = (struct keeper){0};
}

/* --- a run in training --- */

bool keep_due(const struct keeper *k, const struct run *r, const struct step *now, bool asked)
{
    if (run_is_path(r))
        return false;
    double every = r->config->train.checkpoint.every_s;
    bool fresh = r->pace.epochs > 0 && now->tried == r->history.epochs * r->steps;
    return asked ||
           (every > 0 ? clock_now() - k->at >= every : fresh); /* 0: after every epoch */
}

/* best: newer best weights than the run's; params NULL: none. */
static struct checkpoint checkpoint_of(const struct keeper *k, const struct run *r,
                                       const struct network_state *s,
                                       const struct network_state *best)
{
    const struct model *m = network_model(r->network);
    const struct network_state *b = best->params ? best : &r->best.state;
    struct checkpoint c = {.plan = r->plan,
                           .now = s->now,
                           .params = s->params,
                           .buffers = s->buffers,
                           .m1 = s->m1,
                           .m2 = s->m2,
                           .best_params = b->params,
                           .best_buffers = b->buffers,
                           .param_count = m->params,
                           .buffer_count = network_buffers(r->network),
                           .rows = r->history.rows,
                           .epochs = r->history.epochs,
                           .seconds = run_seconds(r),
                           .journal = k->journal ? k->journal->length : 0,
                           .best_journal = best->params ? r->there.mark : r->best.mark,
                           .config = (char *)(uintptr_t)k->config};
    memcpy(c.data, k->data, sizeof c.data);
    return c;
}

bool keep_write(struct keeper *k, struct run *r, struct err *e)
{
    struct network_state s, best = {0};
    double began = clock_now();
    bool good = run_map_state(r, true, &s, e) && run_finite(r, &s, e) &&
                run_newer_best(r, &best, e);
    if (good) {
        struct checkpoint c = checkpoint_of(k, r, &s, &best);
        good = keeper_save(k, &c, e);
    }
    run_unmap_state(r, &s);
    run_state_free(&best);
    profile_span("checkpoint", 0, began);
    return good;
}

bool keep_best(struct keeper *k, struct run *r, struct err *e)
{
    const struct network_state none = {0};
    struct checkpoint c = checkpoint_of(k, r, &r->best.state, &none);
    c.epochs = r->best.epochs;
    c.journal = r->best.mark;
    return keeper_save(k, &c, e);
}

bool keep_stopped(struct keeper *k, struct run *r, struct err *e)
{
    struct step now;
    if (!r->network)
        return true;
    network_step(r->network, &now);
    if (!run_answered(r, e))
        return false; /* the step of a failed machine means nothing */
    if (now.tried == 0 || r->broke || keep_write(k, r, e))
        return true;
    if (e->id != ERR_DIVERGED)
        return false;
    err_clear(e); /* broken: an older checkpoint serves */
    return true;
}

bool keep_drop(const char *output, struct err *e)
{
    struct checkpoint_list l;
    bool good = checkpoint_find(output, &l, e);
    for (size_t i = 0; good && i < l.count; i++) {
        char *path = checkpoint_path(output, l.steps[i]);
        good = !output_is_checkpoint(path) || file_remove(path, e);
        mem_free(path);
    }
    checkpoint_list_free(&l);
    return good;
}
