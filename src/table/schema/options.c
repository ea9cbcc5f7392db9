/* options.c - option tables of "data" and of one entry of "columns". */
#include "table/schema/options.h"

#include <string.h>

#include "base/file/file.h"
#include "base/text.h"
#include "table/schema/part.h"
#include "table/schema/terms.h"

const char *const part_names[PARTS] = {"training", "validation", "test"};
const char *const part_words[PARTS] = {"train", "valid", "test"};
const char *const task_names[] = {"binary", "multiclass", "regression", "tagging", NULL};
const char *const split_method_names[] = {"random", "stratified", "group", "time",
                                          "hash",   "column",     NULL};
#define TYPES "numeric", "categorical", "datetime", "id", "weight", "group", "ignore", "text"
const char *const column_type_names[] = {TYPES, NULL};
const char *const column_role_names[COLUMN_TYPES + 1] = {TYPES, "target", "split", NULL};
static const char *const reader_names[] = {"auto", "libcsv", NULL};
const char *const data_decimal_names[] = {".", ",", NULL};
const char *const column_scale_names[] = {"auto",   "none",   "standard", "robust",
                                          "minmax", "quantile", "clip", NULL};
const char *const column_impute_names[] = {"median", "mean", "zero", "error", NULL};
const char *const column_unknown_names[] = {"bucket", "missing", "error", NULL};
const char *const column_transform_names[] = {"none", "log1p", NULL};
const char *const number_encode_names[] = {"plain", "ple", "periodic", NULL};
const char *const text_weight_names[] = {"tfidf", "count", NULL};
const char *const text_encode_names[] = {"hashed", "tokens", NULL};
static const char *const edges_names[] = {"quantile", "tree", NULL};
static const char *const column_init_names[] = {"uniform", "normal", NULL};
const char *const column_encode_names[] = {"auto",   "onehot", "embedding",
                                           "target", "count",  NULL};

#define DIM_SCHEMA                                                                                 \
    "{\"oneOf\":[{\"const\":\"auto\"},"                                                            \
    "{\"type\":\"integer\",\"minimum\":1,\"maximum\":" TEXT_DIGITS(COLUMN_DIM_MOST) "}]}"
#define AT(field) offsetof(struct data_options, field)

