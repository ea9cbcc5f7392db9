/* held.c - see held.h. */
#include "answer/stream/held.h"

#include <stdio.h>
#include <string.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "table/split/fingerprint.h"
#include "table/split/split.h"

/* The state for splitting the files again. */
struct dealing {
    const struct modelfile *model;
    const char *file; /* the first, for messages */
    enum part part;
    struct json_doc *doc; /* the config of the training, with the files */
    struct data_options o;
    bool joined; /* validation rows became training rows: an ensemble of folds */
    int64_t own; /* bits of the parts with files of their own */
    struct schema *schema;
    struct dataset *data;
    struct split split;
};

static bool wanted_stop(const void *context)
{
    (void)context;
    return stop_wanted();
}

/* --- the options of the training --- */

static bool put_files(struct json_doc *doc, char *const *files, size_t count, struct err *e)
{
    struct json_out list = {0};
    json_open(&list, NULL, '[');
    for (size_t i = 0; i < count; i++)
        json_put_string(&list, NULL, files[i]);
    json_close(&list, ']');
    bool good = json_set(doc, "data.train", list.text.data, e);
    text_free(&list.text);
    return good;
}

static uint64_t whole(const struct json_doc *doc, const char *path)
{
    const struct json *v = json_path(json_root(doc), path);
    int64_t value;
    return v && json_kind(v) == JSON_NUMBER && json_integer(v, &value) && value > 0
               ? (uint64_t)value
               : 0;
}

/* Without a cause in e, the model has no split. */
static bool no_config(const struct dealing *d, struct err *e)
{
    const struct err cause = *e;
    const bool told = cause.id != ERR_NONE;
    err_clear(e);
    err_at(e, ERR_PART_ROWS, d->file, 0, 0,
           "the model does not say how it was split into parts%s%s", told ? ": " : "",
           told ? cause.what : "");
    return err_help(e, "give the rows themselves, without --part");
}

static bool read_options(struct dealing *d, char *const *files, size_t count, struct err *e)
{
    const struct modelfile *f = d->model;
    d->doc = json_parse_own(f->config_text, strlen(f->config_text), "config", e);
    if (!d->doc || !json_path(json_root(d->doc), "data.split.method"))
        return no_config(d, e);
    d->o.limit = whole(d->doc, "data.limit");
    d->joined = whole(d->doc, "ensemble.folds") > 1;
    json_remove(d->doc, "data.limit");
    if (!put_files(d->doc, files, count, e))
        return no_config(d, e);
    const struct json *data = json_path(json_root(d->doc), "data"),
                      *encoders = json_path(json_root(d->doc), "encoders");
    if (!opt_read(data_options_table, d->doc, data, "data", &d->o, e) ||
        (encoders && !opt_read(encoder_options_table, d->doc, encoders, "encoders",
                               &d->o.encoders, e)))
        return no_config(d, e);
    d->own = f->known ? f->known->numbers[FINGERPRINT_OWN] & ~FINGERPRINT_HELD : 0;
    d->o.split.valid = d->own >> PART_VALID & 1 ? 0 : d->o.split.valid;
    d->o.split.test = d->own >> PART_TEST & 1 ? 0 : d->o.split.test;
    return (data_options_settle(&d->o, f->schema->task, d->doc, e) &&
            (d->schema = schema_declare(&d->o, f->schema->task, d->doc, e)) != NULL) ||
           no_config(d, e);
}

/* --- are these the rows of the training? --- */

static bool other_file(const struct dealing *d, const char *what, struct err *e)
{
    err_at(e, ERR_PART_ROWS, d->file, 0, 0, "is not the training file of this model, or has "
           "changed since: %s", what);
    return err_help(e, "--part takes rows of the training file: name that file as it was, or leave "
                       "--part out to take every row");
}

static bool check_rows(const struct dealing *d, struct err *e)
{
    char what[200];
    struct fingerprint *now = fingerprint_make(d->data, &d->split, NULL);
    const struct fingerprint *then = d->model->known;
    const struct json_doc *metrics = NULL;
    bool good = true;
    struct json_doc *doc = NULL;
    if (!then) {
        struct err ignored = {0};
        metrics = doc = json_parse_own(d->model->metrics_text, strlen(d->model->metrics_text),
                                       "metrics", &ignored);
    }
    for (int p = PART_TRAIN; good && p < PARTS; p++) {
        char key[32];
        snprintf(key, sizeof key, "rows.%s", part_words[p]);
        const bool known = then ? !(d->own >> p & 1) : metrics && !d->data->schema->windows.window;
        const int64_t had = then      ? then->numbers[FINGERPRINT_ROWS + p]
                            : metrics ? (int64_t)whole(metrics, key)
                                      : 0;
        const int64_t has = now->numbers[FINGERPRINT_ROWS + p];
        if (known && had != has) {
            snprintf(what, sizeof what, "the split gives %lld %s rows with a target, and the model "
                     "had %lld", (long long)has, part_names[p], (long long)had);
            good = other_file(d, what, e);
        } else if (known && then && then->numbers[FINGERPRINT_SUMS + p] !=
                                        now->numbers[FINGERPRINT_SUMS + p]) {
            snprintf(what, sizeof what, "the cells of the %s rows are others", part_names[p]);
            good = other_file(d, what, e);
        }
    }
    json_free(doc);
    fingerprint_free(now);
    return good;
}

