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
    struct json_spot *spots;
    size_t count;
    uint32_t *starts; /* offset of each line */
    size_t lines;
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

/* The tree of a valid text in an arena. places: number the nodes. NULL: cJSON and the validator
 * disagree, our bug. */
cJSON *json_build(struct arena *arena, const char *text, size_t length,
                  const struct json_index *index, bool places);

#endif
