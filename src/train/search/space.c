/* space.c - see space.h. */
#include "train/search/space.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"

#define SPACE_STREAM 0x74756e65u

/* --- reading --- */

static bool starts(const char *key, const char *with)
{
    return strncmp(key, with, strlen(with)) == 0;
}

static bool bad(const struct config *c, const struct space *s, const struct json *v, enum err_id id,
                struct err *e, const char *what)
{
    const struct json_doc *doc = s->own ? s->own : c->doc;
    return json_fail(doc, v, e, id, "`tune.space`: \"%s\" %s", text_quote_z(json_key(v)), what);
}

static bool read_range(struct space_key *k, const struct json *v, const struct config *c,
                       const struct space *s, struct err *e)
{
    static const char *const known[] = {"low", "high", "log"};
    for (const struct json *m = json_at(v, 0); m; m = json_next(m)) {
        size_t i = 0;
        while (i < 3 && strcmp(json_key(m), known[i]) != 0)
            i++;
        bool flag = json_kind(m) == JSON_TRUE || json_kind(m) == JSON_FALSE;
        if (i == 3 || (i == 2 ? !flag : json_kind(m) != JSON_NUMBER)) {
            bad(c, s, v, ERR_CONFIG_TYPE, e, "is not a range");
            return err_expected(e, "{\"low\": number, \"high\": number, \"log\": true or false}");
        }
    }
    const struct json *low = json_get(v, "low"), *high = json_get(v, "high"),
                      *log = json_get(v, "log");
    if (!low || !high || json_number(low) > json_number(high))
        return bad(c, s, v, ERR_CONFIG_RANGE, e, "needs a \"low\" and a \"high\" above it");
    k->low = json_number(low);
    k->high = json_number(high);
    k->log = log && json_true(log);
    if (k->log && !(k->low > 0))
        return bad(c, s, v, ERR_CONFIG_RANGE, e, "has \"log\", and its \"low\" is not above 0");
    return true;
}

/* A key of the config, or of a group of it, that no trial can set. */
static bool of_whole(const struct config *c, const char *path)
{
    char *first = mem_string_n(path, strcspn(path, "."));
    bool known = config_row(c, first) != NULL;
    mem_free(first);
    return known;
}

static bool read_key(struct space *s, const struct json *v, const struct config *c, struct err *e)
{
    const char *path = json_key(v);
    const struct option *row = config_row(c, path);
    struct space_key *k = &s->keys[s->count];
    if (!starts(path, "model.") && !starts(path, "train.") && !starts(path, "encoders.")) {
        bad(c, s, v, ERR_CONFIG_KEY, e, "is no key of model, train or encoders");
        return of_whole(c, path) ? err_help(e, "a search varies the network and its training; data "
                                               "and task are the same for all trials")
                                 : false;
    }
    if (!row && starts(path, "train."))
        return bad(c, s, v, ERR_CONFIG_KEY, e, "is an unknown key");
    *k = (struct space_key){.path = mem_string(path), .whole = row && row->type == OPT_INT};
    s->count++;
    if (json_kind(v) == JSON_OBJECT)
        return read_range(k, v, c, s, e);
    if (json_kind(v) != JSON_LIST || !json_count(v)) {
        bad(c, s, v, ERR_CONFIG_TYPE, e, "is neither a list of values nor a range");
        return err_help(e, "as in \"train.optimizer.learning_rate\": {\"low\": 0.0003, \"high\": "
                           "0.01, \"log\": true}");
    }
    k->values = v;
    return true;
}

/* Keys of a preset's space that this config has no use for. */
static bool left_out(const struct config *c, const char *path)
{
    if (strcmp(path, "train.loss.class_weights") == 0)
        return c->task == TASK_REGRESSION;
    for (size_t i = 0; strcmp(path, "train.batch_size") == 0 && i < c->setting_count; i++)
        if (strcmp(c->settings[i].key, path) == 0)
            return strcmp(c->settings[i].from, "--batch-size") == 0;
    return false;
}

