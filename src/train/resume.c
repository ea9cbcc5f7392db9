/* resume.c - see resume.h. */
#include "train/resume.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "base/json/json.h"
#include "base/log.h"
#include "base/mem.h"

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

static void find_differences(const char *one, const char *other, bool strict, struct text *out)
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

void resume_differences(const char *one, const char *other, struct text *out)
{
    find_differences(one, other, true, out);
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

static bool other(const char *path, const char *what, struct err *e)
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
    find_differences(c->config, config, strict, &keys);
    text_clear(what);
    if (keys.length)
        text_printf(what, "the config differs in %s", keys.data);
    else if (strcmp(c->data, data) != 0)
        text_put(what, "the data differ (rows, columns, what was learnt from them, or the "
                       "model of --init-from)");
    text_free(&keys);
    return what->length == 0;
}

static void note_changes(const struct checkpoint *c, const char *config)
{
    struct text keys = {0};
    resume_differences(c->config, config, &keys);
    log_note("the checkpoint was written with another %s: the result will differ from that of an "
             "uninterrupted training",
             keys.data);
    text_free(&keys);
}

/* True: damaged or missing: it can never be read. Other errors may pass or be mended; starting
 * afresh because of them would lose the training. */
static bool is_damaged(const struct err *why)
{
    return err_exit(why) == EXIT_FORMAT || why->id == ERR_FILE_MISSING;
}

/* True: a checkpoint of dnn that was cut or changed; not one of a newer dnn, or another file. */
static bool is_spoilt(const struct err *why)
{
    return why->id == ERR_MODEL_TRUNCATED || why->id == ERR_MODEL_HASH;
}

static void keep_damaged(struct checkpoint_list *l, int64_t step)
{
    l->steps = mem_grow(l->steps, l->count + 1, sizeof *l->steps);
    l->steps[l->count++] = step;
}

/* The result of a search: the newest checkpoint that fits, and the newest whole one that does
 * not. */
struct found {
    struct checkpoint *c;
    char *path, *foreign;
    struct text foreign_what;
};

static void set_foreign(struct found *f, char *path, const struct text *what)
{
    if (f->foreign)
        return;
    f->foreign = mem_string(path);
    text_put(&f->foreign_what, what->data);
}

/* Searches from the newest on. Those that fit become ours: they are removed when the model is
 * written. False: one could not be read. */
static bool search(struct keeper *k, const struct checkpoint_list *l, const char *config,
                   const char *data, bool strict, struct found *f, struct err *e)
{
    struct text what = {0};
    bool readable = true;
    for (size_t i = l->count; readable && i-- > 0;) {
        char *path = checkpoint_path(k->output, l->steps[i]);
        struct err why = {0};
        struct checkpoint *c = checkpoint_load(path, &why);
        if (!c && !f->c && !is_damaged(&why)) {
            *e = why;
            readable = err_help(e, "make the checkpoint readable, or move it away to go on from "
                                   "the one before it");
        } else if (!c && strict) {
            char shown[256];
            text_escape(shown, sizeof shown, path, strlen(path));
            log_warning("%s: %s; passed over", shown, why.what);
            if (is_spoilt(&why))
                keep_damaged(&k->damaged, l->steps[i]);
        } else if (c && f->c) {
            if (fits(c, f->c->config, f->c->data, true, &what))
                keeper_own(k, l->steps[i], c->now.tried);
        } else if (c && !fits(c, config, data, strict, &what)) {
            set_foreign(f, path, &what);
        } else if (c) {
            keeper_own(k, l->steps[i], c->now.tried);
            f->c = c;
            f->path = path;
            continue;
        }
        checkpoint_free(c);
        mem_free(path);
    }
    text_free(&what);
    return readable;
}

bool resume_find(struct keeper *k, const char *config, const char *data, struct checkpoint **c,
                 char **path, struct err *e)
{
    struct checkpoint_list l;
    struct found f = {0};
    *c = NULL;
    *path = NULL;
    if (!checkpoint_find(k->output, &l, e))
        return err_help(e, "leave out --resume to start afresh");
    bool good = search(k, &l, config, data, true, &f, e);
    if (good && !f.c && f.foreign) {
        mem_free(f.foreign);
        text_clear(&f.foreign_what);
        f.foreign = NULL;
        good = search(k, &l, config, data, false, &f, e);
        if (f.c)
            note_changes(f.c, config);
    }
    if (good && !f.c && f.foreign)
        good = other(f.foreign, f.foreign_what.data, e);
    *c = f.c;
    *path = f.path;
    mem_free(f.foreign);
    text_free(&f.foreign_what);
    checkpoint_list_free(&l);
    return good;
}

