/* opt.h - option tables: one row a key. Parser, help, schema, `check --resolved`, the README's reference and tests read them.
 * Each room exports its own table; run/config.c only joins them. A row binds a key to a field of the room's plain
 * struct by offset, so that reading a config is one loop. */
#ifndef DNN_BASE_OPT_H
#define DNN_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

enum opt_type {
    OPT_BOOL,    /* bool */
    OPT_INT,     /* int64_t, within [low, high] */
    OPT_SEED,    /* uint64_t: an integer, or a string of digits up to 2^64-1 */
    OPT_NUMBER,  /* double, within [low, high]; OPT_OPEN_LOW/HIGH exclude the end */
    OPT_STRING,  /* char *, mem_string (NULL for null where nullable) */
    OPT_WORD,    /* int: index in `words` (NULL-terminated list) */
    OPT_STRINGS, /* struct opt_strings: a string or a list of strings */
    OPT_INTS,    /* struct opt_ints: a list of integers, each within [low, high] */
    OPT_NUMBERS, /* struct opt_numbers */
    OPT_CUSTOM   /* const struct json *: the room reads it itself */
};
enum opt_flag { OPT_NULLABLE = 1, OPT_OPEN_LOW = 2, OPT_OPEN_HIGH = 4, OPT_REQUIRED = 8, OPT_PATH = 16 };

struct opt_strings { char **items; size_t count; };
struct opt_ints { int64_t *items; size_t count; };
struct opt_numbers { double *items; size_t count; };

struct option {
    const char *key;          /* "batch_size", or dotted "optimizer.learning_rate"; NULL ends a table */
    enum opt_type type;
    unsigned flags;
    size_t offset;            /* of the field in the room's struct */
    const char *standard;     /* the default as JSON text; NULL: required */
    double low, high;
    const char *const *words; /* of OPT_WORD */
    const char *schema;       /* of OPT_CUSTOM: a JSON Schema fragment */
    const char *help;         /* one or two sentences; the first one is the summary */
};

/* Reads every row's key below `at` (an object, or NULL for all defaults) into `into`. A key that is in `at` and in no row, a
 * wrong type, a value out of range: CONFIG errors with place and nearest name. `path` prefixes the names in messages
 * ("train"). Keys with a dot are looked for in nested objects; nested objects named by no row are unknown keys. */
bool opt_read(const struct option *table, const struct json_doc *doc, const struct json *at, const char *path,
              void *into, struct err *e);
void opt_release(const struct option *table, void *into); /* frees strings and lists */
/* The resolved object of this table as JSON members (no braces), nested where keys are dotted. */
void opt_write(const struct option *table, const void *from, struct json_out *out);
const struct option *opt_find(const struct option *table, const char *key);

#endif
