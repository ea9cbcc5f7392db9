/* init_forecast.c - see init_forecast.h. One warning: the first thing that training would meet. */
#include "cli/init_forecast.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "table/cell.h"

/* What an entry of data.columns, a word or an object, says of its type; NULL when it says none. */
static const char *type_of(const struct json *entry)
{
    const struct json *member = json_kind(entry) == JSON_OBJECT ? json_get(entry, "type") : entry;
    return member ? json_string(member) : NULL;
}

/* Whether a type is one that is learned from. */
static bool is_feature(const char *type)
{
    static const char *const features[] = {"numeric", "categorical", "datetime"};
    for (size_t i = 0; type && i < sizeof features / sizeof *features; i++)
        if (strcmp(type, features[i]) == 0)
            return true;
    return false;
}

/* Whether a column is left to learn from. */
static bool has_feature(const struct config *c)
{
    const struct json *list = c->data.columns;
    for (const struct json *v = list ? json_at(list, 0) : NULL; v; v = json_next(v))
        if (is_feature(type_of(v)))
            return true;
    return false;
}

/* Looked for from *at on, which is then behind it: who asks in the file's order asks for the next.
 */
static const struct infer_column *column_from(const struct infer *found, const char *name,
                                              size_t *at)
{
    for (size_t i = 0; i < found->count; i++) {
        size_t here = (*at + i) % found->count;
        if (strcmp(found->columns[here].name, name) == 0) {
            *at = here + 1;
            return &found->columns[here];
        }
    }
    return NULL;
}

static const struct infer_column *column_of(const struct infer *found, const char *name)
{
    size_t at = 0;
    return column_from(found, name, &at);
}

/* A --set for a column that the file lacks. */
static bool check_columns(const struct config *c, const struct infer *found, struct err *e)
{
    const struct json *list = c->data.columns;
    size_t at = 0;
    for (const struct json *v = list ? json_at(list, 0) : NULL; v; v = json_next(v))
        if (!column_from(found, json_key(v), &at))
            return err_set(e, ERR_MODEL_COLUMN, "the file has no column \"%s\"",
                           text_quote_z(json_key(v)));
    return true;
}

/* A --set that calls a column numeric in which no cell is a number. */
static bool check_numbers(const struct config *c, const struct infer *found, struct err *e)
{
    const struct json *list = c->data.columns;
    size_t at = 0;
    for (const struct json *v = list ? json_at(list, 0) : NULL; v; v = json_next(v)) {
        const char *type = type_of(v);
        if (!type || strcmp(type, "numeric") != 0)
            continue;
        const struct infer_column *column = column_from(found, json_key(v), &at);
        if (column && isnan(column->low) && column->type != COLUMN_NUMERIC &&
            column->missing < found->rows)
            return err_set(e, ERR_CSV_NUMBER, "column \"%s\" is numeric, and none of its cells is "
                           "a number", text_quote_z(column->name));
    }
    return true;
}

/* A --set that calls a column a weight in which a cell is none. */
static bool check_weights(const struct config *c, const struct infer *found, struct err *e)
{
    const struct json *list = c->data.columns;
    size_t at = 0;
    for (const struct json *v = list ? json_at(list, 0) : NULL; v; v = json_next(v)) {
        const char *type = type_of(v);
        const struct infer_column *column =
            type && strcmp(type, "weight") == 0 ? column_from(found, json_key(v), &at) : NULL;
        if (!column)
            continue;
        const char *name = text_quote_z(column->name);
        if (isnan(column->low))
            return err_set(e, ERR_CSV_WEIGHT,
                           "column \"%s\" is a weight, and none of its cells is a number", name);
        if (column->missing)
            return err_set(e, ERR_CSV_WEIGHT,
                           "column \"%s\" is a weight, and missing in %llu row%s",
                           name, (unsigned long long)column->missing,
                           column->missing == 1 ? "" : "s");
        if (column->low < 0 || column->high > WEIGHT_MOST)
            return err_set(e, ERR_CSV_WEIGHT,
                           "column \"%s\" is a weight, and has values from %.9g to %.9g", name,
                           column->low, column->high);
    }
    return true;
}

/* A task that the target does not have. What is missing in it is told elsewhere. */
static bool check_task(const struct config *c, const struct infer *found, struct err *e)
{
    const struct infer_column *target = column_of(found, c->data.target);
    if (!target || target->missing || target->reason[0] || target->distinct < 2)
        return true;
    if (c->task == TASK_REGRESSION && target->type == COLUMN_CATEGORICAL)
        return err_set(e, ERR_CSV_NUMBER,
                       "the target of a regression has cells that are no numbers");
    if (c->task == TASK_BINARY && target->distinct != 2)
        return err_set(e, ERR_LABEL_COUNT, "the target of a binary task has %llu values",
                       (unsigned long long)target->distinct);
    return true;
}

