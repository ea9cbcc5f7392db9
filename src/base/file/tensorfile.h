/* tensorfile.h - the container of models and checkpoints: a safetensors file with our own rules
 * (README, "Model file"). Bytes 35..98 are the SHA-256 of the whole file with those 64 bytes taken
 * as '0'. Header at most 1 MiB, tensors back to back, ordered by element size (largest first), then
 * name; dtypes F64 F32 I64 I32 U8; blanks pad the header so that 8 + N is a multiple of 64. */
#ifndef DNN_BASE_TENSORFILE_H
#define DNN_BASE_TENSORFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file/outfile.h"
#include "base/text.h"

enum dtype { DTYPE_F64, DTYPE_F32, DTYPE_I64, DTYPE_I32, DTYPE_U8 };
size_t dtype_bytes(enum dtype t);

/* --- writing: collect, then write at once --- */
struct tensor_writer;
struct tensor_writer *tensor_writer_new(void);
/* Metadata strings stand after sha256 in the order given. Copied. */
void tensor_meta(struct tensor_writer *w, const char *key, const char *value);
/* `data` is borrowed until tensor_write. dims: up to 4. Names: [a-z0-9_.]+ */
void tensor_add(struct tensor_writer *w, const char *name, enum dtype type, unsigned rank,
                const uint64_t *dims, const void *data);
/* Durable when true. A link at `path` is replaced, not followed. sha256 (may be NULL) becomes the
 * digest of the file, as sha256sum prints it; the digits inside the file are another number.
 * Refuses a file that its reader would refuse. */
bool tensor_write(struct tensor_writer *w, const char *path, char sha256[65], struct err *e);
/* As above up to the rename: the file is durable under a temporary name, and `path` is untouched.
 * The caller ends with outfile_commit or outfile_abort; after false there is nothing to end. */
bool tensor_prepare(struct tensor_writer *w, const char *path, struct outfile *o, char sha256[65],
                    struct err *e);
/* True: the header has room for all that was added, and `more` bytes. */
bool tensor_fits(const struct tensor_writer *w, size_t more);
/* The bytes that tensor_write would write, added to an empty text. */
bool tensor_write_bytes(struct tensor_writer *w, const char *name, struct text *bytes,
                        struct err *e);
void tensor_writer_free(struct tensor_writer *w);

/* --- reading: size, N, prefix, hash, and only then parsing --- */
struct tensor {
    const char *name;
    enum dtype type;
    unsigned rank;
    uint64_t dims[4], count; /* count = product */
    const void *data;        /* aligned to the element size */
};
struct tensor_file;
/* Any damage, foreign content or trailing byte: MODEL_* ids, exit 76. Never crashes, never
 * allocates more than the file's size + 4 MiB. */
struct tensor_file *tensor_open(const char *path, struct err *e);
/* As tensor_open, from bytes in memory, which are copied: for fuzzing. */
struct tensor_file *tensor_open_bytes(const void *bytes, size_t length, const char *name,
                                      struct err *e);
void tensor_close(struct tensor_file *f);
/* SHA-256 of a whole file of any kind, as sha256sum prints it: reads it once more. */
bool tensor_digest(const char *path, char hex[65], struct err *e);
const char *tensor_file_meta(const struct tensor_file *f, const char *key); /* NULL when absent */
size_t tensor_file_count(const struct tensor_file *f);
const struct tensor *tensor_file_at(const struct tensor_file *f, size_t i);
/* NULL and an error naming it when absent, or of another type or count (count UINT64_MAX: any). */
const struct tensor *tensor_need(const struct tensor_file *f, const char *name, enum dtype type,
                                 uint64_t count, struct err *e);
/* NULL when absent. */
const struct tensor *tensor_find(const struct tensor_file *f, const char *name);
const char *tensor_file_path(const struct tensor_file *f);

#endif
