/* output.c - see output.h. */
#include "config/output.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/file/file.h"
#include "base/json/json.h"
#include "base/file/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/file/outfile.h"
#include "base/text.h"
#include "config/config_help.h"
#include "model/file/checkpoint_list.h"

static bool meet(const char *output, const char *input)
{
    return strcmp(input, "-") == 0    ? file_is_input(output)
           : strcmp(output, "-") == 0 ? file_is_output(input)
                                      : file_same(output, input);
}

static bool is_input(const char *output, const char *input, const char *what, struct err *e)
{
    if (!input || !meet(output, input))
        return false;
    char shown[256];
    text_escape(shown, sizeof shown, input, strlen(input));
    if (strcmp(output, "-") == 0)
        err_set(e, ERR_SAME_FILE, "standard output is %s \"%s\"", what, shown);
    else
        err_at(e, ERR_SAME_FILE, output, 0, 0, "the output is %s \"%s\"", what, shown);
    err_help(e, "choose another output; the input is untouched");
    return true;
}

static bool among(const char *output, const struct opt_strings *inputs, struct err *e)
{
    for (size_t i = 0; i < inputs->count; i++)
        if (is_input(output, inputs->items[i], "the input", e))
            return true;
    return false;
}

bool output_apart(const struct config *c, const char *path, struct err *e)
{
    return !is_input(path, c->path, "the config", e) && !among(path, &c->data.train, e) &&
           !among(path, &c->data.valid, e) && !among(path, &c->data.test, e);
}

/* The first bytes of a regular file; *got 0 when there is none. */
static bool first_bytes(const char *path, void *bytes, size_t room, size_t *got, struct err *e)
{
    struct file f;
    *got = 0;
    if (!file_open_regular(&f, path, e))
        return e->id == ERR_FILE_MISSING && (err_clear(e), true); /* nothing, or no file */
    bool good = file_read(&f, bytes, room, got, e);
    file_close(&f);
    return good;
}

static const char model_prefix[] = "{\"__metadata__\":{\"sha256\":\"";
/* the digits of the digest, then the kind: a model or a checkpoint */
enum { MODEL_BEGIN = 8 + sizeof model_prefix - 1, DIGEST = 64, KIND_END = MODEL_BEGIN + 128 };

static bool is_model(const char *bytes, size_t got)
{
    return got >= MODEL_BEGIN && memcmp(bytes + 8, model_prefix, MODEL_BEGIN - 8) == 0;
}

/* Both kinds begin alike; the kind follows the digest. */
static bool is_kind(const char *bytes, size_t got, const char *kind)
{
    const size_t at = MODEL_BEGIN + DIGEST, length = strlen(kind);
    return is_model(bytes, got) && got >= at + length && memcmp(bytes + at, kind, length) == 0;
}

static bool is_checkpoint(const char *bytes, size_t got)
{
    return is_kind(bytes, got, "\",\"kind\":\"checkpoint\"");
}

static bool is_part(const char *bytes, size_t got)
{
    return is_kind(bytes, got, "\",\"kind\":\"part\"");
}

bool output_is_checkpoint(const char *path)
{
    char bytes[KIND_END];
    size_t got = 0;
    struct err unread = {0};
    return first_bytes(path, bytes, sizeof bytes, &got, &unread) && is_checkpoint(bytes, got);
}

/* Begins like a config: an object whose first key is one of a config's. */
static bool like_config(const char *words)
{
    if (strncmp(words, "{\"", 2) != 0)
        return false;
    char *key = mem_string_n(words + 2, strcspn(words + 2, "\""));
    bool known = config_top_key(key, NULL);
    mem_free(key);
    return known;
}

/* True: it has a task or data, and all of its keys are a config's. */
static bool is_config(const char *path)
{
    struct err unread = {0};
    struct json_doc *doc = json_load(path, &unread);
    if (!doc)
        return false;
    const struct json *root = json_root(doc);
    bool all = json_kind(root) == JSON_OBJECT && (json_get(root, "task") || json_get(root, "data"));
    for (const struct json *v = all ? json_at(root, 0) : NULL; all && v; v = json_next(v))
        all = config_top_key(json_key(v), v);
    json_free(doc);
    return all;
}

