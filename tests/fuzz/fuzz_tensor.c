/* fuzz_tensor.c - any bytes to the tensor container, once as they are and once with the hash
 * mended, so that the fuzzer gets behind the hash to the header. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/tensorfile.h"
#include "signed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void open_and_walk(const void *bytes, size_t size)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    open_and_walk(data, size);
    if (size >= 99) {
        uint8_t *mended = signed_copy(data, size);
        open_and_walk(mended, size);
        mem_free(mended);
    }
    return 0;
}