const struct option data_options_table[] = {
    {.key = "train", .type = OPT_STRINGS, .flags = OPT_REQUIRED | OPT_PATH, .offset = AT(train),
     .help = "The CSV file with training rows, or a list of files with equal columns. Relative "
             "paths start at the config's folder."},
    {.key = "valid", .type = OPT_STRINGS, .flags = OPT_NULLABLE | OPT_PATH, .offset = AT(valid),
     .standard = "null",
     .help = "Files with validation rows; null: they are split off the training files. Early "
             "stopping and the choice of the best weights use them."},
    {.key = "test", .type = OPT_STRINGS, .flags = OPT_NULLABLE | OPT_PATH, .offset = AT(test),
     .standard = "null",
     .help = "Files with test rows; null: they are split off the training files. They are read "
             "once, after the training."},
    {.key = "delimiter", .type = OPT_STRING, .offset = AT(delimiter), .standard = "\",\"",
     .help = "The delimiter of the files: \",\", \";\", \"\\t\" or \"|\". It is never guessed."},
    {.key = "decimal", .type = OPT_WORD, .offset = AT(decimal), .standard = "\".\"",
     .words = data_decimal_names, .help = "The decimal point of numbers in the files."},
    {.key = "quote", .type = OPT_WORD, .offset = AT(quote), .standard = "\"strict\"",
     .words = csv_quote_names,
     .help = "How quotes are read. strict: RFC 4180, a cell is quoted as a whole or not at all. "
             "lenient: a quote inside a cell that does not begin with one is a character (5'10\"). "
             "none: quotes are characters. backslash: as strict, and inside quotes \\\" is a quote "
             "and \\\\ a backslash."},
    {.key = "encoding", .type = OPT_WORD, .offset = AT(encoding), .standard = "\"utf-8\"",
     .words = csv_encoding_names, .help = "The encoding of the files; iso-8859-1 is latin1, "
                                          "windows-1252 is cp1252."},
    {.key = "header", .type = OPT_BOOL, .offset = AT(header), .standard = "true",
     .help = "true: the first line names the columns. false: they are c1, c2, ..."},
    {.key = "missing", .type = OPT_STRINGS, .offset = AT(missing), .standard = "[\"\",\"NA\"]",
     .help = "Cells without a value, in every column; `missing` of a column adds texts for it "
             "alone. The whole cell is compared, with upper and lower case."},
    {.key = "reader", .type = OPT_WORD, .offset = AT(reader), .standard = "\"auto\"",
     .words = reader_names,
     .help = "auto: the fast scanner where it can, libcsv for the rest. libcsv: for every byte. "
             "Both read the same rows."},
    {.key = "workers", .type = OPT_INT, .offset = AT(workers), .standard = "0",
     .low = 0, .high = DATA_WORKERS_MOST,
     .help = "Threads that read and encode the files, at most backend.threads; 0: all of those. "
             "Each takes some MiB. The table is the same with any number."},
    {.key = "min_rows", .type = OPT_INT, .offset = AT(min_rows), .standard = "0",
     .low = 0, .high = UINT32_MAX,
     .help = "Fewer training rows are an error (65), as a nightly file that was cut off may have; "
             "of sequences, fewer sequences. Rows for validation and test do not count."},
    {.key = "target", .type = OPT_STRING, .flags = OPT_REQUIRED, .offset = AT(target),
     .help = "The column to predict. Rows in which it is one of data.missing are left out and "
             "counted."},
    {.key = "positive", .type = OPT_STRING, .flags = OPT_NULLABLE, .offset = AT(positive),
     .standard = "null",
     .help = "The positive label of a binary task; null: the last one in order. Its probability "
             "is the last column of an answer."},
    {.key = "columns", .type = OPT_CUSTOM, .flags = OPT_REQUIRED, .offset = AT(columns),
     .schema = "{\"$ref\":\"#/$defs/columns\"}",
     .help = "The columns to use: names with types numeric, categorical, datetime, text, id, "
             "weight, group, ignore. A column that is not listed is ignored. `dnn init` writes the "
             "list."},
    {.key = "sequence", .type = OPT_CUSTOM, .flags = OPT_NULLABLE, .offset = AT(sequence),
     .standard = "null", .schema = "{\"$ref\":\"#/$defs/sequence\"}",
     .help = "Rows that are steps of sequences, {\"group\": \"series\", \"order\": \"t\", "
             "\"window\": 50, \"label\": \"last\"}: rows of one group stand together (`dnn help "
             "tagging`). Or rows that are sequences, {\"wide\": {\"ch1\": \"ch1_*\", "
             "\"ch2\": [\"a\", \"b\"]}}: the columns of each channel, a column a step, by a "
             "pattern or a list. They are numbers, with one scale a channel, and need no entry in "
             "columns. A trailing run of missing cells ends a sequence."},
    {.key = "split.method", .type = OPT_WORD, .flags = OPT_NULLABLE, .offset = AT(split.method),
     .standard = "null", .words = split_method_names,
     .help = "How rows are split off for validation and test: random, stratified (every class "
             "in its share), group (a group stays in one part), time (the latest rows), hash (a "
             "row keeps its part as the file grows), column (the file says train, valid or "
             "test). null: stratified for classes, random for regression."},
    {.key = "split.column", .type = OPT_STRING, .flags = OPT_NULLABLE, .offset = AT(split.column),
     .standard = "null",
     .help = "The column to split by. null: group takes the column of type group, time the only "
             "datetime, hash the id columns or else the whole row."},
    {.key = "split.valid", .type = OPT_NUMBER, .flags = OPT_OPEN_HIGH, .offset = AT(split.valid),
     .standard = "0.15", .low = 0, .high = 1,
     .help = "The share of validation rows. 0: none; the model has the weights of the last "
             "epoch."},
    {.key = "split.test", .type = OPT_NUMBER, .flags = OPT_OPEN_HIGH, .offset = AT(split.test),
     .standard = "0.15", .low = 0, .high = 1, .help = "The share of test rows."},
    {.key = "split.seed", .type = OPT_SEED, .offset = AT(split.seed), .standard = "0",
     .help = "Another number draws other rows. The split depends on this number and the data "
             "alone, so models of several train.seed can be compared."},
    {.key = NULL}};

