/* init.h - first weights, drawn on the host in double. A draw is a function of (seed, model,
 * layer's position, element), so that a layer's weights do not depend on other layers. */
#ifndef DNN_MODEL_INIT_H
#define DNN_MODEL_INIT_H

#include <stdint.h>

#include "base/real.h"

/* dense.init. AUTO asks which activation comes next: HE before the relu family, XAVIER before tanh
 * and sigmoid, LECUN otherwise. All are uniform on [-limit, limit]. */
enum init_kind { INIT_AUTO, INIT_HE, INIT_XAVIER, INIT_LECUN, INIT_SMALL, INIT_ZERO, INIT_UNIFORM };
extern const char *const init_names[]; /* NULL-terminated */

/* The limit for a matrix of these sizes; next_act is an enum act_kind. he: sqrt(6 / in) (He et al.,
 * 2015), xavier: sqrt(6 / (in + out)) (Glorot and Bengio, 2010), lecun: sqrt(3 / in) (LeCun et al.,
 * 1998), small: a tenth of lecun, uniform: 1 / sqrt(in), for the bias as well. */
double init_limit(enum init_kind kind, uint32_t next_act, uint64_t in, uint64_t out);
/* Host arrays of a model, and what its draws depend on; position: of the layer. */
struct first_values {
    real *params, *buffers;
    uint64_t seed;
    uint32_t model, position;
};
/* Fills parameters from `at` on; element is the number of the first one in the layer's stream. */
void init_uniform(const struct first_values *v, uint64_t at, uint64_t count, double limit,
                  uint64_t element);
/* As above, with normal numbers of this deviation. */
void init_normal(const struct first_values *v, uint64_t at, uint64_t count, double deviation,
                 uint64_t element);
void init_constant(real *w, uint64_t count, double value);

#endif
