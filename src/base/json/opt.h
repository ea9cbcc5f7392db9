/* opt.h - option tables: one row a key. Parser, help, schema, `check --resolved`, the README's
 * reference and tests read them. Each room exports its own table; config.c only joins them. A
 * row binds a key to a field of the room's plain struct by offset, so that reading a config is one
 * loop. */
#ifndef DNN_BASE_OPT_H
#define DNN_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/json/json.h"

enum opt_type {
    OPT_BOOL,    /* bool */
    OPT_INT,     /* int64_t, within [low, high] */
    OPT_SEED,    /* uint64_t: an integer, or a string of digits up to 2^64-1 */
    OPT_NUMBER,  /* double, within [low, high]; OPT_OPEN_LOW/HIGH exclude the end */
    OPT_STRING,  /* char *, mem_string (NULL for null where nullable); with `words`: one of them */
    OPT_WORD,    /* int: index in `words` (NULL-terminated list) */
    /* struct opt_strings: a string or a list of strings; with `words`: each one of them */
    OPT_STRINGS,
    OPT_INTS,    /* struct opt_ints: a list of integers, each within [low, high] */
    OPT_NUMBERS, /* struct opt_numbers */
    OPT_TABLE,   /* a struct inside the room's: an object read by `table`. Nullable: the struct
                  * begins with a bool, true if the object is there; null is the default */
    OPT_CUSTOM   /* const struct json *: the room reads it itself */
};
enum opt_flag {
    OPT_NULLABLE = 1,
    OPT_OPEN_LOW = 2,
    OPT_OPEN_HIGH = 4,
    OPT_REQUIRED = 8,
    OPT_PATH = 16,
    OPT_TRAINING = 32 /* of a layer: answers do not depend on it, so no model file holds it */
};
/* The value of a nullable field after null: NULL in a string, a list with items NULL, -1 in a word,
 * NAN in a number, false, seed 0, and in an integer this. The items of an empty list are not
 * NULL. */
#define OPT_INT_NULL INT64_MIN

struct opt_strings {
    char **items;
    size_t count;
};
/* Lists of texts that own them. Caller: opt_strings_free, which clears the list. */
void opt_strings_add(struct opt_strings *list, const char *text);
struct opt_strings opt_strings_copy(const struct opt_strings *list);
void opt_strings_free(struct opt_strings *list);
/* True if the list has the text; length 0: the empty text. */
static inline bool opt_strings_has(const struct opt_strings *list, const char *text, size_t length)
{
    const char first = length ? *text : '\0'; /* lists are short, and the first byte decides */
    for (size_t i = 0; i < list->count; i++)
        if (*list->items[i] == first && strlen(list->items[i]) == length &&
            memcmp(list->items[i], text, length) == 0)
            return true;
    return false;
}
struct opt_ints {
    int64_t *items;
    size_t count;
};
struct opt_numbers {
    double *items;
    size_t count;
};

struct option {
    const char *key; /* "batch_size", or dotted "optimizer.learning_rate"; NULL ends a table */
    enum opt_type type;
    unsigned flags;
    size_t offset;              /* of the field in the room's struct */
    const char *standard;       /* the default as JSON text; NULL: required */
    double low, high;           /* both 0: no limits; -INFINITY and INFINITY leave one side open */
    const char *const *words;   /* of OPT_WORD; of OPT_STRING, OPT_STRINGS: these alone */
    const struct option *table; /* of OPT_TABLE */
    const char *schema;         /* of OPT_CUSTOM: a JSON Schema fragment, an object */
    const char *help;           /* one or two sentences; the first one is the summary */
};

/* The begin of a row for a member of struct `s`; OPT_ROW: the member's name is the key. */
#define OPT_ROW_AS(key_, s, member, type_, standard_)                                              \
    .key = key_, .type = type_, .offset = offsetof(s, member), .standard = standard_
#define OPT_ROW(s, member, type, standard) OPT_ROW_AS(#member, s, member, type, standard)

/* Reads every row's key below `at` (an object, or NULL for all defaults) into `into`, which need
 * not be cleared. A key that is in `at` and in no row, a wrong type, a value out of range: CONFIG
 * errors with place and nearest name. Two keys that differ only by case: JSON_DUPLICATE with both
 * lines. `path` prefixes the names in messages ("train"; "" or NULL: none). Keys with a dot are
 * looked for in nested objects; nested objects named by no row are unknown keys. An absent key
 * takes its default; an absent OPT_CUSTOM key is left NULL, a present one points into doc. On
 * failure nothing is left to be released. */
bool opt_read(const struct option *table, const struct json_doc *doc, const struct json *at,
              const char *path, void *into, struct err *e);
void opt_release(const struct option *table,
                 void *into); /* frees strings and lists and clears them */
/* Copies a struct of `size` bytes that opt_read filled; strings and lists of the copy are its own.
 * Pointers into a document stay as they are. Caller: opt_release. */
void opt_copy(const struct option *table, const void *from, size_t size, void *into);
/* True: two structs have equal values at every key of the table. */
bool opt_equal(const struct option *table, const void *a, const void *b);
/* The resolved object of this table as JSON members (no braces), nested where keys are dotted. */
void opt_write(const struct option *table, const void *from, struct json_out *out);
void opt_write_value(const struct option *row, const void *from, const char *key,
                     struct json_out *out);
/* The row of a full key, e.g. "train.optimizer.type", through OPT_TABLE rows; NULL: unknown. */
const struct option *opt_find(const struct option *table, const char *key);
/* Every row but OPT_TABLE ones, which are walked through (but not if null), in order, with its full
 * key. base: the struct that the row's offset counts from, NULL when `from` is. path "" at the
 * top. */
void opt_each(const struct option *table, const char *path, const void *from,
              void (*each)(const char *key, const struct option *row, const void *base,
                           void *context),
              void *context);
/* The members "type", "properties", "required" and "additionalProperties" of a JSON Schema object
 * (no braces). */
void opt_schema(const struct option *table, struct json_out *out);
/* "1 to 65536", "more than 0", "" without limits; a rotating thread-local buffer. */
const char *opt_range(const struct option *row);
/* "integer", "list of strings", ... as messages and help name it. */
const char *opt_type_name(enum opt_type type);

#endif