#undef AT
#define AT(field) offsetof(struct column_options, field)
#define TYPE_ROW(...) \
    {.key = "type", .type = OPT_STRING, .flags = OPT_REQUIRED, .offset = AT(type), \
     .words = (const char *const[]){__VA_ARGS__, NULL}, .help = "The type of the column."}
#define MISSING_ROW \
    {.key = "missing", .type = OPT_STRINGS, .offset = AT(missing), .standard = "[]", \
     .help = "Texts that mean no value in this column, beside those of data.missing: [\"-999\"]. " \
             "`dnn init` proposes them."}

const struct option column_numeric_table[] = {
    TYPE_ROW("numeric"),
    {.key = "scale", .type = OPT_WORD, .offset = AT(scale), .standard = "\"auto\"",
     .words = column_scale_names,
     .help = "The scaling: standard (mean 0, deviation 1), robust (median 0, by quartiles), "
             "minmax (0 to 1), quantile (ranks to a normal distribution), clip (as robust, then "
             "z / sqrt(1 + (z/3)^2), which stays within 3), none. auto takes "
             "quantile for most columns; minmax for two values or a nearly constant column; "
             "standard for up to 50 values, for one dominating value, and below 3000 training "
             "rows where no value is far out. auto also limits later values to near the "
             "training range; standard, robust and minmax by name do not."},
    {.key = "impute", .type = OPT_WORD, .offset = AT(impute), .standard = "\"median\"",
     .words = column_impute_names,
     .help = "What replaces a missing number: median, mean or zero. error: the row is an error."},
    {.key = "transform", .type = OPT_WORD, .offset = AT(transform), .standard = "\"none\"",
     .words = column_transform_names,
     .help = "A function before the scaling. log1p: log(1 + x), for counts and amounts with a long "
             "tail; of a negative x, -log(1 - x)."},
    {.key = "encode", .type = OPT_STRINGS, .offset = AT(encodes), .standard = "\"plain\"",
     .words = number_encode_names,
     .help = "How a number becomes inputs. plain: the scaled number. ple: piecewise linear, an "
             "input for each of its bins, which rises from 0 to 1 within the bin; a number with "
             "fewer than two bins stays plain, and a missing one has 0 in all. "
             "[\"plain\", \"ple\"]: both. periodic: the scaled number and 3 learned sums of 16 "
             "cosines of it."},
    {.key = "bins", .type = OPT_INT, .offset = AT(bins), .standard = "16", .low = 2,
     .high = COLUMN_BINS_MOST,
     .help = "The largest number of bins of ple."},
    {.key = "edges", .type = OPT_WORD, .offset = AT(edges), .standard = "\"quantile\"",
     .words = edges_names,
     .help = "Where the bins of ple begin. quantile: each has as many training rows. tree: at the "
             "cuts of a tree on the target, with at least 20 rows and a 500th of the rows in "
             "each."},
    {.key = "thousands", .type = OPT_STRING, .flags = OPT_NULLABLE, .offset = AT(thousands),
     .standard = "null",
     .help = "What groups the digits of its numbers by three, as the comma in 1,234.50: one of "
             ", . ' _ or a blank. null: nothing. `dnn init` proposes it. A target of a regression "
             "may be listed for this key, unit and missing alone."},
    {.key = "unit", .type = OPT_STRINGS, .flags = OPT_NULLABLE, .offset = AT(units),
     .standard = "null",
     .help = "Texts that may stand before or behind the number and are no part of it, such as "
             "[\"$\", \"%\"]. null: none. `dnn init` proposes them."},
    {.key = "format", .type = OPT_STRING, .flags = OPT_NULLABLE, .offset = AT(format),
     .standard = "null",
     .help = "\"duration\": its cells are durations, and its numbers seconds: 1:20:00, PT1H20M, "
             "1h 20m, 0 days 01:20:00 are all 4800. null: numbers."},
    MISSING_ROW,
    {.key = NULL}};

