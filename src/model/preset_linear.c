/* preset_linear.c - which solver the preset linear takes in a config, and what follows from it. */
#include "model/preset_linear.h"

#include <string.h>

/* A column, or the default of all, that asks for an embedding. */
static bool asks_embedding(const struct json *v)
{
    const struct json *encode = json_get(v, "encode"), *dim = json_get(v, "dim");
    return (encode && json_kind(encode) == JSON_STRING &&
            strcmp(json_string(encode), "embedding") == 0) ||
           (dim && json_kind(dim) == JSON_NUMBER);
}

static bool has_embedding(const struct json_doc *doc)
{
    const struct json *all = json_path(json_root(doc), "encoders.categorical"),
                      *columns = json_path(json_root(doc), "data.columns");
    bool has = all && json_kind(all) == JSON_OBJECT && asks_embedding(all);
    bool list = columns && json_kind(columns) == JSON_OBJECT;
    for (const struct json *c = list ? json_at(columns, 0) : NULL; c && !has; c = json_next(c))
        has = json_kind(c) == JSON_OBJECT && asks_embedding(c);
    return has;
}

static bool is_text(const struct json *v)
{
    const struct json *type = json_kind(v) == JSON_OBJECT ? json_get(v, "type") : v;
    return type && json_kind(type) == JSON_STRING && strcmp(json_string(type), "text") == 0;
}

static bool has_text(const struct json_doc *doc)
{
    const struct json *columns = json_path(json_root(doc), "data.columns");
    bool has = false, list = columns && json_kind(columns) == JSON_OBJECT;
    for (const struct json *c = list ? json_at(columns, 0) : NULL; c && !has; c = json_next(c))
        has = is_text(c);
    return has;
}

static bool path_serves(const struct json_doc *doc)
{
    const struct json *loss = json_path(json_root(doc), "train.loss.type");
    const char *word = loss && json_kind(loss) == JSON_STRING ? json_string(loss) : "auto";
    return !json_path(json_root(doc), "train.optimizer") && !has_embedding(doc) &&
           !has_text(doc) &&
           (strcmp(word, "auto") == 0 || strcmp(word, "cross_entropy") == 0 ||
            strcmp(word, "mse") == 0);
}

void linear_settle(void *spec, const struct json_doc *doc)
{
    struct linear_spec *s = spec;
    if (s->solver == SOLVER_AUTO)
        s->solver = path_serves(doc) ? SOLVER_PATH : SOLVER_GRADIENT;
}

/* A path takes one-hot columns in place of embeddings. Steps of sgd are as long as the gradient. */
const char *linear_config(const struct json_doc *doc)
{
    const struct json *word = json_path(json_root(doc), "model.solver"),
                      *type = json_path(json_root(doc), "train.optimizer.type");
    const char *solver = word && json_kind(word) == JSON_STRING ? json_string(word) : "auto";
    if (strcmp(solver, "path") == 0 || (strcmp(solver, "auto") == 0 && path_serves(doc)))
        return "{\"encoders\": {\"categorical\": {\"encode\": \"onehot\"}}}";
    bool sgd = type && json_kind(type) == JSON_STRING && strcmp(json_string(type), "sgd") == 0;
    return sgd ? NULL : "{\"train\": {\"optimizer\": {\"learning_rate\": 0.01}}}";
}
