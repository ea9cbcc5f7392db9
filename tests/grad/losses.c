/* losses.c - the gradient of every loss with every option, of row weights, and of every preset with
 * every activation and norm. */
#include "grad.h"

#include "base/process/thread.h"

#define LAYERS "{\"layers\": [{\"type\": \"dense\", \"units\": 5}, {\"type\": \"tanh\"}]}"
#define TABM "{\"preset\": \"tabm\", \"k\": 3, \"hidden\": [4], \"dropout\": 0}"

static void check_loss_of(uint32_t outputs, const char *loss, const char *model, bool quantiles)
{
    struct netcase c = {
        .model = model,
        .loss = loss,
        .quantiles = quantiles,
        .numbers = 3,
        .outputs = outputs,
        .rows = 9,
        .micro = 1,
        .count = 9,
        .seed = 12};
    struct text name = {0};
    text_printf(&name, "%s of %u outputs", loss, outputs);
    grad_check(c, name.data);
    text_free(&name);
}

static void check_loss(uint32_t outputs, const char *loss)
{
    check_loss_of(outputs, loss, LAYERS, false);
}

static void check_mlp(const char *activation, const char *norm)
{
    struct text model = {0}, name = {0};
    text_printf(
        &model,
        "{\"preset\": \"mlp\", \"hidden\": [5, 4], \"activation\": \"%s\", \"norm\": \"%s\", "
        "\"dropout\": 0.2}",
        activation, norm);
    text_printf(&name, "mlp, %s, norm %s", activation, norm);
    struct netcase c = {.model = model.data,
                        .numbers = 2,
                        .categories = 1,
                        .outputs = 3,
                        .rows = 16,
                        .micro = 2,
                        .count = 27,
                        .seed = 13,
                        .category = {{.count = 4, .encode = CATEGORY_EMBEDDING, .dim = 2}}};
    grad_check(c, name.data);
    text_free(&model);
    text_free(&name);
}

int main(void)
{
    threads_start(2);
    static const uint32_t outputs[] = {2, 3, 7};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        check_loss(outputs[i], "{\"type\": \"cross_entropy\"}");
        check_loss(outputs[i], "{\"type\": \"cross_entropy\", \"label_smoothing\": 0.1}");
        check_loss(outputs[i], "{\"type\": \"focal\"}");
        check_loss(outputs[i], "{\"type\": \"focal\", \"gamma\": 0}");
        check_loss(outputs[i], "{\"type\": \"focal\", \"gamma\": 0.5}");
        check_loss(outputs[i], "{\"type\": \"focal\", \"gamma\": 3}");
        check_loss(outputs[i], "{\"type\": \"soft_f1\"}");
    }
    check_loss(1, "{\"type\": \"mse\"}");
    check_loss(1, "{\"type\": \"mae\"}");
    check_loss(1, "{\"type\": \"huber\"}");
    check_loss(1, "{\"type\": \"huber\", \"delta\": 0.3}");
    check_loss(1, "{\"type\": \"quantile\"}");
    check_loss(1, "{\"type\": \"quantile\", \"q\": 0.9}");
    check_loss_of(3, "{\"type\": \"quantile\", \"q\": [0.1, 0.5, 0.9]}", LAYERS, true);
    check_loss_of(3, "{\"type\": \"quantile\", \"q\": [0.1, 0.5, 0.9]}", TABM, true);
    static const char *const activations[] = {
#define ACT(NAME, name, ...) #name,
#include "backend/acts.def"
    };
    static const char *const norms[] = {"none", "batch", "layer"};
    for (size_t a = 0; a < sizeof activations / sizeof activations[0]; a++)
        for (size_t n = 0; n < sizeof norms / sizeof norms[0]; n++)
            check_mlp(activations[a], norms[n]);
    struct netcase c = {.numbers = 3, .outputs = 2, .rows = 6, .micro = 1, .count = 6, .seed = 14};
    c.model = "{\"preset\": \"mlp\", \"hidden\": []}";
    grad_check(c, "mlp without hidden layers");
    c.model = "{\"preset\": \"linear\"}";
    grad_check(c, "linear");
    threads_stop();
    return done();
}
