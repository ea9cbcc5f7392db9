/* layout.c - where in the one array of parameters each range lies, for whoever reads a model file
 * with other tools. */
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "model/nonfinite.h"

/* What of a group is numbers: it, or a group of its own, may end in a gap. */
static uint64_t used(const struct model *m, const struct group *g, uint32_t *gap)
{
    while (*gap < m->gap_count && m->gaps[*gap].end <= g->begin)
        (*gap)++;
    uint64_t end = g->end;
    if (*gap < m->gap_count && m->gaps[*gap].begin < end)
        end = m->gaps[*gap].begin;
    return end > g->begin ? end - g->begin : 0;
}

static void put_shape(const struct group *g, const struct embed_column *table, uint64_t count,
                      struct json_out *out)
{
    json_open(out, "shape", '[');
    if (table) {
        json_put_int(out, NULL, table->count);
        json_put_int(out, NULL, table->dim);
    } else if (g->in) {
        json_put_int(out, NULL, g->in);
        json_put_int(out, NULL, g->out);
    } else {
        json_put_int(out, NULL, (int64_t)count);
    }
    json_close(out, ']');
}

void model_layout(const struct model *m, struct text *json)
{
    static const char of[] = "a weight of ";
    struct json_out out = {0};
    uint32_t tables = 0, gap = 0;
    json_open(&out, NULL, '[');
    for (uint32_t i = 0; i < m->group_count; i++) {
        const struct group *g = &m->groups[i];
        const struct embed_column *table = NULL;
        char name[160];
        uint64_t count = used(m, g, &gap);
        if (count == 0)
            continue;
        if (m->kinds[i] == PARAM_EMBEDDING && tables < m->embed_count) {
            table = &m->embed[tables++];
            snprintf(name, sizeof name, "%sembedding %u of %u", of, tables, m->embed_count);
        } else {
            model_name_weight(m, g->begin, name, sizeof name);
        }
        json_open(&out, NULL, '{');
        json_put_string(&out, "name", name + strlen(of));
        json_put_string(&out, "kind", param_kind_names[m->kinds[i]]);
        json_put_int(&out, "offset", (int64_t)g->begin);
        put_shape(g, table, count, &out);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    *json = out.text;
}
