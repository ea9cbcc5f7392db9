/* loss.c - train.loss: options, class weights, and which operation gives the gradient. */
#include "model/loss.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "table/schema/label.h"

const char *const loss_names[] = {"auto", "cross_entropy", "focal",    "soft_f1", "mse",
                                  "mae",  "huber",         "quantile", NULL};

const struct option loss_options_table[] = {
    {OPT_ROW_AS("type", struct loss_options, kind, OPT_WORD, "\"auto\""), .words = loss_names,
     .help = "The loss. auto is cross_entropy for classes and mse for numbers. focal gives more "
             "weight to rows that are still wrong. soft_f1 is 1 - F1 of each batch, the mean over "
             "labels, with probabilities for counts. mae and huber are less sensitive to outliers "
             "than mse. quantile predicts a quantile."},
    {OPT_ROW(struct loss_options, label_smoothing, OPT_NUMBER, "0"), .flags = OPT_OPEN_HIGH,
     .low = 0, .high = 1,
     .help = "cross_entropy: spreads this share of every label over all classes."},
    {OPT_ROW(struct loss_options, gamma, OPT_NUMBER, "2"), .low = 0, .high = 20,
     .help = "focal: how strongly rows that are already right lose weight; 0 is cross_entropy."},
    {OPT_ROW(struct loss_options, delta, OPT_NUMBER, "1"), .flags = OPT_OPEN_LOW, .low = 0,
     .high = 1e6,
     .help = "huber: above this error, in standard deviations of the target, the loss is linear."},
    {OPT_ROW_AS("q", struct loss_options, given.q, OPT_CUSTOM, "0.5"),
     .schema = "{\"anyOf\":[{\"type\":\"number\",\"exclusiveMinimum\":0,"
               "\"exclusiveMaximum\":1},{\"type\":\"array\",\"minItems\":2,"
               "\"maxItems\":32,\"items\":{\"type\":\"number\",\"exclusiveMinimum\":0,"
               "\"exclusiveMaximum\":1}}]}",
     .help = "quantile: the quantile to predict; 0.5 is the median. A rising list of 2 to 32 such "
             "as [0.05, 0.5, 0.95]: one network answers them all, and they never cross."},
    {OPT_ROW_AS("labels", struct loss_options, given.labels, OPT_CUSTOM, "null"),
     .flags = OPT_NULLABLE,
     .schema = "{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"array\",\"minItems\":1,"
               "\"items\":{\"type\":\"string\"}}]}",
     .help = "soft_f1: the labels whose F1 is optimised, as [\"yes\"]. null: all."},
    {OPT_ROW_AS("class_weights", struct loss_options, given.class_weights, OPT_CUSTOM, "null"),
     .flags = OPT_NULLABLE,
     .schema = "{\"anyOf\":[{\"type\":\"null\"},{\"const\":\"balanced\"},{\"type\":\"object\","
               "\"additionalProperties\":{\"type\":\"number\",\"minimum\":0}}]}",
     .help = "Weights of rows by label. null: none. \"balanced\": every class counts the same. "
             "A table such as {\"yes\": 5}: a label that is not in it weighs 1. Weights move the "
             "probabilities towards the labels that they favour; `calibrate` \"prior\" undoes "
             "that, and auto does where the validation rows show it."},
    {0},
};

static bool of_classes(int kind)
{
    return kind == LOSS_CROSS_ENTROPY || kind == LOSS_FOCAL || kind == LOSS_SOFT_F1;
}

uint32_t loss_middle(const double *q, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t k = 1; k < count; k++)
        if (fabs(q[k] - 0.5) < fabs(q[best] - 0.5))
            best = k;
    return best;
}

static bool is_share(const struct json *v)
{
    return json_kind(v) == JSON_NUMBER && json_number(v) > 0 && json_number(v) < 1;
}

