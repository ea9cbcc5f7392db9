/* preset_linear.c - the solver that the preset linear takes in a config, and the defaults that
 * follow. */
#include "model/preset/preset.h"

#include <string.h>

#include "table/schema/options.h"

/* True: the entry of a column, or the default of all, may make an embedding. */
static bool may_embed(const struct json *v)
{
    const struct json *encode = json_get(v, "encode"), *dim = json_get(v, "dim");
    bool word = encode && json_kind(encode) == JSON_STRING;
    return (word && strcmp(json_string(encode), "embedding") == 0) ||
           (word && strcmp(json_string(encode), "auto") == 0) ||
           (dim && json_kind(dim) == JSON_NUMBER);
}

const char *linear_path_lacks(const struct json_doc *doc)
{
    const struct json *all = json_path(json_root(doc), "encoders.categorical"),
                      *columns = json_path(json_root(doc), "data.columns");
    bool list = columns && json_kind(columns) == JSON_OBJECT;
    bool embeds = all && may_embed(all);
    for (const struct json *c = list ? json_at(columns, 0) : NULL; c; c = json_next(c)) {
        if (strcmp(column_entry_type(c), "text") == 0)
            return "texts";
        embeds |= may_embed(c);
    }
    return embeds ? "embeddings" : NULL;
}

static bool path_serves(const struct json_doc *doc)
{
    const struct json *loss = json_path(json_root(doc), "train.loss.type");
    const char *word = loss && json_kind(loss) == JSON_STRING ? json_string(loss) : "auto";
    return !json_path(json_root(doc), "train.optimizer") && !linear_path_lacks(doc) &&
           (strcmp(word, "auto") == 0 || strcmp(word, "cross_entropy") == 0 ||
            strcmp(word, "mse") == 0);
}

void linear_settle(void *spec, const struct json_doc *doc)
{
    struct linear_spec *s = spec;
    if (s->solver == SOLVER_AUTO)
        s->solver = path_serves(doc) ? SOLVER_PATH : SOLVER_GRADIENT;
}

/* A path takes one-hot columns in place of embeddings. Steps of sgd are as long as the
 * gradient. */
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
