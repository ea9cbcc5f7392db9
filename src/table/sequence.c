/* sequence.c - see sequence.h. */
#include "table/sequence.h"

#include <string.h>

#include "base/mem.h"

#define KEY "data.sequence.wide"
enum { LEAST_STEPS = 2 };

struct finding {
    const struct data_options *options;
    const struct json_doc *doc;
    const struct csv_dialect *dialect;
    struct sequence *to;
    /* of the training file, once a pattern has asked for it */
    struct csv *csv;
    const char *const *names;
    size_t count;
    struct err *e;
};

static void add_string(struct opt_strings *list, const char *text)
{
    if (!(list->count & (list->count - 1))) /* at 0, 1, 2, 4, ..: double the size */
        list->items = mem_grow(list->items, list->count ? 2 * list->count : 1,
                               sizeof *list->items);
    list->items[list->count++] = mem_string(text);
}

bool sequence_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *from = NULL; /* the last *, and where the text that it takes ends */
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            from = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

/* A pipe can be read only once, so that no header can be read ahead of the rows. */
static bool open_names(struct finding *f, const struct json *at)
{
    struct data_options const *o = f->options;
    if (f->csv)
        return true;
    if (!o->train.count || strcmp(o->train.items[0], "-") == 0) {
        json_fail(f->doc, at, f->e, ERR_CONFIG_CONFLICT,
                  "`" KEY ".%s`: a pattern needs a training file that can be read twice",
                  text_quote_z(json_key(at)));
        err_other(f->e, "data.train");
        return err_help(f->e, "list the columns by name, or give a file");
    }
    f->csv = csv_open(f->dialect, o->train.items, 1, f->e);
    return f->csv && csv_header(f->csv, &f->names, &f->count, f->e);
}

static bool add_pattern(struct finding *f, const struct json *at, const char *pattern)
{
    size_t before = f->to->names.count;
    if (!open_names(f, at))
        return false;
    for (size_t i = 0; i < f->count; i++) {
        const char *name = f->names[i];
        if (sequence_matches(pattern, name) && strcmp(name, f->options->target) != 0 &&
            !(f->options->columns && json_get(f->options->columns, name)))
            add_string(&f->to->names, name);
    }
    if (f->to->names.count > before)
        return true;
    json_fail(f->doc, at, f->e, ERR_CONFIG_COLUMNS,
              "`" KEY ".%s`: no column of the training file is named as \"%s\" says",
              text_quote_z(json_key(at)), text_quote_z(pattern));
    return err_help(f->e, "* stands for any text, as in \"ch1_*\"; the target and columns listed "
                          "in data.columns do not count");
}

static bool wrong_kind(struct finding *f, const struct json *at, const char *key)
{
    json_fail(f->doc, at, f->e, ERR_CONFIG_TYPE,
              "`" KEY ".%s`: expected a pattern or a list of columns", text_quote_z(key));
    return err_help(f->e, "as in \"ch1_*\" or [\"a\", \"b\"]");
}

static bool add_channel(struct finding *f, const struct json *at)
{
    const char *key = json_key(at);
    if (json_kind(at) == JSON_STRING) {
        if (!add_pattern(f, at, json_string(at)))
            return false;
    } else if (json_kind(at) == JSON_LIST) {
        for (const struct json *v = json_at(at, 0); v; v = json_next(v)) {
            if (json_kind(v) != JSON_STRING)
                return wrong_kind(f, v, key);
            add_string(&f->to->names, json_string(v));
        }
    } else {
        return wrong_kind(f, at, key);
    }
    return true;
}

/* All channels have as many columns. */
static bool check_steps(struct finding *f, const struct json *at, size_t steps)
{
    struct sequence *s = f->to;
    add_string(&s->channels, json_key(at));
    if (s->channels.count == 1)
        s->steps = (uint32_t)steps;
    if (steps == s->steps && steps >= LEAST_STEPS)
        return true;
    if (steps < LEAST_STEPS) {
        json_fail(f->doc, at, f->e, ERR_CONFIG_COLUMNS,
                  "`" KEY ".%s`: a sequence needs %d columns or more, and there %s %zu",
                  text_quote_z(json_key(at)), LEAST_STEPS, steps == 1 ? "is" : "are", steps);
        return err_help(f->e, "a channel names a column for each step, as \"ch1_*\"");
    }
    json_fail(f->doc, at, f->e, ERR_CONFIG_COLUMNS,
              "`" KEY "`: the channel \"%s\" has %zu columns, and \"%s\" has %u",
              text_quote_z(json_key(at)), steps, text_quote_z(s->channels.items[0]), s->steps);
    return err_help(f->e, "every channel has a column for each step");
}

static bool find_channels(struct finding *f, const struct json *wide)
{
    if (json_kind(wide) != JSON_OBJECT || !json_count(wide)) {
        json_fail(f->doc, wide, f->e, ERR_CONFIG_TYPE, "`" KEY "`: expected an object of channels");
        return err_help(f->e, "as in {\"wide\": {\"ch1\": \"ch1_*\"}}");
    }
    for (const struct json *at = json_at(wide, 0); at; at = json_next(at)) {
        size_t before = f->to->names.count;
        if (!add_channel(f, at) || !check_steps(f, at, f->to->names.count - before))
            return false;
    }
    return true;
}

struct wide_spec {
    const struct json *wide;
};

bool sequence_find(const struct data_options *o, const struct json_doc *doc,
                   const struct csv_dialect *dialect, struct sequence *s, struct err *e)
{
    static const struct option table[] = {
        {.key = "wide",
         .type = OPT_CUSTOM,
         .flags = OPT_REQUIRED,
         .offset = offsetof(struct wide_spec, wide),
         .help = "The channels."},
        {0},
    };
    struct wide_spec spec = {0};
    *s = (struct sequence){.steps = 0};
    if (!o->sequence || json_kind(o->sequence) == JSON_NULL)
        return true;
    struct finding f = {.options = o, .doc = doc, .dialect = dialect, .to = s, .e = e};
    bool good = opt_read(table, doc, o->sequence, "data.sequence", &spec, e) &&
                find_channels(&f, spec.wide);
    csv_close(f.csv);
    return good;
}

void sequence_free(struct sequence *s)
{
    struct opt_strings *const lists[] = {&s->names, &s->channels};
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < lists[k]->count; i++)
            mem_free(lists[k]->items[i]);
        mem_free(lists[k]->items);
    }
    *s = (struct sequence){.steps = 0};
}

void sequence_take(struct sequence *s, uint32_t *steps, struct opt_strings *channels)
{
    *steps = s->steps;
    *channels = s->channels;
    s->channels = (struct opt_strings){0};
    sequence_free(s);
}
