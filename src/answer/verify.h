/* verify.h - a model's golden rows, answered once more: does this machine answer as the one that
 * trained? */
#ifndef DNN_ANSWER_VERIFY_H
#define DNN_ANSWER_VERIFY_H

#include "choose/select.h"
#include "config/config.h"

struct verify_result {
    uint64_t rows;
    double largest_difference;
    bool pass, bits;
    struct selection backend;
};
/* Replays the golden rows. largest_difference: of a probability; regression: of the answer, in the
 * target's deviations. bits: the machine is one of the kind that trained, and equality of bits was
 * asked. A difference is no failure: pass is false. beside: a GPU is driven by a thread that can be
 * left behind with it; not where this thread has driven one already. */
bool verify_run(const char *model, const struct overrides *o, bool beside,
                struct verify_result *r, struct err *e);

#endif
