/* modelfile_tensors.h - the names that a model's own tensors have, for those who write and who read
 * them. Private to modelfile*.c. Those of its schema are table/schema_saved.h's. */
#ifndef DNN_MODEL_MODELFILE_TENSORS_H
#define DNN_MODEL_MODELFILE_TENSORS_H

#define IN_CONFIG "config" /* in the metadata, or a tensor when it is long */
#define IN_LAYOUT "layout" /* the same */
#define IN_PARAMS "weights.params"
#define IN_BUFFERS "weights.buffers"
#define IN_GOLDEN_LOGITS "golden.logits"
#define IN_GOLDEN_OFFSETS "golden.offsets"
#define IN_GOLDEN_TEXT "golden.text"
#define MODELFILE_TENSORS                                                                          \
    IN_CONFIG, IN_LAYOUT, IN_PARAMS, IN_BUFFERS, IN_GOLDEN_LOGITS, IN_GOLDEN_OFFSETS, IN_GOLDEN_TEXT

#endif
