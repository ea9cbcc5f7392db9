/* config_check.c - contradictions: what no key shows alone. Both keys are named. */
#include <stdio.h>
#include <string.h>

#include "config/config_table.h"
#include "measure/metric.h"

static const struct json *node(const struct config *c, const char *key)
{
    return json_path(json_root(c->doc), key);
}

bool config_placed(const struct config *c, struct err *e)
{
    const struct json *v = *e->key ? node(c, e->key) : NULL;
    if (e->line || !v || err_exit(e) != EXIT_CONFIG)
        return false;
    if (e->id == ERR_CONFIG_LABEL)
        json_place_key(c->doc, v, &e->line, &e->column);
    else
        json_place(c->doc, v, &e->line, &e->column);
    snprintf(e->file, sizeof e->file, "%s", json_name(c->doc));
    return false;
}

/* --- keys that do nothing beside another --- */

const struct config_belonging config_belongings[] = {
    {"train.optimizer.momentum", "train.optimizer.type", "sgd"},
    {"train.optimizer.nesterov", "train.optimizer.type", "sgd"},
    {"train.optimizer.betas", "train.optimizer.type", "adam adamw"},
    {"train.optimizer.decay", "train.optimizer.type", "rmsprop"},
    {"train.optimizer.epsilon", "train.optimizer.type", "rmsprop adam adamw"},
    {"train.schedule.gamma", "train.schedule.type", "step"},
    {"train.schedule.every", "train.schedule.type", "step"},
    {"train.schedule.final", "train.schedule.type", "cosine one_cycle"},
    {"train.schedule.rise", "train.schedule.type", "one_cycle"},
    {"train.schedule.start", "train.schedule.type", "one_cycle"},
    {"train.loss.label_smoothing", "train.loss.type", "cross_entropy"},
    {"train.loss.gamma", "train.loss.type", "focal"},
    {"train.loss.delta", "train.loss.type", "huber"},
    {"train.loss.q", "train.loss.type", "quantile"},
    {"train.loss.class_weights", "train.loss.type", "cross_entropy focal soft_f1"},
    {"train.loss.labels", "train.loss.type", "soft_f1"},
    {"data.split.column", "data.split.method", "group time hash column"},
    {"data.split.valid", "data.split.method", "random stratified group time hash"},
    {"data.split.test", "data.split.method", "random stratified group time hash"},
    {NULL, NULL, NULL}};

bool config_listed(const char *words, const char *word, size_t length)
{
    for (const char *w = words; *w; w += strcspn(w, " "), w += *w == ' ')
        if (strcspn(w, " ") == length && strncmp(w, word, length) == 0)
            return true;
    return false;
}

static bool is_default(const struct option *row, const char *value_json)
{
    struct err e = {0};
    struct json_doc *doc =
        row->standard ? json_parse(row->standard, strlen(row->standard), "default", &e) : NULL;
    struct text text = {0};
    if (!doc)
        return false;
    json_write(&text, json_root(doc), 0);
    bool same = strcmp(text.data, value_json) == 0;
    text_free(&text);
    json_free(doc);
    return same;
}

/* A value other than the default that cannot have an effect is a mistake: better said than silently
 * left out. */
static bool check_useful(const struct config *c, struct err *e)
{
    for (const struct config_belonging *b = config_belongings; b->key; b++) {
        const struct option *row = opt_find(config_table, b->key);
        const struct setting *s = settings_find(c->settings, c->setting_count, b->key);
        const struct setting *beside =
            settings_find(c->settings, c->setting_count, b->beside);
        if (!row || !s || !beside || strcmp(s->from, "default") == 0)
            continue;
        bool quoted = beside->value[0] == '"'; /* a word; else null */
        const char *word = beside->value + quoted, *mark = quoted ? "\"" : "";
        size_t length = strcspn(word, "\"");
        const char *means = ""; /* the value that null has become */
        if (!quoted && strcmp(b->beside, "data.split.method") == 0)
            means = split_method_names[c->data.split.method];
        if (strcmp(b->beside, "train.loss.type") == 0) { /* auto has become a loss by now */
            word = loss_names[c->train.loss.kind];
            length = strlen(word);
            mark = "\"";
        }
        if (config_listed(b->words, word, length) ||
            (*means && config_listed(b->words, means, strlen(means))) || is_default(row, s->value))
            continue;
        json_fail(c->doc, node(c, b->key), e, ERR_CONFIG_CONFLICT,
                  "`%s` has no effect when `%s` is %s%.*s%s%s%s%s", b->key, b->beside, mark,
                  (int)length, word, mark, *means ? " (" : "", means, *means ? ")" : "");
        err_key(e, "%s", b->key);
        err_other(e, b->beside);
        return err_help(e, "it belongs to: %s; leave the key out, or change `%s`", b->words,
                        b->beside);
    }
    return true;
}