bool output_takes_config(const char *path, bool force, struct err *e)
{
    char words[64];
    if (file_descriptor(path) >= 0)
        return true;
    if (!file_first_words(path, words, sizeof words, e))
        return false;
    if (!*words || strcmp(words, "{") == 0 || strcmp(words, "{}") == 0)
        return true;
    if (is_config(path)) {
        if (force)
            return true;
        err_at(e, ERR_FILE_CREATE, path, 0, 0, "there is a config already: it is not replaced");
        return err_help(e, "--force replaces it; -o names another file");
    }
    return file_not_ours(path, "a config", "choose another name with -o", e);
}

bool output_spares(const char *path, struct err *e)
{
    char bytes[KIND_END], words[64];
    size_t got = 0;
    struct err unread = {0};
    if (!path || file_descriptor(path) >= 0)
        return true;
    if (!first_bytes(path, bytes, sizeof bytes, &got, &unread) ||
        !file_first_words(path, words, sizeof words, &unread))
        return true; /* the write reports the fault, or replaces the file */
    bool model = is_model(bytes, got);
    if (!model && !like_config(words))
        return true;
    err_at(e, ERR_FILE_CREATE, path, 0, 0, "there is a %s: it is not replaced by answers",
           is_checkpoint(bytes, got) ? "dnn checkpoint" : model ? "dnn model" : "config");
    return err_help(e, "choose another output with -o, or remove the file");
}

bool output_replaceable(const char *model, bool part, struct err *e)
{
    char bytes[KIND_END];
    struct file f;
    struct err why = {0};
    size_t got = 0;
    if (!file_exists(model))
        return true;
    if (!file_open_regular(&f, model, &why)) {
        if (why.id != ERR_FILE_MISSING) {
            *e = why;
            return false;
        }
        err_at(e, ERR_FILE_CREATE, model, 0, 0, "there is something that cannot be replaced: it %s",
               why.what);
        return err_help(e, "choose another output with -o");
    }
    if (!file_read(&f, bytes, sizeof bytes, &got, e)) {
        file_close(&f);
        return false;
    }
    file_close(&f);
    if (is_checkpoint(bytes, got))
        err_at(e, ERR_FILE_CREATE, model, 0, 0,
               "there is a checkpoint, which --resume may continue: it is not replaced");
    else if (!is_model(bytes, got))
        err_at(e, ERR_FILE_CREATE, model, 0, 0,
               "there is a file that is not a dnn model: it is not replaced");
    else if (is_part(bytes, got) != part)
        err_at(e, ERR_FILE_CREATE, model, 0, 0, "there is a %s: it is not replaced by a %s",
               part ? "model" : "part of a model", part ? "part" : "model");
    else
        return true;
    return err_help(e, "choose another output with -o, or remove the file");
}

/* Preset auto becomes one, or not, when the data are known. */
static bool may_be_ensemble(const struct config *c)
{
    const struct json *word = c->doc ? json_path(json_root(c->doc), "model.preset") : NULL;
    return config_is_ensemble(c) || (word && json_kind(word) == JSON_STRING &&
                                     strcmp(json_string(word), "auto") == 0);
}

/* Finished runs of an ensemble go to files of their own. Only such a file may be replaced, or a
 * damaged one: empty, or bytes with a zero, which no text of a user has. */
static bool runs_replaceable(const char *model, struct err *e)
{
    struct checkpoint_list l;
    bool good = checkpoint_find_runs(model, &l, e);
    for (size_t i = 0; good && i < l.count; i++) {
        char bytes[KIND_END], *path = checkpoint_run_path(model, (uint32_t)l.steps[i]);
        size_t got = 0;
        struct err unread = {0};
        struct stat st;
        good = stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
               first_bytes(path, bytes, sizeof bytes, &got, &unread) &&
               (is_part(bytes, got) || !got || memchr(bytes, '\0', got));
        if (!good) {
            err_at(e, ERR_FILE_CREATE, path, 0, 0,
                   "a run of the ensemble is to be kept there, and what is there is none");
            err_help(e, "choose another output with -o, or remove it");
        }
        mem_free(path);
    }
    checkpoint_list_free(&l);
    return good;
}

