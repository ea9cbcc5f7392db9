/* gpucheck_gradient.c - is the gradient right? One plain step of descent of length 1 on the same
 * small network, on the card and on the CPU: what the parameters lost is the gradient. The two must
 * agree, and along it the card's own loss must fall as steeply as the gradient is long: the
 * difference quotient (L(p + h u) - L(p - h u)) / 2h, u = g / |g|, summed in double on the host. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/worst.h"
#include "check/gpucheck_parts.h"
#include "model/network/step.h"

enum { ROWS = 64, NUMBERS = 5, CLASSES = 3 };
#define AGREE 1e-4  /* of the largest component */
#define SLOPE 1e-2
#define STEP 1e-2   /* h: the curve is smooth, and fp32 answers are good to 1e-6 */

static const char layers[] = "{\"layers\": [{\"type\": \"dense\", \"units\": 16}, "
                             "{\"type\": \"gelu\"}, {\"type\": \"layer_norm\"}, "
                             "{\"type\": \"dense\", \"units\": 12}, {\"type\": \"silu\"}]}";
static const char descent[] = "{\"type\": \"sgd\", \"momentum\": 0, \"weight_decay\": 0}";

struct trial {
    struct json_doc *optim_doc;
    struct architecture *architecture;
    struct loss_options loss;
    struct optim_options optim;
    struct features features;
    unsigned char *records, *chunks[1];
    struct source source;
    int32_t labels[ROWS];
};

static void make_records(struct trial *t)
{
    struct rowfmt f = rowfmt_make(NUMBERS, 0);
    t->features = (struct features){.format = f, .outputs = CLASSES};
    t->records = mem_zero(ROWS, f.stride);
    t->chunks[0] = t->records;
    for (uint32_t r = 0; r < ROWS; r++) {
        unsigned char *at = t->records + (size_t)r * f.stride;
        float one = 1;
        for (uint32_t i = 0; i < NUMBERS; i++) {
            float x = (float)rng_normal(1, r * NUMBERS + i, 0, 0, RNG_TEST);
            memcpy(at + sizeof x * i, &x, sizeof x);
        }
        t->labels[r] = (int32_t)(rng_bits(2, r, 0, 0, RNG_TEST) % CLASSES);
        memcpy(at + f.at_target, &t->labels[r], sizeof t->labels[r]);
        memcpy(at + f.at_weight, &one, sizeof one);
    }
    t->source = (struct source){.rows = {f, t->chunks, 63, ROWS}, .count = ROWS,
                                .classes = CLASSES};
}

static bool make_trial(struct trial *t, struct err *e)
{
    *t = (struct trial){0};
    t->optim_doc = json_parse(descent, sizeof descent - 1, "gpucheck", e);
    if (!t->optim_doc ||
        !opt_read(loss_options_table, NULL, NULL, "", &t->loss, e) ||
        !opt_read(optim_options_table, t->optim_doc, json_root(t->optim_doc), "", &t->optim, e) ||
        !loss_resolve(&t->loss, true, e))
        return false;
    make_records(t);
    t->architecture = architecture_parse(layers, "gpucheck", e);
    return t->architecture;
}

static void drop_trial(struct trial *t)
{
    opt_release(loss_options_table, &t->loss);
    opt_release(optim_options_table, &t->optim);
    architecture_free(t->architecture);
    json_free(t->optim_doc);
    mem_free(t->records);
}

/* Mean cross-entropy with these parameters, as the machine answers. */
static bool loss_at(const struct trial *t, struct network *n, struct stepper *s, real *params,
                    double *loss, struct err *e)
{
    real logits[ROWS * CLASSES];
    network_set(n, &(struct network_state){.params = params});
    if (!step_answer(s, &t->source, 0, ROWS, logits, e))
        return false;
    *loss = 0;
    for (uint32_t r = 0; r < ROWS; r++) {
        const real *at = logits + (size_t)r * CLASSES;
        double sum = 0;
        for (uint32_t k = 0; k < CLASSES; k++)
            sum += exp((double)at[k] - (double)at[t->labels[r]]);
        *loss += log(sum) / ROWS;
    }
    return true;
}

static double length_of(const real *g, uint64_t count)
{
    double sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += (double)g[i] * (double)g[i];
    return sqrt(sum);
}

