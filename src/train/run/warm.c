/* warm.c - see warm.h. */
#include "train/run/warm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/file/sha256.h"
#include "base/file/tensorfile.h"
#include "base/text.h"
#include "table/encoder/cell_copy.h"
#include "train/ensemble.h"
#include "train/run/run.h"

static bool other(const char *path, struct err *e, const char *what, const char *name)
{
    err_at(e, ERR_INIT_OTHER, path, 0, 0, "the training cannot begin with this model: %s%s%s%s",
           what, *name ? " \"" : "", text_quote_z(name), *name ? "\"" : "");
    return err_help(e, "--init-from takes a model of the same inputs and layers; leave it out to "
                       "begin with new weights");
}

/* --- the file --- */

/* The folds of a member in the model's metrics that has networks, else 0. */
static uint32_t folds_of(const struct json *member)
{
    const struct json *weight = json_get(member, "weight"), *folds = json_get(member, "folds");
    int64_t count;
    return weight && json_kind(weight) == JSON_NUMBER && json_number(weight) > 0 && folds &&
                   json_kind(folds) == JSON_NUMBER && json_integer(folds, &count) && count > 0 &&
                   count <= UINT32_MAX
               ? (uint32_t)count
               : 0;
}

static bool is_named(const struct json *member, const char *name)
{
    const struct json *own = json_get(member, "name");
    return own && json_kind(own) == JSON_STRING && strcmp(json_string(own), name) == 0;
}

static const struct json *named(const struct json *list, const char *name)
{
    const struct json *m = json_at(list, 0);
    while (m && !is_named(m, name))
        m = json_next(m);
    return m;
}

/* The networks of each member by the list in the model's metrics. A member of the model's config
 * that is not there was left out by a time limit. */
static bool find_members(struct warm *w, const struct ensemble *n, struct err *e)
{
    struct err ignored = {0};
    const char *text = w->file->metrics_text ? w->file->metrics_text : "{}";
    struct json_doc *doc = json_parse_own(text, strlen(text), "metrics", &ignored);
    const struct json *list = doc ? json_path(json_root(doc), "members") : NULL;
    bool good = list || other(w->path, e, "it is one network, and the config has members", "");
    const struct json_doc *config = w->file->config;
    for (uint32_t i = 0; good && i < n->members; i++) {
        uint64_t network = 0;
        const struct json *m = json_at(list, 0);
        for (; m && !is_named(m, n->names[i]); m = json_next(m))
            network += folds_of(m);
        if (!m && !named(config ? json_path(json_root(config), "ensemble.members") : NULL,
                         n->names[i]))
            good = other(w->path, e, "it has no member", n->names[i]);
        else if (!m || !folds_of(m))
            w->first[i] = WARM_NONE;
        else if (folds_of(m) != n->folds || network + n->folds > w->file->member_count)
            good = other(w->path, e, "it has another number of folds of member", n->names[i]);
        else
            w->first[i] = (uint32_t)network;
        if (good && w->first[i] == WARM_NONE)
            log_note("--init-from: the model holds no network of member \"%s\"%s: it begins with "
                     "new weights", text_quote_z(n->names[i]),
                     m ? ", as its weight is 0" : ", which a time limit left out");
    }
    json_free(doc);
    return good;
}

struct warm *warm_open(const char *path, struct err *e)
{
    struct warm *w = mem_zero(1, sizeof *w);
    w->path = path;
    w->file = modelfile_load(path, e);
    if (w->file && tensor_digest(path, w->digest, e))
        return w;
    warm_free(w);
    return NULL;
}

bool warm_match(struct warm *w, const struct ensemble *n, struct err *e)
{
    w->first = mem_zero(n->members + 1, sizeof *w->first);
    if (!n->alone)
        return find_members(w, n, e);
    return w->file->member_count == 1 ||
           other(w->path, e, "it is an ensemble, and the config is one network", "");
}

