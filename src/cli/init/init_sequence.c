/* init_sequence.c - whether the columns or the rows of a file are the steps of sequences, as `dnn
 * init` tells by their names and cells. */
#include "cli/init/init.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/process/shell.h"
#include "base/text.h"
#include "table/schema/sequence.h"

enum { LEAST_STEPS = 8, MOST_CHANNELS = 4096, MOST_NAME = 100, MOST_WINDOW = 200 };

/* A name taken apart: the step, and the pattern of its channel, with * in the place of the step. */
struct step_name {
    uint64_t step;
    char pattern[MOST_NAME + 8], channel[MOST_NAME];
};

/* Digits without a leading 0, up to 9 of them. Returns their number, 0: none. */
static size_t digits(const char *text, uint64_t *value)
{
    size_t n = strspn(text, "0123456789");
    if (n == 0 || n > 9 || (n > 1 && text[0] == '0'))
        return 0;
    *value = 0;
    for (size_t i = 0; i < n; i++)
        *value = 10 * *value + (uint64_t)(text[i] - '0');
    return n;
}

/* "t12" or "t12_c3" */
static bool step_first(const char *name, struct step_name *s)
{
    size_t n = name[0] == 't' ? digits(name + 1, &s->step) : 0;
    const char *rest = name + 1 + n;
    if (!n || (*rest && (*rest != '_' || !rest[1])))
        return false;
    snprintf(s->pattern, sizeof s->pattern, "t*%s", rest);
    snprintf(s->channel, sizeof s->channel, "%s", *rest ? rest + 1 : "value");
    return true;
}

/* "ch1_12" */
static bool step_last(const char *name, struct step_name *s)
{
    const char *at = strrchr(name, '_');
    size_t n = at && at > name ? digits(at + 1, &s->step) : 0;
    if (!n || at[1 + n])
        return false;
    snprintf(s->channel, sizeof s->channel, "%.*s", (int)(at - name), name);
    snprintf(s->pattern, sizeof s->pattern, "%s_*", s->channel);
    return true;
}

static bool take_apart(const char *name, bool first, struct step_name *s)
{
    if (strlen(name) + 4 > MOST_NAME || strchr(name, '*'))
        return false;
    return first ? step_first(name, s) : step_last(name, s);
}

/* One channel alone may be any list of numbers, as feature_0, feature_1, .. */
static bool says_channel(const char *name)
{
    size_t n = strcspn(name, "0123456789");
    return (n == 2 && strncasecmp(name, "ch", n) == 0) ||
           (n == 7 && strncasecmp(name, "channel", n) == 0);
}

/* A channel: its steps so far, and the numbers of the first and the last one. */
struct channel {
    uint32_t steps;
    uint64_t first, last;
};

/* Finds the channel of a name. Channels may follow one another or alternate step by step: most
 * names belong to the last channel, or to the one after it. */
static size_t channel_of(const struct init_sequence *s, const char *pattern, size_t near)
{
    for (size_t i = 0; i < s->patterns.count; i++) {
        size_t at = (near + i) % s->patterns.count;
        if (strcmp(s->patterns.items[at], pattern) == 0)
            return at;
    }
    return s->patterns.count;
}

static bool is_input(const struct infer_column *c)
{
    return c->type == COLUMN_NUMERIC || c->type == COLUMN_CATEGORICAL || c->type == COLUMN_DATETIME;
}

/* A column of numbers; few rows, or none, may reach the last steps of the longest sequence. */
static bool is_step(const struct infer_column *c)
{
    return c->type == COLUMN_NUMERIC || c->numbers ||
           (c->type == COLUMN_IGNORE && c->distinct == 0);
}

/* A channel has a column of type numeric. */
static bool find_channels(struct init_sequence *s, const struct infer *found, bool first)
{
    size_t near = 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct infer_column *column = &found->columns[i];
        struct step_name name;
        if (column->type != COLUMN_NUMERIC || infer_is_target(found, column))
            continue;
        if (!take_apart(column->name, first, &name))
            return false;
        near = channel_of(s, name.pattern, near);
        if (near < s->patterns.count)
            continue;
        if (near == MOST_CHANNELS)
            return false;
        opt_strings_add(&s->patterns, name.pattern);
        opt_strings_add(&s->channels, name.channel);
    }
    return s->patterns.count > 0;
}

static void count_step(struct channel *c, uint64_t step)
{
    c->first = c->steps && c->first < step ? c->first : step;
    c->last = c->steps && c->last > step ? c->last : step;
    c->steps++;
}

/* Counts the steps of each channel. Names of columns differ: if their number is the range of the
 * steps' numbers, no step is missing. */
static bool count_steps(struct init_sequence *s, struct channel *channels,
                        const struct infer *found, bool first)
{
    const size_t count = s->patterns.count;
    size_t near = 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct infer_column *column = &found->columns[i];
        struct step_name name;
        if (infer_is_target(found, column))
            continue;
        size_t at = count;
        if (is_step(column) && take_apart(column->name, first, &name))
            at = channel_of(s, name.pattern, near);
        if (at < count)
            count_step(&channels[near = at], name.step);
        else if (is_input(column))
            return false;
    }
    for (size_t i = 0; i < count; i++)
        if (channels[i].first != channels->first || channels[i].last != channels->last ||
            channels[i].steps != channels->last - channels->first + 1)
            return false;
    s->steps = channels->steps;
    return channels->first <= 1 && s->steps >= LEAST_STEPS;
}

