/* run_sample.c - train.sampling: which rows of each class a run trains on, and how often. */
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "train/run/run.h"

void run_sampling(const struct config *c, const double *counts, uint32_t classes, double *factor)
{
    const bool over = c->train.sampling == SAMPLING_OVER;
    double wanted = 0;
    for (uint32_t k = 0; k < classes; k++)
        if (counts[k] > 0 && (!(wanted > 0) || (counts[k] > wanted) == over))
            wanted = counts[k];
    for (uint32_t k = 0; k < classes; k++)
        factor[k] = c->train.sampling != SAMPLING_NONE && counts[k] > 0 ? wanted / counts[k] : 1;
}

static int32_t label_of(const struct run *r, uint32_t record)
{
    int32_t label;
    memcpy(&label, rows_at(&r->rows, record) + r->rows.format.at_target, sizeof label);
    return label;
}

/* Lists each row wanted / all times, rounded down or up. A permutation of the class decides which
 * rows are rounded up, so that a class has exactly `wanted` rows. */
static void choose(struct run *r, const double *counts, const double *wanted)
{
    struct row_list *list = &r->list[PART_TRAIN];
    uint32_t *met = mem_zero(r->classes, sizeof *met);
    uint64_t count = 0;
    for (uint64_t i = 0; i < list->count; i++) {
        const int32_t k = label_of(r, list->index[i]);
        uint32_t times = 1;
        if (k >= 0) {
            const uint32_t all = (uint32_t)counts[k], want = (uint32_t)wanted[k];
            const uint32_t drawn = rng_permute(r->seed, UINT32_MAX, (uint32_t)k, all, met[k]++);
            times = want / all + (drawn < want % all);
        }
        while (times--)
            r->sampled[count++] = list->index[i];
    }
    list->index = r->sampled;
    list->count = count;
    mem_free(met);
}

bool run_sample(struct run *r, double *factor, struct err *e)
{
    const struct row_list *list = &r->list[PART_TRAIN];
    for (uint32_t k = 0; k < r->classes; k++)
        factor[k] = 1;
    if (r->config->train.sampling == SAMPLING_NONE)
        return true;
    double *counts = mem_zero(r->classes, sizeof *counts), all = (double)list->count;
    for (uint64_t i = 0; i < list->count; i++) {
        const int32_t k = label_of(r, list->index[i]);
        if (k >= 0)
            counts[k]++;
    }
    run_sampling(r->config, counts, r->classes, factor);
    double *wanted = mem_alloc(r->classes, sizeof *wanted);
    for (uint32_t k = 0; k < r->classes; k++) {
        wanted[k] = counts[k] * factor[k] + 0.5; /* cut to the whole number */
        all += wanted[k] - counts[k];
    }
    bool good = all < (double)INT32_MAX;
    if (good) {
        r->sampled = mem_alloc((size_t)all + 1, sizeof *r->sampled);
        choose(r, counts, wanted);
    } else {
        err_set(e, ERR_CONFIG_CONFLICT, "`train.sampling` \"over\" makes more than %d rows",
                INT32_MAX);
        err_help(e, "use train.loss.class_weights instead");
    }
    mem_free(counts);
    mem_free(wanted);
    return good;
}

/* The rows that count in turn, class by class, each class from another fold on, in the order of
 * their first rows: the order of the labels does not matter. Of a regression by chance, as an order
 * may have a period. */
uint8_t *run_deal_folds(const struct run *r, uint32_t folds)
{
    const struct row_list *train = &r->list[PART_TRAIN];
    uint8_t *fold = mem_zero(train->count + 1, sizeof *fold);
    uint64_t *dealt = mem_zero((size_t)r->classes + 1, sizeof *dealt), classes = 0;
    uint64_t *begun = mem_zero((size_t)r->classes + 1, sizeof *begun);
    for (uint64_t i = 0; i < train->count; i++) {
        struct run_row is;
        if (i > 0 && train->index[i] == train->index[i - 1]) {
            fold[i] = fold[i - 1];
        } else if (run_row(r, train->index[i], &is) && r->classes) {
            if (!dealt[is.label])
                begun[is.label] = classes++;
            fold[i] = (uint8_t)((dealt[is.label]++ + begun[is.label]) % folds);
        } else if (!r->classes && run_row(r, train->index[i], &is)) {
            fold[i] = (uint8_t)(rng_bits(r->seed, dealt[0]++, 0, 0, RNG_SPLIT) % folds);
        }
    }
    mem_free(dealt);
    mem_free(begun);
    return fold;
}
