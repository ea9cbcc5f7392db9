/* config_env.c - the environment and the command line over the backend section, and the origin of
 * every value. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "config/config_table.h"
#include "config/variable.h"

/* --- settings --- */

struct collecting {
    struct setting_list *list;
    const struct json_doc *doc;
    const char *stored;
};

static void collect(const char *key, const struct option *row, const void *base, void *context)
{
    struct collecting *c = context;
    struct setting_list *l = c->list;
    l->items = mem_more(l->items, l->count, sizeof *l->items);
    struct json_out value = {0};
    opt_write_value(row, base, NULL, &value);
    const char *from = "default";
    const struct json *v = c->doc ? json_path(json_root(c->doc), key) : NULL;
    if (v) {
        int64_t line, column;
        json_place(c->doc, v, &line, &column);
        from = line > 0 ? c->stored : "--set";
    }
    l->items[l->count++] =
        (struct setting){mem_string(key), mem_string(value.text.data), mem_string(from)};
    text_free(&value.text);
}

void settings_collect(struct setting_list *l, const struct option *table, const char *path,
                      const void *from, const struct json_doc *doc, const char *stored)
{
    struct collecting c = {.list = l, .doc = doc, .stored = stored};
    opt_each(table, path, from, collect, &c);
}

struct setting *settings_find(const struct setting *items, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(items[i].key, key) == 0)
            return (struct setting *)(uintptr_t)&items[i];
    return NULL;
}

void settings_change(struct setting_list *l, const char *key, const char *value_json,
                     const char *from)
{
    struct setting *s = settings_find(l->items, l->count, key);
    if (!s)
        return;
    mem_free(s->value);
    mem_free(s->from);
    s->value = mem_string(value_json);
    s->from = mem_string(from);
}

void settings_from(struct setting_list *l, const struct json_doc *doc, const char *key,
                   const char *from)
{
    struct setting *s = settings_find(l->items, l->count, key);
    if (s) {
        mem_free(s->from);
        s->from = mem_string(from);
        return;
    }
    struct text value = {0};
    json_write(&value, json_path(json_root(doc), key), 0);
    l->items = mem_grow(l->items, l->count + 1, sizeof *l->items);
    l->items[l->count++] = (struct setting){mem_string(key), value.data, mem_string(from)};
}

void settings_free(struct setting *settings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mem_free(settings[i].key);
        mem_free(settings[i].value);
        mem_free(settings[i].from);
    }
    mem_free(settings);
}

/* --- words and variables --- */

/* auto, 3, cuda:3, GPU-..., MIG-... */
static bool device_word(const char *text)
{
    const char *number = card_number(text);
    size_t digits = strspn(number, "0123456789");
    if (strcmp(text, "auto") == 0 || (digits > 0 && digits < 5 && !number[digits]))
        return true;
    bool uuid = strncmp(text, "GPU-", 4) == 0 || strncmp(text, "MIG-", 4) == 0;
    return uuid && text[4] && strlen(text) < 80 &&
           !text[4 + strspn(text + 4, "0123456789abcdefABCDEFGPU-/")];
}

static const char device_forms[] = "auto, a number such as 0, cuda:0, a UUID GPU-... or MIG-...";

static bool bad_variable(const char *name, const char *value, const char *expected, struct err *e)
{
    err_set(e, ERR_ENVIRONMENT, "%s is \"%s\"", name, text_quote_z(value));
    return err_expected(e, "%s", expected);
}

/* true or false, in any case of letters. *word NULL when the variable is not set. */
static bool read_switch(const char *name, const char **word, struct err *e)
{
    const char *value = variable(name);
    *word = NULL;
    if (!value)
        return true;
    *word = text_same(value, "true") ? "dnn_gpu" : text_same(value, "false") ? "dnn_cpu" : NULL;
    return *word || bad_variable(name, value, "true or false", e);
}

static const char *const switches[JOBS] = {
#define JOB(id, name, variable, what) variable,
#include "config/jobs.def"
#undef JOB
};

bool config_switch_known(const char *name)
{
    bool known = strcmp(name, "ALL_GPU") == 0;
    for (int job = 0; job < JOBS; job++)
        known |= strcmp(name, switches[job]) == 0;
    return known;
}

/* The backends of the environment: a word for each job and the variable it is from, or NULL. */
struct wishes {
    const char *word[JOBS], *from[JOBS];
    const char *kind; /* GPU_BACKEND */
};

static bool read_wishes(struct wishes *w, struct err *e)
{
    const char *words[4] = {NULL}, *all, *kind = variable("GPU_BACKEND"),
               *model = variable("MODEL_BACKEND");
    if (model && !(words[1] = backend_word(model, false)))
        return bad_variable("MODEL_BACKEND", model, "dnn, dnn_cpu, dnn_gpu or auto", e);
    if (!read_switch("ALL_GPU", &all, e))
        return false;
    words[2] = all;
    if (kind && !(w->kind = backend_kind(kind)))
        return bad_variable("GPU_BACKEND", kind, "auto, cuda, rocm, mps or cpu", e);
    words[3] = kind && strcmp(w->kind, "cpu") == 0 ? "dnn_cpu" : NULL;
    for (int job = 0; job < JOBS; job++) {
        const char *const names[4] = {switches[job], "MODEL_BACKEND", "ALL_GPU", "GPU_BACKEND"};
        if (!read_switch(switches[job], &words[0], e))
            return false;
        for (int i = 3; i >= 0; i--)
            if (words[i]) {
                w->word[job] = words[i];
                w->from[job] = names[i];
            }
    }
    return true;
}