const struct option column_datetime_table[] = {
    TYPE_ROW("datetime"),
    {.key = "format", .type = OPT_STRING, .flags = OPT_NULLABLE, .offset = AT(format),
     .standard = "null",
     .help = "How its dates are written, in directives of strptime: %d %m %Y %y %b %B %a %A %H %I "
             "%M %S %p %z, %s (seconds since 1970), %Q (milliseconds), %q (microseconds), %N "
             "(nanoseconds). null: ISO 8601."},
    MISSING_ROW,
    {.key = NULL}};

const struct option column_categorical_table[] = {
    TYPE_ROW("categorical"),
    {.key = "unknown",
     .type = OPT_WORD,
     .offset = AT(unknown),
     .standard = "\"bucket\"",
     .words = column_unknown_names,
     .help = "How a value that training did not see is treated: bucket (as a category of its "
             "own), missing (as an empty cell), error."},
    {.key = "encode",
     .type = OPT_WORD,
     .offset = AT(encode),
     .standard = "\"auto\"",
     .words = column_encode_names,
     .help = "The encoding of a category. auto: onehot up to 32 slots (values, unknown, "
             "missing), else embedding. target: statistics of the target by value, out of fold in "
             "training (encoders.target_statistics), in place of the value itself. count: the "
             "logarithm of the value's training rows alone."},
    {.key = "onehot_values",
     .type = OPT_CUSTOM,
     .offset = AT(onehot_values),
     .standard = "\"auto\"",
     .schema = "{\"oneOf\":[{\"const\":\"auto\"},"
               "{\"type\":\"integer\",\"minimum\":1,"
               "\"maximum\":" TEXT_DIGITS(COLUMN_DIM_MOST) "}]}",
     .help = "With encode auto, the most values of a one-hot column; with more it is an embedding. "
             "\"auto\": 30, and none where dim is a number."},
    {.key = "min_count",
     .type = OPT_CUSTOM,
     .offset = AT(min_count),
     .standard = "\"auto\"",
     .schema = "{\"oneOf\":[{\"const\":\"auto\"},"
               "{\"type\":\"integer\",\"minimum\":1,"
               "\"maximum\":" TEXT_DIGITS(COLUMN_MIN_COUNT_MOST) "}]}",
     .help = "A value with fewer training rows than this is treated as unknown. 1 keeps all. "
             "\"auto\": 1, but for a column of more than 256 values with fewer than 10 training "
             "rows each on average; of it, more with more rows and values, up to 2 log2(rows)."},
    {.key = "dim",
     .type = OPT_CUSTOM,
     .offset = AT(dim),
     .standard = "\"auto\"",
     .schema = DIM_SCHEMA,
     .help = "The width of an embedding: a number, or \"auto\", which grows with the number of "
             "values."},
    {.key = "init",
     .type = OPT_WORD,
     .offset = AT(init),
     .standard = "\"uniform\"",
     .words = column_init_names,
     .help = "The initial numbers of an embedding: uniform, within 1 / sqrt(dim), or normal, with "
             "deviation 1."},
    MISSING_ROW,
    {.key = NULL}};

