/* opt_parts.h - shared by the files that read option tables. Private to opt*.c. */
#ifndef DNN_BASE_OPT_PARTS_H
#define DNN_BASE_OPT_PARTS_H

#include "base/json/opt.h"

enum { MOST_NAME = 256 }; /* bytes of a full key */

/* The value being read: for messages, and to reach the field. */
struct opt_target {
    const struct option *row;
    const struct json_doc *doc;
    char name[MOST_NAME]; /* "train.optimizer.learning_rate" */
    void *field;
    struct err *e;
};

static inline void *opt_field(const struct option *row, void *into)
{
    return (char *)into + row->offset;
}
/* A table that may be null: its struct begins with a bool, false for null. */
static inline bool opt_null_table(const struct option *row)
{
    return row->type == OPT_TABLE && row->flags & OPT_NULLABLE;
}
/* "an integer", "a list of strings", ... */
const char *opt_type_one(enum opt_type type);
/* A name of the level below `prefix`. False: the row is not below it, or its group was met. */
struct opt_entry {
    char name[128];
    char prefix[MOST_NAME]; /* of a group: "optimizer." */
    bool group;
};
bool opt_entry_of(const struct option *table, const struct option *row, const char *prefix,
                  struct opt_entry *entry);
/* True: the row has limits. */
bool opt_limited(const struct option *row);
/* The kind as a word: "object", "number", ... */
const char *opt_kind_name(enum json_kind kind);
/* The row's help as the error's, when it has one. False. */
bool opt_value_help(const struct opt_target *t);
/* v into the field, which is clear. */
bool opt_value_read(const struct opt_target *t, const struct json *v);
/* The value of a field whose key is null; nothing is freed. */
void opt_value_clear(const struct option *row, void *field);

#endif