void space_note_steps(const struct space *s, const struct config *c)
{
    for (size_t i = 0; i < s->count && c->architecture->solution == SOLVED_BY_RIDGE; i++)
        if (starts(s->keys[i].path, "train.optimizer.")) {
            log_note("trial 0 is solved for by ridge regression; the others draw `%s`, which a "
                     "solution does not read: unless model.solver is \"ridge\" they train in steps",
                     s->keys[i].path);
            return;
        }
}

bool space_open(struct space *s, const struct config *c, struct err *e)
{
    const struct json *root = c->tune.space;
    *s = (struct space){.seed = c->train.seed};
    if (!root || json_kind(root) == JSON_NULL) {
        const char *text = config_space(c);
        s->own = json_parse_own(text, strlen(text), "space", e);
        root = s->own ? json_root(s->own) : NULL;
    }
    if (!root)
        return false;
    if (json_kind(root) != JSON_OBJECT || !json_count(root))
        return json_fail(c->doc, root, e, ERR_CONFIG_TYPE,
                         "`tune.space` is an object of keys, each with a list or a range");
    s->keys = mem_zero(json_count(root), sizeof *s->keys);
    for (const struct json *v = json_at(root, 0); v; v = json_next(v))
        if (!(s->own && left_out(c, json_key(v))) && !read_key(s, v, c, e))
            return false;
    return true;
}

void space_close(struct space *s)
{
    for (size_t i = 0; i < s->count; i++)
        mem_free(s->keys[i].path);
    mem_free(s->keys);
    json_free(s->own);
    *s = (struct space){0};
}

/* --- the plan --- */

/* Four digits are enough for a range; a whole number is one. */
static void put_number(const struct space_key *k, double u, struct text *out)
{
    double value = k->log ? k->low * pow(k->high / k->low, u) : k->low + (k->high - k->low) * u;
    if (k->whole) {
        value = k->log ? floor(k->low * pow((k->high + 1) / k->low, u))
                       : floor(k->low + (k->high + 1 - k->low) * u);
        text_printf(out, "%.0f", fmin(value, k->high));
        return;
    }
    char digits[32];
    snprintf(digits, sizeof digits, "%.4g", value);
    text_put(out, digits);
}

void draw_set(struct draw *d, const char *set)
{
    d->sets = mem_grow(d->sets, d->count + 1, sizeof *d->sets);
    d->sets[d->count++] = mem_string(set);
}

void space_draw(const struct space *s, uint32_t trial, struct draw *d)
{
    *d = (struct draw){0};
    if (trial == 0)
        return;
    for (size_t i = 0; i < s->count; i++) {
        const struct space_key *k = &s->keys[i];
        uint64_t key = rng_hash(k->path, strlen(k->path), s->seed);
        double u = rng_uniform(key, trial, SPACE_STREAM, 0, RNG_SAMPLE);
        struct text text = {0};
        text_printf(&text, "%s=", k->path);
        if (k->values)
            json_write(&text, json_at(k->values, (size_t)(u * (double)json_count(k->values))), 0);
        else
            put_number(k, u, &text);
        draw_set(d, text.data);
        text_free(&text);
    }
}

void draw_free(struct draw *d)
{
    for (size_t i = 0; i < d->count; i++)
        mem_free(d->sets[i]);
    mem_free(d->sets);
    *d = (struct draw){0};
}

const char *draw_value(const struct draw *d, size_t key)
{
    return key < d->count ? strchr(d->sets[key], '=') + 1 : "";
}

void draw_write(const struct draw *d, struct text *out)
{
    struct json_out json = {0};
    json_open(&json, NULL, '{');
    for (size_t i = 0; i < d->count; i++) {
        const char *equals = strchr(d->sets[i], '=');
        char *path = mem_string_n(d->sets[i], (size_t)(equals - d->sets[i]));
        json_put_raw(&json, path, equals + 1);
        mem_free(path);
    }
    json_close(&json, '}');
    text_add(out, json.text.data, json.text.length);
    text_free(&json.text);
}
