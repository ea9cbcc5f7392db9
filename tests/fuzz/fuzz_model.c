/* fuzz_model.c - any bytes as a model file. A model that loads can be planned, has as many
 * parameters as its plan, and all of them are finite. */
#include <math.h>
#include <stdlib.h>

#include "model/file/modelfile.h"
#include "signed.h"

static void load(const void *bytes, size_t size)
{
    struct err e = {0};
    struct modelfile *f = modelfile_load_bytes(bytes, size, "fuzz", &e);
    if (!f) {
        if (err_exit(&e) != EXIT_FORMAT)
            abort();
        return;
    }
    for (uint32_t k = 0; k < f->member_count; k++) {
        const struct member *member = &f->members[k];
        struct features *features = encoder_features(modelfile_encoder(f, k));
        struct model *m = model_plan(member->architecture, features, 64, 1, false, &e);
        if (!m || m->params != member->param_count || m->buffers != member->buffer_count)
            abort();
        for (uint64_t i = 0; i < member->param_count; i++)
            if (!isfinite((double)member->params[i]))
                abort();
        model_free(m);
        features_free(features);
    }
    modelfile_free(f);
}
