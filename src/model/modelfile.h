/* modelfile.h - what a .dnn file holds (README, "Model file"): schema with statistics, resolved
 * config, metrics, weights, golden rows. No paths, no time, host, thread count or measured speed:
 * the same training gives the same bytes.
 *
 *   metadata          kind "model", format, config, layout, plan, metrics: the last four are JSON
 *   config, layout    U8: in place of the metadata when they are long
 *   schema.*          schema_save
 *   weights.params    F32 [parameters]: embedding tables, then layer by layer, each range from a
 *                     multiple of 16 on
 *   weights.buffers   F32 [buffers]: running statistics; absent when there are none
 *   golden.text       U8: cells of some rows, back to back; all three are absent without rows
 *   golden.offsets    I64 [rows][cells] + 1
 *   golden.logits     F32 [rows][outputs]
 *
 * The format's number says what the weights mean. 1: the inputs that come of categories stood in
 * the order of the schema, of either kind. 2: as features.h says. */
#ifndef DNN_MODEL_MODELFILE_H
#define DNN_MODEL_MODELFILE_H

#include "model/model.h"
#include "table/schema.h"

#define MODELFILE_FORMAT 2

struct golden {
    uint32_t count;    /* rows */
    uint32_t cells;    /* of the needed columns, schema order without target */
    char *text;        /* raw cells, back to back */
    uint64_t *offsets; /* [count * cells + 1] */
    real *logits;      /* [count][outputs] */
};
struct modelfile {
    struct schema *schema;
    struct json_doc *config;          /* resolved; only of a loaded file */
    char *config_text, *metrics_text; /* JSON objects */
    const char *layout_text;          /* model_layout, to be saved; reading has no use for it */
    struct plan plan;                 /* of the machine that trained it */
    real *params, *buffers;           /* float32 in the file */
    uint64_t param_count, buffer_count;
    struct golden golden;
    char sha256[65]; /* what sha256sum prints */
};
/* Writes aside, syncs, renames. digest may be NULL. */
bool modelfile_save(const struct modelfile *f, const char *path, char digest[65], struct err *e);
/* Everything checked: shapes against the plan of its own config, ranges, finite numbers. E15, exit
 * 76; never a crash. */
struct modelfile *modelfile_load(const char *path, struct err *e);
struct modelfile *modelfile_load_bytes(const void *bytes, size_t length, const char *name,
                                       struct err *e);
void modelfile_free(struct modelfile *f);
struct model_options modelfile_model(const struct modelfile *f);
/* The plan text of struct plan as JSON members and back (checkpoints use it too). */
void plan_write(const struct plan *p, struct json_out *out);
bool plan_read(const struct json *object, struct plan *p);

#endif
