/* effects_write.c - effects as CSV and as JSON; see effects.h. */
#include <math.h>
#include <string.h>

#include "answer/stream/answer_line.h"
#include "answer/explain/effects.h"
#include "base/json/json.h"
#include "csv/field.h"
#include "measure/probability.h"

static bool several(const struct effects_result *r)
{
    return r->classes > 1;
}

const char *effects_class(const struct effects_result *r, uint32_t i)
{
    const struct schema *s = r->serve.schema;
    return s->task == TASK_REGRESSION ? "" : vocab_text(s->labels, r->first + i, NULL);
}

void effects_of(const struct effects_result *r, struct text *out)
{
    const struct schema *s = r->serve.schema;
    const struct loss_options loss = modelfile_loss(r->serve.file);
    if (loss_quantile(&loss) > 0) /* of several the middle one: kept_middle */
        text_printf(out, "the %.6g quantile of %s", loss.q[loss_middle(loss.q, loss_values(&loss))],
                    text_quote_z(s->columns[s->target].name));
    else if (s->task == TASK_REGRESSION)
        text_printf(out, "the value of %s", text_quote_z(s->columns[s->target].name));
    else if (several(r))
        text_put(out, "the probability of each label");
    else
        text_printf(out, "the probability of \"%s\"", text_quote_z(effects_class(r, 0)));
}

/* --- CSV --- */

static void put_number(double value, bool fine, struct text *out)
{
    char digits[32];
    text_char(out, ',');
    text_add(out, digits, answer_value(digits, value, fine));
}

static void put_line(const struct effects_result *r, const struct effect *f,
                     const struct effect_point *p, uint32_t class, struct text *out)
{
    const bool fine = answer_line_fine(r->serve.encoders[0]);
    field_put(out, f->unit->name, strlen(f->unit->name));
    text_printf(out, ",%s,", effect_kind_names[p->kind]);
    field_put(out, p->value, strlen(p->value));
    text_printf(out, ",%u", p->rows);
    put_number(p->mean[class], fine, out);
    put_number(p->low[class], fine, out);
    put_number(p->high[class], fine, out);
    if (several(r)) {
        text_char(out, ',');
        field_put(out, effects_class(r, class), strlen(effects_class(r, class)));
    }
    text_char(out, '\n');
}

void effects_csv(const struct effects_result *r, struct text *out)
{
    text_put(out, EFFECTS_CSV_BEGIN);
    text_put(out, several(r) ? ",class\n" : "\n");
    for (uint32_t i = 0; i < r->count; i++)
        for (uint32_t k = 0; k < r->effects[i].count; k++)
            for (uint32_t c = 0; c < r->classes; c++)
                put_line(r, &r->effects[i], &r->effects[i].points[k], c, out);
}

/* --- JSON --- */

static void write_values(const struct effects_result *r, const struct effect_point *p, uint32_t c,
                         struct json_out *out)
{
    if (several(r))
        json_put_string(out, "class", effects_class(r, c));
    json_put_number(out, "mean", p->mean[c]);
    json_put_number(out, "low", p->low[c]);
    json_put_number(out, "high", p->high[c]);
}

static void write_point(const struct effects_result *r, const struct effect_point *p,
                        struct json_out *out)
{
    json_open(out, NULL, '{');
    json_put_string(out, "kind", effect_kind_names[p->kind]);
    if (p->kind == EFFECT_VALUE || p->kind == EFFECT_WORD)
        json_put_string(out, "value", p->value);
    json_put_int(out, "rows", p->rows);
    if (several(r))
        json_open(out, "classes", '[');
    else
        write_values(r, p, 0, out);
    for (uint32_t c = 0; several(r) && c < r->classes; c++) {
        json_open(out, NULL, '{');
        write_values(r, p, c, out);
        json_close(out, '}');
    }
    if (several(r))
        json_close(out, ']');
    json_close(out, '}');
}

void effects_write(const struct effects_result *r, const char *file, struct json_out *out)
{
    struct text explains = {0};
    effects_of(r, &explains);
    json_open(out, NULL, '{');
    json_put_string(out, "schema", "dnn.explain/1");
    json_put_int(out, "rows", (int64_t)r->rows);
    json_put_int(out, "rows_measured", (int64_t)r->lines);
    json_put_string(out, "explains", explains.data);
    if (file)
        json_put_string(out, "effects_file", file);
    json_open(out, "effects", '[');
    for (uint32_t i = 0; i < r->count; i++) {
        const struct effect *f = &r->effects[i];
        json_open(out, NULL, '{');
        json_put_string(out, "name", f->unit->name);
        json_put_string(out, "type", column_role_names[f->type]);
        json_put_number(out, "moves_by", f->size);
        json_open(out, "points", '[');
        for (uint32_t k = 0; k < f->count; k++)
            write_point(r, &f->points[k], out);
        json_close(out, ']');
        json_close(out, '}');
    }
    json_close(out, ']');
    select_write(&r->serve.backend, "backend", out);
    json_close(out, '}');
    text_free(&explains);
}