/* Too few rows for the parts that are asked for; each class keeps one to train on. */
static bool check_rows(const struct config *c, const struct infer *found, struct err *e)
{
    const struct data_options *d = &c->data;
    const struct infer_column *target = column_of(found, d->target);
    uint64_t kept = d->split.method == SPLIT_STRATIFIED && target ? target->distinct : 1;
    uint64_t parts = (uint64_t)(d->split.valid > 0 && !d->valid.count) +
                     (uint64_t)(d->split.test > 0 && !d->test.count);
    if (d->split.method == SPLIT_COLUMN || found->rows >= kept + parts)
        return true;
    return err_set(e, ERR_SPLIT_EMPTY, "%llu row%s cannot be split into training, validation and "
                   "test rows", (unsigned long long)found->rows, found->rows == 1 ? "" : "s");
}

/* An id column is repeated in predictions, beside the columns that they have themselves. */
static bool check_answers(const struct schema *s, const struct infer *found, struct err *e)
{
    size_t at = 0;
    for (size_t i = 0; i < s->column_count; i++) {
        const char *name = s->columns[i].name;
        const struct infer_column *column =
            s->columns[i].type == COLUMN_ID ? column_from(found, name, &at) : NULL;
        if (column && column->answers)
            return err_set(e, ERR_CONFIG_COLUMNS,
                           "predictions repeat the id column \"%s\", and have a column of their "
                           "own of that name; rename it, or give it the type \"ignore\"",
                           text_quote_z(name));
    }
    return true;
}

/* Of a target of two values both are among the examples, beside texts that mean missing. */
static bool check_positive(const struct config *c, const struct infer *found, struct err *e)
{
    const struct infer_column *target = column_of(found, c->data.target);
    const char *positive = c->data.positive;
    if (c->task != TASK_BINARY || !positive || !target || target->distinct != 2 ||
        (found->positive && strcmp(positive, found->positive) == 0))
        return true;
    const size_t most = sizeof target->examples / sizeof *target->examples;
    size_t known = 0;
    for (; known < most && target->examples[known]; known++)
        if (strcmp(target->examples[known], positive) == 0)
            return true;
    return known == most ||
           err_set(e, ERR_POSITIVE_UNSEEN, "data.positive is \"%s\", which the target never is",
                   text_quote_z(positive));
}

bool init_forecast(const struct config *c, const struct infer *found, struct err *refused)
{
    struct err e = {0};
    struct schema *s = schema_declare(&c->data, c->task, c->doc, &e);
    struct err alone = e;
    if (!s)
        config_blame(c, &alone);
    if (alone.id == ERR_SET_VALUE) {
        *refused = alone;
        return false;
    }
    if (!has_feature(c)) {
        log_warning("no column is left to learn from, and `dnn train` will refuse this config "
                    "(E1312): give one a type, as in --set data.columns.NAME=categorical");
        schema_free(s);
        return true;
    }
    bool good = s && check_columns(c, found, &e) && check_numbers(c, found, &e) &&
                check_weights(c, found, &e) && check_task(c, found, &e) &&
                check_positive(c, found, &e) && check_rows(c, found, &e) &&
                check_answers(s, found, &e);
    if (!good)
        log_warning("`dnn train` will refuse this config (E%d): %s", (int)e.id, e.what);
    schema_free(s);
    return true;
}

void init_unused(const struct config *c, struct infer *found)
{
    enum { LACKING, NOT_LEARNED, LEARNED };
    const struct json *list = c->data.columns;
    uint8_t *use = mem_zero(found->count + 1, 1);
    size_t at = 0;
    for (const struct json *v = list ? json_at(list, 0) : NULL; v; v = json_next(v)) {
        const struct infer_column *column = column_from(found, json_key(v), &at);
        if (column)
            use[column - found->columns] = is_feature(type_of(v)) ? LEARNED : NOT_LEARNED;
    }
    for (size_t i = 0; i < found->count; i++) {
        struct infer_column *column = &found->columns[i];
        if (use[i] == LEARNED || strcmp(column->name, c->data.target) == 0)
            continue;
        column->note[0] = '\0';
        if (use[i] == LACKING)
            column->reason[0] = '\0';
    }
    mem_free(use);
}
