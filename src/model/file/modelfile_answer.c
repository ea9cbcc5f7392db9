/* modelfile_answer.c - reads what makes an answer of the members' mean: threshold, decision,
 * calibration; and the weights of classes by which answers are judged. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "model/file/modelfile_parts.h"

static bool load_threshold(const struct model_loading *l)
{
    const struct tensor *t = tensor_find(l->file, IN_THRESHOLD);
    if (!t)
        return true;
    const double *value = t->data;
    if (t->type != DTYPE_F64 || t->count != 1 || !(*value > 0 && *value < 2))
        return modelfile_refuse(l, ERR_MODEL_WEIGHTS, "\"" IN_THRESHOLD "\" is no probability");
    l->f->decision.threshold = *value;
    return true;
}

static bool all_finite(const struct tensor *t)
{
    const double *v = t->data;
    bool finite = t->type == DTYPE_F64;
    for (uint64_t i = 0; finite && i < t->count; i++)
        finite = isfinite(v[i]);
    return finite;
}

/* Two ends; one of them may be infinite. */
static bool is_range(const struct tensor *t)
{
    const double *end = t->data;
    return t->type == DTYPE_F64 && t->count == 2 && end[0] <= end[1] && end[0] < HUGE_VAL &&
           end[1] > -HUGE_VAL;
}

static bool load_decision(const struct model_loading *l, uint32_t outputs)
{
    const struct tensor *t = tensor_find(l->file, IN_DECISION);
    if (t && (l->f->schema->task == TASK_REGRESSION || !all_finite(t) || t->count != outputs))
        return modelfile_refuse(l, ERR_MODEL_WEIGHTS, "\"" IN_DECISION "\" is not a finite number "
                                                      "for each label");
    if (t) {
        l->f->decision.classes = outputs;
        l->f->decision.offset = mem_copy(t->data, outputs * sizeof(double));
    }
    return true;
}

/* For metrics alone: weights of another shape are as none. */
static void load_class_weight(const struct model_loading *l, uint32_t outputs)
{
    const struct tensor *t = tensor_find(l->file, IN_CLASS_WEIGHT);
    bool good = t && t->type == DTYPE_F32 && t->count == outputs;
    const float *v = good ? t->data : NULL;
    for (uint32_t c = 0; good && c < outputs; c++)
        good = v[c] >= 0 && isfinite(v[c]);
    l->f->class_weight = good ? mem_copy(v, outputs * sizeof *v) : NULL;
}

static bool load_calibration(const struct model_loading *l, uint32_t outputs)
{
    struct calibration *c = &l->f->calibration;
    const struct tensor *scale = tensor_find(l->file, IN_SCALE);
    const struct tensor *shift = tensor_find(l->file, IN_SHIFT);
    const struct tensor *range = tensor_find(l->file, IN_RANGE);
    const bool values = l->f->schema->task == TASK_REGRESSION;
    if ((scale != NULL) != (shift != NULL) || (scale && values) || (range && !values) ||
        (scale && (!all_finite(scale) || !all_finite(shift) || scale->count != 1 ||
                   shift->count != outputs || !(*(const double *)scale->data > 0))) ||
        (range && !is_range(range)))
        return modelfile_refuse(l, ERR_MODEL_WEIGHTS, "\"calibration.*\" is incomplete or of "
                                                      "another shape than the answers");
    if (scale) {
        c->scale = *(const double *)scale->data;
        c->classes = outputs;
        c->shift = mem_copy(shift->data, outputs * sizeof *c->shift);
    }
    if (range) {
        c->limited = true;
        c->low = ((const double *)range->data)[0];
        c->high = ((const double *)range->data)[1];
    }
    return true;
}

/* --- golden rows --- */

bool modelfile_load_answer(const struct model_loading *l, uint32_t outputs)
{
    load_class_weight(l, outputs);
    return load_threshold(l) && load_decision(l, outputs) && load_calibration(l, outputs);
}
