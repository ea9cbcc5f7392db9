/* run_criterion.c - the loss that counts for a config, with its weights of classes. */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "train/run/run.h"

/* --- weights of classes --- */

/* The texts of the classes, borrowed; mem_free the list. */
static const char **labels_of(const struct schema *s, uint32_t classes)
{
    const char **labels = mem_zero(classes, sizeof *labels);
    for (uint32_t c = 0; c < classes && c < vocab_count(s->labels); c++)
        labels[c] = vocab_text(s->labels, c, NULL);
    return labels;
}

/* The weights of a class by both keys, in place of `weights`; NULL: none. */
static float *with_sampling(const struct config *c, float *weights, const double *factor,
                            uint32_t classes)
{
    if (c->train.sampling == SAMPLING_NONE)
        return weights;
    float *both = mem_alloc(classes, sizeof *both);
    for (uint32_t k = 0; k < classes; k++)
        both[k] = (weights ? weights[k] : 1) * (float)factor[k];
    mem_free(weights);
    return both;
}

bool run_class_weights(const struct config *c, const struct schema *s, const double *rows,
                       const double *sums, float **weights, struct err *e)
{
    const uint32_t classes = vocab_count(s->labels);
    const char **labels = labels_of(s, classes);
    double *trained = mem_alloc(classes, sizeof *trained);
    double *factor = mem_alloc(classes, sizeof *factor);
    run_sampling(c, rows, classes, factor);
    for (uint32_t k = 0; k < classes; k++)
        trained[k] = sums[k] * factor[k];
    const bool good = loss_class_weights(&c->train.loss, labels, trained, classes, weights, e);
    if (good)
        *weights = with_sampling(c, *weights, factor, classes);
    mem_free(labels);
    mem_free(trained);
    mem_free(factor);
    return good || config_placed(c, e);
}

bool run_set_weights(struct run *r, struct err *e)
{
    r->loss = r->config->train.loss;
    if (!r->classes)
        return true;
    const char **labels = labels_of(r->encoder->schema, r->classes);
    double *counts = mem_alloc(r->classes, sizeof *counts);
    double *factor = mem_alloc(r->classes, sizeof *factor);
    r->score.class_counts = r->class_counts = mem_alloc(r->classes, sizeof *r->class_counts);
    score_class_counts(&r->score, r->class_counts);
    bool good = run_sample(r, factor, e);
    for (uint32_t c = 0; c < r->classes; c++)
        counts[c] = r->class_counts[c] * factor[c];
    good = good && loss_choose_labels(&r->loss, labels, r->classes, e) &&
           loss_class_weights(&r->loss, labels, counts, r->classes, &r->class_weight, e);
    if (!good)
        config_placed(r->config, e);
    if (good && !r->quiet && r->loss.kind == LOSS_SOFT_F1 && r->loss.chosen &&
        r->classes >= (uint32_t)__builtin_popcountll(r->loss.chosen) + 2)
        log_warning("train.loss.labels leaves out two labels or more: the loss soft_f1 does not "
                    "teach the model to tell those apart");
    for (uint32_t c = 0; good && !r->quiet && r->class_weight && c < r->classes; c++)
        if (counts[c] > 0 && r->class_weight[c] <= 0)
            log_warning("train.loss.class_weights gives \"%s\" the weight 0: its rows are not "
                        "learned from", text_quote_z(labels[c]));
    float *own = r->class_weight ? mem_copy(r->class_weight, r->classes * sizeof *own) : NULL;
    r->score.class_weight = r->prior_weight = with_sampling(r->config, own, factor, r->classes);
    mem_free(counts);
    mem_free(factor);
    mem_free(labels);
    return good;
}

/* --- the loss that counts --- */

bool run_criterion(const struct config *c, const struct encoder *of, const double *rows,
                   const double *sums, struct criterion *k, float **weights, struct err *e)
{
    const struct schema *s = of->schema;
    const bool classes = s->task != TASK_REGRESSION;
    *weights = NULL;
    *k = (struct criterion){.loss = c->train.loss, .coding = &of->coding};
    k->loss.label_smoothing = 0;
    if (!classes)
        return true;
    k->classes = vocab_count(s->labels);
    const char **labels = labels_of(s, k->classes);
    bool good = loss_choose_labels(&k->loss, labels, k->classes, e) &&
                run_class_weights(c, s, rows, sums, weights, e);
    mem_free(labels);
    k->class_weight = *weights;
    return good || config_placed(c, e);
}

