/* metric_write.c - metrics as a line of text, and as JSON. */
#include <math.h>

#include "base/text.h"
#include "measure/metric.h"

static bool is_standard(const struct metric_type *t)
{
    return t == metric_default(TASK_BINARY) || t == metric_default(TASK_REGRESSION);
}

void metrics_put(const struct metrics *m, struct text *out)
{
    for (uint32_t i = 0; i < m->count; i++) {
        if (isnan(m->m[i].value))
            continue;
        text_printf(out, " %s %s", m->m[i].type->name, text_figure(m->m[i].value, 4));
        if (i == 0 || is_standard(m->m[i].type))
            interval_put(&m->m[i].interval, out);
    }
}

void metrics_write(const struct metrics *m, const char *key, struct json_out *out)
{
    json_open(out, key, '{');
    for (uint32_t i = 0; i < m->count; i++)
        json_put_number(out, m->m[i].type->name, m->m[i].value);
    json_close(out, '}');
}

void metrics_write_intervals(const struct metrics *m, const char *key, struct json_out *out)
{
    json_open(out, key, '{');
    for (uint32_t i = 0; i < m->count; i++) {
        if (isnan(m->m[i].interval.low))
            json_put_null(out, m->m[i].type->name);
        else
            interval_write(&m->m[i].interval, m->m[i].type->name, out);
    }
    json_close(out, '}');
}
