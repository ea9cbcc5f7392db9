/* init.c - first weights. */
#include "model/init.h"

#include <math.h>

#include "backend/ops.h"
#include "base/rng.h"

const char *const init_names[] = {"auto",  "he",   "xavier",  "lecun",
                                  "small", "zero", "uniform", NULL};

static enum init_kind before(uint32_t act)
{
    switch ((enum act_kind)act) {
#define ACT(NAME, name, at_z, init) case ACT_##NAME: return INIT_##init;
#include "backend/acts.def"
    case ACT_NONE:
    case ACT_KINDS: return INIT_LECUN;
    }
    return INIT_LECUN;
}

double init_limit(enum init_kind kind, uint32_t next_act, uint64_t in, uint64_t out)
{
    if (kind == INIT_AUTO)
        kind = before(next_act);
    double fan_in = in ? (double)in : 1;
    switch (kind) {
    case INIT_HE: return sqrt(6 / fan_in);
    case INIT_XAVIER: return sqrt(6 / (fan_in + (double)out));
    case INIT_SMALL: return 0.1 * sqrt(3 / fan_in);
    case INIT_ZERO: return 0;
    case INIT_UNIFORM: return sqrt(1 / fan_in);
    case INIT_AUTO:
    case INIT_LECUN: return sqrt(3 / fan_in);
    }
    return 0;
}

/* The layer and the model, as a stream of random numbers. */
static uint32_t stream_of(const struct first_values *v)
{
    return v->position | v->model << 16;
}

void init_uniform(const struct first_values *v, uint64_t at, uint64_t count, double limit,
                  uint64_t element)
{
    for (uint64_t i = 0; i < count; i++)
        v->params[at + i] = (real)(
            limit * (2 * rng_uniform(v->seed, element + i, stream_of(v), 0, RNG_INIT) - 1));
}

void init_normal(const struct first_values *v, uint64_t at, uint64_t count, double deviation,
                 uint64_t element)
{
    for (uint64_t i = 0; i < count; i++)
        v->params[at + i] =
            (real)(deviation * rng_normal(v->seed, element + i, stream_of(v), 0, RNG_INIT));
}

void init_constant(real *w, uint64_t count, double value)
{
    for (uint64_t i = 0; i < count; i++)
        w[i] = (real)value;
}
