/* infer_help.h - looking at a few lines of CSV, and what was guessed of a column. */
#ifndef DNN_TESTS_DATA_INFER_HELP_H
#define DNN_TESTS_DATA_INFER_HELP_H

#include "base/text.h"
#include "infer/infer.h"
#include "scratch.h"
#include "tap.h"

static const char *const type_names[] = {"numeric", "categorical", "datetime", "id",
                                         "weight",  "group",       "ignore",   "text"};

static inline struct infer *look_at(const char *path, const char *target, struct err *e)
{
    struct infer_request q = {.path = path, .target = target, .encoding = -1, .header = -1};
    err_clear(e);
    return infer_file(&q, e);
}

static inline struct infer *look(const struct text *t, const char *target, struct err *e)
{
    scratch_put("in.csv", t->data, t->length);
    return look_at(scratch("in.csv"), target, e);
}

static inline struct infer *look_z(const char *bytes, const char *target)
{
    struct err e = {0};
    struct text t = {0};
    text_put(&t, bytes);
    struct infer *i = look(&t, target, &e);
    if (!i)
        ok(false, "%s", e.what);
    text_free(&t);
    return i;
}

static inline const struct infer_column *column(const struct infer *i, const char *name)
{
    for (size_t c = 0; i && c < i->count; c++)
        if (strcmp(i->columns[c].name, name) == 0)
            return &i->columns[c];
    return NULL;
}

static inline void is_type(const struct infer *i, const char *name, int type, const char *reason)
{
    const struct infer_column *c = column(i, name);
    is_string(c ? type_names[c->type] : "none", type_names[type], name);
    ok(c && (reason ? strstr(c->reason, reason) != NULL : !c->reason[0]), "%s: its reason: %s",
       name, c ? c->reason : "");
}

#endif