/* --- over the backend section --- */

void settings_put_string(struct setting_list *l, const char *key, const char *from,
                         const char *value, char **field)
{
    struct json_out quoted = {0};
    json_put_string(&quoted, NULL, value);
    settings_change(l, key, quoted.text.data, from);
    text_free(&quoted.text);
    char *copy = mem_string(value);
    mem_free(*field);
    *field = copy;
}

bool settings_put_int(struct setting_list *l, const char *key, const char *from, int64_t value,
                      int64_t *field, struct err *e)
{
    const struct option *row = opt_find(config_table, key);
    char digits[24];
    if ((double)value < row->low || (double)value > row->high) {
        err_set(e, ERR_OPTION_VALUE, "%s %lld is out of range", from, (long long)value);
        return err_expected(e, "%s", opt_range(row));
    }
    *field = value;
    snprintf(digits, sizeof digits, "%lld", (long long)value);
    settings_change(l, key, digits, from);
    return true;
}

static bool from_set(const struct setting_list *l, const char *key)
{
    const struct setting *s = settings_find(l->items, l->count, key);
    return s && strcmp(s->from, "--set") == 0;
}

static void kind_decide(struct backend_options *b, const char *given, const char *variable_kind)
{
    b->kind = given ? given : variable_kind;
    b->kind_from = given ? "--backend" : "GPU_BACKEND";
    if (b->kind && (strcmp(b->kind, "auto") == 0 || strcmp(b->kind, "cpu") == 0))
        b->kind = NULL;
}

/* Command line, then environment, then config: a job's own key before the name in each. */
static bool decide(struct backend_options *b, const char *given, const char *given_kind,
                   struct setting_list *l, struct err *e)
{
    char **const fields[JOBS] = {
#define JOB(id, name, variable, what) &b->name,
#include "config/jobs.def"
#undef JOB
    };
    struct wishes w = {.kind = NULL};
    if (!read_wishes(&w, e))
        return false;
    kind_decide(b, given_kind, w.kind);
    bool name_set = from_set(l, "backend.name");
    const struct setting *name_setting = settings_find(l->items, l->count, "backend.name");
    char *name_from = mem_string(name_setting ? name_setting->from : "default");
    for (int job = 0; job < JOBS; job++) {
        char key[40];
        snprintf(key, sizeof key, "backend.%s", backend_job_names[job]);
        bool own_set = from_set(l, key);
        const char *word = NULL, *from = NULL;
        if (given) {
            word = given;
            from = "--backend";
        } else if (own_set && *fields[job]) {
            word = backend_word(*fields[job], false);
            from = "--set";
        } else if (w.word[job] && !name_set) {
            word = w.word[job];
            from = w.from[job];
        } else if (*fields[job] && !name_set) {
            const struct setting *s = settings_find(l->items, l->count, key);
            word = backend_word(*fields[job], false);
            from = s ? s->from : "config";
        } else {
            word = backend_word(b->name, false);
            from = name_from;
        }
        char *keep = mem_string(from); /* `from` may point to text that settings_change frees */
        settings_put_string(l, key, keep, word, fields[job]);
        mem_free(keep);
    }
    settings_put_string(l, "backend.name", given ? "--backend" : name_from,
                        given ? given : backend_word(b->name, false), &b->name);
    mem_free(name_from);
    return true;
}

static bool no_device(const char *word, struct err *e)
{
    err_expected(e, "%s", device_forms);
    if (strcasecmp(word, "gpu") == 0 || strcasecmp(word, "cuda") == 0)
        err_help(e, "--backend dnn_gpu asks for a GPU; the device says which one");
    else if (strcasecmp(word, "cpu") == 0)
        err_help(e, "--backend dnn_cpu asks for the CPU");
    return false;
}

static bool devices(struct backend_options *b, const struct overrides *o, struct setting_list *l,
                    struct err *e)
{
    const char *id = variable("GPU_DEVICE_ID");
    if (id && !device_word(id))
        return bad_variable("GPU_DEVICE_ID", id, device_forms, e);
    if (o->device && !device_word(o->device)) {
        err_set(e, ERR_OPTION_VALUE, "--device \"%s\" is not a device", text_quote_z(o->device));
        return no_device(o->device, e);
    }
    const char *card = overrides_card(o);
    if (o->device && card_named(o->backend) &&
        strcmp(card_number(o->device), card_number(o->backend)) != 0) {
        err_set(e, ERR_OPTION_CONFLICT, "--backend %s and --device %s name two cards",
                text_quote_z(o->backend), text_quote_z(o->device));
        return err_expected(e, "one of them");
    }
    if (card)
        settings_put_string(l, "backend.device", o->device ? "--device" : "--backend", card,
                            &b->device);
    else if (id && !from_set(l, "backend.device"))
        settings_put_string(l, "backend.device", "GPU_DEVICE_ID", id, &b->device);
    if (device_word(b->device))
        return true;
    err_set(e, from_set(l, "backend.device") ? ERR_SET_VALUE : ERR_CONFIG_WORD,
            "`backend.device`: \"%s\" is not a device", text_quote_z(b->device));
    err_key(e, "backend.device");
    return no_device(b->device, e);
}