/* Checks the longest names that a training needs: its checkpoints'. */
static bool names_fit(const struct config *c, const char *model, struct err *e)
{
    enum { ASIDE = 64 }; /* more bytes in the name of a file written aside */
    struct stat st;
    struct text run = {0};
    char *final = file_final(model);
    text_printf(&run, "%s%s", final, config_is_ensemble(c) ? ".ckpt-run-65535" : "");
    char *longest = checkpoint_path(run.data, 0);
    bool fits = strlen(longest) + ASIDE < PATH_MAX &&
                (lstat(longest, &st) == 0 || errno != ENAMETOOLONG);
    size_t more = strlen(longest) - strlen(final);
    mem_free(longest);
    mem_free(final);
    text_free(&run);
    if (fits)
        return true;
    err_at(e, ERR_FILE_CREATE, model, 0, 0,
           "the output's name is too long: those of its checkpoints have %zu bytes more", more);
    return err_help(e, "choose a shorter name with -o");
}

bool output_probe(const char *path, struct err *e)
{
    struct outfile o;
    if (!outfile_open(&o, path, e))
        return false;
    outfile_abort(&o);
    return true;
}

bool output_beside_rows(const struct config *c, const char *path, const char *option,
                        struct err *e)
{
    if (!output_apart(c, path, e) || !output_spares(path, e) || !output_probe(path, e))
        return false;
    const char *pipe = data_passing(&c->data, PART_TRAIN);
    pipe = pipe ? pipe : data_passing(&c->data, PART_VALID);
    if (!pipe)
        return true;
    err_set(e, ERR_USAGE, "%s reads the data a second time, and \"%s\" comes through a pipe",
            option, text_quote_z(pipe));
    return err_help(e, "write the data to a file first");
}

/* Checks the path of a file beside the model, `name` in messages: it is no input and no file that
 * goes with the model. */
static bool apart(const struct config *c, const char *model, const char *path, const char *name,
                  struct err *e)
{
    if (!output_apart(c, path, e))
        return false;
    char *lock = lock_path(model);
    const char *what = file_same(path, model)       ? "the model"
                       : file_same(path, lock)      ? "the model's lock"
                       : checkpoint_is(model, path) ? "a checkpoint"
                                                    : NULL;
    mem_free(lock);
    if (!what)
        return true;
    err_at(e, ERR_SAME_FILE, path, 0, 0, "%s is %s", name, what);
    return err_help(e, "choose another file for it");
}

bool output_check(const struct config *c, const char *model, bool part, const char *profile,
                  struct err *e)
{
    const char *metrics = c->output.metrics;
    if (strcmp(model, "-") == 0) {
        err_set(e, ERR_USAGE, "train writes its model to a file, not to standard output");
        return err_help(e, "name a file with -o");
    }
    if (metrics && strcmp(metrics, "-") == 0) {
        err_set(e, ERR_USAGE, "output.metrics must be a file, not -");
        return err_help(e, "/dev/stdout is standard output");
    }
    if (!output_apart(c, model, e) || (metrics && !apart(c, model, metrics, "output.metrics", e)) ||
        (profile && !apart(c, model, profile, "the file of --profile", e)))
        return false;
    if (metrics && profile &&
        (file_same(profile, metrics) || (file_is_output(profile) && file_is_output(metrics)))) {
        err_at(e, ERR_SAME_FILE, profile, 0, 0, "the file of --profile is output.metrics");
        return err_help(e, "choose another file for --profile");
    }
    if (metrics && !file_is_ours(metrics, OUTPUT_METRICS_BEGIN, "a list of metrics by dnn",
                                   "give output.metrics another name", e))
        return false;
    return output_replaceable(model, part, e) &&
           (!may_be_ensemble(c) || runs_replaceable(model, e)) && names_fit(c, model, e) &&
           output_probe(model, e);
}

void output_room(const char *model, uint64_t bytes)
{
    struct statvfs v;
    const char *slash = strrchr(model, '/');
    char *folder = slash ? mem_string_n(model, (size_t)(slash - model) + 1) : mem_string(".");
    uint64_t left = statvfs(folder, &v) == 0 ? (uint64_t)v.f_bavail * v.f_frsize : UINT64_MAX;
    if (left < bytes)
        log_warning("the disk of \"%s\" has %s free; two checkpoints take %s", text_quote_z(folder),
                    text_bytes(left), text_bytes(bytes));
    mem_free(folder);
}
