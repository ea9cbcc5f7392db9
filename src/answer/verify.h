/* verify.h - the golden rows: a model file keeps rows with their answers. Verify answers them again
 * and compares: does this machine answer as the one that trained? */
#ifndef DNN_ANSWER_VERIFY_H
#define DNN_ANSWER_VERIFY_H

#include "choose/select.h"
#include "config/config.h"
#include "model/file/modelfile.h"
#include "table/table.h"

/* The rows of the sample whose answers are finite, for a model file holds no others; logits
 * [members][sample rows][outputs]. golden_free. */
void golden_make(struct golden *g, const struct table_sample *sample, const real *logits,
                 uint32_t members, uint32_t outputs);
void golden_free(struct golden *g);

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
