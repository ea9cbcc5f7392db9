/* modelfile_conformal.c - the tensors `intervals` and `sets` of a model file. */
#include <math.h>
#include <string.h>

#include "model/file/modelfile_parts.h"

enum { SETS_NUMBERS = 2 };

void modelfile_add_conformal(const struct conformal *c, double values[CONFORMAL_NUMBERS],
                             struct tensor_writer *w)
{
    static const uint64_t counts[] = {SETS_NUMBERS, CONFORMAL_NUMBERS};
    const bool interval = conformal_is_interval(c);
    const double all[] = {c->rule, c->level, c->reach, c->floor, c->folds};
    memcpy(values, interval ? all : all + 1, counts[interval] * sizeof *values);
    if (c->rule != CONFORMAL_NONE)
        tensor_add(w, interval ? IN_INTERVALS : IN_SETS, DTYPE_F64, 1, &counts[interval], values);
}

static bool refuse(const struct model_loading *l)
{
    return modelfile_refuse(l, ERR_MODEL_WEIGHTS, "\"" IN_INTERVALS "\" or \"" IN_SETS "\" is not "
                                                  "one of this task and of these networks");
}

static bool plausible(const struct conformal *c, uint32_t members)
{
    const bool spread = c->rule == CONFORMAL_SPREAD;
    return c->level > 0 && c->level < 1 && c->reach >= 0 && isfinite(c->reach) &&
           (!spread || (c->floor > 0 && isfinite(c->floor) && members % c->folds == 0));
}

bool modelfile_load_conformal(const struct model_loading *l)
{
    const struct tensor *intervals = tensor_find(l->file, IN_INTERVALS);
    const struct tensor *sets = tensor_find(l->file, IN_SETS), *t = intervals ? intervals : sets;
    const bool values = l->f->schema->task == TASK_REGRESSION;
    struct conformal *c = &l->f->conformal;
    if (!t)
        return true;
    const double *v = t->data;
    if ((intervals && sets) || (intervals != NULL) != values || t->type != DTYPE_F64 ||
        t->count != (intervals ? CONFORMAL_NUMBERS : SETS_NUMBERS))
        return refuse(l);
    if (intervals && !(v[0] >= CONFORMAL_VALUE && v[0] <= CONFORMAL_SPREAD))
        return modelfile_refuse(l, ERR_MODEL_NEWER, "made by a newer version of dnn: the rule of "
                                                    "its intervals is not known");
    if (intervals && !(v[4] >= 0 && v[4] <= MODELFILE_MEMBERS))
        return refuse(l);
    *c = (struct conformal){.rule = CONFORMAL_SETS, .level = v[0], .reach = v[1]};
    if (intervals)
        *c = (struct conformal){.rule = (int)v[0], .level = v[1], .reach = v[2], .floor = v[3],
                                .folds = (uint32_t)v[4]};
    if (c->rule == CONFORMAL_SPREAD && !c->folds)
        return refuse(l);
    return plausible(c, l->f->member_count) || refuse(l);
}
