/* ensemble_report.c - what an ensemble says of its members: while they train, and at the end. All
 * figures are of rows that the runs did not train on. */
#include <math.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/progress.h"
#include "base/text.h"
#include "train/ensemble_mix.h"

/* A loss in the words of the task: a squared error becomes its root. */
static const char *loss_name(const struct mixing *x)
{
    return metric_of(&x->criterion, mixing_part(x, 0, 0)->encoder->schema->task)->name;
}

static bool is_squared(const struct mixing *x)
{
    return x->criterion.loss.kind == LOSS_MSE;
}

static double shown(const struct mixing *x, double loss)
{
    return is_squared(x) ? sqrt(loss) : loss;
}

/* "logloss 0.381 (0.362 to 0.4)": a loss with its 95 % interval. */
static void put_loss(const struct mixing *x, const double *weights, struct text *out)
{
    double error, loss = blend_gain(&x->blend, weights, NULL, &error);
    struct interval i = interval_normal(loss, error, 0, INFINITY);
    i = (struct interval){shown(x, i.low), shown(x, i.high)};
    text_printf(out, "%s %s", loss_name(x), text_figure(shown(x, loss), 4));
    interval_put(&i, out);
}

/* --- at the end --- */

/* "0.0025 +- 0.0009": how much lower the loss of x->weights is. For a squared error in percent of
 * it, as its root has no such mean. */
static void put_gain(const struct mixing *x, const double *from, struct text *out)
{
    double error, gain = blend_gain(&x->blend, from, x->weights, &error);
    double unit = is_squared(x) ? blend_loss(&x->blend, from) / 100 : 1;
    const char *sign = is_squared(x) ? " %" : "";
    if (unit > 0)
        text_printf(out, "%s%s +- %s%s better", text_figure(gain / unit, 3), sign,
                    text_figure(error / unit, 2), sign);
}

static uint32_t best_network(const struct mixing *x, uint32_t linear, double *alone)
{
    uint32_t best = linear;
    double least = INFINITY;
    for (uint32_t i = 0; i < x->count; i++) {
        alone[i] = 1;
        double loss = blend_loss(&x->blend, alone);
        alone[i] = 0;
        if (i != linear && loss < least) {
            least = loss;
            best = i;
        }
    }
    return best;
}

static void compare(const struct mixing *x, double *alone, uint32_t i, const char *what)
{
    struct text line = {0};
    alone[i] = 1;
    text_printf(&line, "%s: ", what);
    put_loss(x, alone, &line);
    text_put(&line, "; the model is ");
    put_gain(x, alone, &line);
    alone[i] = 0;
    log_line("%s", line.data);
    text_free(&line);
}

double mixing_brings(const struct mixing *x, uint32_t i)
{
    if (!(x->weights[i] > 0) || !(x->weights[i] < 1))
        return (double)NAN;
    double *without = mem_copy(x->weights, x->count * sizeof *without);
    without[i] = 0;
    double loss = shown(x, blend_loss(&x->blend, without));
    mem_free(without);
    return loss - shown(x, blend_loss(&x->blend, x->weights));
}

/* Says so if at least a twentieth of the rows equal others in all columns used, and targets of
 * equal rows differ. */
static void tell_noise(const struct noise *n, bool classes)
{
    if (n->rows * 20 < n->of || !(n->differ > 0))
        return;
    if (classes)
        log_line("noise: %llu of %llu rows equal others in every column used; two such rows have "
                 "different labels in %.3g %% of cases, so that a model answers at most about "
                 "%.4g %% of them right", (unsigned long long)n->rows, (unsigned long long)n->of,
                 100 * n->differ, 100 - 50 * n->differ);
    else
        log_line("noise: %llu of %llu rows equal others in every column used; between them the "
                 "target has a standard deviation of about %s: no model has an rmse far below it",
                 (unsigned long long)n->rows, (unsigned long long)n->of,
                 text_figure(sqrt(n->differ), 4));
}

void mixing_report(const struct mixing *x)
{
    const uint32_t linear = mixing_linear(x);
    double *alone = mem_zero(x->count + 1, sizeof *alone);
    if (x->j->table)
        tell_noise(&x->j->table->noise, x->classes > 0);
    if (x->count < 2 || !x->rows) {
        mem_free(alone);
        return;
    }
    struct text line = {0};
    text_put(&line, "on rows that the runs did not train on the model has ");
    put_loss(x, x->weights, &line);
    log_line("%s", line.data);
    text_free(&line);
    uint32_t best = best_network(x, linear, alone);
    if (linear < x->count && !x->linear_alone)
        compare(x, alone, linear, "the linear model alone");
    if (!x->linear_alone) {
        struct text what = {0};
        text_printf(&what, "the best single network, of member \"%s\"",
                    text_quote_z(x->n->names[x->members[best]]));
        compare(x, alone, best, what.data);
        text_free(&what);
    }
    if (x->linear_alone)
        log_note("no other member, and no mean of them, is better than the linear model by more "
                 "than a standard error: the model is the linear one alone");
    mem_free(alone);
}

/* --- while they train --- */

/* Seconds that the runs without a part will take. */
static double seconds_left(const struct train_job *j)
{
    const struct ensemble *n = j->ensemble;
    double left = 0;
    for (uint32_t i = 0; i < n->runs; i++)
        left += n->parts[i] ? 0 : ensemble_seconds(n, i);
    return left / ensemble_beside(j, n->runs);
}

void ensemble_tell(struct train_job *j, uint32_t member)
{
    const struct ensemble *n = j->ensemble;
    struct err ignored = {0};
    struct mixing x;
    if (ensemble_done_of(n, member, true) < n->folds || n->members < 2 ||
        !mixing_open(&x, j, true, &ignored))
        return;
    struct text line = {0};
    double *alone = mem_zero(x.count + 1, sizeof *alone);
    mixing_choose(&x, NULL);
    for (uint32_t i = 0; i < x.count; i++)
        alone[i] = x.members[i] == member;
    text_printf(&line, "member \"%s\": ", text_quote_z(n->names[member]));
    put_loss(&x, alone, &line);
    text_put(&line, "; so far ");
    put_loss(&x, x.weights, &line);
    text_printf(&line, " with %u of %u members", x.count, n->members);
    double left = seconds_left(j);
    if (left > 0)
        text_printf(&line, ", about %s left", progress_time(left));
    if (x.rows)
        log_line("%s", line.data);
    mem_free(alone);
    text_free(&line);
    mixing_free(&x);
}
