/* sequence.c - see sequence.h. */
#include "table/schema/sequence.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

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

bool sequence_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *from = NULL; /* the last *, and the end of the text that it takes */
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

/* The number that stands for the only * of a pattern in a name. False: something else does. */
static bool step_number(const char *pattern, const char *name, uint64_t *step)
{
    const char *star = strchr(pattern, '*');
    const size_t before = (size_t)(star - pattern), after = strlen(star + 1);
    const size_t digits = strlen(name) - before - after;
    *step = 0;
    if (strchr(star + 1, '*') || digits == 0 || digits > 18)
        return false;
    for (size_t i = before; i < before + digits; i++) {
        if (name[i] < '0' || name[i] > '9')
            return false;
        *step = 10 * *step + (uint64_t)(name[i] - '0');
    }
    return true;
}

struct step {
    uint64_t number;
    char *name;
};

static int by_number(const void *one, const void *other, const void *context)
{
    const struct step *a = one, *b = other;
    (void)context;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Sorts steps by their numbers, if all names have one and these neither rise nor fall: columns
 * sorted as text (t_1, t_10, t_2). Others keep their order; lags fall (lag_3, lag_2, lag_1). */
static void sort_steps(struct finding *f, const char *pattern, char **names, size_t count)
{
    struct step *steps = mem_zero(count + 1, sizeof *steps);
    bool numbers = strchr(pattern, '*'), up = false, down = false;
    for (size_t i = 0; numbers && i < count; i++) {
        steps[i].name = names[i];
        numbers = step_number(pattern, names[i], &steps[i].number);
        up |= i && steps[i].number > steps[i - 1].number;
        down |= i && steps[i].number < steps[i - 1].number;
    }
    if (numbers && up && down) {
        sort_stable(steps, count, sizeof *steps, by_number, NULL);
        for (size_t i = 0; i < count; i++)
            names[i] = steps[i].name;
        f->to->sorted = true;
    }
    mem_free(steps);
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
            opt_strings_add(&f->to->names, name);
    }
    if (f->to->names.count > before) {
        sort_steps(f, pattern, f->to->names.items + before, f->to->names.count - before);
        return true;
    }
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
            opt_strings_add(&f->to->names, json_string(v));
        }
    } else {
        return wrong_kind(f, at, key);
    }
    return true;
}

