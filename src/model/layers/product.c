/* product.c - see product.h. */
#include "model/layers/product.h"

void product_forward(const struct product *d, struct pass *p, struct act y, struct act x)
{
    op_dense(p->m, &(struct op_dense){.y = y,
                                      .x = x,
                                      .w = reals_at(p->params, d->weight),
                                      .b = d->no_bias ? NULL : reals_at(p->params, d->bias),
                                      .shadow = pass_shadow(p, d->weight),
                                      .dims = pass_dims(p, d->in),
                                      .out = d->out,
                                      .ldx = d->in,
                                      .ldy = d->ld ? d->ld : d->out,
                                      .exact = p->exact,
                                      .padding = d->padding});
}

void product_back(const struct product *d, struct pass *p, struct act x, struct act dy,
                  struct act dx, bool add)
{
    const uint32_t ld = d->ld ? d->ld : d->out;
    op_dense_back(p->m, &(struct op_dense_back){.dx = dx,
                                                .dw = reals_at(p->grads, d->weight),
                                                .db = d->no_bias ? NULL
                                                                 : reals_at(p->grads, d->bias),
                                                .dy = dy,
                                                .y = dy,
                                                .x = x,
                                                .w = reals_at(p->params, d->weight),
                                                .shadow = pass_shadow(p, d->weight),
                                                .now = p->now,
                                                .dims = pass_dims(p, d->in),
                                                .out = d->out,
                                                .ldx = d->in,
                                                .ldy = ld,
                                                .lddx = d->in,
                                                .lddy = ld,
                                                .add_dx = add,
                                                .more = p->more,
                                                .padding = d->padding});
}
