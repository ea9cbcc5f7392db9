/* init.c - first weights. */
#include "model/init.h"

#include <math.h>

#include "backend/ops.h"
#include "base/rng.h"

const char *const init_names[] = {"auto", "he", "xavier", "lecun", "small", "zero", NULL};

static enum init_kind before(uint32_t act)
{
    switch ((enum act_kind)act) {
    case ACT_RELU:
    case ACT_LEAKY_RELU:
    case ACT_GELU:
    case ACT_SILU:
    case ACT_ELU:
    case ACT_MISH: return INIT_HE;
    case ACT_TANH:
    case ACT_SIGMOID: return INIT_XAVIER;
    case ACT_SELU:
    case ACT_NONE: return INIT_LECUN;
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
    case INIT_AUTO:
    case INIT_LECUN: return sqrt(3 / fan_in);
    }
    return 0;
}

void init_uniform(real *w, uint64_t count, double limit, uint64_t seed, uint32_t model,
                  uint32_t position, uint64_t element)
{
    for (uint64_t i = 0; i < count; i++)
        w[i] =
            (real)(limit *
                   (2 * rng_uniform(seed, element + i, position | model << 16, 0, RNG_INIT) - 1));
}

void init_constant(real *w, uint64_t count, double value)
{
    for (uint64_t i = 0; i < count; i++)
        w[i] = (real)value;
}
