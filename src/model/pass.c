/* pass.c - see pass.h. */
#include "model/pass.h"

void pass_lengths(struct pass *p, uint64_t to, uint32_t more, uint32_t divide)
{
    op_lengths(p->m, &(struct op_lengths){.to = lengths_at(p, to),
                                          .from = p->length,
                                          .dims = pass_dims(p, 1),
                                          .more = more,
                                          .divide = divide});
}

uint32_t pass_steps(const struct pass *p, const struct span *s)
{
    uint64_t fewer = p->most && s->divide ? (p->most + s->more + s->divide - 1) / s->divide
                                          : s->steps;
    return fewer < s->steps ? (uint32_t)fewer : s->steps;
}
