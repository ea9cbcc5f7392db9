/* param.h - the parameters and buffers of a planned model, by name. A model file stores each of
 * them as one tensor. */
#ifndef DNN_MODEL_PARAM_H
#define DNN_MODEL_PARAM_H

#include <stdbool.h>
#include <stdint.h>

/* Which parameters optimizer.groups means. Buffers are stored, but not trained. */
enum param_kind { PARAM_WEIGHT, PARAM_BIAS, PARAM_NORM, PARAM_EMBEDDING, PARAM_KINDS };
extern const char *const param_kind_names[]; /* NULL-terminated */

/* Shape of a tensor, row-major. */
enum { PARAM_RANK = 4 };
struct param_shape {
    uint32_t rank;
    uint64_t dims[PARAM_RANK];
};
#define SHAPE1(a) ((struct param_shape){.rank = 1, .dims = {a}})
#define SHAPE2(a, b) ((struct param_shape){.rank = 2, .dims = {a, b}})
#define SHAPE3(a, b, c) ((struct param_shape){.rank = 3, .dims = {a, b, c}})
/* Numbers in it; UINT64_MAX: more than fit. */
uint64_t param_shape_count(const struct param_shape *s);

struct layer;
struct param {
    /* "layers.2.weight": the path of its layer in the resolved config, and its name there. The
     * output layer has the number after the last hidden one. "embedding.5.weight" belongs to
     * category 5 of the schema. */
    char *name;
    struct param_shape shape;
    uint64_t at, count;   /* numbers [at, at + count) of the arena */
    enum param_kind kind; /* not of a buffer */
    bool buffer;          /* in the arena of buffers ("running_mean"), not of parameters */
    const struct layer *layer; /* NULL: an embedding */
};
/* Parameters of one arena, sorted by `at`, with gaps of zeros between them. */
struct param_list {
    struct param *items;
    uint32_t count;
};
void param_list_free(struct param_list *list);
/* NULL: no parameter of that name. */
const struct param *param_find(const struct param_list *list, const char *name);

/* How the optimiser moves a parameter. rate: a factor on its learning rate, and on its weight
 * decay. scale: the parameter is `scale` times one that the optimiser moves (NTK parametrisation,
 * Jacot et al., 2018): steps and decay act on that one, with every optimiser. */
struct rates {
    double rate, scale;
};
/* The ranges of the arena of parameters, which the optimiser treats alike. */
struct param_groups {
    struct group *items; /* [count], grown; factors all 1 */
    uint8_t *kinds;      /* enum param_kind of each */
    struct rates *rates; /* of each */
    uint32_t count;
};

#endif
