/* tensorhead.h - the header of a tensor file: the one text that dnn writes, read back in place.
 *
 *     {"__metadata__":{"sha256":"64 digits","key":"value",...},
 *      "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},...}   and blanks up to its end
 *
 * No blanks stand between. Any other form is refused. Private to tensor*.c. */
#ifndef DNN_BASE_TENSORHEAD_H
#define DNN_BASE_TENSORHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file/tensorfile.h"

#define TENSOR_PREFIX "{\"__metadata__\":{\"sha256\":\""
#define TENSOR_PREFIX_BYTES (sizeof TENSOR_PREFIX - 1)
#define TENSOR_DIGITS_AT (8 + TENSOR_PREFIX_BYTES) /* of the file */
#define TENSOR_DIGITS 64
#define TENSOR_HEADER_MOST ((size_t)1 << 20)
#define TENSOR_LINE 64 /* 8 + N is a multiple of it */
#define TENSOR_META_MOST 1000
#define TENSOR_MOST 10000

struct tensor_meta {
    const char *key, *value;
};
struct tensor_head {
    struct tensor_meta *meta; /* without sha256; mem_free */
    size_t meta_count;
    struct tensor *tensors;   /* data not set yet; mem_free */
    uint64_t *starts;         /* where each tensor begins, after the header; mem_free */
    size_t count;
};

const char *tensor_dtype_name(enum dtype t);

/* header[0..length) is written into (strings get their NUL there) and must live as long as the
 * result; header[length] must be writable too. The tensors must cover the data_bytes after it
 * exactly. `path` is for messages. */
bool tensor_head_read(struct tensor_head *h, char *header, size_t length, uint64_t data_bytes,
                      const char *path, struct err *e);
void tensor_head_release(struct tensor_head *h);

#endif