void warm_free(struct warm *w)
{
    if (!w)
        return;
    if (w->file)
        modelfile_free(w->file);
    mem_free(w->first);
    mem_free(w);
}

void warm_mark(const struct warm *w, char data[65])
{
    struct sha256 sum;
    sha256_init(&sum);
    sha256_add(&sum, data, 64);
    sha256_add(&sum, w->digest, 64);
    sha256_hex(&sum, data);
}

struct warm_from warm_of_run(const struct warm *w, const struct ensemble *n, uint32_t run)
{
    if (!w || w->first[run / n->folds] == WARM_NONE)
        return (struct warm_from){0};
    return (struct warm_from){w, w->first[run / n->folds] + run % n->folds};
}

/* --- two plans --- */

/* The run's network (now) and the model's (was). */
struct pair {
    const struct encoder *now, *was;
    const struct features *now_f, *was_f;
    const struct model *now_m, *was_m;
    const real *from; /* parameters of the model */
    real *to;
    const char *path;
    uint32_t anew;
};

static const struct column *category_of(const struct encoder *c, uint32_t category)
{
    const struct schema *s = c->schema;
    for (size_t i = 0; i < s->column_count; i++)
        if (s->columns[i].type == COLUMN_CATEGORICAL && s->columns[i].category == category)
            return &s->columns[i];
    return NULL;
}

static const struct vocab *values_of(const struct encoder *c, uint32_t category)
{
    const struct column *column = category_of(c, category);
    return column ? c->columns[column - c->schema->columns].vocab : NULL;
}

static const struct vocab *tokens_of(const struct encoder *c)
{
    for (size_t i = 0; i < c->schema->column_count; i++)
        if (column_is_tokens(&c->schema->columns[i]))
            return c->columns[i].vocab;
    return NULL;
}

/* The slot of the model's column that holds the value of a slot of the run's; UINT32_MAX: none. */
static uint32_t slot_before(const struct vocab *now, const struct vocab *was, uint32_t slot)
{
    size_t length;
    if (slot < FIRST_VALUE)
        return slot;
    if (slot - FIRST_VALUE >= vocab_count(now))
        return UINT32_MAX;
    const char *text = vocab_text(now, slot - FIRST_VALUE, &length);
    uint32_t at = vocab_find(was, text, length);
    return at == UINT32_MAX ? at : at + FIRST_VALUE;
}

/* Rows [slots][width] of a column's values. */
static void copy_slots(struct pair *p, const struct vocab *now, const struct vocab *was,
                       uint32_t slots, uint32_t slots_before, uint64_t width, const real *from,
                       real *to)
{
    for (uint32_t i = 0; i < slots; i++) {
        uint32_t k = slot_before(now, was, i);
        if (k < slots_before)
            memcpy(to + i * width, from + k * width, width * sizeof *to);
        else
            p->anew++;
    }
}

static bool same_texts(const struct vocab *a, const struct vocab *b)
{
    bool same = vocab_count(a) == vocab_count(b);
    for (uint32_t i = 0; same && i < vocab_count(a); i++) {
        size_t length;
        const char *text = vocab_text(a, i, &length);
        same = vocab_find(b, text, length) == i;
    }
    return same;
}

/* --- what must be equal --- */

/* The input column at *i or after it; *i becomes the place after it. NULL: no more. */
static const struct column *next_input(const struct schema *s, size_t *i)
{
    while (*i < s->column_count && !column_is_input(&s->columns[*i]))
        ++*i;
    return *i < s->column_count ? &s->columns[(*i)++] : NULL;
}

static bool same_columns(const struct pair *p, struct err *e)
{
    const struct column *a, *b;
    size_t i = 0, k = 0;
    while ((a = next_input(p->now->schema, &i))) {
        b = next_input(p->was->schema, &k);
        if (!b || strcmp(a->name, b->name) != 0)
            return other(p->path, e, "it lacks, or has at another place, the column", a->name);
        if (a->type != b->type)
            return other(p->path, e, "it has another type of the column", a->name);
    }
    b = next_input(p->was->schema, &k);
    return !b || other(p->path, e, "the config lacks its column", b->name);
}

