/* model_early.c - a pool done before the products in front of it: the same network, the same
 * gradients, one step of products where there were many. Ids: N15. */
#include <math.h>

#include "base/process/thread.h"
#include "netcase.h"
#include "tap.h"

/* Dropout of nothing stands before the pool, which then keeps its place, or behind it. */
#define NONE "{\"type\": \"dropout\", \"p\": 0}"
#define DENSE(units) "{\"type\": \"dense\", \"units\": " #units "}"
#define BLOCK(...) "{\"type\": \"residual\", \"layers\": [" __VA_ARGS__ "]}"
#define NORM "{\"type\": \"layer_norm\"}"
#define GELU "{\"type\": \"gelu\"}"

static const char *const fronts[] = {
    DENSE(6),
    NORM ", " DENSE(5),
    DENSE(8) ", " BLOCK(NORM ", " DENSE(12) ", " GELU ", " DENSE(8)), /* an encoder block's end */
    DENSE(8) ", " BLOCK(DENSE(12) ", " GELU ", " DENSE(7)),           /* another width */
    DENSE(8) ", " BLOCK(NORM ", " BLOCK(GELU ", " DENSE(8))),
    DENSE(8) ", " BLOCK(NORM ", " BLOCK(GELU ", " DENSE(9))),
};
static const char *const kinds[] = {"mean", "last", "cls"};

static void make(struct netcase *c, struct text *model, const char *front, const char *kind,
                 bool early)
{
    text_clear(model);
    text_printf(model, "{\"layers\": [%s, %s{\"type\": \"pool\", \"kind\": \"%s\"}%s, " NORM "]}",
                front, early ? "" : NONE ", ", kind, early ? ", " NONE : "");
    *c = (struct netcase){.model = model->data, .optim = "{\"type\": \"sgd\"}", .numbers = 27,
                          .steps = 9, .outputs = 3, .rows = 20, .micro = 2, .count = 100,
                          .seed = 7, .clip = 1, .shuffle = true};
}

/* Sequences of 0 to 9 steps. */
static bool ready(struct netcase *c)
{
    if (!case_make(c))
        return false;
    case_fill(c);
    case_cut_short(c);
    return case_open(c);
}

static void trained(struct netcase *c)
{
    ok(ready(c) && case_train(c, 3, 0.1, 0.01), "trained %s", c->e.what);
    network_get(c->network, &c->state, &c->e);
}

static void same_network(void)
{
    struct text models[2] = {{0}, {0}};
    struct netcase c[2];
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            for (int early = 0; early < 2; early++) {
                make(&c[early], &models[early], fronts[i], kinds[k], early);
                trained(&c[early]);
            }
            const struct model *before = network_model(c[0].network),
                               *now = network_model(c[1].network);
            is_int((int64_t)now->params, (int64_t)before->params, "as many parameters");
            ok(now->flops < before->flops, "%s %s: fewer multiplications", kinds[k], fronts[i]);
            is_near(c[1].state.now.epoch_loss / c[0].state.now.epoch_loss, 1, 1e-5,
                    "the same loss");
            ok(case_apart(&c[0], &c[1]) < 1e-5, "the same weights, up to %.2g",
               case_apart(&c[0], &c[1]));
            case_close(&c[0]);
            case_close(&c[1]);
        }
    text_free(&models[0]);
    text_free(&models[1]);
}

static void same_bytes(void)
{
    struct text models[3] = {{0}, {0}, {0}};
    struct netcase c[3];
    for (unsigned i = 0; i < 3; i++) {
        threads_stop();
        threads_start(i + 1);
        make(&c[i], &models[i], fronts[2], "mean", true);
        trained(&c[i]);
        ok(case_apart(&c[0], &c[i]) <= 0, "N15 %u threads: the bytes of one", i + 1);
    }
    for (unsigned i = 0; i < 3; i++) {
        case_close(&c[i]);
        text_free(&models[i]);
    }
}

/* A pool that picks the largest, or weighs steps, and layers that are no sums keep their order. */
static void kept(void)
{
    static const char *const lists[] = {
        DENSE(4) ", {\"type\": \"pool\", \"kind\": \"max\"}",
        DENSE(4) ", {\"type\": \"pool\", \"kind\": \"attention\"}",
        DENSE(4) ", " GELU ", {\"type\": \"pool\"}",
        BLOCK(DENSE(4) ", " GELU) ", {\"type\": \"pool\"}",
    };
    struct text model = {0};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct netcase c;
        make(&c, &model, "", "", true);
        text_clear(&model);
        text_printf(&model, "{\"layers\": [%s]}", lists[i]);
        c.model = model.data;
        ok(case_ready(&c), "opened");
        const struct model *m = network_model(c.network);
        for (uint32_t l = 0; l < m->layer_count; l++)
            ok(!m->layers[l]->pooled.on, "%s: as written", lists[i]);
        case_close(&c);
    }
    text_free(&model);
}

int main(void)
{
    same_network();
    same_bytes();
    kept();
    return done();
}
