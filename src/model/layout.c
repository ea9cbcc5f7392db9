/* layout.c - where in the one array of parameters each range lies, for whoever reads a model file
 * with other tools. */
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "model/nonfinite.h"

static void put_shape(const struct param_shape *s, struct json_out *out)
{
    json_open(out, "shape", '[');
    for (uint32_t i = 0; i < s->rank; i++)
        json_put_int(out, NULL, (int64_t)s->dims[i]);
    json_close(out, ']');
}

void model_layout(const struct model *m, struct text *json)
{
    static const char of[] = "a weight of ";
    struct json_out out = {0};
    uint32_t tables = 0, table = 0;
    for (uint32_t i = 0; i < m->list.count; i++)
        tables += m->list.items[i].kind == PARAM_EMBEDDING;
    json_open(&out, NULL, '[');
    for (uint32_t i = 0; i < m->list.count; i++) {
        const struct param *p = &m->list.items[i];
        char name[160];
        if (p->buffer)
            continue;
        if (p->kind == PARAM_EMBEDDING)
            snprintf(name, sizeof name, "%sembedding %u of %u", of, ++table, tables);
        else
            model_name_weight(m, p->at, name, sizeof name);
        json_open(&out, NULL, '{');
        json_put_string(&out, "name", name + strlen(of));
        json_put_string(&out, "kind", param_kind_names[p->kind]);
        json_put_int(&out, "offset", (int64_t)p->at);
        put_shape(&p->shape, &out);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    *json = out.text;
}
