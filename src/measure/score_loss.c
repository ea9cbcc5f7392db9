/* score_loss.c - see score_loss.h. */
#include "measure/score_loss.h"

#include "measure/probability.h"

#include <math.h>
#include <string.h>

bool loss_is_plain(const struct loss_options *o)
{
    bool even = !o->class_weights || json_kind(o->class_weights) == JSON_NULL;
    return o->kind == LOSS_MSE ||
           (o->kind == LOSS_CROSS_ENTROPY && even && !(o->label_smoothing > 0));
}

/* -ln p of every class is top + ln sum - logit: nothing is rounded to 0 before its logarithm. */
static double of_class(const struct loss_options *o, const real *logits, uint32_t classes,
                       int32_t label)
{
    double top = (double)logits[0], sum = 0, all = 0;
    for (uint32_t c = 1; c < classes; c++)
        top = (double)logits[c] > top ? (double)logits[c] : top;
    for (uint32_t c = 0; c < classes; c++) {
        sum += exp((double)logits[c] - top);
        all += (double)logits[c] - top;
    }
    double log_sum = log(sum), own = log_sum - ((double)logits[label] - top);
    if (o->kind == LOSS_FOCAL)
        return criterion_own(o, own);
    double smooth = o->label_smoothing;
    return (1 - smooth) * own + smooth * (log_sum - all / classes);
}

/* Adds a row to the sums of its labels. */
static void add_counts(struct score_loss *s, const real *logits, uint32_t classes, int32_t label,
                       double weight)
{
    double top = (double)logits[0], sum = 0;
    for (uint32_t c = 1; c < classes; c++)
        top = (double)logits[c] > top ? (double)logits[c] : top;
    for (uint32_t c = 0; c < classes; c++)
        sum += exp((double)logits[c] - top);
    for (uint32_t c = 0; c < classes; c++) {
        double p = exp((double)logits[c] - top) / sum, t = c == (uint32_t)label;
        s->right[c] += weight * p * t;
        s->all[c] += weight * (p + t);
    }
    s->classes = classes;
}

/* The mean over the values of a row. Quantiles count in rising order, as they are answered. */
static double of_values(const struct loss_options *o, const real *logits, double target)
{
    const uint32_t values = loss_values(o);
    double value[QUANTILES_MOST], sum = 0;
    answer_values(NULL, logits, 1, values, value);
    for (uint32_t k = 0; k < values; k++)
        sum += criterion_error(o, k, value[k] - target);
    return sum / values;
}

void score_loss_add(struct score_loss *s, const struct loss_rows *r)
{
    const uint32_t values = loss_values(s->options);
    for (uint64_t i = 0; i < r->rows; i++) {
        const real *logits = r->logits + i * (r->classes ? r->classes : values);
        double weight = r->weight ? (double)r->weight[i] : 1;
        if (r->classes && r->label[i] < 0)
            continue;
        if (r->classes && s->class_weight)
            weight *= (double)s->class_weight[r->label[i]];
        if (!(weight > 0))
            continue;
        if (s->options->kind == LOSS_SOFT_F1) {
            add_counts(s, logits, r->classes, r->label[i], weight);
            s->weight += weight;
            continue;
        }
        double loss = r->classes
                          ? of_class(s->options, logits, r->classes, r->label[i])
                          : of_values(s->options, logits, coding_encode(r->coding, r->target[i]));
        s->sum += weight * loss;
        s->weight += weight;
    }
}

double score_loss_mean(const struct score_loss *s)
{
    double loss = 0, count = 0;
    for (uint32_t c = 0; c < s->classes; c++) {
        bool chosen = loss_chosen(s->options, c);
        loss += chosen ? 1 - (2 * s->right[c] + 1) / (s->all[c] + 1) : 0;
        count += chosen;
    }
    if (count > 0)
        return loss / count;
    return s->weight > 0 ? s->sum / s->weight : (double)NAN;
}