static bool same_encodings(const struct pair *p, struct err *e)
{
    const struct rowfmt *a = &p->now_f->format, *b = &p->was_f->format;
    if (a->numbers != b->numbers || a->categories != b->categories ||
        p->now_f->indicator_count != p->was_f->indicator_count ||
        p->now_f->bucket_count != p->was_f->bucket_count || p->now_f->steps != p->was_f->steps ||
        p->now_f->window != p->was_f->window)
        return other(p->path, e, "its columns become other numbers (as of missing cells, dates, "
                                 "texts or target statistics)", "");
    if (memcmp(p->now_f->indicators, p->was_f->indicators,
               p->now_f->indicator_count * sizeof *p->now_f->indicators) != 0)
        return other(p->path, e, "cells are missing in other columns", "");
    for (uint32_t k = 0; k < a->categories; k++) {
        const struct feature_category *x = &p->now_f->categories[k], *y = &p->was_f->categories[k];
        const struct column *c = category_of(p->now, k);
        if (x->encode != y->encode || (x->encode == CATEGORY_EMBEDDING && x->dim != y->dim))
            return other(p->path, e, "by the number of values another encoding is chosen (name "
                                     "`encode` and `dim`) for the column", c ? c->name : "");
    }
    return true;
}

/* --- weights --- */

/* Copies the first layer: the rows of x, then of one-hot columns. */
static bool copy_onehot(struct pair *p, const struct param *now, const struct param *was,
                        struct err *e)
{
    const struct layer_onehot *a = &now->layer->onehot, *b = &was->layer->onehot;
    const uint64_t width = now->shape.dims[1];
    bool good = a->count == b->count && a->columns[0].at == b->columns[0].at &&
                width == was->shape.dims[1];
    if (!good)
        return other(p->path, e, "it has another shape of the weights", now->name);
    memcpy(p->to + now->at, p->from + was->at,
           a->columns[0].at * width * sizeof *p->to);
    for (uint32_t k = 0; k < a->count; k++)
        copy_slots(p, values_of(p->now, a->columns[k].id), values_of(p->was, b->columns[k].id),
                   a->columns[k].count, b->columns[k].count, width,
                   p->from + was->at + b->columns[k].at * width,
                   p->to + now->at + a->columns[k].at * width);
    return true;
}

/* Components of piecewise-linear numbers, column by column. */
static void copy_bins(struct pair *p, const struct param *now, const struct param *was)
{
    const uint64_t width = now->shape.dims[1];
    uint64_t to = now->at, from = was->at;
    for (uint32_t n = 0; n < p->now_f->format.numbers; n++) {
        const uint32_t a = p->now_f->numbers ? p->now_f->numbers[n].bins : 0,
                       b = p->was_f->numbers ? p->was_f->numbers[n].bins : 0;
        if (a == b)
            memcpy(p->to + to, p->from + from, a * width * sizeof *p->to);
        else
            p->anew += a;
        to += a * width;
        from += b * width;
    }
}

static bool same_shape(const struct param *a, const struct param *b)
{
    bool same = a->shape.rank == b->shape.rank;
    for (uint32_t i = 0; same && i < a->shape.rank; i++)
        same = a->shape.dims[i] == b->shape.dims[i];
    return same;
}