/* --- the task --- */

static bool orders(const struct metric_type *t)
{
    return t && !t->of_level;
}

static bool check_metric(const struct config *c, struct err *e)
{
    const char *name = c->train.early_stopping.metric, *known[64];
    const int metric_task = config_metric_task(c, false);
    size_t count = 0;
    if (strcmp(name, "auto") == 0 || strcmp(name, metric_loss.name) == 0 ||
        orders(metric_find(name, metric_task)))
        return true;
    struct text list = {0};
    for (const struct metric_type *t = metric_types;
         t->name && count < sizeof known / sizeof *known; t++)
        if (orders(metric_find(t->name, metric_task))) {
            text_printf(&list, "%s%s", count ? ", " : "auto, ", t->name);
            known[count++] = t->name;
        }
    static const char key[] = "train.early_stopping.metric";
    bool of_other = false;
    for (const struct metric_type *t = metric_types; t->name; t++)
        of_other |= strcmp(name, t->name) == 0;
    if (of_other)
        json_fail(c->doc, node(c, key), e, ERR_CONFIG_CONFLICT,
                  "`%s`: \"%s\" is not a metric of `task` \"%s\"", key, text_quote_z(name),
                  task_names[c->task]);
    else
        json_fail(c->doc, node(c, key), e, ERR_CONFIG_WORD, "`%s`: unknown metric \"%s\"", key,
                  text_quote_z(name));
    err_key(e, "%s", key);
    err_other(e, of_other ? "task" : "");
    const char *near = text_nearest(name, known, count);
    err_expected(e, "one of %s", list.data);
    text_free(&list);
    return near ? err_help(e, "did you mean `%s`?", near) : false;
}

static bool check_loss(struct config *c, struct err *e)
{
    struct loss_options *o = &c->train.loss;
    if (!loss_read(o, c->doc, c->task != TASK_REGRESSION, e))
        return config_placed(c, e);
    c->data.quantile_count = loss_values(o) > 1 ? o->q_count : 0;
    memcpy(c->data.quantiles, o->q, sizeof o->q);
    return true;
}

const char *config_leans(const struct config *c)
{
    const struct loss_options *o = &c->train.loss;
    if (c->task == TASK_REGRESSION)
        return NULL;
    return o->weighting != WEIGHTING_NONE                         ? "train.loss.class_weights"
           : c->train.sampling != SAMPLING_NONE                   ? "train.sampling"
           : o->kind == LOSS_FOCAL || o->kind == LOSS_SOFT_F1     ? "train.loss.type"
                                                                  : NULL;
}

/* Rows are drawn by their label: each has one of its own. */
static bool check_sampling(const struct config *c, struct err *e)
{
    const bool values = c->task == TASK_REGRESSION;
    const struct json *steps = node(c, "data.sequence");
    if (c->train.sampling == SAMPLING_NONE ||
        (!values && (!steps || json_kind(steps) == JSON_NULL)))
        return true;
    json_fail(c->doc, node(c, "train.sampling"), e, ERR_CONFIG_CONFLICT,
              "`train.sampling` is given, but %s",
              values ? "`task` is regression" : "the rows are sequences");
    err_key(e, "train.sampling");
    err_other(e, values ? "task" : "data.sequence");
    return err_help(e, values ? "leave it out; in a regression a column of type \"weight\" says "
                                "how much each row counts (`dnn help types`)"
                              : "use train.loss.class_weights instead");
}

bool config_path_solves(const struct loss_options *loss)
{
    return loss->kind == LOSS_CROSS_ENTROPY || loss->kind == LOSS_MSE;
}

