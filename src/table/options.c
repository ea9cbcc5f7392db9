/* options.c - the keys below "data", and the tables of one entry of "columns". */
#include "table/options.h"

#include <string.h>

#include "base/text.h"
#include "table/schema.h"

const char *const task_names[] = {"binary", "multiclass", "regression", NULL};
const char *const split_method_names[] = {"random", "stratified", "group", "time",
                                          "hash",   "column",     NULL};
#define TYPES "numeric", "categorical", "datetime", "id", "weight", "group", "ignore"
const char *const column_type_names[] = {TYPES, NULL};
const char *const column_role_names[COLUMN_TYPES] = {TYPES, "target", "split"};
static const char *const decimal_names[] = {".", ",", NULL};
const char *const column_scale_names[] = {"auto",   "none",   "standard", "robust",
                                          "minmax", "quantile", NULL};
const char *const column_impute_names[] = {"median", "mean", "zero", "error", NULL};
const char *const column_unknown_names[] = {"bucket", "missing", "error", NULL};
const char *const column_encode_names[] = {"auto", "onehot", "embedding", NULL};

#define AT(field) offsetof(struct data_options, field)

const struct option data_options_table[] = {
    {.key = "train", .type = OPT_STRINGS, .flags = OPT_REQUIRED | OPT_PATH, .offset = AT(train),
     .help = "The CSV file with training rows, or a list of files with equal columns. Relative "
             "paths start at the config's folder."},
    {.key = "valid", .type = OPT_STRINGS, .flags = OPT_NULLABLE | OPT_PATH, .offset = AT(valid),
     .standard = "null",
     .help = "Files with validation rows; null: they are split off the training files. Early "
             "stopping and the best weights are decided on them."},
    {.key = "test", .type = OPT_STRINGS, .flags = OPT_NULLABLE | OPT_PATH, .offset = AT(test),
     .standard = "null",
     .help = "Files with test rows; null: they are split off the training files. They are looked "
             "at once, when training is over."},
    {.key = "delimiter", .type = OPT_STRING, .offset = AT(delimiter), .standard = "\",\"",
     .help = "What stands between two cells: \",\", \";\", \"\\t\" or \"|\". It is never guessed."},
    {.key = "decimal", .type = OPT_WORD, .offset = AT(decimal), .standard = "\".\"",
     .words = decimal_names, .help = "The decimal point of numbers in the files."},
    {.key = "encoding", .type = OPT_WORD, .offset = AT(encoding), .standard = "\"utf-8\"",
     .words = csv_encoding_names, .help = "How the bytes of the files become text; iso-8859-1 is "
                                            "latin1, windows-1252 is cp1252."},
    {.key = "header", .type = OPT_BOOL, .offset = AT(header), .standard = "true",
     .help = "Whether the first line names the columns. Without one they are c1, c2, ..."},
    {.key = "missing", .type = OPT_STRINGS, .offset = AT(missing), .standard = "[\"\",\"NA\"]",
     .help = "Cells that mean: no value. They are compared as a whole and by case."},
    {.key = "target", .type = OPT_STRING, .flags = OPT_REQUIRED, .offset = AT(target),
     .help = "The column to be predicted."},
    {.key = "positive", .type = OPT_STRING, .flags = OPT_NULLABLE, .offset = AT(positive),
     .standard = "null",
     .help = "The label that counts as positive in a binary task, and whose probability is the "
             "last column of an answer; null: the last one in order."},
    {.key = "columns", .type = OPT_CUSTOM, .flags = OPT_REQUIRED, .offset = AT(columns),
     .schema = "{\"$ref\":\"#/$defs/columns\"}",
     .help = "The columns to use, each by name with its type: numeric, categorical, datetime, id, "
             "weight, group, ignore. A column that is not listed is ignored; `dnn init` writes "
             "the list."},
    {.key = "split.method", .type = OPT_WORD, .flags = OPT_NULLABLE, .offset = AT(split.method),
     .standard = "null", .words = split_method_names,
     .help = "How rows are set apart for validation and test: random, stratified (every class in "
             "its share), group (no group on both sides), time (the latest rows), hash (a row "
             "keeps its side as the file grows), column (the file says train, valid or test). "
             "null: stratified for classes, random for regression."},
    {.key = "split.column", .type = OPT_STRING, .flags = OPT_NULLABLE, .offset = AT(split.column),
     .standard = "null",
     .help = "The column that the method reads; null: the one of type group, the only datetime, "
             "the id columns (hash; else the whole row)."},
    {.key = "split.valid", .type = OPT_NUMBER, .flags = OPT_OPEN_HIGH, .offset = AT(split.valid),
     .standard = "0.15", .low = 0, .high = 1,
     .help = "The share of rows for validation; 0: none, and the last epoch's weights are kept."},
    {.key = "split.test", .type = OPT_NUMBER, .flags = OPT_OPEN_HIGH, .offset = AT(split.test),
     .standard = "0.15", .low = 0, .high = 1, .help = "The share of rows for the final test."},
    {.key = NULL}};

#undef AT
#define AT(field) offsetof(struct column_options, field)
#define TYPE_ROW(...) \
    {.key = "type", .type = OPT_STRING, .flags = OPT_REQUIRED, .offset = AT(type), \
     .words = (const char *const[]){__VA_ARGS__, NULL}, .help = "What the column is."}

