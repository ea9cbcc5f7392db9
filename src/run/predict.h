/* predict.h - rows in, answers out: bounded memory, same order, same count. Needs nothing but the model file. */
#ifndef DNN_RUN_PREDICT_H
#define DNN_RUN_PREDICT_H

#include "data/cell.h"
#include "model/modelfile.h"
#include "run/metric.h"
#include "run/select.h"

enum bad_row { BAD_ROW_STOP, BAD_ROW_NULL, BAD_ROW_SKIP };
struct predict_request {
    const char *model;
    char *const *inputs;       /* "-" is standard input; none: standard input */
    size_t input_count;
    const char *output;        /* "-" is standard output */
    const char *columns;       /* --columns a,b,c with --no-header */
    bool no_header, tsv;
    const char *passthrough;   /* list of names, or "all" */
    const char *null_text;     /* --null */
    enum bad_row on_bad_row;
    const char *rejects;
    int64_t max_bad_rows;      /* -1: no limit */
    struct overrides overrides;
};
struct predict_result {
    struct selection backend;
    uint64_t rows, bad_rows;
    struct drift *drift;       /* unknown categories by column; freed by predict_release */
    const struct schema *schema;
    struct modelfile *model;
    double load_s, predict_s, total_s;
};
bool predict_run(const struct predict_request *q, struct predict_result *r, struct err *e);
void predict_write(const struct predict_request *q, const struct predict_result *r, struct json_out *out); /* dnn.predict/1 */
void predict_release(struct predict_result *r);

/* Streams labelled or unlabelled rows through a model, block by block; predict, evaluate and verify stand on it. */
struct stream_block {
    const struct csv_block *block;
    const struct csv_cells *cells;
    uint64_t rows;             /* records answered, in order */
    const uint32_t *record;    /* [rows] index in cells->records */
    const unsigned char *records; /* applied records */
    const real *logits;        /* [rows][outputs] */
    const struct err *bad;     /* per CSV record: id ERR_NONE when good; NULL: all good */
};

#endif
