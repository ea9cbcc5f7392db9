/* schema.c - the raw record, copying and freeing a schema. */
#include "table/schema/schema.h"

#include <string.h>

#include "base/mem.h"
#include "csv/form/date.h"

void schema_layout(struct schema *s)
{
    s->number_count = s->category_count = 0;
    for (size_t i = 0; i < s->column_count; i++) {
        struct column *c = &s->columns[i];
        c->number = c->category = UINT32_MAX;
        if (c->type == COLUMN_NUMERIC || c->type == COLUMN_DATETIME) {
            c->number = s->number_count;
            s->number_count += c->type == COLUMN_DATETIME ? DATE_PARTS : 1;
        } else if (c->type == COLUMN_CATEGORICAL || c->type == COLUMN_TEXT) {
            c->category = s->category_count++;
            c->values = vocab_new();
        }
    }
    if (s->task != TASK_REGRESSION && !s->labels)
        s->labels = vocab_new();
    s->offsets = mem_zero((size_t)s->number_count + 1, sizeof *s->offsets);
    s->raw = rowfmt_make(s->number_count, s->category_count);
}

struct schema *schema_copy(const struct schema *s)
{
    struct schema *copy = mem_copy(s, sizeof *s);
    copy->columns = mem_copy(s->columns, s->column_count * sizeof *s->columns);
    copy->missing = opt_strings_copy(&s->missing);
    copy->channels = opt_strings_copy(&s->channels);
    copy->positive = s->positive ? mem_string(s->positive) : NULL;
    copy->split_columns =
        mem_copy(s->split_columns, s->split_column_count * sizeof *s->split_columns);
    copy->quantiles = mem_copy(s->quantiles, s->quantile_count * sizeof *s->quantiles);
    copy->labels = NULL;
    for (size_t i = 0; i < s->column_count; i++) {
        copy->columns[i].name = mem_string(s->columns[i].name);
        copy->columns[i].form = form_copy(s->columns[i].form);
        copy->columns[i].none = opt_strings_copy(&s->columns[i].none);
    }
    schema_layout(copy);
    memcpy(copy->offsets, s->offsets, s->number_count * sizeof *s->offsets);
    return copy;
}

uint32_t schema_group_column(const struct schema *s)
{
    uint32_t found = s->windows.window ? s->windows.group : UINT32_MAX;
    for (uint32_t i = 0; found == UINT32_MAX && i < s->column_count; i++)
        if (s->columns[i].type == COLUMN_GROUP)
            found = i;
    return found;
}

void schema_free(struct schema *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->column_count; i++) {
        mem_free(s->columns[i].name);
        form_free(s->columns[i].form);
        opt_strings_free(&s->columns[i].none);
        vocab_free(s->columns[i].values);
    }
    vocab_free(s->labels);
    opt_strings_free(&s->missing);
    opt_strings_free(&s->channels);
    mem_free(s->columns);
    mem_free(s->positive);
    mem_free(s->quantiles);
    mem_free(s->offsets);
    mem_free(s->split_columns);
    mem_free(s);
}
