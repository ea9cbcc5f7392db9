/* checkpoint.h - MODEL.ckpt-<step, 12 digits>: the state of a training between two steps, in a file
 * of the model's format (kind "checkpoint"). A training that resumes from it gives the same bytes
 * as one that was never stopped.
 *
 * Tensors: params, buffers, m1, m2, best.params, best.buffers (F32; absent without elements),
 * counters (I64) and sums (F64) of struct step, history (F64 [epochs][3]: loss, metric, learning
 * rate), scale (F64 [2]: of the gradients in fp16, and the steps skipped because of it; absent
 * elsewhere), times (F64: seconds used), config (U8: the portable resolved config). Metadata: kind,
 * format, plan, data (hash of schema and encoded rows), journal (length of output.metrics),
 * best.journal (the same at the end of the best epoch; may be absent). */
#ifndef DNN_TRAIN_CHECKPOINT_H
#define DNN_TRAIN_CHECKPOINT_H

#include "backend/backend.h"
#include "base/file/tensorfile.h"
#include "train/run/history.h"

#define CHECKPOINT_FORMAT 2

struct checkpoint {
    struct plan plan;
    struct step now;
    real *params, *buffers, *m1, *m2; /* m1, m2 NULL if the optimiser has none */
    real *best_params, *best_buffers; /* NULL before the first best epoch */
    uint64_t param_count, buffer_count;
    struct history_row *rows; /* of the finished epochs */
    int64_t epochs;
    double seconds; /* used so far, over all runs */
    uint64_t journal;
    uint64_t best_journal; /* with best_params; not known: journal */
    char *config; /* JSON text */
    char data[65];
};
/* Writes aside, syncs, renames: durable when true. Borrows everything. */
bool checkpoint_save(const struct checkpoint *c, const char *path, struct err *e);
/* Checks everything but the sizes, which only the run knows (they are in the struct). NULL: E15,
 * exit 76. Caller: checkpoint_free. */
struct checkpoint *checkpoint_load(const char *path, struct err *e);
struct checkpoint *checkpoint_load_bytes(const void *bytes, size_t length, const char *name,
                                         struct err *e);
void checkpoint_free(struct checkpoint *c);

/* --- what checkpoints and parts (part.h) share --- */

#define REAL_TYPE (sizeof(real) == sizeof(double) ? DTYPE_F64 : DTYPE_F32)

struct saved_kind {
    const char *name;    /* as metadata and in messages: "checkpoint" */
    int format;          /* that is written; older ones are read */
    const char *foreign; /* said of another file: "is not a checkpoint of dnn" */
};
/* Begins a file. tensor_writer_free. */
struct tensor_writer *saved_new(const struct saved_kind *k, const struct plan *plan,
                                const char data[65]);
/* Adds one row of values, borrowed; without any there is no tensor. */
void saved_add(struct tensor_writer *w, const char *name, enum dtype type, uint64_t count,
               const void *values);
/* Reads what saved_new wrote. False: MODEL_FOREIGN, MODEL_NEWER, MODEL_TENSOR. */
bool saved_open(const struct tensor_file *f, const struct saved_kind *k, struct plan *plan,
                char data[65], struct err *e);
/* "the checkpoint is not usable: WHAT". False. */
bool saved_broken(const struct tensor_file *f, struct err *e, const char *what);

#endif
