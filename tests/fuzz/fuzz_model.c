/* fuzz_model.c - any bytes as a model file, as they are and with the hash mended, so that the
 * fuzzer gets behind the hash to schema, config, weights and golden rows. Whatever loads must be
 * whole: planned, counted, finite. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/modelfile.h"
#include "signed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load(const void *bytes, size_t size)
{
    struct err e = {0};
    struct modelfile *f = modelfile_load_bytes(bytes, size, "fuzz", &e);
    if (!f) {
        if (err_exit(&e) != EXIT_FORMAT)
            abort();
        return;
    }
    struct features *features = schema_features(f->schema);
    for (uint32_t k = 0; k < f->member_count; k++) {
        const struct member *member = &f->members[k];
        struct model_options options = modelfile_model(f, k);
        struct model *m = model_plan(&options, features, 64, 1, false, &e);
        if (!m || m->params != member->param_count || m->buffers != member->buffer_count)
            abort();
        for (uint64_t i = 0; i < member->param_count; i++)
            if (!isfinite((double)member->params[i]))
                abort();
        model_free(m);
    }
    features_free(features);
    modelfile_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    load(data, size);
    if (size < 99)
        return 0;
    uint8_t *mended = signed_copy(data, size);
    load(mended, size);
    mem_free(mended);
    return 0;
}
