/* fit.c - fits an encoder: the order of the steps, the scale of a regression target,
 * warnings. */
#include "table/fit/encoder_fit.h"

#include <math.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/text.h"
#include "table/fit/fit.h"

/* --- the target and the weights --- */

enum { FAR_SAMPLE = 65536, FAR_LEAST = 100 }; /* rows: sampled for the quantiles; at least */
#define FAR_SPREADS 20                        /* outlier: times the quantiles' distance */
#define FAR_DEVIATIONS 8 /* fewer: less than 1 % of the values cannot be outliers */

/* Computes the 1 % and 99 % quantiles of the target, transformed, from evenly spaced training
 * rows. */
static void target_quantiles(const struct fit *f, const struct target_coding *plain, double *low,
                             double *high)
{
    const uint64_t count = f->count;
    uint64_t most = count < FAR_SAMPLE ? count : FAR_SAMPLE;
    double *v = mem_alloc(most, sizeof *v);
    size_t n = 0;
    for (uint64_t i = 0; i < most; i++) {
        v[n] = coding_encode(plain, f->data->target[f->rows[i * count / most]]);
        n += v[n] == v[n];
    }
    sort_doubles(v, n);
    *low = n ? v[n / 100] : 0;
    *high = n ? v[n - 1 - n / 100] : 0;
    mem_free(v);
}

/* Warns of outliers of the target: codes for missing ("999999") and typing errors would set its
 * scale. */
static void warn_far(const struct fit *f, double farthest)
{
    const struct target_coding *coding = &f->encoder->coding;
    const struct schema *s = f->encoder->schema;
    const uint64_t count = f->count;
    unsigned long long far = 0;
    double first = 0, low, high;
    const struct target_coding plain = {.transform = coding->transform, .scale = 1};
    if (farthest < FAR_DEVIATIONS || count < FAR_LEAST || coding->knot_count)
        return;
    target_quantiles(f, &plain, &low, &high);
    double room = FAR_SPREADS * (high - low);
    for (uint64_t i = 0; room > 0 && i < count; i++) {
        double y = coding_encode(&plain, f->data->target[f->rows[i]]);
        if (y > high + room || y < low - room)
            first = far++ ? first : y;
    }
    if (far)
        remark_add(&f->encoder->remarks,
                   "target \"%s\": %llu of %llu training values %s far from all others, as %.10g "
                   "does, where nearly all are from %s to %s; they set its scale, whatever the "
                   "loss: leave such rows out%s",
                   text_quote_z(s->columns[s->target].name), far, (unsigned long long)count,
                   far == 1 ? "lies" : "lie", coding_decode(&plain, first),
                   text_figure(coding_decode(&plain, low), 4),
                   text_figure(coding_decode(&plain, high), 4),
                   low > 0 && !plain.transform
                       ? ", or where they are right, learn its logarithm (`target_transform`)"
                       : "");
}

static void fit_knots(const struct fit *f, struct target_coding *c)
{
    double *v = mem_alloc(f->count, sizeof *v);
    size_t n = 0;
    for (uint64_t i = 0; i < f->count; i++) {
        v[n] = f->data->target[f->rows[i]];
        n += v[n] == v[n];
    }
    sort_doubles(v, n);
    if (n)
        coding_fit_knots(c, v, n);
    mem_free(v);
}

/* Welford, Technometrics 4, 1962: one pass in file order, over the transformed values. */
static bool fit_target(const struct fit *f, struct err *e)
{
    struct target_coding *coding = &f->encoder->coding;
    struct remarks *remarks = &f->encoder->remarks;
    const char *name = f->encoder->schema->columns[f->encoder->schema->target].name;
    double mean = 0, sum = 0, low = INFINITY, high = -INFINITY;
    uint64_t count = 0;
    if (coding->transform == TARGET_AUTO) {
        target_choose(f, &f->encoder->choice);
        coding->transform = f->encoder->choice.transform;
    }
    if (coding->transform == TARGET_QUANTILE)
        fit_knots(f, coding);
    for (uint64_t i = 0; i < f->count; i++) {
        double y = coding_encode(coding, f->data->target[f->rows[i]]);
        if (y != y)
            continue;
        double d = y - mean;
        mean += d / (double)++count;
        sum += d * (y - mean);
        low = y < low ? y : low;
        high = y > high ? y : high;
    }
    if (!count)
        return err_set(e, ERR_COLUMN_EMPTY, "target \"%s\" has no value in any training row",
                       text_quote_z(name));
    bool constant = !(low < high);
    double deviation = sqrt(sum / (double)count);
    coding->center = constant ? low : mean;
    coding->scale = constant || !(deviation > 0) || !isfinite(1 / deviation) ? 1 : deviation;
    if (constant)
        remark_add(remarks,
                   "target \"%s\" has the same value in every training row: there is nothing to "
                   "learn, choose another target",
                   text_quote_z(name));
    else if (!(deviation > 0) || !isfinite(1 / deviation))
        remark_add(remarks,
                   "the values of the target \"%s\" differ by less than can be scaled (%.3g): give "
                   "it in a smaller unit",
                   text_quote_z(name), high - low);
    warn_far(f, fmax(high - coding->center, coding->center - low) / coding->scale);
    return true;
}

