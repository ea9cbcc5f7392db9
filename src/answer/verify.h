/* verify.h - answers the golden rows of a model again and compares: does this machine answer as the
 * one that trained? */
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
 * target's deviations. bits: the machine is of the kind that trained, so bit equality is required.
 * A difference is no error: pass is false. A model without golden rows is an error. beside: a
 * separate thread drives the GPU, see serve.h; false if this thread has driven one already. */
bool verify_run(const char *model, const struct overrides *o, bool beside,
                struct verify_result *r, struct err *e);

#endif