static bool copy_param(struct pair *p, const struct param *now, const struct param *was,
                       struct err *e)
{
    const uint64_t *a = now->shape.dims, *b = was->shape.dims;
    if (strncmp(now->name, "embedding.", 10) == 0) {
        const uint32_t k = (uint32_t)strtoul(now->name + 10, NULL, 10);
        copy_slots(p, values_of(p->now, k), values_of(p->was, k), (uint32_t)a[0], (uint32_t)b[0],
                   a[1], p->from + was->at, p->to + now->at);
    } else if (strcmp(now->name, "tokens.weight") == 0 && a[1] == b[1]) {
        copy_slots(p, tokens_of(p->now), tokens_of(p->was), (uint32_t)a[0], (uint32_t)b[0], a[1],
                   p->from + was->at, p->to + now->at);
    } else if (strcmp(now->name, "ple.weight") == 0 && a[1] == b[1]) {
        copy_bins(p, now, was);
    } else if (now->layer && now->layer->onehot.count && was->layer && was->layer->onehot.count &&
               now->shape.rank == 2 && text_ends(now->name, ".weight")) {
        return copy_onehot(p, now, was, e);
    } else if (same_shape(now, was)) {
        memcpy(p->to + now->at, p->from + was->at, now->count * sizeof *p->to);
    } else {
        return other(p->path, e, "it has another shape of the weights", now->name);
    }
    return true;
}

/* Values that are written as columns, in place of ids, stand at fixed places of the first layer. */
static bool columns_fit(const struct pair *p, struct err *e)
{
    bool takes = false;
    for (uint32_t i = 0; i < p->now_m->list.count; i++)
        takes |= p->now_m->list.items[i].layer && p->now_m->list.items[i].layer->onehot.count;
    for (uint32_t k = 0; !takes && k < p->now_f->format.categories; k++) {
        const struct column *a = category_of(p->now, k), *b = category_of(p->was, k);
        if (a && b && p->now_f->categories[k].encode == CATEGORY_ONEHOT &&
            !same_texts(values_of(p->now, k), values_of(p->was, k)))
            return other(p->path, e, "behind one-hot columns that are no ids of a dense layer "
                                     "(encode \"embedding\" has none), it has other values of the "
                                     "column", a->name);
    }
    return true;
}

static const struct param *find(const struct model *m, const struct layer *l, const char *end)
{
    for (uint32_t i = 0; i < m->list.count; i++)
        if (m->list.items[i].layer == l && text_ends(m->list.items[i].name, end))
            return &m->list.items[i];
    return NULL;
}

/* Both scale the number, each by a centre and a factor of its own. */
static bool both_scale(const struct number_slot *now, const struct number_slot *was)
{
    return now->scale == was->scale && now->scale != SCALE_QUANTILE &&
           now->transform == was->transform && now->factor > 0 && was->factor > 0;
}

/* Warns of numbers far from the model's: they may be in another unit. */
static void tell_units(const struct pair *p)
{
    const struct schema *s = p->now->schema;
    const double far = 10; /* spreads, or a quotient of two */
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        if (c->type != COLUMN_NUMERIC)
            continue;
        const struct number_slot *now = &p->now->numbers[c->number];
        const struct number_slot *was = &p->was->numbers[c->number];
        if (!both_scale(now, was))
            continue;
        const double there = was->offset + was->center, here = now->offset + now->center;
        const double by = was->factor / now->factor;
        if (fabs(here - there) * was->factor > far || by > far || by * far < 1)
            log_warning("--init-from: column \"%s\" has the centre %s and the spread %s, in "
                        "the model %s and %s: is it of another unit?",
                        text_quote_z(c->name), text_figure(here, 4),
                        text_figure(1 / now->factor, 4),
                        text_figure(there, 4), text_figure(1 / was->factor, 4));
    }
}

/* Warns of texts that become other terms or tokens than in the model. */
static void tell_words(const struct pair *p)
{
    const struct column *c;
    size_t i = 0, k = 0;
    while ((c = next_input(p->now->schema, &i))) {
        const struct column *was = next_input(p->was->schema, &k);
        if (c->type == COLUMN_TEXT && c->text.rule != was->text.rule)
            log_warning("--init-from: the model is of an older version, which cuts the words of "
                        "column \"%s\" at other places: its weights of words in other scripts, "
                        "and of accents and capitals beyond ASCII, do not serve",
                        text_quote_z(c->name));
    }
}

