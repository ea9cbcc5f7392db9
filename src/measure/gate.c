/* gate.c - see gate.h. */
#include "measure/gate.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

static const struct {
    const char *sign;
    int compare;
} signs[] = {{">=", GATE_AT_LEAST}, {"<=", GATE_AT_MOST}, {">", GATE_ABOVE}, {"<", GATE_BELOW}};

static bool refuse(const char *text, int task, const char *why, struct err *e)
{
    char names[160];
    metric_names(task, names, sizeof names);
    err_set(e, ERR_OPTION_VALUE, "--require: \"%s\" %s", text_quote_z(text), why);
    return err_expected(
        e, "METRIC OPERATOR NUMBER, such as '%s%s0.5'; operators >= > <= <; metrics %s",
        metric_default(task)->name, metric_default(task)->higher ? ">=" : "<=", names);
}

static const char *skip_blanks(const char *c)
{
    while (*c == ' ' || *c == '\t')
        c++;
    return c;
}

/* Reads ".low" or "@recall=0.8" between the metric and the operator. Returns its end, c if there is
 * neither; NULL: something else. */
static const char *read_part(struct gate *g, const char *c)
{
    static const struct {
        const char *text, *metric;
        int of;
    } parts[] = {{".low", NULL, GATE_OF_LOW},
                 {".high", NULL, GATE_OF_HIGH},
                 {".worst", NULL, GATE_OF_WORST},
                 {"@recall=", "precision", GATE_OF_CURVE},
                 {"@precision=", "recall", GATE_OF_CURVE}};
    if (*c != '.' && *c != '@')
        return c;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t length = strlen(parts[i].text);
        if (strncmp(c, parts[i].text, length) != 0)
            continue;
        if (parts[i].metric && (!g->metric || strcmp(g->metric->name, parts[i].metric) != 0))
            return NULL;
        g->of = parts[i].of;
        c += length;
        if (g->of != GATE_OF_CURVE)
            return c;
        length = strspn(c, "0123456789.eE-");
        char *number = mem_string_n(c, length);
        bool good = text_to_double(number, &g->at) && g->at > 0 && g->at <= 1;
        mem_free(number);
        return good ? c + length : NULL;
    }
    return NULL;
}

/* "OPERATOR NUMBER", blanks allowed. False: *why. */
static bool read_bound(struct gate *g, const char *sign, const char **why)
{
    const char *bound = NULL;
    sign = skip_blanks(sign);
    for (size_t i = 0; i < sizeof signs / sizeof *signs && !bound; i++)
        if (strncmp(sign, signs[i].sign, strlen(signs[i].sign)) == 0) {
            g->compare = signs[i].compare;
            bound = skip_blanks(sign + strlen(signs[i].sign));
        }
    *why = "is not a gate";
    if (!bound)
        return false;
    size_t length = strlen(bound);
    while (length && (bound[length - 1] == ' ' || bound[length - 1] == '\t'))
        length--;
    char *number = mem_string_n(bound, length);
    bool good = text_to_double(number, &g->bound) && isfinite(g->bound);
    mem_free(number);
    *why = "has no number such as 0.5 behind its operator";
    return good;
}

static size_t name_length(const char *name)
{
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
}

bool gate_read(struct gate *g, const char *text, int task, struct err *e)
{
    *g = (struct gate){.value = (double)NAN};
    const char *name = skip_blanks(text), *why;
    size_t length = name_length(name);
    char *word = mem_string_n(name, length);
    g->metric = metric_find(word, task);
    const char *near = metric_nearest(word, task);
    if (near && text_same(near, word)) /* AUC */
        g->metric = metric_find(near, task);
    mem_free(word);
    const char *sign = read_part(g, name + length);
    if (length && !sign)
        return refuse(text, task, "asks for no part of a metric that there is", e) ||
               err_help(e, "the parts: auc.low, auc.high (its interval), auc.worst (of groups), "
                           "precision@recall=0.8, recall@precision=0.8");
    bool good = read_bound(g, length ? sign : "", &why);
    if (!g->metric && length && (good || strcmp(why, "is not a gate") != 0)) {
        refuse(text, task, "names no metric of this model's task", e);
        if (near)
            err_help(e, "did you mean \"%s\"?", near);
        return false;
    }
    if (!good)
        return refuse(text, task, why, e);
    g->text = mem_string(text);
    return true;
}

