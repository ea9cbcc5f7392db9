/* config_metric.c - the metrics of a config: its task's, and the loss that it trains. */
#include "config/config.h"
#include "measure/metric.h"

/* The loss that counts, but for the figures of the weights, which follow from data. */
static struct criterion declared(const struct config *c)
{
    static const float some = 1;
    const struct train_options *o = &c->train;
    bool weighs = o->loss.weighting != WEIGHTING_NONE || o->sampling != SAMPLING_NONE;
    return (struct criterion){.loss = o->loss,
                              .class_weight = c->task != TASK_REGRESSION && weighs ? &some : NULL};
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
