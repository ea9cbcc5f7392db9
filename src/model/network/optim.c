/* optim.c - train.optimizer: options, factors of parameter groups, and which operation makes the
 * step. */
#include "model/network/optim.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

static const char *const kinds[] = {"sgd", "rmsprop", "adam", "adamw", NULL};

#define FACTOR "{\"type\":\"number\",\"minimum\":0,\"maximum\":1000}"
#define FACTORS                                                                                    \
    "{\"type\":\"object\",\"properties\":{\"learning_rate\":" FACTOR ",\"weight_decay\":" FACTOR   \
    "},\"additionalProperties\":false}"

const struct option optim_options_table[] = {
    {OPT_ROW_AS("type", struct optim_options, kind, OPT_WORD, "\"adamw\""), .words = kinds,
     .help = "The optimiser. adamw is Adam with decoupled weight decay. sgd has momentum. "
             "rmsprop divides by a running root mean square."},
    {OPT_ROW(struct optim_options, learning_rate, OPT_NUMBER, "0.001"), .flags = OPT_OPEN_LOW,
     .low = 0, .high = 1000,
     .help = "The learning rate; the schedule multiplies it. Raise it until the loss becomes "
             "unsteady, then halve it. The preset linear has the default 0.01 where its solver is "
             "gradient, except with sgd."},
    {OPT_ROW(struct optim_options, weight_decay, OPT_NUMBER, "0.01"), .low = 0, .high = 1000,
     .help = "Pulls weights toward zero. adamw multiplies it by the learning rate; the others add "
             "it to the gradient. Biases and norm layers have none, unless groups give it."},
    {OPT_ROW(struct optim_options, momentum, OPT_NUMBER, "0.9"), .flags = OPT_OPEN_HIGH, .low = 0,
     .high = 1,
     .help = "sgd: momentum, the share of the last step in the next one."},
    {OPT_ROW(struct optim_options, nesterov, OPT_BOOL, "false"),
     .help = "sgd: Nesterov momentum."},
    {OPT_ROW(struct optim_options, decay, OPT_NUMBER, "0.99"), .flags = OPT_OPEN_HIGH, .low = 0,
     .high = 1,
     .help = "rmsprop: the decay of the running mean square."},
    {OPT_ROW(struct optim_options, betas, OPT_NUMBERS, "[0.9, 0.999]"), .flags = OPT_OPEN_HIGH,
     .low = 0, .high = 1,
     .help = "adam, adamw: the decay of the running means of the gradient and of its square."},
    {OPT_ROW(struct optim_options, epsilon, OPT_NUMBER, "1e-08"),
     .low = 1e-20, /* gradients whose squares are 0 in a float32 are smaller, and stay short */
     .high = 1,
     .help = "adam, adamw, rmsprop: added to the root before a step is divided by it."},
    {OPT_ROW(struct optim_options, groups, OPT_CUSTOM, "null"), .flags = OPT_NULLABLE,
     .schema =
         "{\"type\":[\"object\",\"null\"],\"properties\":{\"weight\":" FACTORS ",\"bias\":" FACTORS
         ",\"norm\":" FACTORS ",\"embedding\":" FACTORS "},\"additionalProperties\":false}",
     .help = "Factors on learning_rate and weight_decay for kinds of parameters (weight, bias, "
             "norm, embedding), such as {\"bias\": {\"learning_rate\": 2, \"weight_decay\": 0}}. "
             "The default is 1, except for the weight_decay of bias and norm: 0."},
    {0},
};

static const struct option factor_options[] = {
    {OPT_ROW(struct optim_factors, learning_rate, OPT_NUMBER, "null"), .flags = OPT_NULLABLE,
     .low = 0, .high = 1000,
     .help = "The factor on the learning rate."},
    {OPT_ROW(struct optim_factors, weight_decay, OPT_NUMBER, "null"), .flags = OPT_NULLABLE,
     .low = 0, .high = 1000,
     .help = "The factor on the weight decay."},
    {0},
};

static bool read_group(struct optim_options *o, const struct json *entry,
                       const struct json_doc *doc, struct err *e)
{
    for (int i = 0; i < PARAM_KINDS; i++)
        if (strcmp(param_kind_names[i], json_key(entry)) == 0) {
            struct optim_factors given, *f = &o->factors[i]; /* NAN: not given */
            struct text path = {0};
            text_printf(&path, "train.optimizer.groups.%s", param_kind_names[i]);
            bool good = opt_read(factor_options, doc, entry, path.data, &given, e);
            text_free(&path);
            f->learning_rate = isnan(given.learning_rate) ? f->learning_rate : given.learning_rate;
            f->weight_decay = isnan(given.weight_decay) ? f->weight_decay : given.weight_decay;
            return good;
        }
    int64_t line, column;
    json_place_key(doc, entry, &line, &column);
    err_at(e, ERR_CONFIG_KEY, json_name(doc), line, column,
           "unknown key \"train.optimizer.groups.%s\"", text_quote_z(json_key(entry)));
    json_blame(doc, entry, e);
    err_expected(e, "one of weight, bias, norm, embedding");
    const char *near = text_nearest(json_key(entry), param_kind_names, PARAM_KINDS);
    return near ? err_help(e, "did you mean `%s`?", near) : false;
}