/* True: all channels have the same number of columns. */
static bool check_steps(struct finding *f, const struct json *at, size_t steps)
{
    struct sequence *s = f->to;
    opt_strings_add(&s->channels, json_key(at));
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

/* --- long format --- */

static bool is_long(const struct json *v)
{
    return v && json_kind(v) == JSON_OBJECT && !json_get(v, "wide") && json_count(v) > 0;
}

const char *const window_label_names[] = {"last", "row", "group", NULL};
static const char *const unordered_words[] = {"error", "sort", NULL};

#define AT(field) offsetof(struct sequence_long, field)
static const struct option long_table[] = {
    {.key = "group", .type = OPT_STRING, .flags = OPT_REQUIRED, .offset = AT(group),
     .help = "The column that says which sequence a row is of. Rows of one stand together."},
    {.key = "order", .type = OPT_STRING, .flags = OPT_NULLABLE, .offset = AT(order),
     .standard = "null",
     .help = "The column of numbers or dates that rises inside a sequence. null: the rows are in "
             "order, and nothing is checked."},
    {.key = "window", .type = OPT_INT, .offset = AT(window), .standard = "50", .low = 2,
     .high = SEQUENCE_WINDOW_MOST,
     .help = "The most rows that the network reads at once. A longer sequence is cut into windows; "
             "the last one may be short."},
    {.key = "stride", .type = OPT_INT, .flags = OPT_NULLABLE, .offset = AT(stride),
     .standard = "null", .low = 1, .high = SEQUENCE_WINDOW_MOST,
     .help = "Rows from the begin of a window to that of the next, at most window; less: windows "
             "overlap. null: window."},
    {.key = "label", .type = OPT_WORD, .flags = OPT_NULLABLE, .offset = AT(label),
     .standard = "null", .words = window_label_names,
     .help = "What has an answer: last (each window, by the target of its last row), row (each "
             "row), group (each sequence). null: row for the task tagging, else last."},
    {.key = "unordered", .type = OPT_WORD, .offset = AT(unordered), .standard = "\"error\"",
     .words = unordered_words,
     .help = "Rows that are not in order: error, or sort: those of training are put in order in "
             "memory, and so are those to predict; answers come in the order of the input."},
    {.key = "carry_state", .type = OPT_BOOL, .offset = AT(carry_state), .standard = "false",
     .help = "Layers lstm and gru begin a window with what they held at the end of the one before, "
             "of the same sequence; gradients stop there. For the label row."},
    {0},
};
#undef AT

static bool check_long(const struct json_doc *doc, const struct json *at, int task,
                       struct sequence_long *l, struct err *e)
{
    if (l->stride == OPT_INT_NULL)
        l->stride = l->window;
    if (l->label < 0)
        l->label = task == TASK_TAGGING ? LABEL_ROW : LABEL_LAST;
    if (l->stride > l->window) {
        json_fail(doc, json_get(at, "stride"), e, ERR_CONFIG_RANGE,
                  "`data.sequence.stride` is %lld, and a window has %lld rows",
                  (long long)l->stride, (long long)l->window);
        return err_help(e, "rows between two windows would be lost: set stride to window or less");
    }
    if (task == TASK_TAGGING && l->label != LABEL_ROW) {
        json_fail(doc, json_get(at, "label"), e, ERR_CONFIG_CONFLICT,
                  "`data.sequence.label` is \"%s\", but `task` is tagging: each row has a label",
                  window_label_names[l->label]);
        err_other(e, "task");
        return err_help(e, "set label to \"row\", or the task to multiclass");
    }
    if (l->carry_state && (l->label != LABEL_ROW || l->stride != l->window)) {
        const bool row = l->label == LABEL_ROW;
        json_fail(doc, json_get(at, "carry_state"), e, ERR_CONFIG_CONFLICT,
                  row ? "`data.sequence.carry_state`: the windows overlap, and one goes on where "
                        "the one before ends"
                      : "`data.sequence.carry_state` is for an answer to each row");
        err_other(e, row ? "data.sequence.stride" : "data.sequence.label");
        return err_help(e, row ? "leave out stride" : "set label to \"row\"");
    }
    if (l->unordered && !l->order) {
        json_fail(doc, json_get(at, "unordered"), e, ERR_CONFIG_CONFLICT,
                  "`data.sequence.unordered` is \"sort\", and `order` names no column to sort by");
        return err_help(e, "name it, or leave out `unordered`");
    }
    return true;
}

bool sequence_long_read(const struct data_options *o, int task, const struct json_doc *doc,
                        struct sequence_long *l, struct err *e)
{
    *l = (struct sequence_long){.group = NULL};
    if (is_long(o->sequence))
        return opt_read(long_table, doc, o->sequence, "data.sequence", l, e) &&
               check_long(doc, o->sequence, task, l, e);
    if (task != TASK_TAGGING)
        return true;
    err_set(e, ERR_CONFIG_CONFLICT,
            "`task` is tagging, and `data.sequence` does not say which rows make a sequence");
    err_key(e, "task");
    err_other(e, "data.sequence");
    return err_help(e, "as in {\"group\": \"series\", \"order\": \"t\"}; see `dnn help sequences`");
}

void sequence_long_free(struct sequence_long *l)
{
    mem_free(l->group);
    mem_free(l->order);
    *l = (struct sequence_long){.group = NULL};
}

bool sequence_answers_rows(const struct json *sequence, int task)
{
    const struct json *label = is_long(sequence) ? json_get(sequence, "label") : NULL;
    if (label && json_kind(label) == JSON_STRING)
        return strcmp(json_string(label), window_label_names[LABEL_ROW]) == 0;
    return task == TASK_TAGGING;
}

/* --- wide format --- */

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
    if (!o->sequence || json_kind(o->sequence) == JSON_NULL || is_long(o->sequence))
        return true;
    struct finding f = {.options = o, .doc = doc, .dialect = dialect, .to = s, .e = e};
    bool good = opt_read(table, doc, o->sequence, "data.sequence", &spec, e) &&
                find_channels(&f, spec.wide);
    csv_close(f.csv);
    return good;
}

void sequence_take(struct sequence *s, uint32_t *steps, struct opt_strings *channels)
{
    *steps = s->steps;
    *channels = s->channels;
    for (size_t i = 0; i < s->names.count; i++)
        mem_free(s->names.items[i]);
    mem_free(s->names.items);
    *s = (struct sequence){.steps = 0};
}

void sequence_schema(struct json_out *out)
{
    static const char text[] =
        "{\"type\":\"object\",\"required\":[\"wide\"],\"additionalProperties\":false,"
        "\"properties\":{\"wide\":{\"type\":\"object\",\"minProperties\":1,"
        "\"additionalProperties\":{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\","
        "\"items\":{\"type\":\"string\"}}]}}}}";
    json_open(out, "sequence", '{');
    json_open(out, "oneOf", '[');
    json_put_raw(out, NULL, "{\"type\":\"null\"}");
    json_put_raw(out, NULL, text);
    json_open(out, NULL, '{');
    opt_schema(long_table, out);
    json_close(out, '}');
    json_close(out, ']');
    json_close(out, '}');
}
