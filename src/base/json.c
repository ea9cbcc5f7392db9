/* json.c - the tree: cJSON builds it from text that json_strict.c has let through.
 *
 * struct json is cJSON's node. Two of its fields that have no use here carry ours: valueint is the value's number in
 * pre-order + 1 (0: made by json_set), which leads to its place in the text, and valuedouble of an object or list
 * is the count of its children. Nodes live in one arena a document, so cJSON frees nothing, and an allocation
 * that fails ends in mem's handler instead of in a NULL that looks like a syntax error. */
#include "base/json.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json_strict.h"
#include "base/mem.h"

struct json_doc {
    struct arena *arena;
    cJSON *root;
    char *name;
    struct json_spot *spots;
    size_t count;
    uint32_t *starts; /* offset of each line */
    size_t lines;
};

/* --- cJSON's memory --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* cJSON keeps its hooks and its last error in globals */
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
    static bool ready;
    pthread_mutex_lock(&lock);
    if (!ready)
        cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = hook_alloc, .free_fn = hook_free});
    ready = true;
    current = arena;
}

static void cjson_end(void)
{
    current = NULL;
    pthread_mutex_unlock(&lock);
}

static cJSON *node(const struct json *v)
{
    return (cJSON *)(uintptr_t)v;
}

static struct json *out_of(cJSON *n)
{
    return (struct json *)n;
}

/* json_at remembers where it was. Whatever adds or removes nodes makes the memory void. */
static _Atomic uint64_t generation = 1;
static _Thread_local struct { uint64_t generation; const cJSON *parent; size_t index; cJSON *child; } cursor;

static void changed(void)
{
    atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

/* --- parsing --- */

enum { LONG_NUMBER = 60 }; /* cJSON copies a number into 64 bytes and would cut a longer one */

static bool container(const cJSON *n)
{
    return n->type & (cJSON_Array | cJSON_Object);
}

/* Walks in the order of the index: numbers the nodes (places), counts children, mends numbers too long for cJSON. */
static void settle(cJSON *n, const char *text, const struct json_spot *spots, size_t *next, bool places)
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
    if (!container(n))
        return;
    size_t count = 0;
    for (cJSON *child = n->child; child; child = child->next, count++)
        settle(child, text, spots, next, places);
    n->valuedouble = (double)count;
}

/* The tree of a valid text in an arena. places: number the nodes. NULL: cJSON and the validator disagree, our bug. */
static cJSON *build(struct arena *arena, const char *text, size_t length, const struct json_index *index,
                    bool places)
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

