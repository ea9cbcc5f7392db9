/* schema_declare.c - makes a schema from the "data" object of a config: types, roles, the split's
 * columns. */
#include "table/schema/schema.h"

#include <string.h>

#include "base/mem.h"
#include "table/schema/declaration.h"

struct column *declare_column(struct declaration *d, const char *name, const struct json *place)
{
    struct schema *s = d->schema;
    if (!(s->column_count & (s->column_count - 1))) { /* at 0, 1, 2, 4, ..: double the size */
        size_t room = s->column_count ? 2 * s->column_count : 1;
        s->columns = mem_grow(s->columns, room, sizeof *s->columns);
        d->places = mem_grow(d->places, room, sizeof *d->places);
    }
    d->places[s->column_count] = place;
    vocab_add(d->names, name, strlen(name));
    struct column *c = &s->columns[s->column_count++];
    *c = (struct column){
        .name = mem_string(name), .min_count = 1, .number = UINT32_MAX, .category = UINT32_MAX};
    return c;
}

#define COLUMNS_KEY "data.columns"
#define SPLIT_KEY "data.split.column"
#define STATISTICS_KEY "encoders.target_statistics.columns"

/* Adds two keys to the error: the split's, and the one it contradicts. Returns false. */
static bool split_key(const struct declaration *d, const char *key, const char *other)
{
    err_key(d->e, "%s", key);
    return err_other(d->e, other);
}

/* --- one entry of "columns" --- */

static bool type_of(const struct declaration *d, const struct json *v, const char *name, int *type)
{
    size_t count = 0;
    for (; column_type_names[count]; count++)
        if (strcmp(column_type_names[count], json_string(v)) == 0) {
            *type = (int)count;
            return true;
        }
    json_fail(d->doc, v, d->e, ERR_CONFIG_WORD, "column \"%s\": unknown type \"%s\"",
              text_quote_z(name), text_quote_z(json_string(v)));
    err_words(d->e, column_type_names, count);
    const char *near = text_nearest(json_string(v), column_type_names, count);
    return near ? err_help(d->e, "did you mean `%s`?", near) : false;
}

/* A number from 1 to most, or "auto" (and absent): 0. */
static bool read_auto(const struct declaration *d, const struct json *v, const char *name,
                      const char *key, int64_t most, int64_t *to)
{
    *to = 0;
    if (!v || (json_kind(v) == JSON_STRING && strcmp(json_string(v), "auto") == 0))
        return true;
    if (json_kind(v) == JSON_NUMBER && json_integer(v, to) && *to >= 1 && *to <= most)
        return true;
    json_fail(d->doc, v, d->e,
              json_kind(v) == JSON_NUMBER ? ERR_CONFIG_RANGE : ERR_CONFIG_TYPE,
              "column \"%s\": `%s` is neither \"auto\" nor an integer from 1 to %lld",
              text_quote_z(name), key, (long long)most);
    return false;
}

/* Help for a --set with a wrong column name. */
static bool no_type(const struct declaration *d, const struct json *v, const char *name)
{
    const char **known = mem_alloc(json_count(d->options->columns) + 1, sizeof *known);
    size_t count = 0;
    for (const struct json *c = json_at(d->options->columns, 0); c; c = json_next(c))
        if (c != v)
            known[count++] = json_key(c);
    const char *near = text_nearest(name, known, count);
    mem_free(known);
    json_fail(d->doc, v, d->e, ERR_CONFIG_MISSING_KEY, "`data.columns.%s` has no \"type\"",
              text_quote_z(name));
    return near ? err_help(d->e, "did you mean the column \"%s\"?", text_quote_z(near))
                : err_help(d->e, "{\"type\": ...} says what the column is");
}

/* Takes how the cells are written. */
static bool set_form(const struct declaration *d, struct column *c, const struct json *v,
                     const char *thousands, const struct opt_strings *units, const char *format)
{
    const char *key, *what, *expected;
    if (!thousands && !units->count && !format)
        return true;
    c->form = form_new(thousands, units->items, units->count, format);
    if (form_check(c->form, c->type != COLUMN_DATETIME, d->options->decimal ? ',' : '.', &key,
                   &what, &expected))
        return true;
    const struct json *at = v && json_get(v, key) ? json_get(v, key) : v;
    FAIL(d, at, ERR_CONFIG_WORD, "column \"%s\": `%s` %s", text_quote_z(c->name), key, what);
    return err_expected(d->e, "%s", expected);
}

