/* json.c - parsing and reading: cJSON builds the tree from text that json_strict.c has let through.
 */
#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/file/file.h"
#include "base/json/json_strict.h"
#include "base/json/json_tree.h"
#include "base/mem.h"
#include "base/sort.h"

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

static bool is_long(const struct json_spot *spot)
{
    return spot->end && spot->end - spot->value > LONG_NUMBER;
}

/* The first key that stands twice in one object, by the place of the second. */
struct twins {
    const char *key;
    uint32_t first, second; /* JSON_NO_KEY: none */
};

static int by_key(const void *a, const void *b, const void *context)
{
    (void)context;
    return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

static void note_twins(const cJSON *object, size_t count, const struct json_spot *spots,
                       struct twins *t)
{
    const cJSON **members = mem_alloc(count, sizeof *members);
    size_t n = 0;
    for (const cJSON *child = object->child; child; child = child->next)
        members[n++] = child;
    sort_stable(members, count, sizeof *members, by_key, NULL);
    for (n = 1; n < count; n++) {
        const uint32_t second = spots[members[n]->valueint - 1].key;
        if (second < t->second && by_key(&members[n - 1], &members[n], NULL) == 0)
            *t = (struct twins){members[n]->string, spots[members[n - 1]->valueint - 1].key,
                                second};
    }
    mem_free(members);
}

/* Walks in the order of the index: numbers the nodes, counts children, mends numbers too long for
 * cJSON, finds double keys. */
static void settle(cJSON *n, const char *text, const struct json_spot *spots, int *number,
                   struct twins *twins)
{
    const struct json_spot *spot = &spots[(*number)++];
    n->valueint = *number;
    if (is_long(spot)) {
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
        settle(child, text, spots, number, twins);
    n->valuedouble = (double)count;
    if (n->type & cJSON_Object && count > 1)
        note_twins(n, count, spots, twins);
}

cJSON *json_build(struct arena *arena, const char *text, size_t length, const char *name, bool own,
                  struct json_index *index, struct err *e)
{
    if (!json_scan(text, length, name, own, index, e))
        return NULL;
    size_t bom = json_bom(text, length);
    text += bom;
    length -= bom;
    char *copy = arena_string(arena, text, length);
    index->text = copy;
    index->length = length;
    for (size_t i = 0; i < index->count; i++) {
        const struct json_spot *spot = &index->spots[i];
        if (is_long(spot)) {
            memset(copy + spot->value, ' ', spot->end - spot->value);
            copy[spot->value] = '0';
        }
    }
    cjson_begin(arena);
    const char *end = NULL;
    cJSON *root = cJSON_ParseWithLengthOpts(copy, length + 1, &end, 1);
    cjson_end();
    if (!root) {
        err_set(e, ERR_BUG, "cJSON refuses a text that the validator accepts");
        return NULL;
    }
    int number = 0;
    struct twins twins = {.second = JSON_NO_KEY};
    settle(root, text, index->spots, &number, &twins);
    assert((size_t)number == index->count);
    if (twins.second == JSON_NO_KEY)
        return root;
    struct json_scanner s = {.text = text, .length = length, .name = name, .e = e};
    json_scan_fail(&s, ERR_JSON_DUPLICATE, twins.second,
                   "key \"%s\" stands twice: at line %lld and at line %lld",
                   text_quote_z(twins.key), (long long)json_scan_line(&s, twins.first),
                   (long long)json_scan_line(&s, twins.second));
    return NULL;
}

static struct json_doc *parse(const char *text, size_t length, const char *name, bool own,
                              struct err *e)
{
    struct json_doc *doc = mem_zero(1, sizeof *doc);
    doc->arena = arena_new(length < 4096 ? 4096 : 65536);
    doc->name = mem_string(name);
    doc->root = json_build(doc->arena, text, length, name, own, &doc->index, e);
    if (doc->root)
        return doc;
    json_free(doc);
    return NULL;
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
    mem_free(doc->index.spots);
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

static const struct json_spot *spot_of(const struct json_doc *doc, const struct json *v)
{
    int number = v ? json_node(v)->valueint : 0;
    return number > 0 ? &doc->index.spots[number - 1] : NULL;
}

void json_place(const struct json_doc *doc, const struct json *v, int64_t *line, int64_t *column)
{
    const struct json_spot *spot = spot_of(doc, v);
    *line = *column = 0;
    if (spot)
        json_line_column(doc->index.text, doc->index.length, spot->value, line, column);
}

void json_place_key(const struct json_doc *doc, const struct json *v, int64_t *line,
                    int64_t *column)
{
    const struct json_spot *spot = spot_of(doc, v);
    json_place(doc, v, line, column);
    if (spot && spot->key != JSON_NO_KEY)
        json_line_column(doc->index.text, doc->index.length, spot->key, line, column);
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