struct json_doc *json_parse(const char *text, size_t length, const char *name, struct err *e)
{
    struct json_index index = {0};
    if (!json_scan(text, length, name, &index, e)) {
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
    doc->root = build(doc->arena, text, length, &index, true);
    if (!doc->root) {
        json_free(doc);
        err_set(e, ERR_BUG, "cJSON refuses a text that the validator accepts");
        return NULL;
    }
    line_starts(doc, text, length);
    changed();
    return doc;
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
    changed();
    arena_free(doc->arena);
    mem_free(doc->name);
    mem_free(doc->spots);
    mem_free(doc->starts);
    mem_free(doc);
}

/* --- reading --- */

struct json *json_root(struct json_doc *doc)
{
    return out_of(doc->root);
}

const char *json_name(const struct json_doc *doc)
{
    return doc->name;
}

enum json_kind json_kind(const struct json *v)
{
    switch (node(v)->type & 0xff) {
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
    return json_kind(v) == JSON_NUMBER ? node(v)->valuedouble : 0.0;
}

bool json_integer(const struct json *v, int64_t *out)
{
    /* 2^53 itself could have been written as 2^53 + 1, so it is beyond */
    double d = node(v)->valuedouble;
    if (json_kind(v) != JSON_NUMBER || !(fabs(d) < 9007199254740992.0) || d != floor(d))
        return false;
    *out = (int64_t)d;
    return true;
}

const char *json_string(const struct json *v)
{
    return json_kind(v) == JSON_STRING ? node(v)->valuestring : "";
}

bool json_true(const struct json *v)
{
    return json_kind(v) == JSON_TRUE;
}

size_t json_count(const struct json *v)
{
    return container(node(v)) ? (size_t)node(v)->valuedouble : 0;
}

struct json *json_at(const struct json *v, size_t i)
{
    const cJSON *parent = node(v);
    if (i >= json_count(v))
        return NULL;
    uint64_t now = atomic_load_explicit(&generation, memory_order_relaxed);
    bool near = cursor.generation == now && cursor.parent == parent && cursor.index <= i;
    size_t at = near ? cursor.index : 0;
    cJSON *child = near ? cursor.child : parent->child;
    for (; at < i; at++)
        child = child->next;
    cursor.generation = now;
    cursor.parent = parent;
    cursor.index = i;
    cursor.child = child;
    return out_of(child);
}

const char *json_key(const struct json *child)
{
    return node(child)->string ? node(child)->string : "";
}

struct json *json_next(const struct json *child)
{
    return out_of(node(child)->next);
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
    return out_of(member(node(object), key, strlen(key)));
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
    int number = v ? node(v)->valueint : 0;
    return number > 0 ? &doc->spots[number - 1] : NULL;
}

void json_place(const struct json_doc *doc, const struct json *v, int64_t *line, int64_t *column)
{
    const struct json_spot *spot = spot_of(doc, v);
    *line = *column = 0;
    if (spot)
        place(doc, spot->value, line, column);
}

void json_place_key(const struct json_doc *doc, const struct json *v, int64_t *line, int64_t *column)
{
    const struct json_spot *spot = spot_of(doc, v);
    *line = *column = 0;
    if (spot)
        place(doc, spot->key == JSON_NO_KEY ? spot->value : spot->key, line, column);
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
    return err_at(e, id, doc->name, line, column, "%s", what);
}

/* --- paths --- */

/* One step down. *path moves behind the step, or to NULL at the end. NULL: no such child. A name may itself hold dots:
 * the longest member that fits wins, so that "data.columns.sepal.length" finds the column "sepal.length". */
static cJSON *step(const cJSON *at, const char **path)
{
    const char *p = *path;
    if (at->type & cJSON_Array) {
        size_t n = strcspn(p, "."), index = 0;
        if (n == 0 || n > 9)
            return NULL;
        for (size_t i = 0; i < n; i++) {
            if (p[i] < '0' || p[i] > '9')
                return NULL;
            index = index * 10 + (size_t)(p[i] - '0');
        }
        *path = p[n] ? p + n + 1 : NULL;
        return node(json_at((const struct json *)at, index));
    }
    cJSON *best = NULL;
    size_t longest = 0;
    for (cJSON *child = at->type & cJSON_Object ? at->child : NULL; child; child = child->next) {
        size_t n = strlen(child->string);
        if (strncmp(p, child->string, n) == 0 && (p[n] == '.' || p[n] == '\0') && (!best || n > longest)) {
            best = child;
            longest = n;
        }
    }
    if (best)
        *path = p[longest] ? p + longest + 1 : NULL;
    return best;
}

struct json *json_path(const struct json *root, const char *path)
{
    const cJSON *at = node(root);
    while (at && path)
        at = step(at, &path);
    return out_of(node((const struct json *)at));
}

static void unlink_child(cJSON *parent, cJSON *child)
{
    cJSON_DetachItemViaPointer(parent, child); /* allocates nothing */
    parent->valuedouble -= 1;
}

static void link_child(cJSON *parent, cJSON *child, const char *key, size_t length, struct arena *arena)
{
    if (parent->type & cJSON_Object)
        child->string = arena_string(arena, key, length);
    cJSON_AddItemToArray(parent, child); /* at the end; of an object as well, for its key is set */
    parent->valuedouble += 1;
}

void json_remove(struct json_doc *doc, const char *path)
{
    cJSON *parent = NULL, *at = doc->root;
    while (at && path) {
        parent = at;
        at = step(at, &path);
    }
    if (at && parent)
        unlink_child(parent, at);
    changed();
}

static cJSON *parse_value(struct json_doc *doc, const char *text, struct err *e)
{
    struct json_index index = {0};
    cJSON *n = NULL;
    if (json_scan(text, strlen(text), doc->name, &index, e)) {
        size_t bom = json_bom(text, strlen(text));
        n = build(doc->arena, text + bom, strlen(text) - bom, &index, false);
        if (!n)
            err_set(e, ERR_BUG, "cJSON refuses a text that the validator accepts");
    }
    mem_free(index.spots);
    return n;
}

bool json_set(struct json_doc *doc, const char *path, const char *value_json, struct err *e)
{
    changed();
    cJSON *value = parse_value(doc, value_json, e);
    if (!value)
        return false;
    cJSON *at = doc->root;
    const char *rest = path;
    for (size_t depth = 1;; depth++) {
        const char *here = rest;
        size_t n = strcspn(here, ".");
        if (depth > JSON_MOST_DEPTH || n == 0)
            return err_set(e, ERR_CONFIG_KEY, "\"%s\" is not a path of keys", text_quote_z(path));
        if (!container(at))
            return err_set(e, ERR_CONFIG_TYPE, "\"%s\": \"%s\" has no keys, because what holds it is not an object",
                           text_quote_z(path), text_quote_z(here));
        cJSON *child = step(at, &rest);
        if (child && !rest) {
            cJSON copy = *child; /* its place in the chain and its key stay, its value changes */
            *child = *value;
            child->next = copy.next;
            child->prev = copy.prev;
            child->string = copy.string;
            return true;
        }
        if (child && container(child)) {
            at = child;
            continue;
        }
        if (child && child->type != cJSON_NULL)
            return err_set(e, ERR_CONFIG_TYPE, "\"%s\": the value at \"%s\" is not an object",
                           text_quote_z(path), text_quote(path, (size_t)(rest - path) - 1));
        if (!child && at->type & cJSON_Array) {
            char end[24];
            int digits = snprintf(end, sizeof end, "%zu", json_count(out_of(at)));
            if ((size_t)digits != n || strncmp(here, end, n) != 0)
                return err_set(e, ERR_CONFIG_KEY, "\"%s\": the list has %s entries, counted from 0",
                               text_quote_z(path), end);
        }
        bool last = here[n] == '\0';
        if (!child) {
            child = last ? value : arena_alloc(doc->arena, 1, sizeof *child);
            link_child(at, child, here, n, doc->arena);
            rest = last ? NULL : here + n + 1;
        }
        if (last)
            return true;
        child->type = cJSON_Object; /* new, or null until now */
        at = child;
    }
}
