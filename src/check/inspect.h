/* inspect.h - shows the content of a model, or of a CSV file as `init` would see it. */
#ifndef DNN_CHECK_INSPECT_H
#define DNN_CHECK_INSPECT_H

#include "model/file/modelfile.h"
#include "infer/infer.h"

struct inspect {
    char *path;
    struct modelfile *model; /* one of the two */
    char sha256[65];         /* of the model, as sha256sum prints it */
    struct features **features; /* [member_count] */
    struct model **plans; /* of each member */
    struct infer *data;
};
/* A model when it begins like one or is named .dnn, else CSV (E15, E12). */
bool inspect_open(struct inspect *i, const char *path, struct err *e);
void inspect_write(const struct inspect *i, struct json_out *out); /* dnn.inspect/1 */
void inspect_text(const struct inspect *i, struct text *out);      /* for people */
void inspect_close(struct inspect *i);
/* True: the file can be read, and is neither a model nor a config. */
bool inspect_is_data(const char *path);

#endif