char *resume_newer(const struct keeper *k, const char *config, const char *data)
{
    struct checkpoint_list l;
    struct text what = {0};
    struct err e = {0};
    char *newer = NULL;
    checkpoint_find(k->output, &l, &e); /* a folder that cannot be listed has none */
    for (size_t i = l.count; !newer && i-- > 0 && l.steps[i] > keeper_newest(k).name;) {
        char *path = checkpoint_path(k->output, l.steps[i]);
        struct err why = {0};
        struct checkpoint *c = checkpoint_load(path, &why);
        if (c && fits(c, config, data, true, &what))
            newer = path;
        else
            mem_free(path);
        checkpoint_free(c);
    }
    checkpoint_list_free(&l);
    text_free(&what);
    return newer;
}

/* --- ours --- */

void keeper_own(struct keeper *k, int64_t name, int64_t step)
{
    size_t at = k->count;
    while (at > 0 && k->own[at - 1].name > name)
        at--;
    if (at > 0 && k->own[at - 1].name == name) {
        k->own[at - 1].step = step;
        return;
    }
    if (k->count == k->room) {
        k->room = k->room ? 2 * k->room : 8;
        k->own = mem_grow(k->own, k->room, sizeof *k->own);
    }
    memmove(k->own + at + 1, k->own + at, (k->count - at) * sizeof *k->own);
    k->own[at] = (struct checkpoint_id){.name = name, .step = step};
    k->count++;
}

static void own_written(struct keeper *k, int64_t name, int64_t step)
{
    keeper_own(k, name, step);
    for (size_t i = 0; i < k->count; i++)
        k->own[i].written |= k->own[i].name == name;
}

struct checkpoint_id keeper_newest(const struct keeper *k)
{
    return k->count ? k->own[k->count - 1] : (struct checkpoint_id){.name = -1, .step = -1};
}

int64_t keeper_step(const struct keeper *k, int64_t name)
{
    size_t i = 0;
    while (i < k->count && k->own[i].name != name)
        i++;
    return i < k->count ? k->own[i].step : 0;
}

static void drop(const struct keeper *k, int64_t name)
{
    struct err e = {0};
    char *path = checkpoint_path(k->output, name);
    if (!file_remove(path, &e)) {
        char shown[256];
        text_escape(shown, sizeof shown, path, strlen(path));
        log_warning("%s: %s", shown, e.what);
    }
    mem_free(path);
}

bool keeper_placed(const struct err *e)
{
    return file_in_place(e);
}

/* A file or a folder stays there; a link is replaced, and not followed. */
static bool occupied(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

static bool save(struct keeper *k, const struct checkpoint *c, int64_t *name, struct err *e)
{
    int64_t step = *name = c->now.tried;
    for (size_t i = 0; i < k->count; i++)
        if (k->own[i].step < step && k->own[i].name >= *name)
            *name = k->own[i].name + 1;
    char *path = checkpoint_path(k->output, *name);
    while (keeper_step(k, *name) != step && occupied(path)) {
        mem_free(path);
        path = checkpoint_path(k->output, ++*name);
    }
    bool good = checkpoint_save(c, path, e);
    mem_free(path);
    if (good || keeper_placed(e))
        own_written(k, *name, step);
    return good;
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

bool keeper_save(struct keeper *k, const struct checkpoint *c, int64_t *name, struct err *e)
{
    if (!save(k, c, name, e))
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < k->count; i++)
        if ((int64_t)(k->count - i) <= k->keep)
            k->own[kept++] = k->own[i];
        else
            drop(k, k->own[i].name);
    k->count = kept;
    return true;
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
    mem_free(k->own);
    mem_free(k->last);
    checkpoint_list_free(&k->damaged);
    *k = (struct keeper){0};
}