/* Takes the options of a column; keys that its entry v (NULL: none) lacks take the defaults of
 * "encoders". */
static bool set_options(const struct declaration *d, struct column *c, const struct json *v,
                        const struct column_options *own)
{
    const struct encoder_options *encoders = &d->options->encoders;
    const struct column_options *all = c->type == COLUMN_NUMERIC && encoders->numeric.bins
                                           ? &encoders->numeric
                                       : c->type == COLUMN_CATEGORICAL && encoders->numeric.bins
                                           ? &encoders->categorical
                                           : own;
#define OF(key) (v && json_get(v, key) ? own : all)
    c->scale = OF("scale")->scale;
    c->impute = OF("impute")->impute;
    c->transform = OF("transform")->transform;
    c->edges = OF("edges")->edges;
    c->bins = OF("bins")->bins;
    c->encodes = options_encodes(&OF("encode")->encodes);
    c->unknown = OF("unknown")->unknown;
    c->encode = OF("encode")->encode;
    c->init = OF("init")->init;
    c->none = opt_strings_copy(&OF("missing")->missing);
    if ((c->type == COLUMN_NUMERIC || c->type == COLUMN_DATETIME) &&
        !set_form(d, c, v, OF("thousands")->thousands, &OF("unit")->units,
                  OF("format")->format))
        return false;
    if (c->type == COLUMN_CATEGORICAL &&
        !read_auto(d, OF("min_count")->min_count, c->name, "min_count", COLUMN_MIN_COUNT_MOST,
                   &c->min_count))
        return false;
    return read_auto(d, OF("onehot_values")->onehot_values, c->name, "onehot_values",
                     COLUMN_DIM_MOST, &c->onehot_values) &&
           read_auto(d, OF("dim")->dim, c->name, "dim", COLUMN_DIM_MOST, &c->dim);
#undef OF
}

/* A key of the other way to encode a text has no effect. */
static bool keys_of_text(const struct declaration *d, const struct json *v, const char *name,
                         int encode)
{
    static const char *const keys[2][5] = {{"vocabulary", "min_count", "length", "dim", NULL},
                                           {"buckets", "ngram", "char_ngram", "weight", NULL}};
    for (int i = 0; keys[encode][i]; i++) {
        const struct json *at = json_get(v, keys[encode][i]);
        if (!at)
            continue;
        json_fail(d->doc, at, d->e, ERR_CONFIG_CONFLICT,
                  "column \"%s\": `%s` has no effect when `encode` is \"%s\"", text_quote_z(name),
                  keys[encode][i], text_encode_names[encode]);
        return err_help(d->e, "it belongs to \"%s\": leave it out, or change `encode`",
                        text_encode_names[!encode]);
    }
    return true;
}

/* v NULL: the defaults of column_text_table. */
static bool set_text(const struct declaration *d, struct column *c, const struct json *v,
                     const struct column_options *own)
{
    c->text = (struct text_options){
        .buckets = 2000, .words = {1, 2}, .weight = TEXT_TFIDF, .rule = WORDS_UNICODE};
    if (!v)
        return true;
    c->none = opt_strings_copy(&own->missing);
    if (!keys_of_text(d, v, c->name, own->encode))
        return false;
    if (own->encode == TEXT_ENCODE_TOKENS) {
        c->text = (struct text_options){.buckets = (uint32_t)own->vocabulary,
                                        .weight = TEXT_TOKENS,
                                        .rule = WORDS_UNICODE};
        c->tokens_most = (uint32_t)own->length;
        c->min_count = own->token_count;
        return read_auto(d, own->dim, c->name, "dim", COLUMN_DIM_MOST, &c->dim);
    }
    c->text.buckets = (uint32_t)own->buckets;
    c->text.weight = own->weight;
    if (!options_runs(d->doc, v, &own->ngram, c->name, "ngram", c->text.words, d->e) ||
        !options_runs(d->doc, v, &own->char_ngram, c->name, "char_ngram", c->text.chars, d->e))
        return false;
    if (c->text.words[0] || c->text.chars[0])
        return true;
    json_fail(d->doc, v, d->e, ERR_CONFIG_CONFLICT,
              "column \"%s\": `ngram` and `char_ngram` are both null", text_quote_z(c->name));
    return err_help(d->e, "leave one of them out, or give it two numbers");
}