/* The path of preset linear solves for convex losses, numbers and one-hot columns. */
static bool check_solver(const struct config *c, struct err *e)
{
    int kind = c->train.loss.kind;
    bool convex = config_path_solves(&c->train.loss);
    const char *lacks = linear_path_lacks(c->doc);
    if ((convex && !lacks) || !architecture_path(c->architecture))
        return true;
    if (convex)
        json_fail(c->doc, node(c, "model.solver"), e, ERR_CONFIG_CONFLICT,
                  "`model.solver` \"path\" takes no %s", lacks);
    else
        json_fail(c->doc, node(c, "model.solver"), e, ERR_CONFIG_CONFLICT,
                  "`model.solver` \"path\" has no solution for `train.loss.type` \"%s\"",
                  loss_names[kind]);
    err_key(e, "model.solver");
    err_other(e, convex ? "" : "train.loss.type");
    return err_help(e, "set model.solver to \"gradient\"");
}

static bool check_optimizer(struct config *c, struct err *e)
{
    return optim_read(&c->train.optimizer, c->doc, e) || config_placed(c, e);
}

/* True: the entry says how the numbers of the target are written, and nothing else. */
static bool only_form(const struct config *c, const struct json *entry)
{
    const struct json *type = json_get(entry, "type");
    const bool regression = c->task == TASK_REGRESSION;
    static const char *const keys[] = {"missing", "thousands", "unit", "format"};
    size_t form = 0;
    for (size_t i = 0; i < (regression ? sizeof keys / sizeof *keys : 1); i++)
        form += json_get(entry, keys[i]) ? 1 : 0;
    return json_kind(entry) == JSON_OBJECT && form && type && json_kind(type) == JSON_STRING &&
           strcmp(json_string(type), regression ? "numeric" : "categorical") == 0 &&
           json_count(entry) == form + 1;
}

/* The target is never an input, even if "columns" names it. */
static bool check_target(const struct config *c, struct err *e)
{
    const struct json *entry = json_get(c->data.columns, c->data.target);
    if (!entry || only_form(c, entry))
        return true;
    json_fail(c->doc, entry, e, ERR_CONFIG_COLUMNS,
              "column \"%s\" is the target and cannot be listed in `data.columns`",
              text_quote_z(c->data.target));
    err_other(e, "data.target");
    return err_help(e, "leave it out of `data.columns`; `data.target` names it. An entry with "
                       "nothing but type and `missing` is allowed; of a regression also "
                       "`thousands` and `unit`");
}

/* Without this check an empty file name fails only after the training. */
static bool check_names(const struct config *c, struct err *e)
{
    static const char *const keys[] = {"output.model", "output.metrics"};
    const char *const names[] = {c->output.model, c->output.metrics};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (names[i] && !*names[i]) {
            json_fail(c->doc, node(c, keys[i]), e, ERR_CONFIG_EMPTY, "`%s`: the name is empty",
                      keys[i]);
            return err_help(e, "name a file, or leave the key out");
        }
    return true;
}

static bool check_sequence(const struct config *c, struct err *e)
{
    const struct json *sequence = node(c, "data.sequence");
    if (!sequence || json_kind(sequence) == JSON_NULL || !c->data.encoders.statistics.given)
        return true;
    json_fail(c->doc, sequence, e, ERR_CONFIG_CONFLICT,
              "`encoders.target_statistics` does not work with `data.sequence`");
    err_other(e, "encoders.target_statistics");
    return err_help(e, "leave one of them out");
}

/* auto, none and all stand alone. */
static bool check_guests(const struct config *c, struct err *e)
{
    const struct opt_strings *list = &c->backend.guests;
    for (size_t i = 0; list->count > 1 && i < list->count; i++) {
        if (config_listed("cublaslt cudnn", list->items[i], strlen(list->items[i])))
            continue;
        json_fail(c->doc, node(c, "backend.guests"), e, ERR_CONFIG_CONFLICT,
                  "`backend.guests`: \"%s\" stands alone, not in a list with others",
                  text_quote_z(list->items[i]));
        err_key(e, "backend.guests");
        return err_help(e, "one of \"auto\", \"none\" and \"all\", or a list of \"cublaslt\" and "
                           "\"cudnn\"");
    }
    return true;
}

