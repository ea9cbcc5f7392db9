/* json.c - parsing and reading: cJSON builds the tree from text that json_strict.c has let through.
 */
#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/file/file.h"
#include "base/json/json_strict.h"
#include "base/json/json_tree.h"
#include "base/mem.h"

/* --- cJSON's memory --- */

/* cJSON keeps its hooks and its last error in globals, and its hooks get no context. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct arena *current;

static void *hook_alloc(size_t size)
{
    return arena_alloc(current, size ? size : 1, 1);
}

static void hook_free(void *block)
{
    (void)block; /* goes with the arena */
}

static void cjson_begin(struct arena *arena)
{
    pthread_mutex_lock(&lock);
    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = hook_alloc, .free_fn = hook_free});
    current = arena;
}

static void cjson_end(void)
{
    current = NULL;
    pthread_mutex_unlock(&lock);
}

/* --- parsing --- */

enum { LONG_NUMBER = 60 }; /* cJSON copies a number into 64 bytes and would cut a longer one */

/* Walks in the order of the index: numbers the nodes (places), counts children, mends numbers too
 * long for cJSON. */
static void settle(cJSON *n, const char *text, const struct json_spot *spots, size_t *next,
                   bool places)
{
    const struct json_spot *spot = &spots[(*next)++];
    n->valueint = places ? (int)*next : 0;
    if (spot->end && spot->end - spot->value > LONG_NUMBER) {
        char *digits = mem_string_n(text + spot->value, spot->end - spot->value);
        bool read = text_to_double(digits, &n->valuedouble);
        assert(read);
        (void)read;
        mem_free(digits);
    }
    if (!json_container(n))
        return;
    size_t count = 0;
    for (cJSON *child = n->child; child; child = child->next, count++)
        settle(child, text, spots, next, places);
    n->valuedouble = (double)count;
}

cJSON *json_build(struct arena *arena, const char *text, size_t length,
                  const struct json_index *index, bool places)
{
    char *copy = mem_string_n(text, length);
    for (size_t i = 0; i < index->count; i++) {
        const struct json_spot *spot = &index->spots[i];
        if (spot->end && spot->end - spot->value > LONG_NUMBER) {
            memset(copy + spot->value, ' ', spot->end - spot->value);
            copy[spot->value] = '0';
        }
    }
    cjson_begin(arena);
    const char *end = NULL;
    cJSON *root = cJSON_ParseWithLengthOpts(copy, length + 1, &end, 1);
    cjson_end();
    mem_free(copy);
    if (!root)
        return NULL;
    size_t next = 0;
    settle(root, text, index->spots, &next, places);
    assert(next == index->count);
    return root;
}

static void line_starts(struct json_doc *doc, const char *text, size_t length)
{
    size_t lines = 1;
    for (int pass = 0; pass < 2; pass++) {
        size_t n = 1;
        for (size_t i = 0; i < length; i++)
            if (text[i] == '\n' || (text[i] == '\r' && !(i + 1 < length && text[i + 1] == '\n'))) {
                if (pass)
                    doc->starts[n] = (uint32_t)(i + 1);
                n++;
            }
        if (!pass) {
            lines = n;
            doc->starts = mem_alloc(lines, sizeof *doc->starts);
            doc->starts[0] = 0;
        }
    }
    doc->lines = lines;
}

static struct json_doc *parse(const char *text, size_t length, const char *name, bool own,
                              struct err *e)
{
    struct json_index index = {0};
    if (!json_scan(text, length, name, own, &index, e)) {
        mem_free(index.spots);
        return NULL;
    }
    size_t bom = json_bom(text, length);
    text += bom;
    length -= bom;
    struct json_doc *doc = mem_zero(1, sizeof *doc);
    doc->arena = arena_new(length < 4096 ? 4096 : 65536);
    doc->name = mem_string(name);
    doc->spots = index.spots;
    doc->count = index.count;
    doc->root = json_build(doc->arena, text, length, &index, true);
    if (!doc->root) {
        json_free(doc);
        err_set(e, ERR_BUG, "cJSON refuses a text that the validator accepts");
        return NULL;
    }
    line_starts(doc, text, length);
    return doc;
}

struct json_doc *json_parse(const char *text, size_t length, const char *name, struct err *e)
{
    return parse(text, length, name, false, e);
}

struct json_doc *json_parse_own(const char *text, size_t length, const char *name, struct err *e)
{
    return parse(text, length, name, true, e);
}

struct json_doc *json_load(const char *path, struct err *e)
{
    char *bytes;
    size_t length;
    if (!file_slurp(path, JSON_MOST_BYTES, ERR_JSON_LIMIT, &bytes, &length, e))
        return NULL;
    struct json_doc *doc = json_parse(bytes, length, path, e);
    mem_free(bytes);
    return doc;
}