const struct option column_text_table[] = {
    TYPE_ROW("text"),
    {.key = "buckets", .type = OPT_INT, .offset = AT(buckets), .standard = "2000", .low = 1,
     .high = 1 << 20,
     .help = "How many inputs the terms of the text are hashed to. More buckets mix fewer terms "
             "and make a larger model."},
    {.key = "ngram", .type = OPT_INTS, .flags = OPT_NULLABLE, .offset = AT(ngram),
     .standard = "[1, 2]", .low = 1, .high = TERM_RUN_MOST,
     .help = "The shortest and the longest run of words that is a term; null: none."},
    {.key = "char_ngram", .type = OPT_INTS, .flags = OPT_NULLABLE, .offset = AT(char_ngram),
     .standard = "null", .low = 1, .high = TERM_RUN_MOST,
     .help = "The shortest and the longest run of characters that is a term, such as [3, 5]: for "
             "texts with typing errors, and languages with long words. null: none."},
    {.key = "weight", .type = OPT_WORD, .offset = AT(weight), .standard = "\"tfidf\"",
     .words = text_weight_names,
     .help = "The value of a term. tfidf: its count in the text, times 1 + ln((1 + rows) / (1 + "
             "training rows with its bucket)), with all values of a text scaled to length 1. "
             "count: its count alone."},
    {.key = "encode", .type = OPT_WORD, .offset = AT(encode), .standard = "\"hashed\"",
     .words = text_encode_names,
     .help = "hashed: the terms of the text, by buckets. tokens: the text is a sequence of words, "
             "each a learned row of numbers, for layers and presets of sequences."},
    {.key = "vocabulary", .type = OPT_INT, .offset = AT(vocabulary), .standard = "20000",
     .low = 1, .high = 1 << 20,
     .help = "With encode tokens: the most tokens that are known, those that stand most often in "
             "the training rows. Any other is the unknown token."},
    {.key = "min_count", .type = OPT_INT, .offset = AT(token_count), .standard = "1", .low = 1,
     .high = COLUMN_MIN_COUNT_MOST,
     .help = "With encode tokens: how often a token must stand in the training rows to be known. "
             "From rarer ones the network learns what an unknown token tells; with 1 it tells "
             "nothing."},
    {.key = "length", .type = OPT_INT, .offset = AT(length), .standard = "128", .low = 2,
     .high = TERM_SLOTS_MOST,
     .help = "With encode tokens: how many tokens of a text are read, from the first on."},
    {.key = "dim",
     .type = OPT_CUSTOM,
     .offset = AT(dim),
     .standard = "\"auto\"",
     .schema = DIM_SCHEMA,
     .help = "With encode tokens: the width of a token's row; \"auto\": 128."},
    MISSING_ROW,
    {.key = NULL}};

#undef AT
#define AT(field) offsetof(struct statistics_options, field)
static const struct option statistics_table[] = {
    {.key = "columns", .type = OPT_STRINGS, .offset = AT(columns), .standard = "\"auto\"",
     .help = "The columns whose values are keys, categorical or numeric. \"auto\": every "
             "categorical column, and every number with at least 4 training rows for each "
             "distinct value."},
    {.key = "pairs", .type = OPT_INT, .offset = AT(pairs), .standard = "16", .low = 0,
     .high = STATISTICS_PAIRS_MOST,
     .help = "The number of pairs of columns that are keys as well: those that tell more of the "
             "target than each column alone, among the 18 columns that tell most."},
    {.key = "prior", .type = OPT_NUMBER, .offset = AT(prior), .standard = "10", .low = 0.001,
     .high = 1e6,
     .help = "How many rows the mean of all training rows counts in the mean of a key."},
    {.key = "folds", .type = OPT_INT, .offset = AT(folds), .standard = "5", .low = 2,
     .high = STATISTICS_FOLDS_MOST,
     .help = "The training rows are cut into this many folds, and the statistics of a row are of "
             "the other folds. A group is never cut. With a split by time, only earlier rows "
             "count, and there are no folds."},
    {.key = "counts", .type = OPT_BOOL, .offset = AT(counts), .standard = "true",
     .help = "Also log(1 + rows) of the key, for columns of 20 or more values."},
    {.key = NULL}};