/* A threshold belongs to two labels, and is chosen on rows that no network is trained on. */
static bool check_threshold(struct config *c, struct err *e)
{
    const struct json *v = node(c, "threshold");
    if (!threshold_read(c->doc, v, &c->cut, e))
        return config_placed(c, e);
    if (c->cut.kind == THRESHOLD_NONE || c->task == TASK_BINARY)
        return true;
    json_fail(c->doc, v, e, ERR_CONFIG_CONFLICT, "`threshold` belongs to `task` \"binary\"");
    err_key(e, "threshold");
    err_other(e, "task");
    return err_help(e, "leave it out");
}

/* A task without probabilities has no calibration of them. */
static bool check_calibrate(const struct config *c, struct err *e)
{
    if (c->task != TASK_REGRESSION || c->calibrate < CALIBRATE_AFFINE)
        return true;
    json_fail(c->doc, node(c, "calibrate"), e, ERR_CONFIG_CONFLICT,
              "`calibrate` \"%s\" corrects probabilities, and `task` is regression",
              c->calibrate == CALIBRATE_PRIOR ? "prior" : "affine");
    err_key(e, "calibrate");
    err_other(e, "task");
    return err_help(e, "leave it out, or take \"none\"");
}

static bool check_transform(const struct config *c, struct err *e)
{
    if (c->task == TASK_REGRESSION || c->data.target_transform == TARGET_NONE)
        return true;
    json_fail(c->doc, node(c, "target_transform"), e, ERR_CONFIG_CONFLICT,
              "`target_transform` belongs to `task` \"regression\"");
    err_key(e, "target_transform");
    err_other(e, "task");
    return err_help(e, "leave it out");
}

double config_region(const struct config *c)
{
    const double level = c->task == TASK_REGRESSION ? c->interval_level : c->set_level;
    return level > 0 ? level : 0;
}

/* Intervals belong to values, and not to a quantile of them; sets to labels. */
static bool check_region(const struct config *c, struct err *e)
{
    const bool values = c->task == TASK_REGRESSION, quantile = loss_quantile(&c->train.loss) > 0;
    const char *key = values ? "sets" : "intervals";
    const bool other = (values ? c->set_level : c->interval_level) > 0;
    if (!other && !(config_region(c) > 0 && values && quantile))
        return true;
    json_fail(c->doc, node(c, other ? key : "intervals"), e, ERR_CONFIG_CONFLICT,
              other ? values ? "`sets` are of labels, and `task` is regression"
                             : "`intervals` are around values, and the task has labels"
                    : "`intervals` are around the mean, and `train.loss` asks for quantiles");
    err_key(e, "%s", other ? key : "intervals");
    err_other(e, other ? "task" : "train.loss.type");
    return err_help(e, !other ? "leave one of them out; loss \"mae\" answers with the median"
                       : values ? "set `intervals` instead" : "set `sets` instead");
}

bool config_answers_alike(const struct config *c, const struct config *m, struct err *e)
{
    const struct data_options *a = &c->data, *b = &m->data;
    if (a->quantile_count == b->quantile_count &&
        memcmp(a->quantiles, b->quantiles, a->quantile_count * sizeof *a->quantiles) == 0)
        return true;
    err_set(e, ERR_CONFIG_CONFLICT, "its answers are other quantiles than those of the whole "
            "config: a list in `train.loss.q` is the same for all networks");
    err_key(e, "train.loss.q");
    return err_help(e, "give train.loss beside `ensemble` and `tune`, and leave it out in them");
}

static bool read_architecture(struct config *c, struct err *e)
{
    c->architecture = architecture_read(&c->model, e);
    return c->architecture;
}

bool config_check(struct config *c, struct err *e)
{
    return check_names(c, e) && data_options_settle(&c->data, c->task, c->doc, e) &&
           check_target(c, e) && check_guests(c, e) && check_sequence(c, e) && check_loss(c, e) &&
           check_sampling(c, e) && check_metric(c, e) &&
           check_optimizer(c, e) && check_threshold(c, e) &&
           check_calibrate(c, e) && check_transform(c, e) && check_region(c, e) &&
           check_useful(c, e) &&
           read_architecture(c, e) && check_solver(c, e);
}