static bool read_object(const struct declaration *d, const struct json *v, struct column *c)
{
    const struct json *word = json_get(v, "type");
    const struct option *table = column_plain_table;
    int type = COLUMN_IGNORE;
    if (!word)
        return no_type(d, v, c->name);
    if (json_kind(word) == JSON_STRING) {
        if (!type_of(d, word, c->name, &type))
            return false;
        if (type == COLUMN_NUMERIC)
            table = column_numeric_table;
        else if (type == COLUMN_CATEGORICAL)
            table = column_categorical_table;
        else if (type == COLUMN_TEXT)
            table = column_text_table;
        else if (type == COLUMN_DATETIME)
            table = column_datetime_table;
    }
    struct text path = {0};
    struct column_options o = {0};
    text_printf(&path, "data.columns.%s", text_quote_z(c->name));
    bool read = opt_read(table, d->doc, v, path.data, &o, d->e);
    text_free(&path);
    if (!read)
        return false;
    c->type = type;
    bool good = type == COLUMN_TEXT ? set_text(d, c, v, &o) : set_options(d, c, v, &o);
    opt_release(table, &o);
    if (good && c->unknown == UNKNOWN_ERROR && c->min_count > 1) {
        json_fail(d->doc, v, d->e, ERR_CONFIG_CONFLICT,
                  "column \"%s\": `min_count` above 1 makes values unknown, and `unknown` is error",
                  text_quote_z(c->name));
        good = err_help(d->e, "set \"unknown\" to \"bucket\" or \"missing\"");
    }
    if (good && c->dim && json_get(v, "dim") && c->encode == ENCODE_ONEHOT) {
        json_fail(d->doc, v, d->e, ERR_CONFIG_CONFLICT,
                  "column \"%s\": `dim` is the width of an embedding, and `encode` is onehot",
                  text_quote_z(c->name));
        good = err_help(d->e, "leave one of them out");
    }
    return good;
}

static bool read_entry(struct declaration *d, const struct json *v)
{
    struct column *c = declare_column(d, json_key(v), v);
    if (json_kind(v) == JSON_STRING)
        return type_of(d, v, c->name, &c->type) && set_text(d, c, NULL, NULL) &&
               set_options(d, c, NULL, &(struct column_options){0});
    if (json_kind(v) == JSON_OBJECT)
        return read_object(d, v, c);
    return json_fail(d->doc, v, d->e, ERR_CONFIG_TYPE,
                     "column \"%s\": expected a type or an object with one",
                     text_quote_z(c->name));
}

/* --- roles --- */

uint32_t declared_at(const struct declaration *d, const char *name)
{
    return vocab_find(d->names, name, strlen(name));
}

/* Makes the column the target, with any listed type. config_check reports a target that is not
 * listed. */
static void declare_target(struct declaration *d)
{
    uint32_t at = declared_at(d, d->options->target);
    if (at == UINT32_MAX) {
        declare_column(d, d->options->target, NULL);
        at = (uint32_t)d->schema->column_count - 1;
    }
    d->schema->target = at;
    d->schema->columns[at].type = COLUMN_TARGET;
}

static void split_reads(struct schema *s, uint32_t column)
{
    s->split_columns =
        mem_grow(s->split_columns, s->split_column_count + 1, sizeof *s->split_columns);
    s->split_columns[s->split_column_count++] = column;
}