/* The rows of the column tables without "type". */
#undef AT
#define AT(field) offsetof(struct encoder_options, field)
const struct option encoder_options_table[] = {
    {.key = "numeric", .type = OPT_TABLE, .offset = AT(numeric), .table = column_numeric_table + 1,
     .help = "What numeric columns take that do not say it themselves."},
    {.key = "categorical", .type = OPT_TABLE, .offset = AT(categorical),
     .table = column_categorical_table + 1,
     .help = "What categorical columns take that do not say it themselves."},
    {.key = "target_statistics", .type = OPT_TABLE, .flags = OPT_NULLABLE, .offset = AT(statistics),
     .table = statistics_table, .standard = "null",
     .help = "Inputs beside the columns: smoothed means of the target by key, out of fold in "
             "training. A key is a value of a column, or a pair of values. null: none."},
    {.key = NULL}};

#undef AT
#define AT(field) offsetof(struct column_options, field)
const struct option column_plain_table[] = {
    TYPE_ROW("id", "weight", "group", "ignore"), MISSING_ROW, {.key = NULL}};

void columns_schema(struct json_out *out)
{
    const struct option *const tables[] = {column_numeric_table, column_categorical_table,
                                           column_text_table, column_datetime_table,
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

const char *column_entry_type(const struct json *entry)
{
    const struct json *type = json_kind(entry) == JSON_OBJECT ? json_get(entry, "type") : entry;
    return type ? json_string(type) : "";
}

bool columns_have_tokens(const struct json *columns)
{
    bool object = columns && json_kind(columns) == JSON_OBJECT;
    for (const struct json *c = object ? json_at(columns, 0) : NULL; c; c = json_next(c)) {
        const struct json *encode =
            json_kind(c) == JSON_OBJECT && strcmp(column_entry_type(c), "text") == 0
                ? json_get(c, "encode")
                : NULL;
        if (encode && json_kind(encode) == JSON_STRING &&
            strcmp(json_string(encode), text_encode_names[TEXT_ENCODE_TOKENS]) == 0)
            return true;
    }
    return false;
}

unsigned options_encodes(const struct opt_strings *words)
{
    unsigned bits = words->count ? 0 : 1u << NUMBER_PLAIN;
    for (size_t i = 0; i < words->count; i++)
        for (unsigned k = 0; number_encode_names[k]; k++)
            bits |= strcmp(words->items[i], number_encode_names[k]) == 0 ? 1u << k : 0;
    return bits;
}

bool options_runs(const struct json_doc *doc, const struct json *v, const struct opt_ints *from,
                  const char *name, const char *key, uint32_t runs[2], struct err *e)
{
    runs[0] = runs[1] = 0;
    if (!from->count)
        return true;
    if (from->count == 2 && from->items[0] <= from->items[1]) {
        runs[0] = (uint32_t)from->items[0];
        runs[1] = (uint32_t)from->items[1];
        return true;
    }
    json_fail(doc, json_get(v, key), e, ERR_CONFIG_RANGE,
              "column \"%s\": `%s` is not the shortest and the longest run", text_quote_z(name),
              key);
    return err_help(e, "[1, 2] takes single words and pairs");
}

/* --- checks of several keys --- */

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

const char *data_passing(const struct data_options *o, int part)
{
    const struct opt_strings *files = data_files(o, part);
    for (size_t i = 0; i < files->count; i++)
        if (!file_lasts(files->items[i]))
            return files->items[i];
    return NULL;
}

bool data_options_settle(struct data_options *o, int task, struct json_doc *doc, struct err *e)
{
    o->quantile_count = 0;
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