/* A number, or a rising list of them. */
static bool read_quantiles(struct loss_options *o, const struct json_doc *doc, struct err *e)
{
    const struct json *list = o->given.q;
    o->q[0] = list && json_kind(list) == JSON_NUMBER ? json_number(list) : 0.5;
    if (!list || is_share(list))
        return true;
    const bool many = json_kind(list) == JSON_LIST;
    if (!many && json_kind(list) == JSON_NUMBER) {
        json_fail(doc, list, e, ERR_CONFIG_RANGE, "`train.loss.q` is out of range, allowed: more "
                  "than 0, less than 1");
        return err_help(e, "0.9 is a value that nine of ten targets do not exceed");
    }
    if (!many)
        return json_fail(doc, list, e, ERR_CONFIG_TYPE,
                         "`train.loss.q`: expected a number or a list of numbers");
    double before = 0;
    for (const struct json *v = json_at(list, 0); v; v = json_next(v)) {
        if (!is_share(v) || !(json_number(v) > before)) {
            json_fail(doc, v, e, ERR_CONFIG_RANGE, "`train.loss.q`: each number of the list is "
                      "above the one before it, more than 0, less than 1");
            return err_help(e, "for example [0.05, 0.5, 0.95]");
        }
        before = json_number(v);
        if (o->q_count < QUANTILES_MOST)
            o->q[o->q_count++] = before;
    }
    if (json_count(list) >= 2 && json_count(list) <= QUANTILES_MOST)
        return true;
    json_fail(doc, list, e, ERR_CONFIG_RANGE, "`train.loss.q`: a list has 2 to %d numbers, and "
              "this one has %zu", QUANTILES_MOST, json_count(list));
    return err_help(e, "write one quantile as a number: 0.5");
}

/* The loss of the task, or one that fits it. */
static bool read_kind(struct loss_options *o, bool classes, struct err *e)
{
    if (o->kind == LOSS_AUTO)
        o->kind = classes ? LOSS_CROSS_ENTROPY : LOSS_MSE;
    if (of_classes(o->kind) == classes)
        return true;
    err_set(e, ERR_CONFIG_CONFLICT, "`train.loss.type` \"%s\" is for %s, but `task` is %s",
            loss_names[o->kind], classes ? "numbers" : "classes",
            classes ? "classification" : "regression");
    err_key(e, "train.loss.type");
    err_other(e, "task");
    return err_expected(e, classes ? "auto, cross_entropy, focal, soft_f1"
                                   : "auto, mse, mae, huber, quantile");
}

/* Times the largest weight of a row (WEIGHT_MOST of table/encoder/cell.h, 1e20) and the most rows
 * of a batch, it is still a float. */
#define CLASS_WEIGHT_MOST 1e9

static bool check_weight(const struct json_doc *doc, const struct json *entry, struct err *e)
{
    if (json_kind(entry) != JSON_NUMBER)
        return json_fail(doc, entry, e, ERR_CONFIG_TYPE,
                         "`train.loss.class_weights`: the weight of \"%s\" is not a number",
                         text_quote_z(json_key(entry)));
    if (!(json_number(entry) >= 0 && json_number(entry) <= CLASS_WEIGHT_MOST))
        return json_fail(
            doc, entry, e, ERR_CONFIG_RANGE,
            "`train.loss.class_weights`: the weight of \"%s\" is out of range, allowed: 0 to 1e9",
            text_quote_z(json_key(entry)));
    return true;
}

/* null, or a list of texts */
static bool read_labels(struct loss_options *o, const struct json_doc *doc, struct err *e)
{
    const struct json *list = o->given.labels;
    if (!list || json_kind(list) == JSON_NULL)
        return true;
    const struct json *bad = json_kind(list) == JSON_LIST && json_at(list, 0) ? NULL : list;
    for (const struct json *v = bad ? NULL : json_at(list, 0); v && !bad; v = json_next(v)) {
        bad = json_kind(v) == JSON_STRING ? NULL : v;
        if (!bad)
            opt_strings_add(&o->labels, json_string(v));
    }
    if (!bad)
        return true;
    json_fail(doc, bad, e, ERR_CONFIG_TYPE, "`train.loss.labels`: expected a list of labels");
    return err_help(e, "for example [\"yes\"], as they stand in the file");
}

