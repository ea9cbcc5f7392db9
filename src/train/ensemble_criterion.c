/* ensemble_criterion.c - the loss that counts for an ensemble, by the configs of its members. */
#include <string.h>

#include "base/mem.h"
#include "train/ensemble_mix.h"

/* Counts of the training rows of run 0 by class, and sums of their weights. Rows with weights count
 * as one each, as sampling draws rows; a training without folds knows the shares alone. */
static void count_classes(const struct mixing *x, double *rows, double *sums)
{
    const struct run_part *first = mixing_part(x, 0, 0);
    for (uint32_t c = 0; c < x->outputs; c++)
        sums[c] = first->constant[c] * (double)first->rows;
    memcpy(rows, sums, x->outputs * sizeof *rows);
    if (!x->label || first->left.count >= x->rows)
        return;
    memset(rows, 0, x->outputs * sizeof *rows);
    for (uint64_t i = first->left.count; i < x->rows; i++)
        if (x->label[i] >= 0)
            rows[x->label[i]]++;
}

bool mixing_judge_by(struct mixing *x, struct err *e)
{
    const struct schema *s = mixing_part(x, 0, 0)->schema;
    double *rows = mem_zero(x->outputs, sizeof *rows), *sums = mem_zero(x->outputs, sizeof *sums);
    bool good = true, differ = false;
    if (x->classes)
        count_classes(x, rows, sums);
    for (uint32_t i = 0; good && i < x->count; i++) {
        struct criterion own, as_first;
        float *mine = NULL;
        good = run_criterion(x->n->configs[x->members[i]], s, rows, sums, &own, &mine, e);
        if (good && !i) {
            x->criterion = own;
            x->class_weight = mine;
            continue;
        }
        as_first = x->criterion;
        as_first.class_weight = own.class_weight;
        differ |= good && !criterion_equal(&x->criterion, &own);
        x->weights_differ |= good && !criterion_equal(&x->criterion, &as_first);
        mem_free(mine);
    }
    if (good && differ) {
        mem_free(x->class_weight);
        good = run_criterion(x->j->config, s, rows, sums, &x->criterion, &x->class_weight, e);
    }
    mem_free(rows);
    mem_free(sums);
    return good;
}