static void warn_constant(const struct fit *f)
{
    const struct schema *s = f->encoder->schema;
    struct text list = {0};
    size_t found = 0;
    for (size_t i = 0; i < s->column_count; i++)
        if (f->encoder->columns[i].constant && found++ < NAMED_MOST)
            text_printf(&list, "%s\"%s\"", found > 1 ? ", " : "", text_quote_z(s->columns[i].name));
    if (found > NAMED_MOST)
        text_printf(&list, " and %zu more", found - NAMED_MOST);
    if (found)
        remark_add(&f->encoder->remarks,
                   "the same value in every training row, which tells nothing, in column%s %s",
                   found > 1 ? "s" : "", list.data);
    text_free(&list);
}

/* --- the whole --- */

/* listed: number of rows, also of weight 0. */
static bool fit(struct fit *f, uint64_t listed, struct err *e)
{
    if (!listed)
        return err_set(e, ERR_SPLIT_EMPTY, "there are no training rows");
    if (!f->count)
        return err_set(e, ERR_WEIGHT_SUM, "the weight of each of the %llu training rows is 0",
                       (unsigned long long)listed);
    if (!fit_categories(f, e))
        return false;
    fit_tell(f, 1, 0);
    if (!fit_numbers(f, e))
        return false;
    fit_tell(f, 2, 0);
    if (!(f->encoder->schema->task == TASK_REGRESSION ? fit_target(f, e) : fit_labels(f, e)))
        return false;
    fit_tell(f, 3, 0);
    fit_bins(f);
    fit_tell(f, 4, 0);
    fit_spread(f);
    fit_tell(f, 5, 0);
    fit_statistics(f);
    warn_constant(f);
    return true;
}

static void set_options(struct schema *s, const struct schema *as)
{
    for (size_t i = 0; i < s->column_count; i++) {
        struct column *c = &s->columns[i];
        const struct column *o = &as->columns[i];
        c->scale = o->scale;
        c->impute = o->impute;
        c->unknown = o->unknown;
        c->encode = o->encode;
        c->min_count = o->min_count;
        c->keyed = o->keyed;
        c->text = o->text;
        c->tokens_most = o->tokens_most;
        c->dim = o->dim;
        c->onehot_values = o->onehot_values;
        c->init = o->init;
        c->transform = o->transform;
        c->edges = o->edges;
        c->encodes = o->encodes;
        c->bins = o->bins;
    }
    s->target_transform = as->target_transform;
    s->wanted = as->wanted;
    s->all_keys = as->all_keys;
}

struct encoder *encoder_fit(const struct dataset *d, const uint32_t *rows, uint64_t count,
                            struct err *e)
{
    return encoder_fit_as(d, d->schema, rows, count, NULL, 0, e);
}

struct encoder *encoder_fit_as(const struct dataset *d, const struct schema *as,
                               const uint32_t *rows, uint64_t count, const uint32_t *judges,
                               uint64_t judge_count, struct err *e)
{
    struct schema *own = schema_copy(d->schema);
    set_options(own, as);
    struct encoder *c = encoder_new(own);
    c->slot_of = mem_zero((size_t)own->category_count + 1, sizeof *c->slot_of);
    struct fit f = {.data = d,
                    .weighed = weighed_make(d, rows, count),
                    .judges = weighed_make(d, judges, judge_count),
                    .encoder = c};
    f.rows = f.weighed.rows;
    f.count = f.weighed.count;
    struct progress_amount progress;
    progress_amount_open(&progress, (enum progress_style)d->progress, "fitting", "%");
    f.progress = &progress;
    bool good = fit(&f, count, e);
    progress_amount_close(&progress);
    weighed_free(&f.weighed);
    weighed_free(&f.judges);
    if (good)
        return c;
    encoder_free(c);
    return NULL;
}
