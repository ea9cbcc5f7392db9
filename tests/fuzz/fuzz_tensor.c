/* fuzz_tensor.c - any bytes as a tensor file. */
#include <stdlib.h>

#include "base/file/tensorfile.h"
#include "signed.h"

static void load(const void *bytes, size_t size)
{
    struct err e = {0};
    struct tensor_file *f = tensor_open_bytes(bytes, size, "fuzz", &e);
    if (!f) {
        if (err_exit(&e) != EXIT_FORMAT)
            abort();
        return;
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < tensor_file_count(f); i++) {
        const struct tensor *t = tensor_file_at(f, i);
        const unsigned char *at = t->data;
        for (uint64_t k = 0; k < t->count * dtype_bytes(t->type); k++)
            sum += at[k];
    }
    volatile uint64_t keep = sum;
    (void)keep;
    tensor_close(f);
}
