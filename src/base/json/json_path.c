/* json_path.c - dotted paths: finding, setting and removing values. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/json/json_tree.h"

/* The bytes of a quoted step at p; 0: it is none. */
static size_t quoted_length(const char *p)
{
    size_t n = 1;
    if (*p != '"')
        return 0;
    while (p[n] && p[n] != '"')
        n += p[n] == '\\' && p[n + 1] ? 2 : 1;
    return p[n] && (!p[n + 1] || strchr(".=", p[n + 1])) ? n + 1 : 0;
}

static size_t step_length(const char *p)
{
    const size_t n = quoted_length(p);
    return n ? n : strcspn(p, ".");
}

char *json_path_quoted(const char *text, size_t *length)
{
    struct err e = {0};
    *length = quoted_length(text);
    struct json_doc *doc = *length ? json_parse(text, *length, "a path", &e) : NULL;
    char *name = doc ? mem_string(json_string(json_root(doc))) : NULL;
    json_free(doc);
    return name;
}

size_t json_path_length(const char *text)
{
    size_t n = 0;
    for (bool begins = true; text[n] && text[n] != '='; begins = text[n - 1] == '.') {
        const size_t quoted = begins ? quoted_length(text + n) : 0;
        n += quoted ? quoted : 1;
    }
    return n;
}

/* One step down. *path moves past the step, or to NULL at the end. NULL: no such child. A name may
 * itself hold dots: the longest member that fits wins, so that "data.columns.sepal.length" finds
 * the column "sepal.length". */
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
        return json_node(json_at((const struct json *)at, index));
    }
    cJSON *best = NULL;
    size_t longest = 0;
    char *name = json_path_quoted(p, &longest);
    if (name)
        best = json_node(json_get((const struct json *)at, name));
    mem_free(name);
    longest = best ? longest : 0;
    for (cJSON *child = !best && at->type & cJSON_Object ? at->child : NULL; child;
         child = child->next) {
        size_t n = strlen(child->string);
        if (strncmp(p, child->string, n) == 0 && (p[n] == '.' || p[n] == '\0') &&
            (!best || n > longest)) {
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
    const cJSON *at = json_node(root);
    while (at && path)
        at = step(at, &path);
    return json_value(json_node((const struct json *)at));
}

static void unlink_child(cJSON *parent, cJSON *child)
{
    cJSON_DetachItemViaPointer(parent, child); /* allocates nothing */
    parent->valuedouble -= 1;
}

static void link_child(cJSON *parent, cJSON *child, const char *key, size_t length,
                       struct arena *arena)
{
    size_t quoted;
    char *name = parent->type & cJSON_Object ? json_path_quoted(key, &quoted) : NULL;
    if (name)
        child->string = arena_string(arena, name, strlen(name));
    else if (parent->type & cJSON_Object)
        child->string = arena_string(arena, key, length);
    mem_free(name);
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
}

/* A value that has no place in the document's text. */
static void forget_places(cJSON *n)
{
    n->valueint = 0;
    for (cJSON *child = n->child; child; child = child->next)
        forget_places(child);
}

static cJSON *parse_value(struct json_doc *doc, const char *text, struct err *e)
{
    struct json_index index = {0};
    cJSON *n = json_build(doc->arena, text, strlen(text), doc->name, true, &index, e);
    if (n)
        forget_places(n);
    mem_free(index.spots);
    return n;
}

bool json_set(struct json_doc *doc, const char *path, const char *value_json, struct err *e)
{
    cJSON *value = parse_value(doc, value_json, e);
    if (!value)
        return false;
    cJSON *at = doc->root;
    const char *rest = path;
    for (size_t depth = 1;; depth++) {
        const char *here = rest;
        size_t n = step_length(here);
        if (depth > JSON_MOST_DEPTH || n == 0)
            return err_set(e, ERR_CONFIG_KEY, "\"%s\" is not a path of keys", text_quote_z(path));
        if (!json_container(at))
            return err_set(e, ERR_CONFIG_TYPE,
                           "\"%s\": the text is not an object, so it has no key \"%s\"",
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
        if (child && json_container(child)) {
            at = child;
            continue;
        }
        if (child && child->type != cJSON_NULL)
            return err_set(e, ERR_CONFIG_TYPE, "\"%s\": the value at \"%s\" is not an object",
                           text_quote_z(path), text_quote(path, (size_t)(rest - path) - 1));
        if (!child && at->type & cJSON_Array) {
            char end[24];
            int digits = snprintf(end, sizeof end, "%zu", json_count(json_value(at)));
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
