/* product.h - y = x w + b, the product that is a part of a layer. Private to product.c,
 * attention.c, pool.c, recur.c and residual.c. */
#ifndef DNN_MODEL_PRODUCT_H
#define DNN_MODEL_PRODUCT_H

#include "model/pass.h"

struct product {
    uint64_t weight, bias; /* parameters [in][out], [out] */
    bool no_bias;
    uint32_t in, out, ld; /* ld: of y; 0: out */
    struct padding padding;
};
void product_forward(const struct product *d, struct pass *p, struct act y, struct act x);
/* dx.at NULL: not wanted; add: it is added to. */
void product_back(const struct product *d, struct pass *p, struct act x, struct act dy,
                  struct act dx, bool add);

#endif