/* |slope along g - |g|| / |g| on this machine; params are changed. */
static bool slope_error(const struct trial *t, struct network *n, struct stepper *s,
                        const real *params, const real *g, double *error, struct err *e)
{
    uint64_t count = network_model(n)->params;
    double length = length_of(g, count), loss[2] = {0};
    real *moved = mem_alloc(count, sizeof *moved);
    bool good = true;
    for (int side = 0; good && side < 2; side++) {
        double h = (side ? -STEP : STEP) / fmax(length, 1e-30);
        for (uint64_t i = 0; i < count; i++)
            moved[i] = (real)((double)params[i] + h * (double)g[i]);
        good = loss_at(t, n, s, moved, &loss[side], e);
    }
    mem_free(moved);
    *error = fabs((loss[0] - loss[1]) / (2 * STEP) - length) / fmax(length, 1e-30);
    return good;
}

/* The gradient at the first weights, mem_free; NULL with an error. slope may be NULL. */
static real *gradient(struct trial *t, struct machine *m, uint64_t *count, double *slope,
                      struct err *e)
{
    struct plan plan;
    struct network_options o = {.architecture = t->architecture,
                                .features = &t->features, .rows = ROWS,
                                .micro = 1, .steps = 1, .training = true, .loss = &t->loss,
                                .optim = &t->optim};
    machine_plan(m, ROWS, 1, &plan);
    machine_set_plan(m, &plan);
    struct network *n = network_new(&o, m, &plan, e);
    if (!n)
        return NULL;
    const struct model *model = network_model(n);
    struct stepper *s = step_open(n, m);
    *count = model->params;
    real *params = mem_zero(*count + 1, sizeof *params), *g = mem_zero(*count + 1, sizeof *g),
         *buffers = mem_zero(model->buffers + 1, sizeof *buffers);
    struct network_state state = {.params = params, .buffers = buffers, .now = {.seed = 3}};
    model_init(model, 3, 0, params, buffers);
    network_set(n, &state);
    struct network_state after = {.params = g};
    bool good = network_source(n, &t->source, e) &&
                network_epoch(n, 0, &(struct hyper){1, 0, 0}, 1, e) && step_train(s, 1, e) &&
                network_get(n, &after, e);
    for (uint64_t i = 0; i < *count; i++)
        g[i] = params[i] - g[i];
    good = good && (!slope || slope_error(t, n, s, params, g, slope, e));
    step_close(s);
    network_free(n);
    mem_free(params);
    mem_free(buffers);
    if (!good) {
        mem_free(g);
        return NULL;
    }
    return g;
}

static void judge(struct gpu_check *c, double apart, double slope)
{
    gpucheck_measured(c, "%.2g from the CPU, %.2g from its own loss", apart, slope);
    gpucheck_threshold(c, "%g and %g", AGREE, SLOPE);
    gpucheck_reason(c, "the gradient is the CPU's, and its own loss falls along it");
    if (apart <= AGREE && slope <= SLOPE)
        return;
    gpucheck_fail(c, GPU_FAULTY);
    gpucheck_reason(c, "the gradient is wrong: %s",
                    apart <= AGREE ? "the loss does not fall along it as it says"
                                   : "it is not the CPU's");
    gpucheck_fix(c, "do not train on this card; report it with the output of `dnn gpucheck --level "
                    "full --json`");
}

bool gpucheck_gradient(struct gpu_job *j, struct err *e)
{
    struct gpu_check *c = gpucheck_add(j->g, "gradient");
    struct machine *cpu = machine_open(&(struct machine_options){.backend = "cpu"}, e);
    struct trial t = {0};
    uint64_t count = 0;
    double slope = INFINITY, apart = 0, largest = 0;
    bool good = cpu && make_trial(&t, e);
    real *want = good ? gradient(&t, cpu, &count, NULL, e) : NULL;
    real *got = want ? gradient(&t, j->machine, &count, &slope, e) : NULL;
    for (uint64_t i = 0; got && i < count; i++) {
        apart = worst_of(apart, fabs((double)got[i] - (double)want[i]));
        largest = fmax(largest, fabs((double)want[i]));
    }
    if (got)
        judge(c, apart / fmax(largest, 1e-30), slope);
    good = got || (want && gpucheck_blame(c, e));
    if (good)
        err_clear(e);
    mem_free(got);
    mem_free(want);
    drop_trial(&t);
    machine_close(cpu);
    return good;
}
