/* json_tree.h - the members of struct json and struct json_doc. Private to json*.c.
 *
 * struct json is cJSON's node. Two of its fields that have no use here carry ours: valueint is the
 * value's number in pre-order + 1 (0: made by json_set), which leads to its place in the text, and
 * valuedouble of an object or list is the count of its children. Nodes live in one arena a
 * document, so cJSON frees nothing, and an allocation that fails ends in mem's handler instead of
 * in a NULL that looks like a syntax error. */
#ifndef DNN_BASE_JSON_TREE_H
#define DNN_BASE_JSON_TREE_H

#include <cjson/cJSON.h>

#include "base/json/json.h"
#include "base/json/json_strict.h"
#include "base/mem.h"

struct json_doc {
    struct arena *arena;
    cJSON *root;
    char *name;
    struct json_index index;
};

static inline cJSON *json_node(const struct json *v)
{
    return (cJSON *)(uintptr_t)v;
}

static inline struct json *json_value(cJSON *n)
{
    return (struct json *)n;
}

static inline bool json_container(const cJSON *n)
{
    return n->type & (cJSON_Array | cJSON_Object);
}

/* The tree of a text in an arena, as json_parse or, if own, json_parse_own. Fills the index, whose
 * spots the caller frees in any case. NULL on failure. */
cJSON *json_build(struct arena *arena, const char *text, size_t length, const char *name, bool own,
                  struct json_index *index, struct err *e);

#endif
