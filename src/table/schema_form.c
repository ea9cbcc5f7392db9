/* schema_form.c - reads how the cells of columns are written, and which texts mean missing there,
 * from the head of a model's schema. */
#include "base/json/json.h"
#include "base/mem.h"
#include "table/schema_saved.h"

/* Text of a member; NULL: null or absent. */
static const char *text_of(const struct json *entry, const char *key)
{
    const struct json *v = json_get(entry, key);
    return v && json_kind(v) == JSON_STRING ? json_string(v) : NULL;
}

/* The column of an entry; SIZE_MAX: there is none. */
static size_t column_of(const struct loading *l, const struct json *entry)
{
    const struct json *number = json_get(entry, "column");
    int64_t column;
    return number && json_kind(number) == JSON_NUMBER && json_integer(number, &column) &&
                   saved_within(column, 0, (int64_t)l->schema->column_count - 1)
               ? (size_t)column
               : SIZE_MAX;
}

static bool load_missing(const struct loading *l, const struct json *entry)
{
    const size_t column = column_of(l, entry);
    const struct json *texts = json_get(entry, "texts");
    bool good = column != SIZE_MAX && texts && json_kind(texts) == JSON_LIST &&
                !l->schema->columns[column].none.count;
    for (const struct json *t = good ? json_at(texts, 0) : NULL; t && good; t = json_next(t)) {
        good = json_kind(t) == JSON_STRING;
        if (good)
            opt_strings_add(&l->schema->columns[column].none, json_string(t));
    }
    return good || saved_damaged(l, IN_HEAD, "holds a missing text that cannot be");
}

static bool load_form(const struct loading *l, const struct json *entry)
{
    struct schema *s = l->schema;
    const struct json *units = json_get(entry, "unit");
    const size_t column = column_of(l, entry);
    const char *words[3], **texts = mem_zero((units ? json_count(units) : 0) + 1, sizeof *texts);
    size_t count = 0;
    for (const struct json *u = units ? json_at(units, 0) : NULL; u; u = json_next(u))
        if (json_kind(u) == JSON_STRING)
            texts[count++] = json_string(u);
    struct form *f = form_new(text_of(entry, "thousands"), (char *const *)(const void *)texts,
                              count, text_of(entry, "format"));
    bool good = column != SIZE_MAX && !s->columns[column].form &&
                form_check(f, s->columns[column].type != COLUMN_DATETIME, s->decimal, &words[0],
                           &words[1], &words[2]);
    mem_free(texts);
    if (good)
        s->columns[column].form = f;
    else
        form_free(f);
    return good || saved_damaged(l, IN_HEAD, "holds a form that cannot be");
}

bool saved_forms(const struct loading *l)
{
    const struct tensor *t = saved_need(l, IN_HEAD, DTYPE_U8, UINT64_MAX);
    struct err inner = {0};
    struct json_doc *doc = json_parse_own(t->data, (size_t)t->count, IN_HEAD, &inner);
    const struct json *forms = doc ? json_get(json_root(doc), "forms") : NULL,
                      *missing = doc ? json_get(json_root(doc), "missing") : NULL;
    bool good = doc != NULL;
    for (const struct json *v = forms ? json_at(forms, 0) : NULL; v && good; v = json_next(v))
        good = load_form(l, v);
    for (const struct json *v = missing ? json_at(missing, 0) : NULL; v && good; v = json_next(v))
        good = load_missing(l, v);
    json_free(doc);
    return good;
}