static bool split_named(struct declaration *d, const char *name, const struct json *place)
{
    const struct split_options *o = &d->options->split;
    uint32_t at = declared_at(d, name);
    if (at == UINT32_MAX) {
        declare_column(d, name, NULL)->type =
            o->method == SPLIT_GROUP ? COLUMN_GROUP : COLUMN_SPLIT;
        at = (uint32_t)d->schema->column_count - 1;
    }
    struct column *c = &d->schema->columns[at];
    if (c->type == COLUMN_IGNORE)
        c->type = o->method == SPLIT_GROUP ? COLUMN_GROUP : COLUMN_SPLIT;
    if (c->type == COLUMN_TARGET) {
        FAIL(d, place, ERR_CONFIG_SPLIT_COLUMN, "`data.split.column`: \"%s\" is the target",
             text_quote_z(name));
        split_key(d, SPLIT_KEY, "data.target");
        return err_help(d->e, "name another column");
    }
    if (o->method == SPLIT_COLUMN && column_type_is_input(c->type)) {
        FAIL(d, place, ERR_CONFIG_SPLIT_COLUMN,
             "`data.split.column`: \"%s\" says the part of a row and cannot be a feature as well",
             text_quote_z(name));
        split_key(d, SPLIT_KEY, COLUMNS_KEY);
        return err_help(d->e, "leave it out of \"columns\"");
    }
    if (o->method == SPLIT_TIME && c->type != COLUMN_DATETIME && c->type != COLUMN_NUMERIC &&
        c->type != COLUMN_SPLIT) {
        FAIL(d, place, ERR_CONFIG_SPLIT_COLUMN,
             "`data.split.column`: \"%s\" is neither a datetime nor a number", text_quote_z(name));
        split_key(d, SPLIT_KEY, COLUMNS_KEY);
        return err_help(d->e, "declare it as \"datetime\" or \"numeric\", or name another column");
    }
    split_reads(d->schema, at);
    return true;
}

/* Without a name: finds the one column of that type. */
static bool split_by_type(struct declaration *d, int type, const struct json *place)
{
    const struct schema *s = d->schema;
    const char *word = column_type_names[type];
    uint32_t found = 0, at = 0;
    for (uint32_t i = 0; i < s->column_count; i++)
        if (s->columns[i].type == type && found++ == 0)
            at = i;
    if (found == 1) {
        split_reads(d->schema, at);
        return true;
    }
    if (found)
        FAIL(d, place, ERR_CONFIG_SPLIT_COLUMN,
             "`data.split.column` must say which column of type %s is meant", word);
    else
        FAIL(d, place, ERR_CONFIG_SPLIT_COLUMN,
             "`data.split.method` needs a column of type %s, and there is none", word);
    split_key(d, found ? SPLIT_KEY : "data.split.method", COLUMNS_KEY);
    return err_help(d->e, "name it in split.column");
}

/* Returns the config's place of the split, or of its columns. */
static const struct json *split_place(const struct declaration *d)
{
    static const char *const keys[] = {SPLIT_KEY, "data.split.method", "data.split"};
    const struct json *at = NULL;
    for (size_t i = 0; d->doc && !at && i < sizeof keys / sizeof *keys; i++)
        at = json_path(json_root(d->doc), keys[i]);
    return at ? at : d->options->columns;
}

static bool declare_split(struct declaration *d)
{
    const struct split_options *o = &d->options->split;
    const struct json *place = split_place(d);
    switch ((enum split_method)o->method) {
    case SPLIT_RANDOM:
    case SPLIT_STRATIFIED:
        return true;
    case SPLIT_GROUP:
        return o->column ? split_named(d, o->column, place) : split_by_type(d, COLUMN_GROUP, place);
    case SPLIT_TIME:
        return o->column ? split_named(d, o->column, place)
                         : split_by_type(d, COLUMN_DATETIME, place);
    case SPLIT_COLUMN:
        if (o->column)
            return split_named(d, o->column, place);
        FAIL(d, place, ERR_CONFIG_SPLIT_COLUMN,
             "`data.split.column` must name the column that says train, valid or test");
        split_key(d, SPLIT_KEY, "data.split.method");
        return err_help(d->e, "name it in split.column");
    case SPLIT_HASH:
        if (o->column)
            return split_named(d, o->column, place);
        for (uint32_t i = 0; i < d->schema->column_count; i++)
            if (d->schema->columns[i].type == COLUMN_ID)
                split_reads(d->schema, i);
        return true;
    }
    return true;
}

