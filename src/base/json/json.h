/* json.h - strict JSON (RFC 8259): our validator first, then cJSON; every value knows its line and
 * column. Refused with file:line:column: anything outside the grammar, duplicate keys, invalid
 * UTF-8, \u0000, lone surrogates, depth over 32, more than 1 MiB, more than 40,000 keys, numbers
 * that overflow a double. A byte-order mark is skipped. Values are owned by the document. Keys that
 * differ only by case are refused by opt_read if a table names the keys; names of columns and
 * labels may differ so. */
#ifndef DNN_BASE_JSON_H
#define DNN_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

#define JSON_MOST_BYTES ((size_t)1 << 20)
#define JSON_MOST_KEYS 40000
/* Limits of a text that dnn itself wrote. They are larger: a config that was read must be readable
 * again with every key and layer filled in. */
#define JSON_OWN_BYTES ((size_t)2 << 20)
#define JSON_OWN_KEYS 60000
#define JSON_MOST_DEPTH 32

enum json_kind {
    JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_LIST, JSON_OBJECT
};

struct json_doc;
struct json; /* one value */

/* NULL on failure. name is shown in errors. */
struct json_doc *json_parse(const char *text, size_t length, const char *name, struct err *e);
struct json_doc *json_parse_own(const char *text, size_t length, const char *name, struct err *e);
struct json_doc *json_load(const char *path, struct err *e);
void json_free(struct json_doc *doc);
struct json *json_root(const struct json_doc *doc);
const char *json_name(const struct json_doc *doc); /* the file's name */

enum json_kind json_kind(const struct json *v);
double json_number(const struct json *v);
bool json_integer(const struct json *v, int64_t *out); /* false: not whole, or beyond 2^53 */
const char *json_string(const struct json *v);         /* "" when not a string */
bool json_true(const struct json *v);
size_t json_count(const struct json *v); /* of a list or object */
/* Child i in file order; json_next walks. */
struct json *json_at(const struct json *v, size_t i);
const char *json_key(const struct json *child); /* of an object's member */
/* The exact case; NULL when absent. */
struct json *json_get(const struct json *object, const char *key);
struct json *json_next(const struct json *child); /* next sibling, NULL at the end */
/* "train.optimizer.betas.0": members by name, list entries by number. NULL when absent. A member
 * whose name holds dots is found too: the longest name that fits is taken. */
struct json *json_path(const struct json *root, const char *path);
/* A step of a path in JSON quotes is any name: data.columns."a=b".type. Returns the name at the
 * beginning of the text, mem_free, and its bytes there; NULL: it is not in quotes. */
char *json_path_quoted(const char *text, size_t *length);
/* The bytes of the path in "path=value": up to the first = outside of quoted names, or all. */
size_t json_path_length(const char *text);
/* Where the value begins in its file; 0, 0 for a value made by json_set. */
void json_place(const struct json_doc *doc, const struct json *v, int64_t *line, int64_t *column);
void json_place_key(const struct json_doc *doc, const struct json *v, int64_t *line,
                    int64_t *column);
/* The dotted path of v in its document becomes the error's key; nothing if v is not in it. */
bool json_blame(const struct json_doc *doc, const struct json *v, struct err *e);
/* err_at with the place of v, and its path for a key. */
bool json_fail(const struct json_doc *doc, const struct json *v, struct err *e, enum err_id id,
               const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Puts a value (JSON text, within the limits of the program's own JSON) at a dotted path. Makes
 * objects on the way, and replaces the old value. */
bool json_set(struct json_doc *doc, const char *path, const char *value_json, struct err *e);
void json_remove(struct json_doc *doc, const char *path);
/* Canonical text: members in given order, numbers shortest that read back to the same double.
 * indent 0: one line; else short lists and objects without others inside stay on one line. */
void json_write(struct text *out, const struct json *v, int indent);

/* --- writing without a tree: every --json answer --- */
struct json_out {
    struct text text;
    int depth;
    bool comma[40];
};
/* '{' or '['; here and below key is NULL inside a list and at the top. */
void json_open(struct json_out *o, const char *key, char bracket);
void json_close(struct json_out *o, char bracket);                            /* '}' or ']' */
void json_put_string(struct json_out *o, const char *key, const char *value); /* NULL value: null */
void json_put_string_n(struct json_out *o, const char *key, const char *value, size_t length);
void json_put_int(struct json_out *o, const char *key, int64_t value);
/* Not finite: null. The shortest digits that read back to the same double. */
void json_put_number(struct json_out *o, const char *key, double value);
void json_put_bool(struct json_out *o, const char *key, bool value);
void json_put_null(struct json_out *o, const char *key);
void json_put_strings(struct json_out *o, const char *key, char *const *items, size_t count);
void json_put_raw(struct json_out *o, const char *key, const char *json);

#endif