static bool read_weights(struct loss_options *o, const struct json_doc *doc, bool classes,
                         struct err *e)
{
    const struct json *w = o->given.class_weights;
    if (!w || json_kind(w) == JSON_NULL)
        return true;
    if (!classes) {
        json_fail(doc, w, e, ERR_CONFIG_CONFLICT,
                  "`train.loss.class_weights` is given, but `task` is regression");
        err_other(e, "task");
        return err_help(e, "leave it out; in a regression a column of type \"weight\" says how "
                           "much each row counts (`dnn help types`)");
    }
    o->weighting = WEIGHTING_BALANCED;
    if (json_kind(w) == JSON_STRING && strcmp(json_string(w), "balanced") == 0)
        return true;
    if (json_kind(w) == JSON_STRING) {
        json_fail(doc, w, e, ERR_CONFIG_WORD, "`train.loss.class_weights`: unknown word \"%s\"",
                  text_quote_z(json_string(w)));
        static const char *const words[] = {"balanced"};
        if (text_nearest(json_string(w), words, 1))
            err_help(e, "did you mean `balanced`?");
        return err_expected(e, "null, \"balanced\", or a table of labels and weights");
    }
    if (json_kind(w) != JSON_OBJECT) {
        json_fail(doc, w, e, ERR_CONFIG_TYPE,
                  "`train.loss.class_weights`: expected null, \"balanced\" or an object");
        return err_help(e, "for example {\"yes\": 5, \"no\": 1}");
    }
    o->weighting = WEIGHTING_GIVEN;
    o->weights = mem_alloc(json_count(w) + 1, sizeof *o->weights);
    for (const struct json *entry = json_at(w, 0); entry; entry = json_next(entry)) {
        if (!check_weight(doc, entry, e))
            return false;
        o->weights[o->weighted.count] = json_number(entry);
        opt_strings_add(&o->weighted, json_key(entry));
    }
    return true;
}

bool loss_read(struct loss_options *o, const struct json_doc *doc, bool classes, struct err *e)
{
    return read_kind(o, classes, e) && read_labels(o, doc, e) && read_quantiles(o, doc, e) &&
           read_weights(o, doc, classes, e);
}

void loss_release(struct loss_options *o)
{
    opt_strings_free(&o->weighted);
    opt_strings_free(&o->labels);
    mem_free(o->weights);
    o->weights = NULL;
}

/* --- labels: weights, and which of them count --- */

/* The class of a label, as a text or else as a number ("1" is "1.0"); `classes`: no such label. */
static uint32_t label_at(const char *const *labels, uint32_t classes, const char *label)
{
    struct vocab *known = vocab_new();
    for (uint32_t i = 0; i < classes; i++)
        vocab_add(known, labels[i], strlen(labels[i]));
    const uint32_t c = label_find(known, '.', label, strlen(label));
    vocab_free(known);
    return c < classes ? c : classes;
}

static void balance(const double *counts, uint32_t classes, float *weights)
{
    double all = 0;
    for (uint32_t c = 0; c < classes; c++)
        all += counts[c];
    for (uint32_t c = 0; c < classes; c++)
        weights[c] = counts[c] > 0 ? (float)(all / (classes * counts[c])) : 1;
}

enum { NAMED = 8 }; /* labels in a help */

/* A label that no row has. */
static bool help_label(const char *label, const char *const *labels, uint32_t classes,
                       struct err *e)
{
    const char *near = text_nearest(label, labels, classes);
    struct text all = {0};
    for (uint32_t i = 0; i < classes && i < NAMED; i++)
        text_printf(&all, "%s\"%s\"", i ? ", " : "", text_quote_z(labels[i]));
    if (near)
        err_help(e, "did you mean \"%s\"?", text_quote_z(near));
    else
        err_help(e, "the labels are %s%s", all.data, classes > NAMED ? ", .." : "");
    text_free(&all);
    return false;
}

bool loss_choose_labels(struct loss_options *o, const char *const *labels, uint32_t classes,
                        struct err *e)
{
    o->chosen = 0;
    if (o->kind == LOSS_SOFT_F1 && classes > F1_CLASSES) {
        err_set(e, ERR_CONFIG_CONFLICT, "`train.loss.type` soft_f1 takes at most %d labels, and "
                "the target has %u", F1_CLASSES, classes);
        err_key(e, "train.loss.type");
        return err_help(e, "a batch holds too few rows of each: use cross_entropy or focal");
    }
    for (size_t i = 0; i < o->labels.count; i++) {
        uint32_t c = label_at(labels, classes, o->labels.items[i]);
        if (c == classes) {
            err_set(e, ERR_CONFIG_LABEL, "`train.loss.labels`: no row has the label \"%s\"",
                    text_quote_z(o->labels.items[i]));
            err_key(e, "train.loss.labels.%zu", i);
            return help_label(o->labels.items[i], labels, classes, e);
        }
        o->chosen |= UINT64_C(1) << c;
    }
    return true;
}