static bool check_roles(const struct declaration *d)
{
    const struct schema *s = d->schema;
    size_t features = 0;
    const struct column *weight = NULL;
    for (size_t i = 0; i < s->column_count; i++) {
        features += column_type_is_input(s->columns[i].type);
        if (s->columns[i].type != COLUMN_WEIGHT)
            continue;
        if (weight) {
            json_fail(d->doc, d->places[i], d->e, ERR_CONFIG_COLUMNS,
                      "columns \"%s\" and \"%s\" are both of type weight",
                      text_quote_z(weight->name), text_quote_z(s->columns[i].name));
            err_other(d->e, COLUMNS_KEY);
            return err_help(d->e, "give one of them the type \"ignore\"");
        }
        weight = &s->columns[i];
    }
    if (s->column_count > CSV_MOST_COLUMNS)
        return err_set(d->e, ERR_CONFIG_COLUMNS, "more than %d columns", CSV_MOST_COLUMNS);
    if (features)
        return true;
    FAIL(d, d->options->columns, ERR_CONFIG_COLUMNS,
         "`data.columns` names no column to learn from");
    err_key(d->e, COLUMNS_KEY);
    err_expected(d->e, "at least one column of type numeric, categorical, datetime or text");
    /* `dnn init` may have found no feature */
    if (d->options->columns && json_count(d->options->columns))
        return err_help(d->e, "give a column of the list one of these types, or give data with "
                              "more columns; the notes of `dnn init DATA.csv --target COL` say why "
                              "it takes none");
    return err_help(d->e, "`dnn init DATA.csv --target COL` writes the list");
}

/* encoders.target_statistics: null leaves the defaults, for columns with encode target or count. */
static bool declare_statistics(struct declaration *d)
{
    const struct statistics_options *o = &d->options->encoders.statistics;
    struct schema *s = d->schema;
    s->wanted = *o;
    s->wanted.columns = (struct opt_strings){0};
    if (!o->given) {
        s->wanted = (struct statistics_options){.prior = 10, .folds = 5, .counts = true};
        return true;
    }
    s->all_keys = o->columns.count == 1 && strcmp(o->columns.items[0], "auto") == 0;
    for (size_t i = 0; i < o->columns.count && !s->all_keys; i++) {
        const char *name = o->columns.items[i];
        uint32_t at = vocab_find(d->names, name, strlen(name));
        if (at != UINT32_MAX && (s->columns[at].type == COLUMN_NUMERIC ||
                                 s->columns[at].type == COLUMN_CATEGORICAL)) {
            s->columns[at].keyed = true;
            continue;
        }
        FAIL(d, d->doc ? json_path(json_root(d->doc), STATISTICS_KEY) : NULL, ERR_CONFIG_COLUMNS,
             "`" STATISTICS_KEY "`: \"%s\" is no categorical or numeric column",
             text_quote_z(name));
        err_key(d->e, STATISTICS_KEY);
        err_other(d->e, COLUMNS_KEY);
        return err_help(d->e, "name columns of data.columns, or give \"auto\"");
    }
    return true;
}

static bool declare(struct declaration *d)
{
    const struct data_options *o = d->options;
    if (o->columns && json_kind(o->columns) != JSON_OBJECT)
        return json_fail(d->doc, o->columns, d->e, ERR_CONFIG_TYPE,
                         "`data.columns`: expected an object");
    for (const struct json *v = o->columns ? json_at(o->columns, 0) : NULL; v; v = json_next(v))
        if (!read_entry(d, v))
            return false;
    declare_target(d);
    return declare_sequence(d) && declare_split(d) && check_roles(d) && declare_statistics(d);
}

struct schema *schema_declare(const struct data_options *o, int task, const struct json_doc *doc,
                              struct err *e)
{
    struct schema *s = mem_zero(1, sizeof *s);
    s->task = task;
    s->dialect.delimiter = o->delimiter[0];
    s->dialect.header = o->header;
    s->dialect.encoding = o->encoding;
    s->dialect.quote = o->quote;
    s->dialect.libcsv = o->reader == READER_LIBCSV;
    s->decimal = o->decimal ? ',' : '.';
    s->positive = o->positive ? mem_string(o->positive) : NULL;
    s->target_transform = o->target_transform;
    s->quantile_count = o->quantile_count;
    s->quantiles = mem_copy(o->quantiles, o->quantile_count * sizeof *o->quantiles);
    s->missing = opt_strings_copy(&o->missing);
    struct declaration d = {.options = o, .doc = doc, .schema = s, .names = vocab_new(), .e = e};
    bool good = declare(&d);
    vocab_free(d.names);
    mem_free(d.places);
    if (!good) {
        schema_free(s);
        return NULL;
    }
    schema_layout(s);
    return s;
}