bool optim_read(struct optim_options *o, const struct json_doc *doc, struct err *e)
{
    for (int kind = 0; kind < PARAM_KINDS; kind++)
        o->factors[kind] = (struct optim_factors){
            .learning_rate = 1, .weight_decay = kind == PARAM_BIAS || kind == PARAM_NORM ? 0 : 1};
    struct json *betas = doc ? json_path(json_root(doc), "train.optimizer.betas") : NULL;
    if (o->betas.count != 2)
        return json_fail(doc, betas, e, ERR_CONFIG_RANGE,
                         "`train.optimizer.betas`: %zu numbers, expected two", o->betas.count);
    if (o->kind == OPTIM_SGD && o->nesterov && o->momentum <= 0) {
        err_set(e, ERR_CONFIG_CONFLICT,
                "`train.optimizer.nesterov` is true, but `train.optimizer.momentum` is 0");
        err_key(e, "train.optimizer.nesterov");
        return err_other(e, "train.optimizer.momentum");
    }
    if (!o->groups || json_kind(o->groups) == JSON_NULL)
        return true;
    if (json_kind(o->groups) != JSON_OBJECT)
        return json_fail(doc, o->groups, e, ERR_CONFIG_TYPE,
                         "`train.optimizer.groups`: expected an object");
    for (const struct json *entry = json_at(o->groups, 0); entry; entry = json_next(entry))
        if (!read_group(o, entry, doc, e))
            return false;
    return true;
}

unsigned optim_states(const struct optim_options *o)
{
    switch ((enum optim_kind)o->kind) {
    case OPTIM_SGD: return o->momentum > 0 ? 1 : 0;
    case OPTIM_RMSPROP: return 1;
    case OPTIM_ADAM:
    case OPTIM_ADAMW: return 2;
    }
    return 0;
}

/* Gives w the steps and decay of a parameter p with w = scale p: the gradient of p is scale times
 * w's. A step of sgd grows with the gradient; steps of the others do not. Only adamw keeps the
 * decay apart from the gradient. A rate counts for steps and decay, as in RealMLP: with adamw it
 * pulls twice. */
static void scale_rates(const struct optim_options *o, const struct rates *r, struct group *g)
{
    double square = r->scale * r->scale;
    g->lr *= r->rate * (o->kind == OPTIM_SGD ? square : r->scale);
    g->weight_decay *= r->rate / (o->kind == OPTIM_ADAMW ? r->scale : square);
}

struct group *optim_groups(const struct optim_options *o, const struct model *m)
{
    const struct param_groups *all = &m->groups;
    struct group *groups = mem_zero((size_t)all->count + 1, sizeof *groups);
    for (uint32_t i = 0; i < all->count; i++) {
        groups[i] = all->items[i];
        if (!o)
            continue;
        groups[i].lr = o->factors[all->kinds[i]].learning_rate;
        groups[i].weight_decay = o->factors[all->kinds[i]].weight_decay;
        scale_rates(o, &all->rates[i], &groups[i]);
    }
    return groups;
}

void optim_issue(const struct optim_options *o, struct pass *p, real *m1, real *m2,
                 const struct grads *g, struct step *now, double clip, void *sums)
{
    struct act copy = pass_shadow(p, 0);
    op_norm2(p->m, &(struct op_norm2){.now = now, .sums = sums, .from = *g, .halt = 1});
    switch ((enum optim_kind)o->kind) {
    case OPTIM_SGD:
        op_sgd(p->m, &(struct op_sgd){.p = p->params,
                                      .m = m1,
                                      .shadow = copy,
                                      .from = *g,
                                      .sums = sums,
                                      .now = now,
                                      .schedule = p->schedule,
                                      .momentum = o->momentum,
                                      .clip = clip,
                                      .nesterov = o->nesterov});
        return;
    case OPTIM_RMSPROP:
        op_rmsprop(p->m, &(struct op_rmsprop){.p = p->params,
                                              .v = m1,
                                              .shadow = copy,
                                              .from = *g,
                                              .sums = sums,
                                              .now = now,
                                              .schedule = p->schedule,
                                              .decay = o->decay,
                                              .epsilon = o->epsilon,
                                              .clip = clip});
        return;
    case OPTIM_ADAM:
    case OPTIM_ADAMW:
        op_adam(p->m, &(struct op_adam){.p = p->params,
                                        .m1 = m1,
                                        .m2 = m2,
                                        .shadow = copy,
                                        .from = *g,
                                        .sums = sums,
                                        .now = now,
                                        .schedule = p->schedule,
                                        .beta1 = o->betas.items[0],
                                        .beta2 = o->betas.items[1],
                                        .epsilon = o->epsilon,
                                        .clip = clip,
                                        .decoupled = o->kind == OPTIM_ADAMW});
        return;
    }
}