bool gate_read_name(struct gate *g, const char *text, const char *name, struct err *e)
{
    *g = (struct gate){.value = (double)NAN};
    const char *word = skip_blanks(text), *why = "is not a gate";
    size_t length = name_length(word);
    bool named = length == strlen(name) && memcmp(word, name, length) == 0;
    if (!named || !read_bound(g, word + length, &why)) {
        err_set(e, ERR_OPTION_VALUE, "--require: \"%s\" %s", text_quote_z(text), why);
        return err_expected(e, "%s, one of >= > <= <, and a number: '%s<=0.01'", name, name);
    }
    g->text = mem_string(text);
    return true;
}

bool gate_holds(const struct gate *g, double value)
{
    switch ((enum gate_compare)g->compare) {
    case GATE_AT_LEAST: return value >= g->bound;
    case GATE_ABOVE: return value > g->bound;
    case GATE_AT_MOST: return value <= g->bound;
    case GATE_BELOW: return value < g->bound;
    }
    return false;
}

void gate_measure(struct gate *g, double value)
{
    g->value = value;
    g->pass = gate_holds(g, value);
}

void gate_judge(struct gate *g, const struct metrics *m, struct tally *y)
{
    double value = metrics_get(m, g->metric->name);
    struct interval i = {(double)NAN, (double)NAN};
    if (g->of == GATE_OF_LOW || g->of == GATE_OF_HIGH)
        i = metric_interval(g->metric, y, value);
    switch ((enum gate_of)g->of) {
    case GATE_OF_VALUE: break;
    case GATE_OF_WORST: return;
    case GATE_OF_LOW: value = i.low; break;
    case GATE_OF_HIGH: value = i.high; break;
    case GATE_OF_CURVE:
        value = threshold_best_at(&y->rank, strcmp(g->metric->name, "precision") == 0
                                                ? THRESHOLD_PRECISION_AT_RECALL
                                                : THRESHOLD_RECALL_AT_PRECISION, g->at);
        break;
    }
    gate_measure(g, value);
}

void gate_put(const struct gate *g, struct text *out)
{
    const char *needs = g->metric ? g->metric->rows_needed : NULL;
    const bool interval = g->of == GATE_OF_LOW || g->of == GATE_OF_HIGH;
    if (!isnan(g->value)) {
        text_printf(out, "%s", text_figure(g->value, 6));
        if (g->where)
            text_printf(out, ", of %s", g->where);
        return;
    }
    if (g->of == GATE_OF_CURVE)
        needs = "a threshold that reaches the other one";
    else if (!interval && needs && strcmp(g->metric->name, "precision") == 0)
        needs = "rows answered with the positive label";
    else if (!needs)
        needs = interval ? "rows" : "answers and targets that are finite";
    text_printf(out, "undefined: %s%s needs %s%s", g->metric ? g->metric->name : "it",
                interval ? "'s interval" : "", interval ? "enough " : "", needs);
}

void gate_release(struct gate *g)
{
    mem_free(g->text);
    mem_free(g->where);
    *g = (struct gate){0};
}

void gates_write(const struct gate *gates, size_t count, struct json_out *out)
{
    json_open(out, "gates", '[');
    for (size_t i = 0; i < count; i++) {
        json_open(out, NULL, '{');
        json_put_string(out, "gate", gates[i].text);
        json_put_number(out, "value", gates[i].value);
        json_put_bool(out, "pass", gates[i].pass);
        if (gates[i].where)
            json_put_string(out, "where", gates[i].where);
        if (gates[i].compares) {
            json_put_number(out, "own", gates[i].own);
            json_put_number(out, "other", gates[i].other);
            interval_write(&gates[i].interval, "interval", out);
        }
        json_close(out, '}');
    }
    json_close(out, ']');
}
