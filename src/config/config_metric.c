/* config_metric.c - the metrics of a config: its task's, and the loss that it trains. */
#include "config/config.h"
#include "measure/metric.h"

/* True: classes weigh differently, by train.loss.class_weights or by train.sampling. */
static bool weighs(const struct config *c)
{
    const struct json *w = c->train.loss.class_weights;
    return (w && json_kind(w) != JSON_NULL) || c->train.sampling != SAMPLING_NONE;
}

/* The loss that counts, but for the figures of the weights, which follow from data. */
static struct criterion declared(const struct config *c)
{
    static const float some = 1;
    struct err ignored = {0};
    struct criterion k = {.loss = c->train.loss};
    loss_resolve(&k.loss, c->task != TASK_REGRESSION, &ignored);
    k.class_weight = c->task != TASK_REGRESSION && weighs(c) ? &some : NULL;
    return k;
}

int config_metric_task(const struct config *c, bool region)
{
    const struct criterion k = declared(c);
    return metric_task(&k, c->task, region && config_region(c) > 0);
}

const struct metric_type *config_metric(const struct config *c)
{
    const struct criterion k = declared(c);
    return metric_of(&k, c->task);
}