static bool check_part(const struct dealing *d, struct err *e)
{
    const char *word = part_words[d->part];
    if (d->joined && d->part == PART_VALID) {
        err_at(e, ERR_PART_ROWS, d->file, 0, 0, "the model is an ensemble of folds: each "
               "validation row is a training row of some of its networks");
        return err_help(e, "its validation metrics are out of fold: `dnn inspect MODEL` has them; "
                           "`--part test` takes the test rows");
    }
    if (d->own >> d->part & 1) {
        err_at(e, ERR_PART_ROWS, d->file, 0, 0, "the %s part had a file of its own, data.%s",
               part_names[d->part], word);
        return err_help(e, "name that file, without --part");
    }
    return d->split.record_count[d->part] > 0 ||
           (err_at(e, ERR_PART_ROWS, d->file, 0, 0, "the split of this model left no %s rows",
                   part_names[d->part]) || err_help(e, "give data.split.%s a share in the config, "
                                                       "and train again", word));
}

/* --- the records --- */

struct marking {
    struct held *h;
    const struct dealing *d;
    uint64_t room; /* bytes */
};

static bool mark(void *owner, const struct cell_where *where, uint64_t row)
{
    struct marking *m = owner;
    const struct dealing *d = m->d;
    const uint64_t at = m->h->count++;
    (void)where;
    if (at / 8 >= m->room) {
        const uint64_t room = m->room ? 2 * m->room : 1024;
        m->h->wanted = mem_grow(m->h->wanted, room, 1);
        memset(m->h->wanted + m->room, 0, room - m->room);
        m->room = room;
    }
    if (row != UINT64_MAX && d->split.part[sample_of(&d->data->samples, row)] == d->part)
        m->h->wanted[at >> 3] |= (uint8_t)(1u << (at & 7));
    return true;
}

static bool deal(struct dealing *d, struct err *e)
{
    static const struct stopper stop = {wanted_stop, NULL};
    struct remarks remarks = {0}; /* training told them */
    struct rare rare;
    d->data = dataset_load(d->schema, &d->o, &stop, e);
    if (!d->data && e->id == ERR_NONE)
        stop_error("reading the training file", e);
    bool good = d->data &&
                split_make(&d->split, d->data, &d->o.split, d->joined, &rare, &remarks, e);
    if (d->data && !good) {
        const struct err cause = *e;
        err_clear(e);
        other_file(d, cause.what, e);
    }
    remarks_free(&remarks);
    if (good && d->joined)
        split_join(&d->split, d->data);
    return good;
}

bool held_find(struct held *h, const struct modelfile *f, const char *part, char *const *files,
               size_t count, struct err *e)
{
    struct dealing d = {.model = f, .file = files[0]};
    struct marking m = {h, &d, 0};
    const struct dataset_visit visit = {&m, NULL, mark};
    *h = (struct held){0};
    while (strcmp(part_words[d.part], part) != 0)
        d.part++;
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = !file_once(files[i]) ||
               err_set(e, ERR_OPTION_CONFLICT, "--part reads the training file several times, and "
                       "%s can be read once", strcmp(files[i], "-") == 0
                                                  ? "standard input (-)"
                                                  : text_quote_z(files[i]));
    stop_phase("splitting the training file", true);
    good = good && read_options(&d, files, count, e) && deal(&d, e) && check_rows(&d, e) &&
           check_part(&d, e) && dataset_walk(d.data, &d.o, &visit, e);
    split_free(&d.split);
    dataset_free(d.data);
    schema_free(d.schema);
    opt_release(data_options_table, &d.o);
    opt_release(encoder_options_table, &d.o.encoders);
    json_free(d.doc);
    return good;
}

void held_free(struct held *h)
{
    mem_free(h->wanted);
    *h = (struct held){0};
}

struct csv_choice held_choice(const struct held *h, uint64_t limit)
{
    struct csv_choice c = {.wanted = h->wanted, .count = h->count};
    if (!h->wanted)
        c.count = limit;
    for (uint64_t i = 0, met = 0; h->wanted && limit && i < h->count; i++) {
        met += h->wanted[i >> 3] >> (i & 7) & 1;
        if (met == limit) {
            c.count = i + 1;
            break;
        }
    }
    return c;
}