static bool put_weights(const struct loss_options *o, const char *const *labels,
                        uint32_t classes, float *weights, struct err *e)
{
    for (size_t i = 0; i < o->weighted.count; i++) {
        const char *label = o->weighted.items[i];
        uint32_t c = label_at(labels, classes, label);
        if (c == classes) {
            err_set(e, ERR_CONFIG_LABEL, "`train.loss.class_weights`: no row has the label \"%s\"",
                    text_quote_z(label));
            err_key(e, "train.loss.class_weights.%s", label);
            return help_label(label, labels, classes, e);
        }
        weights[c] = (float)o->weights[i];
    }
    return true;
}

bool loss_class_weights(const struct loss_options *o, const char *const *labels,
                        const double *counts, uint32_t classes, float **weights, struct err *e)
{
    *weights = NULL;
    if (o->weighting == WEIGHTING_NONE)
        return true;
    float *w = mem_alloc(classes, sizeof *w);
    bool some = false;
    for (uint32_t c = 0; c < classes; c++)
        w[c] = 1;
    if (o->weighting == WEIGHTING_BALANCED)
        balance(counts, classes, w);
    bool good = put_weights(o, labels, classes, w, e);
    for (uint32_t c = 0; c < classes; c++)
        some |= w[c] > 0 && counts[c] > 0;
    if (good && !some) {
        err_set(e, ERR_CONFIG_RANGE,
                "`train.loss.class_weights`: every class of the training rows weighs 0");
        good = err_key(e, "train.loss.class_weights");
    }
    if (good)
        *weights = w;
    else
        mem_free(w);
    return good;
}

/* --- the operation --- */

static uint32_t value_loss(int kind)
{
    switch ((enum loss_kind)kind) {
    case LOSS_MAE: return VALUE_MAE;
    case LOSS_HUBER: return VALUE_HUBER;
    case LOSS_QUANTILE: return VALUE_QUANTILE;
    case LOSS_AUTO:
    case LOSS_CROSS_ENTROPY:
    case LOSS_FOCAL:
    case LOSS_SOFT_F1:
    case LOSS_MSE: break;
    }
    return VALUE_MSE;
}

/* Issues the loss of one answer. The sums of loss and weight run over all answers: their quotient
 * is the mean. */
static void issue_one(const struct loss_options *o, double q, struct pass *p, struct act logits,
                      struct act dlogits, const real *target, uint32_t outputs, uint32_t ld,
                      bool more, double *part_loss, double *part_weight)
{
    if (o->kind == LOSS_SOFT_F1)
        op_loss_f1(p->m, &(struct op_loss_f1){
            .dlogits = dlogits, .part_loss = part_loss, .part_weight = part_weight,
            .logits = logits, .target = target, .weight = p->weight,
            .dims = pass_dims(p, outputs), .ld = ld, .ldd = ld, .more = more,
            .chosen = o->chosen ? o->chosen : ~UINT64_C(0) >> (64 - outputs)});
    else if (of_classes(o->kind))
        op_loss_class(p->m, &(struct op_loss_class){
            .dlogits = dlogits, .part_loss = part_loss, .part_weight = part_weight,
            .logits = logits, .target = target, .weight = p->weight,
            .dims = pass_dims(p, outputs), .ld = ld, .ldd = ld, .more = more,
            .kind = o->kind == LOSS_FOCAL ? CLASS_FOCAL : CLASS_CROSS_ENTROPY,
            .smoothing = o->kind == LOSS_FOCAL ? 0 : o->label_smoothing, .gamma = o->gamma});
    else
        op_loss_value(p->m, &(struct op_loss_value){
            .dy = dlogits, .part_loss = part_loss, .part_weight = part_weight,
            .y = logits, .target = target, .weight = p->weight,
            .dims = pass_dims(p, outputs), .ld = ld, .ldd = ld, .more = more,
            .kind = value_loss(o->kind), .delta = o->delta, .q = q});
}

void loss_issue(const struct loss_options *o, struct pass *p, struct act logits,
                struct act dlogits, const real *target, uint32_t outputs, uint32_t answers,
                double *part_loss, double *part_weight)
{
    const uint32_t values = loss_values(o), each = outputs / values;
    for (uint32_t j = 0; j < answers * values; j++)
        issue_one(o, o->q[j % values], p, act_part(p->m, logits, j, each),
                  act_part(p->m, dlogits, j, each), target, each, answers * outputs,
                  p->more || j > 0, part_loss, part_weight);
}
