/* gpucheck_gradient.c - is the gradient right? One plain step of descent of length 1 on the same
 * small network, on the card and on the CPU: what the parameters lost is the gradient. The two must
 * agree. (The CPU's is held against difference quotients by tests/grad.) */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/worst.h"
#include "check/gpucheck_parts.h"
#include "model/network/step.h"

enum { ROWS = 64, NUMBERS = 5, CLASSES = 3 };
#define AGREE 1e-4  /* of the largest component */

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
        int32_t label = (int32_t)(rng_bits(2, r, 0, 0, RNG_TEST) % CLASSES);
        memcpy(at + f.at_target, &label, sizeof label);
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
        !loss_read(&t->loss, NULL, true, e) || !optim_read(&t->optim, t->optim_doc, e))
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

/* The gradient at the first weights, mem_free; NULL with an error. */
static real *gradient(struct trial *t, struct machine *m, uint64_t *count, struct err *e)
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

bool gpucheck_gradient(struct gpu_job *j, struct err *e)
{
    struct gpu_check *c = gpucheck_add(j->g, "gradient");
    struct machine *cpu = machine_open(&(struct machine_options){.backend = "cpu"}, e);
    struct trial t = {0};
    uint64_t count = 0;
    double apart = 0, largest = 0;
    bool good = cpu && make_trial(&t, e);
    real *want = good ? gradient(&t, cpu, &count, e) : NULL;
    real *got = want ? gradient(&t, j->machine, &count, e) : NULL;
    for (uint64_t i = 0; got && i < count; i++) {
        apart = worst_of(apart, fabs((double)got[i] - (double)want[i]));
        largest = fmax(largest, fabs((double)want[i]));
    }
    apart /= fmax(largest, 1e-30);
    if (got) {
        gpucheck_measured(c, "%.2g from the CPU", apart);
        gpucheck_threshold(c, "%g", AGREE);
        gpucheck_reason(c, "the gradient is the CPU's");
    }
    if (!(apart <= AGREE))
        gpucheck_faulty(c, "do not train on this card; " GPU_REPORT,
                        "the gradient is wrong: it is not the CPU's");
    good = got || (want && gpucheck_blame(c, e));
    if (good)
        err_clear(e);
    mem_free(got);
    mem_free(want);
    drop_trial(&t);
    machine_close(cpu);
    return good;
}