static bool count_all(struct init_sequence *s, const struct infer *found, bool first)
{
    if (!find_channels(s, found, first))
        return false;
    struct channel *channels = mem_zero(s->patterns.count, sizeof *channels);
    const bool whole = count_steps(s, channels, found, first);
    mem_free(channels);
    return whole && (first || s->patterns.count > 1 || says_channel(s->channels.items[0]));
}

/* True: the patterns of the config match the columns that were counted, and no others. */
static bool means_the_same(const struct init_sequence *s, const struct infer *found)
{
    size_t members = 0, named = 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct infer_column *c = &found->columns[i];
        if (infer_is_target(found, c))
            continue;
        members += init_sequence_has(s, c);
        for (size_t k = 0; k < s->patterns.count && is_step(c); k++)
            named += sequence_matches(s->patterns.items[k], c->name);
    }
    return members == named;
}

bool init_sequence_has(const struct init_sequence *s, const struct infer_column *c)
{
    struct step_name name;
    bool has = false;
    for (int first = 0; first < 2 && s->steps && is_step(c); first++)
        has |= take_apart(c->name, first, &name) &&
               channel_of(s, name.pattern, 0) < s->patterns.count;
    return has;
}

struct init_sequence init_sequence_find(const struct infer *found, const struct overrides *sets)
{
    struct init_sequence s = {.steps = 0};
    if (found->series.groups || init_set_value(sets, "data.sequence") ||
        init_set_value(sets, "data.columns"))
        return s;
    for (size_t i = 0; i < found->count; i++)
        if (init_column_given(sets, found->columns[i].name))
            return s;
    for (int first = 0; first < 2; first++) {
        if (count_all(&s, found, first) && means_the_same(&s, found))
            return s;
        init_sequence_free(&s);
    }
    return s;
}

void init_sequence_free(struct init_sequence *s)
{
    opt_strings_free(&s->channels);
    opt_strings_free(&s->patterns);
    *s = (struct init_sequence){.steps = 0};
}

/* --- a row a step --- */

/* Makes the column an id: it places a row; it is neither learned from nor noted. */
static void take_place(struct infer_column *c)
{
    c->type = COLUMN_ID;
    c->kind = NULL;
    c->reason[0] = c->note[0] = '\0';
    c->alone = (double)NAN;
}

static void note_doubt(const struct infer *found)
{
    const struct infer_series *s = &found->series;
    const char *group = found->columns[s->group].name, *order = found->columns[s->order].name;
    log_note("rows are read as a table: \"%s\" and \"%s\" may be the group and the order of "
             "sequences, but %s; for sequences use --set %s --set %s%s",
             text_quote_z(group), text_quote_z(order), s->against,
             shell_word("data.sequence.group=%s", group),
             shell_word("data.sequence.order=%s", order),
             s->unordered ? " --set data.sequence.unordered=sort" : "");
}

bool init_sequence_rows(const struct infer_request *r, const struct overrides *sets,
                        struct infer *found, struct err *e)
{
    if (init_set_value(sets, "data.columns") || init_set_value(sets, "data.sequence") ||
        init_set_value(sets, "data.sequence.group"))
        return true; /* a --set says what the rows are */
    bool *given = mem_zero(found->count + 1, sizeof *given);
    for (size_t i = 0; i < found->count; i++) {
        const char *name = found->columns[i].name;
        given[i] = init_column_given(sets, name) || init_says_part(sets, name);
        for (size_t k = 0; k < r->ignored_count; k++)
            given[i] |= strcmp(r->ignored[k], name) == 0;
    }
    bool good = infer_series(r, given, found, e);
    mem_free(given);
    if (good && found->series.against)
        note_doubt(found);
    if (!good || !found->series.groups)
        return good;
    take_place(&found->columns[found->series.group]);
    take_place(&found->columns[found->series.order]);
    if (found->series.varies && found->task == TASK_MULTICLASS && !init_set_value(sets, "task"))
        found->task = TASK_TAGGING;
    return true;
}

static void write_rows(const struct infer *found, struct json_out *out)
{
    const struct infer_series *s = &found->series;
    const char *group = found->columns[s->group].name, *order = found->columns[s->order].name;
    const bool each = found->task == TASK_TAGGING || s->varies;
    const uint64_t window = s->longest < MOST_WINDOW ? s->longest : MOST_WINDOW;
    json_open(out, "sequence", '{');
    json_put_string(out, "group", group);
    json_put_string(out, "order", order);
    json_put_number(out, "window", (double)(window < 2 ? 2 : window));
    json_put_string(out, "label",
                    !each ? "group" : found->task == TASK_MULTICLASS ? "last" : "row");
    json_close(out, '}');
    log_note("rows are steps of %llu sequences: the rows of each \"%s\" stand together, and "
             "\"%s\" rises by equal steps among them; the target %s; for rows of a table use "
             "--set data.sequence=null",
             (unsigned long long)s->groups, text_quote_z(group), text_quote_z(order),
             s->varies ? "differs from row to row" : "is the same in all rows of a sequence");
}

void init_sequence_write(const struct init_sequence *s, const struct infer *found,
                         struct json_out *out)
{
    if (found->series.groups)
        write_rows(found, out);
    if (found->series.groups || !s->steps)
        return;
    json_open(out, "sequence", '{');
    json_open(out, "wide", '{');
    for (size_t i = 0; i < s->channels.count; i++)
        json_put_string(out, s->channels.items[i], s->patterns.items[i]);
    json_close(out, '}');
    json_close(out, '}');
    log_note("rows are sequences of %zu channel%s and %u steps, as the names of the columns say; "
             "for rows of a table use --set data.sequence=null",
             s->channels.count, s->channels.count > 1 ? "s" : "", s->steps);
}