void json_free(struct json_doc *doc)
{
    if (!doc)
        return;
    arena_free(doc->arena);
    mem_free(doc->name);
    mem_free(doc->spots);
    mem_free(doc->starts);
    mem_free(doc);
}

/* --- reading --- */

struct json *json_root(const struct json_doc *doc)
{
    return json_value(doc->root);
}

const char *json_name(const struct json_doc *doc)
{
    return doc->name;
}

enum json_kind json_kind(const struct json *v)
{
    switch (json_node(v)->type & 0xff) {
    case cJSON_False: return JSON_FALSE;
    case cJSON_True: return JSON_TRUE;
    case cJSON_Number: return JSON_NUMBER;
    case cJSON_String: return JSON_STRING;
    case cJSON_Array: return JSON_LIST;
    case cJSON_Object: return JSON_OBJECT;
    default: return JSON_NULL;
    }
}

double json_number(const struct json *v)
{
    return json_kind(v) == JSON_NUMBER ? json_node(v)->valuedouble : 0.0;
}

bool json_integer(const struct json *v, int64_t *out)
{
    /* 2^53 itself could have been written as 2^53 + 1, so it is beyond */
    double d = json_node(v)->valuedouble;
    if (json_kind(v) != JSON_NUMBER || !(fabs(d) < 9007199254740992.0) || d != floor(d))
        return false;
    *out = (int64_t)d;
    return true;
}

const char *json_string(const struct json *v)
{
    return json_kind(v) == JSON_STRING ? json_node(v)->valuestring : "";
}

bool json_true(const struct json *v)
{
    return json_kind(v) == JSON_TRUE;
}

size_t json_count(const struct json *v)
{
    return json_container(json_node(v)) ? (size_t)json_node(v)->valuedouble : 0;
}

struct json *json_at(const struct json *v, size_t i)
{
    cJSON *child = i < json_count(v) ? json_node(v)->child : NULL;
    for (size_t at = 0; at < i && child; at++)
        child = child->next;
    return json_value(child);
}

const char *json_key(const struct json *child)
{
    return json_node(child)->string ? json_node(child)->string : "";
}

struct json *json_next(const struct json *child)
{
    return json_value(json_node(child)->next);
}

static cJSON *member(const cJSON *object, const char *key, size_t length)
{
    if (!(object->type & cJSON_Object))
        return NULL;
    for (cJSON *child = object->child; child; child = child->next)
        if (strncmp(child->string, key, length) == 0 && child->string[length] == '\0')
            return child;
    return NULL;
}

struct json *json_get(const struct json *object, const char *key)
{
    return json_value(member(json_node(object), key, strlen(key)));
}

/* --- places --- */

static void place(const struct json_doc *doc, uint32_t offset, int64_t *line, int64_t *column)
{
    size_t low = 0, high = doc->lines;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (doc->starts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    *line = (int64_t)low + 1;
    *column = (int64_t)(offset - doc->starts[low]) + 1;
}

static const struct json_spot *spot_of(const struct json_doc *doc, const struct json *v)
{
    int number = v ? json_node(v)->valueint : 0;
    return number > 0 ? &doc->spots[number - 1] : NULL;
}

void json_place(const struct json_doc *doc, const struct json *v, int64_t *line, int64_t *column)
{
    const struct json_spot *spot = spot_of(doc, v);
    *line = *column = 0;
    if (spot)
        place(doc, spot->value, line, column);
}

void json_place_key(const struct json_doc *doc, const struct json *v, int64_t *line,
                    int64_t *column)
{
    const struct json_spot *spot = spot_of(doc, v);
    *line = *column = 0;
    if (spot)
        place(doc, spot->key == JSON_NO_KEY ? spot->value : spot->key, line, column);
}

/* Appends the path from `at` to v to out: true if v is found. */
static bool trace(const cJSON *at, const cJSON *v, struct text *out)
{
    size_t length = out->length, i = 0;
    if (at == v)
        return true;
    for (const cJSON *child = at->child; child; child = child->next, i++) {
        if (at->type & cJSON_Array)
            text_printf(out, "%s%zu", length ? "." : "", i);
        else
            text_printf(out, "%s%s", length ? "." : "", child->string);
        if (trace(child, v, out))
            return true;
        out->length = length;
        out->data[length] = '\0';
    }
    return false;
}

bool json_blame(const struct json_doc *doc, const struct json *v, struct err *e)
{
    struct text path = {0};
    if (v && trace(doc->root, json_node(v), &path))
        err_key(e, "%s", path.data ? path.data : "");
    text_free(&path);
    return false;
}

bool json_fail(const struct json_doc *doc, const struct json *v, struct err *e, enum err_id id,
               const char *format, ...)
{
    char what[sizeof e->what];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    int64_t line, column;
    json_place(doc, v, &line, &column);
    bool first = e && e->id == ERR_NONE;
    err_at(e, id, doc->name, line, column, "%s", what);
    return first ? json_blame(doc, v, e) : false;
}