const struct option column_numeric_table[] = {
    TYPE_ROW("numeric"),
    {.key = "scale", .type = OPT_WORD, .offset = AT(scale), .standard = "\"auto\"",
     .words = column_scale_names,
     .help = "How numbers are brought to one size: standard (mean 0, deviation 1), robust (median "
             "and quartiles), minmax (0 to 1), quantile (by rank, to a normal shape), none. auto: "
             "quantile; standard for a column of up to 50 values, one that a single value "
             "dominates, or one without far values in less than 3000 training rows; minmax for "
             "one of two values or nearly constant. auto also keeps later values near the training "
             "range; standard, robust and minmax by name go on in a straight line."},
    {.key = "impute", .type = OPT_WORD, .offset = AT(impute), .standard = "\"median\"",
     .words = column_impute_names,
     .help = "What stands for a missing number: the median, mean or zero; error: the row is "
             "refused."},
    {.key = NULL}};

const struct option column_categorical_table[] = {
    TYPE_ROW("categorical"),
    {.key = "unknown",
     .type = OPT_WORD,
     .offset = AT(unknown),
     .standard = "\"bucket\"",
     .words = column_unknown_names,
     .help = "What becomes of a value that training rows did not have: bucket (a slot of its own), "
             "missing (as if the cell were empty), error."},
    {.key = "encode",
     .type = OPT_WORD,
     .offset = AT(encode),
     .standard = "\"auto\"",
     .words = column_encode_names,
     .help = "How a category reaches the network. auto: onehot up to 32 slots, else embedding."},
    {.key = "min_count",
     .type = OPT_INT,
     .offset = AT(min_count),
     .standard = "1",
     .low = 1,
     .high = COLUMN_MIN_COUNT_MOST,
     .help = "Values with fewer training rows than this are treated as unknown."},
    {.key = "dim",
     .type = OPT_CUSTOM,
     .offset = AT(dim),
     .standard = "\"auto\"",
     .schema =
         "{\"oneOf\":[{\"const\":\"auto\"},"
         "{\"type\":\"integer\",\"minimum\":1,\"maximum\":" TEXT_DIGITS(COLUMN_DIM_MOST) "}]}",
     .help = "Width of an embedding: a number, or \"auto\", which grows with the values."},
    {.key = NULL}};

const struct option column_plain_table[] = {
    TYPE_ROW("datetime", "id", "weight", "group", "ignore"), {.key = NULL}};

void columns_schema(struct json_out *out)
{
    const struct option *const tables[] = {column_numeric_table, column_categorical_table,
                                           column_plain_table};
    json_open(out, "columns", '{');
    json_put_string(out, "type", "object");
    json_open(out, "additionalProperties", '{');
    json_open(out, "oneOf", '[');
    json_open(out, NULL, '{');
    json_open(out, "enum", '[');
    for (size_t i = 0; column_type_names[i]; i++)
        json_put_string(out, NULL, column_type_names[i]);
    json_close(out, ']');
    json_close(out, '}');
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        json_open(out, NULL, '{');
        opt_schema(tables[i], out);
        json_close(out, '}');
    }
    json_close(out, ']');
    json_close(out, '}');
    json_close(out, '}');
}

/* --- what one key alone cannot show --- */

static bool fail(struct json_doc *doc, const char *path, struct err *e, enum err_id id,
                 const char *text)
{
    const struct json *at = doc ? json_path(json_root(doc), path) : NULL;
    if (at)
        return json_fail(doc, at, e, id, "`%s`: %s", path, text);
    err_set(e, id, "`%s`: %s", path, text);
    return err_key(e, "%s", path);
}

static bool has_empty(const struct opt_strings *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (!names->items[i][0])
            return true;
    return false;
}

bool data_options_settle(struct data_options *o, int task, struct json_doc *doc, struct err *e)
{
    o->split.method_given = o->split.method >= 0;
    if (!o->split.method_given)
        o->split.method = task == TASK_REGRESSION ? SPLIT_RANDOM : SPLIT_STRATIFIED;
    if (strlen(o->delimiter) != 1 || !strchr(",;\t|", o->delimiter[0])) {
        fail(doc, "data.delimiter", e, ERR_CONFIG_WORD, "unknown delimiter");
        return err_expected(e, "one of \",\", \";\", \"\\t\", \"|\"");
    }
    if (!o->train.count)
        return fail(doc, "data.train", e, ERR_CONFIG_EMPTY, "no file is named");
    if (has_empty(&o->train) || has_empty(&o->valid) || has_empty(&o->test))
        return fail(doc,
                    has_empty(&o->train)   ? "data.train"
                    : has_empty(&o->valid) ? "data.valid"
                                           : "data.test",
                    e, ERR_CONFIG_EMPTY, "the name of a file is empty");
    if (!o->target[0])
        return fail(doc, "data.target", e, ERR_CONFIG_EMPTY, "no column is named");
    if (o->positive && task != TASK_BINARY) {
        fail(doc, "data.positive", e, ERR_CONFIG_CONFLICT,
             "only a binary task has a positive label");
        err_other(e, "task");
        return err_help(e, "the key \"task\" says \"%s\": set \"positive\" to null",
                        task_names[task]);
    }
    if (o->split.method == SPLIT_STRATIFIED && task == TASK_REGRESSION) {
        fail(doc, "data.split.method", e, ERR_CONFIG_CONFLICT,
             "a regression has no classes to stratify by");
        err_other(e, "task");
        return err_help(e, "use \"random\", or leave the key out");
    }
    double valid = o->valid.count ? 0 : o->split.valid, test = o->test.count ? 0 : o->split.test;
    if (o->split.method != SPLIT_COLUMN && valid + test >= 1) {
        fail(doc, "data.split", e, ERR_CONFIG_CONFLICT, "valid and test leave no training rows");
        return err_help(e, "the sum of \"valid\" and \"test\" must be below 1");
    }
    return true;
}