/* The first layer reads numbers of another centre and scale. */
static void fit_numbers(struct pair *p)
{
    const struct layer *l = p->now_m->layers[0];
    const struct param *w = find(p->now_m, l, ".weight"), *b = find(p->now_m, l, ".bias");
    if (strcmp(l->type->name, "dense") != 0 || !w || !b || p->now_m->inputs.steps)
        return;
    for (uint32_t k = 0; k < p->now->number_count; k++) {
        const struct number_slot *now = &p->now->numbers[k], *was = &p->was->numbers[k];
        if (!both_scale(now, was))
            continue;
        const double apart = now->offset + now->center - was->offset - was->center;
        real *row = p->to + w->at + k * w->shape.dims[1];
        for (uint64_t o = 0; o < w->shape.dims[1]; o++) {
            p->to[b->at + o] += (real)((double)row[o] * apart * was->factor);
            row[o] = (real)((double)row[o] * was->factor / now->factor);
        }
    }
}

/* The output layer gives a target of another centre and scale. */
static void fit_target(struct pair *p)
{
    const struct target_coding *now = &p->now->coding, *was = &p->was->coding;
    const struct layer *l = p->now_m->layers[p->now_m->layer_count - 1];
    const struct param *w = find(p->now_m, l, "weight"), *b = find(p->now_m, l, "bias");
    if (p->now->schema->task != TASK_REGRESSION || now->transform != was->transform ||
        now->transform == TARGET_QUANTILE || !w || !b)
        return;
    const double by = was->scale / now->scale;
    for (uint64_t i = 0; i < w->count; i++)
        p->to[w->at + i] = (real)((double)p->to[w->at + i] * by);
    for (uint64_t i = 0; i < b->count; i++)
        p->to[b->at + i] = (real)((double)p->to[b->at + i] * by +
                                  (was->center - now->center) / now->scale);
}

static bool copy_all(struct pair *p, const struct member *member, real *buffers, struct err *e)
{
    const struct param_list *a = &p->now_m->list, *b = &p->was_m->list;
    bool good = a->count == b->count || other(p->path, e, "it has other layers", "");
    for (uint32_t i = 0; good && i < a->count; i++) {
        const struct param *now = &a->items[i], *was = param_find(b, now->name);
        if (!was || was->buffer != now->buffer)
            good = other(p->path, e, "it lacks the weights", now->name);
        else if (now->buffer && now->count != was->count)
            good = other(p->path, e, "it has another shape of the values", now->name);
        else if (now->buffer)
            memcpy(buffers + now->at, member->buffers + was->at, now->count * sizeof *buffers);
        else
            good = copy_param(p, now, was, e);
    }
    return good;
}

bool warm_fill(const struct warm_from *from, const struct run *r, real *params, real *buffers,
               uint32_t *anew, struct err *e)
{
    const struct modelfile *f = from->of->file;
    const struct member *member = &f->members[from->network];
    struct pair p = {.now = r->encoder,
                     .was = modelfile_encoder(f, from->network),
                     .now_f = r->features,
                     .now_m = network_model(r->network),
                     .from = member->params,
                     .to = params,
                     .path = from->of->path};
    if (p.now->schema->task != p.was->schema->task)
        return other(p.path, e, "it has another task", "");
    if (p.now->schema->labels && !same_texts(p.now->schema->labels, p.was->schema->labels))
        return other(p.path, e, "it has other labels", "");
    struct features *was = encoder_features(p.was);
    struct model *m = model_plan(member->architecture, was, 1, 1, false, e);
    p.was_f = was;
    p.was_m = m;
    bool good = m && same_columns(&p, e) && same_encodings(&p, e) && columns_fit(&p, e) &&
                copy_all(&p, member, buffers, e);
    if (good) {
        if (!r->quiet) {
            tell_units(&p);
            tell_words(&p);
        }
        fit_numbers(&p);
        fit_target(&p);
    }
    *anew = p.anew;
    model_free(m);
    features_free(was);
    return good;
}