static bool memory(struct backend_options *b, struct setting_list *l, struct err *e)
{
    const char *limit = variable("GPU_MEMORY_LIMIT_GB");
    double value;
    if (!limit)
        return true;
    if (!text_to_double(limit, &value) || !(value > 0) || value > 1e6)
        return bad_variable("GPU_MEMORY_LIMIT_GB", limit, "a number of GiB, more than 0", e);
    if (from_set(l, "backend.memory_limit_gb"))
        return true;
    b->memory_limit_gb = value;
    settings_change(l, "backend.memory_limit_gb", limit, "GPU_MEMORY_LIMIT_GB");
    return true;
}

static bool batches(struct backend_options *b, const struct overrides *o, bool batch,
                    struct setting_list *l, struct err *e)
{
    static const char key[] = "backend.predict_batch_size";
    const char *size = variable("GPU_BATCH_SIZE");
    int64_t value = 0;
    if (size && (!text_to_int(size, &value) || value < 1 || value > PREDICT_BATCH_MOST))
        return bad_variable("GPU_BATCH_SIZE", size,
                            "a number of rows from 1 to " TEXT_DIGITS(PREDICT_BATCH_MOST), e);
    if (batch && o->batch_size >= 0)
        return settings_put_int(l, key, "--batch-size", o->batch_size, &b->predict_batch_size, e);
    return !size || from_set(l, key) ||
           settings_put_int(l, key, "GPU_BATCH_SIZE", value, &b->predict_batch_size, e);
}

bool config_environment(struct backend_options *b, const struct overrides *o, bool batch,
                        struct setting_list *l, struct err *e)
{
    const char *given = o->backend ? backend_word(o->backend, true) : NULL;
    const char *kind = o->backend && !given ? backend_kind(o->backend) : NULL; /* mps, rocm */
    if (o->backend && !given && !kind) {
        err_set(e, ERR_OPTION_VALUE, "--backend \"%s\" is not a backend", text_quote_z(o->backend));
        struct text list = {0};
        for (size_t i = 0; backend_option_words[i]; i++)
            text_printf(&list, "%s%s", i ? ", " : "", backend_option_words[i]);
        err_expected(e, "%s or cuda:N", list.data);
        if (strcasecmp(o->backend, "gpu") == 0)
            err_help(e, "did you mean dnn_gpu?");
        text_free(&list);
        return false;
    }
    return decide(b, given, kind, l, e) && devices(b, o, l, e) && memory(b, l, e) &&
           batches(b, o, batch, l, e) &&
           (o->threads < 0 ||
            settings_put_int(l, "backend.threads", "--threads", o->threads, &b->threads, e));
}

/* A section that another version wrote and this one cannot read sets nothing. */
bool backend_settings(const struct json_doc *model_config, enum job job, const struct overrides *o,
                      struct backend_options *b, struct setting **settings, size_t *count,
                      struct err *e)
{
    struct setting_list l = {0};
    *settings = NULL;
    *count = 0;
    const struct json *section = model_config ? json_get(json_root(model_config), "backend") : NULL;
    struct err unread = {0};
    bool good = opt_read(backend_options_table, model_config, section, "backend", b, &unread) ||
                opt_read(backend_options_table, model_config, section = NULL, "backend", b, e);
    if (good)
        settings_collect(&l, backend_options_table, "backend", b, section ? model_config : NULL,
                         "model");
    if (!good)
        return false;
    if (isnan(b->memory_limit_gb))
        b->memory_limit_gb = 0;
    if (!config_environment(b, o ? o : &overrides_none, job != JOB_TRAIN, &l, e)) {
        settings_free(l.items, l.count);
        backend_release(b);
        return false;
    }
    *settings = l.items;
    *count = l.count;
    return true;
}

void backend_release(struct backend_options *b)
{
    opt_release(backend_options_table, b);
}

enum backend_word config_backend(const struct backend_options *b, enum job job,
                                 const struct setting *settings, size_t count, const char **from)
{
    const char *const own[JOBS] = {
#define JOB(id, name, variable, what) b->name,
#include "config/jobs.def"
#undef JOB
    };
    const char *word = own[job] ? own[job] : b->name;
    char key[40];
    snprintf(key, sizeof key, "backend.%s", own[job] ? backend_job_names[job] : "name");
    const struct setting *s = settings_find(settings, count, key);
    if (from)
        *from = s ? s->from : "default";
    for (enum backend_word w = BACKEND_AUTO; w < BACKEND_CPU; w++)
        if (strcmp(word, backend_names[w]) == 0)
            return w;
    return BACKEND_CPU;
}
